/* SPDX-License-Identifier: MIT */
/* All conversion of time: one canonical clock, CLOCK_BOOTTIME in ns.
 *
 * Tuples of all host clocks are taken by the collector at start, every second and at the end
 * (two at least: one gives no rate); conversion happens when reading, piecewise linear between
 * neighbouring tuples, in 128-bit integers, and reports its residual (how far a tuple lies from
 * the line through its neighbours). Before the first and after the last tuple the nearest line
 * is extended.
 * Device clocks: the session's host clock, where each reading says so; the host clock that all
 * gt_record_clock readings agree with, else the line through them; without readings the host
 * clock in which every QUEUED stamp lies inside its call (candidates below); else what all work
 * and all waits bound from both sides (clock/clockbounds.h); without waits the smallest offset
 * that keeps call begin <= queued. Readings that work contradicts are not believed. A device that
 * declares another rate than 1 GHz has that rate until readings measure it; its stamps are no host
 * clock's, and get the smallest offset at that rate where there are no readings.
 * gt_device_clock says which it was. */
#ifndef GPUTAP_CLOCK_CLOCK_H
#define GPUTAP_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/hostclock.h"

/* One reading of every host clock, as near together as can be. */
struct gt_clock_tuple {
	uint64_t ticks; /* of the session's host clock: the counter's, or BOOTTIME ns */
	uint64_t boottime_ns, monotonic_ns, raw_ns, realtime_ns;
	uint64_t spread_ticks; /* between first and last reading: uncertainty */
};

enum gt_clock_method {
	GT_CLOCK_UNKNOWN = 0,
	GT_CLOCK_TIMER = 1,    /* the runtime's own device and host timer call */
	GT_CLOCK_HOST_RAW = 2, /* device stamps are CLOCK_MONOTONIC_RAW */
	GT_CLOCK_HOST_MONOTONIC = 3,
	GT_CLOCK_HOST_BOOTTIME = 4,
	GT_CLOCK_HOST_REALTIME = 5,
	GT_CLOCK_OFFSET = 6, /* smallest offset that keeps causality */
	GT_CLOCK_BOUNDS = 7, /* no work before its call, no wait that ends before its work */
	/* device stamps are the session's host clock: the runtime asked gputap for the time. Said
	 * by a reading whose three stamps are one */
	GT_CLOCK_HOST_TICKS = 8,
};

/* Host clock ---------------------------------------------------------------- */

/* Which clock taps stamp with on this machine: enum gt_host_clock. The counter only if it is
 * invariant and the kernel keeps its time by it. */
uint32_t gt_clock_host_choose(void);

/* Read all clocks, several times, keep the tightest. @host_clock: enum gt_host_clock */
void gt_clock_tuple_take(uint32_t host_clock, struct gt_clock_tuple *out);

struct gt_host_clock_map; /* ticks -> BOOTTIME ns, and the other host clocks -> BOOTTIME ns */

int gt_host_clock_map_create(const struct gt_clock_tuple *tuples, size_t count,
			     struct gt_host_clock_map **out);
/* The same onto another host's BOOTTIME: @shift_ns is added to all that comes out. */
int gt_host_clock_map_create_shifted(const struct gt_clock_tuple *tuples, size_t count,
				     int64_t shift_ns, struct gt_host_clock_map **out);
void gt_host_clock_map_destroy(struct gt_host_clock_map *map);
uint64_t gt_host_clock_to_ns(const struct gt_host_clock_map *map, uint64_t ticks);
/* @method: one of GT_CLOCK_HOST_*; @ns of that clock */
uint64_t gt_host_clock_from(const struct gt_host_clock_map *map, enum gt_clock_method method,
			    uint64_t ns);
/* CLOCK_REALTIME minus CLOCK_BOOTTIME at that time, ns: for programs that want wall time. */
int64_t gt_host_clock_realtime_offset_ns(const struct gt_host_clock_map *map, uint64_t boottime_ns);
uint64_t gt_host_clock_residual_ns(const struct gt_host_clock_map *map);

/* Device clock -------------------------------------------------------------- */

enum gt_clock_side { GT_CLOCK_NOT_EARLIER, GT_CLOCK_NOT_LATER, GT_CLOCK_SIDE_COUNT };

struct gt_device_clock; /* one device's raw stamps -> BOOTTIME ns */

int gt_device_clock_create(const struct gt_host_clock_map *host, struct gt_device_clock **out);
void gt_device_clock_destroy(struct gt_device_clock *clock);
/* Before all that follows: stamps are ticks, and so many are a second, as the device's runtime
 * declares it. Readings 50 ms apart measure it better. Not called: stamps are ns. */
void gt_device_clock_set_rate(struct gt_device_clock *clock, uint64_t ticks_per_second);
/* A gt_record_clock: device stamp read between two host stamps. */
int gt_device_clock_add_reading(struct gt_device_clock *clock, uint64_t device,
				uint64_t host_before, uint64_t host_after);
/* Device work: its call's begin and end in ticks (end 0: not known) and its raw queued
 * stamp. */
void gt_device_clock_add_work(struct gt_device_clock *clock, uint64_t call_start, uint64_t call_end,
			      uint64_t queued);
/* Decide the method; after this bounds, where they are wanted, and conversion. */
void gt_device_clock_settle(struct gt_device_clock *clock);

/* Has it got nothing better than bounds? Then it wants those of all work: a device stamp was taken
 * at a host time (ticks) or later, or at that time or earlier. */
bool gt_device_clock_wants_bounds(const struct gt_device_clock *clock);
void gt_device_clock_add_bound(struct gt_device_clock *clock, enum gt_clock_side side,
			       uint64_t device, uint64_t host_ticks);
/* Return: true: some bound is not kept; gt_device_clock_check_bound() of all of them counts. */
bool gt_device_clock_settle_bounds(struct gt_device_clock *clock);
void gt_device_clock_check_bound(struct gt_device_clock *clock, enum gt_clock_side side,
				 uint64_t device, uint64_t host_ticks);
uint64_t gt_device_clock_to_ns(const struct gt_device_clock *clock, uint64_t device);
enum gt_clock_method gt_device_clock_method(const struct gt_device_clock *clock);
const char *gt_clock_method_name(enum gt_clock_method method);
uint64_t gt_device_clock_residual_ns(const struct gt_device_clock *clock);
/* Work items that seem, after conversion, to be queued before their call or to end after a wait
 * for them. */
uint64_t gt_device_clock_violations(const struct gt_device_clock *clock);

#endif
