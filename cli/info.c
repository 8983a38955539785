// SPDX-License-Identifier: MIT
/* gputap info: what a capture holds, how it was made, and whether it is all there. Unlike `report` it says nothing
 * about where time went; like it, it reads every record, so that what it says of damage and links is so. */
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "capture/capture.h"
#include "cli/command.h"
#include "cli/info_code.h"
#include "cli/linked.h"
#include "cli/mode.h"
#include "cli/report.h"
#include "cli/ui.h"
#include "config.h"
#include "record/operation.h"
#include "ring/region.h"
#include "util/error.h"

#define COUNT_OF(array) ((unsigned)(sizeof(array) / sizeof *(array)))

enum { REASONS_MOST = 8, EVENTS_SHOWN = 10, STREAMS_SHOWN = 8, CODE_SHOWN = 8, PROCESSES_SHOWN = 20 };

/* Was the device's side of a runtime seen at all? */
struct coverage {
	uint64_t launches[GT_DOMAIN_COUNT]; /* calls that launched something */
	uint64_t work[GT_DOMAIN_COUNT];
};

struct info {
	const char *path;
	struct gt_capture *capture;
	const struct gt_session_info *session;
	struct gt_capture_health health;
	struct gt_counts counts;
	uint64_t read[GT_CLASS_COUNT], linked, call_lost, untimed, end_ns;
	uint64_t seen, recorded, dropped;
	enum gt_mode mode;
	struct coverage *coverage; /* of each process */
	char reasons[REASONS_MOST][200]; /* why it is not complete */
	unsigned reason_count;
};

static const struct grid_column session_columns[] = {
	{ "session", "session", GRID_ID, GRID_ALWAYS, 0, false },
	{ "rank", "rank", GRID_SIGNED, GRID_IF_ANY, 0, false },
	{ "host", "host", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "node", "node", GRID_ID, GRID_ALWAYS, 3, false },
	{ "at_ns", "begin", GRID_NS, GRID_ALWAYS, 0, false },
	{ "processes", "processes", GRID_COUNT, GRID_ALWAYS, 4, false },
	{ "clock", "aligned by", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "shift_ns", "moved by", GRID_SIGNED, GRID_DATA, 0, false },
	{ "uncertainty_ns", "within", GRID_NS, GRID_ALWAYS, 0, false },
	{ "end", "end", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "bytes", "size", GRID_BYTES, GRID_ALWAYS, 5, false },
	{ "boot_id", "boot", GRID_TEXT, GRID_DATA, 0, false },
	{ "path", "file", GRID_TEXT, GRID_ALWAYS, 0, false },
};

static const struct grid_column runtime_columns[] = {
	{ "domain", "domain", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "door", "door", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "processes", "processes", GRID_COUNT, GRID_ALWAYS, 1, false },
	{ "version", "version", GRID_TEXT, GRID_IF_ANY, 2, false },
	{ "path", "library", GRID_TEXT, GRID_ALWAYS, 0, false },
};

static const struct grid_column device_columns[] = {
	{ "device", "device", GRID_ID, GRID_ALWAYS, 0, false },
	{ "domain", "domain", GRID_TEXT, GRID_ALWAYS, 3, false },
	{ "type", "type", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "clock", "clock", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "residual_ns", "residual", GRID_NS, GRID_ALWAYS, 0, false },
	{ "violations", "violations", GRID_COUNT, GRID_IF_ANY, 0, true },
	{ "processes", "processes", GRID_COUNT, GRID_ALWAYS, 4, false },
	{ "pci", "pci", GRID_TEXT, GRID_IF_ANY, 0, false },
	{ "uuid", "uuid", GRID_TEXT, GRID_DATA, 0, false },
	{ "vendor", "vendor", GRID_TEXT, GRID_DATA, 0, false },
	{ "version", "version", GRID_TEXT, GRID_DATA, 0, false },
	{ "driver", "driver", GRID_TEXT, GRID_ALWAYS, 2, false },
	{ "label", "called", GRID_TEXT, GRID_IF_ANY, 0, false },
	{ "name", "name", GRID_TEXT, GRID_ALWAYS, 0, false },
};

