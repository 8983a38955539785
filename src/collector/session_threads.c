/* SPDX-License-Identifier: MIT */
/* See session_threads.h. */
#include "collector/session_threads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/guard.h"
#include "collector/open_calls_live.h"
#include "collector/process_counts.h"
#include "collector/thread_stacks.h"
#include "record/operation.h"
#include "util/clock_ns.h"
#include "util/file_name.h"
#include "util/grow.h"

#define MS            UINT64_C(1000000)
#define LEAST_NS      (1000 * MS)
#define LEAST_MOST_MS UINT64_C(1000000000)
/* time for the stacks of all threads; meanwhile the rings are not read */
#define STACKS_NS     (500 * MS)

enum { NAMES_BYTES = 512 };

/* The threads of a process. */
struct threads_text {
	struct gt_thread_calls *list;
	size_t count, room;
	double tick_ns;
	FILE *rows; /* their lines */
};

static void put_number(FILE *out, const char *key, uint64_t n)
{
	fprintf(out, " %s=%" PRIu64, key, n);
}

/* Print the time since @ticks; "": not known. */
static void put_age(const struct threads_text *text, const char *key, uint64_t ticks, uint64_t now)
{
	if (ticks)
		put_number(text->rows, key,
			   now > ticks ? (uint64_t)((double)(now - ticks) * text->tick_ns) : 0);
	else
		fprintf(text->rows, " %s=", key);
}

static void keep_thread(struct gt_process *process, const struct gt_thread_calls *t, void *data)
{
	struct threads_text *text = data;
	struct gt_thread_calls *more =
		gt_grow(text->list, text->count, &text->room, sizeof *text->list);

	(void)process;
	if (!more)
		return;
	text->list = more;
	text->list[text->count++] = *t;
}

static void put_thread(const struct gt_process *process, const struct threads_text *text,
		       const struct gt_thread_calls *t)
{
	const struct gt_open_call *outer = t->open_count ? &t->open[0] : NULL;
	const struct gt_open_call *joined = NULL;
	char names[NAMES_BYTES] = "";

	for (unsigned i = 0; i < t->open_count; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof names - used, "%s%s", i ? "," : "",
			 gt_operation_name(t->open[i].op));
		if (t->open[i].communicator || t->open[i].peer)
			joined = &t->open[i];
	}
	fprintf(text->rows, "thread=%u process=%u tid=%u", t->ordinal, process->index, t->tid);
	gt_control_put_word(text->rows, "name", t->name, false);
	gt_control_put_word(text->rows, "calls", names, false);
	gt_control_put_word(text->rows, "domain",
			    outer ? gt_domain_name((enum gt_domain)GT_OP_DOMAIN(outer->op)) : "",
			    false);
	put_age(text, "for_ns", outer ? outer->start : 0, t->seen);
	put_number(text->rows, "communicator", joined ? joined->communicator : 0);
	put_number(text->rows, "sequence", joined ? joined->sequence : 0);
	put_number(text->rows, "peer", joined ? joined->peer : 0);
	put_number(text->rows, "bytes", joined ? joined->bytes : 0);
	gt_control_put_word(text->rows, "last", t->last_call ? gt_operation_name(t->last_call) : "",
			    false);
	put_age(text, "last_ns", t->last_end, t->seen);
	putc('\n', text->rows);
}

/* A call of gt_thread_stacks_read(). */
struct stacks_text {
	const struct gt_process *process;
	const struct threads_text *text;
};

static void put_stack(void *data, size_t index, int error, struct gt_sample_stacks *stacks,
		      struct gt_remote_memory *memory, const struct gt_sample_stack *stack)
{
	const struct stacks_text *s = data;
	FILE *out = s->text->rows;

	put_thread(s->process, s->text, &s->text->list[index]);
	if (error) {
		fprintf(out, "stack=%d\n", error);
		return;
	}
	fprintf(out, "stack=%s\n",
		stack->end == GT_FRAMES_WHOLE ? "whole"
		: stack->end == GT_FRAMES_CUT ? "cut"
					      : "broken");
	gt_thread_stack_put(stacks, memory, stack, out);
}

/* Print all threads of a process. @until_ns: time limit for stacks; 0: no stacks */
static void put_rows(const struct gt_process *process, const struct threads_text *text,
		     uint64_t until_ns)
{
	uint32_t *tids = until_ns ? calloc(text->count + 1, sizeof *tids) : NULL;
	struct stacks_text s = {process, text};

	for (size_t i = 0; i < text->count; i++)
		if (tids)
			tids[i] = text->list[i].tid;
		else
			put_thread(process, text, &text->list[i]);
	if (tids)
		gt_thread_stacks_read(process, tids, text->count, until_ns, NULL, put_stack, &s);
	free(tids);
}

