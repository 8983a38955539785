/* SPDX-License-Identifier: MIT */
/* See picture.h. The first pass over the records finds the queues and threads, the busy time of
 * each, and the overall start and end. Rows are then chosen. The second pass fills them. */
#include "cli/picture.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/memory_tracks.h"
#include "analysis/model/ranges.h"
#include "analysis/model/view.h"
#include "analysis/tables/timeline.h"
#include "analysis/tables/waits.h"
#include "cli/picture_pauses.h"
#include "cli/ui.h"
#include "util/error.h"

enum { RANGE_ROWS_MOST = 8, NOT_SHOWN = -1 };

/* A queue, all queues of a device, or a thread. */
struct source {
	enum picture_kind kind;
	uint32_t device, stream, process, ordinal;
	const struct gt_view_thread *thread;
	const struct gt_view_queue *queue; /* queues: queue of the view */
	uint64_t count, sum_ns, first_ns;
	int64_t row;                /* index of the row, or NOT_SHOWN */
	struct picture_users users; /* devices and queues: their processes */
	/* threads: end of the time counted so far; calls are read in order of their start */
	uint64_t until_ns, wait_until_ns;
	struct timeline *spans; /* devices and queues: busy spans */
};

struct painter {
	struct picture *picture;
	const struct gt_capture *capture;
	struct gt_view view;
	struct source *sources;
	uint32_t source_count, source_room, device_room;
	struct idmap by_key; /* index of a queue in the view, or of a thread -> source */
	bool any, second;
	struct picture_finder pauses;
	struct gt_memory_use memory;
	uint32_t memory_row; /* row of the first memory track */
	struct ui_progress progress;
};

enum { KEY_QUEUE = 0, KEY_THREAD = 1, KEY_DEVICE = 2 };

/* Slices --------------------------------------------------------------------------- */

static int compare_durations(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Drop the shorter half of the slices. */
static void thin_slices(struct picture_slices *s)
{
	uint64_t *durations = allocate_list(s->count, sizeof *durations);
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		durations[i] = s->list[i].end_ns - s->list[i].start_ns;
	qsort(durations, s->count, sizeof *durations, compare_durations);
	s->shortest_ns = durations[s->count / 2] + 1;
	free(durations);
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].end_ns - s->list[i].start_ns >= s->shortest_ns)
			s->list[kept++] = s->list[i];
	s->left_out += s->count - kept;
	s->count = kept;
}

static void add_slice(struct picture_slices *s, const struct picture_slice *slice)
{
	if (!s->most)
		return;
	if (slice->end_ns - slice->start_ns < s->shortest_ns) {
		s->left_out++;
		return;
	}
	GROW_LIST(s->list, s->count, s->room);
	s->list[s->count++] = *slice;
	if (s->count > s->most)
		thin_slices(s);
}

static int compare_slices(const void *a, const void *b)
{
	const struct picture_slice *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns); /* sort the outer slice first */
}

static void sort_slices(struct picture_slices *s)
{
	if (s->count)
		qsort(s->list, s->count, sizeof *s->list, compare_slices);
}

/* Sources of rows ------------------------------------------------------------------ */

static struct source *get_source(struct painter *x, unsigned what, uint32_t number,
				 const struct source *like)
{
	uint64_t key = (uint64_t)what << 32 | number;
	uint32_t found = idmap_get(&x->by_key, key);

	if (found != LOOKUP_NONE)
		return &x->sources[found];
	GROW_LIST(x->sources, x->source_count, x->source_room);
	idmap_put(&x->by_key, key, x->source_count);
	x->sources[x->source_count] = *like;
	x->sources[x->source_count].row = NOT_SHOWN;
	return &x->sources[x->source_count++];
}

/* Return the source of a thread; NULL with a cause: out of memory. */
static struct source *get_thread(struct painter *x, uint32_t process, uint32_t ordinal)
{
	struct gt_view_thread *t = gt_view_thread(&x->view, process, ordinal);
	struct source like = {.kind = PICTURE_THREAD,
			      .device = UINT32_MAX,
			      .process = process,
			      .ordinal = ordinal,
			      .thread = t};

	return t ? get_source(x, KEY_THREAD, t->index, &like) : NULL;
}

