/* SPDX-License-Identifier: MIT */
/* The shared memory of one traced process: one file in the session folder,
 * mapped in the program (writer) and the collector (reader).
 *
 *   | gt_segment, whole pages | gt_slot x slot_count | gt_block 64 + data x block_count |
 *
 * A thread's ring is a chain of blocks. The thread takes a block from the pool, fills it, and links
 * the next one after it; the collector drains in chain order and gives drained blocks back. An idle
 * thread therefore holds one block and a busy one as many as the pool has. Returned blocks are
 * still warm. Memory is bounded per process (pool), not per thread.
 *
 * How memory grows: the file is sparse. The writer maps all of it without access. It makes slots
 * and blocks accessible, and populates them, one at a time on first use, so that mlockall() makes
 * no more than that resident. The collector sets block_limit according to available memory.
 *
 * How memory shrinks: the collector takes drained blocks that are unused.
 *   1. It pops a block, as a writer does, and so owns it.
 *   2. It punches all pages but the first, which holds the header: a slower writer's pop may still
 *      read that.
 *   3. It sets is_cold.
 *   4. It pushes the block back, or keeps it while memory is short.
 * A writer that pops a cold block populates it before it writes. If there is no memory for that, it
 * pushes the block back.
 *
 * Who writes what (everything else is constant after creation):
 *   slot.seen, newest, dropped  the slot's thread         relaxed
 *   block.committed             the slot's thread         release   -> bytes below: whole records
 *   block.next                  the slot's thread         release   -> this block gets no more
 *                                                                   records
 *   slot.first                  the slot's thread, once   release   -> a new ring to drain
 *   slot.first                  then the collector        release   advances as blocks are drained
 *   slot.* of a CLOSED one      the collector             release   counts to 0, FREE
 *   block.drained, segment.free the collector             release   (free: compare-and-swap, both
 *                                                                   sides)
 *   segment.block_limit         the collector             relaxed   how many blocks may be handed
 *                                                                   out; publishes no other memory
 *   block.is_cold               the collector, in a block that it has popped; the release of its
 *                               push publishes it. The writer that pops and so owns the block
 *                               clears it (relaxed)
 *   segment.drain_count         the collector             relaxed   -> it is alive: wait for room
 *   segment.windows[]           a thread that pauses or resumes, holding gt_core_lock();
 *                               window_count: release
 *   segment.ranges_begun, range_window
 *                               a thread that starts or ends a range  relaxed
 *   segment.control, follows    the process's thread that follows the session  release
 *   segment.lost[]              the process that took an entry  release   -> read when the process
 *                                                                   has ended
 *
 * If a process is killed at any instruction, committed records stay readable. A block that was
 * taken and not yet linked is lost to the pool, never to the reader.
 * Never here: pointers, locks, system calls after gt_segment_create(), except to wait. */
#ifndef GPUTAP_RING_SEGMENT_H
#define GPUTAP_RING_SEGMENT_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#include "clock/hostclock.h"
#include "record/record.h"
#include "ring/session.h"
#include "util/rank.h"

#define GT_SEGMENT_MAGIC      UINT64_C(0x314e474552505447) /* "GTPREGN1" */
#define GT_SEGMENT_VERSION    9u
#define GT_BLOCK_HEADER_BYTES 64u
#define GT_BLOCK_NONE         0u /* block numbers start at 1 */

enum gt_slot_state {
	GT_SLOT_FREE = 0,
	GT_SLOT_ACTIVE = 1,
	GT_SLOT_CLOSED = 2, /* its thread has ended: drain it, then free it */
	GT_SLOT_TAKEN = 3,  /* its thread is filling in its identity: nothing to read yet */
};

/* A thread's calls and GPU activities of one domain. The start of a call writes to one cache line
 * only. When the process is gone, seen = recorded + dropped, with GT_DROP_UNFINISHED for calls that
 * were still open. */
