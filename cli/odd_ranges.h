/* SPDX-License-Identifier: MIT */
/* Find the range that took much longer than others of its name, such as one slow step of fifty.
 *
 *   each name   the first INSTANCES_MOST instances, 32 bytes each; a name with more is not judged
 *
 * An instance differs if it exceeds the median by 8 standard deviations, as the median absolute
 * deviation estimates them, and by half, and if few instances do so. */
#ifndef GPUTAP_CLI_ODD_RANGES_H
#define GPUTAP_CLI_ODD_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct gt_range;

struct odd_ranges {
	bool wanted; /* set before the first range; else none is added */
	struct odd_ranges_name *names;
	uint32_t room;
};

struct odd_range {
	uint32_t name, process;
	uint32_t number, count; /* number: from 1, among those of its name and process, by start */
	uint64_t duration_ns, median_ns;
};

/* Add a range that has ended. @counts: compare it; else it only affects the numbers of others. */
void odd_ranges_add(struct odd_ranges *o, uint32_t name, const struct gt_range *range,
		    uint64_t duration_ns, bool counts);
/**
 * odd_ranges_find() - find the instance that lost most time compared with its siblings
 * @least_ns: by so much it must exceed the median
 * Return: true if there is one. The first instance of a process is chosen only if no other differs,
 * because programs start slowly.
 */
bool odd_ranges_find(const struct odd_ranges *o, uint64_t least_ns, struct odd_range *out);
void odd_ranges_fini(struct odd_ranges *o);

#endif
