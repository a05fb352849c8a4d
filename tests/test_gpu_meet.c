/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu_meet.c: a GPU's part meets others, which a thread of the CPU plays: sums have the bits
 * of sum.h however the passes cut them, halos travel, and no wait is for ever. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/context.h"
#include "lib/cuda/device.h"
#include "lib/part.h"
#include "solvers/cg/cpu_passes.h"
#include "solvers/cg/gpu_meet.h"
#include "tests/need_gpu.h"
#include "tests/systems.h"

#if FAKE_GPU
#include "tests/fake/fake.h"
#endif

TestSuite(gpu_meet, .init = need_gpu);

#define LAUNCH(call) MUST(yk_device_try((call), #call))

/* ------------------------------------------------------------------ device */

static yk_device device;

static void open_device(void)
{
    MUST(yk_device_open(0, &device));
    yk_device_enter(&device);
    for (int by_warps = 0; by_warps < 2; by_warps++) {
        yk_gpu_walk walk = {.by_warps = by_warps, .chunks = 1};
        LAUNCH(yk_gpu_load_kernels(&walk));
    }
}

static void *on_device(const void *from, size_t bytes)
{
    void *memory;
    MUST(yk_device_allocate(&device, "a test's memory", (int64_t)bytes, 1, &memory));
    if (from) MUST(yk_device_copy(&device, memory, from, bytes));
    MUST(yk_device_wait(&device));
    return memory;
}

static void from_device(void *to, const void *from, size_t bytes)
{
    MUST(yk_device_copy(&device, to, from, bytes));
    MUST(yk_device_wait(&device));
}

/* Sums of chunks, all positive, so that no step of the scalars ends a loop. */
static double *positive(int64_t count, uint64_t seed)
{
    double *value = malloc((size_t)count * sizeof *value);
    cr_assert(value);
    scramble(value, count, seed);
    for (int64_t i = 0; i < count; i++) value[i] = 0.1 + fabs(value[i]);
    return keep(value);
}

/* Blocks of so many chunks, whose nodes are there. */
static yk_gpu_view view_of(double *node, int64_t chunks, int full)
{
    yk_gpu_view view = {.format = YK_GPU_CSR, .walk = {.chunks = full, .multiprocessors = 1}};
    view.rows.csr.rows = chunks * YK_CHUNK - 5;
    view.sums.node[0] = node;
    view.sums.apart = 1;
    return view;
}

static void expect_tree(const yk_tree *tree, const yk_tree *expected, const char *name)
{
    cr_assert_eq(tree->end, expected->end, "%s", name);
    cr_assert_eq(tree->count, expected->count, "%s: %d nodes", name, tree->count);
    cr_assert_eq(tree->dots, expected->dots, "%s", name);
    for (int i = 0; i < tree->count; i++) {
        cr_assert_eq(tree->level[i], expected->level[i], "%s: node %d", name, i);
        for (int d = 0; d < tree->dots; d++)
            cr_assert_eq(tree->sum[i][d], expected->sum[i][d], "%s: node %d, dot %d: %a not %a",
                         name, i, d, tree->sum[i][d], expected->sum[i][d]);
    }
}

/* -------------------------------------------------------------------- tree */

/* Tasks of one to four sums, none of which multiplies; and, of those that a loop has, the same. */
static const yk_task task_of_dots[] = {0, YK_TASK_DOT_PQ, YK_TASK_UPDATE_JACOBI,
                                       YK_TASK_UPDATE_JACOBI_SHIFT, YK_TASK_DOTS_Z};

/* What blocks of `full` chunks leave: nodes of whole ones, then chunks. */
static void tree_of_nodes(const double *node, int64_t chunks, int full, int dots, yk_tree *tree)
{
    int64_t blocks = chunks / full, all = blocks + chunks % full;
    int level = 0;
    while (1 << level < full) level++;
    yk_tree_begin(tree, 0, dots);
    for (int64_t i = 0; i < all; i++) yk_tree_add(tree, i < blocks ? level : 0, node + i * dots);
}

typedef struct tree_fixture {
    double *node, *on_device; /* as many as any case needs */
    yk_tree *tree;
} tree_fixture;

static tree_fixture trees(int64_t nodes)
{
    tree_fixture f = {.node = positive(nodes * YK_DOTS, 11)};
    open_device();
    f.on_device = on_device(f.node, (size_t)(nodes * YK_DOTS) * sizeof *f.node);
    f.tree = on_device(NULL, sizeof *f.tree);
    return f;
}

