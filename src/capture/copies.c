/* SPDX-License-Identifier: MIT */
/* See copies.h. A first walk reads the block heads of all files to find the sessions. A second walk
 * reads whole files to rate sessions that have copies, and skips files without such sessions. */
#include "capture/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/checksum.h"
#include "capture/scan.h"
#include "util/error.h"
#include "util/grow.h"

/* A session within a file. */
struct copy {
	size_t file;
	uint32_t section;
	uint8_t uuid[16];
	/* true if uuid comes from a readable SECTION block or from the header of the file */
	bool known;
	bool doubled, left_out;
	uint64_t good_bytes; /* number of bytes of readable payloads */
	enum gt_capture_end end;
	uint32_t bad_blocks;
};

struct gt_copies {
	struct copy *list; /* in the order of the files */
	size_t count, room, left_out;
};

/* Buffers of a walk; several MiB. */
struct walk {
	struct gt_scan scan;
	struct gt_scan_block block;
	uint8_t payload[GT_FILE_PAYLOAD_MAX];
};

static struct copy *find_copy(const struct gt_copies *c, size_t file, uint32_t section)
{
	size_t i;

	for (i = c->count; i-- > 0 && c->list[i].file >= file;)
		if (c->list[i].file == file && c->list[i].section == section)
			return &c->list[i];
	return NULL;
}

static int add_copy(struct gt_copies *c, size_t file, uint32_t section, struct copy **out)
{
	struct copy *more;

	*out = find_copy(c, file, section);
	if (*out)
		return 0;
	more = gt_grow(c->list, c->count, &c->room, sizeof *more);
	if (!more)
		return gt_error(-ENOMEM, "cannot store the sessions of %zu captures", file + 1);
	c->list = more;
	*out = &c->list[c->count++];
	**out = (struct copy){.file = file, .section = section, .end = GT_CAPTURE_CUT};
	return 0;
}

static bool read_payload(struct walk *w)
{
	const struct gt_file_block *h = &w->block.head;

	return gt_scan_read(w->scan.fd, w->payload, h->stored_bytes, w->block.at + h->head_bytes) ==
		       0 &&
	       gt_crc32c(0, w->payload, h->stored_bytes) == h->payload_crc;
}

/* Read the session's id and its end from the block. */
static void read_mark(struct walk *w, struct copy *s)
{
	struct gt_file_section stored;

	if (!read_payload(w) || w->block.head.stored_bytes < sizeof stored)
		return;
	memcpy(&stored, w->payload, sizeof stored);
	if (stored.end > GT_CAPTURE_CUT ||
	    stored.path_bytes > w->block.head.stored_bytes - sizeof stored)
		return;
	if (!s->known)
		memcpy(s->uuid, stored.uuid, sizeof s->uuid);
	s->known = true;
	s->end = (enum gt_capture_end)stored.end;
}

static bool is_block_of_session(const struct gt_scan_block *b, uint32_t section)
{
	return gt_block_is_of_session(&b->head) && b->head.process < GT_FILE_PROCESS_MAX &&
	       (section == GT_SECTION_NONE || section < GT_FILE_SECTION_MAX);
}

/* List the file's sessions and their ids. */
static int list_file(struct gt_copies *c, size_t file, struct walk *w)
{
	const size_t before = c->count;
	struct copy *s;
	int status;

	while ((status = gt_scan_next(&w->scan, &w->block)) > 0) {
		uint32_t section = gt_scan_section(&w->block);

		if (!is_block_of_session(&w->block, section))
			continue;
		status = add_copy(c, file, section, &s);
		if (status)
			return status;
		if (section == GT_SECTION_NONE) {
			memcpy(s->uuid, w->scan.uuid, sizeof s->uuid);
			s->known = true;
		} else if (w->block.head.type == GT_BLOCK_SECTION) {
			read_mark(w, s);
		}
	}
	if (!status && c->count == before) { /* the file is empty: it has no block of a session */
		status = add_copy(c, file, GT_SECTION_NONE, &s);
		if (!status) {
			memcpy(s->uuid, w->scan.uuid, sizeof s->uuid);
			s->known = true;
		}
	}
	return status;
}

