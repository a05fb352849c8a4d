/* SPDX-License-Identifier: BSD-3-Clause */
/* model_constants.h: the numbers of the model that are no machine's: each says what a pass makes of
 * what the memory could do. Those marked fitted are the best over the records that
 * bench/model_error calls its fit set; docs/model.md derives them. */
#ifndef YK_MODEL_CONSTANTS_H
#define YK_MODEL_CONSTANTS_H

/* X(name, value, text). model_error --fit walks over this list. */
#define YK_MODEL_CONSTANTS(X)                                                                      \
    /* Shares of a GPU's read bandwidth. Fitted. */                                                \
    X(gpu_sell_share, 0.926, "SELL: columns by bulk copies, the products between them")            \
    X(gpu_csr_share, 0.80, "CSR: lines of several rows at a time")                                 \
    X(csr_row, 8.2e-9, "CSR: seconds of a multiprocessor a row, which eight threads share")        \
    X(csr_step, 5.3e-9, "CSR: the same more for each eight entries of a row")                      \
    X(gpu_vector_share, 0.888, "vectors: a third of the bytes are written")                        \
    X(sms_alone, 2.6, "times its share of the memory's speed that a multiprocessor draws alone")   \
    /* Level 2 cache: of its bytes so many are still there when a pass that goes the other way     \
     * begins, and come so many times as fast as from memory. Fitted. */                           \
    X(l2_kept, 0.870, "share of the level 2 cache that outlives a pass")                           \
    X(l2_speed, 2.13, "times the speed of memory, of what lies there")                             \
    /* A gather that misses L1 moves a sector of 32 bytes: half of what L2 delivers in lines, less \
     * where the vector does not stay there beside the matrix. Fitted. */                          \
    X(gather_share, 0.49, "share of L2's bytes that scattered sectors reach")                      \
    X(gather_crowding, 0.68, "slowdown of gathers, by vector bytes / L2 bytes")                    \
    /* Between two passes: the last blocks run alone, sums climb their tree, the next waits; in    \
     * grid barriers, which are the same trip of a word through L2. Fitted. */                     \
    X(tail_barriers, 3.31, "grid barriers that the tail of a pass costs")                          \
    X(fold_tail_barriers, 4.13, "the same of a folded iteration's two passes")                     \
    X(stream_overhead, 0.25e-6, "seconds a pass, of a stream above a graph")                       \
    X(host_share, 0.98, "share of the link's speed that a pass reaches beside its other work")     \
    X(lonely_sector, 72.0, "bytes over the link of a gather whose line nobody else wants")         \
    /* On the chip. Fitted to four systems. */                                                     \
    X(resident_barriers, 3.79, "grid barriers of an iteration of driver persistent")               \
    X(resident_row, 0.502e-9, "seconds a row of a block: vectors, halo by messages")               \
    X(resident_entry, 0.278e-9, "seconds an entry of a block, from shared memory or L2")           \
    /* Vectors on the chip, the matrix not. Fitted to 7-point and 27-point systems of 80^3 and     \
     * 128^3 rows. */                                                                              \
    X(held_barriers, 5.0, "grid barriers of an iteration")                                         \
    X(held_share, 0.9, "share of the memory's speed that the matrix reaches")                      \
    X(held_vector_share, 0.75, "the same of vectors")                                              \
    /* CPU: shares of what reading reaches, measured on sets of the same size. In memory from the  \
     * H200's host, the others fitted to one core with everything in its caches: a row is a chain  \
     * of fused operations that no width of SIMD hides, a folded one gathers two vectors. */       \
    X(cpu_share, 0.95, "share of the read bandwidth that a pass over the matrix reaches")          \
    X(cpu_vector_share, 0.80, "the same over vectors in memory, a third of which are written")     \
    X(cpu_cached_vector_share, 1.3, "the same in caches: written where they were read")            \
    X(cpu_row, 2.0e-9, "seconds of a thread a row, beside its entries")                            \
    X(cpu_entry, 0.42e-9, "seconds of a thread an entry, everything in its caches")                \
    X(cpu_fold_entry, 0.15e-9, "the same more, where it folds")                                    \
    X(cpu_lonely, 7e-9, "seconds of a thread a scattered gather, where that was not measured")     \
    /* Meetings of a GPU and the CPU. */                                                           \
    X(meeting_tails, 1.0, "tails of a pass that a meeting kernel costs")                           \
    X(meeting_round_trips, 1.0, "flag round trips a meeting, where they meet by flags")            \
    X(meeting_copies, 3.0, "copies a meeting, waited for, where they meet by events")              \
    /* Ranks. An assumption: MPI sends some millions of short messages a second. */                \
    X(message_gap, 0.3e-6, "seconds that each message of a rank after its first leaves later")

#endif
