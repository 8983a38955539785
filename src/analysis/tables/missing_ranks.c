/* SPDX-License-Identifier: MIT */
/* See missing_ranks.h. Ranks are handled as places: indexes in `who`, sorted by rank, one for each
 * rank that has a process. A rank without a process has no place and is only named. */
#include "analysis/tables/missing_ranks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/lookup.h"
#include "analysis/base/show.h"
#include "record/operation.h"

enum {
	LINE_BYTES = 1024,
	RUNS_MOST = 8,      /* most runs of ranks that a sentence names */
	MESSAGES_MOST = 8,  /* most sentences about messages */
	CYCLE_NAMED = 8,    /* longest cycle whose calls are named */
	SAME_PERCENT = 5,   /* waits that differ by less are one time */
	SAME_NS = 50000000, /* as well */
};

/* A rank that has a process. */
struct place {
	uint32_t rank, process;
	size_t waits;   /* index of the thread that waits in a call with other ranks + 1; 0: none */
	size_t doing;   /* index of the thread that shows what the rank does + 1; 0: none */
	size_t next;    /* place that this one waits for + 1; 0: none */
	uint32_t state; /* of the search for cycles: 0 new, otherwise the number of the walk */
	bool in_cycle;
};

/* A member of a communicator. */
struct part {
	uint32_t rank;  /* in the job */
	size_t place;   /* SIZE_MAX: the rank has no process */
	size_t thread;  /* index of the thread that waits on the communicator + 1; 0: none */
	uint64_t begun; /* number of its last call there; 0: not known */
	bool is_unknown;
	uint32_t op; /* of that call */
};

struct verdict {
	const struct hang_job *job;
	struct hang_verdict *out;
	struct place *who;
	size_t count;
	uint32_t *place_of; /* by process; HANG_NO_RANK: none */
	uint32_t size;      /* number of ranks of the job */
	struct part *parts; /* members of the communicator at hand, by rank */
	size_t part_count, part_room;
	char line[LINE_BYTES];
	size_t used;
	struct hang_subject subject; /* of the line */
};

/* Text ------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(struct verdict *v, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(v->line + v->used, sizeof v->line - v->used, format, list);
	va_end(list);
	if (n > 0)
		v->used += (size_t)n < sizeof v->line - v->used ? (size_t)n
								: sizeof v->line - 1 - v->used;
}

/* Add the line to the verdict. */
static void end_sentence(struct verdict *v)
{
	char *text;

	GROW_LIST(v->out->sentences, v->out->count, v->out->room);
	GROW_LIST(v->out->subjects, v->out->count, v->out->subject_room);
	text = allocate_list(v->used + 1, 1);
	memcpy(text, v->line, v->used);
	if (v->used && *text >= 'a' && *text <= 'z')
		*text = (char)(*text - 'a' + 'A');
	v->out->subjects[v->out->count] = v->subject;
	v->out->sentences[v->out->count++] = text;
	v->subject = (struct hang_subject){0};
	v->used = 0;
}

/* Keep the first ranks of a sentence. */
static void note_ranks(struct verdict *v, const uint32_t *ranks, size_t count)
{
	if (v->subject.count)
		return;
	v->subject.ranks = allocate_list(count, sizeof *ranks);
	memcpy(v->subject.ranks, ranks, count * sizeof *ranks);
	v->subject.count = count;
}

/* Keep the first call of a sentence. */
static void note_call(struct verdict *v, uint32_t op, uint64_t sequence)
{
	if (v->subject.op)
		return;
	v->subject.op = op;
	v->subject.sequence = sequence;
}

/* Put "rank 3" or "ranks 0 to 2, 5 and 9". @ranks is sorted. */
static void put_ranks(struct verdict *v, const uint32_t *ranks, size_t count)
{
	size_t runs = 0, length;

	note_ranks(v, ranks, count);
	put(v, count == 1 ? "rank" : "ranks");
	for (size_t i = 0; i < count; i += length, runs++) {
		length = 1;
		while (i + length < count && ranks[i + length] == ranks[i] + length)
			length++;
		if (length == 2)
			length = 1;
		if (runs == RUNS_MOST) {
			put(v, " and %s more", show_count(count - i));
			return;
		}
		put(v, "%s%u", !runs ? " " : i + length == count ? " and " : ", ", ranks[i]);
		if (length > 1)
			put(v, " to %u", ranks[i + length - 1]);
	}
}