static const struct grid_column stream_columns[] = {
	{ "domain", "domain", GRID_TEXT, GRID_ALWAYS, 3, false },
	{ "pid", "pid", GRID_ID, GRID_ALWAYS, 2, false },
	{ "device", "device", GRID_ID, GRID_ALWAYS, 0, false },
	{ "handle", "stream", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "created_ns", "created at", GRID_NS, GRID_ALWAYS, 0, false },
	{ "destroyed_ns", "destroyed at", GRID_NS, GRID_IF_ANY, 0, false },
	{ "flags", "flags", GRID_TEXT, GRID_IF_ANY, 5, false },
	{ "priority", "priority", GRID_TEXT, GRID_IF_ANY, 4, false },
	{ "name", "name", GRID_TEXT, GRID_IF_ANY, 0, false },
};

static const struct grid_column process_columns[] = {
	{ "pid", "pid", GRID_ID, GRID_ALWAYS, 0, false },
	{ "parent_pid", "parent", GRID_ID, GRID_ALWAYS, 1, false },
	{ "image", "fork", GRID_COUNT, GRID_IF_ANY, 2, false },
	{ "wall_ns", "wall", GRID_NS, GRID_ALWAYS, 0, false },
	{ "threads", "threads", GRID_COUNT, GRID_ALWAYS, 0, false },
	{ "seen", "seen", GRID_COUNT, GRID_ALWAYS, 3, false },
	{ "dropped", "lost", GRID_COUNT, GRID_ALWAYS, 0, true },
	{ "children_lost", "children not followed", GRID_COUNT, GRID_IF_ANY, 0, true },
	{ "end", "end", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "exit_status", "exit status", GRID_SIGNED, GRID_DATA, 0, false },
	{ "signal", "signal", GRID_SIGNED, GRID_DATA, 0, false },
	{ "exe", "program", GRID_TEXT, GRID_ALWAYS, 0, false },
};

static const struct grid_column record_columns[] = {
	{ "domain", "domain", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "class", "what", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "seen", "seen", GRID_COUNT, GRID_ALWAYS, 0, false },
	{ "recorded", "recorded", GRID_COUNT, GRID_ALWAYS, 0, false },
	{ "dropped", "lost", GRID_COUNT, GRID_ALWAYS, 0, true },
	{ "why", "why", GRID_TEXT, GRID_FOR_PEOPLE, 0, false },
};

static const struct grid_column event_columns[] = {
	{ "at_ns", "at", GRID_NS, GRID_ALWAYS, 0, false },
	{ "pid", "pid", GRID_ID, GRID_ALWAYS, 1, false },
	{ "domain", "domain", GRID_TEXT, GRID_ALWAYS, 2, false },
	{ "event", "event", GRID_TEXT, GRID_ALWAYS, 0, false },
	{ "value", "value", GRID_COUNT, GRID_ALWAYS, 0, false },
	{ "text", "", GRID_TEXT, GRID_ALWAYS, 0, false },
};

/* Reading --------------------------------------------------------------------------- */

static void count_launch(struct info *i, const struct gt_item *item)
{
	const struct gt_operation_info *o = gt_operation(item->op);
	int32_t status;

	if (o && o->kind == GT_KIND_LAUNCH &&
	    !(gt_call_status(item->op, item->ret, item->args, &status) && gt_status_failed((enum gt_domain)GT_OP_DOMAIN(item->op), status)))
		i->coverage[item->process].launches[GT_OP_DOMAIN(item->op)]++;
}

static int read_records(struct info *i)
{
	const struct gt_item *item;
	struct gt_cursor *cursor;
	struct ui_progress progress;
	struct linked linked = { 0 };
	uint64_t n = 0;
	int rc = gt_cursor_create(i->capture, &cursor);

	if (rc)
		return rc;
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
			i->coverage[item->process].work[GT_OP_DOMAIN(item->op)]++;
			linked_work(&linked, item->process, item->id);
			i->untimed += !item->start_ns;
		}
		if (item->end_ns > i->end_ns)
			i->end_ns = item->end_ns;
	}
	ui_progress_end(&progress);
	gt_cursor_destroy(cursor);
	i->linked = linked.work;
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
			for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
				i->dropped += i->counts.dropped[why][c][d];
		}
}

/* ROCm's device work is HSA's, whoever asked for it. */
static enum gt_domain work_domain(unsigned domain)
{
	return domain == GT_DOMAIN_HIP ? GT_DOMAIN_HSA_CORE : (enum gt_domain)domain;
}

/* Was device work asked for? */
static bool work_asked(const struct info *i)
{
	return !i->session->options || !strstr(i->session->options, "device=no");
}

