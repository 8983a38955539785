/* SPDX-License-Identifier: MIT */
/* See idle.h. Splits a part of a thread's time where the state of the thread changes.
 *
 *   outside any call   each state is a cause (GT_IDLE_HOST_..)
 *   in a call          the call stays the cause, except for time in which the thread could not run:
 *                      it waited for a processor, or was stopped. In a call that launches or has no
 *                      cause of its own, also time in which it waited for a lock whose holder is
 *                      known.
 *   in a call that     these states count only if the gap began in the call: the thread then
 *   waits              returned late. Otherwise the call waits for something else.
 *
 * Such a call may also return late because of a thread of the runtime (idle_workers.h). */
#include "analysis/idle/idle_steps.h"
#include "analysis/idle/idle_workers.h"

static uint64_t scale(uint64_t value, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)value * part / whole) : 0;
}

static double share_of(double value, uint64_t part, uint64_t whole)
{
	return whole ? value * (double)part / (double)whole : 0;
}

/* Return the cause of the time in which a thread in a call was in a state. */
static enum gt_idle_cause find_cause(enum gt_idle_cause cause, const struct idle_span *span)
{
	if (cause == GT_IDLE_HOST)
		return gt_idle_state_cause(span->state);
	if (span->state == GT_HOST_STATE_STOPPED || span->state == GT_HOST_STATE_RUNNABLE)
		return gt_idle_state_cause(span->state);
	if (span->state == GT_HOST_STATE_LOCK && span->has_holder &&
	    (cause == GT_IDLE_LAUNCHING || cause == GT_IDLE_OTHER_CALL))
		return GT_IDLE_HOST_LOCK;
	return cause;
}

/* Return true if the thread's delays in a call delay the device. */
static bool is_delayed(const struct idle_open *gap, const struct idle_interval *v,
		       enum gt_idle_cause cause)
{
	if (cause == GT_IDLE_COLLECTIVE)
		return false;
	return cause != GT_IDLE_SYNCHRONISING || gap->row.start > v->from;
}

/* Add a piece of a part, and the share of the interval's counts that belongs to it. */
static void add_piece(struct idle *s, struct idle_open *gap, const struct idle_kept *part,
		      enum gt_idle_cause cause, uint32_t wait, const struct idle_evidence *e)
{
	const bool is_same = cause == part->cause;

	if (part->start >= part->end)
		return;
	gap->wait = wait;
	idle_add_part(s, gap, part->start, part->end, cause,
		      is_same || wait == LOOKUP_NONE ? part->op : 0, part->name);
	gap->wait = LOOKUP_NONE;
	idle_add_evidence(s, gap, cause, e);
}

/* Add the part of a span between @part->start and @part->end. */
static void add_span(struct idle *s, struct idle_open *gap, const struct idle_interval *v,
		     const struct idle_span *span, const struct idle_kept *part)
{
	const uint64_t ns = part->end - part->start, whole = span->end - span->start;
	const uint64_t cpu = scale(span->cpu_ns, ns, whole),
		       delay = scale(span->delay_ns, ns, whole);
	const uint64_t rest = ns - cpu - delay, waits = v->rest_ns, delays = v->delay_ns;
	const bool is_host = part->cause == GT_IDLE_HOST;
	const bool delays_device = is_delayed(gap, v, part->cause);
	const enum gt_idle_cause cause =
		delays_device ? find_cause(part->cause, span) : part->cause;
	const struct idle_evidence evidence = {
		.delay_ns = cause == GT_IDLE_HOST_RUNNABLE ? rest : 0,
		.major_faults = share_of(v->major_faults, rest, waits),
		.voluntary = share_of(v->voluntary, rest, waits),
	};
	struct idle_kept piece = *part;

	piece.end = piece.start + cpu;
	add_piece(s, gap, &piece, is_host ? gt_idle_state_cause(span->cpu_state) : part->cause,
		  LOOKUP_NONE,
		  &(struct idle_evidence){
			  .cpu_ns = cpu,
			  .minor_faults = share_of(v->minor_faults, cpu, v->cpu_ns),
			  .major_faults = waits ? 0 : share_of(v->major_faults, cpu, v->cpu_ns),
			  .involuntary = delays ? 0 : share_of(v->involuntary, cpu, v->cpu_ns)});
	piece.start = piece.end;
	piece.end = piece.start + delay;
	add_piece(s, gap, &piece, delays_device ? GT_IDLE_HOST_RUNNABLE : part->cause, LOOKUP_NONE,
		  &(struct idle_evidence){.delay_ns = delay,
					  .involuntary = share_of(v->involuntary, delay, delays)});
	piece.start = piece.end;
	piece.end = part->end;
	if (cause == GT_IDLE_SYNCHRONISING && delays_device) {
		idle_workers_add_part(s, gap, piece.start, piece.end, cause, part->op, part->name);
		idle_add_evidence(s, gap, cause, &evidence);
		return;
	}
	add_piece(s, gap, &piece, cause,
		  cause == part->cause && !is_host ? LOOKUP_NONE : span->wait, &evidence);
}

void idle_add_host_part(struct idle *s, struct idle_open *gap, const struct idle_interval *v,
			const struct idle_kept *part)
{
	struct idle_kept piece = *part;
	uint64_t at = part->start;

	if (!v || !v->count || part->cause == GT_IDLE_UNKNOWN) {
		idle_add_part(s, gap, part->start, part->end, part->cause, part->op, part->name);
		return;
	}
	for (size_t i = idle_interval_find(v, at); at < part->end && i < v->count; i++) {
		const struct idle_span *span = &v->spans[i];

		piece.start = at;
		piece.end = span->start < part->end ? span->start : part->end;
		if (piece.start < piece.end) /* before the interval */
			idle_add_part(s, gap, piece.start, piece.end, part->cause, part->op,
				      part->name);
		piece.start = span->start > at ? span->start : at;
		piece.end = span->end < part->end ? span->end : part->end;
		if (piece.start < piece.end)
			add_span(s, gap, v, span, &piece);
		at = piece.end > at ? piece.end : at;
	}
	idle_add_part(s, gap, at, part->end, part->cause, part->op, part->name);
}

void idle_split_rest(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t held_until,
		     uint32_t behind, bool unsure)
{
	const uint64_t end = gap->row.end, held = held_until < end ? held_until : end,
		       submitted = gap->row.submitted < end ? gap->row.submitted : end;

	if (held > from) {
		idle_add_part(s, gap, from, held, GT_IDLE_BLOCKED, 0, behind);
		from = held;
	}
	if (unsure) {
		idle_add_part(s, gap, from, end, GT_IDLE_UNKNOWN, 0, LOOKUP_NONE);
		return;
	}
	if (submitted > from) {
		idle_workers_add_part(s, gap, from, submitted, GT_IDLE_SUBMITTED_LATE, 0,
				      LOOKUP_NONE);
		from = submitted;
	}
	idle_workers_add_part(s, gap, from, end, GT_IDLE_STARTED_LATE, 0, LOOKUP_NONE);
}
