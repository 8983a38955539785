/* SPDX-License-Identifier: MIT */
/* See python_layout.h. */
#include "unwind/python_layout.h"

#include <string.h>

static const struct gt_python_layout layout_3_11 = {
	.thread_frame = 56,
	.is_indirect = true,
	.inner_frame = 8,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.frame_owner = 68,
	.has_entry_flag = true,
	.code_file = 112,
	.code_name = 128,
	.code_lines = 136,
	.code_first_line = 72,
	.code_begin = 184,
	.object_bytes = 16,
	.text_bytes = 48,
	.other_bytes = 72,
	.ascii_bit = 6,
	.kind_shift = 2,
	.runtime_interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_interpreter = 16,
	.thread_native_id = 160,
};

static const struct gt_python_layout layout_3_12 = {
	.thread_frame = 56,
	.is_indirect = true,
	.inner_frame = 0,
	.frame_code = 0,
	.frame_previous = 8,
	.frame_instruction = 56,
	.frame_owner = 70,
	.code_file = 112,
	.code_name = 128,
	.code_lines = 136,
	.code_first_line = 68,
	.code_begin = 192,
	.object_bytes = 16,
	.text_bytes = 40,
	.other_bytes = 56,
	.ascii_bit = 6,
	.kind_shift = 2,
	.runtime_interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 72,
	.thread_next = 8,
	.thread_interpreter = 16,
	.thread_native_id = 144,
};

/* Start of _PyRuntime in 3.13 and later, in words: _Py_DebugOffsets. Each part of it starts with
 * the size of the part's struct. */
enum { WORD_COOKIE, WORD_VERSION, WORD_FREE_THREADED };
enum { RUNTIME_INTERPRETERS = 5, INTERPRETER_NEXT = 8, INTERPRETER_THREADS };
enum { THREAD_NEXT = 2, THREAD_INTERPRETER, THREAD_FRAME, THREAD_NATIVE_ID = 6 };
enum { FRAME_PREVIOUS = 1, FRAME_CODE, FRAME_INSTRUCTION, FRAME_OWNER = 5 };
enum { CODE_FILE = 1, CODE_QUALNAME = 3, CODE_LINES, CODE_FIRST_LINE, CODE_BEGIN = 9 };

static bool read_offsets(const uint64_t words[GT_PYTHON_OFFSET_WORDS], uint32_t version,
			 struct gt_python_layout *at)
{
	const bool is_3_14 = version >> 16 >= 0x30e;
	const uint64_t *thread = words + (is_3_14 ? 22 : 19), *frame = thread + 9,
		       *code = frame + (is_3_14 ? 8 : 6), *object = code + (is_3_14 ? 11 : 10);

	if (memcmp(words, "xdebugpy", 8) != 0 || words[WORD_VERSION] != version ||
	    words[WORD_FREE_THREADED] || object[0] != 16)
		return false;
	*at = (struct gt_python_layout){
		.thread_frame = (uint32_t)thread[THREAD_FRAME],
		.frame_code = (uint32_t)frame[FRAME_CODE],
		.frame_previous = (uint32_t)frame[FRAME_PREVIOUS],
		.frame_instruction = (uint32_t)frame[FRAME_INSTRUCTION],
		.frame_owner = (uint32_t)frame[FRAME_OWNER],
		.code_file = (uint32_t)code[CODE_FILE],
		.code_name = (uint32_t)code[CODE_QUALNAME],
		.code_lines = (uint32_t)code[CODE_LINES],
		.code_first_line = (uint32_t)code[CODE_FIRST_LINE],
		.code_begin = (uint32_t)code[CODE_BEGIN],
		.object_bytes = (uint32_t)object[0],
		.text_bytes = (uint32_t)object[0] + 24,
		.other_bytes = (uint32_t)object[0] + 40,
		.ascii_bit = 6,
		.kind_shift = 2,
		.runtime_interpreters = (uint32_t)words[RUNTIME_INTERPRETERS],
		.interpreter_next = (uint32_t)words[INTERPRETER_NEXT],
		.interpreter_threads = (uint32_t)words[INTERPRETER_THREADS],
		.thread_next = (uint32_t)thread[THREAD_NEXT],
		.thread_interpreter = (uint32_t)thread[THREAD_INTERPRETER],
		.thread_native_id = (uint32_t)thread[THREAD_NATIVE_ID],
	};
	return true;
}

bool gt_python_publishes_offsets(uint32_t version)
{
	return version >> 16 == 0x30d || version >> 16 == 0x30e;
}

bool gt_python_choose_layout(uint32_t version, const uint64_t words[GT_PYTHON_OFFSET_WORDS],
			     struct gt_python_layout *at)
{
	switch (version >> 16) {
	case 0x30b: *at = layout_3_11; return true;
	case 0x30c: *at = layout_3_12; return true;
	case 0x30d:
	case 0x30e: return read_offsets(words, version, at);
	default: return false;
	}
}

static char *put_letter(char *to, uint32_t letter)
{
	if (letter < 0x80) {
		*to++ = (char)letter;
	} else if (letter < 0x800) {
		*to++ = (char)(0xc0 | letter >> 6);
		*to++ = (char)(0x80 | (letter & 63));
	} else if (letter < 0x10000) {
		*to++ = (char)(0xe0 | letter >> 12);
		*to++ = (char)(0x80 | (letter >> 6 & 63));
		*to++ = (char)(0x80 | (letter & 63));
	} else {
		*to++ = (char)(0xf0 | letter >> 18);
		*to++ = (char)(0x80 | (letter >> 12 & 63));
		*to++ = (char)(0x80 | (letter >> 6 & 63));
		*to++ = (char)(0x80 | (letter & 63));
	}
	return to;
}

char *gt_python_put_text(char *to, size_t room, const void *from, uint64_t length, uint32_t width)
{
	char *const end = to + room - 5;

	for (uint64_t i = 0; i < length && to < end; i++) {
		uint32_t letter = width == 1   ? ((const uint8_t *)from)[i]
				  : width == 2 ? ((const uint16_t *)from)[i]
					       : ((const uint32_t *)from)[i];

		to = put_letter(to, letter ? letter : '?');
	}
	*to++ = '\0';
	return to;
}
