/* SPDX-License-Identifier: MIT */
/* Declares the functions in which all forms of NVTX's functions are implemented. Thread: any. */
#ifndef GPUTAP_NVTX_RANGES_H
#define GPUTAP_NVTX_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/nvtx/nvtx_domain.h"
#include "runtime/range_texts.h"

/* Description of a range or a mark. Texts belong to the program and are copied. */
struct gt_nvtx_said {
	struct gt_nvtx_domain *domain;
	const char *message; /* NULL if none */
	uint32_t category, color;
	const char *payload; /* payload as text; NULL if none */
	uint32_t payload_bytes;
	/* the message and the payload as interned texts, which need no copy; NULL if not
	 * interned */
	struct gt_range_text *message_kept, *payload_kept;
};

/* Return true if the domain's table of operations exists. Without the table, nothing is recorded in
 * this process. */
bool gt_nvtx_is_ready(void);

/* Push a range. Return the number of ranges in its domain that were open before. */
int gt_nvtx_push(const struct gt_nvtx_said *said);
/* End the thread's innermost range in a domain. @said: data added at the end of the range, or NULL.
 * Return the number of ranges in the domain that are still open, or -1 if none was open. */
int gt_nvtx_pop(struct gt_nvtx_domain *domain, const struct gt_nvtx_said *said);
uint64_t gt_nvtx_start(const struct gt_nvtx_said *said); /* never returns 0 */
void gt_nvtx_end(uint64_t id, const struct gt_nvtx_said *said);
void gt_nvtx_mark(const struct gt_nvtx_said *said);
/* Record a call about a lock. @handle: the lock's handle. */
void gt_nvtx_count_sync(uint32_t operation, uint64_t handle);
/* Record the creation of a lock. Return the lock's handle. */
uint64_t gt_nvtx_sync_create(const char *name, struct gt_nvtx_domain *domain);

#endif
