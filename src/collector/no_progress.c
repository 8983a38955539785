/* SPDX-License-Identifier: MIT */
/* See no_progress.h. */
#include "collector/no_progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/drain.h"
#include "collector/open_calls_live.h"
#include "collector/process.h"
#include "collector/process_counts.h"
#include "record/operation.h"
#include "util/error.h"
#include "util/grow.h"

enum {
	LOOK_LEAST_NS = 10000000, /* shortest and longest interval between two looks */
	LOOK_MOST_NS = 250000000,
	LOOKS = 8,           /* number of looks in the shortest time of a trigger */
	LATE_NS = 200000000, /* time that records of several threads may need to arrive */
	TEXT_BYTES = 256,
	NAME_BYTES = 100,
};

/* Processes ------------------------------------------------------------------------- */

static bool is_alive(const struct gt_process *process)
{
	return process->segment && !process->exited && !process->lost && !process->replaced &&
	       !process->ended;
}

/* Return the running process, or NULL. */
static struct gt_process *find_process(const struct gt_progress *p,
				       const struct progress_process *w)
{
	const struct gt_drain *d = p->drain;

	for (size_t i = 0; i < d->process_count; i++)
		if (d->processes[i]->index == w->index)
			return is_alive(d->processes[i]) ? d->processes[i] : NULL;
	return NULL;
}

/* Read all records that are committed. */
static void read_all(struct gt_progress *p, struct gt_process *process)
{
	gt_drain_process(p->drain, process, GT_DRAIN_NOW, p->now_ns);
}

static bool matches(const struct gt_trigger *t, const struct progress_process *w,
		    struct gt_trigger_record *record)
{
	record->pid = w->pid;
	record->exe = w->exe;
	record->timed = true;
	if (!record->kernel)
		record->kernel = "";
	return t->match(t->data, record);
}

/* Return the bit of a trigger of the list. */
static uint64_t bit_of(const struct gt_progress *p, const struct gt_trigger *t)
{
	return UINT64_C(1) << (t - p->list) % 64;
}

/* Text ------------------------------------------------------------------------------ */

static void put_duration(uint64_t ns, char *text, size_t room)
{
	if (ns < 1000000000)
		snprintf(text, room, "%" PRIu64 " ms", ns / 1000000);
	else
		snprintf(text, room, "%.2f s", (double)ns / 1e9);
}

/* The thread to name if a process makes no progress: the one in the call that has been open for
 * longest; if no call is open, the thread that made the last call. */
struct culprit {
	const struct gt_progress *p;
	uint64_t start, last_end; /* host ticks */
	bool is_open;
	char text[TEXT_BYTES];
};

static void consider_thread(struct gt_process *process, const struct gt_thread_calls *t, void *data)
{
	struct culprit *c = data;
	const struct gt_open_call *call = t->open_count ? &t->open[t->open_count - 1] : NULL;
	char duration[32], number[32] = "";
	uint64_t since = call ? call->start : t->last_end;

	(void)process;
	if ((c->is_open && (!call || call->start >= c->start)) ||
	    (!c->is_open && !call && t->last_end <= c->last_end))
		return;
	put_duration(t->seen > since ? (uint64_t)((double)(t->seen - since) * c->p->host.tick_ns)
				     : 0,
		     duration, sizeof duration);
	c->is_open = call;
	c->start = call ? call->start : 0;
	c->last_end = t->last_end;
	if (call && call->sequence)
		snprintf(number, sizeof number, " #%" PRIu64, call->sequence);
	if (call)
		snprintf(c->text, sizeof c->text, "thread %u is in %.*s%s%s%s", t->tid, NAME_BYTES,
			 gt_operation_name(call->op), number, since ? " for " : "",
			 since ? duration : "");
	else
		snprintf(c->text, sizeof c->text,
			 "thread %u is outside any call for %s, after %.*s", t->tid, duration,
			 NAME_BYTES, gt_operation_name(t->last_call));
}

/* Describe what the process does: "thread 12 is in clFinish for 10.2 s". */
static void describe_process(struct gt_progress *p, struct gt_process *process, struct culprit *out)
{
	*out = (struct culprit){.p = p, .text = "its threads are not known"};
	gt_open_calls_look(p->drain, process, 0, consider_thread, out);
}

static void fire(struct gt_progress *p, const char *text)
{
	p->fire(p->fire_data, text);
}

/* No progress ------------------------------------------------------------------------- */

