/* SPDX-License-Identifier: MIT */
/* Buffers of the tool API: order, loss, watermark, flush from everywhere, threads that start and
 * end, fork, times. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/thread.h"
#include "gputap/tool.h"
#include "tool/tool.h"
#include "unit.h"

struct payload {
	uint64_t thread, number;
};

struct seen {
	_Atomic uint64_t count, batches, lost, disorder, sum;
	_Atomic uint64_t thread; /* thread of the last callback */
	uint64_t next[64];       /* next number, by writing thread */
	_Atomic int hold;        /* the callback waits until this is 0 */
};

static void collect(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
		    uint64_t lost, void *user)
{
	struct seen *s = user;

	(void)b;
	while (atomic_load(&s->hold))
		usleep(100);
	for (size_t i = 0; i < count; i++) {
		const struct payload *p = records[i].payload;

		if (records[i].bytes >= sizeof *p && p->thread < 64) {
			if (p->number < s->next[p->thread])
				atomic_fetch_add(&s->disorder, 1);
			s->next[p->thread] = p->number + 1;
		}
		atomic_fetch_add(&s->sum, records[i].kind);
	}
	atomic_fetch_add(&s->count, count);
	atomic_fetch_add(&s->batches, 1);
	atomic_store(&s->lost, lost);
	atomic_store(&s->thread, (uint64_t)syscall(SYS_gettid));
}

static struct gputap_buffer *make(struct seen *s, size_t bytes, uint32_t policy)
{
	struct gputap_buffer_opts o = {
		.size = sizeof o, .bytes = bytes, .policy = policy, .fn = collect, .user = s};
	struct gputap_buffer *b;

	CHECK_OK(gputap_buffer_create(&o, &b));
	return b;
}

static int put(struct gputap_buffer *b, uint64_t thread, uint64_t number)
{
	struct payload p = {thread, number};

	return gputap_buffer_write(b, 1, &p, sizeof p, 0);
}

UNIT_TEST(records_of_a_thread_come_in_their_order_and_all_of_them)
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 16384, GPUTAP_BUFFER_LOSSLESS);

	for (uint64_t i = 0; i < 100000; i++)
		CHECK_OK(put(b, 0, i));
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count, 100000);
	CHECK_EQ(s.sum, 100000);
	CHECK_EQ(s.disorder, 0);
	CHECK_EQ(s.lost, 0);
	CHECK_GT(s.batches, 1);
	CHECK_NE(s.thread, syscall(SYS_gettid));
	CHECK_OK(gputap_buffer_destroy(b));
}

UNIT_TEST(a_buffer_is_handed_over_when_the_watermark_is_reached_and_not_before)
{
	struct seen s = {0};
	struct gputap_buffer_opts o = {
		.size = sizeof o, .bytes = 4096, .watermark = 3584, .fn = collect, .user = &s};
	struct gputap_buffer *b;

	/* a separate buffer for each round, because after a flush the delivery thread may check the
	 * buffer once more, when the next round has written to it */
	for (int round = 1; round <= 3; round++) {
		CHECK_OK(gputap_buffer_create(&o, &b));
		for (int i = 0; i < 3584 / 32 - 1; i++) /* each 16 bytes are preceded by a head of
		 * 16 bytes */
			CHECK_OK(put(b, 0, (uint64_t)round * 1000 + (uint64_t)i));
		usleep(20000);
		CHECK_EQ(s.batches, round - 1);
		CHECK_OK(put(b, 0, (uint64_t)round * 1000 + 999));
		while (atomic_load(&s.count) < (uint64_t)round * 112)
			usleep(100);
		CHECK_OK(gputap_buffer_destroy(b)); /* the callback has returned by now */
		CHECK_EQ(s.batches, round);
	}
}

UNIT_TEST(a_discarding_buffer_counts_what_it_drops_exactly)
{
	struct seen s = {.hold = 1};
	struct gputap_buffer *b = make(&s, 8192, GPUTAP_BUFFER_DISCARD);
	uint64_t dropped = 0, written = 0;

	for (uint64_t i = 0; i < 5000; i++) {
		int rc = put(b, 0, i);

		CHECK(rc == 0 || rc == -ENOSPC);
		dropped += rc != 0;
		written += rc == 0;
	}
	CHECK_GE(written, 8192 / 32);
	CHECK_LE(written, 3 * 8192 / 32);
	atomic_store(&s.hold, 0);
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_OK(put(b, 0, 5000)); /* the buffer has free space again */
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count, written + 1);
	CHECK_EQ(s.lost, dropped);
	CHECK_OK(gputap_buffer_destroy(b));
}

