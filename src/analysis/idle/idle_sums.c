/* SPDX-License-Identifier: MIT */
/* See idle.h. This file adds up the parts of gaps. */
#include <stdlib.h>

#include "analysis/idle/idle_steps.h"

/* Limits for reporting parts. Parts that are too small to be visible are only counted in the sums.
 * At most PARTS_MOST parts of a gap are reported, and none of a gap shorter than SEEN_NS. Parts
 * shorter than PART_NS are not reported. */
enum { PARTS_MOST = 50, SEEN_NS = 10000, PART_NS = 1000 };

void idle_add_sum(struct idle_sum *sum, uint64_t ns)
{
	sum->ns += ns;
	sum->gaps++;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
}

void idle_add_evidence(struct idle *s, const struct idle_open *gap, enum gt_idle_cause cause,
		       const struct idle_evidence *e)
{
	struct idle_evidence *sum = &s->rows[gap->detail_row].evidence[cause];

	sum->cpu_ns += e->cpu_ns;
	sum->delay_ns += e->delay_ns;
	sum->minor_faults += e->minor_faults;
	sum->major_faults += e->major_faults;
	sum->voluntary += e->voluntary;
	sum->involuntary += e->involuntary;
}

/* Details --------------------------------------------------------------------------- */

static bool is_detail(const struct idle *s, uint32_t number, uint32_t row, uint32_t cause,
		      uint32_t op, uint32_t name, uint32_t wait)
{
	const struct idle_detail *d = &s->details[number];

	return d->row == row && d->cause == cause && d->op == op && d->name == name &&
	       d->wait == wait;
}

static __attribute__((noinline)) uint32_t find_detail(struct idle *s, uint32_t row, uint32_t cause,
						      uint32_t op, uint32_t name, uint32_t wait)
{
	uint64_t hash = lookup_mix((uint64_t)row << 32 | cause);
	uint32_t i;

	hash = lookup_mix(hash + ((uint64_t)op << 32 | name));
	hash = wait == LOOKUP_NONE ? hash : lookup_mix(hash + wait);
	for (; (i = idmap_get(&s->detail_numbers, hash)) != LOOKUP_NONE; hash++)
		if (is_detail(s, i, row, cause, op, name, wait))
			return i;
	GROW_LIST(s->details, s->detail_count, s->detail_room);
	idmap_put(&s->detail_numbers, hash, s->detail_count);
	s->details[s->detail_count] = (struct idle_detail){
		.row = row, .cause = cause, .op = op, .name = name, .wait = wait};
	return s->detail_count++;
}

/* Return the slot of a recently found detail. */
static uint32_t *find_last(struct idle *s, uint32_t row, uint32_t cause, uint32_t op, uint32_t name)
{
	const uint32_t hash = (op ^ name * 31 ^ row * 7 ^ cause << 11) * 0x9e3779b1u;

	return &s->last_details[hash / (UINT32_MAX / IDLE_LAST_DETAILS + 1)];
}

/* Largest gaps ---------------------------------------------------------------------- */

static struct idle_gap *find_largest(const struct idle *s, uint32_t device, uint64_t start,
				     uint64_t end)
{
	struct idle_gap *first = s->largest + (size_t)device * IDLE_LARGEST;

	for (unsigned i = 0; i < IDLE_LARGEST; i++)
		if (first[i].start_ns == start && first[i].end_ns == end)
			return &first[i];
	return NULL;
}

const struct idle_gap *idle_find_gap(const struct idle *s, uint32_t device, uint64_t start_ns,
				     uint64_t end_ns)
{
	return device < s->device_count ? find_largest(s, device, start_ns, end_ns) : NULL;
}

static void add_to_largest(struct idle_gap *l, const struct idle_kept *part)
{
	struct idle_gap_cause *cause = &l->causes[part->cause];
	uint64_t ns = part->end - part->start;

	cause->ns += ns;
	if (ns <= cause->most_ns)
		return;
	cause->most_ns = ns;
	cause->op = part->op;
	cause->name = part->name;
	cause->wait = part->wait;
	cause->pair = part->calls.pair;
}

/* Parts ----------------------------------------------------------------------------- */

