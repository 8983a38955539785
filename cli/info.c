/* SPDX-License-Identifier: MIT */
/* gputap info: shows what a capture contains, how it was made, and whether it is complete. Unlike
 * `report`, this command does not analyse times. Like `report`, it reads every record, so its
 * information about damage and links is reliable. */
#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/tables/linked.h"
#include "analysis/tables/losses.h"
#include "analysis/tables/recorded_text.h"
#include "analysis/tables/retained.h"
#include "analysis/tables/selection.h"
#include "capture/capture.h"
#include "capture/summary_block.h"
#include "cli/command.h"
#include "cli/info.h"
#include "cli/inputs.h"
#include "cli/report.h"
#include "cli/report_late.h"
#include "cli/ui.h"
#include "config.h"
#include "record/operation.h"
#include "util/error.h"

/* Default number of rows in each table; 0: all. */
static const size_t shown[INFO_TABLE_COUNT] = {
	[INFO_STREAMS] = 8,    [INFO_CODE_OBJECTS] = 8, [INFO_KERNEL_SYMBOLS] = 8,
	[INFO_PROCESSES] = 20, [INFO_WINDOWS] = 10,     [INFO_EVENTS] = 10,
};

/* Reading --------------------------------------------------------------------------- */

static void count_launch(struct info *i, const struct gt_item *item)
{
	const struct gt_operation_info *o = gt_operation(item->op);
	int32_t status;

	if (o && o->kind == GT_KIND_LAUNCH &&
	    !(gt_call_status(item->op, item->ret, item->args, &status) &&
	      gt_status_failed((enum gt_domain)GT_OP_DOMAIN(item->op), status)))
		i->coverage[item->process].launches[GT_OP_DOMAIN(item->op)]++;
}

static int read_info(struct info *i)
{
	const struct gt_item *item;
	struct gt_cursor *cursor;
	struct ui_progress progress;
	struct linked linked = {0};
	uint64_t n = 0;
	int rc = gt_cursor_create(i->capture, &cursor);

	if (rc)
		return rc;
	gt_cursor_take_context(cursor);
	ui_progress_begin(&progress, "reading", gt_capture_health(i->capture)->bytes);
	while ((rc = gt_cursor_next(cursor, &item)) == 1) {
		if ((++n & 0xffff) == 0)
			ui_progress_set(&progress, gt_cursor_position(cursor));
		if (item->kind == GT_RECORD_CALL) {
			i->read[GT_CLASS_CALL]++;
			count_launch(i, item);
			linked_call(&linked, item->process, item->id);
		} else if (item->kind == GT_RECORD_DEVICE) {
			i->read[GT_CLASS_DEVICE]++;
			i->coverage[item->process].activity[GT_OP_DOMAIN(item->op)]++;
			if (!(item->context & GT_CONTEXT_ROW))
				linked_activity(&linked, item->process, item->id);
			i->untimed += !item->start_ns;
		}
		if (item->end_ns > i->end_ns)
			i->end_ns = item->end_ns;
	}
	ui_progress_end(&progress);
	gt_cursor_destroy(cursor);
	i->linked = linked.activity;
	i->call_lost = linked.lost;
	linked_fini(&linked);
	return rc;
}

static void sum_counts(struct info *i)
{
	uint64_t *to = (uint64_t *)&i->counts;

	for (uint32_t p = 0; p < gt_capture_process_count(i->capture); p++) {
		const struct gt_counts *counts = gt_capture_counts(i->capture, p);
		const uint64_t *from = (const uint64_t *)counts;
		uint64_t end_ns = gt_capture_process(i->capture, p)->end_ns;
		for (size_t k = 0; counts && k < sizeof i->counts / sizeof *to; k++)
			to[k] += from[k];
		if (end_ns > i->end_ns)
			i->end_ns = end_ns;
	}
	for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
		for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
			i->seen += i->counts.seen[c][d];
			i->recorded += i->counts.recorded[c][d];
			i->evicted += i->counts.evicted[c][d];
			for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
				i->dropped += i->counts.dropped[why][c][d];
		}
}

/* Return true if the session requested GPU activities. */
static bool activity_asked(const struct info *i)
{
	return !i->session->options || !strstr(i->session->options, "device=no");
}

