/* SPDX-License-Identifier: MIT */
/* Common implementation of NVTX's functions, for all their forms. Any thread. */
#ifndef GPUTAP_NVTX_RANGES_H
#define GPUTAP_NVTX_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/nvtx/nvtx_domain.h"
#include "runtime/range_texts.h"

/* Description of a range or a mark. Texts are the program's: they are copied. */
struct gt_nvtx_said {
	struct gt_nvtx_domain *domain;
	const char *message; /* NULL: none */
	uint32_t category, color;
	const char *payload; /* as text; NULL: none */
	uint32_t payload_bytes;
	/* the same as interned texts, so that nothing is copied; else NULL */
	struct gt_range_text *message_kept, *payload_kept;
};

/* Return true if the domain's table of operations exists; false: nothing is recorded in this
 * process. */
bool gt_nvtx_is_ready(void);

/* returns how many were open before, in the domain */
int gt_nvtx_push(const struct gt_nvtx_said *said);
/* End the domain's innermost range of the thread; @said: data added at its end, or NULL. Return how
 * many are still open, in the domain; -1: none was open. */
int gt_nvtx_pop(struct gt_nvtx_domain *domain, const struct gt_nvtx_said *said);
uint64_t gt_nvtx_start(const struct gt_nvtx_said *said); /* never returns 0 */
void gt_nvtx_end(uint64_t id, const struct gt_nvtx_said *said);
void gt_nvtx_mark(const struct gt_nvtx_said *said);
/* Record a call about a lock: @operation, and its handle. */
void gt_nvtx_count_sync(uint32_t operation, uint64_t handle);
/* returns a handle */
uint64_t gt_nvtx_sync_create(const char *name, struct gt_nvtx_domain *domain);

#endif