struct writer {
	struct gputap_buffer *b;
	uint64_t thread, count;
	pthread_t id;
	uint64_t failed;
};

static void *write_many(void *arg)
{
	struct writer *w = arg;

	for (uint64_t i = 0; i < w->count; i++)
		w->failed += put(w->b, w->thread, i) != 0;
	return NULL;
}

UNIT_TEST(threads_that_write_side_by_side_lose_nothing)
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 8192, GPUTAP_BUFFER_LOSSLESS);
	struct writer w[8];

	for (int i = 0; i < 8; i++) {
		w[i] = (struct writer){b, (uint64_t)i, 20000, 0, 0};
		CHECK_EQ(pthread_create(&w[i].id, NULL, write_many, &w[i]), 0);
	}
	for (int i = 0; i < 8; i++)
		pthread_join(w[i].id, NULL);
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count, 8 * 20000);
	CHECK_EQ(s.disorder, 0);
	CHECK_EQ(s.lost, 0);
	CHECK_OK(gputap_buffer_destroy(b));
}

UNIT_TEST(threads_that_discard_side_by_side_count_exactly)
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 4096, GPUTAP_BUFFER_DISCARD);
	struct writer w[4];
	uint64_t failed = 0;

	for (int i = 0; i < 4; i++) {
		w[i] = (struct writer){b, (uint64_t)i, 50000, 0, 0};
		CHECK_EQ(pthread_create(&w[i].id, NULL, write_many, &w[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(w[i].id, NULL);
		failed += w[i].failed;
	}
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_OK(put(b, 0, 60000));
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count + failed, 4 * 50000 + 1);
	CHECK_EQ(s.lost, failed);
	CHECK_EQ(s.disorder, 0);
	CHECK_OK(gputap_buffer_destroy(b));
}

UNIT_TEST(threads_that_have_ended_leave_their_records)
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 1 << 20, GPUTAP_BUFFER_LOSSLESS);

	for (uint64_t i = 0; i < 200; i++) {
		struct writer w = {b, i % 64, 3, 0, 0};

		CHECK_EQ(pthread_create(&w.id, NULL, write_many, &w), 0);
		pthread_join(w.id, NULL);
	}
	CHECK_EQ(s.count, 0);
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count, 600);
	CHECK_OK(gputap_buffer_destroy(b));
}

UNIT_TEST(destroying_hands_over_the_rest)
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 0, GPUTAP_BUFFER_LOSSLESS);

	CHECK_OK(put(b, 0, 1));
	CHECK_OK(gputap_buffer_destroy(b));
	CHECK_EQ(s.count, 1);
	CHECK_OK(gputap_buffer_destroy(NULL));
}

UNIT_TEST(large_records_fit_up_to_the_size_of_the_buffer)
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 1 << 20, GPUTAP_BUFFER_LOSSLESS);
	char *large = calloc(1, 2 << 20);

	((struct payload *)(void *)large)->thread = 1;
	for (uint64_t i = 0; i < 20; i++) {
		((struct payload *)(void *)large)->number = i;
		CHECK_OK(gputap_buffer_write(b, 1, large, 700000, 0));
		CHECK_OK(put(b, 0, i));
	}
	CHECK_EQ(gputap_buffer_write(b, 1, large, 2 << 20, 0), -EMSGSIZE);
	CHECK_EQ(gputap_buffer_write(b, 1, large, SIZE_MAX, 0), -EMSGSIZE); /* rounds up to 0 */
	/* negative as an offset */
	CHECK_EQ(gputap_buffer_write(b, 1, large, SIZE_MAX / 2 + 2, 0), -EMSGSIZE);
	CHECK_EQ(gputap_buffer_write(b, 1, large, (size_t)UINT32_MAX + 2, 0), -EMSGSIZE);
	CHECK_EQ(gputap_buffer_write(b, 1, NULL, 0, 0), 0);
	CHECK_EQ(gputap_buffer_write(b, 1, NULL, 1, 0), -EINVAL);
	CHECK_EQ(gputap_buffer_write(NULL, 1, large, 1, 0), -EINVAL);
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count, 41);
	CHECK_EQ(s.disorder, 0);
	CHECK_EQ(s.lost, 0);
	free(large);
	CHECK_OK(gputap_buffer_destroy(b));
}

/* `last` ---------------------------------------------------------------------------- */

