/* SPDX-License-Identifier: MIT */
/* See host_thread.h. A file of /proc that stays open shows the current state at each pread() from
 * its start, which takes 1 us; open, read and close take 4 us. */
#include "collector/host_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collector/spare_files.h"
#include "util/clock_ns.h"

int gt_host_process_open(uint32_t pid, struct gt_host_process *out)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%u/task", pid);
	*out = (struct gt_host_process){pid, open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
	return out->tasks < 0 ? -errno : 0;
}

void gt_host_process_close(struct gt_host_process *process)
{
	if (process->tasks >= 0)
		close(process->tasks);
	process->tasks = -1;
}

void gt_host_thread_init(struct gt_host_thread *t, const struct gt_host_process *process,
			 uint32_t tid)
{
	*t = (struct gt_host_thread){.process = process,
				     .tid = tid,
				     .syscall = -1,
				     .schedstat = -1};
}

void gt_host_thread_close(struct gt_host_thread *t)
{
	if (t->syscall >= 0)
		close(t->syscall);
	if (t->schedstat >= 0)
		close(t->schedstat);
	t->syscall = t->schedstat = -1;
}

static int open_file(const struct gt_host_process *process, uint32_t tid, const char *name)
{
	char path[48];
	int fd;

	snprintf(path, sizeof path, "%u/%s", tid, name);
	fd = gt_keep_spare_files(openat(process->tasks, path, O_RDONLY | O_CLOEXEC));
	/* the thread's folder is missing once the thread has ended */
	return fd >= 0 ? fd : errno == ENOENT ? -ESRCH : -errno;
}

/* Read a small file from its start. Return the number of bytes, or negative errno. */
static int read_start(int fd, char *out, unsigned room)
{
	ssize_t n = pread(fd, out, room - 1, 0);

	if (n < 0)
		return -errno;
	while (n && out[n - 1] == '\n')
		n--;
	out[n] = '\0';
	return (int)n;
}

int gt_host_read_file(const struct gt_host_process *process, uint32_t tid, const char *name,
		      char *out, unsigned room)
{
	int fd = open_file(process, tid, name), n;

	if (fd < 0)
		return fd;
	n = read_start(fd, out, room);
	close(fd);
	return n;
}

bool gt_host_has_thread(const struct gt_host_process *process, uint32_t tid)
{
	char path[16];

	snprintf(path, sizeof path, "%u", tid);
	return tid && tid < UINT32_C(1) << 22 && faccessat(process->tasks, path, F_OK, 0) == 0;
}

bool gt_host_read_name(const struct gt_host_process *process, uint32_t tid, char *out,
		       unsigned room)
{
	return gt_host_read_file(process, tid, "comm", out, room) > 0;
}

