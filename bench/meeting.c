/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting.c: the rivals of --vs on one matrix. */
#include "bench/meeting.h"

#include <stdio.h>
#include <string.h>

#include "bench/say.h"

static int rival_index(const char *name)
{
    int i = 0;
    while (i < RIVALS - 1 && strcmp(rival_names[i], name) != 0) i++;
    return i;
}

/* A rival that is not there is one notice a run, not one a matrix. */
static void note(meeting *m, const char *name, const char *why)
{
    static int told[RIVALS];
    char text[800];
    snprintf(text, sizeof text, "--vs %s: %s", name, why);
    if (!told[rival_index(name)]) say_notice("%s", text);
    told[rival_index(name)] = 1;
    words_add(&m->notices, text);
}

static int has_met(const meeting *m, const char *precond)
{
    for (int i = 0; i < m->met.count; i++)
        if (!strcmp(m->met.word[i], precond)) return 1;
    return 0;
}

static void start(meeting *m, const row *ours)
{
    words_add(&m->met, ours->precond);
    m->at_work = 1;
    const rival_terms terms = {.precond = ours->precond,
                               .iterations = ours->iterations,
                               .ranks = (int)ours->threads,
                               .threads = (int)m->options->threads,
                               .device = options_device(m->options)};
    for (int k = 0; k < m->options->vs.count; k++) {
        const char *name = m->options->vs.word[k];
        rival **r = &m->rival[rival_index(name)];
        if (*r) continue; /* named twice */
        const char *why = rival_start(name, m->s, &terms, r);
        if (why) note(m, name, why);
    }
}

void meeting_play(void *user, const row *ours)
{
    meeting *m = user;
    if (!m->at_work && !has_met(m, ours->precond)) start(m, ours);
    for (int i = 0; m->at_work && i < RIVALS; i++)
        /* What fails here fails again at the end, with its reason. */
        if (m->rival[i]) rival_repeat(m->rival[i]);
}

void meeting_pause(meeting *m)
{
    for (int i = 0; i < RIVALS; i++) {
        if (!m->rival[i]) continue;
        row r = row_new(m->s->name);
        r.rtol = m->options->rtol;
        const char *why = rival_finish(m->rival[i], &r);
        m->rival[i] = NULL;
        if (why) {
            note(m, rival_names[i], why);
            row_free(&r);
        } else
            rows_add(&m->theirs, &r);
    }
    m->at_work = 0;
}

static void compare(const meeting *m, row *ours)
{
    for (int k = 0; k < m->options->vs.count; k++)
        ours->asked[rival_index(m->options->vs.word[k])] = 1;
    for (int i = 0; i < m->theirs.count; i++) {
        const row *theirs = &m->theirs.row[i];
        if (ours->precond && !strcmp(ours->precond, theirs->precond))
            ours->speedup[rival_index(theirs->solver)] = theirs->us_median / ours->us_median;
    }
    for (int i = 0; i < m->notices.count; i++) row_notice(ours, m->notices.word[i]);
}

void meeting_end(meeting *m, row_list *rows)
{
    for (int i = m->from; i < rows->count; i++) compare(m, &rows->row[i]);
    for (int i = 0; i < m->theirs.count; i++) rows_add(rows, &m->theirs.row[i]);
    m->theirs.count = 0; /* their contents have moved */
    rows_free(&m->theirs);
    words_free(&m->met);
    words_free(&m->notices);
}
