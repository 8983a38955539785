/* SPDX-License-Identifier: MIT */
/* The instruction interpreter of the software GPU's queues: takes one dispatch packet and applies
 * its effects to memory.
 *
 *   queue_aql.c ── soft_isa_run(machine, dispatch, error, stats) ──► isa/: decode, execute
 *
 * The queue has read and checked the packet (sizes not 0, kernel object inside an allocation) and
 * knows the kernel's name. The interpreter reads the 64-byte kernel descriptor at the kernel
 * object, creates LDS and scratch, and fills the first SGPRs and VGPRs according to the
 * descriptor's enable bits. A device address is an address in this process, or its SOFT_ISA_ALIAS.
 * Two apertures of 4 GiB each, outside all host addresses, represent LDS and scratch in flat
 * addresses.
 *
 * Threads: each machine is used by one thread at a time, and machines are independent. Atomics on
 * global memory are host atomics.
 * Memory faults: the caller guards the call (soft/common/guard.h) and leaves it with a jump when a
 * load or store hits an unmapped page. So the interpreter holds no lock and leaves no list
 * half-linked while it accesses global memory. The machine owns all memory, so the next run or
 * soft_isa_destroy() can reuse or free it.
 * Never here: writing to stderr, exit, a wrong result for an unknown opcode. */
#ifndef SOFT_AMDGPU_ISA_H
#define SOFT_AMDGPU_ISA_H

#include <stdbool.h>
#include <stdint.h>

/* Result of a dispatch. Every result except DONE and STOPPED ends the queue with an error. As on
 * hardware, the kernel's earlier writes to memory stay. */
#define SOFT_ISA_RESULTS(X)                                                   \
	X(SOFT_ISA_DONE, "done")                                              \
	X(SOFT_ISA_STOPPED, "stopped: its queue is being destroyed")          \
	X(SOFT_ISA_UNSUPPORTED,                                               \
	  "an instruction or encoding that the interpreter does not support") \
	X(SOFT_ISA_ILLEGAL, "an instruction that this GPU does not have")     \
	X(SOFT_ISA_MEMORY_FAULT, "an access to unmapped memory")              \
	X(SOFT_ISA_TRAP, "a trap")                                            \
	X(SOFT_ISA_BAD_DESCRIPTOR, "an unsupported kernel descriptor")        \
	X(SOFT_ISA_DEADLOCK, "deadlock: some waves never reach a barrier")    \
	X(SOFT_ISA_NO_MEMORY, "no memory for its waves")

/* Host addresses have 47 bits. A 48-bit address with the highest bit set refers to the same memory:
 * a GPU sees registered memory of the program at such addresses. */
#define SOFT_ISA_HOST_BITS 47
#define SOFT_ISA_ALIAS     (1ull << SOFT_ISA_HOST_BITS)

enum soft_isa_result {
#define X(name, text) name,
	SOFT_ISA_RESULTS(X)
#undef X
};

/* All GPU state that a kernel can read, except memory. One per queue; must outlive the machine. */
struct soft_isa_gpu {
	uint32_t gfx;           /* 0x906, 0x90a, ...: the digits of the target's name */
	uint32_t compute_units; /* for HW_ID registers only */
	/* base of 4 GiB of flat addresses for LDS; the low 32 bits are 0 (src_shared_base) */
	uint64_t lds_aperture;
	/* base of 4 GiB of flat addresses for scratch (src_private_base) */
	uint64_t private_aperture;
	/* Return the constant-rate counter that s_memrealtime reads, in ticks; the second function
	 * returns the cycles that s_memtime counts. */
	uint64_t (*read_clock)(void *data);
	uint64_t (*read_cycles)(void *data);
	/* s_sendmsg MSG_INTERRUPT: the low 23 bits of m0 identify an event whose mailbox the kernel
	 * has already written. */
	void (*interrupt)(void *data, uint32_t m0);
	void *data;
};

struct soft_dispatch {
	/* The 64 bytes of an hsa_kernel_dispatch_packet_t. A copy, because the slot in the ring may
	 * be reused. */
	const void *packet;
	/* address of a packet that stays readable while the kernel runs (dispatch_ptr) */
	uint64_t packet_address;
	uint64_t queue_address; /* the amd_queue_t (queue_ptr); 0 in tests without a queue */
	uint64_t dispatch_id;   /* number of the packet in its queue (dispatch_id) */
	/* the allocation that contains the kernel: the program counter stays inside it */
	uint64_t code_base, code_bytes;
	/* true if all workgroups run at once, up to the GPU's capacity, because they may wait for
	 * each other */
	bool cooperative;
	/* Nonzero once the queue is being destroyed. Read (relaxed) at least every 100,000
	 * instructions. */
	const int *stop;
};

/* Details of a failed run, for the queue's message. The result determines which members are
 * valid. */
struct soft_isa_error {
	uint64_t pc;       /* address of the instruction, or 0 */
	uint32_t words[4]; /* the instruction, up to 16 bytes; missing words are 0 */
	uint64_t address;  /* MEMORY_FAULT: accessed address */
	uint32_t trap;     /* TRAP: number of the trap */
	uint32_t workgroup[3];
	/* noun phrase such as "v_mfma_f32_32x32x1f32", "v_add_f16 with DPP", "wave64 only" */
	char text[120];
};

struct soft_isa_stats { /* totals over all runs since the machine was created */
	uint64_t dispatches, workgroups, waves, instructions;
};

/* opaque: registers, LDS and scratch of the running workgroups, and decoded instructions */
struct soft_isa;

/* Return true if the interpreter supports this target. */
bool soft_isa_has(uint32_t gfx);
/* Return the names of all supported targets: "gfx900 gfx906". */
const char *soft_isa_targets(void);

/* Create a machine. Return NULL if out of memory or if gpu->gfx is not supported. */
struct soft_isa *soft_isa_create(const struct soft_isa_gpu *gpu);
/* Destroy the machine, even if its run was left with a jump. Ignores NULL. */
void soft_isa_destroy(struct soft_isa *isa);

/* Run the whole grid. Unless the result is DONE, @error receives the details; @stats (may be NULL)
 * receives the machine's totals. */
enum soft_isa_result soft_isa_run(struct soft_isa *isa, const struct soft_dispatch *dispatch,
				  struct soft_isa_error *error, struct soft_isa_stats *stats);

/* Drop decoded instructions at [base, base + bytes), because the code was unloaded or is being
 * overwritten. Call from any thread, even while other threads run other code. */
void soft_isa_forget(uint64_t base, uint64_t bytes);

/* In the child after fork(): reset a lock that another thread of the parent may have held. The
 * child must not use the parent's machines. */
void soft_isa_forked(void);

/* Return the message for a result. */
const char *soft_isa_result_text(enum soft_isa_result result);

#endif
