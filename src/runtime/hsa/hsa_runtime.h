/* SPDX-License-Identifier: MIT */
/* The copies of the HSA runtime in this process, and services for every file here: the runtime's
 * functions, memory, the host's clocks. The lowest-level file of this folder.
 *
 * Order of the folder's files from low to high level. A file calls only files above it in this
 * list:
 *
 *   hsa_runtime       runtimes by instance; memory; the host's two clocks
 *   hsa_ring          copying packets from the program's ring to the device's ring
 *   hsa_agent         agents as devices; the clock of their activities; the helper's sleep
 *   hsa_signal        the program's completion signals, from which times are read
 *   hsa_shared        program signals that are used for several copies in flight
 *   hsa_code          code objects; kernels, looked up with the address in packets
 *   hsa_activity      a GPU activity in flight, and its record
 *   hsa_submitters    the call that reserved a packet number
 *   hsa_slots         activities in flight of a queue
 *   hsa_callbacks     calls of a tool's function for a packet, which may not return
 *   hsa_queue         the queue, made of the parts above
 *   hsa_tool_activities   activities and queues, as tools are notified of them
 *   hsa_fill          conversion of a packet to an activity in flight
 *   hsa_completion    detecting the completion of a packet; handing it to the device
 *   hsa_packets       the loop over the packets that the program wrote
 *   hsa_graph_batch   the doorbell; a graph's launch in runs of packets
 *   hsa_proxy         the queue that the program gets, and functions that take it
 *   hsa_copy          asynchronous copies in flight
 *   hsa_harvest       finding and recording completed activities
 *   hsa_handlers      the program's signal handlers that the runtime calls at exit
 *   hsa_helper        a thread for each agent; the end of the process
 *   hsa_fault         failures of devices and queues that the runtime reports
 *   hsa_copy_calls    the program's asynchronous copies
 *   hsa_queue_calls   the program's creation and destruction of queues
 *   hsa_adopt         queues that the program created before gputap was there
 *   hsa_scratch       scratch memory of queues
 *   hsa_attach        attaching to and detaching from the runtime's tables
 *   hsa_tables        finding the tables of a runtime that is in use
 *   hsa_late          attaching to a running program
 *
 * Path of a packet:
 *
 *   reserve a number ─► write packet ─► ring doorbell ─► handler ─► slot, our signal ─► device
 *      submitter[number] := HIP call                        │ number                       │
 *                                                           ▼                              │
 *      slot is free ◄─ harvester writes the record ◄── work in flight;  times, signal ◄────┘
 *
 * Completion. A packet without a completion signal gets a signal of gputap. A packet with a signal
 * keeps this signal, because the signal contains the times until it is reused or destroyed. Reuse
 * and destruction happen in functions that gputap wraps, in the calling thread. Therefore the
 * program's waits end when they would without gputap, no packet is added, and the program reads
 * correct values from its signal. Only a signal that is used for several packets at once needs
 * more: the kernel gets gputap's signal, and a barrier packet after it completes the program's
 * signal. A copy with such a signal also gets gputap's signal, and a handler of gputap decrements
 * the program's signal (hsa_copy.h).
 *
 * Correlation. A queue has several producers (HIP's streams share queues). The thread that rings
 * the doorbell hands on all packets that are valid by then, including those of other threads. A
 * packet therefore belongs to the call that reserved its number, not to the thread that runs the
 * handler.
 *
 * Locks: none on a packet's path. If several threads ring the doorbell, one of them handles all
 * packets (hsa_ring.h).
 * Never on that path: allocation, creation of signals, system calls, with one exception: the
 * handler wakes the helper when a queue is half full, or when the helper takes a long sleep after a
 * second without activities. */
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
#include "runtime/gpu_activity.h"
#include "runtime/hsa/hsa_abi.h"

/* Header of each table of the runtime. */
struct gt_hsa_version {
	uint32_t major, size, step,
		reserved; /* size: of the table in bytes, including this header */
};

/* Tables that ROCr provides. Members exist up to version.size; check with gt_hsa_has(). */
struct gt_hsa_tables {
	struct gt_hsa_version version;
	void *core, *amd_ext, *finalizer, *image; /* ROCm 5: size 48 */
	void *tools, *pc_sampling;                /* ROCm 6: size 64 */
};
#define gt_hsa_has(t, member)                                                            \
	(offsetof(struct gt_hsa_tables, member) + sizeof(void *) <= (t)->version.size && \
	 (t)->member)

/* One copy of the runtime. Never freed, so its address may be stored. */
struct gt_hsa_runtime {
	uint32_t instance; /* instance of the tables and taps of HSA's domains */
	/* number of times that the tables were provided, from 1; hsa_shut_down() and hsa_init() add
	 * one */
	uint32_t loads;
	struct gt_hsa_tables *tables; /* the runtime's own tables; NULL between unload and load */
	const char *way;              /* interception method that provided the tables */
	uint64_t base;                /* load address of the runtime library; 0: not known */
};

extern struct gt_hsa_runtime gt_hsa_runtimes[GT_INSTANCES] __attribute__((visibility("hidden")));

static inline struct gt_hsa_runtime *gt_hsa_runtime_of(const struct gt_call *call)
{
	return &gt_hsa_runtimes[call->table->instance];
}

/* Call the runtime's own functions, bypassing gputap's taps. Such a function may belong to another
 * tool that was loaded before gputap. NULL: this runtime has no function of that name (AMD adds
 * extensions over time). */
#define GT_HSA_CORE(runtime, f) \
	((gt_hsa_core_##f##_fn *)gt_hsa_core_taps[(runtime)->instance][GT_HSA_CORE_INDEX_##f].real)
#define GT_HSA_AMD(runtime, f)                                                      \
	((gt_hsa_amd_ext_##f##_fn *)                                                \
		 gt_hsa_amd_ext_taps[(runtime)->instance][GT_HSA_AMD_EXT_INDEX_##f] \
			 .real)

#define GT_HSA_MS UINT64_C(1000000)

/* Return zeroed memory, or NULL if out of memory. Preserves errno. */
void *gt_hsa_alloc(size_t bytes);
void gt_hsa_free(void *p, size_t bytes);

/* Sleep with a system call that is not a cancellation point. */
void gt_hsa_sleep_ns(uint64_t ns);

/* The two host clocks, read at the same time. */
struct gt_hsa_clock_pair {
	uint64_t ticks, ns;
};

uint64_t gt_hsa_boottime_ns(void);
/* Read both clocks as close together as possible in three attempts. */
struct gt_hsa_clock_pair gt_hsa_read_clocks(void);

/* Return true if GPU activities of ROCm are recorded. If false, activities are at most reported to
 * tools. */
static inline bool gt_hsa_is_recording(void)
{
	return gt_activity_is_recorded(GT_DOMAIN_HSA_CORE);
}

/* Return true if activities launched now are recorded. */
static inline bool gt_hsa_records_launches(void)
{
	return gt_launches_are_recorded(GT_DOMAIN_HSA_CORE);
}

#endif
