/* SPDX-License-Identifier: MIT */
/* Formats payloads as text: a number in an event's attributes, or the contents of an extended
 * payload as JSON, in the layout that the program has registered for the payload. */
#ifndef GPUTAP_NVTX_PAYLOAD_H
#define GPUTAP_NVTX_PAYLOAD_H

#include "runtime/nvtx/nvtx_abi.h"
#include "runtime/nvtx/nvtx_domain.h"
#include "runtime/nvtx/nvtx_text.h"

/* Write a payload. Without a payload, write nothing. */
void gt_nvtx_put_number(struct gt_nvtx_out *o, int32_t type, uint64_t value);
void gt_nvtx_put_payloads(struct gt_nvtx_out *o, struct gt_nvtx_domain *domain,
			  const struct nvtx_payload *payloads, size_t count);
/* Return a payload as an interned text: the text of an earlier payload with the same bytes, or a
 * text that is written to @o and kept now. Return NULL if the text is not kept, because it depends
 * on more than these bytes or because too many texts are kept. */
struct gt_range_text *gt_nvtx_payload_kept(struct gt_nvtx_domain *domain,
					   const struct nvtx_payload *payloads, size_t count,
					   struct gt_nvtx_out *o);
/* Return the text that a payload contains as the event's message, or NULL. The text is in the
 * program's memory, or kept. */
const char *gt_nvtx_payload_message(struct gt_nvtx_domain *domain,
				    const struct nvtx_payload *payloads, size_t count);
/* Return the id by which payloads refer to the schema or enum, or 0 if the schema or enum cannot be
 * kept. */
uint64_t gt_nvtx_schema_add(struct gt_nvtx_domain *domain, const struct nvtx_schema_attributes *a);
uint64_t gt_nvtx_enum_add(struct gt_nvtx_domain *domain, const struct nvtx_enum_attributes *a);

#endif
