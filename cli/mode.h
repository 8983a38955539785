/* SPDX-License-Identifier: MIT */
/* Options that select the records of `gputap run`: --mode, --domains, --ops, --kernels, and
 * rocm-trace-lite's RTL_MODE and RTL_OUTPUT. */
#ifndef GPUTAP_CLI_MODE_H
#define GPUTAP_CLI_MODE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/tables/modes.h"
#include "ring/session.h"

struct mode_options {
	const char *mode, *domains, *ops, *kernels; /* arguments of the options; NULL: not given */
	const struct mode *chosen;                  /* mode that mode_choose() has chosen */
};

/* Apply all options to the session. Return 0, or an exit status if an error was reported. */
int mode_choose(struct mode_options *options, struct gt_session *session);

/* Return the operation whose name is nearest to @word, in @domains (one bit each); NULL: no name is
 * near, or @word is a pattern. */
const char *mode_nearest_operation(const char *word, uint64_t domains);

/* Check that some domain of @word, which is a domain or a family, can be traced. If not, list the
 * traceable domains on stderr and return an exit status. Otherwise return 0. */
int mode_check_domain(const char *word);

/**
 * mode_rtl_output() - return RTL_OUTPUT as a file name
 * Return: NULL: not set. "%p", which requests a file per process from rocm-trace-lite, becomes
 *         gputap's own process id, because one file contains all processes.
 */
const char *mode_rtl_output(char *buffer, size_t size);

#endif
