/* SPDX-License-Identifier: MIT */
/* Interposition without an auditor, for tools: of libraries that are mapped already, and of
 * later ones. */
#ifndef GPUTAP_RUNTIME_MAPPED_H
#define GPUTAP_RUNTIME_MAPPED_H

#include <stdbool.h>

#include "core/tap.h"

/**
 * gt_mapped_look() - put taps in front of the runtimes' libraries that are mapped and not attached
 * Their symbols are changed, and so is everything that was bound to them before. Cheap when nothing
 * was mapped or unmapped since the last time. Does nothing where libgputap-audit.so is.
 * Thread: any; not with the dynamic linker's lock, and not from a handler of signals.
 */
void gt_mapped_look(void);

/* Loaders of the runtime find us in a variable of the environment when they look: libraries that
 * these loaders bring us into are not interposed. @object: gputap_attach_<domain>. */
void gt_mapped_leave(const char *object);

/* Is a library mapped that defines the first symbol, and not the second (NULL: whether or not)? */
bool gt_mapped_defines(const char *name, const char *without);

/* @follower is called whenever libraries may have been interposed, without a lock. Four at most;
 * for constructors. */
void gt_mapped_follow(void (*follower)(void));
void gt_mapped_call_followers(void);

/* From now on, look whenever the program asks for an address (dlsym()): what it has opened is
 * found before it is used. */
void gt_mapped_watch(void);

/* What the program itself calls by that name is @to. False: it calls nothing of that name, or
 * its slot cannot be written. */
bool gt_mapped_program(const char *name, void *to);

/* Whatever leads to the tap of an operation of an interposed table leads to @to(operation's
 * index) from now on; NULL: stays. */
struct gt_attach;
void gt_mapped_redirect(const struct gt_attach *point, uint32_t instance,
			void *(*to)(uint32_t instance, uint32_t index));

#endif
