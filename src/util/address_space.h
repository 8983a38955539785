/* SPDX-License-Identifier: MIT */
/* Does a limit of the address space (RLIMIT_AS) leave room for gputap's libraries? */
#ifndef GPUTAP_UTIL_ADDRESS_SPACE_H
#define GPUTAP_UTIL_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>

/* A part of half a sentence about such a program. */
#define GT_ADDRESS_SPACE_SHORT                                                                   \
	"its address space is limited (RLIMIT_AS), and gputap's libraries would take more than " \
	"an "                                                                                    \
	"eighth of it; 'ulimit -v' with a higher limit lets them in"

/**
 * gt_address_space_is_short() - would libraries take too much of what this process may map?
 * They may take an eighth. The process's shared memory takes a 32nd at most
 * (ring/segment_writer.c).
 * @paths: of @count files; what cannot be read counts as nothing
 * Only system calls: it may run in the child of a vfork. Without a limit it reads no file.
 */
bool gt_address_space_is_short(const char *const *paths, size_t count);

#endif
