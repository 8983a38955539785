/* SPDX-License-Identifier: MIT */
/* The instruction interpreter behind the software GPU's queues: one dispatch packet in, its
 * effects on memory out.
 *
 *   queue_aql.c ── soft_isa_run(machine, dispatch, error, stats) ──► isa/: decode, execute
 *
 * The queue has read the packet, checked it (sizes not 0, kernel object inside an allocation)
 * and knows the kernel's name; the interpreter reads the 64-byte kernel descriptor at the kernel
 * object, makes LDS and scratch, and fills the first SGPRs and VGPRs as the descriptor's enable
 * bits say. Addresses of the device are addresses of this process (or SOFT_ISA_ALIAS of them);
 * two apertures of 4 GiB each, which no pointer of the host falls into, stand for LDS and for
 * scratch in flat addresses.
 *
 * Threads: a machine belongs to one thread at a time, machines are independent. Atomics on
 * global memory are the host's.
 * Memory faults: the caller guards the call (soft/common/guard.h) and leaves it by a jump when a
 * load or store hits an unmapped page. So: no locks and no half-linked lists of one's own while
 * global memory is accessed; all memory hangs on the machine and is found again by the next run
 * or by soft_isa_destroy().
 * Never here: writing to stderr, exit, a wrong result for an opcode that is not known. */
#ifndef SOFT_AMDGPU_ISA_H
#define SOFT_AMDGPU_ISA_H

#include <stdbool.h>
#include <stdint.h>

/* How a dispatch ended. Everything but DONE and STOPPED ends the queue with an error; of what
 * the kernel had done until then, memory keeps the traces, as on hardware. */
#define SOFT_ISA_RESULTS(X)                                                                        \
	X(SOFT_ISA_DONE, "done")                                                                   \
	X(SOFT_ISA_STOPPED, "stopped: its queue is being destroyed")                               \
	X(SOFT_ISA_UNSUPPORTED, "an instruction that the interpreter does not know, or a form of " \
				"one that it does not do")                                         \
	X(SOFT_ISA_ILLEGAL, "an instruction that this GPU does not have")                          \
	X(SOFT_ISA_MEMORY_FAULT, "an access outside of memory")                                    \
	X(SOFT_ISA_TRAP, "a trap")                                                                 \
	X(SOFT_ISA_BAD_DESCRIPTOR, "a kernel descriptor that asks for what there is not")          \
	X(SOFT_ISA_DEADLOCK, "all waves wait for each other: a barrier that some never reach")     \
	X(SOFT_ISA_NO_MEMORY, "no memory for its waves")

/* Host addresses have 47 bits. One of 48 bits with the highest set is the same memory once more:
 * that is how memory which a program registered looks to a GPU. */
#define SOFT_ISA_HOST_BITS 47
#define SOFT_ISA_ALIAS     (1ull << SOFT_ISA_HOST_BITS)

enum soft_isa_result {
#define X(name, text) name,
	SOFT_ISA_RESULTS(X)
#undef X
};

/* What of the GPU a kernel can see, beside memory. One per queue; must outlive the machine. */
struct soft_isa_gpu {
	uint32_t gfx;           /* 0x906, 0x90a, ..: the digits of the target's name */
	uint32_t compute_units; /* for HW_ID registers only */
	/* base of 4 GiB of flat addresses, the low 32 bits are 0 (src_shared_base) */
	uint64_t lds_aperture;
	uint64_t private_aperture; /* the same for scratch (src_private_base) */
	/* The constant-rate counter that s_memrealtime reads, in its own ticks, and the cycles
	 * that s_memtime counts. */
	uint64_t (*read_clock)(void *data);
	uint64_t (*read_cycles)(void *data);
	/* s_sendmsg MSG_INTERRUPT: m0's low 23 bits name an event; the mailbox has been written
	 * before. */
	void (*interrupt)(void *data, uint32_t m0);
	void *data;
};

struct soft_dispatch {
	/* The 64 bytes of an hsa_kernel_dispatch_packet_t: a copy that stays, since the ring's
	 * slot may be given back. */
	const void *packet;
	/* of a packet that stays readable while the kernel runs (dispatch_ptr) */
	uint64_t packet_address;
	uint64_t queue_address; /* the amd_queue_t (queue_ptr); 0 in tests without a queue */
	uint64_t dispatch_id;   /* running number of the packet in its queue (dispatch_id) */
	/* the allocation that holds the kernel: the program counter stays inside it */
	uint64_t code_base, code_bytes;
	/* all workgroups run at once, as many as the GPU holds: they may wait for each other */
	bool cooperative;
	/* Not 0: the queue is being destroyed. Looked at (relaxed) at least every 100,000
	 * instructions. */
	const int *stop;
};

/* Why a run failed, for the queue's message. Which members say something depends on the result. */
struct soft_isa_error {
	uint64_t pc;       /* address of the instruction; 0 when there was none */
	uint32_t words[4]; /* the instruction, up to 16 bytes; those behind it are 0 */
	uint64_t address;  /* MEMORY_FAULT: what was accessed */
	uint32_t trap;     /* TRAP: its number */
	uint32_t workgroup[3];
	/* "v_mfma_f32_32x32x1f32", "v_add_f16 with DPP", "wave64 only": a noun phrase */
	char text[120];
};

struct soft_isa_stats { /* of all runs of a machine since it was made */
	uint64_t dispatches, workgroups, waves, instructions;
};

/* the machine: registers, LDS and scratch of the workgroups that run, decoded instructions */
struct soft_isa;

/* Is there an interpreter for this target? */
bool soft_isa_has(uint32_t gfx);
/* "gfx900 gfx906": all that there is one for. */
const char *soft_isa_targets(void);

/* Return: NULL without memory, or without an interpreter for gpu->gfx. */
struct soft_isa *soft_isa_create(const struct soft_isa_gpu *gpu);
/* Allowed also when a run was left by a jump. NULL is fine. */
void soft_isa_destroy(struct soft_isa *isa);

/* Runs the whole grid. @error is written unless the result is DONE; @stats (may be NULL)
 * receives the machine's totals. */
enum soft_isa_result soft_isa_run(struct soft_isa *isa, const struct soft_dispatch *dispatch,
				  struct soft_isa_error *error, struct soft_isa_stats *stats);

/* Code at [base, base + bytes) has been unloaded or is being overwritten: forget what was
 * decoded of it. Any thread, also while a run is going on in others (of other code). */
void soft_isa_forget(uint64_t base, uint64_t bytes);

/* In the child after fork(): a lock that another thread of the parent held is free. The parent's
 * machines are not used any more. */
void soft_isa_forked(void);

/* The sentence of a result, for messages. */
const char *soft_isa_result_text(enum soft_isa_result result);

#endif
