/* SPDX-License-Identifier: MIT */
/* Creates, executes and destroys commands. A copy or fill that accesses unmapped memory loses the
 * device, as on hardware, and does not end the program. An invalid access by a kernel gives the
 * program a SIGSEGV, because the kernel runs in threads of OpenCL. */
#include <stdlib.h>
#include <string.h>

#include "soft/common/guard.h"
#include "soft/level_zero/level_zero_parts.h"

struct soft_ze_command *soft_ze_command_create(enum soft_ze_command_kind kind)
{
	struct soft_ze_command *c = calloc(1, sizeof *c);

	if (c)
		c->kind = kind;
	return c;
}

static void put_waits(struct soft_ze_command *c)
{
	for (uint32_t i = 0; i < c->wait_count; i++)
		soft_ze_event_put(c->waits[i]);
	free(c->waits);
	c->waits = NULL;
	c->wait_count = 0;
}

void soft_ze_command_destroy(struct soft_ze_command *c)
{
	soft_ze_event_put(c->signal);
	put_waits(c);
	for (size_t i = 0; c->queried && i < c->bytes; i++)
		soft_ze_event_put(c->queried[i]);
	if (c->kind == SOFT_ZE_QUERY_TIMES)
		free((void *)c->from);
	if (c->launch)
		soft_ze_launch_destroy(c->launch);
	soft_cl_object_put(c->images[0]);
	soft_cl_object_put(c->images[1]);
	free(c->queried);
	free(c->region);
	free(c->pattern);
	free(c);
}

bool soft_ze_command_set_signal(struct soft_ze_command *c, ze_event_handle_t handle)
{
	struct soft_ze_event *e = soft_ze_check(handle, SOFT_ZE_EVENT);

	if (handle && !e)
		return false;
	if (e)
		soft_ze_event_get(e);
	soft_ze_event_put(c->signal);
	c->signal = e;
	return true;
}

bool soft_ze_command_set_waits(struct soft_ze_command *c, uint32_t count, ze_event_handle_t *waits)
{
	struct soft_ze_event **all;

	for (uint32_t i = 0; i < count; i++)
		if (!waits || !soft_ze_check(waits[i], SOFT_ZE_EVENT))
			return false;
	all = count ? calloc(count, sizeof(struct soft_ze_event *)) : NULL;
	if (count && !all)
		return false;
	for (uint32_t i = 0; i < count; i++)
		all[i] = soft_ze_event_get((struct soft_ze_event *)waits[i]);
	put_waits(c);
	c->waits = all;
	c->wait_count = count;
	return true;
}

bool soft_ze_command_set_events(struct soft_ze_command *c, ze_event_handle_t signal,
				uint32_t wait_count, ze_event_handle_t *waits)
{
	return soft_ze_command_set_waits(c, wait_count, waits) &&
	       soft_ze_command_set_signal(c, signal);
}

/* Execution -------------------------------------------------------------------------- */

static void copy_bytes(void *data)
{
	const struct soft_ze_command *c = data;

	memmove(c->to, c->from, c->bytes);
}

static void copy_region(void *data)
{
	const struct soft_ze_command *c = data;
	const struct soft_ze_region *r = c->region;
	char *to = (char *)c->to + r->to_offset;
	const char *from = (const char *)c->from + r->from_offset;

	for (size_t z = 0; z < r->depth; z++)
		for (size_t y = 0; y < r->height; y++)
			memmove(to + z * r->to_slice + y * r->to_pitch,
				from + z * r->from_slice + y * r->from_pitch, r->width);
}

static void fill_bytes(void *data)
{
	const struct soft_ze_command *c = data;
	size_t left;

	if (c->pattern_bytes == 1) {
		memset(c->to, *(unsigned char *)c->pattern, c->bytes);
		return;
	}
	for (size_t at = 0; at < c->bytes; at += c->pattern_bytes) {
		left = c->bytes - at;
		memcpy((char *)c->to + at, c->pattern,
		       left < c->pattern_bytes ? left : c->pattern_bytes);
	}
}

