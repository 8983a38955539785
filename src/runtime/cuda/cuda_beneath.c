/* SPDX-License-Identifier: MIT */
/* The layer below CUDA's GPU activities: finds the driver's own functions and a call's position in
 * the stack, lets the helper sleep, and sets the processors that CUPTI's threads may use. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cuda/cuda_parts.h"

enum { STACK_REACH = 1 << 16 };

static _Atomic(const struct gt_table *) driver;
static _Atomic uint32_t woken; /* futex */

void gt_cuda_table_is(const struct gt_table *table)
{
	atomic_store_explicit(&driver, table, memory_order_release);
}

/* Return the first attached driver if cuInit()'s tap was not called. */
const struct gt_table *gt_cuda_table(void)
{
	const struct gt_table *table = atomic_load_explicit(&driver, memory_order_acquire);

	return table ? table : &gt_cuda_driver_tables[0];
}

void *gt_cuda_real(uint32_t index)
{
	const struct gt_table *table = gt_cuda_table();

	return table->taps ? table->taps[index].real : NULL;
}

/* Return true if @p is a variable in this thread's stack, above the caller. */
static bool is_on_stack(const void *p, uintptr_t here)
{
	return (uintptr_t)p - here < STACK_REACH && (uintptr_t)p % 8 == 0;
}

uintptr_t gt_cuda_find_place(const struct cupti_callback *data)
{
	const uintptr_t here = GT_HERE();

	if (is_on_stack(data->parameters, here))
		return (uintptr_t)data->parameters + 8;
	if (is_on_stack(data->return_value, here))
		return (uintptr_t)data->return_value + 8;
	if (is_on_stack(data->data, here))
		return (uintptr_t)data->data + 8;
	return 0;
}

void gt_cuda_helper_sleep(uint64_t ns)
{
	const struct timespec wait = {(time_t)(ns / (1000 * GT_CUDA_MS)),
				      (long)(ns % (1000 * GT_CUDA_MS))};

	syscall(SYS_futex, &woken, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0);
	atomic_store_explicit(&woken, 0, memory_order_relaxed);
}

void gt_cuda_helper_wake(void)
{
	int saved = errno;

	if (!atomic_exchange_explicit(&woken, 1, memory_order_relaxed))
		syscall(SYS_futex, &woken, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved;
}

static GT_AT_START uint64_t process_mask[16];
static GT_AT_START long process_mask_bytes;

/* Store the processors that the process may use before the program can bind its threads. */
__attribute__((constructor)) static void note_affinity(void)
{
	process_mask_bytes = syscall(SYS_sched_getaffinity, 0, sizeof process_mask, process_mask);
}

void gt_cuda_affinity_note_all(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;

	while (tasks && (task = readdir(tasks)) != NULL) {
		uint64_t mask[16] = {0};
		const int tid = atoi(task->d_name);
		const long bytes = tid ? syscall(SYS_sched_getaffinity, tid, sizeof mask, mask) : 0;

		for (long i = 0; i < bytes / 8; i++)
			process_mask[i] |= mask[i];
	}
	if (tasks)
		closedir(tasks);
}

void gt_cuda_affinity_widen(struct gt_cuda_affinity *a)
{
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof a->before, a->before);

	a->changed = bytes > 0 && bytes == process_mask_bytes &&
		     memcmp(a->before, process_mask, (size_t)bytes) != 0 &&
		     syscall(SYS_sched_setaffinity, 0, (size_t)bytes, process_mask) == 0;
}

void gt_cuda_affinity_restore(const struct gt_cuda_affinity *a)
{
	if (a->changed)
		syscall(SYS_sched_setaffinity, 0, (size_t)process_mask_bytes, a->before);
}
