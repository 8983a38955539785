/* SPDX-License-Identifier: MIT */
/* A software accelerator's own clock, as wrong against the host's as a test wants it.
 *
 *   what the device stamps:
 *     ticks(host) = (epoch + host + (host - anchor) * drift) * hz / 1e9
 *   a driver that is asked for both clocks at one moment gives the pair
 *     (host, ticks(host - skew))
 *
 * With no drift and no skew a runtime that converts by such pairs finds the exact host times.
 * Drift is a rate that differs from the nominal one: pairs taken often enough hide it. Skew is
 * an error of the pairs themselves, which no conversion can find: all converted stamps are late
 * by it. Host time is CLOCK_BOOTTIME. */
#ifndef SOFT_CLOCK_H
#define SOFT_CLOCK_H

#include <stdint.h>

struct soft_clock {
	uint64_t hz;
	uint64_t epoch_ns;  /* what it showed when the host's clock showed 0 */
	int64_t skew_ns;    /* converted device times are this much later than true ones */
	int64_t drift_ppb;  /* parts per billion that it runs fast */
	uint64_t anchor_ns; /* host time at which drift begins */
};

uint64_t soft_clock_host_ns(void);
/* What the device's counter shows at @host_ns. */
uint64_t soft_clock_ticks(const struct soft_clock *clock, uint64_t host_ns);
/* What the driver says that it shows at @host_ns. */
uint64_t soft_clock_paired_ticks(const struct soft_clock *clock, uint64_t host_ns);

#endif
