/* SPDX-License-Identifier: MIT */
/* See triggers.h. */
#include "collector/triggers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/device_rates.h"
#include "collector/process.h"
#include "record/operation.h"
#include "util/clock_ns.h"
#include "util/demangle.h"
#include "util/error.h"
#include "util/grow.h"

enum {
	/* maximum number of waiting candidates; when it is reached, all candidates are decided */
	PENDING_MOST = 256,
	NAMES_MOST = 1 << 20,
	WAIT_NS = 1000000000,
	NAME_BYTES = 256,
};

/* State of a process that is not stored in its rings. */
struct known_process {
	uint32_t index;
	char **names; /* indexed by string id */
	size_t name_room;
	struct gt_device_rates rates;
};

struct candidate {
	struct gt_trigger_record record;
	uint32_t process, name, device;
	uint64_t stamp_ticks; /* duration of a GPU activity in device stamps */
	uint64_t since_ns;    /* 0: new */
	int32_t status;
	bool has_status;
	char exe[NAME_BYTES];
};

struct gt_triggers {
	struct gt_trigger *list;
	size_t count;
	void (*fire)(void *data, const char *text);
	void *fire_data;
	struct gt_host_rate host;
	uint64_t undecided;
	/* minimum duration of a call (in ticks), and of a GPU activity (in ns), that may match any
	 * trigger */
	uint64_t calls[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN];
	uint64_t activity[GT_DOMAIN_COUNT][GT_DEVICE_OP_COUNT];
	struct known_process **processes;
	size_t process_count, process_room;
	struct candidate pending[PENDING_MOST];
	size_t pending_count;
	bool has_fired; /* true after a trigger since the last look: later triggers are ignored */
};

static inline uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* Processes ------------------------------------------------------------------- */

static struct known_process *find_process(const struct gt_triggers *t, uint32_t index)
{
	for (size_t i = t->process_count; i-- > 0;)
		if (t->processes[i]->index == index)
			return t->processes[i];
	return NULL;
}

static struct known_process *get_process(struct gt_triggers *t, uint32_t index)
{
	struct known_process *p = find_process(t, index), **more;

	if (p)
		return p;
	more = gt_grow(t->processes, t->process_count, &t->process_room, sizeof(void *));
	if (!more)
		return NULL;
	t->processes = more;
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->index = index;
	t->processes[t->process_count++] = p;
	return p;
}

static void free_process(struct known_process *p)
{
	for (size_t i = 0; i < p->name_room; i++)
		free(p->names[i]);
	free(p->names);
	free(p);
}

/* Return the name in the form that --where of a report uses, or NULL if out of memory. */
static char *read_name(const char *text, size_t bytes)
{
	char *name = strndup(text, bytes), *readable = name ? gt_demangle(name) : NULL;

	if (!readable)
		return name;
	free(name);
	return readable;
}

static void note_name(struct gt_triggers *t, uint32_t process, const uint64_t *r, uint32_t words)
{
	uint32_t id = (uint32_t)(load(r) >> 32);
	uint64_t bytes = words < 2 ? 0 : load(r + 1);
	struct known_process *p;

	if (words < 2 || bytes > (words - 2) * 8u || id >= NAMES_MOST)
		return;
	p = get_process(t, process);
	if (!p)
		return;
	if (id >= p->name_room) {
		size_t room = 2 * (size_t)id + 64;
		char **more = realloc(p->names, room * sizeof *more);

		if (!more)
			return;
		memset(more + p->name_room, 0, (room - p->name_room) * sizeof *more);
		p->names = more;
		p->name_room = room;
	}
	free(p->names[id]);
	p->names[id] = read_name((const char *)(r + 2), bytes);
}

static void note_reading(struct gt_triggers *t, uint32_t process, const uint64_t *r, uint32_t words)
{
	struct known_process *p = get_process(t, process);

	if (p)
		gt_device_rates_note(&p->rates, &t->host, r, words);
}

/* Deciding ------------------------------------------------------------------------ */

/* Compute the duration of a GPU activity in ns. Return false if the duration is not yet
 * known. */
