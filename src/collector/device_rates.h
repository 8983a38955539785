/* SPDX-License-Identifier: MIT */
/* Converts durations in a device's stamps to ns while the program runs, from the clock readings in
 * its records. A capture's reader fits clocks more precisely (clock/clock.h).
 *
 * OpenCL's stamps are ns. If a device's clock is a host clock in ns (ROCr) or has the host's ticks
 * (CUDA), the first reading gives the rate. Otherwise the first and the newest reading do. */
#ifndef GPUTAP_COLLECTOR_DEVICE_RATES_H
#define GPUTAP_COLLECTOR_DEVICE_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"

enum { GT_DEVICE_RATES_MOST = 64 }; /* maximum number of clocks of a process */

/* The host's clock: duration of a tick in ns, and a reading at the session's start. */
struct gt_host_rate {
	double tick_ns;
	struct gt_clock_tuple begin;
};

/* The clocks of a process's devices. Empty if zero-initialised. */
struct gt_device_rates {
	struct gt_device_reading {
		uint32_t device;
		double tick_ns; /* 0: unknown before the second reading */
		uint64_t first_host, first_device, host, stamp;
	} list[GT_DEVICE_RATES_MOST];
	size_t count;
};

/* Measure the host's tick. Takes 10 ms. */
void gt_host_rate_measure(uint32_t host_clock, struct gt_host_rate *out);
/* Note a GT_RECORD_CLOCK, in memory that the program may be writing to. */
void gt_device_rates_note(struct gt_device_rates *rates, const struct gt_host_rate *host,
			  const uint64_t *record, uint32_t words);
/* Convert @stamps, a duration on a device of the domain. Return false if the rate is not known
 * yet. */
bool gt_device_rates_convert(const struct gt_device_rates *rates, const struct gt_host_rate *host,
			     uint32_t domain, uint32_t device, uint64_t stamps, uint64_t *ns);

#endif