struct gt_slot_domain {
	_Alignas(32) _Atomic uint64_t seen[GT_CLASS_COUNT];
	/* GT_CALL_WORD() of the call that started last; 0: none, or a call was dropped since */
	_Atomic uint64_t newest;
};

/* A call that has started: its id plus the operation's number, in the upper bits that hold the
 * slot's ordinal in an id. Nothing clears it when the call returns: the call is open while no
 * record has its id. */
#define GT_CALL_WORD(id, number) ((id) + ((uint64_t)(number) << GT_CALL_NUMBER_SHIFT))
#define GT_CALL_NUMBER_SHIFT     48

/* Slot 0 belongs to no thread: it has ordinal 0 and no ring, and counts for threads that found no
 * slot. */
struct gt_slot {
	/* the slot's thread writes it, unless noted */
	/* FREE -> TAKEN (CAS) -> ACTIVE -> CLOSED in the thread, -> FREE in the collector */
	_Alignas(64) _Atomic uint32_t state;
	/* the thread's ordinal in the process, from 1, never reused; part of the ids */
	uint32_t ordinal;
	uint32_t tid;
	_Atomic uint32_t first; /* first block of the ring, or GT_BLOCK_NONE */
	/* as pthread_getname_np() gives it when the slot is taken */
	char name[16];
	uint64_t start_ticks;
	_Atomic uint64_t end_ticks;
	/* calls left through jumps (siglongjmp(), exceptions): seen and never recorded. Counts all
	 * threads that had the slot */
	_Atomic uint32_t left;
	_Alignas(64) struct gt_slot_domain domains[GT_DOMAIN_COUNT];
	_Atomic uint32_t dropped[GT_DROP_REASON_COUNT][GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

struct gt_block {
	_Alignas(64) _Atomic uint32_t committed; /* bytes of whole records after the header */
	/* next block in the ring, or GT_BLOCK_NONE */
	_Atomic uint32_t next;
	_Atomic uint32_t free_next; /* next block in the pool's stack */
	uint32_t slot;              /* index of its owner */
	/* owner's thread ordinal: distinguishes the rings of a reused slot */
	uint32_t ordinal;
	_Atomic uint32_t is_cold; /* true if only its first page has memory */
	/* collector: bytes already in the capture; recover starts here */
	_Alignas(8) _Atomic uint32_t drained;
};

enum gt_segment_state {
	GT_SEGMENT_CREATING = 0,
	GT_SEGMENT_LIVE = 1,
	/* the library's destructor or its quick_exit() handler ran: a proper end */
	GT_SEGMENT_EXITED = 2,
};

/* A program of the tree that cannot be traced. The process that started it reports it, or a fork
 * child in its parent's segment, without a system call. Each of these processes writes its own
 * entry; the collector reads them when the process has ended. */
enum gt_lost_why {
	GT_LOST_NONE = 0, /* not written yet, or the program was not started after all */
	GT_LOST_RING,     /* its segment cannot be created */
	GT_LOST_SESSION,  /* it cannot reach the session folder */
	GT_LOST_LIBRARY,  /* it cannot reach libgputap.so */
	GT_LOST_SECURE,   /* effective and real ids differ: the dynamic linker preloads nothing */
	/* libc executed it with an environment that the program had cleared */
	GT_LOST_ENVIRONMENT,
	GT_LOST_WHY_COUNT
};
#define GT_LOST_NAMELESS "a program given by its descriptor" /* used instead of a path */
enum { GT_LOST_NAMED = 16, GT_LOST_PATH_BYTES = 92 };
struct gt_lost {
	_Atomic uint32_t why; /* enum gt_lost_why; written last, release */
	int32_t error;        /* errno */
	uint32_t pid;         /* 0: unknown */
	uint32_t uid;         /* effective */
	uint64_t ticks;
	char path[GT_LOST_PATH_BYTES]; /* the end of the path if it is long */
	uint32_t reserved;
};
static_assert(sizeof(struct gt_lost) == 120, "shared memory is an ABI");

/* Recording in this process has started or stopped. Entry n of all changes is at n %
 * GT_WINDOWS_KEPT; the collector reads new entries every few ms. */
enum { GT_WINDOWS_KEPT = 128 };
struct gt_window {
	uint64_t ticks;
	uint32_t why;      /* enum gt_window_why */
	uint32_t recorded; /* 1: from now on */
};

/* State of the process's recording window that ranges start and end. */
enum gt_range_window_state {
	GT_RANGE_WINDOW_BEGAN = 1,
	GT_RANGE_WINDOW_ENDED = 2, /* the range of --to has ended */
};

struct gt_segment {
	uint64_t magic;
	uint32_t version; /* another version is refused with an error message */
	/* sizeof(struct gt_segment), rounded up to a page: offset of the slots */
	uint32_t header_bytes;
	uint64_t segment_bytes; /* size of the whole file; sparse: only touched pages have memory */
	uint32_t slot_bytes, slot_count;
	uint32_t block_bytes, block_count; /* block_bytes includes the header */
	uint64_t block_offset;             /* offset of block 1 */
	uint32_t host_clock;               /* enum gt_host_clock */
	uint32_t pid, ppid;
	uint32_t fork_count; /* 0 after exec; in a fork child its parent's + 1 */
	uint64_t start_ticks;
	struct gt_rank rank; /* rank of the process in its job */
	char exe[512];       /* truncated if longer */
	uint32_t argv_bytes;
	char argv[3072 - 512 - 24]; /* NUL-separated, truncated if longer */

	_Alignas(64) _Atomic uint32_t state;
	_Atomic uint32_t next_ordinal;
	_Atomic uint32_t next_string;
	_Atomic uint32_t next_object[16];   /* indexed by enum gt_object_type */
	_Atomic uint32_t slots_used;        /* high-water mark: the reader looks no further */
	_Atomic uint32_t blocks_used;       /* blocks taken that never were in the pool */
	_Atomic uint32_t runtimes_seen;     /* bit per enum gt_domain: a table was registered */
	_Atomic uint32_t children_lost;     /* fork children that could not create a segment */
	_Alignas(64) _Atomic uint64_t free; /* tag << 32 | block: stack of drained blocks */
	/* blocks handed on: the only word that the collector polls */
	_Alignas(64) _Atomic uint64_t full_count;
	_Alignas(64) _Atomic uint64_t drain_count; /* blocks given back */
	/* collector: no more records, taps pass straight through */
	_Atomic uint32_t stop;
	/* writer: 1 if memory is populated block by block; 0: all of it is allocated */
	uint32_t populate;
	_Atomic uint32_t block_limit; /* blocks that may be handed out; 0: all */
	/* entries of lost[] that were taken; may exceed the entries that have a name */
	_Atomic uint32_t lost_count;
	struct gt_lost lost[GT_LOST_NAMED];
	_Alignas(64) _Atomic uint32_t window_count;
	/* gt_session.control as last applied; `follows`: 1 if a thread follows it */
	_Atomic uint32_t control, follows;
	struct gt_window windows[GT_WINDOWS_KEPT];
	/* --from and --to: ranges with that name that have started (core/range_window.h) */
	_Atomic uint64_t ranges_begun[GT_RANGE_EDGES];
	_Atomic uint32_t range_window; /* enum gt_range_window_state */
	/* vendor plug-ins that are recording and keep their last records until they are flushed */
	_Atomic uint32_t plugins_open;
};

static inline struct gt_slot *gt_segment_slot(const struct gt_segment *r, uint32_t index)
{
	return (struct gt_slot *)((char *)(uintptr_t)r + r->header_bytes +
				  (uint64_t)index * r->slot_bytes);
}

static inline struct gt_block *gt_segment_block(const struct gt_segment *r, uint32_t number)
{
	return (struct gt_block *)((char *)(uintptr_t)r + r->block_offset +
				   (uint64_t)(number - 1) * r->block_bytes);
}

static inline uint8_t *gt_block_data(struct gt_block *b)
{
	return (uint8_t *)b + GT_BLOCK_HEADER_BYTES;
}

#endif
