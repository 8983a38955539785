/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_CLI_RANK_LIST_H
#define GPUTAP_CLI_RANK_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Write "rank 3" or "ranks 0-2, 4, 6-63". A list that does not fit ends with "..". Sorts @ranks,
 * which may contain a rank several times. */
void rank_list_write(char *text, size_t size, int64_t *ranks, size_t count);

#endif
