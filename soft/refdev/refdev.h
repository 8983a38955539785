/* SPDX-License-Identifier: MIT */
/* The reference accelerator: a software device with all features of a vendor's runtime, for
 * developing plug-ins, backends and tests. For C and C++.
 *
 *   devices ── streams ── kernels, copies, fills, events, in order, on the stream's thread
 *          └── device memory, which is host memory
 *   graphs: capture the submissions of a stream, or add nodes, then launch the graph as a whole
 *
 * Two levels: refdev...() is the runtime API, which calls refdevDrv...(), the driver API. Kernels
 * are C functions that the program registers under a name. refdevSubscribe() notifies a profiler of
 * calls and GPU activities. Faults and the clock error of the device are set through the
 * environment, or with refdevSetFaults() and refdevSetClock():
 *   REFDEV_DEVICES=2 REFDEV_MEMORY=1G REFDEV_FAULTS=launch:3,malloc:10+
 *   REFDEV_CLOCK=hz=1000000000,drift=50ppm
 *
 * A fork() child has no device: its calls return refdevErrorForked. */
#ifndef REFDEV_H
#define REFDEV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REFDEV_API     __attribute__((visibility("default")))
#define REFDEV_VERSION 1

typedef enum refdevError {
	refdevSuccess = 0,
	refdevErrorInvalid = 1,
	refdevErrorNoMemory = 2,
	refdevErrorNotReady = 3,
	refdevErrorNoDevice = 4,
	refdevErrorKernel = 5, /* a kernel accessed invalid memory */
	refdevErrorDevice = 6, /* requested through refdevSetFaults() */
	/* not possible while a stream is captured, or only possible during a capture */
	refdevErrorCapture = 7,
	refdevErrorForked = 8
} refdevError_t;

typedef enum refdevMemcpyKind {
	refdevMemcpyHostToHost = 0,
	refdevMemcpyHostToDevice = 1,
	refdevMemcpyDeviceToHost = 2,
	refdevMemcpyDeviceToDevice = 3
} refdevMemcpyKind;

typedef struct refdevStream *refdevStream_t; /* NULL: default stream of the device */
typedef struct refdevEvent *refdevEvent_t;
typedef struct refdevKernel *refdevKernel_t;
typedef struct refdevGraph *refdevGraph_t;
typedef struct refdevGraphExec *refdevGraphExec_t;

typedef struct refdevDim3 {
	uint32_t x, y, z;
} refdevDim3;

/* The running group, and its launch. */
typedef struct refdevGroup {
	refdevDim3 grid, block, index;
} refdevGroup;
/* Run the work-items of one group. */
typedef void (*refdevFunction)(const refdevGroup *group, const void *arguments);

typedef struct refdevDeviceProperties {
	size_t size;
	char name[64];
	char uuid[16];
	uint64_t memory_bytes;
	uint64_t clock_hz; /* ticks per second of time stamps */
	uint32_t stream_count, reserved;
} refdevDeviceProperties;

/* Devices */
REFDEV_API refdevError_t refdevGetDeviceCount(int *count);
REFDEV_API refdevError_t refdevSetDevice(int device); /* for the calling thread */
REFDEV_API refdevError_t refdevGetDevice(int *device);
REFDEV_API refdevError_t refdevGetDeviceProperties(refdevDeviceProperties *properties, int device);
REFDEV_API refdevError_t refdevDeviceSynchronize(void);
REFDEV_API const char *refdevGetErrorString(refdevError_t error);

/* Memory */
REFDEV_API refdevError_t refdevMalloc(void **memory, size_t bytes);
REFDEV_API refdevError_t refdevFree(void *memory);
REFDEV_API refdevError_t refdevMallocHost(void **memory, size_t bytes);
REFDEV_API refdevError_t refdevFreeHost(void *memory);
REFDEV_API refdevError_t refdevMemGetInfo(size_t *available, size_t *total);
REFDEV_API refdevError_t refdevMemcpy(void *to, const void *from, size_t bytes,
				      refdevMemcpyKind kind);
REFDEV_API refdevError_t refdevMemcpyAsync(void *to, const void *from, size_t bytes,
					   refdevMemcpyKind kind, refdevStream_t stream);
