/* SPDX-License-Identifier: MIT */
/* Descriptions of idle devices in reports. */
#ifndef GPUTAP_CLI_REPORT_IDLE_H
#define GPUTAP_CLI_REPORT_IDLE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/tables/summary.h"
#include "cli/grid.h"
#include "cli/json.h"

/* Return the idle time of the device to which a row belongs, summed over all rows of the device. */
uint64_t report_idle_device_ns(const struct summary *s, uint32_t device);

/* Write the calls, ranges, activities and sampled lines that make up most of a row's time with this
 * cause: "clFinish 80%, clBuildProgram 12%", "step at train.py:12 90%"; "": none is known. */
void report_idle_mostly(const struct summary *s, uint32_t row, enum gt_idle_cause cause, char *text,
			size_t size);

/* Write the pair of calls between which most of a row's time with this cause lies, with the lines
 * of the program: "after clFinish: step at train.py:12, before clEnqueueTask: step at train.py:14".
 * If only the second line is known, leave out the first call. "": not known. In a call: the line
 * that made the call. @separator: between the two calls. */
void report_idle_between(const struct summary *s, uint32_t row, enum gt_idle_cause cause,
			 const char *separator, char *text, size_t size);
/* Return the largest pair of a row's cause, or NULL. */
const struct idle_site *report_idle_site(const struct summary *s, uint32_t row,
					 enum gt_idle_cause cause);
/* Write the largest text of what the threads waited for; "": not known. */
const char *report_idle_wait(const struct summary *s, uint32_t row, enum gt_idle_cause cause);
/* Write the two calls of a pair, or for the cause of a call only its line. */
void report_idle_pair(const struct summary *s, uint32_t pair, enum gt_idle_cause cause,
		      const char *separator, char *text, size_t size);

/* Describe the time from a device's first activity to the first step of its loop, and the time
 * after. Return false if there is no such time, or it is short. */
bool report_idle_startup(const struct summary *s, const struct summary_track *d, char *text,
			 size_t size);

/* Print a note below a table that lists the unrecorded times of devices, which the table
 * excludes. */
void report_idle_note(struct grid *g, const struct summary *s);
/* Write these times as JSON: "not_recorded". */
void report_idle_json(struct json *j, const struct summary *s);

/* Return the idle time of one phase of a device. */
uint64_t report_idle_phase_ns(const struct summary *s, uint32_t device, enum idle_phase phase);
/* Return the cause with the largest part of the gap. */
enum gt_idle_cause report_idle_gap_cause(const struct idle_gap *gap);
/* Write the largest causes of a device's idle time for the end of a run: "58% host, outside any
 * call, 20% in a call that waits". Return false if no cause is large enough for a line. */
bool report_idle_line(const struct summary *s, uint32_t device, uint64_t span_ns, char *text,
		      size_t size);

#endif
