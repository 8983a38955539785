/* SPDX-License-Identifier: MIT */
/* Headings and columns of the tables of a report, with one list of columns for each table. */
#include "cli/report_columns.h"

#include <string.h>

#include "cli/info_code.h"
#include "cli/report.h"
#include "cli/report_open.h"
#include "cli/report_ranks.h"
#include "cli/report_samples.h"
#include "cli/report_stacks.h"

const char *const report_table_names[] = {
	"ranks",          "rank_spread", "rank_waits", "operations", "ranges",  "gpu_by_range",
	"failures",       "kernels",     "copies",     "other",      "memory",  "graphs",
	"devices",        "idle",        "gaps",       "patterns",   "latency", "stacks",
	"host_samples",   "processes",   "threads",    "open",       "loss",    "code_objects",
	"kernel_symbols", NULL};

#define COUNT_OF(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* Columns shared by several tables. */
/* clang-format off */
#define TIMES_COLUMNS \
	{"mean_ns", "mean", GRID_NS, GRID_ALWAYS, 2, false}, \
	{"p50_ns", "p50", GRID_NS, GRID_ALWAYS, 4, false}, \
	{"p99_ns", "p99", GRID_NS, GRID_ALWAYS, 3, false}, \
	{"min_ns", "min", GRID_NS, GRID_ALWAYS, 5, false}, \
	{"max_ns", "max", GRID_NS, GRID_ALWAYS, 2, false}
#define OWNER_COLUMNS \
	{"rank", "rank", GRID_ID, GRID_IF_ANY, 0, false}, \
	{"host", "host", GRID_TEXT, GRID_IF_ANY, 0, false}, \
	{"pid", "pid", GRID_ID, GRID_IF_ANY, 0, false}, \
	{"process", "process", GRID_TEXT, GRID_IF_ANY, 4, false}, \
	{"tid", "tid", GRID_ID, GRID_IF_ANY, 0, false}, \
	{"thread", "thread", GRID_TEXT, GRID_IF_ANY, 4, false}
/* Split of the time in calls that wait: time spent on earlier activities, on transferring the
 * calls' own data, and on neither. The unattributed part is kept even if the terminal is narrow. */
#define WAIT_COLUMNS \
	{"wait_ns", "waiting", GRID_NS, GRID_IF_ANY, 1, false}, \
	{"transfer_ns", "transferring", GRID_NS, GRID_IF_ANY, 1, false}, \
	{"runtime_ns", "runtime", GRID_NS, GRID_IF_ANY, 1, false}, \
	{"unattributed_ns", "unattributed", GRID_NS, GRID_IF_ANY, 0, false}
/* Columns that --by adds to tables of a device's activities. */
#define TRACK_COLUMNS \
	{"queue", "queue", GRID_ID, GRID_IF_ANY, 0, false}, OWNER_COLUMNS, \
	{"name", "name", GRID_TEXT, GRID_IF_ANY, 0, false}
#define DEVICE_COLUMNS \
	{"device", "device", GRID_ID, GRID_IF_DIFFER, 0, false}, \
	{"queue", "queue", GRID_ID, GRID_IF_ANY, 0, false}, \
	{"device_name", "device name", GRID_TEXT, GRID_DATA, 0, false}
/* clang-format on */

static const struct grid_column operation_columns[] = {
	{"total_ns", "total", GRID_NS, GRID_ALWAYS, 0, false},
	{"self_ns", "self", GRID_NS, GRID_DATA, 0, false},
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"calls", "calls", GRID_COUNT, GRID_ALWAYS, 0, false},
	TIMES_COLUMNS,
	WAIT_COLUMNS,
	{"failed", "failed", GRID_COUNT, GRID_IF_ANY, 0, true},
	{"refused", "refused", GRID_COUNT, GRID_IF_ANY, 2, false},
	OWNER_COLUMNS,
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 1, false},
	{"name", "name", GRID_TEXT, GRID_IF_ANY, 0, false},
};

static const struct grid_column range_columns[] = {
	{"total_ns", "total", GRID_NS, GRID_ALWAYS, 0, false},
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	TIMES_COLUMNS,
	{"markers", "markers", GRID_COUNT, GRID_IF_ANY, 0, false},
	{"scope", "scope", GRID_TEXT, GRID_IF_ANY, 0, false},
	{"category", "category", GRID_TEXT, GRID_IF_ANY, 0, false},
	OWNER_COLUMNS,
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 1, false},
	{"name", "name", GRID_TEXT, GRID_IF_ANY, 0, false},
};

