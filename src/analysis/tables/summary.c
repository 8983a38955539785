/* SPDX-License-Identifier: MIT */
/* Makes one pass over the records of all files together. Every record is first converted to small
 * numbers (name, device, process, thread, queue). If it passes the filter, it is added to its
 * group, thread and device. */
#include "analysis/tables/summary_steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/range_paths_read.h"
#include "analysis/tables/retained.h"
#include "analysis/tables/summary_unrecorded.h"
#include "analysis/tables/waits.h"
#include "util/error.h"
#include "util/file_name.h"

static void observe(struct summary *s, const struct summary_entry *e, uint32_t group,
		    uint64_t thread, uint64_t place)
{
	const struct summary_observed what = {
		.class = e->class,
		.group = group,
		.thread = thread,
		.place = place,
		.duration_ns = e->duration_ns,
		.item = e->item,
	};

	if (s->observer && e->timed)
		s->observer->observe(s->observer, &what);
}

/* Records ------------------------------------------------------------------------ */

/* Subtract a call's time from the enclosing call. If the enclosing call was not recorded, this
 * function finds an earlier call at that depth, which has ended and is ignored. */
static void note_open(struct summary *s, struct summary_thread *t, const struct summary_entry *e,
		      uint32_t group)
{
	const unsigned depth = e->item->depth;

	if (depth >= t->open_count) {
		t->open = resize_list(t->open, t->open_count, depth + 4, sizeof *t->open);
		for (uint32_t i = t->open_count; i < depth + 4; i++)
			t->open[i] = (struct summary_open){.group = LOOKUP_NONE};
		t->open_count = depth + 4;
	}
	if (depth && t->open[depth - 1].group != LOOKUP_NONE &&
	    e->item->start_ns <= t->open[depth - 1].end_ns) {
		struct summary_open *around = &t->open[depth - 1];
		uint64_t inner_ns =
			e->duration_ns < around->own_ns ? e->duration_ns : around->own_ns;

		around->own_ns -= inner_ns;
		s->groups[SUMMARY_CALLS].rows[around->group].inner_ns += inner_ns;
		s->kind_ns[around->kind] -= inner_ns;
	}
	t->open[depth] = (struct summary_open){.end_ns = e->item->start_ns + e->duration_ns,
					       .own_ns = e->duration_ns,
					       .group = group,
					       .kind = e->kind};
}

static void add_wait(struct stages_wait *sum, const struct stages_wait *wait)
{
	sum->transfer_ns += wait->transfer_ns;
	sum->earlier_ns += wait->earlier_ns;
	sum->runtime_ns += wait->runtime_ns;
	sum->unknown_ns += wait->unknown_ns;
}

/* Return the domain that records the activities of a call or queue. @domain comes from a file, so
 * it may be invalid. */
static uint32_t activity_domain(uint32_t domain)
{
	return domain < GT_DOMAIN_COUNT ? gt_domain_traits[domain].activity : domain;
}

/* Return true if the call is made in another call. Outer calls of domains that are recorded on
 * request are ignored, as if they had not been recorded, because their waits are only known from
 * the calls in them. */
static bool is_inner(struct summary_thread *t, const struct gt_item *item)
{
	const bool requested = gt_domain_traits[GT_OP_DOMAIN(item->op)].requested;

	if (item->depth > t->outer)
		return true;
	t->outer = item->depth + requested;
	return requested;
}

/* Note a call that waits. The parts of its wait can be computed when all activities are known. A
 * call inside another call is ignored, because it is a part of that call. */
static void note_wait(struct summary_reading *r, const struct summary_entry *e, bool inner,
		      uint32_t group)
{
	const struct gt_item *item = e->item;
	struct summary *s = r->s;
	uint64_t handles[WAITS_EVENTS_MOST];
	struct stages_call call = {
		.id = item->id,
		.start_ns = item->start_ns,
		.end_ns = item->start_ns + e->duration_ns,
		.process = e->process,
		.thread = e->thread,
		.group = group,
		.domain = activity_domain(GT_OP_DOMAIN(item->op)),
	};
	struct stages_wait unknown = {.unknown_ns = e->duration_ns};

	switch (waits_find(item, inner, e->failed || e->refused, &call, handles)) {
	case WAITS_NOT: break;
	case WAITS_KNOWN:
		if (!s->is_part) {
			stages_call(&s->stages, &call);
			break;
		}
		__attribute__((fallthrough));
	case WAITS_UNKNOWN:
		add_wait(&s->wait, &unknown);
		add_wait(&s->threads[e->thread].wait, &unknown);
		add_wait(&s->groups[SUMMARY_CALLS].rows[group].wait, &unknown);
	}
}

