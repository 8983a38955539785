/* SPDX-License-Identifier: MIT */
/* Kind of program about to run, and whether gputap's libraries can be loaded into it. */
#ifndef GPUTAP_COLLECTOR_TARGET_H
#define GPUTAP_COLLECTOR_TARGET_H

#include <limits.h>
#include <stdbool.h>

enum gt_target_obstacle {
	GT_TARGET_NONE = 0,
	GT_TARGET_PRIVILEGED, /* set-user-id and similar: the dynamic linker ignores LD_PRELOAD */
	GT_TARGET_STATIC,     /* no dynamic linker */
	GT_TARGET_32BIT,
	GT_TARGET_MACHINE, /* for another machine */
	GT_TARGET_MUSL,    /* the program's C library lacks functions that gputap needs */
	/* the static thread-local storage of a library cannot be laid out together with an
	 * auditor */
	GT_TARGET_ALIGNMENT,
	GT_TARGET_ADDRESS_SPACE, /* too little address space: gt_target_look_with() */
};

struct gt_target {
	char path[PATH_MAX]; /* path of the program, found along PATH if necessary */
	/* program that actually runs if `path` is a script; otherwise "" */
	char interpreter[PATH_MAX];
	bool found, executable;
	/* true if the program's dynamic linker cannot load gputap's libraries, and reports an error
	 * on stderr or does not start */
	bool complains;
	enum gt_target_obstacle obstacle;
};

/* Examine the file that execvp() would execute for @program. Never fails, because exec will report
 * other errors. */
void gt_target_look(const char *program, struct gt_target *out);

/* Do the same as gt_target_look(), and check if this process's limits leave room for @libraries. */
struct gt_libraries;
void gt_target_look_with(const char *program, const struct gt_libraries *libraries,
			 struct gt_target *out);

/* Return a clause such as "it is statically linked, ...", or NULL for GT_TARGET_NONE. */
const char *gt_target_reason(enum gt_target_obstacle obstacle);

#endif
