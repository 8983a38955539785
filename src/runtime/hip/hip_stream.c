/* SPDX-License-Identifier: MIT */
/* Records streams as objects, with their device, from creation to destruction, because a handle may
 * be reused.
 *
 * All default streams have handle 0. One default stream is written for each device, when the device
 * gets its first queue. HIP identifies a device with a number that depends on the program's
 * environment, and HSA with a handle. The device's PCI address relates the number to the handle.
 *
 * Locking: gt_core_lock() for the table of handles. */
#include <string.h>

#include "core/recording.h"
#include "generated/hip_wraps.h"
#include "runtime/hip/hip_order.h"
#include "tool/tool_activity.h"
#include "runtime/rocm.h"

enum { BUCKET_BITS = 8 };

struct hip_stream {
	/* next entry of the bucket; never removed: entries of destroyed streams are reused for
	 * another handle */
	struct hip_stream *next;
	void *handle;
	struct gt_fork_replay *replay;
	struct gt_tool_object *object; /* object that tools are notified of */
};

static struct hip_stream *buckets[1 << BUCKET_BITS];

static struct hip_stream **get_stream_bucket(const void *handle)
{
	return &buckets[(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BUCKET_BITS)];
}

static struct gt_tool_object *notify_stream(uint64_t number, const void *handle, uint64_t device)
{
	struct gputap_object o = {.domain = GPUTAP_DOMAIN_HIP,
				  .type = GPUTAP_OBJECT_STREAM,
				  .number = number,
				  .parent = device,
				  .handle = (uintptr_t)handle,
				  .storage_file = -1};
	struct gt_rocm_device d;
	struct gt_tool_object *x;

	for (uint32_t i = 0; gt_rocm_device_get(i, &d); i++)
		if (d.number == device)
			o.device_handle = d.handle;
	x = gt_tool_object_add(&o, NULL);
	gt_tool_object_loaded(x);
	return x;
}

/* Return the number of this thread's current device, or 0 if unknown. */
static uint64_t current_device(const struct gt_table *table)
{
	char pci[16] = "";
	int device = 0;
	struct gt_rocm_device d;

	if (!GT_HIP(table, hipGetDevice) || !GT_HIP(table, hipDeviceGetPCIBusId) ||
	    GT_HIP(table, hipGetDevice)(&device) != 0 ||
	    GT_HIP(table, hipDeviceGetPCIBusId)(pci, sizeof pci, device) != 0)
		return 0;
	for (uint32_t i = 0; gt_rocm_device_get(i, &d); i++)
		if (d.pci[0] && strcmp(d.pci, pci) == 0)
			return d.number;
	return 0;
}

/* Return the entry of a handle, an entry without a handle, or a new entry. The caller holds the
 * lock. */
static struct hip_stream *get_stream_entry(void *handle)
{
	struct hip_stream **bucket = get_stream_bucket(handle), *s = *bucket;

	while (s && s->handle && s->handle != handle)
		s = s->next;
	if (!s && (s = gt_arena_take(sizeof *s)) != NULL) {
		*s = (struct hip_stream){.next = *bucket};
		*bucket = s;
	}
	return s;
}

static void add_stream(const struct gt_call *call, void *handle, unsigned flags,
		       const char *priority)
{
	struct gt_thread *t = call->thread ? call->thread : gt_thread_own();
	struct gt_text text = {0};
	struct gt_tool_object *object, *former_object = NULL;
	struct gt_fork_replay *replay, *former = NULL;
	uint64_t number, device;
	struct hip_stream *s;

	if (!t || !handle)
		return;
	number = gt_object_number(GT_OBJECT_STREAM);
	device = current_device(call->table);
	if (gt_tap_options.submit_orders)
		gt_hip_order_bind_stream(handle);
	gt_text_add_number(&text, "flags", flags);
	if (priority)
		gt_text_add(&text, "priority", priority);
	replay = gt_fork_replay_add(t,
				    &(struct gt_object){GT_OBJECT_STREAM, GT_DOMAIN_HIP, number,
							(uintptr_t)handle, device, true},
				    &text);
	object = notify_stream(number, handle, device);
	gt_core_lock();
	s = get_stream_entry(handle);
	if (s) {
		/* the stream was destroyed in hipDeviceReset() */
		former = s->handle ? s->replay : NULL;
		former_object = s->handle ? s->object : NULL;
		s->handle = handle;
		s->replay = replay;
		s->object = object;
	}
	gt_core_unlock();
	gt_tool_object_unload(former_object);
	gt_fork_replay_remove(t, former);
}

