/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wisdom.c: what plans remember, and the text it is kept as. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yoke_io.h>
#include <yoke_tools.h>

#include "lib/matrix.h"
#include "lib/wisdom.h"

static yoke_context *context;
static yoke_matrix *matrix;
static char folder[64], path[128], logged[4096];

static void take_line(void *user, yoke_log_level level, const char *text)
{
    (void)user;
    if (level != YOKE_LOG_NOTICE) return;
    size_t used = strlen(logged);
    snprintf(logged + used, sizeof logged - used, "%s\n", text);
}

static void new_context(void)
{
    yoke_context_options options = yoke_context_defaults();
    options.log = take_line;
    options.threads = 1;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
    cr_assert_eq(yoke_matrix_generate(context, "poisson2d5:40", &matrix), YOKE_OK, "%s",
                 yoke_error_text());
    logged[0] = '\0';
}

static void drop_context(void)
{
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
}

static void begin(void)
{
    strcpy(folder, "/tmp/yoke_wisdom_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/w", folder);
    new_context();
}

static void end(void)
{
    char command[128];
    drop_context();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(wisdom, .init = begin, .fini = end, .timeout = 60);

static yoke_wisdom_counts counts(void)
{
    yoke_wisdom_counts found;
    cr_assert_eq(yoke_wisdom_count(context, &found), YOKE_OK);
    return found;
}

static void plan_with(const char *effort, const char *preconditioner)
{
    yoke_plan_options options = yoke_plan_defaults();
    yoke_plan *plan = NULL;
    options.effort = effort;
    options.partition = "cpu";
    options.preconditioner = preconditioner;
    cr_assert_eq(yoke_plan_create(matrix, &options, &plan), YOKE_OK, "%s", yoke_error_text());
    yoke_plan_destroy(plan);
}

Test(wisdom, measures_a_plan_once)
{
    plan_with("measure", NULL);
    cr_assert_eq(counts().known, 1);
    cr_assert_eq(counts().measured, 1);
    cr_assert_eq(counts().used, 0);
    cr_assert_str_empty(logged);
    plan_with("measure", NULL);
    cr_assert_eq(counts().measured, 1);
    cr_assert_eq(counts().used, 1);
    cr_assert(strstr(logged, "wisdom: driver team, format csr, shape "), "%s", logged);
    cr_assert(strstr(logged, "nothing was timed"), "%s", logged);
}

Test(wisdom, is_of_what_was_asked_and_of_the_effort)
{
    plan_with("estimate", NULL);
    cr_assert_eq(counts().known, 0);
    plan_with("measure", NULL);
    plan_with("measure", "jacobi");
    cr_assert_eq(counts().measured, 2);
    plan_with("patient", NULL);
    cr_assert_eq(counts().measured, 3, "what less effort found does not serve");
    cr_assert_eq(counts().known, 2, "and is replaced");
    plan_with("measure", NULL);
    cr_assert_eq(counts().measured, 3, "what more effort found does");
}

Test(wisdom, of_one_order_of_rows_is_not_that_of_another)
{
    yoke_plan_options options = yoke_plan_defaults();
    options.effort = "measure";
    options.partition = "cpu";
    for (int i = 0; i < 2; i++) {
        yoke_plan *plan = NULL;
        options.reorder = i ? "none" : "rcm";
        cr_assert_eq(yoke_plan_create(matrix, &options, &plan), YOKE_OK, "%s", yoke_error_text());
        yoke_plan_destroy(plan);
    }
    cr_assert_eq(counts().used, 0);
    cr_assert_eq(counts().measured, 2);
}

Test(wisdom, is_forgotten_when_asked)
{
    plan_with("measure", NULL);
    cr_assert_eq(yoke_wisdom_forget(context), YOKE_OK);
    cr_assert_eq(counts().known, 0);
    plan_with("measure", NULL);
    cr_assert_eq(counts().measured, 1);
    cr_assert_eq(counts().used, 0);
}

Test(wisdom, goes_to_another_context_by_a_file)
{
    plan_with("measure", NULL);
    cr_assert_eq(yoke_wisdom_export(context, path), YOKE_OK, "%s", yoke_error_text());
    drop_context();
    new_context();
    cr_assert_eq(yoke_wisdom_import(context, path), YOKE_OK, "%s", yoke_error_text());
    cr_assert_str_empty(logged);
    plan_with("measure", NULL);
    cr_assert_eq(counts().used, 1);
    cr_assert_eq(counts().measured, 0);
}

static void edit(const char *script)
{
    char command[256];
    snprintf(command, sizeof command, "sed -i '%s' %s", script, path);
    cr_assert_eq(system(command), 0);
}

static void import_after(const char *script)
{
    yoke_wisdom_forget(context);
    plan_with("measure", NULL);
    cr_assert_eq(yoke_wisdom_export(context, path), YOKE_OK);
    edit(script);
    yoke_wisdom_forget(context);
    logged[0] = '\0';
    cr_assert_eq(yoke_wisdom_import(context, path), YOKE_OK, "%s: %s", script, yoke_error_text());
}

Test(wisdom, that_is_stale_or_damaged_is_told_and_not_used)
{
    static const struct {
        const char *script, *why;
    } faults[] = {{"s/^cpu = .*/cpu = Another/", "is of another CPU ('Another'"},
                  {"s/^threads = .*/threads = 12345/", "another number of processors"},
                  {"s/^library = .*/library = 0.0.9/", "is of version '0.0.9' of the library"},
                  {"s/^yoke-wisdom 1/yoke-wisdom 2/", "of another version of the format"},
                  {"$d", "cut short"},
                  {"s/ measure / guess /", "not a line of wisdom"},
                  {"s/ -$/ 1.5/", "not a line of wisdom"},
                  {"s/ -$/ - -/", "not a line of wisdom"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        import_after(faults[i].script);
        cr_assert(strstr(logged, "wisdom not used: "), "%s: %s", faults[i].script, logged);
        cr_assert(strstr(logged, faults[i].why), "%s: %s", faults[i].script, logged);
        cr_assert_eq(counts().known, 0, "%s", faults[i].script);
    }
}

Test(wisdom, that_was_edited_is_used_and_told)
{
    import_after("s/ folded / unfolded /;t;s/ unfolded / folded /");
    cr_assert(strstr(logged, "was edited by hand"), "%s", logged);
    plan_with("measure", NULL);
    cr_assert_eq(counts().used, 1);
}

Test(wisdom, of_an_empty_file_is_none_yet)
{
    fclose(fopen(path, "w"));
    cr_assert_eq(yoke_wisdom_import(context, path), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(counts().known, 0);
    cr_assert_str_empty(logged);
}

Test(wisdom, refuses_what_is_no_wisdom)
{
    FILE *file = fopen(path, "w");
    fputs("%%MatrixMarket matrix coordinate real symmetric\n", file);
    fclose(file);
    cr_assert_eq(yoke_wisdom_import(context, path), YOKE_FORMAT);
    cr_assert_eq(yoke_wisdom_import(context, folder), YOKE_IO);
    cr_assert_eq(yoke_wisdom_import(context, "/nonexistent"), YOKE_IO);
    cr_assert_eq(yoke_wisdom_export(context, "/nonexistent/w"), YOKE_IO);
}

static uint64_t signature_of(const char *name)
{
    yoke_matrix *m = NULL;
    cr_assert_eq(yoke_matrix_generate(context, name, &m), YOKE_OK, "%s", yoke_error_text());
    uint64_t signature = yk_matrix_signature(m);
    yoke_matrix_destroy(m);
    return signature;
}

/* jumps3d7 has the pattern of poisson3d7. */
Test(wisdom, signs_the_pattern_and_not_the_values)
{
    uint64_t poisson = signature_of("poisson3d7:20");
    cr_assert_eq(signature_of("poisson3d7:20"), poisson);
    cr_assert_eq(signature_of("jumps3d7:20:1e4:7"), poisson);
    cr_assert_neq(signature_of("poisson3d7:21"), poisson);
    cr_assert_neq(signature_of("poisson3d27:20"), poisson);
    uint64_t graph = signature_of("graph:50000:8:1");
    cr_assert_neq(signature_of("graph:50000:8:2"), graph);
}

Test(wisdom, holds_no_more_than_it_may)
{
    yk_wise wise = {.asked = "x", .driver = "team", .format = "csr", .share = -1.0};
    for (int i = 1; i <= YK_WISDOM_MOST + 5; i++) {
        wise.signature = (uint64_t)i;
        yk_wisdom_remember(context, &wise);
    }
    cr_assert_eq(counts().known, YK_WISDOM_MOST);
    wise.signature = 1;
    cr_assert_not(yk_wisdom_find(context, &wise, false), "the oldest is gone");
    wise.signature = YK_WISDOM_MOST + 5;
    cr_assert(yk_wisdom_find(context, &wise, false));
    cr_assert_eq(yoke_wisdom_export(context, path), YOKE_OK);
    yoke_wisdom_forget(context);
    cr_assert_eq(yoke_wisdom_import(context, path), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(counts().known, YK_WISDOM_MOST);
}
