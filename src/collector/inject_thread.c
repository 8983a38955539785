/* SPDX-License-Identifier: MIT */
/* See inject_thread.h. A thread that is tried goes through these stops:
 *
 *   1  PTRACE_INTERRUPT              judge; if it is not at a safe place, resume
 *   2  mmap(), mprotect(): entry and exit of each
 *   3  pthread_create() has returned: the thread signals itself (inject_worker.S), and the stop
 *      before the delivery of the signal is the last one
 *
 * The registers are restored in a stop of the first or third kind. There the kernel still decides,
 * with the restored registers, if an interrupted system call is restarted (-ERESTARTSYS and others
 * in rax), resumes the rest of a time-out, or delivers a signal that arrived meanwhile. In a stop
 * of the second kind it would not: rest_thread() leads from there to one of the first kind.
 *
 * All signals are blocked from 1 to 3, so that no handler of the program runs on our stack.
 * Signals that arrive meanwhile stay pending, or another thread takes them.
 *
 * Deadline: up to the call of pthread_create(), the thread can be given up. From there on it holds
 * locks of libc for moments, so it has to finish. It takes 20 to 100 us of computing time, and can
 * wait only for locks that other threads, which run, hold for moments.
 *
 * If this process is killed (a child of gputap in its own session, see inject.c), the kernel
 * detaches the thread. In stop 1 nothing has changed. During mmap() (20 to 60 us) the thread has
 * foreign registers and no way back: it crashes. From then on, it returns by itself through a frame
 * in our pages (inject_frame.h), also after pthread_create(); the worker ends after 20 s and leaves
 * the pages. The thread keeps the real-time priority.
 *
 * From 2 to 3 the thread has a real-time priority. An allocator other than libc's may spin for a
 * lock whose owner then gets no processor, so with such an allocator the priority stays.
 *
 * Waits are blocking. A timer interrupts them, so that deadlines are noticed. */
#include "collector/inject_thread.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/inject_frame.h"
#include "collector/inject_priority.h"
#include "collector/inject_seccomp.h"
#include "util/clock_ns.h"

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	LINE_BYTES = 256,
	EVENT_STOP = 128, /* PTRACE_EVENT_STOP */
	CALL_STOP = SIGTRAP | 0x80,
	MASK_BYTES = 8,
	INSTRUCTION_BYTES = 2,
	RED_ZONE_BYTES = 64,
	FLAGS_USUAL = 0x202, /* interrupts enabled; direction upwards, no single step */
};
static const uint64_t TICK_NS = 5000000; /* between two interrupts of a wait */
static const uint64_t CALL_NS =
	UINT64_C(60000000000);                /* for a system call, which cannot be given up */
static const uint64_t CREATE_NS = 2000000000; /* for pthread_create() */
static const uint64_t SLOW_NS = 1000000;      /* for unwinding, whose tables may be on a disk */
static const uint64_t LEAVING_NS = 200000000; /* for late threads */

static_assert(offsetof(struct gt_inject_job, dlopen) == GT_JOB_AT_DLOPEN, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, munmap) == GT_JOB_AT_MUNMAP, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, begin) == GT_JOB_AT_BEGIN, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, thread) == GT_JOB_AT_THREAD, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, pause) == GT_JOB_AT_PAUSE, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, signals) == GT_JOB_AT_SIGNALS, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, state) == GT_JOB_AT_STATE, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, signal) == GT_JOB_AT_SIGNAL, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, mxcsr) == GT_JOB_AT_MXCSR, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, answer) == GT_JOB_AT_ANSWER, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, needs_file) == GT_JOB_AT_NEEDS_FILE,
	      "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, name) == GT_JOB_AT_NAME, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, error) == GT_JOB_AT_ERROR, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, function) == GT_JOB_AT_FUNCTION, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, path) == GT_JOB_AT_PATH, "see inject_job.h");
