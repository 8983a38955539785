/* SPDX-License-Identifier: MIT */
/* Finds the thread that another thread waits for in a futex, from the words around the futex, as
 * glibc lays out its locks. Locks of other libraries (Go, Java, Rust's standard library) contain no
 * owner. */
#ifndef GPUTAP_COLLECTOR_HOST_LOCK_H
#define GPUTAP_COLLECTOR_HOST_LOCK_H

#include "collector/host_thread.h"

struct gt_host_lock {
	bool is_lock; /* false: a condition variable, a semaphore, the end of a thread, .. */
	bool is_join; /* true: the end of the thread `holder` */
	uint64_t address;
	uint32_t holder; /* 0: not known */
};

/* @reading: of a thread that waits in a system call of kind GT_SYSTEM_CALL_FUTEX */
void gt_host_lock_find(const struct gt_host_process *process, const struct gt_host_reading *reading,
		       struct gt_host_lock *out);

#endif
