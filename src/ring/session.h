/* SPDX-License-Identifier: MIT */
/* The session folder, shared between one `gputap run` and the programs that it traces.
 *
 *   <folder>/session
 *       struct gt_session. The collector writes the file before the program starts; it is constant
 *       except for `control` and the words after that. Every process maps the file read-only
 *   <folder>/<pid>-<ticks>.gpuring
 *       struct gt_segment of one process; created under a name that starts with '.' and renamed
 *       when it is complete
 *   <folder>/<pid>-<ticks>.gpulost
 *       symbolic link that a process without a segment creates, because a link needs no descriptor
 *       and no block of memory. Target: "errno path-of-the-program"; only the end of a long path
 *   <folder>/untraced
 *       the same data for processes that cannot create a link because inodes are exhausted: a line
 *       per process, with the prefix "pid ticks "; the collector creates the file
 *   <folder>/output
 *       text: absolute path of the capture being written, for `gputap recover`
 *   <folder>/environment
 *       only if GT_LATE_EXEC: variables for programs that join the session, each "NAME=value" and
 *       NUL; the collector creates the file
 * GPUTAP_SESSION contains the path of the folder. The folder has mode 0700 and is created in
 * /dev/shm (in TMPDIR if /dev/shm has no room). The folder is removed when the capture contains
 * everything. */
#ifndef GPUTAP_RING_SESSION_H
#define GPUTAP_RING_SESSION_H

#include <stdatomic.h>
#include <stdint.h>

#include "record/domain.h"

#define GT_SESSION_ENV      "GPUTAP_SESSION"
/* path of libgputap-audit.so, set even if LD_AUDIT must not name the file */
#define GT_AUDIT_ENV        "GPUTAP_AUDIT"
#define GT_SESSION_MAGIC    UINT64_C(0x3153534553505447) /* "GTPSESS1" */
#define GT_SESSION_VERSION  10u
#define GT_SEGMENT_SUFFIX   ".gpuring"
#define GT_UNTRACED_SUFFIX  ".gpulost"
#define GT_UNTRACED_FILE    "untraced"
#define GT_ENVIRONMENT_FILE "environment"
#define GT_OPS_PER_DOMAIN   1024u
#define GT_KERNELS_BYTES    1024u /* size limit of the value of --kernels, including its NUL */
#define GT_PLUGINS_BYTES    8192u /* size limit of the list of plug-ins, including its NUL */
#define GT_RANGE_BYTES      248u /* size limit of a range's name in --from and --to, with its NUL */

/* Choice of recorded calls and GPU activities: values of `gputap run --mode`, for every runtime. */
enum gt_mode {
	/* all GPU activities, and calls; calls of a domain beneath others (HSA beneath HIP) are
	 * recorded only if the user names the domain */
	GT_MODE_DEFAULT = 0,
	GT_MODE_LITE,     /* kernels, and each graph launch as one activity; no memcpys, no calls */
	GT_MODE_STANDARD, /* all GPU activities, no calls */
	GT_MODE_UPPER,    /* all GPU activities, and calls of APIs that are above other APIs */
	GT_MODE_LOWER,    /* like GT_MODE_DEFAULT, and also calls of domains beneath others */
	GT_MODE_COUNT
};

/* Calls whose stack is recorded: values of `gputap run --stacks`. */
enum gt_stacks {
	GT_STACKS_LAUNCHES = 1, /* calls that launch kernels, or copy or set memory */
	GT_STACKS_SLOW = 2,     /* calls that take at least stacks_slow_ns */
	GT_STACKS_GAPS = 4,     /* calls that end a gap of at least stacks_gap_ns between calls */
};

/* Start or end of a recording window, given by a range: the @number-th range, from 1, with a
 * matching name that a process starts. */
struct gt_range_bound {
	uint64_t number;           /* 0: not requested */
	char name[GT_RANGE_BYTES]; /* pattern with *, ? and [..] */
};
enum gt_range_edge { GT_RANGE_FROM, GT_RANGE_TO, GT_RANGE_EDGES };