static_assert(offsetof(struct gt_inject_job, argument) == GT_JOB_AT_ARGUMENT, "see inject_job.h");
static_assert(GT_JOB_TO_FRAME == (int)GT_JOB_DATA_BYTES, "see inject_job.h");
static_assert(GT_INJECT_FRAME_BYTES == (int)GT_JOB_FRAME_BYTES, "see inject_job.h");
static_assert(sizeof(struct gt_inject_job) <= GT_JOB_DATA_BYTES, "the job fits into its pages");

/* The thread that is being tried. */
struct victim {
	pid_t tid;
	uint64_t start_ns, until_ns; /* of the stop; deadline */
	struct user_regs_struct saved;
	size_t state_bytes;
	uint64_t mask;
	uintptr_t begin; /* of our pages; 0: none */
	uintptr_t frame; /* the way back, in our pages; 0: not written yet */
	int signal;      /* a signal that stopped the thread first, to be delivered; 0: none */
	bool is_changed; /* registers or mask differ from the saved ones */
	bool is_in_call; /* in a stop of the second kind */
	struct gt_inject_priority priority; /* before it was raised */
};

/* Waits ------------------------------------------------------------------------------------- */

static void on_tick(int number)
{
	(void)number; /* it interrupts waitpid() */
}

int gt_inject_tracer_init(struct gt_inject_tracer *t)
{
	const struct sigaction action = {.sa_handler = on_tick}; /* no SA_RESTART */
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX};
	const struct itimerspec every = {.it_interval.tv_nsec = (long)TICK_NS,
					 .it_value.tv_nsec = (long)TICK_NS};
	sigset_t set;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	if (sigaction(SIGRTMAX, &action, &t->before) || pthread_sigmask(SIG_UNBLOCK, &set, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, &t->timer))
		return -errno;
	timer_settime(t->timer, 0, &every, NULL);
	t->is_first = gt_inject_priority_take();
	return 0;
}

static void release_stopped(struct gt_inject_tracer *t, pid_t tid, int status);

static void forget_late(struct gt_inject_tracer *t, pid_t tid)
{
	for (unsigned i = t->late_count; i--;)
		if (t->late[i] == tid)
			t->late[i] = t->late[--t->late_count];
}

/* Handle the status of a thread that is not being tried. */
static void meet_late(struct gt_inject_tracer *t, pid_t tid, int status)
{
	if (WIFSTOPPED(status))
		release_stopped(t, tid, status);
	forget_late(t, tid);
}

enum stop { STOP_REACHED, STOP_LATE, STOP_GONE };

/* Wait until the thread stops. */
static enum stop wait_stop(struct gt_inject_tracer *t, pid_t tid, uint64_t until_ns, int *status)
{
	for (;;) {
		const pid_t found = waitpid(-1, status, __WALL | __WNOTHREAD);

		if (found == tid)
			return WIFSTOPPED(*status) ? STOP_REACHED : STOP_GONE;
		if (found > 0)
			meet_late(t, found, *status);
		else if (found < 0 && errno != EINTR)
			return STOP_GONE;
		if (gt_clock_ns(CLOCK_MONOTONIC) > until_ns)
			return STOP_LATE;
	}
}

void gt_inject_release_late(struct gt_inject_tracer *t)
{
	pid_t found;
	int status;

	while (t->late_count && (found = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG)) > 0)
		meet_late(t, found, status);
}

void gt_inject_tracer_fini(struct gt_inject_tracer *t)
{
	const uint64_t until_ns = gt_clock_ns(CLOCK_MONOTONIC) + LEAVING_NS;

	while (t->late_count && gt_clock_ns(CLOCK_MONOTONIC) < until_ns) {
		const struct timespec nap = {.tv_nsec = 1000000};

		gt_inject_release_late(t);
		nanosleep(&nap, NULL);
	}
	timer_delete(t->timer);
	sigaction(SIGRTMAX, &t->before, NULL);
}

/* Signals ------------------------------------------------------------------------------------- */

struct signals {
	uint64_t pending, blocked, caught;
};

