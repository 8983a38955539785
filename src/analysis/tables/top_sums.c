/* SPDX-License-Identifier: MIT */
/* See top_sums.h. */
#include "analysis/tables/top_sums.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/model/ranges.h"
#include "analysis/model/view.h"
#include "record/operation.h"
#include "util/demangle.h"

static struct top_row *get_row(struct top_rows *r, uint32_t name)
{
	uint32_t found = idmap_get(&r->by_name, name);

	if (found != LOOKUP_NONE)
		return &r->rows[found];
	GROW_LIST(r->rows, r->count, r->room);
	idmap_put(&r->by_name, name, r->count);
	r->rows[r->count] = (struct top_row){.name = name};
	return &r->rows[r->count++];
}

static void add_to_row(struct top_rows *r, uint32_t name, uint64_t ns, uint64_t bytes)
{
	struct top_row *row = get_row(r, name);

	row->count++;
	row->all_count++;
	row->ns += ns;
	row->all_ns += ns;
	row->bytes += bytes;
	row->all_bytes += bytes;
}

static void begin_rows(struct top_rows *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		r->rows[i].count = r->rows[i].ns = r->rows[i].bytes = 0;
}

void top_sums_begin(struct top_sums *s)
{
	begin_rows(&s->kernels);
	begin_rows(&s->calls);
	begin_rows(&s->copies);
	for (uint32_t i = 0; i < s->device_count; i++)
		s->devices[i].activity = 0;
	s->activity = s->call_count = 0;
}

/* Devices ---------------------------------------------------------------------------- */

/* Return the device of an item. Devices keep their numbers while a capture grows. */
static struct top_device *get_device(struct top_sums *s, const struct gt_capture *c,
				     const struct gt_item *item)
{
	uint32_t device = item->queue ? item->queue->device_index : UINT32_MAX;
	const struct gt_object_info *object;

	if (device >= gt_capture_device_count(c))
		return NULL;
	if (device >= s->device_count) {
		s->devices =
			resize_list(s->devices, s->device_count, device + 1, sizeof *s->devices);
		s->device_count = device + 1;
	}
	object = gt_capture_device(c, device);
	if (!s->devices[device].name) {
		const char *name = object ? gt_object_called(object) : NULL;

		s->devices[device].name = strdup(name ? name : "");
		s->devices[device].kept_from_ns = s->begin_ns;
	}
	return &s->devices[device];
}

static void add_span(struct top_device *d, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < d->kept_from_ns) /* earlier times are no longer needed */
		start_ns = end_ns < d->kept_from_ns ? end_ns : d->kept_from_ns;
	if (start_ns >= end_ns)
		return;
	GROW_LIST(d->spans, d->count, d->room);
	d->spans[d->count++] = (struct top_span){start_ns, end_ns};
}

static int compare_spans(const void *a, const void *b)
{
	const struct top_span *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void settle_device(struct top_device *d, uint64_t keep_from_ns)
{
	size_t count = 0, gone = 0;

	if (d->count)
		qsort(d->spans, d->count, sizeof *d->spans, compare_spans);
	for (size_t i = 0; i < d->count; i++) {
		struct top_span *last = count ? &d->spans[count - 1] : NULL;

		if (last && d->spans[i].start_ns <= last->end_ns) {
			if (d->spans[i].end_ns > last->end_ns)
				last->end_ns = d->spans[i].end_ns;
		} else {
			d->spans[count++] = d->spans[i];
		}
	}
	while (gone < count && d->spans[gone].end_ns < keep_from_ns) {
		d->past_ns += d->spans[gone].end_ns - d->spans[gone].start_ns;
		d->kept_from_ns = d->spans[gone++].end_ns;
	}
	if (gone)
		memmove(d->spans, d->spans + gone, (count - gone) * sizeof *d->spans);
	d->count = count - gone;
}

void top_sums_settle(struct top_sums *s, uint64_t keep_from_ns)
{
	for (uint32_t i = 0; i < s->device_count; i++)
		settle_device(&s->devices[i], keep_from_ns);
}

uint64_t top_device_busy(const struct top_device *d, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t busy = 0;

	for (size_t i = 0; i < d->count; i++) {
		uint64_t start = d->spans[i].start_ns > from_ns ? d->spans[i].start_ns : from_ns;
		uint64_t end = d->spans[i].end_ns < to_ns ? d->spans[i].end_ns : to_ns;

		busy += end > start ? end - start : 0;
	}
	return busy;
}

uint64_t top_device_all_busy(const struct top_device *d)
{
	uint64_t busy = d->past_ns;

	for (size_t i = 0; i < d->count; i++)
		busy += d->spans[i].end_ns - d->spans[i].start_ns;
	return busy;
}

/* Records ---------------------------------------------------------------------------- */

/* Note a kernel's name, once for each name, because demangling takes longer than counting. */
static uint32_t put_kernel_name(struct top_sums *s, const struct gt_capture *c,
				const struct gt_item *item)
{
	uint64_t key = (uint64_t)item->process << 32 | item->name;
	uint32_t name = item->name ? idmap_get(&s->kernel_names, key) : LOOKUP_NONE;
	const char *text;
	char *readable;

	if (name != LOOKUP_NONE)
		return name;
	if (!item->name)
		return texts_put(&s->names, gt_device_op_name(item->device_op));
	text = gt_capture_string(c, item->process, item->name);
	if (!*text) /* the name is in a block of another thread, which follows later */
		return LOOKUP_NONE;
	readable = gt_demangle(text);
	name = texts_put(&s->names, readable ? readable : text);
	free(readable);
	idmap_put(&s->kernel_names, key, name);
	return name;
}

static void add_unnamed(struct top_sums *s, const struct gt_item *item, uint64_t ns)
{
	struct top_unnamed *u = NULL;

	for (size_t i = 0; i < s->unnamed_count && !u; i++)
		if (s->unnamed[i].row.name == item->name && s->unnamed[i].process == item->process)
			u = &s->unnamed[i];
	if (!u) {
		GROW_LIST(s->unnamed, s->unnamed_count, s->unnamed_room);
		u = &s->unnamed[s->unnamed_count++];
		*u = (struct top_unnamed){.row.name = item->name, .process = item->process};
	}
	u->row.count++;
	u->row.ns += ns;
}

static void add_kernel(struct top_sums *s, const struct gt_capture *c, const struct gt_item *item,
		       uint64_t ns)
{
	uint32_t name = put_kernel_name(s, c, item);

	if (name == LOOKUP_NONE)
		add_unnamed(s, item, ns);
	else
		add_to_row(&s->kernels, name, ns, 0);
}

/* Name the kernels whose names have become known. */
static void name_kernels(struct top_sums *s, const struct gt_capture *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->unnamed_count; i++) {
		const struct top_unnamed u = s->unnamed[i];
		struct gt_item item = {.process = u.process, .name = u.row.name};
		uint32_t name = put_kernel_name(s, c, &item);
		struct top_row *row;

		if (name == LOOKUP_NONE) {
			s->unnamed[kept++] = u;
			continue;
		}
		row = get_row(&s->kernels, name);
		row->count += u.row.count;
		row->all_count += u.row.count;
		row->ns += u.row.ns;
		row->all_ns += u.row.ns;
	}
	s->unnamed_count = kept;
}

