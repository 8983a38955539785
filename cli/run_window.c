/* SPDX-License-Identifier: MIT */
/* See run_window.h. */
#include "cli/run_window.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "cli/command.h"
#include "cli/run_ranges.h"
#include "cli/ui.h"
#include "cli/units.h"
#include "util/error.h"

static int bad(const char *option, const char *value, const char *wanted)
{
	return ui_fail(GT_EXIT_USAGE, "%s %s: %s", option, value, wanted);
}

static int take_time(const char *option, const char *value, uint64_t *out)
{
	if (parse_seconds(value, out) && *out)
		return GT_EXIT_OK;
	return bad(option, value, "a time above 0, such as 30, 30s, 500ms or 2min");
}

static int take_count(const char *option, const char *value, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	if (isdigit((unsigned char)*value) && !*end && !errno && *out)
		return GT_EXIT_OK;
	return bad(option, value, "a number of at least 1");
}

/* Signals that gputap run can handle and does not use otherwise. */
static const struct {
	const char *name;
	int number;
} signals[] = {
	{"HUP", SIGHUP},   {"USR1", SIGUSR1},   {"USR2", SIGUSR2},
	{"ALRM", SIGALRM}, {"URG", SIGURG},     {"VTALRM", SIGVTALRM},
	{"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"PWR", SIGPWR},
};
enum { SIGNALS = sizeof signals / sizeof *signals };

static const char *signal_name(int number, char text[16])
{
	for (size_t i = 0; i < SIGNALS; i++)
		if (signals[i].number == number)
			return signals[i].name;
	snprintf(text, 16, "RTMIN+%d", number - SIGRTMIN);
	return text;
}

int run_signal(const char *option, const char *value, int *out)
{
	const char *name = strncmp(value, "SIG", 3) ? value : value + 3;
	char *end;
	long n = strtol(value, &end, 10);

	if (!strncmp(name, "RTMIN", 5)) {
		n = name[5] == '+' ? SIGRTMIN + strtol(name + 6, &end, 10) : SIGRTMIN;
		if ((name[5] == '+' ? name[6] && !*end : !name[5]) && n >= SIGRTMIN &&
		    n <= SIGRTMAX) {
			*out = (int)n;
			return GT_EXIT_OK;
		}
	}
	for (size_t i = 0; i < SIGNALS; i++)
		if (!strcmp(name, signals[i].name) ||
		    (isdigit((unsigned char)*value) && !*end && n == signals[i].number)) {
			*out = signals[i].number;
			return GT_EXIT_OK;
		}
	return bad(option, value,
		   "one of the signals HUP, USR1, USR2, ALRM, URG, VTALRM, PROF, WINCH, PWR, "
		   "RTMIN+1 ..");
}

int run_window_option(struct gt_window_options *w, enum run_window_option option, const char *value)
{
	switch (option) {
	case RUN_PAUSED: w->paused = true; return GT_EXIT_OK;
	case RUN_DELAY: return take_time("--delay", value, &w->delay_ns);
	case RUN_DURATION: return take_time("--duration", value, &w->duration_ns);
	case RUN_MAX_KERNELS: return take_count("--max-kernels", value, &w->kernels);
	case RUN_START_SIGNAL: return run_signal("--start-signal", value, &w->start_signal);
	case RUN_STOP_SIGNAL: return run_signal("--stop-signal", value, &w->stop_signal);
	case RUN_FROM: return run_ranges_option(w->ranges, GT_RANGE_FROM, value);
	case RUN_TO: return run_ranges_option(w->ranges, GT_RANGE_TO, value);
	}
	return GT_EXIT_USAGE;
}

int run_window_check(const struct gt_window_options *w)
{
	if (w->paused && w->delay_ns)
		return ui_fail(GT_EXIT_USAGE,
			       "--paused waits for 'gputap start', --delay for a time: choose one");
	return run_ranges_check(w);
}

void run_window_describe(const struct gt_window_options *w, char *text, size_t room)
{
	char name[16];
	FILE *f = fmemopen(text, room, "w");

	*text = '\0';
	if (!f)
		return;
	if (w->paused)
		fputs(" paused", f);
	if (w->delay_ns)
		fprintf(f, " delay=%lluns", (unsigned long long)w->delay_ns);
	if (w->duration_ns)
		fprintf(f, " duration=%lluns", (unsigned long long)w->duration_ns);
	if (w->kernels)
		fprintf(f, " max-kernels=%llu", (unsigned long long)w->kernels);
	if (w->start_signal)
		fprintf(f, " start-signal=%s", signal_name(w->start_signal, name));
	if (w->stop_signal)
		fprintf(f, " stop-signal=%s", signal_name(w->stop_signal, name));
	run_ranges_describe(w->ranges, f);
	fclose(f);
}

void run_window_note(const struct gt_window_options *w, const char *capture,
		     const struct gt_ranges_met *met)
{
	uint64_t recorded_ns, total_ns;
	struct gt_capture *c;

	run_ranges_note(w->ranges, met);
	if (!w->paused && !w->delay_ns && !w->start_signal)
		return;
	if (gt_capture_open(capture, &c)) {
		gt_error_clear();
		return;
	}
	if (gt_capture_recorded(c, NULL, &recorded_ns, &total_ns) && !recorded_ns &&
	    (met->windows || !w->ranges[GT_RANGE_FROM].number)) {
		if (w->delay_ns)
			ui_note("the recording window never opened: the program ended before the "
				"--delay of "
				"%s was over",
				show_duration(w->delay_ns));
		else
			ui_note("the recording window never opened: no 'gputap start' or signal "
				"arrived");
	}
	gt_capture_close(c);
}