static void expect_nodes_to_be_a_tree(const tree_fixture *f, int64_t chunks, int full, int dots)
{
    char name[96];
    yk_tree tree, expected;
    yk_gpu_view view = view_of(f->on_device, chunks, full);
    snprintf(name, sizeof name, "%lld chunks, %d a block, %d dots", (long long)chunks, full, dots);
    tree_of_nodes(f->node, chunks, full, dots, &expected);
    LAUNCH(yk_gpu_launch_tree(&view, (int)task_of_dots[dots], NULL, f->tree, device.stream));
    from_device(&tree, f->tree, sizeof tree);
    expect_tree(&tree, &expected, name);
}

Test(gpu_meet, nodes_of_any_number_become_the_tree_of_their_chunks)
{
    static const int64_t more[] = {511,  512,  513,  1000, 1023, 1024, 1025,  2047,  2048, 2049,
                                   4099, 6143, 8191, 8192, 8193, 9999, 16384, 24577, 65535};
    tree_fixture f = trees(65536 + 1);
    for (int full = 1; full <= YK_BLOCK_CHUNKS; full *= 2)
        for (int dots = 1; dots <= YK_DOTS; dots++) {
            for (int64_t chunks = 1; chunks <= 140; chunks++)
                expect_nodes_to_be_a_tree(&f, chunks, full, dots);
            for (size_t i = 0; i < sizeof more / sizeof *more; i++)
                expect_nodes_to_be_a_tree(&f, more[i], full, dots);
        }
}

Test(gpu_meet, two_billion_rows_have_a_tree)
{
    const int64_t most = (int64_t)1 << 23;
    static const int64_t fewer[] = {0, 1, 7, 8, 4096, 1234567};
    tree_fixture f = trees(most / (FAKE_GPU ? 4 : 1) + 64);
    for (int full = FAKE_GPU ? 16 : 1; full <= YK_BLOCK_CHUNKS; full *= 4)
        for (size_t i = 0; i < sizeof fewer / sizeof *fewer; i++)
            expect_nodes_to_be_a_tree(&f, most - fewer[i], full, 1 + (int)i % YK_DOTS);
}

Test(gpu_meet, a_part_without_rows_has_an_empty_tree)
{
    tree_fixture f = trees(1);
    yk_tree tree;
    yk_gpu_view view = view_of(f.on_device, 0, 4);
    view.rows.csr.rows = 0;
    LAUNCH(yk_gpu_launch_tree(&view, YK_TASK_DOT_PQ, NULL, f.tree, device.stream));
    from_device(&tree, f.tree, sizeof tree);
    cr_assert_eq(tree.count, 0);
    cr_assert_eq(tree.end, 0);
}

/* Of rows that begin with any chunk of the system; 2: of chunks that were left. Its nodes are used
 * up, so they come anew. */
static void expect_tree_from(const tree_fixture *f, int64_t first, int64_t chunks, int full,
                             int dots)
{
    char name[96];
    yk_tree tree, expected;
    yk_gpu_view view = view_of(f->on_device, chunks, full);
    const int64_t all = chunks / full + chunks % full;
    view.sums.first_chunk = first;
    if (first % full != 0) view.sums.apart = 2, full = 1;
    const int64_t nodes = view.sums.apart > 1 ? chunks : all;
    snprintf(name, sizeof name, "%lld chunks from %lld on, %d a block, %d dots", (long long)chunks,
             (long long)first, full, dots);
    yk_tree_begin(&expected, first, dots);
    int level = 0;
    while (1 << level < full) level++;
    for (int64_t i = 0; i < nodes; i++)
        yk_tree_add(&expected, i < chunks / full ? level : 0, f->node + i * dots);
    MUST(yk_device_copy(&device, f->on_device, f->node, (size_t)(nodes * dots) * sizeof *f->node));
    LAUNCH(yk_gpu_launch_tree(&view, (int)task_of_dots[dots], NULL, f->tree, device.stream));
    from_device(&tree, f->tree, sizeof tree);
    expect_tree(&tree, &expected, name);
}

