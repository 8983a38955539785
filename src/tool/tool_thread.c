/* SPDX-License-Identifier: MIT */
/* gputap's own threads in the program: who is told of them, and that a callback which ends one (pthread_exit(), pthread_cancel()) ends no more
 * than that: what the thread was there for is taken over. A thread-specific value's destructor notices, as it runs however a thread ends. */
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "tool/tool.h"

enum { SUBSCRIBERS = 16 };

static struct {
	gputap_thread_fn before, after;
	void *user;
	_Atomic uint32_t there;
} subscribers[SUBSCRIBERS];
static _Atomic uint32_t subscriber_count;

int gputap_thread_subscribe(gputap_thread_fn before, gputap_thread_fn after, void *user)
{
	uint32_t n = atomic_load_explicit(&subscriber_count, memory_order_relaxed);

	if (!before && !after)
		return -EINVAL;
	do {
		if (n == SUBSCRIBERS)
			return -ENOSPC;
	} while (!atomic_compare_exchange_weak_explicit(&subscriber_count, &n, n + 1, memory_order_relaxed, memory_order_relaxed));
	subscribers[n].before = before;
	subscribers[n].after = after;
	subscribers[n].user = user;
	atomic_store_explicit(&subscribers[n].there, 1, memory_order_release);
	return 0;
}

void gt_tool_thread_before(void)
{
	for (int i = 0; i < SUBSCRIBERS; i++)
		if (atomic_load_explicit(&subscribers[i].there, memory_order_acquire) && subscribers[i].before)
			subscribers[i].before(subscribers[i].user);
}

void gt_tool_thread_after(void)
{
	for (int i = SUBSCRIBERS - 1; i >= 0; i--)
		if (atomic_load_explicit(&subscribers[i].there, memory_order_acquire) && subscribers[i].after)
			subscribers[i].after(subscribers[i].user);
}

struct role {
	void (*left)(void *arg);
	void *arg;
};
static _Thread_local struct role role;
static pthread_key_t key;
static bool key_there;

static void thread_ends(void *value)
{
	struct role *r = value;

	gt_tool_deliver_left();
	r->left(r->arg);
}

static void make_key(void)
{
	key_there = pthread_key_create(&key, thread_ends) == 0;
}

/* A thread names itself: for another one, which may have ended by then, pthread_setname_np() would open a file in the program. */
void gt_tool_thread_takes(const char *name, void (*left)(void *arg), void *arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	prctl(PR_SET_NAME, name);
	pthread_once(&once, make_key);
	role = (struct role){left, arg};
	if (key_there)
		pthread_setspecific(key, &role);
}

void gt_tool_thread_leaves(void)
{
	if (key_there)
		pthread_setspecific(key, NULL);
}
