/* SPDX-License-Identifier: MIT */
/* Tables of device code in `gputap info` and `gputap report`: loaded code objects, their kernels,
 * and the times at which code objects were loaded and unloaded. A report also shows how often each
 * kernel was dispatched. */
#ifndef GPUTAP_CLI_INFO_CODE_H
#define GPUTAP_CLI_INFO_CODE_H

#include "analysis/tables/dispatches.h"
#include "capture/capture.h"
#include "cli/grid.h"

/* Input of the tables. Times are relative to the start of the capture's first session. */
struct info_code {
	const struct gt_capture *capture;    /* NULL: no rows */
	const struct dispatches *dispatches; /* NULL: dispatches are not counted or shown */
	bool mangled;                        /* true: show kernel names as recorded */
};

void info_code_objects(struct grid *g, const struct info_code *code);
void info_code_kernels(struct grid *g, const struct info_code *code);

/* Columns of the tables that show dispatches. */
extern const struct grid_column info_code_object_columns[11], info_code_kernel_columns[20];

#endif
