/* SPDX-License-Identifier: MIT */
/* See summary_block.h. */
#include "capture/summary_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/append.h"
#include "capture/checksum.h"
#include "util/error.h"

/* size of a part's content; a reader of the part needs this much memory once more */
enum { PART_BYTES = (4 << 20) - 4096 };

static_assert(PART_BYTES + sizeof(struct gt_file_summary) <= GT_FILE_PAYLOAD_MAX, "a part fits");

/* Reading -------------------------------------------------------------------- */

void gt_summary_note_block(struct capture_file *file, const struct gt_scan_block *block)
{
	const struct gt_file_block *h = &block->head;

	if (!gt_block_is_of_session(h))
		return;
	if (file->summary.content && h->type != GT_BLOCK_RECORDS)
		file->summary.wrong = true;
	file->heads = gt_heads_add(file->heads, block->at, h->head_crc);
}

/* Begin with the first part of a summary, which replaces an older one. */
static int begin_summary(struct capture_file *file, uint64_t at, const struct gt_file_summary *part)
{
	struct file_summary *s = &file->summary;

	free(s->content);
	*s = (struct file_summary){.version = part->version,
				   .parts = part->parts,
				   .heads = part->heads,
				   .bytes = (size_t)part->bytes,
				   .content = malloc((size_t)part->bytes + 1)};
	s->wrong = at != part->end || part->heads != file->heads;
	return s->content ? 0
			  : gt_error(-ENOMEM, "cannot read the summary of capture %s", file->path);
}

int gt_summary_read(struct capture_file *file, uint64_t at, const uint8_t *payload, size_t bytes)
{
	struct file_summary *s = &file->summary;
	struct gt_file_summary part;
	int status = 0;

	if (bytes < sizeof part) {
		s->wrong = true;
		return 0;
	}
	memcpy(&part, payload, sizeof part);
	payload += sizeof part;
	bytes -= sizeof part;
	if (!part.part && part.bytes <= GT_FILE_SUMMARY_MAX && part.bytes <= file->bytes)
		status = begin_summary(file, at, &part);
	if (status)
		return status;
	s->wrong |= !s->content || part.part != s->next || part.version != s->version ||
		    part.parts != s->parts || part.heads != s->heads || part.bytes != s->bytes ||
		    bytes > s->bytes - s->used;
	if (s->wrong)
		return 0;
	memcpy(s->content + s->used, payload, bytes);
	s->used += bytes;
	s->next++;
	return 0;
}

const void *gt_capture_summary(const struct gt_capture *c, uint32_t version, size_t *bytes)
{
	const struct gt_summary_info info = gt_capture_summary_info(c);

	*bytes = (size_t)info.bytes;
	if (c->file_count != 1 || c->repeated_count || !gt_capture_is_whole(&c->health) ||
	    info.wrong || info.version != version)
		return NULL;
	return c->files[0].summary.content;
}

struct gt_summary_info gt_capture_summary_info(const struct gt_capture *c)
{
	const struct file_summary *s = &c->files[0].summary;
	const bool whole = s->next == s->parts && s->used == s->bytes;

	if (!s->content)
		return (struct gt_summary_info){.wrong = s->wrong};
	return (struct gt_summary_info){s->bytes, s->version, s->wrong || !whole};
}

/* Writing -------------------------------------------------------------------- */

/* Write the head of a part. Return its size. In a merged file, the block gets the number of a
 * section, because readers of version 1.2 take any other block for a part of a further session. */
static size_t make_head(const struct gt_capture *c, uint8_t *buffer)
{
	struct gt_file_block head = {.type = GT_BLOCK_SUMMARY};
	const uint32_t section = c->sessions[0]->section;
	size_t bytes = sizeof head;

	if (section != GT_SECTION_NONE) {
		head.flags = GT_BLOCK_OF_SECTION;
		memcpy(buffer + bytes, &section, sizeof section);
		bytes += sizeof section;
	}
	memcpy(buffer, &head, sizeof head);
	return bytes;
}

/* Put all parts into the writer's buffer. The file is open, so the position is known. */
static int put_parts(struct gt_append *a, uint32_t version, const uint8_t *content, size_t bytes)
{
	const struct gt_capture *c = a->capture;
	struct gt_writer_file *f = &a->writer->main;
	struct gt_file_summary part = {.version = version,
				       .parts = (uint32_t)((bytes + PART_BYTES - 1) / PART_BYTES),
				       .bytes = bytes,
				       .end = a->end_at,
				       .heads = c->files[0].heads};
	uint8_t *payload = malloc(sizeof part + PART_BYTES);
	int status = payload ? 0
			     : gt_error(-ENOMEM, "cannot store the summary of capture %s",
					a->writer->path);

	for (; !status && part.part < part.parts; part.part++) {
		uint8_t head[sizeof(struct gt_file_block) + sizeof(uint32_t)];
		const size_t head_bytes = make_head(c, head);
		const size_t from = (size_t)part.part * PART_BYTES;
		const size_t n = bytes - from < PART_BYTES ? bytes - from : PART_BYTES;

		memcpy(payload, &part, sizeof part);
		memcpy(payload + sizeof part, content + from, n);
		status = gt_writer_make_room(a->writer, f, head_bytes + sizeof part + n);
		if (!status)
			gt_writer_put_block(f, head, head_bytes, payload, sizeof part + n);
	}
	free(payload);
	return status;
}

int gt_capture_store_summary(const struct gt_capture *c, uint32_t version, const void *content,
			     size_t bytes)
{
	struct gt_append a;
	int status;

	if (c->file_count != 1 || c->repeated_count || !gt_capture_is_whole(&c->health))
		return gt_error(-ENOTSUP, "capture %s is damaged, cut, or not a single file",
				c->files[0].path);
	if (!bytes || bytes > GT_FILE_SUMMARY_MAX)
		return gt_error(-EFBIG, "the summary of capture %s has %zu bytes", c->files[0].path,
				bytes);
	status = gt_append_create(c, &a);
	if (!status)
		status = gt_append_open(&a);
	if (!status)
		status = put_parts(&a, version, content, bytes);
	if (!status)
		status = gt_append_write(&a);
	gt_append_destroy(&a);
	return status;
}
