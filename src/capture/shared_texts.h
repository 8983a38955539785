/* SPDX-License-Identifier: MIT */
/* Texts of calls that the capture stores once, as strings of their process: the call's payload has
 * the string's number (GT_PAYLOAD_SHARED). Cursors replace it with the text, so readers of items
 * need not know. */
#ifndef GPUTAP_CAPTURE_SHARED_TEXTS_H
#define GPUTAP_CAPTURE_SHARED_TEXTS_H

#include "capture/capture.h"

struct gt_shared_texts {
	uint8_t *room; /* payloads of the current items */
	size_t bytes;
};

/* Return true if the capture has calls that may have such texts. */
bool gt_shared_texts_are_in(const struct gt_capture *capture);
/* Put the texts into the payloads of the items; valid until the next call. Return 0, or -ENOMEM
 * with a cause. */
int gt_shared_texts_put(struct gt_shared_texts *texts, const struct gt_capture *capture,
			struct gt_item *items, int count);
void gt_shared_texts_fini(struct gt_shared_texts *texts);

#endif
