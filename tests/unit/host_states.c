/* SPDX-License-Identifier: MIT */
/* The states of threads of another process: collector/host_look.h. Each test starts a process with
 * a thread that waits for one thing, and reads the state of that thread. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/host_look.h"
#include "collector/spare_files.h"
#include "unit.h"

/* Shared with the process of the test. */
struct scene {
	_Atomic uint32_t waiter, holder, partner;
	char path[256];
};

static struct scene *scene;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_t holder_thread;
static int pipe_ends[2];

static void *wait_as(void *run)
{
	void (*function)(void) = (void (*)(void))run;

	scene->waiter = (uint32_t)gettid();
	function();
	pause();
	return NULL;
}

static void *hold_as(void *run)
{
	void (*function)(void) = (void (*)(void))run;

	pthread_setname_np(pthread_self(), "keeper");
	function();
	return NULL;
}

/* Start a process with a thread that runs @waiter, and before it one that runs @holder, which sets
 * scene->holder when it holds the lock. */
static pid_t start(void (*waiter)(void), void (*holder)(void))
{
	pthread_t thread;
	pid_t pid;

	if (!scene) {
		scene = mmap(NULL, sizeof *scene, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		CHECK(scene != MAP_FAILED);
	}
	pid = fork();
	CHECK_OK(pid);
	if (pid)
		return pid;
	if (holder) {
		pthread_create(&holder_thread, NULL, hold_as, (void *)holder);
		while (!scene->holder)
			usleep(1000);
	}
	pthread_create(&thread, NULL, wait_as, (void *)waiter);
	for (;;)
		pause();
}

/* Read the state of a thread until it is @state. A thread needs some time to arrive there. */
static struct gt_host_now read_until(pid_t pid, _Atomic uint32_t *tid, enum gt_host_state state)
{
	struct gt_host_now now = {0};

	for (int i = 0; i < 3000; i++) {
		if (*tid && !gt_host_state_now((uint32_t)pid, *tid, &now) && now.state == state)
			return now;
		usleep(10000);
	}
	CHECK_STR(gt_host_state_name(now.state), gt_host_state_name(state));
	return now;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

/* Start a process, check the state of its waiter and whether the holder is found, and end it. */
static void check_state(void (*waiter)(void), void (*holder)(void), enum gt_host_state state,
			const char *call, const char *text)
{
	pid_t pid = start(waiter, holder);
	struct gt_host_now now = read_until(pid, &scene->waiter, state);
	char wanted[256];

	snprintf(wanted, sizeof wanted, text, scene->holder);
	CHECK_EQ(now.holder, holder ? scene->holder : 0);
	CHECK_STR(now.call_name ? now.call_name : "none", call);
	CHECK_STR(now.text, wanted);
	end(pid);
}

/* Holders ---------------------------------------------------------------------------- */

static void sleep_long(void)
{
	sleep(1000);
}

static void compute(void)
{
	for (volatile uint64_t i = 0;; i++)
		continue;
}

static void hold_mutex_asleep(void)
{
	pthread_mutex_lock(&mutex);
	scene->holder = (uint32_t)gettid();
	sleep_long();
}

static void hold_mutex_computing(void)
{
	pthread_mutex_lock(&mutex);
	scene->holder = (uint32_t)gettid();
	compute();
}

static void hold_rwlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
	scene->holder = (uint32_t)gettid();
	sleep_long();
}

static void hold_stream(void)
{
	flockfile(stderr);
	scene->holder = (uint32_t)gettid();
	sleep_long();
}

static void live(void)
{
	scene->holder = (uint32_t)gettid();
	sleep_long();
}

static void hold_kind(void (*change)(pthread_mutexattr_t *attributes))
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	change(&attributes);
	pthread_mutex_init(&mutex, &attributes);
	hold_mutex_asleep();
}

static void inherit(pthread_mutexattr_t *attributes)
{
	pthread_mutexattr_setprotocol(attributes, PTHREAD_PRIO_INHERIT);
}

static void make_robust(pthread_mutexattr_t *attributes)
{
	pthread_mutexattr_setrobust(attributes, PTHREAD_MUTEX_ROBUST);
}

static void hold_inheriting(void)
{
	hold_kind(inherit);
}

static void hold_robust(void)
{
	hold_kind(make_robust);
}

/* Waiters ---------------------------------------------------------------------------- */

static void lock_mutex(void)
{
	pthread_mutex_lock(&mutex);
}

static void lock_mutex_until(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1000;
	pthread_mutex_timedlock(&mutex, &until);
}

static void lock_to_read(void)
{
	pthread_rwlock_rdlock(&rwlock);
}

