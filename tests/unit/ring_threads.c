/* SPDX-License-Identifier: MIT */
/* The rings with real threads, signals, forks and kills; also in the ThreadSanitizer build.
 *
 * Each test executes its program again with GPUTAP_SESSION set, so that the library's core (linked
 * into this program) finds a session when it is loaded. A small reader acts as the collector. Each
 * record contains its thread and its number, so that lost, duplicate, interchanged or corrupt
 * records are detected. */
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/tap.h"
#include "ring/pool.h"
#include "ring/session.h"
#include "unit.h"

enum { THREADS_MAX = 4096, OP = GT_OP(GT_DOMAIN_OPENCL, 1, 3) };

#if defined(__SANITIZE_THREAD__)
enum { SCALE = 20 };
#else
enum { SCALE = 1 };
#endif

/* Session ----------------------------------------------------------------------- */

static void with_session(const char *test, struct gt_session s)
{
	char path[256], folder[128];
	int fd;

	if (getenv(GT_SESSION_ENV))
		return;
	snprintf(folder, sizeof folder, "%s", unit_folder());
	snprintf(path, sizeof path, "%s/session", folder);
	s.magic = GT_SESSION_MAGIC;
	s.version = GT_SESSION_VERSION;
	s.bytes = sizeof s;
	s.host_clock = GT_HOST_CLOCK_BOOTTIME;
	s.block_bytes = s.block_bytes ? s.block_bytes : 16384;
	s.slot_count = s.slot_count ? s.slot_count : 64;
	s.record_args = 1;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK_EQ(write(fd, &s, sizeof s), (ssize_t)sizeof s);
	close(fd);
	setenv(GT_SESSION_ENV, folder, 1);
	execl("/proc/self/exe", "ring_threads", "--no-fork", test, (char *)NULL);
	unit_fail(__FILE__, __LINE__, "exec: %s", strerror(errno));
}

static struct gt_segment *own_segment(void)
{
	return atomic_load(&gt_recording.segment);
}

static struct gt_segment *map_segment(const char *name)
{
	char path[512];
	struct gt_segment *r;
	struct stat st;
	int fd;

	snprintf(path, sizeof path, "%s/%s", getenv(GT_SESSION_ENV), name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK_GE(fd, 0);
	CHECK_OK(fstat(fd, &st));
	r = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	CHECK(r != MAP_FAILED);
	CHECK_EQ(r->magic, GT_SEGMENT_MAGIC);
	return r;
}

/* Return the newest segment of a process, or NULL. */
static struct gt_segment *find_segment(pid_t pid)
{
	char prefix[32];
	struct gt_segment *r = NULL;
	struct dirent *e;
	DIR *d = opendir(getenv(GT_SESSION_ENV));

	snprintf(prefix, sizeof prefix, "%d-", (int)pid);
	while ((e = readdir(d)) != NULL && !r)
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			r = map_segment(e->d_name);
	closedir(d);
	return r;
}

/* Reader ------------------------------------------------------------------------ */

struct reader {
	struct gt_segment *segment;
	uint32_t block[THREADS_MAX], at[THREADS_MAX];  /* by slot */
	uint64_t records, lost, last_seq[THREADS_MAX]; /* by ordinal */
	/* number of the next record of each thread, indexed by ordinal */
	uint64_t next[THREADS_MAX];
	_Atomic bool stop;
	bool give_back;
};

static void read_record(struct reader *r, const struct gt_block *b, const struct gt_record_call *c)
{
	uint32_t ordinal = GT_ID_ORDINAL(c->id);

	if (c->head.kind == GT_RECORD_EVENT) {
		CHECK_EQ(c->head.op, GT_EVENT_LOSS);
		r->lost += ((const struct gt_record_event *)c)->value;
		return;
	}
	CHECK_EQ(c->head.kind, GT_RECORD_CALL);
	CHECK_EQ(c->head.op, OP);
	CHECK_EQ(ordinal, b->ordinal);
	CHECK_LT(ordinal, THREADS_MAX);
	CHECK_EQ(c->args[1], c->args[0]);
	CHECK_EQ(c->args[2], ~c->args[0]);
	/* ids increase; dropped calls leave gaps */
	CHECK_LT(r->last_seq[ordinal], GT_ID_SEQ(c->id));
	r->last_seq[ordinal] = GT_ID_SEQ(c->id);
	if (!gt_record_depth(&c->head)) {
		CHECK_LE(r->next[ordinal], c->args[0]);
		r->next[ordinal] = c->args[0] + 1;
	}
	r->records++;
}

/* Read the records. Return the number of records. */
static uint64_t read_slot(struct reader *r, uint32_t i)
{
	struct gt_slot *slot = gt_segment_slot(r->segment, i);
	uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire), next, committed;
	uint64_t before = r->records;
	struct gt_block *b;

