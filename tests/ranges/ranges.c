/* SPDX-License-Identifier: MIT */
/* Begin and end ranges with gputap's C API, in the way that the first argument names. Prints the
 * calls' results. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gputap/gputap.h"

static int begin(uint32_t kind, const char *name, uint64_t key)
{
	return gputap_range_begin(kind, name, key, -1, NULL, 0);
}

static void nest(void)
{
	static const int64_t shapes[] = {2, 4, 8, -1, 0};

	printf("%d", begin(GPUTAP_RANGE_USER, "step", 1));
	printf(" %d", gputap_range_begin(GPUTAP_RANGE_OPERATOR, "aten::add", 2, 7, shapes, 5));
	printf(" %d", begin(GPUTAP_RANGE_OPERATOR, "aten::empty", 3));
	printf(" %d", gputap_range_end(3));
	printf(" %d", gputap_range_end(2));
	printf(" %d", begin(GPUTAP_RANGE_BACKWARD, "AddBackward0", 4));
	printf(" %d", gputap_range_end(4));
	printf(" %d\n", gputap_range_end(1));
}

/* An end without a begin, an outer end before an inner one, missing ends. */
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

/* A range that the parent began ends in both processes; it belongs to the parent. The child has its
 * own. */
static void use_fork(void)
{
	pid_t child;

	begin(GPUTAP_RANGE_USER, "across the fork", 1);
	child = fork();
	if (!child) {
		begin(GPUTAP_RANGE_USER, "the child's", 2);
		gputap_range_end(2);
		_exit(gputap_range_end(1) != 0);
	}
	waitpid(child, NULL, 0);
	printf("%d\n", gputap_range_end(1));
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "nest";

	printf("%d ", gputap_range_source((const void *)(uintptr_t)printf, 20300));
	if (!strcmp(way, "nest"))
		nest();
	else if (!strcmp(way, "cross"))
		cross();
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
