/* SPDX-License-Identifier: MIT */
/* See host_spell.h. */
#include "collector/host_spell.h"

#include <string.h>

#define MS           UINT64_C(1000000)
/* A running thread is classified over at least this time, because the kernel counts its CPU time at
 * ticks of up to 10 ms. */
#define STRETCH_NS   (12 * MS)
/* Minimum use of the processor between two waits for which a row is written. */
#define USE_NS       (1 * MS)
/* Parts of a long row are written after 1, 2, 4, .. 32 s, so that a snapshot and the file of a dead
 * collector contain it. */
#define LONG_NS      (1000 * MS)
#define LONG_MOST_NS (32000 * MS)

void gt_host_spell_init(struct gt_host_spell *s, const struct gt_host_process *process,
			uint32_t tid)
{
	memset(s, 0, sizeof *s);
	gt_host_thread_init(&s->thread, process, tid);
	gt_host_thread_init(&s->holder, process, 0);
}

void gt_host_spell_close(struct gt_host_spell *s)
{
	gt_host_thread_close(&s->thread);
	gt_host_thread_close(&s->holder);
}

/* The holder of a lock ----------------------------------------------------------------- */

/* Return the state that the holder was in for the longest time. */
static enum gt_host_state find_longest(const uint64_t ns[GT_HOST_STATE_COUNT])
{
	unsigned longest = 0;

	for (unsigned i = 1; i < GT_HOST_STATE_COUNT; i++)
		if (ns[i] > ns[longest])
			longest = i;
	return (enum gt_host_state)longest;
}

/* Read the state of the thread that is waited for, and describe it. */
static void read_holder(struct gt_host_spell *s, struct gt_host_look *look)
{
	const struct gt_host_reading before = s->holder_last;
	const enum gt_host_state described = find_longest(s->holder_ns);
	struct gt_host_reading now;
	struct gt_host_look at;
	bool is_first = s->holder.tid != look->holder;

	if (is_first) {
		gt_host_thread_close(&s->holder);
		gt_host_thread_init(&s->holder, s->thread.process, look->holder);
		memset(s->holder_ns, 0, sizeof s->holder_ns);
	}
	if (!gt_host_thread_read(&s->holder, is_first ? NULL : &before, &now)) {
		gt_host_look_at(&s->holder, &now, &at);
		if (!is_first && before.letter == 'R' && at.state == GT_HOST_STATE_COMPUTING)
			at.state = gt_host_running_state(&before, &now);
		/* a state that is seen once counts less than one that lasts */
		s->holder_ns[at.state] +=
			is_first || at.state == GT_HOST_STATE_UNKNOWN ? 1 : now.ns - before.ns;
		s->holder_last = now;
	}
	if (!is_first && described == find_longest(s->holder_ns) && s->look.holder == look->holder)
		memcpy(look->text, s->look.text, sizeof look->text);
	else
		gt_host_look_describe_holder(&s->thread, find_longest(s->holder_ns), NULL, look);
}

/* Find the file that a running thread reads or writes. */
static void find_file(struct gt_host_spell *s, struct gt_host_peers *peers,
		      const struct gt_host_reading *now)
{
	if (s->file.object || gt_host_used_state(&s->run, now) != GT_HOST_STATE_FILE)
		return;
	/* a thread that reads often has moved between two calls in a row */
	for (int i = 0; i < 2 && !s->file.object; i++)
		s->file.object =
			gt_host_descriptor_find_moving(&peers->positions, s->thread.process,
						       s->thread.tid, s->file.text);
}

int gt_host_spell_read(struct gt_host_spell *s, struct gt_host_peers *peers, bool is_last,
		       struct gt_host_spell_reading *out)
{
	int status;

	memset(out, 0, sizeof *out);
	if (is_last) {
		out->reading.call = -1;
		status = gt_host_thread_read_use(&s->thread, &out->reading);
		if (!status && s->last.letter == 'R')
			status = gt_host_thread_read(&s->thread, NULL, &out->reading);
		return status;
	}
	status = gt_host_thread_read(&s->thread, s->is_open ? &s->last : NULL, &out->reading);
	if (status)
		return status;
	if (s->is_open && out->reading.letter == s->last.letter && s->last.letter != 'R' &&
	    out->reading.slices == s->last.slices) {
		out->look = s->look; /* the thread has not run since */
	} else {
		gt_host_look_at(&s->thread, &out->reading, &out->look);
		if (out->look.state == s->look.state && s->is_open)
			gt_host_look_describe(&s->thread, peers, &out->look);
	}
	if (s->row.readings == 1)
		/* only now, because the search takes some time and most waits are short */
		gt_host_look_describe(&s->thread, peers, &out->look);
	if (out->look.holder)
		read_holder(s, &out->look);
	if (s->is_open && s->last.letter == 'R' && out->reading.letter == 'R')
		find_file(s, peers, &out->reading);
	return 0;
}