/* Put " for 6.20 s", or " for 1.00 s to 6.20 s". */
static void put_times(struct verdict *v, uint64_t least_ns, uint64_t most_ns)
{
	if (!most_ns || least_ns > most_ns)
		return;
	if (most_ns - least_ns <= SAME_NS || most_ns - least_ns <= most_ns / 100 * SAME_PERCENT)
		put(v, " for %s", show_duration(least_ns));
	else
		put(v, " for %s to %s", show_duration(least_ns), show_duration(most_ns));
}

static void put_communicator(struct verdict *v, uint64_t id)
{
	if (id == HANG_WORLD)
		put(v, " on MPI_COMM_WORLD");
	else if (id != HANG_NOT_KNOWN)
		put(v, " on a communicator of %s ranks", show_count(v->part_count));
}

static void put_end(struct verdict *v, const struct hang_process *p)
{
	put(v, "has ended");
	if (p->has_status && WIFSIGNALED(p->wait_status))
		put(v, " (killed by signal %d)", WTERMSIG(p->wait_status));
	else if (p->has_status)
		put(v, " (exit status %d)", WEXITSTATUS(p->wait_status));
	else if (p->has_died)
		put(v, " without exit()");
}

/* Put "is outside any call for 6.30 s, computing (its last call: MPI_Allreduce #49)", "is in
 * MPI_Recv for 6.20 s" or "has ended (killed by signal 9)". */
static void put_activity(struct verdict *v, const struct place *place, const struct part *part)
{
	const struct hang_process *p = &v->job->processes[place->process];
	const struct hang_thread *t = place->doing ? &v->job->threads[place->doing - 1] : NULL;

	if (p->has_ended) {
		put_end(v, p);
	} else if (p->is_unknown) {
		put(v, "is in a call that is not known, or in none");
	} else if (!t) {
		put(v, p->is_busy ? "makes calls" : "has made no call");
	} else if (t->is_open) {
		note_call(v, t->op, t->sequence);
		put(v, "is in %s", gt_operation_name(t->op));
		if (t->sequence)
			put(v, " #%llu", (unsigned long long)t->sequence);
		put_times(v, t->for_ns, t->for_ns);
	} else {
		put(v, "is outside any call");
		put_times(v, t->for_ns, t->for_ns);
		if (t->state)
			put(v, ", %s", t->state);
		if (part && part->begun && part->op)
			put(v, " (its last call there: %s #%llu)", gt_operation_name(part->op),
			    (unsigned long long)part->begun);
		else if (t->op)
			put(v, " (its last call: %s)", gt_operation_name(t->op));
	}
}

/* Places ------------------------------------------------------------------------------- */

static const struct gt_operation_info *find_info(const struct hang_thread *t)
{
	return t->is_open ? gt_operation(t->op) : NULL;
}

static bool is_long(const struct verdict *v, const struct hang_thread *t)
{
	return !t->for_ns || t->for_ns >= v->job->least_ns;
}

static bool waits_in_collective(const struct verdict *v, const struct hang_thread *t)
{
	const struct gt_operation_info *info = find_info(t);

	return info && info->collective && is_long(v, t) &&
	       !(info->joints & (GT_JOINT_BEGINS | GT_JOINT_BY_KERNEL));
}

static bool waits_for_message(const struct verdict *v, const struct hang_thread *t)
{
	const struct gt_operation_info *info = find_info(t);

	return info && !info->collective && is_long(v, t) &&
	       info->joints & (GT_JOINT_SENDS | GT_JOINT_RECEIVES) &&
	       !(info->joints & (GT_JOINT_BEGINS | GT_JOINT_BY_KERNEL));
}

