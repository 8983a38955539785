/* SPDX-License-Identifier: MIT */
/* See survivors.h. */
#include "collector/survivors.h"

#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/batch.h"
#include "collector/events.h"
#include "collector/proc_files.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"

/* minimum time that a machine needs to use up all pids */
#define NUMBERS_LAST_NS UINT64_C(10000000000)

enum { KTHREADD = 2 }; /* parent of the kernel's threads, which have no environment */

struct search {
	const char *folder;
	bool is_found, has_any;
};

static void look_at_variable(const char *variable, void *data)
{
	static const char session[] = GT_SESSION_ENV "=";
	struct search *s = data;

	s->has_any = true;
	if (!strncmp(variable, session, sizeof session - 1))
		s->is_found = !strcmp(variable + sizeof session - 1, s->folder);
}

/* *is_known: set to false if the process is executing a file at this moment. */
static bool is_of_session(uint32_t pid, const struct gt_folder *folder, bool *is_known)
{
	struct search s = {.folder = gt_folder_inner_path(folder)};
	struct gt_proc_stat stat;

	*is_known = gt_proc_each_variable(pid, look_at_variable, &s) || s.has_any ||
		    !gt_proc_read_stat(pid, &stat) || stat.state == 'Z' || stat.state == 'X' ||
		    stat.ppid == KTHREADD || pid == KTHREADD;
	return s.is_found;
}

/* Return true if all younger processes have higher pids. */
static bool are_numbers_in_order(uint32_t first, uint64_t since_ns)
{
	FILE *f = fopen("/proc/loadavg", "re");
	unsigned last = 0;

	if (!f)
		return false;
	if (fscanf(f, "%*s %*s %*s %*s %u", &last) != 1)
		last = 0;
	fclose(f);
	return last >= first && gt_clock_ns(CLOCK_BOOTTIME) - since_ns < NUMBERS_LAST_NS;
}

static void add_survivor(struct gt_survivors *s, uint32_t pid)
{
	struct gt_survivor *more = gt_grow(s->list, s->count, &s->room, sizeof *s->list);
	struct gt_survivor *one;
	char program[PATH_MAX];

	if (!more)
		return;
	s->list = more;
	one = &s->list[s->count];
	one->pid = pid;
	one->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (one->pidfd < 0)
		return; /* the process has ended */
	s->count++;
	if (!gt_proc_read_program(pid, program, sizeof program))
		program[0] = '\0';
	snprintf(one->program, sizeof one->program, "%.*s", (int)sizeof one->program - 1, program);
}

bool gt_survivors_find(struct gt_survivors *s, const struct gt_folder *folder, uint32_t first,
		       uint64_t since_ns)
{
	uint32_t least = are_numbers_in_order(first, since_ns) ? first : 0;
	DIR *dir = opendir("/proc");
	bool all_known = true, is_known;
	struct dirent *e;

	gt_survivors_fini(s);
	while (dir && (e = readdir(dir))) {
		uint32_t pid = isdigit((unsigned char)e->d_name[0])
				       ? (uint32_t)strtoul(e->d_name, NULL, 10)
				       : 0;

		if (pid <= least || pid == (uint32_t)getpid())
			continue;
		if (is_of_session(pid, folder, &is_known))
			add_survivor(s, pid);
		all_known &= is_known;
	}
	if (dir)
		closedir(dir);
	return all_known;
}

void gt_survivors_look(struct gt_survivors *s)
{
	for (size_t i = 0; i < s->count;) {
		struct pollfd p = {.fd = s->list[i].pidfd, .events = POLLIN};

		if (poll(&p, 1, 0) == 0) {
			i++;
			continue;
		}
		close(p.fd);
		s->list[i] = s->list[--s->count];
	}
}

/* Return the survivor's process in the capture. Add a process if the survivor has recorded
 * nothing. */
static uint32_t find_index(struct gt_drain *d, const struct gt_survivor *one, uint64_t ticks)
{
	struct gt_process_info info = {.pid = one->pid,
				       .start_ticks = ticks,
				       .exe = one->program,
				       .argv = "",
				       .wait_status = -1};

	for (size_t i = 0; i < d->process_count; i++)
		if (d->processes[i]->segment && d->processes[i]->pid == one->pid &&
		    !d->processes[i]->replaced)
			return d->processes[i]->index;
	info.index = d->next_index++;
	gt_capture_write_process(d->writer, &info);
	gt_capture_write_process_end(d->writer, &info);
	return info.index;
}

void gt_survivors_write(const struct gt_survivors *s, struct gt_drain *d)
{
	struct gt_clock_tuple now;

	if (!s->count)
		return;
	gt_clock_tuple_take(d->folder->host_clock, &now);
	for (size_t i = 0; i < s->count; i++) {
		const struct gt_survivor *one = &s->list[i];
		uint32_t index = find_index(d, one, now.ticks);

		if (gt_event_write(d, index, GT_EVENT_STILL_RUNS, GT_DOMAIN_NONE, now.ticks,
				   one->pid, one->program))
			gt_error_clear(); /* the file is full: reported once, at the end */
		d->batch_dirty = true;
	}
	gt_batch_commit(d);
}

void gt_survivors_fini(struct gt_survivors *s)
{
	while (s->count)
		close(s->list[--s->count].pidfd);
	free(s->list);
	*s = (struct gt_survivors){0};
}
