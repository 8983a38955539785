/* SPDX-License-Identifier: MIT */
/* Finds the device that holds a call's allocation, and the size of arrays in bytes. The driver is
 * queried only if several devices exist. */
#include <string.h>

#include "runtime/array_bytes.h"
#include "runtime/cuda/cuda_parts.h"

enum { DEVICE_ORDINAL = 9, LOCATION_DEVICE = 1 };

/* CUmemAllocationProp, up to the last member used. */
struct allocation_properties {
	uint32_t type, handle_types, location, location_id;
};

static uint32_t count_devices(void)
{
	static _Atomic uint32_t known; /* set once the driver is initialised */
	uint32_t count = atomic_load_explicit(&known, memory_order_relaxed);
	int found = 0;

	if (!count && GT_CUDA_REAL(cuDeviceGetCount) && !GT_CUDA_REAL(cuDeviceGetCount)(&found) &&
	    found > 0) {
		count = (uint32_t)found;
		atomic_store_explicit(&known, count, memory_order_relaxed);
	}
	return count;
}

/* Return the device of @address, or -1 if unknown. For address 0, return the device of the thread's
 * context. */
static int find_device(uint64_t address)
{
	int device = -1;

	if (count_devices() == 1)
		return 0;
	if (address)
		return GT_CUDA_REAL(cuPointerGetAttribute) &&
				       !GT_CUDA_REAL(cuPointerGetAttribute)(&device, DEVICE_ORDINAL,
									    address)
			       ? device
			       : -1;
	return GT_CUDA_REAL(cuCtxGetDevice) && !GT_CUDA_REAL(cuCtxGetDevice)(&device) ? device : -1;
}

static int get_location(const struct allocation_properties *p)
{
	return p->location == LOCATION_DEVICE ? (int)p->location_id : -1;
}

static int get_device(unsigned index, const uint64_t *values)
{
	switch (index) {
	case GT_CUDA_DRIVER_INDEX_cuMemCreate:
		return get_location((const void *)(uintptr_t)values[0]);
	case GT_CUDA_DRIVER_INDEX_cuMemAllocAsync:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocAsync_ptsz:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocFromPoolAsync:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocFromPoolAsync_ptsz: return find_device(values[0]);
	default: return find_device(0);
	}
}

static uint64_t get_bytes(unsigned index, const uint64_t *values)
{
	const void *descriptor = (const void *)(uintptr_t)values[0];

	switch (index) {
	case GT_CUDA_DRIVER_INDEX_cuArrayCreate_v2: return gt_array_descriptor_bytes(descriptor);
	case GT_CUDA_DRIVER_INDEX_cuArray3DCreate_v2:
		return gt_array3d_descriptor_bytes(descriptor, 1);
	case GT_CUDA_DRIVER_INDEX_cuMipmappedArrayCreate:
		return gt_array3d_descriptor_bytes(descriptor, (uint32_t)values[1]);
	default: return UINT64_MAX;
	}
}

static uint64_t read_word(const void *parameters, unsigned number)
{
	uint64_t word;

	memcpy(&word, (const uint64_t *)parameters + number, sizeof word);
	return word;
}

bool gt_cuda_ask_parameters(const struct gt_table *table, unsigned index, const void *parameters,
			    struct gt_facts *facts)
{
	uint64_t values[2] = {0, 0};

	if (!parameters)
		return false;
	switch (index) {
	case GT_CUDA_DRIVER_INDEX_cuMemAlloc:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocPitch:
		values[0] = *(const uint32_t *)(uintptr_t)read_word(parameters, 0);
		break;
	case GT_CUDA_DRIVER_INDEX_cuMemAlloc_v2:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocPitch_v2:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocAsync:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocAsync_ptsz:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocFromPoolAsync:
	case GT_CUDA_DRIVER_INDEX_cuMemAllocFromPoolAsync_ptsz:
		values[0] = *(const uint64_t *)(uintptr_t)read_word(parameters, 0);
		break;
	case GT_CUDA_DRIVER_INDEX_cuArrayCreate:
	case GT_CUDA_DRIVER_INDEX_cuArrayCreate_v2:
	case GT_CUDA_DRIVER_INDEX_cuArray3DCreate:
	case GT_CUDA_DRIVER_INDEX_cuArray3DCreate_v2: values[0] = read_word(parameters, 1); break;
	case GT_CUDA_DRIVER_INDEX_cuMipmappedArrayCreate:
		values[0] = read_word(parameters, 1);
		values[1] = (uint32_t)read_word(parameters, 2);
		break;
	case GT_CUDA_DRIVER_INDEX_cuMemCreate: values[0] = read_word(parameters, 2); break;
	default: return false;
	}
	gt_cuda_driver_ask(gt_thread_own(), table, index, values, facts);
	return true;
}

void gt_cuda_driver_ask(struct gt_thread *t, const struct gt_table *table, unsigned index,
			const uint64_t *values, struct gt_facts *facts)
{
	int device;

	(void)table;
	facts->bytes = get_bytes(index, values);
	if (!gt_tap_options.follow_devices)
		return;
	gt_internal_enter();
	device = get_device(index, values);
	gt_internal_leave();
	if (device >= 0)
		facts->device = gt_cuda_device(t, (uint32_t)device);
}