struct ends {
	_Atomic uint64_t ended[4], wrong, records;
};

static void check_ends(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
		       uint64_t lost, void *user)
{
	struct ends *e = user;

	(void)b, (void)lost;
	for (size_t i = 0; i < count; i++) {
		const struct payload *p = records[i].payload;

		if (records[i].kind == 2)
			atomic_store(&e->ended[p->thread], p->number + 1);
		else
			atomic_fetch_add(&e->wrong, p->number < atomic_load(&e->ended[p->thread]));
	}
	atomic_fetch_add(&e->records, count);
}

static _Atomic uint64_t handed[4];
static struct gputap_buffer *shared;

/* Write starts. end_things(), in another thread, writes an end for each start that it sees. */
static void *begin_things(void *arg)
{
	uint64_t me = (uintptr_t)arg;

	for (uint64_t i = 0; i < 20000; i++) {
		struct payload p = {me, i};

		gputap_buffer_write(shared, 1, &p, sizeof p, 0);
		atomic_store_explicit(&handed[me], i + 1, memory_order_release);
	}
	return NULL;
}

static void *end_things(void *arg)
{
	uint64_t me = (uintptr_t)arg, done = 0;

	while (done < 20000) {
		uint64_t there = atomic_load_explicit(&handed[me], memory_order_acquire);

		if (there > done) {
			struct payload p = {me, there - 1};

			gputap_buffer_write(shared, 2, &p, sizeof p, 1);
			done = there;
		}
	}
	return NULL;
}

UNIT_TEST(last_records_come_behind_all_that_was_written_before_by_any_thread)
{
	struct ends e = {0};
	struct gputap_buffer_opts o = {
		.size = sizeof o, .bytes = 16384, .watermark = 512, .fn = check_ends, .user = &e};
	pthread_t t[4];

	CHECK_OK(gputap_buffer_create(&o, &shared));
	for (uintptr_t i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, i % 2 ? end_things : begin_things,
					(void *)(i / 2)),
			 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	CHECK_OK(gputap_buffer_flush(shared));
	CHECK_EQ(e.wrong, 0);
	CHECK_EQ(e.ended[0], 20000);
	CHECK_EQ(e.ended[1], 20000);
	CHECK_OK(gputap_buffer_destroy(shared));
}

/* Calls from inside callbacks ---------------------------------------------------------- */

struct inside {
	struct gputap_buffer *own, *other;
	_Atomic uint64_t count, wrote;
	_Atomic int rc, once;
};

static void from_inside(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
			uint64_t lost, void *user)
{
	struct inside *in = user;

	(void)records, (void)lost;
	in->count += count;
	if (in->once++ == 0) {
		in->rc = gputap_buffer_flush(b);
		in->rc |= gputap_buffer_destroy(b) == -EDEADLK ? 0 : -1;
		/* more records than the buffer holds */
		for (uint64_t i = 0; i < 2000; i++)
			in->wrote += put(b, 0, i) == 0;
		if (in->other) {
			in->rc |= put(in->other, 0, 1);
			in->rc |= gputap_buffer_flush(in->other);
		}
	}
}

UNIT_TEST(a_callback_may_flush_and_fill_its_own_lossless_buffer)
{
	struct inside in = {0};
	struct gputap_buffer_opts o = {.size = sizeof o,
				       .bytes = 4096,
				       .fn = from_inside,
				       .user = &in};
	struct gputap_buffer *b;

	CHECK_OK(gputap_buffer_create(&o, &b));
	CHECK_OK(put(b, 0, 0));
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(in.rc, 0);
	CHECK_EQ(in.wrote, 2000);
	CHECK_EQ(in.count, 2001);
	CHECK_OK(gputap_buffer_destroy(b));
}

UNIT_TEST(two_deliveries_whose_callbacks_flush_each_others_buffers_go_on)
{
	struct inside a = {0}, c = {0};
	struct gputap_delivery *d1, *d2;
	struct gputap_buffer_opts o = {.size = sizeof o, .bytes = 4096, .fn = from_inside};

	CHECK_OK(gputap_delivery_create(&d1));
	CHECK_OK(gputap_delivery_create(&d2));
	o.delivery = d1;
	o.user = &a;
	CHECK_OK(gputap_buffer_create(&o, &a.own));
	o.delivery = d2;
	o.user = &c;
	CHECK_OK(gputap_buffer_create(&o, &c.own));
	a.other = c.own;
	c.other = a.own;
	for (uint64_t i = 0; i < 100; i++) {
		CHECK_OK(put(a.own, 0, i));
		CHECK_OK(put(c.own, 0, i));
	}
	CHECK_OK(gputap_buffer_flush(a.own));
	CHECK_OK(gputap_buffer_flush(c.own));
	CHECK_OK(gputap_buffer_destroy(a.own));
	CHECK_OK(gputap_buffer_destroy(c.own));
	CHECK_EQ(a.count, 2101);
	CHECK_EQ(c.count, 2101);
	CHECK_EQ(a.rc, 0);
	CHECK_EQ(c.rc, 0);
}

