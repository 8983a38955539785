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
	enum gt_domain domain; /* whose description says the mode; GT_DOMAIN_NONE: none's */
};

struct mode_options {
	const char *mode, *domains, *ops, *kernels; /* as given; NULL: not */
	const struct mode *chosen;                  /* by mode_choose() */
};

/* All of it, into the session. Return: 0, or an exit status with everything said. */
int mode_choose(struct mode_options *options, struct gt_session *session);

/* The operation of @domains (a bit each) whose name is nearest to @word; NULL: none is near, or
 * @word is a pattern. */
const char *mode_nearest_operation(const char *word, uint32_t domains);

/* @word: of a domain or a family. Return: 0, or an exit status where nothing of it can be traced,
 * with those that can on stderr. */
int mode_check_domain(const char *word);

/* Mode that a capture's options text says; the default one: none, or one that this gputap does not
 * know. Never NULL. */
const struct mode *mode_of_options(const char *options);

/* Were calls asked for, so that device work can be linked to them? */
static inline bool mode_has_calls(const struct mode *mode)
{
	return mode->records != GT_MODE_LITE && mode->records != GT_MODE_STANDARD;
}

/**
 * mode_rtl_output() - RTL_OUTPUT as a file's name
 * Return: NULL: not set. "%p", which asks rocm-trace-lite for a file each process, becomes gputap's
 * own process number: one file holds them all.
 */
const char *mode_rtl_output(char *buffer, size_t size);

#endif
