/* SPDX-License-Identifier: MIT */
/* Limits of patterns, which docs/guides/patterns.md documents. */
#ifndef GPUTAP_ANALYSIS_PATTERNS_PATTERN_LIMITS_H
#define GPUTAP_ANALYSIS_PATTERNS_PATTERN_LIMITS_H

enum {
	PATTERN_LEAST = 20,       /* occurrences */
	PATTERN_BUILDS_LEAST = 3, /* builds of device code after work has begun */
	/* launches after which a thread is in its loop, and no longer starting up */
	PATTERN_START_LAUNCHES = 10,
	PATTERN_SMALL_BYTES = 64,        /* largest copy of SMALL_COPIES */
	PATTERN_RUN_BYTES = 64 << 10,    /* largest copy of COPY_RUNS */
	PATTERN_COPIES_LEAST = 8,        /* copies in a row */
	PATTERN_QUERIES_LEAST = 20,      /* queries in a row */
	PATTERN_KERNELS_LEAST = 100,     /* kernels of SMALL_KERNELS */
	PATTERN_SHORT_KERNEL_NS = 50000, /* median of SMALL_KERNELS, exclusive */
	/* gaps that are so short come from the launches themselves, not from other work */
	PATTERN_SHORT_GAP_NS = 200000,
	/* share of the time in such gaps, from which SMALL_KERNELS is a pattern */
	PATTERN_HOST_BOUND_PERCENT = 20,
};

#endif