	if (state != GT_SLOT_ACTIVE && state != GT_SLOT_CLOSED)
		return 0;
	if (!r->block[i])
		r->block[i] = atomic_load_explicit(&slot->first, memory_order_acquire);
	while (r->block[i]) {
		b = gt_segment_block(r->segment, r->block[i]);
		next = atomic_load_explicit(&b->next, memory_order_acquire);
		committed = atomic_load_explicit(&b->committed, memory_order_acquire);
		while (r->at[i] < committed) {
			const struct gt_record_call *c =
				(const void *)(gt_block_data(b) + r->at[i]);

			CHECK_GT(c->head.words, 0);
			CHECK_LE(r->at[i] + c->head.words * 8u, committed);
			read_record(r, b, c);
			r->at[i] += c->head.words * 8u;
		}
		if (!next)
			break;
		if (r->give_back) {
			atomic_store_explicit(&slot->first, next, memory_order_relaxed);
			gt_pool_push(r->segment, r->block[i]);
			atomic_fetch_add_explicit(&r->segment->drain_count, 1,
						  memory_order_relaxed);
		}
		r->block[i] = next;
		r->at[i] = 0;
	}
	if (state == GT_SLOT_CLOSED && r->give_back) {
		if (r->block[i])
			gt_pool_push(r->segment, r->block[i]);
		r->block[i] = r->at[i] = 0;
		atomic_store_explicit(&slot->state, GT_SLOT_FREE, memory_order_release);
	}
	return r->records - before;
}

static uint64_t read_all(struct reader *r)
{
	uint32_t used = atomic_load_explicit(&r->segment->slots_used, memory_order_acquire);
	uint64_t n = 0;

	for (uint32_t i = 1; i < used; i++)
		n += read_slot(r, i);
	return n;
}

static void *read_until_stopped(void *arg)
{
	struct reader *r = arg;

	gt_thread.internal = 1;
	while (!atomic_load(&r->stop))
		if (!read_all(r))
			usleep(200);
	read_all(r);
	return NULL;
}

static struct reader *reader_new(struct gt_segment *segment, bool give_back)
{
	struct reader *r = calloc(1, sizeof *r);

	r->segment = segment;
	r->give_back = give_back;
	return r;
}

static void sums(const struct gt_segment *r, uint64_t *seen, uint64_t *dropped)
{
	*seen = *dropped = 0;
	for (uint32_t i = 0; i < atomic_load(&r->slots_used); i++) {
		const struct gt_slot *s = gt_segment_slot(r, i);

		for (int d = 0; d < GT_DOMAIN_COUNT; d++) {
			*seen += atomic_load_explicit(&s->domains[d].seen[GT_CLASS_CALL],
						      memory_order_relaxed);
			for (int w = 0; w < GT_DROP_REASON_COUNT; w++)
				*dropped += atomic_load_explicit(&s->dropped[w][GT_CLASS_CALL][d],
								 memory_order_relaxed);
		}
	}
}

/* Writers ------------------------------------------------------------------------ */

