/* SPDX-License-Identifier: MIT */
/* The driver, its devices and contexts. A device looks like an Intel GPU, because SYCL's runtime
 * requires certain properties. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

#define DRIVER_VERSION_TEXT "1.6.31487"
enum {
	DRIVER_VERSION = 0x01067aff,
	VENDOR = 0x8086,
	DEVICE = 0x56c0,
	IP_VERSION = 0x030dc008,
	GROUP_MOST = 1024,
	LOCAL_BYTES = 64 << 10,
	CACHE_BYTES = 1 << 20,
	QUEUES_OF_COMPUTE = 4,
	QUEUES_OF_COPY = 2,
	FILL_MOST = 128
};

static struct soft_ze_driver {
	uint32_t kind;
} driver = {SOFT_ZE_DRIVER};

static struct soft_ze_device devices[SOFT_ZE_DEVICES_MOST];
static struct soft_ze_device tiles[SOFT_ZE_DEVICES_MOST][SOFT_ZE_TILES_MOST];
struct soft_ze_context soft_ze_default_context = {SOFT_ZE_CONTEXT, true};

/* Driver --------------------------------------------------------------------------------- */

static void make_devices(void)
{
	for (unsigned i = 0; i < soft_ze_config.devices; i++) {
		devices[i] = (struct soft_ze_device){.kind = SOFT_ZE_DEVICE,
						     .index = i,
						     .tile_count = soft_ze_config.tiles};
		for (unsigned k = 0; k < soft_ze_config.tiles; k++)
			tiles[i][k] = (struct soft_ze_device){.kind = SOFT_ZE_DEVICE,
							      .index = i,
							      .tile = k,
							      .parent = &devices[i]};
	}
}

static ze_result_t start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (soft_ze_forked)
		return soft_ze_refuse_child();
	if (!soft_ze_start())
		return ZE_RESULT_ERROR_UNINITIALIZED;
	pthread_once(&once, make_devices);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeInit(ze_init_flags_t flags)
{
	(void)flags;
	return start();
}

/* Limit *@count to the available elements. Return true if the caller only queries their number,
 * with a count of 0 or without an array. */
static bool asks_count(uint32_t *count, const void *out, uint32_t there)
{
	bool asks = !*count || !out;

	if (!*count || *count > there)
		*count = there;
	return asks;
}

/* Answer a query for the number of elements, in a function that returns a list. */
#define SOFT_ZE_ANSWER_COUNT(count, out, there)                      \
	do {                                                         \
		if (!(count))                                        \
			return ZE_RESULT_ERROR_INVALID_NULL_POINTER; \
		if (asks_count(count, out, there))                   \
			return ZE_RESULT_SUCCESS;                    \
	} while (0)

ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *out)
{
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!asks_count(count, out, 1))
		*out = (ze_driver_handle_t)&driver;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeInitDrivers(uint32_t *count, ze_driver_handle_t *out, const void *desc)
{
	ze_result_t status = start();

	(void)desc;
	return status ? status : zeDriverGet(count, out);
}

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t handle, ze_api_version_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DRIVER);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = (ze_api_version_t)NEWER_API_VERSION;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t handle, ze_driver_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DRIVER);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	memcpy(&out->uuid, "gputap soft ze", sizeof out->uuid > 15 ? 15 : sizeof out->uuid);
	out->driverVersion = DRIVER_VERSION;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetIpcProperties(ze_driver_handle_t handle, ze_driver_ipc_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DRIVER);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->flags = ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t handle, uint32_t *count,
					   ze_driver_extension_properties_t *out)
{
	static const char *const names[] = {
		"ZE_experimental_module_program",
		"ZE_experimental_global_offset",
		"ZE_extension_float_atomics",
		"ZE_extension_device_ip_version",
		"ZE_experimental_immediate_command_list_append",
		"ZE_experimental_event_pool_counter_based",
		"ZE_experimental_mutable_command_list",
		"ZE_extension_kernel_max_group_size_properties",
		"ZE_extension_event_query_kernel_timestamps",
		"ZE_extension_image_copy",
		"ZE_extension_image_query_alloc_properties",
		"ZE_experimental_image_memory_properties",
		"ZE_experimental_image_view",
		"ZE_extension_image_view",
		"ZE_experimental_pitched_alloc_exp",
		"ZE_intel_get_driver_version_string",
	};

	SOFT_ZE_VALID(handle, SOFT_ZE_DRIVER);
	SOFT_ZE_ANSWER_COUNT(count, out, sizeof names / sizeof *names);
	for (uint32_t i = 0; i < *count; i++) {
		snprintf(out[i].name, sizeof out[i].name, "%s", names[i]);
		out[i].version = ZE_MAKE_VERSION(1, 0);
	}
	return ZE_RESULT_SUCCESS;
}

