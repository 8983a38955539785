/* SPDX-License-Identifier: MIT */
/* Reports loads and unloads of code objects and kernel symbols. When a client is finalised, the
 * objects that are still loaded are reported as unloaded. For this purpose, this file records the
 * objects that were reported to clients. */
#include <pthread.h>
#include <stdlib.h>

#include "sdk.h"

struct loaded {
	struct gputap_object object; /* its texts are never freed */
	rocprofiler_user_data_t user;
};

struct sdk_objects {
	pthread_mutex_t mutex;
	size_t count, room;
	struct loaded *all; /* in load order */
};

static void notify_code(const struct sdk_service *service, rocprofiler_callback_tracing_record_t *r,
			const struct gputap_object *o, rocprofiler_user_data_t *user)
{
	rocprofiler_callback_tracing_code_object_load_data_t data = {
		.size = sizeof data,
		.code_object_id = o->number,
		.rocp_agent = sdk_agent_of(o->device_handle),
		.hsa_agent = {o->device_handle},
		.uri = o->uri ? o->uri : "",
		.load_base = o->load_base,
		.load_size = o->load_bytes,
		.load_delta = o->load_delta,
	};

	if (o->storage_file >= 0) {
		data.storage_type = ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE;
		data.storage_file = o->storage_file;
	} else {
		data.storage_type = ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
		data.memory_base = o->storage_base;
		data.memory_size = o->storage_bytes;
	}
	r->payload = &data;
	service->fn(*r, user, service->user);
}

static void notify_symbol(const struct sdk_service *service,
			  rocprofiler_callback_tracing_record_t *r, const struct gputap_object *o,
			  rocprofiler_user_data_t *user)
{
	rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t data = {
		.size = sizeof data,
		.kernel_id = o->number,
		.code_object_id = o->parent,
		.kernel_name = o->name ? o->name : "",
		.kernel_object = o->handle,
		.kernarg_segment_size = o->kernarg_bytes,
		.kernarg_segment_alignment = o->kernarg_align,
		.group_segment_size = o->group_bytes,
		.private_segment_size = o->private_bytes,
		.sgpr_count = o->sgprs,
		.arch_vgpr_count = o->vgprs,
		.accum_vgpr_count = o->accum_vgprs,
		.kernel_code_entry_byte_offset = o->code_offset,
		.kernel_address = {o->code_address},
	};

	r->payload = &data;
	service->fn(*r, user, service->user);
}

/* Report a host function after its kernel symbol. Like upstream, do not report the unload. */
static void notify_host_function(const struct sdk_context *c, const struct gputap_object *o,
				 rocprofiler_user_data_t *user)
{
	const struct sdk_service *service = &c->called[ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT];
	rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t data;
	rocprofiler_callback_tracing_record_t r = {
		.context_id = {c->handle},
		.kind = ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
		.operation = ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER,
		.phase = ROCPROFILER_CALLBACK_PHASE_LOAD,
		.payload = &data,
	};

	if (!sdk_asks(&service->ops, (uint32_t)r.operation) || !o->name ||
	    !sdk_host_function(o->name, &data))
		return;
	rocprofiler_get_thread_id(&r.thread_id);
	data.kernel_id = o->number;
	data.code_object_id = o->parent;
	service->fn(r, user, service->user);
}

static void notify_object(const struct sdk_context *c, const struct gputap_object *o,
			  uint32_t phase, rocprofiler_user_data_t *user)
{
	const struct sdk_service *service = &c->called[ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT];
	bool code = o->type == GPUTAP_OBJECT_CODE_OBJECT;
	rocprofiler_callback_tracing_record_t r = {
		.context_id = {c->handle},
		.kind = ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
		.operation = code ? ROCPROFILER_CODE_OBJECT_LOAD
				  : ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
		.phase = phase == GPUTAP_OBJECT_PHASE_LOAD ? ROCPROFILER_CALLBACK_PHASE_LOAD
							   : ROCPROFILER_CALLBACK_PHASE_UNLOAD,
	};

	rocprofiler_get_thread_id(&r.thread_id);
	if (!sdk_asks(&service->ops, (uint32_t)r.operation))
		return;
	(code ? notify_code : notify_symbol)(service, &r, o, user);
}

static void remember(struct sdk_context *c, const struct gputap_object *o, uint64_t user)
{
	struct sdk_objects *all;

	sdk_lock();
	if (!c->objects && (c->objects = calloc(1, sizeof *c->objects)) != NULL)
		pthread_mutex_init(&c->objects->mutex, NULL);
	all = c->objects;
	sdk_unlock();
	if (!all)
		return;
	pthread_mutex_lock(&all->mutex);
	if (all->count == all->room) {
		size_t room = all->room ? 2 * all->room : 64;
		struct loaded *more = realloc(all->all, room * sizeof *more);

		if (more) {
			all->all = more;
			all->room = room;
		}
	}
	if (all->count < all->room) {
		all->all[all->count].object = *o;
		all->all[all->count++].user.value = user;
	}
	pthread_mutex_unlock(&all->mutex);
}

static void forget_code_object(struct sdk_context *c, const struct gputap_object *o)
{
	struct sdk_objects *all = c->objects;

	if (!all)
		return;
	pthread_mutex_lock(&all->mutex);
	for (size_t i = all->count; i-- > 0;)
		if (all->all[i].object.type == o->type && all->all[i].object.number == o->number) {
			for (size_t k = i + 1; k < all->count; k++)
				all->all[k - 1] = all->all[k];
			all->count--;
			break;
		}
	pthread_mutex_unlock(&all->mutex);
}

void sdk_on_object(const struct gputap_object *o, uint64_t *data, void *user)
{
	struct sdk_context *c = user;
	rocprofiler_user_data_t mine = {*data};

	if (o->type == GPUTAP_OBJECT_DEVICE) {
		if (o->phase == GPUTAP_OBJECT_PHASE_LOAD)
			sdk_on_device(o);
		return;
	}
	if (o->type == GPUTAP_OBJECT_QUEUE) {
		sdk_on_queue(o);
		return;
	}
	if (o->phase == GPUTAP_OBJECT_PHASE_UNLOAD)
		forget_code_object(c, o);
	notify_object(c, o, o->phase, &mine);
	if (o->type == GPUTAP_OBJECT_KERNEL_SYMBOL && o->phase == GPUTAP_OBJECT_PHASE_LOAD)
		notify_host_function(c, o, &mine);
	*data = mine.value;
	if (o->phase == GPUTAP_OBJECT_PHASE_LOAD)
		remember(c, o, mine.value);
}

/* Remove the last object from the list. Return false if none is left. */
static bool take_last(struct sdk_objects *all, struct loaded *out)
{
	bool found;

	pthread_mutex_lock(&all->mutex);
	found = all->count != 0;
	if (found)
		*out = all->all[--all->count];
	pthread_mutex_unlock(&all->mutex);
	return found;
}

void sdk_objects_unload(struct sdk_context *c)
{
	struct sdk_objects *all = c->objects;
	struct loaded l;

	/* in reverse order, so that symbols come before their code object */
	while (all && take_last(all, &l))
		notify_object(c, &l.object, GPUTAP_OBJECT_PHASE_UNLOAD, &l.user);
}

void sdk_objects_drop(struct sdk_context *c)
{
	if (c->objects)
		free(c->objects->all);
	free(c->objects);
	c->objects = NULL;
}
