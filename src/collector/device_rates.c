/* SPDX-License-Identifier: MIT */
/* See device_rates.h. */
#include "collector/device_rates.h"

#include <math.h>
#include <time.h>

#include "record/domain.h"
#include "record/record.h"

enum {
	RATE_MS = 10, /* minimum time between two clock readings that give the rate of ticks */
	/* maximum difference at which a device's clock counts as a host clock in ns */
	SAME_NS = 1000000,
};

#define SAME_RATE 1e-4 /* maximum drift of such a clock since the start */

static inline uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

void gt_host_rate_measure(uint32_t host_clock, struct gt_host_rate *out)
{
	struct timespec wait = {.tv_nsec = RATE_MS * 1000000L};
	struct gt_clock_tuple before;

	gt_clock_tuple_take(host_clock, &before);
	nanosleep(&wait, NULL);
	gt_clock_tuple_take(host_clock, &out->begin);
	out->tick_ns = out->begin.ticks > before.ticks
			       ? (double)(out->begin.boottime_ns - before.boottime_ns) /
					 (double)(out->begin.ticks - before.ticks)
			       : 1;
}

/* Return the length of a device's tick in ns, derived from one reading: the host's tick, or 1 if
 * the device's clock is a host clock in ns, as in ROCr. Return 0 if a second reading is needed. */
static double find_tick(const struct gt_host_rate *h, enum gt_clock_method method, uint64_t host,
			uint64_t stamp)
{
	const struct gt_clock_tuple *b = &h->begin;
	const uint64_t clocks[] = {b->boottime_ns, b->monotonic_ns, b->raw_ns, b->realtime_ns};
	const double since = ((double)host - (double)b->ticks) * h->tick_ns,
		     far = SAME_NS + fabs(since) * SAME_RATE;

	if (method == GT_CLOCK_HOST_TICKS)
		return h->tick_ns;
	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
		if (fabs((double)stamp - (double)clocks[i] - since) < far)
			return 1;
	return 0;
}

void gt_device_rates_note(struct gt_device_rates *rates, const struct gt_host_rate *h,
			  const uint64_t *r, uint32_t words)
{
	uint32_t device = (uint32_t)(load(r) >> 32);
	struct gt_device_reading *d;
	uint64_t host, stamp;
	size_t i = 0;

	if (words < sizeof(struct gt_record_clock) / 8)
		return;
	host = load(r + 1) / 2 + load(r + 2) / 2;
	stamp = load(r + 3);
	while (i < rates->count && rates->list[i].device != device)
		i++;
	if (i == GT_DEVICE_RATES_MOST)
		return;
	d = &rates->list[i];
	if (i == rates->count) {
		rates->count++;
		*d = (struct gt_device_reading){
			.device = device,
			.tick_ns = find_tick(h, (enum gt_clock_method)(load(r) >> 24 & 0xff), host,
					     stamp),
			.first_host = host,
			.first_device = stamp,
		};
	}
	d->host = host;
	d->stamp = stamp;
}

bool gt_device_rates_convert(const struct gt_device_rates *rates, const struct gt_host_rate *h,
			     uint32_t domain, uint32_t device, uint64_t stamps, uint64_t *ns)
{
	if (domain == GT_DOMAIN_OPENCL) {
		*ns = stamps;
		return true;
	}
	for (size_t i = 0; i < rates->count; i++) {
		const struct gt_device_reading *d = &rates->list[i];
		double host = (double)(d->host - d->first_host) * h->tick_ns;

		if (d->device != device)
			continue;
		if (d->tick_ns > 0) {
			*ns = (uint64_t)((double)stamps * d->tick_ns);
			return true;
		}
		if (d->stamp <= d->first_device || host <= 0)
			return false;
		*ns = (uint64_t)((double)stamps * host / (double)(d->stamp - d->first_device));
		return true;
	}
	return false;
}
