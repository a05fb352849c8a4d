/* SPDX-License-Identifier: BSD-3-Clause */
/* deals.c: matrices that the library reads or generates over ranks, dealt out in every way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yoke_io.h>

#include "lib/mpi/comm.h"
#include "lib/profile.h"
#include "lib/threads.h"
#include "tests/mpi/claims.h"

typedef struct dealt {
    yoke_context *context;
    yoke_matrix *matrix;
    yoke_plan *plan;
    yoke_share share;
    double *b, *x;
    yoke_status status;
    yoke_report report;
} dealt;

static const char *shares; /* of the contexts that are made next */

static dealt deal(const char *how, const char *spec, const char *path)
{
    dealt d = {.share = yoke_share_defaults()};
    yoke_mpi_options options = yoke_mpi_defaults();
    options.deal = how;
    options.shares = shares;
    d.status = yoke_mpi_context_create(MPI_COMM_WORLD, NULL, &options, &d.context);
    if (d.status == YOKE_OK)
        d.status = spec ? yoke_matrix_generate(d.context, spec, &d.matrix)
                        : yoke_matrix_read(d.context, path, NULL, &d.matrix);
    if (d.status == YOKE_OK) d.status = yoke_matrix_share(d.matrix, &d.share);
    d.b = calloc((size_t)d.share.rows + 1, sizeof *d.b);
    d.x = calloc((size_t)d.share.rows + 1, sizeof *d.x);
    return d;
}

static void solve(dealt *d, const whole *w)
{
    yoke_plan_options options = yoke_plan_defaults();
    options.preconditioner = "jacobi";
    if (d->status != YOKE_OK) return;
    for (int64_t i = 0; i < d->share.rows; i++) d->b[i] = w->b[d->share.row[i]];
    if (!d->plan) d->status = yoke_plan_create(d->matrix, &options, &d->plan);
    if (d->status == YOKE_OK) d->status = yoke_solve(d->plan, d->b, d->x, NULL);
    if (d->status == YOKE_OK) d->report = *yoke_plan_report(d->plan);
}

static void end(dealt *d)
{
    yoke_plan_destroy(d->plan);
    yoke_matrix_destroy(d->matrix);
    yoke_context_destroy(d->context);
    free(d->b);
    free(d->x);
}

static bool has_same_bits(const dealt *d, const whole *w)
{
    bool same = d->status == YOKE_OK && d->report.iterations == w->report.iterations &&
                d->report.residual_true == w->report.residual_true;
    for (int64_t i = 0; i < d->share.rows; i++) same = same && d->x[i] == w->x[d->share.row[i]];
    return same;
}

/* Where rows are renumbered sums are taken in another order. */
static bool is_close(const dealt *d, const whole *w)
{
    bool close = d->status == YOKE_OK && d->report.outcome == YOKE_CONVERGED &&
                 d->report.residual_true <= d->report.bound &&
                 llabs(d->report.iterations - w->report.iterations) <= 1;
    for (int64_t i = 0; i < d->share.rows; i++)
        close =
            close && fabs(d->x[i] - w->x[d->share.row[i]]) <= 1e-5 * fabs(w->x[d->share.row[i]]);
    return close;
}

/* Each row belongs to one rank. */
static bool is_complete(const dealt *d, const whole *w)
{
    int *owners = calloc((size_t)w->rows + 1, sizeof *owners);
    for (int64_t i = 0; i < d->share.rows; i++) owners[d->share.row[i]]++;
    MPI_Allreduce(MPI_IN_PLACE, owners, (int)w->rows, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    bool once =
        d->share.all_rows == w->rows && d->share.all_nonzeros == yoke_matrix_nonzeros(w->matrix);
    for (int64_t i = 0; i < w->rows; i++) once = once && owners[i] == 1;
    free(owners);
    return once;
}

static void try_one(const char *how, const char *name, const whole *w, const char *path, bool same)
{
    char text[200];
    dealt d = deal(how, path ? NULL : name, path);
    solve(&d, w);
    snprintf(text, sizeof text, "%s%s, dealt by %.8s: %s", path ? "a file of " : "", name, how,
             same ? "the same bits" : "the same solution");
    claim(text, same ? has_same_bits(&d, w) : is_close(&d, w));
    claim("  each row on one rank", is_complete(&d, w));
    end(&d);
}

/* Rows scattered over the ranks. */
static void write_owners(const char *path, int64_t rows)
{
    FILE *stream = fopen(path, "w");
    if (!stream) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int64_t i = 0; i < rows; i++)
        fprintf(stream, "%d\n", (int)(((uint64_t)i * 2654435761u >> 7) % (uint64_t)all_ranks));
    fclose(stream);
}

