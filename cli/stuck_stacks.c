/* SPDX-License-Identifier: MIT */
/* See stuck_stacks.h. */
#include "cli/stuck_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/lookup.h"
#include "analysis/symbols/bounded_lines.h"
#include "analysis/symbols/stack_lines.h"
#include "cli/answer_words.h"
#include "record/record.h"
#include "util/demangle.h"
#include "util/file_name.h"

enum { LINES_MOST = 8 };
static const uint64_t LOOK_UP_NS = 500000000;

struct stuck_raw_frame {
	char *module, *build; /* module NULL: in no file, or a Python function */
	char *python, *file;  /* python NULL: a native frame */
	uint64_t address;
	uint32_t line;
	bool is_entry;
	struct gt_code_file *code; /* of `module` */
	size_t request;            /* index */
};

struct stuck_names {
	struct gt_code_files *files;
	struct gt_line_request *requests;
	size_t count, room;
	char **texts; /* demangled names */
	size_t text_count, text_room;
};

/* Reading ----------------------------------------------------------------------------------- */

void stuck_stack_add(struct stuck_stack *s, const char *line)
{
	struct stuck_raw_frame f = {.request = SIZE_MAX};

	if (!strncmp(line, "stack=", 6)) {
		s->is_there = true;
		s->end = !strcmp(line + 6, "whole") ? GT_FRAMES_WHOLE
			 : !strcmp(line + 6, "cut") ? GT_FRAMES_CUT
						    : GT_FRAMES_BROKEN;
		s->error = (int)strtol(line + 6, NULL, 10);
		return;
	}
	f.python = answer_copy_word(line, "python");
	f.module = answer_copy_word(line, "module");
	f.build = answer_copy_text(line, "build");
	f.file = answer_copy_text(line, "file");
	f.address = answer_get_number(line, "address");
	f.line = (uint32_t)answer_get_number(line, "line");
	f.is_entry = answer_is_yes(line, "entry");
	GROW_LIST(s->raw, s->raw_count, s->raw_room);
	s->raw[s->raw_count++] = f;
}

void stuck_stack_fini(struct stuck_stack *s)
{
	for (size_t i = 0; i < s->raw_count; i++) {
		free(s->raw[i].module);
		free(s->raw[i].build);
		free(s->raw[i].python);
		free(s->raw[i].file);
	}
	free(s->raw);
	free(s->frames);
	free(s->text);
	*s = (struct stuck_stack){0};
}

/* Names ------------------------------------------------------------------------------------- */

static bool is_ours(const struct stuck_raw_frame *f)
{
	return f->module && !strncmp(gt_file_name(f->module), "libgputap.so", 12);
}

/* Open the frame's file, and request the frame's line once. */
static void request_line(struct stuck_names *n, struct stuck_raw_frame *f)
{
	const struct gt_code_info code = {.name = f->module, .detail = f->build};

	if (!f->module || is_ours(f))
		return;
	f->code = gt_code_file_get(n->files, &code);
	if (!f->code || !gt_code_file_is_there(f->code))
		return;
	for (size_t i = 0; i < n->count && f->request == SIZE_MAX; i++)
		if (n->requests[i].file == f->code && n->requests[i].address == f->address)
			f->request = i;
	if (f->request != SIZE_MAX)
		return;
	f->request = n->count;
	GROW_LIST(n->requests, n->count, n->room);
	n->requests[n->count++] = (struct gt_line_request){.file = f->code, .address = f->address};
}

static const char *plain_name(struct stuck_names *n, const char *symbol)
{
	char *plain = symbol ? gt_demangle(symbol) : NULL;

	if (!plain)
		return symbol;
	GROW_LIST(n->texts, n->text_count, n->text_room);
	n->texts[n->text_count++] = plain;
	return plain;
}

/* Find the functions of a native frame, innermost first. */
static size_t find_functions(const struct stuck_names *n, const struct stuck_raw_frame *f,
			     struct gt_frame_name list[GT_FRAME_NAMES_MOST])
{
	const struct gt_line_request *r = f->request == SIZE_MAX ? NULL : &n->requests[f->request];
	const struct gt_names_info known = {.text = r ? r->text : NULL,
					    .bytes = r && r->text ? r->bytes : 0};
	size_t count = known.bytes ? gt_names_unpack(&known, list) : 0;

	if (!count && r) {
		list[0] = (struct gt_frame_name){.function =
							 gt_code_file_symbol(f->code, f->address)};
		count = list[0].function != NULL;
	}
	return count;
}

/* Building ---------------------------------------------------------------------------------- */

struct building {
	struct stuck_names *names;
	struct stuck_stack *stack;
	size_t room, next_python;
};

static void add_frame(struct building *b, const struct gt_frame *f)
{
	struct stuck_stack *s = b->stack;

	GROW_LIST(s->frames, s->count, b->room);
	s->frames[s->count++] = *f;
}

/* Add Python frames up to the frame that was called from native code. */
static void add_python(struct building *b)
{
	bool is_last = false;

	for (; b->next_python < b->stack->raw_count && !is_last; b->next_python++) {
		const struct stuck_raw_frame *f = &b->stack->raw[b->next_python];

		is_last = f->is_entry;
		add_frame(b, &(struct gt_frame){.origin = GT_ORIGIN_PYTHON,
						.function = *f->python ? f->python : NULL,
						.file = *f->file ? f->file : NULL,
						.line = f->line});
	}
}

