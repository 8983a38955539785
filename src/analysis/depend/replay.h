/* SPDX-License-Identifier: MIT */
/* Replays the graph of depend.h with changed durations: each node begins as soon as its
 * dependencies are met. Time outside any call keeps its length. */
#ifndef GPUTAP_ANALYSIS_DEPEND_REPLAY_H
#define GPUTAP_ANALYSIS_DEPEND_REPLAY_H

#include "analysis/depend/depend.h"

/* Values of lags that are estimated. */
enum replay_lags { REPLAY_USUAL, REPLAY_LOW, REPLAY_HIGH };

struct replay_change {
	bool scales;      /* apply the nodes' factors and `frees` */
	uint32_t removed; /* class whose nodes are gone; LOOKUP_NONE: none */
	enum replay_lags lags;
};

struct replay {
	const struct depend *depend;
	/* new start and end of each node, in ns since depend.start */
	uint64_t *start, *end;
	uint32_t *through; /* edge that each node waited for; LOOKUP_NONE: none */
	uint64_t length;   /* of the run, or the mean of the ranges if there are any */
	uint32_t last;     /* node that ends last, in the last range */
	uint64_t until;    /* end of the last range; 0: no ranges */
};

/* A share of the critical path: the nodes of a class, or the lags of edges of a kind. */
struct replay_share {
	uint32_t class; /* LOOKUP_NONE: lags */
	enum depend_kind kind;
	uint64_t ns, count;
};

struct replay_path {
	/* largest first; if there are ranges, the time in ranges, divided by their number */
	struct replay_share *shares;
	size_t count;
};

void replay_init(struct replay *r, const struct depend *d);
/* Compute new times. */
void replay_run(struct replay *r, const struct replay_change *change);
/* Find the critical path of the last replay. */
struct replay_path replay_find_path(const struct replay *r);
void replay_path_fini(struct replay_path *p);
void replay_fini(struct replay *r);

/* The effect of removing a class. */
struct replay_candidate {
	uint32_t class;
	uint64_t length, count, ns; /* count, ns: of the class, as recorded */
};
/* Replay without each of the @most classes that take the most time, and sort by the new length.
 * Return their number. */
size_t replay_rank_removals(struct replay *r, const struct replay_change *base,
			    struct replay_candidate *out, size_t most);

#endif