static bool measure_activity(const struct gt_triggers *t, const struct known_process *p,
			     struct candidate *c)
{
	static const struct gt_device_rates none;

	return !c->record.timed ||
	       gt_device_rates_convert(p ? &p->rates : &none, &t->host, GT_OP_DOMAIN(c->record.op),
				       c->device, c->stamp_ticks, &c->record.duration_ns);
}

/* Return true if the GPU activity is too short for all triggers. */
static bool is_short(const struct gt_triggers *t, const struct gt_trigger_record *activity)
{
	return activity->duration_ns < t->activity[GT_OP_DOMAIN(activity->op)][activity->device_op];
}

/* Evaluate a candidate. Return false if the candidate must wait. If the duration is unknown, only
 * triggers that do not use the duration are evaluated. */
static bool decide(struct gt_triggers *t, struct candidate *c, bool *holds)
{
	const struct known_process *p = find_process(t, c->process);
	const bool measured = !c->record.is_activity || measure_activity(t, p, c);
	bool asked = false;

	*holds = false;
	c->record.exe = c->exe;
	c->record.kernel = "";
	if (measured && c->record.is_activity && is_short(t, &c->record))
		return true;
	if (c->record.is_activity && c->name) {
		if (!p || c->name >= p->name_room || !p->names[c->name])
			return false;
		c->record.kernel = p->names[c->name];
	}
	for (size_t i = 0; i < t->count && !*holds; i++) {
		const struct gt_trigger *trigger = &t->list[i];

		if (measured || !trigger->asks_time)
			*holds = trigger->match(trigger->data, &c->record);
		else
			asked = true;
	}
	if (*holds && !measured)
		c->record.timed = false;
	return *holds || !asked;
}

/* Format a duration with three digits, as the commands do: "694 us", "1.31 ms", "72.0 s". */
static void put_duration(uint64_t ns, char *text, size_t room)
{
	static const char *const units[] = {"us", "ms", "s"};
	double value = (double)ns / 1e3;
	unsigned u = 0;

	if (ns < 1000) {
		snprintf(text, room, "%u ns", (unsigned)ns);
		return;
	}
	while (value >= 999.5 && u < 2) {
		value /= 1e3;
		u++;
	}
	snprintf(text, room, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[u]);
}

static void describe(const struct candidate *c, char *text, size_t room)
{
	char duration[32];
	const struct gt_trigger_record *r = &c->record;
	const char *name = !r->is_activity ? gt_operation_name(r->op)
			   : *r->kernel    ? r->kernel
					   : gt_device_op_name(r->device_op),
		   *status = c->has_status ? gt_status_name((enum gt_domain)GT_OP_DOMAIN(r->op),
							    c->status)
					   : NULL,
		   *more = strnlen(name, 101) > 100 ? ".." : "";

	put_duration(r->duration_ns, duration, sizeof duration);
	if (r->failed)
		snprintf(text, room, "%.100s%s failed with %s in process %u", name, more,
			 status ? status : "an error", r->pid);
	else if (!r->timed)
		snprintf(text, room, "%.100s%s ran in process %u", name, more, r->pid);
	else
		snprintf(text, room, "%.100s%s took %s in process %u", name, more, duration,
			 r->pid);
}

/* @gone: a process that is not read any longer; NULL: none */
static void decide_pending(struct gt_triggers *t, uint64_t now_ns, const struct gt_process *gone)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->pending_count; i++) {
		struct candidate *c = &t->pending[i];
		char text[NAME_BYTES];
		bool holds;

		if (!decide(t, c, &holds)) {
			c->since_ns = c->since_ns ? c->since_ns : now_ns;
			if (now_ns - c->since_ns < WAIT_NS && !(gone && c->process == gone->index))
				t->pending[kept++] = *c;
			else
				t->undecided++;
			continue;
		}
		if (holds) {
			describe(c, text, sizeof text);
			t->fire(t->fire_data, text);
			t->has_fired = true;
		}
	}
	t->pending_count = kept;
}

/* Candidates --------------------------------------------------------------------- */

/* Return a new candidate, or NULL if too many are waiting. */
static struct candidate *add_candidate(struct gt_triggers *t, const struct gt_process *process)
{
	struct candidate *c;