static ze_result_t get_version_text(ze_driver_handle_t handle, char *out, size_t *bytes)
{
	size_t all = sizeof DRIVER_VERSION_TEXT;

	(void)handle;
	if (out)
		memcpy(out, DRIVER_VERSION_TEXT, *bytes < all ? *bytes : all);
	*bytes = all - 1;
	return ZE_RESULT_SUCCESS;
}

/* A function of Intel's, older than the standard function. */
static ze_result_t create_counter_based(ze_context_handle_t context, ze_device_handle_t device,
					const void *desc, ze_event_handle_t *out)
{
	(void)context, (void)device, (void)desc;
	return soft_ze_event_create_counter_based(true, out);
}

ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t handle, const char *name,
						void **out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DRIVER);
	if (!name || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = NULL;
	if (!strcmp(name, "zeIntelGetDriverVersionString"))
		*out = (void *)get_version_text;
	else if (!strcmp(name, "zexCounterBasedEventCreate2") && soft_ze_config.counter_events)
		*out = (void *)create_counter_based;
	soft_ze_say(2, "extension function %s: %s", name, *out ? "yes" : "no");
	return *out ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t newer_zeDriverGetLastErrorDescription(ze_driver_handle_t handle, const char **out)
{
	(void)handle;
	return newer_zerGetLastErrorDescription(out);
}

ze_result_t newer_zerGetLastErrorDescription(const char **out)
{
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = soft_ze_last_error();
	return ZE_RESULT_SUCCESS;
}

/* Devices -------------------------------------------------------------------------------- */

struct soft_ze_device *soft_ze_device_number(unsigned index)
{
	return index < soft_ze_config.devices ? &devices[index] : NULL;
}

ze_result_t zeDeviceGet(ze_driver_handle_t handle, uint32_t *count, ze_device_handle_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DRIVER);
	SOFT_ZE_ANSWER_COUNT(count, out, soft_ze_config.devices);
	for (uint32_t i = 0; i < *count; i++)
		out[i] = (ze_device_handle_t)&devices[i];
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t handle, uint32_t *count,
				  ze_device_handle_t *out)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, handle, SOFT_ZE_DEVICE);

	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!d->tile_count) {
		*count = 0;
		return ZE_RESULT_SUCCESS;
	}
	if (asks_count(count, out, d->tile_count))
		return ZE_RESULT_SUCCESS;
	for (uint32_t i = 0; i < *count; i++)
		out[i] = (ze_device_handle_t)&tiles[d->index][i];
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeDeviceGetRootDevice(ze_device_handle_t handle, ze_device_handle_t *out)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, handle, SOFT_ZE_DEVICE);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = (ze_device_handle_t)d->parent;
	return ZE_RESULT_SUCCESS;
}

