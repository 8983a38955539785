/* SPDX-License-Identifier: MIT */
/* See snapshots.h. */
#include "collector/snapshots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/batch.h"
#include "collector/host_watch.h"
#include "collector/open_calls_live.h"
#include "collector/snapshot_stacks.h"
#include "util/clock_ns.h"
#include "util/error.h"

#define CAPTURE_END ".gputap"

enum {
	NICE = 10,
	STACK_BYTES = 1 << 20,
	NAMES_MOST = 100000, /* maximum number of attempts to find a free name */
	/* maximum number of passes over the rings; fewer if few records are left */
	READS_MOST = 8,
	LITTLE_BYTES = 1 << 20,
};

void gt_snapshots_init(struct gt_snapshots *s, const struct gt_run_options *options,
		       struct gt_drain *drain, uint64_t start_ns)
{
	memset(s, 0, sizeof *s);
	s->options = options;
	s->drain = drain;
	s->start_ns = start_ns;
}

uint32_t gt_snapshots_ask(struct gt_snapshots *s, enum gt_retained_reason reason, const char *text,
			  const char *path, bool replace, uint64_t due_ns)
{
	struct gt_snapshot_job *job = &s->waiting[s->waiting_count];

	if (s->waiting_count == GT_SNAPSHOTS_WAITING)
		return 0;
	s->waiting_count++;
	memset(job, 0, sizeof *job);
	job->number = ++s->asked;
	job->reason = reason;
	job->due_ns = due_ns;
	job->replace = replace;
	job->shared = s->options->shared;
	snprintf(job->text, sizeof job->text, "%s", text ? text : "");
	snprintf(job->path, sizeof job->path, "%s", path ? path : "");
	return job->number;
}

void gt_snapshots_want_stacks(struct gt_snapshots *s)
{
	if (s->waiting_count)
		s->waiting[s->waiting_count - 1].stacks = true;
}

void gt_snapshots_trigger(struct gt_snapshots *s, const char *text, uint64_t now_ns)
{
	const struct gt_run_options *o = s->options;

	if (s->by_triggers == o->snapshots_most || now_ns < s->next_ns ||
	    !gt_snapshots_ask(s, GT_RETAINED_TRIGGER, text, NULL, false,
			      now_ns + o->keep_after_ns)) {
		s->left_out++;
		return;
	}
	s->by_triggers++;
	/* the window of the next snapshot starts at the end of this snapshot's window */
	s->next_ns = now_ns +
		     (o->keep.window_ns > o->keep_after_ns ? o->keep.window_ns : o->keep_after_ns);
}

/* Choose the first free name: "last.gputap" -> "last.N.gputap". N starts at the snapshot's
 * number. */
static void choose_name(const struct gt_snapshots *s, struct gt_snapshot_job *job)
{
	static const char end[] = CAPTURE_END;
	const char *output =
		s->options->snapshot_name ? s->options->snapshot_name : s->options->output;
	size_t n = strlen(output), cut = sizeof end - 1;

	job->replace = s->options->replace;
	if (n > cut && !strcmp(output + n - cut, end))
		n -= cut;
	for (uint32_t i = 0; i < NAMES_MOST; i++) {
		snprintf(job->path, sizeof job->path, "%.*s.%u%s", (int)n, output, job->number + i,
			 end);
		if (job->replace || access(job->path, F_OK))
			return;
	}
}

/* Write rings, sums and clocks to the files. */
static void settle(struct gt_drain *d, bool stacks)
{
	struct gt_clock_tuple tuple;
	uint64_t now = gt_clock_ns(CLOCK_MONOTONIC), bytes = LITTLE_BYTES;

	for (int i = 0; i < READS_MOST && bytes >= LITTLE_BYTES; i++) {
		bytes = 0;
		for (size_t k = 0; k < d->process_count; k++)
			bytes += gt_drain_process(d, d->processes[k], GT_DRAIN_NOW, now);
	}
	gt_open_calls_write_all(d);
	if (stacks)
		gt_snapshot_stacks_write(d);
	gt_host_watch_write_all(d->host_watch);
	/* the rings are flushed before the sums are written, because a failed flush counts records
	 * as lost */
	gt_batch_commit(d);
	for (size_t k = 0; k < d->process_count; k++)
		gt_drain_write_settled(d, d->processes[k]);
	gt_clock_tuple_take(d->folder->host_clock, &tuple);
	gt_drain_write_clock(d, &tuple);
	gt_batch_commit(d);
}

static void fail(struct gt_snapshot_job *job)
{
	job->state = GT_SNAPSHOT_FAILED;
	snprintf(job->error, sizeof job->error, "%s", gt_error_text());
	gt_error_clear();
}

static void *write_file(void *data)
{
	struct gt_snapshots *s = data;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	if (gt_snapshot_write(s->files, s->now.path, s->now.replace, s->now.shared))
		fail(&s->now);
	else
		s->now.state = GT_SNAPSHOT_WRITTEN;
	if (s->now.state == GT_SNAPSHOT_WRITTEN && s->options->complete_snapshot)
		s->options->complete_snapshot(s->now.path, s->options->complete_data);
	atomic_store_explicit(&s->is_finished, true, memory_order_release);
	return NULL;
}

/* Store the outcome for later queries, and report it. */
static void put_away(struct gt_snapshots *s)
{
	gt_snapshot_destroy(s->files);
	s->files = NULL;
	s->done[s->now.number % GT_SNAPSHOTS_DONE] = s->now;
	if (s->options->on_snapshot)
		s->options->on_snapshot(s->now.path,
					s->now.state == GT_SNAPSHOT_FAILED ? s->now.error : NULL,
					s->now.reason, s->now.text);
	s->now.number = 0;
}