/* Remove a stream. Call before the real call, because a stream created afterwards may get the same
 * handle. */
static void remove_stream(const struct gt_call *call, void *handle)
{
	struct gt_tool_object *object = NULL;
	struct gt_fork_replay *replay = NULL;

	if (gt_tap_options.submit_orders)
		gt_hip_order_destroy_stream(handle);
	gt_core_lock();
	for (struct hip_stream *s = handle ? *get_stream_bucket(handle) : NULL; s; s = s->next)
		if (s->handle == handle) {
			replay = s->replay;
			object = s->object;
			s->handle = NULL;
		}
	gt_core_unlock();
	gt_tool_object_unload(object);
	gt_fork_replay_remove(call->thread ? call->thread : gt_thread_own(), replay);
}

static void write_default_stream(struct gt_thread *t, uint64_t device)
{
	struct gt_text text = {0};
	uint64_t number;
	bool there = false;

	for (unsigned i = 0; i < GT_INSTANCES; i++)
		there |= GT_HIP(&gt_hip_tables[i], hipStreamCreate) != NULL;
	if (!there)
		return;
	gt_text_add(&text, "name", "default stream");
	number = gt_object_number(GT_OBJECT_STREAM);
	gt_fork_replay_add(t,
			   &(struct gt_object){GT_OBJECT_STREAM, GT_DOMAIN_HIP, number, 0, device,
					       true},
			   &text);
	notify_stream(number, NULL, device);
}

static void name_stream(struct gt_thread *t, const void *stream, const char *name)
{
	struct gt_fork_replay *replay = NULL;

	gt_core_lock();
	for (struct hip_stream *s = *get_stream_bucket(stream); s; s = s->next)
		if (s->handle == stream)
			replay = s->replay;
	gt_core_unlock();
	gt_fork_replay_label(t, replay, name);
}

static void name_device(struct gt_thread *t, int device, const char *name)
{
	char pci[16] = "";

	for (unsigned i = 0; i < GT_INSTANCES; i++) {
		const struct gt_table *table = &gt_hip_tables[i];

		if (GT_HIP(table, hipDeviceGetPCIBusId) &&
		    GT_HIP(table, hipDeviceGetPCIBusId)(pci, sizeof pci, device) == 0)
			gt_rocm_device_name(t, 0, pci, name);
	}
}

GT_PROVIDE(gt_rocm_streams) = {
	.write_default = write_default_stream,
	.name = name_stream,
	.name_device = name_device,
};

int gt_hip_wrap_hipStreamCreate(const struct gt_call *call, void **stream)
{
	int ret;

	gt_hip_order_begin_stream();
	ret = ((gt_hip_hipStreamCreate_fn *)call->tap->real)(stream);

	if (ret == 0 && stream)
		add_stream(call, *stream, 0, NULL);
	return ret;
}

int gt_hip_wrap_hipStreamCreateWithFlags(const struct gt_call *call, void **stream,
					 unsigned int flags)
{
	int ret;

	gt_hip_order_begin_stream();
	ret = ((gt_hip_hipStreamCreateWithFlags_fn *)call->tap->real)(stream, flags);

	if (ret == 0 && stream)
		add_stream(call, *stream, flags, NULL);
	return ret;
}

int gt_hip_wrap_hipStreamCreateWithPriority(const struct gt_call *call, void **stream,
					    unsigned int flags, int priority)
{
	int ret;

	gt_hip_order_begin_stream();
	ret = ((gt_hip_hipStreamCreateWithPriority_fn *)call->tap->real)(stream, flags, priority);

	if (ret == 0 && stream)
		add_stream(call, *stream, flags,
			   priority < 0   ? "high"
			   : priority > 0 ? "low"
					  : "normal");
	return ret;
}

int gt_hip_wrap_hipExtStreamCreateWithCUMask(const struct gt_call *call, void **stream,
					     uint32_t words, const uint32_t *mask)
{
	int ret;

	gt_hip_order_begin_stream();
	ret = ((gt_hip_hipExtStreamCreateWithCUMask_fn *)call->tap->real)(stream, words, mask);

	if (ret == 0 && stream)
		add_stream(call, *stream, 0, NULL);
	return ret;
}

int gt_hip_wrap_hipStreamDestroy(const struct gt_call *call, void *stream)
{
	remove_stream(call, stream);
	return ((gt_hip_hipStreamDestroy_fn *)call->tap->real)(stream);
}
