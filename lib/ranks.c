/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c: contexts over ranks, and how ranks agree. */
#include "lib/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/status.h"

/* ----------------------------------------------------------------- context */

static yoke_status check_table(const yoke_comm *comm)
{
    if (!comm) return yk_fail(YOKE_INVALID, "comm is NULL");
    YK_TRY(yk_check_struct("yoke_comm", comm->struct_size, sizeof *comm));
    if (comm->ranks < 1 || comm->rank < 0 || comm->rank >= comm->ranks)
        return yk_fail(YOKE_INVALID, "rank is %d of %d", comm->rank, comm->ranks);
    bool complete = comm->reduce && comm->broadcast && comm->gather && comm->exchange &&
                    comm->open && comm->receive && comm->send && comm->wait && comm->close &&
                    comm->error_text && !comm->reduce_begin == !comm->reduce_end;
    return complete ? YOKE_OK : yk_fail(YOKE_INVALID, "yoke_comm lacks a function");
}

yoke_status yoke_context_create_over(const yoke_context_options *options, const yoke_comm *comm,
                                     yoke_context **context)
{
    yoke_context *made = NULL;
    YK_TRY(check_table(comm));
    yoke_comm *copy = malloc(sizeof *copy);
    if (!copy) return yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof *copy);
    *copy = *comm;
    yoke_status status =
        context ? yoke_context_create(options, &made) : yk_fail(YOKE_INVALID, "context is NULL");
    if (status != YOKE_OK) {
        free(copy);
        return status;
    }
    made->comm = copy;
    *context = made;
    return YOKE_OK;
}

yoke_status yoke_comm_fail(yoke_status status, const char *text)
{
    return yk_fail(status, "%s", text);
}

int yoke_context_rank(const yoke_context *context)
{
    return context && context->comm ? context->comm->rank : 0;
}

int yoke_context_ranks(const yoke_context *context)
{
    return context && context->comm ? context->comm->ranks : 1;
}

/* ---------------------------------------------------------------- messages */

/* A message is as long as its nodes need: what lies behind them is not ours. */
static void copy_tree(yk_tree *to, const yk_tree *from)
{
    size_t nodes = (size_t)from->count;
    to->end = from->end;
    to->count = from->count;
    to->dots = from->dots;
    memcpy(to->level, from->level, nodes);
    memcpy(to->sum, from->sum, nodes * sizeof *from->sum);
}

void yoke_comm_combine(const void *left, void *right)
{
    const yk_ranks_message *before = left;
    yk_ranks_message *after = right;
    yk_tree all;
    copy_tree(&all, &before->tree);
    yk_tree_append(&all, &after->tree);
    copy_tree(&after->tree, &all);
    if (before->word) after->word = before->word;
    for (int i = 0; i < 2; i++)
        if (before->most[i] > after->most[i]) after->most[i] = before->most[i];
}

yoke_status yk_ranks_try(const yoke_context *context, int code, const char *what)
{
    char text[512] = "";
    if (code == 0) return YOKE_OK;
    context->comm->error_text(context->comm->self, code, text, sizeof text);
    return yk_fail(YOKE_COMMUNICATION, "%s: %s", what, text);
}

yoke_status yk_ranks_reduce(const yoke_context *context, yk_ranks_message *message, int nodes)
{
    const yoke_comm *comm = context->comm;
    if (comm->ranks == 1) return YOKE_OK;
    return yk_ranks_try(context, comm->reduce(comm->self, message, yk_message_bytes(nodes)),
                        "sums over ranks");
}

yoke_status yk_ranks_begin_reduce(const yoke_context *context, yk_ranks_message *message, int nodes)
{
    const yoke_comm *comm = context->comm;
    if (!comm->reduce_begin) return yk_ranks_reduce(context, message, nodes);
    if (comm->ranks == 1) return YOKE_OK;
    return yk_ranks_try(context, comm->reduce_begin(comm->self, message, yk_message_bytes(nodes)),
                        "sums over ranks");
}

yoke_status yk_ranks_end_reduce(const yoke_context *context)
{
    const yoke_comm *comm = context->comm;
    if (!comm->reduce_begin || comm->ranks == 1) return YOKE_OK;
    return yk_ranks_try(context, comm->reduce_end(comm->self), "sums over ranks");
}

yoke_status yk_ranks_broadcast(const yoke_context *context, int root, void *data, size_t bytes)
{
    const yoke_comm *comm = context->comm;
    if (comm->ranks == 1) return YOKE_OK;
    return yk_ranks_try(context, comm->broadcast(comm->self, root, data, bytes),
                        "telling all ranks");
}

yoke_status yk_ranks_gather(const yoke_context *context, const void *mine, size_t bytes, void *all)
{
    const yoke_comm *comm = context->comm;
    return yk_ranks_try(context, comm->gather(comm->self, mine, bytes, all), "asking all ranks");
}

yoke_status yk_ranks_exchange(const yoke_context *context, const void *send,
                              const size_t *send_bytes, void *receive, const size_t *receive_bytes)
{
    const yoke_comm *comm = context->comm;
    return yk_ranks_try(context,
                        comm->exchange(comm->self, send, send_bytes, receive, receive_bytes),
                        "an exchange between ranks");
}

/* ------------------------------------------------------------------- agree */

enum { TEXT = 700 };

/* The library's last sentence without the place in its source, which the next failure adds. */
static void own_text(char *text)
{
    snprintf(text, TEXT, "%s", yoke_error_text());
    char *place = strrchr(text, '[');
    if (place && place > text && place[-1] == ' ') place[-1] = '\0';
}

static yoke_status follow(const yoke_context *context, yoke_status status, int64_t word)
{
    int from = (int)(word >> 8) - 1;
    yoke_status agreed = (yoke_status)(word & 255);
    char text[TEXT] = "";
    if (status != YOKE_OK) own_text(text);
    YK_TRY(yk_ranks_broadcast(context, from, text, sizeof text));
    if (from == context->comm->rank) return status;
    if (strncmp(text, "rank ", 5) == 0) return yk_fail(agreed, "%s", text); /* agreed on before */
    return yk_fail(agreed, "rank %d: %s", from, text);
}

yoke_status yk_agreed(const yoke_context *context, yoke_status status, double mark)
{
    yk_ranks_message message = {.most = {mark, -mark}};
    if (status != YOKE_OK) message.word = (int64_t)(context->comm->rank + 1) << 8 | status;
    YK_TRY(yk_ranks_reduce(context, &message, 0));
    if (message.word) return follow(context, status, message.word);
    if (message.most[0] == -message.most[1]) return YOKE_OK;
    return yk_fail(YOKE_INVALID, "ranks called with different options, of which all must be alike");
}

double yk_ranks_most(const yoke_context *context, double value)
{
    if (!yk_over_ranks(context)) return value;
    yk_ranks_message message = {.most = {value, 0.0}};
    (void)yk_ranks_reduce(context, &message, 0); /* a lost rank shows at the next exchange */
    return message.most[0];
}

/* FNV-1a (Fowler, Noll, Vo), folded to 52 bits. */
double yk_ranks_mark(const void *data, size_t bytes, double before)
{
    const unsigned char *byte = data;
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)before;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
    return (double)((hash ^ hash >> 52) & (((uint64_t)1 << 52) - 1));
}
