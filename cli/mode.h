/* SPDX-License-Identifier: MIT */
/* How much `gputap run` records: --mode, --domains, --ops, --kernels, and rocm-trace-lite's
 * RTL_MODE and RTL_OUTPUT. */
#ifndef GPUTAP_CLI_MODE_H
#define GPUTAP_CLI_MODE_H

#include <stdbool.h>
#include <stddef.h>

#include "record/domain.h"
#include "ring/session.h"

struct mode {
	const char *name;
	enum gt_mode records;
	enum gt_domain domain; /* domain whose description has the mode; GT_DOMAIN_NONE: none */
};

struct mode_options {
	const char *mode, *domains, *ops, *kernels; /* as given; NULL: not given */
	const struct mode *chosen;                  /* set in mode_choose() */
};

/* Apply all options to the session. Return 0, or an exit status if an error was reported. */
int mode_choose(struct mode_options *options, struct gt_session *session);

/* Return the operation of @domains (a bit each) whose name is nearest to @word; NULL if none is
 * near, or @word is a pattern. */
const char *mode_nearest_operation(const char *word, uint32_t domains);

/* @word: a domain or a family. Return 0, or an exit status if no part of it can be traced, after
 * listing on stderr those that can. */
int mode_check_domain(const char *word);

/* Return the mode in a capture's options text; the default one if there is none or this gputap does
 * not know it. Never NULL. */
const struct mode *mode_of_options(const char *options);

/* Return true if `gputap run` without options records the calls of @domain. */
bool mode_records_calls(enum gt_domain domain);

/* Return true if calls are requested, so that GPU activities can be linked to them. */
static inline bool mode_has_calls(const struct mode *mode)
{
	return mode->records != GT_MODE_LITE && mode->records != GT_MODE_STANDARD;
}

/**
 * mode_rtl_output() - return RTL_OUTPUT as a file name
 * Return: NULL: not set. "%p", which requests a file per process from rocm-trace-lite, becomes
 * gputap's own process id: one file holds all processes.
 */
const char *mode_rtl_output(char *buffer, size_t size);

#endif
