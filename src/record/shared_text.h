/* SPDX-License-Identifier: MIT */
/* A text that many calls have as their payload (struct gt_payload in record/record.h): the
 * payload's 4 bytes are the number of a string of the process. Domains with ranges write it. Only
 * cursors read it (capture/shared_texts.h), and put the text in its place. */
#ifndef GPUTAP_RECORD_SHARED_TEXT_H
#define GPUTAP_RECORD_SHARED_TEXT_H

#define GT_PAYLOAD_SHARED 2u /* gt_payload.flags */

#endif
