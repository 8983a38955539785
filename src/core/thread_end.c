/* SPDX-License-Identifier: MIT */
/* Frees gputap's resources at the end of a thread, with a key of the thread library. The
 * destructors of keys run in any order with the program's destructors. */
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "core/exec_environment.h"
#include "core/external.h"
#include "core/recording.h"
#include "core/thread_parts.h"

static GT_AT_START pthread_key_t key;
static GT_AT_START bool key_there;

/* Runs at the end of a thread, and again if a later destructor of the program makes calls. */
static void thread_ends(void *arg)
{
	struct gt_thread *t = arg;
	struct gt_slot *slot = t->slot;
	bool mine = t->epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed);

	gt_thread_forget(t);
	gt_external_release(t);
	for (unsigned i = 0; i < GT_THREAD_ENDS; i++) {
		void (*release)(struct gt_thread *) =
			atomic_load_explicit(&gt_thread_hooks.ends[i], memory_order_acquire);

		if (release)
			release(t);
	}
	if (t->exec_area)
		munmap(t->exec_area, GT_EXEC_AREA_BYTES);
	t->exec_area = NULL;
	if (slot && mine) /* slots of a former process belong to the parent process */
		gt_thread_give_slot(slot);
}

void gt_thread_notice_end(struct gt_thread *t)
{
	if (key_there)
		pthread_setspecific(key, t);
}

/* The key is one of the first keys of the process, so storing its value needs no allocation. */
void gt_thread_keep_exec_area(struct gt_thread *t, void *area)
{
	t->exec_area = area;
	gt_thread_notice_end(t);
}

void gt_threads_init(void)
{
	/* created early, so that the key is one of the few whose values need no allocation */
	key_there = pthread_key_create(&key, thread_ends) == 0;
}