Test(gpu_meet, a_tree_may_begin_with_any_chunk)
{
    static const int64_t begins[] = {1, 2, 3, 7, 8, 63, 64, 192, 1000, 4096, 65535, 8000000};
    static const int64_t counts[] = {1,   2,   5,   8,    15,   16,   17,   63,   64,    65,
                                     127, 128, 129, 1000, 1024, 4099, 8192, 9999, 65535, 70000};
    tree_fixture f = trees(70001);
    for (size_t b = 0; b < sizeof begins / sizeof *begins; b++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int full = 1; full <= YK_BLOCK_CHUNKS; full *= 8)
                expect_tree_from(&f, begins[b], counts[c], full, 1 + (int)(b + c) % YK_DOTS);
}

/* ------------------------------------------------------------------ passes */

enum { VECTORS = 9 };

/* A part's vectors, here and there. */
typedef struct rows_fixture {
    int64_t rows, halo;
    double *host[VECTORS];
    yk_cg_rows here, there;
    double *node;
} rows_fixture;

static yk_cg_rows rows_of(double *const *v, int64_t rows)
{
    return (yk_cg_rows){.csr = {.rows = rows},
                        .x = v[0],
                        .r = v[1],
                        .z = v[2],
                        .p = v[3],
                        .p_old = v[4],
                        .q = v[5],
                        .b = v[6],
                        .best = v[7],
                        .inverse_diagonal = v[8],
                        .alpha = 0.25,
                        .beta = 0.5,
                        .shift = 0.125};
}

static rows_fixture vectors(int64_t rows, int64_t halo)
{
    rows_fixture f = {.rows = rows, .halo = halo};
    double *there[VECTORS];
    size_t bytes = (size_t)(rows + halo) * sizeof(double);
    for (int i = 0; i < VECTORS; i++) {
        f.host[i] = positive(rows + halo, 100 + (uint64_t)i);
        there[i] = on_device(f.host[i], bytes);
    }
    f.here = rows_of(f.host, rows);
    f.there = rows_of(there, rows);
    f.node = on_device(NULL, (size_t)(yk_gpu_chunks(rows) + 1) * YK_DOTS * sizeof(double));
    return f;
}

/* The view of a plan with others beside it: nothing is completed, so no counter is there. */
static yk_gpu_view view_of_rows(const rows_fixture *f, yk_gpu_walk walk)
{
    yk_gpu_view view = {.rows = f->there, .format = YK_GPU_CSR, .walk = walk};
    view.sums.node[0] = f->node;
    view.sums.apart = 1;
    return view;
}

static void expect_pass_to_leave_a_tree(const rows_fixture *f, int task, yk_gpu_walk walk,
                                        yk_tree *on_device)
{
    char name[96];
    yk_tree tree, expected;
    yk_gpu_view view = view_of_rows(f, walk);
    snprintf(name, sizeof name, "task %d, %lld rows, %d a block, by warps %d, backwards %d", task,
             (long long)f->rows, walk.chunks, walk.by_warps, walk.backwards);
    yk_tree_begin(&expected, 0, yk_task_dots(task));
    yk_cpu_passes_here()->pass[task](&f->here, 0, f->rows, &expected);
    LAUNCH(yk_gpu_launch(&view, task, NULL, device.stream));
    LAUNCH(yk_gpu_launch_tree(&view, task, NULL, on_device, device.stream));
    from_device(&tree, on_device, sizeof tree);
    expect_tree(&tree, &expected, name);
}

Test(gpu_meet, passes_leave_what_the_tree_is_made_of)
{
    static const int64_t sizes[] = {1,    255,   256,         257,           2048,         2049,
                                    5000, 16384, 16384 + 300, 100 * 256 + 1, 700 * 256 - 7};
    open_device();
    yk_tree *tree = on_device(NULL, sizeof *tree);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rows_fixture f = vectors(sizes[i], 0);
        for (int dots = 1; dots <= YK_DOTS; dots++)
            for (int way = 0; way < 16; way++) {
                yk_gpu_walk walk = {.by_warps = way >= 14,
                                    .chunks = 1 << way / 2 % 7,
                                    .backwards = way & 1,
                                    .multiprocessors = device.multiprocessors};
                expect_pass_to_leave_a_tree(&f, (int)task_of_dots[dots], walk, tree);
            }
    }
}