REFDEV_API refdevError_t refdevMemcpy2D(void *to, size_t to_pitch, const void *from,
					size_t from_pitch, size_t width, size_t height,
					refdevMemcpyKind kind);
REFDEV_API refdevError_t refdevMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
					     size_t from_pitch, size_t width, size_t height,
					     refdevMemcpyKind kind, refdevStream_t stream);
REFDEV_API refdevError_t refdevMemset(void *to, int value, size_t bytes);
REFDEV_API refdevError_t refdevMemsetAsync(void *to, int value, size_t bytes,
					   refdevStream_t stream);
REFDEV_API refdevError_t refdevMemset2D(void *to, size_t pitch, int value, size_t width,
					size_t height);
REFDEV_API refdevError_t refdevMemset2DAsync(void *to, size_t pitch, int value, size_t width,
					     size_t height, refdevStream_t stream);

/* Streams and events */
REFDEV_API refdevError_t refdevStreamCreate(refdevStream_t *stream);
/* Destroy a stream after its tasks have finished. */
REFDEV_API refdevError_t refdevStreamDestroy(refdevStream_t stream);
REFDEV_API refdevError_t refdevStreamSynchronize(refdevStream_t stream);
REFDEV_API refdevError_t refdevStreamQuery(refdevStream_t stream);
REFDEV_API refdevError_t refdevStreamWaitEvent(refdevStream_t stream, refdevEvent_t event);
REFDEV_API refdevError_t refdevStreamGetId(refdevStream_t stream, int *id); /* from 1 */
REFDEV_API refdevError_t refdevEventCreate(refdevEvent_t *event);
REFDEV_API refdevError_t refdevEventDestroy(refdevEvent_t event);
REFDEV_API refdevError_t refdevEventRecord(refdevEvent_t event, refdevStream_t stream);
REFDEV_API refdevError_t refdevEventSynchronize(refdevEvent_t event);
REFDEV_API refdevError_t refdevEventQuery(refdevEvent_t event);
REFDEV_API refdevError_t refdevEventElapsedTime(float *ms, refdevEvent_t start, refdevEvent_t end);

/* Register a kernel. The name is copied; the handle stays valid. Registering a name again replaces
 * the kernel for later launches. */
REFDEV_API refdevError_t refdevRegisterKernel(refdevKernel_t *kernel, const char *name,
					      refdevFunction function);
/* @arguments: copied; 4096 bytes at most. */
REFDEV_API refdevError_t refdevLaunchKernel(refdevKernel_t kernel, refdevDim3 grid,
					    refdevDim3 block, const void *arguments, size_t bytes,
					    refdevStream_t stream);

/* Graphs. Nodes run in the order in which they were added. */
REFDEV_API refdevError_t refdevGraphCreate(refdevGraph_t *graph);
REFDEV_API refdevError_t refdevGraphAddKernelNode(refdevGraph_t graph, refdevKernel_t kernel,
						  refdevDim3 grid, refdevDim3 block,
						  const void *arguments, size_t bytes);
REFDEV_API refdevError_t refdevGraphAddMemcpyNode(refdevGraph_t graph, void *to, const void *from,
						  size_t bytes, refdevMemcpyKind kind);
REFDEV_API refdevError_t refdevGraphAddMemsetNode(refdevGraph_t graph, void *to, int value,
						  size_t bytes);
REFDEV_API refdevError_t refdevStreamBeginCapture(refdevStream_t stream);
REFDEV_API refdevError_t refdevStreamEndCapture(refdevStream_t stream, refdevGraph_t *graph);
REFDEV_API refdevError_t refdevGraphDestroy(refdevGraph_t graph);
REFDEV_API refdevError_t refdevGraphInstantiate(refdevGraphExec_t *exec, refdevGraph_t graph);
REFDEV_API refdevError_t refdevGraphLaunch(refdevGraphExec_t exec, refdevStream_t stream);
REFDEV_API refdevError_t refdevGraphExecDestroy(refdevGraphExec_t exec);

/* Driver level */
REFDEV_API refdevError_t refdevDrvMemAlloc(void **memory, size_t bytes, int device);
REFDEV_API refdevError_t refdevDrvMemFree(void *memory);
REFDEV_API refdevError_t refdevDrvMemcpy2D(void *to, size_t to_pitch, const void *from,
					   size_t from_pitch, size_t width, size_t height,
					   refdevMemcpyKind kind, refdevStream_t stream);