static void add_native(struct building *b, const struct stuck_raw_frame *f,
		       const struct gt_frame_name *list, size_t count)
{
	for (size_t i = 0; i < count || i == 0; i++) {
		struct gt_frame to = {.origin = !f->module      ? GT_ORIGIN_UNKNOWN
						: i + 1 < count ? GT_ORIGIN_INLINED
								: GT_ORIGIN_NATIVE,
				      .module = f->module,
				      .address = f->address};

		if (count) {
			to.function = plain_name(b->names, list[i].function);
			to.file = list[i].file;
			to.line = list[i].line;
		}
		add_frame(b, &to);
	}
}

static bool is_evaluation(const struct gt_frame_name *list, size_t count)
{
	const char *name = count ? list[count - 1].function : NULL;

	return name && !strncmp(name, GT_PYTHON_EVALUATION, sizeof GT_PYTHON_EVALUATION - 1);
}

/* Return true for the code that starts a program or thread. */
static bool is_beginning(const struct gt_frame *f)
{
	return f->origin == GT_ORIGIN_NATIVE &&
	       (!strncmp(gt_file_name(f->module), "libc.so", 7) ||
		!strncmp(gt_file_name(f->module), "libpthread", 10) ||
		(f->function && !strcmp(f->function, "_start")));
}

/* Move the frames from @from on to @at, before the frames that are there. */
static void move_back(struct stuck_stack *s, size_t at, size_t from)
{
	size_t moved = s->count - from, kept = from - at;
	struct gt_frame *copy = allocate_list(kept + 1, sizeof *copy);

	memcpy(copy, s->frames + at, kept * sizeof *copy);
	memmove(s->frames + at, s->frames + from, moved * sizeof *copy);
	memcpy(s->frames + at + moved, copy, kept * sizeof *copy);
	free(copy);
}

static void build(struct stuck_names *n, struct stuck_stack *s)
{
	struct building b = {.names = n, .stack = s};
	size_t native = 0, interpreter = SIZE_MAX, before;

	while (native < s->raw_count && !s->raw[native].python)
		native++;
	b.next_python = native;
	for (size_t i = 0; i < native; i++) {
		const struct stuck_raw_frame *f = &s->raw[i];
		struct gt_frame_name list[GT_FRAME_NAMES_MOST];
		size_t count = find_functions(n, f, list);

		if (is_ours(f))
			continue;
		if (native < s->raw_count && f->code && gt_code_file_is_interpreter(f->code)) {
			if (is_evaluation(list, count))
				add_python(&b);
			if (i + 1 < native) /* the outermost frame is _start() */
				interpreter = s->count;
			continue;
		}
		add_native(&b, f, list, count);
	}
	/* the functions of the interpreter have no names */
	before = s->count;
	while (b.next_python < s->raw_count)
		add_python(&b);
	if (interpreter < before)
		move_back(s, interpreter, before);
	while (s->end == GT_FRAMES_WHOLE && s->count > 1 && is_beginning(&s->frames[s->count - 1]))
		s->count--;
}

static const char *describe_error(int error)
{
	switch (error) {
	case EPERM:
		return "The stack is not readable: the kernel or a debugger does not permit it.";
	case ESRCH: return "The stack is not readable: the thread has ended.";
	case EXDEV: return "The stack is not readable: the thread is in another pid namespace.";
	case ETIMEDOUT: return "The stack was not read: the thread did not stop in time.";
	case EAGAIN: return "The stack was not read: the thread ran during each attempt.";
	default: return "The stack was not read.";
	}
}

struct stuck_names *stuck_names_find(struct stuck_stack *const *list, size_t count)
{
	struct stuck_names *n = allocate_list(1, sizeof *n);

	n->files = gt_code_files_create();
	for (size_t i = 0; i < count && n->files; i++)
		for (size_t k = 0; k < list[i]->raw_count; k++)
			request_line(n, &list[i]->raw[k]);
	if (n->count)
		gt_bounded_lines(n->requests, n->count, LOOK_UP_NS, NULL, NULL);
	for (size_t i = 0; i < count; i++) {
		struct gt_frames frames;

		if (!list[i]->is_there)
			continue;
		if (!list[i]->error)
			build(n, list[i]);
		frames = (struct gt_frames){list[i]->frames, list[i]->count, list[i]->end};
		list[i]->text = list[i]->error ? strdup(describe_error(list[i]->error))
					       : stack_lines(&frames, LINES_MOST);
	}
	return n;
}

void stuck_names_destroy(struct stuck_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->count; i++)
		free(n->requests[i].text);
	for (size_t i = 0; i < n->text_count; i++)
		free(n->texts[i]);
	gt_code_files_destroy(n->files);
	free(n->requests);
	free(n->texts);
	free(n);
}

/* JSON -------------------------------------------------------------------------------------- */

void stuck_stack_print_json(const struct stuck_stack *s, struct json *j)
{
	char text[4096];

	if (!s->is_there)
		return;
	json_array(j, "stack");
	for (size_t i = 0; i < s->count; i++) {
		gt_frame_text(&s->frames[i], text, sizeof text);
		json_string(j, NULL, text);
	}
	json_close(j);
	json_string(j, "stack_error", s->error ? describe_error(s->error) : NULL);
}