static struct source *get_queue(struct painter *x, const struct gt_view_queue *q)
{
	struct source like = {.kind = PICTURE_QUEUE,
			      .device = q->device,
			      .stream = q->stream,
			      .queue = q};

	return get_source(x, KEY_QUEUE, q->index, &like);
}

static struct source *get_device(struct painter *x, uint32_t device)
{
	struct source like = {.kind = PICTURE_DEVICE, .device = device};

	return get_source(x, KEY_DEVICE, device, &like);
}

static void note_time(struct painter *x, uint64_t start_ns, uint64_t end_ns)
{
	struct picture *p = x->picture;

	if (!x->any || start_ns < p->start_ns)
		p->start_ns = start_ns;
	if (!x->any || end_ns > p->end_ns)
		p->end_ns = end_ns;
	x->any = true;
}

static bool is_shown_activity(const struct gt_item *item)
{
	return item->device_op != GT_DEVICE_MARKER && item->device_op != GT_DEVICE_BARRIER &&
	       item->device_op != GT_DEVICE_SCRATCH;
}

static int survey_activity(struct painter *x, const struct gt_item *item)
{
	struct gt_view_queue *q = gt_view_queue(&x->view, item);
	struct source *sources[2];

	if (!q)
		return -ENOMEM;
	if (!item->start_ns || item->end_ns < item->start_ns) {
		x->picture->untimed++;
		return 0;
	}
	note_time(x, item->start_ns, item->end_ns);
	for (int i = 0; i < 2; i++) {
		sources[i] = i ? get_device(x, q->device) : get_queue(x, q);
		picture_users_add(&sources[i]->users, item->process);
		sources[i]->count++;
		sources[i]->sum_ns += item->end_ns - item->start_ns;
	}
	return 0;
}

static int survey_call(struct painter *x, const struct gt_item *item)
{
	struct source *t = get_thread(x, item->process, item->ordinal);

	if (!t)
		return -ENOMEM;
	if (gt_mark_of(item->op) != GT_MARK_NONE) {
		/* a range that consists of one call ends here; other ranges end in another call */
		note_time(x, item->start_ns, item->end_ns);
		return 0;
	}
	if (item->end_ns < item->start_ns)
		return 0;
	note_time(x, item->start_ns, item->end_ns);
	if (!t->count++)
		t->first_ns = item->start_ns;
	if (item->end_ns > t->until_ns) {
		t->sum_ns += item->end_ns -
			     (item->start_ns > t->until_ns ? item->start_ns : t->until_ns);
		t->until_ns = item->end_ns;
	}
	return 0;
}

/* Rows ----------------------------------------------------------------------------- */

static struct picture_row *add_row(struct picture *p, enum picture_kind kind)
{
	struct picture_row *row;

	GROW_LIST(p->rows, p->row_count, p->row_room);
	row = &p->rows[p->row_count++];
	*row = (struct picture_row){.kind = kind, .device = UINT32_MAX, .pauses = UINT32_MAX};
	return row;
}

__attribute__((format(printf, 1, 2))) static char *make_text(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = allocate_list(1, 1);
	va_end(args);
	return text;
}

static char *describe_process(struct painter *x, uint32_t process)
{
	const struct gt_process_info *info = gt_capture_process(x->capture, process);
	char title[512];

	if (!info)
		return make_text("unknown process");
	return make_text("%s, pid %u", gt_view_process_title(&x->view, info, title, sizeof title),
			 info->pid);
}

/* Describe a thread. Show the tid of its machine, because the view changes tids to be unique over
 * all machines. */
static char *describe_thread(const struct painter *x, const struct gt_view_thread *t)
{
	const struct gt_process_info *info = gt_capture_process(x->capture, t->process);
	uint64_t added = info ? gt_view_pid(&x->view, t->process) - info->pid : 0;

	return make_text("%s %llu", t->name && *t->name ? t->name : "thread",
			 (unsigned long long)(t->tid - added));
}

static void find_pauses(struct painter *x, struct picture_row *row, struct picture_users *users)
{
	const struct picture *p = x->picture;

	row->pauses = picture_pauses_find(&x->pauses, users);
	row->known_ns = p->end_ns - p->start_ns - picture_paused_ns(p, row, p->start_ns, p->end_ns);
}

static void find_pauses_of(struct painter *x, struct picture_row *row, uint32_t process)
{
	struct picture_users one = {.list = &process, .count = 1, .room = 1};

	find_pauses(x, row, &one);
}

