/* SPDX-License-Identifier: MIT */
/* The instruction interpreter of the software GPU's queues: it takes one dispatch packet and
 * applies its effects to memory.
 *
 *   queue_aql.c ── soft_isa_run(machine, dispatch, error, stats) ──► isa/: decode, execute
 *
 * The queue has read and checked the packet (sizes not 0, kernel object inside an allocation) and
 * knows the kernel's name. The interpreter reads the 64-byte kernel descriptor at the kernel
 * object, creates LDS and scratch, and fills the first SGPRs and VGPRs according to the
 * descriptor's enable bits. Device addresses are addresses of this process (or SOFT_ISA_ALIAS of
 * them). Two apertures of 4 GiB each, outside all host addresses, represent LDS and scratch in flat
 * addresses.
 *
 * Threads: a machine belongs to one thread at a time, machines are independent. Atomics on
 * global memory are the host's.
 * Memory faults: the caller guards the call (soft/common/guard.h) and leaves it with a jump when a
 * load or store hits an unmapped page. Hence there are no locks and no half-linked lists while
 * global memory is accessed. The machine owns all memory, so that the next run or
 * soft_isa_destroy() finds it again.
 * Never here: writing to stderr, exit, a wrong result for an unknown opcode. */
#ifndef SOFT_AMDGPU_ISA_H
#define SOFT_AMDGPU_ISA_H

#include <stdbool.h>
#include <stdint.h>

/* How a dispatch ended. Everything except DONE and STOPPED ends the queue with an error; memory
 * keeps the kernel's effects up to then, as on hardware. */
#define SOFT_ISA_RESULTS(X)                                                          \
	X(SOFT_ISA_DONE, "done")                                                     \
	X(SOFT_ISA_STOPPED, "stopped: its queue is being destroyed")                 \
	X(SOFT_ISA_UNSUPPORTED,                                                      \
	  "an instruction, or a form of one, that the interpreter does not support") \
	X(SOFT_ISA_ILLEGAL, "an instruction that this GPU does not have")            \
	X(SOFT_ISA_MEMORY_FAULT, "an access to unmapped memory")                     \
	X(SOFT_ISA_TRAP, "a trap")                                                   \
	X(SOFT_ISA_BAD_DESCRIPTOR, "an unsupported kernel descriptor")               \
	X(SOFT_ISA_DEADLOCK, "deadlock: some waves never reach a barrier")           \
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

/* Everything of the GPU that a kernel can see, except memory. One per queue; must outlive the
 * machine. */
struct soft_isa_gpu {
	uint32_t gfx;           /* 0x906, 0x90a, ...: the digits of the target's name */
	uint32_t compute_units; /* for HW_ID registers only */
	/* base of 4 GiB of flat addresses, with the low 32 bits 0 (src_shared_base) */
	uint64_t lds_aperture;
	uint64_t private_aperture; /* the same for scratch (src_private_base) */
	/* The constant-rate counter that s_memrealtime reads, in its own ticks, and the cycles that
	 * s_memtime counts. */
	uint64_t (*read_clock)(void *data);
	uint64_t (*read_cycles)(void *data);
	/* s_sendmsg MSG_INTERRUPT: the low 23 bits of m0 identify an event; its mailbox was written
	 * before. */
	void (*interrupt)(void *data, uint32_t m0);
	void *data;
};

struct soft_dispatch {
	/* The 64 bytes of an hsa_kernel_dispatch_packet_t: a persistent copy, since the ring's slot
	 * may be given back. */
	const void *packet;
	/* address of a packet that stays readable while the kernel runs (dispatch_ptr) */
	uint64_t packet_address;
	uint64_t queue_address; /* the amd_queue_t (queue_ptr); 0 in tests without a queue */
	uint64_t dispatch_id;   /* running number of the packet in its queue (dispatch_id) */
	/* the allocation that contains the kernel: the program counter stays inside it */
	uint64_t code_base, code_bytes;
	/* all workgroups run at once, up to the GPU's capacity: they may wait for each other */
	bool cooperative;
	/* Nonzero: the queue is being destroyed. Read (relaxed) at least every 100,000
	 * instructions. */
	const int *stop;
};

/* Why a run failed, for the queue's message. Which members are valid depends on the result. */
struct soft_isa_error {
	uint64_t pc;       /* address of the instruction; 0 when there was none */
	uint32_t words[4]; /* the instruction, up to 16 bytes; words after it are 0 */
	uint64_t address;  /* MEMORY_FAULT: the accessed address */
	uint32_t trap;     /* TRAP: its number */
	uint32_t workgroup[3];
	/* "v_mfma_f32_32x32x1f32", "v_add_f16 with DPP", "wave64 only": a noun phrase */
	char text[120];
};

struct soft_isa_stats { /* over all runs of a machine since its creation */
	uint64_t dispatches, workgroups, waves, instructions;
};

/* the machine: registers, LDS and scratch of the running workgroups, decoded instructions */
struct soft_isa;

/* Return true if there is an interpreter for this target. */
bool soft_isa_has(uint32_t gfx);
/* Return all supported targets: "gfx900 gfx906". */
const char *soft_isa_targets(void);

/* Return NULL if memory is short or gpu->gfx is not supported. */
struct soft_isa *soft_isa_create(const struct soft_isa_gpu *gpu);
/* Also allowed after a jump left a run. NULL is ignored. */
void soft_isa_destroy(struct soft_isa *isa);

/* Run the whole grid. @error is written unless the result is DONE; @stats (may be NULL) receives
 * the machine's totals. */
enum soft_isa_result soft_isa_run(struct soft_isa *isa, const struct soft_dispatch *dispatch,
				  struct soft_isa_error *error, struct soft_isa_stats *stats);

/* Forget decoded instructions at [base, base + bytes), which was unloaded or is being overwritten.
 * Any thread, even while other threads run other code. */
void soft_isa_forget(uint64_t base, uint64_t bytes);

/* In the child after fork(): reset a lock that another thread of the parent held. The parent's
 * machines must not be used any more. */
void soft_isa_forked(void);

/* Return the sentence for a result, for messages. */
const char *soft_isa_result_text(enum soft_isa_result result);

#endif
