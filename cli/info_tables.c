/* SPDX-License-Identifier: MIT */
/* Tables of `gputap info`. Each function fills a grid with the data that info.c has read. */
#include "cli/info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/info_code.h"
#include "cli/report.h"
#include "cli/ui.h"
#include "record/operation.h"

#define COUNT_OF(array) ((unsigned)(sizeof(array) / sizeof *(array)))

static const struct grid_column session_columns[] = {
	{"session", "session", GRID_ID, GRID_ALWAYS, 0, false},
	{"rank", "rank", GRID_SIGNED, GRID_IF_ANY, 0, false},
	{"host", "host", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"node", "node", GRID_ID, GRID_ALWAYS, 3, false},
	{"at_ns", "start", GRID_NS, GRID_ALWAYS, 0, false},
	{"processes", "processes", GRID_COUNT, GRID_ALWAYS, 4, false},
	{"clock", "aligned by", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"shift_ns", "moved by", GRID_SIGNED, GRID_DATA, 0, false},
	{"uncertainty_ns", "within", GRID_NS, GRID_ALWAYS, 0, false},
	{"end", "end", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"bytes", "size", GRID_BYTES, GRID_ALWAYS, 5, false},
	{"boot_id", "boot", GRID_TEXT, GRID_DATA, 0, false},
	{"path", "file", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column runtime_columns[] = {
	{"domain", "domain", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"method", "method", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"processes", "processes", GRID_COUNT, GRID_ALWAYS, 1, false},
	{"version", "version", GRID_TEXT, GRID_IF_ANY, 2, false},
	{"path", "library", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column device_columns[] = {
	{"device", "device", GRID_ID, GRID_ALWAYS, 0, false},
	{"domain", "domain", GRID_TEXT, GRID_ALWAYS, 3, false},
	{"type", "type", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"clock", "clock", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"residual_ns", "residual", GRID_NS, GRID_ALWAYS, 0, false},
	{"violations", "violations", GRID_COUNT, GRID_IF_ANY, 0, true},
	{"processes", "processes", GRID_COUNT, GRID_ALWAYS, 4, false},
	{"pci", "pci", GRID_TEXT, GRID_IF_ANY, 0, false},
	{"uuid", "uuid", GRID_TEXT, GRID_DATA, 0, false},
	{"vendor", "vendor", GRID_TEXT, GRID_DATA, 0, false},
	{"version", "version", GRID_TEXT, GRID_DATA, 0, false},
	{"driver", "driver", GRID_TEXT, GRID_ALWAYS, 2, false},
	{"label", "called", GRID_TEXT, GRID_IF_ANY, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column stream_columns[] = {
	{"domain", "domain", GRID_TEXT, GRID_ALWAYS, 3, false},
	{"pid", "pid", GRID_ID, GRID_ALWAYS, 2, false},
	{"device", "device", GRID_ID, GRID_ALWAYS, 0, false},
	{"handle", "stream", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"created_ns", "created at", GRID_NS, GRID_ALWAYS, 0, false},
	{"destroyed_ns", "destroyed at", GRID_NS, GRID_IF_ANY, 0, false},
	{"flags", "flags", GRID_TEXT, GRID_IF_ANY, 5, false},
	{"priority", "priority", GRID_TEXT, GRID_IF_ANY, 4, false},
	{"name", "name", GRID_TEXT, GRID_IF_ANY, 0, false},
};

static const struct grid_column process_columns[] = {
	{"pid", "pid", GRID_ID, GRID_ALWAYS, 0, false},
	{"parent_pid", "parent", GRID_ID, GRID_ALWAYS, 1, false},
	{"forks", "forks", GRID_COUNT, GRID_IF_ANY, 2, false},
	{"rank", "rank", GRID_SIGNED, GRID_IF_ANY, 0, false},
	{"world_size", "of", GRID_COUNT, GRID_DATA, 0, false},
	{"local_rank", "local rank", GRID_SIGNED, GRID_DATA, 0, false},
	{"local_size", "on its host", GRID_COUNT, GRID_DATA, 0, false},
	{"launcher", "launcher", GRID_TEXT, GRID_IF_ANY, 4, false},
	{"wall_ns", "wall", GRID_NS, GRID_ALWAYS, 0, false},
	{"threads", "threads", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"seen", "seen", GRID_COUNT, GRID_ALWAYS, 3, false},
	{"dropped", "lost", GRID_COUNT, GRID_ALWAYS, 0, true},
	{"children_lost", "children not followed", GRID_COUNT, GRID_IF_ANY, 0, true},
	{"end", "end", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"exit_status", "exit status", GRID_SIGNED, GRID_DATA, 0, false},
	{"signal", "signal", GRID_SIGNED, GRID_DATA, 0, false},
	{"exe", "program", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column record_columns[] = {
	{"domain", "domain", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"class", "what", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"seen", "seen", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"recorded", "recorded", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"dropped", "lost", GRID_COUNT, GRID_ALWAYS, 0, true},
	{"evicted", "evicted", GRID_COUNT, GRID_IF_ANY, 0, false},
	{"why", "why", GRID_TEXT, GRID_FOR_PEOPLE, 0, false},
};

static const struct grid_column event_columns[] = {
	{"at_ns", "at", GRID_NS, GRID_ALWAYS, 0, false},
	{"pid", "pid", GRID_ID, GRID_ALWAYS, 1, false},
	{"domain", "domain", GRID_TEXT, GRID_ALWAYS, 2, false},
	{"event", "event", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"value", "value", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"text", "", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column window_columns[] = {
	{"from_ns", "from", GRID_NS, GRID_ALWAYS, 0, false},
	{"to_ns", "to", GRID_NS, GRID_ALWAYS, 0, false},
	{"duration_ns", "for", GRID_NS, GRID_ALWAYS, 2, false},
	{"pid", "pid", GRID_ID, GRID_ALWAYS, 1, false},
	{"state", "state", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"why", "began by", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"end_why", "ended by", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"missed", "changes missed", GRID_COUNT, GRID_IF_ANY, 3, true},
};

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

const char *const info_end_names[3] = {"complete", "incomplete", "cut"};

static void make_sessions(struct grid *g, const struct info *i)
{
	static const char *const ways[] = {"boot", "wall clock", "collectives", "nothing"};

	grid_init(g, "sessions", session_columns, COUNT_OF(session_columns));
	g->heading = "Sessions, and how their clocks were aligned";
	for (size_t k = 0; k < gt_capture_session_count(i->capture); k++) {
		const struct gt_capture_session *s = gt_capture_session_at(i->capture, k);
		struct grid_cell *cell = grid_row(g);

		*cell++ = cell_count(k);
		*cell++ = s->info.rank >= 0 ? cell_signed(s->info.rank) : cell_none();
		*cell++ = cell_text(s->info.hostname);
		*cell++ = cell_count(s->node);
		*cell++ = cell_count(s->info.start_ns > i->session->start_ns
					     ? s->info.start_ns - i->session->start_ns
					     : 0);
		*cell++ = cell_count(s->process_count);
		*cell++ = cell_text(ways[s->alignment]);
		*cell++ = cell_signed(s->shift_ns);
		*cell++ = s->alignment == GT_ALIGNED_REALTIME || s->alignment == GT_ALIGNED_SHARED
				  ? cell_count(s->uncertainty_ns)
				  : cell_none();
		*cell++ = cell_text(info_end_names[s->health.end]);
		*cell++ = cell_count(s->health.bytes);
		*cell++ = cell_text(s->info.boot_id);
		*cell++ = cell_text(s->path);
	}
}

/* Captures of earlier versions use "door" for the interception method. */
static const char *interception_method(const struct gt_object_info *module)
{
	const char *method = gt_object_value(module, "method");

	return method ? method : gt_object_value(module, "door");
}

/* Add a row for each library and interception method. Several processes may map the same
 * library. */
static void make_runtimes(struct grid *g, const struct info *i)
{
	grid_init(g, "runtimes", runtime_columns, COUNT_OF(runtime_columns));
	g->heading = "Traced runtimes, and the libraries that programs mapped";
	for (size_t k = 0; k < gt_capture_object_count(i->capture); k++) {
		const struct gt_object_info *o = gt_capture_object(i->capture, k);
		uint64_t processes = 0;
		bool shown = false;
		struct grid_cell *cell;
		if (o->type != GT_OBJECT_MODULE)
			continue;
		for (size_t n = 0; n < gt_capture_object_count(i->capture); n++) {
			const struct gt_object_info *other = gt_capture_object(i->capture, n);
			if (other->type != GT_OBJECT_MODULE || other->domain != o->domain ||
			    !same_text(gt_object_value(other, "path"),
				       gt_object_value(o, "path")) ||
			    !same_text(interception_method(other), interception_method(o)))
				continue;
			shown |= n < k;
			processes++;
		}
		if (shown)
			continue;
		cell = grid_row(g);
		*cell++ = cell_text(gt_domain_name(o->domain));
		*cell++ = cell_text(interception_method(o));
		*cell++ = cell_count(processes);
		*cell++ = cell_text(gt_object_value(o, "version"));
		*cell++ = cell_text(gt_object_value(o, "path"));
	}
}

/* Show the least precise clock among the processes that used the device, because clocks are fitted
 * per process. */
static void make_devices(struct grid *g, const struct info *i)
{
	grid_init(g, "devices", device_columns, COUNT_OF(device_columns));
	g->heading = "Devices, and how their clocks were converted";
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
	return ns ? cell_count(ns > i->session->start_ns ? ns - i->session->start_ns : 0)
		  : cell_none();
}

static void make_streams(struct grid *g, const struct info *i)
{
	grid_init(g, "streams", stream_columns, COUNT_OF(stream_columns));
	g->heading = "Streams that programs created";
	for (size_t k = 0; k < gt_capture_object_count(i->capture); k++) {
		const struct gt_object_info *o = gt_capture_object(i->capture, k), *device;
		const struct gt_process_info *p = gt_capture_process(i->capture, o->process);
		struct grid_cell *cell;
		if (o->type != GT_OBJECT_STREAM)
			continue;
		device =
			gt_capture_object_find(i->capture, o->process, GT_OBJECT_DEVICE, o->parent);
		cell = grid_row(g);
		*cell++ = cell_text(gt_domain_name(o->domain));
		*cell++ = p ? cell_count(p->pid) : cell_none();
		*cell++ = device && device->device_index != UINT32_MAX
				  ? cell_count(device->device_index)
				  : cell_none();
		*cell++ = cell_text(grid_keep(g, "0x%llx", (unsigned long long)o->handle));
		*cell++ = since_start(i, o->begin_ns);
		*cell++ = since_start(i, o->end_ns);
		*cell++ = cell_text(gt_object_value(o, "flags"));
		*cell++ = cell_text(gt_object_value(o, "priority"));
		*cell++ = cell_text(gt_object_called(o));
	}
}

static struct grid_cell rank_cell(int32_t number)
{
	return number >= 0 ? cell_signed(number) : cell_none();
}

/* Return true for gputap's helper threads in the program, which have rings as well. */
static bool is_own_thread(const struct gt_capture *c, const struct gt_thread_info *thread)
{
	const struct gt_process_info *process = gt_capture_process(c, thread->process);

	return thread->name && !strncmp(thread->name, "gputap", 6) &&
	       !(process && process->pid == thread->tid);
}

uint64_t info_thread_count(const struct info *i)
{
	uint64_t count = 0;

	for (size_t t = 0; t < gt_capture_thread_count(i->capture); t++)
		count += !is_own_thread(i->capture, gt_capture_thread(i->capture, t));
	return count;
}

static void make_processes(struct grid *g, const struct info *i)
{
	uint32_t count = (uint32_t)gt_capture_process_count(i->capture);
	uint64_t *threads = allocate_list(count, sizeof *threads);
	bool *replaced = allocate_list(count, sizeof *replaced);
	struct idmap later = {0};

	for (uint32_t p = count; p-- > 0;) {
		const struct gt_process_info *info = gt_capture_process(i->capture, p);

		replaced[p] = report_is_replaced(&later, info->session, info->pid, info->ppid);
	}
	idmap_fini(&later);
	grid_init(g, "processes", process_columns, COUNT_OF(process_columns));
	g->heading = "Processes";
	for (size_t t = 0; t < gt_capture_thread_count(i->capture); t++) {
		const struct gt_thread_info *thread = gt_capture_thread(i->capture, t);

		if (thread->process < count && !is_own_thread(i->capture, thread))
			threads[thread->process]++;
	}
	for (uint32_t p = 0; p < count; p++) {
		const struct gt_process_info *info = gt_capture_process(i->capture, p);
		const struct gt_counts *counts = gt_capture_counts(i->capture, p);
		bool known = info->ended && info->wait_status >= 0;
		uint64_t seen = 0, dropped = 0;
		struct grid_cell *cell = grid_row(g);
		for (unsigned k = 0; counts && k < GT_CLASS_COUNT * GT_DOMAIN_COUNT; k++) {
			seen += counts->seen[k / GT_DOMAIN_COUNT][k % GT_DOMAIN_COUNT];
			for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
				dropped += counts->dropped[why][k / GT_DOMAIN_COUNT]
							  [k % GT_DOMAIN_COUNT];
		}
		*cell++ = cell_count(info->pid);
		*cell++ = cell_count(info->ppid);
		*cell++ = cell_count(info->fork_count);
		*cell++ = rank_cell(info->rank.rank);
		*cell++ = rank_cell(info->rank.size);
		*cell++ = rank_cell(info->rank.local_rank);
		*cell++ = rank_cell(info->rank.local_size);
		*cell++ = *info->launcher ? cell_text(info->launcher) : cell_none();
		*cell++ = info->end_ns > info->start_ns ? cell_count(info->end_ns - info->start_ns)
							: cell_none();
		*cell++ = cell_count(threads[p]);
		*cell++ = cell_count(seen);
		*cell++ = cell_count(dropped);
		*cell++ = cell_count(info->children_lost);
		*cell++ = cell_text(
			grid_keep(g, "%s",
				  !info->ended && info->end_ns
					  ? "detached"
					  : report_process_end(info->ended, info->proper_end,
							       info->wait_status, replaced[p])));
		*cell++ = known && WIFEXITED(info->wait_status)
				  ? cell_signed(WEXITSTATUS(info->wait_status))
				  : cell_none();
		*cell++ = known && WIFSIGNALED(info->wait_status)
				  ? cell_signed(WTERMSIG(info->wait_status))
				  : cell_none();
		*cell++ = cell_text(info->exe);
	}
	free(replaced);
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
					snprintf(why + used, sizeof why - used, "%s%s %s",
						 used ? ", " : "", show_count(n),
						 gt_drop_reason_name((enum gt_drop_reason)r));
			}
			if (!i->counts.seen[c][d] && !i->counts.recorded[c][d] && !dropped)
				continue;
			cell = grid_row(g);
			*cell++ = cell_text(gt_domain_name((enum gt_domain)d));
			*cell++ = cell_text(c == GT_CLASS_CALL ? "calls" : "GPU activities");
			*cell++ = cell_count(i->counts.seen[c][d]);
			*cell++ = cell_count(i->counts.recorded[c][d]);
			*cell++ = cell_count(dropped);
			*cell++ = cell_count(i->counts.evicted[c][d]);
			*cell++ = cell_text(grid_keep(g, "%s", *why ? why : ""));
		}
}

static void make_windows(struct grid *g, const struct info *i)
{
	uint64_t start_ns = i->session->start_ns;

	grid_init(g, "windows", window_columns, COUNT_OF(window_columns));
	g->heading = "Windows: when processes were recorded or paused";
	for (size_t k = 0; k < gt_capture_window_count(i->capture); k++) {
		const struct gt_window_info *w = gt_capture_window_at(i->capture, k);
		const struct gt_process_info *p = gt_capture_process(i->capture, w->process);
		struct grid_cell *cell = grid_row(g);

		*cell++ = cell_count(w->from_ns > start_ns ? w->from_ns - start_ns : 0);
		*cell++ = cell_count(w->to_ns > start_ns ? w->to_ns - start_ns : 0);
		*cell++ = cell_count(w->to_ns - w->from_ns);
		*cell++ = p ? cell_count(p->pid) : cell_none();
		*cell++ = cell_text(w->recorded ? "recorded" : "paused");
		*cell++ = cell_text(gt_window_why_name(w->why));
		*cell++ = cell_text(gt_window_why_name(w->end_why));
		*cell++ = cell_count(w->missed);
	}
}

static void make_events(struct grid *g, const struct info *i)
{
	grid_init(g, "events", event_columns, COUNT_OF(event_columns));
	g->heading = "Events that gputap reported";
	g->sentences = true;
	for (size_t k = 0; k < gt_capture_event_count(i->capture); k++) {
		const struct gt_event_info *e = gt_capture_event(i->capture, k);
		const struct gt_process_info *p = gt_capture_process(i->capture, e->process);
		struct grid_cell *cell = grid_row(g);
		*cell++ = e->time_ns > i->session->start_ns
				  ? cell_count(e->time_ns - i->session->start_ns)
				  : cell_none();
		*cell++ = p ? cell_count(p->pid) : cell_none();
		*cell++ = e->domain == GT_DOMAIN_NONE ? cell_none()
						      : cell_text(gt_domain_name(e->domain));
		*cell++ = cell_text(gt_event_code_name(e->code));
		*cell++ = cell_count(e->value);
		*cell++ = cell_text(e->text ? e->text : "");
	}
}

static void make_code_objects(struct grid *g, const struct info *i)
{
	info_code_objects(g, &(struct info_code){.capture = i->capture});
}

static void make_kernel_symbols(struct grid *g, const struct info *i)
{
	info_code_kernels(g, &(struct info_code){.capture = i->capture});
}

void info_table(struct grid *g, enum info_table table, const struct info *i)
{
	static void (*const makers[INFO_TABLE_COUNT])(struct grid *, const struct info *) = {
		[INFO_SESSIONS] = make_sessions,
		[INFO_RUNTIMES] = make_runtimes,
		[INFO_DEVICES] = make_devices,
		[INFO_STREAMS] = make_streams,
		[INFO_CODE_OBJECTS] = make_code_objects,
		[INFO_KERNEL_SYMBOLS] = make_kernel_symbols,
		[INFO_PROCESSES] = make_processes,
		[INFO_RECORDS] = make_records,
		[INFO_WINDOWS] = make_windows,
		[INFO_EVENTS] = make_events,
	};

	makers[table](g, i);
}
