/* SPDX-License-Identifier: MIT */
/* Answers queries of system management (zes) and tools (zet) that programs make before they
 * compute: devices, whose handles are those of the core API, their PCI addresses, and free memory.
 * Reports all other features as absent: engines, fans, sensors, metric groups. */
#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>
#include <stdio.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

#define CORE(handle) ((ze_device_handle_t)(handle))

ze_result_t newer_zesInit(uint32_t flags)
{
	return zeInit(flags & 0);
}

ze_result_t newer_zesDriverGet(uint32_t *count, zes_driver_handle_t *out)
{
	return zeDriverGet(count, (ze_driver_handle_t *)out);
}

ze_result_t newer_zesDeviceGet(zes_driver_handle_t handle, uint32_t *count,
			       zes_device_handle_t *out)
{
	return zeDeviceGet((ze_driver_handle_t)handle, count, (ze_device_handle_t *)out);
}

static ze_result_t count_none(uint32_t *count)
{
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*count = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zesDriverGetExtensionProperties(zes_driver_handle_t handle, uint32_t *count,
						  void *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DRIVER);
	(void)out;
	return count_none(count);
}

#define HAS_NONE(function, type)                                                     \
	ze_result_t function(zes_device_handle_t handle, uint32_t *count, type *out) \
	{                                                                            \
		SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);                               \
		(void)out;                                                           \
		return count_none(count);                                            \
	}
HAS_NONE(zesDeviceProcessesGetState, zes_process_state_t)
HAS_NONE(zesDevicePciGetBars, zes_pci_bar_properties_t)
HAS_NONE(zesDeviceEnumDiagnosticTestSuites, zes_diag_handle_t)
HAS_NONE(zesDeviceEnumEngineGroups, zes_engine_handle_t)
HAS_NONE(zesDeviceEnumFabricPorts, zes_fabric_port_handle_t)
HAS_NONE(zesDeviceEnumFans, zes_fan_handle_t)
HAS_NONE(zesDeviceEnumFirmwares, zes_firmware_handle_t)
HAS_NONE(zesDeviceEnumFrequencyDomains, zes_freq_handle_t)
HAS_NONE(zesDeviceEnumLeds, zes_led_handle_t)
HAS_NONE(zesDeviceEnumPerformanceFactorDomains, zes_perf_handle_t)
HAS_NONE(zesDeviceEnumPowerDomains, zes_pwr_handle_t)
HAS_NONE(zesDeviceEnumPsus, zes_psu_handle_t)
HAS_NONE(zesDeviceEnumRasErrorSets, zes_ras_handle_t)
HAS_NONE(zesDeviceEnumSchedulers, zes_sched_handle_t)
HAS_NONE(zesDeviceEnumStandbyDomains, zes_standby_handle_t)
HAS_NONE(zesDeviceEnumTemperatureSensors, zes_temp_handle_t)

ze_result_t zetMetricGroupGet(zet_device_handle_t handle, uint32_t *count,
			      zet_metric_group_handle_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	(void)out;
	return count_none(count);
}

ze_result_t zesDeviceGetProperties(zes_device_handle_t handle, zes_device_properties_t *out)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, handle, SOFT_ZE_DEVICE);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
	out->core.pNext = NULL;
	zeDeviceGetProperties(CORE(handle), &out->core);
	out->numSubdevices = d->tile_count;
	snprintf(out->serialNumber, sizeof out->serialNumber, "unknown");
	snprintf(out->boardNumber, sizeof out->boardNumber, "unknown");
	snprintf(out->brandName, sizeof out->brandName, "gputap");
	snprintf(out->modelName, sizeof out->modelName, "software device");
	snprintf(out->vendorName, sizeof out->vendorName, "gputap");
	snprintf(out->driverVersion, sizeof out->driverVersion, "unknown");
	return ZE_RESULT_SUCCESS;
}

ze_result_t zesDeviceGetState(zes_device_handle_t handle, zes_device_state_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->reset = 0;
	out->repaired = ZES_REPAIR_STATUS_UNSUPPORTED;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zesDevicePciGetProperties(zes_device_handle_t handle, zes_pci_properties_t *out)
{
	ze_pci_ext_properties_t core = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
	ze_result_t status = zeDevicePciGetPropertiesExt(CORE(handle), &core);

	if (status)
		return status;
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->address = (zes_pci_address_t){core.address.domain, core.address.bus,
					   core.address.device, core.address.function};
	out->maxSpeed = (zes_pci_speed_t){core.maxSpeed.genVersion, core.maxSpeed.width,
					  core.maxSpeed.maxBandwidth};
	out->haveBandwidthCounters = out->havePacketCounters = out->haveReplayCounters = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zesDevicePciGetState(zes_device_handle_t handle, zes_pci_state_t *out)
{
	zes_pci_properties_t all = {.stype = ZES_STRUCTURE_TYPE_PCI_PROPERTIES};
	ze_result_t status = zesDevicePciGetProperties(handle, &all);

	if (status)
		return status;
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->status = ZES_PCI_LINK_STATUS_GOOD;
	out->qualityIssues = out->stabilityIssues = 0;
	out->speed = all.maxSpeed;
	return ZE_RESULT_SUCCESS;
}

/* Memory: a single module, with the same handle as the device. ------------------------------- */

ze_result_t zesDeviceEnumMemoryModules(zes_device_handle_t handle, uint32_t *count,
				       zes_mem_handle_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (*count && out)
		*out = (zes_mem_handle_t)handle;
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zesMemoryGetProperties(zes_mem_handle_t handle, zes_mem_properties_t *out)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, handle, SOFT_ZE_DEVICE);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->type = ZES_MEM_TYPE_DDR;
	out->onSubdevice = d->parent != NULL;
	out->subdeviceId = d->tile;
	out->location = ZES_MEM_LOC_DEVICE;
	out->physicalSize = soft_ze_config.memory_bytes;
	out->busWidth = out->numChannels = -1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zesMemoryGetState(zes_mem_handle_t handle, zes_mem_state_t *out)
{
	SOFT_ZE_OBJECT(d, soft_ze_device, handle, SOFT_ZE_DEVICE);
	const struct soft_ze_device *whole = d->parent ? d->parent : d;

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->health = ZES_MEM_HEALTH_OK;
	out->size = soft_ze_config.memory_bytes;
	out->free = out->size - __atomic_load_n(&whole->used_bytes, __ATOMIC_RELAXED);
	return ZE_RESULT_SUCCESS;
}
