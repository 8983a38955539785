/* SPDX-License-Identifier: MIT */
/* A plug-in's times in CLOCK_REALTIME. Its clock and ours are read together when a session
 * begins and when it ends; between, and a little beyond, time passes evenly:
 *     real = real_0 + (clock - clock_0) * rate
 * A session too short for a rate (under 1 ms) takes the rate of the one before, else what the
 * plug-in says that it nominally is, else one tick for one ns. */
#include <time.h>

#include "plugin/plugin_parts.h"

enum { RATE_BITS = 48, SHORTEST_NS = 1000000 };

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t gt_plugin_now(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* Return: whether it could be read. */
static bool read_pair(const struct gt_plugin *p, int32_t device, uint64_t *clock, uint64_t *real)
{
	static const clockid_t ids[] = {[PU1_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
					[PU1_CLOCK_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
					[PU1_CLOCK_BOOTTIME] = CLOCK_BOOTTIME};
	pu1ClockPair pair = {.size = sizeof pair};
	uint64_t before;

	if (p->clock == PU1_CLOCK_DEVICE) {
		if (!p->calls.clock.pair || p->calls.clock.pair(device, &pair) != PU1_SUCCESS ||
		    pair.host_after < pair.host_before)
			return false;
		*clock = pair.device;
		*real = pair.host_before + (pair.host_after - pair.host_before) / 2;
		return true;
	}
	before = gt_plugin_now();
	*clock = read_clock(ids[p->clock]);
	*real = before + (gt_plugin_now() - before) / 2;
	return true;
}

static uint64_t nominal_rate(const struct gt_plugin *p, int32_t device)
{
	uint64_t hz = p->clock == PU1_CLOCK_DEVICE && p->calls.clock.ticks_per_second
			      ? p->calls.clock.ticks_per_second(device)
			      : 0;

	return hz ? (uint64_t)(((unsigned __int128)1000000000 << RATE_BITS) / hz)
		  : UINT64_C(1) << RATE_BITS;
}

static void read_scale(struct gt_plugin *p, struct gt_plugin_scale *s, int32_t device, bool last)
{
	uint64_t clock, real;

	if (!read_pair(p, device, &clock, &real)) {
		if (!last)
			s->known = false;
		gt_plugin_count(&p->readers[GT_PLUGIN_SESSION], GPUTAP_PLUGIN_REFUSED);
		return;
	}
	if (!last) {
		s->clock = clock;
		s->real = real;
		if (!s->rate)
			s->rate = nominal_rate(p, device);
		s->known = true;
	} else if (s->known && real > s->real && clock > s->clock &&
		   real - s->real >= SHORTEST_NS) {
		s->rate = (uint64_t)(((unsigned __int128)(real - s->real) << RATE_BITS) /
				     (clock - s->clock));
	}
}

void gt_plugin_clock_read(struct gt_plugin *p, bool last)
{
	int32_t count = p->clock == PU1_CLOCK_DEVICE && p->device_count > 0 ? p->device_count : 1;

	if (p->clock == PU1_CLOCK_REALTIME)
		return;
	for (int32_t i = 0; i < count && i < GT_PLUGIN_DEVICES_MOST; i++)
		read_scale(p, &p->devices[i].scale, i, last);
}

uint64_t gt_plugin_real_time(const struct gt_plugin *p, int32_t device, uint64_t time)
{
	const struct gt_plugin_scale *s;

	if (p->clock == PU1_CLOCK_REALTIME)
		return time;
	s = &p->devices[p->clock == PU1_CLOCK_DEVICE && device >= 0 &&
					device < GT_PLUGIN_DEVICES_MOST
				? device
				: 0]
		     .scale;
	if (!s->known || !time)
		return 0;
	return s->real +
	       (uint64_t)(int64_t)((__int128)(int64_t)(time - s->clock) * s->rate >> RATE_BITS);
}
