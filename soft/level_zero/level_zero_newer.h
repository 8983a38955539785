/* SPDX-License-Identifier: MIT */
/* Additions to Level Zero since version 1.5, the version in Debian 12: constants, structures and
 * functions, under private names, because newer headers define the original names. */
#ifndef SOFT_LEVEL_ZERO_NEWER_H
#define SOFT_LEVEL_ZERO_NEWER_H

#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

/* Types of structures. */
enum {
	NEWER_STYPE_IP_VERSION = 0x1000f,
	NEWER_STYPE_KERNEL_TIMES = 0x10011,
	NEWER_STYPE_MAX_GROUP_SIZE = 0x10013,
	NEWER_STYPE_PITCHED_DEVICE = 0x2001d,
	NEWER_STYPE_BINDLESS_IMAGE = 0x2001e,
	NEWER_STYPE_PITCHED_IMAGE = 0x2001f,
	NEWER_STYPE_COUNTER_BASED_POOL = 0x20014,
	NEWER_STYPE_MUTABLE_PROPERTIES = 0x20015,
	NEWER_STYPE_MUTABLE_LIST = 0x20016,
	NEWER_STYPE_MUTABLE_ARGUMENT = 0x20019,
	NEWER_STYPE_MUTABLE_GROUPS = 0x2001a,
	NEWER_STYPE_MUTABLE_GROUP_SIZE = 0x2001b,
	NEWER_STYPE_MUTABLE_OFFSET = 0x2001c
};

enum { NEWER_API_VERSION = ZE_MAKE_VERSION(1, 17) };
enum { NEWER_POOL_FLAG_MAPPED_TIMESTAMP = 1 << 3 };
enum { NEWER_COUNTER_DEVICE_TIMES = 1 << 4, NEWER_COUNTER_HOST_TIMES = 1 << 5 };

struct newer_ip_version {
	uint32_t stype;
	const void *pNext;
	uint32_t version;
};

struct newer_max_group_size {
	uint32_t stype;
	void *pNext;
	uint32_t most;
};

struct newer_mutable_properties {
	uint32_t stype;
	void *pNext;
	uint32_t list_flags, command_flags;
};

struct newer_counter_based_desc {
	uint32_t stype;
	const void *pNext;
	uint32_t flags;
	ze_event_scope_flags_t signal, wait;
};

/* passed by value */
struct newer_group_size {
	uint32_t x, y, z;
};

/* Structures for mutable lists. Each starts with stype, pNext and a command's id. */
struct newer_mutable {
	uint32_t stype;
	const void *pNext;
	uint64_t command;
};

struct newer_mutable_argument {
	struct newer_mutable head;
	uint32_t index;
	size_t bytes;
	const void *value;
};

struct newer_mutable_groups {
	struct newer_mutable head;
	const ze_group_count_t *groups;
};

struct newer_mutable_triple { /* group size, group offset */
	struct newer_mutable head;
	uint32_t x, y, z;
};

struct newer_mutable_commands {
	uint32_t stype;
	const void *pNext; /* the changes */
	uint32_t flags;
};

struct newer_mutable_id {
	uint32_t stype;
	const void *pNext;
	uint32_t flags;
};

struct newer_physical_properties {
	uint32_t stype;
	void *pNext;
	uint64_t id, bytes;
};

struct newer_pitched_device {
	uint32_t stype;
	void *pNext;
	size_t width, height;
};

struct newer_pitched_image {
	uint32_t stype;
	const void *pNext;
	void *memory;
};

struct newer_kernel_times {
	uint32_t stype;
	void *pNext;
	uint32_t flags;
};

struct newer_host_times {
	struct {
		uint64_t start, end; /* host time in ns */
	} global, context;
};

struct newer_event_times {
	uint32_t stype;
	void *pNext;
	ze_kernel_timestamp_result_t *ticks;
	struct newer_host_times *host;
};

