/* SPDX-License-Identifier: MIT */
/* A text that many calls have, as their payload (struct gt_payload in record/record.h): its 4 bytes
 * are the number of a string of the process. Who writes it: domains with ranges. Who reads it:
 * cursors alone (capture/shared_texts.h), which put the text in its place. */
#ifndef GPUTAP_RECORD_SHARED_TEXT_H
#define GPUTAP_RECORD_SHARED_TEXT_H

#define GT_PAYLOAD_SHARED 2u /* gt_payload.flags */

#endif