static bool read_signals(pid_t pid, pid_t tid, struct signals *out)
{
	unsigned long long own = 0, shared = 0, blocked = 0, caught = 0;
	char path[64], line[LINE_BYTES];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		sscanf(line, "SigPnd: %llx", &own);
		sscanf(line, "ShdPnd: %llx", &shared);
		sscanf(line, "SigBlk: %llx", &blocked);
		sscanf(line, "SigCgt: %llx", &caught);
	}
	fclose(f);
	*out = (struct signals){own | shared, blocked, caught};
	return true;
}

/* Make the thread repeat a call that ended with EINTR because of the stop. */
static void repeat_call(const struct gt_inject_tracer *t, pid_t tid, struct user_regs_struct *r)
{
	struct signals s;

	if ((long)r->orig_rax < 0 || (long)r->rax != -EINTR || r->orig_rax == SYS_close ||
	    !read_signals(t->target->pid, tid, &s) || (s.pending & ~s.blocked))
		return;
	r->rax = r->orig_rax;
	r->orig_rax = UINT64_MAX;
	r->rip -= INSTRUCTION_BYTES;
}

/* Choose the signal that reports the return of pthread_create(): one whose
 * default action is to do nothing, in case gputap is killed, and that is not in use. */
static int choose_signal(const struct gt_inject_tracer *t, pid_t tid)
{
	static const int numbers[] = {SIGURG, SIGWINCH, SIGCHLD};
	struct signals s;

	if (read_signals(t->target->pid, tid, &s))
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
			if (!((s.caught | s.pending) >> (numbers[i] - 1) & 1))
				return numbers[i];
	return SIGURG;
}

/* Registers ----------------------------------------------------------------------------------- */

static bool save(struct gt_inject_tracer *t, struct victim *v)
{
	struct iovec io = {t->state, sizeof t->state};

	if (ptrace(PTRACE_GETREGSET, v->tid, (void *)NT_X86_XSTATE, &io) ||
	    io.iov_len == sizeof t->state ||
	    ptrace(PTRACE_GETSIGMASK, v->tid, (void *)MASK_BYTES, &v->mask))
		return false;
	v->state_bytes = io.iov_len;
	return true;
}

/* Lead the thread from a stop of the second kind to one of the first, without an instruction of
 * the program. */
static bool rest_thread(struct gt_inject_tracer *t, struct victim *v)
{
	const uint64_t until_ns = gt_clock_ns(CLOCK_MONOTONIC) + CALL_NS;
	int status;

	ptrace(PTRACE_INTERRUPT, v->tid, NULL, NULL);
	for (;;) {
		if (ptrace(PTRACE_CONT, v->tid, NULL, NULL) ||
		    wait_stop(t, v->tid, until_ns, &status) != STOP_REACHED)
			return false;
		if (status >> 16 == EVENT_STOP)
			return true;
	}
}

/* Resume the thread as it was. */
static void resume(struct gt_inject_tracer *t, struct victim *v)
{
	struct iovec io = {t->state, v->state_bytes};
	uint64_t ns;

	if (v->is_in_call)
		rest_thread(t, v);
	if (v->is_changed) {
		ptrace(PTRACE_SETREGSET, v->tid, (void *)NT_X86_XSTATE, &io);
		ptrace(PTRACE_SETSIGMASK, v->tid, (void *)MASK_BYTES, &v->mask);
	}
	ptrace(PTRACE_SETREGS, v->tid, NULL, &v->saved);
	ptrace(PTRACE_DETACH, v->tid, NULL, (void *)(intptr_t)v->signal);
	gt_inject_priority_return(v->tid, &v->priority);
	ns = gt_clock_ns(CLOCK_MONOTONIC) - v->start_ns;
	t->longest_ns = ns > t->longest_ns ? ns : t->longest_ns;
}

/* Resume a thread that stopped late, with the signal that may have stopped it. */
static void release_stopped(struct gt_inject_tracer *t, pid_t tid, int status)
{
	struct victim v = {.tid = tid, .start_ns = gt_clock_ns(CLOCK_MONOTONIC)};

	if (ptrace(PTRACE_GETREGS, tid, NULL, &v.saved))
		return;
	if (status >> 16 == EVENT_STOP)
		repeat_call(t, tid, &v.saved);
	else
		v.signal = WSTOPSIG(status);
	resume(t, &v);
}

