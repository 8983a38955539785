/* SPDX-License-Identifier: MIT */
/* What /proc says of a process, read from the collector's side. A process that has ended meanwhile
 * is one that nothing is said of. */
#ifndef GPUTAP_COLLECTOR_PROC_FILES_H
#define GPUTAP_COLLECTOR_PROC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_PROC_NAME_BYTES = 16 };

struct gt_proc_stat {
	char name[GT_PROC_NAME_BYTES]; /* the kernel's: of the file that was executed, cut */
	char state;                    /* 'Z', 'X': it has ended; 'Z': other threads may be there */
	uint32_t exit_signal; /* that ended the first thread; 0: none, or we may not know */
	uint32_t ppid, threads;
	uint64_t start; /* in clock ticks since boot */
	/* Made of where its stack and environment lie: another one after an exec, its parent's
	 * after a fork. 0: we may not know, or an exec is under way. */
	uint64_t exec_id;
};

/* False: there is no such process (any more). */
bool gt_proc_read_stat(uint32_t pid, struct gt_proc_stat *out);

/* Call @each for every child of any of its threads, as far as the kernel says
 * (CONFIG_PROC_CHILDREN). */
void gt_proc_each_child(uint32_t pid, uint32_t threads, void (*each)(uint32_t pid, void *data),
			void *data);

/**
 * gt_proc_maps() - does it map the file @fd?
 * @path: of the file, for file systems whose mappings show another device
 * Return: 1, 0, or negative errno: -EACCES it may not be looked at.
 */
int gt_proc_maps(uint32_t pid, int fd, const char *path);

/* Which of @parts are in the paths of files that it maps? A bit for each. */
uint32_t gt_proc_find_mapped(uint32_t pid, const char *const *parts, unsigned count);

/* The variables that it was executed with, one call each; the program may have written over them.
 * Return: 0 or negative errno. */
int gt_proc_each_variable(uint32_t pid, void (*each)(const char *variable, void *data), void *data);

struct gt_proc_ids {
	uint32_t uid, effective_uid;
	uint32_t inner_pid; /* its number in its own pid namespace */
};
bool gt_proc_read_ids(uint32_t pid, struct gt_proc_ids *out);

/* Path of the file that it executes, without what is said of a file that was removed. */
bool gt_proc_read_program(uint32_t pid, char *out, size_t room);

#endif
