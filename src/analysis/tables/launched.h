/* SPDX-License-Identifier: MIT */
/* Finds the call stacks from which GPU activities were launched, and the call stacks of slow calls.
 * Memory grows with the number of distinct stacks and names, plus 16 bytes for each call with a
 * stack. */
#ifndef GPUTAP_ANALYSIS_TABLES_LAUNCHED_H
#define GPUTAP_ANALYSIS_TABLES_LAUNCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/lookup.h"
#include "capture/callstacks.h"
#include "record/operation.h"

struct launched_row {
	uint32_t process, stack; /* numbers in the capture; stack 0: none */
	uint32_t name;           /* the caller's number of a kernel, a memcpy or a call */
	bool is_call;            /* false: a GPU activity */
	bool launches;           /* true for a call that launches GPU activities */
	uint64_t count, ns;
};

/* Empty if zero-initialised. */
struct launched {
	bool wanted;   /* set by the caller before the first record; false: keep nothing */
	size_t frames; /* largest number of text lines for a stack; 0: no limit */
	struct gt_call_stacks *calls;
	struct launched_row *rows;
	uint32_t count, room;
	struct idmap by_hash;
};

/* Prepare for a capture. Return: 0 or negative errno with a cause. */
int launched_begin(struct launched *l, const struct gt_capture *capture);
/* Add a GPU activity that call @id launched. */
void launched_activity(struct launched *l, uint32_t process, uint64_t id, uint32_t name,
		       uint64_t ns);
/* Add a call. Calls without a stack are ignored. */
struct launched_call {
	uint32_t process, name;
	uint64_t id, ns;
	enum gt_operation_kind kind;
};
void launched_call(struct launched *l, const struct launched_call *call);
void launched_fini(struct launched *l);

#endif
