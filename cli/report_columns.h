/* SPDX-License-Identifier: MIT */
/* Internals of report.h: columns of its tables. */
#ifndef GPUTAP_CLI_REPORT_COLUMNS_H
#define GPUTAP_CLI_REPORT_COLUMNS_H

#include "cli/grid.h"

struct report_table_columns {
	const struct grid_column *columns;
	unsigned count;
	const char *heading; /* NULL: the table is defined in info_code.h */
	size_t usual_top;    /* default number of rows; 0: all */
};

/* In the order of enum report_table. */
extern const struct report_table_columns report_table_columns[];

#endif