/* Make a call as a tap does. Return true if the record of the call is in the ring. */
static bool call(uint64_t number)
{
	struct gt_thread *t = gt_thread_get();
	struct gt_record_call *r;
	uint64_t id, start;

	if (!t)
		return false;
	id = gt_call_begin(t, GT_DOMAIN_OPENCL, 0);
	start = gt_ticks();
	r = gt_tap_record(t, OP, sizeof *r + 24, id, start, gt_ticks(), 0);
	if (r) {
		r->args[0] = r->args[1] = number;
		r->args[2] = ~number;
		gt_ring_commit(t, sizeof *r + 24);
	}
	gt_call_end(t);
	return r != NULL;
}

struct writer {
	uint64_t calls, recorded;
	_Atomic uint64_t *acknowledged; /* number of calls that the program knows to be recorded */
};

static void *write_calls(void *arg)
{
	struct writer *w = arg;

	for (uint64_t i = 0; i < w->calls; i++) {
		w->recorded += call(i);
		if (w->acknowledged)
			atomic_store_explicit(w->acknowledged, w->recorded, memory_order_relaxed);
	}
	return NULL;
}

static void check_sums(const struct gt_segment *r, uint64_t calls, uint64_t recorded)
{
	uint64_t seen, dropped;

	sums(r, &seen, &dropped);
	CHECK_EQ(seen, calls);
	CHECK_EQ(recorded + dropped, calls);
}

/* Tests --------------------------------------------------------------------------- */

UNIT_TEST(many_threads_lose_nothing)
{
	enum { WRITERS = 4, CALLS = 200000 / SCALE };
	struct writer w[WRITERS];
	pthread_t threads[WRITERS], reading;
	struct reader *r;

	with_session("many_threads_lose_nothing",
		     (struct gt_session){.pool_bytes = 1 << 20, .wait_ns = UINT64_C(20000000000)});
	r = reader_new(own_segment(), true);
	pthread_create(&reading, NULL, read_until_stopped, r);
	for (int i = 0; i < WRITERS; i++) {
		w[i] = (struct writer){.calls = CALLS};
		pthread_create(&threads[i], NULL, write_calls, &w[i]);
	}
	for (int i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_EQ(w[i].recorded, CALLS);
	}
	atomic_store(&r->stop, true);
	pthread_join(reading, NULL);
	CHECK_EQ(r->records, WRITERS * (uint64_t)CALLS);
	check_sums(r->segment, WRITERS * (uint64_t)CALLS, r->records);
	free(r);
}

UNIT_TEST(without_a_reader_calls_are_dropped_and_counted)
{
	struct writer w = {.calls = 20000};
	struct reader *r;

	with_session("without_a_reader_calls_are_dropped_and_counted",
		     (struct gt_session){.pool_bytes = 1 << 18, .wait_ns = 1000000});
	errno = 77;
	write_calls(&w);
	CHECK_EQ(errno, 77);
	CHECK_GT(w.recorded, 0);
	CHECK_LT(w.recorded, w.calls);
	/* otherwise a dropped call looks like an open one */
	CHECK_EQ(gt_thread.slot->domains[GT_DOMAIN_OPENCL].newest, 0);
	r = reader_new(own_segment(), false);
	read_all(r);
	CHECK_EQ(r->records, w.recorded);
	check_sums(r->segment, w.calls, w.recorded);
	free(r);
}

UNIT_TEST(a_loss_is_reported_when_there_is_room_again)
{
	struct writer w = {.calls = 20000};
	struct reader *r;

	with_session("a_loss_is_reported_when_there_is_room_again",
		     (struct gt_session){.pool_bytes = 1 << 18});
	r = reader_new(own_segment(), true);
	write_calls(&w);
	CHECK_LT(w.recorded, w.calls);
	read_all(r);
	CHECK_EQ(r->lost, 0);
	CHECK(call(w.calls));
	read_all(r);
	CHECK_EQ(r->lost, w.calls - w.recorded);
	CHECK_EQ(r->records, w.recorded + 1);
	free(r);
}