/* Return how well a thread shows what its rank does. */
static unsigned importance_of(const struct verdict *v, const struct hang_thread *t)
{
	const struct gt_operation_info *info = gt_operation(t->op);

	if (waits_in_collective(v, t) || waits_for_message(v, t))
		return 4;
	if (info && info->joins)
		return 3;
	return t->is_open ? 2 : 1;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	/* a process that waits or has a thread represents its rank, before its workers */
	if (!x->waits != !y->waits)
		return x->waits ? -1 : 1;
	if (!x->doing != !y->doing)
		return x->doing ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

static void choose_threads(struct verdict *v, struct place *by_process)
{
	const struct hang_job *job = v->job;

	for (size_t i = 0; i < job->thread_count; i++) {
		const struct hang_thread *t = &job->threads[i];
		struct place *p = &by_process[t->process];
		unsigned mine = importance_of(v, t);

		if (mine == 4 && !p->waits)
			p->waits = i + 1;
		if (!p->doing || mine > importance_of(v, &job->threads[p->doing - 1]))
			p->doing = i + 1;
	}
}

static void make_places(struct verdict *v)
{
	const struct hang_job *job = v->job;
	size_t kept = 0;

	v->who = allocate_list(job->process_count, sizeof *v->who);
	v->place_of = allocate_list(job->process_count, sizeof *v->place_of);
	for (size_t i = 0; i < job->process_count; i++)
		v->who[i] = (struct place){.rank = job->processes[i].rank, .process = (uint32_t)i};
	choose_threads(v, v->who);
	qsort(v->who, job->process_count, sizeof *v->who, compare_places);
	memset(v->place_of, 0xff, job->process_count * sizeof *v->place_of);
	v->size = job->size;
	for (size_t i = 0; i < job->process_count; i++) {
		struct place *p = &v->who[i];

		if (p->rank == HANG_NO_RANK || (kept && v->who[kept - 1].rank == p->rank))
			continue;
		v->place_of[p->process] = (uint32_t)kept;
		v->who[kept++] = *p;
		if (p->rank >= v->size)
			v->size = p->rank + 1;
	}
	v->count = kept;
}

static size_t find_place(const struct verdict *v, uint32_t rank)
{
	size_t from = 0, to = v->count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (v->who[middle].rank < rank)
			from = middle + 1;
		else
			to = middle;
	}
	return from < v->count && v->who[from].rank == rank ? from : SIZE_MAX;
}

/* Communicators -------------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct part *get_part(struct verdict *v, uint32_t rank)
{
	if (rank < v->part_count && v->parts[rank].rank == rank)
		return &v->parts[rank];
	for (size_t i = 0; i < v->part_count; i++)
		if (v->parts[i].rank == rank)
			return &v->parts[i];
	GROW_LIST(v->parts, v->part_count, v->part_room);
	v->parts[v->part_count] = (struct part){.rank = rank, .place = find_place(v, rank)};
	return &v->parts[v->part_count++];
}

/* Return true if the rank's process, which waits in no call, can be in a call that is not known. */
static bool is_unknown(const struct verdict *v, size_t place)
{
	return v->job->processes[v->who[place].process].is_unknown && !v->who[place].waits;
}

/* Collect the members of a communicator. */
static void collect_parts(struct verdict *v, uint64_t communicator)
{
	const struct hang_job *job = v->job;

	v->part_count = 0;
	for (uint32_t rank = 0; communicator == HANG_WORLD && rank < v->size; rank++) {
		GROW_LIST(v->parts, v->part_count, v->part_room);
		v->parts[v->part_count++] =
			(struct part){.rank = rank, .place = find_place(v, rank)};
	}
	for (size_t i = 0; i < job->member_count; i++) {
		const struct hang_member *m = &job->members[i];
		struct part *part;

		if (m->communicator != communicator || v->place_of[m->process] == HANG_NO_RANK)
			continue;
		part = get_part(v, job->processes[m->process].rank);
		if (m->begun > part->begun) {
			part->begun = m->begun;
			part->op = m->op;
		}
	}
	for (size_t i = 0; i < job->thread_count; i++) {
		const struct hang_thread *t = &job->threads[i];
		struct part *part;

		if (t->communicator != communicator || v->place_of[t->process] == HANG_NO_RANK ||
		    !waits_in_collective(v, t) || !t->sequence)
			continue;
		part = get_part(v, job->processes[t->process].rank);
		part->thread = i + 1;
		part->begun = t->sequence;
		part->op = t->op;
	}
	for (size_t i = 0; i < v->part_count; i++)
		v->parts[i].is_unknown =
			v->parts[i].place != SIZE_MAX && is_unknown(v, v->parts[i].place);
	qsort(v->parts, v->part_count, sizeof *v->parts, compare_parts);
}

/* Position of a member relative to a call. */
enum position { WAITS_THERE, MISSING, NOT_KNOWN_WHERE, AHEAD, UNKNOWN };

static enum position find_position(const struct part *p, uint64_t sequence)
{
	if (p->thread && p->begun == sequence)
		return WAITS_THERE;
	if (p->is_unknown)
		return UNKNOWN;
	if (!p->begun)
		return NOT_KNOWN_WHERE;
	return p->begun < sequence ? MISSING : AHEAD;
}