static void lock_to_write(void)
{
	pthread_rwlock_wrlock(&rwlock);
}

static void print(void)
{
	putc('\n', stderr);
}

static void join(void)
{
	pthread_join(holder_thread, NULL);
}

UNIT_TEST(the_holder_of_a_mutex_is_found_and_what_it_does)
{
	check_state(lock_mutex, hold_mutex_asleep, GT_HOST_STATE_LOCK, "futex",
		    "keeper (thread %u), which sleeps");
}

UNIT_TEST(a_holder_that_computes_is_described)
{
	pid_t pid = start(lock_mutex, hold_mutex_computing);
	struct gt_host_now now = {0};

	/* on a busy machine, the holder may wait for a processor for a while */
	for (int i = 0; i < 3000 && !strstr(now.text, "which computes"); i++)
		now = read_until(pid, &scene->waiter, GT_HOST_STATE_LOCK);
	CHECK(strstr(now.text, "which computes") != NULL);
	CHECK_EQ(now.holder, scene->holder);
	end(pid);
}

UNIT_TEST(the_holder_of_a_timed_lock_is_found)
{
	check_state(lock_mutex_until, hold_mutex_asleep, GT_HOST_STATE_LOCK, "futex",
		    "keeper (thread %u), which sleeps");
}

UNIT_TEST(the_holder_of_a_mutex_that_inherits_priorities_is_found)
{
	check_state(lock_mutex, hold_inheriting, GT_HOST_STATE_LOCK, "futex",
		    "keeper (thread %u), which sleeps");
}

UNIT_TEST(the_holder_of_a_robust_mutex_is_found)
{
	check_state(lock_mutex, hold_robust, GT_HOST_STATE_LOCK, "futex",
		    "keeper (thread %u), which sleeps");
}

UNIT_TEST(the_writer_that_blocks_a_reader_is_found)
{
	check_state(lock_to_read, hold_rwlock, GT_HOST_STATE_LOCK, "futex",
		    "keeper (thread %u), which sleeps");
}

UNIT_TEST(the_writer_that_blocks_a_writer_is_found)
{
	check_state(lock_to_write, hold_rwlock, GT_HOST_STATE_LOCK, "futex",
		    "keeper (thread %u), which sleeps");
}

UNIT_TEST(the_thread_that_is_joined_is_found)
{
	check_state(join, live, GT_HOST_STATE_CONDITION, "futex",
		    "the end of keeper (thread %u), which sleeps");
}

#if defined(__x86_64__)
UNIT_TEST(the_holder_of_a_stream_is_found)
{
	check_state(print, hold_stream, GT_HOST_STATE_LOCK, "futex",
		    "keeper (thread %u), which sleeps");
}
#endif

static void wait_for_condition(void)
{
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
}

static void wait_for_semaphore(void)
{
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	sem_wait(&semaphore);
}

UNIT_TEST(a_condition_variable_has_no_holder)
{
	check_state(wait_for_condition, NULL, GT_HOST_STATE_CONDITION, "futex", "");
}

UNIT_TEST(a_semaphore_has_no_holder)
{
	check_state(wait_for_semaphore, NULL, GT_HOST_STATE_CONDITION, "futex", "");
}

UNIT_TEST(a_thread_that_sleeps_is_sleeping)
{
	check_state(sleep_long, NULL, GT_HOST_STATE_SLEEPING, "clock_nanosleep", "");
}

static void poll_nothing(void)
{
	ppoll(NULL, 0, NULL, NULL);
}

UNIT_TEST(a_thread_that_polls_nothing_is_sleeping)
{
	check_state(poll_nothing, NULL, GT_HOST_STATE_SLEEPING, "ppoll", "");
}

static void read_pipe(void)
{
	char c;

	CHECK_OK(pipe(pipe_ends));
	CHECK_EQ(read(pipe_ends[0], &c, 1), 1);
}

static void poll_pipe(void)
{
	struct pollfd p = {.events = POLLIN};

	CHECK_OK(pipe(pipe_ends));
	p.fd = pipe_ends[0];
	ppoll(&p, 1, NULL, NULL);
}

UNIT_TEST(a_thread_that_reads_a_pipe_is_found)
{
	check_state(read_pipe, NULL, GT_HOST_STATE_PIPE, "read", "pipe");
}

UNIT_TEST(a_thread_that_polls_a_pipe_is_found)
{
	check_state(poll_pipe, NULL, GT_HOST_STATE_POLLING, "ppoll", "pipe");
}

static void open_fifo(void)
{
	close(open(scene->path, O_RDONLY));
}

