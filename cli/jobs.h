/* SPDX-License-Identifier: MIT */
/* Number of threads of a command (-j). */
#ifndef GPUTAP_CLI_JOBS_H
#define GPUTAP_CLI_JOBS_H

enum { JOBS_DEFAULT_MOST = 8, JOBS_MOST = 64 };

/* Return the number of available processors, at most JOBS_DEFAULT_MOST. */
unsigned jobs_default(void);
/* Parse the value of -j. Return GT_EXIT_OK and *jobs, or GT_EXIT_USAGE after reporting an error. */
int jobs_option(const char *value, unsigned *jobs);

#endif