/* Describe a queue as in reports: with a number that is unique in its process. The process is named
 * if several processes have queues. */
static char *describe_queue(const struct painter *x, const struct gt_view_queue *q)
{
	bool several = false;
	const char *noun = gt_domain_queue_noun(q->object ? q->object->domain : GT_DOMAIN_NONE);

	if (!q->number)
		return make_text("unknown queue");
	for (uint32_t i = 0; i < x->source_count; i++)
		several |= x->sources[i].queue && x->sources[i].queue->process != q->process;
	return several ? make_text("%s %u, %llu", noun, q->number, (unsigned long long)q->pid)
		       : make_text("%s %u", noun, q->number);
}

static void show_source(struct painter *x, struct source *s)
{
	struct picture_row *row = add_row(x->picture, s->kind);
	size_t bins = x->picture->bins;
	char label[512];

	s->row = (int64_t)x->picture->row_count - 1;
	row->device = s->device;
	row->process = s->process;
	row->ordinal = s->ordinal;
	row->count = s->count;
	row->busy = allocate_list(bins, sizeof *row->busy);
	if (s->kind == PICTURE_THREAD) {
		row->wait = allocate_list(bins, sizeof *row->wait);
		row->group = describe_process(x, s->process);
		row->label = describe_thread(x, s->thread);
		s->until_ns = 0;
		find_pauses_of(x, row, s->process);
		return;
	}
	find_pauses(x, row, &s->users);
	row->group =
		make_text("%s", gt_view_device_label(&x->view, s->device, label, sizeof label));
	row->label =
		s->kind == PICTURE_DEVICE ? make_text("all queues") : describe_queue(x, s->queue);
	s->spans = allocate_list(1, sizeof *s->spans);
}

static int compare_places(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;
	bool threads = x->kind == PICTURE_THREAD;

	if (threads != (y->kind == PICTURE_THREAD))
		return threads ? 1 : -1;
	if (threads) {
		if (x->process != y->process)
			return x->process < y->process ? -1 : 1;
		return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
	}
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	/* the row for all queues of a device has stream 0 */
	return (x->stream > y->stream) - (x->stream < y->stream);
}

static int compare_sums(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;

	return (x->sum_ns < y->sum_ns) - (x->sum_ns > y->sum_ns);
}

/* Return true for the only queue of a device. */
static bool is_alone(const struct painter *x, const struct source *s)
{
	unsigned queues = 0;

	for (uint32_t i = 0; i < x->source_count; i++)
		queues += x->sources[i].kind == PICTURE_QUEUE && x->sources[i].device == s->device;
	return queues < 2;
}

/* Choose the queues and threads with the most time, @most of each kind, and sort them into display
 * order. */
static void choose_rows(struct painter *x)
{
	struct source **chosen =
		allocate_list(x->source_count ? x->source_count : 1, sizeof(void *));
	uint32_t count = 0;

	for (int kind = PICTURE_DEVICE; kind <= PICTURE_THREAD; kind++) {
		uint32_t from = count, most = (uint32_t)x->picture->rows_most;
		uint64_t *left_out = kind == PICTURE_THREAD ? &x->picture->threads_left_out
							    : &x->picture->queues_left_out;

		for (uint32_t i = 0; i < x->source_count; i++)
			if ((int)x->sources[i].kind == kind && x->sources[i].count &&
			    (kind != PICTURE_DEVICE || !is_alone(x, &x->sources[i])))
				chosen[count++] = &x->sources[i];
		qsort(chosen + from, count - from, sizeof *chosen, compare_sums);
		if (count - from > most) {
			*left_out += count - from - most;
			count = from + most;
		}
	}
	qsort(chosen, count, sizeof *chosen, compare_places);
	for (uint32_t i = 0; i < count; i++)
		show_source(x, chosen[i]);
	free(chosen);
}

/* Filling -------------------------------------------------------------------------- */

/* Add a time to the bins that it overlaps. */
static void fill_bins(const struct picture *p, uint64_t *bins, uint64_t start_ns, uint64_t end_ns)
{
	/* 128 bits: days in ns times thousands of bins */
	__uint128_t length = p->end_ns - p->start_ns ? p->end_ns - p->start_ns : 1;
	size_t bin = (size_t)((__uint128_t)(start_ns - p->start_ns) * p->bins / length);

	for (uint64_t at = start_ns; at < end_ns && bin < p->bins; bin++) {
		uint64_t next =
			p->start_ns + (uint64_t)((length * (bin + 1) + p->bins - 1) / p->bins);
		uint64_t end = next < end_ns ? next : end_ns;

		if (end > at) {
			bins[bin] += end - at;
			at = end;
		}
	}
}

