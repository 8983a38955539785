/* SPDX-License-Identifier: MIT */
/* State that all parts share: settings, the driver's lock, the clock, messages on stderr. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "soft/common/condition.h"
#include "soft/level_zero/level_zero_parts.h"

#define NS_PER_S 1000000000u
#define LOOK_NS  1000000

struct soft_ze_config soft_ze_config;
/* Held for tens of nanoseconds, so a thread that finds the lock taken spins before it sleeps. */
pthread_mutex_t soft_ze_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
pthread_cond_t soft_ze_changed;
uint64_t soft_ze_done[SOFT_ZE_COMMAND_KINDS];
uint32_t soft_ze_shared_pools;
bool soft_ze_forked;
void (*soft_ze_on_look)(void);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool settings_are_right;
static _Thread_local char last_error[512];

static void tell_what_was_done(void)
{
	static const char *const names[SOFT_ZE_COMMAND_KINDS] = {
		[SOFT_ZE_LAUNCH] = "kernels",       [SOFT_ZE_COPY] = "copies",
		[SOFT_ZE_COPY_REGION] = "regions",  [SOFT_ZE_FILL] = "fills",
		[SOFT_ZE_BARRIER] = "barriers",     [SOFT_ZE_RESET] = "resets",
		[SOFT_ZE_WRITE_TIME] = "times",     [SOFT_ZE_QUERY_TIMES] = "queries",
		[SOFT_ZE_HOST_CALL] = "host calls", [SOFT_ZE_COPY_IMAGE] = "image copies",
	};

	if (soft_ze_forked) /* only the parent reports the counts */
		return;
	fprintf(stderr, "soft level-zero: done:");
	for (unsigned i = 0; i < SOFT_ZE_COMMAND_KINDS; i++)
		fprintf(stderr, " %s %llu%s", names[i],
			(unsigned long long)__atomic_load_n(&soft_ze_done[i], __ATOMIC_RELAXED),
			i + 1 < SOFT_ZE_COMMAND_KINDS ? "," : "\n");
}

static void note_fork(void)
{
	soft_ze_forked = true;
}

ze_result_t soft_ze_refuse_child(void)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fprintf(stderr, "soft level-zero: the child of a fork cannot use its parent's "
				"devices: fork before the first call, or exec\n");
	return ZE_RESULT_ERROR_UNINITIALIZED;
}

static void read_settings(void)
{
	char why[512];

	pthread_atfork(NULL, NULL, note_fork);
	settings_are_right = soft_ze_config_read(&soft_ze_config, why, sizeof why);
	if (!settings_are_right)
		fprintf(stderr, "soft level-zero: no device: %s\n", why);
	else if (soft_ze_config.trace)
		atexit(tell_what_was_done);
}

bool soft_ze_start(void)
{
	pthread_once(&once, read_settings);
	return settings_are_right;
}

void soft_ze_say(unsigned level, const char *format, ...)
{
	char line[1024];
	va_list list;

	if (soft_ze_config.trace < level)
		return;
	va_start(list, format);
	vsnprintf(line, sizeof line, format, list);
	va_end(list);
	fprintf(stderr, "soft level-zero: %s\n", line);
}

void soft_ze_set_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(last_error, sizeof last_error, format, list);
	va_end(list);
	soft_ze_say(1, "%s", last_error);
}

const char *soft_ze_last_error(void)
{
	return last_error;
}

uint64_t soft_ze_host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t soft_ze_ticks(void)
{
	return soft_clock_ticks(&soft_ze_config.clock, soft_ze_host_ns());
}

__attribute__((constructor)) static void init_condition(void)
{
	soft_condition_init(&soft_ze_changed);
}

/* Wait, at most until @until unless NULL. Other processes cannot end this wait. Return true on
 * timeout. */
static bool wait_until(const struct timespec *until)
{
	struct timespec soon;
	bool looks = __atomic_load_n(&soft_ze_shared_pools, __ATOMIC_RELAXED) != 0, over;

	if (!looks && !until) {
		pthread_cond_wait(&soft_ze_changed, &soft_ze_lock);
		return false;
	}
	if (looks) {
		clock_gettime(CLOCK_MONOTONIC, &soon);
		soon.tv_nsec += LOOK_NS;
		soon.tv_sec += soon.tv_nsec / (long)NS_PER_S;
		soon.tv_nsec %= (long)NS_PER_S;
		if (!until || soon.tv_sec < until->tv_sec ||
		    (soon.tv_sec == until->tv_sec && soon.tv_nsec < until->tv_nsec)) {
			pthread_cond_timedwait(&soft_ze_changed, &soft_ze_lock, &soon);
			if (soft_ze_on_look)
				soft_ze_on_look();
			return false;
		}
	}
	over = pthread_cond_timedwait(&soft_ze_changed, &soft_ze_lock, until) == ETIMEDOUT;
	return over;
}

void soft_ze_wait_for_change(void)
{
	wait_until(NULL);
}

bool soft_ze_wait(bool (*is_done)(void *), void *argument, uint64_t timeout_ns)
{
	bool for_ever = timeout_ns > UINT64_MAX / 2, done;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	if (!for_ever) {
		timeout_ns += (uint64_t)until.tv_nsec;
		until.tv_sec += (time_t)(timeout_ns / NS_PER_S);
		until.tv_nsec = (long)(timeout_ns % NS_PER_S);
	}
	pthread_mutex_lock(&soft_ze_lock);
	while (!(done = is_done(argument))) {
		if (wait_until(for_ever ? NULL : &until)) {
			done = is_done(argument);
			break;
		}
	}
	pthread_mutex_unlock(&soft_ze_lock);
	return done;
}
