/* SPDX-License-Identifier: MIT */
/* Payloads as text: a number of an event's attributes; or what an extended payload holds, as JSON,
 * by the layout that the program has registered for it. */
#ifndef GPUTAP_NVTX_PAYLOAD_H
#define GPUTAP_NVTX_PAYLOAD_H

#include "runtime/nvtx/nvtx_abi.h"
#include "runtime/nvtx/nvtx_domain.h"
#include "runtime/nvtx/nvtx_text.h"

/* Nothing is written for a payload that there is not. */
void gt_nvtx_put_number(struct gt_nvtx_out *o, int32_t type, uint64_t value);
void gt_nvtx_put_payloads(struct gt_nvtx_out *o, struct gt_nvtx_domain *domain,
			  const struct nvtx_payload *payloads, size_t count);
/* The same text where it stays: of a payload that was handed over before with the same bytes, or is
 * written to @o and kept now. NULL: it is not kept, as it depends on more than these bytes, or too
 * many are. */
struct gt_range_text *gt_nvtx_payload_kept(struct gt_nvtx_domain *domain,
					   const struct nvtx_payload *payloads, size_t count,
					   struct gt_nvtx_out *o);
/* The text that a payload gives as the event's message; NULL: none does. It is in the program's
 * memory, or kept. */
const char *gt_nvtx_payload_message(struct gt_nvtx_domain *domain,
				    const struct nvtx_payload *payloads, size_t count);
/* Return: the number by which payloads name it; 0: it cannot be kept. */
uint64_t gt_nvtx_schema_add(struct gt_nvtx_domain *domain, const struct nvtx_schema_attributes *a);
uint64_t gt_nvtx_enum_add(struct gt_nvtx_domain *domain, const struct nvtx_enum_attributes *a);

#endif
