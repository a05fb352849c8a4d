/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h: what ranks say to each other, over the table of yoke_comm.h. */
#ifndef YK_RANKS_H
#define YK_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <yoke_comm.h>

#include "lib/context.h"
#include "lib/sum.h"

/* The one message of every reduction: sums in the order of the ranks, the word of the first rank
 * that has one, the largest of two numbers. Sent up to the last node that may be used. */
typedef struct yk_ranks_message {
    int64_t word; /* 0: none */
    double most[2];
    yk_tree tree;
} yk_ranks_message;

static inline size_t yk_ranks_message_bytes(int nodes)
{
    return offsetof(yk_ranks_message, tree.sum) + (size_t)nodes * sizeof(double[YK_DOTS]);
}

static inline bool yk_over_ranks(const yoke_context *context)
{
    return context->comm != NULL;
}

/* nodes: that any rank's tree, or several ranks' together, can have. */
yoke_status yk_ranks_reduce(const yoke_context *context, yk_ranks_message *message, int nodes);
/* The same in two steps: in between the message is on its way. */
yoke_status yk_ranks_begin_reduce(const yoke_context *context, yk_ranks_message *message,
                                  int nodes);
yoke_status yk_ranks_end_reduce(const yoke_context *context);
yoke_status yk_ranks_broadcast(const yoke_context *context, int root, void *data, size_t bytes);
yoke_status yk_ranks_gather(const yoke_context *context, const void *mine, size_t bytes, void *all);
yoke_status yk_ranks_exchange(const yoke_context *context, const void *send,
                              const size_t *send_bytes, void *receive, const size_t *receive_bytes);
/* A failure of the table as a status. */
yoke_status yk_ranks_try(const yoke_context *context, int code, const char *what);

yoke_status yk_agreed(const yoke_context *context, yoke_status status, double mark);

/* The status of all ranks: YOKE_OK if all say so, else that of the first that does not, whose text
 * all get; YOKE_INVALID if the marks differ, which stand for what must be alike. In one process:
 * status. Collective: whatever fails on one rank alone passes through here before the next
 * exchange. */
static inline yoke_status yk_agree(const yoke_context *context, yoke_status status, double mark)
{
    yoke_status agreed = yk_over_ranks(context) ? yk_agreed(context, status, mark) : status;
    return agreed == YOKE_OK ? status : agreed; /* what all say is also ours: for an analyzer */
}

/* The largest on any rank; in one process, and where it cannot be told, the value. */
double yk_ranks_most(const yoke_context *context, double value);

/* Of some bytes, to compare: a whole number that a double holds. */
double yk_ranks_mark(const void *data, size_t bytes, double before);

#endif
