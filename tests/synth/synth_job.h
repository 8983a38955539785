/* SPDX-License-Identifier: MIT */
/* A rank of an MPI job, as synth.c writes it: the captures of all ranks agree about the times of
 * collective calls, except for the clocks of the ranks' hosts.
 *
 * In job time, collective call k is at k periods. Each rank arrives with a delay below JITTER_NS,
 * and rank (k modulo size) with exactly JITTER_NS; --late-rank arrives --late-by later. All ranks
 * leave LEAVE_NS after the last arrival, or a little later. A host's clock starts at --start and
 * runs --drift ppm too fast. */
#ifndef SYNTH_JOB_H
#define SYNTH_JOB_H

#include <stdint.h>

enum { JITTER_NS = 20000, LEAVE_NS = 3000 };

struct synth_job {
	unsigned size, rank;
	int late_rank;    /* -1: none */
	uint64_t late_ns; /* how much */
	uint64_t every;   /* number of the thread's calls between two collective calls */
	uint64_t period_ns;
	int64_t drift_ppm;
};

static inline uint64_t synth_job_hash(uint64_t a, uint64_t b)
{
	uint64_t h =
		(a + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (b + 1) * UINT64_C(0xd6e8feb86659fd93);

	return (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9) >> 33;
}

static inline uint64_t synth_job_local_ns(const struct synth_job *j, uint64_t ns)
{
	return ns + (uint64_t)((int64_t)ns / 1000000 * j->drift_ppm);
}

/* Return the time of arrival, in ns since the host's clock started. */
static inline uint64_t synth_job_arrives_ns(const struct synth_job *j, uint64_t k)
{
	uint64_t delay =
		k % j->size == j->rank ? JITTER_NS : synth_job_hash(j->rank, k) % JITTER_NS;

	if ((int)j->rank == j->late_rank)
		delay = JITTER_NS + j->late_ns;
	return synth_job_local_ns(j, (k + 1) * j->period_ns + delay);
}

static inline uint64_t synth_job_leaves_ns(const struct synth_job *j, uint64_t k)
{
	uint64_t last = JITTER_NS + (j->late_rank >= 0 ? j->late_ns : 0);

	return synth_job_local_ns(j, (k + 1) * j->period_ns + last + LEAVE_NS +
					     synth_job_hash(k, j->rank) % 500);
}

#endif
