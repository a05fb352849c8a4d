/* SPDX-License-Identifier: BSD-3-Clause */
/* streams.c: the fake runtime's streams: queues whose work runs when something waits for it. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "tests/fake/work.h"

static cudaStream_t streams; /* all that are there, or were and have work left */
static long last_id;
static int running_device; /* of the work that runs */
static cudaStream_t legacy[FAKE_MOST_DEVICES];
static _Thread_local cudaStream_t per_thread[FAKE_MOST_DEVICES];

/* ----------------------------------------------------------------- handles */

static cudaStream_t make_stream(bool blocking)
{
    cudaStream_t s = calloc(1, sizeof *s);
    if (!s) fake_die("no memory");
    s->id = ++last_id;
    s->device = fake_current_device();
    s->blocking = blocking;
    s->next = streams;
    streams = s;
    return s;
}

cudaStream_t fake_stream(cudaStream_t handle)
{
    cudaStream_t *ours = handle == cudaStreamPerThread ? per_thread : legacy;
    int device = fake_current_device();
    if (handle == NULL || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
        if (!ours[device]) ours[device] = make_stream(true);
        return ours[device];
    }
    for (cudaStream_t s = streams; s; s = s->next)
        if (s == handle && !s->destroyed) return s;
    return NULL;
}

cudaStream_t fake_stream_by_id(long id)
{
    for (cudaStream_t s = streams; s; s = s->next)
        if (s->id == id) return s;
    return NULL;
}

/* Streams that were destroyed go once they have nothing left to do. */
static void reap(void)
{
    for (cudaStream_t *link = &streams; *link;) {
        cudaStream_t s = *link;
        if (s->destroyed && !s->work.first && s->users == 0) {
            *link = s->next;
            free(s);
        } else {
            link = &s->next;
        }
    }
}

/* -------------------------------------------------------------------- work */

fake_work *fake_new_work(fake_kind kind, const void *owned, size_t bytes)
{
    fake_work *w = calloc(1, sizeof *w);
    if (!w) fake_die("no memory");
    w->kind = kind;
    w->bytes = bytes;
    if (!owned) return w;
    w->owned = malloc(bytes);
    if (!w->owned) fake_die("no memory");
    memcpy(w->owned, owned, bytes);
    w->from = w->owned;
    return w;
}

static void free_work(fake_work *w)
{
    free(w->owned);
    free(w);
}

void fake_append(fake_list *list, fake_work *work)
{
    if (list->last)
        list->last->next = work;
    else
        list->first = work;
    list->last = work;
}

static fake_work *take_first(fake_list *list)
{
    fake_work *w = list->first;
    list->first = w->next;
    if (!list->first) list->last = NULL;
    return w;
}

void fake_free_list(fake_list *list)
{
    while (list->first) free_work(take_first(list));
}

/* --------------------------------------------------------------------- run */

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* What the device itself does: it may be told to fail, and does nothing once it is lost. */
static void work_on_device(const fake_work *w, int device)
{
    if (fake.work_until_failure > 0 && --fake.work_until_failure == 0)
        fake.lost[device] = fake.work_error;
    if (fake.lost[device] != cudaSuccess) return;
    running_device = device;
    fake_open_memory();
    if (w->kind == FAKE_COPY)
        memmove(w->to, w->from, w->bytes);
    else if (w->kind == FAKE_SET)
        memset(w->to, w->value, w->bytes);
    else
        w->kernel(w->from);
}

static void note_recorded(cudaEvent_t event)
{
    event->milliseconds = milliseconds();
    if (--event->records == 0 && event->destroyed) free(event);
}

static void run_until(cudaStream_t s, long until);

static void run_work(cudaStream_t s, const fake_work *w)
{
    switch (w->kind) {
    case FAKE_COPY:
    case FAKE_SET:
    case FAKE_KERNEL: work_on_device(w, w->device); break;
    case FAKE_HOST:
        fake_close_memory();
        if (fake.lost[s->device] == cudaSuccess) w->host(w->to);
        break;
    case FAKE_RECORD: note_recorded(w->event); break;
    case FAKE_WAIT:
        if (fake_stream_by_id(w->stream)) run_until(fake_stream_by_id(w->stream), w->until);
        break;
    }
}

/* One thread at a time runs a stream's work. */
static void run_until(cudaStream_t s, long until)
{
    s->users++;
    while (s->done < until && (s->running || s->work.first)) {
        if (s->running) {
            fake_close_memory();
            fake_await();
            continue;
        }
        fake_work *w = take_first(&s->work);
        s->running = true;
        run_work(s, w);
        s->running = false;
        s->done = w->number;
        fake.waiting--;
        free_work(w);
        fake_changed();
    }
    s->users--;
}

