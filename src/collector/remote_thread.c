/* SPDX-License-Identifier: MIT */
/* See remote_thread.h. Stops are noticed with PTRACE_GETREGSET, not with wait(), because the
 * collector waits for the program elsewhere (child.c). */
#include "collector/remote_thread.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/spare_files.h"
#include "util/clock_ns.h"

enum { LINE_BYTES = 256, EVENT_STOP = 128 /* PTRACE_EVENT_STOP */ };
/* time in which a thread that has a processor stops */
static const uint64_t SPIN_NS = 100000, WAIT_NS = 1000000;

void gt_remote_files_open(struct gt_remote_files *files, uint32_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%u/task/%u/syscall", pid, tid);
	files->system_call = gt_keep_spare_files(open(path, O_RDONLY | O_CLOEXEC));
	files->error = files->system_call < 0 ? errno : 0;
	snprintf(path, sizeof path, "/proc/%u/task/%u/schedstat", pid, tid);
	files->schedule = gt_keep_spare_files(open(path, O_RDONLY | O_CLOEXEC));
}

void gt_remote_files_close(struct gt_remote_files *files)
{
	if (files->system_call >= 0)
		close(files->system_call);
	if (files->schedule >= 0)
		close(files->schedule);
	files->system_call = files->schedule = -1;
}

static bool read_line(int fd, char line[LINE_BYTES])
{
	ssize_t n = fd >= 0 ? pread(fd, line, LINE_BYTES - 1, 0) : -1;

	line[n > 0 ? n : 0] = '\0';
	return n > 0;
}

enum gt_remote_state gt_remote_thread_look(const struct gt_remote_files *files,
					   struct gt_remote_look *look)
{
	unsigned long sp, pc;
	char line[LINE_BYTES];
	long number;
	int at = 0;

	*look = (struct gt_remote_look){.system_call = -1};
	if (read_line(files->schedule, line))
		sscanf(line, "%*s %lu %lu", &look->delay_ns, &look->runs);
	if (!read_line(files->system_call, line)) {
		errno = files->error ? files->error : errno;
		return errno == EPERM || errno == EACCES ? GT_REMOTE_REFUSED : GT_REMOTE_GONE;
	}
	if (!strncmp(line, "running", 7))
		return GT_REMOTE_RUNNING;
	/* "230 0x0 .. 0x7ffc428817a8 0x7fe226648503"; "-1 sp pc" outside of a system call */
	if (sscanf(line, "%ld %n", &number, &at) != 1)
		return GT_REMOTE_GONE;
	if (number < 0 ? sscanf(line + at, "%lx %lx", &sp, &pc) != 2
		       : sscanf(line + at, "%*s %*s %*s %*s %*s %*s %lx %lx", &sp, &pc) != 2)
		return GT_REMOTE_GONE;
	if (!pc) /* the thread is about to run */
		return GT_REMOTE_GONE;
	look->system_call = number < 0 ? -1 : (int)number;
	look->registers = (struct gt_remote_registers){.pc = pc, .sp = sp};
	return GT_REMOTE_BLOCKED;
}

#if defined(__x86_64__)
static bool get_registers(uint32_t tid, struct user_regs_struct *r)
{
	struct iovec to = {r, sizeof *r};

	return ptrace(PTRACE_GETREGSET, (pid_t)tid, (void *)NT_PRSTATUS, &to) == 0;
}

static enum gt_remote_stop look_stopped(uint32_t tid, struct gt_remote_registers *registers)
{
	struct user_regs_struct r;

	if (!get_registers(tid, &r)) {
		if (errno == ESRCH)
			return GT_REMOTE_PENDING;
		ptrace(PTRACE_DETACH, (pid_t)tid, NULL, NULL);
		return GT_REMOTE_FAILED;
	}
	*registers = (struct gt_remote_registers){r.rip, r.rsp, r.rbp, true};
	return GT_REMOTE_STOPPED;
}

static bool is_gone(uint32_t tid)
{
	return syscall(SYS_tkill, tid, 0) != 0 && errno == ESRCH;
}

enum gt_remote_stop gt_remote_thread_wait(uint32_t tid, struct gt_remote_registers *registers)
{
	enum gt_remote_stop stop = look_stopped(tid, registers);

