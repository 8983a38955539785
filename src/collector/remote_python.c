/* SPDX-License-Identifier: MIT */
/* See remote_python.h. */
#include "collector/remote_python.h"

#include <string.h>

enum { INTERPRETERS_MOST = 16, THREADS_MOST = 4096 };
static const uint64_t UNITS_MOST = UINT64_C(1) << 28, LENGTH_MOST = UINT64_C(1) << 20;

/* Finding the interpreter ------------------------------------------------------------------- */

static bool may_be_python(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strstr(slash ? slash + 1 : path, "python") != NULL;
}

void gt_remote_python_meet(struct gt_remote_python *p, const struct gt_remote_modules *modules,
			   const struct gt_remote_module *module, struct gt_remote_memory *memory)
{
	uint64_t words[GT_PYTHON_OFFSET_WORDS];
	uintptr_t runtime, version_at, version;

	if (p->runtime || !may_be_python(module->path))
		return;
	version_at = gt_remote_module_symbol(modules, module, "Py_Version"); /* from 3.11 on */
	runtime = gt_remote_module_symbol(modules, module, "_PyRuntime");
	if (!version_at || !runtime || !gt_remote_word(memory, version_at, &version))
		return;
	p->version = (uint32_t)version;
	p->code_type = gt_remote_module_symbol(modules, module, "PyCode_Type");
	p->text_type = gt_remote_module_symbol(modules, module, "PyUnicode_Type");
	p->bytes_type = gt_remote_module_symbol(modules, module, "PyBytes_Type");
	if (gt_python_publishes_offsets(p->version) &&
	    !gt_remote_read(memory, runtime, words, sizeof words))
		return;
	if (gt_python_choose_layout(p->version, words, &p->at))
		p->runtime = runtime;
}

/* Verifying --------------------------------------------------------------------------------- */

static bool has_type(struct gt_remote_memory *m, uintptr_t object, uintptr_t type)
{
	uintptr_t is;

	return object && gt_remote_word(m, object + 8, &is) && is == type;
}

static bool find_text(const struct gt_remote_python *p, struct gt_remote_memory *m, uintptr_t code,
		      uint32_t member, struct gt_python_text *l)
{
	uintptr_t text;
	uint64_t length;
	uint32_t state;

	if (!gt_remote_word(m, code + member, &text) || !has_type(m, text, p->text_type) ||
	    !gt_remote_read(m, text + p->at.object_bytes, &length, sizeof length) ||
	    !gt_remote_read(m, text + p->at.object_bytes + 16, &state, sizeof state))
		return false;
	*l = gt_python_lay_out_text(&p->at, text, state, length);
	return l->is_compact && (l->width == 1 || l->width == 2 || l->width == 4) &&
	       length < LENGTH_MOST;
}

static bool is_code(const struct gt_remote_python *p, struct gt_remote_memory *m,
		    const struct gt_remote_python_frame *f)
{
	struct gt_python_text l;
	uintptr_t size, lines;
	uint64_t units;
	uint32_t end = 0;

	return has_type(m, f->code, p->code_type) &&
	       gt_remote_word(m, p->code_type + GT_PYTHON_TYPE_BASIC_SIZE, &size) &&
	       size == p->at.code_begin && find_text(p, m, f->code, p->at.code_file, &l) &&
	       gt_remote_read(m, l.begin + l.length * l.width, &end, l.width) && !end &&
	       find_text(p, m, f->code, p->at.code_name, &l) &&
	       gt_remote_word(m, f->code + p->at.code_lines, &lines) &&
	       has_type(m, lines, p->bytes_type) &&
	       gt_remote_read(m, f->code + p->at.object_bytes, &units, sizeof units) &&
	       units < UNITS_MOST && f->offset <= units * 2;
}

/* Frames ------------------------------------------------------------------------------------ */

static uintptr_t find_in_interpreter(const struct gt_remote_python *p, struct gt_remote_memory *m,
				     uintptr_t interpreter, uint32_t tid)
{
	uintptr_t thread, of, id;

	if (!gt_remote_word(m, interpreter + p->at.interpreter_threads, &thread))
		return 0;
	for (unsigned i = 0; thread && i < THREADS_MOST; i++) {
		if (!gt_remote_word(m, thread + p->at.thread_interpreter, &of) ||
		    of != interpreter || !gt_remote_word(m, thread + p->at.thread_native_id, &id))
			return 0;
		if ((uint32_t)id == tid)
			return thread;
		if (!gt_remote_word(m, thread + p->at.thread_next, &thread))
			return 0;
	}
	return 0;
}