static void add_call(struct summary_reading *r, const struct gt_item *item)
{
	struct summary *s = r->s;
	const struct summary_entry e = summary_entry_of_call(r, item);
	const enum gt_operation_kind kind = e.kind;
	struct summary_process *p;
	struct summary_thread *t;
	uint32_t group = LOOKUP_NONE;
	bool inner;

	if (!s->scope.some)
		linked_call(&s->linked, e.process, item->id);
	if (!s->no_stages)
		waits_note_call(&s->stages.wait_targets, item);
	t = &s->threads[e.thread];
	p = &s->processes[e.process];
	inner = is_inner(t, item);
	if (summary_matches(s, &e, (uint32_t)kind)) {
		ranks_add_call(&s->ranks, item, true);
		group = summary_group_of(s, &e);
		summary_group_add(&s->groups[SUMMARY_CALLS].rows[group], &e);
		observe(s, &e, group, summary_place_key(item), gt_item_place(item));
		if (s->launched.calls)
			launched_call(&s->launched, &(struct launched_call){.process = e.process,
									    .name = e.name,
									    .id = item->id,
									    .ns = e.duration_ns,
									    .kind = e.kind});
		patterns_note_call(&s->patterns, &s->idle, item);
		s->matched++;
		s->kind_ns[kind] += e.duration_ns;
		t->calls++;
		p->calls++;
		if (item->depth == 0) {
			t->call_ns += e.duration_ns;
			p->call_ns += e.duration_ns;
		}
		if (!s->no_stages)
			note_wait(r, &e, inner, group);
		if (kind == GT_KIND_ALLOCATION || kind == GT_KIND_FREE || kind == GT_KIND_RETAIN)
			gt_memory_use_note(&s->memory, item, 0);
		if (e.failed) {
			t->failed++;
			p->failed++;
		}
		if (e.failed || e.refused)
			summary_add_failure(s, &e);
	} else {
		ranks_add_call(&s->ranks, item, false);
	}
	note_open(s, t, &e, group);
}

static void add_range_entry(struct summary_reading *r, const struct gt_range *range, uint64_t id)
{
	struct summary *s = r->s;
	const struct summary_entry e = summary_entry_of_range(r, range, id);
	const bool counts = !range->context && summary_matches(s, &e, GT_KIND_MARKER);
	uint32_t group;

	gpu_by_range_range(&s->gpu_by_range,
			   &(struct gpu_by_range_range){.thread =
								summary_thread_key(range->process,
										   range->ordinal),
							.first = range->first,
							.last = range->last,
							.duration_ns = e.duration_ns,
							.name = e.name,
							.counts = counts});
	if (!s->no_idle)
		idle_add_range(&s->idle, range, e.name);
	odd_ranges_add(&s->odd_ranges, e.name, range, e.duration_ns, counts && e.timed);
	if (!counts)
		return;
	s->matched_ranges++;
	ranks_add_range(&s->ranks, e.process, range->name);
	group = summary_group_of(s, &e);
	summary_group_add(&s->groups[SUMMARY_RANGES].rows[group], &e);
	observe(s, &e, group, summary_thread_key(range->process, range->ordinal), id);
}

static int add_mark(struct summary_reading *r, const struct gt_item *call)
{
	struct gt_range range;
	int status = gt_ranges_step(&r->ranges, call, &range);

	if (status > 0)
		add_range_entry(r, &range, range.begun);
	return status < 0 ? status : 0;
}

static uint64_t ns_between(uint64_t later, uint64_t earlier)
{
	return later > earlier ? later - earlier : 0;
}

/* Add the time from the call's start to the kernel's start, and the stages of this time. */
static void add_latency(struct summary_track *d, const struct gt_item *item)
{
	if (!item->call_start_ns || !item->start_ns)
		return;
	if (item->start_ns < item->call_start_ns) {
		d->early++;
		return;
	}
	histogram_add(&d->launch, item->start_ns - item->call_start_ns);
	if (!item->queued_ns || !item->submitted_ns)
		return;
	histogram_add(&d->enqueue, ns_between(item->queued_ns, item->call_start_ns));
	histogram_add(&d->submit, ns_between(item->submitted_ns, item->queued_ns));
	histogram_add(&d->wait, ns_between(item->start_ns, item->submitted_ns));
}