UNIT_TEST(a_fifo_that_is_being_opened_has_a_path)
{
	scene = mmap(NULL, sizeof *scene, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	snprintf(scene->path, sizeof scene->path, "%s/fifo", unit_folder());
	CHECK_OK(mkfifo(scene->path, 0600));
	check_state(open_fifo, NULL, GT_HOST_STATE_PIPE, "openat", scene->path);
}

static void receive(void)
{
	int ends[2];
	char c;

	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	CHECK_EQ(recv(ends[0], &c, 1, 0), 1);
}

UNIT_TEST(a_thread_that_receives_waits_for_a_socket)
{
	check_state(receive, NULL, GT_HOST_STATE_SOCKET, "recvfrom", "socket");
}

static void wait_for_events(void)
{
	struct epoll_event event;

	epoll_pwait(epoll_create1(0), &event, 1, -1, NULL);
}

UNIT_TEST(a_thread_that_waits_for_events_is_polling)
{
	pid_t pid = start(wait_for_events, NULL);

	read_until(pid, &scene->waiter, GT_HOST_STATE_POLLING);
	end(pid);
}

static void wait_for_child(void)
{
	pid_t child = fork();

	if (!child) {
		pthread_setname_np(pthread_self(), "worker");
		for (;;)
			pause();
	}
	scene->partner = (uint32_t)child;
	waitpid(child, NULL, 0);
}

UNIT_TEST(the_process_that_is_waited_for_is_named)
{
	pid_t pid = start(wait_for_child, NULL);
	struct gt_host_now now = read_until(pid, &scene->waiter, GT_HOST_STATE_CHILD);
	char wanted[64];

	for (int i = 0; i < 3000 && !strstr(now.text, "worker"); i++) {
		usleep(10000);
		now = read_until(pid, &scene->waiter, GT_HOST_STATE_CHILD);
	}
	snprintf(wanted, sizeof wanted, "worker (pid %u)", scene->partner);
	CHECK_STR(now.text, wanted);
	kill((pid_t)scene->partner, SIGKILL);
	end(pid);
}

UNIT_TEST(a_thread_that_runs_computes_or_waits_for_a_processor)
{
	pid_t pid = start(compute, NULL);
	struct gt_host_now now = {0};

	read_until(pid, &scene->waiter, GT_HOST_STATE_COMPUTING);
	CHECK_OK(gt_host_state_now((uint32_t)pid, scene->waiter, &now));
	CHECK(now.state == GT_HOST_STATE_COMPUTING || now.state == GT_HOST_STATE_RUNNABLE);
	CHECK_EQ(now.call, 0);
	end(pid);
}

static void touch(void)
{
	enum { BYTES = 64 << 20 };

	for (;;) {
		char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(memory, BYTES, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < BYTES; i += 4096)
			memory[i] = 1;
		munmap(memory, BYTES);
	}
}

UNIT_TEST(a_thread_that_touches_new_memory_has_page_faults)
{
	pid_t pid = start(touch, NULL);

	read_until(pid, &scene->waiter, GT_HOST_STATE_FAULTS);
	end(pid);
}

UNIT_TEST(a_stopped_thread_is_stopped_and_not_in_its_call)
{
	pid_t pid = start(sleep_long, NULL);

	read_until(pid, &scene->waiter, GT_HOST_STATE_SLEEPING);
	kill(pid, SIGSTOP);
	CHECK_STR(read_until(pid, &scene->waiter, GT_HOST_STATE_STOPPED).text, "by a signal");
	kill(pid, SIGCONT);
	read_until(pid, &scene->waiter, GT_HOST_STATE_SLEEPING);
	end(pid);
}

UNIT_TEST(a_thread_that_has_ended_is_an_error)
{
	pid_t pid = start(sleep_long, NULL);
	struct gt_host_now now;
	uint32_t tid;

	read_until(pid, &scene->waiter, GT_HOST_STATE_SLEEPING);
	tid = scene->waiter;
	end(pid);
	CHECK_LT(gt_host_state_now((uint32_t)pid, tid, &now), 0);
}

UNIT_TEST(files_of_threads_leave_descriptors_for_new_processes)
{
	const struct rlimit few = {100, 100};
	int fd;

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	fd = fcntl(0, F_DUPFD_CLOEXEC, 50);
	CHECK_EQ(gt_keep_spare_files(fd), fd);
	close(fd);
	fd = fcntl(0, F_DUPFD_CLOEXEC, 100 - GT_SPARE_FILES);
	CHECK_GE(fd, 0);
	CHECK_EQ(gt_keep_spare_files(fd), -1);
	CHECK_EQ(errno, EMFILE);
	CHECK_EQ(fcntl(fd, F_GETFD), -1); /* closed */
	CHECK_EQ(gt_keep_spare_files(-1), -1);
}
