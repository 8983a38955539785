/* SPDX-License-Identifier: MIT */
/* See attached.h. */
#include "collector/attached.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock/clock.h"
#include "collector/events.h"
#include "collector/guard.h"
#include "collector/proc_files.h"
#include "collector/target.h"
#include "util/error.h"
#include "util/grow.h"

enum state { STATE_NONE = 0, STATE_ATTACHED, STATE_WRITTEN };

int gt_attached_init(struct gt_attached *a, struct gt_drain *drain,
		     const struct gt_attach_target *targets, size_t count)
{
	memset(a, 0, sizeof *a);
	a->drain = drain;
	a->targets = targets;
	a->count = count;
	a->states = calloc(count + 1, sizeof *a->states);
	return a->states ? 0 : gt_error(-ENOMEM, "no memory for the list of processes");
}

void gt_attached_fini(struct gt_attached *a)
{
	free(a->states);
	a->states = NULL;
}

static int detach(void *data, struct gt_control_request *request, FILE *answer)
{
	struct gt_attached *a = data;

	if (!a->count)
		return gt_control_refuse(request, 0,
					 "`gputap run` started this program, and records it until "
					 "it ends; 'gputap stop' pauses the recording");
	atomic_store(&a->is_detach_asked, true);
	gt_control_put(answer, "detaching", "yes");
	return 0;
}

void gt_attached_offer(struct gt_attached *a, struct gt_control *control)
{
	gt_control_add(control, "detach", GT_CONTROL_AT_ONCE, detach, a);
}

int gt_attached_add(struct gt_attached *a, size_t index, const char *library,
		    struct gt_attach_note *out)
{
	int status = gt_attach(&a->targets[index], library, a->drain->folder, out);

	if (!status) {
		a->states[index] = STATE_ATTACHED;
		a->attached++;
	}
	return status;
}

/* Variables of a process, collected into an environment. */
struct variables {
	char **list;
	size_t count, room;
};

static void add_variable(const char *variable, void *data)
{
	struct variables *v = data;
	char **more = gt_grow(v->list, v->count + 1, &v->room, sizeof *v->list);

	if (!more)
		return;
	v->list = more;
	v->list[v->count] = strdup(variable);
	v->count += v->list[v->count] != NULL;
	v->list[v->count] = NULL;
}

/* Return true if the process sees the same library. */
static bool reaches(const struct gt_attach_target *t, const char *library)
{
	char path[PATH_MAX + sizeof t->root];
	struct stat own, its;

	snprintf(path, sizeof path, "%s%s", t->root, library);
	return !stat(library, &own) && !stat(path, &its) && own.st_size == its.st_size;
}

static bool has_variable(char *const *environment, const char *variable)
{
	for (; environment && *environment; environment++)
		if (!strcmp(*environment, variable))
			return true;
	return false;
}

/* Write the variables that are not in @base. */
static int write_variables(struct gt_attached *a, char *const *environment, char *const *base)
{
	const struct gt_folder_owner owner = {a->targets->root, a->targets->uid, a->targets->gid};
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	int status;

	for (size_t i = 0; f && environment[i]; i++)
		if (!has_variable(base, environment[i]))
			fwrite(environment[i], 1, strlen(environment[i]) + 1, f);
	if (!f || fclose(f))
		status = gt_error(-ENOMEM, "no memory for the environment of programs");
	else
		status =
			gt_folder_write(a->drain->folder, GT_ENVIRONMENT_FILE, text, bytes, &owner);
	free(text);
	return status;
}

int gt_attached_write_environment(struct gt_attached *a, const struct gt_libraries *libraries)
{
	const struct gt_attach_target *first = a->targets;
	struct gt_libraries reachable = *libraries;
	struct gt_folder *folder = a->drain->folder;
	struct gt_target target = {.obstacle = GT_TARGET_NONE};
	struct variables base = {0};
	char *const none[] = {NULL};
	char **all;
	int status = 0;

	if (!reaches(first, libraries->inject) || !reaches(first, libraries->audit))
		return 0;
	if (!*first->root)
		status = gt_libraries_link(&reachable, folder->path);
	if (status)
		return status;
	if (gt_proc_each_variable(first->pid, add_variable, &base))
		base.count = 0;
	status = gt_environment_make(base.list ? base.list : none, &reachable,
				     gt_folder_inner_path(folder),
				     gt_session_recordable(folder->copy), &target, &all);
	if (!status) {
		status = write_variables(a, all, base.list);
		gt_environment_free(all);
	}
	gt_environment_free(base.list);
	return status;
}

static const struct gt_process *find_process(const struct gt_attached *a, uint32_t inner_pid)
{
	const struct gt_drain *d = a->drain;

	for (size_t i = 0; i < d->process_count; i++)
		if (d->processes[i]->segment && d->processes[i]->pid == inner_pid &&
		    !d->processes[i]->replaced)
			return d->processes[i];
	return NULL;
}

void gt_attached_write(struct gt_attached *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct gt_attach_target *t = &a->targets[i];
		const struct gt_process *process;
		struct gt_clock_tuple now;
		uint64_t ran_ns;

		if (a->states[i] != STATE_ATTACHED)
			continue;
		process = find_process(a, t->inner_pid);
		if (!process)
			continue;
		gt_clock_tuple_take(a->drain->folder->host_clock, &now);
		ran_ns = now.boottime_ns > t->start_ns ? now.boottime_ns - t->start_ns : 0;
		if (gt_event_write(a->drain, process->index, GT_EVENT_ATTACHED, GT_DOMAIN_NONE,
				   now.ticks, ran_ns, ""))
			gt_error_clear(); /* the file is full: reported once, at the end */
		a->drain->batch_dirty = true;
		a->states[i] = STATE_WRITTEN;
	}
}

bool gt_attached_has(const struct gt_attached *a, uint32_t pid)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->targets[i].pid == pid && a->targets[i].inner_pid == pid)
			return true;
	return false;
}

uint32_t gt_attached_remaining(struct gt_attached *a)
{
	const struct gt_drain *d = a->drain;
	volatile uint32_t count = 0;

	for (volatile size_t i = 0; i < d->process_count; i++) {
		const struct gt_process *process = d->processes[i];

		if (!process->segment || process->lost || process->ended ||
		    (process->exited && !process->is_unseen))
			continue;
		if (!GT_GUARD())
			continue;
		/* a process that runs no thread of gputap has nothing to give back */
		count += atomic_load_explicit(&process->segment->follows, memory_order_acquire) &&
			 !atomic_load_explicit(&process->segment->detached, memory_order_acquire);
		gt_guard_end();
	}
	return count;
}