/* Measure the readable bytes of the file's sessions. */
static int weigh_file(struct gt_copies *c, size_t file, struct walk *w)
{
	struct copy *whole = find_copy(c, file, GT_SECTION_NONE);
	int status;

	while ((status = gt_scan_next(&w->scan, &w->block)) > 0) {
		const struct gt_file_block *h = &w->block.head;
		uint32_t section = gt_scan_section(&w->block);
		struct copy *s = is_block_of_session(&w->block, section)
					 ? find_copy(c, file, section)
					 : NULL;
		struct gt_file_end end = {0};

		if (whole)
			/* an end marker followed by a block does not count */
			whole->end = GT_CAPTURE_CUT;
		if (!s && h->type != GT_BLOCK_END)
			continue;
		if (!read_payload(w)) {
			if (s)
				s->bad_blocks++;
			continue;
		}
		if (s && h->type != GT_BLOCK_SECTION)
			s->good_bytes += h->stored_bytes;
		if (h->type != GT_BLOCK_END || !whole)
			continue;
		memcpy(&end, w->payload,
		       h->stored_bytes < sizeof end ? h->stored_bytes : sizeof end);
		whole->end = end.complete ? GT_CAPTURE_COMPLETE : GT_CAPTURE_INCOMPLETE;
	}
	return status;
}

/* Walk over a file. Skip an unreadable file, because the function that opens the file reports the
 * error. */
static int each_block(struct gt_copies *c, const char *path, size_t file, struct walk *w,
		      int (*walk)(struct gt_copies *c, size_t file, struct walk *w))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status;
	struct gt_index_info index;

	if (fd < 0)
		return 0;
	status = gt_scan_init(&w->scan, fd, path);
	if (status) {
		gt_error_clear();
		status = 0;
	} else {
		if (walk == list_file)
			gt_scan_take_index(&w->scan, &index);
		status = walk(c, file, w);
		gt_scan_end(&w->scan);
		if (status && status != -ENOMEM)
			gt_error(status, "cannot read capture %s", path);
	}
	close(fd);
	return status;
}

static bool is_copy(const struct copy *a, const struct copy *b)
{
	return a->known && b->known && !gt_uuid_is_zero(a->uuid) &&
	       !memcmp(a->uuid, b->uuid, sizeof a->uuid);
}

/* Return true if the later copy is the better one. */
static bool is_better(const struct copy *later, const struct copy *s)
{
	return later->good_bytes != s->good_bytes ? later->good_bytes > s->good_bytes
	       : later->end != s->end             ? later->end < s->end
						  : later->bad_blocks < s->bad_blocks;
}

/* Mark sessions that have copies. Return the number of additional copies. */
static size_t mark_doubled(struct gt_copies *c)
{
	size_t i, k, found = 0;

	for (i = 0; i < c->count; i++)
		for (k = 0; k < i; k++)
			if (is_copy(&c->list[i], &c->list[k])) {
				c->list[i].doubled = c->list[k].doubled = true;
				found++;
				break;
			}
	return found;
}

static void choose_copies(struct gt_copies *c)
{
	size_t i, k;

	for (i = 0; i < c->count; i++)
		for (k = 0; k < i && !c->list[i].left_out; k++) {
			struct copy *worse = &c->list[k];

			if (worse->left_out || !is_copy(&c->list[i], worse))
				continue;
			if (!is_better(&c->list[i], worse))
				worse = &c->list[i];
			worse->left_out = true;
			c->left_out++;
		}
}

static int weigh_copies(struct gt_copies *c, const char *const *paths, size_t count, struct walk *w)
{
	size_t i, k;
	int status = 0;

	for (i = 0; i < count && !status; i++)
		for (k = 0; k < c->count && !status; k++)
			if (c->list[k].file == i && c->list[k].doubled) {
				status = each_block(c, paths[i], i, w, weigh_file);
				break;
			}
	if (!status)
		choose_copies(c);
	return status;
}

int gt_copies_find(const char *const *paths, size_t count, struct gt_copies **out)
{
	struct gt_copies *c = calloc(1, sizeof *c);
	struct walk *w = malloc(sizeof *w);
	int status =
		c && w ? 0 : gt_error(-ENOMEM, "cannot store the sessions of %zu captures", count);
	size_t i;

	*out = NULL;
	for (i = 0; i < count && !status; i++)
		status = each_block(c, paths[i], i, w, list_file);
	if (!status && mark_doubled(c))
		status = weigh_copies(c, paths, count, w);
	free(w);
	if (status)
		gt_copies_destroy(c);
	else
		*out = c;
	return status;
}

void gt_copies_destroy(struct gt_copies *c)
{
	if (c)
		free(c->list);
	free(c);
}

bool gt_copies_leave_out(const struct gt_copies *c, size_t file, uint32_t section)
{
	const struct copy *s = c && c->left_out ? find_copy(c, file, section) : NULL;

	return s && s->left_out;
}

bool gt_copies_leave_out_file(const struct gt_copies *c, size_t file)
{
	bool found = false;
	size_t i;

	for (i = 0; c && c->left_out && i < c->count; i++) {
		if (c->list[i].file == file && !c->list[i].left_out)
			return false;
		found |= c->list[i].file == file;
	}
	return found;
}

size_t gt_copies_count(const struct gt_copies *c)
{
	return c ? c->left_out : 0;
}
