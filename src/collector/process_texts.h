/* SPDX-License-Identifier: MIT */
/* Texts that the collector writes for a process, as GT_RECORD_STRING. Their ids start at
 * GT_PROCESS_TEXTS_FIRST; the process itself uses lower ids. Only the collector's thread may use
 * this file. */
#ifndef GPUTAP_COLLECTOR_PROCESS_TEXTS_H
#define GPUTAP_COLLECTOR_PROCESS_TEXTS_H

#include "collector/drain.h"

#define GT_PROCESS_TEXTS_FIRST (UINT32_C(1) << 31)

/* Return the id of a text, which is written to the capture once; 0: "", out of memory, or too many
 * texts. */
uint32_t gt_process_text_id(struct gt_drain *d, struct gt_process *process, const char *text);
void gt_process_texts_free(struct gt_process_texts *texts);

#endif