/* Some blocks, then the others; of rows that do not begin where a block would, as chunks. */
Test(gpu_meet, blocks_taken_in_turn_leave_the_same)
{
    static const int64_t begins[] = {0, 64, 5};
    open_device();
    yk_tree *there = on_device(NULL, sizeof *there), tree, expected;
    rows_fixture f = vectors(100 * 256 - 9, 0);
    for (int by_warps = 0; by_warps < 2; by_warps++)
        for (size_t b = 0; b < sizeof begins / sizeof *begins; b++) {
            yk_gpu_walk walk = {.by_warps = by_warps,
                                .chunks = 4,
                                .backwards = by_warps,
                                .multiprocessors = device.multiprocessors};
            yk_gpu_view view = view_of_rows(&f, walk);
            view.sums.first_chunk = begins[b];
            view.sums.apart = begins[b] % YK_BLOCK_CHUNKS ? 2 : 1;
            const int full = yk_gpu_block_chunks(&view, YK_TASK_DOT_PQ);
            const int blocks = (100 + full - 1) / full;
            yk_tree_begin(&expected, begins[b], 1);
            yk_cpu_passes_here()->pass[YK_TASK_DOT_PQ](&f.here, 0, f.rows, &expected);
            view.walk.first_block = 2;
            view.walk.blocks = blocks - 3;
            LAUNCH(yk_gpu_launch(&view, YK_TASK_DOT_PQ, NULL, device.stream));
            view.walk.first_block = 0;
            view.walk.blocks = 2;
            LAUNCH(yk_gpu_launch(&view, YK_TASK_DOT_PQ, NULL, device.stream));
            view.walk.first_block = blocks - 1;
            view.walk.blocks = 1;
            LAUNCH(yk_gpu_launch(&view, YK_TASK_DOT_PQ, NULL, device.stream));
            LAUNCH(yk_gpu_launch_tree(&view, YK_TASK_DOT_PQ, NULL, there, device.stream));
            from_device(&tree, there, sizeof tree);
            expect_tree(&tree, &expected, by_warps ? "by warps" : "by blocks");
        }
}

/* ----------------------------------------------------------------- meeting */

/* The parts of a system cut at those chunks, in which a GPU has the first. */
typedef struct parts_fixture {
    yk_part part[8];
    int parts;
    yoke_context *context;
    yk_link link;
} parts_fixture;

static void join(parts_fixture *f, const yk_memmode *mode, const int64_t *cut, int parts,
                 int64_t halo)
{
    memset(f, 0, sizeof *f);
    f->context = new_context();
    f->parts = parts;
    for (int i = 0; i < parts; i++)
        f->part[i] = (yk_part){.owner = i == 0 ? YK_OWNER_GPU : YK_OWNER_CPU,
                               .first = cut[i] * YK_CHUNK,
                               .rows = (cut[i + 1] - cut[i]) * YK_CHUNK,
                               .halo = halo};
    MUST(mode->connect(f->context, f->part, parts, 0, &f->link));
}

static void part_ways(parts_fixture *f)
{
    f->link.mode->disconnect(f->context, &f->link);
}

enum { MEETINGS = 24 };

/* The others, by one thread: at each meeting each publishes the sums of its chunks. */
typedef struct others {
    parts_fixture *f;
    const double *leaf; /* [chunks of all][YK_DOTS], and what meeting m adds to each */
    int meetings, slow;
    bool in_vain;
    yk_tree gpu[MEETINGS + 1];
} others;

static int dots_of_meeting(unsigned meeting)
{
    return 1 + (int)(meeting * 7 / 3) % YK_DOTS;
}

static void add_leaf(yk_tree *tree, const others *o, int64_t chunk, unsigned meeting)
{
    double sum[YK_DOTS];
    for (int d = 0; d < YK_DOTS; d++) sum[d] = o->leaf[chunk * YK_DOTS + d] + (double)meeting;
    yk_tree_add(tree, 0, sum);
}

static void tree_of_part(const others *o, int part, unsigned meeting, yk_tree *tree)
{
    int64_t first = o->f->part[part].first / YK_CHUNK;
    int64_t end = first + o->f->part[part].rows / YK_CHUNK;
    yk_tree_begin(tree, first, dots_of_meeting(meeting));
    for (int64_t chunk = first; chunk < end; chunk++) add_leaf(tree, o, chunk, meeting);
}

static void *play_others(void *user)
{
    others *o = user;
    yk_link *link = &o->f->link;
    for (unsigned m = 1; m <= (unsigned)o->meetings; m++) {
        if (o->slow && m % 5 == 0) usleep(2000);
        for (int i = 1; i < o->f->parts; i++) {
            yk_slot *slot = &link->port[i].slot[m & 1];
            tree_of_part(o, i, m, &slot->sums);
            yk_flag_set(&slot->flag, m);
        }
        yk_slot *gpu = &link->port[0].slot[m & 1];
        if (!yk_flag_wait(&gpu->flag, m, link->abort, 20.0)) {
            o->in_vain = true;
            return NULL;
        }
        o->gpu[m] = gpu->sums;
    }
    return NULL;
}

