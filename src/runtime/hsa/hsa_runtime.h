/* SPDX-License-Identifier: MIT */
/* The copies of the HSA runtime in this process, and what every file here needs of them: their
 * functions, memory, the host's clocks. The lowest file of this folder.
 *
 * Order of the folder's files, from low to high; a file calls only files above it in this list:
 *
 *   hsa_runtime       runtimes by instance; memory; the host's two clocks
 *   hsa_ring          packets from the program's ring into the device's
 *   hsa_agent         agents as devices; the clock of their times; the helper's sleep
 *   hsa_signal        the program's own completion signals, whose times are read from them
 *   hsa_shared        signals of the program's that stand for several copies in flight
 *   hsa_code          code objects; kernels by the address that packets carry
 *   hsa_work          a work item in flight, and its record
 *   hsa_submitters    which call reserved which packet number
 *   hsa_slots         work in flight of a queue
 *   hsa_callbacks     a tool's function that is called for a packet, and may not come back
 *   hsa_queue         the queue, made of the parts above
 *   hsa_work_items    work and queues as tools are notified of them
 *   hsa_fill          a packet becomes work in flight
 *   hsa_completion    how we learn of the completion of a packet; it goes to the device
 *   hsa_packets       the loop over the packets that the program has written
 *   hsa_graph_batch   the doorbell; a graph's launch in runs of packets
 *   hsa_proxy         the queue that the program has, and the functions that it is used by
 *   hsa_copy          asynchronous copies in flight
 *   hsa_harvest       completed work is found and recorded
 *   hsa_handlers      signal handlers of the program that the runtime still calls at the end
 *   hsa_helper        a thread for each agent; the end of the process
 *   hsa_fault         the runtime reports that a device or queue has failed
 *   hsa_copy_calls    the program's asynchronous copies
 *   hsa_queue_calls   the program makes and destroys queues
 *   hsa_scratch       scratch memory of queues
 *   hsa_attach        the runtime's tables come and go
 *
 * A packet's way:
 *
 *   reserve a number ─► write packet ─► ring doorbell ─► handler ─► slot, our signal ─► device
 *      submitter[number] := HIP call                        │ number                       │
 *                                                           ▼                              │
 *      slot is free ◄─ harvester writes the record ◄── work in flight;  times, signal ◄────┘
 *
 * Completion. A packet without a completion signal gets one of ours. A packet that has one keeps
 * it: its times lie in the signal until it is used again or destroyed. Both happen in a function
 * that we wrap, in the thread that does it. So the program's waits end when they ended before, no
 * packet is added, and what the program reads from its signal is true. Only where one signal
 * stands for several packets at once, the kernel gets ours, and a barrier packet behind it
 * completes the program's. A copy gets ours as well then, and a handler of ours decrements the
 * program's (hsa_copy.h).
 *
 * Correlation. A queue has several producers (HIP's streams share queues). The thread that rings
 * the doorbell hands on all packets that are valid by then, also other threads'. So a packet
 * belongs to the call that reserved its number, not to the thread that runs the handler.
 *
 * Locks: none on the way of a packet. Of several threads that ring, one handles what all have
 * brought (hsa_ring.h).
 * Never on that way: allocation, creation of signals, system calls except one: the handler wakes
 * the helper when a queue is half full, or when the helper sleeps after a second without work. */
#ifndef GPUTAP_RUNTIME_HSA_RUNTIME_H
#define GPUTAP_RUNTIME_HSA_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "core/context.h"
#include "core/emit.h"
#include "generated/hsa_amd_ext_wraps.h"
#include "generated/hsa_core_wraps.h"
#include "generated/hsa_amd_ext_taps.h"
#include "generated/hsa_core_taps.h"
#include "generated/hsa_finalize_ext_taps.h"
#include "generated/hsa_image_ext_taps.h"
#include "runtime/device_work.h"
#include "runtime/hsa/hsa_abi.h"

/* In front of each of the runtime's tables. */
struct gt_hsa_version {
	uint32_t major, size, step, reserved; /* size: of the table in bytes, this included */
};

/* What ROCr hands over. Members are there as far as version.size says: gt_hsa_has(). */
struct gt_hsa_tables {
	struct gt_hsa_version version;
	void *core, *amd_ext, *finalizer, *image; /* ROCm 5: size 48 */
	void *tools, *pc_sampling;                /* ROCm 6: size 64 */
};
#define gt_hsa_has(t, member)                                                            \
	(offsetof(struct gt_hsa_tables, member) + sizeof(void *) <= (t)->version.size && \
	 (t)->member)

/* One copy of the runtime. Never freed: its address may be kept. */
struct gt_hsa_runtime {
	uint32_t instance; /* of the tables and taps of HSA's domains */
	/* how often its tables came: from 1. hsa_shut_down() and hsa_init() make another */
	uint32_t loads;
	struct gt_hsa_tables *tables; /* the runtime's, in place; NULL between unload and load */
	const char *way;              /* by which they came */
	uint64_t base;                /* load address of its library; 0: not known */
};

extern struct gt_hsa_runtime gt_hsa_runtimes[GT_INSTANCES] __attribute__((visibility("hidden")));

static inline struct gt_hsa_runtime *gt_hsa_runtime_of(const struct gt_call *call)
{
	return &gt_hsa_runtimes[call->table->instance];
}

/* Calls of the runtime's own functions. They do not pass through our taps. They may be another
 * tool's functions, if it came before us. NULL: this runtime has no function of that name (AMD's
 * extensions grow). */
#define GT_HSA_CORE(runtime, f) \
	((gt_hsa_core_##f##_fn *)gt_hsa_core_taps[(runtime)->instance][GT_HSA_CORE_INDEX_##f].real)
#define GT_HSA_AMD(runtime, f)                                                      \
	((gt_hsa_amd_ext_##f##_fn *)                                                \
		 gt_hsa_amd_ext_taps[(runtime)->instance][GT_HSA_AMD_EXT_INDEX_##f] \
			 .real)

#define GT_HSA_MS UINT64_C(1000000)

/* Zeroed memory; NULL: none. Preserves errno. */
void *gt_hsa_alloc(size_t bytes);
void gt_hsa_free(void *p, size_t bytes);

/* A system call, and no cancellation point. */
void gt_hsa_sleep_ns(uint64_t ns);

/* The host's clocks, read at one time. */
struct gt_hsa_clock_pair {
	uint64_t ticks, ns;
};

uint64_t gt_hsa_boottime_ns(void);
/* Both clocks, as close together as three tries give. */
struct gt_hsa_clock_pair gt_hsa_read_clocks(void);

/* Is device work of ROCm recorded? Else tools at most are notified of it. */
static inline bool gt_hsa_is_recording(void)
{
	return gt_work_is_recorded(GT_DOMAIN_HSA_CORE);
}

/* And work that is launched now? */
static inline bool gt_hsa_records_launches(void)
{
	return gt_launches_are_recorded(GT_DOMAIN_HSA_CORE);
}

#endif