/* System calls in the thread ------------------------------------------------------------------ */

struct call {
	long number;
	uint64_t args[6];
};

/* Let the thread make a system call. Return its result; -ESRCH: the thread has ended. */
static long run_call(struct gt_inject_tracer *t, struct victim *v, const struct call *c)
{
	const uint64_t until_ns = gt_clock_ns(CLOCK_MONOTONIC) + CALL_NS;
	struct user_regs_struct r = v->saved;

	r.rip = t->target->instruction;
	r.rax = (uint64_t)c->number;
	r.orig_rax = UINT64_MAX;
	r.eflags = FLAGS_USUAL;
	r.rsp = v->frame ? v->frame : r.rsp;
	r.rdi = c->args[0];
	r.rsi = c->args[1];
	r.rdx = c->args[2];
	r.r10 = c->args[3];
	r.r8 = c->args[4];
	r.r9 = c->args[5];
	if (ptrace(PTRACE_SETREGS, v->tid, NULL, &r))
		return -ESRCH;
	for (int stops = 0; stops < 2;) {
		int status;

		if (ptrace(PTRACE_SYSCALL, v->tid, NULL, NULL) ||
		    wait_stop(t, v->tid, until_ns, &status) != STOP_REACHED)
			return -ESRCH;
		/* SIGSTOP may stop the group in between; the thread stops with it when detached */
		stops += WSTOPSIG(status) == CALL_STOP;
	}
	v->is_in_call = true;
	if (ptrace(PTRACE_GETREGS, v->tid, NULL, &r))
		return -ESRCH;
	return (long)r.rax;
}

/* Write into a page that is not writable. The kernel may restrict that to ptrace(). */
static bool write_code(struct gt_inject_tracer *t, pid_t tid, uintptr_t at)
{
	const size_t bytes = (size_t)(gt_inject_code_end - gt_inject_code);
	uint64_t word;

	if (pwrite(t->target->memory, gt_inject_code, bytes, (off_t)at) == (ssize_t)bytes)
		return true;
	for (size_t i = 0; i < bytes; i += sizeof word) {
		const size_t rest = bytes - i < sizeof word ? bytes - i : sizeof word;

		word = 0;
		memcpy(&word, gt_inject_code + i, rest);
		if (ptrace(PTRACE_POKEDATA, tid, (void *)(at + i), (void *)word))
			return false;
	}
	return true;
}

static uintptr_t job_at(const struct victim *v)
{
	return v->begin + GT_JOB_CODE_BYTES + GT_JOB_STACK_BYTES;
}

/* Write the frame through which the thread returns by itself if gputap is killed. */
static bool write_frame(struct gt_inject_tracer *t, struct victim *v)
{
	const struct gt_inject_frame_input in = {&v->saved, t->state, v->state_bytes, v->mask};
	const uintptr_t at = job_at(v) + GT_JOB_TO_FRAME;
	const uintptr_t back = v->begin + (uintptr_t)(gt_inject_restore - gt_inject_code);
	uint8_t frame[GT_INJECT_FRAME_BYTES];
	const size_t bytes = gt_inject_frame_build(&in, at, back, frame);

	if (!bytes || pwrite(t->target->memory, frame, bytes, (off_t)at) != (ssize_t)bytes)
		return false;
	v->frame = at;
	return true;
}

/* Map our pages. The code is mapped executable and written through the kernel: rules that forbid
 * memory that was both writable and executable are kept. Return 0 or negative errno. */