static yk_gpu_loop fresh_loop(void)
{
    return (yk_gpu_loop){.s = {.alpha = 1.0, .rr = 1.0, .rz = 1.0},
                         .left = 1000,
                         .limits = {.bound = -1.0,
                                    .diverged = 1e300,
                                    .check_every = 1,
                                    .rows_inverse = 1.0,
                                    .flexible = 1}};
}

/* A loop on the device, and where its head comes down after each meeting. */
typedef struct loop_fixture {
    yk_gpu_loop *loop, *after; /* after: pinned, [MEETINGS + 1] heads */
    size_t head;
} loop_fixture;

static loop_fixture new_loop(void)
{
    yk_gpu_loop loop = fresh_loop();
    loop_fixture f = {.loop = on_device(&loop, sizeof loop), .head = YK_GPU_LOOP_HEAD};
    MUST(yk_device_allocate_pinned("heads", (MEETINGS + 1) * sizeof loop, &f.after));
    return f;
}

static void fetch_head(const loop_fixture *f, int meeting)
{
    MUST(yk_device_copy(&device, &f->after[meeting], f->loop, f->head));
}

/* What the scalars are after each meeting, by the trees of all parts. */
static void expect_scalars(const others *o, const loop_fixture *l)
{
    yk_gpu_loop loop = fresh_loop();
    for (unsigned m = 1; m <= (unsigned)o->meetings; m++) {
        int dots = dots_of_meeting(m);
        double total[YK_DOTS] = {0.0};
        yk_tree all, next;
        tree_of_part(o, 0, m, &all);
        expect_tree(&o->gpu[m], &all, "the GPU's own");
        for (int i = 1; i < o->f->parts; i++) {
            tree_of_part(o, i, m, &next);
            yk_tree_append(&all, &next);
        }
        yk_tree_total(&all, total);
        if (dots == 1)
            yk_cg_after_multiply(&loop.s, total[0]);
        else
            yk_cg_after_update(&loop.s, &loop.limits, total);
        const yk_gpu_loop *seen = &l->after[m];
        cr_assert_eq(seen->meetings, m, "meeting %u is the loop's %u", m, seen->meetings);
        cr_assert_eq(seen->s.stop, loop.s.stop, "meeting %u: stop %d", m, seen->s.stop);
        cr_assert_eq(memcmp(&seen->s, &loop.s, offsetof(yk_cg_scalars, stop)), 0,
                     "meeting %u of %d parts, %d dots: rr %a not %a, pq %a not %a", m, o->f->parts,
                     dots, seen->s.rr, loop.s.rr, seen->s.pq, loop.s.pq);
    }
}

/* The GPU's nodes of each meeting, as blocks of `full` chunks leave them. */
static double *nodes_of_meeting(const others *o, unsigned meeting, int full)
{
    int64_t chunks = o->f->part[0].rows / YK_CHUNK, at = 0;
    int dots = dots_of_meeting(meeting);
    double *node = malloc((size_t)(chunks + 1) * YK_DOTS * sizeof *node);
    cr_assert(node);
    for (int64_t first = 0; first < chunks; at++) {
        int64_t end = first + full <= chunks ? first + full : first + 1;
        yk_tree tree;
        yk_tree_begin(&tree, first, dots);
        for (; first < end; first++) add_leaf(&tree, o, first, meeting);
        memcpy(node + at * dots, tree.sum[0], (size_t)dots * sizeof *node);
    }
    return keep(node);
}

static void enqueue_meetings(const others *o, const loop_fixture *l, int full, double *node)
{
    int64_t chunks = o->f->part[0].rows / YK_CHUNK;
    yk_gpu_link link = yk_gpu_link_of(&o->f->link);
    yk_gpu_view view = view_of(node, chunks, full);
    for (unsigned m = 1; m <= (unsigned)o->meetings; m++) {
        double *next = nodes_of_meeting(o, m, full);
        MUST(yk_device_copy(&device, node, next, (size_t)(chunks + 1) * YK_DOTS * sizeof *next));
        LAUNCH(yk_gpu_launch_meet(&view, (int)task_of_dots[dots_of_meeting(m)], l->loop, &link,
                                  device.stream));
        fetch_head(l, (int)m);
    }
}

