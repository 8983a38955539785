/* SPDX-License-Identifier: MIT */
/* A queue of a software GPU and its worker thread.
 *
 *   host:   packets into the ring, write index, then the doorbell
 *   worker: bell ─► packets ─► read index, signal, event
 *
 * One thread per queue: kernels of different queues overlap in time, and each queue runs strictly
 * in order, so barrier bits and fences of packets need no handling. All accesses to data shared by
 * host and worker are atomic. After an error a queue runs nothing more and waits to be
 * destroyed. */
#ifndef SOFT_AMDGPU_QUEUE_H
#define SOFT_AMDGPU_QUEUE_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "soft/amdgpu/amdgpu.h"
#include "soft/amdgpu/isa/isa.h"
#include "soft/common/bell.h"

/* Bits of the value stored in an AQL queue's inactive signal: the kind of error, as in the real
 * packet processor. */
enum soft_queue_error {
	SOFT_QUEUE_NO_SCRATCH = 0x1, /* not an error: see scratch.c */
	SOFT_QUEUE_BAD_DIMENSIONS = 0x2,
	SOFT_QUEUE_BAD_GROUP_MEMORY = 0x4,
	SOFT_QUEUE_BAD_CODE = 0x8,
	SOFT_QUEUE_BAD_PACKET = 0x20,
	SOFT_QUEUE_GROUP_TOO_LARGE = 0x40,
	SOFT_QUEUE_BAD_REGISTERS = 0x80,
	SOFT_QUEUE_BAD_VENDOR_PACKET = 0x100,
	SOFT_QUEUE_SCRATCH_DONE = 0x200, /* not an error */
	SOFT_QUEUE_APERTURE = 0x20000000,
	SOFT_QUEUE_ILLEGAL_INSTRUCTION = 0x40000000,
	SOFT_QUEUE_TRAP = (int)0x80000000,
};

struct soft_kernel;
enum { SOFT_KERNEL_SLOTS = 64 };

/* A queue's recently used kernels, looked up without a lock. Valid for one generation of loaded
 * code. */
struct soft_kernel_cache {
	uint64_t generation;
	/* hashed by the kernel object's address; each entry holds a reference */
	struct soft_kernel *slot[SOFT_KERNEL_SLOTS];
};

struct soft_queue {
	HSAuint32 node;
	unsigned number; /* index into the GPU's doorbells */
	HSA_QUEUE_TYPE type;
	char *ring;
	uint64_t bytes;
	uint64_t *doorbell, *write_index, *read_index;
	uint64_t own_indices[2]; /* SDMA only; this library owns these indices */
	/* AQL: ROCr's queue structure, which contains the read index */
	amd_queue_t *aql;
	struct soft_bell bell;
	pthread_t thread;
	int suspended; /* atomic; true after ROCr set percentage 0, or after an error */
	/* atomic; AQL: true if ROCr rings the queue with a call; the doorbell then only counts the
	 * calls */
	int called;
	/* atomic; true if global wave sync is enabled: all workgroups of a grid then run at once */
	int cooperative;
	struct soft_queue *next;
	uint64_t packets; /* number of packets that were run; only for the worker */
	/* kernel cache; only for the worker */
	struct soft_kernel_cache kernels;
	struct soft_isa_gpu gpu;
	struct soft_isa *isa; /* created for the first kernel */
};

static inline bool soft_queue_stopped(const struct soft_queue *q)
{
	return __atomic_load_n(&q->bell.stop, __ATOMIC_RELAXED);
}

/* Thread functions of the workers. */
void *soft_queue_aql_activity(void *queue);
void *soft_queue_sdma_activity(void *queue);

/* End the queue with an error. ROCr passes the error to the program's callback. Prints details on
 * stderr. */
void soft_queue_fail(struct soft_queue *q, enum soft_queue_error error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* End the queue after a packet or a kernel accessed @address. ROCr's handler then ends the program.
 * @what: for example "kernel vadd". */
void soft_queue_memory_fault(struct soft_queue *q, uint64_t address, const char *what);
/* Store a value in the queue's inactive signal, to call ROCr's handler. */
void soft_queue_raise(struct soft_queue *q, enum soft_queue_error value);
/* Wait until the program destroys the queue. */
void soft_queue_halt(struct soft_queue *q);

/* dispatch.c: run the kernel of the packet at @slot in the ring. Return false if the queue must
 * stop. */
bool soft_dispatch_run(struct soft_queue *q, const void *slot, uint64_t id, uint64_t *start,
		       uint64_t *end);

/* scratch.c: the first function requests @bytes of scratch for each work-item of a packet that is
 * about to run; the second returns the scratch after a packet has completed.
 * Return false if the queue must stop. */
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
	uint64_t object; /* address of the kernel's descriptor */
	enum soft_kernel_kind kind;
	uint64_t code_base, code_bytes; /* allocation that contains the descriptor, or 0, 0 */
	uint64_t duration_ns;           /* duration in ns; 0: as long as execution takes */
	/* true for HIP's copy and fill kernels, which run even if kernels are not executed */
	bool runtimes_own;
	int references; /* atomic */
	struct soft_kernel *next;
	char name[]; /* mangled, without ".kd"; "?" if the kernel has no symbol */
};

/* Return the kernel, borrowed from the cache until the next call with the same cache. Return NULL
 * if out of memory. */
const struct soft_kernel *soft_kernel_get(struct soft_kernel_cache *cache, uint64_t object);
void soft_kernel_cache_clear(struct soft_kernel_cache *cache);

/* blit.c: ROCr's own copy and fill shaders, which have no symbols */
enum soft_kernel_kind soft_blit_recognise(uint64_t object, uint64_t base, uint64_t bytes);
/* Perform the shader's copy or fill. */
void soft_blit_run(enum soft_kernel_kind kind, const void *arguments);

#endif