/* The first runtime whose program launched, and of whose device nothing was seen; GT_DOMAIN_NONE: all is well. Without
 * calls in the capture, whether there were launches is not known: HIP being there is enough to say so. */
static enum gt_domain uncovered(const struct info *i, uint64_t *launches, uint32_t *pid)
{
	for (uint32_t p = 0; work_asked(i) && p < gt_capture_process_count(i->capture); p++)
		for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
			const struct coverage *c = &i->coverage[p];
			const struct gt_counts *counts = gt_capture_counts(i->capture, p);
			enum gt_domain work = work_domain(d);

			if (c->work[work] || (counts && counts->seen[GT_CLASS_DEVICE][work]))
				continue;
			if (!c->launches[d] && (mode_has_calls(i->mode) || !(gt_capture_process(i->capture, p)->runtimes >> d & 1) ||
						d != GT_DOMAIN_HIP))
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

	if (!work_asked(i))
		return "not asked";
	if (uncovered(i, &launches, &pid) != GT_DOMAIN_NONE)
		return "none";
	return i->read[GT_CLASS_DEVICE] ? "device work seen" : "no launches";
}

__attribute__((format(printf, 2, 3))) static void add_reason(struct info *i, const char *format, ...)
{
	va_list args;

	if (i->reason_count == REASONS_MOST)
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

		if (gt_event_is_untraced(e) && p)
			add_reason(i, "process %u was not traced: %s", p->pid, e->text ? e->text : "");
	}
}

static void find_reasons(struct info *i)
{
	uint64_t read = i->read[GT_CLASS_CALL] + i->read[GT_CLASS_DEVICE];

	if (i->health.end == GT_CAPTURE_CUT)
		add_reason(i, "it has no end: its collector was killed ('gputap recover' lists what can be finished) or still writes");
	else if (i->health.end == GT_CAPTURE_INCOMPLETE)
		add_reason(i, "the collector could not write down everything");
	if (i->health.bad_bytes || i->health.bad_blocks)
		add_reason(i, "%s in %s block%s are damaged and were skipped", ui_bytes(i->health.bad_bytes),
			   ui_count(i->health.bad_blocks), i->health.bad_blocks == 1 ? "" : "s");
	if (i->dropped)
		add_reason(i, "%s of %s records were lost while tracing", ui_count(i->dropped), ui_count(i->seen));
	if (i->seen != i->recorded + i->dropped && i->health.end != GT_CAPTURE_CUT)
		add_reason(i, "%s were seen, but %s recorded and %s lost", ui_count(i->seen), ui_count(i->recorded), ui_count(i->dropped));
	find_untraced(i);
	if (read < i->recorded)
		add_reason(i, "%s records were written and %s are there", ui_count(i->recorded), ui_count(read));
}

/* Tables ---------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static const char *const end_names[] = { "complete", "incomplete", "cut" };

static void make_sessions(struct grid *g, const struct info *i)
{
	static const char *const ways[] = { "boot", "wall clock", "nothing" };

	grid_init(g, "sessions", session_columns, COUNT_OF(session_columns));
	g->heading = "Sessions, and how they came onto one clock";
	for (size_t k = 0; k < gt_capture_session_count(i->capture); k++) {
		const struct gt_capture_session *s = gt_capture_session_at(i->capture, k);
		struct grid_cell *cell = grid_row(g);

		*cell++ = cell_count(k);
		*cell++ = s->info.rank >= 0 ? cell_signed(s->info.rank) : cell_none();
		*cell++ = cell_text(s->info.hostname);
		*cell++ = cell_count(s->node);
		*cell++ = cell_count(s->info.start_ns > i->session->start_ns ? s->info.start_ns - i->session->start_ns : 0);
		*cell++ = cell_count(s->process_count);
		*cell++ = cell_text(ways[s->alignment]);
		*cell++ = cell_signed(s->shift_ns);
		*cell++ = s->alignment == GT_ALIGNED_REALTIME ? cell_count(s->uncertainty_ns) : cell_none();
		*cell++ = cell_text(end_names[s->health.end]);
		*cell++ = cell_count(s->health.bytes);
		*cell++ = cell_text(s->info.boot_id);
		*cell++ = cell_text(s->path);
	}
}

/* One row for each library and door; several processes map the same one. */
static void make_runtimes(struct grid *g, const struct info *i)
{
	grid_init(g, "runtimes", runtime_columns, COUNT_OF(runtime_columns));
	g->heading = "Runtimes that were traced, and the libraries that the programs really mapped";
	for (size_t k = 0; k < gt_capture_object_count(i->capture); k++) {
		const struct gt_object_info *o = gt_capture_object(i->capture, k);
		uint64_t processes = 0;
		bool told = false;
		struct grid_cell *cell;
		if (o->type != GT_OBJECT_MODULE)
			continue;
		for (size_t n = 0; n < gt_capture_object_count(i->capture); n++) {
			const struct gt_object_info *other = gt_capture_object(i->capture, n);
			if (other->type != GT_OBJECT_MODULE || other->domain != o->domain ||
			    !same_text(gt_object_value(other, "path"), gt_object_value(o, "path")) ||
			    !same_text(gt_object_value(other, "door"), gt_object_value(o, "door")))
				continue;
			told |= n < k;
			processes++;
		}
		if (told)
			continue;
		cell = grid_row(g);
		*cell++ = cell_text(gt_domain_name(o->domain));
		*cell++ = cell_text(gt_object_value(o, "door"));
		*cell++ = cell_count(processes);
		*cell++ = cell_text(gt_object_value(o, "version"));
		*cell++ = cell_text(gt_object_value(o, "path"));
	}
}

