/* SPDX-License-Identifier: MIT */
/* What a program says about itself by calls: marks, ranges that are pushed and popped in a
 * thread, ranges that one thread starts and any other stops. Calls go in, in a cursor's order;
 * ranges come out when both ends are known. */
#ifndef GPUTAP_EXPORT_RANGES_H
#define GPUTAP_EXPORT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

enum gt_range_mark gt_mark_look_up(uint32_t op);

/* What a call of that operation tells; NONE for all that say nothing. */
static inline enum gt_range_mark gt_mark_of(uint32_t op)
{
	unsigned domain = GT_OP_DOMAIN(op);

	return domain < GT_DOMAIN_COUNT && gt_domain_traits[domain].marks ? gt_mark_look_up(op)
									  : GT_MARK_NONE;
}

/* What it says: its message, or without arguments what was called. Not terminated. Return:
 * bytes. */
size_t gt_mark_text(const struct gt_item *call, const char **text);

struct gt_range {
	uint32_t process, ordinal; /* the thread that began it */
	uint32_t domain;           /* of the call that began it */
	uint64_t start_ns, end_ns; /* of an instant: the same */
	const char *name;          /* terminated; valid until the next call of this file */
	/* started and stopped, maybe by different threads: may overlap others of its thread */
	bool across;
	bool instant; /* a mark */
};

/* All zero at first. */
struct gt_ranges {
	struct gt_range_open *open;
	struct gt_range_stop *stops; /* whose start comes later: another thread's records */
	size_t open_count, open_room, stop_count, stop_room;
	uint64_t last_ns;
	char *name; /* of the range given out last */
};

/* Return: 1 and *out, 0: nothing is whole by this call, -ENOMEM with a cause. */
int gt_ranges_step(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out);
/* After the last call, until it says false: ranges that nobody ended. They go to the end of what
 * was recorded. */
bool gt_ranges_rest(struct gt_ranges *r, struct gt_range *out);
void gt_ranges_fini(struct gt_ranges *r);

#endif
