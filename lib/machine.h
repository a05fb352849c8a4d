/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h: reading a machine's description from a tree of files. */
#ifndef YK_MACHINE_H
#define YK_MACHINE_H

#include <sched.h>
#include <stdint.h>
#include <yoke_tools.h>

/* Fills what root/proc and root/sys tell (cpu_name, numa_nodes, cache_bytes, memory_total,
 * memory_available) for the processors of mask; what they do not tell stays as it was. root: ""
 * for this machine. */
void yk_machine_read(const char *root, const cpu_set_t *mask, yoke_machine *machine);

/* Bytes of a line of root/proc/meminfo ("MemAvailable"); 0: unknown. */
int64_t yk_meminfo(const char *root, const char *key);

/* Bytes of all caches of the last level (of data) that the processors of mask have, each counted
 * once; 0: unknown. */
int64_t yk_machine_caches_read(const char *root, const cpu_set_t *mask);
int64_t yk_machine_last_caches(void);

#endif
