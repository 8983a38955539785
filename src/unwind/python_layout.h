/* SPDX-License-Identifier: MIT */
/* Layout of CPython's frames, code objects and thread states in memory. Offsets are built in for
 * 3.11 and 3.12; 3.13 and 3.14 publish them (_PyRuntime starts with the offsets). The reader
 * verifies a layout before use. Used in the traced process (core/python_frames.h) and in the
 * collector (collector/remote_python.h). */
#ifndef GPUTAP_UNWIND_PYTHON_LAYOUT_H
#define GPUTAP_UNWIND_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GT_PYTHON_OFFSET_WORDS = 64, /* number of words of _PyRuntime that contain the offsets */
	/* owner of the interpreter's own frames, from 3.12 on */
	GT_PYTHON_OWNER_INTERPRETER = 3,
	/* low bits of a reference that encode its kind, from 3.14 on */
	GT_PYTHON_REFERENCE_BITS = 7,
	GT_PYTHON_TYPE_BASIC_SIZE = 32, /* offset in PyTypeObject */
};

/* Offsets and sizes of members, in bytes. */
struct gt_python_layout {
	uint32_t thread_frame; /* offset of the innermost frame in the thread state */
	/* true before 3.13: `thread_frame` then leads to a struct whose member at `inner_frame` is
	 * the innermost frame */
	bool is_indirect;
	uint32_t inner_frame;
	uint32_t frame_code, frame_previous, frame_instruction, frame_owner;
	bool has_entry_flag; /* 3.11 has a flag instead of the owner */
	uint32_t code_file, code_name, code_lines, code_first_line, code_begin;
	uint32_t object_bytes;          /* size of an object's header */
	uint32_t text_bytes;            /* header size of an ASCII text */
	uint32_t other_bytes;           /* header size of any other text */
	uint32_t ascii_bit, kind_shift; /* `compact` is the bit before `ascii` */
	/* threads of the first interpreter: _PyRuntime -> interpreter -> thread state -> next */
	uint32_t runtime_interpreters, interpreter_next, interpreter_threads;
	uint32_t thread_next, thread_interpreter, thread_native_id;
};

/* Return true if the offsets of this version are in the interpreter's memory and not built in. */
bool gt_python_publishes_offsets(uint32_t version);

/**
 * gt_python_choose_layout() - get the layout of a version
 * @version: Py_Version of the interpreter
 * @words: the first words of _PyRuntime, if gt_python_publishes_offsets(); else not used
 * Return: false if the version, or a build without a GIL, is not supported.
 */
bool gt_python_choose_layout(uint32_t version, const uint64_t words[GT_PYTHON_OFFSET_WORDS],
			     struct gt_python_layout *at);

/* Layout of a text: address of the first character, number of characters, bytes per character. */
struct gt_python_text {
	uintptr_t begin;
	uint64_t length;
	uint32_t width;
	bool is_compact;
};

/* @state, @length: the words of the text after its header. */
static inline struct gt_python_text gt_python_lay_out_text(const struct gt_python_layout *at,
							   uintptr_t text, uint32_t state,
							   uint64_t length)
{
	const bool is_ascii = state >> at->ascii_bit & 1;

	return (struct gt_python_text){text + (is_ascii ? at->text_bytes : at->other_bytes), length,
				       state >> at->kind_shift & 7,
				       state >> (at->ascii_bit - 1) & 1};
}

/**
 * gt_python_put_text() - copy a text's characters as UTF-8 with a terminating NUL
 * @room: size of the buffer at @to; the copy is truncated
 * @from: the characters, @width bytes each
 * Return: the end of the copy.
 */
char *gt_python_put_text(char *to, size_t room, const void *from, uint64_t length, uint32_t width);

#endif
