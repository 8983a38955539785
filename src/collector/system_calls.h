/* SPDX-License-Identifier: MIT */
/* System calls in which a thread can wait, by number. */
#ifndef GPUTAP_COLLECTOR_SYSTEM_CALLS_H
#define GPUTAP_COLLECTOR_SYSTEM_CALLS_H

#include <stdint.h>

enum gt_system_call_kind {
	GT_SYSTEM_CALL_OTHER = 0,  /* also calls that the table does not contain */
	GT_SYSTEM_CALL_DESCRIPTOR, /* reads, writes or controls the descriptor of an argument */
	GT_SYSTEM_CALL_SOCKET,     /* sends, receives or connects; the descriptor is an argument */
	GT_SYSTEM_CALL_PATH,       /* takes the path of a file */
	GT_SYSTEM_CALL_POLL,       /* waits for several descriptors */
	GT_SYSTEM_CALL_SLEEP,
	GT_SYSTEM_CALL_FUTEX,
	GT_SYSTEM_CALL_CHILD,  /* waits for another process */
	GT_SYSTEM_CALL_SIGNAL, /* waits for a signal */
	GT_SYSTEM_CALL_IPC,    /* waits for a System V semaphore or a message queue */
	GT_SYSTEM_CALL_MEMORY, /* changes mappings */
};

struct gt_system_call {
	const char *name;
	enum gt_system_call_kind kind;
	int descriptor; /* index of the argument that is a descriptor; -1: none */
};

/* Return the entry of a system call of this machine's architecture, or an entry without a name. */
const struct gt_system_call *gt_system_call_find(long number);

#endif