static void write_time(void *data)
{
	const struct soft_ze_command *c = data;
	uint64_t now = soft_ze_ticks();

	memcpy(c->to, &now, sizeof now);
}

static void query_times(void *data)
{
	const struct soft_ze_command *c = data;
	const size_t *offsets = c->from;
	ze_kernel_timestamp_result_t times;

	for (size_t i = 0; i < c->bytes; i++) {
		soft_ze_event_read_times(c->queried[i], &times);
		memcpy((char *)c->to + (offsets ? offsets[i] : i * sizeof times), &times,
		       sizeof times);
	}
}

static ze_result_t do_guarded(struct soft_ze_command *c, void (*function)(void *))
{
	uint64_t address;

	soft_guard_init();
	if (soft_guard_call(function, c, &address))
		return ZE_RESULT_SUCCESS;
	soft_ze_say(1, "the device is lost: no memory at %#llx", (unsigned long long)address);
	return ZE_RESULT_ERROR_DEVICE_LOST;
}

/* Simulate a kernel that hangs until its queue is destroyed. */
static ze_result_t hang(struct soft_ze_queue *queue)
{
	pthread_mutex_lock(&soft_ze_lock);
	while (!queue->ends)
		pthread_cond_wait(&queue->wake, &soft_ze_lock);
	pthread_mutex_unlock(&soft_ze_lock);
	return ZE_RESULT_ERROR_DEVICE_LOST;
}

static ze_result_t run_kernel(const struct soft_ze_launch *l, struct soft_ze_queue *queue)
{
	uint32_t groups[3] = {l->groups[0], l->groups[1], l->groups[2]};
	int status;

	if (l->limit && l->number >= *l->limit)
		return ZE_RESULT_SUCCESS;
	if (soft_ze_fails(SOFT_ZE_FAIL_HANG) && soft_ze_config.threads)
		return hang(queue);
	if (soft_ze_fails(SOFT_ZE_FAIL_KERNEL))
		return ZE_RESULT_ERROR_DEVICE_LOST;
	if (l->indirect) {
		groups[0] = l->indirect->groupCountX;
		groups[1] = l->indirect->groupCountY;
		groups[2] = l->indirect->groupCountZ;
	}
	soft_ze_say(2, "kernel %s, groups (%u, %u, %u) of (%u, %u, %u)", l->about->name, groups[0],
		    groups[1], groups[2], l->group[0], l->group[1], l->group[2]);
	if (!l->code || !groups[0] || !groups[1] || !groups[2])
		return ZE_RESULT_SUCCESS;
	status = soft_cl_run(&queue->cl_queue, l->code, l->offset, groups, l->group, l->arguments,
			     l->argument_count);
	if (!status)
		return ZE_RESULT_SUCCESS;
	soft_ze_say(1, "the device is lost: kernel %s: OpenCL status %d", l->about->name, status);
	return ZE_RESULT_ERROR_DEVICE_LOST;
}

ze_result_t soft_ze_command_do(struct soft_ze_command *c, struct soft_ze_queue *queue)
{
	__atomic_add_fetch(&soft_ze_done[c->kind], 1, __ATOMIC_RELAXED);
	switch (c->kind) {
	case SOFT_ZE_LAUNCH: return run_kernel(c->launch, queue);
	case SOFT_ZE_COPY: return do_guarded(c, copy_bytes);
	case SOFT_ZE_COPY_IMAGE:
	case SOFT_ZE_COPY_REGION: return do_guarded(c, copy_region);
	case SOFT_ZE_FILL: return do_guarded(c, fill_bytes);
	case SOFT_ZE_WRITE_TIME: return do_guarded(c, write_time);
	case SOFT_ZE_QUERY_TIMES: return do_guarded(c, query_times);
	case SOFT_ZE_HOST_CALL: c->host_call(c->to); return ZE_RESULT_SUCCESS;
	case SOFT_ZE_RESET: return zeEventHostReset((ze_event_handle_t)c->queried[0]);
	default: return ZE_RESULT_SUCCESS;
	}
}
