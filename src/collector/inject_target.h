/* SPDX-License-Identifier: MIT */
/* Collects facts about a process before gt_inject() stops a thread: addresses of libc's functions,
 * and the code in which no thread may be when pthread_create() is called on its stack.
 * One thread uses a target. */
#ifndef GPUTAP_COLLECTOR_INJECT_TARGET_H
#define GPUTAP_COLLECTOR_INJECT_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/inject_job.h"
#include "collector/remote_memory.h"
#include "collector/remote_modules.h"

enum { GT_INJECT_RANGES = 256, GT_INJECT_MIXED = 8, GT_INJECT_TEXT = 640 };

/* A failure: the sentence is complete and names the way out. */
struct gt_inject_why {
	int status; /* negative errno; 0: none */
	char text[GT_INJECT_TEXT];
};

/* Return @status, after the sentence was stored. */
int gt_inject_say(struct gt_inject_why *why, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct gt_inject_range {
	uintptr_t from, to;
};

struct gt_inject_target {
	pid_t pid;
	int memory;       /* /proc/PID/mem; reads and writes end when the process calls exec */
	uint64_t exec_id; /* gt_proc_stat.exec_id of the program */
	struct gt_remote_modules modules;
	struct gt_remote_memory look; /* for stacks */
	/* no thread may run here, or have a frame here */
	struct gt_inject_range unsafe[GT_INJECT_RANGES];
	unsigned unsafe_count;
	/* libc's code. A thread that was interrupted here is at no safe place, unless it waits in a
	 * system call. Before glibc 2.34, libpthread is a part of it */
	struct gt_inject_range libc, threads;
	/* modules that define malloc() for the process, but also do other things: a frame there
	 * proves nothing */
	struct gt_inject_range mixed[GT_INJECT_MIXED];
	unsigned mixed_count;
	bool has_allocator; /* other than libc's */
	uintptr_t pthread_create;
	uintptr_t instruction;          /* `syscall` in libc */
	struct gt_inject_job functions; /* only the members that are addresses of functions */
};

/* Find out if /proc says that the process cannot be attached to. */
int gt_inject_check_process(pid_t pid, struct gt_inject_why *why);

/* Open a process that gt_inject_check_process() accepts. Return 0 or a status. */
int gt_inject_target_open(struct gt_inject_target *t, pid_t pid, struct gt_inject_why *why);
void gt_inject_target_close(struct gt_inject_target *t);

/* Read the mappings anew. Return false if the process has ended or called exec. */
bool gt_inject_target_refresh(struct gt_inject_target *t);

/* Find a library that was passed through a memfd before, so that it is not loaded twice. @path:
 * receives the name by which dlopen() knows it. */
bool gt_inject_target_find_passed(struct gt_inject_target *t, const char *name, char *path,
				  size_t room);

/* Return true if a frame at @pc forbids pthread_create(). */
bool gt_inject_is_unsafe(const struct gt_inject_target *t, uintptr_t pc);
/* Return true if a frame at @pc may be an allocator's. */
bool gt_inject_is_mixed(const struct gt_inject_target *t, uintptr_t pc);

static inline bool gt_inject_in_range(const struct gt_inject_range *r, uintptr_t pc)
{
	return pc >= r->from && pc < r->to;
}

#endif
