/* SPDX-License-Identifier: MIT */
/* See inject.h. gt_inject() works in a child process, which has its own session:
 *
 *   1  If gputap is killed, or its process group, the child still restores the stopped thread. A
 *      tracer that is killed while the thread makes a system call for it leaves the thread with
 *      foreign registers, and the program crashes (inject_thread.c).
 *   2  The kernel ties a traced thread to the tracing thread, and waitpid() must not take the
 *      statuses of other children of gputap.
 *   3  The child's priority is raised and ends with it. */
#include "collector/inject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/guard.h"
#include "collector/inject_target.h"
#include "collector/inject_thread.h"
#include "collector/proc_files.h"
#include "collector/system_calls.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"

enum {
	PATH_BYTES = GT_JOB_PATH_BYTES + 32,
	LINE_BYTES = 512,
	COPY_BYTES = 1 << 20,
	MXCSR_USUAL = 0x1f80, /* rounds to nearest, all exceptions masked */
	SECONDS_NS = 1000000000,
	START_LOOKS = 100, /* at a process that is starting */
};
static const uint64_t DEADLINE_NS = 50000000, PATIENCE_NS = UINT64_C(5) * SECONDS_NS,
		      ANSWER_NS = UINT64_C(60) * SECONDS_NS;
/* between two looks at the job; between two rounds through the threads */
static const uint64_t LOOK_NS = 200000, ROUND_MOST_NS = 50000000;
/* between two looks at a process that is starting */
static const uint64_t START_LOOK_NS = 10000000;

struct candidate {
	pid_t tid;
	enum gt_inject_rank rank;
	struct gt_inject_call call;
	struct gt_remote_registers registers; /* valid if the thread is blocked */
};

/* Lies in memory that is shared with the child process. Pointers are the child's. */
struct inject {
	const struct gt_inject_request *request;
	struct gt_inject_result result;
	struct gt_inject_why why;
	struct gt_inject_target target;
	struct gt_inject_tracer tracer;
	struct gt_inject_job job;
	struct candidate *threads;
	size_t thread_count, thread_room;
	uint64_t deadline_ns, patience_ns, answer_ns;
};

static void pause_ns(uint64_t ns)
{
	struct timespec nap = {.tv_sec = (time_t)(ns / SECONDS_NS),
			       .tv_nsec = (long)(ns % SECONDS_NS)};

	/* the tracer's timer interrupts it */
	while (nanosleep(&nap, &nap) && errno == EINTR)
		;
}

static int say_ended(struct inject *i)
{
	struct gt_proc_stat stat;

	/* a process that is ending has no memory, so its exec_id is 0 */
	if (gt_proc_read_stat((uint32_t)i->request->pid, &stat) && stat.state != 'Z' &&
	    stat.state != 'X' && (stat.exec_id || !i->target.exec_id))
		return gt_inject_say(
			&i->why, -ESRCH,
			"process %d has called exec meanwhile, and runs %s now: attach "
			"again",
			i->request->pid, stat.name);
	return gt_inject_say(&i->why, -ESRCH, "process %d has ended meanwhile", i->request->pid);
}

/* Threads ------------------------------------------------------------------------------------- */

/* Read what a thread does. Return false if it is gone. */
static bool look_at_thread(struct inject *i, pid_t tid, struct candidate *c)
{
	unsigned long args[6], sp, pc;
	char path[64], line[LINE_BYTES];
	long number;
	ssize_t n;
	int fd;

	*c = (struct candidate){.tid = tid, .call.number = -1};
	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", i->request->pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	line[n] = '\0';
	if (sscanf(line, "%ld %lx %lx %lx %lx %lx %lx %lx %lx", &number, &args[0], &args[1],
		   &args[2], &args[3], &args[4], &args[5], &sp, &pc) == 9) {
		c->call = (struct gt_inject_call){number, {args[1], args[2], args[3]}, true};
		c->registers = (struct gt_remote_registers){.pc = pc, .sp = sp};
	} else if (strncmp(line, "running", 7) != 0) {
		return false; /* "-1 ..": blocked outside of a system call, as in a page fault */
	}
	c->rank = gt_inject_rank(&c->call);
	return true;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
				  : (x->tid > y->tid) - (x->tid < y->tid);
}

