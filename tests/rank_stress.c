/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_stress.c: ranks as threads of one process, by a table of communication of its own: a plain
 * program, for builds without MPI and for the sanitizers, which see nothing of other processes.
 * Each rank has two workers, so that what the first brings from other ranks crosses to a second. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke_comm.h>
#include <yoke_io.h>

enum { RANKS = 3, MESSAGE = 4096 };

/* One number at a time: full while its receiver has not taken it. */
typedef struct letter {
    atomic_int full;
    const void *memory;
} letter;

static pthread_barrier_t barrier;
static const void *shown[RANKS];
static const size_t *sizes[RANKS];
static _Alignas(16) char combined[MESSAGE];
static letter letters[RANKS][RANKS];

static int number_of(void *self)
{
    return *(const int *)self;
}

static void meet(void)
{
    pthread_barrier_wait(&barrier);
}

static int reduce(void *self, void *message, size_t bytes)
{
    shown[number_of(self)] = message;
    meet();
    if (number_of(self) == 0) {
        memcpy(combined, shown[RANKS - 1], bytes);
        for (int r = RANKS - 2; r >= 0; r--) yoke_comm_combine(shown[r], combined);
    }
    meet();
    memcpy(message, combined, bytes);
    meet();
    return 0;
}

/* Of this rank, begun and not ended: its message is not looked at before. */
static _Thread_local struct {
    void *message;
    size_t bytes;
} begun;

static int reduce_begin(void *self, void *message, size_t bytes)
{
    (void)self;
    begun.message = message;
    begun.bytes = bytes;
    return 0;
}

static int reduce_end(void *self)
{
    return reduce(self, begun.message, begun.bytes);
}

static int broadcast(void *self, int root, void *data, size_t bytes)
{
    shown[number_of(self)] = data;
    meet();
    if (number_of(self) != root) memcpy(data, shown[root], bytes);
    meet();
    return 0;
}

static int gather(void *self, const void *mine, size_t bytes, void *all)
{
    shown[number_of(self)] = mine;
    meet();
    for (int r = 0; r < RANKS; r++) memcpy((char *)all + (size_t)r * bytes, shown[r], bytes);
    meet();
    return 0;
}

static int exchange(void *self, const void *send, const size_t *send_bytes, void *receive,
                    const size_t *receive_bytes)
{
    char *to = receive;
    shown[number_of(self)] = send;
    sizes[number_of(self)] = send_bytes;
    meet();
    for (int r = 0; r < RANKS; r++) {
        const char *from = shown[r];
        for (int q = 0; q < number_of(self); q++) from += sizes[r][q];
        if (receive_bytes[r] > 0) memcpy(to, from, receive_bytes[r]);
        to += receive_bytes[r];
    }
    meet();
    return 0;
}

typedef struct channel {
    yoke_lane send[RANKS], receive[RANKS];
    int sends, receives;
} channel;

static int open_channel(void *self, const yoke_lane *send, int sends, const yoke_lane *receive,
                        int receives, void **made)
{
    channel *c = calloc(1, sizeof *c);
    (void)self;
    if (!c) return 1;
    c->sends = sends;
    c->receives = receives;
    for (int i = 0; i < sends; i++) c->send[i] = send[i];
    for (int i = 0; i < receives; i++) c->receive[i] = receive[i];
    *made = c;
    return 0;
}

static int start_receive(void *self, void *opened)
{
    (void)self;
    (void)opened;
    return 0;
}

static int start_send(void *self, void *opened)
{
    const channel *c = opened;
    for (int i = 0; i < c->sends; i++) {
        letter *l = &letters[number_of(self)][c->send[i].rank];
        l->memory = c->send[i].memory;
        atomic_store_explicit(&l->full, 1, memory_order_release);
    }
    return 0;
}

static void wait_until(letter *l, int full)
{
    while (atomic_load_explicit(&l->full, memory_order_acquire) != full) sched_yield();
}

static int wait_channel(void *self, void *opened)
{
    const channel *c = opened;
    for (int i = 0; i < c->receives; i++) {
        letter *l = &letters[c->receive[i].rank][number_of(self)];
        wait_until(l, 1);
        memcpy(c->receive[i].memory, l->memory, c->receive[i].bytes);
        atomic_store_explicit(&l->full, 0, memory_order_release);
    }
    for (int i = 0; i < c->sends; i++) wait_until(&letters[number_of(self)][c->send[i].rank], 0);
    return 0;
}

static void close_channel(void *self, void *opened)
{
    (void)self;
    free(opened);
}

static void error_text(void *self, int code, char *text, size_t size)
{
    (void)self;
    snprintf(text, size, "code %d", code);
}

/* ------------------------------------------------------------------- ranks */

static const char *const specs[] = {"poisson3d7:16", "random_spd:3000:9:3", "elasticity3d:7"};
static const char *const ways[][2] = {
    {"cg", "unfolded"}, {"cg", "folded"}, {"cg-single", NULL}, {"cg-pipelined", NULL}};
