/* SPDX-License-Identifier: MIT */
/* Converts host ticks in buffered records to CLOCK_BOOTTIME ns, at delivery.
 *
 *   ns |            *   anchors: both clocks read at one moment. Times between two anchors are on a
 *      |        *       straight line. A stamp that is newer than all anchors causes a new anchor.
 *      |    *           The time of a stamp therefore does not depend on the moment of conversion,
 *      +-------------- ticks    and later stamps have later times.
 *
 * A reading has an error of some tens of ns. Without a correction, this error would change the
 * slope of a short line between two anchors, and hence the durations on that line. An anchor may
 * therefore deviate by at most 1/1000 from the line through all anchors so far, unless it is far
 * from that line (because the host was suspended while one clock continued). The table has room for
 * the anchors of a second or more of deliveries. When the table is full, every second anchor of the
 * older half is dropped. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "clock/clock.h"
#include "core/recording.h"
#include "gputap/tool.h"
#include "tool/tool_buffer.h"
#include "tool/tool_activity.h"
#include "util/clock_ns.h"

enum { ANCHORS = 2048, TRIES = 3, FAR_NS = 1000000, PAIRS = 8 };

static struct {
	_Atomic uint32_t lock;
	size_t count;
	struct anchor {
		uint64_t ticks, ns;
	} anchors[ANCHORS], first;
} map;

static uint64_t boottime(void)
{
	return gt_ticks_boottime();
}

static struct anchor reading(void)
{
	struct anchor best = {0, 0};
	uint64_t spread = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = gt_ticks(), ns = boottime(), after = gt_ticks();

		if (after - before < spread) {
			spread = after - before;
			best = (struct anchor){before + spread / 2, ns};
		}
	}
	return best;
}

static uint64_t scaled(uint64_t ticks, uint64_t ns, uint64_t of_ticks)
{
	return (uint64_t)((unsigned __int128)ticks * ns / of_ticks);
}

static void thin_out(void)
{
	size_t to = 1;

	for (size_t i = 2; i < ANCHORS / 2; i += 2)
		map.anchors[to++] = map.anchors[i];
	memmove(map.anchors + to, map.anchors + ANCHORS / 2,
		sizeof map.anchors[0] * (ANCHORS - ANCHORS / 2));
	map.count = to + ANCHORS - ANCHORS / 2;
}

static void add_anchor(void)
{
	struct anchor a = reading(), last = map.count ? map.anchors[map.count - 1] : a;

	if (!map.count) {
		map.first = map.anchors[map.count++] = a;
		return;
	}
	if (a.ticks <= last.ticks)
		return;
	if (last.ticks > map.first.ticks) {
		uint64_t line = last.ns + scaled(a.ticks - last.ticks, last.ns - map.first.ns,
						 last.ticks - map.first.ticks);
		uint64_t most = (line - last.ns) / 1000;

		if (a.ns + FAR_NS > line && a.ns < line + FAR_NS)
			a.ns = a.ns > line + most   ? line + most
			       : a.ns + most < line ? line - most
						    : a.ns;
	}
	if (a.ns < last.ns)
		a.ns = last.ns;
	if (map.count == ANCHORS)
		thin_out();
	map.anchors[map.count++] = a;
}

static uint64_t convert_ticks(uint64_t ticks)
{
	size_t low = 0, high;
	const struct anchor *a;

	if (ticks > map.anchors[map.count - 1].ticks)
		add_anchor();
	if (ticks >= map.anchors[map.count - 1].ticks)
		return map.anchors[map.count - 1].ns;
	high = map.count - 1;
	if (high && ticks >= map.anchors[high - 1].ticks)
		low = high - 1; /* usually, the time lies between the last two anchors */
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (map.anchors[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	a = &map.anchors[low];
	if (high == low || ticks <= a->ticks) /* before the first buffer was created */
		return a->ns;
	return a->ns + scaled(ticks - a->ticks, a[1].ns - a->ns, a[1].ticks - a->ticks);
}

void gt_tool_ticks_start(void)
{
	gt_word_lock(&map.lock);
	if (!map.count) {
		/* Without a session, only buffered calls have ticks, and these calls are made after
		 * the first buffer was created. */
		gt_recording_init();
		if (!gt_recording.session)
			gt_host_clock = gt_clock_host_choose();
		add_anchor();
	}
	gt_word_unlock(&map.lock);
}

void gt_tool_ticks_convert(const struct gputap_record *records, size_t count)
{
	bool locked = false;

	for (size_t i = 0; i < count; i++) {
		uint8_t *payload = (uint8_t *)(uintptr_t)records[i].payload;
		struct gt_buffered_head *head = (struct gt_buffered_head *)(void *)payload - 1;

		if (!head->ticks_count || gt_host_clock == GT_HOST_CLOCK_BOOTTIME)
			continue;
		if (!locked)
			gt_word_lock(&map.lock);
		locked = true;
		for (unsigned n = 0; n < head->ticks_count; n++) {
			uint64_t time;

			memcpy(&time, payload + head->ticks_offset + n * 8, sizeof time);
			time = time ? convert_ticks(time) : 0;
			memcpy(payload + head->ticks_offset + n * 8, &time, sizeof time);
		}
		head->ticks_count = 0;
	}
	if (locked)
		gt_word_unlock(&map.lock);
}

uint64_t gt_tool_ticks_ns(uint64_t ticks)
{
	uint64_t ns;

	if (!ticks || gt_host_clock == GT_HOST_CLOCK_BOOTTIME)
		return ticks;
	gt_tool_ticks_start();
	gt_word_lock(&map.lock);
	ns = convert_ticks(ticks);
	gt_word_unlock(&map.lock);
	return ns;
}

void gt_tool_ticks_reset(void)
{
	/* loses at most the anchor that was being added */
	atomic_store_explicit(&map.lock, 0, memory_order_relaxed);
}

uint64_t gputap_now(void)
{
	return boottime();
}

/* Get the offset of a clock from CLOCK_BOOTTIME from the narrowest of several readings. Return the
 * width of that reading. */
static uint64_t read_ahead(clockid_t clock, uint64_t *ahead)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < PAIRS; i++) {
		uint64_t before = gt_clock_ns(CLOCK_BOOTTIME), other = gt_clock_ns(clock),
			 width = gt_clock_ns(CLOCK_BOOTTIME) - before;

		if (width < best) {
			best = width;
			*ahead = other - before - width / 2;
		}
	}
	return best;
}

int gputap_clock_read(struct gputap_clock_pair *pair)
{
	struct gputap_clock_pair p = {0};
	uint64_t width;

	if (!pair || pair->size < sizeof pair->size)
		return -EINVAL;
	p.width = read_ahead(CLOCK_REALTIME, &p.realtime);
	width = read_ahead(CLOCK_MONOTONIC, &p.monotonic);
	p.width = width > p.width ? width : p.width;
	width = read_ahead(CLOCK_MONOTONIC_RAW, &p.monotonic_raw);
	p.width = width > p.width ? width : p.width;
	p.boottime = gt_clock_ns(CLOCK_BOOTTIME);
	p.realtime += p.boottime;
	p.monotonic += p.boottime;
	p.monotonic_raw += p.boottime;
	memcpy((char *)pair + sizeof pair->size, (char *)&p + sizeof p.size,
	       (pair->size < sizeof p ? pair->size : sizeof p) - sizeof p.size);
	return 0;
}
