/* SPDX-License-Identifier: MIT */
/* A set of calls, by process and id: a bitmap in chunks of consecutive ids. */
#ifndef GPUTAP_CAPTURE_CALL_SET_H
#define GPUTAP_CAPTURE_CALL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_call_chunk;

/* Initialise with zeros for an empty set. */
struct gt_call_set {
	struct gt_call_chunk *chunks; /* hash table */
	size_t count, room;
	struct gt_call_chunk *last; /* the chunk of the last look-up */
};

/* Add a call. Return 0 or -ENOMEM with a cause. */
int gt_call_set_add(struct gt_call_set *s, uint32_t process, uint64_t id);
bool gt_call_set_has(struct gt_call_set *s, uint32_t process, uint64_t id);
void gt_call_set_fini(struct gt_call_set *s);

#endif
