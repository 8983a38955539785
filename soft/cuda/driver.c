/* SPDX-License-Identifier: MIT */
/* The driver as a whole: its start, error texts and device properties. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft/common/guard.h"
#include "soft/cuda/cuda_parts.h"

static pthread_once_t started = PTHREAD_ONCE_INIT;
static int start_status;

/* Start ------------------------------------------------------------------------ */

static void mark_fork(void)
{
	soft_cu_is_forked = soft_cu_is_initialized;
}

static void start_driver(void)
{
	char why[512];

	if (!soft_cu_config_read(&soft_cu_config, why, sizeof why)) {
		dprintf(2, "soft/cuda: %s\n", why);
		start_status = CUDA_ERROR_NO_DEVICE;
	} else if (!soft_cu_config.devices || soft_cu_fails(SOFT_CU_FAIL_INIT)) {
		start_status = CUDA_ERROR_NO_DEVICE;
	}
	pthread_atfork(NULL, NULL, mark_fork);
	soft_guard_init();
}

/* When a call first succeeds, load the library that the user names, as NVIDIA's driver does. */
static void inject_library(void)
{
	const char *file = getenv("CUDA_INJECTION64_PATH");
	void *library = file && *file ? dlopen(file, RTLD_NOW) : NULL;
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize)
		initialize();
}

int soft_cuInit(unsigned int flags)
{
	static pthread_once_t injected = PTHREAD_ONCE_INIT;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_once(&started, start_driver);
	if (start_status)
		return start_status;
	if (soft_cu_is_forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	soft_cu_is_initialized = true;
	pthread_once(&injected, inject_library);
	return CUDA_SUCCESS;
}

int soft_cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = SOFT_CUDA_VERSION;
	return CUDA_SUCCESS;
}

/* Errors ----------------------------------------------------------------------- */

static const struct {
	int error;
	const char *name, *text;
} errors[] = {
	{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
	{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA device"},
	{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "invalid kernel image"},
	{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
	{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "illegal state"},
	{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
	{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"},
	{CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED",
	 "context is destroyed"},
	{CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
	 "peer access is already enabled"},
	{CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
	 "peer access has not been enabled"},
	{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
	 "too many blocks in cooperative launch"},
	{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	 "not permitted when stream is capturing"},
	{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	 "capture failed due to an earlier error"},
	{CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
	 "capture was started in another stream"},
	{CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
	 "a captured stream was not joined"},
	{CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
	 "the graph does not match the executable graph"},
};

static int describe_error(int error, const char **out, bool by_name)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error) {
			*out = by_name ? errors[i].name : errors[i].text;
			return CUDA_SUCCESS;
		}
	*out = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

int soft_cuGetErrorName(int error, const char **name)
{
	return describe_error(error, name, true);
}

int soft_cuGetErrorString(int error, const char **text)
{
	return describe_error(error, text, false);
}

/* Devices ------------------------------------------------------------------------ */

static int check_device(CUdevice device)
{
	const int status = soft_cu_check_driver();

	if (status)
		return status;
	return device >= 0 && (unsigned)device < soft_cu_config.devices ? CUDA_SUCCESS
									: CUDA_ERROR_INVALID_DEVICE;
}

int soft_cuDeviceGet(CUdevice *device, int ordinal)
{
	const int status = device ? check_device(ordinal) : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		*device = ordinal;
	return status;
}

int soft_cuDeviceGetCount(int *count)
{
	const int status = count ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		*count = (int)soft_cu_config.devices;
	return status;
}

int soft_cuDeviceGetName(char *name, int length, CUdevice device)
{
	const int status = name && length > 0 ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		snprintf(name, (size_t)length, "gputap software CUDA device");
	return status;
}

int soft_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	const int status = uuid ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (!status) {
		memcpy(uuid->bytes, "gputap soft cuda", sizeof uuid->bytes);
		uuid->bytes[15] = (unsigned char)('0' + device);
	}
	return status;
}

int soft_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	return soft_cuDeviceGetUuid_v2(uuid, device);
}

int soft_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	const int status = bytes ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		*bytes = soft_cu_config.memory_bytes;
	return status;
}

int soft_cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
	const int status = major && minor ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (!status) {
		*major = 9;
		*minor = 0;
	}
	return status;
}

/* Numbers are those of CUdevice_attribute. */
int soft_cuDeviceGetAttribute(int *value, unsigned int attribute, CUdevice device)
{
	static const int values[][2] = {
		{1, 1024},  {2, 1024},  {3, 1024},   {4, 64},       {5, 2147483647},
		{6, 65535}, {7, 65535}, /* maximum threads per block, blocks per grid */
		{8, 49152}, {10, 32},   {12, 65536}, {13, 1000000}, {16, 4},
		{31, 1},    {34, 0},    {39, 2048},  {40, 2},       {41, 1},
		{75, 9},    {76, 0},    {78, 1},     {83, 1},       {115, 1},
	};
	const int status = value ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*value = attribute == 33 ? device + 1 : 0; /* PCI bus */
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if ((unsigned)values[i][0] == attribute)
			*value = values[i][1];
	return CUDA_SUCCESS;
}

int soft_cuDeviceGetPCIBusId(char *text, int length, CUdevice device)
{
	const int status = text && length > 0 ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		snprintf(text, (size_t)length, "0000:%02X:00.0", (unsigned)device + 1);
	return status;
}

int soft_cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
	int status = device && text ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;
	char known[32];

	for (CUdevice d = 0; !status && !soft_cuDeviceGetPCIBusId(known, sizeof known, d); d++)
		if (!strcmp(known, text)) {
			*device = d;
			return CUDA_SUCCESS;
		}
	return status ? status : CUDA_ERROR_INVALID_DEVICE;
}

/* For NVIDIA's profilers. */
int soft_cuProfilerStart(void)
{
	return soft_cu_check_driver();
}

int soft_cuProfilerStop(void)
{
	return soft_cu_check_driver();
}
