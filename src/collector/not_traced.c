/* SPDX-License-Identifier: MIT */
/* Writes processes that could not be traced to the capture, with the reason. Processes that could
 * not create a segment left a link or a line instead (ring/session.h). Other untraced processes are
 * listed in the segment of the process that started them (ring/segment.h). */
#include "collector/not_traced.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/batch.h"
#include "collector/events.h"
#include "collector/guard.h"
#include "ring/segment.h"
#include "ring/session.h"
#include "util/error.h"
#include "util/grow.h"

enum { TEXT_BYTES = 256, NAMELESS_MOST = 10000, NOTICES_MOST = 100000 };

static void write_process(struct gt_drain *d, uint32_t pid, uint64_t ticks, const char *exe,
			  const char *why, int error)
{
	/* wait_status is -1, because gputap does not know how the process ended */
	struct gt_process_info info = {.pid = pid,
				       .start_ticks = ticks,
				       .argv = "",
				       .wait_status = -1,
				       .ended = true,
				       .proper_end = true};
	char text[TEXT_BYTES];

	info.exe = exe;
	info.index = d->next_index++;
	gt_capture_write_process(d->writer, &info);
	snprintf(text, sizeof text, "%s: %s", exe, why);
	if (gt_event_write(d, info.index, GT_EVENT_NOT_TRACED, GT_DOMAIN_NONE, ticks,
			   (uint64_t)error, text))
		gt_error_clear(); /* the file takes no more data: reported once, at the end */
	gt_capture_write_process_end(d->writer, &info);
	d->untraced += error != 0;
	d->batch_dirty = true;
}

/* Reported and found processes ----------------------------------------------------- */

static const char *get_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Add a notice. Return NULL if out of memory or if there are too many notices. */
static struct gt_untraced_notice *add_notice(struct gt_drain *d, uint32_t pid)
{
	void *more = d->notice_count < NOTICES_MOST ? gt_grow(d->notices, d->notice_count,
							      &d->notice_room, sizeof *d->notices)
						    : NULL;

	if (!more)
		return NULL;
	d->notices = more;
	d->notices[d->notice_count] = (struct gt_untraced_notice){.pid = pid};
	return &d->notices[d->notice_count++];
}

void gt_not_traced_note(struct gt_drain *d, uint32_t pid, const char *text)
{
	const char *end = strstr(text, ": "), *name = text;
	struct gt_untraced_notice *t = add_notice(d, pid);

	if (!t || !end)
		return;
	for (const char *c = text; c < end; c++)
		name = *c == '/' ? c + 1 : name;
	snprintf(t->name, sizeof t->name, "%.*s", (int)(end - name), name);
}

static bool matches_name(const struct gt_untraced_notice *t, const char *name, const char *program)
{
	return !t->name[0] || !strcmp(t->name, name) ||
	       !strncmp(t->name, get_name(program), sizeof t->name - 1);
}

bool gt_not_traced_take_notice(struct gt_drain *d, uint32_t pid, uint32_t inner_pid, uint32_t ppid,
			       const char *name, const char *program)
{
	for (size_t i = 0; i < d->notice_count; i++) {
		struct gt_untraced_notice *t = &d->notices[i];

		if (t->is_taken || !matches_name(t, name, program) ||
		    (t->pid != pid && t->pid != inner_pid &&
		     (t->pid != ppid || (!t->name[0] && !t->is_childs))))
			continue;
		return t->is_taken = true;
	}
	return false;
}

void gt_not_traced_write_found(struct gt_drain *d, uint32_t pid, uint64_t ticks,
			       const char *program, const char *why, int error)
{
	write_process(d, pid, ticks, program, why, error);
	gt_batch_commit(d);
}

void gt_not_traced_write_obstacle(struct gt_drain *d, uint32_t pid, uint64_t ticks,
				  const char *path, const char *why)
{
	write_process(d, pid, ticks, path, why, EPERM);
	gt_not_traced_note(d, pid, "");
	gt_batch_commit(d);
}

/* @text: "errno path-of-the-program" */
static void write_untraced(struct gt_drain *d, uint32_t pid, uint64_t ticks, const char *text)
{
	char *exe, why[TEXT_BYTES / 2];
	long error = strtol(text, &exe, 10);

	if (error <= 0 || error > 4095 || *exe != ' ')
		return;
	snprintf(why, sizeof why, "its shared memory segment could not be created: %s",
		 strerror((int)error));
	write_process(d, pid, ticks, exe + 1, why, (int)error);
}

