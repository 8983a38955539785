/* SPDX-License-Identifier: MIT */
/* Queues: each queue has a thread, which runs submissions in order.
 *
 *   submission: commands ─next─► ..., and for each use of a counter-based event, the number that
 *               this run of the commands waits for or signals
 *
 * The commands of a list remain in the list and can be submitted again. The commands of an
 * immediate list belong to the submission. Submissions are numbered. To wait for a queue is to wait
 * until the queue's oldest unfinished submission has a higher number than all submissions that
 * existed when the wait started.
 *
 * With SOFT_LEVEL_ZERO_THREADS=0 the submitting thread runs the commands. A command that waits for
 * an event stays in its queue, with all commands after it. It runs in the thread that signals the
 * event, with a command or through zeEventHostSignal. */
#include <stdlib.h>
#include <string.h>

#include "soft/common/bell.h"
#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

struct soft_ze_submission {
	struct soft_ze_submission *next;
	struct soft_ze_command *at; /* the next command */
	struct soft_ze_turn *turns_at;
	bool owned;
	struct soft_ze_fence *fence;
	uint64_t number;
	struct soft_ze_turn turns[]; /* for each command: its waits, then its signal */
};

static struct soft_ze_queue *queues; /* list of all queues; guarded by soft_ze_lock */
static uint64_t last_number;         /* soft_ze_lock */
/* without threads: number of unfinished submissions; guarded by soft_ze_lock */
static unsigned undone;

/* Running ------------------------------------------------------------------------------ */

/* Return true if the next command need not wait. Call with the lock held. */
static bool is_ready(const struct soft_ze_submission *s)
{
	const struct soft_ze_command *c = s->at;

	for (uint32_t i = 0; c && i < c->wait_count; i++)
		if (!soft_ze_event_is_done(c->waits[i], s->turns_at[i].number))
			return false;
	return true;
}

/* Result of a command, before it is published. */
struct outcome {
	struct soft_ze_event *signal; /* NULL: none */
	bool counted; /* true if the outcome now owns the command's reference to the event */
	struct soft_ze_turn *turn;
	ze_result_t status;
	struct soft_ze_times times;
};

/* Run the next command, which must be ready. */
static struct outcome do_command(struct soft_ze_queue *q, struct soft_ze_submission *s)
{
	struct soft_ze_command *c = s->at;
	uint64_t start = soft_ze_ticks();
	ze_result_t status = soft_ze_command_do(c, q);
	struct outcome o = {.signal = c->signal, .counted = s->owned, .status = status};
	bool has_times = !soft_ze_fails(SOFT_ZE_FAIL_STAMPS);

	if (o.signal && has_times)
		o.times = soft_ze_times_until_now(start);
	s->at = c->next;
	s->turns_at += c->wait_count + 1;
	o.turn = s->turns_at - 1;
	if (s->owned) {
		c->signal = NULL;
		soft_ze_command_destroy(c);
	}
	return o;
}

/* Call with the lock held. */
static void publish_outcome(struct soft_ze_queue *q, const struct outcome *o)
{
	if (o->status)
		q->failed = o->status;
	if (o->signal) {
		soft_ze_event_signal(o->signal, o->turn, o->status, &o->times);
		if (o->counted)
			soft_ze_event_put(o->signal);
	}
	pthread_cond_broadcast(&soft_ze_changed);
}

/* Run the next command, which must be ready, and all further commands without waits. Call without
 * the lock. Returns with the lock held, so that other threads see the last command and the
 * submission end at the same time. */
static void run_commands(struct soft_ze_queue *q, struct soft_ze_submission *s)
{
	for (;;) {
		const struct outcome o = do_command(q, s);
		const bool goes_on = s->at && !s->at->wait_count;

		if (goes_on && !o.signal && !o.status)
			continue;
		pthread_mutex_lock(&soft_ze_lock);
		publish_outcome(q, &o);
		if (!goes_on)
			return;
		pthread_mutex_unlock(&soft_ze_lock);
	}
}

