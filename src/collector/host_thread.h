/* SPDX-License-Identifier: MIT */
/* Reads the state of a thread of another process from /proc, without stopping the thread:
 *
 *   schedstat   CPU time, time in which the thread waited for a processor, number of time slices
 *   syscall     the system call in which the thread waits, with its arguments; "running" otherwise
 *   stat        letter of the state, page faults
 *   status      tracer of a thread in a tracing stop
 *   io          bytes and calls of a running thread that reads and writes
 *
 * `syscall` needs the rights of a debugger (ptrace). If they are missing, the letter of the state
 * is all that is known. */
#ifndef GPUTAP_COLLECTOR_HOST_THREAD_H
#define GPUTAP_COLLECTOR_HOST_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct gt_host_process {
	uint32_t pid;
	int tasks; /* descriptor of /proc/PID/task, which never refers to a later process; -1 */
};

/* Return 0 or negative errno. */
int gt_host_process_open(uint32_t pid, struct gt_host_process *out);
void gt_host_process_close(struct gt_host_process *process);

/* A thread with its open files, because opening takes longer than reading. */
struct gt_host_thread {
	const struct gt_host_process *process;
	uint32_t tid;
	int syscall, schedstat; /* -1: not open yet, or not readable */
	int syscall_error;      /* negative errno: why `syscall` is not readable; 0: readable */
};

void gt_host_thread_init(struct gt_host_thread *t, const struct gt_host_process *process,
			 uint32_t tid);
void gt_host_thread_close(struct gt_host_thread *t);

struct gt_host_reading {
	uint64_t ns; /* CLOCK_BOOTTIME */
	/* R: on a processor or waiting for one; S, D: waits; T, t: stopped; 0: not known */
	char letter;
	bool has_faults; /* true if the page faults and times were read */
	long call;       /* number of the system call; -1: none, or not known */
	uint64_t arguments[6];
	uint64_t cpu_ns, delay_ns, slices;
	uint64_t minor_faults, major_faults;
	uint64_t system_ns; /* part of the CPU time in the kernel, to 10 ms */
	bool has_io;        /* true if the following numbers were read */
	uint64_t io_bytes, io_calls;
};

/**
 * gt_host_thread_read() - read the state of a thread
 * @last: an earlier reading; if the thread has not run since, less is read. NULL: none
 * Return: 0, -ESRCH (the thread has ended) or another negative errno.
 */
int gt_host_thread_read(struct gt_host_thread *t, const struct gt_host_reading *last,
			struct gt_host_reading *out);

/* Read the thread's use of the processor only. Return 0 or negative errno. */
int gt_host_thread_read_use(struct gt_host_thread *t, struct gt_host_reading *out);

/* Return true if the process has a living thread @tid. */
bool gt_host_has_thread(const struct gt_host_process *process, uint32_t tid);
/* Read a thread's name. Return false if the thread has ended. @room: at least 16 bytes */
bool gt_host_read_name(const struct gt_host_process *process, uint32_t tid, char *out,
		       unsigned room);
/* Read a small file of the thread's folder, without the final newline. Return its length or
 * negative errno. */
int gt_host_read_file(const struct gt_host_process *process, uint32_t tid, const char *name,
		      char *out, unsigned room);
/* Read the process's memory. Return true if all bytes were read. */
bool gt_host_read_memory(const struct gt_host_process *process, uint64_t address, void *out,
			 unsigned bytes);

#endif
