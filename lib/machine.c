/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c: what this machine is, from /proc and /sys; nothing is measured. */
#include "lib/machine.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/context.h"
#include "lib/simd.h"
#include "lib/threads.h"

enum { PATH = 512, WORDS = 256, MOST_NODES = 1024 };

/* The first line of a file, without its newline; false if there is none. */
static bool first_line(const char *path, char *text, int size)
{
    FILE *file = fopen(path, "r");
    bool found = file && fgets(text, size, file);
    if (file) fclose(file);
    if (found) text[strcspn(text, "\n")] = '\0';
    return found;
}

/* The value of the first "key : value" line, trimmed; false if there is none. */
static bool value_of(const char *path, const char *key, char *value, size_t size)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) != 0) continue;
        char *at = line + length + strspn(line + length, " \t");
        if (*at++ != ':') continue;
        at += strspn(at, " \t");
        size_t end = strlen(at);
        while (end > 0 && isspace((unsigned char)at[end - 1])) end--;
        snprintf(value, size, "%.*s", (int)end, at);
        found = end > 0;
    }
    if (file) fclose(file);
    return found;
}

int64_t yk_meminfo(const char *root, const char *key)
{
    char path[PATH], text[WORDS];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (!value_of(path, key, text, sizeof text)) return 0;
    long long kibibytes = atoll(text);
    return kibibytes > 0 && kibibytes < INT64_MAX / 1024 ? (int64_t)kibibytes * 1024 : 0;
}

/* Arm prints numbers only. Parts: the MIDR_EL1 values in each core's technical reference manual. */
static const struct arm_core {
    unsigned implementer, part;
    const char *name;
} arm_cores[] = {
    {0x41, 0xd08, "Arm Cortex-A72"},  {0x41, 0xd0c, "Arm Neoverse N1"},
    {0x41, 0xd40, "Arm Neoverse V1"}, {0x41, 0xd49, "Arm Neoverse N2"},
    {0x41, 0xd4f, "Arm Neoverse V2"}, {0x46, 0x001, "Fujitsu A64FX"},
};

static bool arm_name(const char *path, char *name, size_t size)
{
    char implementer[WORDS], part[WORDS];
    if (!value_of(path, "CPU implementer", implementer, sizeof implementer) ||
        !value_of(path, "CPU part", part, sizeof part))
        return false;
    unsigned by = (unsigned)strtoul(implementer, NULL, 0), core = (unsigned)strtoul(part, NULL, 0);
    snprintf(name, size, "implementer 0x%02x, part 0x%03x", by, core);
    for (size_t i = 0; i < sizeof arm_cores / sizeof *arm_cores; i++)
        if (arm_cores[i].implementer == by && arm_cores[i].part == core)
            snprintf(name, size, "%s", arm_cores[i].name);
    return true;
}

static void read_cpu_name(const char *root, yoke_machine *machine)
{
    char path[PATH], text[WORDS];
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    if (value_of(path, "model name", text, sizeof text) || arm_name(path, text, sizeof text) ||
        value_of(path, "cpu", text, sizeof text))
        snprintf(machine->cpu_name, sizeof machine->cpu_name, "%.95s", text);
}

/* A list of processors: "0-3,8". */
static void add_list(const char *list, cpu_set_t *set)
{
    while (isdigit((unsigned char)*list)) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++) CPU_SET((int)cpu, set);
        list = *end == ',' ? end + 1 : end;
    }
}

static bool list_meets(const char *list, const cpu_set_t *mask)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    add_list(list, &set);
    CPU_AND(&set, &set, mask);
    return CPU_COUNT(&set) > 0;
}

/* One more than the highest number of a list ("0-3,8"); the most where there is none. */
static int end_of_nodes(const char *root)
{
    char path[PATH], list[WORDS];
    snprintf(path, sizeof path, "%s/sys/devices/system/node/online", root);
    if (!first_line(path, list, sizeof list) || !isdigit((unsigned char)*list)) return MOST_NODES;
    size_t last = strlen(list);
    while (last > 0 && isdigit((unsigned char)list[last - 1])) last--;
    long highest = strtol(list + last, NULL, 10);
    return highest < MOST_NODES ? (int)highest + 1 : MOST_NODES;
}

/* Numbers of nodes may have gaps, and a node without processors has an empty list. */
static void read_numa(const char *root, const cpu_set_t *mask, yoke_machine *machine)
{
    int nodes = 0, end = end_of_nodes(root);
    for (int node = 0; node < end; node++) {
        char path[PATH], list[4096];
        snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d/cpulist", root, node);
        nodes += first_line(path, list, sizeof list) && list_meets(list, mask);
    }
    if (nodes) machine->numa_nodes = nodes;
}

