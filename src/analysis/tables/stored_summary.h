/* SPDX-License-Identifier: MIT */
/* Stores a finished summary in its capture, and restores the summary without reading the records.
 * The restored summary contains exactly the numbers that reading the records would give, because
 * they are the result of reading the records.
 *
 * The content covers the first screen and the tables whose rows are sums. It has no rows for other
 * tables (stored_summary.c lists what is missing), and describes all records: no filter, no other
 * keys. The caller decides whether that is enough.
 *
 * Increment STORED_SUMMARY_VERSION whenever a change of the analysis makes a number or a name in
 * these tables differ for the same records, or changes the content. Reports then read the records
 * of captures with older content. tests/golden/old/summary-0.1.gputap shows whether the version is
 * still right. */
#ifndef GPUTAP_ANALYSIS_TABLES_STORED_SUMMARY_H
#define GPUTAP_ANALYSIS_TABLES_STORED_SUMMARY_H

#include "analysis/tables/summary.h"

enum {
	STORED_SUMMARY_VERSION = 4,
	/* smallest number of records for which `gputap run` stores a summary; fewer records are
	 * read in the time that a user does not notice */
	STORED_SUMMARY_RECORDS = 1000000,
};

/* Set the keys of a summary that can be stored. Call before summary_add(). */
void stored_summary_choose_keys(struct summary *s);

/**
 * stored_summary_write() - append a summary to its capture's file
 * @s: finished, with the keys above, for all records and unmangled names. Nothing was left out.
 *     Receives the edges, which the first screen shows
 * Return: 0 or negative errno with a cause, as for gt_capture_store_summary().
 */
int stored_summary_write(struct summary *s, struct gt_capture *capture);

/**
 * stored_summary_read() - restore the summary of a capture
 * @s: empty, except for the fields that the caller sets; its keys become those above
 * Return: false if the capture has no valid summary of this version. @s is then unchanged.
 */
bool stored_summary_read(struct summary *s, const struct gt_capture *capture);

#endif
