/* SPDX-License-Identifier: MIT */
/* The session folder, shared between a `gputap run` and the programs it traces.
 *
 *   <folder>/session
 *       struct gt_session: the collector writes it before the program starts; constant except for
 *       `control` and the words after it; every process maps it read-only
 *   <folder>/<pid>-<ticks>.gpuring
 *       struct gt_segment of one process; created under a name that starts with '.' and renamed
 *       when it is complete
 *   <folder>/<pid>-<ticks>.gpulost
 *       symbolic link left when a process could not create its segment: a link needs no descriptor
 *       and no block of memory. Target: "errno path-of-the-program", the end of a long path
 *   <folder>/untraced
 *       the same for processes that cannot create a link because inodes are exhausted: a line for
 *       each process, with the prefix "pid ticks "; the collector creates the file
 *   <folder>/output
 *       text: absolute path of the capture that is being written, for `gputap recover`
 * GPUTAP_SESSION passes on the folder's path. The folder has mode 0700 and is created in /dev/shm
 * (in TMPDIR if there is no room). It is removed when everything is in the capture. */
#ifndef GPUTAP_RING_SESSION_H
#define GPUTAP_RING_SESSION_H

#include <stdatomic.h>
#include <stdint.h>

#include "record/domain.h"

#define GT_SESSION_ENV     "GPUTAP_SESSION"
/* path of libgputap-audit.so, set even if LD_AUDIT must not name it */
#define GT_AUDIT_ENV       "GPUTAP_AUDIT"
#define GT_SESSION_MAGIC   UINT64_C(0x3153534553505447) /* "GTPSESS1" */
#define GT_SESSION_VERSION 8u
#define GT_SEGMENT_SUFFIX  ".gpuring"
#define GT_UNTRACED_SUFFIX ".gpulost"
#define GT_UNTRACED_FILE   "untraced"
#define GT_OPS_PER_DOMAIN  1024u
#define GT_KERNELS_BYTES   1024u /* size of --kernels, with its NUL */
#define GT_PLUGINS_BYTES   8192u /* size of the list of plug-ins, with its NUL */
#define GT_RANGE_BYTES     248u  /* size of a range's name in --from and --to, with its NUL */

/* How much is recorded, the values of `gputap run --mode`; they apply to every runtime. */
enum gt_mode {
	/* all GPU activities, every call; calls of a domain beneath others (HSA beneath HIP) only
	 * if it is named */
	GT_MODE_DEFAULT = 0,
	GT_MODE_LITE,     /* kernels, and a graph's launch as one; no copies, no calls */
	GT_MODE_STANDARD, /* all device work, no calls */
	GT_MODE_UPPER,    /* all device work, calls of one API that others are beneath */
	GT_MODE_LOWER,    /* as default, and calls of domains beneath others */
	GT_MODE_COUNT
};

/* `gputap run --stacks` */
enum gt_stacks {
	GT_STACKS_LAUNCHES = 1, /* of calls that launch, copy or set */
	GT_STACKS_SLOW = 2,     /* of calls that take long */
};

/* The start or end of a recording window: the @number-th range, from 1, that a process starts with
 * a matching name. */
struct gt_range_bound {
	uint64_t number;           /* 0: not requested */
	char name[GT_RANGE_BYTES]; /* with *, ? and [..] */
};
enum gt_range_edge { GT_RANGE_FROM, GT_RANGE_TO, GT_RANGE_EDGES };

struct gt_session {
	uint64_t magic;
	uint32_t version;
	uint32_t bytes;       /* sizeof(struct gt_session) */
	uint32_t host_clock;  /* enum gt_host_clock */
	uint32_t block_bytes; /* power of two, 16 KiB to 4 MiB */
	uint64_t pool_bytes;  /* total size of one process's blocks */
	/* how long a writer without a block waits before it drops and counts */
	uint64_t wait_ns;
	uint32_t slot_count;      /* concurrent threads of a process */
	uint32_t payload_cap;     /* recorded bytes of one string or array argument */
	uint32_t record_args;     /* 0: calls without arguments and payload */
	uint32_t device_activity; /* 0: host calls only */
	uint32_t domains;         /* bit per requested enum gt_domain */
	uint32_t mode;            /* enum gt_mode */
	/* room that the user requested from glibc for libraries opened later; 0: glibc's default */
	uint32_t static_tls;
	/* 1: omit programs' arguments and the folder they were started in */
	uint32_t hide_command;
	/* enum gt_stacks: calls whose stack is recorded */
	uint32_t stacks;
	uint32_t named;          /* bit per enum gt_domain that --domains or --ops names */
	uint64_t stacks_slow_ns; /* GT_STACKS_SLOW: calls that take at least as long */
	/* bit per requested operation */
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* bit per operation whose GPU activities are recorded although its calls are not
	 * requested */
	uint64_t work[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* extended regular expression: kernels to record; "": all */
	char kernels[GT_KERNELS_BYTES];
	/* vendor plug-ins to take records from; "": none. Each line is a plug-in: its path and,
	 * each after a tab, the names of the libraries that it needs. The first line is the path of
	 * libgputap-plugin.so.0 */
	char plugins[GT_PLUGINS_BYTES];
	struct gt_range_bound ranges[GT_RANGE_EDGES]; /* --from, --to */
	/* collector: GT_CONTROL(). A FUTEX_WAKE follows each change, which processes wait for */
	_Atomic uint32_t control;
	_Atomic uint32_t stop; /* collector: the session is over, become passive */
	/* collector: blocks that a new process may use before it is given more; 0: all */
	_Atomic uint32_t start_blocks;
};

/* gt_session.control: whether recording is paused in all processes, and the reason for the last
 * change. @serial: count of changes, so that each one wakes the waiters. */
#define GT_CONTROL(serial, why, paused) \
	((uint32_t)(serial) << 8 | (uint32_t)(why) << 1 | (uint32_t)(paused))
#define GT_CONTROL_IS_PAUSED(control) ((control)&1u)
#define GT_CONTROL_WHY(control)       ((control) >> 1 & 0x7fu)
#define GT_CONTROL_SERIAL(control)    ((control) >> 8)

/* Return a bit per enum gt_domain that has something recorded at some time of the session, or whose
 * ranges start and end its window (core/range_window.h). */
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

/* True if GPU activities other than kernels are recorded: memcpys, memsets and so on. */
static inline int gt_session_wants_copies(const struct gt_session *s)
{
	return s->device_activity && s->mode != GT_MODE_LITE;
}

#endif
