/* SPDX-License-Identifier: MIT */
/* Modes of `gputap run --mode`, as a capture's options text names them. */
#ifndef GPUTAP_ANALYSIS_TABLES_MODES_H
#define GPUTAP_ANALYSIS_TABLES_MODES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/domain.h"
#include "ring/session.h"

struct mode {
	const char *name;
	enum gt_mode records;
	enum gt_domain domain; /* domain whose description defines the mode; GT_DOMAIN_NONE: none */
};

enum { MODES_MOST = 16 };
/* All modes; the first one is the default. The list ends with a name of NULL. */
extern const struct mode modes[];

/* Return the mode in a capture's options text. If the text contains no mode, or one that this
 * gputap does not know, return the default mode. Never NULL. */
const struct mode *mode_of_options(const char *options);

/* Return true if `gputap run` without options records the calls of @domain. */
bool mode_records_calls(enum gt_domain domain);

/* Return the domains whose calls are recorded only on request, one bit each: other domains are
 * built on them, or their descriptions say so. */
uint64_t mode_lower_domains(void);

/* Return true if calls are requested, so that GPU activities can be linked to them. */
static inline bool mode_has_calls(const struct mode *mode)
{
	return mode->records != GT_MODE_LITE && mode->records != GT_MODE_STANDARD;
}

#endif