/* Return true for activities that keep the device busy. Excludes markers and barriers, because some
 * runtimes stamp them long before the end of the activities that they wait for. Also excludes
 * scratch memory, for which the device waits. */
static bool is_activity(const struct gt_item *item)
{
	return item->device_op != GT_DEVICE_MARKER && item->device_op != GT_DEVICE_BARRIER &&
	       item->device_op != GT_DEVICE_SCRATCH;
}

/* Add an activity regardless of the filter, because other activities wait for it, and a device that
 * runs it is not idle. All users share one sorted order of all activities. @track: LOOKUP_NONE: no
 * latency needed. */
static void add_stages(struct summary_reading *r, const struct summary_entry *e, uint32_t track,
		       bool matched)
{
	struct summary *s = r->s;
	const struct gt_item *item = e->item;
	const struct summary_track_ids ids = summary_track_ids_of(s, e);
	const struct gt_device_clock *clock =
		gt_capture_device_clock(r->capture, e->process, GT_DEVICE_REF_NUMBER(item->op));
	const struct idle_activity idle = {
		.item = item,
		.owner = {ids.device, ids.name, ids.process, ids.thread, ids.queue, ids.place,
			  IDLE_PHASE_UNKNOWN},
		.slack_ns = clock ? gt_device_clock_residual_ns(clock) : 0,
		.device_index = e->device,
		.name = e->name,
		.counts = matched,
		.is_marker = !is_activity(item),
	};
	struct stages_activity activity = {
		.id = item->id,
		.call_start_ns = item->call_start_ns,
		.submitted_ns = item->submitted_ns,
		.start_ns = item->start_ns,
		.end_ns = item->end_ns,
		.process = e->process,
		.device = e->device,
		.queue = e->queue,
		.track = track,
		.moves = e->class == SUMMARY_COPIES,
		.slack_ns = 1000 + idle.slack_ns,
	};

	/* earlier activities may not have been read */
	if (s->is_part || !filter_scope_covers(&s->scope, item->call_start_ns, item->start_ns))
		activity.track = LOOKUP_NONE;

	if (e->timed && is_activity(item)) {
		unrecorded_note(&s->unrecorded, e->device, e->process, item->start_ns,
				item->end_ns);
		activity.tag = s->no_idle ? 0 : idle_tag(&s->idle, &idle);
		if (!s->no_stages)
			stages_activity(&s->stages, &activity);
	} else if (e->timed && !s->no_idle) {
		idle_add_activity(&s->idle, &idle);
	} else if (!e->timed && e->queue != LOOKUP_NONE) {
		s->queues[e->queue].untimed = true;
	}
}

static void add_busy(struct summary *s, struct summary_track *d, const struct summary_entry *e)
{
	const struct gt_item *item = e->item;
	struct timeline_span span = {item->start_ns, item->end_ns,
				     item->queued_ns ? item->queued_ns : item->call_start_ns,
				     e->brief, e->brief};

	if (!is_activity(item))
		return;
	if (s->no_timelines)
		return;
	timeline_add(&d->all, &span);
	ranks_add_activity(&s->ranks, e->process, &span);
	if (e->class == SUMMARY_KERNELS)
		timeline_add(&d->kernels, &span);
	else if (e->class == SUMMARY_COPIES)
		timeline_add(&d->copies, &span);
}

