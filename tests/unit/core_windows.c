/* SPDX-License-Identifier: MIT */
/* Pauses a process for all reasons at once: through the session's word, which a thread follows, by
 * the program, and outside of the ranges of many threads. Most valuable in the ThreadSanitizer
 * build. */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/context.h"
#include "core/range_window.h"
#include "core/recording.h"
#include "core/table.h"
#include "gputap/gputap.h"
#include "ring/session.h"
#include "tool/tool_follow.h"
#include "unit.h"

#define DOMAIN GT_DOMAIN_REFDEV
enum { THREADS = 4, RANGES = 5000, TURNS = 500 };

static int tap_id, real_id; /* the addresses of these ids represent functions */
static const struct gt_operation operations[1] = {{GT_OP(DOMAIN, 0, 0), 0, false, false, 0}};
static int32_t functions[1];
static struct gt_tap taps[1];
static struct gt_table table = {DOMAIN, 0, operations, 1, taps, "fake", 10000, 0, functions};

__attribute__((constructor)) static void lay_out_functions(void)
{
	functions[0] = (int32_t)((char *)&tap_id - (char *)functions);
}

static struct gt_session *session; /* the mapping that the collector uses */

/* Execute this program again, in a session. @from, @to: range of `step` numbers; 0: not
 * requested. */
static void with_session(const char *test, uint32_t control, uint64_t from, uint64_t to)
{
	struct gt_session s = {
		.magic = GT_SESSION_MAGIC,
		.version = GT_SESSION_VERSION,
		.bytes = sizeof s,
		.host_clock = GT_HOST_CLOCK_BOOTTIME,
		.block_bytes = 16384,
		.pool_bytes = 1 << 20,
		.slot_count = 8,
		.domains = GT_DOMAIN_BIT(DOMAIN),
		.control = control,
		.ranges = {{.number = from, .name = "st?p"}, {.number = to, .name = "step"}},
	};
	const char *folder = getenv(GT_SESSION_ENV);
	const void *const target[1] = {&real_id};
	char path[256];
	void *out[1];
	int fd;

	if (!folder) {
		s.ops[DOMAIN][0] = 1;
		folder = unit_folder();
		snprintf(path, sizeof path, "%s/session", folder);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		CHECK_EQ(write(fd, &s, sizeof s), (ssize_t)sizeof s);
		close(fd);
		setenv(GT_SESSION_ENV, folder, 1);
		execl("/proc/self/exe", "core_windows", "--no-fork", test, (char *)NULL);
	}
	snprintf(path, sizeof path, "%s/session", folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	session = mmap(NULL, sizeof *session, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	CHECK(session != MAP_FAILED);
	CHECK_EQ(gt_table_register(&table, target, sizeof out, out), 0);
}

static struct gt_segment *own_segment(void)
{
	return atomic_load(&gt_recording.segment);
}

static bool is_recorded(void)
{
	return gt_tap_services(&taps[0]) & GT_SERVICE_STREAM;
}

static uint32_t say(uint32_t serial, bool paused)
{
	uint32_t word = GT_CONTROL(serial, GT_WINDOW_COMMAND, paused);

	atomic_store(&session->control, word);
	syscall(SYS_futex, &session->control, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return word;
}

static void wait_until_followed(uint32_t word)
{
	while (atomic_load(&own_segment()->control) != word)
		sched_yield();
}

/* Let the thread end before the process ends. */
static void end_session(uint32_t serial)
{
	atomic_store(&session->stop, 1);
	say(serial, false);
}

/* Check that the windows of the segment are alternately recorded and paused. */
static void check_windows(bool recorded)
{
	const struct gt_segment *r = own_segment();
	uint32_t count = atomic_load(&r->window_count);

	for (uint32_t n = count > GT_WINDOWS_KEPT ? count - GT_WINDOWS_KEPT : 0; n < count; n++)
		CHECK_EQ(r->windows[n % GT_WINDOWS_KEPT].recorded == 1,
			 (count - 1 - n) % 2 ? !recorded : recorded);
}

static _Atomic uint32_t last_ones;

static void *begin_ranges(void *arg)
{
	(void)arg;
	for (int i = 0; i < RANGES; i++)
		if (gt_range_note("step")) {
			atomic_fetch_add(&last_ones, 1);
			gt_range_window_end();
		}
	return NULL;
}

static void *pause_program(void *arg)
{
	(void)arg;
	for (int i = 0; i < TURNS; i++) {
		gputap_pause();
		gputap_resume();
	}
	return NULL;
}

UNIT_TEST(ranges_of_many_threads_begin_one_window_and_end_it)
{
	pthread_t threads[THREADS];
	const struct gt_segment *r;

	with_session("ranges_of_many_threads_begin_one_window_and_end_it", 0, 7777, 11111);
	CHECK(!is_recorded());
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, begin_ranges, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	r = own_segment();
	CHECK_EQ(atomic_load(&last_ones), 1);
	CHECK(!is_recorded());
	CHECK_EQ(atomic_load(&gt_range_edges), 0);
	CHECK_EQ(atomic_load(&r->window_count), 3);
	check_windows(false);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(r->windows[i].why, GT_WINDOW_RANGE);
	CHECK_EQ(atomic_load(&r->range_window), GT_RANGE_WINDOW_BEGAN | GT_RANGE_WINDOW_ENDED);
	CHECK(atomic_load(&r->ranges_begun[GT_RANGE_FROM]) >= 7777);
	CHECK(atomic_load(&r->ranges_begun[GT_RANGE_TO]) >= 11111);
}

UNIT_TEST(all_who_pause_do_so_at_once)
{
	pthread_t program, ranges;
	uint32_t word = 0;

	with_session("all_who_pause_do_so_at_once", GT_CONTROL(0, GT_WINDOW_PAUSED, 1), 2500, 0);
	CHECK_EQ(atomic_load(&gt_pause_reasons), GT_PAUSE_SESSION | GT_PAUSE_RANGES);
	gt_control_meet(); /* the process's first call */
	pthread_create(&program, NULL, pause_program, NULL);
	pthread_create(&ranges, NULL, begin_ranges, NULL);
	for (uint32_t i = 1; i <= TURNS; i++) {
		word = say(i, i % 2);
		if (i % 16 == 0)
			wait_until_followed(word);
	}
	pthread_join(program, NULL);
	pthread_join(ranges, NULL);
	wait_until_followed(word);
	CHECK_EQ(atomic_load(&gt_pause_reasons), 0);
	CHECK(is_recorded());
	check_windows(true);
	end_session(TURNS + 1);
}

UNIT_TEST(a_forks_child_counts_its_own_while_others_pause)
{
	pthread_t program;
	int status;

	unit_need_the_kernel();
	with_session("a_forks_child_counts_its_own_while_others_pause", 0, 2, 0);
	gt_range_note("step");
	gt_range_note("step");
	CHECK(is_recorded());
	pthread_create(&program, NULL, pause_program, NULL);
#ifdef __SANITIZE_THREAD__ /* ThreadSanitizer assumes that the child has leaked that thread */
	pthread_join(program, NULL);
#endif
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			gputap_resume(); /* the parent may have paused */
			if (is_recorded())
				_exit(2);
			gt_range_note("other");
			gt_range_note("step");
			if (is_recorded())
				_exit(3);
			gt_range_note("step");
			_exit(is_recorded() ? 0 : 4);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	}
#ifndef __SANITIZE_THREAD__
	pthread_join(program, NULL);
#endif
	CHECK(is_recorded());
}
