/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_state.h: what a plan holds on its GPU. */
#ifndef YK_CG_GPU_STATE_H
#define YK_CG_GPU_STATE_H

#include "lib/cuda/device.h"
#include "partition/window.h"
#include "solvers/cg/cg.h"
#include "solvers/cg/gpu.h"
#include "solvers/cg/gpu_held.h"

enum { YK_GPU_GRAPHS = 6 };

/* What works beside CPU parts: together.c, together_drivers.c. */
typedef struct yk_gpu_beside {
    int32_t *send_row;  /* on the device: of all receivers in turn */
    yk_tree *tree;      /* on the device: the part's sums, of a task or a half */
    yk_tree *seen;      /* pinned: the same */
    double *whole_z;    /* on the device: [rows], where all of z travels; else NULL */
    int32_t *halo_row;  /* on the device: [halo] which of them are the halo's */
    int32_t *place;     /* on the device: of all cuts in turn, where the halo's values go */
    int64_t first_sent; /* of send_row, at the cut in force */
    struct {
        void *graph[YK_GPU_GRAPHS];
    } of_cut[YK_MOST_CUTS]; /* those in force are state.graph as well */
    int backwards;          /* the direction in which the next iteration begins */
    int ahead;              /* iterations of a graph that are not over yet */
} yk_gpu_beside;

struct yk_gpu_state {
    yk_device device;
    /* CSR, which goes once SELL has it; and SELL. Chunks from `kept` on have their entries in
     * spilled_..., where they are spilled. */
    void *start;
    bool wide_start;  /* of 64 bits */
    double csr_bytes; /* that a product reads of it */
    int32_t *csr_column, *spilled_column;
    double *csr_value, *spilled_value;
    char *sell_column, *spilled_sell;
    int64_t kept, kept_entries, kept_columns; /* of CSR, of SELL, before that chunk */
    int64_t *slice, sell_columns;
    int sell_width;            /* 0: the slices differ */
    unsigned char *sell_order; /* NULL: rows lie in place */
    bool has_sell;
    yk_gpu_format format, sell_format; /* in use; SELL's */
    yk_gpu_walk walk;
    struct yk_gpu_cusparse *cusparse; /* multiplies in the loop, in place of our kernel; or NULL */
    yk_gpu_sums sums;
    void *sums_memory;
    yk_gpu_loop *loop;    /* on the device */
    yk_gpu_loop *staged;  /* pinned: goes up before an advance, comes down after it */
    yk_gpu_loop *seen[2]; /* pinned: heads, for looking while the device goes on */
    double *total;        /* pinned, [YK_DOTS + 1]: of tasks outside the loop */
    double *exchange[2];  /* [rows] in, out of callbacks that take host memory; else NULL */
    bool exchange_pinned;
    bool ended;     /* a callback failed or saw the loop's end: this advance enqueues no more */
    bool step_done; /* the direction has taken the step that x lacked before the operator failed */
    yk_resident resident; /* of the persistent driver; word NULL: not for this plan, because: */
    yk_held held;         /* the same, of larger systems */
    char not_resident[256];
    unsigned long long launches; /* of its kernel */
    /* A batch of iterations, from each of p and p_old; beside CPU parts: see together_drivers.c */
    void *graph[YK_GPU_GRAPHS];
    yk_gpu_beside beside;
};

/* The part that the GPU owns: the first, of all rows where it is alone. */
static inline yk_part *yk_gpu_part(const yk_cg *cg)
{
    return &cg->part[0];
}

/* The view for a pass from this state: p and p_old as newest_p says. */
yk_gpu_view yk_gpu_view_of(const yk_cg *cg, int newest_p);

/* gpu_matrix.c: the engine's load_matrix and load_values, and their end. */
yoke_status yk_gpu_load_matrix(yk_cg *cg, const yk_part *part, const yk_csr *csr,
                               const char *format);
yoke_status yk_gpu_load_values(yk_cg *cg, const yk_part *part, const yk_csr *csr);
yoke_status yk_gpu_use_format(yk_cg *cg, const char *format);
void yk_gpu_keep_format(yk_cg *cg);
void yk_gpu_free_matrix(struct yk_gpu_state *gpu);

/* gpu_home.c: where the matrix lies, for a view. */
yk_sell yk_gpu_sell_of(const struct yk_gpu_state *gpu);
yk_csr_spill yk_gpu_spill_of(const struct yk_gpu_state *gpu);

/* CSR's entries and SELL's columns where the home has them (slice: [slices + 1], on the host); the
 * values of CSR; and SELL from CSR on the host, which is never whole on the device. */