static void add_device_activity(struct summary_reading *r, const struct gt_item *item)
{
	struct summary *s = r->s;
	const struct summary_entry e = summary_entry_of_activity(r, item);
	struct summary_track *d;
	uint32_t group, track;
	bool counts = summary_matches(s, &e, SUMMARY_KIND_DEVICE + (uint32_t)item->device_op);

	if (!s->scope.some && !(item->context & GT_CONTEXT_ROW))
		linked_activity(&s->linked, e.process, item->id);
	if (item->device_op == GT_DEVICE_KERNEL && e.timed)
		ranks_add_kernel(&s->ranks, item, e.brief, texts_get(&s->names, e.brief), counts);
	if (!counts) {
		add_stages(r, &e, LOOKUP_NONE, false);
		return;
	}
	s->matched++;
	track = summary_track_of(s, &e);
	add_stages(r, &e, item->device_op == GT_DEVICE_KERNEL ? track : LOOKUP_NONE, true);
	group = summary_group_of(s, &e); /* summary_group_of() may move the rows */
	summary_group_add(&s->groups[e.class].rows[group], &e);
	observe(s, &e, group, summary_place_key(item), gt_item_place(item));
	graphs_add(&s->graphs, r->capture, item);
	if (is_activity(item) && e.timed)
		patterns_note_activity(&s->patterns, item, e.name,
				       e.class == SUMMARY_COPIES &&
					       strstr(texts_get(&s->names, e.name), "Pageable"));
	if (is_activity(item))
		launched_activity(&s->launched, e.process, item->id, e.name, e.duration_ns);
	/* the ranges of the activity may not have been read */
	if (is_activity(item) && filter_scope_covers(&s->scope, item->call_start_ns, e.at_ns))
		gpu_by_range_activity(&s->gpu_by_range, summary_place_key(item),
				      gt_item_place(item), e.duration_ns);
	dispatches_add(&s->dispatches, item);
	d = &s->tracks[track];
	d->count++;
	d->untimed += !e.timed;
	d->failed += e.failed;
	if (e.timed) {
		add_busy(s, d, &e);
		if (item->device_op == GT_DEVICE_KERNEL)
			add_latency(d, item);
	}
	if (e.failed)
		summary_add_failure(s, &e);
	s->processes[e.process].device_count++;
	s->processes[e.process].device_ns += is_activity(item) ? e.duration_ns : 0;
	if (e.thread != LOOKUP_NONE) {
		s->threads[e.thread].device_count++;
		s->threads[e.thread].device_ns += is_activity(item) ? e.duration_ns : 0;
	}
}

/* Files -------------------------------------------------------------------------- */

static int read_summary(struct summary_reading *r, struct gt_cursor *cursor, const char *what,
			uint64_t total)
{
	struct summary *s = r->s;
	const struct gt_item *item;
	uint64_t records = 0;
	int rc;

	while ((rc = gt_cursor_next(cursor, &item)) == 1) {
		struct summary_file *file;
		bool looked_for;

		if ((++records & 0xffff) == 0)
			progress_report(&s->progress, what, gt_cursor_position(cursor), total);
		if (item->process >= s->process_count)
			continue; /* a damaged file can contain any records */
		if (!s->no_idle)
			idle_note(&s->idle, item);
		if (item->kind == GT_RECORD_HOST)
			continue;
		file = &s->files[s->processes[item->process].file];
		looked_for = filter_scope_has(&s->scope, item->start_ns ? item->start_ns
									: item->call_start_ns);
		looked_for &= !(item->context & GT_CONTEXT_ROW);
		file->records += looked_for;
		if (item->kind == GT_RECORD_CALL) {
			enum gt_range_mark mark = gt_mark_of(item->op);

			/* the calls inside a range provide its time */
			if (mark == GT_MARK_RANGE) {
				s->read_ranges += looked_for;
			} else {
				s->read[GT_CLASS_CALL] += looked_for;
				add_call(r, item);
			}
			if (mark && (rc = add_mark(r, item)))
				return rc;
		} else if (item->kind == GT_RECORD_DEVICE) {
			s->read[GT_CLASS_DEVICE] += looked_for;
			add_device_activity(r, item);
		}
		if (item->end_ns > file->end_ns)
			file->end_ns = item->end_ns;
	}
	return rc;
}

/* Return true if the capture is complete and its counts show that the programs marked no ranges. */
static bool has_no_ranges(const struct gt_capture *capture)
{
	if (!gt_capture_is_whole(gt_capture_health(capture)))
		return false;
	for (uint32_t i = 0; i < gt_capture_process_count(capture); i++) {
		const struct gt_counts *counts = gt_capture_counts(capture, i);

		for (int domain = 0; domain < GT_DOMAIN_COUNT; domain++)
			if (gt_domain_traits[domain].marks &&
			    (!counts || counts->seen[GT_CLASS_CALL][domain]))
				return false;
	}
	return true;
}

static void reading_fini(struct summary_reading *r)
{
	idmap_fini(&r->operations);
	idmap_fini(&r->strings);
	idmap_fini(&r->threads);
	idmap_fini(&r->devices);
	idmap_fini(&r->queues);
}