static unsigned count_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t handle, ze_device_properties_t *out)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, handle, SOFT_ZE_DEVICE);
	const struct soft_clock *clock = &soft_ze_config.clock;
	ze_structure_type_t type;
	void *first;

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	type = out->stype;
	first = out->pNext;
	*out = (ze_device_properties_t){
		.stype = type,
		.pNext = first,
		.type = ZE_DEVICE_TYPE_GPU,
		.vendorId = VENDOR,
		.deviceId = DEVICE,
		.flags = d->parent ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0,
		.subdeviceId = d->tile,
		.coreClockRate = 1000,
		.maxMemAllocSize = soft_ze_config.memory_bytes,
		.maxHardwareContexts = 64,
		.numThreadsPerEU = 8,
		.physicalEUSimdWidth = 16,
		.numEUsPerSubslice = 1,
		.numSubslicesPerSlice = count_processors(),
		.numSlices = 1,
		/* ticks per second, or ns per tick in the older structure */
		.timerResolution = type == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
					   ? clock->hz
					   : 1000000000u / clock->hz,
		.timestampValidBits = 64,
		.kernelTimestampValidBits = soft_ze_config.kernel_bits};
	memset(&out->uuid, 0x5a, sizeof out->uuid);
	out->uuid.id[0] = (uint8_t)d->index;
	out->uuid.id[1] = d->parent ? (uint8_t)(d->tile + 1) : 0;
	snprintf(out->name, sizeof out->name, "gputap software device");
	for (ze_base_properties_t *next = first; next; next = next->pNext)
		if ((int)next->stype == NEWER_STYPE_IP_VERSION)
			((struct newer_ip_version *)next)->version = IP_VERSION;
		else if ((int)next->stype == NEWER_STYPE_MUTABLE_PROPERTIES)
			((struct newer_mutable_properties *)next)->command_flags = 0x7f;
		else if ((int)next->stype == NEWER_STYPE_KERNEL_TIMES) /* in ticks, in host ns */
			((struct newer_kernel_times *)next)->flags = 3;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t handle,
					 ze_device_compute_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->maxTotalGroupSize = GROUP_MOST;
	out->maxGroupSizeX = out->maxGroupSizeY = out->maxGroupSizeZ = GROUP_MOST;
	out->maxGroupCountX = out->maxGroupCountY = out->maxGroupCountZ = INT32_MAX;
	out->maxSharedLocalMemory = LOCAL_BYTES;
	out->numSubGroupSizes = 3;
	out->subGroupSizes[0] = 8;
	out->subGroupSizes[1] = 16;
	out->subGroupSizes[2] = 32;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t handle,
					ze_device_module_properties_t *out)
{
	ze_device_fp_flags_t floats = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
				      ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST |
				      ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO |
				      ZE_DEVICE_FP_FLAG_ROUND_TO_INF | ZE_DEVICE_FP_FLAG_FMA;
	ze_device_fp_atomic_ext_flags_t atomics = ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE |
						  ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD |
						  ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE |
						  ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD;

	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->spirvVersionSupported = ZE_MAKE_VERSION(1, 4);
	out->flags = ZE_DEVICE_MODULE_FLAG_FP64 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
	out->fp16flags = 0;
	out->fp32flags = out->fp64flags = floats;
	out->maxArgumentsSize = 2048;
	out->printfBufferSize = 1 << 20;
	memset(&out->nativeKernelSupported, 1, sizeof out->nativeKernelSupported);
	for (ze_base_properties_t *next = out->pNext; next; next = next->pNext)
		if (next->stype == ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES) {
			ze_float_atomic_ext_properties_t *f = (void *)next;
			f->fp16Flags = 0;
			f->fp32Flags = f->fp64Flags = atomics;
		}
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t handle, uint32_t *count,
						   ze_command_queue_group_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	SOFT_ZE_ANSWER_COUNT(count, out, SOFT_ZE_GROUPS);
	for (uint32_t i = 0; i < *count; i++) {
		out[i].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
		if (i == SOFT_ZE_GROUP_COMPUTE)
			out[i].flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
					ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS;
		out[i].maxMemoryFillPatternSize = FILL_MOST;
		out[i].numQueues = i == SOFT_ZE_GROUP_COMPUTE ? QUEUES_OF_COMPUTE : QUEUES_OF_COPY;
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t handle, uint32_t *count,
					ze_device_memory_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	SOFT_ZE_ANSWER_COUNT(count, out, 1);
	out->flags = 0;
	out->maxClockRate = 1000;
	out->maxBusWidth = 64;
	out->totalSize = soft_ze_config.memory_bytes;
	snprintf(out->name, sizeof out->name, "memory of the host");
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryAccessProperties(ze_device_handle_t handle,
					      ze_device_memory_access_properties_t *out)
{
	ze_memory_access_cap_flags_t both =
		ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;

	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->hostAllocCapabilities = out->deviceAllocCapabilities = both;
	out->sharedSingleDeviceAllocCapabilities = out->sharedCrossDeviceAllocCapabilities = both;
	out->sharedSystemAllocCapabilities = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t handle, uint32_t *count,
				       ze_device_cache_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	SOFT_ZE_ANSWER_COUNT(count, out, 1);
	out->flags = 0;
	out->cacheSize = CACHE_BYTES;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetExternalMemoryProperties(ze_device_handle_t handle,
						ze_device_external_memory_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = (ze_device_external_memory_properties_t){.stype = out->stype, .pNext = out->pNext};
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t handle, ze_device_handle_t peer,
				     ze_device_p2p_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!soft_ze_check(peer, SOFT_ZE_DEVICE) || !out)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	out->flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t handle, ze_device_handle_t peer,
				  ze_bool_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!soft_ze_check(peer, SOFT_ZE_DEVICE) || !out)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*out = 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t handle)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t handle, uint64_t *host, uint64_t *device)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!host || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*host = soft_ze_host_ns();
	*device = soft_clock_paired_ticks(&soft_ze_config.clock, *host);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t handle, ze_pci_ext_properties_t *out)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, handle, SOFT_ZE_DEVICE);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->address = (ze_pci_address_ext_t){.bus = 3 + d->index};
	out->maxSpeed = (ze_pci_speed_ext_t){4, 16, INT64_C(1) << 34};
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeDeviceSynchronize(ze_device_handle_t handle)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, handle, SOFT_ZE_DEVICE);

	return soft_ze_device_wait(d);
}

