/* SPDX-License-Identifier: BSD-3-Clause */
/* json_check.h: a strict reader of one JSON object (RFC 8259), for tests of what cgbench writes. */
#ifndef TESTS_JSON_CHECK_H
#define TESTS_JSON_CHECK_H

#include <stddef.h>

/* 1 if text, up to its end, is one JSON object without repeated keys in a level. keys: its keys in
 * order, nested ones as "outer.inner", in an array as "outer.0.inner", each followed by a blank. */
int json_object(const char *text, char *keys, size_t capacity);

/* The text of a value by its key as above ("us_per_iteration.median"), as it stands; "" if there is
 * none. Valid until the next call. */
const char *json_value(const char *text, const char *key);

#endif
