/* SPDX-License-Identifier: MIT */
/* Devices, their settings and their memory. Device memory is host memory and counts against the
 * device's limit. The header of a block contains its length and its device. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "soft/common/guard.h"
#include "soft/common/settings.h"
#include "soft/refdev/refdev_parts.h"

enum { HEAD_BYTES = 64 };
#define MAGIC UINT64_C(0x7265666465766d65)

struct memory_head {
	uint64_t magic, bytes;
	int device; /* -1: host memory */
};

struct ref_device ref_devices[REF_DEVICES_MOST];
int ref_device_count;
struct soft_fault ref_faults[REF_FAULT_COUNT + 1] = {
	{.name = "launch"}, {.name = "copy"},  {.name = "fill"},   {.name = "malloc"},
	{.name = "stream"}, {.name = "event"}, {.name = "kernel"}, {.name = NULL},
};
_Thread_local int ref_current_device;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool forked;
static refdevError_t begun;

/* "hz=1000000,drift=50ppm". */
static bool set_clock(struct soft_clock *clock, const char *text)
{
	char copy[256], *rest, *word, *value;
	int64_t ns;

	if (strlen(text) >= sizeof copy)
		return false;
	strcpy(copy, text);
	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		value = strchr(word, '=');
		if (!value)
			return false;
		*value++ = 0;
		if (!strcmp(word, "hz")) {
			if (!soft_parse_count(value, &clock->hz) || !clock->hz)
				return false;
		} else if (!strcmp(word, "drift")) {
			if (!soft_parse_ppb(value, &clock->drift_ppb))
				return false;
		} else if (!strcmp(word, "skew")) {
			if (!soft_parse_ns(value, "ns", &clock->skew_ns))
				return false;
		} else if (!strcmp(word, "epoch")) {
			if (!soft_parse_ns(value, "ns", &ns) || ns < 0)
				return false;
			clock->epoch_ns = (uint64_t)ns;
		} else {
			return false;
		}
	}
	clock->anchor_ns = soft_clock_host_ns();
	return true;
}

static void forget_device(void)
{
	forked = true;
}

static void start_device(void)
{
	const char *devices = getenv("REFDEV_DEVICES"), *memory = getenv("REFDEV_MEMORY");
	const char *faults = getenv("REFDEV_FAULTS"), *clock = getenv("REFDEV_CLOCK");
	uint64_t count = 1, bytes = UINT64_C(1) << 30;

	if ((devices && (!soft_parse_count(devices, &count) || count > REF_DEVICES_MOST)) ||
	    (memory && !soft_parse_bytes(memory, &bytes)) ||
	    (faults && !soft_faults_parse(ref_faults, faults))) {
		begun = refdevErrorInvalid;
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		struct ref_device *d = &ref_devices[i];

		d->memory_bytes = bytes;
		if (!d->clock.hz)
			d->clock = (struct soft_clock){.hz = 1000000000};
		if (clock && !set_clock(&d->clock, clock))
			begun = refdevErrorInvalid;
	}
	ref_device_count = (int)count;
	pthread_atfork(NULL, NULL, forget_device);
	soft_guard_init();
}

refdevError_t ref_begin(void)
{
	pthread_once(&once, start_device);
	return forked              ? refdevErrorForked
	       : begun             ? begun
	       : !ref_device_count ? refdevErrorNoDevice
				   : 0;
}

uint64_t ref_ticks(int device)
{
	return soft_clock_ticks(&ref_devices[device].clock, soft_clock_host_ns());
}

refdevError_t refdevSetFaults(const char *text)
{
	return text && soft_faults_parse(ref_faults, text) ? refdevSuccess : refdevErrorInvalid;
}

refdevError_t refdevSetClock(const char *text)
{
	refdevError_t status = ref_begin();

	for (int i = 0; !status && i < ref_device_count; i++) {
		struct soft_clock clock = ref_devices[i].clock;

		if (!text || !set_clock(&clock, text))
			return refdevErrorInvalid;
		ref_devices[i].clock = clock;
	}
	return status;
}

static uint64_t real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

refdevError_t refdevReadClock(int device, uint64_t *before, uint64_t *ticks, uint64_t *after)
{
	refdevError_t status = ref_begin();

	if (status)
		return status;
	if (device < 0 || device >= ref_device_count || !before || !ticks || !after)
		return refdevErrorInvalid;
	*before = real_ns();
	*ticks = soft_clock_paired_ticks(&ref_devices[device].clock, soft_clock_host_ns());
	*after = real_ns();
	return refdevSuccess;
}

/* Invert soft_clock_ticks() as the driver would, including the skew of its clock pairs. */
uint64_t refdevTicksToBoottime(int device, uint64_t ticks)
{
	const struct soft_clock *c;
	int64_t ns, since;

	if (device < 0 || device >= ref_device_count || !ticks)
		return 0;
	c = &ref_devices[device].clock;
	ns = (int64_t)((unsigned __int128)ticks * 1000000000 / c->hz) - (int64_t)c->epoch_ns;
	since = ns - (int64_t)c->anchor_ns;
	since = (int64_t)((__int128)since * 1000000000 / (1000000000 + c->drift_ppb));
	return (uint64_t)((int64_t)c->anchor_ns + since + c->skew_ns);
}

/* Devices ---------------------------------------------------------------------- */

