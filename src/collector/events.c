/* SPDX-License-Identifier: MIT */
/* Events that the collector, not the program, writes.
 *
 * A call that was open when its process died has no record. However, when the call started, its id
 * and the number of its operation were stored in the slot (gt_slot_domain.newest), and the encoder
 * knows the highest id in the records. Ids of a thread increase, so the newest call of a thread and
 * domain is open if its id is higher. If its id is not higher, an older call around it may be open,
 * but it is unknown which call.
 * Open calls are also unknown if records were lost on their way, or after the collector's own
 * death, because no encoder then knows the ids that the collector had read. */
#include "collector/events.h"

#include <stdio.h>
#include <string.h>

#include "collector/announce.h"
#include "collector/batch.h"
#include "collector/guard.h"
#include "record/operation.h"
#include "util/error.h"

enum { TEXT_BYTES = 256 };

union event_record {
	struct gt_record_event event;
	char room[sizeof(struct gt_record_event) + TEXT_BYTES];
};

struct open_call {
	uint64_t id;
	uint32_t op; /* GT_OP() without arguments */
};

int gt_event_write(struct gt_drain *d, uint32_t process, enum gt_event_code code,
		   enum gt_domain domain, uint64_t ticks, uint64_t value, const char *text)
{
	union event_record e = {.room = ""};
	struct gt_counts counts = {0};
	struct gt_stream *stream;
	size_t bytes;
	int status;

	snprintf(e.event.text, TEXT_BYTES, "%s", text);
	e.event.bytes = strlen(e.event.text);
	e.event.time = ticks;
	e.event.value = value;
	bytes = (sizeof e.event + e.event.bytes + 7) & ~(size_t)7;
	e.event.head = (struct gt_record){(uint16_t)(bytes / 8), GT_RECORD_EVENT, (uint8_t)domain,
					  (uint32_t)code};
	status = gt_capture_stream_create(d->writer, process, 1, &stream);
	if (status)
		return status;
	status = gt_capture_write_records(stream, (const uint8_t *)&e, bytes, &counts);
	gt_capture_stream_destroy(stream);
	return status;
}

/* Read the newest calls of a slot's thread, one per domain, and the ordinal of the thread. Return
 * false if there are no calls or they cannot be read. */
static bool read_newest(struct gt_drain *d, struct gt_process *process, uint32_t i,
			uint64_t words[GT_DOMAIN_COUNT], uint32_t *ordinal)
{
	const struct gt_slot *slot = gt_process_slot(process, i);
	volatile bool active;

	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return false;
	}
	active = atomic_load_explicit(&slot->state, memory_order_acquire) == GT_SLOT_ACTIVE;
	*ordinal = slot->ordinal;
	for (int k = 0; active && k < GT_DOMAIN_COUNT; k++)
		words[k] = atomic_load_explicit(&slot->domains[k].newest, memory_order_relaxed);
	gt_guard_end();
	return active;
}

/* Return true if @word is a value that the start of a call stores, and the call has no record. */
static bool is_open(const struct gt_ring *ring, enum gt_domain domain, uint64_t word,
		    uint32_t ordinal, struct open_call *call)
{
	uint64_t rest = word - GT_ID(ordinal, 0);
	uint64_t sequence = rest & ((UINT64_C(1) << GT_CALL_NUMBER_SHIFT) - 1);

	*call = (struct open_call){GT_ID(ordinal, sequence),
				   GT_OP(domain, rest >> GT_CALL_NUMBER_SHIFT, 0)};
	return word && sequence && sequence == GT_ID_SEQ(sequence) && gt_operation(call->op) &&
	       (!ring->stream || call->id > gt_capture_stream_newest_call(ring->stream, domain));
}

/* Find the open calls of a thread, outermost first. Return their number. */
static unsigned find_open_calls(struct gt_drain *d, struct gt_process *process, uint32_t i,
				const struct gt_counts *counts,
				struct open_call calls[GT_DOMAIN_COUNT])
{
	struct gt_ring *ring = &process->rings[i];
	uint64_t words[GT_DOMAIN_COUNT];
	uint32_t ordinal;
	unsigned n = 0;

	if (ring->broken || ring->done || !read_newest(d, process, i, words, &ordinal) ||
	    (ring->stream && ring->ordinal != ordinal))
		return 0;
	ring->ordinal = ordinal;
	for (unsigned k = 0; k < GT_DOMAIN_COUNT; k++) {
		struct open_call call;
		unsigned at;

		if (!counts->dropped[GT_DROP_UNFINISHED][GT_CLASS_CALL][k] ||
		    counts->dropped[GT_DROP_OUTPUT][GT_CLASS_CALL][k] ||
		    !is_open(ring, (enum gt_domain)k, words[k], ordinal, &call))
			continue;
		for (at = n++; at && calls[at - 1].id > call.id; at--)
			calls[at] = calls[at - 1];
		calls[at] = call;
	}
	return n;
}

void gt_events_write_open_calls(struct gt_drain *d, struct gt_process *process,
				const struct gt_counts *counts)
{
	struct open_call calls[GT_DOMAIN_COUNT];
	struct gt_clock_tuple now = {0};

	if (d->recovering || process->torn || process->replaced)
		return;
	for (uint32_t i = 1; i < process->slots_used && i < process->rings_known && !process->lost;
	     i++) {
		unsigned n = find_open_calls(d, process, i, counts, calls);

		if (n && !now.ticks)
			gt_clock_tuple_take(d->folder->host_clock, &now);
		/* a thread without records is not in the capture yet */
		if (n && !process->rings[i].stream)
			gt_announce_thread(d, process, i);
		for (unsigned k = 0; k < n; k++)
			if (gt_event_write(d, process->index, GT_EVENT_OPEN_CALL,
					   (enum gt_domain)GT_OP_DOMAIN(calls[k].op), now.ticks,
					   process->rings[i].ordinal,
					   gt_operation_name(calls[k].op)))
				/* the file takes no more data, which is reported once, at the
				 * end */
				gt_error_clear();
	}
}

void gt_events_write_open_plugins(struct gt_drain *d, struct gt_process *process)
{
	struct gt_clock_tuple now = {0};
	volatile uint32_t open = 0;

	if (process->torn || process->lost)
		return;
	if (GT_GUARD()) {
		open = atomic_load_explicit(&process->segment->plugins_open, memory_order_relaxed);
		gt_guard_end();
	}
	if (!open)
		return;
	gt_clock_tuple_take(d->folder->session->host_clock, &now);
	if (gt_event_write(d, process->index, GT_EVENT_MISSING, GT_DOMAIN_PRIVATEUSE1, now.ticks,
			   open,
			   process->exited ? "the process ended without exit(): its plug-ins' last "
					     "records were not delivered"
					   : "the session ended before the process: its plug-ins' "
					     "last records were not delivered"))
		gt_error_clear(); /* the file takes no more data: reported once, at the end */
}
