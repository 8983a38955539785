/* SPDX-License-Identifier: MIT */
/* Helper of picture.c: finds the times at which rows were not recorded. Rows with the same
 * processes share the result. */
#ifndef GPUTAP_CLI_PICTURE_PAUSES_H
#define GPUTAP_CLI_PICTURE_PAUSES_H

#include "analysis/idle/unrecorded_spans.h"
#include "cli/picture.h"

/* Processes that use a device or a queue, without duplicates. */
struct picture_users {
	uint32_t *list;
	uint32_t count, room;
};
void picture_users_add(struct picture_users *users, uint32_t process);

struct picture_finder {
	struct picture *picture;
	const struct gt_capture *capture;
	struct gt_unrecorded_list list;
	/* for each set of users that was looked up: index in picture.pauses */
	struct idmap by_users;
};

/* Prepare the search. Call when the picture's time is known. Return 0 or negative errno with a
 * cause. */
int picture_pauses_begin(struct picture_finder *f, struct picture *p, const struct gt_capture *c);
/* Return the index in picture.pauses; UINT32_MAX: no pauses. Sorts @users. */
uint32_t picture_pauses_find(struct picture_finder *f, struct picture_users *users);
void picture_pauses_end(struct picture_finder *f);

#endif
