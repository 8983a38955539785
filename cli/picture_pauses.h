/* SPDX-License-Identifier: MIT */
/* Within the picture of a capture (picture.c): where its rows were not recorded. Rows of the same
 * processes share what was found. */
#ifndef GPUTAP_CLI_PICTURE_PAUSES_H
#define GPUTAP_CLI_PICTURE_PAUSES_H

#include "cli/picture.h"
#include "export/unrecorded_spans.h"

/* Processes that use a device or a queue, each once. */
struct picture_users {
	uint32_t *list;
	uint32_t count, room;
};
void picture_users_add(struct picture_users *users, uint32_t process);

struct picture_finder {
	struct picture *picture;
	const struct gt_capture *capture;
	struct gt_unrecorded_list list;
	struct idmap by_users; /* picture.pauses, of the sets that were asked for */
};

/* After the picture's time is known. Return: 0 or negative errno with a cause. */
int picture_pauses_begin(struct picture_finder *f, struct picture *p, const struct gt_capture *c);
/* Return: which of picture.pauses; UINT32_MAX: none. Sorts @users. */
uint32_t picture_pauses_find(struct picture_finder *f, struct picture_users *users);
void picture_pauses_end(struct picture_finder *f);

#endif
