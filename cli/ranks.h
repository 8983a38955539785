/* SPDX-License-Identifier: MIT */
/* Compare the ranks of a job: for how long each had its devices busy, was in calls, waited
 * in collective calls, and made others wait. capture/collectives.h matches the calls.
 *
 * In a collective call, the last rank to arrive made each other rank wait from that rank's own
 * start to the last one's start, or to the rank's own return if the clocks of hosts do not agree
 * better. If kernels do the work (NCCL, RCCL), the same is computed for the kernels. */
#ifndef GPUTAP_CLI_RANKS_H
#define GPUTAP_CLI_RANKS_H

#include "capture/collective_match.h"
#include "cli/lookup.h"
#include "cli/timeline.h"

enum {
	RANKS_PAIRS_MOST = 2048,      /* up to this many ranks, pairs of ranks are kept */
	RANKS_PARTS_MOST = 48u << 20, /* parts of collective calls: 1.5 GiB */
};

struct ranks_row {
	uint32_t rank, host; /* host: name */
	uint32_t processes;
	uint64_t start_ns, end_ns; /* of its processes, as far as known */
	uint64_t call_ns;          /* time in outermost calls */
	uint64_t collective_ns;    /* time in collective calls */
	uint64_t collectives;
	uint64_t compared;        /* collective calls for which waits are known */
	uint64_t wait_ns;         /* in those calls */
	uint64_t caused_ns, last; /* total time that others waited for it; number of such calls */
	uint64_t device_wait_ns;  /* part of wait_ns: its devices waited, in kernels */
	uint64_t message_wait_ns; /* part of it: for messages */
	uint64_t messages;        /* messages that it waited for or sent, and that were compared */
	uint64_t steps;           /* ranges of the program whose names begin with "step" */
	uint64_t work;
	uint64_t kernels, kernel_ns; /* kernels of collectives, on devices */
	struct timeline busy;        /* of all its devices together */
};

struct ranks_pair {
	uint64_t wait_ns;
	uint64_t device_wait_ns, message_wait_ns; /* parts of wait_ns */
	uint32_t calls;
};

/* Zero-initialised is empty. For a single rank nothing is kept. */
struct ranks {
	struct ranks_row *rows;
	uint32_t count, room;
	struct idmap ids;     /* rank and host -> row */
	uint32_t *of_process; /* row, LOOKUP_NONE: no rank */
	uint32_t process_room;
	uint8_t *kinds; /* by number of a kernel's name: 0 not known yet, 1 no, 2 a collective's */
	uint32_t kind_room;
	struct gt_collectives collectives;
	/* the caller sets these */
	const struct gt_capture *capture;
	struct timeline_pool *pool; /* must outlive it */
	bool is_slice;              /* true if earlier calls are not read */
	/* valid after ranks_finish() */
	uint64_t calls,
		unmatched; /* collective calls that were compared; those that could not be */
	uint64_t kernels, compared_kernels; /* of collectives; those in compared calls */
	uint64_t unlinked_kernels, graph_kernels;
	bool is_unsure;           /* true if some could not be matched with certainty */
	struct ranks_pair *pairs; /* [waiting rank * count + its target]; NULL: too many ranks */
};

/* Add a process, which counts for that rank; LOOKUP_NONE: it has none. */
void ranks_add_process(struct ranks *r, uint32_t process, uint32_t rank, uint32_t host);
/* Add a process's life; 0: not known. */
void ranks_add_life(struct ranks *r, uint32_t process, uint64_t start_ns, uint64_t end_ns);
/* Add all calls of each process in order of their start. @counts: true if its times count. */
void ranks_add_call(struct ranks *r, const struct gt_item *call, bool counts);
void ranks_add_work(struct ranks *r, uint32_t process, const struct timeline_span *span);
/* Add a kernel, with its name and the name's number, if it belongs to a library of collectives.
 * @counts: true if its time counts. */
void ranks_add_kernel(struct ranks *r, const struct gt_item *kernel, uint32_t number,
		      const char *name, bool counts);
void ranks_add_range(struct ranks *r, uint32_t process, const char *name);
/* Return: 0 or negative errno with a cause. */
int ranks_finish(struct ranks *r);
void ranks_fini(struct ranks *r);

/* Return the row for which others waited longest; LOOKUP_NONE: no rank waited. */
uint32_t ranks_straggler(const struct ranks *r);

#endif