static uint64_t find_end(const struct gt_capture *capture)
{
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < gt_capture_process_count(capture); i++)
		if (gt_capture_process(capture, i)->end_ns > end_ns)
			end_ns = gt_capture_process(capture, i)->end_ns;
	return end_ns;
}

/* Read the information about the capture that the filter needs before the first record, and select
 * the parts to read. */
static int begin_filter(struct summary *s, const struct gt_capture *capture)
{
	int rc = 0;

	if (!s->leaves_capture)
		filter_scope_end(capture);
	if (!s->filter)
		return 0;
	filter_set_origin(s->filter, gt_capture_session(capture)->start_ns, find_end(capture));
	if (range_paths_are_needed(s->filter))
		rc = range_paths_read(&s->range_paths, &s->names, s->filter, capture);
	if (rc)
		return rc;
	return s->leaves_capture ? filter_scope_find(&s->scope, s->filter, capture)
				 : filter_scope_begin(&s->scope, s->filter, capture);
}

int summary_add(struct summary *s, const struct gt_capture *capture)
{
	struct gt_cursor *cursor;
	struct gt_range range;
	const uint64_t total = gt_capture_health(capture)->bytes;
	const char *what;
	struct summary_reading r = {
		.s = s,
		.capture = capture,
		.last_thread = LOOKUP_NONE,
	};
	int rc;

	if ((rc = begin_filter(s, capture)))
		return rc;
	rc = gt_cursor_create(capture, &cursor);
	if (rc)
		return rc;
	gt_cursor_take_context(cursor);
	if (!s->no_idle)
		gt_cursor_take_host(cursor);
	rc = launched_begin(&s->launched, capture);
	if (rc) {
		gt_cursor_destroy(cursor);
		return rc;
	}
	s->capture = s->memory.capture = capture;
	s->is_part = retained_is_part(capture);
	s->no_idle |= s->is_part;
	stages_init(&s->stages);
	s->idle.capture = s->ranks.capture = capture;
	s->ranks.is_part = s->scope.some;
	s->ranks.pool = &s->pool;
	s->idle.names = &s->names;
	idle_init(&s->idle);
	s->patterns.wanted &= !s->no_idle;
	if (s->patterns.wanted) {
		s->idle.each = patterns_note_idle;
		s->idle.to = &s->patterns;
		s->idle.tells_all = true;
	}
	s->gpu_by_range.no_ranges = has_no_ranges(capture);
	summary_add_sessions(&r);
	summary_add_processes(&r);
	summary_number_devices(&r);
	what = s->file_count == 1 ? gt_file_name(s->files[0].path) : "reading";
	progress_report(&s->progress, what, 0, total);
	for (uint32_t i = 0; s->scope.some && i < s->file_count; i++) {
		uint64_t last_ns = gt_capture_last_call_ns(capture, i);

		if (last_ns > s->files[i].end_ns)
			s->files[i].end_ns = last_ns;
	}
	rc = read_summary(&r, cursor, what, total);
	while (!rc && gt_ranges_rest(&r.ranges, &range))
		add_range_entry(&r, &range, range.begun);
	gt_ranges_fini(&r.ranges);
	progress_report(&s->progress, what, total, total);
	summary_count_untraced(&r);
	for (uint32_t i = 0; i < s->file_count; i++) /* after reading, which finds damage */
		s->files[i].health = gt_capture_session_at(capture, i)->health;
	s->health = *gt_capture_health(capture);
	gt_cursor_destroy(cursor);
	reading_fini(&r);
	return rc < 0 ? rc : 0;
}

/* Without a summary -------------------------------------------------------------- */

struct summary_reading *summary_begin_filter(struct summary *s, const struct gt_capture *capture)
{
	struct summary_reading *r;

	if (begin_filter(s, capture))
		return NULL;
	r = calloc(1, sizeof *r);
	if (!r) {
		gt_error(-ENOMEM, "cannot evaluate --where");
		return NULL;
	}
	*r = (struct summary_reading){.s = s, .capture = capture, .last_thread = LOOKUP_NONE};
	s->capture = s->memory.capture = capture;
	summary_add_sessions(r);
	summary_add_processes(r);
	summary_number_devices(r);
	return r;
}