static const struct grid_column operator_columns[] = {
	{"gpu_self_ns", "GPU self", GRID_NS, GRID_ALWAYS, 0, false},
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"activities", "activities", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"gpu_total_ns", "GPU total", GRID_NS, GRID_ALWAYS, 1, false},
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"host_ns", "host time", GRID_NS, GRID_ALWAYS, 2, false},
	{"name", "range", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column failure_columns[] = {
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"status", "status", GRID_SIGNED, GRID_ALWAYS, 1, false},
	{"error", "error", GRID_TEXT, GRID_ALWAYS, 0, true},
	{"kind", "kind", GRID_TEXT, GRID_IF_DIFFER, 0, false},
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 1, false},
	{"on", "on", GRID_TEXT, GRID_IF_DIFFER, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column kernel_columns[] = {
	{"total_ns", "total", GRID_NS, GRID_ALWAYS, 0, false},
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	TIMES_COLUMNS,
	{"failed", "failed", GRID_COUNT, GRID_IF_ANY, 0, true},
	DEVICE_COLUMNS,
	OWNER_COLUMNS,
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 1, false},
	{"name", "name", GRID_TEXT, GRID_IF_ANY, 0, false},
};

static const struct grid_column copy_columns[] = {
	{"total_ns", "total", GRID_NS, GRID_ALWAYS, 0, false},
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 4, false},
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"bytes", "bytes", GRID_BYTES, GRID_ALWAYS, 0, false},
	{"bytes_per_s", "rate", GRID_RATE, GRID_ALWAYS, 1, false},
	TIMES_COLUMNS,
	{"failed", "failed", GRID_COUNT, GRID_IF_ANY, 0, true},
	DEVICE_COLUMNS,
	OWNER_COLUMNS,
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 1, false},
	{"operation", "operation", GRID_TEXT, GRID_DATA, 0, false},
	{"direction", "direction", GRID_TEXT, GRID_ALWAYS, 0, false},
};

/* `left`: bytes allocated and not freed; `peak`: largest value of this number */
static const struct grid_column memory_columns[] = {
	{"allocations", "allocated", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"bytes", "bytes", GRID_BYTES, GRID_ALWAYS, 0, false},
	{"frees", "freed", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"freed_bytes", "bytes freed", GRID_BYTES, GRID_ALWAYS, 1, false},
	{"peak_bytes", "peak", GRID_BYTES, GRID_ALWAYS, 0, false},
	{"left_bytes", "left", GRID_BYTES, GRID_ALWAYS, 0, false},
	{"device", "device", GRID_ID, GRID_IF_DIFFER, 0, false},
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 1, false},
	{"memory", "memory", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column graph_columns[] = {
	{"total_ns", "total", GRID_NS, GRID_ALWAYS, 0, false},
	{"launches", "launches", GRID_COUNT, GRID_ALWAYS, 0, false},
	TIMES_COLUMNS,
	{"busy_share", "busy", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"busy_ns", "busy time", GRID_NS, GRID_DATA, 0, false},
	{"nodes", "nodes", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"kernels", "kernels", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"activities", "activities", GRID_COUNT, GRID_DATA, 0, false},
	{"recorded", "recorded", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"pid", "pid", GRID_ID, GRID_IF_DIFFER, 0, false},
	{"process", "process", GRID_TEXT, GRID_IF_DIFFER, 0, false},
	{"graph", "graph", GRID_ID, GRID_ALWAYS, 0, false},
};

static const struct grid_column device_columns[] = {
	{"device", "device", GRID_ID, GRID_ALWAYS, 0, false},
	{"busy_share", "busy", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"kernel_share", "kernels", GRID_SHARE, GRID_ALWAYS, 1, false},
	{"copy_share", "copies", GRID_SHARE, GRID_ALWAYS, 1, false},
	{"idle_share", "idle", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"starved_share", "nothing queued", GRID_SHARE, GRID_ALWAYS, 3, false},
	{"span_ns", "span", GRID_NS, GRID_ALWAYS, 1, false},
	{"busy_ns", "busy time", GRID_NS, GRID_DATA, 0, false},
	{"kernel_ns", "kernel time", GRID_NS, GRID_DATA, 0, false},
	{"copy_ns", "copy time", GRID_NS, GRID_DATA, 0, false},
	{"idle_ns", "idle time", GRID_NS, GRID_DATA, 0, false},
	{"unrecorded_ns", "not recorded", GRID_NS, GRID_IF_ANY, 0, false},
	{"starved_ns", "starved time", GRID_NS, GRID_DATA, 0, false},
	{"gaps", "gaps", GRID_COUNT, GRID_ALWAYS, 2, false},
	{"gap_p50_ns", "gap p50", GRID_NS, GRID_ALWAYS, 5, false},
	{"gap_p99_ns", "gap p99", GRID_NS, GRID_ALWAYS, 6, false},
	{"gap_max_ns", "gap max", GRID_NS, GRID_ALWAYS, 4, false},
	{"activities", "activities", GRID_COUNT, GRID_ALWAYS, 7, false},
	{"untimed", "without times", GRID_COUNT, GRID_IF_ANY, 0, true},
	{"failed", "failed", GRID_COUNT, GRID_IF_ANY, 0, true},
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 1, false},
	{"device_name", "device name", GRID_TEXT, GRID_ALWAYS, 0, false},
	TRACK_COLUMNS,
};