struct filling {
	const struct picture *picture;
	struct picture_row *row;
};

static void fill_span(void *data, uint64_t start_ns, uint64_t end_ns)
{
	const struct filling *f = data;

	f->row->busy_ns += end_ns - start_ns;
	f->row->known_ns += picture_paused_ns(f->picture, f->row, start_ns, end_ns);
	fill_bins(f->picture, f->row->busy, start_ns, end_ns);
}

static enum picture_activity activity_of(const struct gt_item *item)
{
	switch (gt_view_activity_class(item->device_op)) {
	case GT_ACTIVITY_KERNEL: return PICTURE_KERNEL;
	case GT_ACTIVITY_COPY: return PICTURE_COPY;
	default: return PICTURE_OTHER;
	}
}

static int paint_activity(struct painter *x, const struct gt_item *item)
{
	struct picture *p = x->picture;
	struct gt_view_queue *q = gt_view_queue(&x->view, item);
	struct gt_view_text *name =
		item->name ? gt_view_name(&x->view, item->process, item->name) : NULL;
	struct timeline_span span = {.start = item->start_ns, .end = item->end_ns};
	struct source *s;

	if (!q || (item->name && !name))
		return -ENOMEM;
	if (!item->start_ns || item->end_ns < item->start_ns || !is_shown_activity(item))
		return 0;
	s = get_device(x, q->device);
	if (s->row != NOT_SHOWN)
		timeline_add(s->spans, &span);
	s = get_queue(x, q);
	if (s->row == NOT_SHOWN)
		return 0;
	timeline_add(s->spans, &span);
	if (p->slices.most)
		add_slice(&p->slices,
			  &(struct picture_slice){
				  .start_ns = span.start,
				  .end_ns = span.end,
				  .row = (uint32_t)s->row,
				  .name = texts_put(&p->texts,
						    name ? name->text
							 : gt_device_op_name(item->device_op)),
				  .activity = (uint8_t)activity_of(item)});
	return 0;
}

/* Add the part of a call that is not covered by earlier calls of the thread. Return the start of
 * this part. */
static uint64_t fill_rest(const struct picture *p, uint64_t *bins, uint64_t *sum,
			  uint64_t *until_ns, const struct gt_item *call)
{
	uint64_t start_ns = call->start_ns > *until_ns ? call->start_ns : *until_ns;

	if (call->end_ns <= start_ns)
		return call->end_ns;
	fill_bins(p, bins, start_ns, call->end_ns);
	*sum += call->end_ns - start_ns;
	*until_ns = call->end_ns;
	return start_ns;
}

static bool is_waiting(const struct gt_item *call)
{
	uint64_t handles[WAITS_EVENTS_MOST];
	struct stages_call wait = {0};

	return waits_find(call, false, false, &wait, handles) != WAITS_NOT;
}

static void paint_range(struct painter *x, const struct gt_range *range)
{
	struct picture *p = x->picture;
	struct gt_view_thread *t = gt_view_thread_find(&x->view, range->process, range->ordinal);

	if (!t || range->instant)
		return;
	note_time(x, range->start_ns, range->end_ns);
	/* the slice's row is the thread's number until rows are assigned */
	add_slice(&p->ranges, &(struct picture_slice){.start_ns = range->start_ns,
						      .end_ns = range->end_ns,
						      .row = t->index,
						      .name = texts_put(&p->texts, range->name),
						      .activity = PICTURE_RANGE,
						      .colour = range->detail.colour});
}