UNIT_TEST(a_record_longer_than_a_block_is_dropped_and_counted)
{
	enum gt_drop_reason why;
	struct gt_thread *t;

	with_session("a_record_longer_than_a_block_is_dropped_and_counted",
		     (struct gt_session){.pool_bytes = 1 << 20});
	t = gt_thread_get();
	CHECK_NOT_NULL(t);
	CHECK_NULL(gt_ring_try(t, 1 << 15, &why));
	CHECK_EQ(why, GT_DROP_TOO_LONG);
	gt_call_begin(t, GT_DOMAIN_OPENCL, 0);
	CHECK_NULL(gt_ring_reserve(t, 1 << 15, GT_CLASS_CALL, GT_DOMAIN_OPENCL));
	gt_call_end(t);
	CHECK(call(0));
	check_sums(own_segment(), 2, 1);
}

UNIT_TEST(threads_that_come_and_go_use_slots_again)
{
	enum { ROUNDS = 300, TOGETHER = 4, CALLS = 20 };
	pthread_t threads[TOGETHER], reading;
	struct writer w[TOGETHER];
	uint64_t recorded = 0;
	struct reader *r;

	with_session("threads_that_come_and_go_use_slots_again",
		     (struct gt_session){.pool_bytes = 1 << 20,
					 .slot_count = 24,
					 .wait_ns = UINT64_C(20000000000)});
	r = reader_new(own_segment(), true);
	pthread_create(&reading, NULL, read_until_stopped, r);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < TOGETHER; i++) {
			w[i] = (struct writer){.calls = CALLS};
			pthread_create(&threads[i], NULL, write_calls, &w[i]);
		}
		for (int i = 0; i < TOGETHER; i++) {
			pthread_join(threads[i], NULL);
			recorded += w[i].recorded;
		}
	}
	atomic_store(&r->stop, true);
	pthread_join(reading, NULL);
	CHECK_EQ(recorded, ROUNDS * TOGETHER * CALLS); /* threads without a slot wait for a slot */
	CHECK_EQ(r->records, recorded);
	check_sums(r->segment, ROUNDS * TOGETHER * CALLS, recorded);
	CHECK_LE(atomic_load(&r->segment->slots_used), 24);
	free(r);
}

enum { MORE_THAN_SLOTS = 40 };

/* Run several writers in sequence. */
static void *run_writers(void *recorded)
{
	for (int i = 0; i < MORE_THAN_SLOTS; i++) {
		struct writer w = {.calls = 5};
		pthread_t thread;

		pthread_create(&thread, NULL, write_calls, &w);
		pthread_join(thread, NULL);
		*(uint64_t *)recorded += w.recorded;
	}
	return NULL;
}

UNIT_TEST(a_thread_waits_for_the_slot_of_one_that_has_ended)
{
	uint64_t recorded = 0;
	pthread_t writing, reading;
	struct reader *r;

	with_session("a_thread_waits_for_the_slot_of_one_that_has_ended",
		     (struct gt_session){.pool_bytes = 1 << 20,
					 .slot_count = 24,
					 .wait_ns = UINT64_C(100000000000)});
	r = reader_new(own_segment(), true);
	pthread_create(&writing, NULL, run_writers, &recorded);
	while (atomic_load(&r->segment->slots_used) < 24)
		usleep(100);
	usleep(20000); /* most likely a thread is waiting by now */
	pthread_create(&reading, NULL, read_until_stopped, r);
	pthread_join(writing, NULL);
	atomic_store(&r->stop, true);
	pthread_join(reading, NULL);
	CHECK_EQ(recorded, MORE_THAN_SLOTS * 5);
	CHECK_EQ(r->records, recorded);
	free(r);
}

