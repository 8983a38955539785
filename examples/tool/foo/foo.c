/* SPDX-License-Identifier: MIT */
/* Let tools wrap a library's functions: the library calls its functions through a table, which it
 * registers on first use. cc -shared -fPIC foo.c -lgputap -o libfoo.so */
#include "foo.h"

#include <gputap/gputap.h>
#include <pthread.h>

static int real_foo(int value)
{
	return 2 * value;
}

static struct foo_table table = {.size = sizeof table, .foo = real_foo};

static void offer(void)
{
	gputap_table_offer("foo", (void **)(void *)&table, sizeof table);
}

int foo(int value)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, offer);
	return table.foo(value);
}
