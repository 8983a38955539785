/* SPDX-License-Identifier: MIT */
/* Growing arrays and tables of the analyses never return a failure. If memory runs out, the
 * innermost guard_memory() of the thread returns -ENOMEM instead.
 *
 *   guard_memory(step, data) -> step -> .. grow_list() -> memory_ran_out()
 *         ▲                                                    |
 *         └─ run cleanups, newest first; longjmp(): -ENOMEM ───┘
 *
 * The structs that @step fills stay consistent, because a table is replaced only after its new
 * memory was allocated; the caller releases them as after any other error. Memory that only a local
 * variable refers to is lost, unless it is a scratch list or has a cleanup. */
#ifndef GPUTAP_ANALYSIS_BASE_GUARD_MEMORY_H
#define GPUTAP_ANALYSIS_BASE_GUARD_MEMORY_H

#include <stddef.h>

/**
 * guard_memory() - call a function that may run out of memory
 * Return: result of @step; -ENOMEM with a cause if memory ran out.
 * Thread: any; guards nest.
 */
int guard_memory(int (*step)(void *data), void *data);

/* Leave the innermost guard of this thread. Without a guard, abort. */
__attribute__((noreturn)) void memory_ran_out(void);

/* A function that releases what a local variable owns. It is a local variable itself. */
struct cleanup {
	void (*run)(void *data);
	void *data;
	struct cleanup *older;
};

/**
 * cleanup_push() - let memory_ran_out() call a function before it leaves
 * @c:    filled in; must be valid until cleanup_pop(), as must @data
 * @run:  called once, by cleanup_pop() or memory_ran_out(); must not allocate
 *
 * The function that pushes a cleanup pops it on each way out, in the same thread.
 */
void cleanup_push(struct cleanup *c, void (*run)(void *data), void *data);
/* Remove a cleanup, which need not be the newest, and run it. */
void cleanup_pop(struct cleanup *c);
/* Remove a cleanup and do not run it: the caller returns what it would release. */
void cleanup_cancel(struct cleanup *c);

/**
 * allocate_scratch() - like allocate_list(), for a list that only one function uses
 * Owner: caller, which calls free_scratch() on each way out, in the same thread. If memory runs
 *        out, memory_ran_out() frees the list.
 */
void *allocate_scratch(size_t count, size_t bytes);
/* Free the list. NULL is allowed. */
void free_scratch(void *list);

/* Return a list of @count elements of @bytes, which are zero. */
void *allocate_list(size_t count, size_t bytes);
/* Resize a list of @old_count elements to exactly @count. New elements are zero. */
void *resize_list(void *list, size_t old_count, size_t count, size_t bytes);
/* Like gt_grow_to() (util/grow.h), and new elements are zero. */
void *grow_list(void *list, size_t count, size_t *room, size_t bytes);

/* Make room in @list, which has space for @room elements (of any unsigned type), for one more than
 * @count elements. New elements are zero. */
#define GROW_LIST(list, count, room)                                                     \
	do {                                                                             \
		size_t room_ = (room);                                                   \
                                                                                         \
		if ((count) < room_)                                                     \
			break;                                                           \
		(list) = grow_list((list), (size_t)(count) + 1, &room_, sizeof *(list)); \
		(room) = (__typeof__(room))room_;                                        \
		if ((room) != room_) /* more elements than the type can count */         \
			memory_ran_out();                                                \
	} while (0)

#endif
