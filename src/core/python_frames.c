/* SPDX-License-Identifier: MIT */
/* See python_frames.h. */
#include "core/python_frames.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/elf.h"
#include "core/emit.h"
#include "record/record.h"
#include "unwind/python_layout.h"

enum {
	PROBES = 64,
	NAME_BYTES = 512,
	FILE_BYTES = 1024,
	LINES_BYTES = 8192,
};

static struct {
	_Atomic uint32_t is_ready;
	_Atomic uint32_t is_met; /* nonzero if the interpreter was examined */
	void *(*get_thread)(void);
	uintptr_t code_type, text_type, bytes_type;
	struct gt_python_layout at;
} python;

/* Verifying a layout ------------------------------------------------------------------------ */

/* Read memory. Return false, without a fault, if the memory is not mapped. */
static bool read_safely(uintptr_t at, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)at, bytes};

	return syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1UL, &remote, 1UL, 0UL) ==
	       (long)bytes;
}

static bool read_pointer(uintptr_t at, uintptr_t *pointer)
{
	return read_safely(at, pointer, sizeof *pointer);
}

static bool has_type(uintptr_t object, uintptr_t type)
{
	uintptr_t is;

	return read_pointer(object + offsetof(
					     struct {
						     uint64_t count;
						     uintptr_t type;
					     },
					     type),
			    &is) &&
	       is == type;
}

/* Return true if the member of a code object is a text with the expected layout. The text's
 * terminator confirms the layout. */
static bool has_text(const struct gt_python_layout *at, uintptr_t code, uint32_t member)
{
	uintptr_t text;
	uint64_t length;
	uint32_t state, end = 0;
	struct gt_python_text l;

	if (!read_pointer(code + member, &text) || !has_type(text, python.text_type) ||
	    !read_safely(text + at->object_bytes, &length, sizeof length) ||
	    !read_safely(text + at->object_bytes + 16, &state, sizeof state))
		return false;
	l = gt_python_lay_out_text(at, text, state, length);
	return l.is_compact && (l.width == 1 || l.width == 2 || l.width == 4) &&
	       length < 1u << 20 && read_safely(l.begin + length * l.width, &end, l.width) && !end;
}

/* Return true if the member of a code object is an object of type @type. */
static bool has_member(uintptr_t code, uint32_t member, uintptr_t type)
{
	uintptr_t object;

	return read_pointer(code + member, &object) && has_type(object, type);
}

static bool is_code(const struct gt_python_layout *at, uintptr_t code, uintptr_t instruction)
{
	uint64_t units;
	uintptr_t size;
	uint32_t line;

	return has_type(code, python.code_type) &&
	       read_pointer(python.code_type + GT_PYTHON_TYPE_BASIC_SIZE, &size) &&
	       size == at->code_begin && has_text(at, code, at->code_file) &&
	       has_text(at, code, at->code_name) &&
	       has_member(code, at->code_lines, python.bytes_type) &&
	       read_safely(code + at->code_first_line, &line, sizeof line) && line < 1u << 28 &&
	       read_safely(code + at->object_bytes, &units, sizeof units) && units < 1u << 28 &&
	       instruction - (code + at->code_begin) + 2 <= units * 2 + 2;
}

static bool find_first(const struct gt_python_layout *at, uintptr_t *frame)
{
	uintptr_t thread = (uintptr_t)python.get_thread();

	if (!thread || !read_pointer(thread + at->thread_frame, frame))
		return false;
	return !at->is_indirect || read_pointer(*frame + at->inner_frame, frame);
}

/* Return true if the thread's first frames match this layout. */
static bool is_right(const struct gt_python_layout *at)
{
	uintptr_t frame, code, instruction;
	unsigned seen = 0;

	if (!find_first(at, &frame))
		return false;
	for (unsigned i = 0; frame && i < 8; i++) {
		uint8_t owner = 0;

		if (!read_pointer(frame + at->frame_code, &code) ||
		    !read_pointer(frame + at->frame_instruction, &instruction) ||
		    !read_safely(frame + at->frame_owner, &owner, 1))
			return false;
		if (at->has_entry_flag || owner < GT_PYTHON_OWNER_INTERPRETER) {
			if (owner > GT_PYTHON_OWNER_INTERPRETER ||
			    !is_code(at, code & ~(uintptr_t)GT_PYTHON_REFERENCE_BITS, instruction))
				return false;
			seen++;
		}
		if (!read_pointer(frame + at->frame_previous, &frame))
			return false;
	}
	return seen > 0;
}

