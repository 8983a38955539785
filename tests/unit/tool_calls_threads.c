/* SPDX-License-Identifier: MIT */
/* Notifications to tools about calls in many threads and in fork children, while contexts come and
 * go. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool_fake.h"

static struct gputap_context *others[2];
static pthread_barrier_t both_inside;
static _Atomic int met[2];

static void stop_the_other(const struct gputap_call *c, uint64_t *data, void *user)
{
	uintptr_t mine = (uintptr_t)user;

	(void)data;
	if (c->phase != GPUTAP_CALL_PHASE_ENTER || atomic_exchange(&met[mine], 1) ||
	    c->operation != mine)
		return;
	pthread_barrier_wait(&both_inside);
	CHECK_OK(gputap_context_stop(others[!mine]));
}

static void *call_once(void *op)
{
	call((uint32_t)(uintptr_t)op, 0);
	return NULL;
}

UNIT_TEST(two_callbacks_that_stop_each_others_context_do_not_wait_for_ever)
{
	pthread_t threads[2];

	pthread_barrier_init(&both_inside, NULL, 2);
	for (uintptr_t i = 0; i < 2; i++) {
		const uint32_t op = (uint32_t)i;

		others[i] = context(0);
		CHECK_OK(gputap_context_calls(others[i], DOMAIN, &op, 1, 0, stop_the_other,
					      (void *)i));
		CHECK_OK(gputap_context_start(others[i]));
	}
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, call_once, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

enum { CALLERS = 8, TOOLS = 4 };

static _Atomic int running[TOOLS], generation_of[TOOLS];
static _Atomic uint64_t begun, ended;
static uint64_t wanted;

struct heard_by {
	int tool, generation;
};

/* Check that the notified tool is started and has the generation in its user pointer. */
static void check_started(const struct gputap_call *c, uint64_t *data, void *user)
{
	const struct heard_by *h = user;

	if (!atomic_load(&running[h->tool]) ||
	    atomic_load(&generation_of[h->tool]) != h->generation)
		unit_fail(__FILE__, __LINE__, "tool %d is told while it is stopped", h->tool);
	if (c->phase == GPUTAP_CALL_PHASE_ENTER) {
		*data = c->correlation;
		atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
	} else {
		if (*data != c->correlation)
			unit_fail(__FILE__, __LINE__, "%llu and %llu", (unsigned long long)*data,
				  (unsigned long long)c->correlation);
		atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
	}
}

static bool enough(void)
{
	return atomic_load_explicit(&begun, memory_order_relaxed) >= wanted;
}

static void *caller(void *seed)
{
	for (uint32_t i = (uint32_t)(uintptr_t)seed; !enough(); i++)
		CHECK_EQ(call(i % 3, i), 2 * (uint64_t)i);
	return NULL;
}

static void *tool(void *arg)
{
	int me = (int)(uintptr_t)arg;
	unsigned random = (unsigned)me * 7919u + 1;

	for (int round = 0; !enough(); round++) {
		struct heard_by h = {me, round};
		struct gputap_context *ctx = context(random % 3 ? 0 : GPUTAP_CONTEXT_DENSE);

		random = random * 1103515245u + 12345u;
		atomic_store(&generation_of[me], round);
		CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, check_started, &h));
		for (unsigned i = 0; i <= (random >> 16) % 4 && !enough(); i++) {
			atomic_store(&running[me], 1);
			CHECK_OK(gputap_context_start(ctx));
			if (random & 0x10000)
				sched_yield();
			if (random & 0x20000)
				break; /* destroyed while started */
			CHECK_OK(gputap_context_stop(ctx));
			atomic_store(&running[me], 0);
		}
		gputap_context_destroy(ctx);
		atomic_store(&running[me], 0);
	}
	return NULL;
}

UNIT_TEST_SECONDS(threads_call_while_tools_come_and_go_and_none_is_notified_after_its_stop, 1200)
{
	/* number of notified calls, summed over all threads and tools */
	const char *more = getenv("GPUTAP_TOOL_CALLS");
	pthread_t callers[CALLERS], tools[TOOLS];

	wanted = more ? strtoull(more, NULL, 10) : 100000;
	for (uintptr_t i = 0; i < TOOLS; i++)
		pthread_create(&tools[i], NULL, tool, (void *)i);
	for (uintptr_t i = 0; i < CALLERS; i++)
		pthread_create(&callers[i], NULL, caller, (void *)i);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(callers[i], NULL);
	for (int i = 0; i < TOOLS; i++)
		pthread_join(tools[i], NULL);
	CHECK_LE(atomic_load(&ended), atomic_load(&begun));
}