/* Rows ------------------------------------------------------------------------------- */

void gt_host_spell_flush(struct gt_host_spell *s, gt_host_row_function *put, void *data)
{
	struct gt_host_row *row = &s->row;

	if (!row->readings && row->end <= row->start)
		return;
	gt_host_descriptor_describe(NULL, s->thread.process->pid, false, row->text);
	put(row, data);
	row->start = row->end;
	row->readings = 0;
	row->cpu_ns = row->delay_ns = 0;
}

static bool is_same(const struct gt_host_row *row, enum gt_host_state state,
		    const struct gt_host_look *look)
{
	return row->state == state && row->call == look->call && row->object == look->object &&
	       row->holder == look->holder;
}

/* Add the time from @start to @end in a state. */
static void add_time(struct gt_host_spell *s, enum gt_host_state state,
		     const struct gt_host_look *look, uint64_t start, uint64_t end,
		     gt_host_row_function *put, void *data)
{
	struct gt_host_row *row = &s->row;

	if (!s->since_ns || !is_same(row, state, look)) {
		gt_host_spell_flush(s, put, data);
		*row = (struct gt_host_row){.state = state,
					    .start = start,
					    .call = look->call,
					    .holder = look->holder,
					    .object = look->object};
		s->since_ns = start;
		s->long_ns = LONG_NS;
	}
	row->end = end > row->start ? end : row->start;
	row->readings++;
	/* the newest text is the best one */
	memcpy(row->text, look->text, sizeof row->text);
	if (row->end - row->start < s->long_ns)
		return;
	gt_host_spell_flush(s, put, data);
	s->long_ns = s->long_ns < LONG_MOST_NS ? 2 * s->long_ns : LONG_MOST_NS;
}

static void add_use(struct gt_host_row *row, const struct gt_host_reading *from,
		    const struct gt_host_reading *to)
{
	row->cpu_ns += to->cpu_ns - from->cpu_ns;
	row->delay_ns += to->delay_ns - from->delay_ns;
}

