/* SPDX-License-Identifier: MIT */
/* Doorbells in plain memory: a worker thread sleeps until somebody stores to a cell, who does
 * not know of us.
 *
 *   host ──store──► cell        worker: spins on the cell for a short time, then parks (futex)
 *                    ▲
 *                    └── one watcher thread looks at the cells of all parked workers: 10 us apart
 *                        after work, 4 ms apart after two idle seconds. So idle queues cost one
 *                        thread's wake-ups, however many they are.
 *
 * Also here: waiting for a value that other workers or the host change (barriers, polls): other
 * workers wake the waiting, host stores are found by looking.
 * Locking: the list of bells has a mutex; a bell's words are atomics. */
#ifndef SOFT_BELL_H
#define SOFT_BELL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct soft_bell {
	uint64_t *cell;
	uint64_t seen;    /* the cell's value that the parked worker knows */
	int parked;       /* 1: the watcher is to look at it */
	uint32_t wakeups; /* futex: counts */
	int stop;         /* 1: waiting returns at once */
	struct soft_bell *next;
};

/* How a worker waits: zeroed when it had something to do. */
struct soft_idle {
	uint64_t since_ns;
	unsigned sleep_us;
};

/* Microseconds that a worker spins before it sleeps; 0: never. Before the first bell. */
void soft_bell_spin_us(unsigned us);

/* Begins to watch @bell->cell; the first one starts the watcher thread. Return: 0 or an errno. */
int soft_bell_add(struct soft_bell *bell);
/* The last one ends the watcher thread. */
void soft_bell_remove(struct soft_bell *bell);
/* Returns when the cell is no longer @seen, when the bell is stopped, or for no reason. */
void soft_bell_wait(struct soft_bell *bell, uint64_t seen, struct soft_idle *idle);
/* Changes the cell and wakes the worker at once: for a host that calls instead of storing. Any
 * thread. */
void soft_bell_ring(struct soft_bell *bell);
/* Sets @bell->stop and wakes its worker. Any thread. */
void soft_bell_stop(struct soft_bell *bell);

/* A step of waiting for something that soft_value_changed() or a host store brings about. */
void soft_value_wait(struct soft_idle *idle);
/* Something that others may wait for has changed. Nearly free when nobody waits. */
void soft_value_changed(void);

/* In the child after fork(): no watcher, no bells, no waiting. */
void soft_bell_forked(void);

/* A thread with all signals blocked but those of its own faults, named as given (15 characters).
 * Return: 0 or an errno. */
int soft_thread_start(pthread_t *thread, const char *name, void *(*function)(void *),
		      void *argument);

#endif