/* Ranks of the members at a position, and their times. */
struct selected {
	uint32_t *ranks;
	size_t count;
	uint64_t least_ns, most_ns;
};

/* Select the members at @position (and at @other) whose open call is @op; 0: any. */
static void select_ranks(const struct verdict *v, uint64_t sequence, enum position position,
			 enum position other, uint32_t op, struct selected *s)
{
	s->count = 0;
	s->least_ns = UINT64_MAX;
	s->most_ns = 0;
	for (size_t i = 0; i < v->part_count; i++) {
		const struct part *p = &v->parts[i];
		enum position where = find_position(p, sequence);
		uint64_t ns = p->thread ? v->job->threads[p->thread - 1].for_ns : 0;

		if ((where != position && where != other) || (op && p->op != op))
			continue;
		s->ranks[s->count++] = p->rank;
		s->least_ns = ns < s->least_ns ? ns : s->least_ns;
		s->most_ns = ns > s->most_ns ? ns : s->most_ns;
	}
}

static const char *verb(const struct selected *s, const char *one, const char *many)
{
	return s->count == 1 ? one : many;
}

static void put_call(struct verdict *v, uint32_t op, uint64_t sequence)
{
	note_call(v, op, sequence);
	put(v, "%s #%llu", gt_operation_name(op), (unsigned long long)sequence);
}

/* Return true if two members do the same, so that one sentence describes both. */
static bool does_the_same(const struct verdict *v, const struct part *a, const struct part *b)
{
	const struct hang_process *p, *q;
	const struct hang_thread *s, *t;

	if (a->place == SIZE_MAX || b->place == SIZE_MAX)
		return a->place == b->place;
	p = &v->job->processes[v->who[a->place].process];
	q = &v->job->processes[v->who[b->place].process];
	if (p->has_ended || q->has_ended)
		return p->has_ended && q->has_ended && p->has_status == q->has_status &&
		       (!p->has_status || p->wait_status == q->wait_status);
	if (!v->who[a->place].doing || !v->who[b->place].doing)
		return !v->who[a->place].doing && !v->who[b->place].doing;
	s = &v->job->threads[v->who[a->place].doing - 1];
	t = &v->job->threads[v->who[b->place].doing - 1];
	return s->is_open == t->is_open && s->op == t->op && s->sequence == t->sequence &&
	       a->begun == b->begun && !s->state == !t->state &&
	       (!s->state || !strcmp(s->state, t->state));
}

/* Say what the members that are not in the call do, in one sentence per activity. */
static void describe_missing(struct verdict *v, uint64_t sequence)
{
	bool *done = allocate_scratch(v->part_count + 1, sizeof *done);
	uint32_t *ranks = allocate_scratch(v->part_count + 1, sizeof *ranks);

	for (size_t i = 0; i < v->part_count; i++) {
		const struct part *part = &v->parts[i];
		enum position where = find_position(part, sequence);
		size_t count = 0;

		if (done[i] || (where != MISSING && where != NOT_KNOWN_WHERE))
			continue;
		for (size_t k = i; k < v->part_count; k++) {
			where = find_position(&v->parts[k], sequence);
			if ((where == MISSING || where == NOT_KNOWN_WHERE) &&
			    does_the_same(v, part, &v->parts[k])) {
				ranks[count++] = v->parts[k].rank;
				done[k] = true;
			}
		}
		if (count > 1)
			put(v, "each of ");
		put_ranks(v, ranks, count);
		put(v, " ");
		if (part->place == SIZE_MAX)
			put(v, "has no process that is recorded");
		else
			put_activity(v, &v->who[part->place], part);
		put(v, ".");
		end_sentence(v);
	}
	free_scratch(ranks);
	free_scratch(done);
}

/* Say that members wait at the same number in different calls. Return false if the calls agree. */
static bool describe_difference(struct verdict *v, uint64_t communicator, uint64_t sequence,
				struct selected *s)
{
	uint32_t first = 0, other = 0;

