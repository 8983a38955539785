/* SPDX-License-Identifier: MIT */
/* A software accelerator's clock, with an error against the host's clock that a test chooses.
 *
 *   the device's stamps:
 *     ticks(host) = (epoch + host + (host - anchor) * drift) * hz / 1e9
 *   a driver that reads both clocks at one moment returns the pair
 *     (host, ticks(host - skew))
 *
 * Without drift and skew, a runtime that converts with such pairs finds the exact host times. Drift
 * is the deviation from the nominal rate; frequent pairs hide it. Skew is an error of the pairs
 * themselves, which no conversion can detect: all converted stamps are late by this amount.
 * Host time is CLOCK_BOOTTIME. */
#ifndef SOFT_CLOCK_H
#define SOFT_CLOCK_H

#include <stdint.h>

struct soft_clock {
	uint64_t hz;
	uint64_t epoch_ns; /* value of the device clock when the host clock was 0 */
	/* error of clock pairs: a converted device time is this much later than the true time */
	int64_t skew_ns;
	int64_t drift_ppb;  /* rate error in parts per billion; positive: the clock is fast */
	uint64_t anchor_ns; /* host time at which drift starts */
};

uint64_t soft_clock_host_ns(void);
/* Return the value of the device's counter at @host_ns. */
uint64_t soft_clock_ticks(const struct soft_clock *clock, uint64_t host_ns);
/* Return the value that the driver reports for @host_ns. */
uint64_t soft_clock_paired_ticks(const struct soft_clock *clock, uint64_t host_ns);

#endif