/* Return the first runtime with launches in a process, but without activity on its device;
 * GT_DOMAIN_NONE: none. If the capture contains no calls, launches are not known, and the presence
 * of a runtime like HIP is sufficient. */
static enum gt_domain uncovered(const struct info *i, uint64_t *launches, uint32_t *pid)
{
	for (uint32_t p = 0; activity_asked(i) && p < gt_capture_process_count(i->capture); p++)
		for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
			const struct coverage *c = &i->coverage[p];
			const struct gt_counts *counts = gt_capture_counts(i->capture, p);
			enum gt_domain activity = gt_domain_traits[d].activity;

			if (c->activity[activity] ||
			    (counts && counts->seen[GT_CLASS_DEVICE][activity]))
				continue;
			if (!c->launches[d] &&
			    (mode_has_calls(i->mode) ||
			     !(gt_capture_process(i->capture, p)->runtimes >> d & 1) ||
			     !gt_domain_delegates(d)))
				continue;
			*launches = c->launches[d];
			*pid = gt_capture_process(i->capture, p)->pid;
			return (enum gt_domain)d;
		}
	return GT_DOMAIN_NONE;
}

static const char *coverage_word(const struct info *i)
{
	uint64_t launches;
	uint32_t pid;

	if (!activity_asked(i))
		return "not requested";
	if (uncovered(i, &launches, &pid) != GT_DOMAIN_NONE)
		return "none";
	return i->read[GT_CLASS_DEVICE] ? "GPU activities seen" : "no launches";
}

__attribute__((format(printf, 2, 3))) static void add_reason(struct info *i, const char *format,
							     ...)
{
	va_list args;

	if (i->reason_count == INFO_REASONS_MOST)
		return;
	va_start(args, format);
	vsnprintf(i->reasons[i->reason_count++], sizeof i->reasons[0], format, args);
	va_end(args);
}

static void find_untraced(struct info *i)
{
	for (size_t k = 0; k < gt_capture_event_count(i->capture); k++) {
		const struct gt_event_info *e = gt_capture_event(i->capture, k);
		const struct gt_process_info *p = gt_capture_process(i->capture, e->process);

		if (!gt_event_is_untraced(e) || !p)
			continue;
		if (e->code == GT_EVENT_STILL_RUNS)
			add_reason(i,
				   "process %u was still running at the end and was not recorded "
				   "afterwards ('gputap run --wait' waits for it): %s",
				   p->pid, e->text ? e->text : "");
		else if (p->pid && e->text && !strncmp(e->text, p->exe, strlen(p->exe)))
			add_reason(i, "process %u was not traced: %s", p->pid, e->text);
		else /* reported for the runtime that executed the activity */
			add_reason(i, "a program was not traced: %s", e->text ? e->text : "");
	}
}

/* Return true if records were lost in the program, and no records were lost on their way into the
 * file. */
static bool is_lost_in_program(const struct info *i)
{
	uint64_t lost[GT_DROP_REASON_COUNT] = {0}, sum = 0;

	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++) {
		for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
			for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
				lost[why] += i->counts.dropped[why][c][d];
		sum += lost[why];
	}
	return sum > lost[GT_DROP_UNFINISHED] && !lost[GT_DROP_CORRUPT] && !lost[GT_DROP_OUTPUT];
}

/* Return true if processes were still running at the end, and no other records were lost. */
static bool has_survivors(const struct info *i)
{
	bool found = false;

	for (size_t k = 0; k < gt_capture_event_count(i->capture); k++)
		found |= gt_capture_event(i->capture, k)->code == GT_EVENT_STILL_RUNS;
	return found && !i->dropped;
}

