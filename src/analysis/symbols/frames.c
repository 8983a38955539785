/* SPDX-License-Identifier: MIT */
/* See frames.h. Each module and each address is looked up once. */
#include "analysis/symbols/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/code_files.h"
#include "capture/frame_names.h"
#include "capture/python_lines.h"
#include "record/record.h"
#include "util/demangle.h"

enum { FRAMES_MOST = 1024 };

struct module {
	const struct gt_code_info *code;
	struct gt_code_file *file; /* NULL: not loaded yet */
	bool looked, is_ours;
};

/* The named frames of a stack. */
struct named {
	struct gt_frame *list;
	size_t count;
	bool done;
};

struct text {
	struct text *next;
	char data[];
};

struct gt_frame_names {
	const struct gt_capture *capture;
	struct gt_code_files *files;
	struct module *modules; /* one per entry of the capture's code */
	struct named *named;    /* one per stack */
	size_t named_count;
	struct text *texts;
	bool skips_lines;
	struct gt_frame building[FRAMES_MOST];
	size_t count; /* number of entries in `building` */
};

struct gt_frame_names *gt_frame_names_create(const struct gt_capture *c)
{
	struct gt_frame_names *n = calloc(1, sizeof *n);

	if (!n)
		return NULL;
	n->capture = c;
	n->files = gt_code_files_create();
	n->modules = calloc(gt_capture_code_count(c) + 1, sizeof *n->modules);
	n->named_count = gt_capture_stack_count(c);
	n->named = calloc(n->named_count + 1, sizeof *n->named);
	if (n->files && n->modules && n->named)
		return n;
	gt_frame_names_destroy(n);
	return NULL;
}

void gt_frame_names_destroy(struct gt_frame_names *n)
{
	struct text *t;

	if (!n)
		return;
	gt_code_files_destroy(n->files);
	/* the capture may be closed already */
	for (size_t i = 0; n->named && i < n->named_count; i++)
		free(n->named[i].list);
	while ((t = n->texts)) {
		n->texts = t->next;
		free(t);
	}
	free(n->modules);
	free(n->named);
	free(n);
}

static const char *keep_text(struct gt_frame_names *n, const char *text)
{
	struct text *t = malloc(sizeof *t + strlen(text) + 1);

	if (!t)
		return NULL;
	strcpy(t->data, text);
	t->next = n->texts;
	n->texts = t;
	return t->data;
}

/* Modules ----------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void gt_frame_names_skip_lines(struct gt_frame_names *n)
{
	n->skips_lines = true;
}

static struct module *get_module(struct gt_frame_names *n, const struct gt_code_info *code)
{
	struct module *m = &n->modules[code - gt_capture_code_at(n->capture, 0)];
	const char *name = last_part(code->name);

	if (m->looked)
		return m;
	m->looked = true;
	m->code = code;
	m->is_ours = !strncmp(name, "libgputap.so", sizeof "libgputap.so" - 1);
	return m;
}

/* Return the module's file. Return NULL if the file does not exist or if out of memory. */
static struct gt_code_file *get_file(struct gt_frame_names *n, struct module *m)
{
	if (!m->file)
		m->file = gt_code_file_get(n->files, m->code);
	return m->file && gt_code_file_is_there(m->file) ? m->file : NULL;
}

/* The functions at a frame's address. */
struct functions {
	struct gt_frame_name list[GT_FRAME_NAMES_MOST];
	size_t count;
	bool is_interpreter; /* true if the frame is in a Python interpreter */
};

/* Find the functions in the capture. If the capture has no lines for them, use the file if it still
 * exists. */
static void find_functions(struct gt_frame_names *n, struct module *m, uint32_t process,
			   uint64_t pc, struct functions *f)
{
	const struct gt_names_info *names =
		gt_capture_names_find(n->capture, process, m->code->generation, pc);
	const char *symbol;
	struct gt_code_file *file = NULL;

	if (!names || (!(names->flags & GT_NAMES_LINES) && !n->skips_lines))
		file = get_file(n, m);
	symbol = file && n->skips_lines ? gt_code_file_symbol(file, pc - m->code->base) : NULL;
	if (symbol)
		f->list[f->count++] = (struct gt_frame_name){symbol, NULL, 0};
	else if (file && !n->skips_lines)
		f->count = gt_code_file_find(file, pc - m->code->base, f->list);
	else
		f->count = names ? gt_names_unpack(names, f->list) : 0;
	if (m->file)
		f->is_interpreter = gt_code_file_is_interpreter(m->file);
	if (names && !file)
		f->is_interpreter = names->flags & GT_NAMES_INTERPRETER;
}