static uint64_t count_pending(struct gt_drain *d, struct gt_process *process)
{
	struct gt_counts counts;
	uint64_t sum = 0;

	gt_process_sum_counts(d, process, false, &counts);
	for (int k = 0; k < GT_DOMAIN_COUNT; k++)
		sum += counts.dropped[GT_DROP_UNFINISHED][GT_CLASS_DEVICE][k];
	return sum;
}

static void put_exe(struct gt_process *process, FILE *out)
{
	struct gt_process_info info;
	struct gt_process_text text;

	info.exe = "";
	if (GT_GUARD()) {
		gt_process_describe(process, &info, &text);
		gt_guard_end();
	}
	gt_control_put_word(out, "exe", gt_file_name(info.exe), false);
}

/* Print the communicators with the number of collective calls that the process has started on each,
 * as "mpi:1140850688:50,..". */
static void put_communicators(struct gt_process *process, FILE *out)
{
	struct gt_communicator copies[GT_COMMUNICATORS];
	volatile unsigned count = 0;

	if (!GT_GUARD())
		return;
	for (int i = 0; i < GT_COMMUNICATORS; i++) {
		const struct gt_communicator *c = &process->segment->communicators[i];
		uint64_t key = atomic_load_explicit(&c->key, memory_order_relaxed);

		if (!key)
			continue;
		copies[count].key = key;
		copies[count].count = atomic_load_explicit(&c->count, memory_order_relaxed);
		count++;
	}
	gt_guard_end();
	fputs(" communicators=", out);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "%s%s:%u:%" PRIu64, i ? "," : "",
			gt_domain_name((enum gt_domain)(copies[i].key >> 32 & 0xff)),
			(uint32_t)copies[i].key, (uint64_t)copies[i].count);
}

static void put_process(struct gt_drain *d, struct gt_process *process, unsigned busy, FILE *out)
{
	uint64_t now_ns = gt_clock_ns(CLOCK_MONOTONIC);

	fprintf(out, "process=%u pid=%u rank=%d size=%d", process->index, process->pid,
		process->rank.rank, process->rank.size);
	put_exe(process, out);
	fprintf(out, " ended=%s unseen=%s busy=%u activity_ns=",
		process->exited && !process->is_unseen ? "yes" : "no",
		process->is_unseen ? "yes" : "no", busy);
	if (process->activity_ns)
		fprintf(out, "%" PRIu64, now_ns - process->activity_ns);
	put_number(out, "pending", count_pending(d, process));
	put_communicators(process, out);
	putc('\n', out);
}

/* Print a process and its threads. Return false if out of memory. */
static bool put_all(struct gt_drain *d, struct gt_process *process, struct threads_text *text,
		    uint64_t least_ticks, uint64_t until_ns, FILE *answer)
{
	char *rows = NULL;
	size_t bytes;
	unsigned busy;

	text->count = 0;
	text->rows = open_memstream(&rows, &bytes);
	if (!text->rows)
		return false;
	busy = gt_open_calls_look(d, process, least_ticks, keep_thread, text);
	put_rows(process, text, until_ns);
	if (fclose(text->rows)) {
		free(rows);
		return false;
	}
	put_process(d, process, busy, answer);
	fputs(rows, answer);
	free(rows);
	return true;
}

static int put_threads(void *data, struct gt_control_request *request, FILE *answer)
{
	struct gt_drain *d = data;
	const char *least = gt_control_argument(request, "least_ms"),
		   *stacks = gt_control_argument(request, "stacks");
	uint64_t least_ms = least ? strtoull(least, NULL, 10) : LEAST_NS / MS;
	uint64_t until_ns =
		stacks && !strcmp(stacks, "yes") ? gt_clock_ns(CLOCK_MONOTONIC) + STACKS_NS : 0;
	struct threads_text text = {.count = 0};
	struct gt_clock_tuple now;
	bool is_put = true;

	if (least_ms > LEAST_MOST_MS)
		return gt_control_refuse(request, 0, "least_ms is too large");
	gt_clock_tuple_take(d->folder->host_clock, &now);
	text.tick_ns = gt_open_calls_tick_ns(d, &now);
	for (size_t i = 0; i < d->process_count && is_put; i++)
		if (d->processes[i]->segment && !d->processes[i]->lost)
			is_put = put_all(d, d->processes[i], &text,
					 (uint64_t)((double)(least_ms * MS) / text.tick_ns),
					 until_ns, answer);
	free(text.list);
	return is_put ? 0 : gt_control_refuse(request, 0, "out of memory");
}

void gt_session_threads_offer(struct gt_drain *d, struct gt_control *control)
{
	gt_control_add(control, "threads", GT_CONTROL_IN_TURN, put_threads, d);
}