bool summary_wants(void *reading, const struct gt_item *item)
{
	struct summary_reading *r = reading;
	struct summary_entry e;
	uint32_t kind;

	if (item->process >= r->s->process_count)
		return false;
	if (item->kind == GT_RECORD_DEVICE) {
		e = summary_entry_of_activity(r, item);
		kind = SUMMARY_KIND_DEVICE + (uint32_t)item->device_op;
	} else if (gt_mark_of(item->op) == GT_MARK_RANGE) {
		struct gt_range range;

		if (gt_ranges_step(&r->ranges, item, &range) != 1)
			return false;
		e = summary_entry_of_range(r, &range, range.begun);
		kind = GT_KIND_MARKER;
	} else {
		e = summary_entry_of_call(r, item);
		kind = (uint32_t)e.kind;
	}
	if (!summary_matches(r->s, &e, kind))
		return false;
	r->s->matched++;
	return true;
}

bool summary_wants_range(void *reading, const struct gt_item *call)
{
	struct summary_reading *r = reading;
	struct gt_range range;
	struct summary_entry e;

	if (call->process >= r->s->process_count || gt_ranges_step(&r->ranges, call, &range) <= 0)
		return false;
	e = summary_entry_of_range(r, &range, range.begun);
	return !range.context && summary_matches(r->s, &e, GT_KIND_MARKER);
}

void summary_end_filter(struct summary_reading *r)
{
	if (!r)
		return;
	gt_ranges_fini(&r->ranges);
	reading_fini(r);
	free(r);
}

static void take_latency(void *data, uint32_t track, uint64_t own_ns, uint64_t others_ns,
			 uint64_t runtime_ns)
{
	struct summary *s = data;

	histogram_add(&s->tracks[track].own, own_ns);
	histogram_add(&s->tracks[track].others, others_ns);
	histogram_add(&s->tracks[track].runtime, runtime_ns);
}

static void take_wait(void *data, uint32_t thread, uint32_t group, const struct stages_wait *wait)
{
	struct summary *s = data;

	add_wait(&s->wait, wait);
	add_wait(&s->threads[thread].wait, wait);
	add_wait(&s->groups[SUMMARY_CALLS].rows[group].wait, wait);
}

static void take_activity(void *data, const struct stages_activity *activity)
{
	struct summary *s = data;

	idle_step(&s->idle, &(struct idle_start){.start = activity->start_ns,
						 .end = activity->end_ns,
						 .id = activity->id,
						 .call_start = activity->call_start_ns,
						 .submitted = activity->submitted_ns,
						 .tag = activity->tag});
}

static int finish_stages(struct summary *s)
{
	const struct stages_out out = {s, take_latency, take_wait,
				       s->no_idle ? NULL : take_activity};
	struct stages_queue *queues = allocate_list(s->queue_count, sizeof *queues);
	uint64_t lost = 0;
	int rc;

	for (uint32_t i = 0; i < s->queue_count; i++) {
		const struct summary_queue *q = &s->queues[i];

		queues[i] = (struct stages_queue){.handle = q->handle,
						  .process = q->process,
						  .queue = i,
						  .untimed = q->untimed,
						  .domain = activity_domain(q->domain)};
	}
	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
		for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
			lost += s->counts.dropped[why][GT_CLASS_DEVICE][d];
	rc = stages_finish(&s->stages, queues, s->queue_count, lost > 0, &out);
	free(queues);
	return rc;
}

/* Return the longest time from the first activity of a device to its last. */
static uint64_t find_span(const struct summary *s)
{
	uint64_t span_ns = 0;

	for (uint32_t i = 0; i < s->track_count; i++)
		if (s->tracks[i].all.last_ns - s->tracks[i].all.first_ns > span_ns)
			span_ns = s->tracks[i].all.last_ns - s->tracks[i].all.first_ns;
	return span_ns;
}

/* Return true if the time before the first step is more than a few steps, and a part of the run
 * that matters. */
static bool is_startup_long(const struct timeline *t, const struct period *period)
{
	const uint64_t ns = period->from_ns > t->first_ns ? period->from_ns - t->first_ns : 0;

	return period->from_ns < t->last_ns && ns >= 5 * period->median_ns &&
	       ns * 20 >= timeline_span_ns(t);
}

/* Find the start of each device's first step: of the loop with the longest steps in all, among the
 * threads of processes that use the device. */
