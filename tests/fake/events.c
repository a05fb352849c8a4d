/* SPDX-License-Identifier: BSD-3-Clause */
/* events.c: events of the fake runtime: a place in a stream. */
#include "tests/fake/work.h"

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    cudaError_t error = fake_enter(FAKE_cudaEventCreateWithFlags);
    if (error == cudaSuccess) {
        cudaEvent_t e = calloc(1, sizeof *e);
        if (!e) fake_die("no memory");
        e->device = fake_current_device();
        e->timing = !(flags & cudaEventDisableTiming);
        fake.live.events++;
        fake.made.events++;
        *event = e;
    }
    return fake_leave(error);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t error = fake_enter(FAKE_cudaEventDestroy);
    if (!event || event->destroyed) return fake_leave(cudaErrorInvalidResourceHandle);
    fake.live.events--;
    event->destroyed = true;
    if (event->records == 0) free(event);
    return fake_leave(error);
}

static cudaError_t record(cudaEvent_t event, cudaStream_t s)
{
    if (!s || s->device != event->device) return cudaErrorInvalidResourceHandle;
    event->capture = s->capture;
    if (s->capture) return s->capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    fake_work *w = fake_new_work(FAKE_RECORD, NULL, 0);
    w->event = event;
    event->records++;
    cudaError_t error = fake_enqueue(s, w);
    if (error != cudaSuccess) {
        event->records--;
        return error;
    }
    event->stream = s->id;
    event->number = s->enqueued;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = fake_enter(FAKE_cudaEventRecord);
    if (error == cudaSuccess) error = record(event, fake_stream(stream));
    return fake_leave(error);
}

/* A stream that waits for an event of a capture joins it. */
static cudaError_t wait_in(cudaStream_t s, const struct CUevent_st *event)
{
    if (!s) return cudaErrorInvalidResourceHandle;
    if (event->capture) {
        if (s->capture && s->capture != event->capture) return cudaErrorCapturedEvent;
        s->capture = event->capture;
        return cudaSuccess;
    }
    if (event->number == 0) return cudaSuccess;
    if (s->capture) {
        s->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    fake_work *w = fake_new_work(FAKE_WAIT, NULL, 0);
    w->stream = event->stream;
    w->until = event->number;
    return fake_enqueue(s, w);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaError_t error = fake_enter(FAKE_cudaStreamWaitEvent);
    (void)flags;
    if (error == cudaSuccess) error = wait_in(fake_stream(stream), event);
    return fake_leave(error);
}

static cudaError_t check_event(cudaError_t error, const struct CUevent_st *event)
{
    if (error != cudaSuccess || !event->capture) return error;
    event->capture->invalid = true;
    return cudaErrorCapturedEvent;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = check_event(fake_enter(FAKE_cudaEventSynchronize), event);
    cudaStream_t s = fake_stream_by_id(event->stream);
    if (error == cudaSuccess && s) error = fake_run(s, event->number);
    return fake_leave(error);
}

static bool reached(const struct CUevent_st *event)
{
    cudaStream_t s = fake_stream_by_id(event->stream);
    return !s || s->done >= event->number;
}

/* Each question brings the stream one piece of work further. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error = check_event(fake_enter(FAKE_cudaEventQuery), event);
    if (error == cudaSuccess && !reached(event)) {
        cudaStream_t s = fake_stream_by_id(event->stream);
        if (!fake_goes_on(s)) error = fake_run(s, s->done + 1);
    }
    if (error == cudaSuccess && !reached(event)) error = cudaErrorNotReady;
    return fake_leave(error);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    cudaError_t error = fake_enter(FAKE_cudaEventElapsedTime);
    if (error == cudaSuccess && (!from->timing || !to->timing || !from->number || !to->number))
        error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && (!reached(from) || !reached(to))) error = cudaErrorNotReady;
    if (error == cudaSuccess) *milliseconds = (float)(to->milliseconds - from->milliseconds);
    return fake_leave(error);
}
