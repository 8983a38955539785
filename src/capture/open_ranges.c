/* SPDX-License-Identifier: MIT */
/* See open_ranges.h. Uses a single list, because only a few ranges are open at the same time. */
#include "capture/open_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/operation.h"
#include "util/error.h"
#include "util/grow.h"

enum { OPEN_MOST = 1 << 16, BYTES_MOST = 4 << 20 };

static inline uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static void remove_range(struct gt_open_ranges *o, size_t i)
{
	o->bytes -= (uint64_t)o->list[i].words * 8;
	free(o->list[i].record);
	memmove(o->list + i, o->list + i + 1, (--o->count - i) * sizeof *o->list);
}

static void add_range(struct gt_open_ranges *o, struct gt_open_range range, const uint64_t *r,
		      uint32_t words, uint64_t head)
{
	struct gt_open_range *more;

	if (o->count == OPEN_MOST)
		remove_range(o, 0);
	more = gt_grow(o->list, o->count, &o->room, sizeof *more);
	if (!more)
		return;
	o->list = more;
	range.record = o->bytes + words * 8u <= BYTES_MOST ? malloc(words * 8u) : NULL;
	range.words = range.record ? words : 0;
	for (uint32_t i = 0; i < range.words; i++)
		range.record[i] = i ? load(r + i) : head;
	o->bytes += (uint64_t)range.words * 8;
	o->list[o->count++] = range;
}

static void end_newest(struct gt_open_ranges *o, uint32_t process, uint32_t ordinal,
		       enum gt_open_kind kind)
{
	for (size_t i = o->count; i-- > 0;)
		if (o->list[i].process == process && o->list[i].ordinal == ordinal &&
		    o->list[i].kind == kind) {
			remove_range(o, i);
			return;
		}
}

static void end_started(struct gt_open_ranges *o, uint32_t process, uint64_t id)
{
	for (size_t i = o->count; i-- > 0;)
		if (o->list[i].process == process && o->list[i].kind == GT_OPEN_STARTED &&
		    o->list[i].id == id) {
			remove_range(o, i);
			return;
		}
}

/* Return the number of the range that a call starts or stops: an argument or the result of the
 * call. */
static uint64_t find_id(const struct gt_operation_info *info, const uint64_t *r, uint32_t words)
{
	for (uint32_t i = 0; i < info->nargs; i++)
		if (info->args[i].role == GT_ROLE_RANGE)
			return 5 + i < words ? load(r + 5 + i) : 0;
	return load(r + 4);
}

static void look_at_call(struct gt_open_ranges *o, struct gt_open_range range, const uint64_t *r,
			 uint32_t words, uint64_t head)
{
	const struct gt_operation_info *info = gt_operation((uint32_t)(head >> 32));

	if (!info || words < 5)
		return;
	switch (info->mark) {
	case GT_MARK_PUSH:
		range.kind = GT_OPEN_PUSHED;
		add_range(o, range, r, words, head);
		break;
	case GT_MARK_POP: end_newest(o, range.process, range.ordinal, GT_OPEN_PUSHED); break;
	case GT_MARK_START:
		range.kind = GT_OPEN_STARTED;
		range.id = find_id(info, r, words);
		add_range(o, range, r, words, head);
		break;
	case GT_MARK_STOP: end_started(o, range.process, find_id(info, r, words)); break;
	default: break;
	}
}

static void look_at_external(struct gt_open_ranges *o, struct gt_open_range range,
			     const uint64_t *r, uint32_t words, uint64_t head)
{
	range.kind = head >> 32 == GT_EXTERNAL_OPERATION ? GT_OPEN_OPERATION : GT_OPEN_USER;
	if (head >> 24 & 0xff)
		add_range(o, range, r, words, head);
	else
		end_newest(o, range.process, range.ordinal, range.kind);
}

void gt_open_ranges_look(struct gt_open_ranges *o, uint32_t process, uint32_t ordinal,
			 const void *data, size_t bytes)
{
	const uint64_t *r = data, *end = r + bytes / 8;
	const struct gt_open_range range = {.process = process, .ordinal = ordinal};

	while (r < end) {
		uint64_t head = load(r);
		uint32_t words = head & 0xffff, kind = head >> 16 & 0xff, domain = head >> 56;

		if (!words || words > (size_t)(end - r))
			return; /* the encoder reports the bad record */
		if (kind == GT_RECORD_CALL) {
			if (__builtin_expect(domain < GT_DOMAIN_COUNT &&
						     gt_domain_traits[domain].marks,
					     0))
				look_at_call(o, range, r, words, head);
		} else if (kind == GT_RECORD_EXTERNAL &&
			   words >= sizeof(struct gt_record_external) / 8) {
			look_at_external(o, range, r, words, head);
		}
		r += words;
	}
}

void gt_open_ranges_end(struct gt_open_ranges *o, uint32_t process, uint32_t ordinal)
{
	for (size_t i = o->count; i-- > 0;)
		if (o->list[i].process == process &&
		    (!ordinal ||
		     (o->list[i].ordinal == ordinal && o->list[i].kind != GT_OPEN_STARTED)))
			remove_range(o, i);
}

/* Write the open ranges of entry @first's thread. */
static int write_thread(const struct gt_open_ranges *o, size_t first, struct gt_capture_writer *to)
{
	const struct gt_open_range *range = &o->list[first];
	struct gt_stream *stream;
	int status = gt_capture_stream_create(to, range->process, range->ordinal, &stream);

	if (status)
		return status;
	for (size_t i = first; i < o->count && !status; i++)
		if (o->list[i].words && o->list[i].process == range->process &&
		    o->list[i].ordinal == range->ordinal)
			status = gt_capture_write_records(stream, o->list[i].record,
							  o->list[i].words * 8u, NULL);
	gt_capture_stream_destroy(stream);
	return status;
}

static bool is_first_of_thread(const struct gt_open_ranges *o, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (o->list[k].process == o->list[i].process &&
		    o->list[k].ordinal == o->list[i].ordinal)
			return false;
	return true;
}

int gt_open_ranges_write(const struct gt_open_ranges *o, struct gt_capture_writer *to)
{
	int status = 0;

	for (size_t i = 0; i < o->count && !status; i++)
		if (is_first_of_thread(o, i))
			status = write_thread(o, i, to);
	return status ? status : gt_capture_flush(to);
}

void gt_open_ranges_fini(struct gt_open_ranges *o)
{
	while (o->count)
		free(o->list[--o->count].record);
	free(o->list);
	o->list = NULL;
}