static int paint_call(struct painter *x, struct gt_ranges *ranges, const struct gt_item *item)
{
	struct picture *p = x->picture;
	struct gt_range range;
	struct picture_row *row;
	struct source *t;
	int status = gt_ranges_step(ranges, item, &range);
	bool waits;

	if (status > 0)
		paint_range(x, &range);
	if (status < 0)
		return status;
	if (p->memory)
		gt_memory_use_note(&x->memory, item, 0);
	t = get_thread(x, item->process, item->ordinal);
	if (!t)
		return -ENOMEM;
	if (t->row == NOT_SHOWN || gt_mark_of(item->op) != GT_MARK_NONE ||
	    item->end_ns < item->start_ns)
		return 0;
	row = &p->rows[t->row];
	waits = is_waiting(item);
	row->known_ns +=
		picture_paused_ns(p, row,
				  fill_rest(p, row->busy, &row->busy_ns, &t->until_ns, item),
				  item->end_ns);
	if (waits)
		fill_rest(p, row->wait, &row->wait_ns, &t->wait_until_ns, item);
	if (p->slices.most)
		add_slice(&p->slices,
			  &(struct picture_slice){.start_ns = item->start_ns,
						  .end_ns = item->end_ns,
						  .row = (uint32_t)t->row,
						  .name = texts_put(&p->texts,
								    gt_operation_name(item->op)),
						  .depth = item->depth,
						  .activity = waits ? PICTURE_WAIT : PICTURE_CALL});
	return 0;
}

/* Assign rows to ranges. A range gets the first row of its thread in which it overlaps no other
 * range. */
static void place_ranges(struct painter *x)
{
	struct picture *p = x->picture;
	uint64_t ends[RANGE_ROWS_MOST] = {0};
	uint32_t thread = UINT32_MAX, first = 0, kept = 0, count = 0;

	sort_slices(&p->ranges);
	for (size_t i = 0; i < p->ranges.count; i++) {
		struct picture_slice slice = p->ranges.list[i];
		uint32_t depth = 0;

		if (slice.row != thread) {
			thread = slice.row;
			first = (uint32_t)p->row_count;
			count = 0;
		}
		while (depth < count && ends[depth] > slice.start_ns)
			depth++;
		if (depth == RANGE_ROWS_MOST) {
			p->ranges.left_out++;
			continue;
		}
		if (depth == count) {
			struct picture_row *row = add_row(p, PICTURE_RANGES);
			const struct gt_view_thread *t = x->view.threads[thread];

			row->process = t->process;
			row->ordinal = t->ordinal;
			row->depth = depth;
			row->group = describe_process(x, t->process);
			row->label = describe_thread(x, t);
			find_pauses_of(x, row, t->process);
			count++;
		}
		p->rows[first + depth].count++;
		ends[depth] = slice.end_ns;
		slice.row = first + depth;
		p->ranges.list[kept++] = slice;
	}
	p->ranges.count = kept;
	sort_slices(&p->ranges);
}

/* Memory --------------------------------------------------------------------------- */

static void add_point(void *painter, const struct gt_memory_track *track, uint64_t ns,
		      uint64_t in_use)
{
	struct painter *x = painter;
	struct picture_row *row;
	char label[GT_MEMORY_LABEL];

	if (x->memory_row + track->index == x->picture->row_count) {
		row = add_row(x->picture, PICTURE_MEMORY);
		row->process = track->process;
		row->group = describe_process(x, track->process);
		row->label = make_text("%s", gt_memory_track_label(track, label));
		find_pauses_of(x, row, track->process);
	}
	row = &x->picture->rows[x->memory_row + track->index];
	GROW_LIST(row->points, row->point_count, row->point_room);
	row->points[row->point_count++] = (struct picture_point){ns, in_use};
}

static int paint_memory(struct painter *x)
{
	x->memory_row = (uint32_t)x->picture->row_count;
	return x->picture->memory ? gt_memory_tracks_each(&x->memory, add_point, x) : 0;
}

/* Passes --------------------------------------------------------------------------- */

static int take_item(struct painter *x, struct gt_ranges *ranges, const struct gt_item *item)
{
	if (item->kind == GT_RECORD_CALL)
		return x->second ? paint_call(x, ranges, item) : survey_call(x, item);
	if (item->kind == GT_RECORD_DEVICE)
		return x->second ? paint_activity(x, item) : survey_activity(x, item);
	return 0;
}

static int run_pass(struct painter *x, struct gt_ranges *ranges)
{
	uint64_t total = gt_capture_health(x->capture)->bytes;
	const struct gt_item *item;
	struct gt_cursor *cursor;
	int status = gt_cursor_create(x->capture, &cursor);
	uint32_t count = 0;

	while (!status && (status = gt_cursor_next(cursor, &item)) == 1) {
		status = take_item(x, ranges, item);
		if (!(++count & 0xffff))
			ui_progress_set(&x->progress, gt_cursor_position(cursor) / 2 +
							      (x->second ? total / 2 : 0));
	}
	gt_cursor_destroy(cursor);
	return status;
}