UNIT_TEST(threads_without_a_slot_are_counted)
{
	enum { THREADS = 3, CALLS = 100 };
	pthread_t threads[THREADS];
	struct writer w[THREADS], mine = {.calls = CALLS};
	uint64_t recorded;

	with_session("threads_without_a_slot_are_counted",
		     (struct gt_session){.pool_bytes = 1 << 20, .slot_count = 2});
	write_calls(&mine); /* takes the only slot */
	CHECK_EQ(mine.recorded, CALLS);
	recorded = mine.recorded;
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct writer){.calls = CALLS};
		pthread_create(&threads[i], NULL, write_calls, &w[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_EQ(w[i].recorded, 0);
	}
	check_sums(own_segment(), (THREADS + 1) * CALLS, recorded);
}

static volatile sig_atomic_t in_handler, handled;
static uint64_t recorded_in_handler;

static void make_call(int number)
{
	(void)number;
	in_handler = 1;
	handled++;
	recorded_in_handler += call(UINT64_MAX / 2); /* a number that no other record contains */
	in_handler = 0;
}

UNIT_TEST(calls_in_signal_handlers_are_recorded_or_counted)
{
	enum { CALLS = 300000 / SCALE };
	struct sigaction action = {.sa_handler = make_call};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
	struct reader *r;
	uint64_t recorded = 0, seen, dropped;
	timer_t timer;

	with_session("calls_in_signal_handlers_are_recorded_or_counted",
		     (struct gt_session){.pool_bytes = 64 << 20});
	/* a handler in the middle of a thread's first call is not recorded */
	CHECK_NOT_NULL(gt_thread_get());
	sigaction(SIGALRM, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &often, NULL);
	for (uint64_t i = 0; i < CALLS; i++)
		recorded += call(i);
	timer_settime(timer, 0, &never, NULL);
	timer_delete(timer);
	CHECK_GT(handled, 0);
	sums(own_segment(), &seen, &dropped);
	CHECK_EQ(seen, CALLS + (uint64_t)handled);
	CHECK_EQ(recorded + recorded_in_handler + dropped, seen);
	/* ids are unique and all records complete; ids from handlers are between the start of a
	 * call and its record */
	r = reader_new(own_segment(), false);
	for (uint32_t n = atomic_load(&gt_segment_slot(r->segment, 1)->first); n;
	     n = atomic_load(&gt_segment_block(r->segment, n)->next)) {
		struct gt_block *b = gt_segment_block(r->segment, n);

		for (uint32_t at = 0; at < atomic_load(&b->committed);
		     at += ((struct gt_record *)(gt_block_data(b) + at))->words * 8u) {
			const struct gt_record_call *c = (const void *)(gt_block_data(b) + at);

			if (c->head.kind == GT_RECORD_EVENT) /* event: losses in handlers */
				continue;
			CHECK_EQ(c->args[2], ~c->args[0]);
			r->records++;
		}
	}
	CHECK_EQ(r->records, recorded + recorded_in_handler);
	free(r);
}

/* Forks ---------------------------------------------------------------------------- */

static int activity_in_child(void)
{
	struct writer w = {.calls = 1000};

	write_calls(&w);
	return w.recorded == 1000 ? 0 : 1;
}

/* Check the child's segment after the child has ended successfully. */
static void check_child(pid_t pid, uint32_t fork_count)
{
	struct reader *r;
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	r = reader_new(find_segment(pid), false);
	CHECK_NOT_NULL(r->segment);
	CHECK_EQ(r->segment->pid, pid);
	CHECK_EQ(r->segment->fork_count, fork_count);
	read_all(r);
	CHECK_EQ(r->records, 1000);
	check_sums(r->segment, 1000, 1000);
	munmap(r->segment, r->segment->segment_bytes);
	free(r);
}

static void check_own(uint64_t calls)
{
	struct reader *r = reader_new(own_segment(), false);

	read_all(r);
	CHECK_EQ(r->records, calls);
	check_sums(r->segment, calls, calls);
	free(r);
}