static long map_pages(struct gt_inject_tracer *t, struct victim *v)
{
	const struct call map = {SYS_mmap,
				 {0, GT_JOB_REGION_BYTES, PROT_READ | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0}};
	struct call protect = {SYS_mprotect,
			       {0, GT_JOB_REGION_BYTES - GT_JOB_CODE_BYTES,
				PROT_READ | PROT_WRITE}};
	struct gt_inject_job job = *t->job;
	long result = run_call(t, v, &map);

	if (result < 0 && result > -4096)
		return result;
	v->begin = (uintptr_t)result;
	if (!write_code(t, v->tid, v->begin))
		return -EIO;
	write_frame(t, v); /* may need the pages to be writable */
	protect.args[0] = v->begin + GT_JOB_CODE_BYTES;
	result = run_call(t, v, &protect);
	if (result)
		return result;
	job.begin = v->begin;
	job.signal = choose_signal(t, v->tid);
	job.signals = UINT64_C(1) << (job.signal - 1);
	if (!(v->frame || write_frame(t, v)) ||
	    pwrite(t->target->memory, &job, sizeof job, (off_t)job_at(v)) != sizeof job)
		return -EIO;
	return 0;
}

static void unmap_pages(struct gt_inject_tracer *t, struct victim *v)
{
	const struct call unmap = {SYS_munmap, {v->begin, GT_JOB_REGION_BYTES}};

	if (v->begin)
		run_call(t, v, &unmap);
}

/* Return the result of pthread_create() as the thread has stored it; -1: none yet. */
static int32_t read_created(const struct gt_inject_tracer *t, const struct victim *v)
{
	int32_t created = -1;

	if (pread(t->target->memory, &created, sizeof created,
		  (off_t)(job_at(v) + GT_JOB_AT_CREATED)) != sizeof created)
		return -1;
	return created;
}

/* Wait until pthread_create() has returned, which a signal of the thread reports. */
static enum stop wait_created(struct gt_inject_tracer *t, struct victim *v)
{
	const uint64_t until_ns = gt_clock_ns(CLOCK_MONOTONIC) + CREATE_NS;
	struct user_regs_struct r;
	enum stop stop;
	int status, pass = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, v->tid, NULL, (void *)(intptr_t)pass))
			return STOP_GONE;
		stop = wait_stop(t, v->tid, until_ns, &status);
		if (stop != STOP_REACHED)
			break;
		if (status >> 16 != EVENT_STOP && read_created(t, v) != -1)
			return STOP_REACHED;
		/* SIGSTOP cannot be blocked; the thread stops with its group when detached */
		pass = status >> 16 == EVENT_STOP ? 0 : WSTOPSIG(status);
	}
	if (stop == STOP_GONE)
		return stop;
	/* The thread waits for a lock that is never released, and continues with its old registers.
	 * Or the signal was suppressed, and the thread has restored itself. */
	ptrace(PTRACE_INTERRUPT, v->tid, NULL, NULL);
	stop = wait_stop(t, v->tid, until_ns + CALL_NS, &status);
	if (stop != STOP_REACHED || read_created(t, v) == -1)
		return stop == STOP_REACHED ? STOP_LATE : stop;
	if (ptrace(PTRACE_GETREGS, v->tid, NULL, &r))
		return STOP_GONE;
	if (r.rip - v->begin >= GT_JOB_REGION_BYTES) {
		v->saved = r;
		v->is_changed = false;
	}
	return STOP_REACHED;
}

/* Run pthread_create(&job->thread, NULL, worker, job) on our stack. */
static enum stop run_create(struct gt_inject_tracer *t, struct victim *v)
{
	struct user_regs_struct r = v->saved;
	uint64_t back = v->begin + (uint64_t)(gt_inject_back - gt_inject_code);

	r.rip = t->target->pthread_create;
	r.orig_rax = UINT64_MAX;
	r.eflags = FLAGS_USUAL;
	r.rdi = job_at(v) + GT_JOB_AT_THREAD;
	r.rsi = 0;
	r.rdx = v->begin;
	r.rcx = job_at(v);
	r.rbx = job_at(v);
	r.rbp = 0;
	/* as after a call: the return address below a multiple of 16 */
	r.rsp = job_at(v) - RED_ZONE_BYTES - sizeof back;
	if (pwrite(t->target->memory, &back, sizeof back, (off_t)r.rsp) != sizeof back ||
	    ptrace(PTRACE_SETREGS, v->tid, NULL, &r))
		return STOP_GONE;
	v->is_in_call = false;
	return wait_created(t, v);
}

