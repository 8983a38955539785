/* SPDX-License-Identifier: MIT */
/* Reads the settings from the environment; config.h describes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "soft/common/settings.h"
#include "soft/level_zero/config.h"

/* makes an unconverted stamp recognisable, because it cannot be a host time */
#define CLOCK_EPOCH_NS 123456789000ll
#define PREFIX         "SOFT_LEVEL_ZERO_"

struct variable_reader {
	char *why;
	size_t size;
	bool failed;
};

static const char *get_setting(const char *name)
{
	char variable[64];
	const char *value;

	snprintf(variable, sizeof variable, PREFIX "%s", name);
	value = getenv(variable);
	return value && *value ? value : NULL;
}

static void complain(struct variable_reader *r, const char *name, const char *wanted)
{
	if (!r->failed)
		snprintf(r->why, r->size, PREFIX "%s=%s: expected %s", name, get_setting(name),
			 wanted);
	r->failed = true;
}

static uint64_t read_count(struct variable_reader *r, const char *name, uint64_t otherwise,
			   uint64_t least, uint64_t most, const char *wanted)
{
	const char *text = get_setting(name);
	uint64_t value = otherwise;

	if (text && (!soft_parse_count(text, &value) || value < least || value > most))
		complain(r, name, wanted);
	return value;
}

static bool read_switch(struct variable_reader *r, const char *name, bool otherwise)
{
	return read_count(r, name, otherwise, 0, 1, "0 or 1") != 0;
}

static int64_t read_time(struct variable_reader *r, const char *name, const char *unit,
			 int64_t otherwise, const char *wanted)
{
	const char *text = get_setting(name);
	int64_t value = otherwise;

	if (text && !soft_parse_ns(text, unit, &value))
		complain(r, name, wanted);
	return value;
}

static void read_clock(struct variable_reader *r, struct soft_ze_config *c)
{
	const char *drift = get_setting("CLOCK_DRIFT");
	struct timespec now;
	int64_t epoch;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	c->clock.anchor_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	c->clock.hz = read_count(r, "CLOCK_HZ", 12500000, 1000, 1000000000,
				 "ticks per second, 1000 to 1000000000");
	epoch = read_time(r, "CLOCK_EPOCH", "s", CLOCK_EPOCH_NS, "a time of 0 or more, such as 5s");
	if (epoch < 0)
		complain(r, "CLOCK_EPOCH", "a time of 0 or more, such as 5s");
	c->clock.epoch_ns = (uint64_t)epoch;
	c->clock.skew_ns = read_time(r, "CLOCK_SKEW", "us", 0, "a time such as 20us or -1ms");
	if (drift && !soft_parse_ppb(drift, &c->clock.drift_ppb))
		complain(r, "CLOCK_DRIFT", "a rate such as 50ppm or -200ppb");
	c->kernel_bits = (unsigned)read_count(r, "KERNEL_BITS", 32, 16, 64, "bits, 16 to 64");
}

static void read_faults(struct variable_reader *r, struct soft_ze_config *c)
{
	static const char *const names[SOFT_ZE_FAIL_COUNT] = {
		[SOFT_ZE_FAIL_ALLOCATE] = "allocate", [SOFT_ZE_FAIL_QUEUE] = "queue",
		[SOFT_ZE_FAIL_LIST] = "list",         [SOFT_ZE_FAIL_EVENT] = "event",
		[SOFT_ZE_FAIL_MODULE] = "module",     [SOFT_ZE_FAIL_APPEND] = "append",
		[SOFT_ZE_FAIL_KERNEL] = "kernel",     [SOFT_ZE_FAIL_HANG] = "hang",
		[SOFT_ZE_FAIL_STAMPS] = "stamps",     [SOFT_ZE_FAIL_TIMES] = "times",
	};
	const char *text = get_setting("FAIL");

	for (unsigned i = 0; i < SOFT_ZE_FAIL_COUNT; i++)
		c->faults[i].name = names[i];
	if (text && !soft_faults_parse(c->faults, text))
		complain(r, "FAIL",
			 "allocate, queue, list, event, module, append, kernel, hang, stamps or "
			 "times, with :3 (the third) or :3+ (from the third on)");
}

bool soft_ze_config_read(struct soft_ze_config *c, char *why, size_t size)
{
	struct variable_reader r = {.why = why, .size = size};
	const char *text = get_setting("MEMORY");

	*c = (struct soft_ze_config){.memory_bytes = 8ull << 30};
	c->devices = (unsigned)read_count(&r, "DEVICES", 1, 1, SOFT_ZE_DEVICES_MOST, "1 to 8");
	c->tiles = (unsigned)read_count(&r, "TILES", 0, 0, SOFT_ZE_TILES_MOST, "0, 2, 3 or 4");
	if (c->tiles == 1)
		complain(&r, "TILES", "0, 2, 3 or 4");
	if (text && (!soft_parse_bytes(text, &c->memory_bytes) || c->memory_bytes < 64ull << 20 ||
		     c->memory_bytes > 1ull << 40))
		complain(&r, "MEMORY", "a size from 64M to 1T");
	text = get_setting("OPENCL");
	if (text && strlen(text) >= sizeof c->opencl)
		complain(&r, "OPENCL", "a shorter path");
	else if (text)
		strcpy(c->opencl, text);
	c->execute = read_switch(&r, "EXECUTE", true);
	c->threads = read_switch(&r, "THREADS", true);
	c->counter_events = read_switch(&r, "COUNTER_EVENTS", false);
	c->trace = (unsigned)read_count(&r, "TRACE", 0, 0, 2, "0, 1 or 2");
	read_clock(&r, c);
	read_faults(&r, c);
	return !r.failed;
}
