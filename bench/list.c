/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c: cgbench list. */
#include <stdio.h>
#include <string.h>

#include <yoke_tools.h>

#include "bench/commands.h"
#include "bench/outfile.h"
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

static void print_rivals(FILE *stream)
{
    int petsc = 0, hypre = 0, cusparse = 0;
#if HAVE_PETSC
    petsc = 1;
#endif
#if HAVE_HYPRE
    hypre = 1;
#endif
#if HAVE_CUSPARSE
    cusparse = 1;
#endif
    static const char missing[] = " [not built: configure did not find it]";
    static const char missing_cusparse[] = " [not built: configure did not find cuSPARSE]";
    fputs("rivals for --vs\n", stream);
    fprintf(stream, "  %c petsc       PETSc's KSPCG on MATAIJ, over MPI%s\n", petsc ? '+' : '-',
            petsc ? "" : missing);
    fprintf(stream, "  %c hypre       hypre's PCG on ParCSR, over MPI%s\n", hypre ? '+' : '-',
            hypre ? "" : missing);
    fprintf(stream, "  %c cusparse    cuSPARSE's product and cuBLAS's sums, on one GPU%s\n",
            cusparse ? '+' : '-', cusparse ? "" : missing);
    fprintf(stream,
            "  %c operations  cuSPARSE's product on one GPU, sums and vectors on the CPU%s\n",
            cusparse ? '+' : '-', cusparse ? "" : missing_cusparse);
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
    return outfile_commit(&json);
}