	if (t->pending_count == PENDING_MOST && !t->has_fired)
		decide_pending(t, gt_clock_ns(CLOCK_MONOTONIC), NULL);
	if (t->pending_count == PENDING_MOST)
		return NULL;
	c = &t->pending[t->pending_count++];
	memset(c, 0, sizeof *c);
	c->process = process->index;
	c->record.pid = process->pid;
	memcpy(c->exe, process->segment->exe, sizeof c->exe - 1);
	return c;
}

/* Add a call that is long enough and has failed if the trigger requires a failure. Argument words
 * are copied, because they may change. */
static void add_call(struct gt_triggers *t, const struct gt_process *process, const uint64_t *r,
		     uint32_t words)
{
	uint32_t op = (uint32_t)(load(r) >> 32), nargs = GT_OP_NARGS(op);
	uint64_t args[256], ticks = load(r + 2) - load(r + 1);
	bool has_args = nargs && words >= GT_OP_NARGS(op) + 5, needs = true, failed = false;
	struct gt_trigger_record record = {.op = op};
	struct candidate *c;
	int32_t status = 0;
	bool has_status;

	for (uint32_t i = 0; has_args && i < nargs; i++)
		args[i] = load(r + 5 + i);
	has_status = gt_call_status(op, load(r + 4), has_args ? args : NULL, &status);
	failed = has_status && gt_status_failed((enum gt_domain)GT_OP_DOMAIN(op), status) &&
		 !gt_status_refused((enum gt_domain)GT_OP_DOMAIN(op), status);
	for (size_t i = 0; i < t->count && needs && !failed; i++) {
		bool asks = false;
		uint64_t ns = t->list[i].find_shortest(t->list[i].data, &record, &asks);

		needs = asks || (double)ticks * t->host.tick_ns < (double)ns;
	}
	if (needs && !failed)
		return;
	c = add_candidate(t, process);
	if (!c)
		return;
	c->record.op = op;
	c->record.failed = failed;
	c->record.timed = ticks >> 63 == 0;
	c->record.duration_ns = (uint64_t)((double)ticks * t->host.tick_ns);
	c->has_status = has_status;
	c->status = status;
}

static void add_activity(struct gt_triggers *t, const struct gt_process *process, const uint64_t *r)
{
	uint64_t words[sizeof(struct gt_record_device) / 8];
	struct gt_record_device w;
	struct candidate *c, found;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		words[i] = load(r + i);
	memcpy(&w, words, sizeof w);
	memset(&found, 0, offsetof(struct candidate, exe));
	found.process = process->index;
	found.record = (struct gt_trigger_record){.is_activity = true,
						  .op = w.head.op,
						  .device_op = gt_record_device_op(&w.head),
						  .pid = process->pid,
						  .failed = w.status < 0,
						  .timed = w.start && w.end >= w.start,
						  .bytes = w.bytes};
	found.stamp_ticks = w.end - w.start;
	found.name = w.name;
	found.device = GT_DEVICE_REF_NUMBER(w.head.op);
	found.status = w.status;
	found.has_status = w.status < 0;
	if (measure_activity(t, find_process(t, process->index), &found) &&
	    is_short(t, &found.record))
		return;
	c = add_candidate(t, process);
	if (c)
		memcpy(c, &found, offsetof(struct candidate, exe));
	else if (!t->has_fired)
		t->undecided++;
}

