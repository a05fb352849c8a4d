/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_here.c: the profile of the machine at hand: the one that was kept, if it is true of it,
 * or what can be assumed. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/iface/gpu_tools.h"
#include "lib/machine.h"
#include "lib/profile.h"
#include "lib/status.h"
#include "lib/text_file.h"

enum { PATH = 4096 };

/* --------------------------------------------------------------------- key */

/* As a line of a profile gives it back. */
static void copy_word(char *to, size_t size, const char *from)
{
    size_t used = 0;
    from += strspn(from, " \t");
    for (; *from && used < size - 1; from++)
        to[used++] = iscntrl((unsigned char)*from) ? ' ' : *from;
    while (used > 0 && to[used - 1] == ' ') used--;
    to[used] = '\0';
}

static bool describe_gpu(int device, yoke_gpu *gpu)
{
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    return device >= 0 && tools && tools->describe(device, gpu) == YOKE_OK;
}

static void key_of(const yoke_machine *machine, const yoke_gpu *gpu, yk_profile_key *key)
{
    char driver[64] = "";
    memset(key, 0, sizeof *key);
    copy_word(key->cpu, sizeof key->cpu, *machine->cpu_name ? machine->cpu_name : machine->arch);
    key->threads = machine->processors;
    if (!gpu) return;
    copy_word(key->gpu, sizeof key->gpu, gpu->name);
    snprintf(driver, sizeof driver, "%s%sCUDA %s", gpu->nvidia_driver,
             *gpu->nvidia_driver ? ", " : "", gpu->cuda_driver);
    copy_word(key->driver, sizeof key->driver, driver);
}

void yk_profile_key_here(int device, yk_profile_key *key)
{
    yoke_machine machine;
    yoke_gpu gpu;
    yoke_machine_describe(&machine);
    key_of(&machine, describe_gpu(device, &gpu) ? &gpu : NULL, key);
}

bool yk_profile_key_differs(const yk_profile_key *kept, const yk_profile_key *here, char *why,
                            size_t size)
{
    const struct {
        const char *what, *kept, *here;
    } words[] = {{"CPU", kept->cpu, here->cpu},
                 {"GPU", kept->gpu, here->gpu},
                 {"driver", kept->driver, here->driver}};
    int count = *here->gpu ? 3 : 1;
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i].kept, words[i].here) == 0) continue;
        snprintf(why, size, "is of another %s ('%.60s', here '%.60s')", words[i].what,
                 words[i].kept, words[i].here);
        return true;
    }
    if (kept->threads == here->threads) return false;
    snprintf(why, size, "is of another number of processors (%d, here %d)", kept->threads,
             here->threads);
    return true;
}

/* -------------------------------------------------------------------- kept */

/* "intel-r-xeon-r-processor-16": machines that share a home differ in it, a new driver does not. */
yoke_status yk_profile_kept_path(const yk_profile_key *key, bool make, char *path, size_t size)
{
    char name[128];
    size_t used = 0;
    for (const char *c = key->cpu; *c && used < 96; c++) {
        if (isascii(*c) && isalnum((unsigned char)*c))
            name[used++] = (char)tolower((unsigned char)*c);
        else if (used > 0 && name[used - 1] != '-')
            name[used++] = '-';
    }
    while (used > 0 && name[used - 1] == '-') used--;
    snprintf(name + used, sizeof name - used, "-%d.profile", key->threads);
    return yk_text_cache_path(name, make, path, size);
}

/* The sentence of the last failure, without the place in the source. */
static void take_sentence(const char *before, const char *after, char *notice, size_t size)
{
    const char *text = yoke_error_text();
    const char *place = strrchr(text, '[');
    int length = place && place > text ? (int)(place - text - 1) : (int)strlen(text);
    snprintf(notice, size, "%s%.*s%s", before, length, text, after);
}

/* False: there is none that can be used. */
static bool read_kept(const yk_profile_key *here, yk_profile *profile, char *notice, size_t size)
{
    char path[PATH], why[256];
    bool edited = false;
    if (yk_profile_kept_path(here, false, path, sizeof path) != YOKE_OK) return false;
    if (access(path, F_OK) != 0 && errno == ENOENT) return false;
    if (yk_profile_read(path, profile, &edited) != YOKE_OK) {
        take_sentence("profile not used: ", "", notice, size);
        return false;
    }
    if (yk_profile_key_differs(&profile->key, here, why, sizeof why)) {
        snprintf(notice, size, "profile not used: '%s' %s", path, why);
        return false;
    }
    if (edited) snprintf(notice, size, "profile '%s' was written or edited by hand", path);
    return true;
}

/* ----------------------------------------------------------------- assumed */

/* Of shipped ones the one with this GPU, else the H200 with 16 cores, from whose speeds most of the
 * others' assumptions are. */
static void find_nearest(const yk_profile_key *key, yk_profile *profile)
{
    const char *name;
    for (int k = 0; (name = yk_profile_shipped_name(k)) != NULL; k++)
        if (yk_profile_shipped(name, profile) == YOKE_OK && *key->gpu &&
            strcmp(profile->key.gpu, key->gpu) == 0)
            return;
    if (yk_profile_shipped("h200-16cores", profile) != YOKE_OK) yk_profile_clear(profile);
}

