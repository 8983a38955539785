/* SPDX-License-Identifier: MIT */
/* Waits for threads: see late.h. Threads that are created meanwhile start in other code. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/late.h"
#include "util/clock_ns.h"

enum { THREADS_MOST = 8192 };
#define RAN_NS  UINT64_C(1000000)
#define STEP_NS 500000

struct thread {
	int tid; /* 0: has gone on */
	uint64_t ran_ns;
};

static struct thread threads[THREADS_MOST];

/* Read a file of a thread. Return false if the thread has ended. */
static bool read_file(int tid, const char *name, char *text, size_t bytes)
{
	char path[64];
	ssize_t n;
	int file;

	snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	n = read(file, text, bytes - 1);
	close(file);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Return the time for which a thread has run; always 0 on a kernel that does not count it.
 * UINT64_MAX: the thread has ended. */
static uint64_t read_time(int tid)
{
	char text[128];

	if (read_file(tid, "schedstat", text, sizeof text))
		return strtoull(text, NULL, 10);
	return read_file(tid, "stat", text, sizeof text) ? 0 : UINT64_MAX;
}

/* Return true if a thread is blocked in a system call, or has ended. */
static bool is_blocked(int tid)
{
	char text[512], *end;

	if (!read_file(tid, "stat", text, sizeof text))
		return true;
	end = strrchr(text, ')'); /* the name may contain any character */
	return end && end[1] == ' ' && (end[2] == 'S' || end[2] == 'Z' || end[2] == 'X');
}

static bool has_gone_on(const struct thread *t)
{
	uint64_t ran;

	if (is_blocked(t->tid))
		return true;
	ran = read_time(t->tid);
	return ran == UINT64_MAX || ran - t->ran_ns >= RAN_NS;
}

/* Fill in threads[]. Return their number; -1: there are too many, or they cannot be read. */
static int list_threads(void)
{
	const int self = (int)syscall(SYS_gettid);
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)) != NULL && count < THREADS_MOST) {
		int tid = atoi(entry->d_name);
		uint64_t ran = tid > 0 && tid != self ? read_time(tid) : UINT64_MAX;

		if (ran != UINT64_MAX)
			threads[count++] = (struct thread){tid, ran};
	}
	if (folder)
		closedir(folder);
	return folder && count < THREADS_MOST ? count : -1;
}

static bool wait_until(uint64_t until)
{
	const struct timespec step = {0, STEP_NS};
	int count = list_threads(), left = count;

	while (left > 0) {
		for (int i = 0; i < count; i++)
			if (threads[i].tid && has_gone_on(&threads[i])) {
				threads[i].tid = 0;
				left--;
			}
		if (!left)
			break;
		if (gt_clock_ns(CLOCK_MONOTONIC) > until)
			return false;
		nanosleep(&step, NULL);
	}
	return left == 0;
}

bool gt_late_wait_for_threads(uint64_t most_ns)
{
	static _Atomic int holder; /* thread that uses threads[]; 0: none */
	const uint64_t until = gt_clock_ns(CLOCK_MONOTONIC) + most_ns;
	const struct timespec step = {0, STEP_NS};
	int none = 0;
	bool have_gone_on;

	while (!atomic_compare_exchange_strong(&holder, &none, (int)syscall(SYS_gettid))) {
		if (gt_clock_ns(CLOCK_MONOTONIC) > until)
			return false;
		none = 0;
		nanosleep(&step, NULL);
	}
	have_gone_on = wait_until(until);
	atomic_store(&holder, 0);
	return have_gone_on;
}