static void expect_meetings(const yk_memmode *mode, const int64_t *cut, int parts, int full)
{
    parts_fixture f;
    others *o = calloc(1, sizeof *o);
    loop_fixture l = new_loop();
    pthread_t thread;
    cr_assert(o);
    join(&f, mode, cut, parts, 3);
    o->f = &f;
    o->meetings = MEETINGS;
    o->slow = parts % 2;
    o->leaf = positive(cut[parts] * YK_DOTS, 5);
    double *node = on_device(NULL, (size_t)(cut[1] + 1) * YK_DOTS * sizeof *node);
    cr_assert_eq(pthread_create(&thread, NULL, play_others, o), 0);
    enqueue_meetings(o, &l, full, node);
    MUST(yk_device_wait(&device));
    pthread_join(thread, NULL);
    cr_assert(!o->in_vain, "the GPU did not come");
    expect_scalars(o, &l);
    part_ways(&f);
    free(o);
    yk_device_free(node);
    yk_device_free(l.loop);
    yk_device_free_pinned(l.after);
}

/* Modes by flags that this machine has. */
static int modes_by_flags(const yk_memmode **mode)
{
    static const yk_memmode *const all[] = {&yk_memmode_mapped, &yk_memmode_managed,
                                            &yk_memmode_system};
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (!*all[i]->reason(0)) mode[count++] = all[i];
    return count;
}

Test(gpu_meet, scalars_follow_from_all_parts_sums_as_on_the_cpu)
{
    static const int64_t two[][3] = {{0, 1, 2},      {0, 7, 8},       {0, 64, 65},
                                     {0, 99, 1000},  {0, 1000, 1100}, {0, 2047, 2049},
                                     {0, 3001, 4096}};
    static const int64_t three[] = {0, 5, 21, 300},
                         eight[] = {0, 33, 34, 50, 51, 90, 127, 128, 131};
    const yk_memmode *mode[3];
    open_device();
    cr_assert_gt(modes_by_flags(mode), 0);
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        for (int full = 1; full <= YK_BLOCK_CHUNKS; full *= 4)
            expect_meetings(mode[0], two[i], 2, full);
    for (int full = 1; full <= YK_BLOCK_CHUNKS; full *= 2) {
        expect_meetings(mode[0], three, 3, full);
        expect_meetings(mode[0], eight, 8, full);
    }
}

Test(gpu_meet, every_mode_by_flags_meets)
{
    static const int64_t cut[] = {0, 77, 100, 130};
    const yk_memmode *mode[3];
    open_device();
#if FAKE_GPU
    fake_reaches_all(true);
    cr_assert_eq(modes_by_flags(mode), 3);
#endif
    for (int i = modes_by_flags(mode) - 1; i >= 0; i--) expect_meetings(mode[i], cut, 3, 8);
}

#if FAKE_GPU
Test(gpu_meet, is_the_same_if_work_runs_as_it_is_enqueued)
{
    static const int64_t cut[] = {0, 77, 100, 130};
    open_device();
    fake_eager(true);
    expect_meetings(&yk_memmode_mapped, cut, 3, 8);
}
#endif

/* -------------------------------------------------------------------- wait */

static const int64_t halves[] = {0, 40, 80};

/* One meeting with a part that does not come by itself. */
typedef struct lonely {
    parts_fixture f;
    loop_fixture l;
    double *node, *leaf;
    yk_gpu_view view;
} lonely;

static void enqueue_meeting(lonely *w, int meeting)
{
    yk_gpu_link link = yk_gpu_link_of(&w->f.link);
    LAUNCH(yk_gpu_launch_meet(&w->view, YK_TASK_DOT_PQ, w->l.loop, &link, device.stream));
    fetch_head(&w->l, meeting);
}

static void begin_lonely(lonely *w, double deadline)
{
    open_device();
    join(&w->f, &yk_memmode_mapped, halves, 2, 1);
    w->f.link.deadline = deadline;
    w->l = new_loop();
    w->leaf = positive(80 * YK_DOTS, 3);
    w->node = on_device(w->leaf, 41 * YK_DOTS * sizeof *w->leaf);
    w->view = view_of(w->node, 40, 1);
}