static jmp_buf out;
static struct gputap_buffer *left, *leaver;
static _Atomic uint64_t left_count;

static void leave(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
		  uint64_t lost, void *user)
{
	(void)b, (void)records, (void)lost, (void)user;
	left_count += count;
	longjmp(out, 1);
}

static void catch_it(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
		     uint64_t lost, void *user)
{
	(void)b, (void)records, (void)count, (void)lost, (void)user;
	if (setjmp(out) == 0)
		gputap_buffer_flush(left);
}

UNIT_TEST(a_callback_that_jumps_into_the_one_that_flushed_leaves_the_buffer_usable)
{
	struct gputap_buffer_opts o = {.size = sizeof o, .fn = leave};

	CHECK_OK(gputap_buffer_create(&o, &left));
	o.fn = catch_it;
	CHECK_OK(gputap_buffer_create(&o, &leaver));
	for (uint64_t i = 1; i <= 3; i++) {
		CHECK_OK(put(left, 0, i));
		CHECK_OK(put(leaver, 0, i));
		CHECK_OK(gputap_buffer_flush(leaver));
		CHECK_EQ(left_count, i);
	}
	CHECK_OK(gputap_buffer_destroy(left));
	CHECK_OK(gputap_buffer_destroy(leaver));
}

UNIT_TEST(a_buffer_may_be_given_to_another_delivery)
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 0, GPUTAP_BUFFER_LOSSLESS);
	struct gputap_delivery *d;
	uint64_t first;

	CHECK_OK(put(b, 0, 0));
	CHECK_OK(gputap_buffer_flush(b));
	first = s.thread;
	CHECK_OK(gputap_delivery_create(&d));
	CHECK_OK(gputap_buffer_assign(b, d));
	CHECK_EQ(gputap_buffer_assign(b, NULL), -EINVAL);
	CHECK_OK(put(b, 0, 1));
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count, 2);
	CHECK_NE(s.thread, first);
	CHECK_OK(gputap_buffer_destroy(b));
}

/* End the thread with each batch except the last. */
static _Atomic int endings;

static void end_thread(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
		       uint64_t lost, void *user)
{
	collect(b, records, count, lost, user);
	if (endings-- > 0)
		pthread_exit(NULL);
}

UNIT_TEST(a_callback_that_ends_its_thread_is_called_in_another_one)
{
	struct seen s = {0};
	struct gputap_buffer_opts o = {.size = sizeof o, .fn = end_thread, .user = &s};
	struct gputap_buffer *b, *other;
	struct seen others = {0};

	CHECK_OK(gputap_buffer_create(&o, &b));
	other = make(&others, 0, 0); /* a buffer with the same delivery thread */
	endings = 3;
	for (uint64_t i = 1; i <= 5; i++) {
		CHECK_OK(put(b, 0, i));
		CHECK_OK(put(other, 0, i));
		CHECK_OK(gputap_buffer_flush(b));
		CHECK_OK(gputap_buffer_flush(other));
		CHECK_EQ(s.count, i);
		CHECK_EQ(others.count, i);
	}
	CHECK_EQ(endings, -2);
	endings = 1;
	CHECK_OK(put(b, 0, 6));
	CHECK_OK(gputap_buffer_destroy(b));
	CHECK_EQ(s.count, 6);
	CHECK_OK(gputap_buffer_destroy(other));
}

static _Atomic int before, after;
static _Atomic uint64_t starter;

static void count_before(void *user)
{
	(void)user;
	before++;
	starter = (uint64_t)syscall(SYS_gettid);
}

static void count_after(void *user)
{
	CHECK_EQ(*(int *)user, 7);
	after++;
}