	for (size_t i = 0; i < v->part_count; i++) {
		if (find_position(&v->parts[i], sequence) != WAITS_THERE)
			continue;
		if (!first)
			first = v->parts[i].op;
		else if (v->parts[i].op != first && !other)
			other = v->parts[i].op;
	}
	if (!other)
		return false;
	select_ranks(v, sequence, WAITS_THERE, WAITS_THERE, first, s);
	put_ranks(v, s->ranks, s->count);
	put(v, " %s in ", verb(s, "waits", "wait"));
	put_call(v, first, sequence);
	put_times(v, s->least_ns, s->most_ns);
	select_ranks(v, sequence, WAITS_THERE, WAITS_THERE, other, s);
	put(v, ", ");
	put_ranks(v, s->ranks, s->count);
	put(v, " in ");
	put_call(v, other, sequence);
	put_communicator(v, communicator);
	put(v, ": the collective calls differ.");
	end_sentence(v);
	return true;
}

static bool is_some_not_known(const struct verdict *v, uint64_t sequence)
{
	for (size_t i = 0; i < v->part_count; i++)
		if (find_position(&v->parts[i], sequence) == NOT_KNOWN_WHERE)
			return true;
	return false;
}

static bool has_unknown(const struct verdict *v)
{
	for (size_t i = 0; i < v->part_count; i++)
		if (v->parts[i].is_unknown)
			return true;
	return false;
}

/* Describe the call in which members wait. */
static void describe_call(struct verdict *v, uint64_t communicator, uint64_t sequence)
{
	struct selected s = {.ranks = allocate_scratch(v->part_count + 1, sizeof(uint32_t))};
	bool differs = describe_difference(v, communicator, sequence, &s), missing;
	uint32_t op = 0;

	for (size_t i = 0; i < v->part_count && !op; i++)
		if (find_position(&v->parts[i], sequence) == WAITS_THERE)
			op = v->parts[i].op;
	select_ranks(v, sequence, MISSING, NOT_KNOWN_WHERE, 0, &s);
	missing = s.count > 0;
	if (missing) {
		put_ranks(v, s.ranks, s.count);
		if (is_some_not_known(v, sequence))
			put(v, " %s not in ", verb(&s, "is", "are"));
		else
			put(v, " %s not entered ", verb(&s, "has", "have"));
		put_call(v, op, sequence);
		put_communicator(v, communicator);
		select_ranks(v, sequence, WAITS_THERE, WAITS_THERE, 0, &s);
		put(v, "; ");
		put_ranks(v, s.ranks, s.count);
		put(v, " %s there", verb(&s, "waits", "wait"));
		put_times(v, s.least_ns, s.most_ns);
	} else if (!differs) {
		select_ranks(v, sequence, WAITS_THERE, WAITS_THERE, 0, &s);
		put_ranks(v, s.ranks, s.count);
		put(v, " %s in ", verb(&s, "waits", "wait"));
		put_call(v, op, sequence);
		put_communicator(v, communicator);
		put_times(v, s.least_ns, s.most_ns);
		select_ranks(v, sequence, AHEAD, AHEAD, 0, &s);
		put(v, "; ");
		if (s.count) {
			put_ranks(v, s.ranks, s.count);
			put(v, " %s left it", verb(&s, "has", "have"));
		} else {
			put(v, has_unknown(v) ? "not known: where the other ranks are"
					      : "all ranks of the communicator have entered it");
		}
	}
	if (missing || !differs) {
		put(v, ".");
		end_sentence(v);
	}
	describe_missing(v, sequence);
	free_scratch(s.ranks);
}

/* Collective calls that a kernel or a later call completes ---------------------------------- */

static bool is_begun_only(uint32_t op)
{
	const struct gt_operation_info *info = gt_operation(op);

	return info && info->joints & (GT_JOINT_BEGINS | GT_JOINT_BY_KERNEL);
}

/* Describe a collective operation that some members have started and others have not, if a member
 * that has started it is in a call. */
