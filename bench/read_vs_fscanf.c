/* SPDX-License-Identifier: BSD-3-Clause */
/* read_vs_fscanf.c: reads one large Matrix Market file with yoke_matrix_read and with a loop of
 * fscanf, both to the compressed rows; proves that both give the same bits, then prints how many
 * times faster the library is, and how its peak memory compares with the matrix.
 *
 *   read_vs_fscanf [MEGABYTES [general|symmetric]]     default 500 general
 *
 * The file, with 17 digits a value, is made in TMPDIR or /tmp and removed. Exit 1 when the bits
 * differ. Threads: OMP_NUM_THREADS, else the affinity mask. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yoke_io.h>
#include <yoke_tools.h>

typedef struct plain_csr {
    int rows;
    long nonzeros;
    long *start;
    int *column;
    double *value;
} plain_csr;

/* What the child that measures memory tells. */
typedef struct measured {
    double seconds;
    long rss_peak; /* bytes */
    long long matrix_bytes;
} measured;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "read_vs_fscanf: %s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(2);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = malloc(count * size + 1);
    if (!memory) die("no memory");
    return memory;
}

/* ------------------------------------------------------------ the file */

/* A value with 17 significant digits that is the same for (i, j) and (j, i). */
static double value_of(long i, long j)
{
    unsigned long long low = i < j ? i : j, high = i < j ? j : i;
    unsigned long long x = (low + 1) * 0x9e3779b97f4a7c15ull ^ (high + 1) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 29) * 0x94d049bb133111ebull;
    double fraction = (double)(x >> 11) * 0x1p-53;
    return i == j ? 8.0 + fraction : -0.1 - fraction;
}

static const long offsets[] = {-10000, -100, -1, 0, 1, 100, 10000};
enum { OFFSETS = 7 };

/* One column of a banded pattern; returns its entries, writes them if file is not NULL. */
static long column_entries(FILE *file, long rows, long column, int symmetric)
{
    long entries = 0;
    for (int k = 0; k < OFFSETS; k++) {
        long row = column + offsets[k];
        if (row < (symmetric ? column : 0) || row >= rows) continue;
        if (file) fprintf(file, "%ld %ld %.16e\n", row + 1, column + 1, value_of(row, column));
        entries++;
    }
    return entries;
}

static void make_file(const char *path, long megabytes, int symmetric)
{
    const long bytes_an_entry = 39;
    long rows = megabytes * 1000000 / bytes_an_entry / (symmetric ? 4 : OFFSETS) + 20001;
    long entries = 0;
    for (long column = 0; column < rows; column++)
        entries += column_entries(NULL, rows, column, symmetric);
    FILE *file = fopen(path, "w");
    if (!file) die(path);
    fprintf(file, "%%%%MatrixMarket matrix coordinate real %s\n%ld %ld %ld\n",
            symmetric ? "symmetric" : "general", rows, rows, entries);
    for (long column = 0; column < rows; column++) column_entries(file, rows, column, symmetric);
    /* Otherwise the system writes it out while the first reads are timed. */
    if (fflush(file) != 0 || fsync(fileno(file)) != 0) die(path);
    if (fclose(file) != 0) die(path);
}

/* -------------------------------------------------------------- fscanf */

static void prefix(long *start, int rows)
{
    start[0] = 0;
    for (int row = 0; row < rows; row++) start[row + 1] += start[row];
}

/* The file's entries come column by column, so rows end up in order. */
static void to_rows(plain_csr *a, long entries, const int *row, const int *column,
                    const double *value, int symmetric)
{
    a->start = allocate((size_t)a->rows + 1, sizeof *a->start);
    long *next = allocate((size_t)a->rows + 1, sizeof *next);
    memset(a->start, 0, ((size_t)a->rows + 1) * sizeof *a->start);
    for (long e = 0; e < entries; e++) {
        a->start[row[e]]++;
        if (symmetric && row[e] != column[e]) a->start[column[e]]++;
    }
    prefix(a->start, a->rows);
    a->nonzeros = a->start[a->rows];
    memcpy(next, a->start, ((size_t)a->rows + 1) * sizeof *next);
    a->column = allocate((size_t)a->nonzeros, sizeof *a->column);
    a->value = allocate((size_t)a->nonzeros, sizeof *a->value);
    for (long e = 0; e < entries; e++) {
        long to = next[row[e] - 1]++;
        a->column[to] = column[e] - 1;
        a->value[to] = value[e];
        if (!symmetric || row[e] == column[e]) continue;
        to = next[column[e] - 1]++;
        a->column[to] = row[e] - 1;
        a->value[to] = value[e];
    }
    free(next);
}

static void read_by_fscanf(const char *path, int symmetric, plain_csr *a)
{
    FILE *file = fopen(path, "r");
    long entries;
    if (!file || fscanf(file, "%*[^\n] %d %*d %ld", &a->rows, &entries) != 2) die(path);
    int *row = allocate((size_t)entries, sizeof *row);
    int *column = allocate((size_t)entries, sizeof *column);
    double *value = allocate((size_t)entries, sizeof *value);
    for (long e = 0; e < entries; e++)
        if (fscanf(file, "%d %d %lf", &row[e], &column[e], &value[e]) != 3) die(path);
    fclose(file);
    to_rows(a, entries, row, column, value, symmetric);
    free(row);
    free(column);
    free(value);
}

/* ---------------------------------------------------------------- ours */

