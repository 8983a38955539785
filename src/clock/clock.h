/* SPDX-License-Identifier: MIT */
/* Converts all times to one canonical clock, CLOCK_BOOTTIME in ns.
 *
 * The collector reads a tuple of all host clocks at the start, every second, and at the end. There
 * are at least two tuples, since a single tuple gives no rate. Readers of a capture convert stamps.
 * The conversion is piecewise linear between neighbouring tuples, in 128-bit integers, and reports
 * its residual: the distance of a tuple from the line through its neighbours. Before the first and
 * after the last tuple, the nearest line is extended.
 *
 * A device clock is the first of these that applies:
 *   1. the session's host clock, if every reading reports it;
 *   2. the host clock that all gt_record_clock readings agree with;
 *   3. the line through these readings;
 *   4. without readings, the host clock in which every QUEUED stamp lies inside its call
 *      (candidates below);
 *   5. bounds from both sides, set from all GPU activities and all waits (clock/clockbounds.h);
 *   6. without waits, the smallest offset that keeps call start <= queued.
 * Readings that GPU activities contradict are discarded. A device that declares a rate other than 1
 * GHz has that rate until readings measure it. Stamps of such a device cannot come from a host
 * clock. Without readings, the smallest offset at the declared rate converts them.
 * gt_device_clock_method() returns the method used. */
#ifndef GPUTAP_CLOCK_CLOCK_H
#define GPUTAP_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/hostclock.h"

/* One reading of every host clock, taken as close together as possible. */
struct gt_clock_tuple {
	uint64_t ticks; /* ticks of the session's host clock: the counter, or BOOTTIME ns */
	uint64_t boottime_ns, monotonic_ns, raw_ns, realtime_ns;
	/* time between the first and the last of the readings: the uncertainty */
	uint64_t spread_ticks;
};

enum gt_clock_method {
	GT_CLOCK_UNKNOWN = 0,
	/* readings of the runtime's own call that reads device and host timers */
	GT_CLOCK_TIMER = 1,
	GT_CLOCK_HOST_RAW = 2, /* device stamps are CLOCK_MONOTONIC_RAW */
	GT_CLOCK_HOST_MONOTONIC = 3,
	GT_CLOCK_HOST_BOOTTIME = 4,
	GT_CLOCK_HOST_REALTIME = 5,
	GT_CLOCK_OFFSET = 6, /* smallest offset that preserves causality */
	/* bounds from both sides: no GPU activity starts before its call, and no wait ends before
	 * its target */
	GT_CLOCK_BOUNDS = 7,
	/* device stamps are the session's host clock, because the runtime took the time from
	 * gputap. A reading with three equal stamps reports this */
	GT_CLOCK_HOST_TICKS = 8,
};

/* Host clock ---------------------------------------------------------------- */

/* Return the clock that taps use for stamps on this machine: enum gt_host_clock. Choose the counter
 * only if it is invariant and is the kernel's clocksource. */
uint32_t gt_clock_host_choose(void);

/* Read all clocks several times and keep the reading with the smallest spread. @host_clock: enum
 * gt_host_clock */
void gt_clock_tuple_take(uint32_t host_clock, struct gt_clock_tuple *out);

struct gt_host_clock_map; /* ticks -> BOOTTIME ns, and the other host clocks -> BOOTTIME ns */

int gt_host_clock_map_create(const struct gt_clock_tuple *tuples, size_t count,
			     struct gt_host_clock_map **out);
/* Create a map onto the BOOTTIME of another host: @shift_ns is added to every result. */
int gt_host_clock_map_create_shifted(const struct gt_clock_tuple *tuples, size_t count,
				     int64_t shift_ns, struct gt_host_clock_map **out);
void gt_host_clock_map_destroy(struct gt_host_clock_map *map);
uint64_t gt_host_clock_to_ns(const struct gt_host_clock_map *map, uint64_t ticks);
/* Convert a time of a host clock. @method: one of GT_CLOCK_HOST_*; @ns: a time of that clock. */
uint64_t gt_host_clock_from(const struct gt_host_clock_map *map, enum gt_clock_method method,
			    uint64_t ns);
/* Return CLOCK_REALTIME minus CLOCK_BOOTTIME in ns at @boottime_ns, to convert times to wall-clock
 * time. */
int64_t gt_host_clock_realtime_offset_ns(const struct gt_host_clock_map *map, uint64_t boottime_ns);
uint64_t gt_host_clock_residual_ns(const struct gt_host_clock_map *map);

/* Device clock -------------------------------------------------------------- */

enum gt_clock_side { GT_CLOCK_NOT_EARLIER, GT_CLOCK_NOT_LATER, GT_CLOCK_SIDE_COUNT };

struct gt_device_clock; /* one device's raw stamps -> BOOTTIME ns */

int gt_device_clock_create(const struct gt_host_clock_map *host, struct gt_device_clock **out);
void gt_device_clock_destroy(struct gt_device_clock *clock);
/* Declare that stamps are ticks at @ticks_per_second, as the device's runtime reports. Call before
 * the functions below. Readings 50 ms apart measure the rate more accurately. Without this call,
 * stamps are ns. */
void gt_device_clock_set_rate(struct gt_device_clock *clock, uint64_t ticks_per_second);
/* Add a gt_record_clock: a device stamp read between two host stamps. */
int gt_device_clock_add_reading(struct gt_device_clock *clock, uint64_t device,
				uint64_t host_before, uint64_t host_after);
/* Add a GPU activity: start and end of its call in ticks (end 0: unknown), and its raw queued
 * stamp. */
void gt_device_clock_add_activity(struct gt_device_clock *clock, uint64_t call_start,
				  uint64_t call_end, uint64_t queued);
/* Choose the method. Afterwards add bounds if gt_device_clock_wants_bounds(), then convert. */
void gt_device_clock_settle(struct gt_device_clock *clock);

/* Return true if no method better than bounds is available. Then add the bounds of all GPU
 * activities. A bound says that a device stamp was taken at or after, or at or before, a host time
 * in ticks. */
bool gt_device_clock_wants_bounds(const struct gt_device_clock *clock);
void gt_device_clock_add_bound(struct gt_device_clock *clock, enum gt_clock_side side,
			       uint64_t device, uint64_t host_ticks);
/* Return true if a bound is violated. Then pass all bounds to gt_device_clock_check_bound(), which
 * counts violations. */
bool gt_device_clock_settle_bounds(struct gt_device_clock *clock);
void gt_device_clock_check_bound(struct gt_device_clock *clock, enum gt_clock_side side,
				 uint64_t device, uint64_t host_ticks);
uint64_t gt_device_clock_to_ns(const struct gt_device_clock *clock, uint64_t device);
enum gt_clock_method gt_device_clock_method(const struct gt_device_clock *clock);
const char *gt_clock_method_name(enum gt_clock_method method);
uint64_t gt_device_clock_residual_ns(const struct gt_device_clock *clock);
/* Return the number of GPU activities that, after conversion, seem to be queued before their call
 * or to end after a wait for them. */
uint64_t gt_device_clock_violations(const struct gt_device_clock *clock);

#endif