UNIT_TEST(threads_are_notified_around_their_start_in_the_thread_that_starts_them)
{
	int user = 7;
	struct seen s = {0};
	struct gputap_delivery *d;
	struct gputap_buffer *b;

	CHECK_EQ(gputap_thread_subscribe(NULL, NULL, NULL), -EINVAL);
	CHECK_OK(gputap_thread_subscribe(count_before, count_after, &user));
	CHECK_EQ(before, 0);
	CHECK_OK(gputap_delivery_create(&d));
	CHECK_EQ(before, 1);
	CHECK_EQ(after, 1);
	CHECK_EQ(starter, (uint64_t)syscall(SYS_gettid));
	b = make(&s, 0, 0);
	CHECK_EQ(before, 2);
	CHECK_OK(gputap_buffer_destroy(b));
	b = make(&s, 0, 0); /* the shared thread exists already */
	CHECK_EQ(before, 2);
	CHECK_OK(gputap_buffer_destroy(b));
}

UNIT_TEST(bad_descriptions_are_refused)
{
	struct {
		struct gputap_buffer_opts o;
		uint64_t more;
	} newer = {.o = {.size = sizeof newer, .fn = collect}};
	struct gputap_buffer_opts good = {.size = sizeof good, .fn = collect}, o;
	struct gputap_buffer *b = (void *)1;

	CHECK_EQ(gputap_buffer_create(NULL, &b), -EINVAL);
	CHECK_NULL(b);
	CHECK_EQ(gputap_buffer_create(&good, NULL), -EINVAL);
	o = good, o.fn = NULL;
	CHECK_EQ(gputap_buffer_create(&o, &b), -EINVAL);
	o = good, o.policy = 2;
	CHECK_EQ(gputap_buffer_create(&o, &b), -EINVAL);
	o = good, o.reserved = 1;
	CHECK_EQ(gputap_buffer_create(&o, &b), -EINVAL);
	o = good, o.size--;
	CHECK_EQ(gputap_buffer_create(&o, &b), -EINVAL);
	newer.more = 1;
	CHECK_EQ(gputap_buffer_create(&newer.o, &b), -EINVAL);
	newer.more = 0;
	CHECK_OK(gputap_buffer_create(&newer.o, &b));
	CHECK_OK(gputap_buffer_destroy(b));
	CHECK_EQ(gputap_buffer_flush(NULL), -EINVAL);
	CHECK_EQ(gputap_delivery_create(NULL), -EINVAL);
}

/* Signals, forks -------------------------------------------------------------------- */

static _Atomic uint64_t handled, go_on = 1;

static void on_signal(int number)
{
	(void)number;
	if (put(shared, 1, handled) == 0)
		handled++;
}

static void *signals_to(void *arg)
{
	while (atomic_load(&go_on)) {
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
		usleep(20);
	}
	return NULL;
}

UNIT_TEST(signal_handlers_write_in_the_middle_of_a_write)
{
	struct seen s = {0};
	pthread_t self = pthread_self(), other;

	shared = make(&s, 16384, GPUTAP_BUFFER_LOSSLESS);
	signal(SIGUSR1, on_signal);
	CHECK_EQ(pthread_create(&other, NULL, signals_to, &self), 0);
	for (uint64_t i = 0; i < 300000; i++)
		CHECK_OK(put(shared, 0, i));
	atomic_store(&go_on, 0);
	pthread_join(other, NULL);
	signal(SIGUSR1, SIG_IGN);
	CHECK_OK(gputap_buffer_flush(shared));
	CHECK_GT(handled, 0);
	CHECK_EQ(s.count, 300000 + handled);
	CHECK_EQ(s.next[0], 300000);
	CHECK_EQ(s.lost, 0);
	CHECK_OK(gputap_buffer_destroy(shared));
}