/* The worst of the processes that used the device: clocks are fitted for each of them. */
static void make_devices(struct grid *g, const struct info *i)
{
	grid_init(g, "devices", device_columns, COUNT_OF(device_columns));
	g->heading = "Devices, and how their clock was converted";
	for (uint32_t d = 0; d < gt_capture_device_count(i->capture); d++) {
		const struct gt_object_info *device = gt_capture_device(i->capture, d);
		enum gt_clock_method method = GT_CLOCK_UNKNOWN;
		uint64_t residual_ns = 0, violations = 0, processes = 0;
		struct grid_cell *cell;
		for (size_t k = 0; k < gt_capture_object_count(i->capture); k++) {
			const struct gt_object_info *o = gt_capture_object(i->capture, k);
			const struct gt_device_clock *clock;
			if (o->type != GT_OBJECT_DEVICE || o->device_index != d)
				continue;
			processes++;
			clock = gt_capture_device_clock(i->capture, o->process, o->number);
			if (!clock)
				continue;
			if (gt_device_clock_method(clock) != GT_CLOCK_UNKNOWN)
				method = gt_device_clock_method(clock);
			if (gt_device_clock_residual_ns(clock) > residual_ns)
				residual_ns = gt_device_clock_residual_ns(clock);
			violations += gt_device_clock_violations(clock);
		}
		cell = grid_row(g);
		*cell++ = cell_count(d);
		*cell++ = cell_text(gt_domain_name(device->domain));
		*cell++ = cell_text(gt_object_value(device, "type"));
		*cell++ = cell_text(gt_clock_method_name(method));
		*cell++ = method == GT_CLOCK_UNKNOWN ? cell_none() : cell_count(residual_ns);
		*cell++ = cell_count(violations);
		*cell++ = cell_count(processes);
		*cell++ = cell_text(gt_object_value(device, "pci"));
		*cell++ = cell_text(gt_object_value(device, "uuid"));
		*cell++ = cell_text(gt_object_value(device, "vendor"));
		*cell++ = cell_text(gt_object_value(device, "version"));
		*cell++ = cell_text(gt_object_value(device, "driver"));
		*cell++ = cell_text(gt_object_value(device, "label"));
		*cell++ = cell_text(gt_object_value(device, "name"));
	}
}

static struct grid_cell since_start(const struct info *i, uint64_t ns)
{
	return ns ? cell_count(ns > i->session->start_ns ? ns - i->session->start_ns : 0) : cell_none();
}

