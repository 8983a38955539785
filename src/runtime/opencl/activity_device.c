/* SPDX-License-Identifier: MIT */
/* Writes an object record for each device once per process, and readings of the devices' clocks.
 *
 * Devices live as long as the runtime and keep their number, except sub-devices: a sub-device with
 * a reused handle gets a new number.
 *
 * learn_device() queries a device's properties from the runtime once: when the device's first queue
 * or context is created, or at its first activity if devices are still being created then. A device
 * passes through these states (gt_cl_device.fresh), with `learning` held unless the lock could not
 * be taken:
 *   CREATED    the handle is new or reused
 *   NUMBERED   it has a number, and records can refer to it; its properties must not be queried yet
 *   ASKED      its properties are known; each forked child writes the record once more */
#include "runtime/opencl/activity.h"

#include "core/recording.h"
#include "runtime/opencl/opencl_attach.h"

#include <CL/cl_ext.h>
#include <string.h>

#ifndef CL_DEVICE_UUID_KHR
#define CL_DEVICE_UUID_KHR 0x106A
#endif
enum {
	DEVICE_PCI_KHR = 0x410F,
	DEVICE_PCI_BUS_NV = 0x4008,
	DEVICE_PCI_SLOT_NV = 0x4009,
	DEVICE_PCI_DOMAIN_NV = 0x400A
};
enum { ASKED = 0, NUMBERED, CREATED };

GT_CL_MAP(devices, 8);
static _Atomic(struct gt_cl_device *) all_devices;
/* Ensures that two threads that find a device at the same time create only one entry for it. */
static struct gt_cl_lock learning;
/* Number of threads in device queries; upper half: their process. */
static _Atomic uint64_t making;

/* Record of a device --------------------------------------------------------- */

static void add_string(const struct gt_table *table, struct gt_text *text, cl_device_id d,
		       cl_device_info what, const char *key)
{
	char value[512];
	size_t bytes = 0;

	if (GT_CL(table, clGetDeviceInfo)(d, what, sizeof value, value, &bytes) == CL_SUCCESS &&
	    bytes > 1 && bytes <= sizeof value)
		gt_text_add_bytes(text, key, value, strnlen(value, bytes));
}

static cl_device_type device_type(const struct gt_table *table, cl_device_id d)
{
	cl_device_type type = 0;

	return GT_CL(table, clGetDeviceInfo)(d, CL_DEVICE_TYPE, sizeof type, &type, NULL) ==
			       CL_SUCCESS
		       ? type
		       : 0;
}

static void add_type(const struct gt_table *table, struct gt_text *text, cl_device_id d)
{
	cl_device_type type = device_type(table, d);

	if (type)
		gt_text_add(text, "type",
			    type & CL_DEVICE_TYPE_GPU           ? "gpu"
			    : type & CL_DEVICE_TYPE_CPU         ? "cpu"
			    : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
								: "other");
}

static char *put_hex(char *p, unsigned value, unsigned digits)
{
	while (digits-- > 0)
		*p++ = "0123456789abcdef"[value >> (4 * digits) & 15];
	return p;
}

/* Return 300 for "OpenCL 3.0 PoCL ..". A driver's table may end before functions of later
 * versions. */
static unsigned device_version(const struct gt_table *table, cl_device_id d)
{
	char v[128] = "";

	if (GT_CL(table, clGetDeviceInfo)(d, CL_DEVICE_VERSION, sizeof v, v, NULL) != CL_SUCCESS ||
	    strncmp(v, "OpenCL ", 7) != 0 || v[7] < '1' || v[7] > '9' || v[8] != '.' ||
	    v[9] < '0' || v[9] > '9')
		return 100;
	return (unsigned)(v[7] - '0') * 100 + (unsigned)(v[9] - '0');
}

/* Add an address such as "0000:3b:00.0", with the first query that the runtime supports. */
static void add_pci(const struct gt_table *table, struct gt_text *text, cl_device_id d)
{
	struct {
		cl_uint domain, bus, device, function;
	} pci = {0, 0, 0, 0};
	cl_uint slot = 0;
	char where[16], *p = where;

	if (GT_CL(table, clGetDeviceInfo)(d, DEVICE_PCI_KHR, sizeof pci, &pci, NULL) !=
	    CL_SUCCESS) {
		if (GT_CL(table, clGetDeviceInfo)(d, DEVICE_PCI_BUS_NV, sizeof pci.bus, &pci.bus,
						  NULL) != CL_SUCCESS ||
		    GT_CL(table, clGetDeviceInfo)(d, DEVICE_PCI_SLOT_NV, sizeof slot, &slot,
						  NULL) != CL_SUCCESS)
			return;
		if (GT_CL(table, clGetDeviceInfo)(d, DEVICE_PCI_DOMAIN_NV, sizeof pci.domain,
						  &pci.domain, NULL) != CL_SUCCESS)
			pci.domain = 0;
		pci.device = slot >> 3;
		pci.function = slot & 7;
	}
	p = put_hex(p, pci.domain, 4);
	*p++ = ':';
	p = put_hex(p, pci.bus, 2);
	*p++ = ':';
	p = put_hex(p, pci.device, 2);
	*p++ = '.';
	p = put_hex(p, pci.function, 1);
	gt_text_add_bytes(text, "pci", where, (size_t)(p - where));
}

