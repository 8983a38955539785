/* SPDX-License-Identifier: MIT */
/* Texts of calls that are in the capture once, as strings of their process: a call's payload has
 * the string's number (GT_PAYLOAD_SHARED). Cursors put the text in its place, so that no reader of
 * items knows of it. */
#ifndef GPUTAP_CAPTURE_SHARED_TEXTS_H
#define GPUTAP_CAPTURE_SHARED_TEXTS_H

#include "capture/capture.h"

struct gt_shared_texts {
	uint8_t *room; /* payloads of the items at hand */
	size_t bytes;
};

/* Has the capture calls that may have such texts? */
bool gt_shared_texts_are_in(const struct gt_capture *capture);
/* Put the texts into the payloads of the items, which hold until the next call. Return: 0, or
 * -ENOMEM with a cause. */
int gt_shared_texts_put(struct gt_shared_texts *texts, const struct gt_capture *capture,
			struct gt_item *items, int count);
void gt_shared_texts_fini(struct gt_shared_texts *texts);

#endif
