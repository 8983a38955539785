/* SPDX-License-Identifier: MIT */
/* Reads a device's clock, and converts its time stamps. The driver returns pairs of host and device
 * time. Kernels' time stamps have fewer bits than these pairs (32 bits at 12.5 MHz wrap after 343
 * s).
 *
 *   device's counter   ..|0 ───────────► 2^bits|0 ──────► now      read at most once per pause
 *   known.ticks        ──────────────────────────────────►         keeps counting
 *   a kernel's stamp             ▲ the last moment before now with these low bits
 *
 * Times in records are ns of the device's clock: ticks * 10^9 / rate. `timerResolution` is the rate
 * if the driver supports the newer form of the query, and ns per tick otherwise. */
#include <time.h>

#include "runtime/level_zero/level_zero_objects.h"
#include "util/clock_ns.h"

#define SECOND_NS      UINT64_C(1000000000)
#define FIRST_PAUSE_NS UINT64_C(1000000)
#define SLOWEST_HZ     UINT64_C(100000) /* a timerResolution below this is in ns per tick */

static uint64_t mask_of(uint32_t bits)
{
	return bits && bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static uint64_t ns_of(const struct gt_lz_device *d, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * SECOND_NS / d->hz);
}

static uint64_t ticks_of(const struct gt_lz_device *d, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * d->hz / SECOND_NS);
}

/* Return the time, in ns, after which the shorter counter wraps. */
static uint64_t round_ns(const struct gt_lz_device *d)
{
	uint32_t bits = d->kernel_bits < d->bits ? d->kernel_bits : d->bits;

	return bits >= 60 ? UINT64_MAX : ns_of(d, mask_of(bits));
}

static void describe_device(struct gt_lz_device *d, struct lz_device_properties *p)
{
	static const char *const types[] = {"", "gpu", "cpu", "fpga", "accelerator", "vpu"};
	struct gt_text text = {0};

	p->name[sizeof p->name - 1] = 0;
	gt_text_add(&text, "name", p->name);
	if (p->type < sizeof types / sizeof *types)
		gt_text_add(&text, "type", types[p->type]);
	gt_text_add_hex(&text, "uuid", p->uuid, sizeof p->uuid);
	gt_text_add(&text, "clock", "timer");
	gt_lz_describe(&d->description,
		       &(struct gt_object){.type = GT_OBJECT_DEVICE,
					   .domain = GT_DOMAIN_LEVEL_ZERO,
					   .number = d->number,
					   .handle = (uintptr_t)d->object.handle},
		       &text);
}

static void fill_device(void *object, const void *data)
{
	const struct lz_device_properties *p = data;
	struct gt_lz_device *d = object;

	d->hz = p->timer_resolution >= SLOWEST_HZ ? p->timer_resolution
		: p->timer_resolution             ? SECOND_NS / p->timer_resolution
						  : SECOND_NS;
	d->bits = p->timestamp_bits ? p->timestamp_bits : 64;
	d->kernel_bits = p->kernel_timestamp_bits ? p->kernel_timestamp_bits : d->bits;
	d->number = gt_object_number(GT_OBJECT_DEVICE);
}

static struct gt_lz_device *add_device(const struct gt_table *table, void *handle)
{
	struct lz_device_properties p = {.head = {LZ_DEVICE_PROPERTIES_1_2, NULL}};
	struct gt_lz_device *d = gt_lz_find(GT_LZ_DEVICE, handle);

	if ((d && gt_lz_is_described(&d->description)) || !GT_LZ(table, zeDeviceGetProperties) ||
	    !GT_LZ(table, zeDeviceGetGlobalTimestamps) ||
	    GT_LZ(table, zeDeviceGetProperties)(handle, &p))
		return d;
	if (!d)
		d = gt_lz_add_filled(GT_LZ_DEVICE, handle, fill_device, &p);
	if (!d)
		return NULL;
	d->table = table;
	describe_device(d, &p);
	return d;
}

struct gt_lz_device *gt_lz_device(const struct gt_table *table, void *handle)
{
	static struct gt_lz_lock lock;
	struct gt_lz_device *d;

	gt_lz_lock(&lock);
	d = add_device(table, handle);
	gt_lz_unlock(&lock);
	return d;
}

