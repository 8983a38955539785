/* SPDX-License-Identifier: MIT */
/* Which append made an item of device work: pti_lists.c. */
#ifndef GPUTAP_COMPAT_PTI_LISTS_H
#define GPUTAP_COMPAT_PTI_LISTS_H

#include "pti.h"

/* Begins to follow lists, once. One caller at a time. Return: 0 or a negative errno. */
int pti_lists_start(void);

/* In the thread that submits it, at the item's ENTER: the operation's id, and the number of its
 * kernel's object, in eight bytes; 0: not known. */
uint64_t pti_packed_of(const struct gputap_work *work);
uint64_t pti_packed_id(uint64_t packed);
uint64_t pti_packed_kernel(uint64_t packed); /* 0: none, or not known */

#endif