/* The calls between which idle time lies, and the lines that made them. */
#define PAIR_COLUMNS                                                            \
	{"after_call", "after call", GRID_TEXT, GRID_DATA, 0, false},           \
		{"after_line", "after line", GRID_TEXT, GRID_DATA, 0, false},   \
		{"before_call", "before call", GRID_TEXT, GRID_DATA, 0, false}, \
	{                                                                       \
		"before_line", "before line", GRID_TEXT, GRID_DATA, 0, false    \
	}
static const struct grid_column idle_columns[] = {
	{"idle_ns", "idle", GRID_NS, GRID_ALWAYS, 0, false},
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"gaps", "gaps", GRID_COUNT, GRID_ALWAYS, 1, false},
	{"max_ns", "longest", GRID_NS, GRID_ALWAYS, 1, false},
	{"device", "device", GRID_ID, GRID_IF_DIFFER, 0, false},
	TRACK_COLUMNS,
	{"phase", "phase", GRID_TEXT, GRID_IF_DIFFER, 0, false},
	{"cause", "cause", GRID_TEXT, GRID_DATA, 0, false},
	{"why", "why", GRID_TEXT, GRID_FOR_PEOPLE, 0, false},
	{"mostly", "mostly", GRID_TEXT, GRID_DATA, 0, false},
	{"waits_for", "waits for", GRID_TEXT, GRID_DATA, 0, false},
	{"cpu_ns", "CPU time", GRID_NS, GRID_DATA, 0, false},
	{"run_delay_ns", "run delay", GRID_NS, GRID_DATA, 0, false},
	{"minor_faults", "minor faults", GRID_COUNT, GRID_DATA, 0, false},
	{"major_faults", "major faults", GRID_COUNT, GRID_DATA, 0, false},
	{"voluntary_switches", "voluntary switches", GRID_COUNT, GRID_DATA, 0, false},
	{"involuntary_switches", "involuntary switches", GRID_COUNT, GRID_DATA, 0, false},
	PAIR_COLUMNS,
	{"between_ns", "between", GRID_NS, GRID_DATA, 0, false},
	{"details", "mostly", GRID_LINES, GRID_FOR_PEOPLE, 0, false},
};

static const struct grid_column gap_columns[] = {
	{"gap_ns", "idle", GRID_NS, GRID_ALWAYS, 0, false},
	{"starved_ns", "nothing queued", GRID_NS, GRID_ALWAYS, 1, false},
	{"at_ns", "at", GRID_NS, GRID_ALWAYS, 0, false},
	{"device", "device", GRID_ID, GRID_IF_DIFFER, 0, false},
	TRACK_COLUMNS,
	{"cause", "cause", GRID_TEXT, GRID_DATA, 0, false},
	{"cause_ns", "cause time", GRID_NS, GRID_DATA, 0, false},
	{"in", "in", GRID_TEXT, GRID_DATA, 0, false},
	{"range", "range", GRID_TEXT, GRID_DATA, 0, false},
	{"why", "why", GRID_TEXT, GRID_IF_ANY, 0, false},
	{"caller_tid", "caller tid", GRID_ID, GRID_DATA, 0, false},
	{"caller", "caller", GRID_TEXT, GRID_DATA, 0, false},
	{"after", "after", GRID_TEXT, GRID_DATA, 0, false},
	{"before", "before", GRID_TEXT, GRID_DATA, 0, false},
	{"waits_for", "waits for", GRID_TEXT, GRID_DATA, 0, false},
	PAIR_COLUMNS,
	{"between", "between", GRID_LINES, GRID_FOR_PEOPLE, 0, false},
};