cudaError_t fake_run(cudaStream_t s, long until)
{
    int device = s->device;
    run_until(s, until);
    fake_close_memory();
    reap();
    return fake.lost[device];
}

void fake_finish(int device)
{
    for (cudaStream_t s = streams; s; s = s->next)
        if (s->device == device) run_until(s, s->enqueued);
    fake_close_memory();
    reap();
}

void fake_reach(const void *pointer, size_t bytes, const char *what)
{
    const fake_block *b = bytes > 0 ? fake_find(pointer) : NULL;
    if (bytes == 0 || (!b && fake.reaches_all)) return;
    if (!b) fake_die("%s: a kernel was given memory that the device does not reach", what);
    bool foreign = b->type == cudaMemoryTypeDevice && b->device != running_device;
    if (foreign && !fake.peer[running_device][b->device])
        fake_die("%s: memory of device %d in a kernel on device %d", what, b->device,
                 running_device);
    if ((size_t)((const char *)pointer - b->first) + bytes > b->bytes)
        fake_die("%s: %zu bytes are needed, beyond the end of their memory", what, bytes);
}

/* ------------------------------------------------------------------ served */

int fake_pause(void)
{
    int device = running_device;
    fake_close_memory();
    fake_unlock();
    return device;
}

void fake_resume(int paused)
{
    fake_lock();
    running_device = paused;
    fake_open_memory();
}

bool fake_goes_on(const struct CUstream_st *s)
{
    return s->running || s->done < s->last_waiting;
}

/* The thread of a stream with kernels that wait: late as the rest is, those are on their way as
 * soon as they are enqueued. */
static void *serve(void *user)
{
    cudaStream_t s = user;
    fake_lock();
    while (true) {
        long until = fake.eager ? s->enqueued : s->last_waiting;
        if (s->done < until && (s->running || s->work.first)) {
            run_until(s, until);
            fake_close_memory();
        } else if (s->destroyed) {
            break;
        } else {
            fake_await();
        }
    }
    s->users--;
    reap();
    fake_unlock();
    return NULL;
}

static void have_served(cudaStream_t s)
{
    pthread_t thread;
    fake_changed();
    if (s->served) return;
    if (pthread_create(&thread, NULL, serve, s) != 0) fake_die("no thread");
    pthread_detach(thread);
    s->served = true;
    s->users++;
}

/* ----------------------------------------------------------------- enqueue */

static void push(cudaStream_t s, fake_work *w)
{
    w->number = ++s->enqueued;
    fake_append(&s->work, w);
    fake.waiting++;
    if (w->waits) s->last_waiting = w->number;
    if (w->waits || s->served) have_served(s);
}

static void push_wait(cudaStream_t s, cudaStream_t for_this)
{
    if (s == for_this || for_this->done == for_this->enqueued) return;
    fake_work *w = fake_new_work(FAKE_WAIT, NULL, 0);
    w->stream = for_this->id;
    w->until = for_this->enqueued;
    push(s, w);
}

/* The legacy default stream waits for all blocking streams of its device, and they for it. */
static cudaError_t order_with_legacy(cudaStream_t s)
{
    cudaStream_t l = legacy[s->device];
    if (!l || !s->blocking) return cudaSuccess;
    if (s != l) {
        push_wait(s, l);
        return cudaSuccess;
    }
    for (cudaStream_t other = streams; other; other = other->next) {
        if (other->device != s->device || !other->blocking) continue;
        if (other->capture) {
            other->capture->invalid = true;
            return cudaErrorStreamCaptureImplicit;
        }
        push_wait(s, other);
    }
    return cudaSuccess;
}

static cudaError_t enqueue_or_capture(cudaStream_t s, fake_work *w)
{
    if (s->capture) {
        if (s->capture->invalid) return cudaErrorStreamCaptureInvalidated;
        fake_append(&s->capture->work, w);
        return cudaSuccess;
    }
    if (fake.lost[s->device] != cudaSuccess) return fake.lost[s->device];
    cudaError_t error = order_with_legacy(s);
    if (error == cudaSuccess) push(s, w);
    return error;
}

