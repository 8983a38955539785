/* SPDX-License-Identifier: MIT */
/* Ranks of a job beside each other: for how long each had its devices busy, was in calls, waited
 * in collective calls, and made others wait. capture/collectives.h matches the calls.
 *
 * Of one call of all: who came last made each other one wait from its own begin to the last one's,
 * or to its own return where clocks of hosts do not agree better. Where kernels do it (NCCL, RCCL),
 * that is so of the kernels. */
#ifndef GPUTAP_CLI_RANKS_H
#define GPUTAP_CLI_RANKS_H

#include "capture/collective_match.h"
#include "cli/lookup.h"
#include "cli/timeline.h"

enum {
	RANKS_PAIRS_MOST = 2048,      /* of so many ranks it is kept who waited for whom */
	RANKS_PARTS_MOST = 48u << 20, /* of collective calls: 1.5 GiB */
};

struct ranks_row {
	uint32_t rank, host; /* host: name */
	uint32_t processes;
	uint64_t start_ns, end_ns; /* of its processes, as far as that is known */
	uint64_t call_ns;          /* in outermost calls */
	uint64_t collective_ns;    /* in collective calls */
	uint64_t collectives;
	uint64_t compared;        /* collective calls in which it is known who waited */
	uint64_t wait_ns;         /* in those */
	uint64_t caused_ns, last; /* others waited for it so long in all, in so many calls */
	uint64_t device_wait_ns;  /* of wait_ns: its devices did, in kernels */
	uint64_t message_wait_ns; /* of it: for messages */
	uint64_t messages;        /* that it waited for, or sent, and that are compared */
	uint64_t steps;           /* ranges of the program whose name begins with "step" */
	uint64_t work;
	uint64_t kernels, kernel_ns; /* of collectives, on devices */
	struct timeline busy;        /* all its devices together */
};

struct ranks_pair {
	uint64_t wait_ns;
	uint64_t device_wait_ns, message_wait_ns; /* of it */
	uint32_t calls;
};

/* Zero-initialised is empty. Of a single rank nothing is kept. */
struct ranks {
	struct ranks_row *rows;
	uint32_t count, room;
	struct idmap ids;     /* of rank and host -> row */
	uint32_t *of_process; /* row, LOOKUP_NONE: no rank */
	uint32_t process_room;
	uint8_t *kinds; /* by number of a kernel's name: 0 not known yet, 1 no, 2 a collective's */
	uint32_t kind_room;
	struct gt_collectives collectives;
	/* set by the caller: */
	const struct gt_capture *capture;
	struct timeline_pool *pool; /* outlives it */
	bool is_slice;              /* calls before it are not read */
	/* after ranks_finish() */
	uint64_t calls,
		unmatched; /* collective calls that were compared; those that could not be */
	uint64_t kernels, compared_kernels; /* of collectives; of these, in compared calls */
	uint64_t unlinked_kernels, graph_kernels;
	bool is_unsure;           /* of some nobody knows which ones are the same */
	struct ranks_pair *pairs; /* [who waited * count + for whom]; NULL: too many ranks */
};

/* The process, which counts for that rank; LOOKUP_NONE: it has none. */
void ranks_add_process(struct ranks *r, uint32_t process, uint32_t rank, uint32_t host);
/* Its life: 0: not known. */
void ranks_add_life(struct ranks *r, uint32_t process, uint64_t start_ns, uint64_t end_ns);
/* All calls of each process in order of their begin. @counts: its times count. */
void ranks_add_call(struct ranks *r, const struct gt_item *call, bool counts);
void ranks_add_work(struct ranks *r, uint32_t process, const struct timeline_span *span);
/* A kernel, by its name and the name's number: one of a library of collectives? @counts: its time
 * counts. */
void ranks_add_kernel(struct ranks *r, const struct gt_item *kernel, uint32_t number,
		      const char *name, bool counts);
void ranks_add_range(struct ranks *r, uint32_t process, const char *name);
/* Return: 0 or negative errno with a cause. */
int ranks_finish(struct ranks *r);
void ranks_fini(struct ranks *r);

/* The row for which others waited longest; LOOKUP_NONE: nobody waited. */
uint32_t ranks_straggler(const struct ranks *r);

#endif