/* Finish the queue's first submission. Call with the lock held. */
static void finish_submission(struct soft_ze_queue *q)
{
	struct soft_ze_submission *s = q->first;

	q->first = s->next;
	if (!q->first)
		q->last = &q->first;
	if (s->fence) {
		s->fence->status = q->failed;
		__atomic_store_n(&s->fence->signalled, 1, __ATOMIC_RELEASE);
	}
	q->oldest = s->next ? s->next->number : UINT64_MAX;
	pthread_cond_broadcast(&soft_ze_changed);
	free(s);
}

static void *serve(void *data)
{
	struct soft_ze_queue *q = data;
	struct soft_ze_submission *s;

	pthread_mutex_lock(&soft_ze_lock);
	for (;;) {
		while (!q->first && !q->ends)
			pthread_cond_wait(&q->wake, &soft_ze_lock);
		s = q->first;
		if (!s)
			break;
		while (s->at) {
			while (!is_ready(s))
				soft_ze_wait_for_change();
			pthread_mutex_unlock(&soft_ze_lock);
			run_commands(q, s);
		}
		finish_submission(q);
	}
	pthread_mutex_unlock(&soft_ze_lock);
	return NULL;
}

/* Run the queue's commands until a command must wait, or do nothing while another thread runs the
 * queue's commands. Only used without queue threads. Call with the lock held. Return true if a
 * command ran. */
static bool run_queue(struct soft_ze_queue *q)
{
	struct soft_ze_submission *s;
	bool ran = false;

	while ((s = q->first) && !q->busy && is_ready(s)) {
		ran = true;
		if (s->at) {
			q->busy = true;
			pthread_mutex_unlock(&soft_ze_lock);
			run_commands(q, s);
			q->busy = false;
		}
		if (s->at)
			continue;
		finish_submission(q);
		undone--;
	}
	return ran;
}

/* Run all commands that are ready. Call with the lock held. */
static void run_ready(void)
{
	struct soft_ze_queue *q = undone && !soft_ze_config.threads ? queues : NULL;

	while (q) /* a queue may have completed a command that another queue waits for */
		q = run_queue(q) ? queues : q->next;
}

/* Submitting ---------------------------------------------------------------------------- */

static size_t count_uses(const struct soft_ze_command *c)
{
	size_t n = 0;

	for (; c; c = c->next)
		n += c->wait_count + 1;
	return n;
}

/* Assign the numbers that this run of the commands waits for and signals. A command waits before it
 * signals, so its wait refers to the previous run. Call with the lock held. */
static void take_turns(struct soft_ze_submission *s)
{
	struct soft_ze_turn *at = s->turns;

	for (struct soft_ze_command *c = s->at; c; c = c->next) {
		for (uint32_t i = 0; i < c->wait_count; i++, at++)
			at->number = c->waits[i]->state->target;
		if (c->signal && c->signal->counter_based)
			soft_ze_event_expect(c->signal, at);
		at++;
	}
}

static void destroy_commands(struct soft_ze_command *c)
{
	for (struct soft_ze_command *next; c; c = next) {
		next = c->next;
		soft_ze_command_destroy(c);
	}
}

ze_result_t soft_ze_submit(struct soft_ze_queue *q, struct soft_ze_command *first, bool owned,
			   struct soft_ze_fence *fence)
{
	struct soft_ze_submission *s = malloc(sizeof *s + count_uses(first) * sizeof *s->turns);

