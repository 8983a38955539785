/* SPDX-License-Identifier: MIT */
/* Times of a plug-in. Those of its device work stand raw in the records, with readings of its clock
 * beside the host's ticks: the reader of the capture finds the line, as for any other device
 * (clock/clock.h), also if the clock is one of the host's. Those of its calls are CLOCK_REALTIME
 * and become host ticks here, on the line between two readings of both.
 *
 *   ticks |          * last      A round reads both clocks behind the plug-in's flush: the calls
 *         |     .'               that come with it lie between this reading and the one before.
 *         * first
 *         +------------ real */
#include "runtime/privateuse1/pu1_parts.h"

#include "core/emit.h"
#include "util/clock_ns.h"

enum { TRIES = 3 };
#define FIRST_PAUSE_NS UINT64_C(1000000) /* between readings of a device: doubles to 1 s */
#define LAST_PAUSE_NS  UINT64_C(1000000000)
#define STEP_NS        INT64_C(1000000) /* CLOCK_REALTIME was set, not steered */

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
	/* all of them as if it had been set before the first */
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

void gt_pu1_read_clock(struct gt_pu1 *p, int32_t device, bool always)
{
	uint64_t now = gt_clock_ns(CLOCK_MONOTONIC), before, after, time;

	if (device < 0 || device >= GT_PU1_DEVICES || !p->thread ||
	    (!always && now < p->clock_next_ns[device]))
		return;
	p->clock_pause_ns[device] = !p->clock_pause_ns[device] ? FIRST_PAUSE_NS
				    : p->clock_pause_ns[device] < LAST_PAUSE_NS
					    ? 2 * p->clock_pause_ns[device]
					    : p->clock_pause_ns[device];
	p->clock_next_ns[device] = now + p->clock_pause_ns[device];
	atomic_store(&p->in, "pu1.clock");
	before = gt_ticks();
	if (p->f->gputap_plugins_stream_clock(p->index, device, &time)) {
		atomic_store(&p->in, NULL);
		if (!p->untimed)
			gt_pu1_event(p, p->thread, (uint64_t)device,
				     "its clock cannot be read (pu1.clock)");
		p->untimed = true;
		return;
	}
	after = gt_ticks();
	atomic_store(&p->in, NULL);
	gt_clock_write(p->thread, (uint32_t)gt_pu1_device(p, device), 1 /* GT_CLOCK_TIMER */,
		       before, after, time, 0);
}
