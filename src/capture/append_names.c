/* SPDX-License-Identifier: MIT */
/* Appends names of frames to a finished capture: see frame_names.h. One write replaces the old end
 * marker with the blocks of names and a new end marker. To a reader that opens the file during the
 * write, the file appears to be cut after its last record. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/checksum.h"
#include "capture/newfile.h"
#include "capture/reader.h"
#include "capture/writer.h"
#include "record/record.h"
#include "util/error.h"

enum {
	TAIL_BYTES = 4096, /* the end marker is within this many bytes of the file's end */
	/* size limit of the texts of one frame; functions whose texts do not fit are left out */
	TEXTS_BYTES = 256 << 10,
};

struct gt_names_append {
	struct gt_capture_writer *writer;
	const struct gt_capture *capture;
	uint32_t *index; /* index of each process of the capture in the file */
	uint8_t end[TAIL_BYTES];
	size_t end_bytes; /* the end marker as read from the file */
	uint64_t end_at;
};

/* Find the end marker after all other blocks. Return false if there is none. */
static bool read_end(struct gt_names_append *a, int fd, uint64_t bytes)
{
	size_t n = bytes < TAIL_BYTES ? (size_t)bytes : TAIL_BYTES;
	struct gt_file_block head;

	if (gt_scan_read(fd, a->end, n, bytes - n))
		return false;
	for (size_t at = 0; at + sizeof head <= n; at++) {
		memcpy(&head, a->end + at, sizeof head);
		if (head.magic != GT_BLOCK_MAGIC || head.type != GT_BLOCK_END ||
		    head.head_bytes < sizeof head ||
		    head.head_bytes + head.stored_bytes != n - at ||
		    head.stored_bytes < sizeof(struct gt_file_end) ||
		    gt_head_crc(a->end + at, head.head_bytes) != head.head_crc)
			continue;
		memmove(a->end, a->end + at, n - at);
		a->end_bytes = n - at;
		a->end_at = bytes - a->end_bytes;
		return true;
	}
	return false;
}

/* Open the capture's file. Fail if another capture has replaced the file. */
static int open_file(struct gt_names_append *a, const char *path)
{
	struct gt_capture_writer *w = a->writer;
	const uint8_t *uuid = gt_capture_session_at(a->capture, 0)->uuid;
	struct gt_file_header header;
	struct stat st;
	int status;

	w->main.fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (w->main.fd < 0 || fstat(w->main.fd, &st))
		return gt_error(-errno, "cannot open capture %s", path);
	status = gt_new_file_lock(w->main.fd, path);
	if (status)
		return status;
	if (!S_ISREG(st.st_mode) || gt_scan_read(w->main.fd, &header, sizeof header, 0) ||
	    memcmp(header.uuid, uuid, sizeof header.uuid) != 0)
		return gt_error(-ESTALE, "another capture has replaced %s", path);
	if (!read_end(a, w->main.fd, (uint64_t)st.st_size))
		return gt_error(-ENOTSUP, "capture %s has no end marker", path);
	w->main.bytes = w->main.flushed_bytes = a->end_at;
	return 0;
}

int gt_names_begin(const struct gt_capture *c, struct gt_names_append **out)
{
	struct gt_names_append *a;
	int status;

	*out = NULL;
	if (c->file_count != 1 || c->session_count != 1 ||
	    c->sessions[0]->section != GT_SECTION_NONE)
		return gt_error(-ENOTSUP, "capture %s holds several sessions", c->files[0].path);
	a = calloc(1, sizeof *a);
	if (!a)
		return gt_error(-ENOMEM, "cannot store the names of capture %s", c->files[0].path);
	a->capture = c;
	status = gt_writer_create(c->files[0].path, &a->writer);
	a->index = calloc(gt_capture_process_count(c) + (size_t)1, sizeof *a->index);
	if (!status && !a->index)
		status =
			gt_error(-ENOMEM, "cannot store the names of capture %s", c->files[0].path);
	if (status) {
		gt_names_cancel(a);
		return status;
	}
	for (size_t i = 0; i < c->sessions[0]->process_count; i++)
		a->index[c->sessions[0]->processes[i].process] = c->sessions[0]->processes[i].index;
	*out = a;
	return 0;
}

void gt_names_cancel(struct gt_names_append *a)
{
	if (!a)
		return;
	gt_capture_writer_destroy(a->writer);
	free(a->index);
	free(a);
}

