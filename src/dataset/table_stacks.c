/* SPDX-License-Identifier: MIT */
/* Tables `stacks` and `frames`. Both walk all stacks in the same order and number the distinct
 * frames as they occur, so the numbers agree. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/lookup.h"
#include "analysis/symbols/frames.h"
#include "dataset/fill_column.h"
#include "util/error.h"

enum { ELEMENTS_MOST = 4096 };

struct frame_row {
	const char *function, *file, *module;
	int64_t address;
	int32_t frame, line, kind;
};

struct stack_row {
	int32_t session, process, stack;
	size_t first, count; /* elements in struct stacks */
	bool is_whole;
};

struct stacks {
	struct gt_frame_names *names;
	struct texts frames; /* a key for each distinct frame */
	uint32_t built;      /* number of frames that have been rows */
	size_t next_stack;
	int32_t *elements; /* frames of the rows in this batch */
	size_t element_count, element_room;
	struct gt_frames list; /* frames of the current stack, for `frames` */
	size_t next_frame;
};

static const char *kind_name(enum gt_frame_origin origin)
{
	return origin == GT_ORIGIN_NATIVE    ? "native"
	       : origin == GT_ORIGIN_INLINED ? "inlined"
	       : origin == GT_ORIGIN_PYTHON  ? "python"
					     : "unknown";
}

/* Return the number of a frame. Frames are equal if everything but their address is, or if nothing
 * but their address is known. */
static uint32_t number_frame(struct stacks *own, const struct gt_frame *f)
{
	char *key;
	uint32_t number;

	if (asprintf(&key, "%d\x1f%s\x1f%s\x1f%u\x1f%s\x1f%llx", (int)f->origin,
		     f->function ? f->function : "", f->file ? f->file : "", f->line,
		     f->module ? f->module : "",
		     f->function ? 0ULL : (unsigned long long)f->address) < 0)
		memory_ran_out();
	number = texts_put(&own->frames, key);
	free(key);
	return number;
}

static int open_stacks(struct reader *r)
{
	struct stacks *own = r->own;

	own->names = gt_frame_names_create(r->dataset->capture);
	return own->names ? 0 : gt_error(-ENOMEM, "cannot name the frames of call stacks");
}

static void close_stacks(struct reader *r)
{
	struct stacks *own = r->own;

	gt_frame_names_destroy(own->names);
	texts_fini(&own->frames);
	free(own->elements);
}

/* Stacks ------------------------------------------------------------------------------ */

static void add_element(struct stacks *own, int32_t element)
{
	GROW_LIST(own->elements, own->element_count, own->element_room);
	own->elements[own->element_count++] = element;
}

static bool build_stack(struct reader *r, size_t i, void *out)
{
	struct stacks *own = r->own;
	const struct gt_stack_info *s = gt_capture_stack_at(r->dataset->capture, i);
	const struct gt_frames frames = gt_frames_get(own->names, s->process, s->number);
	struct stack_row *row = out;
	const size_t first = own->element_count;

	for (size_t k = 0; k < frames.count; k++)
		add_element(own, (int32_t)number_frame(own, &frames.list[k]));
	*row = (struct stack_row){
		.session = reader_session_of(r, s->process),
		.process = (int32_t)s->process,
		.stack = (int32_t)s->number,
		.first = first,
		.count = frames.count,
		.is_whole = frames.end == GT_FRAMES_WHOLE,
	};
	return reader_has_process(r, s->process);
}

static int next_stacks(struct reader *r, struct rows *rows, size_t most)
{
	struct stacks *own = r->own;

	own->element_count = 0;
	return reader_next_entries(r, rows, most, gt_capture_stack_count(r->dataset->capture),
				   build_stack);
}

static void fill_frames(struct reader *r, struct column_data *out, const struct rows *rows)
{
	const struct stacks *own = r->own;

	for (size_t i = 0; i < rows->count; i++) {
		const struct stack_row *row = rows->row[i];

		put_list(out, i, own->elements + row->first, row->count);
	}
}

