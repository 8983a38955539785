/* SPDX-License-Identifier: MIT */
/* Finds the ranks that keep others waiting, in running sessions. A job has one session, or one per
 * rank. missing_ranks.h makes the verdict. */
#ifndef GPUTAP_CLI_HUNG_JOBS_H
#define GPUTAP_CLI_HUNG_JOBS_H

#include "analysis/tables/missing_ranks.h"
#include "cli/stuck_threads.h"

/* Find the verdict on all jobs. @least_ns: shorter waits are not reported */
void hung_jobs_find(const struct stuck_list *list, uint64_t least_ns, struct hang_verdict *out);

/* Print the member "waiting_ranks": the sentences, each with its first ranks and call. */
void hung_jobs_print_json(const struct hang_verdict *v, struct json *j);

#endif
