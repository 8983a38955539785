/* SPDX-License-Identifier: MIT */
/* Streams: read the records of one plug-in while the process runs. `gputap run` has one stream for
 * each plug-in, each in its own thread (src/runtime/privateuse1).
 *
 * No lock is held while a plug-in's function runs, so a function that never returns blocks only its
 * own thread. Sessions may begin and end while a stream runs; both the session and the stream then
 * read every buffer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/plugin_parts.h"

static struct gt_plugin *find_streaming(uint32_t index)
{
	struct gt_plugin *p = index < gt_plugin_list_count() ? gt_plugin_at(index) : NULL;

	return p && atomic_load(&p->streaming) ? p : NULL;
}

static bool begin_stream(struct gt_plugin *p, uint32_t index, uint64_t kinds)
{
	struct gt_plugin_reader *r = &p->readers[GT_PLUGIN_STREAM];

	if (!r->name)
		r->name = calloc(1, GT_PLUGIN_NAME_BYTES);
	if (!r->lines)
		r->lines = calloc(1, GT_PLUGIN_LINES_BYTES);
	if (!r->name || !r->lines)
		return false;
	r->dropped_before = gt_plugin_dropped(p);
	r->device_count = p->calls.rows.device_count ? p->calls.rows.device_count() : -1;
	/* a session may have set the callbacks already */
	if (!p->readers[GT_PLUGIN_SESSION].enabled && !gt_plugin_set_callbacks(p, index, r))
		return false;
	/* set before the first buffer is requested */
	r->enabled = p->about.kinds & kinds;
	atomic_store(&p->streaming, true);
	r->enabled = gt_plugin_enable(p, r, r->enabled);
	return r->enabled != 0;
}

int gputap_plugins_stream_open(const char *path, uint64_t kinds, char *why, size_t size)
{
	struct gt_plugin *p;
	int index;

	if (!path || !why || !size)
		return -EINVAL;
	gt_plugin_prepare();
	index = gt_plugin_list_load(path, why, size);
	if (index < 0)
		return index == -EPERM ? -ENOEXEC : index;
	p = gt_plugin_at((uint32_t)index);
	if (atomic_load(&p->streaming) && !atomic_exchange(&p->stream_ended, false))
		return -EALREADY;
	if (!begin_stream(p, (uint32_t)index, kinds ? kinds : UINT64_MAX)) {
		const struct gt_plugin_reader *r = &p->readers[GT_PLUGIN_STREAM];

		atomic_store(&p->streaming, false);
		snprintf(why, size, "%s", r->error[0] ? r->error : "no memory");
		return -ENOEXEC;
	}
	return index;
}

int gputap_plugins_stream_flush(uint32_t index)
{
	struct gt_plugin *p = find_streaming(index);
	pu1Result result;

	if (!p)
		return -ENOENT;
	result = p->calls.flush();
	gt_plugin_refuse(p, &p->readers[GT_PLUGIN_STREAM], "pu1FlushAll", 0, result);
	return result == PU1_SUCCESS ? 0 : -EIO;
}

long gputap_plugins_stream_read(uint32_t index, struct gputap_plugin_record *record)
{
	struct gt_plugin *p = find_streaming(index);
	struct gt_plugin_reader *r;

	if (!p)
		return -ENOENT;
	r = &p->readers[GT_PLUGIN_STREAM];
	if (!gt_plugin_next(p, index, r, record))
		return 0;
	gt_plugin_count(r, GPUTAP_PLUGIN_RECORDS);
	return 1;
}

int gputap_plugins_stream_close(uint32_t index)
{
	struct gt_plugin *p = find_streaming(index);
	struct gt_plugin_reader *r;

	if (!p)
		return -ENOENT;
	r = &p->readers[GT_PLUGIN_STREAM];
	gt_plugin_disable(p, r, r->enabled & ~p->readers[GT_PLUGIN_SESSION].enabled);
	return 0;
}

int gputap_plugins_stream_end(uint32_t index)
{
	struct gt_plugin *p = find_streaming(index);

	if (!p)
		return -ENOENT;
	gt_plugin_buffers_count_kept(p, &p->readers[GT_PLUGIN_STREAM]);
	atomic_store(&p->stream_ended, true);
	return 0;
}

static pu1ClockKind clock_kind_of(const struct gt_plugin *p)
{
	return p->calls.clock.kind ? p->calls.clock.kind() : PU1_CLOCK_REALTIME;
}

