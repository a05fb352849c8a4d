/* SPDX-License-Identifier: BSD-3-Clause */
/* study_rows.c: the rows of a study, as table and heat map read them. */
#include <math.h>
#include <string.h>

#include "bench/study.h"

study_state study_state_of(const row *r)
{
    if (!r->outcome) return STUDY_CANNOT_RUN;
    return r->reason || r->exit_code || !isfinite(r->us_median) ? STUDY_FAILED : STUDY_RAN;
}

double study_base(const row_list *rows, const char *matrix)
{
    double best = NAN;
    for (int i = 0; i < rows->count; i++) {
        const row *r = &rows->row[i];
        int owner = !strcmp(r->configuration, "cpu") || !strcmp(r->configuration, "gpu");
        if (owner && !strcmp(r->matrix, matrix) && study_state_of(r) == STUDY_RAN)
            best = fmin(best, r->us_median);
    }
    return best;
}

double study_best(const row_list *rows, const char *matrix)
{
    double best = NAN;
    for (int i = 0; i < rows->count; i++) {
        const row *r = &rows->row[i];
        if (!strcmp(r->matrix, matrix) && !r->is_rival && study_state_of(r) == STUDY_RAN)
            best = fmin(best, r->us_median);
    }
    return best;
}

const row *study_find(const row_list *rows, const char *matrix, const char *label)
{
    for (int i = 0; i < rows->count; i++)
        if (!strcmp(rows->row[i].configuration, label) && !strcmp(rows->row[i].matrix, matrix))
            return &rows->row[i];
    return NULL;
}

void words_add_once(words *list, const char *text)
{
    for (int i = 0; i < list->count; i++)
        if (!strcmp(list->word[i], text)) return;
    words_add(list, text);
}

void study_names(const row_list *rows, words *matrices, words *labels)
{
    for (int i = 0; i < rows->count; i++) {
        words_add_once(matrices, rows->row[i].matrix);
        words_add_once(labels, rows->row[i].configuration);
    }
}

int study_place_of(const char *label, study_place *place)
{
    return sscanf(label, "%47s %47s %47s", place->memory, place->home, place->partition) == 3;
}

/* The reason of a list names the name that it is about, and stays. */
static const char *find_partition(const row *r, const char *reason, char *named, size_t capacity)
{
    study_place place;
    if (!strncmp(reason, "--", 2) || !study_place_of(r->configuration, &place)) return NULL;
    snprintf(named, capacity, "partition %s", place.partition);
    return strstr(reason, named);
}

void study_reason(const row *r, char text[STUDY_REASON])
{
    char named[STUDY_WORD + 16];
    const char *reason = r->reason ? r->reason : r->outcome ? r->outcome : "not measured";
    const char *at = find_partition(r, reason, named, sizeof named);
    if (at)
        snprintf(text, STUDY_REASON, "%.*sthis partition%s", (int)(at - reason), reason,
                 at + strlen(named));
    else
        snprintf(text, STUDY_REASON, "%s", reason);
}