/* List the process's threads, best first. Return false if it has ended, or memory is short. */
static bool list_threads(struct inject *i)
{
	char path[64];
	struct dirent *e;
	DIR *dir;

	i->thread_count = 0;
	snprintf(path, sizeof path, "/proc/%d/task", i->request->pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((e = readdir(dir))) {
		struct candidate *more, c;

		if (e->d_name[0] == '.' || !look_at_thread(i, atoi(e->d_name), &c))
			continue;
		more = gt_grow(i->threads, i->thread_count, &i->thread_room, sizeof *more);
		if (!more)
			break;
		i->threads = more;
		i->threads[i->thread_count++] = c;
	}
	closedir(dir);
	qsort(i->threads, i->thread_count, sizeof *i->threads, compare_ranks);
	return true;
}

/* Try the threads once, best first. */
static enum gt_inject_outcome try_threads(struct inject *i, uintptr_t *job)
{
	for (size_t k = 0; k < i->thread_count && i->threads[k].rank < GT_INJECT_NEVER; k++) {
		const struct candidate *c = &i->threads[k];
		enum gt_inject_outcome outcome;

		/* A blocked thread can be unwound without a stop. Reading the rules of unwinding
		 * for the first time may take long, so it is done here. */
		if (c->call.number >= 0 &&
		    gt_inject_judge(&i->target, &c->registers, &c->call) == GT_INJECT_UNSAFE)
			continue;
		outcome = gt_inject_try(&i->tracer, c->tid, job);
		if (outcome != GT_INJECT_PASSED)
			return outcome;
	}
	return GT_INJECT_PASSED;
}

static int say_impatient(struct inject *i)
{
	const unsigned tries = i->tracer.tries;
	const size_t threads = i->thread_count;

	if (!threads || (threads == i->tracer.late_count))
		return gt_inject_say(&i->why, -EAGAIN,
				     "no thread of process %d could be stopped: they wait in the "
				     "kernel (see /proc/%d/stack) or for a processor: try again",
				     i->request->pid, i->request->pid);
	return gt_inject_say(
		&i->why, -EAGAIN,
		"no thread of process %d was at a safe place (%zu threads, %u stops): "
		"all were in memory allocation%s, the dynamic linker, signal handlers, "
		"or calls that must not be interrupted: try again, or start the program "
		"with gputap run",
		i->request->pid, threads, tries,
		i->target.has_allocator ? " (the program has its own)" : "");
}

/* Find a thread at a safe place, and create the worker. Return the job's address; 0: see `why`. */
static uintptr_t create_worker(struct inject *i)
{
	const uint64_t until_ns = gt_clock_ns(CLOCK_MONOTONIC) + i->patience_ns;
	uint64_t round_ns = LOOK_NS;
	uintptr_t job = 0;

	for (;;) {
		if (!gt_inject_target_refresh(&i->target) || !list_threads(i)) {
			say_ended(i);
			return 0;
		}
		switch (try_threads(i, &job)) {
		case GT_INJECT_CREATED: return job;
		case GT_INJECT_FAILED: return 0;
		case GT_INJECT_PASSED: break;
		}
		gt_inject_release_late(&i->tracer);
		if (gt_clock_ns(CLOCK_MONOTONIC) > until_ns)
			break;
		/* do not stop the program all the time */
		pause_ns(round_ns);
		round_ns = round_ns * 2 < ROUND_MOST_NS ? round_ns * 2 : ROUND_MOST_NS;
	}
	say_impatient(i);
	return 0;
}

/* Worker -------------------------------------------------------------------------------------- */

static bool read_job(struct inject *i, uintptr_t at)
{
	return pread(i->target.memory, &i->job, sizeof i->job, (off_t)at) == sizeof i->job;
}

static bool set_state(struct inject *i, uintptr_t at, int32_t state)
{
	return pwrite(i->target.memory, &state, sizeof state, (off_t)(at + GT_JOB_AT_STATE)) ==
	       sizeof state;
}

static bool copy_bytes(int from, int to)
{
	char *block = malloc(COPY_BYTES);
	ssize_t n = -1;

	while (block && (n = read(from, block, COPY_BYTES)) > 0)
		for (ssize_t done = 0, k; done < n; done += k) {
			k = write(to, block + done, (size_t)(n - done));
			if (k <= 0) {
				free(block);
				return false;
			}
		}
	free(block);
	return n == 0;
}

/* Copy the library into the worker's memfd. The worker opens /proc/self/fd/NUMBER. */
static bool pass_file(struct inject *i, uintptr_t at)
{
	char path[PATH_BYTES];
	int from, to;
	bool done;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", i->request->pid, i->job.fd);
	from = open(i->request->library, O_RDONLY | O_CLOEXEC);
	to = open(path, O_WRONLY | O_CLOEXEC);
	done = i->job.fd >= 0 && from >= 0 && to >= 0 && copy_bytes(from, to);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	/* dlopen() says it if the file is not complete */
	snprintf(path, sizeof path, "/proc/self/fd/%d", done ? i->job.fd : -1);
	return pwrite(i->target.memory, path, strlen(path) + 1, (off_t)(at + GT_JOB_AT_PATH)) > 0 &&
	       set_state(i, at, GT_JOB_LOADING);
}

/* Say where the worker is, which did not answer in time. */
static int say_late(struct inject *i)
{
	const struct gt_inject_request *q = i->request;
	const struct gt_system_call *call;
	struct candidate c;
	const char *in;

	in = i->job.state == GT_JOB_CALLING ? q->function : "dlopen()";
	call = gt_system_call_find(look_at_thread(i, i->job.tid, &c) ? c.call.number : -1);
	return gt_inject_say(&i->why, -ETIMEDOUT,
			     "thread %d (" GT_INJECT_THREAD ") of process %d is still in %s after "
			     "%llu s%s%s: it ends by itself; see what it waits for with gdb -p %d",
			     i->job.tid, q->pid, in,
			     (unsigned long long)(i->answer_ns / SECONDS_NS),
			     call->name ? ", in the system call " : "",
			     call->name ? call->name : "", q->pid);
}

static int read_answer(struct inject *i)
{
	const struct gt_inject_request *q = i->request;

	i->job.error[sizeof i->job.error - 1] = '\0';
	i->result.answer = i->job.answer;
	if (i->job.failed == GT_JOB_NOT_LOADED)
		return gt_inject_say(&i->why, -ELIBBAD, "process %d cannot load %s: %s", q->pid,
				     q->library,
				     i->job.error[0] ? i->job.error : "no reason given");
	if (i->job.failed == GT_JOB_NO_FUNCTION)
		return gt_inject_say(&i->why, -ELIBBAD, "%s has no function %s", q->library,
				     q->function);
	return 0;
}

/* Start the worker's job, and wait for its answer. */
static int await_worker(struct inject *i, uintptr_t at)
{
	const uint64_t until_ns = gt_clock_ns(CLOCK_MONOTONIC) + i->answer_ns;

	for (bool is_alive = set_state(i, at, GT_JOB_GO);; pause_ns(LOOK_NS)) {
		if (!is_alive || !read_job(i, at) ||
		    (i->job.state == GT_JOB_WANTS_FILE && !pass_file(i, at)))
			return say_ended(i);
		if (i->job.state == GT_JOB_DONE)
			break;
		if (gt_clock_ns(CLOCK_MONOTONIC) > until_ns)
			return say_late(i);
	}
	set_state(i, at, GT_JOB_SEEN);
	return read_answer(i);
}

/* All ----------------------------------------------------------------------------------------- */

/* Return true if the process finds the same file under the library's path. */
static bool sees_library(const struct inject *i)
{
	char path[PATH_BYTES];
	struct stat ours, theirs;

	snprintf(path, sizeof path, "/proc/%d/root%s", i->request->pid, i->request->library);
	return stat(i->request->library, &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* The worker opens a memfd through its name in /proc. */
static bool sees_proc(const struct inject *i)
{
	char path[PATH_BYTES];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/root/proc/self", i->request->pid);
	return lstat(path, &st) == 0;
}

static int fill_job(struct inject *i)
{
	const struct gt_inject_request *q = i->request;
	struct gt_inject_job *j = &i->job;
	const char *function = q->function ? q->function : "";
	const char *argument = q->argument ? q->argument : "", *name;

	if (q->library[0] != '/' || access(q->library, R_OK))
		return gt_inject_say(&i->why, -ENOENT, "the library %s cannot be read", q->library);
	if (strlen(q->library) >= sizeof j->path || strlen(argument) >= sizeof j->argument ||
	    strlen(function) >= sizeof j->function)
		return gt_inject_say(&i->why, -ENAMETOOLONG, "the library's path is too long");
	*j = i->target.functions;
	j->bytes = GT_JOB_REGION_BYTES;
	j->pause[1] = (int64_t)LOOK_NS;
	j->created = -1;
	j->mxcsr = MXCSR_USUAL;
	j->fd = -1;
	j->needs_file = !sees_library(i);
	if (j->needs_file && !sees_proc(i))
		return gt_inject_say(
			&i->why, -ENOTSUP,
			"process %d sees neither %s nor /proc in its root folder: mount "
			"/proc on /proc/%d/root/proc",
			q->pid, q->library, q->pid);
	name = j->needs_file ? strrchr(q->library, '/') + 1 : q->library;
	snprintf(j->name, sizeof j->name, "%s", GT_INJECT_THREAD);
	snprintf(j->function, sizeof j->function, "%s", function);
	if (j->needs_file &&
	    gt_inject_target_find_passed(&i->target, name, j->path, sizeof j->path))
		j->needs_file = 0;
	else
		snprintf(j->path, sizeof j->path, "%s", name);
	snprintf(j->argument, sizeof j->argument, "%s", argument);
	return 0;
}

/* Open the target. A process that has just called exec() gets some time to load its libraries. */
static int open_target(struct inject *i, pid_t pid)
{
	int status = gt_inject_target_open(&i->target, pid, &i->why);

	for (int k = 0; status == -EAGAIN && k < START_LOOKS; k++) {
		pause_ns(START_LOOK_NS);
		status = gt_inject_target_open(&i->target, pid, &i->why);
	}
	return status;
}

/* Return 0 or a status, with `why`. */
static int inject(struct inject *i)
{
	const pid_t pid = i->request->pid;
	int status = open_target(i, pid);
	uintptr_t job;

	if (status)
		return status;
	status = fill_job(i);
	if (status)
		goto close_target;
	i->tracer.target = &i->target;
	i->tracer.why = &i->why;
	i->tracer.job = &i->job;
	i->tracer.deadline_ns = i->deadline_ns;
	status = gt_inject_tracer_init(&i->tracer);
	if (status) {
		gt_inject_say(&i->why, status, "gputap cannot set a timer: %s", strerror(-status));
		goto close_target;
	}
	job = create_worker(i);
	gt_inject_tracer_fini(&i->tracer);
	i->result.stop_ns = i->tracer.longest_ns;
	i->result.tries = i->tracer.tries;
	status = job ? await_worker(i, job) : i->why.status;

close_target:
	gt_inject_target_close(&i->target);
	return status;
}

/* Turn a failure into the caller's cause. The sentence says more than errno's text. */
static int report(const struct gt_inject_why *why)
{
	if (!why->status)
		return 0;
	gt_error(-ENOTSUP, "%s", why->text);
	return why->status;
}

int gt_inject_check(pid_t pid)
{
	struct gt_inject_target *t = calloc(1, sizeof *t);
	struct gt_inject_why why = {.status = 0};

	if (!t)
		return gt_error(-ENOMEM, "no memory to attach");
	gt_guard_install();
	if (!gt_inject_check_process(pid, &why) && !gt_inject_target_open(t, pid, &why))
		gt_inject_target_close(t);
	free(t);
	return report(&why);
}

/* Run inject() in a child process, and wait for its end. */
static void run_child(struct inject *i)
{
	pid_t child;

	gt_inject_say(&i->why, -EINTR,
		      "the process of gputap that attaches to process %d was killed: try again",
		      i->request->pid);
	child = fork();
	if (child < 0) {
		gt_inject_say(&i->why, -errno, "gputap cannot start a process: %s",
			      strerror(errno));
		return;
	}
	if (!child) {
		setsid();
		i->why.status = inject(i);
		_exit(0);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

int gt_inject(const struct gt_inject_request *request, struct gt_inject_result *out)
{
	struct inject *i =
		mmap(NULL, sizeof *i, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	*out = (struct gt_inject_result){.answer = 0};
	if (i == MAP_FAILED)
		return gt_error(-ENOMEM, "no memory to attach");
	i->request = request;
	i->deadline_ns = request->deadline_ns ? request->deadline_ns : DEADLINE_NS;
	i->patience_ns = request->patience_ns ? request->patience_ns : PATIENCE_NS;
	i->answer_ns = request->answer_ns ? request->answer_ns : ANSWER_NS;
	gt_guard_install();
	if (!gt_inject_check_process(request->pid, &i->why))
		run_child(i);
	*out = i->result;
	status = report(&i->why);
	munmap(i, sizeof *i);
	return status;
}
