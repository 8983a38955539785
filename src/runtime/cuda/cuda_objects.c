/* SPDX-License-Identifier: MIT */
/* Numbers devices, contexts, streams and kernels, which are identified by CUPTI's ids, and writes
 * them as objects. Objects are written when they are created or when a record first refers to them.
 *
 * Locking: `lock` protects the tables; no function outside this file is called with it held. A
 * fork's child cannot use its parent's CUDA, so nothing is written again in the child. A session
 * that attaches to the process gets all objects again. */
#define _GNU_SOURCE 1
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "core/kernels.h"
#include "runtime/cuda.h"
#include "runtime/cuda/cuda_parts.h"
#include "runtime/range_texts.h"

enum { DEVICES = 64, STREAMS = 1 << 12, KERNELS = 1 << 13, PROBES = 32 };

/* Attributes that torch.profiler writes for a device: CU_DEVICE_ATTRIBUTE_*. */
enum { MAJOR = 75, MINOR = 76 };
static const struct {
	const char *key;
	int attribute;
} attributes[] = {
	{"computeMajor", MAJOR},
	{"computeMinor", MINOR},
	{"maxThreadsPerBlock", 1},
	{"maxThreadsPerMultiprocessor", 39},
	{"regsPerBlock", 12},
	{"warpSize", 10},
	{"sharedMemPerBlock", 8},
	{"numSms", 16},
	{"regsPerMultiprocessor", 82},
	{"sharedMemPerBlockOptin", 97},
	{"sharedMemPerMultiprocessor", 81},
	{"maxBlocksPerMultiprocessor", 106},
	{"reservedSharedMemPerBlock", 111},
};

static _Atomic uint32_t lock;
static _Atomic uint32_t devices[DEVICES]; /* object numbers */
/* epoch of the process whose records contain the device (core/recording.c) */
static _Atomic uint32_t device_epochs[DEVICES];
static const char *_Atomic device_labels[DEVICES];

static struct stream {
	uint32_t context, stream; /* CUPTI's ids */
	uint32_t number;          /* 0 if the slot is free */
	bool is_default;          /* set before the stream is written */
	bool is_written;
	const char *label; /* the program's name for the stream, or NULL */
} streams[STREAMS];

/* Used only in the reader. */
static struct kernel {
	const char *pointer; /* CUPTI's pointer; NULL if free */
	const char *text;    /* our copy, because CUPTI may reuse the memory */
	uint32_t registers, group_bytes, private_bytes;
	struct gt_cuda_kernel kernel;
} kernels[KERNELS];

static void take_lock(void)
{
	while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
		sched_yield();
}

static void give_lock(void)
{
	atomic_store_explicit(&lock, 0, memory_order_release);
}

/* Devices ---------------------------------------------------------------------------------- */

static int end_own_call(int status)
{
	gt_internal_leave();
	return status;
}

/* Call the driver, hidden from our own taps and from other users of driver callbacks. */
#define CALL(name, ...)                                                                            \
	(GT_CUDA_REAL(name) ? (gt_internal_enter(), end_own_call(GT_CUDA_REAL(name)(__VA_ARGS__))) \
			    : -1)

static void describe_device(int device, struct gt_text *text)
{
	char name[128] = "", pci[32] = "", uuid[16], version[24];
	int major = 0, minor = 0, value;
	size_t bytes = 0;

	if (!CALL(cuDeviceGetName, name, sizeof name - 1, device))
		gt_text_add(text, "name", name);
	gt_text_add(text, "vendor", "NVIDIA");
	if (!CALL(cuDeviceGetUuid_v2, (void *)uuid, device) ||
	    !CALL(cuDeviceGetUuid, (void *)uuid, device))
		gt_text_add_hex(text, "uuid", uuid, sizeof uuid);
	if (!CALL(cuDeviceGetPCIBusId, pci, sizeof pci - 1, device)) {
		for (char *p = pci; *p; p++)
			*p = *p >= 'A' && *p <= 'F' ? (char)(*p - 'A' + 'a') : *p;
		gt_text_add(text, "pci", pci);
	}
	gt_text_add(text, "type", "gpu");
	if (!CALL(cuDeviceGetAttribute, &major, MAJOR, device) &&
	    !CALL(cuDeviceGetAttribute, &minor, MINOR, device)) {
		snprintf(version, sizeof version, "sm_%d%d", major, minor);
		gt_text_add(text, "isa", version);
	}
	if (!CALL(cuDeviceTotalMem_v2, &bytes, device))
		gt_text_add_number(text, "totalGlobalMem", bytes);
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (!CALL(cuDeviceGetAttribute, &value, attributes[i].attribute, device) &&
		    value >= 0)
			gt_text_add_number(text, attributes[i].key, (uint64_t)value);
	gt_text_add(text, "clock", "host");
}

