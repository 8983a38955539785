/* SPDX-License-Identifier: MIT */
/* Converts changes of the recording state (GT_RECORD_WINDOW) to windows that cover the life of each
 * process without a hole. A process without changes was recorded throughout and has no windows.
 *
 *   life      |begin ........................................ end|
 *   changes        paused      recorded          paused
 *   windows   |----|-----------|-----------------|-------------| */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "util/error.h"

const char *gt_window_why_name(enum gt_window_why why)
{
	static const char *const names[] = {
#define GT_WINDOW_WHY(name, number, text) [number] = text,
		GT_WINDOW_WHYS(GT_WINDOW_WHY)
#undef GT_WINDOW_WHY
	};

	return why < GT_WINDOW_WHY_COUNT ? names[why] : names[GT_WINDOW_UNKNOWN];
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct window_change *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static uint64_t end_of_life(const struct gt_capture *c, uint32_t process)
{
	const struct session *s = gt_session_of(c, process);

	if (c->processes[process].end_ns)
		return c->processes[process].end_ns;
	return s->tuple_count
		       ? s->tuples[s->tuple_count - 1].boottime_ns + (uint64_t)s->public.shift_ns
		       : 0;
}

static struct gt_window_info *add_window(struct gt_capture *c, uint32_t process)
{
	if (GT_LIST_ADD(c, windows, window_count, window_room))
		return NULL;
	c->windows[c->window_count] = (struct gt_window_info){.process = process};
	return &c->windows[c->window_count++];
}

/* Make the windows of one process from the changes in [@first, @end). */
static int make_windows(struct gt_capture *c, size_t first, size_t end)
{
	uint32_t process = c->changes[first].process;
	const struct gt_host_clock_map *clock = gt_session_of(c, process)->host;
	uint64_t begin_ns = c->processes[process].start_ns, end_ns = end_of_life(c, process);
	struct gt_window_info *w = add_window(c, process);

	if (!w)
		return -ENOMEM;
	w->recorded = !c->changes[first].recorded;
	w->why = GT_WINDOW_LIFE;
	w->from_ns = w->to_ns = begin_ns;
	for (size_t i = first; i < end; i++) {
		const struct window_change *change = &c->changes[i];
		uint64_t ns = gt_host_clock_to_ns(clock, change->ticks);

		if (change->recorded == w->recorded)
			continue; /* written twice, or the change in between was lost */
		if (ns < w->from_ns)
			ns = w->from_ns;
		w->to_ns = ns;
		w->end_why = (enum gt_window_why)change->why;
		if (w->to_ns > w->from_ns) { /* the window is empty: reuse it */
			w = add_window(c, process);
			if (!w)
				return -ENOMEM;
		}
		w->from_ns = ns;
		w->recorded = change->recorded;
		w->why = (enum gt_window_why)change->why;
		w->missed = change->missed;
	}
	w->to_ns = end_ns > w->from_ns ? end_ns : w->from_ns;
	w->end_why = GT_WINDOW_LIFE;
	return 0;
}

int gt_windows_finish(struct gt_capture *c)
{
	int status;

	if (!c->change_count)
		return 0;
	status = gt_sort_stable(c->changes, c->change_count, sizeof *c->changes,
				by_process_and_time);
	if (status)
		return status;
	c->window_first = calloc(c->process_count + 1, sizeof *c->window_first);
	if (!c->window_first)
		return gt_error(-ENOMEM, "cannot store the windows of capture %s",
				c->files[0].path);
	for (size_t i = 0, next = 0; i < c->process_count; i++) {
		size_t first = next;

		c->window_first[i] = c->window_count;
		while (next < c->change_count && c->changes[next].process == i)
			next++;
		if (next > first && make_windows(c, first, next))
			return gt_error(-ENOMEM, "cannot store the windows of capture %s",
					c->files[0].path);
	}
	c->window_first[c->process_count] = c->window_count;
	return 0;
}

const struct gt_window_info *gt_capture_windows(const struct gt_capture *c, uint32_t process,
						size_t *count)
{
	*count = 0;
	if (!c->window_first || process >= c->process_count)
		return NULL;
	*count = c->window_first[process + 1] - c->window_first[process];
	return c->windows + c->window_first[process];
}

size_t gt_capture_window_count(const struct gt_capture *c)
{
	return c->window_count;
}

const struct gt_window_info *gt_capture_window_at(const struct gt_capture *c, size_t index)
{
	return index < c->window_count ? &c->windows[index] : NULL;
}

/* Recorded time ------------------------------------------------------------------ */

struct span {
	uint64_t from, to;
};

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Return the length of the union of the spans. */
static uint64_t unite(struct span *spans, size_t count)
{
	uint64_t sum = 0, reached = 0;

	qsort(spans, count, sizeof *spans, by_begin);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = spans[i].from > reached ? spans[i].from : reached;

		if (spans[i].to > from) {
			sum += spans[i].to - from;
			reached = spans[i].to;
		}
	}
	return sum;
}

bool gt_capture_recorded(const struct gt_capture *c, const struct gt_capture_session *session,
			 uint64_t *recorded_ns, uint64_t *total_ns)
{
	struct span *lives = calloc(c->process_count + 1, sizeof *lives),
		    *windows = calloc(c->process_count + c->window_count + 1, sizeof *windows);
	size_t life_count = 0, count = 0;
	bool paused = false;

	for (uint32_t p = 0; p < c->process_count && lives && windows; p++) {
		const struct gt_process_info *process = &c->processes[p];
		size_t n;
		const struct gt_window_info *w = gt_capture_windows(c, p, &n);

		if (!process->runtimes ||
		    (session && gt_capture_session_at(c, process->session) != session))
			continue;
		lives[life_count++] = (struct span){process->start_ns, end_of_life(c, p)};
		if (!n)
			windows[count++] = lives[life_count - 1];
		for (size_t i = 0; i < n; i++)
			if (w[i].recorded)
				windows[count++] = (struct span){w[i].from_ns, w[i].to_ns};
			else
				paused = true;
	}
	*recorded_ns = windows ? unite(windows, count) : 0;
	*total_ns = lives ? unite(lives, life_count) : 0;
	free(lives);
	free(windows);
	return paused;
}