/* Building ---------------------------------------------------------------------------------- */

static struct gt_frame *add_frame(struct gt_frame_names *n)
{
	struct gt_frame *f;

	if (n->count == FRAMES_MOST)
		return NULL;
	f = &n->building[n->count++];
	*f = (struct gt_frame){.origin = GT_ORIGIN_UNKNOWN};
	return f;
}

static void add_python(struct gt_frame_names *n, const struct gt_stack_info *s, uint64_t word)
{
	const struct gt_code_info *code =
		gt_capture_python_find(n->capture, s->process, GT_PYTHON_CODE(word));
	struct gt_frame *f = add_frame(n);

	if (!f)
		return;
	f->origin = GT_ORIGIN_PYTHON;
	if (!code)
		return;
	f->function = code->name;
	f->file = code->detail;
	f->line = gt_python_line(code->lines, code->lines_bytes, (uint32_t)code->start,
				 GT_PYTHON_OFFSET(word));
}

static bool is_evaluation(const char *function)
{
	return function &&
	       !strncmp(function, GT_PYTHON_EVALUATION, sizeof GT_PYTHON_EVALUATION - 1);
}

/* Return true for the C library code that starts a program or thread. Such frames are not shown. */
static bool is_beginning(const struct gt_frame *f)
{
	return f->origin == GT_ORIGIN_NATIVE && f->module &&
	       (!strncmp(last_part(f->module), "libc.so", 7) ||
		!strncmp(last_part(f->module), "libpthread", 10) ||
		(f->function && !strcmp(f->function, "_start")));
}

/* State while the frames of a stack are added. */
struct progress {
	const struct gt_stack_info *stack;
	uint32_t python; /* index of the next Python frame */
	/* number of frames that precede the interpreter's outermost frame */
	size_t interpreter;
	bool is_first; /* true if the native frame is the program's first frame */
};

/* Add Python frames up to the frame that was called from native code. */
static void add_python_group(struct gt_frame_names *n, struct progress *p)
{
	const struct gt_stack_info *s = p->stack;
	bool is_last = false;

	while (p->python < s->python && !is_last) {
		uint64_t word = s->frames[s->native + p->python++];

		is_last = GT_PYTHON_IS_ENTRY(word);
		add_python(n, s, word);
	}
}

static const char *plain_name(struct gt_frame_names *n, const char *symbol)
{
	char *plain = symbol ? gt_demangle(symbol) : NULL;

	if (plain)
		symbol = keep_text(n, plain);
	free(plain);
	return symbol;
}

/* Add the functions of a frame, inlined functions first. @module: NULL for code of a JIT
 * compiler */
static void add_functions(struct gt_frame_names *n, const struct functions *known,
			  const char *module, uint64_t address)
{
	for (size_t i = 0; i < known->count || i == 0; i++) {
		struct gt_frame *f = add_frame(n);

		if (!f)
			return;
		f->origin = i + 1 >= known->count ? GT_ORIGIN_NATIVE : GT_ORIGIN_INLINED;
		f->module = module;
		f->address = address;
		if (i >= known->count)
			return;
		f->function = plain_name(n, known->list[i].function);
		f->file = known->list[i].file;
		f->line = known->list[i].line;
	}
}

static void add_jit(struct gt_frame_names *n, uint32_t process, uint64_t pc)
{
	const struct gt_names_info *names = gt_capture_names_find(n->capture, process, 0, pc);
	struct functions known = {.count = 0};
	struct gt_frame *f;

	if (names && names->flags & GT_NAMES_JIT)
		known.count = gt_names_unpack(names, known.list);
	if (known.count) {
		add_functions(n, &known, NULL, pc);
		return;
	}
	f = add_frame(n);
	if (f)
		f->address = pc;
}

