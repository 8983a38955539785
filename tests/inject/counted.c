/* SPDX-License-Identifier: MIT */
/* The library that is injected: counts its calls, and uses what a real library uses. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int count(const char *argument);
int linger(const char *seconds);
int environment(const char *nothing);

/* Return the number of calls so far; for "x", plus 100. */
int count(const char *argument)
{
	static _Thread_local int in_thread;
	static int calls;
	char *p = malloc(1000), text[32];

	free(p);
	snprintf(text, sizeof text, "%.2f", 1.0 / 3);
	if (strcmp(text, "0.33") != 0 || in_thread++)
		return -1;
	return ++calls + (argument[0] == 'x' ? 100 : 0);
}

int linger(const char *seconds)
{
	sleep((unsigned)atoi(seconds));
	return 7;
}

/* Return 1 if the thread blocks all signals. */
int environment(const char *nothing)
{
	sigset_t set;

	(void)nothing;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGTERM) && sigismember(&set, SIGUSR1) &&
	       sigismember(&set, SIGURG);
}
