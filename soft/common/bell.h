/* SPDX-License-Identifier: MIT */
/* Doorbells in plain memory: a worker thread sleeps until another thread, which knows nothing of
 * this library, stores to a cell.
 *
 *   host ──store──► cell        worker: spins on the cell for a short time, then parks (futex)
 *                    ▲
 *                    └── one watcher thread reads the cells of all parked workers: every 10 us
 *                        after activity, every 4 ms after two idle seconds. Any number of idle
 *                        queues thus costs only the wake-ups of one thread.
 *
 * Also declares waits for a value that other workers or the host change (barriers, polls). Other
 * workers wake the waiters; stores by the host are found through polling.
 * Locking: the list of bells has a mutex; the words of a bell are atomics. */
#ifndef SOFT_BELL_H
#define SOFT_BELL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct soft_bell {
	uint64_t *cell;
	uint64_t seen;    /* last value that the parked worker has read from the cell */
	int parked;       /* 1: the watcher polls the cell */
	uint32_t wakeups; /* futex: a count */
	int stop;         /* 1: soft_bell_wait() returns at once */
	struct soft_bell *next;
};

/* State of a waiting worker: zeroed whenever the worker finds something to do. */
struct soft_idle {
	uint64_t since_ns;
	unsigned sleep_us;
};

/* Set how many microseconds a worker spins before it sleeps; 0: never. Call before adding the first
 * bell. */
void soft_bell_spin_us(unsigned us);

/* Start watching @bell->cell; the first bell starts the watcher thread. Return 0 or an errno. */
int soft_bell_add(struct soft_bell *bell);
/* Stop watching. The last bell ends the watcher thread. */
void soft_bell_remove(struct soft_bell *bell);
/* Wait until the cell differs from @seen or the bell is stopped. May return spuriously. */
void soft_bell_wait(struct soft_bell *bell, uint64_t seen, struct soft_idle *idle);
/* Change the cell and wake the worker at once, for a host that calls instead of storing. Call from
 * any thread. */
void soft_bell_ring(struct soft_bell *bell);
/* Set @bell->stop and wake the bell's worker. Call from any thread. */
void soft_bell_stop(struct soft_bell *bell);

/* Wait for a short time, or until soft_value_changed() is called. Call in a loop that checks the
 * value, because the host may also change the value with a store. */
void soft_value_wait(struct soft_idle *idle);
/* Report a change that other threads may be waiting for. Nearly free if no thread is waiting. */
void soft_value_changed(void);

/* Reset in the child after fork(): no watcher, no bells, no waiting. */
void soft_bell_forked(void);

/* Start a thread named @name (15 characters at most) with all signals blocked except faults of the
 * thread itself. Return 0 or an errno. */
int soft_thread_start(pthread_t *thread, const char *name, void *(*function)(void *),
		      void *argument);

#endif
