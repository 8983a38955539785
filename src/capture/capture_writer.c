/* SPDX-License-Identifier: MIT */
/* The writer of captures. Everything becomes a block in one buffer, which goes to the file in
 * large writes of whole blocks, so the file is valid at any moment. What a file does not take
 * stays in the buffer; a flush that fails cuts the file back to the last good flush, forgets the
 * records since then (their source still has them, or counts them) and keeps the rest, which is
 * small.
 *
 *   stream:   records -> encoder (its own 96 KiB of rows) --full, flush, destroy--> block in `out`
 *   the rest: strings, objects, .. -> `meta` --other process, full, flush--> block in `out`,
 *             and in `kept` until the next good flush
 *   `out` --1 MiB, flush--> file
 *
 * A batch of records is accepted or refused before anything of it is encoded: room for the worst
 * case is made first. One thread. Records come from memory that the traced program can change
 * while we read: everything kept is copied first and checked in the copy. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "capture/capture.h"
#include "capture/checksum.h"
#include "capture/encode.h"
#include "capture/newfile.h"
#include "capture/scan.h"
#include "util/error.h"

enum {
	WRITE_BYTES = 1 << 20,      /* worth a system call */
	KEPT_MAX_BYTES = 8 << 20,   /* metadata is refused beyond while the file takes nothing */
	META_BYTES = 64 << 10,      /* records of one RECORDS block, but for a single longer one */
	TEXT_MAX_BYTES = 256 << 10, /* of one text in a metadata block */
	BALLAST_BYTES = 64 << 10,   /* of disk kept for the last sums and the end mark */
	STREAM_HEAD_BYTES = sizeof(struct gt_file_block) + sizeof(struct gt_file_stream) +
			    GT_CLASS_COUNT * GT_DOMAIN_COUNT * sizeof(struct gt_file_count),
	/* encoders kept for the next thread: their pages are touched already */
	SPARE_STREAMS = 16,
};

static_assert(STREAM_HEAD_BYTES <= GT_FILE_HEAD_MAX, "a stream block's header fits");

struct gt_stream {
	struct gt_capture_writer *writer;
	struct gt_stream *next, **link; /* in writer.streams or writer.spare */
	uint32_t process, ordinal;
	/* of calls in blocks that ended since gt_capture_stream_is_doubted() was asked */
	uint64_t first_ticks, last_ticks;
	struct gt_encoder encoder;
};

struct gt_capture_writer {
	int fd, ballast_fd;
	int replaced_fd;                 /* the file whose place this one took, or -1 */
	uint8_t id[GT_CAPTURE_ID_BYTES]; /* as in the file's header */
	/* something that was accepted is lost: the capture cannot be complete */
	bool failed;
	bool kept_short; /* `kept` misses something */
	char *path;
	uint64_t file_bytes;    /* whole blocks in the file */
	uint64_t flushed_bytes; /* .. after the last good flush */
	uint64_t limit_bytes;   /* RLIMIT_FSIZE, minus room for the end; UINT64_MAX: none */
	uint8_t *out, *kept;
	size_t out_bytes, out_room, kept_bytes, kept_room;
	uint8_t *meta; /* META_BYTES, records of meta_process */
	size_t meta_bytes;
	uint32_t meta_process;
	struct gt_stream *streams, *spare;
	unsigned spare_count;
	ZSTD_CCtx *zstd;
};

static void close_replaced(struct gt_capture_writer *w)
{
	if (w->replaced_fd >= 0)
		close(w->replaced_fd);
	w->replaced_fd = -1;
}

/* Output -------------------------------------------------------------------- */

static int grow(const struct gt_capture_writer *w, uint8_t **buffer, size_t *room, size_t used,
		size_t bytes)
{
	size_t wanted = *room ? *room : 4096;
	uint8_t *p;

	if (*room - used >= bytes)
		return 0;
	while (wanted - used < bytes)
		wanted *= 2;
	p = realloc(*buffer, wanted);
	if (!p)
		return gt_error(-ENOMEM, "capture %s: buffer of %zu bytes", w->path, wanted);
	*buffer = p;
	*room = wanted;
	return 0;
}

static int make_room(struct gt_capture_writer *w, size_t bytes)
{
	return grow(w, &w->out, &w->out_room, w->out_bytes, bytes);
}