yoke_status yk_gpu_load_entries(yk_cg *cg, const yk_csr *csr);
yoke_status yk_gpu_copy_values(yk_cg *cg, const yk_csr *csr);
yoke_status yk_gpu_allocate_sell(yk_cg *cg, const int64_t *slice);
yoke_status yk_gpu_fill_by_pieces(yk_cg *cg, const yk_csr *csr);

/* gpu_persistent.c: the system as the persistent driver has it, from CSR on the device, if it may
 * and does fit on the chip; new values for it; its end. */
yoke_status yk_gpu_make_resident(yk_cg *cg, const yk_csr *csr, const yk_csr *on_device);
yoke_status yk_gpu_renew_resident(yk_cg *cg, const yk_csr *on_device);
void yk_gpu_free_resident(struct yk_gpu_state *gpu);

/* gpu_held.c: the same of a system whose matrix is in SELL by now and does not fit on the chip. */
yoke_status yk_gpu_make_held(yk_cg *cg);
void yk_gpu_free_held(struct yk_gpu_state *gpu);

/* gpu_callback.c: the engine's apply; an iteration with a user's operator or preconditioner, of
 * which nothing more is enqueued once gpu->ended; what that means for the state at an advance's
 * end; and the memory it takes. */
bool yk_gpu_apply(yk_cg *cg, const yoke_operator *op, yk_vector in, yk_vector out);
yoke_status yk_gpu_enqueue_callbacks(yk_cg *cg);
void yk_gpu_conclude_callbacks(yk_cg *cg);
size_t yk_gpu_exchange_bytes(const yk_cg *cg);
yoke_status yk_gpu_open_exchange(yk_cg *cg);
void yk_gpu_close_exchange(yk_cg *cg);

/* gpu_cusparse.c: makes ready to multiply the CSR that the device holds; csr: the same on the host.
 * Then, after new values; and q = A p, enqueued. */
yoke_status yk_gpu_cusparse_open(yk_cg *cg, const yk_csr *csr);
yoke_status yk_gpu_cusparse_renew(yk_cg *cg);
yoke_status yk_gpu_cusparse_multiply(yk_cg *cg);
void yk_gpu_cusparse_close(struct yk_gpu_state *gpu);

/* gpu_drivers.c: a driver's advance by its own, which iterates between the two that follow: the
 * loop's state up, and down. */
typedef yoke_status (*yk_gpu_advance_fn)(yk_cg *cg, int64_t at_most);
void yk_gpu_advance(yk_cg *cg, int64_t at_most, yk_gpu_advance_fn advance);
yoke_status yk_gpu_begin_advance(yk_cg *cg, int64_t at_most);
yoke_status yk_gpu_end_advance(yk_cg *cg);

/* gpu_drivers.c: a pass of the loop, enqueued; the next goes over the rows against it, whose last
 * ones the L2 cache still has. */
yoke_status yk_gpu_enqueue(yk_cg *cg, yk_gpu_view *view, yk_task task, const char *name);

/* gpu_drivers.c: q = A p and p.q, and with them alpha, enqueued; by the format's way. */
yoke_status yk_gpu_enqueue_multiply(yk_cg *cg, yk_gpu_view *view);

/* together.c: the GPU's boundary to where CPU parts' halos are on its side, enqueued; and from
 * there to where the host has them, unless that is one memory. loop NULL: outside of it. */
yoke_status yk_together_send(yk_cg *cg, yk_boundary which, const yk_gpu_loop *loop);
yoke_status yk_together_bring_down(yk_cg *cg, yk_boundary which);

/* together.c: a task on the GPU's rows, enqueued; its sums, or its largest magnitude, on their way
 * down. */
yoke_status yk_together_begin(yk_cg *cg, yk_task task, double argument);

/* together_ranks.c: the engine's run and exchange where other ranks have rows too. */
void yk_together_run_over_ranks(yk_cg *cg, yk_task task, double argument, double *total);
void yk_together_exchange_over_ranks(yk_cg *cg, yk_boundary which);

/* together_move.c: a cut that moves. Its memory, told, taken and given back; graphs of all cuts;
 * the engine's take_cut and move_cut; after a cut's graphs were made, that they are its own; and
 * halos that came by the way of x from their slots to their places. */
yoke_status yk_together_open_cuts(yk_cg *cg);
void yk_together_bytes_of_cuts(const yk_cg *cg, size_t *device);
void yk_together_close_cuts(struct yk_gpu_state *gpu);
void yk_together_forget_graphs(struct yk_gpu_state *gpu);
void yk_together_keep_graphs(yk_cg *cg);
void yk_together_take_cut(yk_cg *cg, int cut);
void yk_together_move_cut(yk_cg *cg, int cut);
yoke_status yk_together_place(yk_cg *cg, yk_boundary which);

/* Keeps the first failure of a solve; true if there is none. */
bool yk_gpu_ok(yk_cg *cg, yoke_status status);

#endif
