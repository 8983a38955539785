/* SPDX-License-Identifier: MIT */
/* Finds which ranks of a job do not proceed, and which ranks they keep waiting, from the calls that
 * are open. The caller collects the open calls of all ranks, from running sessions or from
 * captures; nothing is read here.
 *
 *   rank 0   MPI_Barrier #50 [============         "Rank 3 has not entered MPI_Barrier #50 on
 *   rank 1     MPI_Barrier #50 [==========          MPI_COMM_WORLD; ranks 0 to 2 wait there for
 *   rank 2    MPI_Barrier #50 [===========          6.20 s."
 *   rank 3   ] MPI_Allreduce #49                   "Rank 3 is outside any call for 6.30 s .."
 *
 * A number such as #50 is the number of the collective call among those of its process on that
 * communicator. All members make a communicator's collective calls in the same order, so equal
 * numbers are the same call. Communicators are compared by an id that is equal in all processes. A
 * call whose communicator has no id is reported without a verdict about other ranks.
 *
 * Ranks that wait for messages and for collective calls form a graph. A cycle in the graph is a
 * deadlock, and is reported as such. */
#ifndef GPUTAP_ANALYSIS_TABLES_MISSING_RANKS_H
#define GPUTAP_ANALYSIS_TABLES_MISSING_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids of communicators. Other ids are hashes of their origin (capture/collectives.h). */
enum { HANG_NOT_KNOWN = 0, HANG_WORLD = 1 };
/* hang_process.rank of a process without a rank; it takes part in no verdict */
#define HANG_NO_RANK UINT32_MAX

struct hang_process {
	uint32_t rank, pid;
	bool is_busy; /* its threads start or end calls */
	/* its open calls are not known, so it can be in any call */
	bool is_unknown;
	bool has_ended;
	bool has_died;   /* ended without exit(), before the other ranks; implies has_ended */
	bool has_status; /* wait_status, as from waitpid(), is known */
	int32_t wait_status;
};

/* State of a thread at the time of the look. */
struct hang_thread {
	uint32_t process; /* index in hang_job.processes */
	uint32_t ordinal;
	bool is_open; /* true: in a call; false: outside any call */
	uint32_t op;  /* GT_OP() of the open call, otherwise of the last call; 0: not known */
	uint64_t
		for_ns; /* time since the call's start or since the last call's end; 0: not known */
	/* of an open collective call or message */
	uint64_t communicator; /* id, HANG_WORLD or HANG_NOT_KNOWN */
	uint64_t sequence;     /* number of the collective call; 0: not known or a message */
	int32_t peer;          /* rank in the communicator; -1: any or not known */
	const char *state;     /* such as "computing on the host"; NULL: not known */
};

/* A process's progress in the collective calls of a communicator. */
struct hang_member {
	uint32_t process;
	uint64_t communicator; /* id; not HANG_NOT_KNOWN */
	uint64_t begun;        /* number of the last call that the process started; 0: none */
	uint32_t op;           /* GT_OP() of that call */
	int32_t rank;          /* in the communicator; -1: not known */
};

struct hang_job {
	const struct hang_process *processes;
	size_t process_count;
	const struct hang_thread *threads;
	size_t thread_count;
	const struct hang_member *members;
	size_t member_count;
	uint32_t size; /* number of ranks as the launcher gave it; 0: not known */
	bool by_order; /* ranks are numbers in the order of process ids */
	/* calls that have been open for a shorter time are not reported */
	uint64_t least_ns;
};

/* The subject of a sentence. */
struct hang_subject {
	uint32_t *ranks; /* all ranks that the sentence begins with; the text may abbreviate them */
	size_t count;
	uint32_t op;       /* GT_OP() of the first call that the sentence names; 0: none */
	uint64_t sequence; /* number of that call; 0: not known */
};

struct hang_verdict {
	char **sentences;
	struct hang_subject *subjects; /* by sentence */
	size_t count, room, subject_room;
};

/* Find the verdict. Leaves the innermost guard_memory() if memory runs out. */
void hang_find(const struct hang_job *job, struct hang_verdict *out);
void hang_fini(struct hang_verdict *v);

#endif
