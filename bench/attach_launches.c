/* SPDX-License-Identifier: MIT */
/* attach_launches COUNTS THREADS [locked]: threads that launch kernels all the time, with one of
 * tests/control/on_<runtime>.c (attach_campaign.py). Prints "ready", runs until the standard input
 * is closed, and prints "ok". COUNTS is a file that receives two numbers: launches begun and done.
 * locked: one thread at a time, for runtimes whose lists belong to one thread. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control.h"

enum { THREADS_MOST = 64, AT_ONCE = 3 };

struct counts {
	_Atomic uint64_t begun, done;
};

static struct counts *counts;
static atomic_bool over;
static bool is_locked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *launch(void *unused)
{
	while (!atomic_load(&over)) {
		if (is_locked)
			pthread_mutex_lock(&lock);
		atomic_fetch_add(&counts->begun, AT_ONCE);
		run_kernel('a', AT_ONCE);
		atomic_fetch_add(&counts->done, AT_ONCE);
		if (is_locked)
			pthread_mutex_unlock(&lock);
		usleep(500);
	}
	return unused;
}

int main(int argc, char **argv)
{
	const int count = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t threads[THREADS_MOST];
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0 || count > THREADS_MOST || ftruncate(fd, sizeof *counts))
		return 2;
	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		return 2;
	is_locked = argc > 3;
	run_kernel('a', 1);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, launch, NULL))
			return 2;
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	atomic_store(&over, true);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	puts("ok");
	return 0;
}