static uintptr_t find_thread(const struct gt_remote_python *p, struct gt_remote_memory *m,
			     uint32_t tid)
{
	uintptr_t interpreter, thread;

	if (!gt_remote_word(m, p->runtime + p->at.runtime_interpreters, &interpreter))
		return 0;
	for (unsigned i = 0; interpreter && i < INTERPRETERS_MOST; i++) {
		thread = find_in_interpreter(p, m, interpreter, tid);
		if (thread)
			return thread;
		if (!gt_remote_word(m, interpreter + p->at.interpreter_next, &interpreter))
			return 0;
	}
	return 0;
}

/* Read what identifies a code object. */
static bool identify(const struct gt_remote_python *p, struct gt_remote_memory *m,
		     struct gt_remote_python_frame *f)
{
	uintptr_t type, name, lines;
	uint32_t first;

	if (!gt_remote_word(m, f->code + 8, &type) || type != p->code_type ||
	    !gt_remote_word(m, f->code + p->at.code_name, &name) ||
	    !gt_remote_word(m, f->code + p->at.code_lines, &lines) ||
	    !gt_remote_read(m, f->code + p->at.code_first_line, &first, sizeof first))
		return false;
	f->identity = (name << 20 ^ lines) * UINT64_C(0xbf58476d1ce4e5b9) + first;
	return true;
}

unsigned gt_remote_python_walk(struct gt_remote_python *p, struct gt_remote_memory *m, uint32_t tid,
			       struct gt_remote_python_frame *frames)
{
	const struct gt_python_layout *at = &p->at;
	uintptr_t thread, frame;
	unsigned count = 0;

	if (!p->runtime || p->is_wrong)
		return 0;
	thread = find_thread(p, m, tid);
	if (!thread || !gt_remote_word(m, thread + at->thread_frame, &frame) ||
	    (at->is_indirect && frame && !gt_remote_word(m, frame + at->inner_frame, &frame)))
		return 0;
	while (frame && count < GT_REMOTE_PYTHON_FRAMES) {
		struct gt_remote_python_frame *f = &frames[count];
		uintptr_t instruction;
		uint8_t owner;

		if (!gt_remote_word(m, frame + at->frame_code, &f->code) ||
		    !gt_remote_word(m, frame + at->frame_instruction, &instruction) ||
		    !gt_remote_read(m, frame + at->frame_owner, &owner, 1) ||
		    !gt_remote_word(m, frame + at->frame_previous, &frame))
			break;
		if (!at->has_entry_flag && owner >= GT_PYTHON_OWNER_INTERPRETER) {
			if (count)
				f[-1].is_entry = true;
			continue;
		}
		f->code &= ~(uintptr_t)GT_PYTHON_REFERENCE_BITS;
		f->offset = (uint32_t)(instruction - f->code - at->code_begin);
		f->is_entry = at->has_entry_flag && owner;
		if (!f->code || !identify(p, m, f))
			break;
		if (!p->is_verified && !is_code(p, m, f)) {
			p->is_wrong = true;
			return 0;
		}
		count++;
	}
	p->is_verified |= count != 0;
	return count;
}

/* Code objects ------------------------------------------------------------------------------ */

static char *put_text(const struct gt_remote_python *p, struct gt_remote_memory *m, uintptr_t code,
		      uint32_t member, char *to, size_t room)
{
	uint8_t letters[GT_REMOTE_FILE_BYTES * 4];
	struct gt_python_text l;

	if (!find_text(p, m, code, member, &l))
		return NULL;
	l.length = l.length < GT_REMOTE_FILE_BYTES ? l.length : GT_REMOTE_FILE_BYTES;
	if (!gt_remote_read(m, l.begin, letters, l.length * l.width))
		return NULL;
	return gt_python_put_text(to, room, letters, l.length, l.width);
}

bool gt_remote_python_read_code(const struct gt_remote_python *p, struct gt_remote_memory *m,
				const struct gt_remote_python_frame *f,
				struct gt_remote_python_code *code)
{
	uint64_t bytes;
	uintptr_t lines;
	char *end;

	if (!is_code(p, m, f))
		return false;
	end = put_text(p, m, f->code, p->at.code_name, code->text, GT_REMOTE_NAME_BYTES);
	if (end)
		end = put_text(p, m, f->code, p->at.code_file, end, GT_REMOTE_FILE_BYTES);
	if (!end || !gt_remote_word(m, f->code + p->at.code_lines, &lines) ||
	    !gt_remote_read(m, lines + p->at.object_bytes, &bytes, sizeof bytes) ||
	    !gt_remote_read(m, f->code + p->at.code_first_line, &code->first_line,
			    sizeof code->first_line))
		return false;
	code->text_bytes = (uint32_t)(end - code->text);
	code->lines_bytes =
		(uint32_t)(bytes < GT_REMOTE_LINES_BYTES ? bytes : GT_REMOTE_LINES_BYTES);
	return gt_remote_read(m, lines + p->at.object_bytes + 16, end, code->lines_bytes);
}
