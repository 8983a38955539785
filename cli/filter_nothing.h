/* SPDX-License-Identifier: MIT */
/* Explain why an expression matches no record. Call after the capture was read with it. */
#ifndef GPUTAP_CLI_FILTER_NOTHING_H
#define GPUTAP_CLI_FILTER_NOTHING_H

#include <stddef.h>

#include "cli/filter.h"

enum { FILTER_WHY_BYTES = 160 };
/* Write a clause with the reason, such as a missing range; "" if not known. */
void filter_explain_nothing(const struct filter *f, char why[FILTER_WHY_BYTES]);
/* Note on stderr that no record matched, and why. @of: kind of records; "": any. */
void filter_note_nothing(const struct filter *f, const char *expression, const char *of);

#endif
