/* SPDX-License-Identifier: MIT */
/* State that all parts use and that depends on no other part: the settings, whether the program has
 * opened the driver, which calls must fail. Also prints lines on stderr.
 *
 * Only thunk.c writes the state, under its lock; any thread reads it. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "soft/amdgpu/amdgpu.h"

/* written on the first open, then read-only except for the counters of the faults */
static struct soft_amdgpu_config config;
static int open_count, forked; /* atomics */

/* Print a line in a single write, so that lines of threads and processes do not mix. */
static void print_line(const char *prefix, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

static void print_line(const char *prefix, const char *format, va_list arguments)
{
	char line[1024];
	size_t n = (size_t)snprintf(line, sizeof line, "%s", prefix), most = sizeof line - 1;
	int more = vsnprintf(line + n, sizeof line - n, format, arguments);

	n += more > 0 ? (size_t)more : 0;
	n = n < most ? n : most;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* stderr is closed */
}

void soft_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line("soft amdgpu: ", format, arguments);
	va_end(arguments);
}

void soft_trace_line(const char *format, ...)
{
	char prefix[64];
	va_list arguments;

	snprintf(prefix, sizeof prefix, "soft amdgpu [%ld]: ", (long)syscall(SYS_gettid));
	va_start(arguments, format);
	print_line(prefix, format, arguments);
	va_end(arguments);
}

bool soft_config_read(void)
{
	char why[512];
	bool fine = soft_amdgpu_config_read(&config, why, sizeof why);

	if (!fine)
		soft_say("%s", why);
	return fine;
}

void soft_config_drop_gpus(void)
{
	config.gpus = 0;
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

void soft_state_count_opens(int more)
{
	__atomic_store_n(&open_count, open_count + more, __ATOMIC_RELEASE);
}

void soft_state_forked(void)
{
	forked = 1;
}

bool soft_state_renew(void)
{
	if (!forked)
		return false;
	open_count = 0;
	forked = 0;
	return true;
}
