/* SPDX-License-Identifier: MIT */
/* gputap's own threads: get notified before and after gputap starts a thread.
 *
 *     cc threads.c -lgputap -o threads && ./threads */
#include <gputap/tool.h>
#include <stdio.h>

static void before(void *user)
{
	(void)user;
	puts("gputap starts a thread");
}

static void after(void *user)
{
	(void)user;
	puts("the thread exists");
}

int main(void)
{
	struct gputap_delivery *delivery;

	gputap_thread_subscribe(before, after, NULL);
	return gputap_delivery_create(&delivery) != 0;
}