/* driver.c */
ze_result_t newer_zeInitDrivers(uint32_t *count, ze_driver_handle_t *out, const void *desc);
ze_result_t newer_zeDriverGetLastErrorDescription(ze_driver_handle_t driver, const char **out);
ze_context_handle_t newer_zeDriverGetDefaultContext(ze_driver_handle_t driver);
ze_result_t newer_zeDeviceGetRootDevice(ze_device_handle_t device, ze_device_handle_t *out);
ze_result_t newer_zeDeviceSynchronize(ze_device_handle_t device);
ze_result_t newer_zeDeviceGetCounterBasedEventMaxValue(ze_device_handle_t device, uint64_t *out);
ze_result_t newer_zerGetLastErrorDescription(const char **out);
uint32_t newer_zerTranslateDeviceHandleToIdentifier(ze_device_handle_t device);
ze_device_handle_t newer_zerTranslateIdentifierToDeviceHandle(uint32_t identifier);
ze_context_handle_t newer_zerGetDefaultContext(void);

/* event.c */
ze_result_t newer_zeEventPoolGetContextHandle(ze_event_pool_handle_t pool,
					      ze_context_handle_t *out);
ze_result_t newer_zeEventPoolGetFlags(ze_event_pool_handle_t pool, ze_event_pool_flags_t *out);
ze_result_t newer_zeEventQueryKernelTimestampsExt(ze_event_handle_t event,
						  ze_device_handle_t device, uint32_t *count,
						  struct newer_event_times *out);
ze_result_t newer_zeEventPoolPutIpcHandle(ze_context_handle_t context,
					  ze_ipc_event_pool_handle_t handle);
ze_result_t newer_zeEventCounterBasedCreate(ze_context_handle_t context, ze_device_handle_t device,
					    const struct newer_counter_based_desc *desc,
					    ze_event_handle_t *out);
ze_result_t newer_zeEventGetEventPool(ze_event_handle_t event, ze_event_pool_handle_t *out);
ze_result_t newer_zeEventGetSignalScope(ze_event_handle_t event, ze_event_scope_flags_t *out);
ze_result_t newer_zeEventGetWaitScope(ze_event_handle_t event, ze_event_scope_flags_t *out);

/* image.c */
ze_result_t newer_zeMemGetPitchFor2dImage(ze_context_handle_t context, ze_device_handle_t device,
					  size_t width, size_t height, unsigned pixel_bytes,
					  size_t *out);
ze_result_t newer_zeImageViewCreateExt(ze_context_handle_t context, ze_device_handle_t device,
				       const ze_image_desc_t *desc, ze_image_handle_t image,
				       ze_image_handle_t *out);

/* sysman.c */
ze_result_t newer_zesInit(uint32_t flags);
ze_result_t newer_zesDriverGet(uint32_t *count, zes_driver_handle_t *out);
ze_result_t newer_zesDeviceGet(zes_driver_handle_t driver, uint32_t *count,
			       zes_device_handle_t *out);
ze_result_t newer_zesDriverGetExtensionProperties(zes_driver_handle_t driver, uint32_t *count,
						  void *out);

/* memory.c */
ze_result_t newer_zeMemSetAtomicAccessAttributeExp(ze_context_handle_t context,
						   ze_device_handle_t device, const void *memory,
						   size_t bytes, uint32_t flags);
ze_result_t newer_zeMemGetAtomicAccessAttributeExp(ze_context_handle_t context,
						   ze_device_handle_t device, const void *memory,
						   size_t bytes, uint32_t *out);

/* ipc.c */
ze_result_t newer_zeMemPutIpcHandle(ze_context_handle_t context, ze_ipc_mem_handle_t handle);
ze_result_t newer_zeMemGetIpcHandleWithProperties(ze_context_handle_t context, const void *memory,
						  void *next, ze_ipc_mem_handle_t *out);
ze_result_t newer_zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t context,
							 uint64_t descriptor,
							 ze_ipc_mem_handle_t *out);
ze_result_t newer_zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t context,
							 ze_ipc_mem_handle_t handle, uint64_t *out);

/* virtual.c */
ze_result_t newer_zePhysicalMemGetProperties(ze_context_handle_t context,
					     ze_physical_mem_handle_t memory,
					     struct newer_physical_properties *out);

