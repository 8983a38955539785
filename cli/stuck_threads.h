/* SPDX-License-Identifier: MIT */
/* Threads of running sessions that have neither started nor ended a call for some time, as the
 * collectors report them (collector/session_threads.h). */
#ifndef GPUTAP_CLI_STUCK_THREADS_H
#define GPUTAP_CLI_STUCK_THREADS_H

#include "cli/grid.h"
#include "cli/json.h"
#include "cli/session_find.h"
#include "cli/stuck_stacks.h"
#include "record/host_state.h"

struct stuck_process {
	const char *session; /* capture of the session */
	uint32_t index, pid;
	int64_t rank, size; /* -1: none */
	char *exe;
	bool has_activity;
	uint64_t activity_ns;  /* time since the last GPU activity */
	uint64_t pending;      /* GPU activities in flight */
	uint64_t busy;         /* number of threads that make progress */
	bool ended, is_unseen; /* is_unseen: the pid is one of another namespace */
	uint32_t collector;    /* pid of `gputap run` */
	/* started collective calls, as "mpi:1140850688:50,..": domain, lower half of the handle,
	 * count */
	char *communicators;
};

struct stuck_thread {
	size_t process; /* index in the list of processes */
	uint32_t tid;
	char *name;
	char *calls; /* open calls, outermost first, separated by commas; "": outside any call */
	char *domain;
	/* time since the outermost open call started, and since the last call returned */
	bool has_start, has_last;
	uint64_t for_ns, last_ns;
	uint64_t communicator, sequence, peer, bytes;
	char *last;
	bool is_shown; /* shown in text without --all */
	/* state of the thread on the host; UNKNOWN: not readable */
	enum gt_host_state state;
	const char *system_call; /* name of its system call; NULL: none, or not known */
	char *state_text;        /* the file, the holder of the lock; "": none */
	struct stuck_stack stack;
};

enum { STUCK_MS = 1000 }; /* default of least_ms */

struct stuck_list {
	struct stuck_process *processes;
	struct stuck_thread *threads;
	size_t process_count, process_room, thread_count, thread_room;
	struct stuck_names *names; /* of the stacks; NULL: none were requested */
};

/* Query sessions: all of @sessions, or only @only if it is not NULL. @least_ms: shortest time
 * without progress. @stacks: read the stacks of the threads. Sessions that do not answer, or that
 * run a gputap without this query, are left out. */
void stuck_list_read(struct stuck_list *l, const struct session_list *sessions,
		     const struct session_found *only, uint64_t least_ms, bool stacks);
/* Query the session of a folder. "": no session. */
void stuck_list_ask(struct stuck_list *l, const char *folder, uint64_t least_ms);
void stuck_list_fini(struct stuck_list *l);

/* Print a table in which equal rows of several processes are one. @all: also threads outside any
 * call of processes that make progress. Without rows, prints nothing. */
void stuck_list_print_text(const struct stuck_list *l, FILE *out, bool all, size_t top);
/* Print the stacks, equal ones once. */
void stuck_list_print_stacks(const struct stuck_list *l, FILE *out, bool all);
/* Print the member "threads" with a row for each thread. */
void stuck_list_print_json(const struct stuck_list *l, struct json *j);

#endif
