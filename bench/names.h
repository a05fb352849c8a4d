/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h: names of what plugs in, against the library's lists. */
#ifndef BENCH_NAMES_H
#define BENCH_NAMES_H

#include <yoke_tools.h>

/* 0 if text is "auto" or a name of the list whose argument, if it takes one, is sound; else the
 * exit code 2 once the error has been said. option: as on the command line. */
int name_check(const char *option, yoke_list_kind kind, const char *text);

/* Why a sound name cannot be used in this build or on this machine; NULL if it can. */
const char *name_refusal(yoke_list_kind kind, const char *text);

#endif