/* submit.c */
ze_result_t newer_zeCommandQueueGetOrdinal(ze_command_queue_handle_t queue, uint32_t *out);
ze_result_t newer_zeCommandQueueGetIndex(ze_command_queue_handle_t queue, uint32_t *out);
ze_result_t newer_zeCommandQueueGetFlags(ze_command_queue_handle_t queue, uint32_t *out);
ze_result_t newer_zeCommandQueueGetMode(ze_command_queue_handle_t queue,
					ze_command_queue_mode_t *out);
ze_result_t newer_zeCommandQueueGetPriority(ze_command_queue_handle_t queue,
					    ze_command_queue_priority_t *out);

/* list.c */
ze_result_t newer_zeCommandListHostSynchronize(ze_command_list_handle_t list, uint64_t timeout);
ze_result_t newer_zeCommandListGetDeviceHandle(ze_command_list_handle_t list,
					       ze_device_handle_t *out);
ze_result_t newer_zeCommandListGetContextHandle(ze_command_list_handle_t list,
						ze_context_handle_t *out);
ze_result_t newer_zeCommandListGetOrdinal(ze_command_list_handle_t list, uint32_t *out);
ze_result_t newer_zeCommandListImmediateGetIndex(ze_command_list_handle_t list, uint32_t *out);
ze_result_t newer_zeCommandListIsImmediate(ze_command_list_handle_t list, ze_bool_t *out);
ze_result_t newer_zeCommandListGetFlags(ze_command_list_handle_t list, uint32_t *out);
ze_result_t newer_zeCommandListImmediateGetFlags(ze_command_list_handle_t list, uint32_t *out);
ze_result_t newer_zeCommandListImmediateGetMode(ze_command_list_handle_t list,
						ze_command_queue_mode_t *out);
ze_result_t newer_zeCommandListImmediateGetPriority(ze_command_list_handle_t list,
						    ze_command_queue_priority_t *out);
ze_result_t newer_zeCommandListImmediateAppendCommandListsExp(
	ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t *lists,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t newer_zeCommandListImmediateAppendCommandListsWithParameters(
	ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t *lists,
	const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);

/* list_append.c */
ze_result_t newer_zeCommandListAppendLaunchKernelWithParameters(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t newer_zeCommandListAppendLaunchKernelWithArguments(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t groups,
	const struct newer_group_size size, void **arguments, const void *next,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t newer_zeCommandListAppendMemoryCopyWithParameters(
	ze_command_list_handle_t list, void *to, const void *from, size_t bytes, const void *next,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t newer_zeCommandListAppendMemoryFillWithParameters(
	ze_command_list_handle_t list, void *to, const void *pattern, size_t pattern_bytes,
	size_t bytes, const void *next, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits);
ze_result_t newer_zeCommandListAppendHostFunction(ze_command_list_handle_t list,
						  void (*function)(void *), void *data,
						  const void *next, ze_event_handle_t signal,
						  uint32_t wait_count, ze_event_handle_t *waits);

/* list_mutable.c */
ze_result_t newer_zeCommandListGetNextCommandIdExp(ze_command_list_handle_t list,
						   const struct newer_mutable_id *desc,
						   uint64_t *out);
ze_result_t newer_zeCommandListGetNextCommandIdWithKernelsExp(ze_command_list_handle_t list,
							      const struct newer_mutable_id *desc,
							      uint32_t count,
							      ze_kernel_handle_t *kernels,
							      uint64_t *out);
ze_result_t newer_zeCommandListUpdateMutableCommandsExp(ze_command_list_handle_t list,
							const struct newer_mutable_commands *desc);
ze_result_t newer_zeCommandListUpdateMutableCommandSignalEventExp(ze_command_list_handle_t list,
								  uint64_t command,
								  ze_event_handle_t signal);
ze_result_t newer_zeCommandListUpdateMutableCommandWaitEventsExp(ze_command_list_handle_t list,
								 uint64_t command,
								 uint32_t wait_count,
								 ze_event_handle_t *waits);
ze_result_t newer_zeCommandListUpdateMutableCommandKernelsExp(ze_command_list_handle_t list,
							      uint32_t count, uint64_t *commands,
							      ze_kernel_handle_t *kernels);
ze_result_t newer_zeCommandListIsMutableExp(ze_command_list_handle_t list, ze_bool_t *out);

#endif
