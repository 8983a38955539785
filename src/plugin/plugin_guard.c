/* SPDX-License-Identifier: MIT */
/* Guards calls of plug-in functions that may crash or never return, in a program that must
 * continue.
 *
 *   caller   starts a thread and waits until the thread is done or the time is over
 *   thread   makes the call; if a signal kills the process in the call, a line on stderr first
 *            names the signal and the call
 *
 * After the call, the program's signal handlers are restored. Once the line is printed, the
 * program's handler or the default action handles the signal. Locking: each call has its own lock,
 * which a plug-in cannot take. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plugin/plugin_parts.h"

enum { STACK_BYTES = 8 << 20 }; /* vendors' code runs on this stack */

static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { DEADLY = sizeof deadly / sizeof *deadly };

struct guarded_call {
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done, is_left; /* protected by the lock */
	void (*call)(void *data);
	void *data;
};

/* Only one call at a time is watched for signals; a second concurrent call is not watched. */
static struct sigaction before[DEADLY];
static char line[512];
static _Atomic bool watching;
static _Thread_local bool in_call;

static void name_death(int number)
{
	ssize_t written;

	for (int i = 0; i < DEADLY; i++)
		if (deadly[i] == number)
			sigaction(number, &before[i], NULL);
	if (in_call) {
		written = write(STDERR_FILENO, line, strlen(line));
		(void)written;
	}
	/* a fault recurs when this handler returns; SIGABRT must be raised again */
	if (number == SIGABRT)
		raise(number);
}

static bool begin_watch(const char *plugin, const char *what)
{
	struct sigaction ours = {.sa_handler = name_death, .sa_flags = SA_ONSTACK};
	bool is_free = false;

	if (!atomic_compare_exchange_strong(&watching, &is_free, true))
		return false;
	snprintf(line, sizeof line, "gputap: plug-in %.200s ends the process in %.200s\n", plugin,
		 what);
	for (int i = 0; i < DEADLY; i++)
		sigaction(deadly[i], &ours, &before[i]);
	return true;
}

/* Restore the signal handlers, except handlers that the plug-in has set during the call. */
static void end_watch(void)
{
	struct sigaction now;

	for (int i = 0; i < DEADLY; i++)
		if (!sigaction(deadly[i], NULL, &now) && now.sa_handler == name_death)
			sigaction(deadly[i], &before[i], NULL);
	atomic_store(&watching, false);
}

static void destroy_call(struct guarded_call *c)
{
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void *run_call(void *data)
{
	struct guarded_call *c = data;
	bool is_left;

	in_call = true;
	c->call(c->data);
	in_call = false;
	pthread_mutex_lock(&c->lock);
	c->is_done = true;
	is_left = c->is_left;
	pthread_cond_signal(&c->done);
	pthread_mutex_unlock(&c->lock);
	if (is_left)
		destroy_call(c);
	return NULL;
}

static struct guarded_call *make_call(void (*call)(void *data), void *data)
{
	struct guarded_call *c = calloc(1, sizeof *c);
	pthread_condattr_t clock;

	if (!c)
		return NULL;
	c->call = call;
	c->data = data;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->done, &clock);
	pthread_condattr_destroy(&clock);
	return c;
}

static bool start_thread(struct guarded_call *c)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&thread, &attributes, run_call, c);
	pthread_attr_destroy(&attributes);
	return !error;
}

/* Wait for the call. Return true if the call is done. Otherwise the call's thread destroys @c when
 * the call returns. */
static bool wait_for_call(struct guarded_call *c, uint64_t limit_ns)
{
	struct timespec until;
	bool is_done;

	clock_gettime(CLOCK_MONOTONIC, &until);
	limit_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(limit_ns / 1000000000);
	until.tv_nsec = (long)(limit_ns % 1000000000);
	pthread_mutex_lock(&c->lock);
	while (!c->is_done && pthread_cond_timedwait(&c->done, &c->lock, &until) != ETIMEDOUT)
		;
	is_done = c->is_done;
	c->is_left = !is_done;
	pthread_mutex_unlock(&c->lock);
	return is_done;
}

bool gt_plugin_guard(const char *plugin, const char *what, void (*call)(void *data), void *data,
		     uint64_t limit_ns)
{
	struct guarded_call *c = make_call(call, data);
	bool is_done, watched;

	watched = begin_watch(plugin, what);
	if (!c || !start_thread(c)) {
		if (c)
			destroy_call(c);
		call(data); /* no thread could be started: call without a guard */
		is_done = true;
	} else {
		is_done = wait_for_call(c, limit_ns);
		if (is_done)
			destroy_call(c);
	}
	if (watched)
		end_watch();
	return is_done;
}