static void make_streams(struct grid *g, const struct info *i)
{
	grid_init(g, "streams", stream_columns, COUNT_OF(stream_columns));
	g->heading = "Streams that programs made";
	for (size_t k = 0; k < gt_capture_object_count(i->capture); k++) {
		const struct gt_object_info *o = gt_capture_object(i->capture, k), *device;
		const struct gt_process_info *p = gt_capture_process(i->capture, o->process);
		struct grid_cell *cell;
		if (o->type != GT_OBJECT_STREAM)
			continue;
		device = gt_capture_object_find(i->capture, o->process, GT_OBJECT_DEVICE, o->parent);
		cell = grid_row(g);
		*cell++ = cell_text(gt_domain_name(o->domain));
		*cell++ = p ? cell_count(p->pid) : cell_none();
		*cell++ = device && device->device_index != UINT32_MAX ? cell_count(device->device_index) : cell_none();
		*cell++ = cell_text(grid_keep(g, "0x%llx", (unsigned long long)o->handle));
		*cell++ = since_start(i, o->begin_ns);
		*cell++ = since_start(i, o->end_ns);
		*cell++ = cell_text(gt_object_value(o, "flags"));
		*cell++ = cell_text(gt_object_value(o, "priority"));
		*cell++ = cell_text(gt_object_called(o));
	}
}

static void make_processes(struct grid *g, const struct info *i)
{
	uint32_t count = (uint32_t)gt_capture_process_count(i->capture);
	uint64_t *threads = lookup_grow(NULL, 0, count, sizeof *threads);

	grid_init(g, "processes", process_columns, COUNT_OF(process_columns));
	g->heading = "Processes";
	for (size_t t = 0; t < gt_capture_thread_count(i->capture); t++)
		if (gt_capture_thread(i->capture, t)->process < count)
			threads[gt_capture_thread(i->capture, t)->process]++;
	for (uint32_t p = 0; p < count; p++) {
		const struct gt_process_info *info = gt_capture_process(i->capture, p);
		const struct gt_counts *counts = gt_capture_counts(i->capture, p);
		bool known = info->ended && info->wait_status >= 0;
		uint64_t seen = 0, dropped = 0;
		struct grid_cell *cell = grid_row(g);
		for (unsigned k = 0; counts && k < GT_CLASS_COUNT * GT_DOMAIN_COUNT; k++) {
			seen += counts->seen[k / GT_DOMAIN_COUNT][k % GT_DOMAIN_COUNT];
			for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
				dropped += counts->dropped[why][k / GT_DOMAIN_COUNT][k % GT_DOMAIN_COUNT];
		}
		*cell++ = cell_count(info->pid);
		*cell++ = cell_count(info->ppid);
		*cell++ = cell_count(info->image);
		*cell++ = info->end_ns > info->start_ns ? cell_count(info->end_ns - info->start_ns) : cell_none();
		*cell++ = cell_count(threads[p]);
		*cell++ = cell_count(seen);
		*cell++ = cell_count(dropped);
		*cell++ = cell_count(info->children_lost);
		*cell++ = cell_text(grid_keep(g, "%s", report_process_end(info->ended, info->proper_end, info->wait_status)));
		*cell++ = known && WIFEXITED(info->wait_status) ? cell_signed(WEXITSTATUS(info->wait_status)) : cell_none();
		*cell++ = known && WIFSIGNALED(info->wait_status) ? cell_signed(WTERMSIG(info->wait_status)) : cell_none();
		*cell++ = cell_text(info->exe);
	}
	free(threads);
}

static void make_records(struct grid *g, const struct info *i)
{
	grid_init(g, "records", record_columns, COUNT_OF(record_columns));
	g->heading = "Records";
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		for (unsigned c = 0; c < GT_CLASS_COUNT; c++) {
			char why[512] = "";
			uint64_t dropped = 0;
			struct grid_cell *cell;
			for (unsigned r = 0; r < GT_DROP_REASON_COUNT; r++) {
				uint64_t n = i->counts.dropped[r][c][d];
				size_t used = strlen(why);
				dropped += n;
				if (n)
					snprintf(why + used, sizeof why - used, "%s%s %s", used ? ", " : "", ui_count(n),
						 gt_drop_reason_name((enum gt_drop_reason)r));
			}
			if (!i->counts.seen[c][d] && !i->counts.recorded[c][d] && !dropped)
				continue;
			cell = grid_row(g);
			*cell++ = cell_text(gt_domain_name((enum gt_domain)d));
			*cell++ = cell_text(c == GT_CLASS_CALL ? "calls" : "device work");
			*cell++ = cell_count(i->counts.seen[c][d]);
			*cell++ = cell_count(i->counts.recorded[c][d]);
			*cell++ = cell_count(dropped);
			*cell++ = cell_text(grid_keep(g, "%s", *why ? why : ""));
		}
}

