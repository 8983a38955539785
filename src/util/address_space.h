/* SPDX-License-Identifier: MIT */
/* Check whether the address space limit (RLIMIT_AS) leaves room for gputap's libraries. */
#ifndef GPUTAP_UTIL_ADDRESS_SPACE_H
#define GPUTAP_UTIL_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>

/* Part of a message about a program whose address space limit is too small. */
#define GT_ADDRESS_SPACE_SHORT                                                                   \
	"its address space is limited (RLIMIT_AS), and gputap's libraries would take more than " \
	"an eighth of it; raise the limit with 'ulimit -v'"

/**
 * gt_address_space_is_short() - check if libraries would take too much of the address space
 * The libraries may take up to an eighth of the limit. The process's shared memory takes up to a
 * 32nd (ring/segment_writer.c).
 * @paths: paths of @count files; an unreadable file counts as 0 bytes
 * Makes only system calls, so it may run in the child of a vfork. Reads no file if there is no
 * limit.
 */
bool gt_address_space_is_short(const char *const *paths, size_t count);

#endif
