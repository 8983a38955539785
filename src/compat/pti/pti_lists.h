/* SPDX-License-Identifier: MIT */
/* Finds the append that submitted a GPU activity: pti_lists.c. */
#ifndef GPUTAP_COMPAT_PTI_LISTS_H
#define GPUTAP_COMPAT_PTI_LISTS_H

#include "pti.h"

/* Start to follow lists. Call once, from one thread at a time. Return: 0 or a negative errno. */
int pti_lists_start(void);

/* The call that appended a GPU activity. */
struct pti_append {
	uint64_t id;       /* id of the operation; 0: unknown */
	uint64_t kernel;   /* number of the launched kernel's object; 0: none or unknown */
	const char *name;  /* name as in APPENDED; never freed; NULL: unknown */
	uint32_t function; /* id of the function; 0: unknown */
};

/* Find the append of an activity. Call in the thread that submits the activity, at the activity's
 * ENTER. */
struct pti_append pti_append_of(const struct gputap_activity *activity);
/* Return the name of the operation that the call appends. The name is never freed. */
const char *pti_appended_name(const struct pti_operation *op, const struct gputap_call *call);
/* If this thread is inside a function of @group in which it may learn of completed activities,
 * return the function's id, otherwise 0. */
uint32_t pti_collecting(uint32_t group);

#endif
