/* SPDX-License-Identifier: MIT */
/* Starts gputap's threads in the program, notifies subscribers of them, and recovers if a callback
 * ends such a thread (pthread_exit(), pthread_cancel()): another thread then takes over the ended
 * thread's task. The destructor of a thread-specific value detects the end, because the destructor
 * always runs. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/seccomp.h"
#include "ring/segment_threads.h"
#include "tool/tool.h"
#include "tool/tool_thread.h"

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
	} while (!atomic_compare_exchange_weak_explicit(&subscriber_count, &n, n + 1,
							memory_order_relaxed,
							memory_order_relaxed));
	subscribers[n].before = before;
	subscribers[n].after = after;
	subscribers[n].user = user;
	atomic_store_explicit(&subscribers[n].there, 1, memory_order_release);
	return 0;
}

static void notify_before(void)
{
	for (int i = 0; i < SUBSCRIBERS; i++)
		if (atomic_load_explicit(&subscribers[i].there, memory_order_acquire) &&
		    subscribers[i].before)
			subscribers[i].before(subscribers[i].user);
}

static void notify_after(void)
{
	for (int i = SUBSCRIBERS - 1; i >= 0; i--)
		if (atomic_load_explicit(&subscribers[i].there, memory_order_acquire) &&
		    subscribers[i].after)
			subscribers[i].after(subscribers[i].user);
}

/* Returns the number of bytes that glibc takes from each thread's stack for static thread-local
 * storage, which may be large. The function is looked up early, because a thread may later be
 * started in code that must not wait for the dynamic linker's lock. */
static GT_AT_START size_t (*find_taken_bytes)(const pthread_attr_t *attr);

__attribute__((constructor)) static void find_stack_function(void)
{
	*(void **)&find_taken_bytes = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
}

static void set_stack(pthread_attr_t *attr, size_t stack_bytes)
{
	if (!stack_bytes)
		pthread_attr_getstacksize(attr, &stack_bytes);
	pthread_attr_setstacksize(attr,
				  stack_bytes + (find_taken_bytes ? find_taken_bytes(attr) : 0));
}

/* Create a thread with all signals blocked, so it never runs the program's handlers. */
static int create(void *(*run)(void *), void *arg, size_t stack_bytes)
{
	sigset_t all, signals;
	pthread_attr_t attr;
	pthread_t thread;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return rc;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	set_stack(&attr, stack_bytes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &signals);
	rc = pthread_create(&thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

int gt_tool_thread_try(void *(*run)(void *), void *arg, size_t stack_bytes)
{
	int rc;

	notify_before();
	rc = create(run, arg, stack_bytes);
	notify_after();
	return rc;
}

int gt_tool_thread_start(void *(*run)(void *), void *arg, size_t stack_bytes)
{
	int rc = gt_tool_thread_try(run, arg, stack_bytes);

	if (rc)
		gt_event_write(gt_thread_own(), GT_EVENT_FAULT, GT_DOMAIN_NONE, (uint64_t)rc,
			       "gputap could not create a thread: GPU activities are collected "
			       "only in the program's own calls");
	return rc;
}

struct role {
	void (*left)(void *arg);
	void *arg;
};
static _Thread_local struct role role __attribute__((tls_model("initial-exec")));
static pthread_key_t key;
static bool key_there;

/* Count gputap's threads in this process's segment. The collector compares the count with the
 * number of all threads to detect a process whose own threads have ended. */
void gt_tool_thread_count(bool begins)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	if (r && begins)
		atomic_fetch_add_explicit(&gt_segment_threads(r)->running, 1, memory_order_relaxed);
	else if (r)
		atomic_fetch_sub_explicit(&gt_segment_threads(r)->running, 1, memory_order_relaxed);
}

/* Name the calling thread. Do nothing if the process has a seccomp filter, because the filter may
 * kill the process for this. */
void gt_tool_thread_name(const char *name)
{
	if (!gt_seccomp_is_filtered())
		prctl(PR_SET_NAME, name);
}

static void thread_ends(void *value)
{
	struct role *r = value;

	gt_tool_thread_count(false);
	gt_tool_deliver_left();
	r->left(r->arg);
}

static void make_key(void)
{
	key_there = pthread_key_create(&key, thread_ends) == 0;
}

/* Name only the calling thread. Naming another thread with pthread_setname_np() would open a file
 * in the program, and that thread may have ended. */
void gt_tool_thread_takes(const char *name, void (*left)(void *arg), void *arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	gt_tool_thread_name(name);
	gt_tool_thread_count(true);
	pthread_once(&once, make_key);
	role = (struct role){left, arg};
	if (key_there)
		pthread_setspecific(key, &role);
}

bool gt_tool_thread_is_ours(void)
{
	return role.left != NULL;
}

void gt_tool_thread_leaves(void)
{
	gt_tool_thread_count(false);
	if (key_there)
		pthread_setspecific(key, NULL);
}
