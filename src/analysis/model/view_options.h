/* SPDX-License-Identifier: MIT */
/* Options for reading a capture completely. */
#ifndef GPUTAP_ANALYSIS_MODEL_VIEW_OPTIONS_H
#define GPUTAP_ANALYSIS_MODEL_VIEW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Meaning of the numbers in a call tree. */
enum gt_view_weight {
	/* device time if there is any, otherwise host time; formats with several profiles contain
	 * both */
	GT_WEIGHT_USUAL,
	GT_WEIGHT_DEVICE,
	GT_WEIGHT_HOST,
};

struct gt_view_options {
	/* command that made the export, for the metadata of the file; may be NULL */
	const char *command_line;
	/* true if kernel names stay as recorded, not demangled */
	bool mangled;
	enum gt_view_weight weight;
	unsigned jobs; /* maximum number of threads that read the capture; 0 and 1: no threads */
	void (*progress)(void *data, uint64_t done, uint64_t total); /* may be NULL */
	void *progress_data;
};

#endif
