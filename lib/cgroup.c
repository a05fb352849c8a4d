/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.c: memory limits of control groups, version 2 and 1 (Linux, Documentation/admin-guide/
 * cgroup-v2.rst and cgroup-v1/memory.rst). */
#include "lib/cgroup.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 4352 };

/* What a version calls its files, and in memory.stat the page cache that gives way under pressure:
 * usage counts it, yet it is free to take. */
typedef struct version {
    const char *folder, *most, *used, *inactive, *active;
} version;

static const version unified = {"", "memory.max", "memory.current", "inactive_file", "active_file"};
static const version legacy = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file", "total_active_file"};

static FILE *open_in(const char *group, const char *name)
{
    char path[LINE_BYTES + 64];
    int length = snprintf(path, sizeof path, "%s/%s", group, name);
    return length > 0 && (size_t)length < sizeof path ? fopen(path, "r") : NULL;
}

/* The number in a file of one number; -1: no such file, or the word "max". */
static int64_t number_in(const char *group, const char *name)
{
    FILE *file = open_in(group, name);
    if (!file) return -1;
    int64_t value = -1;
    if (fscanf(file, "%" SCNd64, &value) != 1) value = -1;
    fclose(file);
    return value;
}

static int64_t reclaimable_in(const char *group, const version *names)
{
    FILE *file = open_in(group, "memory.stat");
    if (!file) return 0;
    char key[64];
    int64_t value, sum = 0;
    while (fscanf(file, "%63s %" SCNd64, key, &value) == 2)
        if (!strcmp(key, names->inactive) || !strcmp(key, names->active)) sum += value;
    fclose(file);
    return sum;
}

static int64_t available_in(const char *group, const version *names, int64_t taken)
{
    int64_t most = number_in(group, names->most);
    if (most < 0 || most >= INT64_MAX >> 1)
        return INT64_MAX; /* version 1 writes 2^63 less a page */
    int64_t used = number_in(group, names->used) - reclaimable_in(group, names);
    if (used < taken) used = taken;
    return most > used ? most - used : 0;
}

/* The group's path in a line "4:memory:/path" or "0::/path" (version 2), NULL for other lines. */
static const char *path_in(char *line, const version **names)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) return NULL;
    *path++ = '\0';
    if (!strncmp(line, "0:", 2) && !controllers[1]) {
        *names = &unified;
        return path;
    }
    for (char *save, *word = strtok_r(controllers + 1, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        if (strcmp(word, "memory") != 0) continue;
        *names = &legacy;
        return path;
    }
    return NULL;
}

/* From the group up to the root: every ancestor's limit holds too. In a container whose own group
 * is mounted at the root, the path may name folders that are not there; the walk still ends at it.
 */
static int64_t tightest(const char *mount, const char *path, const version *names, int64_t taken)
{
    char group[LINE_BYTES];
    int length = snprintf(group, sizeof group, "%s%s%s", mount, names->folder, path);
    size_t root = strlen(mount) + strlen(names->folder);
    int64_t least = INT64_MAX;
    if (length < 0 || (size_t)length >= sizeof group) return least;
    for (;;) {
        int64_t available = available_in(group, names, taken);
        if (available < least) least = available;
        char *slash = strrchr(group + root, '/');
        if (!slash) return least;
        *slash = '\0';
    }
}

int64_t yk_cgroup_available_in(const char *membership, const char *mount, int64_t taken)
{
    FILE *file = fopen(membership, "r");
    if (!file) return INT64_MAX;
    int64_t least = INT64_MAX;
    char line[PATH_BYTES];
    while (fgets(line, sizeof line, file)) {
        const version *names = NULL;
        const char *path = path_in(line, &names);
        int64_t available = path ? tightest(mount, path, names, taken) : INT64_MAX;
        if (available < least) least = available;
    }
    fclose(file);
    return least;
}

int64_t yk_cgroup_available(int64_t taken)
{
    return yk_cgroup_available_in("/proc/self/cgroup", "/sys/fs/cgroup", taken);
}
