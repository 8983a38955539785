/* SPDX-License-Identifier: MIT */
/* Explains why an expression matches no record. Call after reading the capture with the
 * expression. */
#ifndef GPUTAP_ANALYSIS_QUERY_FILTER_NOTHING_H
#define GPUTAP_ANALYSIS_QUERY_FILTER_NOTHING_H

#include <stddef.h>

#include "analysis/query/filter.h"

enum { FILTER_WHY_BYTES = 160 };
/* Write a clause with the reason, such as a missing range; "": the reason is not known. */
void filter_explain_nothing(const struct filter *f, char why[FILTER_WHY_BYTES]);

#endif