cudaError_t fake_enqueue_on(cudaStream_t s, fake_work *w, int device)
{
    w->device = device;
    cudaError_t error = enqueue_or_capture(s, w);
    if (error != cudaSuccess) {
        free_work(w);
        return error;
    }
    if (fake.eager && !s->capture && !s->served) fake_run(s, s->enqueued);
    return cudaSuccess;
}

cudaError_t fake_enqueue(cudaStream_t s, fake_work *w)
{
    return fake_enqueue_on(s, w, s->device);
}

static cudaError_t launch(void *stream, fake_kernel kernel, const void *arguments, size_t bytes,
                          bool waits)
{
    cudaError_t error = fake_enter(FAKE_launch);
    cudaStream_t s = fake_stream(stream);
    if (error == cudaSuccess && (!s || s->device != fake_current_device()))
        error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess) {
        fake_work *w = fake_new_work(FAKE_KERNEL, arguments, bytes);
        w->kernel = kernel;
        w->waits = waits;
        error = fake_enqueue(s, w);
    }
    return fake_leave(error);
}

cudaError_t fake_launch(void *stream, fake_kernel kernel, const void *arguments, size_t bytes)
{
    return launch(stream, kernel, arguments, bytes, false);
}

cudaError_t fake_launch_waiting(void *stream, fake_kernel kernel, const void *arguments,
                                size_t bytes)
{
    return launch(stream, kernel, arguments, bytes, true);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user)
{
    cudaError_t error = fake_enter(FAKE_cudaLaunchHostFunc);
    cudaStream_t s = fake_stream(stream);
    if (error == cudaSuccess && !s) error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess) {
        fake_work *w = fake_new_work(FAKE_HOST, NULL, 0);
        w->host = function;
        w->to = user;
        error = fake_enqueue(s, w);
    }
    return fake_leave(error);
}

/* ----------------------------------------------------------------- streams */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    cudaError_t error = fake_enter(FAKE_cudaStreamCreateWithFlags);
    if (error == cudaSuccess) {
        *stream = make_stream(!(flags & cudaStreamNonBlocking));
        fake.live.streams++;
        fake.made.streams++;
    }
    return fake_leave(error);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

/* What waits in it still comes to pass, when something waits for it. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t error = fake_enter(FAKE_cudaStreamDestroy);
    cudaStream_t s = fake_stream(stream);
    if (!s || s != stream) return fake_leave(cudaErrorInvalidResourceHandle);
    s->destroyed = true;
    fake_changed();
    fake.live.streams--;
    reap();
    return fake_leave(error);
}

cudaStream_t fake_in_capture(cudaStream_t s)
{
    for (cudaStream_t other = streams; other && s == legacy[s->device]; other = other->next)
        if (other->device == s->device && other->blocking && other->capture) return other;
    return NULL;
}

/* A captured stream cannot be waited for, nor the legacy one while a blocking one is captured, and
 * the attempt spoils the capture. */
static cudaError_t check_waitable(cudaError_t error, cudaStream_t s)
{
    if (error != cudaSuccess) return error;
    if (!s) return cudaErrorInvalidResourceHandle;
    if (fake_in_capture(s)) {
        fake_in_capture(s)->capture->invalid = true;
        return cudaErrorStreamCaptureImplicit;
    }
    if (!s->capture) return cudaSuccess;
    s->capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = fake_enter(FAKE_cudaStreamSynchronize);
    cudaStream_t s = fake_stream(stream);
    error = check_waitable(error, s);
    if (error == cudaSuccess) error = fake_run(s, s->enqueued);
    return fake_leave(error);
}

/* Who asks again and again gets there: each time one piece of work is done. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    cudaError_t error = fake_enter(FAKE_cudaStreamQuery);
    cudaStream_t s = fake_stream(stream);
    error = check_waitable(error, s);
    if (error == cudaSuccess) error = fake.lost[s->device];
    if (error == cudaSuccess && s->done < s->enqueued && !fake_goes_on(s))
        error = fake_run(s, s->done + 1);
    if (error == cudaSuccess && s->done < s->enqueued) error = cudaErrorNotReady;
    return fake_leave(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = fake_enter(FAKE_cudaDeviceSynchronize);
    int device = fake_current_device();
    if (error == cudaSuccess && fake_capture_forbids()) error = cudaErrorStreamCaptureUnsupported;
    if (error == cudaSuccess) {
        fake_finish(device);
        error = fake.lost[device];
    }
    return fake_leave(error);
}

void fake_end_captures(fake_capture *capture)
{
    for (cudaStream_t s = streams; s; s = s->next)
        if (s->capture == capture) s->capture = NULL;
}