/* Write the collected records as a block. */
static int end_block(struct gt_names_append *a)
{
	struct gt_capture_writer *w = a->writer;
	struct gt_file_block head = {.type = GT_BLOCK_RECORDS, .process = w->records_process};
	int status;

	if (!w->records_bytes)
		return 0;
	status = gt_writer_make_room(w, &w->main, sizeof head + w->records_bytes);
	if (!status)
		gt_writer_put_block(&w->main, &head, sizeof head, w->records, w->records_bytes);
	w->records_bytes = 0;
	return status;
}

/* Copy a text with its NUL, truncated to @most bytes. Return the end of the copy. */
static char *put_text(char *to, const char *text, size_t most)
{
	size_t n = text ? strnlen(text, most) : 0;

	if (n)
		memcpy(to, text, n);
	to[n] = '\0';
	return to + n + 1;
}

int gt_names_append(struct gt_names_append *a, uint32_t process, uint32_t generation,
		    uint64_t address, uint32_t flags, const struct gt_frame_name *list,
		    size_t count)
{
	enum { TEXT_MOST = 64 << 10, LINE_BYTES = 16 };
	struct gt_capture_writer *w = a->writer;
	struct gt_record_names *r;
	uint32_t functions = 0;
	char *to, number[LINE_BYTES];
	size_t bytes;

	static_assert(sizeof *r + TEXTS_BYTES < UINT16_MAX * 8,
		      "the size of a record fits its field");
	if (w->records_process != a->index[process] || w->records_bytes > GT_WRITER_RECORDS_BYTES) {
		int status = end_block(a);

		if (status)
			return status;
	}
	w->records_process = a->index[process];
	r = (struct gt_record_names *)(w->records + w->records_bytes);
	memset(r, 0, sizeof *r);
	to = r->text;
	for (size_t i = 0; i < count; i++) {
		if ((size_t)(to - r->text) + 2 * TEXT_MOST + LINE_BYTES + 3 > TEXTS_BYTES)
			break;
		to = put_text(to, list[i].function, TEXT_MOST);
		to = put_text(to, list[i].file, TEXT_MOST);
		snprintf(number, sizeof number, "%u", list[i].line);
		to = put_text(to, list[i].line ? number : NULL, LINE_BYTES);
		functions++;
	}
	r->bytes = (uint32_t)(to - r->text);
	bytes = (sizeof *r + r->bytes + 7) & ~(size_t)7;
	memset(to, 0, bytes - sizeof *r - r->bytes);
	r->head = (struct gt_record){(uint16_t)(bytes / 8), GT_RECORD_NAMES, (uint8_t)flags,
				     functions};
	r->address = address;
	r->generation = generation;
	w->records_bytes += bytes;
	return 0;
}

/* Restore the original end of the file. Return @status. */
static int restore(struct gt_names_append *a, int status)
{
	const int fd = a->writer->main.fd;
	const off_t bytes = (off_t)(a->end_at + a->end_bytes);

	if (pwrite(fd, a->end, a->end_bytes, (off_t)a->end_at) != (ssize_t)a->end_bytes ||
	    ftruncate(fd, bytes))
		return gt_error(status, "capture %s has lost its end marker", a->writer->path);
	return status;
}

static int write_all(struct gt_names_append *a)
{
	struct gt_writer_file *f = &a->writer->main;
	uint8_t copy[TAIL_BYTES];
	struct gt_file_block head;
	struct gt_file_end end;
	int status;

	/* the copy includes fields that a later version appended to these structs */
	memcpy(copy, a->end, a->end_bytes);
	memcpy(&head, copy, sizeof head);
	memcpy(&end, copy + head.head_bytes, sizeof end);
	end.bytes = f->bytes + f->out_bytes;
	memcpy(copy + head.head_bytes, &end, sizeof end);
	gt_writer_put_block(f, copy, head.head_bytes, copy + head.head_bytes, head.stored_bytes);
	status = gt_writer_write_out(a->writer, f);
	return status ? restore(a, status) : 0;
}

int gt_names_end(struct gt_names_append *a)
{
	struct gt_capture_writer *w = a->writer;
	int status = end_block(a);

	if (!status && w->main.out_bytes) {
		status = open_file(a, w->path);
		if (!status)
			status = gt_writer_make_room(w, &w->main, a->end_bytes);
		if (!status)
			status = write_all(a);
	}
	gt_names_cancel(a);
	return status;
}
