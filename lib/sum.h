/* SPDX-License-Identifier: BSD-3-Clause */
/* sum.h: the one order in which dot products are summed, whoever sums them.
 *
 * Rows are taken in chunks of YK_CHUNK by their global number. In a chunk, lane j of YK_LANES adds
 * the terms of rows j, j + YK_LANES, ... in that order, starting from +0.0; the lanes are then
 * added in halves (j and j + 16, then j and j + 8, ...). Chunks are the leaves of one binary tree
 * over their global numbers: a node of level l covers 2^l chunks from a multiple of 2^l; a node
 * whose right half does not exist is its left half.
 *
 * Any owner of a contiguous range of chunks can sum its range to the maximal nodes inside it (at
 * most two a level), and whoever has the nodes of all ranges, in order, can finish the tree. So
 * the cut between owners and threads does not change a bit. (Pairwise summation: Higham, Accuracy
 * and Stability of Numerical Algorithms, 2nd ed., section 4.2.) */
#ifndef YK_SUM_H
#define YK_SUM_H

#include <stdint.h>

#include "lib/subset.h"

enum {
    YK_CHUNK = 256,
    YK_LANES = 32,
    YK_DOTS = 4,       /* sums carried at once */
    YK_TREE_NODES = 64 /* 2^31 rows are 2^23 chunks: at most 48 maximal nodes */
};

/* The maximal nodes of a range of leaves, left to right. */
typedef struct yk_tree {
    int64_t end; /* the leaf after the range */
    int count, dots;
    int8_t level[YK_TREE_NODES];
    double sum[YK_TREE_NODES][YK_DOTS];
} yk_tree;

YK_INLINE void yk_tree_begin(yk_tree *tree, int64_t first, int dots)
{
    tree->end = first;
    tree->count = 0;
    tree->dots = dots;
}

/* Appends the node of that level at tree->end, and merges siblings. */
YK_INLINE void yk_tree_add(yk_tree *tree, int level, const double *sum)
{
    int top = tree->count++;
    for (int d = 0; d < tree->dots; d++) tree->sum[top][d] = sum[d];
    tree->level[top] = (int8_t)level;
    tree->end += (int64_t)1 << level;
    for (; top > 0 && tree->level[top - 1] == level && (tree->end >> level & 1) == 0; top--) {
        for (int d = 0; d < tree->dots; d++) tree->sum[top - 1][d] += tree->sum[top][d];
        tree->level[top - 1] = (int8_t)++level;
        tree->count--;
    }
}

/* Appends the nodes of the range that follows. */
YK_INLINE void yk_tree_append(yk_tree *tree, const yk_tree *next)
{
    for (int i = 0; i < next->count; i++) yk_tree_add(tree, next->level[i], next->sum[i]);
}

/* The sums over all leaves, once the range is the whole; +0.0 over none. */
YK_INLINE void yk_tree_total(const yk_tree *tree, double *total)
{
    for (int d = 0; d < tree->dots; d++) {
        int i = tree->count - 1;
        double sum = i >= 0 ? tree->sum[i][d] : 0.0;
        while (--i >= 0) sum = tree->sum[i][d] + sum;
        total[d] = sum;
    }
}

/* Adds the lanes of one chunk in halves; lane is destroyed. */
YK_INLINE double yk_lanes_total(double *lane)
{
    for (int half = YK_LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) lane[j] += lane[j + half];
    return lane[0];
}

#endif
