/* SPDX-License-Identifier: MIT */
/* Records changes of scratch memory, which holds the part of a kernel's registers that does not fit
 * into the device's registers. A queue has no scratch memory until a kernel needs some. From
 * version 6 on, ROCr has a table of functions for tools, which it calls before and after each
 * change. gputap inserts its functions there.
 *
 * Steps:
 *   1. The packet processor stops at packet N, which needs scratch memory, and notifies ROCr.
 *   2. A thread of ROCr calls gputap's function, because an allocation starts. The slot of packet N
 *      contains the call to which the packet belongs; the packet is in flight, because it waits.
 *   3. ROCr allocates the memory and calls gputap's function, which writes a record from the
 *      allocation's start to its end. The packet processor continues.
 *   4. Very large scratch memory is freed after its kernel. ROCr reports the start and the end of
 *      freeing in the same way.
 *
 * The runtime passes its own queue, not the proxy, and the packet's index in the device's ring,
 * which struct gt_hsa_activity also contains. A packet that is not followed has no slot, so its
 * memory is not linked to a call.
 *
 * All this runs inside the runtime, which may hold locks, so the only call into the runtime reads
 * the time. Functions that were in the table earlier are called after gputap's functions. If there
 * are several copies of the runtime, only the first copy gets gputap's functions, because an event
 * does not identify the copy that reports it. */
#include "runtime/hsa/hsa_scratch.h"

#include <string.h>

#include "core/recording.h"
#include "runtime/hsa/hsa_queue.h"
#include "runtime/hsa/hsa_tools_table.h"
#include "runtime/hsa/hsa_tool_activities.h"

enum { OUT_OF_RESOURCES = 0x1008 }; /* hsa_status_t */

static gt_hsa_scratch_fn *next[GT_HSA_TOOLS_ENTRIES];
static const char *const names[] = {"scratch alloc", "scratch free", "scratch reclaim"};

static uint64_t get_system_time(void)
{
	uint64_t stamp = 0;

	if (GT_HSA_CORE(&gt_hsa_runtimes[0], hsa_system_get_info)(GT_HSA_SYSTEM_TIMESTAMP,
								  &stamp) != GT_HSA_SUCCESS)
		return 0;
	return stamp;
}

static struct gt_hsa_queue *find_real_queue(const void *real)
{
	struct gt_hsa_agent *a;

	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++) {
		struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire);

		for (; q; q = q->agent_next)
			if (q->real == real &&
			    atomic_load_explicit(&q->state, memory_order_acquire) ==
				    GT_HSA_QUEUE_LIVE)
				return q;
	}
	return NULL;
}

static void begin_scratch(struct gt_hsa_queue *q, struct gt_hsa_scratch *s,
			  const struct gt_hsa_scratch_event *e, uint32_t operation)
{
	const struct gt_hsa_activity *activity =
		operation == GT_HSA_SCRATCH_ALLOC
			? gt_hsa_slots_find_packet(&q->slots, (uint32_t)e->dispatch)
			: NULL;
	const struct gt_hsa_scratch *given = &q->scratch[GT_HSA_SCRATCH_ALLOC];

	s->id = activity ? activity->id : 0;
	s->called = activity ? activity->call_start : 0;
	/* This memory is freed after one dispatch, so it is linked to the call of the last
	 * allocation. */
	if (operation == GT_HSA_SCRATCH_FREE) {
		s->id = given->id;
		s->called = given->called;
	}
	s->address = given->address;
	s->tool_activity = gt_hsa_tool_activity_of_scratch(q, names[operation]);
	s->start = get_system_time();
}

static void write_scratch(const struct gt_hsa_queue *q, const struct gt_hsa_scratch *s,
			  const struct gt_hsa_scratch_event *e, uint32_t operation, uint64_t end)
{
	const bool given = operation == GT_HSA_SCRATCH_ALLOC;
	struct gt_thread *t = gt_thread_own();
	struct gt_record_device *r;
	uint32_t name;

	if (!t || !gt_hsa_is_recording())
		return;
	/* gt_string_id() may write a record, so it is called before the reservation. */
	name = gt_string_id(t, names[operation], strlen(names[operation]));
	gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	r = gt_ring_reserve(t, sizeof *r, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE);
	if (!r)
		return;
	*r = (struct gt_record_device){
		.head = {sizeof *r / 8, GT_RECORD_DEVICE, GT_DEVICE_SCRATCH,
			 GT_DEVICE_REF(GT_DOMAIN_HSA_CORE, q->agent->number)},
		.id = s->id,
		.call_start = s->called,
		.queue = q->number,
		.name = name,
		.start = s->start,
		.end = end > s->start ? end : s->start + 1,
		.bytes = given ? e->bytes : 0,
		.object = {s->address, GT_SCRATCH_DETAIL(operation + GT_SCRATCH_ALLOC, e->flags,
							 given ? e->queue->scratch_lane_bytes : 0,
							 given ? e->slots : 0)},
	};
	gt_ring_commit(t, sizeof *r);
}

static void end_scratch(struct gt_hsa_queue *q, struct gt_hsa_scratch *s,
			const struct gt_hsa_scratch_event *e, uint32_t operation)
{
	const struct gt_hsa_times times = {s->start, get_system_time()};

	if (operation == GT_HSA_SCRATCH_ALLOC)
		s->address = e->queue->scratch_address;
	if (s->tool_activity) {
		struct gputap_activity *w = &s->tool_activity->activity;

		w->bytes = operation == GT_HSA_SCRATCH_ALLOC ? e->bytes : 0;
		w->destination = s->address;
		w->private_bytes =
			operation == GT_HSA_SCRATCH_ALLOC ? e->queue->scratch_lane_bytes : 0;
		gt_tool_activity_exit(s->tool_activity);
		gt_hsa_complete_tool_activity(s->tool_activity, q->agent, &times);
		s->tool_activity = NULL;
	}
	if (s->start && times.end)
		write_scratch(q, s, e, operation, times.end);
	s->start = 0;
}

static int on_scratch_event(uint32_t at, const struct gt_hsa_scratch_event *e)
{
	struct gt_hsa_queue *q = find_real_queue(e->queue);

	if (q && at % 2 == 0)
		begin_scratch(q, &q->scratch[at / 2], e, at / 2);
	else if (q)
		end_scratch(q, &q->scratch[at / 2], e, at / 2);
	return gt_hsa_tools_table_next(next, at, e);
}

GT_HSA_TOOLS_FUNCTIONS(ours, on_scratch_event);

void gt_hsa_scratch_attach(const struct gt_hsa_runtime *runtime)
{
	struct gt_hsa_tools_table *table =
		gt_hsa_has(runtime->tables, tools) ? runtime->tables->tools : NULL;

	if (table && !runtime->instance)
		gt_hsa_tools_table_put(table, ours, next);
}