static void find_reasons(struct info *i)
{
	uint64_t read = i->read[GT_CLASS_CALL] + i->read[GT_CLASS_DEVICE];
	const struct losses losses = losses_read(i->capture);

	if (i->health.end == GT_CAPTURE_CUT)
		add_reason(i, "the capture has no end: its collector was killed ('gputap recover' "
			      "lists sessions to finish) or is still writing");
	else if (i->health.end == GT_CAPTURE_INCOMPLETE && !is_lost_in_program(i) &&
		 !has_survivors(i))
		add_reason(i, "the collector could not write all records");
	if (i->health.bad_bytes || i->health.bad_blocks)
		add_reason(i, "%s in %s block%s are damaged and were skipped",
			   show_bytes(i->health.bad_bytes), show_count(i->health.bad_blocks),
			   i->health.bad_blocks == 1 ? "" : "s");
	if (i->health.bad_sums)
		add_reason(i, "the totals do not match the records in %s place%s",
			   show_count(i->health.bad_sums), i->health.bad_sums == 1 ? "" : "s");
	if (i->dropped)
		add_reason(i, "%s of %s records were lost while tracing", show_count(i->dropped),
			   show_count(i->seen));
	if (losses.missing)
		add_reason(i, "an unknown number of records is missing: %.110s%s",
			   losses.missing_text ? losses.missing_text : "",
			   losses.missing > 1 ? " (and other events)" : "");
	if (i->seen != i->recorded + i->dropped + i->evicted && i->health.end != GT_CAPTURE_CUT)
		add_reason(i, "%s records were seen, but %s were recorded and %s lost",
			   show_count(i->seen), show_count(i->recorded), show_count(i->dropped));
	find_untraced(i);
	if (read < i->recorded)
		add_reason(i, "%s records were written, but %s are present",
			   show_count(i->recorded), show_count(read));
}

/* Output ---------------------------------------------------------------------------- */

static void put_argv(FILE *out, const char *argv)
{
	for (bool first = true; argv && *argv; argv += strlen(argv) + 1, first = false) {
		fputs(first ? "" : " ", out);
		ui_put(out, show_shell_word(argv), UINT32_MAX);
	}
}

enum { BEHIND_LABEL = 11 };

static void print_label(const char *text)
{
	const struct ui_colors *c = ui_colors(stdout);
	printf("  %s%-9s%s", c->cyan, text, c->reset);
}

enum { OPTIONS_SHOWN = 4096 };

/* Return true if @number is the value of an option, @key, that is a size. */
static bool has_bytes(const char *key, const char *number)
{
	return !strncmp(key, "buffer=", 7) || !strncmp(key, "block=", 6) ||
	       (!strncmp(key, "keep=", 5) && number[-1] == ',');
}

/* Copy text such as "1.00 s" so that no line break separates number and unit. Return the number of
 * bytes. */
static size_t put_tied(char *to, const char *text)
{
	size_t n = 0;

	for (; text[n]; n++)
		to[n] = text[n] == ' ' ? *UI_TIE : text[n];
	return n;
}

/* Copy a session's options with readable units: "when-full=1000000000ns" becomes "when-full=1.00
 * s". The user's names and patterns stay unchanged. */
static void describe_options(const char *options, char *text, size_t size)
{
	const char *key = options, *at = options;
	size_t n = 0;

	while (*at && n + 48 < size) {
		const bool is_pattern = !strncmp(key, "ops=", 4) || !strncmp(key, "kernels=", 8) ||
					!strncmp(key, "domains=", 8);
		char *end = NULL;
		unsigned long long number = 0;

		if (at > options && strchr("=,:", at[-1]) && isdigit((unsigned char)*at))
			number = strtoull(at, &end, 10);
		if (end && !is_pattern && !strncmp(end, "ns", 2) &&
		    !isalnum((unsigned char)end[2])) {
			n += put_tied(text + n, show_duration(number));
			at = end + 2;
		} else if (end && has_bytes(key, at)) {
			n += put_tied(text + n, show_bytes(number));
			at = end;
		} else {
			if (*at == ' ')
				key = at + 1;
			text[n++] = *at++;
		}
	}
	text[n] = '\0';
}

static void print_line(const char *name, const char *text)
{
	if (!text || !*text)
		return;
	print_label(name);
	ui_wrap(stdout, BEHIND_LABEL, BEHIND_LABEL, text);
	putchar('\n');
}

static const char *host_clock_name(uint32_t clock)
{
	return clock == GT_HOST_CLOCK_COUNTER    ? "the CPU's counter"
	       : clock == GT_HOST_CLOCK_BOOTTIME ? "CLOCK_BOOTTIME"
						 : "unknown";
}

