/* SPDX-License-Identifier: MIT */
/* The shared memory of one traced process: one file in the session folder. The program (writer) and
 * the collector (reader) map the file.
 *
 *   | gt_segment, whole pages | gt_slot x slot_count | gt_block 64 + data x block_count |
 *
 * A thread's ring is a chain of blocks. The thread takes a block from the pool, fills it, and links
 * the next block after it. The collector drains blocks in chain order and returns drained blocks to
 * the pool. So an idle thread holds one block, and a busy thread holds up to all blocks of the
 * pool. Returned blocks are still warm. Memory is bounded per process (pool), not per thread.
 *
 * How memory grows: the file is sparse. The writer maps the whole file without access rights. On
 * first use of a slot or block, the writer makes it accessible and populates it, so that mlockall()
 * makes nothing else resident. The collector sets block_limit according to available memory.
 *
 * How memory shrinks: the collector frees the memory of unused drained blocks.
 *   1. Pop a block, as a writer does. From then on, the collector owns the block.
 *   2. Punch all pages except the first, which holds the header, because a slower writer's pop may
 *      still read the header.
 *   3. Set is_cold.
 *   4. Push the block back, or keep it while memory is scarce.
 * A writer that pops a cold block populates it before writing. If no memory is available, the
 * writer pushes the block back.
 *
 * Who writes what (everything else is constant after creation):
 *   slot.seen, newest, started, dropped
 *                               the slot's thread         relaxed
 *   slot.wait                   the slot's thread         release of `id`, after the rest
 *   segment.communicators[]     threads of the process    relaxed; key: compare-and-swap
 *   block.committed             the slot's thread         release   -> bytes below: whole records
 *   block.next                  the slot's thread         release   -> this block gets no more
 *                                                                   records
 *   slot.first                  the slot's thread, once   release   -> a new ring to drain
 *   slot.first                  then the collector        release   advances as blocks are drained
 *   slot.* if CLOSED            the collector             release   counts to 0, FREE
 *   block.drained, segment.free the collector             release   (free: compare-and-swap, both
 *                                                                   sides)
 *   segment.block_limit         the collector             relaxed   how many blocks may be handed
 *                                                                   out; publishes no other memory
 *   block.is_cold               the collector, in a block that it has popped; the release of its
 *                               push publishes it. The writer that pops and so owns the block
 *                               clears it (relaxed)
 *   segment.drain_count         the collector             relaxed   -> the collector is alive:
 *                                                                   wait for room
 *   segment.windows[]           a thread that pauses or resumes, holding gt_core_lock();
 *                               window_count: release
 *   segment.ranges_begun, range_window
 *                               a thread that starts or ends a range  relaxed
 *   segment.control, follows, detached
 *                               the process's thread that follows the session  release
 *   segment.lost[]              the process that took an entry  release   -> read when the process
 *                                                                 has ended
 *
 * If a process is killed at any instruction, committed records stay readable. A block that was
 * taken but not linked yet is lost to the pool, never to the reader.
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
#define GT_SEGMENT_VERSION    12u
#define GT_BLOCK_HEADER_BYTES 64u
#define GT_BLOCK_NONE         0u /* block numbers start at 1 */

enum gt_slot_state {
	GT_SLOT_FREE = 0,
	GT_SLOT_ACTIVE = 1,
	/* the slot's thread has ended: the collector drains the ring, then frees the slot */
	GT_SLOT_CLOSED = 2,
	/* the slot's thread is filling in the slot's identity: there is nothing to read yet */
	GT_SLOT_TAKEN = 3,
};

/* A thread's calls and GPU activities in one domain. The start of a call writes to one cache line
 * only. After the end of the process, seen = recorded + dropped, where GT_DROP_UNFINISHED counts
 * the calls that were still open. */
struct gt_slot_domain {
	_Alignas(32) _Atomic uint64_t seen[GT_CLASS_COUNT];
	/* GT_CALL_WORD() of the last started call; 0: no call has started, or a call was dropped
	 * since then */
	_Atomic uint64_t newest;
	/* host ticks at the start of the call in `newest`; stored after it */
	_Atomic uint64_t started;
};

/* A started call: its id plus the operation's number in the upper bits, where an id contains the
 * slot's ordinal. The word is not cleared when the call returns. The call is open as long as no
 * record has its id. */
#define GT_CALL_WORD(id, number) ((id) + ((uint64_t)(number) << GT_CALL_NUMBER_SHIFT))
#define GT_CALL_NUMBER_SHIFT     48

