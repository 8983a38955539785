/* SPDX-License-Identifier: MIT */
/* Opens and closes the driver, reports versions, and answers calls that have no effect on a
 * software GPU. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "soft/amdgpu/amdgpu.h"
#include "soft/amdgpu/known.h"
#include "soft/common/bell.h"
#include "soft/common/guard.h"

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static bool configured;

/* Reset the state in a fork child, which must not use inherited state: the child has no worker
 * threads, and the device memory of the parent is not mapped. */
static void forget_in_child(void)
{
	pthread_mutex_init(&open_lock, NULL);
	soft_state_forked();
	soft_bell_forked();
	soft_event_forked();
	soft_queue_forked();
	soft_kernel_forked();
}

/* Initialise for the first open. Return false after printing the error on stderr. */
static bool configure(void)
{
	if (configured)
		return true;
	if (!soft_config_read())
		return false;
	if (!soft_durations_open(soft_config()->durations) || !soft_topology_open()) {
		soft_config_drop_gpus();
		return false;
	}
	soft_memory_notify_freed(soft_kernel_forget);
	soft_bell_spin_us(soft_config()->spin_us);
	pthread_atfork(NULL, NULL, forget_in_child);
	configured = true;
	return true;
}

static const char *library_of(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) ? info.dli_fname : "";
}

bool soft_is_rocr(const void *caller)
{
	return strstr(library_of(caller), "libhsa-runtime64");
}

/* Report an untested ROCr, which may use functions that are missing here. */
static void check_caller(const void *caller)
{
	char path[PATH_MAX];

	if (soft_is_rocr(caller) && realpath(library_of(caller), path) && !soft_knows_rocr(path))
		soft_say("%s has not been tested; " SOFT_KNOWN_ROCR, path);
}

THUNK_API HSAKMT_STATUS hsaKmtOpenKFD(void)
{
	const void *caller = __builtin_return_address(0);
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;

	pthread_mutex_lock(&open_lock);
	if (soft_state_renew()) /* queues, events and memory belong to the parent */
		soft_memory_close();
	if (!configured)
		check_caller(caller);
	if (!configure()) {
		status = HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	} else {
		soft_guard_init();
		if (soft_opened() == HSAKMT_STATUS_SUCCESS)
			status = HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
		soft_state_count_opens(1);
		soft_trace(1, "open: %u x %s, %llu MiB each", soft_config()->gpus,
			   soft_config()->type->name,
			   (unsigned long long)soft_config()->memory_bytes >> 20);
	}
	pthread_mutex_unlock(&open_lock);
	return status;
}

THUNK_API HSAKMT_STATUS hsaKmtCloseKFD(void)
{
	HSAKMT_STATUS status;

	pthread_mutex_lock(&open_lock);
	status = soft_opened();
	if (status == HSAKMT_STATUS_SUCCESS)
		soft_state_count_opens(-1);
	pthread_mutex_unlock(&open_lock);
	return status;
}

/* From version 1.4 on, ROCr trusts the driver's report of SRAM ECC. Version 1.10 has the events
 * that ROCr waits for. */
THUNK_API HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *version)
{
	if (soft_opened())
		return soft_opened();
	version->KernelInterfaceMajorVersion = 1;
	version->KernelInterfaceMinorVersion = 10;
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters *counters)
{
	/* one reading of the host clock for both clocks, so that conversion is exact */
	uint64_t host = soft_clock_host_ns();
	struct timespec cpu;

	if (soft_opened())
		return soft_opened();
	if (node > soft_config()->gpus)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	clock_gettime(CLOCK_MONOTONIC_RAW, &cpu);
	*counters = (HsaClockCounters){
		.GPUClockCounter =
			node ? soft_clock_paired_ticks(&soft_config()->clock[node - 1], host) : 0,
		.CPUClockCounter = (uint64_t)cpu.tv_sec * 1000000000ull + (uint64_t)cpu.tv_nsec,
		.SystemClockCounter = host,
		.SystemClockFrequencyHz = 1000000000,
	};
	return HSAKMT_STATUS_SUCCESS;
}

/* NOT_SUPPORTED: ROCr then reports errors through queue_inactive_signal, as before this interface
 * existed. */
THUNK_API HSAKMT_STATUS hsaKmtRuntimeEnable(void *debug, bool setup_ttmp)
{
	(void)debug;
	(void)setup_ttmp;
	return soft_opened() ? soft_opened() : HSAKMT_STATUS_NOT_SUPPORTED;
}

/* ROCr 7 requires success. */
THUNK_API HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
	return soft_opened();
}

/* A trap ends a kernel here, so no trap handler runs. ROCr requires success. */
THUNK_API HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 node, void *code, HSAuint64 code_bytes,
					     void *buffer, HSAuint64 buffer_bytes)
{
	(void)code;
	(void)code_bytes;
	(void)buffer;
	(void)buffer_bytes;
	if (soft_opened())
		return soft_opened();
	return soft_is_gpu(node) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}

THUNK_API HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enabled)
{
	if (soft_opened())
		return soft_opened();
	*enabled = 0;
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable)
{
	if (soft_opened())
		return soft_opened();
	return enable ? HSAKMT_STATUS_NOT_SUPPORTED : HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *mask)
{
	*mask = 0; /* queried even when hsaKmtRuntimeEnable() is refused */
	return soft_opened();
}

/* Return a libdrm device. ROCr 7 gets the device's file from libdrm itself, in order to map memory:
 * the returned structure starts like libdrm's. */
THUNK_API HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void **device)
{
	static struct {
		int references;
		void *next;
		int file, more[13];
	} devices[1 + SOFT_AMDGPU_MAX];

	if (soft_opened())
		return soft_opened();
	if (!soft_is_gpu(node))
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	devices[node].file = soft_dtif_file();
	*device = &devices[node];
	return HSAKMT_STATUS_SUCCESS;
}

/* Not supported: debuggers, counters that are streamed while kernels run, events about the driver
 * itself, AddressSanitizer on the device, buffers shared through descriptors. Only programs that
 * use these features make the calls. */
#define NOT_HERE(name, ...)                                                         \
	THUNK_API HSAKMT_STATUS hsaKmt##name(__VA_ARGS__)                           \
	{                                                                           \
		return soft_opened() ? soft_opened() : HSAKMT_STATUS_NOT_SUPPORTED; \
	}
#define UNUSED __attribute__((unused))
NOT_HERE(DbgEnable, UNUSED void **runtime_info, UNUSED HSAuint32 *bytes)
NOT_HERE(DbgDisable, void)
NOT_HERE(DbgGetDeviceData, UNUSED void **data, UNUSED HSAuint32 *count,
	 UNUSED HSAuint32 *entry_bytes)
NOT_HERE(DbgGetQueueData, UNUSED void **data, UNUSED HSAuint32 *count,
	 UNUSED HSAuint32 *entry_bytes, UNUSED bool suspend)
NOT_HERE(SPMAcquire, UNUSED HSAuint32 node)
NOT_HERE(SPMRelease, UNUSED HSAuint32 node)
NOT_HERE(SPMSetDestBuffer, UNUSED HSAuint32 node, UNUSED HSAuint32 bytes, UNUSED HSAuint32 *timeout,
	 UNUSED HSAuint32 *copied, UNUSED void *buffer, UNUSED bool *lost)
NOT_HERE(OpenSMI, UNUSED HSAuint32 node, UNUSED int *fd)
NOT_HERE(ReplaceAsanHeaderPage, UNUSED void *page)
NOT_HERE(ReturnAsanHeaderPage, UNUSED void *page)
