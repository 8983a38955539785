/* SPDX-License-Identifier: MIT */
/* What kind of program is about to be run: can gputap's libraries get into it? */
#ifndef GPUTAP_COLLECTOR_TARGET_H
#define GPUTAP_COLLECTOR_TARGET_H

#include <limits.h>
#include <stdbool.h>

enum gt_target_obstacle {
	GT_TARGET_NONE = 0,
	GT_TARGET_PRIVILEGED, /* set-user-id and the like: the dynamic linker ignores LD_PRELOAD */
	GT_TARGET_STATIC,     /* no dynamic linker */
	GT_TARGET_32BIT,
	GT_TARGET_MACHINE, /* of another machine */
	GT_TARGET_MUSL,    /* a C library without what we need */
	/* a library's static thread-local storage cannot be laid out beside an auditor */
	GT_TARGET_ALIGNMENT,
	GT_TARGET_ADDRESS_SPACE, /* too little of it: gt_target_look_with() */
};

struct gt_target {
	char path[PATH_MAX];        /* as found, along PATH if need be */
	char interpreter[PATH_MAX]; /* of a script: what really runs; else "" */
	bool found, executable;
	/* its dynamic linker takes no library of ours: reports that on stderr, or does not start */
	bool complains;
	enum gt_target_obstacle obstacle;
};

/* Look at @program as execvp() would find it. Never fails: exec finds out the rest. */
void gt_target_look(const char *program, struct gt_target *out);

/* The same, and whether this process's limits leave room for @libraries. */
struct gt_libraries;
void gt_target_look_with(const char *program, const struct gt_libraries *libraries,
			 struct gt_target *out);

/* "it is statically linked, ..": a part of a sentence. NULL for GT_TARGET_NONE. */
const char *gt_target_reason(enum gt_target_obstacle obstacle);

#endif
