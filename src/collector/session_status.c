/* SPDX-License-Identifier: MIT */
/* See session_status.h. */
#include "collector/session_status.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/guard.h"
#include "collector/process_counts.h"
#include "config.h"
#include "util/clock_ns.h"

static void put_number(FILE *answer, const char *key, uint64_t n)
{
	fprintf(answer, "%s=%" PRIu64 "\n", key, n);
}

static void put_command(const struct gt_session_status *s, FILE *answer)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);

	for (int i = 0; f && s->argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", s->argv[i]);
	if (f && !fclose(f))
		gt_control_put(answer, "command", text);
	free(text);
}

static void put_capture(const struct gt_session_status *s, FILE *answer)
{
	char path[PATH_MAX];

	if (gt_folder_output(s->drain->folder, path, sizeof path))
		snprintf(path, sizeof path, "%s", s->output);
	gt_control_put(answer, "capture", path);
}

/* Print the processes, the number of processes that follow the session's control, and the number of
 * these processes that have not applied the latest change yet. */
static void put_processes(const struct gt_session_status *s, uint32_t control, FILE *answer)
{
	struct gt_drain *d = s->drain;
	volatile uint32_t count = 0, pids = 0, following = 0, not_following = 0;

	fputs("pids=", answer);
	pthread_mutex_lock(&d->list_lock);
	for (volatile size_t i = 0; i < d->process_count; i++) {
		const struct gt_process *process = d->processes[i];

		if (!process->segment || (process->exited && !process->is_unseen))
			continue;
		count++;
		if (!process->is_unseen) /* otherwise the pid means another process here */
			fprintf(answer, "%s%u", pids++ ? "," : "", process->pid);
		if (process->lost || !GT_GUARD())
			continue;
		if (atomic_load_explicit(&process->segment->follows, memory_order_acquire)) {
			following++;
			not_following += atomic_load_explicit(&process->segment->control,
							      memory_order_acquire) != control;
		}
		gt_guard_end();
	}
	pthread_mutex_unlock(&d->list_lock);
	putc('\n', answer);
	put_number(answer, "processes", count);
	put_number(answer, "following", following);
	put_number(answer, "not_following", not_following);
}

/* Return the sum of @counts over calls and GPU activities. */
static uint64_t sum_of(const uint64_t counts[GT_CLASS_COUNT][GT_DOMAIN_COUNT])
{
	uint64_t sum = 0;

	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++)
			sum += counts[c][k];
	return sum;
}

static void put_counts(const struct gt_session_status *s, FILE *answer)
{
	struct gt_drain *d = s->drain;
	struct gt_counts all = d->totals, one;
	uint64_t lost = 0;

	for (size_t i = 0; i < d->process_count; i++) {
		if (!d->processes[i]->segment)
			continue;
		gt_process_sum_counts(d, d->processes[i], false, &one);
		gt_counts_add(&all, &one);
	}
	for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
		if (why != GT_DROP_UNFINISHED)
			lost += sum_of(all.dropped[why]);
	put_number(answer, "seen", sum_of(all.seen));
	put_number(answer, "recorded", sum_of(all.recorded));
	put_number(answer, "lost", lost);
	put_number(answer, "late", d->late_count);
	for (uint32_t i = 0; i < d->late_count && i < GT_LATE_NAMED; i++) {
		char key[16];

		snprintf(key, sizeof key, "late%u", i + 1);
		gt_control_put(answer, key, d->late[i]);
	}
	put_number(answer, "kernels", gt_capture_writer_kernels(d->writer));
	put_number(answer, "bytes", gt_capture_writer_bytes(d->writer));
}

static int put_session(void *data, struct gt_control_request *request, FILE *answer)
{
	const struct gt_session_status *s = data;
	struct gt_window_state w = gt_session_windows_read(s->windows);
	bool is_paused = GT_CONTROL_IS_PAUSED(w.control);
	uint64_t now = gt_clock_ns(CLOCK_MONOTONIC);

	(void)request;
	put_capture(s, answer);
	gt_control_put(answer, "output", s->wanted);
	put_command(s, answer);
	put_number(answer, "pid", s->child->pid > 0 ? (uint64_t)s->child->pid : 0);
	gt_control_put(answer, "attached", s->child->is_attached ? "yes" : "no");
	put_number(answer, "collector", (uint64_t)getpid());
	gt_control_put(answer, "version", GPUTAP_VERSION);
	gt_control_put(answer, "state", is_paused ? "paused" : "recording");
	gt_control_put(answer, "why",
		       w.changed_ns || is_paused
			       ? gt_window_why_name((enum gt_window_why)GT_CONTROL_WHY(w.control))
			       : gt_window_why_name(GT_WINDOW_LIFE));
	put_number(answer, "since_ns", s->since_ns);
	put_number(answer, "changed_ns", w.changed_ns ? w.changed_ns : s->since_ns);
	put_number(answer, "now_ns", gt_clock_ns(CLOCK_BOOTTIME));
	if (w.start_at_ns)
		put_number(answer, "starts_in_ns", w.start_at_ns > now ? w.start_at_ns - now : 0);
	if (w.stop_at_ns)
		put_number(answer, "stops_in_ns", w.stop_at_ns > now ? w.stop_at_ns - now : 0);
	put_number(answer, "windows", w.windows);
	put_processes(s, w.control, answer);
	return 0;
}

static int put_status(void *data, struct gt_control_request *request, FILE *answer)
{
	put_session(data, request, answer);
	put_counts(data, answer);
	return 0;
}

static int change(struct gt_session_status *s, struct gt_control_request *request, FILE *answer,
		  bool recording)
{
	bool changed;

	if (s->child->ended)
		return gt_control_refuse(request, 0, "the program has ended");
	changed = gt_session_windows_set(s->windows, recording, GT_WINDOW_COMMAND);
	gt_control_put(answer, "changed", changed ? "yes" : "no");
	return put_session(s, request, answer);
}

static int start(void *data, struct gt_control_request *request, FILE *answer)
{
	return change(data, request, answer, true);
}

static int stop(void *data, struct gt_control_request *request, FILE *answer)
{
	return change(data, request, answer, false);
}

void gt_session_status_offer(struct gt_session_status *s, struct gt_control *control)
{
	gt_control_add(control, "session", GT_CONTROL_AT_ONCE, put_session, s);
	gt_control_add(control, "start", GT_CONTROL_AT_ONCE, start, s);
	gt_control_add(control, "stop", GT_CONTROL_AT_ONCE, stop, s);
	gt_control_add(control, "status", GT_CONTROL_IN_TURN, put_status, s);
}
