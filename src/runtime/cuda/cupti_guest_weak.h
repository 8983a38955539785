/* SPDX-License-Identifier: MIT */
/* What the owner calls of those who serve other users of CUPTI in the process; each is NULL where
 * they are not built in. */
#ifndef GPUTAP_RUNTIME_CUPTI_GUEST_WEAK_H
#define GPUTAP_RUNTIME_CUPTI_GUEST_WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_CUPTI_WEAK __attribute__((weak, visibility("hidden")))

/* libcupti's function behind our tap of it. */
GT_CUPTI_WEAK void *gt_cupti_real(void *function);
/* A buffer of the guest's. False: it wants none now. */
GT_CUPTI_WEAK bool gt_cupti_guest_request(uint8_t **buffer, size_t *bytes, size_t *records);
/* The records have been read. True: the buffer was the guest's, and is gone. */
GT_CUPTI_WEAK bool gt_cupti_guest_complete(void *context, uint32_t stream, uint8_t *buffer,
					   size_t bytes, size_t valid);
GT_CUPTI_WEAK void gt_cupti_guest_callback(int domain, uint32_t id, const void *data);
GT_CUPTI_WEAK bool gt_cupti_guest_needs_kind(uint32_t kind);
GT_CUPTI_WEAK bool gt_cupti_guest_needs_callback(int domain, uint32_t id);
/* Is there anybody? Then CUPTI is not taken out of the process. */
GT_CUPTI_WEAK bool gt_cupti_guest_present(void);
/* Why CUPTI is not to be used at all; NULL: it may be. */
GT_CUPTI_WEAK const char *gt_cupti_guest_other(void);

#endif
