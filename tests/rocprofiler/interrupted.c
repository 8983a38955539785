/* SPDX-License-Identifier: MIT */
/* A thread that makes calls in a loop is repeatedly stopped at arbitrary points. Each time, the
 * main thread must be able to continue with its own calls. */
#include <pthread.h>
#include <roctx.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TIMES = 2000, CALLS = 20 };

static sem_t stopped, go_on;
static _Atomic int over;
static _Atomic unsigned long made;

static void stop_here(int sig)
{
	(void)sig;
	sem_post(&stopped);
	sem_wait(&go_on);
}

static void *make_calls(void *unused)
{
	(void)unused;
	for (; !over; made++)
		roctxMarkA("theirs");
	return NULL;
}

int main(void)
{
	pthread_t thread;

	sem_init(&stopped, 0, 0);
	sem_init(&go_on, 0, 0);
	signal(SIGUSR1, stop_here);
	roctxMarkA("first");
	pthread_create(&thread, NULL, make_calls, NULL);
	for (int i = 0; i < TIMES; i++) {
		/* wait until the thread has continued: a signal that is pending when the previous
		 * handler returns would stop the thread at the same point */
		for (unsigned long before = made; made == before;)
			sched_yield();
		for (volatile int wait = i * 7 % 97; wait > 0; wait--)
			;
		pthread_kill(thread, SIGUSR1);
		sem_wait(&stopped);
		for (int k = 0; k < CALLS; k++)
			roctxMarkA("ours");
		sem_post(&go_on);
	}
	over = 1;
	pthread_join(thread, NULL);
	puts("went on each time");
	return 0;
}
