/* SPDX-License-Identifier: MIT */
/* Interposition without an auditor, for tools: of libraries already mapped, and of later ones. */
#ifndef GPUTAP_RUNTIME_MAPPED_H
#define GPUTAP_RUNTIME_MAPPED_H

#include <stdbool.h>

#include "core/tap.h"

/**
 * gt_mapped_look() - put taps in front of the runtimes' libraries that are mapped and not attached
 * Changes their symbols and everything that was bound to them before. Cheap if nothing was mapped
 * or unmapped since the last time. Does nothing if an auditor is loaded (libgputap-audit.so).
 * Thread: any, but not with the dynamic linker's lock held and not from a signal handler.
 */
void gt_mapped_look(void);

/* Leave the object's libraries to the runtime's loaders, which find us in an environment variable:
 * libraries that these loaders load us into are not interposed. @object: gputap_attach_<domain>. */
void gt_mapped_leave(const char *object);

/* Return true if a mapped library defines @name and does not define @without (NULL: either way). */
bool gt_mapped_defines(const char *name, const char *without);

/* Register @follower, to be called without a lock whenever libraries may have been interposed. Four
 * at most; call from constructors. */
void gt_mapped_follow(void (*follower)(void));
void gt_mapped_call_followers(void);

/* From now on, look whenever the program requests an address with dlsym(): libraries it has opened
 * are found before they are used. */
void gt_mapped_watch(void);

/* Redirect the program's own calls of @name to @to. Return false if the program does not call that
 * name, or its slot cannot be written. */
bool gt_mapped_program(const char *name, void *to);

/* From now on, redirect everything that leads to the tap of an operation of an interposed table to
 * @to(operation's index); NULL leaves it as is. */
struct gt_attach;
void gt_mapped_redirect(const struct gt_attach *point, uint32_t instance,
			void *(*to)(uint32_t instance, uint32_t index));

#endif