enum { SPECS = sizeof specs / sizeof specs[0], WAYS = sizeof ways / sizeof ways[0] };
static double *alone[SPECS][WAYS];
static int64_t iterations[SPECS][WAYS];
static atomic_int failures;

static void fail(const char *what, int spec)
{
    fprintf(stderr, "%s: %s: %s\n", specs[spec], what, yoke_error_text());
    atomic_fetch_add(&failures, 1);
}

/* x of one process, or of a rank. */
static yoke_status solve(yoke_context *context, const char *spec, int way, yoke_matrix **matrix,
                         double **x, int64_t *count)
{
    yoke_plan *plan = NULL;
    yoke_plan_options options = yoke_plan_defaults();
    options.preconditioner = "jacobi";
    options.solver = ways[way][0];
    options.shape = ways[way][1];
    yoke_status status = yoke_matrix_generate(context, spec, matrix);
    if (status == YOKE_OK) status = yoke_plan_create(*matrix, &options, &plan);
    int64_t rows = status == YOKE_OK ? yoke_matrix_rows(*matrix) : 0;
    double *b = malloc(((size_t)rows + 1) * sizeof *b);
    *x = malloc(((size_t)rows + 1) * sizeof **x);
    for (int64_t i = 0; i < rows; i++) b[i] = 1.0;
    if (status == YOKE_OK) status = yoke_solve(plan, b, *x, NULL);
    if (status == YOKE_OK) *count = yoke_plan_report(plan)->iterations;
    yoke_plan_destroy(plan);
    free(b);
    return status;
}

static void try_one(yoke_context *context, int spec, int way)
{
    yoke_matrix *matrix = NULL;
    yoke_share share = yoke_share_defaults();
    double *x = NULL;
    int64_t count = 0;
    if (solve(context, specs[spec], way, &matrix, &x, &count) != YOKE_OK ||
        yoke_matrix_share(matrix, &share) != YOKE_OK)
        fail("no solution", spec);
    if (count != iterations[spec][way]) fail("other iterations", spec);
    for (int64_t i = 0; i < share.rows; i++)
        if (x[i] != alone[spec][way][share.row[i]]) {
            fail("other bits", spec);
            break;
        }
    free(x);
    yoke_matrix_destroy(matrix);
}

/* A wrong shape on one rank alone: all are told, and go on. */
static void disagree(yoke_context *context, int rank)
{
    yoke_matrix *matrix = NULL;
    yoke_plan *plan = NULL;
    yoke_plan_options options = yoke_plan_defaults();
    if (rank == RANKS - 1) options.shape = "round";
    if (yoke_matrix_generate(context, specs[0], &matrix) != YOKE_OK) fail("no matrix", 0);
    if (yoke_plan_create(matrix, &options, &plan) != YOKE_UNKNOWN_NAME) fail("no refusal", 0);
    if (!strstr(yoke_error_text(), "round")) fail("another text", 0);
    yoke_matrix_destroy(matrix);
}

static void *be_rank(void *given)
{
    yoke_context *context = NULL;
    yoke_context_options options = yoke_context_defaults();
    options.threads = 2;
    yoke_comm table = {.struct_size = sizeof table,
                       .rank = number_of(given),
                       .ranks = RANKS,
                       .self = given,
                       .reduce = reduce,
                       .broadcast = broadcast,
                       .gather = gather,
                       .exchange = exchange,
                       .open = open_channel,
                       .receive = start_receive,
                       .send = start_send,
                       .wait = wait_channel,
                       .close = close_channel,
                       .error_text = error_text,
                       .reduce_begin = reduce_begin,
                       .reduce_end = reduce_end};
    if (yoke_context_create_over(&options, &table, &context) != YOKE_OK) abort();
    for (int i = 0; i < SPECS * WAYS; i++) try_one(context, i / WAYS, i % WAYS);
    disagree(context, table.rank);
    yoke_context_destroy(context);
    return NULL;
}

static void solve_alone(void)
{
    yoke_context *context = NULL;
    if (yoke_context_create(NULL, &context) != YOKE_OK) abort();
    for (int i = 0; i < SPECS * WAYS; i++) {
        int spec = i / WAYS, way = i % WAYS;
        yoke_matrix *matrix = NULL;
        if (solve(context, specs[spec], way, &matrix, &alone[spec][way], &iterations[spec][way]))
            fail("no solution in one process", spec);
        yoke_matrix_destroy(matrix);
    }
    yoke_context_destroy(context);
}

int main(void)
{
    pthread_t thread[RANKS];
    int number[RANKS];
    solve_alone();
    pthread_barrier_init(&barrier, NULL, RANKS);
    for (int r = 0; r < RANKS; r++) {
        number[r] = r;
        if (pthread_create(&thread[r], NULL, be_rank, &number[r])) abort();
    }
    for (int r = 0; r < RANKS; r++) pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < SPECS * WAYS; i++) free(alone[i / WAYS][i % WAYS]);
    printf("%d ranks as threads, 2 workers each: %d systems in %d ways, %d failures\n", RANKS,
           (int)SPECS, (int)WAYS, atomic_load(&failures));
    return atomic_load(&failures) != 0;
}