/* ThreadSanitizer does not follow threads that a fork child starts. The allocator of
 * AddressSanitizer may be locked forever in the child. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
static void in_child(struct gputap_buffer *b, struct seen *s)
{
	for (uint64_t i = 0; i < 10000; i++)
		CHECK_OK(put(b, 2, i));
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s->count, 10000);
	CHECK_EQ(s->next[0], 0);
	CHECK_EQ(s->disorder, 0);
	CHECK_OK(gputap_buffer_destroy(b));
	_exit(0);
}

static void fork_with_records(pid_t (*make_child)(void))
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 65536, GPUTAP_BUFFER_LOSSLESS);
	int status = -1;
	pid_t pid;

	for (uint64_t i = 0; i < 20; i++)
		CHECK_OK(put(b, 0, i));
	pid = make_child();
	if (pid == 0)
		in_child(b, &s);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count, 20);
	CHECK_OK(gputap_buffer_destroy(b));
}

UNIT_TEST(a_forks_child_has_empty_buffers_that_work)
{
	unit_need_the_kernel();
	fork_with_records(fork);
}

static struct gputap_buffer *forking;
static _Atomic int child_status = -1;

static void fork_inside(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
			uint64_t lost, void *user)
{
	int status;
	pid_t pid;

	(void)b, (void)records, (void)lost, (void)user;
	if (count != 3)
		return;
	pid = fork();
	if (pid == 0) {
		int rc = put(forking, 0, 0) | gputap_buffer_flush(forking);

		_exit(rc ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	child_status = status;
}

UNIT_TEST(a_delivery_may_fork)
{
	struct gputap_buffer_opts o = {.size = sizeof o, .fn = fork_inside};

	CHECK_OK(gputap_buffer_create(&o, &forking));
	for (uint64_t i = 0; i < 3; i++)
		CHECK_OK(put(forking, 0, i));
	CHECK_OK(gputap_buffer_flush(forking));
	CHECK_EQ(child_status, 0);
	CHECK_OK(gputap_buffer_destroy(forking));
}
#endif

/* Times ---------------------------------------------------------------------------------- */

struct stamped {
	uint64_t start, end, now_before, now_after;
};

struct times {
	_Atomic uint64_t wrong, back, count, last, off;
};

static void check_times(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
			uint64_t lost, void *user)
{
	struct times *t = user;

	(void)b, (void)lost;
	for (size_t i = 0; i < count; i++) {
		const struct stamped *p = records[i].payload;

		t->wrong += p->start > p->end;
		t->back += p->start < t->last;
		t->last = p->end;
		/* a reading is off by some tens of ns; loaded machines delay threads between two
		 * readings */
		t->off += p->start + 20000 < p->now_before || p->end > p->now_after + 20000;
	}
	t->count += count;
}

UNIT_TEST(ticks_become_boottime_when_they_are_handed_over)
{
	struct times t = {0};
	struct gputap_buffer_opts o = {
		.size = sizeof o, .bytes = 16384, .watermark = 2000, .fn = check_times, .user = &t};
	struct gputap_buffer *b;

	CHECK_OK(gputap_buffer_create(&o, &b));
	for (int i = 0; i < 20000; i++) {
		struct stamped p;

		p.now_before = gputap_now();
		p.start = gt_ticks();
		p.end = gt_ticks();
		p.now_after = gputap_now();
		CHECK_OK(gt_tool_buffer_write_ticks(b, 1, &p, sizeof p, 0, 2, false));
		if (i % 5000 == 0)
			usleep(3000);
	}
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(t.count, 20000);
	CHECK_EQ(t.wrong, 0);
	CHECK_EQ(t.back, 0);
	CHECK_EQ(t.off, 0);
	CHECK_OK(gputap_buffer_destroy(b));
}

/* All functions at once, for ThreadSanitizer ------------------------------------------------- */

static void *write_flush_assign(void *arg)
{
	struct writer *w = arg;
	struct gputap_delivery *d;

	CHECK_OK(gputap_delivery_create(&d));
	for (uint64_t i = 0; i < w->count; i++) {
		w->failed += put(w->b, w->thread, i) != 0;
		if (i % 97 == 0)
			CHECK_OK(gputap_buffer_flush(w->b));
		if (i % 301 == 0)
			CHECK_OK(gputap_buffer_assign(w->b, d));
		if (i % 501 == 0) {
			struct seen s = {0};
			struct gputap_buffer *mine = make(&s, 4096, GPUTAP_BUFFER_LOSSLESS);

			for (uint64_t n = 0; n < 300; n++)
				CHECK_OK(put(mine, 0, n));
			CHECK_OK(gputap_buffer_destroy(mine));
			CHECK_EQ(s.count, 300);
		}
	}
	return NULL;
}

UNIT_TEST(writers_that_flush_and_assign_and_make_buffers_lose_nothing)
{
	struct seen s = {0};
	struct gputap_buffer *b = make(&s, 8192, GPUTAP_BUFFER_LOSSLESS);
	struct writer w[4];

	for (int i = 0; i < 4; i++) {
		w[i] = (struct writer){b, (uint64_t)i, 3000, 0, 0};
		CHECK_EQ(pthread_create(&w[i].id, NULL, write_flush_assign, &w[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(w[i].id, NULL);
	CHECK_OK(gputap_buffer_flush(b));
	CHECK_EQ(s.count, 4 * 3000);
	CHECK_EQ(s.disorder, 0);
	CHECK_OK(gputap_buffer_destroy(b));
}