/* Advance the clock by the number of wraps that agrees best with the host's clock. */
static void advance_clock(struct gt_lz_device *d, uint64_t stamp, uint64_t now_ns)
{
	uint64_t mask = mask_of(d->bits), passed = (stamp - d->known.ticks) & mask, expected;

	if (!d->known.ns) {
		d->known.ticks = stamp & mask;
	} else if (mask == UINT64_MAX) {
		d->known.ticks = stamp;
	} else {
		expected = ticks_of(d, now_ns - d->known.ns);
		if (expected > passed)
			passed += (expected - passed + mask / 2) / (mask + 1) * (mask + 1);
		d->known.ticks += passed;
	}
	d->known.ns = now_ns;
}

/* Set the time of the next reading in host ticks, because reading them is faster than reading a
 * clock. The rate of host ticks is known from the second reading on. */
static void plan_reading(struct gt_lz_device *d, uint64_t now_ns, uint64_t now_ticks)
{
	uint64_t most = round_ns(d) / 16 < SECOND_NS ? round_ns(d) / 16 : SECOND_NS, rate;

	d->pause_ns = d->pause_ns ? 2 * d->pause_ns : FIRST_PAUSE_NS;
	d->pause_ns = d->pause_ns < most ? d->pause_ns : most;
	d->next_ns = now_ns + d->pause_ns;
	if (!d->host.ns) {
		d->host = (struct gt_lz_anchor){now_ticks, now_ns};
	} else if (now_ns > d->host.ns) {
		rate = (uint64_t)(((unsigned __int128)(now_ticks - d->host.ticks) << 20) /
				  (now_ns - d->host.ns));
		atomic_store_explicit(&d->next_ticks,
				      now_ticks +
					      (uint64_t)((unsigned __int128)d->pause_ns * rate >>
							 20),
				      memory_order_relaxed);
	}
}

/* Return true if the records of this process, in this session, contain a reading. */
static bool has_reading(const struct gt_lz_device *d)
{
	return atomic_load_explicit(&d->epoch, memory_order_relaxed) ==
	       atomic_load_explicit(gt_epoch, memory_order_relaxed);
}

static void read_clock(struct gt_lz_device *d, struct gt_thread *t)
{
	uint64_t now = gt_clock_ns(CLOCK_BOOTTIME), before, after, host, stamp;

	if (d->known.ns && now < d->next_ns && has_reading(d))
		return;
	before = gt_ticks();
	if (GT_LZ(d->table, zeDeviceGetGlobalTimestamps)((void *)d->object.handle, &host, &stamp))
		return;
	after = gt_ticks();
	advance_clock(d, stamp, now);
	plan_reading(d, now, after);
	atomic_store_explicit(&d->epoch, atomic_load_explicit(gt_epoch, memory_order_relaxed),
			      memory_order_relaxed);
	/* also written while the program has paused recording */
	gt_clock_write(t ? t : gt_thread_own(), (uint32_t)d->number, 1 /* GT_CLOCK_TIMER */, before,
		       after, ns_of(d, d->known.ticks), 0);
}

void gt_lz_clock_read(struct gt_lz_device *d, struct gt_thread *t)
{
	uint64_t next = atomic_load_explicit(&d->next_ticks, memory_order_relaxed);

	if (next && gt_ticks() < next && has_reading(d))
		return;
	gt_lz_lock(&d->lock);
	read_clock(d, t);
	gt_lz_unlock(&d->lock);
}

struct gt_lz_anchor gt_lz_clock_anchor(struct gt_lz_device *d)
{
	struct gt_lz_anchor known;

	gt_lz_lock(&d->lock);
	known = d->known;
	gt_lz_unlock(&d->lock);
	return known;
}

/* Convert a time stamp, which may be up to an eighth of a wrap later than the last reading. */
uint64_t gt_lz_clock_ns(const struct gt_lz_device *d, struct gt_lz_anchor known, uint64_t stamp,
			uint64_t *boottime)
{
	uint64_t mask = mask_of(d->kernel_bits < d->bits ? d->kernel_bits : d->bits);
	uint64_t back = (known.ticks - stamp) & mask, ticks, ns, known_ns = ns_of(d, known.ticks);

	ticks = back > mask - mask / 8 ? known.ticks + (mask - back) + 1 : known.ticks - back;
	ns = ns_of(d, ticks);
	*boottime = known.ns + (ns - known_ns);
	return ns;
}