static void add_label(struct gt_text *text, const char *label)
{
	if (label)
		gt_text_add(text, "label", label);
}

static void write_device(struct gt_thread *t, uint32_t device, uint32_t number)
{
	struct gt_text text = {0};
	uint64_t now = gt_ticks();
	int handle = (int)device;

	gt_internal_enter();
	if (!GT_CUDA_REAL(cuDeviceGet) || !GT_CUDA_REAL(cuDeviceGet)(&handle, (int)device))
		describe_device(handle, &text);
	gt_internal_leave();
	add_label(&text, atomic_load_explicit(&device_labels[device], memory_order_acquire));
	gt_object_write(t, GT_OBJECT_DEVICE, GT_DOMAIN_CUDA_DRIVER, number, device, 0, &text);
	/* the device's time stamps are host times, because CUPTI calls our clock and
	 * interpolates */
	gt_clock_write(t, number, GT_CUDA_CLOCK, now, now, now, 0);
	gt_cuda_items_device(number, device, &text);
}

uint32_t gt_cuda_device(struct gt_thread *t, uint32_t device)
{
	uint32_t number, fresh;

	if (!t || device >= DEVICES)
		return 0;
	number = atomic_load_explicit(&devices[device], memory_order_acquire);
	if (gt_likely(number && atomic_load_explicit(&device_epochs[device],
						     memory_order_relaxed) == t->epoch))
		return number;
	fresh = number ? number : (uint32_t)gt_object_number(GT_OBJECT_DEVICE);
	if (!fresh)
		return 0;
	if (!number && !atomic_compare_exchange_strong(&devices[device], &number, fresh))
		return number;
	if (atomic_exchange(&device_epochs[device], t->epoch) != t->epoch)
		write_device(t, device, fresh);
	return fresh;
}

/* Streams and contexts --------------------------------------------------------------------- */

/* Return a stream's slot, or NULL if the table is full. The caller holds the lock. */
static struct stream *find_stream(uint32_t context, uint32_t stream)
{
	uint32_t hash = (context * UINT32_C(0x9e3779b1)) ^ (stream * UINT32_C(0x85ebca77));

	for (uint32_t i = 0; i < PROBES; i++) {
		struct stream *s = &streams[(hash + i) % STREAMS];

		if (!s->number) {
			s->number = (uint32_t)gt_object_number(GT_OBJECT_QUEUE);
			s->context = context;
			s->stream = stream;
		}
		if (s->context == context && s->stream == stream)
			return s;
	}
	return NULL;
}

struct stream_text {
	uint64_t handle;
	const char *priority;
	uint32_t flags;
};

static void write_stream(struct gt_thread *t, const struct stream *s, uint32_t device,
			 const struct stream_text *more)
{
	struct gt_text text = {0};
	char name[40];

	if (s->is_default)
		snprintf(name, sizeof name, "default stream");
	else
		snprintf(name, sizeof name, "stream %u", (unsigned)s->stream);
	gt_text_add(&text, "name", name);
	gt_text_add_number(&text, "stream", s->stream);
	gt_text_add_number(&text, "context", s->context);
	if (more) {
		gt_text_add_number(&text, "properties", more->flags);
		gt_text_add(&text, "priority", more->priority);
	}
	add_label(&text, s->label);
	gt_object_write(t, GT_OBJECT_QUEUE, GT_DOMAIN_CUDA_DRIVER, s->number,
			more ? more->handle : 0, gt_cuda_device(t, device), &text);
}

