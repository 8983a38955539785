/* SPDX-License-Identifier: MIT */
/* Compares the ranks of a job: how long each rank kept its devices busy, was in calls, waited in
 * collective calls, and made other ranks wait. capture/collectives.h matches the calls.
 *
 * In a collective call, the last rank to arrive makes each other rank wait. The wait lasts from the
 * waiting rank's start to the last rank's start. If the clocks of the hosts are not precise enough,
 * the wait ends no later than the waiting rank's own return. If kernels execute the collective
 * (NCCL, RCCL), the same is computed for the kernels. */
#ifndef GPUTAP_ANALYSIS_TABLES_RANK_SUMS_H
#define GPUTAP_ANALYSIS_TABLES_RANK_SUMS_H

#include "analysis/base/lookup.h"
#include "analysis/tables/missing_ranks.h"
#include "analysis/tables/timeline.h"
#include "capture/collective_match.h"

enum {
	RANKS_PAIRS_MOST = 2048, /* largest number of ranks for which pairs of ranks are kept */
	/* largest number of parts of collective calls, which take up to 1.5 GiB */
	RANKS_PARTS_MOST = 48u << 20,
};

struct ranks_row {
	uint32_t rank, host; /* host: number of its name */
	uint32_t processes;
	/* first start and last end of the rank's processes, as far as known */
	uint64_t start_ns, end_ns;
	uint64_t call_ns;       /* time in outermost calls */
	uint64_t collective_ns; /* time in collective calls */
	uint64_t collectives;
	uint64_t compared; /* number of collective calls for which waits are known */
	uint64_t wait_ns;  /* wait in the compared calls */
	/* total time that other ranks waited for this rank, and number of calls in which it was the
	 * last */
	uint64_t caused_ns, last;
	uint64_t device_wait_ns;  /* part of wait_ns that devices spent waiting in kernels */
	uint64_t message_wait_ns; /* part of wait_ns that the rank spent waiting for messages */
	uint64_t messages;        /* number of compared messages that the rank waited for or sent */
	uint64_t steps;           /* number of program ranges whose names begin with "step" */
	uint64_t activity;
	uint64_t kernels, kernel_ns; /* number and time of the kernels that execute collectives */
	struct timeline busy;        /* union of the busy times of all devices of the rank */
};

struct ranks_pair {
	uint64_t wait_ns;
	uint64_t device_wait_ns, message_wait_ns; /* parts of wait_ns */
	uint32_t calls;
};

/* A wait of a process for another process. */
struct ranks_wait {
	uint32_t process, for_process;
	uint64_t start_ns, end_ns;
	uint32_t op; /* the collective call; 0: a message */
	bool on_device;
};

/* The call of a process that returned last. */
struct ranks_last {
	uint64_t end_ns;
	uint32_t op; /* 0: none */
	uint32_t thread;
};

/* Empty if zero-initialised. If there is only one rank, nothing is kept. */
struct ranks {
	struct ranks_row *rows;
	uint32_t count, room;
	struct idmap ids;     /* rank and host -> row */
	uint32_t *of_process; /* row of each process; LOOKUP_NONE: no rank */
	uint32_t process_room;
	/* indexed by number of a kernel's name. 0: not known yet, 1: not a kernel of a collective,
	 * 2: kernel of a collective */
	uint8_t *kinds;
	uint32_t kind_room;
	struct gt_collectives collectives;
	struct ranks_last *last; /* by process */
	uint32_t last_count;
	/* The caller sets these fields */
	const struct gt_capture *capture;
	struct timeline_pool *pool; /* must outlive this struct */
	bool is_part;               /* true if earlier calls are not read */
	/* receives each wait that ranks_finish() finds, in any order; NULL: none */
	void (*each)(void *to, const struct ranks_wait *wait);
	void *to;
	/* Valid after ranks_finish() */
	uint64_t calls,
		/* numbers of compared collective calls, and of calls that could not be compared */
		unmatched;
	/* number of kernels that execute collectives; number of these kernels in compared calls */
	uint64_t kernels, compared_kernels;
	uint64_t unlinked_kernels, graph_kernels;
	bool is_unsure;           /* true if some calls could not be matched with certainty */
	struct hang_verdict hung; /* sentences on ranks that keep others waiting */
	/* index: waiting rank * count + rank that it waited for; NULL: too many ranks */
	struct ranks_pair *pairs;
};

/* Add a process. @rank: LOOKUP_NONE: the process has no rank. */
void ranks_add_process(struct ranks *r, uint32_t process, uint32_t rank, uint32_t host);
/* Add a process's start and end; 0: not known. */
void ranks_add_life(struct ranks *r, uint32_t process, uint64_t start_ns, uint64_t end_ns);
/* Add a call. Call for all calls of each process, in order of their start. @counts: true if the
 * call's times count. */
void ranks_add_call(struct ranks *r, const struct gt_item *call, bool counts);
void ranks_add_activity(struct ranks *r, uint32_t process, const struct timeline_span *span);
/* Add a kernel, with its name and the name's number, if it belongs to a library of collectives.
 * @counts: true if the kernel's time counts. */
void ranks_add_kernel(struct ranks *r, const struct gt_item *kernel, uint32_t number,
		      const char *name, bool counts);
void ranks_add_range(struct ranks *r, uint32_t process, const char *name);
/* Compute the results. Return: 0 or negative errno with a cause. */
int ranks_finish(struct ranks *r);
void ranks_fini(struct ranks *r);

/* Return the row of the rank that others waited for longest; LOOKUP_NONE: no rank waited. */
uint32_t ranks_straggler(const struct ranks *r);

#endif