static yoke_matrix *read_by_yoke(const char *path, yoke_context **context, double *seconds)
{
    yoke_matrix *matrix = NULL;
    if (yoke_context_create(NULL, context) != YOKE_OK) die(yoke_error_text());
    double begin = yoke_seconds();
    if (yoke_matrix_read(*context, path, NULL, &matrix) != YOKE_OK) {
        fprintf(stderr, "read_vs_fscanf: %s\n", yoke_error_text());
        exit(2);
    }
    *seconds = yoke_seconds() - begin;
    return matrix;
}

static yoke_csr view_of(const yoke_matrix *matrix)
{
    yoke_csr csr = yoke_csr_defaults();
    if (yoke_matrix_view(matrix, &csr) != YOKE_OK) die(yoke_error_text());
    return csr;
}

static long start_of(const yoke_csr *csr, long row)
{
    return csr->row_start_type == YOKE_INT32 ? ((const int32_t *)csr->row_start)[row]
                                             : (long)((const int64_t *)csr->row_start)[row];
}

static int same_bits(const yoke_matrix *matrix, const plain_csr *a)
{
    yoke_csr ours = view_of(matrix);
    if (ours.rows != a->rows || yoke_matrix_nonzeros(matrix) != a->nonzeros) return 0;
    for (long row = 0; row <= a->rows; row++)
        if (start_of(&ours, row) != a->start[row]) return 0;
    return memcmp(ours.column, a->column, (size_t)a->nonzeros * sizeof *a->column) == 0 &&
           memcmp(ours.value, a->value, (size_t)a->nonzeros * sizeof *a->value) == 0;
}

/* Reads in a child, so that the peak is that of the reading alone. */
static void measure_memory(const char *path, measured *result)
{
    int channel[2];
    struct rusage usage;
    int status;
    if (pipe(channel) != 0) die("pipe");
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
        yoke_context *context;
        yoke_matrix *matrix = read_by_yoke(path, &context, &result->seconds);
        yoke_csr csr = view_of(matrix);
        long width = csr.row_start_type == YOKE_INT32 ? 4 : 8;
        result->matrix_bytes = 12ll * yoke_matrix_nonzeros(matrix) + width * (csr.rows + 1);
        if (write(channel[1], result, sizeof *result) != (ssize_t)sizeof *result) _exit(2);
        _exit(0);
    }
    if (read(channel[0], result, sizeof *result) != (ssize_t)sizeof *result) die("child");
    if (wait4(child, &status, 0, &usage) != child) die("wait4");
    result->rss_peak = usage.ru_maxrss * 1024;
    close(channel[0]);
    close(channel[1]);
}

enum { READS = 5, READS_BEFORE = 3 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Reads from..to - 1, the last of which is kept. */
static yoke_matrix *read_several(const char *path, int from, int to, double *seconds,
                                 yoke_context **context)
{
    yoke_matrix *matrix = NULL;
    for (int k = from; k < to; k++) {
        if (matrix) yoke_context_destroy(*context);
        yoke_matrix_destroy(matrix);
        matrix = read_by_yoke(path, context, &seconds[k]);
    }
    return matrix;
}

static int compare(const char *path, int symmetric)
{
    struct stat about;
    measured memory = {0};
    plain_csr theirs = {0};
    double seconds[READS];
    yoke_context *context;
    if (stat(path, &about) != 0) die(path);
    measure_memory(path, &memory); /* first: a child begins with its parent's pages */
    yoke_matrix *matrix = read_several(path, 0, READS_BEFORE, seconds, &context);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    double begin = yoke_seconds();
    read_by_fscanf(path, symmetric, &theirs);
    double fscanf_seconds = yoke_seconds() - begin;
    matrix = read_several(path, READS_BEFORE, READS, seconds, &context);
    qsort(seconds, READS, sizeof *seconds, by_size);
    double median = seconds[READS / 2];
    int same = same_bits(matrix, &theirs);
    double megabytes = (double)about.st_size / 1e6;
    printf("file            %.1f MB, %d rows, %ld nonzeros\n", megabytes, theirs.rows,
           theirs.nonzeros);
    printf("fscanf          %.3f s, %.0f MB/s\n", fscanf_seconds, megabytes / fscanf_seconds);
    printf("yoke            %.3f s, %.0f MB/s, the median of %d from %.3f to %.3f\n", median,
           megabytes / median, READS, seconds[0], seconds[READS - 1]);
    printf("peak memory     %.1f MB, matrix %.1f MB\n", (double)memory.rss_peak / 1e6,
           (double)memory.matrix_bytes / 1e6);
    printf("same bits       %s\n", same ? "yes" : "NO");
    if (same) printf("times faster    %.2f\n", fscanf_seconds / median);
    if (same)
        printf("times the matrix in memory  %.2f\n",
               (double)memory.rss_peak / (double)memory.matrix_bytes);
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    free(theirs.start);
    free(theirs.column);
    free(theirs.value);
    return same ? 0 : 1;
}

int main(int argc, char **argv)
{
    long megabytes = argc > 1 ? atol(argv[1]) : 500;
    int symmetric = argc > 2 && strcmp(argv[2], "symmetric") == 0;
    const char *folder = getenv("TMPDIR");
    char path[4096];
    if (megabytes < 1 || megabytes > 50000 || argc > 3) {
        fprintf(stderr, "usage: read_vs_fscanf [MEGABYTES [general|symmetric]]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/read_vs_fscanf.%ld.mtx", folder ? folder : "/tmp",
             (long)getpid());
    make_file(path, megabytes, symmetric);
    int result = compare(path, symmetric);
    unlink(path);
    return result;
}