static void expect_aborted(lonely *w, int meeting)
{
    MUST(yk_device_wait(&device));
    cr_assert_eq(w->l.after[meeting].s.stop, YK_CG_ABORTED);
    cr_assert_eq(w->l.after[meeting].halt, 1);
    cr_assert_eq(w->l.after[meeting].meetings, 0);
    cr_assert_eq(yk_flag_get(w->f.link.abort), 1);
}

Test(gpu_meet, abort_ends_the_wait, .timeout = 60)
{
    lonely w;
    begin_lonely(&w, 600.0);
    enqueue_meeting(&w, 1);
    usleep(20000);
    yk_flag_set(w.f.link.abort, 1);
    expect_aborted(&w, 1);
}

Test(gpu_meet, the_deadline_ends_the_wait_and_raises_abort, .timeout = 60)
{
    lonely w;
    begin_lonely(&w, 0.05);
    double began = yoke_seconds();
    enqueue_meeting(&w, 1);
    enqueue_meeting(&w, 2); /* does nothing: the loop has ended */
    MUST(yk_device_wait(&device));
    cr_assert_geq(yoke_seconds() - began, 0.04);
    expect_aborted(&w, 1);
    expect_aborted(&w, 2);
    cr_assert_eq(yk_flag_get(&w.f.link.port[0].slot[0].flag), 0, "a second meeting was begun");
}

static void publish(lonely *w, unsigned number)
{
    for (unsigned parity = 0; parity < 2; parity++) {
        yk_slot *slot = &w->f.link.port[1].slot[parity];
        yk_tree_begin(&slot->sums, 40, 1);
        for (int64_t chunk = 40; chunk < 80; chunk++)
            yk_tree_add(&slot->sums, 0, w->leaf + chunk * YK_DOTS);
        yk_flag_set(&slot->flag, number);
    }
}

Test(gpu_meet, alone_waits_for_nobody, .timeout = 60)
{
    lonely w;
    begin_lonely(&w, 600.0);
    publish(&w, 1000);
    for (int m = 1; m <= MEETINGS; m++) enqueue_meeting(&w, m);
    MUST(yk_device_wait(&device));
    cr_assert_eq(w.l.after[MEETINGS].meetings, MEETINGS);
    cr_assert_eq(w.l.after[MEETINGS].s.stop, YK_CG_GO_ON);
    cr_assert_gt(w.l.after[MEETINGS].s.pq, 0.0);
}

static void *free_memory(void *memory)
{
    yk_device_enter(&device);
    yk_device_free(memory);
    return NULL;
}

/* cudaFree waits for the kernel, and the kernel for the host: who plays the host makes no call of
 * CUDA's before it has come. */
Test(gpu_meet, memory_may_be_freed_meanwhile, .timeout = 60)
{
    lonely w;
    pthread_t thread;
    begin_lonely(&w, 600.0);
    double *memory = on_device(NULL, 1 << 20);
    enqueue_meeting(&w, 1);
    cr_assert_eq(pthread_create(&thread, NULL, free_memory, memory), 0);
    usleep(50000);
    publish(&w, 1);
    pthread_join(thread, NULL);
    MUST(yk_device_wait(&device));
    cr_assert_eq(w.l.after[1].meetings, 1);
}

#if FAKE_GPU
static atomic_bool called;

static void *call_runtime(void *unused)
{
    yk_device_leave(yk_device_enter(&device));
    atomic_store(&called, true);
    return unused;
}

/* The fake keeps other calls out while memory is freed, as a driver may: whoever owes a kernel a
 * message and makes a call first hangs. */
Test(gpu_meet, calls_wait_while_memory_is_freed, .timeout = 60)
{
    lonely w;
    pthread_t frees, calls;
    begin_lonely(&w, 600.0);
    double *memory = on_device(NULL, 1 << 20);
    enqueue_meeting(&w, 1);
    cr_assert_eq(pthread_create(&frees, NULL, free_memory, memory), 0);
    usleep(50000);
    cr_assert_eq(pthread_create(&calls, NULL, call_runtime, NULL), 0);
    usleep(50000);
    cr_assert(!atomic_load(&called));
    publish(&w, 1);
    pthread_join(frees, NULL);
    pthread_join(calls, NULL);
    MUST(yk_device_wait(&device));
}
#endif

Test(gpu_meet, is_refused_to_a_part_that_is_not_the_first)
{
    lonely w;
    begin_lonely(&w, 600.0);
    yk_gpu_link link = yk_gpu_link_of(&w.f.link);
    link.me = 1;
    cr_assert_neq(yk_gpu_launch_meet(&w.view, YK_TASK_DOT_PQ, w.l.loop, &link, device.stream), 0);
}