UNIT_TEST(a_child_of_any_fork_has_a_segment_of_its_own)
{
	pid_t pid;

	unit_need_the_kernel();
	with_session("a_child_of_any_fork_has_a_segment_of_its_own",
		     (struct gt_session){.pool_bytes = 1 << 20});
	CHECK(call(0));
	pid = fork();
	if (pid == 0)
		_exit(activity_in_child());
	check_child(pid, 1);
	CHECK(call(1));
	pid = _Fork();
	if (pid == 0)
		_exit(activity_in_child());
	check_child(pid, 1);
	CHECK(call(2));
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(activity_in_child());
	check_child(pid, 1);
	CHECK(call(3));
	/* a child that makes no calls has no segment */
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	CHECK_NULL(find_segment(pid));
	/* a vfork child runs in its parent's memory and records there; ThreadSanitizer turns vfork
	 * into fork */
	pid = SCALE == 1 ? vfork() : 0;
	if (pid == 0) {
		call(4);
		if (SCALE == 1)
			_exit(0);
	}
	if (pid)
		waitpid(pid, NULL, 0);
	CHECK_NULL(find_segment(pid));
	CHECK(call(5));
	check_own(6);
	CHECK_EQ(own_segment()->fork_count, 0);
	CHECK_EQ(atomic_load(&own_segment()->children_lost), 0);
}

UNIT_TEST(a_grandchild_has_a_segment_too)
{
	pid_t pid, grandchild;

	unit_need_the_kernel();
	with_session("a_grandchild_has_a_segment_too", (struct gt_session){.pool_bytes = 1 << 20});
	CHECK(call(0));
	pid = fork();
	if (pid == 0) {
		grandchild = fork();
		if (grandchild == 0)
			_exit(activity_in_child());
		check_child(grandchild, 1); /* the parent of the grandchild never made a call */
		grandchild = 0;
		if (activity_in_child())
			_exit(1);
		grandchild = fork();
		if (grandchild == 0)
			_exit(activity_in_child());
		check_child(grandchild, 2);
		_exit(0);
	}
	check_child(pid, 1);
	check_own(1);
}

UNIT_TEST(a_call_that_began_before_the_fork_is_the_parents_alone)
{
	struct gt_record_call *r;
	struct gt_thread *t;
	uint64_t id, seen, dropped;
	pid_t pid;

	unit_need_the_kernel();
	with_session("a_call_that_began_before_the_fork_is_the_parents_alone",
		     (struct gt_session){.pool_bytes = 1 << 20});
	t = gt_thread_get();
	id = gt_call_begin(t, GT_DOMAIN_OPENCL, 0);
	pid = fork(); /* as in a callback inside the call */
	if (pid == 0 && call(7))
		_exit(9); /* the child is passive while that call is open */
	r = gt_tap_record(t, OP, sizeof *r + 24, id, 0, 0, 0);
	if (r) {
		r->args[0] = r->args[1] = 0;
		r->args[2] = ~UINT64_C(0);
		gt_ring_commit(t, sizeof *r + 24);
	}
	gt_call_end(t);
	if (pid == 0)
		_exit(r ? 8 : activity_in_child());
	CHECK_NOT_NULL(r);
	check_child(pid, 1);
	sums(own_segment(), &seen, &dropped);
	CHECK_EQ(seen, 1);
	CHECK_EQ(dropped, 0);
	check_own(1);
}