static void find_first_steps(struct summary *s)
{
	if (s->track_keys || s->place_keys || !s->patterns.wanted)
		return;
	s->first_steps = allocate_list(s->device_count, sizeof *s->first_steps);
	for (uint32_t i = 0; i < s->track_count; i++) {
		const struct timeline *t = &s->tracks[i].all;
		const uint32_t device = s->tracks[i].device;
		uint64_t longest = 0;

		for (uint32_t k = 0; k < s->patterns.thread_count; k++) {
			uint32_t process;
			const struct period *period = patterns_period(&s->patterns, k, &process);
			const uint64_t ns = period->median_ns * period->steps;

			if (period->length && ns > longest && is_startup_long(t, period) &&
			    idmap_get(&s->unrecorded.by_key, (uint64_t)device << 32 | process) !=
				    LOOKUP_NONE) {
				longest = ns;
				s->first_steps[device] = period->from_ns;
			}
		}
	}
	s->idle.first_steps = s->first_steps;
	s->idle.first_step_count = s->device_count;
}

int summary_finish(struct summary *s)
{
	int rc = 0;

	summary_find_unrecorded(s);
	for (uint32_t i = 0; i < s->track_count && !rc; i++) {
		rc = timeline_finish(&s->tracks[i].all);
		rc = rc ? rc : timeline_finish(&s->tracks[i].kernels);
		rc = rc ? rc : timeline_finish(&s->tracks[i].copies);
	}
	rc = rc ? rc : gt_memory_use_settle(&s->memory, NULL, NULL);
	rc = rc ? rc : graphs_finish(&s->graphs);
	rc = rc ? rc : gpu_by_range_finish(&s->gpu_by_range);
	rc = rc ? rc : ranks_finish(&s->ranks);
	patterns_end_records(&s->patterns);
	if (!s->no_idle)
		find_first_steps(s);
	rc = rc ? rc : finish_stages(s);
	if (rc || s->no_idle)
		return rc;
	rc = idle_finish(&s->idle);
	if (!rc)
		patterns_finish(&s->patterns, &s->idle, find_span(s));
	return rc;
}

uint64_t summary_self_ns(const struct summary_group *group)
{
	return group->times.total > group->inner_ns ? group->times.total - group->inner_ns : 0;
}

uint64_t summary_seen(const struct summary *s)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
		for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
			sum += s->counts.seen[c][d];
	return sum;
}

uint64_t summary_dropped(const struct summary *s)
{
	uint64_t sum = 0;

	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
		for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
			for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
				sum += s->counts.dropped[why][c][d];
	return sum;
}

void summary_fini(struct summary *s)
{
	filter_scope_fini(&s->scope);
	for (unsigned c = 0; c < SUMMARY_CLASS_COUNT; c++) {
		for (uint32_t i = 0; i < s->groups[c].count; i++)
			histogram_fini(&s->groups[c].rows[i].times);
		free(s->groups[c].rows);
		free(s->groups[c].hints);
		idmap_fini(&s->groups[c].by_hash);
	}
	for (uint32_t i = 0; i < s->track_count; i++) {
		struct summary_track *d = &s->tracks[i];
		timeline_fini(&d->all);
		timeline_fini(&d->kernels);
		timeline_fini(&d->copies);
		histogram_fini(&d->launch);
		histogram_fini(&d->enqueue);
		histogram_fini(&d->submit);
		histogram_fini(&d->wait);
		histogram_fini(&d->own);
		histogram_fini(&d->others);
		histogram_fini(&d->runtime);
	}
	for (uint32_t i = 0; i < s->thread_count; i++)
		free(s->threads[i].open);
	free(s->files);
	free(s->devices);
	free(s->tracks);
	idmap_fini(&s->tracks_by_hash);
	stages_fini(&s->stages);
	idle_fini(&s->idle);
	free(s->first_steps);
	summary_fini_unrecorded(s);
	free(s->processes);
	free(s->threads);
	free(s->queues);
	free(s->places);
	idmap_fini(&s->place_ids);
	free(s->failures);
	texts_fini(&s->names);
	idmap_fini(&s->failure_ids);
	gt_memory_use_fini(&s->memory);
	graphs_fini(&s->graphs);
	gpu_by_range_fini(&s->gpu_by_range);
	ranks_fini(&s->ranks);
	odd_ranges_fini(&s->odd_ranges);
	patterns_fini(&s->patterns);
	timeline_pool_fini(&s->pool);
	launched_fini(&s->launched);
	range_paths_fini(&s->range_paths);
	dispatches_fini(&s->dispatches);
	linked_fini(&s->linked);
	free(s->edges);
	*s = (struct summary){0};
}