#define S(field, type, unit, null, text) \
	COLUMN_MEMBER(struct stack_row, field, type, unit, null, text)

static const struct column stack_columns[] = {
	S(session, COLUMN_I32, "", false, "number of the session"),
	S(process, COLUMN_I32, "", false, "number of the process"),
	S(stack, COLUMN_I32, "", false, "number of the stack in its process, as calls.stack"),
	{.name = "frames",
	 .type = COLUMN_LIST,
	 .unit = "",
	 .fill = fill_frames,
	 .text = "numbers of the frames, innermost first"},
	S(is_whole, COLUMN_BOOL, "", false, "false: outer frames are missing"),
};

const struct table table_stacks = {
	.name = "stacks",
	.text = "call stacks (`gputap run --stacks`)",
	.columns = stack_columns,
	.column_count = sizeof stack_columns / sizeof *stack_columns,
	.row_bytes = sizeof(struct stack_row),
	.own_bytes = sizeof(struct stacks),
	.open = open_stacks,
	.next = next_stacks,
	.close = close_stacks,
};

/* Frames ------------------------------------------------------------------------------ */

/* Advance to the next frame of all stacks. Return NULL at the end. */
static const struct gt_frame *next_frame(struct reader *r)
{
	struct stacks *own = r->own;
	const struct gt_capture *c = r->dataset->capture;

	while (own->next_frame == own->list.count) {
		const struct gt_stack_info *s;

		if (own->next_stack == gt_capture_stack_count(c))
			return NULL;
		s = gt_capture_stack_at(c, own->next_stack++);
		own->list = gt_frames_get(own->names, s->process, s->number);
		own->next_frame = 0;
	}
	return &own->list.list[own->next_frame++];
}

static int next_frames(struct reader *r, struct rows *rows, size_t most)
{
	struct stacks *own = r->own;
	const struct gt_frame *f;

	while (rows->count < most && (f = next_frame(r))) {
		struct frame_row *row = (struct frame_row *)r->rows + rows->count;
		const uint32_t number = number_frame(own, f);

		if (number < own->built)
			continue;
		own->built = number + 1;
		*row = (struct frame_row){
			.function = f->function,
			.file = f->file,
			.module = f->module,
			.address = f->function ? GPUTAP_UNKNOWN : (int64_t)f->address,
			.frame = (int32_t)number,
			.line = f->line ? (int32_t)f->line : INT32_MIN,
			.kind = reader_text(r, DICTIONARY_KIND, kind_name(f->origin)),
		};
		rows->row[rows->count++] = row;
	}
	return rows->count > 0;
}

#define F(field, type, unit, null, text) \
	COLUMN_MEMBER(struct frame_row, field, type, unit, null, text)

static const struct column frame_columns[] = {
	F(frame, COLUMN_I32, "", false, "number of the frame, as in stacks.frames"),
	COLUMN_TEXTS(struct frame_row, kind, DICTIONARY_KIND, false,
		     "native, inlined, python or unknown"),
	F(function, COLUMN_TEXT, "", true, "function, demangled"),
	F(file, COLUMN_TEXT, "", true, "source file"),
	F(line, COLUMN_I32, "", true, "line in the source file"),
	F(module, COLUMN_TEXT, "", true, "path of the program or library"),
	F(address, COLUMN_I64, "", true, "unknown functions: offset in the module, or address"),
};

const struct table table_frames = {
	.name = "frames",
	.text = "distinct frames of call stacks",
	.columns = frame_columns,
	.column_count = sizeof frame_columns / sizeof *frame_columns,
	.row_bytes = sizeof(struct frame_row),
	.own_bytes = sizeof(struct stacks),
	.open = open_stacks,
	.next = next_frames,
	.close = close_stacks,
};