static void explain(const struct gt_lost *l, char *out, size_t room)
{
	char user[32] = "";

	if (l->uid != (uint32_t)geteuid())
		snprintf(user, sizeof user, "as user %u ", l->uid);
	switch (atomic_load_explicit(&l->why, memory_order_relaxed)) {
	case GT_LOST_SECURE:
		snprintf(out, room,
			 "its effective and real ids differ, so the dynamic linker does not "
			 "preload gputap");
		break;
	case GT_LOST_ENVIRONMENT:
		snprintf(out, room,
			 "system() or popen() started it with an environment that the program had "
			 "cleared");
		break;
	case GT_LOST_LIBRARY:
		snprintf(out, room, "%sit cannot reach libgputap.so: %s", user, strerror(l->error));
		break;
	case GT_LOST_SESSION:
		snprintf(out, room, "%sit cannot reach the session's folder: %s", user,
			 strerror(l->error));
		break;
	default:
		snprintf(out, room, "its shared memory segment could not be created: %s",
			 strerror(l->error));
	}
}

static void note_lost(struct gt_drain *d, const struct gt_lost *l)
{
	char text[sizeof l->path + 2];

	snprintf(text, sizeof text, "%s%s", l->path, strcmp(l->path, GT_LOST_NAMELESS) ? ": " : "");
	gt_not_traced_note(d, l->pid, text);
}

/* Return true if the entries were not overwritten. */
static bool is_sound(const struct gt_lost lost[GT_LOST_NAMED], uint32_t count)
{
	for (uint32_t i = 0; i < GT_LOST_NAMED; i++) {
		const struct gt_lost *l = &lost[i];

		if (atomic_load_explicit(&l->why, memory_order_relaxed) >= GT_LOST_WHY_COUNT ||
		    l->error < 0 || l->error > 4095 || l->reserved ||
		    !memchr(l->path, '\0', sizeof l->path) || (i >= count && l->ticks))
			return false;
	}
	return count <= NAMELESS_MOST;
}

void gt_not_traced_write_lost(struct gt_drain *d, struct gt_process *process)
{
	struct gt_lost lost[GT_LOST_NAMED];
	volatile uint32_t count = 0;
	char why[TEXT_BYTES / 2];

	if (process->lost || !GT_GUARD())
		return;
	count = atomic_load_explicit(&process->segment->lost_count, memory_order_acquire);
	if (count)
		memcpy(lost, process->segment->lost, sizeof lost);
	gt_guard_end();
	if (!count || !is_sound(lost, count))
		return;
	for (uint32_t i = 0; i < count && i < GT_LOST_NAMED; i++) {
		if (atomic_load_explicit(&lost[i].why, memory_order_relaxed) == GT_LOST_NONE)
			continue;
		explain(&lost[i], why, sizeof why);
		write_process(d, lost[i].pid, lost[i].ticks, lost[i].path, why,
			      lost[i].error > 0 ? lost[i].error : EPERM);
		note_lost(d, &lost[i]);
	}
	for (uint32_t i = GT_LOST_NAMED; i < count; i++) {
		struct gt_untraced_notice *t = add_notice(d, process->pid);

		if (t)
			t->is_childs = true;
		write_process(d, 0, process->name_ticks, "a program",
			      "one of several whose names and reasons were not recorded", EPERM);
	}
}

static void write_link(struct gt_drain *d, const char *name, uint32_t pid, uint64_t ticks)
{
	char text[TEXT_BYTES / 2];
	ssize_t n = readlinkat(d->folder->fd, name, text, sizeof text - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	write_untraced(d, pid, ticks, text);
}

static void write_lines(struct gt_drain *d)
{
	int fd = openat(d->folder->fd, GT_UNTRACED_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	char line[TEXT_BYTES];
	unsigned long long ticks;
	unsigned pid;
	int n;

	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		n = 0;
		if (sscanf(line, "%u %llu %n", &pid, &ticks, &n) == 2 && n)
			write_untraced(d, pid, ticks, line + n);
	}
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
}

void gt_not_traced_write(struct gt_drain *d)
{
	int fd = openat(d->folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	unsigned long long ticks;
	struct dirent *e;
	unsigned pid;
	int n;

	while (dir && (e = readdir(dir))) {
		n = 0;
		if (sscanf(e->d_name, "%u-%llu%n", &pid, &ticks, &n) == 2 && n &&
		    !strcmp(e->d_name + n, GT_UNTRACED_SUFFIX))
			write_link(d, e->d_name, pid, ticks);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	write_lines(d);
	if (d->untraced)
		gt_batch_commit(d);
}