void gt_triggers_look(struct gt_triggers *t, const struct gt_process *process, const void *data,
		      size_t bytes)
{
	const uint64_t *r = data, *end = r + bytes / 8;

	while (r < end) {
		uint64_t head = load(r);
		uint32_t words = head & 0xffff, kind = head >> 16 & 0xff,
			 detail = head >> 24 & 0xff, op = (uint32_t)(head >> 32),
			 domain = GT_OP_DOMAIN(op);

		if (!words || words > (size_t)(end - r))
			return; /* the encoder reports the damage */
		if (kind == GT_RECORD_CALL && words >= 5 && domain < GT_DOMAIN_COUNT &&
		    GT_OP_NUMBER(op) < GT_OPS_PER_DOMAIN) {
			if (__builtin_expect(load(r + 2) - load(r + 1) >=
						     t->calls[domain][GT_OP_NUMBER(op)],
					     0))
				add_call(t, process, r, words);
		} else if (kind == GT_RECORD_DEVICE &&
			   words >= sizeof(struct gt_record_device) / 8 &&
			   domain < GT_DOMAIN_COUNT && detail < GT_DEVICE_OP_COUNT) {
			/* durations are compared in ns only once the clock is known */
			if (t->activity[domain][detail] != UINT64_MAX)
				add_activity(t, process, r);
		} else if (kind == GT_RECORD_STRING) {
			note_name(t, process->index, r, words);
		} else if (kind == GT_RECORD_CLOCK) {
			note_reading(t, process->index, r, words);
		}
		r += words;
	}
}

void gt_triggers_advance(struct gt_triggers *t, uint64_t now_ns)
{
	decide_pending(t, now_ns, NULL);
	t->has_fired = false;
}

void gt_triggers_forget(struct gt_triggers *t, const struct gt_process *process)
{
	if (t) { /* decide with the strings and clock readings that are known so far */
		decide_pending(t, gt_clock_ns(CLOCK_MONOTONIC), process);
		t->has_fired = false;
	}
	for (size_t i = 0; t && i < t->process_count; i++)
		if (t->processes[i]->index == process->index) {
			free_process(t->processes[i]);
			t->processes[i] = t->processes[--t->process_count];
			return;
		}
}

uint64_t gt_triggers_undecided(const struct gt_triggers *t)
{
	return t ? t->undecided : 0;
}

/* Begin and end ------------------------------------------------------------------- */

static uint64_t find_least(const struct gt_triggers *t, const struct gt_trigger_record *record)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < t->count; i++) {
		bool failed;
		uint64_t ns = t->list[i].find_shortest(t->list[i].data, record, &failed);

		least = ns < least ? ns : least;
	}
	return least;
}

static void fill_tables(struct gt_triggers *t)
{
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
		for (unsigned n = 0; n < GT_OPS_PER_DOMAIN; n++) {
			struct gt_trigger_record record = {.op = GT_OP(d, n, 0)};
			uint64_t ns = n < gt_operation_count((enum gt_domain)d)
					      ? find_least(t, &record)
					      : UINT64_MAX;

			/* slightly shorter than requested, so that close cases are decided in ns */
			t->calls[d][n] = ns == UINT64_MAX
						 ? UINT64_MAX
						 : (uint64_t)((double)ns / t->host.tick_ns * 0.999);
		}
		for (unsigned k = 0; k < GT_DEVICE_OP_COUNT; k++) {
			struct gt_trigger_record record = {.is_activity = true,
							   .op = GT_DEVICE_REF(d, 0),
							   .device_op = (enum gt_device_op)k};

			t->activity[d][k] = find_least(t, &record);
		}
	}
}

int gt_triggers_create(const struct gt_trigger *list, size_t count, uint32_t host_clock,
		       void (*fire)(void *data, const char *text), void *data,
		       struct gt_triggers **out)
{
	struct gt_triggers *t;
	size_t of_records = 0;

	*out = NULL;
	for (size_t i = 0; i < count; i++)
		of_records += list[i].what == GT_TRIGGER_RECORD;
	if (!of_records)
		return 0;
	t = calloc(1, sizeof *t);
	if (t)
		t->list = calloc(of_records, sizeof *t->list);
	if (!t || !t->list) {
		free(t);
		return gt_error(-ENOMEM, "cannot store triggers");
	}
	*out = t;
	for (size_t i = 0; i < count; i++)
		if (list[i].what == GT_TRIGGER_RECORD)
			t->list[t->count++] = list[i];
	t->fire = fire;
	t->fire_data = data;
	gt_host_rate_measure(host_clock, &t->host);
	fill_tables(t);
	return 0;
}

void gt_triggers_destroy(struct gt_triggers *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->process_count; i++)
		free_process(t->processes[i]);
	free(t->processes);
	free(t->list);
	free(t);
}
