/* SPDX-License-Identifier: MIT */
#include "capture/scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cursor.h"
#include "clock/line.h"
#include "record/operation.h"
#include "util/error.h"

enum {
	MARKS = 1u << GT_MARK_INSTANT | 1u << GT_MARK_RANGE | 1u << GT_MARK_PUSH |
		1u << GT_MARK_POP | 1u << GT_MARK_START | 1u << GT_MARK_STOP,
	PAIRS = 1u << GT_MARK_PUSH | 1u << GT_MARK_POP | 1u << GT_MARK_START | 1u << GT_MARK_STOP,
};

bool gt_scope_has_marker(uint32_t op)
{
	const struct gt_operation_info *info = gt_operation(op);

	return info && PAIRS >> info->mark & 1;
}

bool gt_block_has_marks(const struct stream_block *b)
{
	return b->marks & MARKS;
}

/* Return true if an event between two stamps may overlap a span. Time increases along a line, but
 * may jump back between lines. */
static bool has_stamps(const struct scope *s, const struct gt_clock_lines *lines, uint64_t first,
		       uint64_t last)
{
	const struct gt_clock_line *line = gt_clock_lines_find(lines, first);
	const struct gt_clock_line *end = lines->list + lines->count;
	uint64_t from_ns = UINT64_MAX, to_ns = 0;

	for (; line < end && line->from <= last; line++) {
		uint64_t low = gt_clock_line_convert(line, first > line->from ? first : line->from);
		uint64_t high = gt_clock_line_convert(line, last < line->to ? last : line->to);

		if (!low || high < low) /* the stamps are outside the clock's range */
			return true;
		from_ns = low < from_ns ? low : from_ns;
		to_ns = high > to_ns ? high : to_ns;
	}
	return gt_scope_overlaps(s, from_ns, to_ns);
}

static bool has_activity(const struct gt_capture *c, const struct scope *s,
			 const struct stream_block *b)
{
	for (uint32_t i = 0; i < b->device_count; i++) {
		const struct gt_file_device *d = &c->activity_times[b->first_device + i];
		const struct gt_device_clock *clock =
			gt_device_clock_find(c, b->process, GT_DEVICE_REF_NUMBER(d->device));

		if (d->untimed)
			return true;
		if (clock ? has_stamps(s, gt_device_clock_lines(clock), d->first_start, d->last_end)
			  : gt_scope_overlaps(s, d->first_start, d->last_end))
			return true;
	}
	return false;
}

bool gt_scope_has_block(const struct gt_capture *c, const struct scope *s,
			const struct stream_block *b)
{
	if (b->marks & (PAIRS | GT_FILE_EXTERNAL | GT_FILE_HOST) || b->unbounded)
		return true;
	if (b->first_ticks <= b->last_ticks &&
	    has_stamps(s, gt_host_clock_lines(gt_session_of(c, b->process)->host), b->first_ticks,
		       b->last_ticks))
		return true;
	return has_activity(c, s, b);
}

void gt_scope_put(struct scope *s)
{
	if (!s || atomic_fetch_sub(&s->users, 1) > 1)
		return;
	free(s->spans);
	free(s->processes);
	free(s);
}

/* Copy a scope. Return NULL with a cause if out of memory. */
static struct scope *make_scope(const struct gt_capture *c, const struct gt_scope *scope)
{
	struct scope *s = calloc(1, sizeof *s);

	if (s)
		s->spans = calloc(scope->count + 1, sizeof *s->spans);
	if (s && scope->processes)
		s->processes = malloc(c->process_count + 1);
	if (!s || !s->spans || (scope->processes && !s->processes)) {
		if (s)
			free(s->spans);
		free(s);
		gt_error(-ENOMEM, "cannot store the part of capture %s", c->files[0].path);
		return NULL;
	}
	memcpy(s->spans, scope->spans, scope->count * sizeof *s->spans);
	if (scope->processes)
		memcpy(s->processes, scope->processes, c->process_count);
	s->count = scope->count;
	s->read_all = scope->read_all;
	atomic_init(&s->users, 1);
	return s;
}

int gt_capture_set_scope(struct gt_capture *c, const struct gt_scope *scope)
{
	gt_scope_put(c->scope);
	c->scope = scope ? make_scope(c, scope) : NULL;
	return scope && !c->scope ? -ENOMEM : 0;
}

int gt_cursor_take_scope(struct gt_cursor *k, const struct gt_scope *scope)
{
	struct scope *s = make_scope(k->capture, scope);

	if (!s)
		return -ENOMEM;
	gt_scope_put(k->scope);
	k->scope = s;
	return 0;
}

/* Return the capture's device index of the block's @i-th device; UINT32_MAX: unknown. */
static uint32_t find_device(const struct gt_capture *c, const struct stream_block *b, uint32_t i)
{
	const struct gt_object_info *device =
		gt_capture_object_find(c, b->process, GT_OBJECT_DEVICE,
				       GT_DEVICE_REF_NUMBER(
					       c->activity_times[b->first_device + i].device));

	return device ? device->device_index : UINT32_MAX;
}

int gt_capture_add_sharing(const struct gt_capture *c, bool *processes)
{
	bool *used = calloc(c->device_count + 1, sizeof *used), *wanted;

	wanted = used ? malloc(c->process_count + 1) : NULL;
	if (!wanted) {
		free(used);
		return gt_error(-ENOMEM, "cannot store the part of capture %s", c->files[0].path);
	}
	memcpy(wanted, processes, c->process_count);
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < c->block_count; i++) {
			const struct stream_block *b = &c->blocks[i];
			const bool unknown = b->unbounded && b->flags & GT_BLOCK_DEVICE;

			if (unknown) /* the activities may be on any device */
				memset(turn ? processes + b->process : used, 1,
				       turn ? 1 : c->device_count);
			for (uint32_t k = 0; k < b->device_count; k++) {
				uint32_t device = find_device(c, b, k);

				if (device >= c->device_count)
					processes[b->process] = true;
				else if (!turn)
					used[device] |= wanted[b->process];
				else
					processes[b->process] |= used[device];
			}
		}
	free(used);
	free(wanted);
	return 0;
}

void gt_capture_each_device(const struct gt_capture *c,
			    void (*each)(void *data, uint32_t process, uint32_t ref), void *data)
{
	for (size_t i = 0; i < c->block_count; i++)
		for (uint32_t k = 0; k < c->blocks[i].device_count; k++)
			each(data, c->blocks[i].process,
			     c->activity_times[c->blocks[i].first_device + k].device);
}

uint64_t gt_capture_last_call_ns(const struct gt_capture *c, size_t session)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < c->block_count; i++) {
		const struct stream_block *b = &c->blocks[i];
		uint64_t ns;

		if (c->processes[b->process].session != session || b->first_ticks > b->last_ticks)
			continue;
		ns = gt_host_clock_to_ns(gt_session_of(c, b->process)->host, b->last_ticks);
		last_ns = ns > last_ns ? ns : last_ns;
	}
	return last_ns;
}
