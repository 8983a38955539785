/* SPDX-License-Identifier: MIT */
/* Processes that `gputap attach` records: found and described before anything is created, then
 * attached to one after the other (inject.h). */
#ifndef GPUTAP_COLLECTOR_ATTACH_TARGET_H
#define GPUTAP_COLLECTOR_ATTACH_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/folder.h"

/* A process to attach to. */
struct gt_attach_target {
	uint32_t pid;
	uint32_t inner_pid; /* pid in its own pid namespace */
	uint32_t uid, gid;  /* effective ids */
	uint64_t start_ns;  /* CLOCK_BOOTTIME */
	uint64_t start; /* in clock ticks since boot; identifies the process together with pid */
	/* the process's root folder, if it sees other files than this process; otherwise "" */
	char root[32];
};

/**
 * gt_attach_find() - describe a running process
 * Return: 0; or negative errno with a cause: -ESRCH no such process, -EINVAL this process itself,
 *         -ENOTSUP a thread of the kernel, -EPERM the process cannot be read.
 */
int gt_attach_find(uint32_t pid, struct gt_attach_target *out);

/**
 * gt_attach_find_tree() - describe a process and all of its descendants
 * @list: receives *count processes, the first of which is @pid. Owner: caller; free(). Descendants
 *        that end meanwhile or cannot be described are left out
 * Return: as gt_attach_find(), or -ENOMEM.
 */
int gt_attach_find_tree(uint32_t pid, struct gt_attach_target **list, size_t *count);

/* Return true if the process still exists. */
bool gt_attach_is_alive(const struct gt_attach_target *target);

/* Command line and working folder of a process. */
struct gt_attach_text {
	char **argv; /* at least the program's name; NULL-terminated */
	char directory[PATH_MAX];
	char *words; /* the words of argv */
};
/* Return 0 or -ENOMEM with a cause. Free with gt_attach_text_fini(). */
int gt_attach_text_read(uint32_t pid, struct gt_attach_text *out);
void gt_attach_text_fini(struct gt_attach_text *text);

/* Result of attaching to one process. */
struct gt_attach_note {
	const struct gt_attach_target *target;
	const char *error; /* sentence; NULL: the process is recorded now */
	uint64_t took_ns;  /* time until the process recorded everything */
	uint64_t stop_ns;  /* longest time for which one of its threads was stopped */
};

/**
 * gt_attach() - attach one process to the session of @folder
 * @library: libgputap.so.0, as this process sees it
 * Return: 0; or negative errno with a cause that names the way out.
 */
int gt_attach(const struct gt_attach_target *target, const char *library,
	      const struct gt_folder *folder, struct gt_attach_note *out);

#endif