static void print_coverage(const struct info *i)
{
	uint64_t launches = 0;
	uint32_t pid = 0;
	enum gt_domain d = uncovered(i, &launches, &pid);
	struct capture_selection selection;
	char text[SELECTION_LINE];
	const struct ui_colors *c = ui_colors(stdout);

	selection_read(i->session->options, &selection);
	print_line("mode", i->mode->name);
	if (selection_describe(&selection, text, sizeof text))
		print_line("recorded", text);
	for (uint32_t p = 0; p < gt_capture_process_count(i->capture); p++)
		if (report_death(i->capture, p, text, sizeof text))
			print_line("died", text);
	for (size_t n = 0; report_open_line(i->capture, n, text, sizeof text); n++)
		print_line("open", text);
	if (d == GT_DOMAIN_NONE)
		return;
	print_label("coverage");
	if (launches)
		printf("%snone: process %u made %s %s launches, but no GPU activity was seen%s\n",
		       c->yellow, pid, show_count(launches), gt_domain_name(d), c->reset);
	else
		printf("%snone: process %u used %s, but no GPU activity was seen%s\n", c->yellow,
		       pid, gt_domain_name(d), c->reset);
}

/* Print the share of the processors that other programs used, because times differ on a busy
 * machine. */
static void print_load(const struct gt_capture_session *session)
{
	const struct gt_machine_load *l = &session->load;
	double all = (double)l->processors * (double)l->wall_ns;

	if (all <= 0)
		return;
	print_label("load");
	printf("%.0f%% of %u processor%s by the program, %.0f%% by others\n",
	       fmin(100, (double)l->own_ns / all * 100), l->processors,
	       l->processors == 1 ? "" : "s", gt_machine_load_of_others(l) * 100);
}

static void json_load(const struct gt_capture_session *session, struct json *j)
{
	const struct gt_machine_load *l = &session->load;

	json_count(j, "processors", l->processors);
	json_number(j, "load_of_others", l->processors ? gt_machine_load_of_others(l) : NAN);
}

/* Print the command, the host and the time of a session. */
static void print_session(const struct info *i)
{
	const struct gt_session_info *s = i->session;
	time_t when = (time_t)(s->start_realtime_ns / 1000000000u);
	char date[64] = "";
	struct tm tm;

	/* the start of the file is damaged, or the file contains nothing else */
	if (!s->start_realtime_ns) {
		print_label("session");
		puts("command, time and host are not in the readable part");
		return;
	}
	print_label("command");
	put_argv(stdout, s->command);
	putchar('\n');
	for (size_t k = 0; k < gt_capture_session_count(i->capture); k++) {
		char text[RETAINED_TEXT];

		if (retained_text(i->capture, gt_capture_session_at(i->capture, k), text))
			print_line("retained", text);
	}
	char windows[RECORDED_TEXT], attached[REPORT_LATE_TEXT];

	for (uint32_t k = 0; k < gt_capture_session_count(i->capture); k++)
		if (report_attached_text(i->capture, k, attached, sizeof attached))
			print_line("attached", attached);

	if (recorded_text(i->capture, NULL, windows))
		print_line("windows", windows);
	print_line("in", s->directory);
	if (s->options) {
		char text[OPTIONS_SHOWN];

		describe_options(s->options, text, sizeof text);
		print_line("options", text);
	}
	print_coverage(i);
	if (localtime_r(&when, &tm))
		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &tm);
	print_label("when");
	printf("%s, for %s\n", date,
	       show_duration(i->end_ns > s->start_ns ? i->end_ns - s->start_ns : 0));
	print_label("host");
	ui_put(stdout, s->hostname ? s->hostname : "", UINT32_MAX);
	fputs(", ", stdout);
	ui_put(stdout, s->kernel ? s->kernel : "", UINT32_MAX);
	fputs(", ", stdout);
	ui_put(stdout, s->cpu ? s->cpu : "", UINT32_MAX);
	putchar('\n');
	print_load(gt_capture_session_at(i->capture, 0));
	if (s->rank >= 0) {
		print_label("rank");
		printf("%d\n", s->rank);
	}
	print_label("clock");
	printf("%s; converted to CLOCK_BOOTTIME within %s\n", host_clock_name(s->host_clock),
	       gt_capture_host_clock(i->capture)
		       ? show_duration(gt_host_clock_residual_ns(gt_capture_host_clock(i->capture)))
		       : "-");
}