/* Every figure as assumed, after the profile that it is from. Of figures of a GPU or of a link
 * nothing stays where there is no GPU. */
static void assume_all(yk_profile *p, bool gpu)
{
    char source[YK_SOURCE_BYTES];
    snprintf(source, sizeof source, "as of %s", p->name);
    for (int i = 0; i < yk_profile_entry_count; i++) {
        const yk_profile_entry *e = &yk_profile_entries[i];
        bool keep = gpu || strncmp(e->name, "cpu_", 4) == 0;
        if (strcmp(e->name, "cpu_reads_gpu") == 0 || strcmp(e->name, "cpu_reads_host_shared") == 0)
            keep = gpu;
        if (e->is_curve) {
            yk_curve *curve = yk_profile_curve(p, e);
            curve->kind = keep && curve->points ? YK_ASSUMED : YK_UNKNOWN;
            if (curve->kind == YK_UNKNOWN) curve->points = 0;
            snprintf(curve->source, sizeof curve->source, "%s", curve->points ? source : "");
        } else {
            yk_figure *figure = yk_profile_figure(p, e);
            yk_figure_set(figure, keep ? figure->value : NAN, YK_ASSUMED, source);
        }
    }
}

static void set_count(yk_figure *figure, double value, const char *source)
{
    if (value > 0.0) yk_figure_set(figure, value, YK_MEASURED, source);
}

/* What the system tells is no assumption. */
static void fill_sizes(const yoke_machine *machine, const yoke_gpu *gpu, yk_profile *p)
{
    set_count(&p->cpu_threads, machine->processors, "the affinity mask");
    set_count(&p->numa_nodes, machine->numa_nodes, "/sys");
    set_count(&p->host_memory_bytes, (double)machine->memory_total, "/proc/meminfo");
    set_count(&p->cpu_cache_bytes, (double)yk_machine_last_caches(), "/sys, the last level's");
    yk_figure_set(&p->gpu_count, gpu ? 1.0 : 0.0, YK_MEASURED, "this build, here");
    if (!gpu) return;
    set_count(&p->gpu_sms, gpu->multiprocessors, "CUDA's attribute");
    set_count(&p->gpu_l2_bytes, (double)gpu->l2_bytes, "CUDA's attribute");
    set_count(&p->gpu_memory_bytes, (double)gpu->memory_total, "cudaMemGetInfo");
    yk_figure_set(&p->pageable, gpu->pageable_memory, YK_MEASURED, "CUDA's attribute");
    yk_figure_set(&p->coherent, gpu->host_native_atomics, YK_MEASURED,
                  "CUDA's hostNativeAtomicSupported");
}

void yk_profile_describe(int device, yk_profile *profile)
{
    yoke_machine machine;
    yoke_gpu gpu;
    yk_profile_clear(profile);
    yoke_machine_describe(&machine);
    bool has_gpu = describe_gpu(device, &gpu);
    key_of(&machine, has_gpu ? &gpu : NULL, &profile->key);
    fill_sizes(&machine, has_gpu ? &gpu : NULL, profile);
    strcpy(profile->name, "this");
}

void yk_profile_assume(int device, yk_profile *profile)
{
    yk_profile here;
    yk_profile_describe(device, &here);
    find_nearest(&here.key, profile);
    assume_all(profile, *here.key.gpu != '\0');
    for (int i = 0; i < yk_profile_entry_count; i++) {
        const yk_profile_entry *e = &yk_profile_entries[i];
        if (!e->is_curve && yk_known(yk_profile_figure(&here, e)))
            *yk_profile_figure(profile, e) = *yk_profile_figure(&here, e);
    }
    profile->key = here.key;
    profile->date[0] = '\0';
    strcpy(profile->name, "this");
    snprintf(profile->text, sizeof profile->text, "this machine, as assumed");
}

/* -------------------------------------------------------------------- open */

void yk_profile_here(int device, yk_profile *profile, bool *kept, char *notice, size_t size)
{
    yk_profile_key key;
    yk_profile_key_here(device, &key);
    if (size) notice[0] = '\0';
    *kept = read_kept(&key, profile, notice, size);
    if (*kept)
        strcpy(profile->name, "this");
    else
        yk_profile_assume(device, profile);
}

static void list_shipped(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "this");
    const char *name;
    for (int k = 0; (name = yk_profile_shipped_name(k)) != NULL && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, ", %s", name);
}

yoke_status yk_profile_open(const char *name, int device, yk_profile *profile, char *notice,
                            size_t size)
{
    bool kept, edited = false;
    char known[256];
    if (size) notice[0] = '\0';
    if (strcmp(name, "this") == 0) {
        yk_profile_here(device, profile, &kept, notice, size);
        return YOKE_OK;
    }
    for (int k = 0; yk_profile_shipped_name(k); k++)
        if (strcmp(yk_profile_shipped_name(k), name) == 0) return yk_profile_shipped(name, profile);
    if (!strpbrk(name, "/.")) {
        list_shipped(known, sizeof known);
        return yk_fail(YOKE_UNKNOWN_NAME,
                       "unknown machine '%s'; known: %s, or the path of a profile", name, known);
    }
    YK_TRY(yk_profile_read(name, profile, &edited));
    if (edited) snprintf(notice, size, "profile '%s' was written or edited by hand", name);
    return YOKE_OK;
}
