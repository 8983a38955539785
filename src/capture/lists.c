/* SPDX-License-Identifier: MIT */
/* Helpers for an open capture: growing lists, and texts that are never moved. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "util/error.h"
#include "util/grow.h"

int gt_list_grow(void **list, size_t *room, size_t count, size_t item_bytes)
{
	const size_t old_room = *room;
	char *more = gt_grow(*list, count, room, item_bytes);

	if (!more)
		return gt_error(-ENOMEM, "cannot store a list of %zu entries", count);
	memset(more + old_room * item_bytes, 0, (*room - old_room) * item_bytes);
	*list = more;
	return 0;
}

const char *gt_text_keep(struct gt_capture *c, const void *text, size_t bytes)
{
	struct text_chunk *k = c->texts;
	char *at;

	if (!k || k->room - k->used < bytes + 2) {
		size_t room = bytes + 2 > 65536 ? bytes + 2 : 65536;

		k = malloc(sizeof *k + room);
		if (!k) {
			gt_error(-ENOMEM, "cannot store the texts of capture %s", c->files[0].path);
			return NULL;
		}
		k->used = 0;
		k->room = room;
		k->next = c->texts;
		c->texts = k;
	}
	at = k->data + k->used;
	if (bytes)
		memcpy(at, text, bytes);
	at[bytes] = at[bytes + 1] = '\0';
	k->used += bytes + 2;
	return at;
}