struct gt_session {
	uint64_t magic;
	uint32_t version;
	uint32_t bytes;       /* sizeof(struct gt_session) */
	uint32_t host_clock;  /* enum gt_host_clock */
	uint32_t block_bytes; /* power of two, 16 KiB to 4 MiB */
	uint64_t pool_bytes;  /* total size of one process's blocks */
	/* time that a writer waits for a block before it drops and counts the record */
	uint64_t wait_ns;
	uint64_t domains;         /* one bit per requested enum gt_domain */
	uint64_t named;           /* one bit per enum gt_domain that --domains or --ops names */
	uint32_t slot_count;      /* maximum number of concurrent threads in a process */
	uint32_t payload_cap;     /* maximum recorded bytes of one string or array argument */
	uint32_t record_args;     /* 0: calls without arguments and payload */
	uint32_t device_activity; /* 0: host calls only */
	uint32_t mode;            /* enum gt_mode */
	/* bytes in glibc's static TLS that the user requested for libraries opened later; 0:
	 * glibc's default */
	uint32_t static_tls;
	/* 1: omit the arguments and the working folder of programs */
	uint32_t hide_command;
	/* enum gt_stacks */
	uint32_t stacks;
	uint64_t stacks_slow_ns; /* GT_STACKS_SLOW: minimum duration of a call */
	uint64_t stacks_gap_ns;  /* GT_STACKS_GAPS: minimum time between two calls of a thread */
	/* 1: threads read their use of the processor at the edges of gaps (GT_HOST_USAGE) */
	uint32_t host_state;
	/* GT_LATE_*: properties of a session that attaches to running processes; 0: gputap starts
	 * the program */
	uint32_t late;
	/* one bit per requested operation */
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* one bit per operation whose GPU activities are recorded although its calls are not
	 * requested */
	uint64_t activity[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* extended regular expression for the kernels to record; "": all kernels */
	char kernels[GT_KERNELS_BYTES];
	/* vendor plug-ins to take records from; "": none. Each line is one plug-in: its path, then,
	 * each after a tab, the names of the libraries that it needs. The first line is the path of
	 * libgputap-plugin.so.0 */
	char plugins[GT_PLUGINS_BYTES];
	struct gt_range_bound ranges[GT_RANGE_EDGES]; /* --from, --to */
	/* GT_CONTROL(). The collector writes this word and wakes waiting processes with FUTEX_WAKE
	 * after each change */
	_Atomic uint32_t control;
	/* from the collector: the session is over, and processes become passive */
	_Atomic uint32_t stop;
	/* from the collector: initial block limit of a new process; 0: no limit */
	_Atomic uint32_t start_blocks;
};

#define GT_LATE_SESSION 1u /* the session attaches to running processes */
#define GT_LATE_EXEC    2u /* programs that these processes execute join the session, too */

/* gt_session.control: whether recording is paused in all processes, and the reason for the last
 * change. @serial: count of changes, so that each change wakes the waiters. */
#define GT_CONTROL(serial, why, paused) \
	((uint32_t)(serial) << 8 | (uint32_t)(why) << 1 | (uint32_t)(paused))
#define GT_CONTROL_IS_PAUSED(control) ((control)&1u)
#define GT_CONTROL_WHY(control)       ((control) >> 1 & 0x7fu)
#define GT_CONTROL_SERIAL(control)    ((control) >> 8)

/* Return one bit per enum gt_domain that the session records at some time, or whose ranges start
 * and end the session's window (core/range_window.h). */
static inline uint64_t gt_session_recordable(const struct gt_session *s)
{
	const int by_ranges =
		s->ranges[GT_RANGE_FROM].number != 0 || s->ranges[GT_RANGE_TO].number != 0;
	uint64_t set = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
		uint64_t any = 0;

		for (unsigned i = 0; i < GT_OPS_PER_DOMAIN / 64; i++)
			any |= s->ops[d][i] | (s->device_activity ? s->activity[d][i] : 0);
		if ((any && s->domains >> d & 1) || (by_ranges && gt_domain_traits[d].marks))
			set |= GT_DOMAIN_BIT(d);
	}
	return set;
}

/* Return true if the session records GPU activities other than kernels: memcpys, memsets and so
 * on. */
static inline int gt_session_wants_copies(const struct gt_session *s)
{
	return s->device_activity && s->mode != GT_MODE_LITE;
}

#endif
