/* SPDX-License-Identifier: BSD-3-Clause */
/* csr_input.c: the checks of a caller's CSR. Sentences give rows and columns in the caller's own
 * base, and array positions as C indices. */
#include "lib/csr_input.h"

#include "lib/context.h"
#include "lib/place.h"
#include "lib/status.h"
#include "lib/threads.h"

static yoke_status check_choice(const char *field, int given, const int *known)
{
    for (int i = 0; known[i] >= 0; i++)
        if (given == known[i]) return YOKE_OK;
    return yk_fail(YOKE_INVALID, "yoke_csr.%s is %d, which is none of its values", field, given);
}

static yoke_status check_choices(const yoke_csr *given)
{
    static const int widths[] = {YOKE_INT32, YOKE_INT64, -1};
    static const int value_types[] = {YOKE_FP64, -1};
    static const int spaces[] = {YOKE_HOST, YOKE_DEVICE_MEMORY, -1};
    static const int ownerships[] = {YOKE_COPY, YOKE_BORROW, YOKE_TAKE, -1};
    static const int triangles[] = {YOKE_FULL, YOKE_LOWER, YOKE_UPPER, -1};
    static const int policies[] = {YOKE_FIX, YOKE_REFUSE, YOKE_TRUST, -1};
    static const int symmetries[] = {YOKE_REFUSE, YOKE_TRUST, -1};
    static const int bases[] = {0, 1, -1};
    YK_TRY(check_choice("row_start_type", (int)given->row_start_type, widths));
    YK_TRY(check_choice("column_type", (int)given->column_type, widths));
    YK_TRY(check_choice("value_type", (int)given->value_type, value_types));
    YK_TRY(check_choice("base", given->base, bases));
    YK_TRY(check_choice("space", (int)given->space, spaces));
    YK_TRY(check_choice("ownership", (int)given->ownership, ownerships));
    YK_TRY(check_choice("triangle", (int)given->triangle, triangles));
    YK_TRY(check_choice("unsorted", (int)given->unsorted, policies));
    YK_TRY(check_choice("repeated", (int)given->repeated, policies));
    return check_choice("unsymmetric", (int)given->unsymmetric, symmetries);
}

yoke_status yk_csr_check_fields(const yoke_csr *given)
{
    YK_TRY(check_choices(given));
    if (given->space == YOKE_DEVICE_MEMORY && !yk_place_knows_devices())
        return yk_fail(YOKE_NOT_BUILT,
                       "yoke_csr.space is YOKE_DEVICE_MEMORY, which needs CUDA; this "
                       "build does not use it");
    if (given->rows < 0)
        return yk_fail(YOKE_INVALID, "rows is %lld, expected 0 or more", (long long)given->rows);
    if (given->rows > INT32_MAX)
        return yk_fail(YOKE_OVERFLOW,
                       "%lld rows exceed the 2147483647 that a 32-bit column index can tell apart",
                       (long long)given->rows);
    if (!given->row_start) return yk_fail(YOKE_INVALID, "row_start is NULL");
    return YOKE_OK;
}

yoke_status yk_check_values(const double *value, int64_t nonzeros)
{
    if (value || nonzeros == 0) return YOKE_OK;
    return yk_fail(YOKE_INVALID, "value is NULL, but there are %lld nonzeros", (long long)nonzeros);
}

