/* SPDX-License-Identifier: MIT */
/* Where device work was launched from, by the call stack of its call; and slow calls, by theirs.
 * Memory is bounded by the number of different stacks and names, but for 16 bytes a call that has
 * a stack. */
#ifndef GPUTAP_CLI_LAUNCHED_H
#define GPUTAP_CLI_LAUNCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/callstacks.h"
#include "cli/grid.h"
#include "cli/lookup.h"
#include "record/operation.h"

struct launched_row {
	uint32_t process, stack; /* of the capture; stack 0: without */
	uint32_t name;           /* number of the caller's, of a kernel, a copy, a call */
	bool is_call;            /* else device work */
	bool launches;           /* a call that does */
	uint64_t count, ns;
};

/* Zero-initialised is empty. */
struct launched {
	bool wanted;   /* set by the caller before the first record; else nothing is kept */
	size_t frames; /* lines of a stack for people; 0: all */
	struct gt_call_stacks *calls;
	struct launched_row *rows;
	uint32_t count, room;
	struct idmap by_hash;
};

/* Return: 0 or negative errno with a cause. */
int launched_begin(struct launched *l, const struct gt_capture *capture);
/* Work of the call @id. */
void launched_work(struct launched *l, uint32_t process, uint64_t id, uint32_t name, uint64_t ns);
/* A call; it counts if it has a stack. */
struct launched_call {
	uint32_t process, name;
	uint64_t id, ns;
	enum gt_operation_kind kind;
};
void launched_call(struct launched *l, const struct launched_call *call);
void launched_fini(struct launched *l);

struct summary;
/* Table `stacks`: rows into @g, which has these columns. */
enum { LAUNCHED_COLUMNS = 8 };
extern const struct grid_column launched_columns[LAUNCHED_COLUMNS];
void make_launched(struct grid *g, const struct summary *s);

#endif