static void add_uuid(const struct gt_table *table, struct gt_text *text, cl_device_id d)
{
	unsigned char uuid[16];
	size_t bytes = 0;

	if (GT_CL(table, clGetDeviceInfo)(d, CL_DEVICE_UUID_KHR, sizeof uuid, uuid, &bytes) ==
		    CL_SUCCESS &&
	    bytes == sizeof uuid)
		gt_text_add_hex(text, "uuid", uuid, sizeof uuid);
}

/* Clock of a device ---------------------------------------------------------- */

void gt_cl_device_clock(struct gt_cl_device *d, struct gt_thread *t)
{
	cl_ulong device = 0, host = 0;
	uint64_t before, after;
	cl_int ret;

	if (!atomic_load_explicit(&d->timer, memory_order_relaxed))
		return;
	gt_internal_enter();
	before = gt_ticks();
	ret = GT_CL(d->table, clGetDeviceAndHostTimer)((cl_device_id)(uintptr_t)d->node.handle,
						       &device, &host);
	after = gt_ticks();
	gt_internal_leave();
	if (ret != CL_SUCCESS || device == 0) {
		atomic_store_explicit(&d->timer, false, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&d->clock_read, after, memory_order_relaxed);
	gt_clock_write(t, (uint32_t)d->number, 1 /* GT_CLOCK_TIMER */, before, after, device, host);
}

/* While devices are being created -------------------------------------------- */

/* Return true while devices may be half created. A runtime creates its devices during the first
 * query for them. PoCL shows half-created devices to a second thread: a query of the missing name
 * crashes, and the program's own calls get errors. Therefore gputap queries no properties while any
 * thread queries for devices. */
static bool are_being_made(uint32_t epoch)
{
	uint64_t m = atomic_load_explicit(&making, memory_order_acquire);

	return m >> 32 == epoch && (uint32_t)m;
}

void gt_cl_devices_begin_making(uint32_t epoch)
{
	uint64_t m = atomic_load_explicit(&making, memory_order_relaxed), more;

	do
		/* On mismatch, the counted threads are those of a fork's parent. */
		more = m >> 32 == epoch ? m + 1 : (uint64_t)epoch << 32 | 1;
	while (!atomic_compare_exchange_weak_explicit(&making, &m, more, memory_order_acq_rel,
						      memory_order_relaxed));
}

void gt_cl_devices_end_making(uint32_t epoch)
{
	uint64_t m = atomic_load_explicit(&making, memory_order_relaxed);

	while (m >> 32 == epoch && (uint32_t)m &&
	       !atomic_compare_exchange_weak_explicit(&making, &m, m - 1, memory_order_acq_rel,
						      memory_order_relaxed))
		;
}

cl_int gt_opencl_wrap_clGetDeviceIDs(const struct gt_call *call, cl_platform_id platform,
				     cl_device_type device_type, cl_uint num_entries,
				     cl_device_id *devices_ret, cl_uint *num_devices)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	cl_int ret;

	gt_cl_devices_begin_making(epoch);
	ret = GT_CL_REAL(call, clGetDeviceIDs)(platform, device_type, num_entries, devices_ret,
					       num_devices);
	gt_cl_devices_end_making(epoch);
	if (call->thread)
		gt_opencl_tables_meet(platform);
	return ret;
}

/* Devices, and their records ------------------------------------------------- */

static void write_device(struct gt_cl_device *d, struct gt_thread *t, uint64_t parent)
{
	cl_device_id id = (cl_device_id)(uintptr_t)d->node.handle;
	const struct gt_table *table = d->table;
	struct gt_text text = {0};

	add_string(table, &text, id, CL_DEVICE_NAME, "name");
	add_string(table, &text, id, CL_DEVICE_VENDOR, "vendor");
	add_string(table, &text, id, CL_DEVICE_VERSION, "version");
	add_string(table, &text, id, CL_DRIVER_VERSION, "driver");
	add_type(table, &text, id);
	add_pci(table, &text, id);
	add_uuid(table, &text, id);
	if (atomic_load_explicit(&d->timer, memory_order_relaxed))
		gt_text_add(&text, "clock", "timer");
	if (gt_object_write(t, GT_OBJECT_DEVICE, GT_DOMAIN_OPENCL, d->number, (uintptr_t)id, parent,
			    &text))
		atomic_store_explicit(&d->epoch, t->epoch, memory_order_release);
}

struct gt_cl_device *gt_cl_device_first(void)
{
	return atomic_load_explicit(&all_devices, memory_order_acquire);
}