/* Return the number of launched GPU activities that have no record yet. */
static uint64_t count_in_flight(struct gt_progress *p, struct gt_process *process)
{
	struct gt_counts counts;
	uint64_t in_flight = 0;

	gt_process_sum_counts(p->drain, process, false, &counts);
	for (int k = 0; k < GT_DOMAIN_COUNT; k++) {
		uint64_t known = counts.recorded[GT_CLASS_DEVICE][k];

		for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
			if (why != GT_DROP_UNFINISHED)
				known += counts.dropped[why][GT_CLASS_DEVICE][k];
		if (counts.seen[GT_CLASS_DEVICE][k] > known)
			in_flight += counts.seen[GT_CLASS_DEVICE][k] - known;
	}
	return in_flight;
}

/* Return the time since the last record of the process. */
static uint64_t silence_of(const struct gt_progress *p, const struct progress_process *w)
{
	uint64_t since = w->active_ns > p->resumed_ns ? w->active_ns : p->resumed_ns;

	return p->now_ns > since ? p->now_ns - since : 0;
}

/* Return the process that has been silent for longest, among the processes that match, and set
 * *least_ns to the shortest silence. NULL: no process counts. */
static struct progress_process *find_silent(struct gt_progress *p, const struct gt_trigger *t,
					    uint64_t *least_ns)
{
	struct progress_process *longest = NULL;
	bool needs_activities = false;

	*least_ns = UINT64_MAX;
	for (size_t i = 0; i < p->process_count; i++)
		needs_activities |=
			p->processes[i]->has_activities && find_process(p, p->processes[i]);
	for (size_t i = 0; i < p->process_count; i++) {
		struct progress_process *w = p->processes[i];
		uint64_t ns = silence_of(p, w);
		struct gt_trigger_record record = {.duration_ns = ns};

		if ((needs_activities ? !w->has_activities : !w->has_calls) ||
		    !matches(t, w, &record) || !find_process(p, w))
			continue;
		*least_ns = ns < *least_ns ? ns : *least_ns;
		if (!longest || ns > silence_of(p, longest))
			longest = w;
	}
	return longest;
}

static void check_progress(struct gt_progress *p, const struct gt_trigger *t)
{
	uint64_t least_ns;
	struct progress_process *w = find_silent(p, t, &least_ns);
	struct culprit culprit;
	char duration[32], text[TEXT_BYTES];

	if (!w || least_ns < t->least_ns) {
		p->silent &= ~bit_of(p, t);
		return;
	}
	if (p->silent & bit_of(p, t))
		return;
	for (size_t i = 0; i < p->process_count; i++)
		if (find_process(p, p->processes[i]))
			read_all(p, find_process(p, p->processes[i]));
	w = find_silent(p, t, &least_ns);
	if (!w || least_ns < t->least_ns)
		return;
	put_duration(least_ns, duration, sizeof duration);
	describe_process(p, find_process(p, w), &culprit);
	snprintf(text, sizeof text, "no record for %s: process %u, %s", duration, w->pid,
		 culprit.text);
	fire(p, text);
	p->silent |= bit_of(p, t);
}

/* Gaps -------------------------------------------------------------------------------- */

static void fire_gap(struct gt_progress *p, const struct progress_process *w,
		     const struct progress_device *d, uint64_t ns, const char *more)
{
	char duration[32], text[TEXT_BYTES];

	put_duration(ns, duration, sizeof duration);
	snprintf(text, sizeof text, "device %u (%s) had no activity of process %u for %s%s",
		 GT_DEVICE_REF_NUMBER(d->ref), gt_domain_name((enum gt_domain)GT_OP_DOMAIN(d->ref)),
		 w->pid, duration, more);
	fire(p, text);
}

/* Decide gaps between two activities, when late records have arrived. @is_gone: there will be no
 * more records */
static void check_past_gaps(struct gt_progress *p, const struct gt_trigger *t,
			    const struct progress_process *w, const struct progress_device *d,
			    bool is_gone)
{
	for (size_t i = 0; i < d->gap_count; i++) {
		const struct progress_gap *g = &d->gaps[i];
		struct gt_trigger_record record = {.is_activity = true, .op = d->ref};

		if ((p->now_ns - g->since_ns < LATE_NS && !is_gone) ||
		    !gt_device_rates_convert(&w->rates, &p->host, GT_OP_DOMAIN(d->ref),
					     GT_DEVICE_REF_NUMBER(d->ref), g->to - g->from,
					     &record.duration_ns))
			continue;
		if (record.duration_ns >= t->least_ns && matches(t, w, &record))
			fire_gap(p, w, d, record.duration_ns, "");
	}
}

