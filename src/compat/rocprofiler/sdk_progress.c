/* SPDX-License-Identifier: MIT */
/* Tracks the state of initialisation and finalisation, the client whose function is running, and
 * whether services can be configured. Prints messages on stderr.
 *
 * sdk_tool.c stores sdk_initialized and sdk_finalized. Clients' configure() and initialize() run
 * one at a time in the thread that initialises. Only this thread may configure, and only while one
 * of these functions runs. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sdk.h"

enum { TEXT_BYTES = 1024 };

_Atomic int sdk_initialized, sdk_finalized;

static uint32_t current;      /* client whose configure() or initialize() runs; 0: none */
static pthread_t configuring; /* thread that runs the client's function */

void sdk_report(const char *format, ...)
{
	char text[TEXT_BYTES] = "rocprofiler-sdk (gputap): ";
	const size_t prefix = strlen(text);
	va_list list;
	size_t bytes;

	va_start(list, format);
	vsnprintf(text + prefix, sizeof text - prefix - 1, format, list);
	va_end(list);
	bytes = strlen(text);
	text[bytes++] = '\n';
	if (write(STDERR_FILENO, text, bytes) < 0)
		return; /* stderr is closed */
}

void sdk_enter_client(uint32_t client)
{
	configuring = pthread_self();
	current = client;
}

void sdk_leave_client(void)
{
	current = 0;
}

uint32_t sdk_current_client(void)
{
	return current;
}

rocprofiler_status_t sdk_may_configure(void)
{
	return atomic_load(&sdk_initialized) == SDK_IN_IT && current &&
			       pthread_equal(configuring, pthread_self())
		       ? ROCPROFILER_STATUS_SUCCESS
		       : ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_is_initialized(int *status)
{
	*status = atomic_load(&sdk_initialized);
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_is_finalized(int *status)
{
	*status = atomic_load(&sdk_finalized);
	return ROCPROFILER_STATUS_SUCCESS;
}
