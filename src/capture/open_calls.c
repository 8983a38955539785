/* SPDX-License-Identifier: MIT */
/* Calls that had not returned when the collector looked (GT_RECORD_OPEN). The collector may have
 * looked several times, for example for a snapshot and at the end of the process. All records of
 * one look have the same time, and the records of a process's last look count. A record with id 0
 * says that no call was open any more. */
#include <errno.h>
#include <stdlib.h>

#include "capture/reader.h"
#include "util/error.h"

int gt_open_call_read(struct gt_capture *c, uint32_t process, const struct gt_record_open *r)
{
	int status = GT_LIST_ADD(c, open_records, open_record_count, open_record_room);

	if (!status)
		c->open_records[c->open_record_count++] = (struct open_call){process, *r};
	return status;
}

static uint64_t host_ns(const struct gt_capture *c, uint32_t process, uint64_t ticks)
{
	return ticks ? gt_host_clock_to_ns(gt_session_of(c, process)->host, ticks) : 0;
}

static struct gt_open_call_info make_info(const struct gt_capture *c, const struct open_call *o)
{
	const struct gt_record_open *r = &o->record;
	const uint32_t state = r->state & 0xff;
	const char *text = gt_capture_string(c, o->process, (uint32_t)r->text);

	return (struct gt_open_call_info){
		.process = o->process,
		.ordinal = (uint32_t)r->ordinal,
		.op = r->head.op,
		.state = state < GT_HOST_STATE_COUNT ? (enum gt_host_state)state
						     : GT_HOST_STATE_UNKNOWN,
		.system_call = (uint32_t)(r->state >> 8),
		.id = r->id,
		.start_ns = host_ns(c, o->process, r->start),
		.seen_ns = host_ns(c, o->process, r->seen),
		.communicator = r->communicator,
		.sequence = r->sequence,
		.peer = r->peer,
		.text = text ? text : "",
	};
}

static int compare_open_calls(const void *a, const void *b)
{
	const struct gt_open_call_info *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

int gt_open_calls_finish(struct gt_capture *c)
{
	const size_t count = c->open_record_count;
	struct gt_open_call_info *list = count ? calloc(count, sizeof *list) : NULL;
	int status;

	if (!count)
		return 0;
	if (!list)
		return gt_error(-ENOMEM, "cannot store the open calls of capture %s",
				c->files[0].path);
	c->open_calls = list;
	for (size_t i = 0; i < count; i++)
		list[i] = make_info(c, &c->open_records[i]);
	status = gt_sort_stable(list, count, sizeof *list, compare_open_calls);
	if (status)
		return status;
	for (size_t first = 0, end; first < count; first = end) {
		uint64_t seen_ns = 0;

		for (end = first; end < count && list[end].process == list[first].process; end++)
			if (list[end].seen_ns > seen_ns)
				seen_ns = list[end].seen_ns;
		for (size_t i = first; i < end; i++)
			if (list[i].seen_ns == seen_ns && list[i].id)
				list[c->open_call_count++] = list[i];
	}
	return 0;
}

const struct gt_open_call_info *gt_capture_open_calls(const struct gt_capture *c, size_t *count)
{
	*count = c->open_call_count;
	return c->open_calls;
}
