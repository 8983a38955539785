// SPDX-License-Identifier: MIT
/* Opening and closing, versions, and the calls that a software GPU has no use for. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "soft/amdgpu/amdgpu.h"
#include "soft/amdgpu/known.h"
#include "soft/common/bell.h"
#include "soft/common/guard.h"

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
/* written by the first open, then read only but for the faults' counters */
static struct soft_amdgpu_config config;
static bool configured;
static int open_count, forked; /* atomics; open_count is changed under open_lock */

/* One write: lines of threads and processes do not mix. */
static void say(const char *prefix, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

static void say(const char *prefix, const char *format, va_list arguments)
{
	char line[1024];
	size_t n = (size_t)snprintf(line, sizeof line, "%s", prefix), most = sizeof line - 1;
	int more = vsnprintf(line + n, sizeof line - n, format, arguments);

	n += more > 0 ? (size_t)more : 0;
	n = n < most ? n : most;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nobody to tell */
}

void soft_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("soft amdgpu: ", format, arguments);
	va_end(arguments);
}

void soft_trace_line(const char *format, ...)
{
	char prefix[64];
	va_list arguments;

	snprintf(prefix, sizeof prefix, "soft amdgpu [%ld]: ", (long)syscall(SYS_gettid));
	va_start(arguments, format);
	say(prefix, format, arguments);
	va_end(arguments);
}

const struct soft_amdgpu_config *soft_config(void)
{
	return &config;
}

bool soft_fails(enum soft_amdgpu_fault fault)
{
	return soft_fault_now(&config.faults[fault]);
}

HSAKMT_STATUS soft_opened(void)
{
	if (__atomic_load_n(&forked, __ATOMIC_RELAXED) ||
	    !__atomic_load_n(&open_count, __ATOMIC_ACQUIRE))
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	return HSAKMT_STATUS_SUCCESS;
}

/* The child has no worker threads, and its parent's device memory is not mapped here. What it
 * inherited must not be used. */
static void in_child(void)
{
	pthread_mutex_init(&open_lock, NULL);
	forked = 1;
	soft_bell_forked();
	soft_event_forked();
	soft_queue_forked();
	soft_kernel_forked();
}

/* Return: false with a sentence on stderr. */
static bool configure(void)
{
	char why[512];

	if (configured)
		return true;
	if (!soft_amdgpu_config_read(&config, why, sizeof why)) {
		soft_say("%s", why);
		return false;
	}
	if (!soft_durations_open(config.durations) || !soft_topology_open()) {
		config.gpus = 0;
		return false;
	}
	soft_bell_spin_us(config.spin_us);
	pthread_atfork(NULL, NULL, in_child);
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

/* Another ROCr may ask for what is not here, in ways that nobody tried. */
static void check_caller(const void *caller)
{
	char path[PATH_MAX];

	if (soft_is_rocr(caller) && realpath(library_of(caller), path) && !soft_knows_rocr(path))
		soft_say("%s is not known to work; " SOFT_KNOWN_ROCR, path);
}

THUNK_API HSAKMT_STATUS hsaKmtOpenKFD(void)
{
	const void *caller = __builtin_return_address(0);
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;

	pthread_mutex_lock(&open_lock);
	if (forked) { /* the parent's queues, events and memory are the parent's */
		open_count = 0;
		forked = 0;
		soft_memory_close();
	}
	if (!configured)
		check_caller(caller);
	if (!configure()) {
		status = HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	} else {
		soft_guard_init();
		if (open_count)
			status = HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
		__atomic_store_n(&open_count, open_count + 1, __ATOMIC_RELEASE);
		soft_trace(1, "open: %u x %s, %llu MiB each", config.gpus, config.type->name,
			   (unsigned long long)config.memory_bytes >> 20);
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
		__atomic_store_n(&open_count, open_count - 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&open_lock);
	return status;
}

/* From 1.4 on ROCr trusts what the driver says of SRAM ECC; 1.10 has the events that it waits
 * for. */
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
	uint64_t host = soft_clock_host_ns(); /* one reading for both: conversion is exact */
	struct timespec cpu;

	if (soft_opened())
		return soft_opened();
	if (node > config.gpus)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	clock_gettime(CLOCK_MONOTONIC_RAW, &cpu);
	*counters = (HsaClockCounters){
		.GPUClockCounter =
			node ? soft_clock_paired_ticks(&config.clock[node - 1], host) : 0,
		.CPUClockCounter = (uint64_t)cpu.tv_sec * 1000000000ull + (uint64_t)cpu.tv_nsec,
		.SystemClockCounter = host,
		.SystemClockFrequencyHz = 1000000000,
	};
	return HSAKMT_STATUS_SUCCESS;
}

/* NOT_SUPPORTED: errors then come by queue_inactive_signal, as before that interface. */
THUNK_API HSAKMT_STATUS hsaKmtRuntimeEnable(void *debug, bool setup_ttmp)
{
	(void)debug;
	(void)setup_ttmp;
	return soft_opened() ? soft_opened() : HSAKMT_STATUS_NOT_SUPPORTED;
}

/* ROCr 7 insists on success. */
THUNK_API HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
	return soft_opened();
}

/* Traps end a kernel here; no handler runs. ROCr insists on success. */
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
	*mask = 0; /* asked for even when hsaKmtRuntimeEnable() is refused */
	return soft_opened();
}

/* libdrm's device. ROCr 7 asks libdrm itself for the file of it, to map memory from: what we
 * give begins as libdrm's begin. */
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

/* Debuggers, counters streamed while kernels run, the driver's own events, AddressSanitizer on
 * the device, buffers shared by descriptor: not here. Each is asked for by the programs that
 * want it only. */
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