static void make_events(struct grid *g, const struct info *i)
{
	grid_init(g, "events", event_columns, COUNT_OF(event_columns));
	g->heading = "Events: what gputap had to tell";
	for (size_t k = 0; k < gt_capture_event_count(i->capture); k++) {
		const struct gt_event_info *e = gt_capture_event(i->capture, k);
		const struct gt_process_info *p = gt_capture_process(i->capture, e->process);
		struct grid_cell *cell = grid_row(g);
		*cell++ = e->time_ns > i->session->start_ns ? cell_count(e->time_ns - i->session->start_ns) : cell_none();
		*cell++ = p ? cell_count(p->pid) : cell_none();
		*cell++ = cell_text(gt_domain_name(e->domain));
		*cell++ = cell_text(gt_event_code_name(e->code));
		*cell++ = cell_count(e->value);
		*cell++ = cell_text(e->text ? e->text : "");
	}
}

static void make_code_objects(struct grid *g, const struct info *i)
{
	info_code_objects(g, &(struct info_code){ .capture = i->capture });
}

static void make_kernel_symbols(struct grid *g, const struct info *i)
{
	info_code_kernels(g, &(struct info_code){ .capture = i->capture });
}

typedef void make_fn(struct grid *g, const struct info *i);
static make_fn *const makers[] = { make_sessions, make_runtimes, make_devices, make_streams, make_code_objects, make_kernel_symbols,
				     make_processes, make_records, make_events };

/* Output ---------------------------------------------------------------------------- */

static void put_argv(FILE *out, const char *argv)
{
	for (bool first = true; argv && *argv; argv += strlen(argv) + 1, first = false) {
		fputs(first ? "" : " ", out);
		ui_put(out, argv, UINT32_MAX);
	}
}

static void label(const char *text)
{
	const struct ui_colors *c = ui_colors(stdout);
	printf("  %s%-9s%s", c->cyan, text, c->reset);
}

static void print_line(const char *name, const char *text)
{
	if (!text || !*text)
		return;
	label(name);
	ui_put(stdout, text, UINT32_MAX);
	putchar('\n');
}

static const char *host_clock_name(uint32_t clock)
{
	return clock == GT_HOST_CLOCK_TSC ? "the CPU's counter (TSC)" : clock == GT_HOST_CLOCK_BOOTTIME ? "CLOCK_BOOTTIME" : "unknown";
}

static void print_coverage(const struct info *i)
{
	uint64_t launches = 0;
	uint32_t pid = 0;
	enum gt_domain d = uncovered(i, &launches, &pid);
	const struct ui_colors *c = ui_colors(stdout);

	print_line("mode", mode_name(i->mode));
	if (d == GT_DOMAIN_NONE)
		return;
	label("coverage");
	if (launches)
		printf("%snone: process %u made %s launches of %s, but nothing was seen of its device%s\n", c->yellow, pid,
		       ui_count(launches), gt_domain_name(d), c->reset);
	else
		printf("%snone: process %u used %s, but nothing was seen of its device%s\n", c->yellow, pid, gt_domain_name(d), c->reset);
}

/* What was run, when, where. */
static void print_session(const struct info *i)
{
	const struct gt_session_info *s = i->session;
	time_t when = (time_t)(s->start_realtime_ns / 1000000000u);
	char date[64] = "";
	struct tm tm;

	if (!s->start_realtime_ns) { /* the beginning of the file is damaged, or all there is */
		label("session");
		puts("what was run, when and where is not in what can be read");
		return;
	}
	label("command");
	put_argv(stdout, s->command);
	putchar('\n');
	print_line("in", s->directory);
	print_line("options", s->options);
	print_coverage(i);
	if (localtime_r(&when, &tm))
		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &tm);
	label("when");
	printf("%s, for %s\n", date, ui_duration(i->end_ns > s->start_ns ? i->end_ns - s->start_ns : 0));
	label("host");
	ui_put(stdout, s->hostname ? s->hostname : "", UINT32_MAX);
	fputs(", ", stdout);
	ui_put(stdout, s->kernel ? s->kernel : "", UINT32_MAX);
	fputs(", ", stdout);
	ui_put(stdout, s->cpu ? s->cpu : "", UINT32_MAX);
	putchar('\n');
	if (s->rank >= 0) {
		label("rank");
		printf("%d\n", s->rank);
	}
	label("clock");
	printf("%s; converted to CLOCK_BOOTTIME within %s\n", host_clock_name(s->host_clock),
	       gt_capture_host_clock(i->capture) ? ui_duration(gt_host_clock_residual_ns(gt_capture_host_clock(i->capture))) : "-");
}