	if (!s) {
		if (owned)
			destroy_commands(first);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	*s = (struct soft_ze_submission){.at = first, .owned = owned, .fence = fence};
	s->turns_at = s->turns;
	pthread_mutex_lock(&soft_ze_lock);
	take_turns(s);
	s->number = ++last_number;
	if (!q->first)
		q->oldest = s->number;
	*q->last = s;
	q->last = &s->next;
	if (soft_ze_config.threads) {
		pthread_cond_signal(&q->wake);
	} else {
		undone++;
		run_queue(q);
		run_ready();
	}
	pthread_mutex_unlock(&soft_ze_lock);
	if (q->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
		return soft_ze_queue_wait(q, UINT64_MAX);
	return ZE_RESULT_SUCCESS;
}

/* Defined in this file, because a signal from the host lets queues continue. */
ze_result_t zeEventHostSignal(ze_event_handle_t handle)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	pthread_mutex_lock(&soft_ze_lock);
	e->pending = NULL;
	e->state->status = ZE_RESULT_SUCCESS;
	__atomic_store_n(&e->state->done, e->state->target, __ATOMIC_RELEASE);
	__atomic_store_n(&e->state->signalled, 1, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&soft_ze_changed);
	run_ready();
	pthread_mutex_unlock(&soft_ze_lock);
	return ZE_RESULT_SUCCESS;
}

/* Waiting -------------------------------------------------------------------------------- */

struct target {
	struct soft_ze_queue *queue;   /* or */
	struct soft_ze_device *device; /* the device with all its tiles; NULL: all devices */
	uint64_t number;
};

static uint64_t get_last_number(void)
{
	uint64_t n;

	pthread_mutex_lock(&soft_ze_lock);
	n = last_number;
	pthread_mutex_unlock(&soft_ze_lock);
	return n;
}

static bool is_queue_done(void *argument)
{
	const struct target *t = argument;

	return t->queue->oldest > t->number;
}

static bool are_queues_done(void *argument)
{
	const struct target *t = argument;

	for (const struct soft_ze_queue *q = queues; q; q = q->next)
		if ((!t->device || q->device->index == t->device->index) && q->oldest <= t->number)
			return false;
	return true;
}

ze_result_t soft_ze_queue_wait(struct soft_ze_queue *q, uint64_t timeout_ns)
{
	struct target t = {.queue = q, .number = get_last_number()};

	if (!soft_ze_wait(is_queue_done, &t, timeout_ns))
		return ZE_RESULT_NOT_READY;
	return q->failed;
}

ze_result_t soft_ze_device_wait(struct soft_ze_device *device)
{
	struct target t = {.device = device, .number = get_last_number()};
	ze_result_t status = ZE_RESULT_SUCCESS;

	soft_ze_wait(are_queues_done, &t, UINT64_MAX);
	pthread_mutex_lock(&soft_ze_lock);
	for (const struct soft_ze_queue *q = queues; q; q = q->next)
		if ((!device || q->device->index == device->index) && q->failed)
			status = q->failed;
	pthread_mutex_unlock(&soft_ze_lock);
	return status;
}

/* Queues ---------------------------------------------------------------------------------- */

static ze_result_t start_queue(struct soft_ze_queue *q)
{
	soft_ze_on_look = run_ready;
	pthread_cond_init(&q->wake, NULL);
	if (soft_ze_config.threads && soft_thread_start(&q->thread, "level zero", serve, q)) {
		pthread_cond_destroy(&q->wake);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	pthread_mutex_lock(&soft_ze_lock);
	q->next = queues;
	queues = q;
	pthread_mutex_unlock(&soft_ze_lock);
	return ZE_RESULT_SUCCESS;
}

ze_result_t soft_ze_queue_create(struct soft_ze_device *device, const ze_command_queue_desc_t *desc,
				 struct soft_ze_queue **out)
{
	struct soft_ze_queue *q;
	ze_result_t status;

	if (desc->ordinal >= SOFT_ZE_GROUPS)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (soft_ze_fails(SOFT_ZE_FAIL_QUEUE))
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	q = soft_ze_object_create(SOFT_ZE_QUEUE, sizeof *q);
	if (!q)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	q->device = device;
	q->ordinal = desc->ordinal;
	q->index = desc->index;
	q->flags = desc->flags;
	q->mode = desc->mode;
	q->priority = desc->priority;
	q->last = &q->first;
	q->oldest = UINT64_MAX;
	status = start_queue(q);
	if (status)
		soft_ze_object_destroy(q, SOFT_ZE_QUEUE);
	else
		*out = q;
	return status;
}

void soft_ze_queue_destroy(struct soft_ze_queue *q)
{
	struct soft_ze_queue **at;

	pthread_mutex_lock(&soft_ze_lock);
	q->ends = true; /* the thread ends after its last submission */
	pthread_cond_broadcast(&q->wake);
	while (!soft_ze_config.threads && q->first)
		pthread_cond_wait(&soft_ze_changed, &soft_ze_lock);
	pthread_mutex_unlock(&soft_ze_lock);
	if (soft_ze_config.threads)
		pthread_join(q->thread, NULL);
	pthread_mutex_lock(&soft_ze_lock);
	for (at = &queues; *at != q; at = &(*at)->next)
		;
	*at = q->next;
	pthread_mutex_unlock(&soft_ze_lock);
	soft_cl_queue_destroy(q->cl_queue);
	pthread_cond_destroy(&q->wake);
	soft_ze_object_destroy(q, SOFT_ZE_QUEUE);
}

ze_result_t zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device,
				 const ze_command_queue_desc_t *desc,
				 ze_command_queue_handle_t *out)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, device, SOFT_ZE_DEVICE);

	if (!soft_ze_check(context, SOFT_ZE_CONTEXT))
		return soft_ze_refuse(context);
	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return soft_ze_queue_create(d, desc, (struct soft_ze_queue **)out);
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t handle)
{
	SOFT_ZE_OBJECT(q, soft_ze_queue, handle, SOFT_ZE_QUEUE);

	soft_ze_queue_destroy(q);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t handle, uint32_t count,
					      ze_command_list_handle_t *lists,
					      ze_fence_handle_t fence)
{
	SOFT_ZE_OBJECT(q, soft_ze_queue, handle, SOFT_ZE_QUEUE);
	ze_result_t status = ZE_RESULT_SUCCESS;

	if (!lists || !count)
		return !lists ? ZE_RESULT_ERROR_INVALID_NULL_POINTER : ZE_RESULT_ERROR_INVALID_SIZE;
	for (uint32_t i = 0; i < count; i++) {
		const struct soft_ze_list *l = soft_ze_check(lists[i], SOFT_ZE_LIST);
		if (!l || !l->closed || l->queue)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		if (l->ordinal != q->ordinal)
			return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
	}
	if (fence && !soft_ze_check(fence, SOFT_ZE_FENCE))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < count && !status; i++)
		status = soft_ze_submit(q, ((struct soft_ze_list *)lists[i])->first, false,
					i + 1 == count ? (struct soft_ze_fence *)fence : NULL);
	return status;
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t handle, uint64_t timeout)
{
	SOFT_ZE_OBJECT(q, soft_ze_queue, handle, SOFT_ZE_QUEUE);

	return soft_ze_queue_wait(q, timeout);
}

