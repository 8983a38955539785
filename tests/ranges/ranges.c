/* SPDX-License-Identifier: MIT */
/* Begins and ends ranges with gputap's C API, in the way that the first argument names. Prints the
 * results of the calls. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gputap/gputap.h"

static int begin(enum gputap_range_kind kind, const char *name, uint64_t key)
{
	const struct gputap_range_opts opts = {.size = sizeof opts, .kind = kind};

	return gputap_range_begin(name, key, &opts);
}

static void nest(void)
{
	static const int64_t shapes[] = {2, 4, 8, -1, 0};
	const struct gputap_range_opts add = {.size = sizeof add,
					      .kind = GPUTAP_RANGE_OPERATOR,
					      .shape_count = 5,
					      .shapes = shapes,
					      .sequence = 7,
					      .has_sequence = 1};

	printf("%d", begin(GPUTAP_RANGE_USER, "step", 1));
	printf(" %d", gputap_range_begin("aten::add", 2, &add));
	printf(" %d", begin(GPUTAP_RANGE_OPERATOR, "aten::empty", 3));
	printf(" %d", gputap_range_end(3));
	printf(" %d", gputap_range_end(2));
	printf(" %d", begin(GPUTAP_RANGE_BACKWARD, "AddBackward0", 4));
	printf(" %d", gputap_range_end(4));
	printf(" %d\n", gputap_range_end(1));
}

/* An end without a begin, the end of an outer range before that of an inner range, missing ends. */
static void cross(void)
{
	printf("%d", gputap_range_end(9));
	begin(GPUTAP_RANGE_USER, "outer", 1);
	begin(GPUTAP_RANGE_USER, "inner", 2);
	printf(" %d", gputap_range_end(9));
	printf(" %d", gputap_range_end(1));
	printf(" %d", gputap_range_end(2));
	begin(GPUTAP_RANGE_USER, "left open", 3);
	printf(" %d %d\n", begin(3, "no such kind", 1), begin(GPUTAP_RANGE_USER, NULL, 1));
}

/* Pops without a push, a push and a keyed range inside each other, and NULL. */
static void push(void)
{
	printf("%d %d", gputap_range_pop(), gputap_range_push(NULL));
	printf(" %d", gputap_range_push("step"));
	printf(" %d", gputap_range_begin("keyed", 0, NULL));
	printf(" %d", gputap_range_push("load"));
	printf(" %d", gputap_range_pop());
	printf(" %d", gputap_range_push("store"));
	printf(" %d", gputap_range_end(0));
	printf(" %d", gputap_range_pop());
	printf(" %d\n", gputap_range_pop());
}

/* A pop ends ranges that keys opened inside it. 50 of 300 pushes are only counted. */
static void push_deep(void)
{
	int refused = 0, wrong = 0;

	gputap_range_push("outer");
	gputap_range_begin("keyed", 1, NULL);
	printf("%d", gputap_range_pop());
	printf(" %d", gputap_range_end(1));
	for (int i = 0; i < 300; i++)
		refused += gputap_range_push("deep") != 0;
	for (int i = 0; i < 300; i++)
		wrong += gputap_range_pop() != 0;
	printf(" %d %d %d\n", refused, wrong, gputap_range_pop());
}

/* Options of a newer caller, and invalid options. */
static void pass_options(void)
{
	struct {
		struct gputap_range_opts opts;
		uint64_t newer;
	} longer = {.opts = {.size = sizeof longer}};
	struct gputap_range_opts o = {.size = sizeof o, .shape_count = 1};

	printf("%d", gputap_range_begin("longer", 1, &longer.opts));
	longer.newer = 1;
	printf(" %d", gputap_range_begin("newer", 2, &longer.opts));
	printf(" %d", gputap_range_begin("no shapes", 3, &o));
	o = (struct gputap_range_opts){.size = sizeof o - 1};
	printf(" %d", gputap_range_begin("short", 4, &o));
	printf(" %d\n", gputap_range_end(1));
}

static void go_deep(void)
{
	int refused = 0, wrong = 0;

	for (uint64_t i = 1; i <= 300; i++)
		refused += begin(GPUTAP_RANGE_OPERATOR, "deep", i) != 0;
	for (uint64_t i = 300; i > 0; i--)
		wrong += gputap_range_end(i) != 0;
	printf("%d %d\n", refused, wrong);
}

static void use_long_name(void)
{
	static char name[5000];

	memset(name, 'x', sizeof name - 1);
	printf("%d", begin(GPUTAP_RANGE_USER, name, 1));
	printf(" %d", begin(GPUTAP_RANGE_USER, "", 2));
	printf(" %d", gputap_range_end(2));
	printf(" %d\n", gputap_range_end(1));
}

static void *run_nest(void *unused)
{
	(void)unused;
	nest();
	return NULL;
}

static void use_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run_nest, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* Both processes end a range that the parent began, but the range belongs to the parent. The child
 * has its own ranges. */
static void use_fork(void)
{
	int status = -1;
	pid_t child;

	gputap_range_push("across the fork");
	child = fork();
	if (!child) {
		gputap_range_push("the child's");
		gputap_range_pop();
		_exit(gputap_range_pop() != 0 || gputap_range_pop() != -ENODATA);
	}
	waitpid(child, &status, 0);
	printf("%d %d\n", status, gputap_range_pop());
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "nest";

	printf("%d ", gputap_range_source((const void *)(uintptr_t)printf, 20300));
	if (!strcmp(way, "nest"))
		nest();
	else if (!strcmp(way, "cross"))
		cross();
	else if (!strcmp(way, "push"))
		push();
	else if (!strcmp(way, "push_deep"))
		push_deep();
	else if (!strcmp(way, "options"))
		pass_options();
	else if (!strcmp(way, "deep"))
		go_deep();
	else if (!strcmp(way, "long"))
		use_long_name();
	else if (!strcmp(way, "threads"))
		use_threads();
	else if (!strcmp(way, "fork"))
		use_fork();
	return 0;
}