static int start_thread(struct gt_snapshots *s)
{
	pthread_attr_t attributes;
	int error;

	atomic_store_explicit(&s->is_finished, false, memory_order_relaxed);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&s->thread, &attributes, write_file, s);
	pthread_attr_destroy(&attributes);
	return error ? gt_error(-error, "cannot start a thread for snapshot %s", s->now.path) : 0;
}

static void begin_job(struct gt_snapshots *s)
{
	struct gt_retained why = {.reason = s->now.reason,
				  .number = s->now.number,
				  .text = s->now.text};
	int status;

	if (!s->now.path[0])
		choose_name(s, &s->now);
	settle(s->drain, s->now.stacks);
	why.end_ns = gt_clock_ns(CLOCK_BOOTTIME);
	why.begin_ns = s->start_ns;
	status = gt_snapshot_create(s->drain->writer, &why, &s->files);
	if (!status)
		status = start_thread(s);
	s->runs = !status;
	if (status) {
		fail(&s->now);
		put_away(s);
	}
}

/* Take the first job that is due. Return false if no job is due. */
static bool take_job(struct gt_snapshots *s, uint64_t now_ns)
{
	for (size_t i = 0; i < s->waiting_count; i++) {
		if (s->waiting[i].due_ns > now_ns)
			continue;
		s->now = s->waiting[i];
		s->waiting_count--;
		memmove(s->waiting + i, s->waiting + i + 1,
			(s->waiting_count - i) * sizeof s->waiting[0]);
		return true;
	}
	return false;
}

static void join(struct gt_snapshots *s)
{
	pthread_join(s->thread, NULL);
	s->runs = false;
	put_away(s);
}

void gt_snapshots_advance(struct gt_snapshots *s, uint64_t now_ns)
{
	if (s->runs && atomic_load_explicit(&s->is_finished, memory_order_acquire))
		join(s);
	if (!s->runs && s->waiting_count && take_job(s, now_ns))
		begin_job(s);
}

void gt_snapshots_finish(struct gt_snapshots *s)
{
	do {
		if (s->runs)
			join(s);
		if (take_job(s, UINT64_MAX))
			begin_job(s);
	} while (s->runs || s->waiting_count);
}

const struct gt_snapshot_job *gt_snapshots_find(const struct gt_snapshots *s, uint32_t number)
{
	const struct gt_snapshot_job *done = &s->done[number % GT_SNAPSHOTS_DONE];

	if (s->now.number == number && number)
		return &s->now;
	for (size_t i = 0; i < s->waiting_count; i++)
		if (s->waiting[i].number == number)
			return &s->waiting[i];
	return number && done->number == number ? done : NULL;
}

/* Commands -------------------------------------------------------------------------- */

static bool is_capture_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name), end = sizeof CAPTURE_END - 1;

	return n > end && !strcmp(name + n - end, CAPTURE_END);
}

static int answer_snapshot(void *data, struct gt_control_request *request, FILE *answer)
{
	const char *path = gt_control_argument(request, "path"),
		   *replace = gt_control_argument(request, "replace"),
		   *stacks = gt_control_argument(request, "stacks");
	uint32_t number;
	char text[16];

	if (path && path[0] != '/')
		return gt_control_refuse(request, -EINVAL, "a snapshot's path must be absolute");
	if (path && strlen(path) >= PATH_MAX)
		return gt_control_refuse(request, -ENAMETOOLONG, "a snapshot's path is too long");
	if (path && !is_capture_name(path))
		return gt_control_refuse(request, -EINVAL,
					 "a snapshot's name must end in " CAPTURE_END);
	number = gt_snapshots_ask(data, GT_RETAINED_COMMAND, NULL, path,
				  replace && !strcmp(replace, "yes"), 0);
	if (!number)
		return gt_control_refuse(request, -EBUSY,
					 "%d snapshots of this session are waiting already",
					 GT_SNAPSHOTS_WAITING);
	if (stacks && !strcmp(stacks, "yes"))
		gt_snapshots_want_stacks(data);
	snprintf(text, sizeof text, "%u", number);
	gt_control_put(answer, "number", text);
	return 0;
}

static int answer_state(void *data, struct gt_control_request *request, FILE *answer)
{
	static const char *const states[] = {"waits", "written", "failed"};
	const char *number = gt_control_argument(request, "number");
	const struct gt_snapshot_job *job =
		gt_snapshots_find(data, number ? (uint32_t)strtoul(number, NULL, 10) : 0);
	char folder[PATH_MAX], path[2 * PATH_MAX];

	if (!job)
		return gt_control_refuse(request, -ENOENT, "no snapshot has that number");
	if (job->path[0] == '/' || !getcwd(folder, sizeof folder))
		snprintf(path, sizeof path, "%s", job->path);
	else
		snprintf(path, sizeof path, "%s/%s", folder, job->path);
	/* while a thread runs, it owns its part of the job */
	gt_control_put(answer, "state",
		       job == &((struct gt_snapshots *)data)->now ? states[GT_SNAPSHOT_WAITS]
								  : states[job->state]);
	gt_control_put(answer, "path", path);
	if (job != &((struct gt_snapshots *)data)->now)
		gt_control_put(answer, "error", job->error);
	return 0;
}

void gt_snapshots_offer(struct gt_snapshots *s, struct gt_control *control)
{
	gt_control_add(control, "snapshot", GT_CONTROL_IN_TURN, answer_snapshot, s);
	gt_control_add(control, "snapshot-state", GT_CONTROL_IN_TURN, answer_state, s);
}
