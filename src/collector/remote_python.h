/* SPDX-License-Identifier: MIT */
/* Frames of CPython in a thread of another process, read from its memory with the layouts of
 * unwind/python_layout.h. The thread is stopped, or blocked in a system call.
 *
 *   _PyRuntime ─► interpreters ─► thread states ─ native id ─► frames ─► code objects
 *
 * A layout is verified with the thread's first frames: types, texts and sizes must be right. */
#ifndef GPUTAP_COLLECTOR_REMOTE_PYTHON_H
#define GPUTAP_COLLECTOR_REMOTE_PYTHON_H

#include "collector/remote_memory.h"
#include "collector/remote_modules.h"
#include "unwind/python_layout.h"

enum {
	GT_REMOTE_PYTHON_FRAMES = 128,
	GT_REMOTE_NAME_BYTES = 512,
	GT_REMOTE_FILE_BYTES = 1024,
	GT_REMOTE_LINES_BYTES = 8192,
};

struct gt_remote_python {
	/* 0: no interpreter found, or its version is not supported */
	uintptr_t runtime;
	uint32_t version;
	bool is_verified, is_wrong;
	uintptr_t code_type, text_type, bytes_type;
	struct gt_python_layout at;
};

struct gt_remote_python_frame {
	uintptr_t code;
	uint64_t identity; /* of the code object, as in core/python_frames.h */
	uint32_t offset;   /* offset of the instruction, in bytes */
	bool is_entry;     /* last of the frames that one call into the interpreter runs */
};

struct gt_remote_python_code {
	uint32_t first_line;
	uint32_t text_bytes, lines_bytes;
	/* name, NUL, file, NUL, line table */
	char text[GT_REMOTE_NAME_BYTES + GT_REMOTE_FILE_BYTES + GT_REMOTE_LINES_BYTES];
};

/* Check whether a module is Python, and get its layout. */
void gt_remote_python_meet(struct gt_remote_python *p, const struct gt_remote_modules *modules,
			   const struct gt_remote_module *module, struct gt_remote_memory *memory);

/* Read the thread's frames, innermost first. Return their number, 0 if the thread runs no Python.
 * Frames whose memory cannot be read end the list. */
unsigned gt_remote_python_walk(struct gt_remote_python *p, struct gt_remote_memory *memory,
			       uint32_t tid, struct gt_remote_python_frame *frames);

/* Read a code object. Return false if it is not one any more. */
bool gt_remote_python_read_code(const struct gt_remote_python *p, struct gt_remote_memory *memory,
				const struct gt_remote_python_frame *frame,
				struct gt_remote_python_code *code);

#endif
