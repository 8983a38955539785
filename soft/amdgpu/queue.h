/* SPDX-License-Identifier: MIT */
/* A queue of a software GPU and its worker thread.
 *
 *   host:   packets into the ring, write index, then the doorbell
 *   worker: bell ─► packets ─► read index, signal, event
 *
 * One thread per queue: kernels of different queues overlap in time, one queue is strictly in
 * order (so barrier bits and fences of packets ask for nothing more). Everything that host and
 * worker share is accessed with atomics. A queue that met an error stays, does nothing more, and
 * waits to be destroyed. */
#ifndef SOFT_AMDGPU_QUEUE_H
#define SOFT_AMDGPU_QUEUE_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "soft/amdgpu/amdgpu.h"
#include "soft/amdgpu/isa/isa.h"
#include "soft/common/bell.h"

/* Bits of the value that an AQL queue's inactive signal gets: which error it was. Those of the
 * real packet processor. */
enum soft_queue_error {
	SOFT_QUEUE_NO_SCRATCH = 0x1, /* no error: see scratch.c */
	SOFT_QUEUE_BAD_DIMENSIONS = 0x2,
	SOFT_QUEUE_BAD_GROUP_MEMORY = 0x4,
	SOFT_QUEUE_BAD_CODE = 0x8,
	SOFT_QUEUE_BAD_PACKET = 0x20,
	SOFT_QUEUE_GROUP_TOO_LARGE = 0x40,
	SOFT_QUEUE_BAD_REGISTERS = 0x80,
	SOFT_QUEUE_BAD_VENDOR_PACKET = 0x100,
	SOFT_QUEUE_SCRATCH_DONE = 0x200, /* no error */
	SOFT_QUEUE_APERTURE = 0x20000000,
	SOFT_QUEUE_ILLEGAL_INSTRUCTION = 0x40000000,
	SOFT_QUEUE_TRAP = (int)0x80000000,
};

struct soft_kernel;
enum { SOFT_KERNEL_SLOTS = 64 };

/* The kernels that a queue used lately: found without a lock. Valid for one generation of loaded
 * code. */
struct soft_kernel_cache {
	uint64_t generation;
	struct soft_kernel *slot[SOFT_KERNEL_SLOTS]; /* by address; each holds a reference */
};

struct soft_queue {
	HSAuint32 node;
	unsigned number; /* of the GPU's doorbells */
	HSA_QUEUE_TYPE type;
	char *ring;
	uint64_t bytes;
	uint64_t *doorbell, *write_index, *read_index;
	uint64_t own_indices[2]; /* SDMA: the thunk owns them */
	/* AQL: ROCr's queue structure, which the read index lies in */
	amd_queue_t *aql;
	struct soft_bell bell;
	pthread_t thread;
	int suspended; /* atomic; percentage 0, or an error */
	/* atomic; AQL: rung by a call, and the doorbell only counts how often */
	int called;
	int cooperative; /* atomic; has global wave sync: whole grids run at once */
	struct soft_queue *next;
	uint64_t packets; /* the worker's */
	/* the worker's, for kernels */
	struct soft_kernel_cache kernels;
	struct soft_isa_gpu gpu;
	struct soft_isa *isa; /* made for the first kernel */
};

static inline bool soft_queue_stopped(const struct soft_queue *q)
{
	return __atomic_load_n(&q->bell.stop, __ATOMIC_RELAXED);
}

/* The workers' functions. */
void *soft_queue_aql_work(void *queue);
void *soft_queue_sdma_work(void *queue);

/* Ends the queue with an error that ROCr hands to the program's callback; what and where is said
 * on stderr. */
void soft_queue_fail(struct soft_queue *q, enum soft_queue_error error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Ends the queue, and by ROCr's handler the program: a packet or a kernel touched @address.
 * @what: "kernel vadd". */
void soft_queue_memory_fault(struct soft_queue *q, uint64_t address, const char *what);
/* The queue's inactive signal gets a value that ROCr's handler looks at. */
void soft_queue_raise(struct soft_queue *q, enum soft_queue_error value);
/* Does nothing until the queue is destroyed. */
void soft_queue_halt(struct soft_queue *q);

/* dispatch.c: runs the kernel of the packet at @slot in the ring. Return: false when the queue
 * must not go on. */
bool soft_dispatch_run(struct soft_queue *q, const void *slot, uint64_t id, uint64_t *start,
		       uint64_t *end);

/* scratch.c: @bytes for each work-item of a packet that is about to run; what is to be taken
 * back behind one that has completed.
 * Return: false when the queue must not go on. */
bool soft_scratch_need(struct soft_queue *q, uint32_t bytes, uint64_t packet);
bool soft_scratch_done(struct soft_queue *q);

/* kernel.c */
enum soft_kernel_kind {
	SOFT_KERNEL_CODE,
	SOFT_KERNEL_COPY_ALIGNED,
	SOFT_KERNEL_COPY_MISALIGNED,
	SOFT_KERNEL_FILL
};

struct soft_kernel {
	uint64_t object; /* address of its descriptor */
	enum soft_kernel_kind kind;
	uint64_t code_base, code_bytes; /* the allocation that it lies in; 0, 0: in none */
	uint64_t duration_ns;           /* 0: as long as it takes */
	/* HIP's copies and fills: done even when kernels are not executed */
	bool runtimes_own;
	int references; /* atomic */
	struct soft_kernel *next;
	char name[]; /* mangled, without ".kd"; "?" when there is no symbol */
};

/* Borrowed from the cache: valid until the next call with it. Return: NULL without memory. */
const struct soft_kernel *soft_kernel_get(struct soft_kernel_cache *cache, uint64_t object);
void soft_kernel_cache_clear(struct soft_kernel_cache *cache);

/* blit.c: ROCr's own copy and fill shaders, which no symbol names */
enum soft_kernel_kind soft_blit_recognise(uint64_t object, uint64_t base, uint64_t bytes);
/* Does what the shader does. */
void soft_blit_run(enum soft_kernel_kind kind, const void *arguments);

#endif
