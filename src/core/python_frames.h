/* SPDX-License-Identifier: MIT */
/* Frames of CPython in the calling thread, read directly from the interpreter's memory. The only
 * Python function that this code calls is PyGILState_GetThisThreadState(), which reads a
 * thread-local variable and takes no lock.
 *
 *   thread state ─► innermost frame ─► its caller ─► ..
 *                        └─► code object: name, file, first line, table of lines
 *
 * A thread that is in a call from Python to other code cannot change its frames during the call,
 * and the frames hold references to their code objects, regardless of the GIL. Offsets of members
 * are built in for 3.11 and 3.12; 3.13 and 3.14 publish them (_PyRuntime starts with the offsets).
 * A layout is verified on the first stack before use: process_vm_readv(), which does not fault,
 * reads the objects, and the types of the objects are compared with the expected types. If
 * verification fails, stacks have no Python frames, and an event reports the failure. */
#ifndef GPUTAP_CORE_PYTHON_FRAMES_H
#define GPUTAP_CORE_PYTHON_FRAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"
#include "core/unwind.h"

enum { GT_PYTHON_MOST = 128, GT_PYTHON_CODES = 1 << 16 };

struct gt_python_frame {
	uintptr_t code; /* the code object */
	/* distinguishes code objects that were at the same address at different times */
	uint64_t identity;
	uint32_t offset; /* offset of the instruction, in bytes */
	bool is_entry; /* true for the last of the frames that one call into the interpreter runs */
};

/* Check whether a module that a stack passes through for the first time is Python. Return true if
 * Python frames are available from now on. */
bool gt_python_meet(struct gt_thread *t, const struct gt_unwind_object *object);

/* Walk the calling thread's frames, innermost first. Return the number of frames, at most
 * GT_PYTHON_MOST. */
unsigned gt_python_walk(struct gt_python_frame *frames);

/* Known code objects. Zeroed initially, and in a fork's child. */
struct gt_python_codes {
	_Atomic uint64_t keys[GT_PYTHON_CODES];
};

/* Return the number of a frame's code object. Write the code object first if necessary. 0: no
 * room. */
uint32_t gt_python_number(struct gt_python_codes *known, struct gt_thread *t,
			  const struct gt_python_frame *frame);

#endif