static void describe_begun(struct verdict *v, uint64_t communicator)
{
	struct selected s = {.ranks = allocate_scratch(2 * v->part_count + 1, sizeof(uint32_t))};
	uint32_t *waiting = s.ranks + v->part_count, op = 0, in = 0;
	uint64_t last = 0, least_ns = UINT64_MAX, most_ns = 0;
	size_t waiting_count = 0;

	for (size_t i = 0; i < v->part_count; i++)
		if (v->parts[i].begun > last) {
			last = v->parts[i].begun;
			op = v->parts[i].op;
		}
	for (size_t i = 0; i < v->part_count; i++) {
		const struct part *p = &v->parts[i];
		const struct place *at = p->place == SIZE_MAX ? NULL : &v->who[p->place];
		const struct hang_thread *t =
			at && at->doing ? &v->job->threads[at->doing - 1] : NULL;

		if (p->begun != last || !t || !t->is_open || !is_long(v, t))
			continue;
		in = t->op;
		waiting[waiting_count++] = p->rank;
		least_ns = t->for_ns < least_ns ? t->for_ns : least_ns;
		most_ns = t->for_ns > most_ns ? t->for_ns : most_ns;
	}
	select_ranks(v, last, MISSING, MISSING, 0, &s);
	if (!last || !is_begun_only(op) || !waiting_count || !s.count)
		goto done;
	put_ranks(v, s.ranks, s.count);
	put(v, " %s not started ", verb(&s, "has", "have"));
	put_call(v, op, last);
	put_communicator(v, communicator);
	put(v, "; ");
	put_ranks(v, waiting, waiting_count);
	put(v, " %s started it and %s in %s", waiting_count == 1 ? "has" : "have",
	    waiting_count == 1 ? "waits" : "wait", gt_operation_name(in));
	put_times(v, least_ns, most_ns);
	put(v, ".");
	end_sentence(v);
	describe_missing(v, last);
done:
	free_scratch(s.ranks);
}

/* All communicators -------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t sort_ids(uint64_t *ids, size_t count)
{
	size_t kept = 0;

	qsort(ids, count, sizeof *ids, compare_ids);
	for (size_t i = 0; i < count; i++)
		if (!kept || ids[kept - 1] != ids[i])
			ids[kept++] = ids[i];
	return kept;
}

static void describe_communicator(struct verdict *v, uint64_t communicator)
{
	uint64_t *calls;
	size_t count = 0;

	collect_parts(v, communicator);
	calls = allocate_scratch(v->part_count + 1, sizeof *calls);
	for (size_t i = 0; i < v->part_count; i++)
		if (v->parts[i].thread)
			calls[count++] = v->parts[i].begun;
	count = sort_ids(calls, count);
	for (size_t i = 0; i < count; i++)
		describe_call(v, communicator, calls[i]);
	if (!count)
		describe_begun(v, communicator);
	free_scratch(calls);
}

static void describe_communicators(struct verdict *v)
{
	const struct hang_job *job = v->job;
	uint64_t *ids = allocate_scratch(job->thread_count + job->member_count + 1, sizeof *ids);
	size_t count = 0;

	for (size_t i = 0; i < job->thread_count; i++)
		if (job->threads[i].communicator && job->threads[i].sequence)
			ids[count++] = job->threads[i].communicator;
	for (size_t i = 0; i < job->member_count; i++)
		ids[count++] = job->members[i].communicator;
	count = sort_ids(ids, count);
	for (size_t i = 0; i < count; i++)
		describe_communicator(v, ids[i]);
	free_scratch(ids);
}

/* Describe collective calls on communicators that have no id, one sentence per call. */
static void describe_not_known(struct verdict *v)
{
	const struct hang_job *job = v->job;
	bool *done = allocate_scratch(job->thread_count + 1, sizeof *done);
	uint32_t *ranks = allocate_scratch(v->count + 1, sizeof *ranks);

	for (size_t i = 0; i < v->count; i++) {
		const struct hang_thread *t =
			v->who[i].waits ? &job->threads[v->who[i].waits - 1] : NULL;
		uint64_t least_ns = UINT64_MAX, most_ns = 0;
		size_t count = 0;

		if (!t || done[i] || !waits_in_collective(v, t) || (t->communicator && t->sequence))
			continue;
		for (size_t k = i; k < v->count; k++) {
			const struct hang_thread *u =
				v->who[k].waits ? &job->threads[v->who[k].waits - 1] : NULL;

			if (!u || u->op != t->op || u->sequence != t->sequence ||
			    (u->communicator && u->sequence))
				continue;
			done[k] = true;
			ranks[count++] = v->who[k].rank;
			least_ns = u->for_ns < least_ns ? u->for_ns : least_ns;
			most_ns = u->for_ns > most_ns ? u->for_ns : most_ns;
		}
		put_ranks(v, ranks, count);
		note_call(v, t->op, t->sequence);
		put(v, " %s in %s", count == 1 ? "waits" : "wait", gt_operation_name(t->op));
		if (t->sequence)
			put(v, " #%llu", (unsigned long long)t->sequence);
		put_times(v, least_ns, most_ns);
		put(v, "; not known: which ranks share %s communicator.",
		    count == 1 ? "its" : "their");
		end_sentence(v);
	}
	free_scratch(ranks);
	free_scratch(done);
}

