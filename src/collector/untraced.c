/* SPDX-License-Identifier: MIT */
/* Processes that could not make a ring file left a link or a line instead (ring/session.h): into the capture with who and why. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/drain.h"
#include "ring/session.h"
#include "util/error.h"

enum { TEXT_BYTES = 256 };

struct event {
	struct gt_record_event head;
	char text[TEXT_BYTES];
};

static int write_event(struct gt_drain *d, uint32_t index, uint64_t ticks, const char *exe, int error)
{
	struct event e = {.head = {.time = ticks, .value = (uint64_t)error}};
	struct gt_counts counts = {0};
	struct gt_stream *stream;
	size_t bytes;
	int status;

	snprintf(e.text, sizeof e.text, "%s: its ring file could not be made: %s", exe, strerror(error));
	e.head.bytes = strlen(e.text);
	bytes = (sizeof e.head + e.head.bytes + 7) & ~(size_t)7;
	e.head.head = (struct gt_record){(uint16_t)(bytes / 8), GT_RECORD_EVENT, GT_DOMAIN_NONE, GT_EVENT_NOT_TRACED};
	status = gt_capture_stream_create(d->writer, index, 1, &stream);
	if (status)
		return status;
	status = gt_capture_write_records(stream, (const uint8_t *)&e, bytes, &counts);
	gt_capture_stream_destroy(stream);
	return status;
}

/* @text: "errno path-of-the-program" */
static void write_untraced(struct gt_drain *d, uint32_t pid, uint64_t ticks, const char *text)
{
	/* how it ended nobody knows */
	struct gt_process_info info = {.pid = pid, .start_ticks = ticks, .argv = "", .wait_status = -1, .ended = true, .proper_end = true};
	char *exe;
	long error = strtol(text, &exe, 10);

	if (error <= 0 || error > 4095 || *exe != ' ')
		return;
	info.exe = exe + 1;
	info.index = d->next_index++;
	gt_capture_write_process(d->writer, &info);
	if (write_event(d, info.index, ticks, info.exe, (int)error))
		gt_error_clear(); /* the file takes nothing: told at the end, once */
	gt_capture_write_process_end(d->writer, &info);
	d->untraced++;
	d->batch_dirty = true;
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

void gt_drain_write_untraced(struct gt_drain *d)
{
	int fd = openat(d->folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	unsigned long long ticks;
	struct dirent *e;
	unsigned pid;
	int n;

	while (dir && (e = readdir(dir))) {
		n = 0;
		if (sscanf(e->d_name, "%u-%llu%n", &pid, &ticks, &n) == 2 && n && !strcmp(e->d_name + n, GT_UNTRACED_SUFFIX))
			write_link(d, e->d_name, pid, ticks);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	write_lines(d);
	if (d->untraced)
		gt_drain_commit(d);
}