/* Print how gputap found the blocks of the capture: through the index, or by reading the file. */
static void print_index(const struct info *i)
{
	const struct gt_capture_index *index = gt_capture_index(i->capture);
	const struct ui_colors *c = ui_colors(stdout);

	print_label("index");
	if (index->wrong_files)
		printf("%sdamaged or inconsistent with the blocks: block headers were read%s\n",
		       c->yellow, c->reset);
	else if (!index->files)
		puts("none: block headers were read");
	else
		printf("of %s block%s, %s\n", show_count(index->blocks),
		       index->blocks == 1 ? "" : "s", show_bytes(index->bytes));
}

static void print_summary(const struct info *i)
{
	const struct gt_summary_info summary = gt_capture_summary_info(i->capture);

	if (!summary.bytes && !summary.wrong)
		return;
	print_label("summary");
	if (summary.wrong)
		puts("damaged or of other records: reports read the records");
	else
		printf("stored, %s\n", show_bytes(summary.bytes));
}

/* Return true if GPU activities can be linked. A mode named after a runtime records only calls of
 * that runtime, and the program may not have made any. */
static bool has_linked(const struct info *i)
{
	return mode_has_calls(i->mode) &&
	       (i->mode->records != GT_MODE_UPPER || i->read[GT_CLASS_CALL]);
}

static void print_linked(const struct info *i)
{
	const bool calls = has_linked(i);
	const uint64_t activity = i->read[GT_CLASS_DEVICE];
	double share = 100.0 * (double)i->linked / (double)activity;
	char text[256], items[64];
	int used;

	if (i->linked < activity && share > 99.99) /* do not round up to 100 % */
		share = 99.99;
	snprintf(items, sizeof items, "%s GPU activit%s", show_count(activity),
		 activity == 1 ? "y" : "ies");
	used = calls ? snprintf(text, sizeof text, "%.4g%% of %s to the call that caused %s", share,
				items, activity == 1 ? "it" : "them")
		     : snprintf(text, sizeof text, "not requested: mode %s records no calls%s; %s",
				i->mode->name, mode_has_calls(i->mode) ? " of these runtimes" : "",
				items);
	if (i->call_lost && calls)
		used += snprintf(text + used, sizeof text - (size_t)used,
				 "; the call of %s is not in the capture",
				 show_count(i->call_lost));
	if (i->untimed)
		snprintf(text + used, sizeof text - (size_t)used, "; %s without times",
			 show_count(i->untimed));
	print_line("linked", text);
}

static void print_head(const struct info *i)
{
	const struct ui_colors *c = ui_colors(stdout);
	uint64_t records = i->read[GT_CLASS_CALL] + i->read[GT_CLASS_DEVICE];

	fputs(c->bold, stdout);
	ui_put(stdout, i->path, UINT32_MAX);
	printf("%s: %s%s%s\n", c->reset, i->reason_count ? c->yellow : c->green,
	       i->reason_count ? "not complete" : "complete", c->reset);
	for (unsigned r = 0; r < i->reason_count; r++) {
		printf("  %s", c->yellow);
		ui_wrap(stdout, 2, 4, i->reasons[r]);
		puts(c->reset);
	}
	print_session(i);
	print_line("gputap", i->session->gputap_version);
	print_label("size");
	printf("%s", show_bytes(i->health.bytes));
	if (records)
		printf("; %s record%s, %.1f bytes each", show_count(records),
		       records == 1 ? "" : "s", (double)i->health.bytes / (double)records);
	putchar('\n');
	print_index(i);
	print_summary(i);
	if (i->read[GT_CLASS_DEVICE])
		print_linked(i);
	if (i->health.unknown_blocks) {
		print_label("skipped");
		printf("%s blocks that only a newer gputap can read\n",
		       show_count(i->health.unknown_blocks));
	}
}

static void print_text(const struct info *i, bool all)
{
	print_head(i);
	for (unsigned t = 0; t < INFO_TABLE_COUNT; t++) {
		size_t most = shown[t];
		struct grid g;

		info_table(&g, (enum info_table)t, i);
		if (g.row_count > (t == INFO_SESSIONS)) { /* the head shows a single session */
			putchar('\n');
			g.selection = true; /* the table itself mentions omitted rows */
			grid_print_text(&g, stdout, all ? 0 : most);
			if (!all && most && g.row_count > most)
				printf("  .. and %s more (--all shows them)\n",
				       show_count(g.row_count - most));
		}
		grid_fini(&g);
	}
	if (!gt_capture_object_count(i->capture) && !i->seen)
		printf("\nNo runtime was seen: 'gputap doctor' shows what can be traced here.\n");
}

