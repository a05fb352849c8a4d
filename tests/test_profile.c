/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: curves, and the text they are kept as. */
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/profile.h"
#include "lib/rank_speed.h"

static yk_curve two_points(void)
{
    yk_curve curve = {.points = 0};
    yk_curve_add(&curve, 1.0, 10.0, YK_MEASURED, "here");
    yk_curve_add(&curve, 16.0, 50.0, YK_MEASURED, "here");
    return curve;
}

Test(profile, reads_a_curve_between_its_points_over_the_logarithm)
{
    yk_curve curve = two_points();
    cr_assert_float_eq(yk_curve_at(&curve, 4.0), 30.0, 1e-12);
    cr_assert_float_eq(yk_curve_at(&curve, 2.0), 20.0, 1e-12);
    cr_assert_eq(yk_curve_at(&curve, 16.0), 50.0);
}

Test(profile, is_flat_beyond_a_curves_ends)
{
    yk_curve curve = two_points();
    cr_assert_eq(yk_curve_at(&curve, 0.25), 10.0);
    cr_assert_eq(yk_curve_at(&curve, 1e9), 50.0);
}

Test(profile, knows_nothing_of_an_empty_curve_or_a_place_that_is_none)
{
    yk_curve curve = {.points = 0}, good = two_points();
    cr_assert(isnan(yk_curve_at(&curve, 1.0)));
    cr_assert(isnan(yk_curve_at(&good, 0.0)));
    cr_assert(isnan(yk_curve_at(&good, NAN)));
}

Test(profile, begins_with_every_figure_unknown)
{
    yk_profile profile;
    yk_profile_clear(&profile);
    cr_assert(isnan(profile.gpu_launch.value));
    cr_assert_not(yk_known(&profile.peer_flag));
    cr_assert_eq(yk_figure_or(&profile.cpu_threads, 3.0), 3.0);
    cr_assert_eq(profile.copy_time.points, 0);
}

Test(profile, leaves_out_points_that_a_curve_has_no_room_for)
{
    yk_curve curve = {.points = 0};
    for (int k = 1; k <= 2 * YK_CURVE_POINTS; k++) yk_curve_add(&curve, k, k, YK_ASSUMED, "");
    yk_curve_add(&curve, 100.0, NAN, YK_ASSUMED, "");
    cr_assert_eq(curve.points, YK_CURVE_POINTS);
    cr_assert_eq(yk_curve_at(&curve, 1e3), YK_CURVE_POINTS);
}

/* -------------------------------------------------------------------- text */

static char folder[64], path[128], notice[512];
static yk_profile profile;