static void add_native(struct gt_frame_names *n, struct progress *p, uint64_t pc)
{
	const struct gt_stack_info *s = p->stack;
	const struct gt_code_info *code =
		gt_capture_module_find(n->capture, s->process, s->generation, pc);
	struct module *m = code ? get_module(n, code) : NULL;
	struct functions known = {.count = 0};

	if (m && m->is_ours)
		return;
	if (!m) {
		add_jit(n, s->process, pc);
		return;
	}
	find_functions(n, m, s->process, pc, &known);
	if (s->python && known.is_interpreter) {
		if (known.count && is_evaluation(known.list[known.count - 1].function))
			add_python_group(n, p);
		if (!p->is_first) /* the first frame is _start() */
			p->interpreter = n->count;
		return;
	}
	add_functions(n, &known, code->name, pc - code->base);
}

/* Insert the Python frames at the interpreter's outermost frame, for interpreters whose functions
 * have no names. */
static void add_python_rest(struct gt_frame_names *n, struct progress *p)
{
	const size_t at = p->interpreter ? p->interpreter : n->count, count = n->count - at;
	struct gt_frame *behind = malloc((count + 1) * sizeof *behind);

	if (!behind)
		return;
	memcpy(behind, n->building + at, count * sizeof *behind);
	n->count = at;
	while (p->python < p->stack->python)
		add_python_group(n, p);
	for (size_t i = 0; i < count && n->count < FRAMES_MOST; i++)
		n->building[n->count++] = behind[i];
	free(behind);
}

static void name_stack(struct gt_frame_names *n, const struct gt_stack_info *s, struct named *named)
{
	struct progress p = {.stack = s};

	named->done = true;
	n->count = 0;
	for (uint32_t i = 0; i < s->native; i++) {
		p.is_first = i + 1 == s->native && s->end == GT_FRAMES_WHOLE;
		add_native(n, &p, s->frames[i]);
	}
	if (p.python < s->python)
		add_python_rest(n, &p);
	while (s->end == GT_FRAMES_WHOLE && n->count > 1 &&
	       is_beginning(&n->building[n->count - 1]))
		n->count--;
	named->list = malloc((n->count + 1) * sizeof *named->list);
	if (!named->list)
		return;
	memcpy(named->list, n->building, n->count * sizeof *named->list);
	named->count = n->count;
}

struct gt_frames gt_frames_get(struct gt_frame_names *n, uint32_t process, uint32_t number)
{
	const struct gt_stack_info *s = gt_capture_stack_find(n->capture, process, number);
	struct named *named;

	if (!s)
		return (struct gt_frames){0};
	named = &n->named[s - gt_capture_stack_at(n->capture, 0)];
	if (!named->done)
		name_stack(n, s, named);
	return (struct gt_frames){named->list, named->count, s->end};
}

/* Text -------------------------------------------------------------------------------------- */

size_t gt_frame_text(const struct gt_frame *f, char *text, size_t size)
{
	int n;

	if (f->function && f->file && f->line)
		n = snprintf(text, size, "%s at %s:%" PRIu32, f->function, last_part(f->file),
			     f->line);
	else if (f->function && f->file)
		n = snprintf(text, size, "%s at %s", f->function, last_part(f->file));
	else if (f->function && f->module)
		n = snprintf(text, size, "%s in %s", f->function, last_part(f->module));
	else if (f->function)
		n = snprintf(text, size, "%s in [jit]", f->function);
	else if (f->module)
		n = snprintf(text, size, "%s+0x%" PRIx64, last_part(f->module), f->address);
	else if (f->origin == GT_ORIGIN_PYTHON)
		n = snprintf(text, size, "a Python function whose record was lost");
	else
		n = snprintf(text, size, "[jit] 0x%" PRIx64, f->address);
	for (char *c = n > 0 && size ? text : NULL; c && (c = strchr(c, '\n'));)
		*c = ' '; /* symbols may contain line ends, which readers use to separate frames */
	return n > 0 ? (size_t)n : 0;
}