/* The file took only a part: it keeps the whole blocks, the buffer the rest. */
static int write_failed(struct gt_capture_writer *w, size_t written, int error)
{
	size_t whole = 0;

	while (written - whole >= sizeof(struct gt_file_block)) {
		struct gt_file_block head;

		memcpy(&head, w->out + whole, sizeof head);
		if (written - whole < (size_t)head.head_bytes + head.stored_bytes)
			break;
		whole += (size_t)head.head_bytes + head.stored_bytes;
	}
	w->file_bytes += whole;
	w->out_bytes -= whole;
	memmove(w->out, w->out + whole, w->out_bytes);
	if (written != whole && ftruncate(w->fd, (off_t)w->file_bytes))
		w->failed = true; /* a torn block stays; readers skip it */
	return gt_error(error, "capture %s: cannot write %zu bytes", w->path, w->out_bytes);
}

static int write_out(struct gt_capture_writer *w)
{
	size_t done = 0;

	if (w->file_bytes + w->out_bytes > w->limit_bytes)
		return gt_error(-EFBIG, "capture %s: limit of file size (ulimit -f) reached",
				w->path);
	while (done < w->out_bytes) {
		ssize_t n = pwrite(w->fd, w->out + done, w->out_bytes - done,
				   (off_t)(w->file_bytes + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return write_failed(w, done, n ? -errno : -EIO);
		done += (size_t)n;
	}
	w->file_bytes += w->out_bytes;
	w->out_bytes = 0;
	return 0;
}

/* Append a block whose room was made. @head: with its extension, magic, sizes and checksums are
 * filled in */
static void put_block(struct gt_capture_writer *w, void *head, size_t head_bytes,
		      const void *payload, size_t bytes)
{
	struct gt_file_block *b = head;
	uint8_t *at = w->out + w->out_bytes;

	b->magic = GT_BLOCK_MAGIC;
	b->head_bytes = (uint16_t)head_bytes;
	b->stored_bytes = (uint32_t)bytes;
	if (!(b->flags & GT_BLOCK_ZSTD))
		b->raw_bytes = (uint32_t)bytes;
	b->payload_crc = gt_crc32c(0, payload, bytes);
	b->head_crc = 0;
	b->head_crc = gt_head_crc(head, head_bytes);
	if (payload != at + head_bytes)
		memmove(at + head_bytes, payload, bytes);
	memcpy(at, head, head_bytes);
	w->out_bytes += head_bytes + bytes;
}

static int append_block(struct gt_capture_writer *w, uint8_t type, uint32_t process,
			uint32_t ordinal, const void *payload, size_t bytes)
{
	struct gt_file_block head = {.type = type, .process = process, .ordinal = ordinal};
	int status;

	if (w->out_bytes > WRITE_BYTES) {
		status = write_out(w);
		if (status && w->kept_bytes > KEPT_MAX_BYTES)
			return status;
		gt_error_clear();
	}
	status = make_room(w, sizeof head + bytes);
	if (status)
		return status;
	put_block(w, &head, sizeof head, payload, bytes);
	if (grow(w, &w->kept, &w->kept_room, w->kept_bytes, sizeof head + bytes)) {
		gt_error_clear();
		w->kept_short = true;
		return 0;
	}
	memcpy(w->kept + w->kept_bytes, w->out + w->out_bytes - sizeof head - bytes,
	       sizeof head + bytes);
	w->kept_bytes += sizeof head + bytes;
	return 0;
}

/* Metadata records ---------------------------------------------------------- */

static int end_meta(struct gt_capture_writer *w)
{
	int status;

	if (!w->meta_bytes)
		return 0;
	status = append_block(w, GT_BLOCK_RECORDS, w->meta_process, 0, w->meta, w->meta_bytes);
	if (!status)
		w->meta_bytes = 0;
	return status;
}

/* Is a record that is not for a stream what its lengths say? It is a copy: nobody changes it. */
static bool meta_valid(const uint64_t *record, uint32_t words)
{
	size_t fixed, text;
	const struct gt_record *head = (const void *)record;

	switch (head->kind) {
	case GT_RECORD_STRING:
		fixed = sizeof(struct gt_record_string) / 8;
		text = 1;
		break;
	case GT_RECORD_OBJECT:
	case GT_RECORD_MODULE:
		fixed = sizeof(struct gt_record_object) / 8;
		text = 4;
		break;
	case GT_RECORD_EVENT:
		fixed = sizeof(struct gt_record_event) / 8;
		text = 3;
		break;
	case GT_RECORD_CLOCK: return words >= sizeof(struct gt_record_clock) / 8;
	case GT_RECORD_LIFETIME: return words >= sizeof(struct gt_record_lifetime) / 8;
	default: return true; /* of a later version: only its length is ours to check, and it was */
	}
	return words >= fixed && record[text] <= (words - fixed) * 8;
}

/* Would a writer of ours make it? Its lengths are valid. */
static bool meta_known(const uint64_t *record, uint32_t words)
{
	const struct gt_record *head = (const void *)record;

	switch (head->kind) {
	case GT_RECORD_STRING: return words == 2 + (record[1] + 7) / 8;
	case GT_RECORD_OBJECT:
	case GT_RECORD_MODULE:
		return words == 5 + (record[4] + 7) / 8 && head->op &&
		       head->op < GT_OBJECT_TYPE_COUNT && head->depth < GT_DOMAIN_COUNT;
	case GT_RECORD_EVENT:
		return words == 4 + (record[3] + 7) / 8 && head->op < GT_EVENT_CODE_COUNT &&
		       head->depth < GT_DOMAIN_COUNT;
	case GT_RECORD_CLOCK:
		return words == sizeof(struct gt_record_clock) / 8 && record[1] <= record[2];
	case GT_RECORD_LIFETIME:
		return words == sizeof(struct gt_record_lifetime) / 8 &&
		       head->op < GT_OBJECT_TYPE_COUNT && head->depth < GT_DOMAIN_COUNT &&
		       record[3] <= 1;
	default: return false;
	}
}

/* Keep one record for a RECORDS block. It is not counted as recorded, so where there is no room
 * for it any more the batch goes on without it. Return: 0 or -EBADMSG. */
static int put_meta(struct gt_stream *s, const uint64_t *data, uint32_t words)
{
	struct gt_capture_writer *w = s->writer;
	size_t bytes = (size_t)words * 8;
	uint64_t head = words | (__atomic_load_n(data, __ATOMIC_RELAXED) & ~UINT64_C(0xffff));

	if (w->meta_bytes &&
	    (w->meta_process != s->process || w->meta_bytes + bytes > META_BYTES) && end_meta(w)) {
		gt_error_clear();
		w->failed = true;
		return 0;
	}
	w->meta_process = s->process;
	memcpy(w->meta + w->meta_bytes, data, bytes);
	memcpy(w->meta + w->meta_bytes, &head, 8);
	if (!meta_valid((const void *)(w->meta + w->meta_bytes), words))
		return -EBADMSG;
	if (!meta_known((const void *)(w->meta + w->meta_bytes), words))
		s->encoder.doubted = true;
	w->meta_bytes += bytes;
	return 0;
}

/* Streams ------------------------------------------------------------------- */

/* The extension of a stream block from what its encoder counted. Return: head_bytes. */
static size_t stream_head(const struct gt_stream *s, uint8_t *buffer)
{
	const struct gt_encoder *e = &s->encoder;
	struct gt_file_block head = {.type = GT_BLOCK_STREAM,
				     .process = s->process,
				     .ordinal = s->ordinal};
	struct gt_file_stream stream = {.base_ticks = e->base_ticks,
					.base_id = e->base_id,
					.first_ticks = e->first_ticks,
					.last_ticks = e->last_ticks,
					.rows = e->rows};
	uint8_t *at = buffer + sizeof head + sizeof stream;
	unsigned c, d;

	for (c = 0; c < GT_CLASS_COUNT; c++)
		for (d = 0; d < GT_DOMAIN_COUNT; d++) {
			struct gt_file_count count = {(uint8_t)c, (uint8_t)d, 0,
						      (uint32_t)(e->total[c][d] -
								 e->block_total[c][d])};

			if (!count.count)
				continue;
			if (c == GT_CLASS_DEVICE)
				head.flags |= GT_BLOCK_DEVICE;
			memcpy(at, &count, sizeof count);
			at += sizeof count;
			stream.count_entries++;
		}
	memcpy(buffer, &head, sizeof head);
	memcpy(buffer + sizeof head, &stream, sizeof stream);
	return (size_t)(at - buffer);
}

/* What the encoder holds becomes a block. Room for it was made. */
static void end_stream_block(struct gt_stream *s)
{
	struct gt_capture_writer *w = s->writer;
	struct gt_encoder *e = &s->encoder;
	uint8_t buffer[STREAM_HEAD_BYTES];
	struct gt_file_block *head = (void *)buffer;
	size_t raw = (size_t)(e->p - e->begin), head_bytes, n = 0;

	if (!e->rows)
		return;
	s->first_ticks = e->first_ticks < s->first_ticks ? e->first_ticks : s->first_ticks;
	s->last_ticks = e->last_ticks > s->last_ticks ? e->last_ticks : s->last_ticks;
	head_bytes = stream_head(s, buffer);
	if (w->zstd && raw > 64 && e->begin == e->buffer) {
		uint8_t *to = w->out + w->out_bytes + head_bytes;

		n = ZSTD_compressCCtx(w->zstd, to, w->out_room - w->out_bytes - head_bytes,
				      e->begin, raw, 1);
		if (!ZSTD_isError(n) && n < raw) {
			head->flags |= GT_BLOCK_ZSTD;
			head->raw_bytes = (uint32_t)raw;
			put_block(w, buffer, head_bytes, to, n);
			gt_encoder_reset(e, NULL, 0);
			return;
		}
	}
	put_block(w, buffer, head_bytes, e->begin, raw);
	gt_encoder_reset(e, NULL, 0);
}

/* A single row that is longer than the encoder's buffer: a block of its own, encoded where it is
 * to lie but for its header, in the room that was made for the batch. */
static int put_long_row(struct gt_stream *s, const uint64_t *data, uint32_t words)
{
	struct gt_capture_writer *w = s->writer;
	enum gt_encode_stop stop;
	const uint64_t *next;

	gt_encoder_reset(&s->encoder, w->out + w->out_bytes + STREAM_HEAD_BYTES,
			 GT_ROW_MAX_BYTES(words));
	next = gt_encoder_run(&s->encoder, data, data + words, &stop);
	end_stream_block(s);
	gt_encoder_reset(&s->encoder, NULL, 0);
	return next == data + words && stop == GT_ENCODE_END ? 0 : -EBADMSG;
}

/* Bytes that a batch can take at worst: a row of 3 words takes up to 24 + 32 bytes, and blocks
 * may have to end after 254 shapes. */
static size_t worst_bytes(size_t bytes)
{
	return bytes * 3 +
	       (bytes / (GT_ROW_SHAPES * 24) + bytes / (GT_ENCODER_BYTES / 2) + 8) *
		       STREAM_HEAD_BYTES +
	       2 * GT_ENCODER_BYTES + META_BYTES + 4096;
}

int gt_capture_write_records(struct gt_stream *s, const void *data, size_t bytes,
			     struct gt_counts *recorded)
{
	struct gt_capture_writer *w = s->writer;
	struct gt_encoder *e = &s->encoder;
	const uint64_t *r = data, *end = r + bytes / 8;
	uint64_t before[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	enum gt_encode_stop stop;
	int status = 0;
	unsigned c, d;

	if (w->out_bytes >= WRITE_BYTES) {
		status = write_out(w);
		if (status)
			return status;
	}
	if (w->replaced_fd >= 0) /* the program runs: nobody waits for it */
		close_replaced(w);
	status = make_room(w, worst_bytes(bytes));
	if (status)
		return status;
	memcpy(before, e->total, sizeof before);
	while (r < end) {
		uint32_t words;

		r = gt_encoder_run(e, r, end, &stop);
		if (stop == GT_ENCODE_END)
			break;
		if (stop == GT_ENCODE_MALFORMED) {
			status = gt_error(-EBADMSG,
					  "record %zu words into a batch of process %u, thread %u "
					  "is malformed",
					  (size_t)(r - (const uint64_t *)data), s->process,
					  s->ordinal);
			break;
		}
		words = __atomic_load_n(r, __ATOMIC_RELAXED) & 0xffff;
		if (!words || words > (size_t)(end - r)) /* changed since the encoder looked */
			words = 1;
		if (stop == GT_ENCODE_FULL && e->rows) {
			end_stream_block(s);
			continue;
		}
		status = stop == GT_ENCODE_FULL ? put_long_row(s, r, words) : put_meta(s, r, words);
		if (status) {
			gt_error(status, "record %zu words into a batch of process %u, thread %u",
				 (size_t)(r - (const uint64_t *)data), s->process, s->ordinal);
			break;
		}
		r += words;
	}
	for (c = 0; recorded && c < GT_CLASS_COUNT; c++)
		for (d = 0; d < GT_DOMAIN_COUNT; d++)
			recorded->recorded[c][d] += e->total[c][d] - before[c][d];
	return status;
}

bool gt_capture_stream_is_doubted(struct gt_stream *s, uint64_t earliest, uint64_t latest)
{
	struct gt_encoder *e = &s->encoder;
	uint64_t first = e->first_ticks < s->first_ticks ? e->first_ticks : s->first_ticks;
	uint64_t last = e->last_ticks > s->last_ticks ? e->last_ticks : s->last_ticks;
	bool doubted = e->doubted || first < earliest || last > latest;

	e->doubted = false;
	s->first_ticks = UINT64_MAX;
	s->last_ticks = 0;
	return doubted;
}

int gt_capture_stream_create(struct gt_capture_writer *w, uint32_t process, uint32_t ordinal,
			     struct gt_stream **out)
{
	struct gt_stream *s = w->spare;

	*out = NULL;
	if (process >= GT_FILE_PROCESS_MAX)
		return gt_error(-EINVAL, "capture %s: process %u is beyond the %u of a capture",
				w->path, process, GT_FILE_PROCESS_MAX);
	if (s) {
		w->spare = s->next;
		w->spare_count--;
	} else {
		s = malloc(sizeof *s);
		if (!s)
			return gt_error(-ENOMEM, "capture %s: stream of process %u, thread %u",
					w->path, process, ordinal);
	}
	s->writer = w;
	s->process = process;
	s->ordinal = ordinal;
	s->first_ticks = UINT64_MAX;
	s->last_ticks = 0;
	gt_encoder_init(&s->encoder, ordinal);
	s->next = w->streams;
	s->link = &w->streams;
	if (s->next)
		s->next->link = &s->next;
	w->streams = s;
	*out = s;
	return 0;
}

uint64_t gt_capture_stream_newest_call(const struct gt_stream *s, enum gt_domain domain)
{
	return s->encoder.newest_call[domain];
}

void gt_capture_stream_destroy(struct gt_stream *s)
{
	struct gt_capture_writer *w;

	if (!s)
		return;
	w = s->writer;
	if (end_meta(w) || make_room(w, 2 * GT_ENCODER_BYTES + STREAM_HEAD_BYTES)) {
		gt_error_clear();
		w->failed = true;
	} else {
		end_stream_block(s);
	}
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	if (w->spare_count < SPARE_STREAMS) {
		s->next = w->spare;
		w->spare = s;
		w->spare_count++;
	} else {
		free(s);
	}
}

/* Back to the last good flush, but for what is not records. */
static void forget_records(struct gt_capture_writer *w)
{
	struct gt_stream *s;

	for (s = w->streams; s; s = s->next)
		gt_encoder_reset(&s->encoder, NULL, 0);
	if (ftruncate(w->fd, (off_t)w->flushed_bytes) && w->file_bytes > w->flushed_bytes)
		w->failed = true; /* blocks stay that nobody counts */
	w->file_bytes = w->flushed_bytes;
	w->out_bytes = 0;
	w->failed |= w->kept_short;
	w->kept_short = false;
	if (make_room(w, w->kept_bytes)) {
		gt_error_clear();
		w->failed = true;
		w->kept_bytes = 0;
	}
	memcpy(w->out, w->kept, w->kept_bytes);
	w->out_bytes = w->kept_bytes;
}

int gt_capture_flush(struct gt_capture_writer *w)
{
	struct gt_stream *s;
	int status = end_meta(w); /* first: what streams name is there before them */

	for (s = w->streams; s && !status; s = s->next) {
		status = make_room(w, 2 * GT_ENCODER_BYTES + STREAM_HEAD_BYTES);
		if (!status)
			end_stream_block(s);
		if (!status && w->out_bytes > WRITE_BYTES)
			status = write_out(w);
	}
	if (!status && w->out_bytes)
		status = write_out(w);
	if (status) {
		forget_records(w);
		return status;
	}
	w->flushed_bytes = w->file_bytes;
	w->kept_bytes = 0;
	w->kept_short = false;
	return 0;
}

uint64_t gt_capture_writer_bytes(const struct gt_capture_writer *w)
{
	return w->flushed_bytes;
}

/* Metadata blocks ----------------------------------------------------------- */

/* Builds a payload; what does not fit is cut, texts first. */
struct packer {
	uint8_t *begin, *p, *end;
};

static void pack(struct packer *k, const void *data, size_t bytes)
{
	memcpy(k->p, data, bytes);
	k->p += bytes;
}

static void pack32(struct packer *k, uint32_t v)
{
	pack(k, &v, sizeof v);
}

static void pack64(struct packer *k, uint64_t v)
{
	pack(k, &v, sizeof v);
}

/* Length and bytes; begin() has made room for them. */
static void pack_text(struct packer *k, const char *text, size_t bytes)
{
	bytes = bytes < TEXT_MAX_BYTES ? bytes : TEXT_MAX_BYTES;
	pack32(k, (uint32_t)bytes);
	if (bytes)
		pack(k, text, bytes);
}

static size_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

/* Of strings that end each with NUL and together with an empty one. */
static size_t list_length(const char *text)
{
	const char *p = text;

	while (p && *p)
		p += strlen(p) + 1;
	return p ? (size_t)(p - text) : 0;
}

static int packer_init(struct packer *k, const struct gt_capture_writer *w, size_t text_bytes,
		       unsigned texts)
{
	size_t most = (size_t)texts * TEXT_MAX_BYTES;

	k->begin = k->p = malloc(256 + texts * 4 + (text_bytes < most ? text_bytes : most));
	return k->p ? 0 : gt_error(-ENOMEM, "capture %s: block", w->path);
}

static int packer_end(struct packer *k, struct gt_capture_writer *w, uint8_t type, uint32_t process,
		      uint32_t ordinal)
{
	int status = append_block(w, type, process, ordinal, k->begin, (size_t)(k->p - k->begin));

	free(k->begin);
	return status;
}

static int write_session(struct gt_capture_writer *w, const struct gt_session_info *i)
{
	const char *texts[] = {i->hostname,       i->boot_id, i->kernel,  i->cpu,
			       i->gputap_version, NULL,       i->options, i->directory};
	size_t n = sizeof texts / sizeof *texts, bytes = list_length(i->command), k;
	struct packer p;

	for (k = 0; k < n; k++)
		bytes += length(texts[k]);
	if (packer_init(&p, w, bytes, (unsigned)n))
		return -ENOMEM;
	pack32(&p, i->host_clock);
	pack32(&p, (uint32_t)i->rank);
	pack64(&p, i->start_ns);
	pack64(&p, i->start_realtime_ns);
	for (k = 0; k < n; k++)
		if (k == 5)
			pack_text(&p, i->command, list_length(i->command));
		else
			pack_text(&p, texts[k], length(texts[k]));
	return packer_end(&p, w, GT_BLOCK_SESSION, 0, 0);
}

static int check_process(const struct gt_capture_writer *w, uint32_t process)
{
	if (process < GT_FILE_PROCESS_MAX)
		return 0;
	return gt_error(-EINVAL, "capture %s: process %u is beyond the %u of a capture", w->path,
			process, GT_FILE_PROCESS_MAX);
}

int gt_capture_write_process(struct gt_capture_writer *w, const struct gt_process_info *i)
{
	struct packer p;

	if (check_process(w, i->index))
		return -EINVAL;
	if (packer_init(&p, w, length(i->exe) + list_length(i->argv), 2))
		return -ENOMEM;
	pack32(&p, i->pid);
	pack32(&p, i->ppid);
	pack32(&p, i->fork_count);
	pack32(&p, 0);
	pack64(&p, i->start_ticks);
	pack_text(&p, i->exe, length(i->exe));
	pack_text(&p, i->argv, list_length(i->argv));
	return packer_end(&p, w, GT_BLOCK_PROCESS, i->index, 0);
}

int gt_capture_write_process_end(struct gt_capture_writer *w, const struct gt_process_info *i)
{
	struct packer p;

	if (check_process(w, i->index))
		return -EINVAL;
	if (packer_init(&p, w, 0, 0))
		return -ENOMEM;
	pack32(&p, (uint32_t)i->wait_status);
	pack32(&p, (uint32_t)i->ended | (uint32_t)i->proper_end << 1);
	pack32(&p, i->runtimes);
	pack32(&p, i->children_lost);
	pack64(&p, i->end_ns);
	return packer_end(&p, w, GT_BLOCK_PROCESS_END, i->index, 0);
}

int gt_capture_write_thread(struct gt_capture_writer *w, const struct gt_thread_info *i)
{
	struct packer p;

	if (check_process(w, i->process))
		return -EINVAL;
	if (packer_init(&p, w, length(i->name), 1))
		return -ENOMEM;
	pack32(&p, i->tid);
	pack32(&p, 0);
	pack64(&p, i->start_ticks);
	pack64(&p, i->end_ticks);
	pack_text(&p, i->name, length(i->name));
	return packer_end(&p, w, GT_BLOCK_THREAD, i->process, i->ordinal);
}

int gt_capture_write_clock(struct gt_capture_writer *w, const struct gt_clock_tuple *t)
{
	static_assert(sizeof *t == 48, "CLOCK payload: six words");
	return append_block(w, GT_BLOCK_CLOCK, 0, 0, t, sizeof *t);
}

int gt_capture_write_counts(struct gt_capture_writer *w, uint32_t process,
			    const struct gt_counts *counts)
{
	struct gt_file_sum sums[(2 + GT_DROP_REASON_COUNT) * GT_CLASS_COUNT * GT_DOMAIN_COUNT];
	size_t n = 0;
	unsigned what, c, d;

	if (check_process(w, process))
		return -EINVAL;
	for (what = 0; what < 2 + GT_DROP_REASON_COUNT; what++)
		for (c = 0; c < GT_CLASS_COUNT; c++)
			for (d = 0; d < GT_DOMAIN_COUNT; d++) {
				uint64_t v = what == 0   ? counts->seen[c][d]
					     : what == 1 ? counts->recorded[c][d]
							 : counts->dropped[what - 2][c][d];

				if (v)
					sums[n++] = (struct gt_file_sum){
						(uint8_t)what, (uint8_t)c, (uint8_t)d, 0, 0, v};
			}
	return append_block(w, GT_BLOCK_COUNTS, process, 0, sums, n * sizeof *sums);
}

/* Begin and end ------------------------------------------------------------- */

/* A nameless file beside the capture that holds disk space: given up when the disk is full, it
 * makes room for the sums that say what was lost. Best effort. */
static int take_ballast(const struct gt_capture_writer *w, const char *path)
{
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
	int fd = -1;

	if (folder && w->limit_bytes == UINT64_MAX) { /* else allocation may cost a SIGXFSZ */
		if (slash)
			slash[slash == folder] = '\0';
		fd = open(slash ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	}
	free(folder);
	if (fd >= 0 && posix_fallocate(fd, 0, BALLAST_BYTES)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int writer_new(const char *path, struct gt_capture_writer **out)
{
	struct gt_capture_writer *w = calloc(1, sizeof *w);
	struct rlimit limit;

	*out = NULL;
	if (!w)
		return gt_error(-ENOMEM, "capture %s", path);
	w->fd = w->ballast_fd = w->replaced_fd = -1;
	w->limit_bytes = UINT64_MAX;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		w->limit_bytes =
			limit.rlim_cur > BALLAST_BYTES ? limit.rlim_cur - BALLAST_BYTES : 0;
	w->out_room = WRITE_BYTES + (256 << 10);
	w->path = strdup(path);
	w->out = malloc(w->out_room);
	w->meta = malloc(META_BYTES + UINT16_MAX * 8);
	if (!w->path || !w->out || !w->meta) {
		gt_capture_writer_destroy(w);
		return gt_error(-ENOMEM, "capture %s", path);
	}
	*out = w;
	return 0;
}

/* The first bytes of the file. A full disk has room for a capture that replaces another one. */
static int write_header(struct gt_capture_writer *w, const struct gt_file_header *header)
{
	ssize_t written = pwrite(w->fd, header, sizeof *header, 0);

	if (written < 0 && (errno == ENOSPC || errno == EDQUOT) && w->replaced_fd >= 0) {
		close_replaced(w);
		written = pwrite(w->fd, header, sizeof *header, 0);
	}
	if (written != (ssize_t)sizeof *header)
		return gt_error(written < 0 ? -errno : -ENOSPC, "capture %s: cannot write",
				w->path);
	w->file_bytes = w->flushed_bytes = sizeof *header;
	return 0;
}

int gt_capture_writer_create(const char *path, bool replace,
			     const struct gt_capture_options *options,
			     const struct gt_session_info *session, struct gt_capture_writer **out)
{
	struct gt_file_header header = {.magic = GT_FILE_MAGIC,
					.major = GT_FILE_MAJOR,
					.minor = GT_FILE_MINOR,
					.header_bytes = sizeof header};
	struct gt_capture_writer *w;
	struct gt_new_file file;
	int status = writer_new(path, &w);

	*out = NULL;
	if (status)
		return status;
	status = gt_new_file(path, replace, options && options->shared, &file);
	if (status)
		goto fail;
	w->fd = file.fd;
	w->replaced_fd = file.replaced_fd;
	if (options && options->compress) {
		w->zstd = ZSTD_createCCtx();
		if (!w->zstd) {
			status = gt_error(-ENOMEM, "capture %s: compression", path);
			goto remove_file;
		}
	}
	if (getrandom(header.uuid, sizeof header.uuid, 0) != sizeof header.uuid)
		memset(header.uuid, 0, sizeof header.uuid);
	memcpy(w->id, header.uuid, sizeof w->id);
	header.crc = gt_crc32c(0, &header, offsetof(struct gt_file_header, crc));
	status = write_header(w, &header);
	if (!status)
		status = write_session(w, session);
	if (!status)
		status = gt_capture_flush(w);
	if (status)
		goto remove_file;
	w->ballast_fd = take_ballast(w, path); /* of what the beginning left */
	if (w->ballast_fd < 0 && w->replaced_fd >= 0) {
		close_replaced(w);
		w->ballast_fd = take_ballast(w, path);
	}
	*out = w;
	return 0;
remove_file: /* nothing in it, and the next try would find it in its way */
	unlink(path);
fail:
	gt_capture_writer_destroy(w);
	return status;
}

/* Is it the capture of that number? Nothing of the file has been touched yet. */
static int check_id(struct gt_capture_writer *w, const uint8_t *id)
{
	struct gt_scan *s = malloc(sizeof *s);
	int status = s ? gt_scan_init(s, w->fd, w->path) : gt_error(-ENOMEM, "capture %s", w->path);

	if (!status && id && memcmp(id, s->uuid, sizeof s->uuid) != 0)
		status = gt_error(-EBADMSG,
				  "%s is the capture of another session and is left as it is",
				  w->path);
	if (!status)
		memcpy(w->id, s->uuid, sizeof w->id);
	free(s);
	return status;
}

int gt_capture_writer_reopen(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
			     uint64_t bytes, struct gt_capture_writer **out)
{
	struct gt_capture_writer *w;
	uint64_t end;
	int status = writer_new(path, &w);

	*out = NULL;
	if (status)
		return status;
	w->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused, not waited for */
	if (w->fd < 0) {
		status = gt_error(-errno, "cannot open capture %s", path);
		goto fail;
	}
	status = gt_new_file_lock(w->fd, path);
	if (!status)
		status = check_id(w, id);
	if (!status)
		status = gt_scan_find_end(w->fd, path, bytes, &end);
	if (status)
		goto fail;
	if (ftruncate(w->fd, (off_t)end)) {
		status = gt_error(-errno,
				  "capture %s: cannot cut off what is behind the last whole block",
				  path);
		goto fail;
	}
	w->failed = bytes != UINT64_MAX && end < bytes; /* somebody has cut it since */
	w->file_bytes = w->flushed_bytes = end;
	w->ballast_fd = take_ballast(w, path);
	*out = w;
	return 0;
fail:
	gt_capture_writer_destroy(w);
	return status;
}

void gt_capture_writer_id(const struct gt_capture_writer *w, uint8_t id[GT_CAPTURE_ID_BYTES])
{
	memcpy(id, w->id, GT_CAPTURE_ID_BYTES);
}

int gt_capture_writer_finish(struct gt_capture_writer *w, bool complete)
{
	struct gt_file_end end = {0};
	int status, first;

	while (w->streams)
		gt_capture_stream_destroy(w->streams);
	first = gt_capture_flush(w);
	if (w->ballast_fd >= 0) {
		close(w->ballast_fd);
		w->ballast_fd = -1;
	}
	if (w->limit_bytes != UINT64_MAX)
		w->limit_bytes += BALLAST_BYTES;
	end.complete = complete && !first && !w->failed;
	end.bytes = w->file_bytes + w->out_bytes;
	status = append_block(w, GT_BLOCK_END, 0, 0, &end, sizeof end);
	if (!status)
		status = gt_capture_flush(w);
	if (close(w->fd) && !status)
		status = gt_error(-errno, "capture %s: cannot close", w->path);
	w->fd = -1;
	gt_capture_writer_destroy(w);
	return first ? first : status;
}

void gt_capture_writer_destroy(struct gt_capture_writer *w)
{
	struct gt_stream *s;

	if (!w)
		return;
	while ((s = w->streams)) {
		w->streams = s->next;
		free(s);
	}
	while ((s = w->spare)) {
		w->spare = s->next;
		free(s);
	}
	if (w->fd >= 0)
		close(w->fd);
	if (w->ballast_fd >= 0)
		close(w->ballast_fd);
	close_replaced(w);
	ZSTD_freeCCtx(w->zstd);
	free(w->meta);
	free(w->kept);
	free(w->out);
	free(w->path);
	free(w);
}
