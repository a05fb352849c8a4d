/* SPDX-License-Identifier: BSD-3-Clause */
/* temporary.c: a fixed table of paths, so that a signal handler may walk it. */
#include "bench/temporary.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/take.h"

enum { SLOTS = 16, GROUPS = 4 };

/* used is written last when a slot is filled and first when it is freed: the handler may run
 * between any two statements. */
static struct {
    volatile sig_atomic_t used;
    char path[PATH_MAX];
} slots[SLOTS];
static volatile pid_t groups[GROUPS];

/* Two, so that one is whole at any time: that which is said, from 1; 0: none. */
static char last_words[2][640];
static volatile sig_atomic_t spoken;

static void remove_all(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].used) unlink(slots[i].path);
}

static void speak(void)
{
    const char *text = spoken ? last_words[spoken - 1] : "";
    for (size_t left = strlen(text); left > 0;) {
        ssize_t wrote = write(STDERR_FILENO, text, left);
        if (wrote <= 0) return;
        text += wrote;
        left -= (size_t)wrote;
    }
}

static void on_signal(int number)
{
    remove_all();
    speak();
    for (int i = 0; i < GROUPS; i++)
        if (groups[i] > 0) kill(-groups[i], SIGTERM);
    signal(number, SIG_DFL);
    raise(number);
}

static void prepare_once(void)
{
    static int prepared;
    if (prepared) return;
    prepared = 1;
    atexit(remove_all);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction action = {.sa_handler = on_signal}, old;
        if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

void temporary_last_words(const char *text)
{
    int next = spoken == 1 ? 2 : 1;
    prepare_once();
    snprintf(last_words[next - 1], sizeof last_words[0], "%s", text);
    spoken = next;
}

static char *join(const char *directory, size_t length, const char *name)
{
    size_t bytes = length + strlen(name) + 2;
    char *path = take("a path", (int64_t)bytes, 1);
    snprintf(path, bytes, "%.*s/%s", (int)length, directory, name);
    return path;
}

char *temporary_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return join(".", 1, ".cgbench-XXXXXX");
    return join(path, (size_t)(slash - path), ".cgbench-XXXXXX");
}

char *temporary_name(void)
{
    const char *directory = getenv("TMPDIR");
    if (!directory || !*directory) directory = "/tmp";
    return join(directory, strlen(directory), "cgbench-XXXXXX");
}

void temporary_remember(const char *path)
{
    prepare_once();
    for (int i = 0; i < SLOTS; i++) {
        if (slots[i].used) continue;
        snprintf(slots[i].path, sizeof slots[i].path, "%s", path);
        slots[i].used = 1;
        return;
    }
}

void temporary_forget(const char *path)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].used && !strcmp(slots[i].path, path)) slots[i].used = 0;
}

void temporary_remove(const char *path)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].used && !strcmp(slots[i].path, path)) {
            unlink(path);
            slots[i].used = 0;
        }
}

static void replace_group(pid_t old, pid_t new)
{
    for (int i = 0; i < GROUPS; i++)
        if (groups[i] == old) {
            groups[i] = new;
            return;
        }
}

void temporary_child(pid_t group)
{
    prepare_once();
    replace_group(0, group);
}

void temporary_forget_child(pid_t group)
{
    replace_group(group, 0);
}
