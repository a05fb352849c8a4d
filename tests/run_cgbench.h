/* SPDX-License-Identifier: BSD-3-Clause */
/* run_cgbench.h: runs the built program, $CGBENCH or that of the build tree, as a user does. */
#ifndef TESTS_RUN_CGBENCH_H
#define TESTS_RUN_CGBENCH_H

#include <stddef.h>

/* What the last run wrote to stdout and stderr. */
extern char out[1 << 17], err[1 << 16];

/* For TestSuite(.init, .fini): a new folder to work in, and its removal. No launcher's variables.
 */
void enter_folder(void);
void leave_folder(void);

/* The exit code; fails the test if a signal ended the program. arguments: for the shell. */
int cgbench(const char *arguments);

void read_text(const char *path, char *text, size_t capacity); /* "" if there is no such file */
void write_text(const char *path, const char *text);
int lines_of(const char *text);
int files_here(void); /* in the folder, hidden ones too */

#endif