/* Write an object with the key "retained"; for other sessions, write null. */
static void retained_json(const struct gt_capture *c, const struct gt_capture_session *s,
			  struct json *j)
{
	const struct gt_retained *k = &s->kept;

	if (!k->is_kept) {
		json_null(j, "retained");
		return;
	}
	json_object(j, "retained");
	json_string(j, "reason", retained_reason(k));
	json_string(j, "what", k->text && *k->text ? k->text : NULL);
	json_count(j, "snapshot", k->number);
	json_bool(j, "window", k->is_window);
	json_bool(j, "thinned", k->is_thinned);
	json_bool(j, "part", k->is_cut);
	json_count(j, "start_ns", k->begin_ns + (uint64_t)s->shift_ns);
	json_count(j, "end_ns", k->end_ns + (uint64_t)s->shift_ns);
	json_count(j, "requested_ns", k->asked.window_ns);
	json_count(j, "requested_bytes", k->asked.most_bytes);
	json_count(j, "evicted", retained_missing(c, s));
	json_count(j, "evicted_processes", k->processes);
	json_count(j, "seen_in_evicted_processes", retained_sum(k->counts.seen));
	json_close(j);
}

static void print_json_head(const struct info *i, struct json *j)
{
	const struct gt_session_info *s = i->session;
	const struct gt_summary_info summary = gt_capture_summary_info(i->capture);
	uint64_t records = i->read[GT_CLASS_CALL] + i->read[GT_CLASS_DEVICE];

	json_string(j, "format", "gputap-info");
	json_count(j, "version", 1);
	json_string(j, "path", i->path);
	json_bool(j, "complete", !i->reason_count);
	json_array(j, "why_not_complete");
	for (unsigned r = 0; r < i->reason_count; r++)
		json_string(j, NULL, i->reasons[r]);
	json_close(j);
	json_string(j, "end", info_end_names[i->health.end]);
	json_array(j, "command");
	for (const char *word = s->command; word && *word; word += strlen(word) + 1)
		json_string(j, NULL, word);
	json_close(j);
	json_string(j, "directory", s->directory);
	json_string(j, "options", s->options);
	json_string(j, "mode", i->mode->name);
	json_string(j, "coverage", coverage_word(i));
	json_string(j, "gputap", s->gputap_version);
	json_string(j, "host", s->hostname);
	json_string(j, "boot_id", s->boot_id);
	json_string(j, "kernel", s->kernel);
	json_string(j, "cpu", s->cpu);
	json_load(gt_capture_session_at(i->capture, 0), j);
	json_integer(j, "rank", s->rank);
	json_count(j, "start_unix_ns", s->start_realtime_ns);
	json_count(j, "start_boottime_ns", s->start_ns);
	json_count(j, "wall_ns", i->end_ns > s->start_ns ? i->end_ns - s->start_ns : 0);
	json_string(j, "host_clock",
		    s->host_clock == GT_HOST_CLOCK_COUNTER ? "counter" : "boottime");
	json_count(j, "host_clock_residual_ns",
		   gt_capture_host_clock(i->capture)
			   ? gt_host_clock_residual_ns(gt_capture_host_clock(i->capture))
			   : 0);
	json_count(j, "bytes", i->health.bytes);
	json_count(j, "bad_bytes", i->health.bad_bytes);
	json_count(j, "bad_blocks", i->health.bad_blocks);
	json_count(j, "unknown_blocks", i->health.unknown_blocks);
	json_count(j, "bad_sums", i->health.bad_sums);
	json_object(j, "index");
	json_count(j, "blocks", gt_capture_index(i->capture)->blocks);
	json_count(j, "bytes", gt_capture_index(i->capture)->bytes);
	json_bool(j, "wrong", gt_capture_index(i->capture)->wrong_files != 0);
	json_close(j);
	json_object(j, "summary");
	json_count(j, "bytes", summary.bytes);
	json_bool(j, "wrong", summary.wrong);
	json_close(j);
	json_number(j, "bytes_per_record", records ? (double)i->health.bytes / (double)records : 0);
	json_count(j, "calls", i->read[GT_CLASS_CALL]);
	json_count(j, "activities", i->read[GT_CLASS_DEVICE]);
	json_bool(j, "linked_asked", has_linked(i));
	json_count(j, "linked", i->linked);
	json_count(j, "call_lost", mode_has_calls(i->mode) ? i->call_lost : 0);
	json_count(j, "untimed", i->untimed);
	json_count(j, "threads", info_thread_count(i));
	json_count(j, "seen", i->seen);
	json_count(j, "recorded", i->recorded);
	json_count(j, "dropped", i->dropped);
	json_count(j, "missing", losses_read(i->capture).missing);
	json_count(j, "evicted", i->evicted);
	json_object(j, "dropped_by_reason");
	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++) {
		uint64_t n = 0;
		for (unsigned k = 0; k < GT_CLASS_COUNT * GT_DOMAIN_COUNT; k++)
			n += i->counts.dropped[why][k / GT_DOMAIN_COUNT][k % GT_DOMAIN_COUNT];
		json_count(j, gt_drop_reason_name((enum gt_drop_reason)why), n);
	}
	json_close(j);
	retained_json(i->capture, gt_capture_session_at(i->capture, 0), j);
}

