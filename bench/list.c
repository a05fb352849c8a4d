/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c: cgbench list. */
#include <stdio.h>
#include <string.h>

#include <yoke_tools.h>

#include "bench/commands.h"
#include "bench/outfile.h"
#include "bench/ranks.h"
#include "bench/say.h"
#include "bench/write_rows.h"

static const char *form_of(const yoke_list_item *item)
{
    return item->form && *item->form ? item->form : item->name;
}

static void print_kind(yoke_list_kind kind, FILE *stream)
{
    yoke_list_item item;
    int width = 0;
    for (int k = 0; yoke_list(kind, k, &item); k++)
        if ((int)strlen(form_of(&item)) > width) width = (int)strlen(form_of(&item));
    fprintf(stream, "%s\n", yoke_list_title(kind));
    for (int k = 0; yoke_list(kind, k, &item); k++) {
        int usable = item.built && item.usable;
        fprintf(stream, "  %c %-*s  %s%s%s%s\n", usable ? '+' : '-', width, form_of(&item),
                item.text,
                usable       ? ""
                : item.built ? " [not usable here: "
                             : " [not built: ",
                usable ? "" : item.reason, usable ? "" : "]");
    }
    fputc('\n', stream);
}

/* Why there is no GPU; "" where there is one. */
static const char *without_gpu(void)
{
    yoke_list_item item;
    for (int k = 0; yoke_list(YOKE_LIST_PARTITIONS, k, &item); k++)
        if (!strcmp(item.name, "gpu")) return item.usable ? "" : item.reason;
    return "";
}

static void print_rival(const char *name, const char *text, const char *missing,
                        const char *unusable, FILE *stream)
{
    const char *why = missing ? missing : unusable;
    fprintf(stream, "  %c %-10s  %s", *why ? '-' : '+', name, text);
    if (*why) fprintf(stream, " [%s: %s]", missing ? "not built" : "not usable here", why);
    fputc('\n', stream);
}

static void print_rivals(FILE *stream)
{
#if HAVE_PETSC
    const char *petsc = NULL;
#else
    const char *petsc = "configure did not find it";
#endif
#if HAVE_HYPRE
    const char *hypre = NULL;
#else
    const char *hypre = "configure did not find it";
#endif
#if HAVE_CUSPARSE
    const char *cusparse = NULL;
#else
    const char *cusparse = "configure did not find cuSPARSE";
#endif
    fputs("rivals for --vs\n", stream);
    print_rival("petsc", "PETSc's KSPCG on MATAIJ, over MPI", petsc, "", stream);
    print_rival("hypre", "hypre's PCG on ParCSR, over MPI", hypre, "", stream);
    print_rival("cusparse", "cuSPARSE's product and cuBLAS's sums, on one GPU", cusparse,
                without_gpu(), stream);
    print_rival("operations", "cuSPARSE's product on one GPU, sums and vectors on the CPU",
                cusparse, without_gpu(), stream);
}

/* How halos of GPUs travel between ranks. */
static void print_exchanges(FILE *stream)
{
    const char *later = "not in this version yet; use staged";
    fputs("\nexchange between ranks with GPUs\n", stream);
    print_rival("staged", "through host memory and MPI", ranks_missing(), without_gpu(), stream);
    print_rival("direct", "device memory, by an MPI that takes it", later, "", stream);
    print_rival("nccl", "device memory, by NCCL", later, "", stream);
}

static void write_object(yoke_list_kind kind, const yoke_list_item *item, FILE *stream)
{
    fputs("{\"kind\":", stream);
    write_json_text(yoke_list_title(kind), stream);
    fputs(",\"name\":", stream);
    write_json_text(item->name, stream);
    fputs(",\"form\":", stream);
    write_json_text(form_of(item), stream);
    fputs(",\"text\":", stream);
    write_json_text(item->text, stream);
    fprintf(stream, ",\"built\":%s,\"usable\":%s,\"reason\":", item->built ? "true" : "false",
            item->built && item->usable ? "true" : "false");
    write_json_text(item->built && item->usable ? NULL : item->reason, stream);
    fputs("}\n", stream);
}

int command_list(const bench_options *options)
{
    if (options->matrices.count)
        return say_error(ENDS_BAD_INPUT, "list: unexpected argument '%s'",
                         options->matrices.word[0]);
    outfile json;
    int code = outfile_open("--json", options->json, &json);
    if (code) return code;
    FILE *text = json.stream == stdout ? stderr : stdout;
    for (int kind = 0; kind < YOKE_LIST_KINDS; kind++) {
        yoke_list_item item;
        if (!options->quiet) print_kind((yoke_list_kind)kind, text);
        for (int k = 0; json.stream && yoke_list((yoke_list_kind)kind, k, &item); k++)
            write_object((yoke_list_kind)kind, &item, json.stream);
    }
    if (!options->quiet) print_rivals(text);
    if (!options->quiet) print_exchanges(text);
    return outfile_commit(&json);
}
