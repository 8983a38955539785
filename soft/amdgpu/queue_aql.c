/* SPDX-License-Identifier: MIT */
/* AQL queues: the packet processor. Runs packets of 64 bytes in order.
 *
 * The doorbell is a hint that there may be more packets. Several producers may ring out of order,
 * so the limit is the write index at the time of ringing, and a packet is valid once its header is
 * no longer INVALID.
 * A packet ends in this order: header INVALID, read index, time stamps, completion signal, event of
 * the signal. The worker reads all needed fields of a signal before it decrements the signal,
 * because the host may then reuse the signal. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <string.h>

#include "soft/amdgpu/queue.h"

enum { PACKET_BYTES = 64, PM4_INDIRECT_BUFFER = 1 };

static int64_t signal_value(hsa_signal_t signal)
{
	return __atomic_load_n((int64_t *)&((amd_signal_t *)signal.handle)->value,
			       __ATOMIC_ACQUIRE);
}

static bool all_zero(const hsa_signal_t *signals)
{
	for (int i = 0; i < 5; i++)
		if (signals[i].handle && signal_value(signals[i]) != 0)
			return false;
	return true;
}

static bool any_zero(const hsa_signal_t *signals)
{
	bool none = true;

	for (int i = 0; i < 5; i++)
		if (signals[i].handle) {
			if (signal_value(signals[i]) == 0)
				return true;
			none = false;
		}
	return none;
}

static bool value_fits(const hsa_amd_barrier_value_packet_t *p)
{
	hsa_signal_value_t value;

	if (!p->signal.handle)
		return true;
	value = signal_value(p->signal) & p->mask;
	switch (p->cond) {
	case HSA_SIGNAL_CONDITION_EQ: return value == p->value;
	case HSA_SIGNAL_CONDITION_NE: return value != p->value;
	case HSA_SIGNAL_CONDITION_LT: return value < p->value;
	default: return value >= p->value;
	}
}

struct aql_packet {
	union {
		uint16_t header;
		hsa_kernel_dispatch_packet_t dispatch;
		hsa_barrier_and_packet_t barrier_and;
		hsa_barrier_or_packet_t barrier_or;
		hsa_amd_barrier_value_packet_t barrier_value;
		uint8_t bytes[PACKET_BYTES];
	};
};

static bool barrier_open(const struct aql_packet *p)
{
	switch (p->header & 0xff) {
	case HSA_PACKET_TYPE_BARRIER_AND: return all_zero(p->barrier_and.dep_signal);
	case HSA_PACKET_TYPE_BARRIER_OR: return any_zero(p->barrier_or.dep_signal);
	default: return value_fits(&p->barrier_value);
	}
}

static bool wait_barrier(struct soft_queue *q, const struct aql_packet *p, uint64_t *start,
			 uint64_t *end)
{
	struct soft_idle idle = {0};

	*start = soft_gpu_ticks(q->node);
	while (!barrier_open(p)) {
		if (soft_queue_stopped(q))
			return false;
		soft_value_wait(&idle);
	}
	*end = soft_gpu_ticks(q->node);
	return true;
}

/* Run a vendor packet. Return false if the queue must stop. */
static bool run_vendor(struct soft_queue *q, const struct aql_packet *p, uint64_t *start,
		       uint64_t *end)
{
	uint8_t format = p->bytes[2];

	if (format == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
		return wait_barrier(q, p, start, end);
	/* nothing to do for ROCr's flush of the instruction cache and for profilers' counters */
	if (format == PM4_INDIRECT_BUFFER) {
		*start = *end = soft_gpu_ticks(q->node);
		return true;
	}
	soft_queue_fail(q, SOFT_QUEUE_BAD_VENDOR_PACKET, "vendor packet of format %u", format);
	return false;
}

static bool run_packet(struct soft_queue *q, const struct aql_packet *p, const char *slot,
		       uint64_t id, uint64_t *start, uint64_t *end)
{
	switch (p->header & 0xff) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH: return soft_dispatch_run(q, slot, id, start, end);
	case HSA_PACKET_TYPE_BARRIER_AND:
	case HSA_PACKET_TYPE_BARRIER_OR: return wait_barrier(q, p, start, end);
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC: return run_vendor(q, p, start, end);
	default:
		soft_queue_fail(q, SOFT_QUEUE_BAD_PACKET, "packet %llu of type %u",
				(unsigned long long)id, p->header & 0xff);
		return false;
	}
}

