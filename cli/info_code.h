/* SPDX-License-Identifier: MIT */
/* Device code in `gputap info` and `gputap report`: what was loaded and which kernels are in it,
 * from when until when; in a report also how often they were dispatched. */
#ifndef GPUTAP_CLI_INFO_CODE_H
#define GPUTAP_CLI_INFO_CODE_H

#include "capture/capture.h"
#include "cli/grid.h"
#include "cli/lookup.h"

/* How often each kernel symbol was dispatched. Zero-initialised is empty. */
struct dispatches {
	struct idmap ids; /* process << 32 | number of the symbol -> count */
	uint64_t *counts;
	uint32_t count, room;
};

/* Device work; what is no kernel, or one of no known symbol, is left out. */
void dispatches_add(struct dispatches *d, const struct gt_item *item);
void dispatches_fini(struct dispatches *d);

/* What the tables are made from. Times are since the begin of the capture's first session. */
struct info_code {
	const struct gt_capture *capture;    /* NULL: no rows */
	const struct dispatches *dispatches; /* NULL: were not counted, the tables are without */
	bool mangled;                        /* names of kernels as they were recorded */
};

void info_code_objects(struct grid *g, const struct info_code *code);
void info_code_kernels(struct grid *g, const struct info_code *code);

/* Columns of the tables with dispatches. */
extern const struct grid_column info_code_object_columns[11], info_code_kernel_columns[20];

#endif