static int finish_spans(struct painter *x)
{
	int status = 0;

	for (uint32_t i = 0; i < x->source_count; i++) {
		struct source *s = &x->sources[i];
		struct filling f = {x->picture, s->row < 0 ? NULL : &x->picture->rows[s->row]};

		if (!s->spans)
			continue;
		s->spans->each = fill_span;
		s->spans->each_data = &f;
		if (!status)
			status = timeline_finish(s->spans);
		timeline_fini(s->spans);
		free(s->spans);
	}
	for (uint32_t i = 0; i < x->source_count; i++)
		free(x->sources[i].users.list);
	return status;
}

static int read_rows(struct painter *x)
{
	struct gt_ranges ranges = {.open = NULL};
	struct gt_range range;
	int status = run_pass(x, NULL);

	if (!status)
		status = picture_pauses_begin(&x->pauses, x->picture, x->capture);
	if (status)
		return status;
	choose_rows(x);
	x->second = true;
	status = run_pass(x, &ranges);
	while (!status && gt_ranges_rest(&ranges, &range))
		paint_range(x, &range);
	gt_ranges_fini(&ranges);
	return status;
}

int picture_read(struct picture *p, const struct gt_capture *c)
{
	struct painter x = {.picture = p, .capture = c, .memory = {.capture = c}};
	struct gt_view_options options = {.mangled = p->mangled};
	int spans, status = gt_view_init(&x.view, c, &options);

	if (status)
		return status;
	p->zero_ns = gt_capture_session(c)->start_ns;
	p->slices.most = p->slices_most;
	p->ranges.most = p->ranges_most;
	ui_progress_begin(&x.progress, "reading", gt_capture_health(c)->bytes);
	status = read_rows(&x);
	ui_progress_end(&x.progress);
	spans = finish_spans(&x);
	if (!status) {
		place_ranges(&x);
		sort_slices(&p->slices);
		status = spans ? spans : paint_memory(&x);
	}
	gt_memory_use_fini(&x.memory);
	picture_pauses_end(&x.pauses);
	idmap_fini(&x.by_key);
	free(x.sources);
	gt_view_fini(&x.view);
	return status;
}

static bool is_of_thread(const struct picture_row *range, const struct picture_row *thread)
{
	return range->kind == PICTURE_RANGES && range->process == thread->process &&
	       range->ordinal == thread->ordinal;
}

static bool has_thread(const struct picture *p, const struct picture_row *range)
{
	for (size_t i = 0; i < p->row_count; i++)
		if (p->rows[i].kind == PICTURE_THREAD && is_of_thread(range, &p->rows[i]))
			return true;
	return false;
}

void picture_order(const struct picture *p, uint32_t *order)
{
	for (uint32_t i = 0; i < p->row_count; i++) {
		const struct picture_row *row = &p->rows[i];

		if (row->kind == PICTURE_RANGES && has_thread(p, row))
			continue;
		for (uint32_t k = 0; row->kind == PICTURE_THREAD && k < p->row_count; k++)
			if (is_of_thread(&p->rows[k], row))
				*order++ = k;
		*order++ = i;
	}
}

const char *picture_kind_name(enum picture_kind kind)
{
	static const char *const names[] = {
		[PICTURE_RANGES] = "ranges", [PICTURE_DEVICE] = "device", [PICTURE_QUEUE] = "queue",
		[PICTURE_THREAD] = "thread", [PICTURE_MEMORY] = "memory",
	};

	return names[kind];
}

void picture_fini(struct picture *p)
{
	for (size_t i = 0; i < p->row_count; i++) {
		free(p->rows[i].group);
		free(p->rows[i].label);
		free(p->rows[i].busy);
		free(p->rows[i].wait);
		free(p->rows[i].points);
	}
	free(p->rows);
	for (uint32_t i = 0; i < p->pauses_count; i++)
		free(p->pauses[i].list);
	free(p->pauses);
	free(p->slices.list);
	free(p->ranges.list);
	texts_fini(&p->texts);
	*p = (struct picture){.bins = 0};
}
