/* SPDX-License-Identifier: MIT */
/* Texts of calls that the capture stores once, as strings of their process. The payload of a call
 * contains the number of the string (GT_PAYLOAD_SHARED). Cursors replace the number with the text,
 * so readers of items see only texts. */
#ifndef GPUTAP_CAPTURE_SHARED_TEXTS_H
#define GPUTAP_CAPTURE_SHARED_TEXTS_H

#include "capture/capture.h"

struct gt_shared_texts {
	uint8_t *room; /* payloads of the current items, with their texts */
	size_t bytes;
};

/* Return true if the capture has calls whose texts may be shared. */
bool gt_shared_texts_are_in(const struct gt_capture *capture);
/* Put the texts into the payloads of the items. The payloads are valid until the next call. Return
 * 0, or -ENOMEM with a cause. */
int gt_shared_texts_put(struct gt_shared_texts *texts, const struct gt_capture *capture,
			struct gt_item *items, int count);
void gt_shared_texts_fini(struct gt_shared_texts *texts);

#endif
