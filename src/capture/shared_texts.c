/* SPDX-License-Identifier: MIT */
/* See shared_texts.h. Payloads come from a file: an item with a wrong length ends its payload. */
#include "capture/shared_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/operation.h"
#include "record/shared_text.h"
#include "util/error.h"

bool gt_shared_texts_are_in(const struct gt_capture *c)
{
	for (uint32_t i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_counts *counts = gt_capture_counts(c, i);

		for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
			if (gt_domain_traits[d].marks && counts->seen[GT_CLASS_CALL][d])
				return true;
	}
	return false;
}

enum { BYTES_MOST = 1 << 20 };

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* A text or array of a payload, and its replacement. */
struct part {
	struct gt_payload head;
	const void *data;
	size_t bytes; /* size in the file, including the head */
};

static bool read_part(const struct gt_capture *c, const struct gt_item *item, uint32_t at,
		      struct part *p)
{
	const uint8_t *from = item->payload + at;
	uint32_t id;

	if (item->payload_bytes - at < sizeof p->head)
		return false;
	memcpy(&p->head, from, sizeof p->head);
	if (padded(p->head.bytes) > item->payload_bytes - at - sizeof p->head)
		return false;
	p->data = from + sizeof p->head;
	p->bytes = sizeof p->head + padded(p->head.bytes);
	if (p->head.flags & GT_PAYLOAD_SHARED && p->head.bytes == sizeof id) {
		memcpy(&id, p->data, sizeof id);
		p->data = gt_capture_string(c, item->process, id);
		p->head.bytes = (uint32_t)strlen(p->data);
		p->head.flags &= (uint16_t)~GT_PAYLOAD_SHARED;
	}
	return true;
}

/* Return the size of the payload with its texts. Return 0 if the payload has no shared texts, or is
 * larger than any payload that gputap writes. */
static size_t count_bytes(const struct gt_capture *c, const struct gt_item *item)
{
	size_t bytes = 0;
	bool is_shared = false;
	struct part p;

	if (item->kind != GT_RECORD_CALL || !item->payload ||
	    !gt_domain_traits[GT_OP_DOMAIN(item->op) % GT_DOMAIN_COUNT].marks)
		return 0;
	for (uint32_t at = 0; read_part(c, item, at, &p); at += (uint32_t)p.bytes) {
		struct gt_payload head;

		memcpy(&head, item->payload + at, sizeof head);
		is_shared |= head.flags & GT_PAYLOAD_SHARED;
		bytes += sizeof p.head + padded(p.head.bytes);
	}
	return is_shared && bytes <= BYTES_MOST ? bytes : 0;
}

static void put_texts(const struct gt_capture *c, struct gt_item *item, uint8_t *to)
{
	const uint8_t *begin = to;
	struct part p;

	for (uint32_t at = 0; read_part(c, item, at, &p); at += (uint32_t)p.bytes) {
		memcpy(to, &p.head, sizeof p.head);
		to += sizeof p.head;
		memcpy(to, p.data, p.head.bytes);
		memset(to + p.head.bytes, 0, padded(p.head.bytes) - p.head.bytes);
		to += padded(p.head.bytes);
	}
	item->payload = begin;
	item->payload_bytes = (uint32_t)(to - begin);
}

int gt_shared_texts_put(struct gt_shared_texts *texts, const struct gt_capture *c,
			struct gt_item *items, int count)
{
	size_t bytes = 0, used = 0;

	for (int i = 0; i < count; i++)
		bytes += count_bytes(c, &items[i]);
	if (bytes > texts->bytes) {
		free(texts->room);
		texts->room = malloc(bytes);
		texts->bytes = texts->room ? bytes : 0;
		if (!texts->room)
			return gt_error(-ENOMEM, "cannot store the texts of a capture's calls");
	}
	for (int i = 0; bytes && i < count; i++)
		if (count_bytes(c, &items[i])) {
			put_texts(c, &items[i], texts->room + used);
			used += items[i].payload_bytes;
		}
	return 0;
}

void gt_shared_texts_fini(struct gt_shared_texts *texts)
{
	free(texts->room);
}
