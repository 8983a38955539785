/* SPDX-License-Identifier: MIT */
/* Interposes libraries for tools where there is no auditor: libraries that are already mapped, and
 * libraries that are mapped later. */
#ifndef GPUTAP_RUNTIME_MAPPED_H
#define GPUTAP_RUNTIME_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/tap.h"

/**
 * gt_mapped_look() - interpose the runtimes' libraries that are mapped and not attached
 * Changes their symbols and everything that was bound to them earlier. Cheap if the mapped
 * libraries have not changed since the last look. Does nothing if an auditor is loaded
 * (libgputap-audit.so).
 * Thread: any, but not with the dynamic linker's lock held and not in a signal handler.
 */
void gt_mapped_look(void);

/* Leave the object's libraries to the runtime's loaders, which find gputap in an environment
 * variable. Libraries into which such a loader loads gputap are not interposed. @object:
 * gputap_attach_<domain> */
void gt_mapped_leave(const char *object);

/* Return true if a mapped library defines @name and does not define @without. @without: NULL: no
 * such condition */
bool gt_mapped_defines(const char *name, const char *without);

/* Register @follower, which is called without a lock whenever libraries may have been interposed.
 * Call from constructors, at most four times. */
void gt_mapped_follow(void (*follower)(void));
void gt_mapped_call_followers(void);

/* Start to look for new libraries whenever the program requests an address with dlsym(), so that
 * libraries that the program has opened are found before they are used. */
void gt_mapped_watch(void);

/* Interpose the mapped libraries of a program that gputap was attached to, including the pointers
 * to their functions that objects hold in their data, and look for new libraries from then on. */
void gt_mapped_attach(void);

/* gt_held_pointers_replace() at a time when this file changes no pointers. */
struct gt_held_pointers;
void gt_mapped_replace_held(const struct gt_held_pointers *held);

/* A function of libc, and the function that replaces it in all objects. */
struct gt_mapped_function {
	const char *name;
	void *from, *to;
};
/**
 * gt_mapped_replace() - redirect the calls that all objects make of some functions of libc, now and
 * in future
 * @list: must stay valid. May be called once.
 */
void gt_mapped_replace(const struct gt_mapped_function *list, size_t count);

/* Redirect the program's own calls of @name to @to. Return false if the program does not call
 * @name, or its slot cannot be written. */
bool gt_mapped_program(const char *name, void *to);

/* Redirect everything that leads to the tap of an operation of an interposed table to @to(index of
 * the operation), now and in future. If @to returns NULL, the operation is left unchanged. */
struct gt_attach;
void gt_mapped_redirect(const struct gt_attach *point, uint32_t instance,
			void *(*to)(uint32_t instance, uint32_t index));

#endif
