/* SPDX-License-Identifier: MIT */
/* Internals of idle_states.h: splits an interval of a thread into spans. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_INTERVAL_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_INTERVAL_H

#include "analysis/idle/idle_states.h"

/* Return the largest distance between the edge of an interval and the usage that was read there.
 * The thread reads its usage only at edges, before the start of a call or after its end. */
static inline uint64_t idle_edge_ns(uint64_t from, uint64_t to)
{
	return (to - from) / 2;
}

/* Sums since the start of the thread. */
struct idle_usage {
	uint64_t cpu_ns, system_ns; /* system_ns 0: not recorded */
	uint64_t voluntary, involuntary, minor_faults, major_faults;
};

/* A reading. Must not contain padding. */
struct idle_state_row {
	uint64_t start, end;
	struct idle_usage usage;   /* GT_HOST_USAGE */
	uint64_t cpu_ns, delay_ns; /* GT_HOST_STATE */
	uint32_t thread, wait;
	uint8_t detail, state, has_holder, pad[5];
};

static inline bool idle_is_usage_from(const struct idle_state_row *row, uint64_t time)
{
	return row->detail == GT_HOST_USAGE && row->start >= time;
}

/* Split the interval @v, whose edges are set. @rows: readings in order of their start. They include
 * the last usage at the interval's start, its states, and the first usage at its end. */
void idle_interval_split(struct idle_interval *v, const struct idle_state_row *rows, size_t count);

#endif