/* "48K", "2048K", "32M"; 0 if it is none. */
static int64_t size_of(const char *text)
{
    char *unit;
    long long number = strtoll(text, &unit, 10);
    int shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0;
    return number > 0 && number < INT64_MAX >> 30 ? (int64_t)number << shift : 0;
}

static void read_caches(const char *root, const cpu_set_t *mask, yoke_machine *machine)
{
    int cpu = 0;
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, mask)) cpu++;
    for (int index = 0; index < 8; index++) {
        char folder[PATH - 16], path[PATH], level[WORDS], type[WORDS], size[WORDS];
        snprintf(folder, sizeof folder, "%s/sys/devices/system/cpu/cpu%d/cache/index%d", root, cpu,
                 index);
        snprintf(path, sizeof path, "%s/level", folder);
        if (!first_line(path, level, sizeof level)) continue;
        snprintf(path, sizeof path, "%s/type", folder);
        if (!first_line(path, type, sizeof type) || strcmp(type, "Instruction") == 0) continue;
        snprintf(path, sizeof path, "%s/size", folder);
        int at = atoi(level);
        if (at >= 1 && at <= 3 && first_line(path, size, sizeof size))
            machine->cache_bytes[at] = size_of(size);
    }
}

/* The cache of the highest level of a processor, and who shares it. */
static int64_t last_cache(const char *root, int cpu, cpu_set_t *shared)
{
    int64_t bytes = 0;
    int highest = 0;
    for (int index = 0; index < 8; index++) {
        char folder[PATH - 32], path[PATH], text[4096];
        snprintf(folder, sizeof folder, "%s/sys/devices/system/cpu/cpu%d/cache/index%d", root, cpu,
                 index);
        snprintf(path, sizeof path, "%s/type", folder);
        if (!first_line(path, text, sizeof text) || strcmp(text, "Instruction") == 0) continue;
        snprintf(path, sizeof path, "%s/level", folder);
        if (!first_line(path, text, sizeof text) || atoi(text) <= highest) continue;
        highest = atoi(text);
        snprintf(path, sizeof path, "%s/size", folder);
        bytes = first_line(path, text, sizeof text) ? size_of(text) : 0;
        CPU_ZERO(shared);
        snprintf(path, sizeof path, "%s/shared_cpu_list", folder);
        if (first_line(path, text, sizeof text)) add_list(text, shared);
    }
    return bytes;
}

int64_t yk_machine_caches_read(const char *root, const cpu_set_t *mask)
{
    cpu_set_t seen, shared;
    int64_t bytes = 0;
    CPU_ZERO(&seen);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, mask) || CPU_ISSET(cpu, &seen)) continue;
        CPU_ZERO(&shared);
        bytes += last_cache(root, cpu, &shared);
        CPU_OR(&seen, &seen, &shared);
    }
    return bytes;
}

void yk_machine_read(const char *root, const cpu_set_t *mask, yoke_machine *machine)
{
    read_cpu_name(root, machine);
    read_numa(root, mask, machine);
    read_caches(root, mask, machine);
    int64_t total = yk_meminfo(root, "MemTotal"), available = yk_meminfo(root, "MemAvailable");
    if (total) machine->memory_total = total;
    if (available) machine->memory_available = available;
}

static void caches_of_libc(yoke_machine *machine)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE /* glibc */
    static const int names[] = {0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    for (int level = 1; level <= 3; level++) {
        long bytes = sysconf(names[level]);
        if (machine->cache_bytes[level] == 0 && bytes > 0) machine->cache_bytes[level] = bytes;
    }
#else
    (void)machine;
#endif
}

static void fill_mask(cpu_set_t *mask)
{
    CPU_ZERO(mask);
    if (sched_getaffinity(0, sizeof *mask, mask) == 0 && CPU_COUNT(mask) > 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) CPU_SET(cpu, mask);
}

void yoke_machine_describe(yoke_machine *machine)
{
    *machine = (yoke_machine){.numa_nodes = 1};
    struct utsname name;
    if (uname(&name) == 0) snprintf(machine->arch, sizeof machine->arch, "%.15s", name.machine);
    snprintf(machine->simd, sizeof machine->simd, "%s", yk_simd_name());
    machine->processors = yk_processors();
    cpu_set_t mask;
    fill_mask(&mask);
    yk_machine_read("", &mask, machine);
    caches_of_libc(machine);
    int64_t limit = yk_memory_limit();
    machine->memory_limit = limit == INT64_MAX ? 0 : limit;
}

int64_t yk_machine_last_caches(void)
{
    cpu_set_t mask;
    yoke_machine machine;
    fill_mask(&mask);
    int64_t bytes = yk_machine_caches_read("", &mask);
    if (bytes > 0) return bytes;
    yoke_machine_describe(&machine); /* libc may know */
    return machine.cache_bytes[3] ? machine.cache_bytes[3] : machine.cache_bytes[2];
}
