/* SPDX-License-Identifier: MIT */
/* Reads the state of a process from /proc, on the collector's side. Reports nothing for a process
 * that has ended in the meantime. */
#ifndef GPUTAP_COLLECTOR_PROC_FILES_H
#define GPUTAP_COLLECTOR_PROC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_PROC_NAME_BYTES = 16 };

struct gt_proc_stat {
	/* the kernel's name: file name of the executed file, truncated */
	char name[GT_PROC_NAME_BYTES];
	/* 'Z', 'X': the process has ended; if 'Z', other threads may still exist */
	char state;
	uint32_t exit_signal; /* signal that ended the first thread; 0: none, or not readable */
	uint32_t ppid, threads;
	uint64_t start; /* in clock ticks since boot */
	/* derived from the addresses of the process's stack and environment. Changes with exec;
	 * equals the parent's value after fork. 0: not readable, or an exec is in progress */
	uint64_t exec_id;
};

/* Return false if the process does not exist. */
bool gt_proc_read_stat(uint32_t pid, struct gt_proc_stat *out);

/* Call @each for every child of any thread of the process, if the kernel reports children
 * (CONFIG_PROC_CHILDREN). */
void gt_proc_each_child(uint32_t pid, uint32_t threads, void (*each)(uint32_t pid, void *data),
			void *data);

/**
 * gt_proc_maps() - check if a process maps the file @fd
 * @path: path of the file, for file systems whose mappings show another device
 * Return: 1, 0, or negative errno; -EACCES: the process's mappings are not readable.
 */
int gt_proc_maps(uint32_t pid, int fd, const char *path);

/* Return one bit for each of @parts that occurs in the path of a file that the process maps. */
uint32_t gt_proc_find_mapped(uint32_t pid, const char *const *parts, unsigned count);

/* Call @each for each variable of the environment that the process was executed with. The program
 * may have overwritten the variables. Return: 0 or negative errno. */
int gt_proc_each_variable(uint32_t pid, void (*each)(const char *variable, void *data), void *data);

struct gt_proc_ids {
	uint32_t uid, effective_uid;
	uint32_t inner_pid; /* pid in its own pid namespace */
};
bool gt_proc_read_ids(uint32_t pid, struct gt_proc_ids *out);

/* Read the path of the file that the process executes, without the suffix for a removed file. */
bool gt_proc_read_program(uint32_t pid, char *out, size_t room);

#endif