void yk_note_first(int64_t *first, int64_t k)
{
    int64_t found = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (k < found &&
           !__atomic_compare_exchange_n(first, &found, k, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* The first entry, or row, with each fault; INT64_MAX: none. */
typedef struct faults {
    const yoke_csr *given;
    int64_t columns;
    int64_t falling, column, triangle, unsorted, repeated;
} faults;

static void find_falling(void *user, int64_t first, int64_t last)
{
    faults *f = user;
    const yoke_csr *given = f->given;
    for (int64_t i = first; i < last; i++)
        if (yk_index_at(given->row_start, given->row_start_type, i + 1) <
            yk_index_at(given->row_start, given->row_start_type, i))
            yk_note_first(&f->falling, i);
}

yoke_status yk_csr_check_row_start(const yoke_csr *given, int threads, int64_t *nonzeros)
{
    faults f = {.given = given, .falling = INT64_MAX};
    int64_t begin = yk_index_at(given->row_start, given->row_start_type, 0);
    if (begin != given->base)
        return yk_fail(YOKE_INVALID, "row_start[0] is %lld, expected the base, %d",
                       (long long)begin, given->base);
    yk_parallel_for(threads, given->rows, YK_ROW_GRAIN, find_falling, &f);
    if (f.falling != INT64_MAX)
        return yk_fail(
            YOKE_INVALID, "row_start falls from %lld to %lld at row %lld",
            (long long)yk_index_at(given->row_start, given->row_start_type, f.falling),
            (long long)yk_index_at(given->row_start, given->row_start_type, f.falling + 1),
            (long long)f.falling + given->base);
    size_t bytes;
    *nonzeros = yk_given_start(given, given->rows);
    YK_TRY(yk_bytes("values", *nonzeros, sizeof(double), &bytes));
    if (!given->column && *nonzeros > 0)
        return yk_fail(YOKE_INVALID, "column is NULL, but there are %lld nonzeros",
                       (long long)*nonzeros);
    return yk_check_values(given->value, *nonzeros);
}

/* Inlined for each width, so that the inner loop does not ask for it. */
static inline __attribute__((always_inline)) void scan_row(faults *f, const yoke_csr *given,
                                                           yoke_index_type type, int64_t row,
                                                           int64_t k, int64_t end)
{
    const int64_t base = given->base, beyond = f->columns + base;
    const int64_t diagonal = row + base;
    int64_t before = base - 1;
    for (; k < end; k++) {
        int64_t column = yk_index_at(given->column, type, k);
        if (column < base || column >= beyond) yk_note_first(&f->column, k);
        if (column <= before) yk_note_first(column == before ? &f->repeated : &f->unsorted, k);
        if ((given->triangle == YOKE_LOWER && column > diagonal) ||
            (given->triangle == YOKE_UPPER && column < diagonal))
            yk_note_first(&f->triangle, k);
        before = column;
    }
}

static void scan_rows(void *user, int64_t first, int64_t last)
{
    faults *f = user;
    const yoke_csr *given = f->given;
    int64_t k = yk_given_start(given, first);
    for (int64_t row = first; row < last; row++) {
        int64_t end = yk_given_start(given, row + 1);
        if (given->column_type == YOKE_INT32)
            scan_row(f, given, YOKE_INT32, row, k, end);
        else
            scan_row(f, given, YOKE_INT64, row, k, end);
        k = end;
    }
}

int64_t yk_given_row(const yoke_csr *given, int64_t k)
{
    int64_t low = 0, high = given->rows;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (yk_given_start(given, middle) <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static long long as_given(const yoke_csr *given, int64_t from_zero)
{
    return (long long)from_zero + given->base;
}

static yoke_status refuse_column(const yoke_csr *given, int64_t columns, int64_t k)
{
    return yk_fail(YOKE_INVALID, "column[%lld], in row %lld, is %lld, expected %d to %lld",
                   (long long)k, as_given(given, yk_given_row(given, k)),
                   (long long)yk_index_at(given->column, given->column_type, k), given->base,
                   as_given(given, columns - 1));
}

static yoke_status refuse_triangle(const yoke_csr *given, int64_t k)
{
    bool lower = given->triangle == YOKE_LOWER;
    return yk_fail(YOKE_INVALID,
                   "column[%lld], in row %lld, is %lld: %s the diagonal, but triangle is %s",
                   (long long)k, as_given(given, yk_given_row(given, k)),
                   as_given(given, yk_given_column(given, k)), lower ? "above" : "below",
                   lower ? "YOKE_LOWER" : "YOKE_UPPER");
}

static yoke_status refuse_unsorted(const yoke_csr *given, int64_t k)
{
    return yk_fail(YOKE_UNSUITABLE,
                   "column[%lld], in row %lld, is %lld after %lld: out of order, and unsorted is "
                   "YOKE_REFUSE",
                   (long long)k, as_given(given, yk_given_row(given, k)),
                   as_given(given, yk_given_column(given, k)),
                   as_given(given, yk_given_column(given, k - 1)));
}

yoke_status yk_refuse_repeat(const yoke_csr *given, int64_t k)
{
    return yk_fail(YOKE_UNSUITABLE,
                   "column[%lld], in row %lld, is %lld again: one place given twice, and repeated "
                   "is YOKE_REFUSE",
                   (long long)k, as_given(given, yk_given_row(given, k)),
                   as_given(given, yk_given_column(given, k)));
}

/* The host is about to read them. */
static yoke_status check_places(const yoke_csr *given)
{
    const char *const name[] = {"row_start", "column", "value"};
    const void *const array[] = {given->row_start, given->column, given->value};
    yk_place place;
    for (int i = 0; i < 3; i++) {
        YK_TRY(yk_place_find(name[i], array[i], &place));
        if (place.foreign && !place.managed)
            return yk_fail(YOKE_INVALID,
                           "yoke_csr.space is YOKE_HOST, but %s is memory of device %d", name[i],
                           place.device);
        YK_TRY(yk_place_settle(&place));
    }
    return YOKE_OK;
}

yoke_status yk_csr_check_rows(const yoke_csr *given, int64_t columns, int threads,
                              yk_csr_facts *facts)
{
    faults f = {given, columns, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    YK_TRY(yk_csr_check_fields(given));
    YK_TRY(check_places(given));
    YK_TRY(yk_csr_check_row_start(given, threads, &facts->nonzeros));
    yk_parallel_for(threads, given->rows, YK_ROW_GRAIN, scan_rows, &f);
    if (f.column != INT64_MAX) return refuse_column(given, columns, f.column);
    if (f.triangle != INT64_MAX) return refuse_triangle(given, f.triangle);
    bool unsorted = f.unsorted != INT64_MAX, repeated = f.repeated != INT64_MAX;
    if (unsorted && given->unsorted == YOKE_REFUSE) return refuse_unsorted(given, f.unsorted);
    if (repeated && given->repeated == YOKE_REFUSE) return yk_refuse_repeat(given, f.repeated);
    facts->ordered = given->triangle == YOKE_FULL && (!unsorted || given->unsorted == YOKE_TRUST) &&
                     (!repeated || given->repeated == YOKE_TRUST);
    return YOKE_OK;
}

yoke_status yk_csr_check(const yoke_csr *given, int threads, yk_csr_facts *facts)
{
    return yk_csr_check_rows(given, given->rows, threads, facts);
}