static void finish_process(struct gt_progress *p, struct progress_process *w)
{
	for (size_t i = 0; i < p->count; i++)
		for (size_t k = 0; k < w->device_count && p->list[i].what == GT_TRIGGER_GAP; k++)
			check_past_gaps(p, &p->list[i], w, &w->devices[k], true);
}

/* Forget the gaps that were decided, or whose clock stays unknown. */
static void forget_gaps(const struct gt_progress *p, struct progress_device *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->gap_count; i++)
		if (p->now_ns - d->gaps[i].since_ns < LATE_NS)
			d->gaps[kept++] = d->gaps[i];
	d->gap_count = kept;
}

static uint64_t idle_since(const struct gt_progress *p, const struct progress_device *d)
{
	uint64_t since = d->seen_ns > p->resumed_ns ? d->seen_ns : p->resumed_ns;

	return p->now_ns > since ? p->now_ns - since : 0;
}

/* Decide the gap since the last activity. */
static void check_current_gap(struct gt_progress *p, const struct gt_trigger *t,
			      struct progress_process *w, size_t device)
{
	struct gt_process *process = find_process(p, w);
	uint64_t ns = idle_since(p, &w->devices[device]);
	struct gt_trigger_record record = {.is_activity = true,
					   .op = w->devices[device].ref,
					   .duration_ns = ns};
	struct culprit culprit;
	char more[TEXT_BYTES];

	if (!process || w->devices[device].fired & bit_of(p, t) || ns < t->least_ns ||
	    !matches(t, w, &record))
		return;
	read_all(p, process);
	ns = idle_since(p, &w->devices[device]);
	if (ns < t->least_ns || count_in_flight(p, process))
		return;
	describe_process(p, process, &culprit);
	snprintf(more, sizeof more, ": %.200s", culprit.text);
	fire_gap(p, w, &w->devices[device], ns, more);
	w->devices[device].fired |= bit_of(p, t);
}

static void check_gaps(struct gt_progress *p, const struct gt_trigger *t)
{
	for (size_t i = 0; i < p->drain->process_count; i++)
		if (is_alive(p->drain->processes[i]))
			read_all(p, p->drain->processes[i]);
	for (size_t i = 0; i < p->process_count; i++)
		for (size_t k = 0; k < p->processes[i]->device_count; k++) {
			check_past_gaps(p, t, p->processes[i], &p->processes[i]->devices[k], false);
			check_current_gap(p, t, p->processes[i], k);
		}
}

/* Open calls --------------------------------------------------------------------------- */

struct open_look {
	struct gt_progress *p;
	const struct gt_trigger *trigger;
	struct progress_process *watched;
};

static struct progress_call *get_call(struct gt_progress *p, struct progress_process *w,
				      uint64_t id)
{
	struct progress_call *more;

	for (size_t i = 0; i < w->call_count; i++)
		if (w->calls[i].id == id)
			return &w->calls[i];
	more = gt_grow(w->calls, w->call_count, &w->call_room, sizeof *more);
	if (!more)
		return NULL;
	w->calls = more;
	w->calls[w->call_count] = (struct progress_call){.id = id, .since_ns = p->now_ns};
	return &w->calls[w->call_count++];
}

static void fire_open(struct gt_progress *p, const struct progress_process *w,
		      const struct gt_thread_calls *t, const struct gt_open_call *call, uint64_t ns)
{
	char duration[32], number[32] = "", text[TEXT_BYTES];

	put_duration(ns, duration, sizeof duration);
	if (call->sequence)
		snprintf(number, sizeof number, " #%" PRIu64, call->sequence);
	snprintf(text, sizeof text, "%.*s%s is open for %s in thread %u of process %u", NAME_BYTES,
		 gt_operation_name(call->op), number, duration, t->tid, w->pid);
	fire(p, text);
}

/* Look at the open calls of a thread, innermost first. If a call fires, the calls around it do
 * not. */
