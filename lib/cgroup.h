/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h: what control groups leave this process to take. */
#ifndef YK_CGROUP_H
#define YK_CGROUP_H

#include <stdint.h>

/* Bytes left within the tightest of the memory limits of this process's group and its parents;
 * INT64_MAX: none. taken: bytes that the process holds, written or not yet. */
int64_t yk_cgroup_available(int64_t taken);

/* The same from other places than /proc/self/cgroup and /sys/fs/cgroup. */
int64_t yk_cgroup_available_in(const char *membership, const char *mount, int64_t taken);

#endif