static void print_head(const struct info *i)
{
	const struct ui_colors *c = ui_colors(stdout);
	uint64_t records = i->read[GT_CLASS_CALL] + i->read[GT_CLASS_DEVICE];

	fputs(c->bold, stdout);
	ui_put(stdout, i->path, UINT32_MAX);
	printf("%s: %s%s%s\n", c->reset, i->reason_count ? c->yellow : c->green, i->reason_count ? "not complete" : "complete", c->reset);
	for (unsigned r = 0; r < i->reason_count; r++)
		printf("  %s%s%s\n", c->yellow, i->reasons[r], c->reset);
	print_session(i);
	print_line("gputap", i->session->gputap_version);
	label("size");
	printf("%s", ui_bytes(i->health.bytes));
	if (records)
		printf("; %s records, %.1f bytes each", ui_count(records), (double)i->health.bytes / (double)records);
	putchar('\n');
	if (i->read[GT_CLASS_DEVICE]) {
		label("linked");
		if (!mode_has_calls(i->mode))
			printf("not asked: mode %s records no calls; %s pieces of device work", mode_name(i->mode),
			       ui_count(i->read[GT_CLASS_DEVICE]));
		else
			printf("%.4g%% of %s pieces of device work to the call that caused them", 100.0 * (double)i->linked /
		       (double)i->read[GT_CLASS_DEVICE], ui_count(i->read[GT_CLASS_DEVICE]));
		if (i->call_lost && mode_has_calls(i->mode))
			printf("; %sthe call of %s is not in the capture%s", c->yellow, ui_count(i->call_lost), c->reset);
		if (i->untimed)
			printf("; %s%s without times%s", c->yellow, ui_count(i->untimed), c->reset);
		putchar('\n');
	}
	if (i->health.unknown_blocks) {
		label("skipped");
		printf("%s blocks of kinds that only a newer gputap knows\n", ui_count(i->health.unknown_blocks));
	}
}

static void print_text(const struct info *i, bool all)
{
	print_head(i);
	for (unsigned k = 0; k < COUNT_OF(makers); k++) {
		struct grid g;
		makers[k](&g, i);
		if (g.row_count > (makers[k] == make_sessions)) { /* a session alone is in the head */
			size_t most = makers[k] == make_events ? EVENTS_SHOWN : makers[k] == make_processes ? PROCESSES_SHOWN :
				      makers[k] == make_streams ? STREAMS_SHOWN :
				      makers[k] == make_code_objects || makers[k] == make_kernel_symbols ? CODE_SHOWN : 0;
			putchar('\n');
			g.selection = true; /* its own words for what is left out */
			grid_print_text(&g, stdout, all ? 0 : most);
			if (!all && most && g.row_count > most)
				printf("  .. and %s more (--all shows them)\n", ui_count(g.row_count - most));
		}
		grid_fini(&g);
	}
	if (!gt_capture_object_count(i->capture))
		printf("\nNo runtime was seen: 'gputap doctor' says what can be traced here.\n");
}

