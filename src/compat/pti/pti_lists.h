/* SPDX-License-Identifier: MIT */
/* Which append made an item of device work: pti_lists.c. */
#ifndef GPUTAP_COMPAT_PTI_LISTS_H
#define GPUTAP_COMPAT_PTI_LISTS_H

#include "pti.h"

/* Begins to follow lists, once. One caller at a time. Return: 0 or a negative errno. */
int pti_lists_start(void);

/* The call that appended an item of device work. */
struct pti_append {
	uint64_t id;       /* the operation's; 0: not known */
	uint64_t kernel;   /* number of its kernel's object; 0: none, or not known */
	const char *name;  /* as APPENDED has it; stays; NULL: not known */
	uint32_t function; /* id of the function; 0: not known */
};

/* In the thread that submits the item, at its ENTER. */
struct pti_append pti_append_of(const struct gputap_work *work);
/* The name of the operation that the call appends. It stays. */
const char *pti_appended_name(const struct pti_operation *op, const struct gputap_call *call);
/* Id of the function of that group which this thread is in, if it may learn of completed work;
 * 0: none. */
uint32_t pti_collecting(uint32_t group);

#endif
