/* SPDX-License-Identifier: MIT */
/* Exporters: one table of functions for each format. */
#ifndef GPUTAP_EXPORT_EXPORT_H
#define GPUTAP_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/view_options.h"
#include "capture/capture.h"

struct gt_exporter {
	const char *name;              /* "perfetto" */
	const char *const *extensions; /* ".pftrace", NULL */
	const char *text;
	bool weighs; /* true if gt_view_options.weight is supported */
	/* Write @path, which must not exist. Return 0 or negative errno with a cause; on error the
	 * caller removes @path. */
	int (*write)(const struct gt_capture *c, const char *path,
		     const struct gt_view_options *options);
};

/* NULL-terminated */
extern const struct gt_exporter *const gt_exporters[];

/* Find the exporter for the longest matching extension of @path; NULL: unknown format. */
const struct gt_exporter *gt_exporter_for_path(const char *path);
/* Find an exporter by name or extension, with or without the dot. */
const struct gt_exporter *gt_exporter_find(const char *name);

/* Call @write with a temporary name next to @path, and rename the complete file to @path. Return
 * -EEXIST if @path exists and @replace is false. */
int gt_export_publish(const char *path, bool replace,
		      int (*write)(void *data, const char *temporary), void *data);

/* Write a capture to a temporary name next to @path, and rename the complete file to @path. Return
 * -EEXIST if @path exists and @replace is false. */
int gt_export(const struct gt_exporter *exporter, const struct gt_capture *c, const char *path,
	      bool replace, const struct gt_view_options *options);

#endif
