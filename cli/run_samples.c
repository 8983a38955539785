/* SPDX-License-Identifier: MIT */
/* See run_samples.h. */
#include "cli/run_samples.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/ui.h"

/* The collector's loop sleeps whole milliseconds. */
static const uint64_t LEAST_NS = 1000000, MOST_NS = UINT64_C(10000000000);

int run_samples_option(const char *value, uint64_t *period_ns,
		       bool (*parse_time)(const char *text, uint64_t *ns))
{
#if !defined(__x86_64__)
	return ui_fail(GT_EXIT_USAGE, "--sample-host is only available on x86-64");
#endif
	*period_ns = LEAST_NS;
	if (!value ||
	    (parse_time(value, period_ns) && *period_ns >= LEAST_NS && *period_ns <= MOST_NS))
		return GT_EXIT_OK;
	return ui_fail(GT_EXIT_USAGE,
		       "--sample-host '%s': the time between samples must be 1ms to 10s", value);
}

int run_samples_check(const struct gt_run_options *run)
{
	const struct gt_session *s = &run->session;

	if (run->sample_host_ns && (s->mode == GT_MODE_LITE || s->mode == GT_MODE_STANDARD))
		return ui_fail(GT_EXIT_USAGE, "--sample-host needs calls, which --mode lite and "
					      "standard do not record");
	return GT_EXIT_OK;
}

void run_samples_describe(const struct gt_run_options *run, char *text, size_t size)
{
	*text = '\0';
	if (run->sample_host_ns)
		snprintf(text, size, " sample-host=%lluns",
			 (unsigned long long)run->sample_host_ns);
}

static const char *explain_refusal(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return "this user may not read it with ptrace (another user's or a protected "
		       "process, a debugger that is attached, or kernel.yama.ptrace_scope)";
	case ENOSYS: return "ptrace is not available here";
	default: return strerror(error);
	}
}

void run_samples_note(const struct gt_run_options *run, const struct gt_run_result *result)
{
	const struct gt_sample_totals *t = &result->samples;

	if (!run->sample_host_ns)
		return;
	if (t->refused)
		ui_note("the stacks of %u process%s could not be sampled: %s", t->refused,
			t->refused == 1 ? "" : "es", explain_refusal(t->refusal));
	if (t->elsewhere)
		ui_note("the stacks of %u process%s could not be sampled: --sample-host does not "
			"reach into another pid namespace (containers)",
			t->elsewhere, t->elsewhere == 1 ? "" : "es");
	if (t->python_version)
		ui_note("samples have no frames of Python %u.%u.%u: 3.11 to 3.14 are supported, "
			"with a GIL",
			t->python_version >> 24, t->python_version >> 16 & 255,
			t->python_version >> 8 & 255);
	if (!t->samples) {
		if (!t->refused && !t->elsewhere)
			ui_note("--sample-host took no sample: no thread was outside its calls for "
				"%s",
				show_duration(run->sample_host_ns));
		return;
	}
	ui_note("%s samples of the host; threads were stopped %s times, for %s in all (mean %s, "
		"99%% up to %s, longest %s); gputap needed %s of a processor",
		show_count(t->samples), show_count(t->stops), show_duration(t->stopped_ns),
		show_duration(t->stops ? t->stopped_ns / t->stops : 0),
		show_duration(gt_sample_stop_p99_ns(t)), show_duration(t->longest_ns),
		show_duration(t->cpu_ns));
}
