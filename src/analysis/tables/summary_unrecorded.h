/* SPDX-License-Identifier: MIT */
/* Finds times that were not recorded (unrecorded.h), for the devices, tracks and ranks of a
 * summary. */
#ifndef GPUTAP_ANALYSIS_TABLES_SUMMARY_UNRECORDED_H
#define GPUTAP_ANALYSIS_TABLES_SUMMARY_UNRECORDED_H

#include "analysis/tables/summary.h"

/* Call after all records were read, before the timelines are finished. */
void summary_find_unrecorded(struct summary *s);
void summary_fini_unrecorded(struct summary *s);

#endif