static uint64_t get_use(const struct gt_host_reading *from, const struct gt_host_reading *to)
{
	return to->cpu_ns - from->cpu_ns + to->delay_ns - from->delay_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Add time in which the thread was running. */
static void add_part(struct gt_host_spell *s, enum gt_host_state state, uint64_t start,
		     uint64_t end, gt_host_row_function *put, void *data)
{
	const struct gt_host_look running = {0};

	add_time(s, state, state == GT_HOST_STATE_FILE ? &s->file : &running, start, end, put,
		 data);
}

/* Add time in which the thread both had a processor and waited for one, as two parts: it is not
 * known when. A part of the same state as the row so far comes first. */
static void add_two_parts(struct gt_host_spell *s, const struct gt_host_reading *now, uint64_t end,
			  gt_host_row_function *put, void *data)
{
	enum gt_host_state used = gt_host_used_state(&s->run, now);
	uint64_t cpu = now->cpu_ns - s->run.cpu_ns, delay = now->delay_ns - s->run.delay_ns;
	bool is_used_first = s->since_ns && s->row.state == used;
	double share = (double)(is_used_first ? cpu : delay) / (double)(cpu + delay);
	uint64_t middle = s->run_ns + (uint64_t)((double)(end - s->run_ns) * share);

	for (int i = 0; i < 2; i++) {
		bool is_used = is_used_first == (i == 0);

		add_part(s, is_used ? used : GT_HOST_STATE_RUNNABLE, i ? middle : s->run_ns,
			 i ? end : middle, put, data);
		s->row.cpu_ns += is_used ? cpu : 0;
		s->row.delay_ns += is_used ? 0 : delay;
	}
}

static bool is_running(enum gt_host_state state)
{
	return state == GT_HOST_STATE_COMPUTING || state == GT_HOST_STATE_RUNNABLE ||
	       state == GT_HOST_STATE_FAULTS;
}

/* Add the time up to @end in which the thread was running. */
static void add_running(struct gt_host_spell *s, const struct gt_host_reading *now, uint64_t end,
			gt_host_row_function *put, void *data)
{
	enum gt_host_state state = gt_host_running_state(&s->run, now);

	if (end <= s->run_ns)
		return;
	if (now->cpu_ns - s->run.cpu_ns > USE_NS && now->delay_ns - s->run.delay_ns > USE_NS) {
		add_two_parts(s, now, end, put, data);
		return;
	}
	/* too short to know: the same as before, if the thread has been running before */
	if (state == GT_HOST_STATE_UNKNOWN && s->since_ns && !s->row.call &&
	    is_running(s->row.state))
		state = s->row.state;
	if (state == GT_HOST_STATE_UNKNOWN)
		return;
	add_part(s, state, s->run_ns, end, put, data);
	add_use(&s->row, &s->run, now);
}

static void start_running(struct gt_host_spell *s, const struct gt_host_reading *from, uint64_t ns)
{
	s->run = *from;
	s->run_ns = ns;
}

/* Add a reading that found the thread running. */
static void found_running(struct gt_host_spell *s, const struct gt_host_reading *now,
			  gt_host_row_function *put, void *data)
{
	const struct gt_host_reading *last = &s->last;
	uint64_t use, since;

	if (!s->is_open) {
		start_running(s, now, now->ns);
		return;
	}
	if (last->letter == 'R') {
		if (now->ns - s->run_ns < STRETCH_NS)
			return;
		add_running(s, now, now->ns, put, data);
		start_running(s, now, now->ns);
		return;
	}
	/* the wait has ended since the last reading */
	since = now->ns - last->ns;
	use = get_use(last, now);
	use = least(use, since);
	s->row.end = now->ns - use;
	start_running(s, last, now->ns - use);
	if (!s->run.has_io) {
		s->run.io_bytes = now->io_bytes;
		s->run.io_calls = now->io_calls;
		s->run.has_io = now->has_io;
	}
	if (!s->run.has_faults) {
		s->run.minor_faults = now->minor_faults;
		s->run.system_ns = now->system_ns;
		s->run.has_faults = now->has_faults;
	}
}

/* Add a reading that found the thread waiting. */
static void found_waiting(struct gt_host_spell *s, const struct gt_host_spell_reading *r,
			  gt_host_row_function *put, void *data)
{
	const struct gt_host_reading *now = &r->reading, *last = &s->last;
	uint64_t start = now->ns, use;

	if (s->is_open && last->letter == 'R') {
		start = least(s->run_ns + get_use(&s->run, now), now->ns);
		add_running(s, now, start, put, data);
	} else if (s->is_open) {
		use = get_use(last, now);
		if (is_same(&s->row, r->look.state, &r->look)) {
			add_time(s, r->look.state, &r->look, last->ns, now->ns, put, data);
			add_use(&s->row, last, now);
			return;
		}
		start = last->ns + (now->ns - last->ns) / 2;
		if (use > USE_NS && use < now->ns - last->ns) {
			s->row.end = start - use / 2;
			start_running(s, last, s->row.end);
			s->run.has_faults = s->run.has_io = false;
			start += use / 2;
			add_running(s, now, start, put, data);
		} else {
			s->row.end = start;
		}
	}
	add_time(s, r->look.state, &r->look, start, now->ns, put, data);
}

/* Finish the rows. The thread has made progress after quiet_ns, and what it has used since the last
 * reading beyond that time it has used before. */
static void add_last(struct gt_host_spell *s, const struct gt_host_reading *now,
		     gt_host_row_function *put, void *data)
{
	const struct gt_host_reading *last = &s->last;
	uint64_t end = s->quiet_ns > last->ns ? s->quiet_ns : last->ns, use = get_use(last, now);

	if (last->letter == 'R') {
		add_running(s, now, end, put, data);
	} else {
		use = use > now->ns - end ? use - (now->ns - end) : 0;
		use = least(use, end - last->ns);
		s->row.end = end > s->row.end ? end : s->row.end;
		if (use > USE_NS) {
			s->row.end = end - use;
			start_running(s, last, s->row.end);
			s->run.has_faults = s->run.has_io = false;
			add_running(s, now, end, put, data);
		}
	}
	gt_host_spell_flush(s, put, data);
}

void gt_host_spell_add(struct gt_host_spell *s, const struct gt_host_spell_reading *r, bool is_last,
		       gt_host_row_function *put, void *data)
{
	struct gt_host_reading now = r->reading;

	if (!now.has_faults && s->is_open) {
		now.minor_faults = s->last.minor_faults;
		now.major_faults = s->last.major_faults;
		now.system_ns = s->last.system_ns;
		now.has_faults = s->last.has_faults;
	}
	if (is_last) {
		if (s->is_open)
			add_last(s, &now, put, data);
		return;
	}
	if (now.letter == 'R')
		found_running(s, &now, put, data);
	else if (r->look.state != GT_HOST_STATE_UNKNOWN)
		found_waiting(s, r, put, data);
	else
		return;
	s->last = now;
	s->look = r->look;
	s->is_open = true;
}

void gt_host_spell_end(struct gt_host_spell *s)
{
	gt_host_thread_close(&s->holder);
	gt_host_thread_init(&s->holder, s->thread.process, 0);
	memset(&s->row, 0, sizeof s->row);
	memset(&s->file, 0, sizeof s->file);
	s->is_open = false;
	s->since_ns = s->next_ns = s->quiet_ns = 0;
}
