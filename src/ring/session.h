/* SPDX-License-Identifier: MIT */
/* The session folder: where a `gputap run` and the programs it traces meet.
 *
 *   <folder>/session
 *       struct gt_session: the collector writes it before the program starts; constant but for
 *       `control` and the words behind it; every process maps it read-only
 *   <folder>/<pid>-<ticks>.gpuring
 *       struct gt_segment of one process; made under a name that starts with '.' and renamed
 *       when it is whole
 *   <folder>/<pid>-<ticks>.gpulost
 *       symbolic link left by a process that could not make its segment, as a link needs no
 *       descriptor and no block of memory: "errno path-of-the-program", its end if it is long
 *   <folder>/untraced
 *       the same where no link can be made, for want of inodes: a line for each process, with its
 *       "pid ticks " in front; made by the collector
 *   <folder>/output
 *       text: absolute path of the capture that is being written, for `gputap recover`
 * The folder's path travels in GPUTAP_SESSION. It is made mode 0700 in /dev/shm (in TMPDIR if
 * there is no room) and removed when everything is in the capture. */
#ifndef GPUTAP_RING_SESSION_H
#define GPUTAP_RING_SESSION_H

#include <stdatomic.h>
#include <stdint.h>

#include "record/domain.h"

#define GT_SESSION_ENV     "GPUTAP_SESSION"
/* path of libgputap-audit.so, also where LD_AUDIT must not name it */
#define GT_AUDIT_ENV       "GPUTAP_AUDIT"
#define GT_SESSION_MAGIC   UINT64_C(0x3153534553505447) /* "GTPSESS1" */
#define GT_SESSION_VERSION 8u
#define GT_SEGMENT_SUFFIX  ".gpuring"
#define GT_UNTRACED_SUFFIX ".gpulost"
#define GT_UNTRACED_FILE   "untraced"
#define GT_OPS_PER_DOMAIN  1024u
#define GT_KERNELS_BYTES   1024u /* of --kernels, with its NUL */
#define GT_PLUGINS_BYTES   8192u /* of the list of plug-ins, with its NUL */
#define GT_RANGE_BYTES     248u  /* of a range's name in --from and --to, with its NUL */

/* How much is recorded, as `gputap run --mode` says; the words hold for every runtime. */
enum gt_mode {
	/* all device work, every call; those of a domain beneath others (HSA beneath HIP) where it
	 * is named */
	GT_MODE_DEFAULT = 0,
	GT_MODE_LITE,     /* kernels, and a graph's launch as one; no copies, no calls */
	GT_MODE_STANDARD, /* all device work, no calls */
	GT_MODE_UPPER,    /* all device work, every call but of domains beneath others */
	GT_MODE_LOWER,    /* that, and calls of domains beneath others */
	GT_MODE_COUNT
};

/* `gputap run --stacks` */
enum gt_stacks {
	GT_STACKS_LAUNCHES = 1, /* of calls that launch, copy or set */
	GT_STACKS_SLOW = 2,     /* of calls that take long */
};

/* Where a window begins or ends: the @number-th range, from 1, of those that a process begins whose
 * name matches. */
struct gt_range_bound {
	uint64_t number;           /* 0: not asked for */
	char name[GT_RANGE_BYTES]; /* with *, ? and [..] */
};
enum gt_range_edge { GT_RANGE_FROM, GT_RANGE_TO, GT_RANGE_EDGES };

struct gt_session {
	uint64_t magic;
	uint32_t version;
	uint32_t bytes;       /* sizeof(struct gt_session) */
	uint32_t host_clock;  /* enum gt_host_clock */
	uint32_t block_bytes; /* power of two, 16 KiB to 4 MiB */
	uint64_t pool_bytes;  /* blocks of one process together */
	/* a writer without a block waits this long, then drops and counts */
	uint64_t wait_ns;
	uint32_t slot_count;      /* threads of a process at one time */
	uint32_t payload_cap;     /* bytes recorded of one string or array argument */
	uint32_t record_args;     /* 0: calls without arguments and payload */
	uint32_t device_activity; /* 0: host calls only */
	uint32_t domains;         /* bit per enum gt_domain that is asked for */
	uint32_t mode;            /* enum gt_mode */
	/* room for libraries opened later that the user asked glibc for; 0: glibc's own */
	uint32_t static_tls;
	/* 1: programs without their arguments, and without the folder they were started in */
	uint32_t hide_command;
	/* enum gt_stacks: of which calls the stack is recorded */
	uint32_t stacks;
	uint32_t named;          /* bit per enum gt_domain that --domains or --ops names */
	uint64_t stacks_slow_ns; /* GT_STACKS_SLOW: of those that take at least as long */
	/* bit per operation that is asked for */
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* bit per operation whose device work is recorded although its calls are not asked for */
	uint64_t work[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* extended regular expression: kernels that are recorded; "": all */
	char kernels[GT_KERNELS_BYTES];
	/* vendors' plug-ins to take records of; "": none. A line is a plug-in: its path and, each
	 * behind a tab, the names of the libraries that it needs. Before them a line with the path
	 * of libgputap-plugin.so.0 */
	char plugins[GT_PLUGINS_BYTES];
	struct gt_range_bound ranges[GT_RANGE_EDGES]; /* --from, --to */
	/* collector: GT_CONTROL(), changed with a FUTEX_WAKE. Processes wait for that */
	_Atomic uint32_t control;
	_Atomic uint32_t stop; /* collector: the session is over, be passive */
	/* collector: blocks that a new process may use before it is given more; 0: all */
	_Atomic uint32_t start_blocks;
};

/* gt_session.control: is recording paused in all processes, and why is that so since the last
 * change. @serial: count of changes, so that each one wakes who waits. */
#define GT_CONTROL(serial, why, paused) \
	((uint32_t)(serial) << 8 | (uint32_t)(why) << 1 | (uint32_t)(paused))
#define GT_CONTROL_IS_PAUSED(control) ((control)&1u)
#define GT_CONTROL_WHY(control)       ((control) >> 1 & 0x7fu)
#define GT_CONTROL_SERIAL(control)    ((control) >> 8)

/* Bit per enum gt_domain of which something is recorded at some time of the session, or whose
 * ranges begin and end its window (core/range_window.h). */
static inline uint32_t gt_session_recordable(const struct gt_session *s)
{
	const int by_ranges =
		s->ranges[GT_RANGE_FROM].number != 0 || s->ranges[GT_RANGE_TO].number != 0;
	uint32_t set = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
		uint64_t any = 0;

		for (unsigned i = 0; i < GT_OPS_PER_DOMAIN / 64; i++)
			any |= s->ops[d][i] | (s->device_activity ? s->work[d][i] : 0);
		if ((any && s->domains >> d & 1) || (by_ranges && gt_domain_traits[d].marks))
			set |= UINT32_C(1) << d;
	}
	return set;
}

/* Device work beside kernels: copies, fills, .. */
static inline int gt_session_wants_copies(const struct gt_session *s)
{
	return s->device_activity && s->mode != GT_MODE_LITE;
}

#endif
