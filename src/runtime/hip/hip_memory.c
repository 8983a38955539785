/* SPDX-License-Identifier: MIT */
/* Finds the device that holds a call's allocation, and the size of arrays in bytes. Each HIP device
 * is matched once with its HSA agent, by PCI address. */
#include <string.h>

#include "core/emit.h"
#include "generated/hip_wraps.h"
#include "runtime/array_bytes.h"
#include "runtime/hip/hip_graph.h"
#include "runtime/rocm.h"

enum { DEVICES = 64, DEVICE_ORDINAL = 9, LOCATION_DEVICE = 1 };

/* hipMemAllocationProp, up to the last member used. */
struct allocation_properties {
	uint32_t type, handle_types, location, location_id;
};

static uint32_t find_agent(const char *pci)
{
	struct gt_rocm_device d;

	for (uint32_t i = 0; gt_rocm_device_get(i, &d); i++)
		if (d.pci[0] && strcmp(d.pci, pci) == 0)
			return (uint32_t)d.number;
	return 0;
}

/* Return the number of the device's object, or 0 if unknown. */
static uint32_t get_number(const struct gt_table *table, struct gt_thread *t, int device)
{
	static _Atomic uint32_t numbers[DEVICES];
	uint32_t number;
	char pci[16] = "";

	if (device < 0 || device >= DEVICES)
		return 0;
	number = atomic_load_explicit(&numbers[device], memory_order_relaxed);
	if (number)
		return number;
	if (!GT_HIP(table, hipDeviceGetPCIBusId) ||
	    GT_HIP(table, hipDeviceGetPCIBusId)(pci, sizeof pci, device))
		return 0;
	number = find_agent(pci);
	if (!number) {
		gt_rocm_devices_meet(t);
		number = find_agent(pci);
	}
	atomic_store_explicit(&numbers[device], number, memory_order_relaxed);
	return number;
}

static int get_current(const struct gt_table *table)
{
	int device = -1;

	return GT_HIP(table, hipGetDevice) && !GT_HIP(table, hipGetDevice)(&device) ? device : -1;
}

static int get_pointers(const struct gt_table *table, uint64_t address)
{
	int device = -1;

	return GT_HIP(table, hipPointerGetAttribute) &&
			       !GT_HIP(table, hipPointerGetAttribute)(&device, DEVICE_ORDINAL,
								      (void *)(uintptr_t)address)
		       ? device
		       : -1;
}

static int get_location(const struct allocation_properties *p)
{
	return p->location == LOCATION_DEVICE ? (int)p->location_id : -1;
}

static int get_device(const struct gt_table *table, unsigned index, const uint64_t *values)
{
	switch (index) {
	case GT_HIP_INDEX_hipMemCreate: return get_location((const void *)(uintptr_t)values[0]);
	case GT_HIP_INDEX_hipMallocAsync:
	case GT_HIP_INDEX_hipMallocFromPoolAsync: return get_pointers(table, values[0]);
	default: return get_current(table);
	}
}

static uint64_t get_element_bytes(const struct gt_hip_channel_format *f)
{
	return (uint64_t)(f->x + f->y + f->z + f->w) / 8;
}

static uint64_t get_extent_bytes(const uint64_t *values, uint32_t levels)
{
	const struct gt_hip_channel_format *format = (const void *)(uintptr_t)values[0];
	const struct gt_hip_extent *extent = (const void *)(uintptr_t)values[1];

	return gt_array_bytes(&(struct gt_array_shape){extent->width, extent->height, extent->depth,
						       get_element_bytes(format), levels,
						       (uint32_t)values[2]});
}

static uint64_t get_bytes(unsigned index, const uint64_t *values)
{
	const void *descriptor = (const void *)(uintptr_t)values[0];

	switch (index) {
	case GT_HIP_INDEX_hipMallocArray:
		return gt_array_bytes(&(struct gt_array_shape){values[1], values[2], 0,
							       get_element_bytes(descriptor), 1,
							       0});
	case GT_HIP_INDEX_hipMalloc3DArray: return get_extent_bytes(values, 1);
	case GT_HIP_INDEX_hipMallocMipmappedArray:
		return get_extent_bytes(values, (uint32_t)values[3]);
	case GT_HIP_INDEX_hipArrayCreate: return gt_array_descriptor_bytes(descriptor);
	case GT_HIP_INDEX_hipArray3DCreate: return gt_array3d_descriptor_bytes(descriptor, 1);
	case GT_HIP_INDEX_hipMipmappedArrayCreate:
		return gt_array3d_descriptor_bytes(descriptor, (uint32_t)values[1]);
	default: return UINT64_MAX;
	}
}

void gt_hip_ask(struct gt_thread *t, const struct gt_table *table, unsigned index,
		const uint64_t *values, struct gt_facts *facts)
{
	facts->bytes = get_bytes(index, values);
	if (!gt_tap_options.follow_devices)
		return;
	gt_internal_enter();
	facts->device = get_number(table, t, get_device(table, index, values));
	gt_internal_leave();
}
