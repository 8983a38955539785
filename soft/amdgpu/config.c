/* SPDX-License-Identifier: MIT */
/* Reads the settings from the environment; config.h describes them. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft/amdgpu/config.h"
#include "soft/common/settings.h"

/* makes an unconverted stamp recognisable, because it cannot be a host time */
#define CLOCK_EPOCH_NS 123456789000ll

struct config_reader {
	char *why;
	size_t size;
	bool failed;
};

static void complain(struct config_reader *r, const char *name, const char *wanted)
{
	if (!r->failed)
		snprintf(r->why, r->size, "%s=%s: expected %s", name, getenv(name), wanted);
	r->failed = true;
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static uint64_t read_count(struct config_reader *r, const char *name, uint64_t otherwise,
			   uint64_t least, uint64_t most, const char *wanted)
{
	const char *text = setting(name);
	uint64_t value = otherwise;

	if (text && (!soft_parse_count(text, &value) || value < least || value > most))
		complain(r, name, wanted);
	return value;
}

/* Read one value for all GPUs, or a comma-separated list with one value for each. The last value
 * applies to the remaining GPUs. */
static void read_each(struct config_reader *r, const char *name,
		      bool (*parse)(const char *, int64_t *), int64_t otherwise, const char *wanted,
		      int64_t out[SOFT_AMDGPU_MAX])
{
	const char *text = setting(name);
	char word[64];

	for (unsigned i = 0; i < SOFT_AMDGPU_MAX; i++) {
		size_t length;
		out[i] = i ? out[i - 1] : otherwise;
		if (!text)
			continue;
		length = strcspn(text, ",");
		snprintf(word, sizeof word, "%.*s", (int)length, text);
		if (!parse(word, &out[i]))
			complain(r, name, wanted);
		text = text[length] ? text + length + 1 : NULL;
	}
	if (text)
		complain(r, name, "at most 8 values");
}

static bool parse_time(const char *text, int64_t *out)
{
	return soft_parse_ns(text, "us", out);
}

static bool parse_epoch(const char *text, int64_t *out)
{
	return soft_parse_ns(text, "s", out) && *out >= 0;
}

static void read_clock_options(struct config_reader *r, struct soft_amdgpu_config *c)
{
	int64_t epoch[SOFT_AMDGPU_MAX], skew[SOFT_AMDGPU_MAX], drift[SOFT_AMDGPU_MAX];
	uint64_t now = soft_clock_host_ns();

	read_each(r, "SOFT_AMDGPU_CLOCK_EPOCH", parse_epoch, CLOCK_EPOCH_NS,
		  "a time of 0 or more, such as 5s", epoch);
	read_each(r, "SOFT_AMDGPU_CLOCK_SKEW", parse_time, 0, "a time such as 20us or -1ms", skew);
	read_each(r, "SOFT_AMDGPU_CLOCK_DRIFT", soft_parse_ppb, 0,
		  "a rate such as 50ppm or -200ppb", drift);
	for (unsigned i = 0; i < SOFT_AMDGPU_MAX; i++)
		c->clock[i] = (struct soft_clock){.hz = SOFT_AMDGPU_CLOCK_HZ,
						  .epoch_ns = (uint64_t)epoch[i],
						  .skew_ns = skew[i],
						  .drift_ppb = drift[i],
						  .anchor_ns = now};
}

static void read_faults(struct config_reader *r, struct soft_amdgpu_config *c)
{
	static const char *const names[SOFT_FAIL_COUNT] = {
		[SOFT_FAIL_ALLOCATE] = "allocate", [SOFT_FAIL_EVENT] = "event",
		[SOFT_FAIL_QUEUE] = "queue",       [SOFT_FAIL_KERNEL] = "kernel",
		[SOFT_FAIL_HANG] = "hang",
	};
	const char *text = setting("SOFT_AMDGPU_FAIL");

	for (unsigned i = 0; i < SOFT_FAIL_COUNT; i++)
		c->faults[i].name = names[i];
	if (text && !soft_faults_parse(c->faults, text))
		complain(r, "SOFT_AMDGPU_FAIL",
			 "allocate, event, queue, kernel or hang, with :3 (the third) or :3+ (from "
			 "the third on)");
}

bool soft_amdgpu_config_read(struct soft_amdgpu_config *c, char *why, size_t size)
{
	struct config_reader r = {.why = why, .size = size};
	const char *text = setting("SOFT_AMDGPU_GFX");

	*c = (struct soft_amdgpu_config){0};
	c->type = soft_gpu_type_find(text ? text : "gfx906");
	if (!c->type) {
		char wanted[128];
		snprintf(wanted, sizeof wanted, "one of %s", soft_gpu_type_names());
		complain(&r, "SOFT_AMDGPU_GFX", wanted);
		return false;
	}
	c->gpus = (unsigned)read_count(&r, "SOFT_AMDGPU_GPUS", 1, 1, SOFT_AMDGPU_MAX, "1 to 8");
	c->memory_bytes = c->type->memory_bytes;
	text = setting("SOFT_AMDGPU_MEMORY");
	if (text && (!soft_parse_bytes(text, &c->memory_bytes) || c->memory_bytes < 64ull << 20 ||
		     c->memory_bytes > 1ull << 40))
		complain(&r, "SOFT_AMDGPU_MEMORY", "a size from 64M to 1T");
	c->memory_bytes &= ~0xfffull;
	c->execute = read_count(&r, "SOFT_AMDGPU_EXECUTE", 1, 0, 1, "0 or 1");
	c->large_bar = read_count(&r, "SOFT_AMDGPU_LARGE_BAR", 0, 0, 1, "0 or 1");
	c->trace = (unsigned)read_count(&r, "SOFT_AMDGPU_TRACE", 0, 0, 2, "0, 1 or 2");
	c->spin_us = (unsigned)read_count(&r, "SOFT_AMDGPU_SPIN",
					  sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 50 : 0, 0, 1000000,
					  "microseconds, at most 1000000");
	c->cpu = (int)read_count(&r, "SOFT_AMDGPU_CPU", UINT64_MAX, 0, CPU_SETSIZE - 1,
				 "a CPU number");
	text = setting("SOFT_AMDGPU_DURATIONS");
	if (text && strlen(text) >= sizeof c->durations)
		complain(&r, "SOFT_AMDGPU_DURATIONS", "a shorter path");
	else if (text)
		strcpy(c->durations, text);
	read_clock_options(&r, c);
	read_faults(&r, c);
	return !r.failed;
}