void idle_open_gap(struct idle *s, struct idle_open *gap, const struct idle_gap_row *row)
{
	const uint32_t device = s->origins[row->origin].device;
	const struct idle_gap *least = &s->largest[(size_t)(device + 1) * IDLE_LARGEST - 1];

	gap->row = *row;
	gap->until = 0;
	gap->causes = 0;
	gap->largest = NULL;
	gap->kept.end = 0;
	gap->calls = (struct idle_calls){.pair = LOOKUP_NONE};
	gap->wait = LOOKUP_NONE;
	gap->detail_row = idle_find_gap_row(s, row);
	gap->is_seen = gap->copies = false;
	if (row->end - row->start >= least->idle_ns)
		gap->largest = find_largest(s, device, row->start, row->end);
	gap->is_told = s->each || s->unrecorded || gap->largest;
}

static const char *find_text(const struct idle *s, uint32_t name)
{
	return name == LOOKUP_NONE ? NULL : texts_get(s->names, name);
}

static void say_part(struct idle *s, const struct idle_open *gap)
{
	const struct idle_kept *kept = &gap->kept;
	const struct idle_origin *origin = &s->origins[gap->row.origin];
	const char *text = find_text(s, kept->name);
	const struct idle_pair none = IDLE_NO_PAIR;
	const struct idle_pair *pair =
		kept->calls.pair == LOOKUP_NONE ? &none : &s->pairs[kept->calls.pair];

	s->each(s->to,
		&(struct gt_idle_part){
			.start_ns = kept->start,
			.end_ns = kept->end,
			.gap_start_ns = gap->row.start,
			.gap_end_ns = gap->row.end,
			.cause = kept->cause,
			.device = origin->device_index,
			.process = origin->process,
			.ordinal = GT_ID_ORDINAL(gap->row.id),
			.op = kept->op,
			.range = kept->cause == GT_IDLE_BLOCKED ? NULL : text,
			.behind = kept->cause == GT_IDLE_BLOCKED ? text : NULL,
			.after = texts_get(s->names, s->origins[gap->row.after].name),
			.before = texts_get(s->names, origin->name),
			.wait = find_text(s, kept->wait),
			.previous = {kept->calls.previous, pair->previous_op,
				     find_text(s, pair->previous_line)},
			.next = {kept->calls.next, pair->next_op, find_text(s, pair->next_line)},
		});
}

/* The parameters are numbers, not a struct, because reading a struct just assembled from small
 * fields is slow. */
static void add_detail(struct idle *s, uint32_t row, enum gt_idle_cause cause, uint32_t op,
		       uint32_t range, uint32_t wait, uint64_t ns)
{
	const uint32_t name = op ? LOOKUP_NONE : range;
	uint32_t *number = find_last(s, row, cause, op, name);

	if (*number == LOOKUP_NONE || !is_detail(s, *number, row, cause, op, name, wait))
		/* find_detail() may move the details */
		*number = find_detail(s, row, cause, op, name, wait);
	s->details[*number].ns += ns;
}

/* Report the part that was held back because the next part could have extended it. */
static void hand_on(struct idle *s, struct idle_open *gap)
{
	const struct idle_kept *kept = &gap->kept;
	const uint64_t ns = kept->end - kept->start, length = gap->row.end - gap->row.start;

	if (!kept->end)
		return;
	if (kept->cause != GT_IDLE_UNRECORDED) {
		add_detail(s, gap->detail_row, kept->cause, kept->op, kept->name, kept->wait, ns);
		idle_add_site(s, gap->detail_row, kept->cause, kept->calls.pair, ns);
		if (gap->largest)
			add_to_largest(gap->largest, kept);
	}
	if (s->each &&
	    (s->tells_all || (length >= SEEN_NS && ns >= PART_NS && ns >= length / PARTS_MOST)))
		say_part(s, gap);
	gap->kept.end = 0;
}

static void add_part(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t to,
		     enum gt_idle_cause cause, uint32_t op, uint32_t name)
{
	struct idle_kept *kept = &gap->kept;