/* The last started collective or message of a thread. The thread writes the other fields, then `id`
 * (release), so that a reader that finds the same id before and after reading has a whole entry. */
struct gt_slot_wait {
	_Alignas(64) _Atomic uint64_t id; /* 0: none, or being written */
	_Atomic uint64_t communicator;    /* the handle that the program passed */
	/* number of collectives that the process has started on the communicator, this one
	 * included, counted as capture/collectives.h counts; 0: a message, or not known */
	_Atomic uint64_t sequence;
	/* destination, source or root + 1; 0: none, or any. A call that sends and receives: the
	 * source */
	_Atomic uint64_t peer;
	_Atomic uint64_t bytes; /* 0: not known */
};

/* Number of collectives that the process has started on a communicator. An entry is never freed. If
 * a handle is reused for a new communicator, its count starts at 0 again. */
struct gt_communicator {
	_Atomic uint64_t key; /* GT_COMMUNICATOR_KEY(); 0: free entry */
	_Atomic uint64_t count;
};
/* Handles are compared by their lower halves, as in capture/collectives.h, because MPICH has only
 * these. */
#define GT_COMMUNICATOR_KEY(domain, handle) \
	(UINT64_C(1) << 63 | (uint64_t)(domain) << 32 | (uint32_t)(handle))
enum { GT_COMMUNICATORS = 128 };

/* A thread's counts and ring. Slot 0 belongs to no thread: it has ordinal 0 and no ring, and counts
 * for threads that found no slot. */
