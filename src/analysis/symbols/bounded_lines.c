/* SPDX-License-Identifier: MIT */
/* See bounded_lines.h. Answers come through a pipe in the order of the requests: 4 bytes of length,
 * then that many bytes of text. */
#include "analysis/symbols/bounded_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/symbols/dwarf_lines.h"
#include "util/clock_ns.h"

enum { TEXT_MOST_BYTES = 128 << 10, PIPE_BYTES = 64 << 10, LOOK_MS = 200, EXIT_NO_LIBRARY = 3 };

/* Look-up process --------------------------------------------------------------------------- */

/* Encode functions as texts. Return the number of bytes; functions that do not fit are left out. */
static size_t pack_names(const struct gt_frame_name *list, size_t count, char *text)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const char *function = list[i].function ? list[i].function : "",
			   *file = list[i].file ? list[i].file : "";
		size_t n = strlen(function) + strlen(file) + 16;

		if (n > TEXT_MOST_BYTES - used)
			break;
		used += (size_t)sprintf(text + used, "%s", function) + 1;
		used += (size_t)sprintf(text + used, "%s", file) + 1;
		if (list[i].line)
			used += (size_t)sprintf(text + used, "%u", list[i].line);
		text[used++] = '\0';
	}
	return used;
}

static bool write_all(int fd, const void *data, size_t bytes)
{
	const char *p = data;

	while (bytes) {
		ssize_t n = write(fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		bytes -= (size_t)n;
	}
	return true;
}

static void look_up(const struct gt_line_request *list, size_t count, int fd)
{
	static char text[TEXT_MOST_BYTES];
	struct gt_frame_name names[GT_FRAME_NAMES_MOST];

	for (size_t i = 0; i < count; i++) {
		size_t n = gt_code_file_find(list[i].file, list[i].address, names);
		uint32_t bytes = (uint32_t)pack_names(names, n, text);

		if (!write_all(fd, &bytes, sizeof bytes) || !write_all(fd, text, bytes))
			return;
	}
}

/* Run as the child. The child dies with its parent; otherwise it would keep the parent's files
 * open. */
static void be_child(const struct gt_line_request *list, size_t count, int fd, pid_t parent)
{
	struct rlimit none = {0, 0};
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGINT, SIG_IGN); /* the parent handles the terminal's SIGINT */
	setrlimit(RLIMIT_CORE, &none);
	if (!gt_dwarf_lines_are_there())
		_exit(EXIT_NO_LIBRARY);
	look_up(list, count, fd);
	_exit(0);
}

/* Caller ------------------------------------------------------------------------------------ */

struct answers {
	struct gt_line_request *list;
	size_t count, done;
	uint8_t *data; /* received bytes of an incomplete answer */
	size_t bytes, room;
	bool has_ended; /* true if the child has closed its end */
};

/* Consume the complete answers among the received bytes. */
static void take_answers(struct answers *a)
{
	size_t at = 0;
	uint32_t n;

	while (a->done < a->count && a->bytes - at >= sizeof n) {
		struct gt_line_request *r = &a->list[a->done];

		memcpy(&n, a->data + at, sizeof n);
		if (n > TEXT_MOST_BYTES || a->bytes - at - sizeof n < n)
			break;
		r->text = malloc((size_t)n + 1);
		if (r->text) {
			memcpy(r->text, a->data + at + sizeof n, n);
			r->text[n] = '\0';
			r->bytes = n;
		}
		a->done++;
		at += sizeof n + n;
	}
	memmove(a->data, a->data + at, a->bytes - at);
	a->bytes -= at;
}

/* Read available data. Return false if the time is over or no more data will come. */
static bool read_some(struct answers *a, int fd, uint64_t until_ns)
{
	uint64_t now = gt_clock_ns(CLOCK_MONOTONIC);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	if (now >= until_ns)
		return false;
	now = (until_ns - now) / 1000000;
	n = poll(&p, 1, now < LOOK_MS ? (int)now + 1 : LOOK_MS);
	if (n <= 0)
		return n == 0 || errno == EINTR;
	n = read(fd, a->data + a->bytes, a->room - a->bytes);
	if (n > 0)
		a->bytes += (size_t)n;
	a->has_ended = !n || (n < 0 && errno != EINTR);
	take_answers(a);
	return !a->has_ended;
}

static enum gt_lines_end end_child(const struct answers *a, pid_t child)
{
	int status = 0;

	if (!a->has_ended) /* if set, the child is already exiting */
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (a->done == a->count)
		return GT_LINES_DONE;
	if (!a->has_ended)
		return GT_LINES_TIME;
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_LIBRARY ? GT_LINES_NO_LIBRARY
									   : GT_LINES_BROKEN;
}

enum gt_lines_end gt_bounded_lines(struct gt_line_request *list, size_t count, uint64_t most_ns,
				   void (*each)(void *data, uint64_t done), void *data)
{
	const uint64_t until_ns = gt_clock_ns(CLOCK_MONOTONIC) + most_ns;
	struct answers a = {.list = list, .count = count};
	enum gt_lines_end end = GT_LINES_BROKEN;
	pid_t child, parent = getpid();
	int ends[2];

	if (!count)
		return GT_LINES_DONE;
	if (!most_ns)
		return GT_LINES_TIME;
	if (pipe2(ends, O_CLOEXEC))
		return GT_LINES_BROKEN;
	a.room = TEXT_MOST_BYTES + sizeof(uint32_t) + PIPE_BYTES;
	a.data = malloc(a.room);
	child = a.data ? fork() : -1;
	if (!child) {
		close(ends[0]);
		be_child(list, count, ends[1], parent);
	}
	close(ends[1]);
	while (child > 0 && a.done < count && read_some(&a, ends[0], until_ns))
		if (each)
			each(data, a.done);
	close(ends[0]);
	if (child > 0)
		end = end_child(&a, child);
	free(a.data);
	return end;
}