/* Messages and cycles ------------------------------------------------------------------------ */

/* Return the job's rank of the peer of a message; HANG_NO_RANK: not known. */
static uint32_t find_peer(const struct verdict *v, const struct hang_thread *t)
{
	if (t->peer < 0 || t->communicator == HANG_NOT_KNOWN)
		return HANG_NO_RANK;
	if (t->communicator == HANG_WORLD)
		return (uint32_t)t->peer;
	for (size_t i = 0; i < v->job->member_count; i++)
		if (v->job->members[i].communicator == t->communicator &&
		    v->job->members[i].rank == t->peer)
			return v->job->processes[v->job->members[i].process].rank;
	return HANG_NO_RANK;
}

/* Link each place with a place that it waits for. A collective call links to its first missing
 * rank. */
static void link_places(struct verdict *v)
{
	uint64_t collected = HANG_NOT_KNOWN;

	for (size_t i = 0; i < v->count; i++) {
		struct place *p = &v->who[i];
		const struct hang_thread *t = p->waits ? &v->job->threads[p->waits - 1] : NULL;
		size_t found = SIZE_MAX;

		if (t && waits_for_message(v, t) && find_peer(v, t) != HANG_NO_RANK) {
			found = find_place(v, find_peer(v, t));
		} else if (t && waits_in_collective(v, t) && t->communicator && t->sequence) {
			if (t->communicator != collected)
				collect_parts(v, t->communicator);
			collected = t->communicator;
			for (size_t k = 0; k < v->part_count && found == SIZE_MAX; k++)
				if (find_position(&v->parts[k], t->sequence) == MISSING ||
				    find_position(&v->parts[k], t->sequence) == NOT_KNOWN_WHERE)
					found = v->parts[k].place;
		}
		p->next = found == SIZE_MAX ? 0 : found + 1;
	}
}

static void describe_cycle(struct verdict *v, size_t first)
{
	uint32_t *ranks = allocate_scratch(v->count + 1, sizeof *ranks);
	uint64_t least_ns = UINT64_MAX, most_ns = 0;
	size_t count = 0, at = first;

	for (size_t i = 0; i < v->count; i++)
		if (v->who[i].in_cycle && v->who[i].state == v->who[first].state) {
			uint64_t ns = v->job->threads[v->who[i].waits - 1].for_ns;

			ranks[count++] = v->who[i].rank;
			least_ns = ns < least_ns ? ns : least_ns;
			most_ns = ns > most_ns ? ns : most_ns;
		}
	put_ranks(v, ranks, count);
	put(v, " %s", count == 1 ? "waits for itself" : "wait for each other");
	put_times(v, least_ns, most_ns);
	for (size_t i = 0; i < count && i < CYCLE_NAMED; i++, at = v->who[at].next - 1) {
		const struct hang_thread *t = &v->job->threads[v->who[at].waits - 1];

		put(v, "%s rank %u in %s", i ? "," : ":", v->who[at].rank,
		    gt_operation_name(t->op));
		if (t->sequence)
			put(v, " #%llu", (unsigned long long)t->sequence);
		put(v, " for rank %u", v->who[v->who[at].next - 1].rank);
	}
	put(v, count > CYCLE_NAMED ? " and so on." : ".");
	end_sentence(v);
	free_scratch(ranks);
}

/* Find the cycles of places that wait for each other. Each place waits for at most one. */
static void describe_cycles(struct verdict *v)
{
	for (size_t i = 0; i < v->count; i++) {
		uint32_t walk = (uint32_t)i + 1;
		size_t at = i;

		while (!v->who[at].state && v->who[at].next) {
			v->who[at].state = walk;
			at = v->who[at].next - 1;
		}
		if (v->who[at].state != walk || !v->who[at].next)
			continue;
		for (size_t k = at; !v->who[k].in_cycle; k = v->who[k].next - 1)
			v->who[k].in_cycle = true;
		/* places that lead to the cycle have the same number of the walk */
		for (size_t k = 0; k < v->count; k++)
			if (v->who[k].state == walk && !v->who[k].in_cycle)
				v->who[k].state = UINT32_MAX;
		describe_cycle(v, at);
	}
}

