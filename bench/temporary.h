/* SPDX-License-Identifier: BSD-3-Clause */
/* temporary.h: files that do not outlive cgbench, however it ends. */
#ifndef BENCH_TEMPORARY_H
#define BENCH_TEMPORARY_H

#include <sys/types.h>

/* A name for mkstemp in the directory of path, and one in $TMPDIR (else /tmp). To be freed. */
char *temporary_beside(const char *path);
char *temporary_name(void);

/* From now on the file is removed at exit and by SIGINT, SIGTERM, SIGHUP; no longer. */
void temporary_remember(const char *path);
void temporary_forget(const char *path);
void temporary_remove(const char *path); /* now; does nothing if it was not remembered */

/* What a signal that ends cgbench has it say on stderr; a copy is kept. */
void temporary_last_words(const char *text);

/* The process group of a child, ended with cgbench by a signal; until it is forgotten. */
void temporary_child(pid_t group);
void temporary_forget_child(pid_t group);

#endif
