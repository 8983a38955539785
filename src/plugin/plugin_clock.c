/* SPDX-License-Identifier: MIT */
/* Converts a plug-in's times to CLOCK_REALTIME. The plug-in's clock and CLOCK_REALTIME are read
 * together when a session begins and when the session ends. Between these moments, and for a short
 * time around them, the rate is assumed constant:
 *     real = real_0 + (clock - clock_0) * rate
 * The initial rate is the rate that the plug-in declares, or one tick per ns. The rate measured
 * between two readings replaces the initial rate if the readings are at least 1 ms apart and
 * deviate from the initial rate by more than the widths of the readings allow. */
#include <time.h>

#include "plugin/plugin_parts.h"

enum { RATE_BITS = 48, SHORTEST_NS = 1000000 };
#define NS_PER_SECOND UINT64_C(1000000000)

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

void gt_plugin_life_begin(struct gt_plugin *p)
{
	p->loaded_real_ns = gt_plugin_now();
	p->loaded_boot_ns = read_clock(CLOCK_BOOTTIME);
}

/* CLOCK_REALTIME may be set during the plug-in's life, so accept the times computed from the start
 * and from the end. Add a second on both sides, because a device's clock is known only to that
 * precision. */
void gt_plugin_life(const struct gt_plugin *p, uint64_t *first_ns, uint64_t *last_ns)
{
	uint64_t now = gt_plugin_now(), age = read_clock(CLOCK_BOOTTIME) - p->loaded_boot_ns,
		 first = now - age, last = p->loaded_real_ns + age;

	*first_ns = (first < p->loaded_real_ns ? first : p->loaded_real_ns) - NS_PER_SECOND;
	*last_ns = (last > now ? last : now) + NS_PER_SECOND;
}

/* Read both clocks. Return true if the plug-in's clock could be read. */
static bool read_pair(const struct gt_plugin *p, int32_t device, struct gt_plugin_scale *now)
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
		now->clock = pair.device;
		now->width_ns = pair.host_after - pair.host_before;
		now->real = pair.host_before + now->width_ns / 2;
		return true;
	}
	before = gt_plugin_now();
	now->clock = read_clock(ids[p->clock]);
	now->width_ns = gt_plugin_now() - before;
	now->real = before + now->width_ns / 2;
	return true;
}

uint64_t gt_plugin_nominal_hz(const struct gt_plugin *p, int32_t device, pu1ClockKind kind)
{
	if (kind != PU1_CLOCK_DEVICE)
		return NS_PER_SECOND;
	return p->calls.clock.ticks_per_second ? p->calls.clock.ticks_per_second(device) : 0;
}

static uint64_t nominal_rate(const struct gt_plugin *p, int32_t device)
{
	uint64_t hz = gt_plugin_nominal_hz(p, device, p->clock);

	return hz ? (uint64_t)(((unsigned __int128)NS_PER_SECOND << RATE_BITS) / hz)
		  : UINT64_C(1) << RATE_BITS;
}

static void measure_rate(struct gt_plugin_scale *s, const struct gt_plugin_scale *now)
{
	uint64_t ns = now->real - s->real, off_ns = (s->width_ns + now->width_ns) / 2,
		 rate = (uint64_t)(((unsigned __int128)ns << RATE_BITS) / (now->clock - s->clock)),
		 off = rate > s->rate ? rate - s->rate : s->rate - rate;

	if ((unsigned __int128)off * ns > (unsigned __int128)rate * off_ns)
		s->rate = rate;
}

static void read_scale(struct gt_plugin *p, struct gt_plugin_scale *s, int32_t device, bool last)
{
	struct gt_plugin_scale now;

	if (!read_pair(p, device, &now)) {
		if (!last)
			s->known = false;
		gt_plugin_count(&p->readers[GT_PLUGIN_SESSION], GPUTAP_PLUGIN_REFUSED);
		return;
	}
	if (!last) {
		now.rate = s->rate ? s->rate : nominal_rate(p, device);
		now.known = true;
		*s = now;
	} else if (s->known && now.real > s->real && now.clock > s->clock &&
		   now.real - s->real >= SHORTEST_NS) {
		measure_rate(s, &now);
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
