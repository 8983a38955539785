/* SPDX-License-Identifier: MIT */
/* Merges several captures into one file, see gt_capture_merge(). Blocks are copied unchanged.
 * Payloads are read only to check them. The head of each block is extended with the number of the
 * session:
 *
 *   | header, major 2 | SECTION 0 | blocks of 0 .. | SECTION 0 |
 *                     | SECTION 1 | blocks of 1 .. | SECTION 1 | .. | INDEX | END |
 *
 * The first SECTION of each session identifies the original capture. The second SECTION contains
 * the state of that capture's end, so the result of an interrupted merge still shows which sessions
 * are complete. Damaged parts of an input are left out and counted in its SECTION. Memory: one
 * block, and the heads of all blocks for the index. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/checksum.h"
#include "capture/copies.h"
#include "capture/scan.h"
#include "util/error.h"
#include "util/grow.h"

enum { WRITE_BYTES = 1 << 20, PATH_BYTES = 4096 };

/* A session of the current input. */
struct section {
	uint32_t in, out; /* number of the session in the input, and in the output */
	struct gt_file_section stored;
	char *path;
};

struct merge {
	int fd;
	const char *path;
	uint8_t *buffer; /* WRITE_BYTES plus room for one whole block */
	size_t used;
	uint64_t bytes; /* bytes written to the file */
	struct gt_index_writer index;
	struct gt_copies *copies; /* copies of sessions within the inputs */
	size_t input;             /* number of the current input */
	uint32_t next;            /* next section number */
	struct section *sections; /* sessions of the current input */
	size_t section_count, section_room;
	struct gt_capture_health health;
	const struct gt_merge_options *options;
	uint64_t done, total;
};

