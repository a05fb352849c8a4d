/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_libraries.c: fills the table by name from the versions that the headers are of. */
#include "bench/rivals/cuda_libraries.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

#define TEXT_OF(number)  #number
#define TEXT(number)     TEXT_OF(number)
#define CUSPARSE_LIBRARY "libcusparse.so." TEXT(CUSPARSE_VER_MAJOR)
#define CUBLAS_LIBRARY   "libcublas.so." TEXT(CUBLAS_VER_MAJOR)

typedef struct entry {
    size_t member;
    const char *function;
} entry;

#define ENTRY(name) {offsetof(cuda_libraries, name), #name},
static const entry cusparse_entries[] = {CUSPARSE_CALLS(ENTRY){0, NULL}};
static const entry cublas_entries[] = {CUBLAS_CALLS(ENTRY){0, NULL}};

static char reason[320];

/* As the loader finds it, then where configure found CUDA; the first answer is told. */
static void *open_library(const char *name)
{
    char path[512];
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
    const char *text = dlerror();
    snprintf(reason, sizeof reason, "%s", text ? text : name);
    snprintf(path, sizeof path, "%s/%s", YK_CUDA_LIBDIR, name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static const char *fill(cuda_libraries *libraries, const char *name, const entry *entries)
{
    void *library = open_library(name);
    if (!library) return reason;
    for (const entry *e = entries; e->function; e++) {
        void *symbol = dlsym(library, e->function);
        if (!symbol) {
            snprintf(reason, sizeof reason, "%s: it has no %s", name, e->function);
            return reason;
        }
        memcpy((char *)libraries + e->member, &symbol, sizeof symbol);
    }
    return NULL;
}

const char *cuda_libraries_open(cuda_libraries *libraries)
{
    const char *why = fill(libraries, CUSPARSE_LIBRARY, cusparse_entries);
    return why ? why : fill(libraries, CUBLAS_LIBRARY, cublas_entries);
}