/* One thread ---------------------------------------------------------------------------------- */

static bool is_over(const struct victim *v)
{
	return gt_clock_ns(CLOCK_MONOTONIC) > v->until_ns;
}

static enum gt_inject_outcome fail(struct gt_inject_tracer *t, struct victim *v, long error)
{
	const pid_t pid = t->target->pid;

	if (error == -ESRCH)
		return GT_INJECT_PASSED; /* the caller finds out if the process has ended */
	if (v->begin)
		unmap_pages(t, v);
	resume(t, v);
	gt_inject_say(t->why, error == -EAGAIN ? -EAGAIN : -ENOMEM,
		      "process %d could not create a thread (%s): see its limits (/proc/%d/limits: "
		      "processes, address space) and its control group's pids.max",
		      pid, strerror((int)-error), pid);
	return GT_INJECT_FAILED;
}

/* Create the worker in a thread at a safe place. */
static enum gt_inject_outcome create_worker(struct gt_inject_tracer *t, struct victim *v,
					    uintptr_t *job)
{
	const uint64_t all = UINT64_MAX;
	enum stop stop;
	int32_t created;
	long error;

	if (!save(t, v)) {
		resume(t, v);
		gt_inject_say(t->why, -ENOTSUP,
			      "gputap cannot save the registers of a thread of process %d: start "
			      "the program with gputap run",
			      t->target->pid);
		return GT_INJECT_FAILED;
	}
	if (!t->target->has_allocator)
		gt_inject_priority_lend(v->tid, &v->priority);
	v->is_changed = true;
	ptrace(PTRACE_SETSIGMASK, v->tid, (void *)MASK_BYTES, &all);
	error = map_pages(t, v);
	if (error)
		return fail(t, v, error);
	if (is_over(v)) {
		unmap_pages(t, v);
		resume(t, v);
		return GT_INJECT_PASSED;
	}
	stop = run_create(t, v);
	if (stop == STOP_GONE)
		return GT_INJECT_PASSED;
	created = read_created(t, v);
	if (stop == STOP_REACHED && created > 0)
		return fail(t, v, -created);
	resume(t, v);
	if (stop != STOP_REACHED) {
		gt_inject_say(t->why, -EBUSY,
			      "a thread of process %d waited for a lock of its C library for 2 s, "
			      "and was let go: the process is stuck, see its stack with gdb -p %d",
			      t->target->pid, t->target->pid);
		return GT_INJECT_FAILED;
	}
	*job = job_at(v);
	return GT_INJECT_CREATED;
}

/* Return true if the thread is in a restartable sequence, which must not be left and entered. */
static bool is_in_sequence(const struct gt_inject_tracer *t, const struct victim *v)
{
	struct {
		uint64_t area;
		uint32_t bytes, signature, flags, pad;
	} where = {.area = 0};
	struct {
		uint32_t version, flags;
		uint64_t start, bytes, abort;
	} sequence;
	uint64_t at = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, v->tid, (void *)sizeof where, &where) < 0 ||
	    !where.area ||
	    !gt_remote_copy((uint32_t)t->target->pid, where.area + 8, &at, sizeof at) || !at ||
	    !gt_remote_copy((uint32_t)t->target->pid, at, &sequence, sizeof sequence))
		return false;
	return v->saved.rip - sequence.start < sequence.bytes;
}

static bool is_restart(long result)
{
	return result == -EINTR || (result <= -512 && result >= -516); /* ERESTARTSYS and others */
}

static struct gt_inject_call get_call(const struct user_regs_struct *r)
{
	return (struct gt_inject_call){
		.number = (long)r->orig_rax < 0 ? -1 : (long)r->orig_rax,
		.args = {r->rsi, r->rdx, r->r10},
		.is_in_wait = (long)r->orig_rax >= 0 && is_restart((long)r->rax),
	};
}

