/* SPDX-License-Identifier: MIT */
/* See run_keep.h. */
#include "cli/run_keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/run_window.h"
#include "cli/trigger.h"
#include "cli/ui.h"
#include "cli/units.h"

#define KEEP_BYTES       (UINT64_C(2) << 30) /* default for --keep without bytes */
#define KEEP_LEAST_BYTES (UINT64_C(64) << 20)
#define KEEP_MOST_BYTES  (UINT64_C(1) << 50)
#define KEEP_LEAST_NS    UINT64_C(100000000)
#define AFTER_UNSAID     UINT64_MAX

enum { TRIGGERS_MOST = 16, SNAPSHOTS_MOST = 10 };

static struct {
	struct gt_trigger list[TRIGGERS_MOST];
	const char *text[TRIGGERS_MOST];
	size_t count;
	uint64_t after_ns;
	bool has_after, has_most;
} asked;

static int bad(const char *option, const char *value, const char *wanted)
{
	return ui_fail(GT_EXIT_USAGE, "%s %s: %s", option, value, wanted);
}

/* Parse "20s" or "20s,2G". */
static int take_keep(const char *value, struct gt_keep_options *keep)
{
	const char *comma = strchr(value, ',');
	char *time = strndup(value, comma ? (size_t)(comma - value) : strlen(value));
	bool good =
		time && time[strspn(time, "0123456789.")] && parse_seconds(time, &keep->window_ns);

	free(time);
	if (!good || keep->window_ns < KEEP_LEAST_NS)
		return bad("--keep", value,
			   "a time of 100ms or more, optionally followed by a comma and a disk "
			   "limit: 20s or 20s,2G");
	keep->most_bytes = KEEP_BYTES;
	if (comma && (!parse_size(comma + 1, &keep->most_bytes) ||
		      keep->most_bytes < KEEP_LEAST_BYTES || keep->most_bytes > KEEP_MOST_BYTES))
		return bad("--keep", value,
			   "the disk limit after the comma must be from 64M to 1024T");
	return GT_EXIT_OK;
}

static int take_most(const char *value, uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (value[strspn(value, "0123456789")] || !*value || n < 1 || n > 10000)
		return bad("--snapshots-most", value, "a number from 1 to 10000");
	asked.has_most = true;
	*out = (uint32_t)n;
	return GT_EXIT_OK;
}

int run_keep_option(struct gt_run_options *o, enum run_keep_option option, const char *value)
{
	int code = GT_EXIT_OK;

	switch (option) {
	case RUN_KEEP: return take_keep(value, &o->keep);
	case RUN_KEEP_AFTER:
		asked.has_after = true;
		if (!parse_seconds(value, &asked.after_ns))
			code = bad("--keep-after", value, "a time such as 5s, 500ms or 0");
		return code;
	case RUN_TRIGGER:
		if (asked.count == TRIGGERS_MOST)
			return ui_fail(GT_EXIT_USAGE, "--trigger can be given at most %d times",
				       TRIGGERS_MOST);
		code = trigger_create(value, &asked.list[asked.count]);
		asked.text[asked.count] = value;
		asked.count += !code;
		return code;
	case RUN_SNAPSHOTS_MOST: return take_most(value, &o->snapshots_most);
	default: return run_signal("--snapshot-signal", value, &o->snapshot_signal);
	}
}

/* Print a snapshot during a run, for users who follow stderr. */
static void say_snapshot(const char *path, const char *error, enum gt_retained_reason reason,
			 const char *what)
{
	if (error)
		ui_note("cannot write a snapshot, recording continues: %s", error);
	else if (reason == GT_RETAINED_TRIGGER)
		ui_note("wrote %s: %s", show_shell_word(path), what);
	else
		ui_note("wrote %s", show_shell_word(path));
}

static void say_failure(const char *path, const char *error, enum gt_retained_reason reason,
			const char *what)
{
	if (error)
		say_snapshot(path, error, reason, what);
}

int run_keep_check(struct gt_run_options *o, bool quiet)
{
	o->triggers = asked.list;
	o->trigger_count = asked.count;
	o->keep_after_ns = asked.has_after ? asked.after_ns : o->keep.window_ns / 2;
	if (!asked.has_most)
		o->snapshots_most = SNAPSHOTS_MOST;
	o->on_snapshot = quiet ? say_failure : say_snapshot;
	if (o->snapshot_signal && (o->snapshot_signal == o->windows.start_signal ||
				   o->snapshot_signal == o->windows.stop_signal))
		return ui_fail(GT_EXIT_USAGE, "--snapshot-signal must differ from --start-signal "
					      "and --stop-signal");
	if (!asked.count && (asked.has_after || asked.has_most))
		return ui_fail(GT_EXIT_USAGE, "%s needs --trigger",
			       asked.has_after ? "--keep-after" : "--snapshots-most");
	if (o->keep.window_ns && o->keep_after_ns > o->keep.window_ns)
		return ui_fail(GT_EXIT_USAGE, "--keep-after is longer than --keep: the trigger "
					      "itself would not be in the snapshot");
	return GT_EXIT_OK;
}

void run_keep_describe(const struct gt_run_options *o, char *text, size_t room)
{
	int n = 0;

	text[0] = '\0';
	if (o->keep.window_ns)
		n = snprintf(text, room, " keep=%lluns,%llu", (unsigned long long)o->keep.window_ns,
			     (unsigned long long)o->keep.most_bytes);
	for (size_t i = 0; i < asked.count && (size_t)n < room; i++)
		n += snprintf(text + n, room - (size_t)n, " trigger=%s", asked.text[i]);
}

void run_keep_note(const struct gt_run_result *result)
{
	if (result->triggers_left_out)
		ui_note("%s trigger%s ignored: too soon after a snapshot, or over the limit of "
			"--snapshots-most",
			show_count(result->triggers_left_out),
			result->triggers_left_out == 1 ? "" : "s");
	if (result->triggers_undecided)
		ui_note("--trigger could not be evaluated for %s GPU activit%s: the "
			"device's clock was not known in time",
			show_count(result->triggers_undecided),
			result->triggers_undecided == 1 ? "y" : "ies");
}
