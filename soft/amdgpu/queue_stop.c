/* SPDX-License-Identifier: MIT */
/* Stops a queue that waits to be destroyed or has failed, and reports the error to ROCr's handler.
 * The workers call these functions (dispatch.c, queue_aql.c, queue_sdma.c, scratch.c). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "soft/amdgpu/queue.h"

void soft_queue_halt(struct soft_queue *q)
{
	struct soft_idle idle = {.since_ns = 1}; /* nonzero: no spinning */

	while (!soft_queue_stopped(q)) /* the program may still ring the queue */
		soft_bell_wait(&q->bell, __atomic_load_n(q->doorbell, __ATOMIC_ACQUIRE), &idle);
}

void soft_queue_raise(struct soft_queue *q, enum soft_queue_error value)
{
	amd_signal_t *signal = (amd_signal_t *)q->aql->queue_inactive_signal.handle;

	if (!signal)
		return;
	__atomic_store_n((int64_t *)&signal->value, (int64_t)(uint32_t)value, __ATOMIC_RELEASE);
	if (signal->event_mailbox_ptr) {
		__atomic_store_n((uint64_t *)signal->event_mailbox_ptr, signal->event_id,
				 __ATOMIC_RELEASE);
		soft_event_signal(signal->event_id);
	}
}

void soft_queue_fail(struct soft_queue *q, enum soft_queue_error error, const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	soft_say("GPU %u queue %u stops: %s", q->node, q->number, text);
	__atomic_store_n(&q->suspended, 1, __ATOMIC_RELEASE);
	soft_queue_raise(q, error);
}

/* Report a memory fault to a ROCr without interrupts, which has no handler for memory faults.
 * ROCr's handler for queue errors is the nearest equivalent. It calls the queue's callback, and
 * then stores -1 in the signal. */
static void report_fault(struct soft_queue *q)
{
	const amd_signal_t *signal =
		q->aql ? (const amd_signal_t *)q->aql->queue_inactive_signal.handle : NULL;
	const struct timespec pause = {0, 100000};

	if (!signal)
		return;
	soft_queue_raise(q, SOFT_QUEUE_APERTURE);
	for (int i = 0;
	     i < 10000 && __atomic_load_n((const int64_t *)&signal->value, __ATOMIC_ACQUIRE) != -1;
	     i++)
		nanosleep(&pause, NULL);
}

void soft_queue_memory_fault(struct soft_queue *q, uint64_t address, const char *what)
{
	soft_say("GPU %u queue %u: %s accesses unmapped memory at %#llx", q->node, q->number, what,
		 (unsigned long long)address);
	__atomic_store_n(&q->suspended, 1, __ATOMIC_RELEASE);
	if (soft_event_memory_fault(q->node, address, false))
		return;
	report_fault(q);
	/* otherwise the program would wait forever for results of this queue; the text uses ROCr's
	 * wording */
	fprintf(stderr,
		"Memory access fault by GPU node-%u (reported by the GPU: this ROCr has no "
		"handler) on address %#llx. Reason: Page not present or supervisor privilege.\n",
		q->node, (unsigned long long)(address & ~(SOFT_PAGE - 1)));
	abort();
}
