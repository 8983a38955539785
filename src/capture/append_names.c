/* SPDX-License-Identifier: MIT */
/* Appends names of frames to a finished capture: see frame_names.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/append.h"
#include "record/record.h"
#include "util/error.h"

enum {
	/* size limit of the texts of one frame; functions whose texts do not fit are left out */
	TEXTS_BYTES = 256 << 10,
};

struct gt_names_append {
	struct gt_append to;
	uint32_t *index; /* index of each process of the capture in the file */
};

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
	status = gt_append_create(c, &a->to);
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
	gt_append_destroy(&a->to);
	free(a->index);
	free(a);
}

/* Write the collected records as a block. */
static int end_block(struct gt_names_append *a)
{
	struct gt_capture_writer *w = a->to.writer;
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
	struct gt_capture_writer *w = a->to.writer;
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

int gt_names_end(struct gt_names_append *a)
{
	int status = end_block(a);

	if (!status && a->to.writer->main.out_bytes) {
		status = gt_append_open(&a->to);
		if (!status)
			status = gt_append_write(&a->to);
	}
	gt_names_cancel(a);
	return status;
}
