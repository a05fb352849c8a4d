/* SPDX-License-Identifier: BSD-3-Clause */
/* test_memmodes.c: what the memory modes that join a GPU and CPU parts take, refuse and give back,
 * on the fake runtime. How they meet: test_gpu_meet.c. */
#include <stdint.h>
#include <unistd.h>

#include "lib/context.h"
#include "lib/cuda/device.h"
#include "lib/iface/memmode.h"
#include "lib/part.h"
#include "tests/fake/fake.h"
#include "tests/systems.h"

static const yk_memmode *const modes[] = {&yk_memmode_explicit, &yk_memmode_mapped,
                                          &yk_memmode_managed, &yk_memmode_system};
enum { MODES = 4, LINE = 16 /* doubles that a halo is rounded up to */ };

/* A GPU's part and another, of a chunk each. */
typedef struct two_parts {
    yk_part part[2];
    yoke_context *context;
    yk_link link;
} two_parts;

static two_parts with_halos_of(int64_t halo)
{
    two_parts t = {.context = new_context()};
    for (int i = 0; i < 2; i++)
        t.part[i] = (yk_part){.owner = i == 0 ? YK_OWNER_GPU : YK_OWNER_CPU,
                              .first = i * YK_CHUNK,
                              .rows = YK_CHUNK,
                              .halo = halo};
    return t;
}

static yoke_status join(two_parts *t, const yk_memmode *mode)
{
    return mode->connect(t->context, t->part, 2, 0, &t->link);
}

/* As a plan does it, whether joining failed or not. */
static void part_ways(two_parts *t)
{
    if (t->link.mode) t->link.mode->disconnect(t->context, &t->link);
    cr_assert_null(t->link.mode);
}

/* The fake counts managed memory, which these keep on the host, as the device's. */
static size_t told_on_device(const yk_memmode *mode, const two_parts *t)
{
    size_t host, device, ports = 2 * sizeof(yk_port) + sizeof(yk_abort);
    mode->bytes(t->part, 2, &host, &device);
    return mode == &yk_memmode_managed ? host - ports : device;
}

Test(memmodes, tell_what_they_take_and_give_it_back)
{
    for (int i = 0; i < MODES; i++) {
        two_parts t = with_halos_of(7 * LINE);
        size_t before = fake_bytes(), host, device, halos = 2 * 2 * 7 * LINE * sizeof(double);
        long pieces = fake_total(fake_live());
        int64_t taken = yk_memory_taken(), asked = yk_device_allocations();
        MUST(join(&t, modes[i]));
        modes[i]->bytes(t.part, 2, &host, &device);
        size_t least = 2 * sizeof(yk_port) + sizeof(yk_abort) + halos;
        bool by_pages = modes[i] == &yk_memmode_system;
        cr_assert(by_pages ? host > least : host == least, "%s: %zu", modes[i]->name, host);
        cr_assert_eq(fake_bytes() - before, told_on_device(modes[i], &t), "%s", modes[i]->name);
        cr_assert_gt(yk_device_allocations(), asked, "%s", modes[i]->name);
        part_ways(&t);
        cr_assert_eq(fake_bytes(), before, "%s", modes[i]->name);
        cr_assert_eq(fake_total(fake_live()), pieces, "%s", modes[i]->name);
        cr_assert_eq(yk_memory_taken(), taken, "%s", modes[i]->name);
    }
}

Test(memmodes, halos_of_different_parts_share_no_line)
{
    for (int i = 0; i < MODES; i++) {
        two_parts t = with_halos_of(3);
        MUST(join(&t, modes[i]));
        const yk_port *mine = &t.link.port[0], *other = &t.link.port[1];
        cr_assert_eq(t.link.gpu, 0, "%s", modes[i]->name);
        cr_assert_geq(other->halo_z, mine->halo_z + LINE, "%s", modes[i]->name);
        cr_assert_geq(mine->halo_x, mine->halo_z + LINE, "%s", modes[i]->name);
        cr_assert_geq(other->gpu_x, other->gpu_z + LINE, "%s", modes[i]->name);
        part_ways(&t);
    }
}

/* The device that is current is asked for in order to be set again: a failure is not looked at. */
static bool is_looked_at(const char *call)
{
    return strcmp(call, "cudaGetDevice") != 0;
}

static void fail_to_join(const yk_memmode *mode, const char *call)
{
    two_parts t = with_halos_of(9);
    long pieces = fake_total(fake_live()), calls = fake_calls(call);
    int64_t taken = yk_memory_taken();
    fake_fail(call, 1, 2);
    yoke_status status = join(&t, mode);
    fake_fail(call, 0, 0);
    bool advice = mode == &yk_memmode_system && strcmp(call, "cudaMemAdvise") == 0;
    if (fake_calls(call) > calls && is_looked_at(call) && !advice)
        cr_assert_neq(status, YOKE_OK, "%s: %s", mode->name, call);
    part_ways(&t);
    cr_assert_eq(fake_total(fake_live()), pieces, "%s: %s", mode->name, call);
    cr_assert_eq(yk_memory_taken(), taken, "%s: %s", mode->name, call);
}

/* What the GPU is told to reach on the host, and whatever moves if it is not heard, is whole pages.
 */
Test(memmodes, halos_in_plain_memory_have_pages_of_their_own)
{
    two_parts t = with_halos_of(7);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fake_reaches_all(true);
    MUST(join(&t, &yk_memmode_system));
    cr_assert_eq((uintptr_t)t.link.port[0].halo_z % page, 0);
    cr_assert_geq((char *)t.link.halos + t.link.halo_bytes,
                  (char *)t.link.port[0].halo_z + t.link.halo_bytes - page);
    cr_assert_eq(fake_calls("cudaMemAdvise"), 2);
    part_ways(&t);
}

Test(memmodes, that_fail_to_join_give_back_what_they_took)
{
    for (int i = 0; i < MODES; i++)
        for (int k = 0; fake_call_name(k); k++) fail_to_join(modes[i], fake_call_name(k));
}

Test(memmodes, managed_memory_beyond_what_is_free_is_not_asked_for)
{
    two_parts t = with_halos_of(100000);
    fake_device_bytes(fake_bytes() + 1000000);
    cr_assert_eq(join(&t, &yk_memmode_managed), YOKE_NO_MEMORY);
    cr_assert_eq(fake_calls("cudaMallocManaged"), 0);
    part_ways(&t);
}

Test(memmodes, say_why_a_device_cannot)
{
    cr_assert_str_eq(yk_memmode_explicit.reason(0), "");
    cr_assert_str_eq(yk_memmode_mapped.reason(0), "");
    cr_assert_str_eq(yk_memmode_managed.reason(0), "");
    cr_assert(strstr(yk_memmode_system.reason(0), "device 0 does not reach plain memory"));
    cr_assert(strstr(yk_memmode_mapped.reason(99), "cudaErrorInvalidDevice"));
    fake_reaches_all(true);
    cr_assert_str_eq(yk_memmode_system.reason(0), "");
}
