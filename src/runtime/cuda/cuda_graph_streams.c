/* SPDX-License-Identifier: MIT */
/* Decides whether CUPTI may be finalised although the program launches graphs. While graphs are
 * recorded by node, each launch writes to CUPTI's device memory. cuptiFinalize() frees that memory,
 * so that a graph that executes meanwhile faults on the device and ends the program's CUDA (tested
 * on an H200, CUPTI 13.0; plain kernels do not fault). Other threads cannot be held back meanwhile:
 * a thread that waits inside a callback while CUPTI is finalised continues in freed memory.
 *
 * CUPTI is therefore finalised only in a callback of the only thread that launches graphs, when the
 * streams of its graphs are idle. With several such threads, CUPTI stays (cupti_session.c).
 * Locking: none. */
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/cuda/cuda_parts.h"

enum { STREAMS = 256, MANY = -1 };

/* Streams in which graphs were launched: handle + 1, because 0 is the default stream; all ones: the
 * stream was destroyed. */
static _Atomic uintptr_t streams[STREAMS];
static _Atomic int32_t launcher; /* thread; 0: none so far; MANY: also if a table is full */

static void note_stream(uintptr_t stream)
{
	for (unsigned i = 0; i < STREAMS; i++) {
		uintptr_t there = atomic_load_explicit(&streams[i], memory_order_relaxed);

		if (there == stream + 1)
			return;
		if (!there && (atomic_compare_exchange_strong(&streams[i], &there, stream + 1) ||
			       there == stream + 1))
			return;
	}
	atomic_store(&launcher, MANY);
}

static int32_t get_thread(void)
{
	static _Thread_local int32_t tid __attribute__((tls_model("initial-exec")));

	if (!tid)
		tid = (int32_t)syscall(SYS_gettid);
	return tid;
}

void gt_cuda_graph_streams_note(void *stream)
{
	int32_t none = 0;

	if (!atomic_compare_exchange_strong(&launcher, &none, get_thread()) && none != get_thread())
		atomic_store(&launcher, MANY);
	note_stream((uintptr_t)stream);
}

void gt_cuda_graph_streams_destroyed(void *stream)
{
	for (unsigned i = 0; i < STREAMS; i++)
		if (atomic_load_explicit(&streams[i], memory_order_relaxed) ==
		    (uintptr_t)stream + 1)
			atomic_store(&streams[i], UINTPTR_MAX);
}

bool gt_cuda_graph_streams_any(void)
{
	return atomic_load_explicit(&launcher, memory_order_relaxed) != 0;
}

void gt_cuda_graph_streams_forget(void)
{
	for (unsigned i = 0; i < STREAMS; i++)
		atomic_store(&streams[i], 0);
	atomic_store(&launcher, 0);
}

static bool is_idle(void *stream)
{
	int status = 0;

	/* a query of a stream that is being captured would end the capture */
	return GT_CUDA_REAL(cuStreamIsCapturing) && GT_CUDA_REAL(cuStreamQuery) &&
	       !GT_CUDA_REAL(cuStreamIsCapturing)(stream, (void *)&status) && !status &&
	       !GT_CUDA_REAL(cuStreamQuery)(stream);
}

bool gt_cuda_graph_streams_idle(void)
{
	const int32_t thread = atomic_load(&launcher);

	if (!thread)
		return true;
	if (thread != get_thread())
		return false;
	for (unsigned i = 0; i < STREAMS; i++) {
		const uintptr_t stream = atomic_load(&streams[i]);

		if (!stream)
			break;
		if (stream != UINTPTR_MAX && !is_idle((void *)(stream - 1)))
			return false;
	}
	return true;
}
