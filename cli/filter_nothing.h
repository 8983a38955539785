/* SPDX-License-Identifier: MIT */
/* Why an expression holds for no record. Call after the capture was read with it. */
#ifndef GPUTAP_CLI_FILTER_NOTHING_H
#define GPUTAP_CLI_FILTER_NOTHING_H

#include <stddef.h>

#include "cli/filter.h"

enum { FILTER_WHY_BYTES = 160 };
/* A clause that says why: "there is no range 'step'"; "" where that is not known. */
void filter_explain_nothing(const struct filter *f, char why[FILTER_WHY_BYTES]);
/* Say on stderr that no record matched, and why. @of: which records; "": any. */
void filter_note_nothing(const struct filter *f, const char *expression, const char *of);

#endif
