/* SPDX-License-Identifier: BSD-3-Clause */
/* test_spec.c: names and arguments of generators, and what wrong ones end in. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <yoke_io.h>

#include "lib/context.h"
#include "matrices/generate.h"

static void assert_refused(const char *spec, yoke_status expected, const char *part)
{
    yoke_context *context = NULL;
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_context_create(NULL, &context), YOKE_OK);
    yoke_status status = yoke_matrix_generate(context, spec, &matrix);
    cr_assert_eq(status, expected, "'%s' gave %d", spec, (int)status);
    cr_assert_null(matrix);
    cr_assert(strstr(yoke_error_text(), part), "'%s': %s", spec, yoke_error_text());
    cr_assert_eq(atomic_load(&context->live_bytes), 0);
    yoke_context_destroy(context);
}

Test(spec, wrong_arguments_name_the_form)
{
    static const char *const specs[] = {
        "poisson3d7",     "poisson3d7:",     "poisson3d7:0",
        "poisson3d7:-3",  "poisson3d7:+3",   "poisson3d7: 3",
        "poisson3d7:3 ",  "poisson3d7:3.5",  "poisson3d7:3x",
        "poisson3d7:nan", "poisson3d7:3:",   "poisson3d7:3:4",
        "poisson3d7:1e3", "poisson3d7:0x10", "poisson3d7:99999999999999999999",
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        assert_refused(specs[i], YOKE_INVALID, "poisson3d7:N");
    static const char *const reals[] = {
        "anisotropic3d7:3",       "anisotropic3d7:3:0",      "anisotropic3d7:3:-1",
        "anisotropic3d7:3:nan",   "anisotropic3d7:3:inf",    "anisotropic3d7:3:1e999",
        "anisotropic3d7:3:0x1p1", "anisotropic3d7:3:1e",     "anisotropic3d7:3:1,5",
        "anisotropic3d7:3:.",     "anisotropic3d7:3:1e-300", "anisotropic3d7:0:1",
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        assert_refused(reals[i], YOKE_INVALID, "anisotropic3d7:N:EPS");
    assert_refused("elasticity3d:1", YOKE_INVALID, "elasticity3d:N");
    assert_refused("jumps3d7:4:10", YOKE_INVALID, "jumps3d7:N:CONTRAST:SEED");
    assert_refused("jumps3d7:4:10:-1", YOKE_INVALID, "jumps3d7:N:CONTRAST:SEED");
    assert_refused("graph:10:0:1", YOKE_INVALID, "graph:ROWS:DEGREE:SEED");
    assert_refused("graph:10:10:1", YOKE_INVALID, "graph:ROWS:DEGREE:SEED");
    assert_refused("graph:10:3:18446744073709551616", YOKE_INVALID, "graph:ROWS:DEGREE:SEED");
    assert_refused("random_spd:10:11:1", YOKE_INVALID, "random_spd:ROWS:PER_ROW:SEED");
}

Test(spec, an_unknown_name_lists_the_known_ones)
{
    assert_refused("poisson4d:3", YOKE_UNKNOWN_NAME, "poisson3d27:N");
    assert_refused("", YOKE_UNKNOWN_NAME, "random_spd:ROWS:PER_ROW:SEED");
    assert_refused("poisson3d:3", YOKE_UNKNOWN_NAME, "'poisson3d'");
    assert_refused("gen:poisson3d7:3", YOKE_UNKNOWN_NAME, "'gen'");
}

Test(spec, more_rows_than_an_index_holds_is_overflow)
{
    assert_refused("poisson2d5:46341", YOKE_OVERFLOW, "46341");
    assert_refused("poisson3d7:1291", YOKE_OVERFLOW, "1291");
    assert_refused("poisson3d27:9223372036854775807", YOKE_OVERFLOW, "9223372036854775807");
    assert_refused("jumps3d7:3000000:2:1", YOKE_OVERFLOW, "3000000");
    assert_refused("elasticity3d:896", YOKE_OVERFLOW, "895");
    assert_refused("graph:2147483648:4:1", YOKE_OVERFLOW, "2147483648");
    assert_refused("random_spd:2147483648:4:1", YOKE_OVERFLOW, "2147483648");
}

/* 1 GiB more than now: a sanitizer's shadow alone takes terabytes of address space. */
static void limit_to_a_gibibyte_more(void)
{
    long long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%lld", &pages) == 1);
    fclose(file);
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)1 << 30);
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

Test(spec, a_matrix_beyond_the_memory_limit_is_refused_before_it_is_touched)
{
    limit_to_a_gibibyte_more();
    assert_refused("poisson3d27:400", YOKE_NO_MEMORY, "available");
    assert_refused("random_spd:2147483647:1000:1", YOKE_NO_MEMORY, "asked");
}

Test(spec, what_is_shuffled_is_a_spec_behind_a_seed)
{
    assert_refused("shuffled", YOKE_INVALID, "shuffled:SEED:GENERATOR");
    assert_refused("shuffled:", YOKE_INVALID, "shuffled:SEED:GENERATOR");
    assert_refused("shuffled:7", YOKE_INVALID, "shuffled:SEED:GENERATOR");
    assert_refused("shuffled::poisson2d5:4", YOKE_INVALID, "shuffled:SEED:GENERATOR");
    assert_refused("shuffled:-1:poisson2d5:4", YOKE_INVALID, "'-1'");
    assert_refused("shuffled:1:frob:4", YOKE_UNKNOWN_NAME, "'frob'");
    assert_refused("shuffled:1:", YOKE_UNKNOWN_NAME, "known: poisson2d5");
    assert_refused("shuffled:1:poisson2d5:4:5", YOKE_INVALID, "too much for poisson2d5");
    assert_refused("shuffled:11111111111111111111111111111111:poisson2d5:4", YOKE_INVALID, "SEED");
}

Test(spec, every_listed_form_begins_with_its_name)
{
    for (const yk_generator *g = yk_generators; g->name; g++) {
        cr_assert_eq(strncmp(g->form, g->name, strlen(g->name)), 0);
        cr_assert_eq(g->form[strlen(g->name)], ':');
        cr_assert_gt(strlen(g->text), 10);
    }
}