	if (from >= to)
		return;
	gap->ns[cause] = to - from + (gap->causes >> cause & 1 ? gap->ns[cause] : 0);
	gap->causes |= UINT64_C(1) << cause;
	if (!op && gt_idle_is_host(cause))
		idle_add_places(s, gap->detail_row, cause, from, to);
	if (!gap->is_told) { /* sums do not depend on whether a part is extended */
		add_detail(s, gap->detail_row, cause, op, name, gap->wait, to - from);
		idle_add_site(s, gap->detail_row, cause, gap->calls.pair, to - from);
		return;
	}
	if (kept->end == from && kept->cause == cause && kept->op == op && kept->name == name &&
	    kept->wait == gap->wait && kept->calls.pair == gap->calls.pair) {
		kept->end = to;
		return;
	}
	hand_on(s, gap);
	*kept = (struct idle_kept){from, to, cause, op, name, gap->wait, gap->calls};
}

/* Return the times in which a process was paused, or its session had not started. */
static const struct unrecorded_list *find_paused(struct idle *s, uint32_t process)
{
	const size_t count = gt_capture_process_count(s->capture);

	if (!s->paused) {
		s->paused = allocate_list(count, sizeof *s->paused);
		s->paused_count = count;
		for (uint32_t p = 0; p < count; p++)
			s->paused[p] = unrecorded_of_process(s->capture, p);
	}
	return &s->paused[process];
}

void idle_fini_paused(struct idle *s)
{
	for (size_t p = 0; p < s->paused_count; p++) /* the capture may be closed later */
		unrecorded_list_fini(&s->paused[p]);
	free(s->paused);
}

/* Add a part of the host's time. Times in which the calls of this process were not recorded, but
 * other processes were, are unknown, because the thread may have been in calls. */
static void add_host_part(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t to,
			  enum gt_idle_cause cause, uint32_t name)
{
	const struct unrecorded_list *list = find_paused(s, s->origins[gap->row.origin].process);

	for (size_t i = unrecorded_find(list, from); i < list->count && list->spans[i].start < to;
	     i++) {
		const struct unrecorded_span *span = &list->spans[i];
		const uint64_t begin = span->start > from ? span->start : from,
			       end = span->end < to ? span->end : to;

		add_part(s, gap, from, begin, cause, 0, name);
		add_part(s, gap, begin, end, GT_IDLE_UNKNOWN, 0, name);
		from = end;
	}
	add_part(s, gap, from, to, cause, 0, name);
}

static void add_recorded_part(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t to,
			      enum gt_idle_cause cause, uint32_t op, uint32_t name)
{
	if (gt_idle_is_host(cause) && !op && from < to)
		add_host_part(s, gap, from, to, cause, name);
	else
		add_part(s, gap, from, to, cause, op, name);
}

/* Add a part. Unrecorded time is never idle time, even if it appears idle. */
void idle_add_part(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t to,
		   enum gt_idle_cause cause, uint32_t op, uint32_t name)
{
	const struct unrecorded_list *list = idle_unrecorded(s, s->origins[gap->row.origin].device);

	if (!list) {
		add_part(s, gap, from, to, cause, op, name);
		return;
	}
	for (size_t i = unrecorded_find(list, from); i < list->count && list->spans[i].start < to;
	     i++) {
		const struct unrecorded_span *span = &list->spans[i];
		const uint64_t begin = span->start > from ? span->start : from,
			       end = span->end < to ? span->end : to;

		add_recorded_part(s, gap, from, begin, cause, op, name);
		add_part(s, gap, begin, end, GT_IDLE_UNRECORDED, 0, LOOKUP_NONE);
		from = end;
	}
	add_recorded_part(s, gap, from, to, cause, op, name);
}

void idle_close_gap(struct idle *s, struct idle_open *gap)
{
	struct idle_row *row = &s->rows[gap->detail_row];

	hand_on(s, gap);
	for (uint64_t left = gap->causes & ~(UINT64_C(1) << GT_IDLE_UNRECORDED); left;
	     left &= left - 1) {
		unsigned cause = (unsigned)__builtin_ctzll(left);

		idle_add_sum(&row->sums[cause], gap->ns[cause]);
		if (s->each_sum)
			s->each_sum(s->sums_to, gap->detail_row, (enum gt_idle_cause)cause,
				    gap->ns[cause]);
	}
}

void idle_add_whole(struct idle *s, const struct idle_gap_row *row, enum gt_idle_cause cause)
{
	struct idle_open gap;

	idle_open_gap(s, &gap, row);
	idle_add_part(s, &gap, row->start, row->end, cause, 0, LOOKUP_NONE);
	idle_close_gap(s, &gap);
}