static void describe_message(struct verdict *v, const struct place *p)
{
	const struct hang_thread *t = &v->job->threads[p->waits - 1];
	bool receives = gt_operation(t->op)->joints & GT_JOINT_RECEIVES;
	uint32_t peer = find_peer(v, t);
	size_t other = peer == HANG_NO_RANK ? SIZE_MAX : find_place(v, peer);

	note_ranks(v, &p->rank, 1);
	note_call(v, t->op, t->sequence);
	put(v, "rank %u waits ", p->rank);
	if (receives)
		put(v, "for a message from ");
	if (peer != HANG_NO_RANK)
		put(v, "%srank %u", receives ? "" : "for ", peer);
	else if (t->peer >= 0)
		put(v, "%srank %d of a communicator that is not known", receives ? "" : "for ",
		    t->peer);
	else
		put(v, receives ? "any rank, or one that is not known"
				: "for a rank that is not known");
	if (!receives)
		put(v, " to receive its message");
	put(v, " in %s", gt_operation_name(t->op));
	put_times(v, t->for_ns, t->for_ns);
	if (other != SIZE_MAX) {
		put(v, "; rank %u ", peer);
		put_activity(v, &v->who[other], NULL);
	} else if (peer != HANG_NO_RANK) {
		put(v, "; rank %u has no process that is recorded", peer);
	}
	put(v, ".");
	end_sentence(v);
}

/* Describe waits for messages: first those for ranks that do not wait for a message themselves. */
static void describe_messages(struct verdict *v)
{
	size_t described = 0, left = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < v->count; i++) {
			const struct place *p = &v->who[i],
					   *next = p->next ? &v->who[p->next - 1] : NULL;
			bool is_chain = next && next->waits &&
					waits_for_message(v, &v->job->threads[next->waits - 1]);

			if (!p->waits || p->in_cycle || is_chain != (pass == 1) ||
			    !waits_for_message(v, &v->job->threads[p->waits - 1]))
				continue;
			if (described < MESSAGES_MOST) {
				describe_message(v, p);
				described++;
			} else {
				left++;
			}
		}
	if (!left)
		return;
	put(v, "%s more rank%s for messages.", show_count(left), left == 1 ? " waits" : "s wait");
	end_sentence(v);
}

/* Name the ranks whose open calls are not known. */
static void describe_unknown(struct verdict *v)
{
	uint32_t *ranks = allocate_scratch(v->count + 1, sizeof *ranks);
	size_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		if (is_unknown(v, i))
			ranks[count++] = v->who[i].rank;
	if (count) {
		put(v, "Not known: the last call of ");
		put_ranks(v, ranks, count);
		put(v, ", because the recording has no end.");
		end_sentence(v);
	}
	free_scratch(ranks);
}

/* Name ranks that have died, or have ended with an error. */
static void describe_ended(struct verdict *v)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct hang_process *p = &v->job->processes[v->who[i].process];

		if (!p->has_died && !(p->has_ended && p->has_status && p->wait_status))
			continue;
		note_ranks(v, &v->who[i].rank, 1);
		put(v, "rank %u ", v->who[i].rank);
		put_end(v, p);
		put(v, ".");
		end_sentence(v);
	}
}

static void destroy_verdict(void *data)
{
	struct verdict *v = data;

	free(v->subject.ranks);
	free(v->parts);
	free(v->place_of);
	free(v->who);
	free(v);
}

void hang_find(const struct hang_job *job, struct hang_verdict *out)
{
	struct verdict *v = allocate_list(1, sizeof *v);
	const size_t before = out->count;
	struct cleanup cleanup;

	cleanup_push(&cleanup, destroy_verdict, v);
	v->job = job;
	v->out = out;
	make_places(v);
	if (v->size > 1) {
		link_places(v);
		describe_cycles(v);
		describe_communicators(v);
		describe_messages(v);
		describe_not_known(v);
		if (out->count == before)
			describe_ended(v);
		if (out->count > before)
			describe_unknown(v);
		if (job->by_order && out->count > before) {
			put(v, "ranks are numbered by process id, because no launcher names them.");
			end_sentence(v);
		}
	}
	cleanup_pop(&cleanup);
}

void hang_fini(struct hang_verdict *v)
{
	for (size_t i = 0; i < v->count; i++) {
		free(v->sentences[i]);
		free(v->subjects[i].ranks);
	}
	free(v->sentences);
	free(v->subjects);
	*v = (struct hang_verdict){0};
}
