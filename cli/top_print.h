/* SPDX-License-Identifier: MIT */
/* Print the sums of `gputap top`: tables, or JSON. */
#ifndef GPUTAP_CLI_TOP_PRINT_H
#define GPUTAP_CLI_TOP_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/tables/top_sums.h"
#include "cli/stuck_threads.h"
#include "cli/top_session.h"

enum top_order { TOP_BY_TIME, TOP_BY_COUNT, TOP_BY_MEAN, TOP_BY_NAME, TOP_ORDER_COUNT };
extern const char *const top_order_names[]; /* NULL-terminated */

struct top_view {
	const struct top_sums *sums;
	const struct top_session *session;
	const struct stuck_list *stuck;   /* threads without progress */
	uint64_t interval_ns, elapsed_ns; /* time of the sums, and time since top began */
	uint64_t from_ns, to_ns; /* time range in which busy times of devices are computed */
	const char *state;       /* state of the session: "recording", "ended" and so on */
	enum top_order order;
	bool held;   /* true if the view is frozen */
	size_t rows; /* largest number of rows in a table; 0: all */
};

void top_print_text(const struct top_view *v, FILE *out);
void top_print_json(const struct top_view *v, FILE *out);

#endif