static void print_json(const struct info *i)
{
	struct json j = {.out = stdout};

	json_object(&j, NULL);
	print_json_head(i, &j);
	for (unsigned t = 0; t < INFO_TABLE_COUNT; t++) {
		struct grid g;

		info_table(&g, (enum info_table)t, i);
		grid_print_json(&g, &j, 0);
		grid_fini(&g);
	}
	json_close(&j);
}

/* The command ------------------------------------------------------------------------ */

static void print_info_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap info%s [options] FILE...\n"
	       "Show the contents of a capture and whether it is complete: runtimes and their\n"
	       "libraries, devices, clocks, processes, and counts of seen, recorded and lost\n"
	       "records.\n"
	       "\n"
	       "%sExamples%s\n"
	       "  gputap info prog.gputap\n"
	       "  gputap info prog.gputap --json | jq .complete\n"
	       "\n"
	       "%sOptions%s\n"
	       "  -a, --all    list every process, stream, event, ..., not only the first ones\n"
	       "      --json   print JSON for scripts; keys never change\n"
	       "  -h, --help\n",
	       c->bold, c->reset, c->bold, c->reset, c->bold, c->reset);
}

static int info_file(const char *path, bool json, bool all)
{
	struct info i = {.path = path};
	int rc;

	if (!*path)
		return inputs_report_empty();
	rc = gt_capture_open(path, &i.capture);
	if (rc)
		return ui_fail(GT_EXIT_FAILURE, "%s", "");
	i.session = gt_capture_session(i.capture);
	i.mode = mode_of_options(i.session->options);
	i.coverage = allocate_list((uint32_t)gt_capture_process_count(i.capture) + 1,
				   sizeof *i.coverage);
	i.end_ns = i.session->start_ns;
	rc = read_info(&i);
	if (rc < 0) {
		free(i.coverage);
		gt_capture_close(i.capture);
		return ui_fail(GT_EXIT_FAILURE, "%s", "");
	}
	i.health = *gt_capture_health(i.capture);
	sum_counts(&i);
	find_reasons(&i);
	if (json)
		print_json(&i);
	else
		print_text(&i, all);
	free(i.coverage);
	gt_capture_close(i.capture);
	return gt_capture_is_whole(&i.health) ? GT_EXIT_OK : GT_EXIT_FAILURE;
}

static int info_main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"all", no_argument, NULL, 'a'},
		{"json", no_argument, NULL, 'J'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	bool json = false, all = false;
	int c, code = GT_EXIT_OK;

	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":ah", long_options, NULL)) != -1) {
		switch (c) {
		case 'a': all = true; break;
		case 'J': json = true; break;
		case 'h': print_info_help(); return GT_EXIT_OK;
		default: return ui_bad_option("info", argv, long_options);
		}
	}
	if (optind == argc)
		return ui_fail(GT_EXIT_USAGE,
			       "no capture given: name a file that 'gputap run' wrote");
	for (int k = optind; k < argc; k++) {
		if (k > optind && !json)
			putchar('\n');
		c = info_file(argv[k], json, all);
		code = c ? c : code;
	}
	return code;
}

const struct gt_command gt_command_info = {
	"info", "show the contents of a capture and whether it is complete", info_main};
