/* SPDX-License-Identifier: MIT */
/* Finds the range that took much longer than other ranges of its name, such as one slow step out of
 * fifty.
 *
 *   each name   the first INSTANCES_MOST instances, 32 bytes each; a name with more is not judged
 *
 * An instance is an outlier if it exceeds the median by half the median, and by 8 standard
 * deviations as estimated from the median absolute deviation, and if only a few instances do so. */
#ifndef GPUTAP_ANALYSIS_TABLES_ODD_RANGES_H
#define GPUTAP_ANALYSIS_TABLES_ODD_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct gt_range;

struct odd_ranges {
	bool wanted; /* set before the first range; false: no range is added */
	struct odd_ranges_name *names;
	uint32_t room;
	/* true if `known`, from a stored summary, is the result; count 0: there is no outlier */
	bool is_known;
	struct odd_range {
		uint32_t name, process;
		/* number: ordinal of the instance, from 1 and by start, among the ranges of this
		 * name in its process */
		uint32_t number, count;
		uint64_t duration_ns, median_ns;
	} known;
};

/* Add a range that has ended. @counts: true: compare the range; false: only count it for the
 * numbers of other ranges. */
void odd_ranges_add(struct odd_ranges *o, uint32_t name, const struct gt_range *range,
		    uint64_t duration_ns, bool counts);
/**
 * odd_ranges_find() - find the instance that took the most additional time compared with other
 * instances of its name
 * @least_ns: smallest difference to the median
 * Return: true if there is one. The first instance in a process is chosen only if no other instance
 *         is an outlier, because programs start slowly.
 */
bool odd_ranges_find(const struct odd_ranges *o, uint64_t least_ns, struct odd_range *out);
void odd_ranges_fini(struct odd_ranges *o);

#endif
