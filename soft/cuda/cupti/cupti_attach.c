/* SPDX-License-Identifier: MIT */
/* The state of the substitute: the driver that it attaches to, its settings and its clock. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "soft/cuda/cupti/cupti_parts.h"

struct soft_cu_config soft_cupti_config;
const struct soft_cu_tools_table *soft_cupti_table;
const struct soft_cu_tool *soft_cupti_tool;

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static bool is_forked;
static CUpti_TimestampCallbackFunc timestamp_callback; /* atomic */
static int thread_id_type;                             /* atomic */

/* Choose the release to simulate. Without a setting, take it from this library's file name, as with
 * NVIDIA's library, because a program may map two releases. */
static void choose_release(void)
{
	const char *set = getenv("SOFT_CUDA_CUPTI_VERSION");
	Dl_info file;

	if ((set && *set) || !dladdr(&soft_cupti_config, &file) || !file.dli_fname)
		return;
	if (strstr(file.dli_fname, "libcupti.so.12"))
		soft_cupti_config.cupti_version = SOFT_CUPTI_12_9;
	else if (strstr(file.dli_fname, "libcupti.so.11.8"))
		soft_cupti_config.cupti_version = SOFT_CUPTI_11_8;
}

static void mark_fork(void)
{
	is_forked = true;
}

/* Open the driver. Both libraries stay loaded. */
static void open_driver(void)
{
	int (*get_table)(const void **table, const CUuuid *id) = NULL;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	const void *table = NULL;
	char why[512];
	CUuuid id;

	pthread_atfork(NULL, NULL, mark_fork);
	if (!soft_cu_config_read(&soft_cupti_config, why, sizeof why))
		dprintf(2, "soft/cuda/cupti: %s\n", why);
	choose_release();
	/* although `gputap soft cuda` omits it, a program may load the library */
	if (soft_cupti_config.cupti_version == SOFT_CUPTI_NONE)
		soft_cupti_config.cupti_version = SOFT_CUPTI_13_0;
	if (driver)
		*(void **)&get_table = dlsym(driver, "cuGetExportTable");
	memcpy(id.bytes, SOFT_CU_TOOLS_ID, sizeof id.bytes);
	if (get_table && !get_table(&table, &id))
		soft_cupti_table = table;
}

int soft_cupti_open(const char *function)
{
	pthread_once(&opened, open_driver);
	if (is_forked && function) {
		dprintf(2,
			"soft/cuda/cupti: %s() in the child of a fork: NVIDIA's CUPTI would hang\n",
			function);
		abort();
	}
	return soft_cupti_table ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

int soft_cupti_attach(const char *function)
{
	const int status = soft_cupti_open(function);

	if (status)
		return status;
	return soft_cupti_table->attach(soft_cupti_tool)
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

static int taken_form; /* atomic */

bool soft_cupti_take_form(enum soft_cupti_form form)
{
	int none = SOFT_CUPTI_NO_FORM;

	return __atomic_compare_exchange_n(&taken_form, &none, form, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE) ||
	       none == (int)form;
}

void soft_cupti_drop_form(void)
{
	__atomic_store_n(&taken_form, SOFT_CUPTI_NO_FORM, __ATOMIC_RELEASE);
}

bool soft_cupti_fails(enum soft_cupti_fault fault)
{
	return soft_fault_now(&soft_cupti_config.cupti_faults[fault]);
}

/* Time ----------------------------------------------------------------------------- */

uint64_t soft_cupti_now(void)
{
	const CUpti_TimestampCallbackFunc callback =
		__atomic_load_n(&timestamp_callback, __ATOMIC_ACQUIRE);
	struct timespec t;

	if (callback)
		return callback();
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int cuptiGetTimestamp(uint64_t *timestamp)
{
	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = soft_cupti_now();
	return CUPTI_SUCCESS;
}

void soft_cupti_drop_clock(void)
{
	__atomic_store_n(&timestamp_callback, NULL, __ATOMIC_RELEASE);
}

/* @function: NULL restores CLOCK_REALTIME. */
int cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp)
{
	const int status = soft_cupti_attach("cuptiActivityRegisterTimestampCallback");

	if (!status)
		__atomic_store_n(&timestamp_callback, timestamp, __ATOMIC_RELEASE);
	return status;
}

/* Threads -------------------------------------------------------------------------- */

enum { DEFAULT_IDS = 0, SYSTEM_IDS = 1 };

/* By default, the thread id is the low half of pthread_self(). */
uint32_t soft_cupti_thread_id(void)
{
	return __atomic_load_n(&thread_id_type, __ATOMIC_RELAXED) == SYSTEM_IDS
		       ? (uint32_t)syscall(SYS_gettid)
		       : (uint32_t)(uintptr_t)pthread_self();
}

int cuptiSetThreadIdType(int type)
{
	if (type != DEFAULT_IDS && type != SYSTEM_IDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	__atomic_store_n(&thread_id_type, type, __ATOMIC_RELAXED);
	return CUPTI_SUCCESS;
}

int cuptiGetThreadIdType(int *type)
{
	if (!type)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*type = __atomic_load_n(&thread_id_type, __ATOMIC_RELAXED);
	return CUPTI_SUCCESS;
}

/* Results -------------------------------------------------------------------------- */

int cuptiGetResultString(int result, const char **text)
{
	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch (result) {
#define X(number, name) \
	case number: *text = "CUPTI_" #name; return CUPTI_SUCCESS;
		SOFT_CUPTI_RESULTS(X)
#undef X
	default: return CUPTI_ERROR_INVALID_PARAMETER;
	}
}

int cuptiGetErrorMessage(int result, const char **text)
{
	return cuptiGetResultString(result, text);
}

/* Ids ------------------------------------------------------------------------------ */

static int get_context(const char *function, CUcontext context, uint32_t *id, uint32_t *device)
{
	const int status = soft_cupti_open(function);

	if (status)
		return status;
	return soft_cupti_table->find_context(context, id, device) ? CUPTI_SUCCESS
								   : CUPTI_ERROR_INVALID_CONTEXT;
}

int cuptiGetContextId(CUcontext context, uint32_t *id)
{
	uint32_t device;

	return id ? get_context("cuptiGetContextId", context, id, &device)
		  : CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	uint32_t number;

	return id ? get_context("cuptiGetDeviceId", context, &number, id)
		  : CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	int status = id ? soft_cupti_open("cuptiGetStreamId") : CUPTI_ERROR_INVALID_PARAMETER;

	if (!status && !soft_cupti_table->find_stream(context, stream, per_thread, id))
		status = CUPTI_ERROR_INVALID_STREAM;
	return status;
}

int cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

static int get_graph(const char *function, void *graph, bool is_executable, uint32_t *id)
{
	int status = graph && id ? soft_cupti_open(function) : CUPTI_ERROR_INVALID_PARAMETER;

	if (!status && !soft_cupti_table->find_graph(graph, is_executable, id))
		status = CUPTI_ERROR_INVALID_PARAMETER;
	return status;
}

int cuptiGetGraphId(void *graph, uint32_t *id)
{
	return get_graph("cuptiGetGraphId", graph, false, id);
}

int cuptiGetGraphExecId(void *exec, uint32_t *id)
{
	return get_graph("cuptiGetGraphExecId", exec, true, id);
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
	int status =
		node && id ? soft_cupti_open("cuptiGetGraphNodeId") : CUPTI_ERROR_INVALID_PARAMETER;

	if (!status && !soft_cupti_table->find_node(node, id))
		status = CUPTI_ERROR_INVALID_PARAMETER;
	return status;
}
