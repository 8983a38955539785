/* SPDX-License-Identifier: MIT */
/* States of a thread on the host, and their names. Captures contain the numbers, which never
 * change. Names in files never change. */
#ifndef GPUTAP_RECORD_HOST_STATE_H
#define GPUTAP_RECORD_HOST_STATE_H

/* Name in code, number, name in files, name in reports. */
#define GT_HOST_STATES(X)                                          \
	X(UNKNOWN, 0, "unknown", "not known")                      \
	X(COMPUTING, 1, "computing", "computing on the host")      \
	X(RUNNABLE, 2, "runnable", "waiting for a processor")      \
	X(LOCK, 3, "lock", "waiting for a lock")                   \
	X(CONDITION, 4, "condition", "waiting for another thread") \
	X(SLEEPING, 5, "sleeping", "sleeping")                     \
	X(FILE, 6, "file", "reading or writing a file")            \
	X(PIPE, 7, "pipe", "reading or writing a pipe")            \
	X(SOCKET, 8, "socket", "waiting for the network")          \
	X(POLLING, 9, "polling", "waiting for descriptors")        \
	X(CHILD, 10, "child", "waiting for a process")             \
	X(FAULTS, 11, "faults", "page faults")                     \
	X(STOPPED, 12, "stopped", "stopped")                       \
	X(DRIVER, 13, "driver", "in the driver")                   \
	X(DISK, 14, "disk", "waiting for storage")                 \
	X(WAITING, 15, "waiting", "waiting, not known for what")

enum gt_host_state {
#define X(name, number, key, text) GT_HOST_STATE_##name = number,
	GT_HOST_STATES(X)
#undef X
		GT_HOST_STATE_COUNT
};

/* Return the name in files; "unknown" for a state from a later version. */
static inline const char *gt_host_state_name(unsigned state)
{
	static const char *const names[] = {
#define X(name, number, key, text) key,
		GT_HOST_STATES(X)
#undef X
	};
	return names[state < GT_HOST_STATE_COUNT ? state : GT_HOST_STATE_UNKNOWN];
}

/* Return the name in reports. */
static inline const char *gt_host_state_text(unsigned state)
{
	static const char *const texts[] = {
#define X(name, number, key, text) text,
		GT_HOST_STATES(X)
#undef X
	};
	return texts[state < GT_HOST_STATE_COUNT ? state : GT_HOST_STATE_UNKNOWN];
}

#endif
