/* SPDX-License-Identifier: MIT */
/* See process_texts.h. */
#include "collector/process_texts.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

enum { TEXT_BYTES = 256, TEXTS_MOST = 4096 };

struct gt_process_texts {
	char **texts; /* text n has id GT_PROCESS_TEXTS_FIRST + n */
	size_t count, room;
};

static int write_text(struct gt_drain *d, uint32_t process, uint32_t id, const char *text,
		      size_t bytes)
{
	union {
		struct gt_record_string string;
		char room[sizeof(struct gt_record_string) + TEXT_BYTES];
	} record = {.room = ""};
	size_t words = (sizeof record.string + bytes + 7) / 8;
	struct gt_counts counts = {0};
	struct gt_stream *stream;
	int status = gt_capture_stream_create(d->writer, process, 1, &stream);

	if (status)
		return status;
	record.string.head = (struct gt_record){(uint16_t)words, GT_RECORD_STRING, 0, id};
	record.string.bytes = bytes;
	memcpy(record.room + sizeof record.string, text, bytes);
	status = gt_capture_write_records(stream, &record, words * 8, &counts);
	gt_capture_stream_destroy(stream);
	d->batch_dirty = true;
	return status;
}

uint32_t gt_process_text_id(struct gt_drain *d, struct gt_process *process, const char *text)
{
	size_t bytes = strnlen(text, TEXT_BYTES);
	struct gt_process_texts *t = process->texts;
	char **more;

	if (!bytes)
		return 0;
	if (!t)
		t = process->texts = calloc(1, sizeof *t);
	if (!t)
		return 0;
	/* newest first, because a text is used again soon */
	for (size_t i = t->count; i-- > 0;)
		if (!strncmp(t->texts[i], text, bytes) && !t->texts[i][bytes])
			return GT_PROCESS_TEXTS_FIRST + (uint32_t)i;
	more = t->count < TEXTS_MOST ? gt_grow(t->texts, t->count, &t->room, sizeof *more) : NULL;
	if (!more)
		return 0;
	t->texts = more;
	t->texts[t->count] = strndup(text, bytes);
	if (!t->texts[t->count])
		return 0;
	if (write_text(d, process->index, GT_PROCESS_TEXTS_FIRST + (uint32_t)t->count, text,
		       bytes)) {
		/* the file takes no more data: reported once, at the end */
		gt_error_clear();
		free(t->texts[t->count]);
		return 0;
	}
	return GT_PROCESS_TEXTS_FIRST + (uint32_t)t->count++;
}

void gt_process_texts_free(struct gt_process_texts *t)
{
	for (size_t i = 0; t && i < t->count; i++)
		free(t->texts[i]);
	if (t)
		free(t->texts);
	free(t);
}