struct gt_slot {
	/* the slot's thread writes the fields, except where noted */
	/* the thread: FREE -> TAKEN (CAS) -> ACTIVE -> CLOSED; the collector: -> FREE */
	_Alignas(64) _Atomic uint32_t state;
	/* the thread's ordinal in the process, from 1, never reused; part of the ids */
	uint32_t ordinal;
	uint32_t tid;
	_Atomic uint32_t first; /* first block of the ring, or GT_BLOCK_NONE */
	/* the thread's name from pthread_getname_np() when the slot is taken */
	char name[16];
	uint64_t start_ticks;
	_Atomic uint64_t end_ticks;
	/* calls left through jumps (siglongjmp(), exceptions): seen but never recorded. Counts all
	 * threads that used the slot */
	_Atomic uint32_t left;
	struct gt_slot_wait wait;
	_Alignas(64) struct gt_slot_domain domains[GT_DOMAIN_COUNT];
	_Atomic uint32_t dropped[GT_DROP_REASON_COUNT][GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

struct gt_block {
	_Alignas(64) _Atomic uint32_t committed; /* bytes of whole records after the header */
	/* next block in the ring, or GT_BLOCK_NONE */
	_Atomic uint32_t next;
	_Atomic uint32_t free_next; /* next block in the pool's stack */
	uint32_t slot;              /* index of the slot that owns the block */
	/* ordinal of the thread that owns the block; distinguishes the rings of a reused slot */
	uint32_t ordinal;
	_Atomic uint32_t is_cold; /* true if only its first page has memory */
	/* bytes already in the capture; the collector writes this, and recovery starts here */
	_Alignas(8) _Atomic uint32_t drained;
};

enum gt_segment_state {
	GT_SEGMENT_CREATING = 0,
	GT_SEGMENT_LIVE = 1,
	/* the process has ended properly: the library's destructor or quick_exit() handler ran */
	GT_SEGMENT_EXITED = 2,
};

/* A program of the tree that cannot be traced. The process that started the program reports this
 * without a system call; a fork child reports it in its parent's segment. Each of these processes
 * writes its own entry. The collector reads the entries after the process has ended. */
enum gt_lost_why {
	GT_LOST_NONE = 0, /* not written yet, or the program was not started after all */
	GT_LOST_RING,     /* the program's segment cannot be created */
	GT_LOST_SESSION,  /* the program cannot access the session folder */
	GT_LOST_LIBRARY,  /* the program cannot access libgputap.so */
	GT_LOST_SECURE,   /* effective and real ids differ, so the linker preloads no library */
	/* libc executed the program with an environment that the caller had cleared */
	GT_LOST_ENVIRONMENT,
	GT_LOST_WHY_COUNT
};
#define GT_LOST_NAMELESS "a program given by its descriptor" /* used instead of the path */
enum { GT_LOST_NAMED = 16, GT_LOST_PATH_BYTES = 92 };
struct gt_lost {
	_Atomic uint32_t why; /* enum gt_lost_why; written last, release */
	int32_t error;        /* errno */
	uint32_t pid;         /* 0: unknown */
	uint32_t uid;         /* effective uid */
	uint64_t ticks;
	char path[GT_LOST_PATH_BYTES]; /* the last part of the path, if the path is too long */
	uint32_t reserved;
};
static_assert(sizeof(struct gt_lost) == 120, "shared memory is an ABI");

/* A start or stop of recording in this process. Change n is stored at n % GT_WINDOWS_KEPT. The
 * collector reads new entries every few ms. */
enum { GT_WINDOWS_KEPT = 128 };
struct gt_window {
	uint64_t ticks;
	uint32_t why;      /* enum gt_window_why */
	uint32_t recorded; /* 1: recorded from now on, 0: paused */
};

/* State of the recording window that ranges start and end in this process. */
enum gt_range_window_state {
	GT_RANGE_WINDOW_BEGAN = 1,
	GT_RANGE_WINDOW_ENDED = 2, /* the range of --to has ended */
};

struct gt_segment {
	uint64_t magic;
	uint32_t version; /* a reader refuses a segment of another version with an error message */
	/* sizeof(struct gt_segment), rounded up to a page: offset of the slots */
	uint32_t header_bytes;
	/* size of the whole file, which is sparse, so that only touched pages have memory */
	uint64_t segment_bytes;
	uint32_t slot_bytes, slot_count;
	uint32_t block_bytes, block_count; /* block_bytes includes the header */
	uint64_t block_offset;             /* offset of block 1 */
	uint32_t host_clock;               /* enum gt_host_clock */
	uint32_t pid, ppid;
	uint32_t fork_count; /* 0 after exec; after fork, the parent's fork_count + 1 */
	uint64_t start_ticks;
	struct gt_rank rank; /* rank of the process in its job */
	char exe[512];       /* truncated if longer */
	uint32_t argv_bytes;
	char argv[3072 - 512 - 24]; /* NUL-separated, truncated if longer */

	_Alignas(64) _Atomic uint32_t state;
	_Atomic uint32_t next_ordinal;
	_Atomic uint32_t next_string;
	_Atomic uint32_t next_object[16]; /* indexed by enum gt_object_type */
	/* high-water mark of used slots; the reader looks at no later slots */
	_Atomic uint32_t slots_used;
	_Atomic uint32_t blocks_used; /* blocks handed out at least once */
	/* number of fork children that could not create a segment */
	_Atomic uint32_t children_lost;
	_Atomic uint64_t runtimes_seen; /* bit per enum gt_domain of which a table was registered */
	_Alignas(64) _Atomic uint64_t free; /* tag << 32 | block: stack of drained blocks */
	/* number of filled blocks that writers have handed over; the collector polls only this
	 * word */
	_Alignas(64) _Atomic uint64_t full_count;
	/* number of blocks that the collector has returned */
	_Alignas(64) _Atomic uint64_t drain_count;
	/* from the collector: nothing is recorded any more, and taps only forward calls */
	_Atomic uint32_t stop;
	/* from the writer: 1 if memory is populated block by block, 0 if all memory is
	 * allocated */
	uint32_t populate;
	_Atomic uint32_t block_limit; /* maximum number of blocks handed out; 0: no limit */
	/* number of taken entries of lost[]; can exceed GT_LOST_NAMED */
	_Atomic uint32_t lost_count;
	struct gt_lost lost[GT_LOST_NAMED];
	_Alignas(64) _Atomic uint32_t window_count;
	/* control: gt_session.control as last applied; follows: 1 if a thread follows the
	 * session */
	_Atomic uint32_t control, follows;
	struct gt_window windows[GT_WINDOWS_KEPT];
	/* --from and --to: number of started ranges with that name (core/range_window.h) */
	_Atomic uint64_t ranges_begun[GT_RANGE_EDGES];
	_Atomic uint32_t range_window; /* enum gt_range_window_state */
	/* number of vendor plug-ins that are recording and hold their last records until they are
	 * flushed */
	_Atomic uint32_t plugins_open;
	/* in a process that gputap was attached to: 1 after the end of the session, when the
	 * process has given back everything that costs it time (core/late.h) */
	_Atomic uint32_t detached;
	_Alignas(64) struct gt_communicator communicators[GT_COMMUNICATORS];
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