static int flush_output(struct merge *m)
{
	size_t done = 0;

	while (done < m->used) {
		ssize_t n = write(m->fd, m->buffer + done, m->used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gt_error(n < 0 ? -errno : -EIO, "cannot write %s", m->path);
		done += (size_t)n;
	}
	/* the header of the file precedes the first blocks */
	gt_index_add(&m->index, m->buffer + (m->bytes ? 0 : sizeof(struct gt_file_header)),
		     m->used - (m->bytes ? 0 : sizeof(struct gt_file_header)));
	m->bytes += m->used;
	m->used = 0;
	return 0;
}

/* Append a block with its section number to the buffer. @payload: head.stored_bytes bytes */
static int put_block(struct merge *m, struct gt_file_block head, const void *extension,
		     size_t extension_bytes, uint32_t section, const void *payload)
{
	uint8_t *at = m->buffer + m->used;

	head.head_bytes = (uint16_t)(sizeof head + extension_bytes);
	head.magic = GT_BLOCK_MAGIC;
	head.head_crc = 0;
	if (section != GT_SECTION_NONE) {
		head.flags |= GT_BLOCK_OF_SECTION;
		head.head_bytes += (uint16_t)sizeof section;
	}
	if (extension_bytes)
		memcpy(at + sizeof head, extension, extension_bytes);
	if (section != GT_SECTION_NONE)
		memcpy(at + sizeof head + extension_bytes, &section, sizeof section);
	memcpy(at, &head, sizeof head);
	head.head_crc = gt_head_crc(at, head.head_bytes);
	memcpy(at, &head, sizeof head);
	memcpy(at + head.head_bytes, payload, head.stored_bytes);
	m->used += (size_t)head.head_bytes + head.stored_bytes;
	return m->used >= WRITE_BYTES ? flush_output(m) : 0;
}

static int put_section(struct merge *m, const struct section *s)
{
	uint8_t payload[sizeof s->stored + PATH_BYTES];
	struct gt_file_section stored = s->stored;
	struct gt_file_block head = {.type = GT_BLOCK_SECTION};
	size_t bytes = strnlen(s->path, PATH_BYTES);

	stored.path_bytes = (uint32_t)bytes;
	memcpy(payload, &stored, sizeof stored);
	memcpy(payload + sizeof stored, s->path, bytes);
	head.stored_bytes = head.raw_bytes = (uint32_t)(sizeof stored + bytes);
	head.payload_crc = gt_crc32c(0, payload, head.stored_bytes);
	return put_block(m, head, NULL, 0, s->out, payload);
}

static int put_header(struct merge *m)
{
	struct gt_file_header header = {.major = GT_FILE_MAJOR_MERGED,
					.minor = GT_FILE_MINOR,
					.header_bytes = sizeof header};

	memcpy(header.magic, GT_FILE_MAGIC, sizeof header.magic);
	if (getrandom(header.uuid, sizeof header.uuid, 0) != (ssize_t)sizeof header.uuid)
		return gt_error(-errno, "cannot create a random id for %s", m->path);
	header.crc = gt_crc32c(0, &header, offsetof(struct gt_file_header, crc));
	memcpy(m->buffer, &header, sizeof header);
	m->used = sizeof header;
	gt_index_begin(&m->index, sizeof header);
	return 0;
}

/* Write INDEX blocks for the heads that no INDEX lists yet. */
static int put_indexes(struct merge *m)
{
	int status = flush_output(m);
	const uint64_t end = m->index.end;

	while (!status && !m->index.lost && m->index.first < end) {
		struct gt_file_block head = {.type = GT_BLOCK_INDEX};
		const uint64_t at = m->bytes + m->used;
		size_t bytes = 0;
		uint8_t *payload = gt_index_payload(&m->index, &bytes);

		if (!payload)
			break;
		head.stored_bytes = head.raw_bytes = (uint32_t)bytes;
		head.payload_crc = gt_crc32c(0, payload, bytes);
		status = put_block(m, head, NULL, 0, GT_SECTION_NONE, payload);
		gt_index_put(&m->index, payload, at);
		free(payload);
	}
	return status;
}

static int put_end(struct merge *m)
{
	int first = put_indexes(m);
	struct gt_file_end end = {.complete = gt_capture_is_whole(&m->health) &&
					      m->health.end == GT_CAPTURE_COMPLETE,
				  .bytes = m->bytes + m->used,
				  .index = m->index.lost ? 0 : m->index.previous};
	struct gt_file_block head = {.type = GT_BLOCK_END,
				     .stored_bytes = sizeof end,
				     .raw_bytes = sizeof end,
				     .payload_crc = gt_crc32c(0, &end, sizeof end)};
	int status = first ? first : put_block(m, head, NULL, 0, GT_SECTION_NONE, &end);

	return status ? status : flush_output(m);
}

static struct section *find_section(struct merge *m, uint32_t number)
{
	size_t i;

	for (i = m->section_count; i-- > 0;)
		if (m->sections[i].in == number)
			return &m->sections[i];
	return NULL;
}

/* Number a session of the input at its first block. */
static int add_section(struct merge *m, uint32_t number, const uint8_t uuid[16], const char *path,
		       size_t path_bytes, struct section **out)
{
	struct section *s = gt_grow(m->sections, m->section_count, &m->section_room, sizeof *s);

	if (!s)
		return gt_error(-ENOMEM, "cannot merge captures");
	m->sections = s;
	s = *out = &m->sections[m->section_count];
	*s = (struct section){.in = number,
			      .out = m->next,
			      .path = strndup(path, path_bytes),
			      .stored = {.end = GT_CAPTURE_CUT}};
	if (!s->path)
		return gt_error(-ENOMEM, "cannot merge captures");
	m->section_count++;
	memcpy(s->stored.uuid, uuid, sizeof s->stored.uuid);
	if (m->next == GT_FILE_SECTION_MAX)
		return gt_error(-E2BIG, "more than %u sessions", GT_FILE_SECTION_MAX);
	m->next++;
	return put_section(m, s);
}

static int read_section(struct merge *m, uint32_t number, const uint8_t *payload, size_t bytes)
{
	struct gt_file_section stored;
	struct section *s;

	if (bytes < sizeof stored)
		return -EBADMSG;
	memcpy(&stored, payload, sizeof stored);
	if (stored.path_bytes > bytes - sizeof stored || stored.end > GT_CAPTURE_CUT)
		return -EBADMSG;
	s = find_section(m, number);
	if (!s) {
		int status =
			add_section(m, number, stored.uuid, (const char *)payload + sizeof stored,
				    stored.path_bytes, &s);

		if (status)
			return status;
	}
	s->stored = stored;
	return 0;
}

struct input {
	struct gt_scan scan;
	struct gt_scan_block block;
	uint8_t payload[GT_FILE_PAYLOAD_MAX];
	const char *path;
	bool has_end;
	enum gt_capture_end end;
	uint64_t bad_bytes, bad_blocks;
};

static int copy_block(struct merge *m, struct input *in)
{
	const struct gt_file_block *h = &in->block.head;
	uint32_t number = gt_scan_section(&in->block);
	size_t extension = h->head_bytes - sizeof *h;
	struct section *s;
	int status;

	in->has_end = false;
	/* left out: the output gets its own index, and the times of a summary may change */
	if (h->type == GT_BLOCK_INDEX || h->type == GT_BLOCK_SUMMARY)
		return 0;
	if (h->type != GT_BLOCK_END && gt_copies_leave_out(m->copies, m->input, number))
		return 0;
	status = gt_scan_read(in->scan.fd, in->payload, h->stored_bytes,
			      in->block.at + h->head_bytes);
	if (status)
		return status;
	if (h->process >= GT_FILE_PROCESS_MAX ||
	    (number != GT_SECTION_NONE && number >= GT_FILE_SECTION_MAX))
		return -EBADMSG;
	if (gt_crc32c(0, in->payload, h->stored_bytes) != h->payload_crc ||
	    extension + sizeof number > GT_FILE_HEAD_MAX - sizeof *h)
		return -EBADMSG;
	if (h->type == GT_BLOCK_END) {
		struct gt_file_end end = {0};

		memcpy(&end, in->payload,
		       h->stored_bytes < sizeof end ? h->stored_bytes : sizeof end);
		in->has_end = true;
		in->end = end.complete ? GT_CAPTURE_COMPLETE : GT_CAPTURE_INCOMPLETE;
		return 0;
	}
	if (h->type == GT_BLOCK_SECTION && h->flags & GT_BLOCK_ZSTD)
		return 0; /* a block from a later version, skipped as a reader would skip it */
	if (h->type == GT_BLOCK_SECTION)
		return read_section(m, number, in->payload, h->stored_bytes);
	s = find_section(m, number);
	if (!s) { /* the file has one session, or the SECTION block is damaged */
		static const uint8_t unknown[16];

		status = add_section(m, number, number == GT_SECTION_NONE ? in->scan.uuid : unknown,
				     in->path, strlen(in->path), &s);
	}
	if (status)
		return status;
	return put_block(m, *h, in->block.extension,
			 number == GT_SECTION_NONE ? extension : extension - sizeof number, s->out,
			 in->payload);
}

/* Write the end state of each session of a completely read input. Damage in a merged input cannot
 * be attributed to a session. Therefore the first session gets the damaged bytes, and no session is
 * marked complete. */
static int finish_input(struct merge *m, const struct input *in)
{
	struct gt_capture_health *sum = &m->health;
	uint64_t bad_bytes = in->bad_bytes, bad_blocks = in->bad_blocks;
	enum gt_capture_end end = in->has_end ? in->end : GT_CAPTURE_CUT;
	struct section *s;
	size_t i;
	int status = m->section_count ? 0
				      : add_section(m, GT_SECTION_NONE, in->scan.uuid, in->path,
						    strlen(in->path), &s);

	sum->end = end > sum->end ? end : sum->end;
	for (i = 0; i < m->section_count && !status; i++) {
		struct gt_file_section *stored = &m->sections[i].stored;

		if (m->sections[i].in == GT_SECTION_NONE) {
			*stored = (struct gt_file_section){.bytes = in->scan.bytes, .end = end};
			memcpy(stored->uuid, in->scan.uuid, sizeof stored->uuid);
		} else if (in->bad_blocks && stored->end == GT_CAPTURE_COMPLETE) {
			stored->end = GT_CAPTURE_INCOMPLETE;
		}
		stored->bad_bytes += bad_bytes;
		stored->bad_blocks += (uint32_t)bad_blocks;
		bad_bytes = bad_blocks = 0;
		sum->bad_bytes += stored->bad_bytes;
		sum->bad_blocks += stored->bad_blocks;
		sum->end = stored->end > (uint32_t)sum->end ? (enum gt_capture_end)stored->end
							    : sum->end;
		status = put_section(m, &m->sections[i]);
	}
	return status;
}

static int copy_input(struct merge *m, struct input *in, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status;
	size_t i;

	if (fd < 0)
		return gt_error(-errno, "cannot open capture %s", path);
	in->path = path;
	in->has_end = false;
	in->end = GT_CAPTURE_CUT;
	in->bad_bytes = in->bad_blocks = 0;
	status = gt_scan_init(&in->scan, fd, path);
	if (status)
		goto out;
	/* all sessions are left out, so the input's damage does not count */
	if (gt_copies_leave_out_file(m->copies, m->input)) {
		m->done += in->scan.bytes;
		goto out;
	}
	m->health.bytes += in->scan.bytes;
	while ((status = gt_scan_next(&in->scan, &in->block)) > 0) {
		status = copy_block(m, in);
		if (status == -EBADMSG || status == -ENODATA) {
			in->bad_blocks++;
			in->bad_bytes +=
				(uint64_t)in->block.head.head_bytes + in->block.head.stored_bytes;
		} else if (status) {
			break;
		}
		if (m->options->progress)
			m->options->progress(m->options->progress_data, m->done + in->scan.at,
					     m->total);
	}
	m->done += in->scan.bytes;
	in->bad_blocks += in->scan.bad_blocks;
	in->bad_bytes += in->scan.bad_bytes;
	if (!status)
		status = finish_input(m, in);
	else
		gt_error(status, "cannot merge %s", path);
out:
	for (i = 0; i < m->section_count; i++)
		free(m->sections[i].path);
	m->section_count = 0;
	close(fd);
	return status;
}

int gt_capture_merge(const char *const *paths, size_t count, const char *path,
		     const struct gt_merge_options *options, struct gt_capture_health *health,
		     size_t *repeated)
{
	static const struct gt_merge_options none;
	struct merge m = {.path = path, .options = options ? options : &none};
	struct input *in = malloc(sizeof *in);
	struct stat st;
	size_t i;
	int status;

	m.buffer = malloc(WRITE_BYTES + GT_FILE_PAYLOAD_MAX + GT_FILE_HEAD_MAX);
	m.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (m.fd < 0)
		status = gt_error(-errno, "cannot write %s", path);
	else
		status = in && m.buffer ? put_header(&m)
					: gt_error(-ENOMEM, "cannot merge captures");
	for (i = 0; i < count; i++)
		m.total += stat(paths[i], &st) ? 0 : (uint64_t)st.st_size;
	if (!status && count > 1) /* a single file is used unchanged, as when reading */
		status = gt_copies_find(paths, count, &m.copies);
	for (i = 0; i < count && !status; i++) {
		m.input = i;
		status = copy_input(&m, in, paths[i]);
	}
	if (!status)
		status = put_end(&m);
	if (m.fd >= 0 && close(m.fd) && !status)
		status = gt_error(-errno, "cannot write %s", path);
	*health = m.health;
	*repeated = gt_copies_count(m.copies);
	free(m.sections);
	gt_index_fini(&m.index);
	gt_copies_destroy(m.copies);
	free(m.buffer);
	free(in);
	return status;
}