static void add_activity(struct top_sums *s, const struct gt_capture *c, const struct gt_item *item)
{
	bool timed = item->start_ns && item->end_ns >= item->start_ns;
	uint64_t ns = timed ? item->end_ns - item->start_ns : 0;
	struct top_device *d = get_device(s, c, item);

	s->activity++;
	s->all_activity++;
	switch (gt_view_activity_class(item->device_op)) {
	case GT_ACTIVITY_MARK: return;
	case GT_ACTIVITY_KERNEL: add_kernel(s, c, item, ns); break;
	default:
		add_to_row(&s->copies, texts_put(&s->names, gt_device_op_name(item->device_op)), ns,
			   item->bytes);
	}
	if (!d)
		return;
	d->activity++;
	d->all_activity++;
	if (timed)
		add_span(d, item->start_ns, item->end_ns);
}

static void add_call(struct top_sums *s, const struct gt_item *item)
{
	if (gt_mark_of(item->op) != GT_MARK_NONE)
		return;
	s->call_count++;
	s->all_call_count++;
	add_to_row(&s->calls, texts_put(&s->names, gt_operation_name(item->op)),
		   item->end_ns > item->start_ns ? item->end_ns - item->start_ns : 0, 0);
}

/* Count lost records. TORN: records that a reader cannot see; here, all records before them have
 * been read. UNFINISHED: records that live processes may still complete. */
static uint64_t count_lost(const struct gt_counts *counts, bool ended)
{
	uint64_t lost = 0;

	for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
		for (int k = 0; k < GT_CLASS_COUNT * GT_DOMAIN_COUNT; k++)
			if (why != GT_DROP_CORRUPT && (why != GT_DROP_UNFINISHED || ended))
				lost += counts->dropped[why][k / GT_DOMAIN_COUNT]
						       [k % GT_DOMAIN_COUNT];
	return lost;
}

static void note_session(struct top_sums *s, const struct gt_capture *c)
{
	char command[1024];

	s->dropped = 0;
	s->processes = (uint32_t)gt_capture_process_count(c);
	s->ended = 0;
	for (uint32_t i = 0; i < s->processes; i++) {
		const struct gt_counts *counts = gt_capture_counts(c, i);
		const struct gt_process_info *p = gt_capture_process(c, i);

		s->ended += p && p->ended;
		s->dropped += counts ? count_lost(counts, p && p->ended) : 0;
	}
	free(s->command);
	s->command =
		strdup(gt_view_command(gt_capture_session(c)->command, command, sizeof command));
}

int top_sums_add(struct top_sums *s, const struct gt_capture *c)
{
	const struct gt_item *item;
	struct gt_cursor *cursor;
	int status = gt_cursor_create(c, &cursor);

	note_session(s, c);
	name_kernels(s, c);
	while (!status && (status = gt_cursor_next(cursor, &item)) == 1) {
		status = 0;
		if (item->kind == GT_RECORD_DEVICE)
			add_activity(s, c, item);
		else if (item->kind == GT_RECORD_CALL)
			add_call(s, item);
	}
	gt_cursor_destroy(cursor);
	return status;
}

void top_sums_fini(struct top_sums *s)
{
	struct top_rows *rows[] = {&s->kernels, &s->calls, &s->copies};

	for (int i = 0; i < 3; i++) {
		free(rows[i]->rows);
		idmap_fini(&rows[i]->by_name);
	}
	for (uint32_t i = 0; i < s->device_count; i++) {
		free(s->devices[i].name);
		free(s->devices[i].spans);
	}
	free(s->devices);
	free(s->unnamed);
	free(s->command);
	idmap_fini(&s->kernel_names);
	texts_fini(&s->names);
	*s = (struct top_sums){.activity = 0};
}