ze_result_t newer_zeDeviceGetCounterBasedEventMaxValue(ze_device_handle_t handle, uint64_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	*out = UINT64_MAX;
	return ZE_RESULT_SUCCESS;
}

uint32_t newer_zerTranslateDeviceHandleToIdentifier(ze_device_handle_t handle)
{
	const struct soft_ze_device *d = soft_ze_check(handle, SOFT_ZE_DEVICE);

	return d ? d->index : UINT32_MAX;
}

ze_device_handle_t newer_zerTranslateIdentifierToDeviceHandle(uint32_t identifier)
{
	return (ze_device_handle_t)soft_ze_device_number(identifier);
}

/* Contexts --------------------------------------------------------------------------------- */

ze_context_handle_t newer_zeDriverGetDefaultContext(ze_driver_handle_t handle)
{
	return soft_ze_check(handle, SOFT_ZE_DRIVER) ? (ze_context_handle_t)&soft_ze_default_context
						     : NULL;
}

ze_context_handle_t newer_zerGetDefaultContext(void)
{
	return (ze_context_handle_t)&soft_ze_default_context;
}

ze_result_t zeContextCreate(ze_driver_handle_t handle, const ze_context_desc_t *desc,
			    ze_context_handle_t *out)
{
	struct soft_ze_context *c;

	SOFT_ZE_VALID(handle, SOFT_ZE_DRIVER);
	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	c = soft_ze_object_create(SOFT_ZE_CONTEXT, sizeof *c);
	if (!c)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	*out = (ze_context_handle_t)c;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextCreateEx(ze_driver_handle_t handle, const ze_context_desc_t *desc,
			      uint32_t count, ze_device_handle_t *all, ze_context_handle_t *out)
{
	for (uint32_t i = 0; all && i < count; i++)
		if (!soft_ze_check(all[i], SOFT_ZE_DEVICE))
			return soft_ze_refuse(all[i]);
	return zeContextCreate(handle, desc, out);
}

ze_result_t zeContextDestroy(ze_context_handle_t handle)
{
	SOFT_ZE_OBJECT(c, soft_ze_context, handle, SOFT_ZE_CONTEXT);

	if (!c->is_default)
		soft_ze_object_destroy(c, SOFT_ZE_CONTEXT);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextGetStatus(ze_context_handle_t handle)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_CONTEXT);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextSystemBarrier(ze_context_handle_t handle, ze_device_handle_t device)
{
	(void)device;
	return zeContextGetStatus(handle);
}

ze_result_t zeContextMakeMemoryResident(ze_context_handle_t handle, ze_device_handle_t device,
					void *memory, size_t bytes)
{
	(void)device, (void)memory, (void)bytes;
	return zeContextGetStatus(handle);
}

ze_result_t zeContextEvictMemory(ze_context_handle_t handle, ze_device_handle_t device,
				 void *memory, size_t bytes)
{
	(void)device, (void)memory, (void)bytes;
	return zeContextGetStatus(handle);
}
