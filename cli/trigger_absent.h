/* SPDX-License-Identifier: MIT */
/* Conditions of `--trigger` on records that do not come, at the start or the end of an expression:
 *
 *   no progress for 10s      gap>100ms      open>5s and name=MPI_Barrier
 *
 * The rest of the expression is one of --where. */
#ifndef GPUTAP_CLI_TRIGGER_ABSENT_H
#define GPUTAP_CLI_TRIGGER_ABSENT_H

#include "analysis/query/filter.h"
#include "collector/triggers.h"

struct trigger_absent {
	enum gt_trigger_what what; /* GT_TRIGGER_RECORD: the expression has no such condition */
	uint64_t least_ns;
	const char *rest; /* position of the rest in the expression; its length may be 0 */
	size_t rest_bytes;
};

/* Find the condition. Return false, with *error set, if the expression is invalid. */
bool trigger_absent_parse(const char *expression, struct trigger_absent *out,
			  struct filter_error *error);
/* Return the name of a condition: "open". */
const char *trigger_absent_name(enum gt_trigger_what what);

#endif