bool gt_host_read_memory(const struct gt_host_process *process, uint64_t address, void *out,
			 unsigned bytes)
{
	struct iovec to = {out, bytes}, from = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv((pid_t)process->pid, &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

int gt_host_thread_read_use(struct gt_host_thread *t, struct gt_host_reading *out)
{
	char text[96], *at;
	int n;

	if (t->schedstat < 0) {
		t->schedstat = open_file(t->process, t->tid, "schedstat");
		if (t->schedstat < 0) {
			n = t->schedstat;
			t->schedstat = -1;
			return n;
		}
	}
	out->ns = gt_clock_ns(CLOCK_BOOTTIME);
	n = read_start(t->schedstat, text, sizeof text);
	if (n <= 0)
		return n ? n : -EIO;
	out->cpu_ns = strtoull(text, &at, 10);
	out->delay_ns = strtoull(at, &at, 10);
	out->slices = strtoull(at, NULL, 10);
	return 0;
}

/* Read the system call. Return true if the thread is running. */
static bool parse_call(const char *text, struct gt_host_reading *out)
{
	char *at;

	if (!strncmp(text, "running", 7))
		return true;
	out->call = strtol(text, &at, 10);
	for (int i = 0; i < 6 && out->call >= 0; i++)
		out->arguments[i] = strtoull(at, &at, 16);
	return false;
}

static int read_call(struct gt_host_thread *t, struct gt_host_reading *out, bool *is_running)
{
	char text[256];
	int n;

	if (t->syscall < 0) {
		t->syscall = open_file(t->process, t->tid, "syscall");
		if (t->syscall < 0) {
			n = t->syscall;
			t->syscall = -1;
			return n;
		}
	}
	n = read_start(t->syscall, text, sizeof text);
	if (n <= 0)
		return n ? n : -EIO;
	*is_running = parse_call(text, out);
	return 0;
}

/* Read the letter of the state, and the page faults. The name before the letter may contain any
 * character. */
static int read_stat(struct gt_host_thread *t, struct gt_host_reading *out)
{
	static uint64_t tick_ns;
	uint64_t user, system;
	char text[512];
	const char *at;
	int n = gt_host_read_file(t->process, t->tid, "stat", text, sizeof text);

	if (n < 0)
		return n;
	at = strrchr(text, ')');
	if (!at ||
	    sscanf(at + 1,
		   " %c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
		   " %" SCNu64,
		   &out->letter, &out->minor_faults, &out->major_faults, &user, &system) != 5)
		return -EIO;
	if (!tick_ns)
		tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
	out->system_ns = system * tick_ns;
	out->has_faults = true;
	return 0;
}

static bool is_same_file(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Return true if a gputap command holds the thread, or has released it since its state was read.
 * Samplers (sample_host.h, `status --stacks`) stop a thread for some microseconds. */
static bool is_sampled(const struct gt_host_thread *t)
{
	char text[1024], path[48];
	const char *at;
	unsigned tracer = 0;

	if (gt_host_read_file(t->process, t->tid, "status", text, sizeof text) <= 0)
		return false;
	at = strstr(text, "\nTracerPid:");
	if (!at || sscanf(at, "\nTracerPid: %u", &tracer) != 1)
		return false;
	if (!tracer)
		return true;
	snprintf(path, sizeof path, "/proc/%u/exe", tracer);
	return is_same_file(path, "/proc/self/exe");
}

/* Read how much a running thread has read and written. */
static void read_io(const struct gt_host_thread *t, struct gt_host_reading *out)
{
	uint64_t n[4];
	char text[256];

	if (gt_host_read_file(t->process, t->tid, "io", text, sizeof text) <= 0 ||
	    sscanf(text, "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64 " syscw: %" SCNu64,
		   &n[0], &n[1], &n[2], &n[3]) != 4)
		return;
	out->io_bytes = n[0] + n[1];
	out->io_calls = n[2] + n[3];
	out->has_io = true;
}

int gt_host_thread_read(struct gt_host_thread *t, const struct gt_host_reading *last,
			struct gt_host_reading *out)
{
	bool is_running = false, is_still;
	int status;

	memset(out, 0, sizeof *out);
	out->call = -1;
	status = gt_host_thread_read_use(t, out);
	if (status == -ESRCH)
		return status;
	is_still = !status && last && last->slices == out->slices && last->letter &&
		   last->letter != 'R';
	status = t->syscall_error ? t->syscall_error : read_call(t, out, &is_running);
	if (status == -ESRCH)
		return status;
	t->syscall_error = status;
	if (!status && !is_running && is_still && last->call == out->call) {
		/* the thread has not run, so its state is the same */
		out->letter = last->letter;
		return 0;
	}
	status = read_stat(t, out);
	if (status)
		return status;
	if (out->letter == 't' && is_sampled(t)) {
		/* only running threads are stopped */
		out->letter = 'R';
		out->call = -1;
	}
	if (!t->syscall_error && is_running && out->letter != 'T' && out->letter != 't')
		out->letter = 'R';
	else if (!t->syscall_error && out->letter == 'R') /* it has started to run in between */
		out->call = -1;
	if (out->letter == 'R' && !t->syscall_error)
		read_io(t, out);
	return 0;
}