static void print_json_head(const struct info *i, struct json *j)
{
	const struct gt_session_info *s = i->session;
	uint64_t records = i->read[GT_CLASS_CALL] + i->read[GT_CLASS_DEVICE];

	json_string(j, "format", "gputap-info");
	json_count(j, "version", 1);
	json_string(j, "path", i->path);
	json_bool(j, "complete", !i->reason_count);
	json_array(j, "why_not_complete");
	for (unsigned r = 0; r < i->reason_count; r++)
		json_string(j, NULL, i->reasons[r]);
	json_close(j);
	json_string(j, "end", end_names[i->health.end]);
	json_array(j, "command");
	for (const char *word = s->command; word && *word; word += strlen(word) + 1)
		json_string(j, NULL, word);
	json_close(j);
	json_string(j, "directory", s->directory);
	json_string(j, "options", s->options);
	json_string(j, "mode", mode_name(i->mode));
	json_string(j, "coverage", coverage_word(i));
	json_string(j, "gputap", s->gputap_version);
	json_string(j, "host", s->hostname);
	json_string(j, "boot_id", s->boot_id);
	json_string(j, "kernel", s->kernel);
	json_string(j, "cpu", s->cpu);
	json_integer(j, "rank", s->rank);
	json_count(j, "start_unix_ns", s->start_realtime_ns);
	json_count(j, "start_boottime_ns", s->start_ns);
	json_count(j, "wall_ns", i->end_ns > s->start_ns ? i->end_ns - s->start_ns : 0);
	json_string(j, "host_clock", s->host_clock == GT_HOST_CLOCK_TSC ? "tsc" : "boottime");
	json_count(j, "host_clock_residual_ns",
		   gt_capture_host_clock(i->capture) ? gt_host_clock_residual_ns(gt_capture_host_clock(i->capture)) : 0);
	json_count(j, "bytes", i->health.bytes);
	json_count(j, "bad_bytes", i->health.bad_bytes);
	json_count(j, "bad_blocks", i->health.bad_blocks);
	json_count(j, "unknown_blocks", i->health.unknown_blocks);
	json_number(j, "bytes_per_record", records ? (double)i->health.bytes / (double)records : 0);
	json_count(j, "calls", i->read[GT_CLASS_CALL]);
	json_count(j, "device_work", i->read[GT_CLASS_DEVICE]);
	json_bool(j, "linked_asked", mode_has_calls(i->mode));
	json_count(j, "linked", i->linked);
	json_count(j, "call_lost", mode_has_calls(i->mode) ? i->call_lost : 0);
	json_count(j, "untimed", i->untimed);
	json_count(j, "threads", gt_capture_thread_count(i->capture));
	json_count(j, "seen", i->seen);
	json_count(j, "recorded", i->recorded);
	json_count(j, "dropped", i->dropped);
	json_object(j, "dropped_by_reason");
	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++) {
		uint64_t n = 0;
		for (unsigned k = 0; k < GT_CLASS_COUNT * GT_DOMAIN_COUNT; k++)
			n += i->counts.dropped[why][k / GT_DOMAIN_COUNT][k % GT_DOMAIN_COUNT];
		json_count(j, gt_drop_reason_name((enum gt_drop_reason)why), n);
	}
	json_close(j);
}

static void print_json(const struct info *i)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	print_json_head(i, &j);
	for (unsigned k = 0; k < COUNT_OF(makers); k++) {
		struct grid g;
		makers[k](&g, i);
		grid_print_json(&g, &j, 0);
		grid_fini(&g);
	}
	json_close(&j);
}

/* The command ------------------------------------------------------------------------ */

static void print_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap info%s [options] FILE..\n"
	       "What was traced, how, and whether it is all there: runtimes and their libraries, devices and clocks,\n"
	       "processes, what was seen, recorded and lost.\n\n"
	       "%sExamples%s\n"
	       "  gputap info prog.gputap\n"
	       "  gputap info prog.gputap --json | jq .complete\n\n"
	       "%sOptions%s\n"
	       "  -a, --all    every process, stream, code object, kernel and event, not only the first ones\n"
	       "      --json   for scripts; keys never change\n"
	       "  -h, --help\n",
	       c->bold, c->reset, c->bold, c->reset, c->bold, c->reset);
}

static int info_file(const char *path, bool json, bool all)
{
	struct info i = { .path = path };
	int rc = gt_capture_open(path, &i.capture);

	if (rc)
		return ui_fail(GT_EXIT_FAILURE, "%s", "");
	i.session = gt_capture_session(i.capture);
	i.mode = mode_of_options(i.session->options);
	i.coverage = lookup_grow(NULL, 0, (uint32_t)gt_capture_process_count(i.capture) + 1, sizeof *i.coverage);
	i.end_ns = i.session->start_ns;
	rc = read_records(&i);
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
		{ "all", no_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool json = false, all = false;
	int c, code = GT_EXIT_OK;

	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":ah", long_options, NULL)) != -1) {
		switch (c) {
		case 'a': all = true; break;
		case 'J': json = true; break;
		case 'h': print_help(); return GT_EXIT_OK;
		default: return ui_bad_option("info", argv, long_options);
		}
	}
	if (optind == argc)
		return ui_fail(GT_EXIT_USAGE, "which capture? Name a file that 'gputap run' wrote");
	for (int k = optind; k < argc; k++) {
		if (k > optind && !json)
			putchar('\n');
		if (info_file(argv[k], json, all))
			code = GT_EXIT_FAILURE;
	}
	return code;
}

const struct gt_command gt_command_info = { "info", "say what a capture holds and whether it is complete", info_main };