static refdevError_t get_count(int *count)
{
	if (!count)
		return refdevErrorInvalid;
	*count = ref_device_count;
	return refdevSuccess;
}

refdevError_t refdevGetDeviceCount(int *count)
{
	REF_RUNTIME(get_count(count));
}

static refdevError_t set_device(int device)
{
	if (device < 0 || device >= ref_device_count)
		return refdevErrorInvalid;
	ref_current_device = device;
	return refdevSuccess;
}

refdevError_t refdevSetDevice(int device)
{
	REF_RUNTIME(set_device(device));
}

static refdevError_t get_device(int *device)
{
	if (!device)
		return refdevErrorInvalid;
	*device = ref_current_device;
	return refdevSuccess;
}

refdevError_t refdevGetDevice(int *device)
{
	REF_RUNTIME(get_device(device));
}

static refdevError_t get_properties(refdevDeviceProperties *out, int device)
{
	refdevDeviceProperties p = {0};
	const struct ref_device *d;

	if (!out || out->size < sizeof out->size || device < 0 || device >= ref_device_count)
		return refdevErrorInvalid;
	d = &ref_devices[device];
	p.size = out->size;
	snprintf(p.name, sizeof p.name, "refdev %d", device);
	memcpy(p.uuid, "refdev accel \0\0", 16);
	p.uuid[15] = (char)device;
	p.memory_bytes = d->memory_bytes;
	p.clock_hz = d->clock.hz;
	p.stream_count = __atomic_load_n(&d->stream_count, __ATOMIC_RELAXED);
	memcpy(out, &p, out->size < sizeof p ? out->size : sizeof p);
	return refdevSuccess;
}

refdevError_t refdevGetDeviceProperties(refdevDeviceProperties *properties, int device)
{
	REF_RUNTIME(get_properties(properties, device));
}

const char *refdevGetErrorString(refdevError_t error)
{
	static const char *const texts[] = {
		"success",
		"invalid argument",
		"no memory",
		"not ready",
		"no device",
		"kernel fault",
		"the device failed",
		"not allowed while capturing",
		"the device belongs to the parent process",
	};

	return (unsigned)error < sizeof texts / sizeof *texts ? texts[error] : "unknown error";
}

/* Memory ----------------------------------------------------------------------- */

static refdevError_t allocate(void **memory, size_t bytes, int device)
{
	struct ref_device *d = device < 0 ? NULL : &ref_devices[device];
	struct memory_head *head;

	if (!memory || !bytes || device >= ref_device_count)
		return refdevErrorInvalid;
	*memory = NULL;
	if (ref_fails(REF_FAULT_MALLOC) || bytes > SIZE_MAX - 2 * HEAD_BYTES)
		return refdevErrorNoMemory;
	if (d && __atomic_add_fetch(&d->used_bytes, bytes, __ATOMIC_RELAXED) > d->memory_bytes) {
		__atomic_sub_fetch(&d->used_bytes, bytes, __ATOMIC_RELAXED);
		return refdevErrorNoMemory;
	}
	head = aligned_alloc(HEAD_BYTES, HEAD_BYTES + ((bytes + HEAD_BYTES - 1) & ~(size_t)63));
	if (!head) {
		if (d)
			__atomic_sub_fetch(&d->used_bytes, bytes, __ATOMIC_RELAXED);
		return refdevErrorNoMemory;
	}
	*head = (struct memory_head){MAGIC, bytes, device};
	*memory = (char *)head + HEAD_BYTES;
	return refdevSuccess;
}

static refdevError_t release(void *memory, bool host)
{
	struct memory_head *head;

	if (!memory)
		return refdevSuccess;
	head = (struct memory_head *)((char *)memory - HEAD_BYTES);
	if ((uintptr_t)memory % HEAD_BYTES || head->magic != MAGIC || host != (head->device < 0))
		return refdevErrorInvalid;
	head->magic = 0;
	if (head->device >= 0)
		__atomic_sub_fetch(&ref_devices[head->device].used_bytes, head->bytes,
				   __ATOMIC_RELAXED);
	free(head);
	return refdevSuccess;
}

refdevError_t refdevDrvMemAlloc(void **memory, size_t bytes, int device)
{
	REF_DRIVER(device < 0 ? refdevErrorInvalid : allocate(memory, bytes, device));
}

refdevError_t refdevDrvMemFree(void *memory)
{
	REF_DRIVER(release(memory, false));
}

refdevError_t refdevMalloc(void **memory, size_t bytes)
{
	REF_RUNTIME(refdevDrvMemAlloc(memory, bytes, ref_current_device));
}

refdevError_t refdevFree(void *memory)
{
	REF_RUNTIME(refdevDrvMemFree(memory));
}

refdevError_t refdevMallocHost(void **memory, size_t bytes)
{
	REF_RUNTIME(allocate(memory, bytes, -1));
}

refdevError_t refdevFreeHost(void *memory)
{
	REF_RUNTIME(release(memory, true));
}

static refdevError_t get_info(size_t *available, size_t *total)
{
	const struct ref_device *d = &ref_devices[ref_current_device];

	if (!available || !total)
		return refdevErrorInvalid;
	*total = d->memory_bytes;
	*available = d->memory_bytes - __atomic_load_n(&d->used_bytes, __ATOMIC_RELAXED);
	return refdevSuccess;
}

refdevError_t refdevMemGetInfo(size_t *available, size_t *total)
{
	REF_RUNTIME(get_info(available, total));
}