/* The last result of gt_cuda_stream(). Used only in the reader. */
static struct {
	uint32_t context, stream, number;
} last;

uint32_t gt_cuda_stream(struct gt_thread *t, uint32_t device, uint32_t context, uint32_t stream)
{
	struct stream *s, copy;
	bool writes;

	if (last.number && last.context == context && last.stream == stream)
		return last.number;
	take_lock();
	s = find_stream(context, stream);
	writes = s && !s->is_written;
	if (s) {
		s->is_written = true;
		copy = *s;
	}
	give_lock();
	if (!s)
		return 0;
	if (writes)
		write_stream(t, &copy, device, NULL);
	last.context = context;
	last.stream = stream;
	last.number = copy.number;
	return copy.number;
}

static uint32_t current_device(void)
{
	int device = 0;

	return CALL(cuCtxGetDevice, &device) ? 0 : (uint32_t)device;
}

/* Write a stream's object.
 * @label: the program's name for the stream, which remains valid; or NULL */
static void write_known_stream(void *context, uint32_t context_id, void *handle, const char *label)
{
	const struct gt_cupti_library *library = gt_cupti_session_library();
	struct gt_thread *t = gt_thread_own();
	struct stream *s, copy;
	unsigned int flags = 0;
	int priority = 0;
	char text[16];
	uint32_t id;

	if (!t || !library->cuptiGetStreamIdEx ||
	    library->cuptiGetStreamIdEx(context, handle, 0, &id))
		return;
	gt_internal_enter();
	CALL(cuStreamGetFlags, handle, (void *)&flags);
	CALL(cuStreamGetPriority, handle, &priority);
	take_lock();
	s = find_stream(context_id, id);
	if (s) {
		s->is_written = true;
		if (label)
			s->label = label;
		copy = *s;
	}
	give_lock();
	snprintf(text, sizeof text, "%d", priority);
	if (s)
		write_stream(t, &copy, current_device(),
			     &(struct stream_text){(uintptr_t)handle, text, flags});
	gt_internal_leave();
}

void gt_cuda_stream_made(void *context, uint32_t context_id, void *handle)
{
	write_known_stream(context, context_id, handle, NULL);
}

/* Names -------------------------------------------------------------------------------------- */

static const char *keep_label(const char *name)
{
	const struct gt_range_text *text = gt_range_text(name);

	return text ? text->text : NULL;
}

/* Name a device, and write its object again if the object was already written. */
static void name_device(struct gt_thread *t, int device, const char *name)
{
	uint32_t number;

	if (device < 0 || device >= DEVICES)
		return;
	atomic_store_explicit(&device_labels[device], keep_label(name), memory_order_release);
	number = atomic_load_explicit(&devices[device], memory_order_acquire);
	if (number)
		write_device(t, (uint32_t)device, number);
}

/* Return a stream's context. The default stream belongs to the thread's current context. */
static void *context_of(void *stream)
{
	void *context = NULL;

	if (!stream || CALL(cuStreamGetCtx, stream, &context))
		CALL(cuCtxGetCurrent, &context);
	return context;
}

static void name_stream(struct gt_thread *t, uint64_t handle, const char *name)
{
	const struct gt_cupti_library *library = gt_cupti_session_library();
	void *stream = (void *)(uintptr_t)handle, *context;
	uint32_t id;

	(void)t;
	if (!gt_cupti_session_is_here() || !library || !library->cuptiGetContextId)
		return;
	gt_internal_enter();
	context = context_of(stream);
	if (context && !library->cuptiGetContextId(context, &id))
		write_known_stream(context, id, stream, keep_label(name));
	gt_internal_leave();
}

/* Ignore names of contexts and events: no report or export uses such names. */
static void name_nothing(struct gt_thread *t, uint64_t handle, const char *name)
{
	(void)t, (void)handle, (void)name;
}

GT_PROVIDE(gt_cuda_names) = {
	.device = name_device,
	.context = name_nothing,
	.stream = name_stream,
	.event = name_nothing,
};