UNIT_TEST(a_child_that_cannot_make_a_segment_is_counted_and_goes_on)
{
	pid_t pid;
	int status;

	unit_need_the_kernel();
	with_session("a_child_that_cannot_make_a_segment_is_counted_and_goes_on",
		     (struct gt_session){.pool_bytes = 1 << 20});
	CHECK(call(0));
	pid = fork();
	if (pid == 0) {
		CHECK_OK(chdir("/proc"));
		strcpy(gt_recording.directory, "/nonexistent"); /* as after chroot() */
		CHECK(!call(0) && !call(1));
		CHECK_EQ(gt_thread.depth, 0);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(atomic_load(&own_segment()->children_lost), 1);
	CHECK(call(1));
	check_own(2);
}

static void *fork_once(void *arg)
{
	pid_t pid;

	(void)arg;
	call(0);
	pid = fork();
	if (pid == 0)
		_exit(activity_in_child());
	check_child(pid, 1);
	call(1);
	return NULL;
}

UNIT_TEST(many_threads_fork_at_once)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];

	unit_need_the_kernel();
	with_session("many_threads_fork_at_once", (struct gt_session){.pool_bytes = 1 << 20});
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, fork_once, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check_own(2 * THREADS);
}

UNIT_TEST(a_stopped_session_stops_recording)
{
	struct writer w = {.calls = 2000};
	struct reader *r;

	with_session("a_stopped_session_stops_recording",
		     (struct gt_session){.pool_bytes = 1 << 20});
	CHECK_NOT_NULL(gt_thread_get());
	atomic_store(&own_segment()->stop, 1);
	write_calls(&w);
	CHECK_EQ(w.recorded, 0); /* the first record already needs a block */
	CHECK(atomic_load(&gt_recording.off));
	r = reader_new(own_segment(), false);
	read_all(r);
	CHECK_EQ(r->records, w.recorded);
	free(r);
}

/* Kills ----------------------------------------------------------------------------- */

enum { KILLED_WRITERS = 3 };

static void write_until_killed(_Atomic uint64_t *acknowledged)
{
	struct writer w[KILLED_WRITERS];
	pthread_t thread;

	for (int i = 0; i < KILLED_WRITERS; i++) {
		w[i] = (struct writer){.calls = UINT64_MAX, .acknowledged = &acknowledged[i]};
		pthread_create(&thread, NULL, write_calls, &w[i]);
	}
	for (;;)
		pause();
}

/* @live: a reader drains the rings while the program runs, as the collector does. Otherwise the
 *   reader processes the rings that the dead process left, as recovery does. */
static void kill_once(unsigned delay_us, bool live)
{
	_Atomic uint64_t *acknowledged =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct reader *r = reader_new(NULL, live);
	uint64_t seen, dropped, sum = 0;
	pthread_t reading;
	pid_t pid = fork();

	if (pid == 0)
		write_until_killed(acknowledged);
	while (!(r->segment = find_segment(pid))) /* until the time limit ends the test */
		usleep(200);
	if (live)
		pthread_create(&reading, NULL, read_until_stopped, r);
	usleep(delay_us);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < KILLED_WRITERS; i++)
		sum += acknowledged[i];
	if (live) {
		atomic_store(&r->stop, true);
		pthread_join(reading, NULL);
	} else {
		read_all(r);
	}
	sums(r->segment, &seen, &dropped);
	CHECK_LE(sum, r->records); /* calls that the program knew to be recorded */
	/* plus one call per writer that was recorded but not counted yet */
	CHECK_LE(r->records, sum + KILLED_WRITERS);
	CHECK_LE(r->records + dropped, seen);
	CHECK_LE(seen, r->records + dropped + KILLED_WRITERS); /* open calls */
	munmap(r->segment, r->segment->segment_bytes);
	munmap((void *)(uintptr_t)acknowledged, 4096);
	free(r);
}

UNIT_TEST(killed_at_random_moments_what_was_committed_is_there)
{
	unit_need_the_kernel();
	with_session("killed_at_random_moments_what_was_committed_is_there",
		     (struct gt_session){.pool_bytes = 32 << 20, .wait_ns = 1000000});
	srand((unsigned)getpid());
	for (int i = 0; i < 40 / (SCALE > 1 ? 4 : 1); i++) {
		kill_once((unsigned)rand() % 8000, false);
		kill_once((unsigned)rand() % 8000, true);
	}
}
