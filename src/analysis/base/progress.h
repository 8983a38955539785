/* SPDX-License-Identifier: MIT */
/* Reports the progress of long work to the caller. */
#ifndef GPUTAP_ANALYSIS_BASE_PROGRESS_H
#define GPUTAP_ANALYSIS_BASE_PROGRESS_H

#include <stdint.h>

/* A receiver of reports; report NULL: none. @what: what is being read, valid during the call.
 * @done, @total: bytes; the last report has @done equal to @total. Called in the reading thread. */
struct progress {
	void (*report)(void *data, const char *what, uint64_t done, uint64_t total);
	void *data;
};

static inline void progress_report(const struct progress *p, const char *what, uint64_t done,
				   uint64_t total)
{
	if (p->report)
		p->report(p->data, what, done, total);
}

#endif
