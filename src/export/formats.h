/* SPDX-License-Identifier: MIT */
/* The exporters of all formats, for the list in export.c. */
#ifndef GPUTAP_EXPORT_FORMATS_H
#define GPUTAP_EXPORT_FORMATS_H

#include "export/export.h"

extern const struct gt_exporter gt_exporter_perfetto;   /* perfetto.c */
extern const struct gt_exporter gt_exporter_chrome;     /* chrome.c */
extern const struct gt_exporter gt_exporter_chrome_gz;  /* chrome.c */
extern const struct gt_exporter gt_exporter_hta;        /* chrome.c */
extern const struct gt_exporter gt_exporter_rpd;        /* rpd.c */
extern const struct gt_exporter gt_exporter_rocpd;      /* rocpd.c */
extern const struct gt_exporter gt_exporter_csv;        /* csv.c */
extern const struct gt_exporter gt_exporter_folded;     /* folded.c */
extern const struct gt_exporter gt_exporter_speedscope; /* speedscope.c */

#endif
