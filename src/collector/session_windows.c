/* SPDX-License-Identifier: MIT */
/* See session_windows.h. */
#include "collector/session_windows.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/clock_ns.h"

#define MS UINT64_C(1000000)

static bool begins_paused(const struct gt_window_options *o)
{
	return o->paused || o->delay_ns;
}

void gt_session_windows_prepare(struct gt_session *session, const struct gt_window_options *o)
{
	atomic_store(&session->control,
		     GT_CONTROL(0, o->delay_ns ? GT_WINDOW_DELAY : GT_WINDOW_PAUSED,
				begins_paused(o)));
	memcpy(session->ranges, o->ranges, sizeof session->ranges);
}

/* Wake all processes. One call wakes any number of processes, because they share the page of the
 * word. */
static void wake_all(struct gt_session_windows *w)
{
	syscall(SYS_futex, &w->folder->session->control, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

struct gt_window_state gt_session_windows_read(struct gt_session_windows *w)
{
	struct gt_window_state state;

	pthread_mutex_lock(&w->lock);
	state = (struct gt_window_state){
		.control = w->control,
		.windows = w->windows,
		.start_at_ns = w->start_at_ns,
		.stop_at_ns = w->stop_at_ns,
		.changed_ns = w->changed_ns,
		.is_over = w->is_over,
	};
	pthread_mutex_unlock(&w->lock);
	return state;
}

static void begin_counting(struct gt_session_windows *w, uint64_t now_ns)
{
	const struct gt_window_options *o = &w->options;

	if (o->delay_ns)
		w->start_at_ns = now_ns + o->delay_ns;
	else if (!begins_paused(o) && o->duration_ns)
		w->stop_at_ns = now_ns + o->duration_ns;
}

void gt_session_windows_begin(struct gt_session_windows *w, struct gt_folder *folder,
			      const struct gt_window_options *o, uint64_t now_ns)
{
	memset(w, 0, sizeof *w);
	pthread_mutex_init(&w->lock, NULL);
	w->folder = folder;
	w->control = atomic_load_explicit(&folder->copy->control, memory_order_relaxed);
	w->options = *o;
	w->windows = !begins_paused(o);
	begin_counting(w, now_ns);
}

void gt_session_windows_attached(struct gt_session_windows *w, uint64_t now_ns)
{
	w->ends_session = true;
	begin_counting(w, now_ns);
}

static bool set_locked(struct gt_session_windows *w, bool recording, enum gt_window_why why)
{
	uint32_t before = w->control;

	if (recording)
		w->start_at_ns = 0; /* recording has started, for any reason */
	else
		w->stop_at_ns = 0;
	if (GT_CONTROL_IS_PAUSED(before) == !recording)
		return false;
	w->control = GT_CONTROL(GT_CONTROL_SERIAL(before) + 1, why, !recording);
	gt_folder_store(w->folder, &w->folder->session->control, w->control);
	w->changed_ns = gt_clock_ns(CLOCK_BOOTTIME);
	wake_all(w);
	/* a duration applies to the first window only */
	if (recording && ++w->windows == 1 && w->options.duration_ns)
		w->stop_at_ns = gt_clock_ns(CLOCK_MONOTONIC) + w->options.duration_ns;
	return true;
}

bool gt_session_windows_set(struct gt_session_windows *w, bool recording, enum gt_window_why why)
{
	bool changed;

	pthread_mutex_lock(&w->lock);
	changed = set_locked(w, recording, why);
	pthread_mutex_unlock(&w->lock);
	return changed;
}

/* End the window because of time or a count. */
static void end_window(struct gt_session_windows *w, enum gt_window_why why)
{
	if (w->ends_session)
		w->is_over = true;
	else
		set_locked(w, false, why);
}

static int ms_until(uint64_t at_ns, uint64_t now_ns)
{
	uint64_t ms = at_ns <= now_ns ? 0 : (at_ns - now_ns + MS - 1) / MS;

	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int gt_session_windows_look(struct gt_session_windows *w, uint64_t now_ns, uint64_t kernels)
{
	int start, stop;

	pthread_mutex_lock(&w->lock);
	if (w->start_at_ns && now_ns >= w->start_at_ns)
		set_locked(w, true, GT_WINDOW_DELAY);
	if (w->stop_at_ns && now_ns >= w->stop_at_ns)
		end_window(w, GT_WINDOW_DURATION);
	if (w->options.kernels && !w->kernels_done && kernels >= w->options.kernels) {
		w->kernels_done = true;
		end_window(w, GT_WINDOW_KERNELS);
	}
	start = w->start_at_ns ? ms_until(w->start_at_ns, now_ns) : -1;
	stop = w->stop_at_ns ? ms_until(w->stop_at_ns, now_ns) : -1;
	pthread_mutex_unlock(&w->lock);
	if (start < 0 || (stop >= 0 && stop < start))
		return stop;
	return start;
}

bool gt_session_windows_signal(struct gt_session_windows *w, int number)
{
	const struct gt_window_options *o = &w->options;

	if (!w->folder || !number || (number != o->start_signal && number != o->stop_signal))
		return false;
	gt_session_windows_set(w,
			       o->start_signal == o->stop_signal
				       ? GT_CONTROL_IS_PAUSED(gt_session_windows_read(w).control)
				       : number == o->start_signal,
			       GT_WINDOW_SIGNAL);
	return true;
}

void gt_session_windows_end(struct gt_session_windows *w)
{
	if (!w->folder)
		return;
	pthread_mutex_lock(&w->lock);
	w->control += GT_CONTROL(1, 0, 0);
	gt_folder_store(w->folder, &w->folder->session->control, w->control);
	pthread_mutex_unlock(&w->lock);
	wake_all(w);
}