static void complete_packet(struct soft_queue *q, hsa_signal_t completion, uint64_t start,
			    uint64_t end)
{
	amd_signal_t *signal = (amd_signal_t *)completion.handle;
	uint64_t mailbox;
	uint32_t event;

	if (!signal)
		return;
	mailbox = signal->event_mailbox_ptr;
	event = signal->event_id;
	if (__atomic_load_n(&q->aql->queue_properties, __ATOMIC_RELAXED) &
	    AMD_QUEUE_PROPERTIES_ENABLE_PROFILING) {
		__atomic_store_n(&signal->start_ts, start, __ATOMIC_RELAXED);
		__atomic_store_n(&signal->end_ts, end, __ATOMIC_RELAXED);
	}
	__atomic_fetch_sub((int64_t *)&signal->value, 1, __ATOMIC_ACQ_REL);
	soft_value_changed();
	if (mailbox) {
		__atomic_store_n((uint64_t *)mailbox, event, __ATOMIC_RELEASE);
		soft_event_signal(event);
	}
}

/* Run packets from @*read up to @limit. Return false if a packet is not written yet or the queue
 * stops. */
static bool run_ready(struct soft_queue *q, uint64_t *read, uint64_t limit)
{
	uint64_t mask = q->bytes / PACKET_BYTES - 1;

	while (*read < limit && !soft_queue_stopped(q)) {
		char *slot = q->ring + (*read & mask) * PACKET_BYTES;
		uint16_t header = __atomic_load_n((uint16_t *)slot, __ATOMIC_ACQUIRE);
		uint64_t start = 0, end = 0;
		struct aql_packet packet;

		if ((header & 0xff) == HSA_PACKET_TYPE_INVALID)
			return false;
		memcpy(&packet, slot, sizeof packet);
		packet.header = header;
		if (!run_packet(q, &packet, slot, *read, &start, &end))
			return false;
		q->packets++;
		__atomic_store_n((uint16_t *)slot, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
		__atomic_store_n(q->read_index, ++*read, __ATOMIC_RELEASE);
		/* at the same offset in all packets */
		complete_packet(q, packet.dispatch.completion_signal, start, end);
		if (!soft_scratch_done(q))
			return false;
	}
	return true;
}

void *soft_queue_aql_activity(void *queue)
{
	struct soft_queue *q = queue;
	uint64_t read = __atomic_load_n(q->read_index, __ATOMIC_RELAXED), limit = read,
		 seen = UINT64_MAX;
	struct soft_idle idle = {0};

	while (!soft_queue_stopped(q)) {
		uint64_t bell = __atomic_load_n(q->doorbell, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&q->suspended, __ATOMIC_ACQUIRE)) {
			soft_queue_halt(q);
			break;
		}
		if (bell != seen) {
			uint64_t write = __atomic_load_n(q->write_index, __ATOMIC_ACQUIRE);
			seen = bell;
			limit = write > limit ? write : limit;
			if (!__atomic_load_n(&q->called, __ATOMIC_RELAXED))
				/* the producer rang the doorbell before it stored the write
				 * index */
				limit = bell + 1 > limit ? bell + 1 : limit;
		}
		if (read >= limit) {
			soft_bell_wait(&q->bell, seen, &idle);
			continue;
		}
		if (run_ready(q, &read, limit))
			idle = (struct soft_idle){0};
		else
			soft_value_wait(&idle);
	}
	return NULL;
}
