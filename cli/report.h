/* SPDX-License-Identifier: MIT */
/* Tables of a report, made from a summary. gputap-report(1) documents the names of the tables and
 * the keys of their columns. Names and keys never change, but new ones may be added. */
#ifndef GPUTAP_CLI_REPORT_H
#define GPUTAP_CLI_REPORT_H

#include "analysis/base/lookup.h"
#include "analysis/tables/summary.h"
#include "cli/grid.h"

enum report_table {
	REPORT_RANKS, /* The following tables exist only for several ranks */
	REPORT_RANK_SPREAD,
	REPORT_RANK_WAITS,
	REPORT_OPERATIONS,
	REPORT_RANGES,
	REPORT_GPU_BY_RANGE,
	REPORT_FAILURES,
	REPORT_KERNELS,
	REPORT_COPIES,
	REPORT_OTHER,
	REPORT_MEMORY,
	REPORT_GRAPHS,
	REPORT_DEVICES,
	REPORT_IDLE,
	REPORT_GAPS,
	REPORT_PATTERNS,
	REPORT_LATENCY,
	REPORT_STACKS,
	REPORT_HOST_SAMPLES,
	REPORT_PROCESSES,
	REPORT_THREADS,
	REPORT_OPEN, /* open calls */
	REPORT_LOSS,
	REPORT_CODE_OBJECTS, /* rarely needed, so last */
	REPORT_KERNEL_SYMBOLS,
	REPORT_TABLE_COUNT
};

/* NULL-terminated, in the order of enum report_table. */
extern const char *const report_table_names[];

/* Make one table, in its default order. @domain: only this domain, for REPORT_OPERATIONS;
 * GT_DOMAIN_NONE: all domains. Release with grid_fini(). */
void report_table(struct grid *g, enum report_table table, const struct summary *s,
		  enum gt_domain domain);

/* Return the names of columns of @tables (one bit each; 0: all) that --sort accepts,
 * NULL-terminated: with @keys, all keys; otherwise the titles that are a single word. Valid until
 * the next call. */
const char *const *report_columns(uint32_t tables, bool keys);

/* Return "exit 0", "Killed (signal 9)", "still running" and the like (per-thread buffer).
 * Parameters are as in struct gt_process_info. @replaced: the same process continued as another
 * program. */
const char *report_process_end(bool ended, bool proper_end, int wait_status, bool replaced);

/* Write "process 12 (prog): Killed (signal 9), in clFinish, thread 14 (worker)", or "in a call of
 * opencl" if the call is not known. Return false if the process did not die in a call. */
bool report_death(const struct gt_capture *capture, uint32_t process, char *text, size_t size);

/* Write a line about calls that were open when the collector last looked, such as "ranks 0-2 in
 * MPI_Barrier #50 for 6.2 s". Equal calls of several processes are one line. Calls shorter than a
 * second have no line, and calls of processes without a rank that report_death() names. @index:
 * from 0. Return false if there is no such line. */
bool report_open_line(const struct gt_capture *capture, size_t index, char *text, size_t size);
/* Return true if a later entry describes the same process. Call for all processes, from the last to
 * the first. */
bool report_is_replaced(struct idmap *later, uint32_t session, uint32_t pid, uint32_t ppid);

#endif
