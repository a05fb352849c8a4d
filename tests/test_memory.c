/* SPDX-License-Identifier: BSD-3-Clause */
/* test_memory.c: memory for what grows with the system, and the limits of the process. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cgroup.h"
#include "lib/context.h"
#include "lib/status.h"

enum { MIB = 1 << 20 };

static yoke_context *context;

static void make_context(void)
{
    cr_assert_eq(yoke_context_create(NULL, &context), YOKE_OK);
}

static void drop_context(void)
{
    cr_assert_eq(atomic_load(&context->live_bytes), 0, "not everything was released");
    yoke_context_destroy(context);
}

TestSuite(memory, .init = make_context, .fini = drop_context);

/* Leaves the process this much address space more than it uses. */
static void limit_address_space(int64_t more)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long long pages = 0;
    cr_assert(file && fscanf(file, "%lld", &pages) == 1);
    fclose(file);
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = (rlim_t)(pages * sysconf(_SC_PAGESIZE) + more);
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

Test(memory, beyond_the_address_space_is_refused_with_asked_and_available)
{
    double *memory = NULL;
    limit_address_space(64 * MIB);
    cr_assert_eq(yk_alloc(context, "values", 32 * MIB, sizeof *memory, &memory), YOKE_NO_MEMORY);
    cr_assert_null(memory);
    cr_assert(strstr(yoke_error_text(), "values: asked 268435456 bytes, available "));
    long long available = atoll(strstr(yoke_error_text(), "available ") + 10);
    cr_assert_leq(available, 64 * MIB);
    cr_assert_gt(available, 32 * MIB, "the process itself took little since the limit was set");
}

Test(memory, within_the_address_space_is_given)
{
    double *memory = NULL;
    limit_address_space(64 * MIB);
    cr_assert_eq(yk_alloc(context, "values", MIB, sizeof *memory, &memory), YOKE_OK);
    memory[0] = memory[MIB - 1] = 1.0;
    cr_assert_eq((uintptr_t)memory % (2 * MIB), 0, "long arrays begin at a huge page");
    yk_free(context, memory, MIB, sizeof *memory);
}

static void *refuse_all(void *user, size_t alignment, size_t bytes)
{
    (void)user, (void)alignment, (void)bytes;
    return NULL;
}

static void release_none(void *user, void *memory, size_t bytes)
{
    (void)user, (void)memory, (void)bytes;
}

Test(memory, an_allocator_that_fails_is_out_of_memory_and_counted_nowhere)
{
    yoke_context_options options = yoke_context_defaults();
    options.allocate = refuse_all;
    options.release = release_none;
    yoke_context *poor = NULL;
    char *memory = "";
    cr_assert_eq(yoke_context_create(&options, &poor), YOKE_OK);
    cr_assert_eq(yk_alloc(poor, "columns", 10, 4, &memory), YOKE_NO_MEMORY);
    cr_assert_null(memory);
    cr_assert(strstr(yoke_error_text(), "columns: asked 64 bytes"));
    cr_assert_eq(atomic_load(&poor->live_bytes), 0);
    yoke_context_destroy(poor);
}

Test(memory, what_is_taken_is_counted_for_the_process)
{
    char *memory = NULL;
    int64_t before = yk_memory_taken();
    cr_assert_eq(yk_alloc(context, "values", 1000, 1, &memory), YOKE_OK);
    cr_assert_eq(yk_memory_taken() - before, 1024);
    yk_free(context, memory, 1000, 1);
    cr_assert_eq(yk_memory_taken(), before);
}

/* ------------------------------------------------------------ control groups */

static char root[64];

static void make_folder(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    cr_assert_eq(mkdir(path, 0700), 0);
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static int64_t available(int64_t taken)
{
    char membership[256];
    snprintf(membership, sizeof membership, "%s/membership", root);
    return yk_cgroup_available_in(membership, root, taken);
}

static void make_root(void)
{
    make_context();
    strcpy(root, "/tmp/yoke-cgroup-XXXXXX");
    cr_assert(mkdtemp(root));
}

static void drop_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    cr_assert_eq(system(command), 0);
    drop_context();
}

TestSuite(cgroup, .init = make_root, .fini = drop_root);

static void write_unified(const char *group, const char *most, const char *used, const char *stat)
{
    char name[128];
    snprintf(name, sizeof name, "%s/memory.max", group);
    write_file(name, most);
    snprintf(name, sizeof name, "%s/memory.current", group);
    write_file(name, used);
    snprintf(name, sizeof name, "%s/memory.stat", group);
    write_file(name, stat);
}

Test(cgroup, page_cache_is_not_counted_as_used)
{
    write_file("membership", "0::/\n");
    write_unified(".", "1000\n", "900\n",
                  "anon 100\nfile 800\ninactive_file 500\nactive_file 250\nslab 3\n");
    cr_assert_eq(available(0), 1000 - (900 - 500 - 250));
}

Test(cgroup, the_tightest_of_a_group_and_its_parents_counts)
{
    write_file("membership", "0::/job/step\n");
    make_folder("job");
    make_folder("job/step");
    write_unified("job", "500\n", "450\n", "inactive_file 0\n");
    write_unified("job/step", "max\n", "300\n", "inactive_file 0\n");
    cr_assert_eq(available(0), 50);
    write_unified("job/step", "310\n", "300\n", "inactive_file 0\n");
    cr_assert_eq(available(0), 10);
}

Test(cgroup, a_path_seen_from_outside_a_container_falls_back_to_the_root)
{
    write_file("membership", "0::/docker/0123\n");
    write_unified(".", "1000\n", "400\n", "");
    cr_assert_eq(available(0), 600);
}

Test(cgroup, version_1_is_read_with_its_own_names)
{
    write_file("membership", "5:devices:/x\n4:cpu,memory:/job\n1:name=systemd:/y\n");
    make_folder("memory");
    make_folder("memory/job");
    write_file("memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("memory/job/memory.limit_in_bytes", "2000\n");
    write_file("memory/job/memory.usage_in_bytes", "1500\n");
    write_file("memory/job/memory.stat", "inactive_file 7\ntotal_inactive_file 300\n"
                                         "total_active_file 200\n");
    cr_assert_eq(available(0), 1000);
}

Test(cgroup, memory_taken_but_not_yet_written_counts_as_used)
{
    write_file("membership", "0::/\n");
    write_unified(".", "1000\n", "100\n", "");
    cr_assert_eq(available(700), 300);
    cr_assert_eq(available(1001), 0);
}

Test(cgroup, no_limit_and_no_files_are_no_limit)
{
    cr_assert_eq(available(0), INT64_MAX);
    write_file("membership", "0::/\n");
    cr_assert_eq(available(0), INT64_MAX);
    write_unified(".", "max\n", "100\n", "");
    cr_assert_eq(available(0), INT64_MAX);
}