static uint64_t seen_ids[CALLERS * 1000];
static _Atomic uint64_t seen_count;

static void note_id(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)data, (void)user;
	if (c->phase == GPUTAP_CALL_PHASE_ENTER)
		seen_ids[atomic_fetch_add(&seen_count, 1)] = c->correlation;
}

static void *thousand_calls(void *unused)
{
	for (int i = 0; i < 1000; i++)
		call(0, 0);
	return unused;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void ids_of_threads(uint32_t flags)
{
	struct gputap_context *ctx = context(flags);
	pthread_t threads[CALLERS];

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, note_id, NULL));
	CHECK_OK(gputap_context_start(ctx));
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, thousand_calls, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(atomic_load(&seen_count), CALLERS * 1000);
	qsort(seen_ids, CALLERS * 1000, sizeof seen_ids[0], compare);
	for (int i = 1; i < CALLERS * 1000; i++)
		CHECK_LT(seen_ids[i - 1], seen_ids[i]);
}

UNIT_TEST(correlations_of_many_threads_are_unique)
{
	ids_of_threads(0);
}

UNIT_TEST(correlations_are_without_gaps_where_a_context_wants_them_so)
{
	ids_of_threads(GPUTAP_CONTEXT_DENSE);
	CHECK_EQ(seen_ids[0], 1);
	CHECK_EQ(seen_ids[CALLERS * 1000 - 1], CALLERS * 1000);
}

static _Atomic int parent_is_inside;

static void dwell(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)c, (void)data, (void)user;
	atomic_store(&parent_is_inside, 1);
	while (atomic_load(&parent_is_inside))
		sched_yield();
}

UNIT_TEST(a_forks_child_does_not_wait_for_callbacks_of_its_parents_threads)
{
	const uint32_t op = 2;
	struct gputap_context *ctx = context(0);
	pthread_t thread;
	int status;
	pid_t pid;

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, &op, 1, 0, dwell, NULL));
	CHECK_OK(gputap_context_start(ctx));
	pthread_create(&thread, NULL, call_once, (void *)(uintptr_t)2);
	while (!atomic_load(&parent_is_inside))
		sched_yield();
	pid = fork();
	if (pid == 0)
		_exit(gputap_context_stop(ctx) != 0); /* the time limit ends a hanging child */
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	for (int i = 0; i < 2; i++) { /* ENTER and EXIT */
		atomic_store(&parent_is_inside, 0);
		while (i == 0 && !atomic_load(&parent_is_inside))
			sched_yield();
	}
	pthread_join(thread, NULL);
}

static void tell_phase(const struct gputap_call *c, uint64_t *data, void *user)
{
	size_t at = strlen(notified);

	(void)data, (void)user;
	CHECK_EQ(c->thread, gettid());
	snprintf(notified + at, sizeof notified - at, "%c%u:%lu ",
		 c->phase == GPUTAP_CALL_PHASE_ENTER ? '+' : '-', c->operation,
		 (unsigned long)c->correlation);
}

static pid_t child;

static void fork_in_the_middle(void)
{
	child = fork();
	call(2, 0);
}

/* Tools keep maps by number, which are copied into the child: a reused number would have two
 * meanings there. */
UNIT_TEST(
	a_forks_child_is_told_the_end_of_the_call_around_it_and_counts_on_from_its_parents_numbers)
{
	struct gputap_context *ctx = context(GPUTAP_CONTEXT_DENSE);
	int status;

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, tell_phase, NULL));
	CHECK_OK(gputap_context_start(ctx));
	call(1, 0);
	call_of(&table, 0, 0, fork_in_the_middle);
	call(1, 0);
	CHECK_STR(notified, "+1:1 -1:1 +0:2 +2:3 -2:3 -0:2 +1:4 -1:4 "); /* in parent and child */
	if (child == 0)
		_exit(0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}
