/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c: every name that users may say, with what implements it or why nothing does. */
#include "solvers/registry.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "lib/iface/memmode.h"
#include "lib/iface/partition.h"
#include "lib/status.h"
#include "matrices/generate.h"
#include "solvers/cg/cg.h"

typedef struct entry {
    const char *name, *form, *text;
    const void *implementation; /* a constant struct, or any non-NULL for names without one */
    const char *missing;        /* why it is not built; NULL: it is; with_...: see there */
} entry;

#define NEEDS_CUDA "needs the CUDA engine, which this build does not have"
#define NEXT       "not in this version yet"

/* Mark what is built, and usable where a GPU is, or a GPU and cuSPARSE. */
static const char with_gpu[] = "";
static const char with_cusparse[] = "";

/* And where the first GPU has what the memory mode says, or maps host memory. */
static const char with_mode[] = "", with_mapped[] = "";

#if HAVE_CUDA
#include "lib/cuda/cusparse.h"
#include "lib/cuda/device.h"
#include "lib/cuda/shared.h"
#define GPU(implementation)      implementation, with_gpu
#define CUSPARSE(implementation) implementation, with_cusparse
#define MODE(implementation)     implementation, with_mode
#define MAPPED(implementation)   implementation, with_mapped
#else
#define GPU(implementation)         NULL, NEEDS_CUDA
#define CUSPARSE(implementation)    NULL, NEEDS_CUDA
#define MODE(implementation)        NULL, NEEDS_CUDA
#define MAPPED(implementation)      NULL, NEEDS_CUDA
#define yk_cusparse_reason()        NEEDS_CUDA
#define yk_shared_no_mapped(device) NEEDS_CUDA
#endif

static const char here[] = "";

static const entry memory_modes[] = {
    {"host", "host", "CPU parts of one process, through plain memory", &yk_memmode_host, NULL},
    {"explicit", "explicit", "separate host and device copies, moved by asynchronous copies",
     MODE(&yk_memmode_explicit)},
    {"managed", "managed", "cudaMallocManaged with placement advice", MODE(&yk_memmode_managed)},
    {"mapped", "mapped", "pinned host memory mapped into the GPU", MODE(&yk_memmode_mapped)},
    {"system", "system", "plain memory that the GPU reaches by itself", MODE(&yk_memmode_system)},
    {0},
};
static const entry homes[] = {
    {"owner", "owner", "each part's matrix and vectors in its owner's fastest memory", here, NULL},
    {"shared", "shared", "a GPU's matrix and vectors in the memory mode's memory", GPU(here)},
    {"spill", "spill:R", "a share R of a GPU's matrix in host memory", MAPPED(here)},
    {0},
};
static const entry partitions[] = {
    {"cpu", "cpu", "all rows on the CPU", &yk_partition_cpu, NULL},
    {"gpu", "gpu", "all rows on one GPU, or on several", GPU(&yk_partition_gpu)},
    {"ratio", "ratio:R", "a share R of the rows on the CPU", GPU(&yk_partition_ratio)},
    {"nonzeros", "nonzeros:R", "a share R of the nonzeros on the CPU", GPU(&yk_partition_nonzeros)},
    {"model", "model", "a share on the CPU by what both are measured to move in a second",
     GPU(&yk_partition_model)},
    {"adaptive", "adaptive[:R]", "as model, then the cut moves by measured times and freezes",
     GPU(&yk_partition_adaptive)},
    {0},
};
static const entry solvers[] = {
    {"cg", "cg", "classical conjugate gradients, two sums an iteration", here, NULL},
    {"cg-single", "cg-single", "Chronopoulos-Gear: one sum an iteration", here, NULL},
    {"cg-pipelined", "cg-pipelined", "Ghysels-Vanroose: one sum, on its way during the product",
     here, NULL},
    {0},
};
static const entry drivers[] = {
    {"team", "team", "CPU threads in one parallel region", &yk_driver_team, NULL},
    {"stream", "stream", "kernels on a CUDA stream", GPU(&yk_driver_stream)},
    {"graph", "graph", "batches of kernels as a CUDA graph", GPU(&yk_driver_graph)},
    {"persistent", "persistent",
     "one kernel, the vectors on the chip: by auto up to some 270 000 rows",
     GPU(&yk_driver_persistent)},
    {0},
};
static const entry formats[] = {
    {"csr", "csr", "compressed sparse rows, 12 bytes a nonzero", here, NULL},
    {"sell", "sell", "SELL-32: slices of 32 rows, column by column", GPU(here)},
    {"cusparse", "cusparse", "the vendor's product: not the bits of the others", CUSPARSE(here)},
    {0},
};
static const entry preconditioners[] = {
    {"none", "none", "no preconditioner", here, NULL},
    {"jacobi", "jacobi", "the inverse of the diagonal", here, NULL},
    {0},
};
static const entry shapes[] = {
    {"folded", "folded", "p and x updated inside the product: 72 bytes a row, twice the gathers",
     here, NULL},
    {"unfolded", "unfolded", "p written first: 80 bytes a row", here, NULL},
    {0},
};
static const entry efforts[] = {
    {"estimate", "estimate", "nothing is measured", here, NULL},
    {"measure", "measure", "candidates are timed on the matrix: 60 iterations and 20 ms", here,
     NULL},
    {"patient", "patient", "as measure, ten times longer", here, NULL},
    {0},
};
static const entry reorderings[] = {
    {"none", "none", "rows in the caller's order", here, NULL},
    {"rcm", "rcm", "reverse Cuthill-McKee: neighbours near each other", here, NULL},
    {0},
};
static const entry machines[] = {
    {"this", "this", "the machine this runs on", here, NULL},
    {"gh200-120", "gh200-120", "GH200, 120 GB LPDDR5X", here, NULL},
    {"gh200-480", "gh200-480", "GH200, 480 GB LPDDR5X", here, NULL},
    {"h100-pcie", "h100-pcie", "H100 behind PCIe", here, NULL},
    {"h100-sxm", "h100-sxm", "H100 SXM", here, NULL},
    {"h200-16cores", "h200-16cores", "H200 with 16 host cores", here, NULL},
    {0},
};

