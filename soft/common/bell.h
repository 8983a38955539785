/* SPDX-License-Identifier: MIT */
/* Doorbells in plain memory: a worker thread sleeps until another thread, which knows nothing of
 * this library, stores to a cell.
 *
 *   host ──store──► cell        worker: spins on the cell for a short time, then parks (futex)
 *                    ▲
 *                    └── one watcher thread looks at the cells of all parked workers: 10 us apart
 *                        after activity, 4 ms apart after two idle seconds. Any number of idle
 *                        queues thus cost only one thread's wake-ups.
 *
 * Also here: waiting for a value that other workers or the host change (barriers, polls). Other
 * workers wake the waiters, host stores are found through polling.
 * Locking: the list of bells has a mutex; a bell's words are atomics. */
#ifndef SOFT_BELL_H
#define SOFT_BELL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct soft_bell {
	uint64_t *cell;
	uint64_t seen;    /* last value of the cell that the parked worker has seen */
	int parked;       /* 1: the watcher polls it */
	uint32_t wakeups; /* futex: a count */
	int stop;         /* 1: waiting returns at once */
	struct soft_bell *next;
};

/* State of a waiting worker: zeroed whenever it found something to do. */
struct soft_idle {
	uint64_t since_ns;
	unsigned sleep_us;
};

/* Set the microseconds that a worker spins before it sleeps; 0: never. Call before the first bell
 * is added. */
void soft_bell_spin_us(unsigned us);

/* Start to watch @bell->cell; the first bell starts the watcher thread. Return: 0 or an errno. */
int soft_bell_add(struct soft_bell *bell);
/* Stop watching. The last bell ends the watcher thread. */
void soft_bell_remove(struct soft_bell *bell);
/* Wait until the cell differs from @seen or the bell is stopped. May return spuriously. */
void soft_bell_wait(struct soft_bell *bell, uint64_t seen, struct soft_idle *idle);
/* Change the cell and wake the worker at once: for a host that calls instead of storing. Any
 * thread. */
void soft_bell_ring(struct soft_bell *bell);
/* Set @bell->stop and wake its worker. Any thread. */
void soft_bell_stop(struct soft_bell *bell);

/* Wait one step for a change that soft_value_changed() or a host store makes. */
void soft_value_wait(struct soft_idle *idle);
/* Report a change that others may wait for. Nearly free if no thread is waiting. */
void soft_value_changed(void);

/* In the child after fork(): no watcher, no bells, no waiting. */
void soft_bell_forked(void);

/* Start a thread with all signals blocked except its own faults, named @name (15 characters).
 * Return: 0 or an errno. */
int soft_thread_start(pthread_t *thread, const char *name, void *(*function)(void *),
		      void *argument);

#endif