/* ------------------------------------------------------------------- halos */

enum { ROWS = 5 * YK_CHUNK, HALO = 300 };

/* Row k of the boundary. */
static void boundary(int32_t *row)
{
    for (int k = 0; k < HALO; k++) row[k] = (int32_t)(ROWS - 2 * HALO + 2 * k);
}

static void expect_halo(const yk_memmode *mode)
{
    static const int64_t cut[] = {0, 5, 10};
    int32_t row[HALO];
    parts_fixture f;
    rows_fixture v = vectors(ROWS, HALO);
    yk_gpu_loop loop = fresh_loop();
    double p[HALO];
    join(&f, mode, cut, 2, HALO);
    yk_port *mine = &f.link.port[0], *other = &f.link.port[1];
    bool copies = f.link.meeting == YK_MEET_BY_EVENTS;
    loop.s.beta = 0.75;
    loop.s.shift = 0.3125;
    boundary(row);
    int32_t *rows = on_device(row, sizeof row);
    yk_gpu_loop *there = on_device(&loop, sizeof loop);
    yk_gpu_view view = view_of_rows(&v, (yk_gpu_walk){.chunks = 1});

    LAUNCH(yk_gpu_launch_send(&view, v.there.z, rows, HALO, other->gpu_z, there, device.stream));
    if (copies) MUST(yk_device_copy(&device, other->halo_z, other->gpu_z, HALO * sizeof(double)));
    MUST(yk_device_wait(&device));
    for (int k = 0; k < HALO; k++)
        cr_assert_eq(other->halo_z[k], v.here.z[row[k]], "%s: %d", mode->name, k);

    scramble(mine->halo_z, HALO, 77);
    if (copies) MUST(yk_device_copy(&device, mine->gpu_z, mine->halo_z, HALO * sizeof(double)));
    LAUNCH(yk_gpu_launch_halo(&view, HALO, mine->gpu_z, there, device.stream));
    from_device(p, v.there.p + ROWS, sizeof p);
    for (int k = 0; k < HALO; k++)
        cr_assert_eq(p[k], fma(0.75, v.here.p[ROWS + k], mine->halo_z[k] - 0.3125), "%s: %d",
                     mode->name, k);

    LAUNCH(yk_gpu_launch_send(&view, v.there.x, rows, HALO, other->gpu_x, NULL, device.stream));
    MUST(yk_device_wait(&device));
    from_device(p, other->gpu_x, sizeof p);
    for (int k = 0; k < HALO; k++) cr_assert_eq(p[k], v.here.x[row[k]], "%s: %d", mode->name, k);
    part_ways(&f);
}

Test(gpu_meet, halos_travel_both_ways_in_every_mode)
{
    const yk_memmode *mode[3];
    open_device();
#if FAKE_GPU
    fake_reaches_all(true);
#endif
    for (int i = modes_by_flags(mode) - 1; i >= 0; i--) expect_halo(mode[i]);
    expect_halo(&yk_memmode_explicit);
}

Test(gpu_meet, nothing_happens_after_the_loop)
{
    rows_fixture v;
    yk_gpu_loop loop = fresh_loop();
    yk_tree empty = {.count = -1}, tree;
    double to[2] = {-1.0, -1.0}, p;
    int32_t row[2] = {0, 1};
    open_device();
    v = vectors(ROWS, 2);
    loop.halt = 1;
    yk_gpu_loop *there = on_device(&loop, sizeof loop);
    double *sent = on_device(to, sizeof to);
    yk_tree *made = on_device(&empty, sizeof empty);
    int32_t *rows = on_device(row, sizeof row);
    yk_gpu_view view = view_of_rows(&v, (yk_gpu_walk){.chunks = 1});
    LAUNCH(yk_gpu_launch_send(&view, v.there.z, rows, 2, sent, there, device.stream));
    LAUNCH(yk_gpu_launch_halo(&view, 2, sent, there, device.stream));
    LAUNCH(yk_gpu_launch_tree(&view, YK_TASK_DOT_PQ, there, made, device.stream));
    from_device(to, sent, sizeof to);
    cr_assert_eq(to[0], -1.0);
    from_device(&tree, made, sizeof tree);
    cr_assert_eq(tree.count, -1);
    from_device(&p, v.there.p + ROWS, sizeof p);
    cr_assert_eq(p, v.here.p[ROWS]);
}