uint64_t gputap_plugins_stream_rate(uint32_t index, int32_t device)
{
	const struct gt_plugin *p = find_streaming(index);

	return p ? gt_plugin_nominal_hz(p, device, clock_kind_of(p)) : 0;
}

int gputap_plugins_stream_clock(uint32_t index, int32_t device, uint64_t *time)
{
	static const clockid_t ids[] = {[PU1_CLOCK_REALTIME] = CLOCK_REALTIME,
					[PU1_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
					[PU1_CLOCK_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
					[PU1_CLOCK_BOOTTIME] = CLOCK_BOOTTIME};
	struct gt_plugin *p = find_streaming(index);
	pu1ClockPair pair = {.size = sizeof pair};
	pu1ClockKind kind;
	struct timespec t;

	if (!p || !time)
		return -ENOENT;
	kind = clock_kind_of(p);
	if ((uint32_t)kind < PU1_CLOCK_DEVICE) {
		clock_gettime(ids[kind], &t);
		*time = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		return 0;
	}
	if (kind != PU1_CLOCK_DEVICE || !p->calls.clock.pair ||
	    p->calls.clock.pair(device, &pair) != PU1_SUCCESS)
		return -ENODATA;
	*time = pair.device;
	return 0;
}

/* Report a submission. Runs in the submitting thread, which may be inside the plug-in with locks
 * held. */
static void report_submission(const struct gt_plugin *p, uint64_t correlation, uint32_t kind,
			      uint32_t items)
{
	void (*submitted)(void *, uint64_t, pu1ActivityKind, uint32_t) =
		atomic_load_explicit(&p->submitted, memory_order_acquire);

	if (submitted && atomic_load_explicit(&p->streaming, memory_order_relaxed))
		submitted(atomic_load_explicit(&p->submitted_user, memory_order_relaxed),
			  correlation, kind, items);
}

#define SUBMITTED(n)                                                                          \
	static void submitted_##n(uint64_t correlation, pu1ActivityKind kind, uint32_t items) \
	{                                                                                     \
		report_submission(gt_plugin_at(n), correlation, (uint32_t)kind, items);       \
	}
#define SUBMITTED_OF(n) submitted_##n,
GT_PLUGIN_EACH(SUBMITTED)
static const pu1SubmittedFn submitted_of[GT_PLUGINS_MOST] = {GT_PLUGIN_EACH(SUBMITTED_OF)};

int gputap_plugins_stream_submits(uint32_t index,
				  void (*submitted)(void *user, uint64_t correlation,
						    pu1ActivityKind kind, uint32_t items),
				  void *user)
{
	struct gt_plugin *p = find_streaming(index);
	pu1Result result;

	if (!p)
		return -ENOENT;
	if (!p->calls.submits.set)
		return -ENOTSUP;
	atomic_store(&p->submitted_user, user);
	atomic_store_explicit(&p->submitted, submitted, memory_order_release);
	result = p->calls.submits.set(submitted ? submitted_of[index] : NULL);
	gt_plugin_refuse(p, &p->readers[GT_PLUGIN_STREAM], "pu1.submits", 0, result);
	return result == PU1_SUCCESS ? 0 : -ENOTSUP;
}

uint64_t gputap_plugins_stream_count(uint32_t index, enum gputap_plugin_count what)
{
	const struct gt_plugin_reader *r;

	if (index >= gt_plugin_list_count() || what >= GPUTAP_PLUGIN_COUNT_COUNT)
		return 0;
	r = &gt_plugin_at(index)->readers[GT_PLUGIN_STREAM];
	return what == GPUTAP_PLUGIN_DROPPED
		       ? gt_plugin_dropped(gt_plugin_at(index)) - r->dropped_before
		       : r->counts[what];
}

uint64_t gputap_plugins_stream_dropped(uint32_t index, pu1ActivityKind kind)
{
	const struct gt_plugin *p = index < gt_plugin_list_count() ? gt_plugin_at(index) : NULL;

	return p && p->calls.drops.dropped && kind && kind < PU1_KIND_COUNT
		       ? p->calls.drops.dropped((pu1ActivityKind)kind)
		       : 0;
}

const char *gputap_plugins_stream_error(uint32_t index)
{
	const struct gt_plugin_reader *r = index < gt_plugin_list_count()
						   ? &gt_plugin_at(index)->readers[GT_PLUGIN_STREAM]
						   : NULL;

	return r && r->error[0] ? r->error : NULL;
}
