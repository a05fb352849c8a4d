/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_limit.c: what this process may still take. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/cgroup.h"
#include "lib/context.h"

/* Address space in use: the first figure of statm, in pages. */
static int64_t address_space_used(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    int64_t pages = 0;
    if (!file) return 0;
    if (fscanf(file, "%" SCNd64, &pages) != 1) pages = 0;
    fclose(file);
    return pages * (int64_t)sysconf(_SC_PAGESIZE);
}

static int64_t address_space_available(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    int64_t most = limit.rlim_cur < INT64_MAX ? (int64_t)limit.rlim_cur : INT64_MAX;
    int64_t used = address_space_used();
    return most > used ? most - used : 0;
}

int64_t yk_memory_limit(void)
{
    int64_t space = address_space_available();
    int64_t group = yk_cgroup_available(yk_memory_taken());
    return space < group ? space : group;
}
