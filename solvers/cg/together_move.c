/* SPDX-License-Identifier: BSD-3-Clause */
/* together_move.c: a cut that moves between a GPU and the CPU: the owners' own of each cut, and
 * going from one to another. Between two advances, so that nothing but this is under way. */
#include "solvers/cg/cuts.h"

#include "lib/context.h"
#include "lib/status.h"
#include "solvers/cg/gpu_meet.h"
#include "solvers/cg/gpu_state.h"

/* ------------------------------------------------------------------ memory */

static yoke_status upload(yk_cg *cg, const char *what, const int32_t *from, int64_t count,
                          int32_t **to)
{
    const yk_device *device = &cg->gpu->device;
    YK_TRY(yk_device_allocate(device, what, count, sizeof **to, to));
    return yk_device_copy(device, *to, from, (size_t)count * sizeof **to);
}

yoke_status yk_together_open_cuts(yk_cg *cg)
{
    const yk_cuts *cuts = cg->cuts;
    yk_gpu_beside *beside = &cg->gpu->beside;
    YK_TRY(
        upload(cg, "rows to send", cuts->gpu_row, cuts->gpu_first[cuts->count], &beside->send_row));
    YK_TRY(upload(cg, "places of the halo", cuts->gpu_place, cuts->cpu_first[cuts->count],
                  &beside->place));
    return yk_device_wait(&cg->gpu->device);
}

void yk_together_bytes_of_cuts(const yk_cg *cg, size_t *device)
{
    const yk_cuts *cuts = cg->cuts;
    *device +=
        (size_t)(cuts->gpu_first[cuts->count] + cuts->cpu_first[cuts->count]) * sizeof(int32_t);
}

void yk_together_forget_graphs(struct yk_gpu_state *gpu)
{
    for (int i = 0; i < YK_GPU_GRAPHS; i++) {
        for (int cut = 0; cut < YK_MOST_CUTS; cut++) {
            void **graph = &gpu->beside.of_cut[cut].graph[i];
            if (*graph == gpu->graph[i]) gpu->graph[i] = NULL;
            yk_device_graph_destroy(*graph);
            *graph = NULL;
        }
        yk_device_graph_destroy(gpu->graph[i]);
        gpu->graph[i] = NULL;
    }
}

void yk_together_close_cuts(struct yk_gpu_state *gpu)
{
    yk_together_forget_graphs(gpu);
    yk_device_free(gpu->beside.place);
}

/* -------------------------------------------------------------------- take */

void yk_together_take_cut(yk_cg *cg, int cut)
{
    struct yk_gpu_state *gpu = cg->gpu;
    const yk_cuts *cuts = cg->cuts;
    yk_gpu_part(cg)->moving.at = gpu->beside.place + cuts->cpu_first[cut];
    gpu->beside.first_sent = cuts->gpu_first[cut];
    for (int i = 0; i < YK_GPU_GRAPHS; i++) gpu->graph[i] = gpu->beside.of_cut[cut].graph[i];
}

void yk_together_keep_graphs(yk_cg *cg)
{
    struct yk_gpu_state *gpu = cg->gpu;
    for (int i = 0; i < YK_GPU_GRAPHS && cg->cuts; i++)
        gpu->beside.of_cut[cg->cuts->at].graph[i] = gpu->graph[i];
}

/* ------------------------------------------------------------------- places */

/* Values of the halo from the slots in which they came to where the parts have them. */
yoke_status yk_together_place(yk_cg *cg, yk_boundary which)
{
    const yk_device *device = &cg->gpu->device;
    const yk_part *gpu = yk_gpu_part(cg), *cpu = &cg->part[1];
    const yk_port *of_gpu = &cg->link.port[0], *of_cpu = &cg->link.port[1];
    const yk_gpu_view view = yk_gpu_view_of(cg, 0);
    double *here = yk_boundary_vector(cpu, which), *there = yk_boundary_vector(gpu, which);
    for (int64_t k = 0; k < cpu->moving.arriving; k++) here[cpu->moving.at[k]] = of_cpu->halo_x[k];
    if (cg->link.meeting == YK_MEET_BY_EVENTS)
        YK_TRY(yk_device_copy(device, of_gpu->gpu_x, of_gpu->halo_x,
                              (size_t)gpu->moving.arriving * sizeof(double)));
    return yk_device_try(yk_gpu_launch_place(&view, of_gpu->gpu_x, gpu->moving.at,
                                             gpu->moving.arriving, there, device->stream),
                         "placing the halo");
}

/* -------------------------------------------------------------------- move */

/* What an iteration's boundary needs of a row, and b, which was scaled where it was worked on. */
static int vectors_of(const yk_part *part, double **vector)
{
    int count = 0;
    vector[count++] = part->x;
    vector[count++] = part->r;
    vector[count++] = part->p;
    vector[count++] = part->b;
    vector[count++] = part->best;
    if (part->z != part->r) vector[count++] = part->z;
    return count;
}

/* Global rows [first, last) from the one who worked on them to the other. */
static yoke_status move_rows(yk_cg *cg, int64_t first, int64_t last, bool to_gpu)
{
    enum { MOST = 6 };
    const yk_part *cpu = &cg->part[1];
    double *there[MOST], *here[MOST];
    int count = vectors_of(yk_gpu_part(cg), there);
    size_t bytes = (size_t)(last - first) * sizeof(double);
    vectors_of(cpu, here);
    for (int i = 0; i < count; i++) {
        double *of_gpu = there[i] + first, *of_cpu = here[i] + (first - cpu->first);
        YK_TRY(yk_device_copy(&cg->gpu->device, to_gpu ? of_gpu : of_cpu, to_gpu ? of_cpu : of_gpu,
                              bytes));
    }
    return yk_device_wait(&cg->gpu->device);
}

/* The halos of the new cut: p as it is, of which each owner goes on with its own copy, and z. */
void yk_together_move_cut(yk_cg *cg, int cut)
{
    const yk_cuts *cuts = cg->cuts;
    int64_t from = cuts->row[cuts->at], to = cuts->row[cut];
    int previous = yk_device_enter(&cg->gpu->device);
    bool moved =
        yk_gpu_ok(cg, move_rows(cg, from < to ? from : to, from < to ? to : from, from < to));
    yk_device_leave(previous);
    if (!moved) return;
    yk_cuts_take(cg, cut);
    cg->driver->engine->exchange(cg, YK_BOUNDARY_P);
    cg->driver->engine->exchange(cg, YK_BOUNDARY_Z);
}