ze_result_t newer_zeCommandQueueGetOrdinal(ze_command_queue_handle_t handle, uint32_t *out)
{
	SOFT_ZE_OBJECT(q, soft_ze_queue, handle, SOFT_ZE_QUEUE);

	*out = q->ordinal;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandQueueGetIndex(ze_command_queue_handle_t handle, uint32_t *out)
{
	SOFT_ZE_OBJECT(q, soft_ze_queue, handle, SOFT_ZE_QUEUE);

	*out = q->index;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandQueueGetFlags(ze_command_queue_handle_t handle, uint32_t *out)
{
	SOFT_ZE_OBJECT(q, soft_ze_queue, handle, SOFT_ZE_QUEUE);

	*out = q->flags;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandQueueGetMode(ze_command_queue_handle_t handle,
					ze_command_queue_mode_t *out)
{
	SOFT_ZE_OBJECT(q, soft_ze_queue, handle, SOFT_ZE_QUEUE);

	*out = q->mode;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandQueueGetPriority(ze_command_queue_handle_t handle,
					    ze_command_queue_priority_t *out)
{
	SOFT_ZE_OBJECT(q, soft_ze_queue, handle, SOFT_ZE_QUEUE);

	*out = q->priority;
	return ZE_RESULT_SUCCESS;
}
