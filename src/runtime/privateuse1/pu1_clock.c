/* SPDX-License-Identifier: MIT */
/* Handles the times of a plug-in. Times of its GPU activities are written unconverted. Readings of
 * the plug-in's clock and the host's ticks are also written, and the device's object contains the
 * rate that the plug-in declares. The reader of the capture fits the line, as for any other device
 * (clock/clock.h), even if the clock is one of the host's clocks. A record whose times lie before
 * the plug-in began to record, or in the future, is rejected here, because such a record could
 * stretch the capture by hours. Times of its calls are CLOCK_REALTIME and are converted to host
 * ticks here, on the line between two readings of both clocks.
 *
 *   ticks |          * last      A round reads both clocks after the plug-in's flush: the calls
 *         |     .'               that the flush delivers lie between this reading and the last one.
 *         * first
 *         +------------ real */
#include "runtime/privateuse1/pu1_parts.h"

#include <stdio.h>

#include "core/emit.h"
#include "util/clock_ns.h"

enum { TRIES = 3 };
#define FIRST_PAUSE_NS UINT64_C(1000000) /* between readings of a clock; doubles up to 1 s */
#define LAST_PAUSE_NS  UINT64_C(1000000000)
#define STEP_NS        INT64_C(1000000) /* above this limit, CLOCK_REALTIME was set, not slewed */
#define SECOND_NS      INT64_C(1000000000)
/* minimum time between readings that can contradict a rate */
#define MEASURE_NS     UINT64_C(100000000)
#define DOUBT_PART     20 /* tolerated difference of rates: 1 / DOUBT_PART */

static struct gt_pu1_reading read_clocks(void)
{
	struct gt_pu1_reading best = {0, 0, 0};
	uint64_t spread = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = gt_ticks(), real = gt_clock_ns(CLOCK_REALTIME),
			 boot = gt_clock_ns(CLOCK_BOOTTIME), after = gt_ticks();

		if (after - before < spread) {
			spread = after - before;
			best = (struct gt_pu1_reading){before + spread / 2, boot, real};
		}
	}
	return best;
}

void gt_pu1_clock_begin(struct gt_pu1_host_clock *c)
{
	c->first = c->last = read_clocks();
}

int64_t gt_pu1_clock_step(struct gt_pu1_host_clock *c)
{
	int64_t set;

	c->first = c->last;
	c->last = read_clocks();
	set = (int64_t)(c->last.real_ns - c->first.real_ns) -
	      (int64_t)(c->last.boot_ns - c->first.boot_ns);
	if (set < STEP_NS && set > -STEP_NS)
		return 0;
	/* shift all readings as if the clock had been set before the first reading */
	c->first.real_ns += (uint64_t)set;
	return set;
}

uint64_t gt_pu1_ticks(const struct gt_pu1_host_clock *c, uint64_t real_ns)
{
	int64_t ns = (int64_t)(c->last.real_ns - c->first.real_ns),
		ticks = (int64_t)(c->last.ticks - c->first.ticks);

	if (ns <= 0)
		return c->last.ticks;
	return c->last.ticks +
	       (uint64_t)(int64_t)((__int128)(int64_t)(real_ns - c->last.real_ns) * ticks / ns);
}

/* Note another reading. The declared rate is used unless two readings contradict it. */
static void note_reading(struct gt_pu1 *p, int32_t device, uint64_t time, uint64_t boot_ns)
{
	struct gt_pu1_device_clock *c = &p->clocks[device];
	uint64_t ns = boot_ns - c->boot_ns, ticks = time - c->time, hz, off;
	char text[120];

	if (!c->boot_ns)
		c->hz = gt_pu1_rate(p, device);
	else if (ns < MEASURE_NS)
		return; /* keep the first reading */
	if (c->boot_ns && time > c->time) {
		hz = (uint64_t)((unsigned __int128)ticks * (uint64_t)SECOND_NS / ns);
		off = hz > c->hz ? hz - c->hz : c->hz - hz;
		if (c->hz && off > c->hz / DOUBT_PART && !c->contradicts) {
			c->contradicts = true;
			snprintf(text, sizeof text,
				 "its clock makes %llu ticks per second, but pu1.clock declares "
				 "%llu",
				 (unsigned long long)hz, (unsigned long long)c->hz);
			gt_pu1_event_of(p, GT_EVENT_CLOCK, (uint64_t)device, text);
		}
		if (!c->hz || c->contradicts)
			c->hz = hz;
	}
	c->time = time;
	c->boot_ns = boot_ns;
}

bool gt_pu1_is_in_life(const struct gt_pu1 *p, int32_t device, uint64_t start, uint64_t end)
{
	const struct gt_pu1_device_clock *c =
		device >= 0 && device < GT_PU1_DEVICES ? &p->clocks[device] : NULL;
	__int128 from, to, now = gt_clock_ns(CLOCK_BOOTTIME);

	if (!c || !c->hz || !c->boot_ns)
		return true;
	from = (__int128)c->boot_ns +
	       (__int128)(int64_t)(start - c->time) * SECOND_NS / (__int128)c->hz;
	to = (__int128)c->boot_ns +
	     (__int128)(int64_t)(end - c->time) * SECOND_NS / (__int128)c->hz;
	return from >= (__int128)p->begun_boot_ns - SECOND_NS && to <= now + SECOND_NS;
}

void gt_pu1_read_clock(struct gt_pu1 *p, int32_t device, bool always)
{
	uint64_t now = gt_clock_ns(CLOCK_MONOTONIC), before, after, time;
	struct gt_pu1_device_clock *c =
		device >= 0 && device < GT_PU1_DEVICES ? &p->clocks[device] : NULL;

	if (!c || !p->thread || (!always && now < c->next_ns))
		return;
	c->pause_ns = !c->pause_ns                  ? FIRST_PAUSE_NS
		      : c->pause_ns < LAST_PAUSE_NS ? 2 * c->pause_ns
						    : c->pause_ns;
	c->next_ns = now + c->pause_ns;
	atomic_store(&p->in, "pu1.clock");
	before = gt_ticks();
	if (p->f->gputap_plugins_stream_clock(p->index, device, &time)) {
		atomic_store(&p->in, NULL);
		if (!p->untimed)
			gt_pu1_event_of(p, GT_EVENT_CLOCK, (uint64_t)device,
					"its clock cannot be read (pu1.clock)");
		p->untimed = true;
		return;
	}
	after = gt_ticks();
	atomic_store(&p->in, NULL);
	gt_clock_write(p->thread, (uint32_t)gt_pu1_device(p, device), 1 /* GT_CLOCK_TIMER */,
		       before, after, time, 0);
	note_reading(p, device, time, gt_clock_ns(CLOCK_BOOTTIME));
}