static const struct grid_column pattern_columns[] = {
	{"idle_ns", "idle", GRID_NS, GRID_ALWAYS, 0, false},
	{"ns", "in calls", GRID_NS, GRID_ALWAYS, 1, false},
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"bytes", "bytes", GRID_BYTES, GRID_DATA, 0, false},
	{"device", "device", GRID_ID, GRID_DATA, 0, false},
	{"pid", "pid", GRID_ID, GRID_IF_DIFFER, 0, false},
	{"tid", "tid", GRID_ID, GRID_DATA, 0, false},
	{"thread", "thread", GRID_TEXT, GRID_IF_DIFFER, 0, false},
	{"pattern", "pattern", GRID_TEXT, GRID_DATA, 0, false},
	{"operation", "operation", GRID_TEXT, GRID_DATA, 0, false},
	{"then", "then", GRID_TEXT, GRID_DATA, 0, false},
	{"line", "line", GRID_TEXT, GRID_DATA, 0, false},
	{"steps", "steps", GRID_COUNT, GRID_DATA, 0, false},
	{"step_ns", "step", GRID_NS, GRID_DATA, 0, false},
	{"step_low_ns", "step p10", GRID_NS, GRID_DATA, 0, false},
	{"step_high_ns", "step p90", GRID_NS, GRID_DATA, 0, false},
	{"step_activities", "activities of a step", GRID_COUNT, GRID_DATA, 0, false},
	{"step_kernels", "kernels of a step", GRID_COUNT, GRID_DATA, 0, false},
	{"sentence", "sentence", GRID_TEXT, GRID_DATA, 0, false},
	{"advice", "advice", GRID_TEXT, GRID_DATA, 0, false},
	{"what", "what", GRID_TEXT, GRID_FOR_PEOPLE, 0, false},
};

