/* SPDX-License-Identifier: BSD-3-Clause */
/* random_graph.h: limits of the random generators. */
#ifndef YK_RANDOM_GRAPH_H
#define YK_RANDOM_GRAPH_H

/* A row is sorted in a buffer on the stack. */
enum { YK_MOST_NEIGHBOURS = 1024 };

#endif
