/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs.c: captures of the fake runtime, and graphs: lists of work that are played again. */
#include "tests/fake/work.h"

struct CUgraph_st {
    fake_list work;
};

struct CUgraphExec_st {
    fake_list work;
    int device;
};

/* The capture that this thread began, unless in relaxed mode. */
static _Thread_local fake_capture *of_this_thread;

bool fake_capture_forbids(void)
{
    if (!of_this_thread) return false;
    of_this_thread->invalid = true;
    return true;
}

/* ----------------------------------------------------------------- capture */

static cudaError_t begin(cudaStream_t s, enum cudaStreamCaptureMode mode)
{
    if (!s) return cudaErrorInvalidResourceHandle;
    if (s->capture || s == fake_stream(cudaStreamLegacy)) return cudaErrorStreamCaptureUnsupported;
    s->capture = calloc(1, sizeof *s->capture);
    if (!s->capture) fake_die("no memory");
    s->capture->mode = mode;
    if (mode != cudaStreamCaptureModeRelaxed) of_this_thread = s->capture;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaError_t error = fake_enter(FAKE_cudaStreamBeginCapture);
    if (error == cudaSuccess) error = begin(fake_stream(stream), mode);
    return fake_leave(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    cudaError_t error = fake_enter(FAKE_cudaStreamIsCapturing);
    cudaStream_t s = fake_stream(stream);
    if (error == cudaSuccess && !s) error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && fake_in_capture(s)) error = cudaErrorStreamCaptureImplicit;
    if (error == cudaSuccess)
        *status = !s->capture           ? cudaStreamCaptureStatusNone
                  : s->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return fake_leave(error);
}

static cudaGraph_t make_graph(void)
{
    cudaGraph_t graph = calloc(1, sizeof *graph);
    if (!graph) fake_die("no memory");
    fake.live.graphs++;
    fake.made.graphs++;
    return graph;
}

/* Whatever happened, the streams are free again after it. */
static cudaError_t end(cudaError_t error, cudaStream_t s, cudaGraph_t *graph)
{
    *graph = NULL;
    if (!s) return cudaErrorInvalidResourceHandle;
    fake_capture *capture = s->capture;
    if (!capture) return cudaErrorInvalidValue;
    if (error == cudaSuccess && capture->invalid) error = cudaErrorStreamCaptureInvalidated;
    if (error == cudaSuccess) {
        *graph = make_graph();
        (*graph)->work = capture->work;
    } else {
        fake_free_list(&capture->work);
    }
    fake_end_captures(capture);
    if (of_this_thread == capture) of_this_thread = NULL;
    free(capture);
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t error = fake_enter(FAKE_cudaStreamEndCapture);
    return fake_leave(end(error, fake_stream(stream), graph));
}

/* ------------------------------------------------------------------ graphs */

static fake_work *copy_of(const fake_work *from)
{
    fake_work *w = fake_new_work(from->kind, from->owned, from->bytes);
    if (!from->owned) w->from = from->from;
    w->to = from->to;
    w->value = from->value;
    w->kernel = from->kernel;
    w->waits = from->waits;
    w->host = from->host;
    w->device = from->device;
    return w;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    cudaError_t error = fake_enter(FAKE_cudaGraphInstantiate);
    (void)flags;
    if (error == cudaSuccess && !graph) error = cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        cudaGraphExec_t made = calloc(1, sizeof *made);
        if (!made) fake_die("no memory");
        for (const fake_work *w = graph->work.first; w; w = w->next)
            fake_append(&made->work, copy_of(w));
        made->device = fake_current_device();
        fake.live.execs++;
        fake.made.execs++;
        *exec = made;
    }
    return fake_leave(error);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = fake_enter(FAKE_cudaGraphUpload);
    if (error == cudaSuccess && (!exec || !fake_stream(stream))) error = cudaErrorInvalidValue;
    return fake_leave(error);
}

/* The exec may go while its work is on the way: what is enqueued is a copy. */
static cudaError_t play(const struct CUgraphExec_st *exec, cudaStream_t s)
{
    if (!exec || !s || s->device != exec->device) return cudaErrorInvalidResourceHandle;
    cudaError_t error = cudaSuccess;
    for (const fake_work *w = exec->work.first; w && error == cudaSuccess; w = w->next)
        error = fake_enqueue_on(s, copy_of(w), w->device);
    return error;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = fake_enter(FAKE_cudaGraphLaunch);
    if (error == cudaSuccess) error = play(exec, fake_stream(stream));
    return fake_leave(error);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t error = fake_enter(FAKE_cudaGraphDestroy);
    if (!graph) return fake_leave(cudaErrorInvalidValue);
    fake_free_list(&graph->work);
    free(graph);
    fake.live.graphs--;
    return fake_leave(error);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaError_t error = fake_enter(FAKE_cudaGraphExecDestroy);
    if (!exec) return fake_leave(cudaErrorInvalidValue);
    fake_free_list(&exec->work);
    free(exec);
    fake.live.execs--;
    return fake_leave(error);
}
