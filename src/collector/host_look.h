/* SPDX-License-Identifier: MIT */
/* Decides the state of a thread (record/host_state.h) from a reading of /proc, and describes its
 * evidence: the file, the pipe with the process at its other end, the holder of the lock. */
#ifndef GPUTAP_COLLECTOR_HOST_LOOK_H
#define GPUTAP_COLLECTOR_HOST_LOOK_H

#include "collector/host_descriptor.h"
#include "collector/host_thread.h"
#include "record/host_state.h"

struct gt_host_look {
	/* COMPUTING also for a thread that waits for a processor: two readings distinguish them */
	enum gt_host_state state;
	uint32_t call;   /* number of the system call + 1; 0: none */
	uint64_t object; /* descriptor + 1; of a futex, its address; 0: none */
	uint32_t holder; /* tid of the thread that is waited for; 0: not known */
	bool is_join;    /* true if the end of the holder is waited for */
	bool writes;     /* true if the thread writes to the descriptor */
	char text[GT_HOST_TEXT_BYTES];
};

/* Decide the state from a reading of @t. */
void gt_host_look_at(const struct gt_host_thread *t, const struct gt_host_reading *reading,
		     struct gt_host_look *out);

/* Complete the text of a pipe or socket. @peers: known pipes; NULL: do not search */
void gt_host_look_describe(const struct gt_host_thread *t, struct gt_host_peers *peers,
			   struct gt_host_look *look);

/**
 * gt_host_look_describe_holder() - describe the thread that is waited for, in look->text
 * @state: its state; GT_HOST_STATE_UNKNOWN: not known
 * @operation: name of the call that it has open; NULL: none, or not known
 */
void gt_host_look_describe_holder(const struct gt_host_thread *t, enum gt_host_state state,
				  const char *operation, struct gt_host_look *look);

/* Decide what a thread used its processor for between two readings: COMPUTING, FAULTS, or FILE (it
 * read or wrote data that the kernel had in memory). */
enum gt_host_state gt_host_used_state(const struct gt_host_reading *before,
				      const struct gt_host_reading *after);

/* Decide the state of a thread that was running between two readings: RUNNABLE if it mostly waited
 * for a processor, else gt_host_used_state(). UNKNOWN: the time between them is too short. */
enum gt_host_state gt_host_running_state(const struct gt_host_reading *before,
					 const struct gt_host_reading *after);

/* The present state of one thread, for commands. */
struct gt_host_now {
	uint32_t pid, tid; /* from the caller */
	int status;        /* 0 or negative errno: the thread has ended, or must not be read */
	enum gt_host_state state;
	uint32_t call;                 /* number of the system call + 1; 0: none */
	const char *call_name;         /* NULL: none, or not known; a static string */
	uint32_t holder;               /* tid; 0: not known */
	char text[GT_HOST_TEXT_BYTES]; /* "": none */
};

/**
 * gt_host_states_now() - read the states of threads
 * Takes about 30 us per thread, and once 10 ms if any thread is running, to find out whether it has
 * a processor. Any thread may call the function; it needs no session.
 */
void gt_host_states_now(struct gt_host_now *threads, unsigned count);

/* Like gt_host_states_now(), for one thread. Return out->status. */
int gt_host_state_now(uint32_t pid, uint32_t tid, struct gt_host_now *out);

#endif
