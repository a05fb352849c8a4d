/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse.c: the table of cuSPARSE's entry points, filled by name. */
#include "lib/cuda/cusparse.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

/* Where it is looked for, in this order: as the loader finds it, then where configure found CUDA.
 * The toolkits 12 and 13 both bring version 12. */
static const char *const libraries[] = {"libcusparse.so.12", YK_CUDA_LIBDIR "/libcusparse.so.12"};

#define ENTRY(member, function)                                                                    \
    {                                                                                              \
        offsetof(yk_cusparse, member), #function                                                   \
    }
static const struct {
    size_t member;
    const char *function;
} entries[] = {
    ENTRY(create, cusparseCreate),
    ENTRY(destroy, cusparseDestroy),
    ENTRY(set_stream, cusparseSetStream),
    ENTRY(error_name, cusparseGetErrorName),
    ENTRY(error_string, cusparseGetErrorString),
    ENTRY(create_vector, cusparseCreateDnVec),
    ENTRY(destroy_vector, cusparseDestroyDnVec),
    ENTRY(create_csr, cusparseCreateCsr),
    ENTRY(destroy_matrix, cusparseDestroySpMat),
    ENTRY(spmv, cusparseSpMV),
    ENTRY(spmv_buffer_size, cusparseSpMV_bufferSize),
    ENTRY(spmv_preprocess, cusparseSpMV_preprocess), /* from CUDA 12.4 on */
};

static yk_cusparse found;
static int is_found;
static char why_not[320];
static pthread_once_t once = PTHREAD_ONCE_INIT;

int yk_cusparse_open(const char *name, yk_cusparse *table, char *reason, size_t size)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(reason, size, "%s", text ? text : name);
        return -1;
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *symbol = dlsym(library, entries[i].function);
        if (!symbol) {
            snprintf(reason, size, "%s: it has no %s", name, entries[i].function);
            dlclose(library);
            return -1;
        }
        memcpy((char *)table + entries[i].member, &symbol, sizeof symbol);
    }
    return 0;
}

/* The first reason is told: it has the name alone. */
static void look(void)
{
    char reason[sizeof why_not] = "";
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !is_found; i++)
        is_found =
            yk_cusparse_open(libraries[i], &found, i == 0 ? why_not : reason, sizeof why_not) == 0;
    if (is_found) why_not[0] = '\0';
}

const yk_cusparse *yk_cusparse_library(void)
{
    pthread_once(&once, look);
    return is_found ? &found : NULL;
}

const char *yk_cusparse_reason(void)
{
    pthread_once(&once, look);
    return why_not;
}
