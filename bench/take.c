/* SPDX-License-Identifier: BSD-3-Clause */
/* take.c: memory or the end. */
#include "bench/take.h"

#include <stdlib.h>
#include <string.h>

#include <yoke_tools.h>

#include "bench/say.h"

static void refuse(const char *what, size_t bytes)
{
    yoke_machine machine;
    yoke_machine_describe(&machine);
    say_be_silent(0); /* whatever the rank: nobody else knows */
    if (machine.memory_limit > 0)
        exit(say_error(ENDS_LACKING,
                       "%s: asked %zu bytes, available %lld within this process's limit", what,
                       bytes, (long long)machine.memory_limit));
    exit(say_error(ENDS_LACKING, "%s: asked %zu bytes, which the system does not give", what,
                   bytes));
}

void *take(const char *what, int64_t count, size_t size)
{
    size_t bytes = 0;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes))
        exit(say_error(ENDS_BAD_INPUT, "%s of %lld items exceeds what an index can hold", what,
                       (long long)count));
    /* Under overcommit calloc succeeds beyond a cgroup's limit and the process is killed later. */
    if (bytes > ((size_t)1 << 28)) {
        yoke_machine machine;
        yoke_machine_describe(&machine);
        if (machine.memory_limit > 0 && bytes > (size_t)machine.memory_limit) refuse(what, bytes);
    }
    void *memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (!memory) refuse(what, bytes);
    return memory;
}

char *take_copy(const char *text)
{
    if (!text) return NULL;
    size_t bytes = strlen(text) + 1;
    char *copy = take("a string", (int64_t)bytes, 1);
    memcpy(copy, text, bytes);
    return copy;
}