/* Finding the interpreter ------------------------------------------------------------------- */

static uintptr_t symbol_of(const struct gt_symbols *s, const char *name)
{
	const ElfW(Sym) *symbol = gt_symbol_find(s, name);

	return symbol ? s->base + symbol->st_value : 0;
}

static void complain(struct gt_thread *t, uint32_t version, const char *why)
{
	char text[128];

	snprintf(text, sizeof text, "no frames of Python %u.%u.%u: %s", version >> 24,
		 version >> 16 & 255, version >> 8 & 255, why);
	gt_event_write(t, GT_EVENT_STACKS, GT_DOMAIN_NONE, version, text);
}

static bool choose_layout(uint32_t version, uintptr_t runtime)
{
	uint64_t words[GT_PYTHON_OFFSET_WORDS];

	if (gt_python_publishes_offsets(version) &&
	    (!runtime || !read_safely(runtime, words, sizeof words)))
		return false;
	return gt_python_choose_layout(version, words, &python.at);
}

bool gt_python_meet(struct gt_thread *t, const struct gt_unwind_object *o)
{
	const struct gt_elf elf = {.base = o->base, .dynamic = o->dynamic, .path = o->path};
	struct gt_symbols s;
	uintptr_t version_at, get;
	unsigned long version;
	uint32_t expected = 0;

	if (!elf.dynamic || !gt_symbols_of(&elf, &s))
		return false;
	version_at = symbol_of(&s, "Py_Version"); /* from 3.11 on */
	get = symbol_of(&s, "PyGILState_GetThisThreadState");
	if (!get || !atomic_compare_exchange_strong(&python.is_met, &expected, 1))
		return false;
	version = version_at ? *(const unsigned long *)version_at : 0x030a0000;
	python.get_thread = (void *(*)(void))get;
	python.code_type = symbol_of(&s, "PyCode_Type");
	python.text_type = symbol_of(&s, "PyUnicode_Type");
	python.bytes_type = symbol_of(&s, "PyBytes_Type");
	if (!version_at)
		complain(t, 0x03000000, "3.11 to 3.14 are supported");
	else if (!choose_layout((uint32_t)version, symbol_of(&s, "_PyRuntime")))
		complain(t, (uint32_t)version, "3.11 to 3.14 are supported, with a GIL");
	else if (!is_right(&python.at))
		complain(t, (uint32_t)version, "frames are not at the expected addresses");
	else
		atomic_store_explicit(&python.is_ready, 1, memory_order_release);
	return atomic_load(&python.is_ready);
}

/* Walking ----------------------------------------------------------------------------------- */

static inline uintptr_t pointer_at(uintptr_t at)
{
	return *(const uintptr_t *)at;
}

unsigned gt_python_walk(struct gt_python_frame *frames)
{
	const struct gt_python_layout *at = &python.at;
	uintptr_t frame;
	unsigned count = 0;

	if (!atomic_load_explicit(&python.is_ready, memory_order_acquire))
		return 0;
	frame = (uintptr_t)python.get_thread();
	if (!frame)
		return 0;
	frame = pointer_at(frame + at->thread_frame);
	if (at->is_indirect && frame)
		frame = pointer_at(frame + at->inner_frame);
	for (; frame && count < GT_PYTHON_MOST; frame = pointer_at(frame + at->frame_previous)) {
		const uintptr_t code =
			pointer_at(frame + at->frame_code) & ~(uintptr_t)GT_PYTHON_REFERENCE_BITS;
		const uint8_t owner = *(const uint8_t *)(frame + at->frame_owner);
		struct gt_python_frame *f = &frames[count];

		if (!at->has_entry_flag && owner >= GT_PYTHON_OWNER_INTERPRETER) {
			if (count)
				f[-1].is_entry = true;
			continue;
		}
		if (!code || pointer_at(code + 8) != python.code_type)
			break;
		f->code = code;
		/* the product keeps a difference of 48 bytes from cancelling a difference of 48
		 * lines */
		f->identity = (pointer_at(code + at->code_name) << 20 ^
			       pointer_at(code + at->code_lines)) *
				      UINT64_C(0xbf58476d1ce4e5b9) +
			      *(const uint32_t *)(code + at->code_first_line);
		f->offset = (uint32_t)(pointer_at(frame + at->frame_instruction) - code -
				       at->code_begin);
		f->is_entry = at->has_entry_flag && owner;
		count++;
	}
	return count;
}

