/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.c: rows and histories as CSV (RFC 4180, but lines end in LF). What is not known is empty. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/write_rows.h"

void write_csv_text(const char *text, FILE *stream)
{
    if (!text) return;
    int quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"') fputc('"', stream);
        fputc(*text, stream);
    }
    if (quoted) fputc('"', stream);
}

static void write_number(double value, FILE *stream)
{
    char text[40];
    if (!isfinite(value)) return;
    format_number(value, text, sizeof text);
    fputs(text, stream);
}

static void write_value(const row *r, const field *f, FILE *stream)
{
    const void *at = (const char *)r + f->offset;
    if (f->kind == FIELD_TEXT) write_csv_text(*(char *const *)at, stream);
    if (f->kind == FIELD_NUMBER) write_number(*(const double *)at, stream);
    if (f->kind == FIELD_COUNT && *(const int64_t *)at >= 0)
        fprintf(stream, "%" PRId64, *(const int64_t *)at);
}

static void write_notices(const row *r, FILE *stream)
{
    char joined[4096] = "";
    size_t used = 0;
    for (int k = 0; k < r->notices.count && used < sizeof joined; k++)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", k ? "; " : "",
                                 r->notices.word[k]);
    write_csv_text(joined, stream);
}

static int is_study(const row_list *rows)
{
    return rows->count > 0 && rows->row[0].configuration;
}

static void write_study(const row *r, FILE *stream)
{
    fputc(',', stream);
    write_csv_text(r->configuration, stream);
    fputc(',', stream);
    write_csv_text(r->settings, stream);
    fputc(',', stream);
    write_csv_text(r->reason, stream);
}

static void write_header(int study, FILE *stream)
{
    for (int i = 0; i < row_field_count; i++) {
        const field *f = &row_fields[i];
        fprintf(stream, "%s%s%s,", f->group ? f->group : "", f->group ? "." : "", f->key);
    }
    for (int i = 0; i < RIVALS; i++) fprintf(stream, "speedup_vs.%s,", rival_names[i]);
    fputs("notices", stream);
    fputs(study ? ",configuration,settings,reason\n" : "\n", stream);
}

void write_csv(const row_list *rows, FILE *stream)
{
    write_header(is_study(rows), stream);
    for (int i = 0; i < rows->count; i++) {
        const row *r = &rows->row[i];
        for (int k = 0; k < row_field_count; k++) {
            write_value(r, &row_fields[k], stream);
            fputc(',', stream);
        }
        for (int k = 0; k < RIVALS; k++) {
            write_number(r->speedup[k], stream);
            fputc(',', stream);
        }
        write_notices(r, stream);
        if (is_study(rows)) write_study(r, stream);
        fputc('\n', stream);
    }
}

void write_history(const row_list *rows, FILE *stream)
{
    fputs("configuration,iteration,residual\n", stream);
    for (int i = 0; i < rows->count; i++) {
        char label[512];
        row_label(&rows->row[i], label, sizeof label);
        for (int64_t k = 0; k < rows->row[i].history_length; k++) {
            write_csv_text(label, stream);
            fprintf(stream, ",%" PRId64 ",", k);
            write_number(rows->row[i].history[k], stream);
            fputc('\n', stream);
        }
    }
}