	if (stop == GT_REMOTE_PENDING) {
		siginfo_t info = {.si_pid = 0};

		/* WNOWAIT: others take the status. A stop is reported as well */
		if (is_gone(tid) ||
		    (waitid(P_PID, tid, &info,
			    WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) == 0 &&
		     info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)) {
			errno = ESRCH;
			return GT_REMOTE_FAILED;
		}
	}
	return stop;
}

enum gt_remote_stop gt_remote_thread_stop(uint32_t tid, struct gt_remote_registers *registers,
					  uint64_t *since_ns)
{
	const struct timespec nap = {.tv_nsec = 20000};
	enum gt_remote_stop stop;
	uint64_t start_ns;

	if (ptrace(PTRACE_SEIZE, (pid_t)tid, NULL, NULL) != 0)
		return GT_REMOTE_FAILED;
	start_ns = *since_ns = gt_clock_ns(CLOCK_MONOTONIC);
	if (ptrace(PTRACE_INTERRUPT, (pid_t)tid, NULL, NULL) != 0)
		return gt_remote_thread_wait(tid, registers);
	for (;;) {
		const uint64_t now_ns = gt_clock_ns(CLOCK_MONOTONIC), passed = now_ns - start_ns;

		stop = look_stopped(tid, registers);
		if (stop != GT_REMOTE_PENDING || passed > WAIT_NS)
			return stop == GT_REMOTE_PENDING ? gt_remote_thread_wait(tid, registers)
							 : stop;
		*since_ns = now_ns;
		if (passed > SPIN_NS)
			nanosleep(&nap, NULL);
	}
}

/* Return the pending signals that the thread does not block; all if they cannot be read. */
static uint64_t read_pending(uint32_t pid, uint32_t tid)
{
	unsigned long long own = 0, shared = 0, blocked = 0;
	char path[64], line[LINE_BYTES];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/task/%u/status", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return UINT64_MAX;
	while (fgets(line, sizeof line, f)) {
		sscanf(line, "SigPnd: %llx", &own);
		sscanf(line, "ShdPnd: %llx", &shared);
		sscanf(line, "SigBlk: %llx", &blocked);
	}
	fclose(f);
	return (own | shared) & ~blocked;
}

/* Make the thread repeat a system call that ended early because of the stop. */
static void repeat_call(uint32_t pid, uint32_t tid)
{
	struct user_regs_struct r;
	struct iovec from = {&r, sizeof r};

	if (!get_registers(tid, &r) || (long)r.orig_rax < 0 || (long)r.rax != -EINTR ||
	    r.orig_rax == SYS_close || read_pending(pid, tid))
		return;
	r.rax = r.orig_rax;
	r.rip -= 2; /* the instruction `syscall` */
	ptrace(PTRACE_SETREGSET, (pid_t)tid, (void *)NT_PRSTATUS, &from);
}

bool gt_remote_thread_release(uint32_t pid, uint32_t tid)
{
	siginfo_t info;
	long number = 0;

	if (ptrace(PTRACE_GETSIGINFO, (pid_t)tid, NULL, &info) == 0) {
		/* a signal that came first is passed on */
		if (info.si_code >> 8 == EVENT_STOP)
			repeat_call(pid, tid);
		else
			number = info.si_signo;
	}
	return ptrace(PTRACE_DETACH, (pid_t)tid, NULL, (void *)number) == 0;
}
#else
enum gt_remote_stop gt_remote_thread_stop(uint32_t tid, struct gt_remote_registers *registers,
					  uint64_t *since_ns)
{
	(void)tid;
	(void)since_ns;
	(void)registers;
	errno = ENOSYS;
	return GT_REMOTE_FAILED;
}

enum gt_remote_stop gt_remote_thread_wait(uint32_t tid, struct gt_remote_registers *registers)
{
	(void)tid;
	(void)registers;
	errno = ENOSYS;
	return GT_REMOTE_FAILED;
}

bool gt_remote_thread_release(uint32_t pid, uint32_t tid)
{
	(void)pid;
	(void)tid;
	return true;
}
#endif