static const struct {
    const char *title, *one;
    const entry *entries;
} kinds[YOKE_LIST_KINDS] = {
    [YOKE_LIST_MEMORY] = {"memory modes", "memory mode", memory_modes},
    [YOKE_LIST_HOMES] = {"homes", "home", homes},
    [YOKE_LIST_PARTITIONS] = {"partitions", "partition", partitions},
    [YOKE_LIST_SOLVERS] = {"solvers", "solver", solvers},
    [YOKE_LIST_DRIVERS] = {"drivers", "driver", drivers},
    [YOKE_LIST_FORMATS] = {"formats", "format", formats},
    [YOKE_LIST_PRECONDITIONERS] = {"preconditioners", "preconditioner", preconditioners},
    [YOKE_LIST_SHAPES] = {"shapes", "shape", shapes},
    [YOKE_LIST_EFFORTS] = {"efforts", "effort", efforts},
    [YOKE_LIST_GENERATORS] = {"generators", "generator", NULL},
    [YOKE_LIST_REORDERINGS] = {"orders of rows", "reorder", reorderings},
    [YOKE_LIST_MACHINES] = {"machines", "machine", machines},
};

const char *yoke_list_title(yoke_list_kind kind)
{
    return (unsigned)kind < YOKE_LIST_KINDS ? kinds[kind].title : NULL;
}

/* Why there is no GPU to use; "" if there is one. Asked once: the answer does not change. */
const char *yk_gpu_reason(void)
{
#if HAVE_CUDA
    static _Thread_local char reason[320];
    static _Thread_local bool asked;
    char why[256];
    if (!asked && yk_device_count(why, sizeof why) == 0)
        snprintf(reason, sizeof reason, "no GPU here: %s", why);
    asked = true;
    return reason;
#else
    return NEEDS_CUDA;
#endif
}

/* Entries that are built, and usable where a GPU is and has what they ask of it. */
static bool needs_gpu(const entry *e)
{
    return e->missing == with_gpu || e->missing == with_cusparse || e->missing == with_mapped ||
           e->missing == with_mode;
}

/* Why an entry is not built, or cannot be used here; "" if it can. */
static const char *reason_of(const entry *e)
{
    if (needs_gpu(e) && *yk_gpu_reason()) return yk_gpu_reason();
    if (e->missing == with_cusparse) return yk_cusparse_reason();
    if (e->missing == with_mapped) return yk_shared_no_mapped(0);
    if (e->missing == with_mode) return ((const yk_memmode *)e->implementation)->reason(0);
    return e->missing ? e->missing : "";
}

static int count_of(const entry *entries)
{
    int count = 0;
    while (entries[count].name) count++;
    return count;
}

static int generator(int k, yoke_list_item *item)
{
    for (int i = 0; yk_generators[i].name; i++) {
        const yk_generator *g = &yk_generators[i];
        if (i < k) continue;
        *item = (yoke_list_item){g->name, g->form, g->text, 1, 1, ""};
        return 1;
    }
    return 0;
}

int yoke_list(yoke_list_kind kind, int k, yoke_list_item *item)
{
    if ((unsigned)kind >= YOKE_LIST_KINDS || k < 0) return 0;
    if (kind == YOKE_LIST_GENERATORS) return generator(k, item);
    if (k >= count_of(kinds[kind].entries)) return 0;
    const entry *e = &kinds[kind].entries[k];
    bool built = !e->missing || needs_gpu(e);
    const char *reason = reason_of(e);
    *item = (yoke_list_item){e->name, e->form, e->text, built, !*reason, reason};
    return 1;
}

static void list_names(yoke_list_kind kind, char *text, size_t size)
{
    yoke_list_item item;
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; yoke_list(kind, k, &item) && used < size; k++) {
        int wrote = snprintf(text + used, size - used, "%s%s", k ? ", " : "", item.form);
        if (wrote < 0) return;
        used += (size_t)wrote;
    }
}

yoke_status yk_registry_find(yoke_list_kind kind, const char *name, yoke_list_item *item,
                             const void **implementation)
{
    size_t length = strcspn(name, ":");
    for (int k = 0; yoke_list(kind, k, item); k++) {
        if (strlen(item->name) != length || strncmp(item->name, name, length) != 0) continue;
        if (!item->built)
            return yk_fail(YOKE_NOT_BUILT, "%s %s: %s", kinds[kind].one, name, item->reason);
        if (!item->usable)
            return yk_fail(YOKE_UNUSABLE, "%s %s: %s", kinds[kind].one, name, item->reason);
        if (name[length] == ':' && !strchr(item->form, ':'))
            return yk_fail(YOKE_UNKNOWN_NAME, "%s %s takes no argument", kinds[kind].one, name);
        if (implementation) *implementation = kinds[kind].entries[k].implementation;
        return YOKE_OK;
    }
    char names[512];
    list_names(kind, names, sizeof names);
    return yk_fail(YOKE_UNKNOWN_NAME, "unknown %s '%s'; known: auto, %s", kinds[kind].one, name,
                   names);
}
