/* SPDX-License-Identifier: MIT */
/* A text that many calls share as their payload (struct gt_payload in record/record.h). The 4 bytes
 * of the payload are the number of a string of the process. Domains with ranges write such
 * payloads. Only cursors read these payloads, and replace the number with the text
 * (capture/shared_texts.h). */
#ifndef GPUTAP_RECORD_SHARED_TEXT_H
#define GPUTAP_RECORD_SHARED_TEXT_H

#define GT_PAYLOAD_SHARED 2u /* gt_payload.flags */

#endif