static struct gt_cl_device *add_device(const struct gt_table *table, struct gt_thread *t,
				       cl_device_id id)
{
	struct gt_cl_device *d = gt_cl_memory_take(t->epoch, sizeof *d), *first;

	if (!d)
		return NULL;
	d->table = table;
	d->fresh = CREATED;
	gt_cl_map_add(&devices, &d->node, id);
	first = atomic_load_explicit(&all_devices, memory_order_relaxed);
	do {
		d->next = first;
	} while (!atomic_compare_exchange_weak_explicit(&all_devices, &first, d,
							memory_order_release,
							memory_order_relaxed));
	return d;
}

bool gt_cl_device_is_asked(const struct gt_cl_device *d)
{
	return atomic_load_explicit(&d->fresh, memory_order_acquire) == ASKED;
}

static bool is_known(const struct gt_cl_device *d, const struct gt_thread *t)
{
	return d && gt_cl_device_is_asked(d) &&
	       atomic_load_explicit(&d->epoch, memory_order_acquire) == t->epoch;
}

/* Return the entry of a device. The caller must hold `learning`, unless the lock could not be
 * taken. */
static struct gt_cl_device *learn_device(const struct gt_table *table, struct gt_thread *t,
					 cl_device_id id)
{
	struct gt_cl_device *d = gt_cl_map_find(&devices, id), *root;
	cl_device_id parent = NULL;

	if (is_known(d, t) || (!d && !(d = add_device(table, t, id))))
		return d;
	if (atomic_load_explicit(&d->fresh, memory_order_acquire) == CREATED) {
		d->number = gt_object_number(GT_OBJECT_DEVICE);
		atomic_store_explicit(&d->fresh, NUMBERED, memory_order_release);
	}
	if (are_being_made(t->epoch))
		return d;
	/* May wait, with a time-out, for the dynamic linker, whose lock's holder may wait for
	 * gputap's lock. */
	gt_opencl_used(table, id);
	if (atomic_load_explicit(&d->fresh, memory_order_acquire)) {
		d->version = device_version(table, id);
		d->host = device_type(table, id) & CL_DEVICE_TYPE_CPU;
		d->timer = d->version >= 201 && GT_CL(table, clGetDeviceAndHostTimer) != NULL;
		gt_cl_device_clock(d, NULL); /* tests whether the clock works */
		atomic_store_explicit(&d->fresh, ASKED, memory_order_release);
	}
	if (GT_CL(table, clGetDeviceInfo)(id, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent,
					  NULL) != CL_SUCCESS)
		parent = NULL;
	root = parent && parent != id ? learn_device(table, t, parent) : NULL;
	write_device(d, t, root ? root->number : 0);
	return d;
}

struct gt_cl_device *gt_cl_device_get(const struct gt_table *table, struct gt_thread *t,
				      cl_device_id id)
{
	struct gt_cl_device *d = gt_cl_map_find(&devices, id);
	bool locked;

	if (!t || !id || gt_likely(is_known(d, t)))
		return d;
	gt_internal_enter();
	locked = gt_cl_lock_take(&learning, t->epoch);
	d = learn_device(table, t, id);
	if (locked)
		gt_cl_lock_release(&learning);
	gt_internal_leave();
	return d;
}

/* Mark device handles as new, because the handle of a sub-device may be reused. */
static void created_again(const cl_device_id *ids, cl_uint count)
{
	for (cl_uint i = 0; i < count; i++) {
		struct gt_cl_device *d = gt_cl_map_find(&devices, ids[i]);

		if (d)
			atomic_store_explicit(&d->fresh, CREATED, memory_order_release);
	}
}

cl_int gt_opencl_wrap_clCreateSubDevices(const struct gt_call *call, cl_device_id in_device,
					 const cl_device_partition_property *properties,
					 cl_uint num_entries, cl_device_id *out_devices,
					 cl_uint *num_devices)
{
	cl_uint own = 0, *count = num_devices ? num_devices : &own;
	cl_int ret = GT_CL_REAL(call, clCreateSubDevices)(in_device, properties, num_entries,
							  out_devices,
							  out_devices ? count : num_devices);

	if (ret == CL_SUCCESS && out_devices)
		created_again(out_devices, *count < num_entries ? *count : num_entries);
	return ret;
}

void gt_cl_notify_device(struct gt_cl_device *d)
{
	struct gputap_object o = {
		.domain = GPUTAP_DOMAIN_OPENCL,
		.type = GPUTAP_OBJECT_DEVICE,
		.number = d->number,
		.handle = (uintptr_t)d->node.handle,
		.device_handle = (uintptr_t)d->node.handle,
		.storage_file = -1,
	};
	char name[512] = "";

	/* Only one thread continues past this point, so it may change d->object. */
	if (atomic_exchange_explicit(&d->notified_number, d->number, memory_order_acq_rel) ==
	    d->number)
		return;
	gt_internal_enter();
	if (GT_CL(d->table, clGetDeviceInfo)((cl_device_id)(uintptr_t)d->node.handle,
					     CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS)
		o.name = gt_tool_text(name, strnlen(name, sizeof name));
	gt_internal_leave();
	gt_tool_object_unload(d->object);
	d->object = gt_tool_object_add(&o, NULL);
	gt_tool_object_loaded(d->object);
}
