/* SPDX-License-Identifier: MIT */
/* Frames of CPython in the calling thread: they are read where the interpreter has them. Nothing of
 * Python's is called but PyGILState_GetThisThreadState(), which reads a thread-local variable and
 * wants no lock.
 *
 *   thread state ─► innermost frame ─► the one before ─► ..
 *                        └─► code object: name, file, first line, table of lines
 *
 * A thread that is in a call out of Python cannot change its frames meanwhile, and they hold their
 * code objects, whoever has the GIL.
 * Which member lies where: of 3.11 and 3.12 we know it, 3.13 and 3.14 say it themselves
 * (_PyRuntime begins with their offsets). Before it is used, it is tried on the first stack: by
 * process_vm_readv(), which does not fault, the types of what is found must be those that are
 * expected. Otherwise there are no frames of Python's, and an event says so. */
#ifndef GPUTAP_CORE_PYTHON_FRAMES_H
#define GPUTAP_CORE_PYTHON_FRAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"
#include "core/unwind.h"

enum { GT_PYTHON_MOST = 128, GT_PYTHON_CODES = 1 << 16 };

struct gt_python_frame {
	uintptr_t code;    /* object */
	uint64_t identity; /* distinguishes code objects that lie at one place at different times */
	uint32_t offset;   /* of the instruction, in bytes */
	bool is_entry;     /* the last frame of those that one call into the interpreter runs */
};

/* A stack has gone through a module that was not known: is it Python? Return: true: from now on
 * there are frames. */
bool gt_python_meet(struct gt_thread *t, const struct gt_unwind_object *object);

/* The calling thread's, innermost first. Return: how many, GT_PYTHON_MOST at most. */
unsigned gt_python_walk(struct gt_python_frame *frames);

/* Zeroed at first, and in a fork's child. */
struct gt_python_codes {
	_Atomic uint64_t keys[GT_PYTHON_CODES];
};

/* Number of a frame's code object, which is written if it is not yet. 0: there is no room. */
uint32_t gt_python_number(struct gt_python_codes *known, struct gt_thread *t,
			  const struct gt_python_frame *frame);

#endif
