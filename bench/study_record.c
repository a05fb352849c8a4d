/* SPDX-License-Identifier: BSD-3-Clause */
/* study_record.c: a row is one write() behind the end of the file, so that a study may end at any
 * time. What it leaves is read line by line. */
#include "bench/study_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/read_row.h"
#include "bench/say.h"
#include "bench/temporary.h"
#include "bench/write_rows.h"

const char STUDY_FAILURE[] = "failed: ";

/* ----------------------------------------------------------------- reading */

static int same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static const char *difference(const row *r, const row *model)
{
    if (!same(r->settings, model->settings)) return "other options";
    return same(r->machine, model->machine) ? NULL : "another machine";
}

static int is_current(const row *r, const row *model)
{
    return r->schema == model->schema && same(r->version, model->version) &&
           same(r->commit, model->commit);
}

static int is_kept(const study_record *record, const row *r)
{
    for (int i = 0; i < record->kept.count; i++)
        if (same(record->kept.row[i].matrix, r->matrix) &&
            same(record->kept.row[i].configuration, r->configuration))
            return 1;
    return 0;
}

static int is_failure(const row *r)
{
    return r->reason && !strncmp(r->reason, STUDY_FAILURE, strlen(STUDY_FAILURE));
}

/* Takes the row, or drops it. old counts those of another version. */
static int keep(study_record *record, const row *model, int number, row *r, int *old)
{
    const char *other = r->matrix && r->configuration ? difference(r, model) : NULL;
    int code = 0;
    if (!r->matrix || !r->configuration)
        code = say_error(ENDS_BAD_INPUT, "--json: %s:%d is no row of a study: give another file",
                         record->path, number);
    else if (other)
        code = say_error(ENDS_BAD_INPUT, "--json: %s:%d is of a study with %s: give another file",
                         record->path, number, other);
    *old += !code && !is_current(r, model);
    if (code || !is_current(r, model) || is_failure(r) || is_kept(record, r)) {
        row_free(r);
        return code;
    }
    rows_add(&record->kept, r);
    return 0;
}

/* Whether a text without an end of line may be what a write that was cut short has left. */
static int is_begun(const char *text, size_t length)
{
    static const char begin[] = "{\"schema\":";
    return !memcmp(text, begin, length < sizeof begin - 1 ? length : sizeof begin - 1);
}

/* good: the bytes of the lines that are whole. */
static int read_lines(study_record *record, const row *model, FILE *stream, off_t *good)
{
    char *line = NULL;
    size_t capacity = 0;
    int code = 0, old = 0;
    ssize_t length;
    for (int number = 1; !code && (length = getline(&line, &capacity, stream)) > 0; number++) {
        row r = row_unknown();
        int whole = line[length - 1] == '\n';
        if (!whole && is_begun(line, (size_t)length)) break;
        if (whole) line[length - 1] = '\0';
        int sound = whole && read_row(line, &r);
        if (!sound) {
            row_free(&r);
            r = row_unknown();
        }
        code = keep(record, model, number, &r, &old);
        *good += length;
    }
    free(line);
    if (!code && old)
        say_notice("%s: %d row%s of another version or commit: measured again", record->path, old,
                   old == 1 ? "" : "s");
    return code;
}

static int cut(const study_record *record, off_t good)
{
    say_notice("%s: its last line is cut off: measured again", record->path);
    if (!truncate(record->path, good)) return 0;
    return say_error(ENDS_BAD_INPUT, "--json: cannot write '%s': %s", record->path,
                     strerror(errno));
}

/* What Ctrl-C leaves, and how to go on. Behind a line of progress a new one begins. */
static void say_if_interrupted(const study_record *record)
{
    char text[600];
    const char *begin = isatty(STDERR_FILENO) ? "\n" : "";
    int rows = record->kept.count + record->written;
    if (say_is_quiet()) return;
    if (!record->path)
        snprintf(text, sizeof text,
                 "%scgbench: study interrupted: nothing is kept; --json FILE keeps what is "
                 "measured\n",
                 begin);
    else
        snprintf(text, sizeof text,
                 "%scgbench: study interrupted: %d row%s kept in %.400s; the same command goes "
                 "on from there\n",
                 begin, rows, rows == 1 ? " is" : "s are", record->path);
    temporary_last_words(text);
}

/* Reads what is there, if it is a file of rows. */
static int read_kept(const char *path, const row *model, study_record *record)
{
    struct stat there;
    if (!path || !strcmp(path, "-")) return 0;
    if (stat(path, &there)) {
        record->path = path;
        return 0;
    }
    if (!S_ISREG(there.st_mode)) return 0;
    record->path = path;
    FILE *stream = fopen(path, "r");
    if (!stream)
        return say_error(ENDS_BAD_INPUT, "--json: cannot read '%s': %s", path, strerror(errno));
    off_t good = 0;
    int code = read_lines(record, model, stream, &good);
    fclose(stream);
    return code || good == there.st_size ? code : cut(record, good);
}

int study_record_open(const char *path, const row *model, study_record *record)
{
    *record = (study_record){.handle = -1};
    int code = read_kept(path, model, record);
    if (!code) say_if_interrupted(record);
    return code;
}

/* ------------------------------------------------------------------- rows */

int study_record_take(study_record *record, const char *matrix, const char *label, row *r)
{
    for (int i = 0; i < record->kept.count; i++) {
        row *kept = &record->kept.row[i];
        if (!same(kept->matrix, matrix) || strcmp(kept->configuration, label) != 0) continue;
        *r = *kept;
        *kept = row_unknown();
        return 1;
    }
    return 0;
}

static int write_all(int handle, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(handle, text, length);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return 0;
        text += wrote;
        length -= (size_t)wrote;
    }
    return 1;
}

int study_record_append(study_record *record, const row *r)
{
    char *text = NULL;
    size_t length = 0;
    row_list one = {1, (row *)(uintptr_t)r};
    if (!record->path) return 0;
    if (record->handle < 0)
        record->handle = open(record->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    FILE *stream = record->handle >= 0 ? open_memstream(&text, &length) : NULL;
    if (stream) write_json(&one, stream);
    int good = stream && !fclose(stream) && write_all(record->handle, text, length);
    int error = errno;
    free(text);
    record->written += good;
    if (good) say_if_interrupted(record);
    if (good) return 0;
    return say_error(ENDS_BAD_INPUT, "--json: cannot write '%s': %s", record->path,
                     strerror(error));
}

row_list study_record_rest(study_record *record)
{
    row_list rest = {0, NULL};
    for (int i = 0; i < record->kept.count; i++) {
        if (!record->kept.row[i].matrix) continue;
        rows_add(&rest, &record->kept.row[i]);
        record->kept.row[i] = row_unknown();
    }
    return rest;
}

void study_record_close(study_record *record)
{
    if (record->handle >= 0) close(record->handle);
    record->handle = -1;
    rows_free(&record->kept);
}