REFDEV_API refdevError_t refdevDrvMemset2D(void *to, size_t pitch, int value, size_t width,
					   size_t height, refdevStream_t stream);
REFDEV_API refdevError_t refdevDrvLaunchKernel(refdevKernel_t kernel, refdevDim3 grid,
					       refdevDim3 block, const void *arguments,
					       size_t bytes, refdevStream_t stream);
REFDEV_API refdevError_t refdevDrvGraphLaunch(refdevGraphExec_t exec, refdevStream_t stream);
REFDEV_API refdevError_t refdevDrvStreamSynchronize(refdevStream_t stream);

/* Set faults. Names: launch, copy, fill, malloc, stream, event, kernel (fails on the device).
 * soft/common/faults.h describes the syntax. Call before any other function of the runtime. */
REFDEV_API refdevError_t refdevSetFaults(const char *text);
/* Set the clocks of all devices at once: comma-separated hz=N epoch=TIME drift=RATE skew=TIME. */
REFDEV_API refdevError_t refdevSetClock(const char *text);

/* For profilers ----------------------------------------------------------------- */

typedef enum refdevActivityKind {
	refdevActivityKernel = 1,
	refdevActivityMemcpy = 2,
	refdevActivityMemset = 3,
	refdevActivityWait = 4 /* refdevStreamWaitEvent() */
} refdevActivityKind;

/* A GPU activity. Times are in ticks of the device clock. */
typedef struct refdevActivity {
	size_t size;
	uint32_t kind;
	int32_t status; /* refdevError_t */
	int32_t device, stream_id;
	refdevStream_t stream;
	uint64_t queued, submitted, start, end;
	const char *name; /* kernels: name; never freed */
	uint64_t bytes;
	const void *source;
	void *destination;
	uint32_t copy_kind; /* refdevMemcpyKind */
	uint32_t reserved;
	refdevDim3 grid, block;
	uint64_t graph;        /* number of the executable graph; 0: none */
	uint32_t replay, node; /* launch: number from 1; node: number from 0 */
	uint64_t correlation;  /* number of the outermost call that caused the activity */
} refdevActivity;

typedef struct refdevCall {
	size_t size;
	const char *name; /* never freed */
	uint32_t driver;  /* 1: call of the driver API; 0: call of the runtime API */
	uint32_t exits;   /* 0: start of the call; 1: end */
	refdevError_t status;
	uint32_t nested; /* 1: call made inside another call */
	uint64_t correlation;
} refdevCall;

/* Notifications for a profiler. Any member may be NULL. Each function runs in the thread that calls
 * or submits, or in the stream's thread. It must not call the runtime. */
typedef struct refdevSubscriber {
	size_t size;
	/* @slot: storage for this call and subscriber; zero at the start of the call, unchanged at
	 *        the end */
	void (*call)(const refdevCall *call, uint64_t *slot, void *user);
	/* Called before the task is added to the stream. Return a token, which is passed to
	 * completed(). */
	void *(*submitted)(const refdevActivity *activity, void *user);
	void (*completed)(const refdevActivity *activity, void *token, void *user);
	void *user;
} refdevSubscriber;

/* Add a subscriber. The maximum is four. Subscribing twice fails with refdevErrorInvalid. */
REFDEV_API refdevError_t refdevSubscribe(const refdevSubscriber *subscriber);
/* Remove a subscriber. After this function returns, no function of the subscriber runs, not even
 * completed() for activities whose submission was reported. */
REFDEV_API refdevError_t refdevUnsubscribe(const refdevSubscriber *subscriber);
/* Read both clocks at one moment, with CLOCK_REALTIME in ns before and after. */
REFDEV_API refdevError_t refdevReadClock(int device, uint64_t *before, uint64_t *ticks,
					 uint64_t *after);
/* Convert device ticks to CLOCK_BOOTTIME ns, in the way that the device's driver does. Return 0 if
 * the time is unknown. */
REFDEV_API uint64_t refdevTicksToBoottime(int device, uint64_t ticks);
/* Return the number of nodes of an executable graph, or 0 if that graph does not exist. */
REFDEV_API uint32_t refdevGraphNodeCount(uint64_t graph);

#ifdef __cplusplus
}
#endif

#endif
