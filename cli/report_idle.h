/* SPDX-License-Identifier: MIT */
/* What reports say of idle devices, in words. */
#ifndef GPUTAP_CLI_REPORT_IDLE_H
#define GPUTAP_CLI_REPORT_IDLE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/grid.h"
#include "cli/json.h"
#include "cli/summary.h"

/* Idle time of a row's device, whoever ended its gaps. */
uint64_t report_idle_device_ns(const struct summary *s, uint32_t device);

/* "clFinish 80%, clBuildProgram 12%": the calls, ranges or work that the cause's time of the row
 * went to; "": it says nothing of that. */
void report_idle_mostly(const struct summary *s, uint32_t row, enum gt_idle_cause cause, char *text,
			size_t size);

/* Below a table: what of which device was not recorded, and is not in it. */
void report_idle_note(struct grid *g, const struct summary *s);
/* The same for programs: "not_recorded". */
void report_idle_json(struct json *j, const struct summary *s);

/* The cause of most of the gap. */
enum gt_idle_cause report_idle_gap_cause(const struct idle_gap *gap);
/* "58% host, outside any call, 20% in a call that waits": the largest causes of a device's idle
 * time, for the end of a run. Return: false: there is nothing worth a line. */
bool report_idle_line(const struct summary *s, uint32_t device, uint64_t span_ns, char *text,
		      size_t size);

#endif