/* Decide about a thread that has just stopped. */
static enum gt_inject_outcome try_stopped(struct gt_inject_tracer *t, struct victim *v,
					  uintptr_t *job)
{
	const struct gt_inject_call call = get_call(&v->saved);
	const struct gt_remote_registers registers = {v->saved.rip, v->saved.rsp, v->saved.rbp,
						      true};
	const uint64_t start_ns = gt_clock_ns(CLOCK_MONOTONIC);
	bool is_safe;

	is_safe = gt_inject_judge(t->target, &registers, &call) == GT_INJECT_SAFE &&
		  !is_in_sequence(t, v);
	repeat_call(t, v->tid, &v->saved);
	/* rules of unwinding that had to be read are known now: next time it is faster */
	if (!is_safe || is_over(v) || gt_clock_ns(CLOCK_MONOTONIC) - start_ns > SLOW_NS) {
		resume(t, v);
		return GT_INJECT_PASSED;
	}
	if (gt_inject_check_filters(t->target->pid, v->tid, t->why)) {
		resume(t, v);
		return GT_INJECT_FAILED;
	}
	return create_worker(t, v, job);
}

/* Return true if the thread has ended, and if it waits to be noticed by its process. */
static bool has_ended(pid_t pid, pid_t tid)
{
	char path[64], line[LINE_BYTES], state = 'X';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return true;
	while (fgets(line, sizeof line, f) && sscanf(line, "State: %c", &state) != 1)
		;
	fclose(f);
	return state == 'Z' || state == 'X';
}

static enum gt_inject_outcome say_seize(struct gt_inject_tracer *t, pid_t tid, int error)
{
	const pid_t pid = t->target->pid;

	/* the kernel refuses a thread that is ending with EPERM */
	if (error == ESRCH || has_ended(pid, tid))
		return GT_INJECT_PASSED;
	if (!gt_inject_check_process(pid, t->why))
		gt_inject_say(t->why, -EPERM,
			      "process %d may not be traced (%s): run gputap as root (sudo gputap "
			      "attach %d), in a container with --cap-add=SYS_PTRACE",
			      pid, strerror(error), pid);
	return GT_INJECT_FAILED;
}

enum gt_inject_outcome gt_inject_try(struct gt_inject_tracer *t, pid_t tid, uintptr_t *job)
{
	struct victim v = {.tid = tid};
	enum stop stop;
	int status;

	if (t->late_count == GT_INJECT_LATE)
		return GT_INJECT_PASSED;
	for (unsigned i = 0; i < t->late_count; i++)
		if (t->late[i] == tid)
			return GT_INJECT_PASSED;
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD))
		return say_seize(t, tid, errno);
	t->tries++;
	v.start_ns = gt_clock_ns(CLOCK_MONOTONIC);
	v.until_ns = v.start_ns + t->deadline_ns;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	stop = wait_stop(t, tid, v.until_ns, &status);
	if (stop == STOP_LATE)
		t->late[t->late_count++] = tid;
	if (stop != STOP_REACHED)
		return GT_INJECT_PASSED;
	if (t->is_first)
		v.start_ns = gt_clock_ns(CLOCK_MONOTONIC);
	if (ptrace(PTRACE_GETREGS, tid, NULL, &v.saved))
		return GT_INJECT_PASSED;
	if (status >> 16 != EVENT_STOP) { /* a signal came first */
		v.signal = WSTOPSIG(status);
		resume(t, &v);
		return GT_INJECT_PASSED;
	}
	if (WSTOPSIG(status) != SIGTRAP) { /* stopped with its group by SIGSTOP */
		resume(t, &v);
		gt_inject_say(t->why, -EBUSY, "process %d is stopped: resume it with kill -CONT %d",
			      t->target->pid, t->target->pid);
		return GT_INJECT_FAILED;
	}
	return try_stopped(t, &v, job);
}
