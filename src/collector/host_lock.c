/* SPDX-License-Identifier: MIT */
/* See host_lock.h. The layouts of glibc 2.25 and later, in words of 4 bytes:
 *
 *   pthread_mutex_t   +0 lock (0 free, 1 held, 2 held and awaited; robust and PI mutexes: the
 *                     owner's tid with flags)   +8 owner's tid   +12 users   +16 kind
 *   pthread_rwlock_t  +0 readers  +4 writers  +8 futex of readers  +12 futex of writers
 *                     +24 tid of the writer
 *   FILE              +0 lock as above  +8 address of the owner's struct pthread
 *   pthread_join()    waits for the word with the thread's tid, which the kernel clears at its end
 *
 * A candidate is accepted only if it is the tid of a living thread of the process, so that another
 * layout rarely yields a wrong holder. */
#include "collector/host_lock.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

enum {
	HELD_AND_AWAITED = 2,
	READERS_WAIT = 3, /* value of the futexes of a rwlock with waiters */
	MUTEX_KIND_MOST = 0x3ff,
};

struct futex_wait {
	uint64_t address;
	uint32_t op; /* without flags */
	uint32_t value;
	bool is_private;
};

/* Decode the arguments. Return false if the call waits for several futexes, or does not wait. */
static bool decode_wait(const struct gt_host_reading *r, struct futex_wait *out)
{
	*out = (struct futex_wait){.address = r->arguments[0]};
	if (r->call != SYS_futex) {
		out->op = FUTEX_WAIT_BITSET;
		out->value = (uint32_t)r->arguments[1];
		return r->arguments[0] % 4 == 0;
	}
	out->op = (uint32_t)r->arguments[1] & FUTEX_CMD_MASK;
	out->is_private = r->arguments[1] & FUTEX_PRIVATE_FLAG;
	out->value = (uint32_t)r->arguments[2];
	return out->address % 4 == 0 && (out->op == FUTEX_WAIT || out->op == FUTEX_WAIT_BITSET ||
					 out->op == FUTEX_LOCK_PI || out->op == FUTEX_LOCK_PI2);
}

/* Return true if @tid is a living thread that can hold the lock. */
static bool can_hold(const struct gt_host_process *process, const struct futex_wait *w,
		     uint32_t tid)
{
	struct gt_host_process other = {tid, -1};

	if (gt_host_has_thread(process, tid))
		return true;
	/* a lock in shared memory can belong to a thread of another process */
	if (w->is_private || !tid || gt_host_process_open(tid, &other))
		return false;
	gt_host_process_close(&other);
	return true;
}

/* Find the owner of a mutex or of a FILE. @words: from the lock on */
static uint32_t find_owner(const struct gt_host_process *process, const struct futex_wait *w,
			   const uint32_t words[6])
{
	uint64_t thread = words[2] | (uint64_t)words[3] << 32;
	uint32_t tid;

	if (words[4] <= MUTEX_KIND_MOST && words[3] && can_hold(process, w, words[2]))
		return words[2];
#if defined(__x86_64__)
	/* the tid is in glibc's struct pthread, which is in the same place in glibc 2.4 to 2.42 */
	if (thread % 64 == 0 && thread >> 47 == 0 && thread >> 32 &&
	    gt_host_read_memory(process, thread + 0x2d0, &tid, sizeof tid) &&
	    gt_host_has_thread(process, tid))
		return tid;
#else
	(void)thread;
	(void)tid;
#endif
	return 0;
}

/* Find the thread that holds a rwlock for writing. */
static uint32_t find_writer(const struct gt_host_process *process, uint64_t address)
{
	/* the futex is the third or the fourth word; the writer is the seventh */
	uint32_t words[8];

	for (uint64_t before = 12; before >= 8; before -= 4) {
		if (gt_host_read_memory(process, address - before, words, sizeof words) &&
		    words[7] <= 1 && gt_host_has_thread(process, words[6]))
			return words[6];
	}
	return 0;
}

void gt_host_lock_find(const struct gt_host_process *process, const struct gt_host_reading *reading,
		       struct gt_host_lock *out)
{
	struct futex_wait w;
	uint32_t words[6] = {0}, tid;

	*out = (struct gt_host_lock){.address = reading->arguments[0]};
	if (!decode_wait(reading, &w))
		return;
	out->is_lock = w.op == FUTEX_LOCK_PI || w.op == FUTEX_LOCK_PI2;
	/* the last words may be on a page that does not exist */
	if (!gt_host_read_memory(process, w.address, words, sizeof words) &&
	    !gt_host_read_memory(process, w.address, words, sizeof *words))
		return;
	tid = words[0] & FUTEX_TID_MASK;
	if (w.op == FUTEX_LOCK_PI || w.op == FUTEX_LOCK_PI2) {
		out->holder = can_hold(process, &w, tid) ? tid : 0;
	} else if (w.value == HELD_AND_AWAITED) {
		/* without an owner, the value may as well be the round of a barrier, or a count */
		out->holder = find_owner(process, &w, words);
		out->is_lock = out->holder != 0;
	} else if (w.value == READERS_WAIT && w.op == FUTEX_WAIT_BITSET) {
		out->holder = find_writer(process, w.address);
		out->is_lock = out->holder != 0;
	} else if (w.value == words[0] && (w.value & FUTEX_TID_MASK) > 4 &&
		   can_hold(process, &w, tid)) {
		/* the word of a join has no flags; a robust mutex with waiters has one */
		out->is_join = w.value == tid && words[2] != tid;
		out->is_lock = !out->is_join;
		out->holder = tid;
	}
}