static void deals(const char *spec, const char *folder)
{
    char path[256], owners[256], how[300];
    whole w = whole_of(spec);
    yoke_plan_options options = yoke_plan_defaults();
    options.preconditioner = "jacobi";
    whole_solve(&w, &options, NULL);
    snprintf(path, sizeof path, "%s/matrix.mtx", folder);
    snprintf(owners, sizeof owners, "%s/owners", folder);
    snprintf(how, sizeof how, "file:%s", owners);
    if (my_rank == 0) {
        if (yoke_matrix_write(w.matrix, path) != YOKE_OK) MPI_Abort(MPI_COMM_WORLD, 2);
        write_owners(owners, w.rows);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    try_one("nonzeros", spec, &w, NULL, true);
    try_one("rows", spec, &w, NULL, true);
    try_one(how, spec, &w, NULL, false);
    try_one("nonzeros", spec, &w, path, true);
    try_one(how, spec, &w, path, false);
    if (yk_mpi_partition) {
        try_one("metis", spec, &w, NULL, false);
        try_one("metis", spec, &w, path, false);
    }
    whole_free(&w);
}

/* New values in the order in which the matrix shows its own. */
static void updates(const char *folder)
{
    char how[300];
    whole w = whole_of("random_spd:3000:7:9");
    snprintf(how, sizeof how, "file:%s/owners", folder);
    if (my_rank == 0) write_owners(how + 5, w.rows);
    MPI_Barrier(MPI_COMM_WORLD);
    yoke_plan_options options = yoke_plan_defaults();
    options.preconditioner = "jacobi";
    whole_solve(&w, &options, NULL);
    dealt d = deal(how, "random_spd:3000:7:9", NULL);
    solve(&d, &w);
    yoke_csr csr = yoke_csr_defaults();
    bool good = on_all(d.status == YOKE_OK && yoke_matrix_view(d.matrix, &csr) == YOKE_OK);
    int64_t count = good ? yoke_matrix_nonzeros(d.matrix) : 0;
    double *value = calloc((size_t)count + 1, sizeof *value);
    for (int64_t k = 0; k < count; k++) value[k] = 4.0 * csr.value[k];
    good = good && on_all(yoke_matrix_update_values(d.matrix, value) == YOKE_OK);
    solve(&d, &w);
    for (int64_t i = 0; i < d.share.rows; i++) d.x[i] *= 4.0;
    claim("values times 4, of scattered rows: asked for symmetry, a quarter of x",
          good && is_close(&d, &w));
    if (my_rank == 0 && count > 1) value[1] += 0.1;
    yoke_status status = good ? yoke_matrix_update_values(d.matrix, value) : YOKE_OK;
    claim("values that are not symmetric are refused on all",
          status == YOKE_UNSUITABLE && strstr(yoke_error_text(), "symmetric"));
    free(value);
    end(&d);
    whole_free(&w);
}

/* ------------------------------------------------------------------- METIS */

/* Numbers that all send in an iteration; rows of the largest share, in those of the mean. */
static void figures(const char *how, const char *spec, double *sent, double *largest)
{
    dealt d = deal(how, spec, NULL);
    double mine = (double)d.share.sent, rows = (double)d.share.rows;
    MPI_Allreduce(&mine, sent, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&rows, largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    *largest *= all_ranks / (double)d.share.all_rows;
    end(&d);
}

/* Changes between rows that need halo columns and rows that do not. */
static int64_t changes(const dealt *d)
{
    yoke_csr csr = yoke_csr_defaults();
    if (d->status != YOKE_OK || yoke_matrix_view(d->matrix, &csr) != YOKE_OK) return INT64_MAX;
    bool wide = csr.row_start_type == YOKE_INT64, before = false;
    int64_t count = 0, k = 0;
    for (int64_t i = 0; i < d->share.rows; i++) {
        int64_t end = wide ? ((const int64_t *)csr.row_start)[i + 1]
                           : ((const int32_t *)csr.row_start)[i + 1];
        bool edge = false;
        for (; k < end; k++) edge = edge || ((const int32_t *)csr.column)[k] >= d->share.rows;
        count += edge != before;
        before = edge;
    }
    return count;
}

/* A grid of 20^3 in a random order: of its planes METIS finds nearly the least. */
static void finds_blocks(void)
{
    double contiguous, blocks, largest;
    figures("nonzeros", "shuffled:7:poisson3d7:20", &contiguous, &largest);
    figures("metis", "shuffled:7:poisson3d7:20", &blocks, &largest);
    claim("metis: a fifth of what contiguous shares of a shuffled grid send",
          blocks <= 0.2 * contiguous && (all_ranks == 1 || blocks >= 2 * 400));
    claim("metis: no share is 3 % above the mean", largest <= 1.03);
    dealt d = deal("metis", "poisson3d7:20", NULL);
    claim("metis: each thread's rows that need nobody lie together",
          changes(&d) <= 2 * (int64_t)yk_threads(d.context, 0));
    end(&d);
    yk_mpi self = {.ranks = 2};
    const yoke_graph graph = {.rows = INT64_MAX};
    claim("metis: more rows than its indices count are refused with the figures",
          yk_mpi_partition(&self, &graph, NULL, NULL) == YOKE_OVERFLOW &&
              strstr(yoke_error_text(), "9223372036854775807 rows") &&
              strstr(yoke_error_text(), "whose indices have"));
}

/* ------------------------------------------------------------------ profiles */

/* A profile of this rank's own, whose memory is read at that speed; 0: none. */
static void keep_profile(const char *folder, double speed)
{
    char path[400];
    yk_profile profile;
    snprintf(path, sizeof path, "%s/%d", folder, my_rank);
    setenv("XDG_CACHE_HOME", path, 1);
    yk_profile_describe(-1, &profile);
    if (yk_profile_kept_path(&profile.key, true, path, sizeof path) != YOKE_OK)
        MPI_Abort(MPI_COMM_WORLD, 2);
    unlink(path);
    if (!(speed > 0.0)) return;
    yk_curve_add(&profile.cpu_read, 1.0, speed, YK_MEASURED, "test");
    if (yk_profile_write(path, &profile) != YOKE_OK) MPI_Abort(MPI_COMM_WORLD, 2);
}

static void forget_profile(const char *folder)
{
    char command[400];
    keep_profile(folder, 0.0);
    snprintf(command, sizeof command, "rm -rf '%s/%d'", folder, my_rank);
    if (system(command) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
    unsetenv("XDG_CACHE_HOME");
}

/* Within a chunk on either side, or what METIS leaves uneven. */
static bool has_rows(const dealt *d, double share, double slack)
{
    double expected = share * (double)d->share.all_rows;
    return fabs((double)d->share.rows - expected) <= slack;
}

static void shares_are(const char *named, const char *how, double share, const char *text)
{
    const char *spec = "poisson3d7:24";
    shares = named;
    dealt d = deal(how, spec, NULL);
    whole w = whole_of(spec);
    yoke_plan_options options = yoke_plan_defaults();
    options.preconditioner = "jacobi";
    whole_solve(&w, &options, NULL);
    solve(&d, &w);
    bool metis = strcmp(how, "metis") == 0;
    claim(text, has_rows(&d, share, metis ? 0.04 * (double)w.rows : 256.0) &&
                    (metis ? is_close(&d, &w) : has_same_bits(&d, &w)));
    whole_free(&w);
    end(&d);
    shares = NULL;
}

/* Rank r's memory is r + 1 times as fast as the first's. */
static void profiles(const char *folder)
{
    double all = 0.5 * all_ranks * (all_ranks + 1), mine = (my_rank + 1) / all;
    double even = 1.0 / all_ranks;
    keep_profile(folder, 1e10 * (my_rank + 1));
    shares_are(NULL, "nonzeros", mine, "unlike profiles: shares in proportion, the same bits");
    shares_are(NULL, "rows", mine, "unlike profiles: rows in proportion");
    shares_are("profile", "nonzeros", mine, "the same by name");
    shares_are("profile-gpu", "rows", mine, "the same of ranks without GPUs");
    shares_are("equal", "nonzeros", even, "unlike profiles: equal by name");
    if (yk_mpi_partition) shares_are(NULL, "metis", mine, "unlike profiles: METIS's in proportion");
    keep_profile(folder, 1e10 * (1.0 + 0.02 * my_rank));
    shares_are(NULL, "nonzeros", even, "profiles within a tenth: equal");
    keep_profile(folder, my_rank == 0 ? 0.0 : 1e10 * (my_rank + 1));
    shares_are(NULL, "nonzeros", even, "a rank without a profile: equal");
    forget_profile(folder);
}

static void fails_alike(const char *how, const char *spec, const char *path, yoke_status expected,
                        const char *word)
{
    char text[200];
    dealt d = deal(how, spec, path);
    snprintf(text, sizeof text, "%s by %.10s: refused alike (%s)", spec ? spec : path, how, word);
    claim(text, d.status == expected && strstr(yoke_error_text(), word) != NULL);
    end(&d);
}

static void failures(const char *folder)
{
    char path[256], how[300];
    snprintf(path, sizeof path, "%s/unsymmetric.mtx", folder);
    if (my_rank == 0) {
        FILE *stream = fopen(path, "w");
        if (!stream) MPI_Abort(MPI_COMM_WORLD, 2);
        fputs("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 1\n2 2 2\n",
              stream);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    fails_alike("nonzeros", NULL, path, YOKE_UNSUITABLE, "unsymmetric.mtx");
    fails_alike("nonzeros", NULL, "/nowhere/at_all.mtx", YOKE_IO, "/nowhere");
    fails_alike("nonzeros", "poisson2d5:0", NULL, YOKE_INVALID, "poisson2d5");
    fails_alike("fairly", "poisson2d5:9", NULL, YOKE_UNKNOWN_NAME, "nonzeros, rows");
    if (!yk_mpi_partition) fails_alike("metis", "poisson2d5:9", NULL, YOKE_NOT_BUILT, "metis");
    shares = my_rank == 0 ? "equal" : "profile";
    if (all_ranks > 1) fails_alike("rows", "poisson2d5:9", NULL, YOKE_INVALID, "different options");
    shares = "fair";
    fails_alike("rows", "poisson2d5:9", NULL, YOKE_UNKNOWN_NAME, "auto, equal, profile");
    shares = NULL;
    fails_alike("file:/nowhere/at_all", "poisson2d5:9", NULL, YOKE_IO, "/nowhere");
    snprintf(how, sizeof how, "file:%s/beyond", folder);
    if (my_rank == 0) {
        FILE *stream = fopen(how + 5, "w");
        if (!stream) MPI_Abort(MPI_COMM_WORLD, 2);
        fprintf(stream, "0\n0\n%d\n0\n", all_ranks % 2 ? all_ranks : -1);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    fails_alike(how, "poisson2d5:2", NULL, YOKE_FORMAT, "row 3");
}

int main(int argc, char **argv)
{
    char folder[128] = "/tmp/yoke-deals-XXXXXX", path[256];
    claims_begin(&argc, &argv);
    if (my_rank == 0 && !mkdtemp(folder)) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    deals("poisson3d7:14", folder);
    deals("elasticity3d:7", folder);
    deals("graph:3000:9:4", folder);
    deals("jumps3d7:12:1e3:1", folder);
    deals("poisson2d5:2", folder);
    deals("shuffled:5:poisson2d5:50", folder);
    updates(folder);
    failures(folder);
    if (yk_mpi_partition) finds_blocks();
    profiles(folder);
    MPI_Barrier(MPI_COMM_WORLD);
    static const char *const files[] = {"matrix.mtx", "owners", "unsymmetric.mtx", "beyond"};
    for (int i = 0; i < 4 && my_rank == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    if (my_rank == 0) rmdir(folder);
    return claims_end();
}