/* Code objects ------------------------------------------------------------------------------ */

/* Copy Python's text as UTF-8 with a terminating NUL, truncated to @room. Return the end of the
 * copy. */
static char *put_text(char *to, size_t room, uintptr_t text)
{
	const struct gt_python_layout *at = &python.at;
	const struct gt_python_text l =
		gt_python_lay_out_text(at, text, *(const uint32_t *)(text + at->object_bytes + 16),
				       *(const uint64_t *)(text + at->object_bytes));

	return gt_python_put_text(to, room, (const void *)l.begin, l.length, l.width);
}

static bool write_code(struct gt_thread *t, uint32_t number, uintptr_t code)
{
	enum { MOST = NAME_BYTES + FILE_BYTES + LINES_BYTES };
	const struct gt_python_layout *at = &python.at;
	const uintptr_t lines = pointer_at(code + at->code_lines);
	const size_t fixed = sizeof(struct gt_record_code);
	char text[NAME_BYTES + FILE_BYTES], *end = text;
	uint64_t line_bytes = *(const uint64_t *)(lines + at->object_bytes);
	struct gt_record_code *c;
	enum gt_drop_reason why;
	size_t bytes, size;

	end = put_text(end, NAME_BYTES, pointer_at(code + at->code_name));
	end = put_text(end, FILE_BYTES, pointer_at(code + at->code_file));
	bytes = (size_t)(end - text);
	line_bytes = line_bytes < LINES_BYTES ? line_bytes : LINES_BYTES;
	size = fixed + ((bytes + line_bytes + 7) & ~(size_t)7);
	c = gt_ring_try(t, size, &why);
	if (!c)
		return false;
	memset(c, 0, size);
	c->head = (struct gt_record){(uint16_t)(size / 8), GT_RECORD_CODE, 0, GT_CODE_PYTHON};
	c->number = number;
	c->start = *(const uint32_t *)(code + at->code_first_line);
	c->bytes = (uint32_t)(bytes + line_bytes);
	memcpy(c->text, text, bytes);
	memcpy(c->text + bytes, (const char *)lines + at->object_bytes + 16, line_bytes);
	gt_ring_commit(t, size);
	return true;
}

uint32_t gt_python_number(struct gt_python_codes *known, struct gt_thread *t,
			  const struct gt_python_frame *f)
{
	uint64_t key = ((uint64_t)f->code ^ f->identity * UINT64_C(0x9e3779b97f4a7c15)) | 1, there;
	const uint64_t unwritten = key & ~UINT64_C(1);
	uint32_t i = (uint32_t)((key * UINT64_C(0xbf58476d1ce4e5b9)) >> 48);

	static_assert(GT_PYTHON_CODES == 1 << 16, "an index is the hash's upper bits");
	for (unsigned tries = 0; tries < PROBES; tries++, i = (i + 1) % GT_PYTHON_CODES) {
		there = atomic_load(&known->keys[i]);
		if ((!there || there == unwritten) &&
		    atomic_compare_exchange_strong(&known->keys[i], &there, key)) {
			if (write_code(t, i + 1, f->code))
				return i + 1;
			/* keep the number for this code object, because another thread may have
			 * used it already */
			atomic_store(&known->keys[i], unwritten);
			return 0;
		}
		if (there == key)
			return i + 1;
	}
	return 0;
}