static const struct grid_column latency_columns[] = {
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	TIMES_COLUMNS,
	{"early", "early", GRID_COUNT, GRID_IF_ANY, 0, true},
	{"device", "device", GRID_ID, GRID_IF_DIFFER, 0, false},
	TRACK_COLUMNS,
	{"stage", "stage", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column process_columns[] = {
	{"pid", "pid", GRID_ID, GRID_ALWAYS, 0, false},
	{"wall_ns", "wall", GRID_NS, GRID_ALWAYS, 1, false},
	{"calls", "calls", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"call_ns", "in calls", GRID_NS, GRID_ALWAYS, 1, false},
	{"activities", "activities", GRID_COUNT, GRID_ALWAYS, 3, false},
	{"activity_ns", "GPU time", GRID_NS, GRID_ALWAYS, 1, false},
	{"threads", "threads", GRID_COUNT, GRID_ALWAYS, 2, false},
	{"failed", "failed", GRID_COUNT, GRID_IF_ANY, 0, true},
	{"forks", "forks", GRID_COUNT, GRID_DATA, 0, false},
	{"parent_pid", "parent", GRID_ID, GRID_DATA, 0, false},
	{"end", "end", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"file", "file", GRID_TEXT, GRID_IF_DIFFER, 0, false},
	{"exe", "exe", GRID_TEXT, GRID_DATA, 0, false},
	{"process", "process", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column thread_columns[] = {
	{"tid", "tid", GRID_ID, GRID_ALWAYS, 0, false},
	{"calls", "calls", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"call_ns", "in calls", GRID_NS, GRID_ALWAYS, 0, false},
	{"call_share", "of its life", GRID_SHARE, GRID_ALWAYS, 2, false},
	WAIT_COLUMNS,
	{"activities", "activities", GRID_COUNT, GRID_ALWAYS, 3, false},
	{"activity_ns", "GPU time", GRID_NS, GRID_ALWAYS, 1, false},
	{"failed", "failed", GRID_COUNT, GRID_IF_ANY, 0, true},
	{"pid", "pid", GRID_ID, GRID_IF_DIFFER, 0, false},
	{"process", "process", GRID_TEXT, GRID_IF_DIFFER, 3, false},
	{"thread", "thread", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column loss_columns[] = {
	{"dropped", "dropped", GRID_COUNT, GRID_ALWAYS, 0, true},
	{"seen", "seen", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"domain", "domain", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"class", "what", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"reason", "why", GRID_TEXT, GRID_ALWAYS, 0, false},
};

const struct report_table_columns report_table_columns[] = {
	[REPORT_RANKS] = {report_rank_columns, COUNT_OF(report_rank_columns), "Ranks", 10},
	[REPORT_RANK_SPREAD] = {report_rank_spread_columns, COUNT_OF(report_rank_spread_columns),
				"Spread between ranks", 0},
	[REPORT_RANK_WAITS] = {report_rank_wait_columns, COUNT_OF(report_rank_wait_columns),
			       "Waits for other ranks in collective calls", 5},
	[REPORT_OPERATIONS] = {operation_columns, COUNT_OF(operation_columns), "Operations", 20},
	[REPORT_RANGES] = {range_columns, COUNT_OF(range_columns),
			   "Ranges: host time, inner ranges included", 20},
	[REPORT_GPU_BY_RANGE] = {operator_columns, COUNT_OF(operator_columns),
				 "GPU time by range: self (innermost range) and total", 20},
	[REPORT_FAILURES] = {failure_columns, COUNT_OF(failure_columns), "Failures", 20},
	[REPORT_KERNELS] = {kernel_columns, COUNT_OF(kernel_columns), "Kernels", 20},
	[REPORT_COPIES] = {copy_columns, COUNT_OF(copy_columns), "Copies", 20},
	[REPORT_OTHER] = {kernel_columns, COUNT_OF(kernel_columns), "Other GPU activities", 20},
	[REPORT_MEMORY] = {memory_columns, COUNT_OF(memory_columns),
			   "Memory that programs allocated and freed", 20},
	[REPORT_GRAPHS] = {graph_columns, COUNT_OF(graph_columns),
			   "Graphs: launches, from the first node's start to the last node's end",
			   20},
	[REPORT_CODE_OBJECTS] = {info_code_object_columns, COUNT_OF(info_code_object_columns), NULL,
				 5},
	[REPORT_KERNEL_SYMBOLS] = {info_code_kernel_columns, COUNT_OF(info_code_kernel_columns),
				   NULL, 10},
	[REPORT_DEVICES] = {device_columns, COUNT_OF(device_columns),
			    "Devices: time from first to last activity", 20},
	[REPORT_IDLE] = {idle_columns, COUNT_OF(idle_columns),
			 "Why devices were idle: gaps between activities, by cause", 20},
	[REPORT_GAPS] = {gap_columns, COUNT_OF(gap_columns), "Largest gaps between activities", 5},
	[REPORT_PATTERNS] = {pattern_columns, COUNT_OF(pattern_columns),
			     "Patterns: what repeats, and what it costs", 10},
	[REPORT_STACKS] = {launched_columns, LAUNCHED_COLUMNS,
			   "Call stacks of launches and of slow calls", 10},
	[REPORT_HOST_SAMPLES] = {sample_columns, SAMPLE_COLUMNS,
				 "What threads did between their calls while no device worked", 10},
	[REPORT_LATENCY] = {latency_columns, COUNT_OF(latency_columns),
			    "Launch latency: from the start of the call to the start of its kernel",
			    20},
	[REPORT_PROCESSES] = {process_columns, COUNT_OF(process_columns), "Processes", 10},
	[REPORT_THREADS] = {thread_columns, COUNT_OF(thread_columns), "Threads", 10},
	[REPORT_OPEN] = {report_open_columns, COUNT_OF(report_open_columns),
			 "Open calls: calls that had not returned", 20},
	[REPORT_LOSS] = {loss_columns, COUNT_OF(loss_columns), "Lost", 0},
};

const char *const *report_columns(uint32_t wanted, bool keys)
{
	static const char *names[256];
	size_t n = 0;

	for (unsigned t = 0; t < REPORT_TABLE_COUNT; t++)
		for (unsigned c = 0; c < report_table_columns[t].count &&
				     (!wanted || wanted >> t & 1) && n + 3 < COUNT_OF(names);
		     c++) {
			const struct grid_column *column = &report_table_columns[t].columns[c];
			bool word = *column->title && !strchr(column->title, ' ');
			const char *name = word && !keys ? column->title : column->key;
			bool known = false;

			for (size_t i = 0; i < n && !known; i++)
				known = !strcmp(names[i], name);
			if (!known)
				names[n++] = name;
		}
	names[n] = NULL;
	return names;
}
