/* SPDX-License-Identifier: BSD-3-Clause */
/* metis.c: rows dealt out by METIS's k-way partitioning, on the rank that has them all. METIS's
 * indices have the width it was built with. */
#include <metis.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/mpi/comm.h"

/* Of all weights together: METIS adds them up in its indices. */
#define WEIGHTS ((double)(1 << 30))

/* A share beyond its due that is still even, in thousandths; METIS's own default is 30. */
enum { UNEVEN = 10 };

typedef struct parting {
    idx_t rows, ranks;
    idx_t *start, *neighbour, *weight, *owner;
    real_t *share;
} parting;

static yoke_status check(const yoke_graph *graph)
{
    char text[200];
    const int bits = (int)(8 * sizeof(idx_t));
    const long long most = IDX_MAX - 1, rows = graph->rows;
    long long pairs = rows <= most ? graph->start[rows] : 0;
    if (rows <= most && pairs <= most) return YOKE_OK;
    snprintf(text, sizeof text,
             "METIS: a system of %lld %s, of which this METIS, whose indices have %d bits, counts "
             "%lld at most",
             rows > most ? rows : pairs, rows > most ? "rows" : "neighbours of rows", bits, most);
    return yoke_comm_fail(YOKE_OVERFLOW, text);
}

static void release(parting *p)
{
    free(p->start);
    free(p->neighbour);
    free(p->weight);
    free(p->owner);
    free(p->share);
}

static int allocate(parting *p, size_t pairs)
{
    size_t rows = (size_t)p->rows, ranks = (size_t)p->ranks;
    p->start = malloc((rows + 1) * sizeof *p->start);
    p->neighbour = malloc((pairs + 1) * sizeof *p->neighbour);
    p->weight = malloc((rows + 1) * sizeof *p->weight);
    p->owner = malloc((rows + 1) * sizeof *p->owner);
    p->share = malloc(ranks * sizeof *p->share);
    return p->start && p->neighbour && p->weight && p->owner && p->share;
}

static void fill(parting *p, const yoke_graph *graph, const double *share)
{
    double all = 0.0;
    for (idx_t i = 0; i < p->rows; i++) all += graph->weight[i];
    double scale = all > WEIGHTS ? WEIGHTS / all : 1.0;
    for (idx_t i = 0; i <= p->rows; i++) p->start[i] = (idx_t)graph->start[i];
    for (idx_t k = 0; k < (idx_t)graph->start[p->rows]; k++)
        p->neighbour[k] = (idx_t)graph->neighbour[k];
    for (idx_t i = 0; i < p->rows; i++) {
        double weight = graph->weight[i] * scale;
        p->weight[i] = weight < 1.0 ? 1 : (idx_t)weight;
    }
    for (idx_t r = 0; r < p->ranks; r++)
        p->share[r] = (real_t)(share ? share[r] : 1.0 / (double)p->ranks);
}

static yoke_status told(int code)
{
    char text[80];
    if (code == METIS_OK) return YOKE_OK;
    if (code == METIS_ERROR_MEMORY)
        return yoke_comm_fail(YOKE_NO_MEMORY, "METIS_PartGraphKway: METIS_ERROR_MEMORY");
    snprintf(text, sizeof text, "METIS_PartGraphKway: %s (%d)",
             code == METIS_ERROR_INPUT ? "METIS_ERROR_INPUT" : "METIS_ERROR", code);
    return yoke_comm_fail(YOKE_INTERNAL, text);
}

static yoke_status partition(parting *p)
{
    idx_t options[METIS_NOPTIONS], constraints = 1, cut = 0;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_UFACTOR] = UNEVEN;
    return told(METIS_PartGraphKway(&p->rows, &constraints, p->start, p->neighbour, p->weight, NULL,
                                    NULL, &p->ranks, p->share, NULL, options, &cut, p->owner));
}

static yoke_status deal(void *self, const yoke_graph *graph, const double *share, int32_t *owner)
{
    const yk_mpi *mpi = self;
    yoke_status status = check(graph);
    if (status != YOKE_OK) return status;
    parting p = {.rows = (idx_t)graph->rows, .ranks = mpi->ranks};
    if (!allocate(&p, (size_t)graph->start[graph->rows])) {
        release(&p);
        return yoke_comm_fail(YOKE_NO_MEMORY, "METIS: no memory for a copy of the matrix's graph");
    }
    fill(&p, graph, share);
    status = partition(&p);
    for (idx_t i = 0; status == YOKE_OK && i < p.rows; i++) owner[i] = (int32_t)p.owner[i];
    release(&p);
    return status;
}

const yk_mpi_partition_fn yk_mpi_partition = deal;