static void begin_folder(void)
{
    strcpy(folder, "/tmp/yoke_profile_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.profile", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
}

static void end_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", folder, folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(profile_text, .init = begin_folder, .fini = end_folder);

/* A figure of each unit, and a curve. */
static void fill(yk_profile *p)
{
    yk_profile_clear(p);
    strcpy(p->text, "a machine # of tests");
    strcpy(p->date, "2026-12-01");
    p->key = (yk_profile_key){"Some CPU @ 2 GHz", "Some GPU", "580.1, CUDA 13.0", 16};
    yk_figure_set(&p->cpu_threads, 16, YK_MEASURED, "the mask");
    yk_figure_set(&p->gpu_l2_bytes, 62914560, YK_PUBLISHED, "a data sheet");
    yk_figure_set(&p->host_memory_bytes, 134902743040.0, YK_MEASURED, "/proc");
    yk_figure_set(&p->flag_round_trip, 1.23456e-6, YK_ASSUMED, "as of another: who knows?");
    yk_figure_set(&p->coherent, 0, YK_MEASURED, "");
    yk_curve_add(&p->gpu_gather_set, 65536, 1.5e11, YK_MEASURED, "here");
    yk_curve_add(&p->gpu_gather_set, 1e9, 2.25e10, YK_MEASURED, "here");
}

static char *text_of(const char *file)
{
    static char text[1 << 16];
    FILE *stream = fopen(file, "r");
    cr_assert_not_null(stream, "%s", file);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    return text;
}

static void put(const char *file, const char *text, size_t size)
{
    FILE *stream = fopen(file, "w");
    cr_assert_not_null(stream);
    cr_assert_eq(fwrite(text, 1, size, stream), size);
    fclose(stream);
}

static void assert_same(const yk_profile *a, const yk_profile *b)
{
    cr_assert_str_eq(a->text, b->text);
    cr_assert_eq(memcmp(&a->key, &b->key, sizeof a->key), 0);
    for (int i = 0; i < yk_profile_entry_count; i++) {
        const yk_profile_entry *e = &yk_profile_entries[i];
        if (e->is_curve) {
            const yk_curve *x = yk_profile_curve((yk_profile *)a, e);
            const yk_curve *y = yk_profile_curve((yk_profile *)b, e);
            cr_assert_eq(x->points, y->points, "%s", e->name);
            cr_assert_eq(memcmp(x->at, y->at, sizeof x->at), 0, "%s", e->name);
            cr_assert_eq(memcmp(x->value, y->value, sizeof x->value), 0, "%s", e->name);
            cr_assert_str_eq(x->source, y->source);
        } else {
            const yk_figure *x = yk_profile_figure((yk_profile *)a, e);
            const yk_figure *y = yk_profile_figure((yk_profile *)b, e);
            cr_assert_eq(x->kind, y->kind, "%s", e->name);
            cr_assert(!yk_known(x) || fabs(x->value - y->value) <= 1e-15 * x->value,
                      "%s: %.17g, %.17g", e->name, x->value, y->value);
            cr_assert_str_eq(x->source, y->source);
        }
    }
}

Test(profile_text, reads_back_what_it_wrote)
{
    yk_profile written;
    bool edited = true;
    fill(&written);
    cr_assert_eq(yk_profile_write(path, &written), YOKE_OK, "%s", yoke_error_text());
    cr_assert_eq(yk_profile_read(path, &profile, &edited), YOKE_OK, "%s", yoke_error_text());
    cr_assert_not(edited);
    assert_same(&written, &profile);
}

/* A program that reads and writes numbers with a comma has them here with a point. */
Test(profile_text, is_the_same_in_every_locale)
{
    char before[1 << 14];
    fill(&profile);
    cr_assert_eq(yk_profile_write(path, &profile), YOKE_OK);
    strcpy(before, text_of(path));
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        cr_skip_test("no locale with a decimal comma");
    cr_assert_eq(yk_profile_write(path, &profile), YOKE_OK);
    cr_assert_str_eq(text_of(path), before);
    cr_assert_eq(yk_profile_read(path, &profile, NULL), YOKE_OK, "%s", yoke_error_text());
}

Test(profile_text, notices_every_length_that_it_could_be_cut_to)
{
    fill(&profile);
    cr_assert_eq(yk_profile_write(path, &profile), YOKE_OK);
    char *text = text_of(path);
    size_t whole = strlen(text), end = (size_t)(strstr(text, "\nend ") + 1 - text);
    for (size_t size = 0; size < whole - 1; size++) {
        bool edited = false;
        yoke_status status = yk_profile_parse(text, size, "cut", &profile, &edited);
        /* a sum that lost digits is seen as edited at least */
        cr_assert(status == YOKE_FORMAT || (size >= end + 3 && status == YOKE_OK), "at %zu", size);
        if (status == YOKE_OK && size > end) cr_assert(edited, "at %zu", size);
        if (status != YOKE_OK) cr_assert_not(yk_known(&profile.cpu_threads));
    }
}

Test(profile_text, tells_what_was_edited)
{
    bool edited = false;
    fill(&profile);
    cr_assert_eq(yk_profile_write(path, &profile), YOKE_OK);
    char *text = text_of(path), *figure = strstr(text, "1.23456 us");
    cr_assert_not_null(figure);
    memcpy(figure, "1.5    ns", 9);
    figure[9] = ' ';
    cr_assert_eq(yk_profile_parse(text, strlen(text), "edited", &profile, &edited), YOKE_OK, "%s",
                 yoke_error_text());
    cr_assert(edited);
    cr_assert_float_eq(profile.flag_round_trip.value, 1.5e-9, 1e-20);
}

static void is_refused(const char *lines, const char *why)
{
    char text[1 << 12];
    snprintf(text, sizeof text, "%s", lines);
    cr_assert_eq(yk_profile_parse(text, strlen(text), "t", &profile, NULL), YOKE_FORMAT, "%s",
                 lines);
    cr_assert_not_null(strstr(yoke_error_text(), why), "%s: %s", lines, yoke_error_text());
}

#define IN(line) "yoke-profile 1\n" line "\nend\n"

Test(profile_text, refuses_what_cannot_be_true_and_says_the_line)
{
    is_refused("", "nothing in it");
    is_refused("yoke-profile 1\n", "cut short after line 1");
    is_refused("yoke-profile 2\nend\n", "t:1: 'yoke-profile 2' is of another version");
    is_refused("%%MatrixMarket matrix\n", "not the beginning of a profile");
    is_refused(IN("gpu_lunch = 1 us # measured: x"), "t:2: 'gpu_lunch' is no figure");
    is_refused(IN("gpu_launch = 1 us"), "expected '# measured: source'");
    is_refused(IN("gpu_launch = 1 us # guessed: x"), "expected '# measured: source'");
    is_refused(IN("gpu_launch = nan s # measured: x"), "gpu_launch: no value");
    is_refused(IN("gpu_launch = inf s # measured: x"), "no value");
    is_refused(IN("gpu_launch = -1 us # measured: x"), "no value");
    is_refused(IN("gpu_launch = 1 hour # measured: x"), "no value");
    is_refused(IN("gpu_launch = 1 GB/s # measured: x"), "no value");
    is_refused(IN("gpu_launch = 3000 s # measured: x"), "no value");
    is_refused(IN("gpu_write = 3 B/s # measured: x"), "no value");
    is_refused(IN("gpu_launch = 1 us 2 # measured: x"), "no value");
    is_refused(IN("gpu_sms = 1 # measured: x\ngpu_sms = 1 # measured: x"), "t:3: gpu_sms: given");
    is_refused(IN("cpu_read = 1 GB/s # measured: x"), "expected points");
    is_refused(IN("cpu_read = 2: 1 GB/s, 1: 2 GB/s # measured: x"), "points must ascend");
    is_refused(IN("cpu_read = 0: 1 GB/s # measured: x"), "expected points");
    is_refused(IN("cpu_read = 1: 1 GB/s, # measured: x"), "expected points");
    is_refused(IN("cpu_read = 1: 1 GB/s 2: 2 GB/s # measured: x"), "no value");
    is_refused(IN("threads = 1.5"), "threads: expected a count");
    is_refused(IN("threads = -3"), "threads: expected a count");
    is_refused(IN("just words"), "no line of a profile");
    is_refused(IN("text = \001"), "control character");
    is_refused("yoke-profile 1\nend\ngpu_sms = 1 # measured: x\n", "follows the end");
    is_refused("yoke-profile 1\nend xyz\n", "not a sum");
}

Test(profile_text, refuses_lines_points_and_words_beyond_their_bounds)
{
    static char text[1 << 13];
    int used = snprintf(text, sizeof text, "yoke-profile 1\ncpu_read = ");
    for (int k = 1; k <= YK_CURVE_POINTS + 1; k++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s%d: 1 GB/s", k > 1 ? ", " : "", k);
    snprintf(text + used, sizeof text - (size_t)used, " # measured: x\nend\n");
    is_refused(text, "too many points");
    snprintf(text, sizeof text, "yoke-profile 1\ncpu = %0200d\nend\n", 0);
    is_refused(text, "cpu: too long");
    snprintf(text, sizeof text, "yoke-profile 1\ngpu_sms = 1 # measured: %0200d\nend\n", 0);
    is_refused(text, "gpu_sms: expected");
    snprintf(text, sizeof text, "yoke-profile 1\ntext = %03000d\nend\n", 0);
    is_refused(text, "too long");
}

Test(profile_text, refuses_what_is_no_file_of_its_size)
{
    cr_assert_eq(yk_profile_read(folder, &profile, NULL), YOKE_IO);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(yk_profile_read(path, &profile, NULL), YOKE_IO, "a pipe is not waited for");
    unlink(path);
    cr_assert_eq(yk_profile_read(path, &profile, NULL), YOKE_IO);
    cr_assert_not_null(strstr(yoke_error_text(), "No such file"));
    static char zeros[1 << 17];
    put(path, zeros, sizeof zeros);
    cr_assert_eq(yk_profile_read(path, &profile, NULL), YOKE_IO);
    put(path, zeros, 100);
    cr_assert_eq(yk_profile_read(path, &profile, NULL), YOKE_FORMAT);
}

Test(profile_text, is_replaced_as_a_whole_and_for_its_user_alone)
{
    struct stat is;
    fill(&profile);
    cr_assert_eq(yk_profile_write(path, &profile), YOKE_OK);
    cr_assert_eq(stat(path, &is), 0);
    cr_assert_eq(is.st_mode & 0777, 0600);
    yk_figure_set(&profile.gpu_sms, 7, YK_MEASURED, "x");
    cr_assert_eq(yk_profile_write(path, &profile), YOKE_OK);
    cr_assert_eq(yk_profile_read(path, &profile, NULL), YOKE_OK);
    cr_assert_eq(profile.gpu_sms.value, 7.0);
    snprintf(path, sizeof path, "%s/none/a.profile", folder);
    cr_assert_eq(yk_profile_write(path, &profile), YOKE_IO);
}

/* ----------------------------------------------------------------- shipped */

Test(profile_shipped, holds_machines_that_can_be_read_and_have_what_a_model_begins_with)
{
    const char *name;
    int count = 0;
    for (; (name = yk_profile_shipped_name(count)) != NULL; count++) {
        cr_assert_eq(yk_profile_shipped(name, &profile), YOKE_OK, "%s", yoke_error_text());
        cr_assert_str_eq(profile.name, name);
        cr_assert_gt(profile.cpu_read.points, 0, "%s", name);
        cr_assert_gt(profile.gpu_read.points, 0, "%s", name);
        const yk_figure *needed[] = {
            &profile.cpu_threads,      &profile.gpu_sms,          &profile.gpu_l2_bytes,
            &profile.gpu_memory_bytes, &profile.cpu_barrier,      &profile.gpu_launch,
            &profile.gpu_graph_node,   &profile.gpu_grid_barrier, &profile.flag_round_trip,
            &profile.copy_latency,     &profile.link_to_gpu,      &profile.link_from_gpu,
            &profile.gpu_reads_host,   &profile.coherent};
        for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
            cr_assert(yk_known(needed[i]) && *needed[i]->source, "%s: figure %zu", name, i);
    }
    cr_assert_eq(count, 5);
    cr_assert_eq(yk_profile_shipped("cray-1", &profile), YOKE_UNKNOWN_NAME);
}

Test(profile_shipped, knows_the_h200_as_measured_and_the_gh200_as_published)
{
    cr_assert_eq(yk_profile_shipped("h200-16cores", &profile), YOKE_OK);
    cr_assert_eq(profile.flag_round_trip.kind, YK_MEASURED);
    cr_assert_float_eq(profile.flag_round_trip.value, 1.9e-6, 1e-15);
    cr_assert_float_eq(yk_curve_at(&profile.gpu_read, 830e6), 4.64e12, 1.0);
    cr_assert_eq(profile.cpu_read.kind, YK_ASSUMED);
    cr_assert_eq(yk_profile_shipped("gh200-480", &profile), YOKE_OK);
    cr_assert_eq(profile.flag_round_trip.kind, YK_PUBLISHED);
    cr_assert_float_eq(yk_curve_at(&profile.cpu_read, 72.0), 330e9, 1.0);
    cr_assert_eq(profile.coherent.value, 1.0);
}

/* -------------------------------------------------------------------- here */

/* Puts a profile where this machine's is kept. */
static void keep(const yk_profile *p)
{
    yk_profile_key key;
    yk_profile_key_here(-1, &key);
    cr_assert_eq(yk_profile_kept_path(&key, true, path, sizeof path), YOKE_OK, "%s",
                 yoke_error_text());
    cr_assert_eq(yk_profile_write(path, p), YOKE_OK, "%s", yoke_error_text());
}

static bool is_kept(void)
{
    bool kept;
    yk_profile_here(-1, &profile, &kept, notice, sizeof notice);
    cr_assert_str_eq(profile.name, "this");
    return kept;
}

Test(profile_text, assumes_what_is_not_kept_and_says_nothing)
{
    cr_assert_not(is_kept());
    cr_assert_str_eq(notice, "");
    cr_assert_gt(profile.cpu_threads.value, 0.0);
    cr_assert_eq(profile.cpu_threads.kind, YK_MEASURED);
    cr_assert_eq(profile.cpu_read.kind, YK_ASSUMED);
    cr_assert_eq(profile.gpu_count.value, 0.0);
    cr_assert_not(yk_known(&profile.flag_round_trip));
}

Test(profile_text, finds_what_is_kept_of_this_machine)
{
    fill(&profile);
    yk_profile_key_here(-1, &profile.key);
    keep(&profile);
    cr_assert(is_kept());
    cr_assert_str_eq(notice, "");
    cr_assert_eq(profile.gpu_l2_bytes.value, 62914560.0);
}

Test(profile_text, says_why_a_kept_one_is_not_used_and_goes_on)
{
    fill(&profile);
    yk_profile_key_here(-1, &profile.key);
    profile.key.threads++;
    keep(&profile);
    cr_assert_not(is_kept());
    cr_assert_not_null(strstr(notice, "another number of processors"), "%s", notice);
    strcpy(profile.key.cpu, "Another CPU");
    keep(&profile);
    cr_assert_not(is_kept());
    cr_assert_not_null(strstr(notice, "is of another CPU ('Another CPU'"), "%s", notice);
    put(path, "yoke-profile 1\n", 15);
    cr_assert_not(is_kept());
    cr_assert_not_null(strstr(notice, "cut short"), "%s", notice);
    put(path, "yoke-profile 9\nend\n", 19);
    cr_assert_not(is_kept());
    cr_assert_not_null(strstr(notice, "another version"), "%s", notice);
}

Test(profile_text, uses_what_was_edited_and_says_so)
{
    fill(&profile);
    yk_profile_key_here(-1, &profile.key);
    keep(&profile);
    char command[512];
    snprintf(command, sizeof command, "sed -i 's/^coherent = 0/coherent = 1/' '%s'", path);
    cr_assert_eq(system(command), 0);
    cr_assert(is_kept());
    cr_assert_not_null(strstr(notice, "edited by hand"), "%s", notice);
    cr_assert_eq(profile.coherent.value, 1.0);
}

Test(profile_text, goes_on_without_a_home)
{
    yk_profile_key key;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    cr_assert_not(is_kept());
    yk_profile_key_here(-1, &key);
    cr_assert_eq(yk_profile_kept_path(&key, true, path, sizeof path), YOKE_IO);
    setenv("HOME", "relative", 1);
    cr_assert_eq(yk_profile_kept_path(&key, true, path, sizeof path), YOKE_IO);
    setenv("HOME", folder, 1);
    cr_assert_eq(yk_profile_kept_path(&key, true, path, sizeof path), YOKE_OK);
    cr_assert_not_null(strstr(path, "/.cache/yoke/"));
}

Test(profile_text, opens_a_machine_by_name_or_path)
{
    cr_assert_eq(yk_profile_open("this", -1, &profile, notice, sizeof notice), YOKE_OK);
    cr_assert_eq(yk_profile_open("h100-sxm", -1, &profile, notice, sizeof notice), YOKE_OK);
    cr_assert_eq(profile.gpu_sms.value, 132.0);
    cr_assert_eq(yk_profile_open("h100", -1, &profile, notice, sizeof notice), YOKE_UNKNOWN_NAME);
    cr_assert_not_null(strstr(yoke_error_text(), "known: this, gh200-120"));
    fill(&profile);
    cr_assert_eq(yk_profile_write(path, &profile), YOKE_OK);
    cr_assert_eq(yk_profile_open(path, -1, &profile, notice, sizeof notice), YOKE_OK);
    cr_assert_str_eq(profile.key.cpu, "Some CPU @ 2 GHz");
}

/* ------------------------------------------------------------ a rank beside others */

/* 2e10 B/s by one thread, 1e11 by 8; 1e12 of a GPU. */
Test(profile, a_rank_is_as_fast_as_its_part_of_the_memory_that_it_reads)
{
    yk_profile p;
    yk_profile_clear(&p);
    yk_rank_node node = {.threads = 8, .sharing = 1, .ranks = 1};
    cr_assert_eq(yk_rank_speed_by(&p, true, &node).speed, 0.0, "nothing is known");
    yk_curve_add(&p.cpu_read, 1.0, 2e10, YK_MEASURED, "test");
    yk_curve_add(&p.cpu_read, 8.0, 1e11, YK_MEASURED, "test");
    yk_curve_add(&p.gpu_read, 1e6, 3e12, YK_PUBLISHED, "test");
    yk_curve_add(&p.gpu_read, 1e9, 1e12, YK_PUBLISHED, "test");
    cr_assert_eq(yk_rank_speed_by(&p, true, &node).speed, 1e11);
    cr_assert_eq(yk_rank_speed_by(&p, true, &node).measured, 1.0);
    cr_assert_eq(yk_rank_speed_by(&p, false, &node).measured, 0.0);
    node = (yk_rank_node){.threads = 2, .sharing = 4, .ranks = 4}; /* unbound */
    cr_assert_eq(yk_rank_speed_by(&p, true, &node).speed, 1e11 / 4);
    node.gpus = 2; /* two ranks on each */
    cr_assert_eq(yk_rank_speed_by(&p, true, &node).speed, 1e12 / 2);
    cr_assert_eq(yk_rank_speed_by(&p, true, &node).measured, 0.0, "published");
    node.gpus = 8;
    cr_assert_eq(yk_rank_speed_by(&p, true, &node).speed, 1e12);
}
