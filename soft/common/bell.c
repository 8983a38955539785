/* SPDX-License-Identifier: MIT */
/* Watches doorbells: see bell.h. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "soft/common/bell.h"
#include "soft/common/pause.h"

#define US 1000ull
#define MS 1000000ull

static pthread_mutex_t bells_lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_bell *bells; /* protected by bells_lock */
static pthread_t watcher;
static int watching; /* 1 while the watcher runs */

/* serialises functions that add or remove bells */
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned count; /* protected by life_lock */

static uint64_t spin_ns = 50 * US;

/* futex: soft_value_changed() increments this while a thread is waiting */
static uint32_t value_epoch;
static int value_waiters;

#define LOAD(x)     __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELEASE)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void futex_wait(uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout, NULL, 0);
}

static void futex_wake(uint32_t *word, int threads)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

static void pause_for_some_turns(void)
{
	for (int i = 0; i < 16; i++)
		soft_pause_cpu();
}

static void sleep_us(unsigned us)
{
	struct timespec t = {.tv_nsec = (long)(us * US)};

	nanosleep(&t, NULL);
}

/* Spin once. Return false when the time for spinning is over. */
static bool spin_for_bell(struct soft_idle *idle)
{
	uint64_t now = now_ns();

	if (!idle->since_ns)
		idle->since_ns = now;
	if (now - idle->since_ns >= spin_ns)
		return false;
	pause_for_some_turns();
	return true;
}

/* Return how long to sleep when the last activity was @quiet_ns ago. */
static unsigned pace_us(uint64_t quiet_ns)
{
	return quiet_ns < 2 * MS      ? 10
	       : quiet_ns < 20 * MS   ? 50
	       : quiet_ns < 200 * MS  ? 200
	       : quiet_ns < 2000 * MS ? 1000
				      : 4000;
}

static void wake_waiters(struct soft_bell *bell)
{
	STORE(bell->parked, 0);
	__atomic_fetch_add(&bell->wakeups, 1, __ATOMIC_SEQ_CST);
	futex_wake(&bell->wakeups, 1);
}

static bool wake_changed(void)
{
	bool any = false;

	pthread_mutex_lock(&bells_lock);
	for (struct soft_bell *b = bells; b; b = b->next)
		if (LOAD(b->parked) && LOAD(*b->cell) != LOAD(b->seen)) {
			wake_waiters(b);
			any = true;
		}
	pthread_mutex_unlock(&bells_lock);
	return any;
}

static void *watch_bells(void *unused)
{
	uint64_t last = now_ns();

	prctl(PR_SET_TIMERSLACK, 1ul); /* the default slack would add 50 us to each sleep */
	while (LOAD(watching)) {
		uint64_t now = now_ns();
		if (wake_changed())
			last = now;
		sleep_us(pace_us(now - last));
	}
	return unused;
}

void soft_bell_spin_us(unsigned us)
{
	spin_ns = us * US;
}

int soft_thread_start(pthread_t *thread, const char *name, void *(*function)(void *),
		      void *argument)
{
	sigset_t all, old;
	pthread_t id;
	int error;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&id, NULL, function, argument);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		return error;
	pthread_setname_np(id, name);
	*thread = id;
	return 0;
}

int soft_bell_add(struct soft_bell *bell)
{
	int error = 0;

	pthread_mutex_lock(&life_lock);
	if (!count) {
		STORE(watching, 1);
		error = soft_thread_start(&watcher, "soft-bells", watch_bells, NULL);
	}
	if (!error) {
		count++;
		pthread_mutex_lock(&bells_lock);
		bell->next = bells;
		bells = bell;
		pthread_mutex_unlock(&bells_lock);
	}
	pthread_mutex_unlock(&life_lock);
	return error;
}

void soft_bell_remove(struct soft_bell *bell)
{
	pthread_mutex_lock(&life_lock);
	pthread_mutex_lock(&bells_lock);
	for (struct soft_bell **at = &bells; *at; at = &(*at)->next)
		if (*at == bell) {
			*at = bell->next;
			break;
		}
	pthread_mutex_unlock(&bells_lock);
	if (!--count) {
		STORE(watching, 0);
		pthread_join(watcher, NULL);
	}
	pthread_mutex_unlock(&life_lock);
}

void soft_bell_ring(struct soft_bell *bell)
{
	__atomic_fetch_add(bell->cell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&bell->parked, __ATOMIC_SEQ_CST))
		wake_waiters(bell);
}

void soft_bell_stop(struct soft_bell *bell)
{
	__atomic_store_n(&bell->stop, 1, __ATOMIC_SEQ_CST);
	wake_waiters(bell);
}

void soft_bell_wait(struct soft_bell *bell, uint64_t seen, struct soft_idle *idle)
{
	uint32_t wakeups;

	if (spin_for_bell(idle))
		return;
	/* read before `stop`: if `stop` is set later, the futex wait ends at once */
	wakeups = LOAD(bell->wakeups);
	STORE(bell->seen, seen);
	__atomic_store_n(&bell->parked, 1, __ATOMIC_SEQ_CST);
	/* from here on, the watcher notices stores to the cell; the check below notices an earlier
	 * store */
	if (!__atomic_load_n(&bell->stop, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(bell->cell, __ATOMIC_SEQ_CST) == seen)
		futex_wait(&bell->wakeups, wakeups, NULL);
	STORE(bell->parked, 0);
}

void soft_value_wait(struct soft_idle *idle)
{
	uint32_t epoch = LOAD(value_epoch);
	struct timespec t;
	unsigned most;

	if (spin_for_bell(idle))
		return;
	most = now_ns() - idle->since_ns < 100 * MS ? 250 : 1000;
	idle->sleep_us = idle->sleep_us ? idle->sleep_us * 3 / 2 + 1 : 5;
	if (idle->sleep_us > most)
		idle->sleep_us = most;
	t = (struct timespec){.tv_nsec = (long)(idle->sleep_us * US)};
	__atomic_fetch_add(&value_waiters, 1, __ATOMIC_SEQ_CST);
	futex_wait(&value_epoch, epoch, &t);
	__atomic_fetch_sub(&value_waiters, 1, __ATOMIC_SEQ_CST);
}

void soft_value_changed(void)
{
	/* if this misses a waiter, that waiter checks again after its sleep */
	if (!LOAD(value_waiters))
		return;
	__atomic_fetch_add(&value_epoch, 1, __ATOMIC_SEQ_CST);
	futex_wake(&value_epoch, 1 << 30);
}

void soft_bell_forked(void)
{
	pthread_mutex_init(&bells_lock, NULL);
	pthread_mutex_init(&life_lock, NULL);
	bells = NULL;
	count = 0;
	value_waiters = 0;
	watching = 0;
}