static void look_at_thread(struct gt_process *process, const struct gt_thread_calls *t, void *data)
{
	struct open_look *look = data;
	struct gt_progress *p = look->p;
	bool fired = false;

	(void)process;
	for (unsigned i = t->open_count; i-- > 0;) {
		const struct gt_open_call *call = &t->open[i];
		struct progress_call *known = get_call(p, look->watched, call->id);
		struct gt_trigger_record record = {.op = call->op};

		if (!known)
			return;
		known->is_open = true;
		record.duration_ns =
			call->start ? t->seen > call->start
					      ? (uint64_t)((double)(t->seen - call->start) *
							   p->host.tick_ns)
					      : 0
				    : p->now_ns - known->since_ns;
		if (record.duration_ns > p->now_ns - p->resumed_ns)
			record.duration_ns = p->now_ns - p->resumed_ns;
		if (known->fired & bit_of(p, look->trigger) ||
		    record.duration_ns < look->trigger->least_ns ||
		    !matches(look->trigger, look->watched, &record))
			continue;
		if (!fired)
			fire_open(p, look->watched, t, call, record.duration_ns);
		known->fired |= bit_of(p, look->trigger);
		fired = true;
	}
}

static void check_open(struct gt_progress *p, const struct gt_trigger *t)
{
	for (size_t i = 0; i < p->drain->process_count; i++) {
		struct gt_process *process = p->drain->processes[i];
		struct open_look look = {p, t, NULL};

		if (!is_alive(process))
			continue;
		look.watched = progress_get_process(p, process);
		if (look.watched)
			gt_open_calls_look(p->drain, process, 0, look_at_thread, &look);
	}
}

/* Forget calls that have returned. */
static void forget_calls(struct progress_process *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->call_count; i++)
		if (w->calls[i].is_open) {
			w->calls[kept] = w->calls[i];
			w->calls[kept++].is_open = false;
		}
	w->call_count = kept;
}

/* All ---------------------------------------------------------------------------------- */

static void pause_progress(struct gt_progress *p)
{
	p->is_paused = true;
	for (size_t i = 0; i < p->process_count; i++)
		for (size_t k = 0; k < p->processes[i]->device_count; k++) {
			p->processes[i]->devices[k].end = 0;
			p->processes[i]->devices[k].gap_count = 0;
		}
}

void gt_progress_advance(struct gt_progress *p, uint64_t now_ns, bool recording)
{
	bool looks_at_calls = false;

	p->now_ns = now_ns;
	if (!recording) {
		pause_progress(p);
		return;
	}
	if (p->is_paused || !p->resumed_ns)
		p->resumed_ns = now_ns;
	p->is_paused = false;
	if (now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + p->every_ns;
	for (size_t i = 0; i < p->count; i++) {
		const struct gt_trigger *t = &p->list[i];

		looks_at_calls |= t->what == GT_TRIGGER_OPEN;
		if (t->what == GT_TRIGGER_NO_PROGRESS)
			check_progress(p, t);
		else if (t->what == GT_TRIGGER_GAP)
			check_gaps(p, t);
		else
			check_open(p, t);
	}
	for (size_t i = 0; i < p->process_count; i++) {
		struct progress_process *w = p->processes[i];

		for (size_t k = 0; k < w->device_count; k++)
			forget_gaps(p, &w->devices[k]);
		if (looks_at_calls)
			forget_calls(w);
	}
}

int gt_progress_due_ms(const struct gt_progress *p, uint64_t now_ns)
{
	return p->next_ns > now_ns ? (int)((p->next_ns - now_ns) / 1000000) + 1 : 0;
}

int gt_progress_create(const struct gt_trigger *list, size_t count, struct gt_drain *drain,
		       uint32_t host_clock, void (*fire_text)(void *data, const char *text),
		       void *data, struct gt_progress **out)
{
	struct gt_progress *p;
	size_t wanted = 0;

	*out = NULL;
	for (size_t i = 0; i < count; i++)
		wanted += list[i].what != GT_TRIGGER_RECORD;
	if (!wanted)
		return 0;
	p = calloc(1, sizeof *p);
	if (p)
		p->list = calloc(wanted, sizeof *p->list);
	if (!p || !p->list) {
		free(p);
		return gt_error(-ENOMEM, "cannot store triggers");
	}
	p->every_ns = LOOK_MOST_NS;
	for (size_t i = 0; i < count; i++) {
		uint64_t every_ns = list[i].least_ns / LOOKS;

		if (list[i].what == GT_TRIGGER_RECORD)
			continue;
		p->list[p->count++] = list[i];
		every_ns = every_ns > LOOK_LEAST_NS ? every_ns : LOOK_LEAST_NS;
		p->every_ns = every_ns < p->every_ns ? every_ns : p->every_ns;
	}
	p->drain = drain;
	p->finish = finish_process;
	p->fire = fire_text;
	p->fire_data = data;
	gt_host_rate_measure(host_clock, &p->host);
	*out = p;
	return 0;
}
