/* SPDX-License-Identifier: MIT */
/* Reads the delays of the threads of a process that call no GPU runtime, such as the workers of a
 * runtime that executes activities in software: the time in which a thread was ready to run and
 * waited for a processor (/proc/PID/task/TID/schedstat).
 *
 * The kernel adds a delay to the sum when it ends. A delay can therefore be longer than the time
 * between two readings. */
#ifndef GPUTAP_COLLECTOR_HOST_WORKERS_H
#define GPUTAP_COLLECTOR_HOST_WORKERS_H

#include "collector/host_thread.h"

enum { GT_HOST_WORKERS_MOST = 64 }; /* threads of a process that are read */

struct gt_host_worker {
	uint32_t tid;
	uint64_t delay_ns; /* sum since the thread's start */
};

/* Must be zero before the first reading. */
struct gt_host_workers {
	struct gt_host_worker threads[GT_HOST_WORKERS_MOST];
	unsigned count;
	uint64_t ns; /* CLOCK_BOOTTIME of the last reading; 0: none */
	/* earliest times of the next reading; last_ns: if a thread has stopped waiting */
	uint64_t next_ns, last_ns;
};

/* Delays between two readings. */
struct gt_host_delays {
	uint64_t start, end; /* CLOCK_BOOTTIME, ns */
	uint64_t longest_ns; /* of one thread */
	uint64_t sum_ns;     /* of all threads */
	uint32_t tid;        /* thread with the longest delay */
	char name[16];       /* its name; "": not known */
};

/* Return true for a thread that is not to be read. */
typedef bool gt_host_workers_skip(const void *data, uint32_t tid);

/**
 * gt_host_workers_read() - read the delays since the last reading
 * @is_last: a thread that calls a GPU runtime has stopped waiting since the last reading
 * @skip: selects threads that are not to be read
 * Does nothing if the last reading is too recent. A reading of 16 threads takes 40 us of CPU time.
 * Return: true if a thread was delayed for 1 ms or more.
 */
bool gt_host_workers_read(struct gt_host_workers *workers, const struct gt_host_process *process,
			  bool is_last, gt_host_workers_skip *skip, const void *data,
			  struct gt_host_delays *out);

#endif