static void note_default(void *context, uint32_t context_id, uint8_t of_thread)
{
	const struct gt_cupti_library *library = gt_cupti_session_library();
	struct stream *s;
	uint32_t id;

	if (!library->cuptiGetStreamIdEx ||
	    library->cuptiGetStreamIdEx(context, NULL, of_thread, &id))
		return;
	take_lock();
	s = find_stream(context_id, id);
	if (s && !s->is_written)
		s->is_default = true;
	give_lock();
}

void gt_cuda_context_used(void *context, uint32_t id)
{
	struct gt_thread *t = gt_thread_own();
	struct gt_text text = {0};
	char name[32];

	note_default(context, id, 0);
	if (!t)
		return;
	gt_internal_enter();
	snprintf(name, sizeof name, "context %u", (unsigned)id);
	gt_text_add(&text, "name", name);
	gt_object_write(t, GT_OBJECT_CONTEXT, GT_DOMAIN_CUDA_DRIVER,
			gt_object_number(GT_OBJECT_CONTEXT), (uintptr_t)context,
			gt_cuda_device(t, current_device()), &text);
	gt_internal_leave();
}

/* Kernels ---------------------------------------------------------------------------------- */

static bool is_kernel(const struct kernel *k, const struct cupti_kernel *of)
{
	return k->pointer == of->name && k->registers == of->registers &&
	       k->group_bytes == (uint32_t)of->static_shared &&
	       k->private_bytes == of->local_per_thread && strcmp(k->text, of->name) == 0;
}

static void write_symbol(struct gt_thread *t, struct kernel *k)
{
	struct gt_text text = {0};

	k->kernel.symbol = (uint32_t)gt_object_number(GT_OBJECT_KERNEL_SYMBOL);
	gt_text_add(&text, "name", k->text);
	gt_text_add_number(&text, "registers", k->registers);
	gt_text_add_number(&text, "static_bytes", k->group_bytes);
	gt_text_add_number(&text, "group_bytes", k->group_bytes);
	gt_text_add_number(&text, "private_bytes", k->private_bytes);
	gt_object_write(t, GT_OBJECT_KERNEL_SYMBOL, GT_DOMAIN_CUDA_DRIVER, k->kernel.symbol, 0, 0,
			&text);
}

static struct gt_cuda_kernel add_kernel(struct gt_thread *t, struct kernel *k,
					const struct cupti_kernel *of)
{
	size_t bytes = strlen(of->name);

	*k = (struct kernel){
		.pointer = of->name,
		.registers = of->registers,
		.group_bytes = (uint32_t)of->static_shared,
		.private_bytes = of->local_per_thread,
		.kernel = {gt_string_id(t, of->name, bytes), 0, gt_kernel_wanted(of->name, bytes)},
	};
	k->text = gt_string_text(k->kernel.name);
	if (!k->text) {
		k->pointer = NULL; /* writing failed: try again at the next record */
		return k->kernel;
	}
	write_symbol(t, k);
	return k->kernel;
}

struct gt_cuda_kernel gt_cuda_kernel(struct gt_thread *t, const struct cupti_kernel *of)
{
	uint64_t hash = (uintptr_t)of->name * UINT64_C(0x9e3779b97f4a7c15) + of->registers;
	struct kernel *place = &kernels[(hash >> 40) % KERNELS];

	if (!of->name || !t)
		return (struct gt_cuda_kernel){0, 0, true};
	for (uint32_t i = 0; i < PROBES; i++) {
		struct kernel *k = &kernels[((hash >> 40) + i) % KERNELS];

		if (k->pointer && is_kernel(k, of))
			return k->kernel;
		if (!k->pointer || k->pointer == of->name) {
			place = k;
			if (!k->pointer)
				break;
		}
	}
	return add_kernel(t, place, of);
}

/* CUPTI may give its ids to other streams after it was finalised. Devices are written again when
 * they are used, because their ids do not change, and calls may refer to them already. */
void gt_cuda_objects_renew(void)
{
	take_lock();
	for (uint32_t i = 0; i < STREAMS; i++)
		streams[i] = (struct stream){.label = NULL};
	give_lock();
	last.number = 0;
	for (uint32_t i = 0; i < KERNELS; i++)
		kernels[i].pointer = NULL;
}
