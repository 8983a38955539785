/* SPDX-License-Identifier: MIT */
/* The parts of librefdev.
 *
 *   refdev_device.c   devices, settings, memory        refdev_stream.c  streams, events, threads
 *   refdev_submit.c   submission, on both levels       refdev_graph.c   graphs
 *   refdev_trace.c    subscribers
 *
 * Locking: a stream's lock guards its queue, an event's lock its numbers, ref_list_lock the list of
 * a device's streams. Lock order: ref_list_lock, a stream's lock, an event's lock. */
#ifndef REFDEV_PARTS_H
#define REFDEV_PARTS_H

#include <pthread.h>
#include <stdbool.h>

#include "soft/common/clock.h"
#include "soft/common/faults.h"
#include "soft/refdev/refdev.h"

enum { REF_DEVICES_MOST = 16, REF_SUBSCRIBERS = 4, REF_ARGUMENT_BYTES = 4096 };

enum ref_fault {
	REF_FAULT_LAUNCH,
	REF_FAULT_COPY,
	REF_FAULT_FILL,
	REF_FAULT_MALLOC,
	REF_FAULT_STREAM,
	REF_FAULT_EVENT,
	REF_FAULT_KERNEL,
	REF_FAULT_COUNT
};

enum ref_task_kind {
	REF_TASK_KERNEL,
	REF_TASK_COPY,
	REF_TASK_FILL,
	REF_TASK_RECORD,
	REF_TASK_WAIT
};

struct ref_task {
	struct ref_task *next;
	enum ref_task_kind kind;
	refdevActivity about;
	void *tokens[REF_SUBSCRIBERS];
	/* number of the subscription that each token belongs to; 0: none */
	uint32_t subscriptions[REF_SUBSCRIBERS];
	refdevFunction function;
	size_t argument_bytes;
	size_t to_pitch, from_pitch, width, height;
	int value;
	refdevEvent_t event;
	uint64_t event_number;                  /* number of this recording of the event */
	_Alignas(16) unsigned char arguments[]; /* last member of the struct */
};

struct refdevStream {
	struct refdevStream *next; /* list of the device's streams */
	int device, id;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct ref_task *first, **last;
	bool busy, ends;
	refdevError_t failed; /* set when a kernel fails; returned by the next wait */
	refdevGraph_t capture;
};

struct refdevEvent {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t users; /* number of users: the program and tasks */
	uint64_t recorded, done;
	uint64_t host_ns;
};

struct refdevKernel {
	struct refdevKernel *next;
	char *name;
	refdevFunction function;
};

struct ref_device {
	uint64_t memory_bytes, used_bytes;
	struct soft_clock clock;
	struct refdevStream *streams; /* newest first */
	struct refdevStream *own;
	uint32_t stream_count;
};

extern struct ref_device ref_devices[REF_DEVICES_MOST] __attribute__((visibility("hidden")));
extern int ref_device_count __attribute__((visibility("hidden")));
extern struct soft_fault ref_faults[REF_FAULT_COUNT + 1] __attribute__((visibility("hidden")));
extern pthread_mutex_t ref_list_lock __attribute__((visibility("hidden")));
extern _Thread_local int ref_current_device __attribute__((visibility("hidden")));

/* Read the environment once. Return 0, or refdevErrorForked in a fork child, or
 * refdevErrorNoDevice. */
refdevError_t ref_begin(void);
static inline bool ref_fails(enum ref_fault fault)
{
	return soft_fault_now(&ref_faults[fault]);
}

uint64_t ref_ticks(int device);

/* Calls: each traced public function calls ref_enter() at its start and ref_leave() at its end. */
struct ref_frame {
	refdevCall call;
	uint32_t subscriptions[REF_SUBSCRIBERS];
	uint64_t slots[REF_SUBSCRIBERS];
};
void ref_enter(struct ref_frame *frame, const char *name, bool driver);
refdevError_t ref_leave(struct ref_frame *frame, refdevError_t status);
#define REF_CALL(driver, expression)                      \
	do {                                              \
		struct ref_frame ref_frame;               \
		refdevError_t ref_status;                 \
		ref_enter(&ref_frame, __func__, driver);  \
		ref_status = ref_begin();                 \
		if (!ref_status)                          \
			ref_status = (expression);        \
		return ref_leave(&ref_frame, ref_status); \
	} while (0)
#define REF_RUNTIME(expression) REF_CALL(false, expression)
#define REF_DRIVER(expression)  REF_CALL(true, expression)
uint64_t ref_correlation(void);
void ref_tell_submitted(struct ref_task *task);
void ref_tell_completed(struct ref_task *task);

/* Streams. */
/* the stream of a handle; NULL if out of memory */
struct refdevStream *ref_stream_of(refdevStream_t stream);
/* Submit @task, taking ownership. It is freed when it is done or captured. */
refdevError_t ref_submit(struct refdevStream *s, struct ref_task *task);
refdevError_t ref_stream_wait(struct refdevStream *s);

struct refdevGraph {
	pthread_mutex_t lock;
	struct ref_task *first, **last;
	uint32_t count;
};

/* Graphs. */
refdevError_t ref_graph_add(refdevGraph_t graph, struct ref_task *task);
refdevGraph_t ref_graph_make(void);
void ref_graph_free(refdevGraph_t graph);
refdevError_t ref_graph_launch(refdevGraphExec_t exec, struct refdevStream *s);

/* Tasks (refdev_task.c). */
void ref_event_put(refdevEvent_t event);
void ref_task_free(struct ref_task *task);
void ref_tasks_free(struct ref_task *first);
/* Make a task. Return NULL if out of memory. */
struct ref_task *ref_task_kernel(refdevKernel_t kernel, refdevDim3 grid, refdevDim3 block,
				 const void *arguments, size_t bytes);
struct ref_task *ref_task_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			       size_t width, size_t height, refdevMemcpyKind kind);
struct ref_task *ref_task_fill(void *to, size_t pitch, int value, size_t width, size_t height);
/* Copy a task for a graph's launch. */
struct ref_task *ref_task_clone(const struct ref_task *task);

#endif
