/* SPDX-License-Identifier: MIT */
/* The ranges of a capture, read before its records are shown to a filter that asks for them: which
 * records are in them (enclosing.h), and which of them an expression counts (filter.h). */
#ifndef GPUTAP_CLI_ENCLOSING_READ_H
#define GPUTAP_CLI_ENCLOSING_READ_H

#include "capture/capture.h"
#include "cli/enclosing.h"
#include "cli/filter.h"

/* Does the filter ask for ranges? */
static inline bool enclosing_is_asked(const struct filter *f)
{
	return filter_asks(f, FILTER_RANGE) || filter_occurrence_count(f);
}

/**
 * enclosing_read() - one pass over the capture, and another one where threads end each other's
 * ranges
 * @names: gets the ranges' names; enclosing_names() gives numbers of it
 * Return: 0 or negative errno with a cause.
 */
int enclosing_read(struct enclosing *e, struct texts *names, struct filter *f,
		   const struct gt_capture *capture);

#endif
