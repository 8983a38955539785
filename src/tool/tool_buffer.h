/* SPDX-License-Identifier: MIT */
/* Internals of a tool's buffer, shared by tool_buffer.c (threads write records), tool_delivery.c (a
 * thread delivers the records), tool_buffer_list.c (lists and memory) and tool_ticks.c.
 *
 *   thread 1 ──► writer ──► chunk ─► chunk ──┐
 *            └─► writer of `last` records ────┤
 *   thread 2 ──► writer ──► chunk ────────────┴──► delivery's thread: snapshot, batch, callback
 *                                               └──► chunks back to the pool
 *
 * Each writer has one owner, the thread that stores records through it, and one reader, the thread
 * that holds the buffer's `draining`. A thread that ends returns its writers. The next thread that
 * takes a returned writer continues at the writer's current position. Steps of a chunk:
 *   1. The owner stores records and then `committed` (release).
 *   2. The reader loads `committed` (acquire), reads up to that position, and stores `consumed`
 *      (release).
 *   3. The owner links the next chunk after a full chunk.
 *   4. The reader unlinks the full chunk and returns the chunk to the pool.
 * If the reader has read a writer's only chunk to its end, the owner reuses the chunk from its
 * beginning, with the next lap number. `committed` and `consumed` are lap << 32 | bytes.
 *
 * A buffer has enough chunks for its bytes, and one additional chunk for each writer. A sleeping
 * thread that still owns a chunk therefore cannot make another thread wait for room.
 *
 * Locking: one lock for lists, owners and deliveries (gt_buffers_lock(); held with all signals
 * blocked, never while a callback runs). Writing takes no lock while there is room. Writers access
 * the fields that all threads share only once per chunk, or more often near the watermark. */
#ifndef GPUTAP_TOOL_TOOL_BUFFER_H
#define GPUTAP_TOOL_TOOL_BUFFER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gputap/tool.h"

#define GT_LAP_ONE         (UINT64_C(1) << 32)
#define GT_LAP_BYTES(word) ((uint32_t)(word))

struct gt_chunk {
	_Alignas(64) _Atomic uint64_t committed; /* stored only in the owner */
	_Atomic(struct gt_chunk *) next;         /* stored once, in the owner */
	_Alignas(64) _Atomic uint64_t consumed;  /* stored only in the reader */
	_Atomic(struct gt_chunk *) below;        /* next chunk in the pool's stack */
	/* next in the list of chunks with `grown` false; requires the lock */
	struct gt_chunk *all;
	size_t bytes; /* size of data[] */
	/* true if the chunk exceeds the buffer's bytes or was made for one large record; it is
	 * unmapped once read */
	bool grown;
	bool abandoned; /* true if a fork interrupted a write to the chunk */
	_Alignas(64) uint8_t data[];
};

/* Header of each payload. Payloads are padded to 8 bytes. */
struct gt_buffered_head {
	uint64_t kind;
	uint32_t bytes;
	uint16_t ticks_offset, ticks_count; /* offset and number of the times in host ticks */
};

struct gt_buffer_writer {
	/* fields that the owner stores */
	_Alignas(64) uint8_t *cur;
	/* end of the chunk, or the position at which the writer checks the watermark */
	uint8_t *limit;
	struct gt_chunk *chunk;
	uint64_t lap;     /* number of the lap of `chunk`, shifted left by 32 */
	uint8_t *counted; /* end of the bytes already counted in the buffer's `filled` */
	/* nonzero while the owner writes: a signal handler that writes uses another writer */
	volatile uint32_t busy;
	/* fields that the reader stores */
	_Alignas(64) struct gt_chunk *held; /* first chunk not yet returned */
	struct gt_chunk *read;
	uint64_t read_word;
	struct gt_chunk *stop; /* end of the part that this drain delivers */
	uint64_t stop_word, drain;
	uint64_t consumed; /* bytes consumed since `held` */
	struct gt_buffer_writer *touched_next;
	bool touched;
	/* fields that require the lock; `next` and `last` are constant once the writer is in the
	 * list */
	bool last;
	struct gt_buffer_writer *next;
	struct gputap_buffer *buffer;
	struct gt_buffer_thread *owner; /* NULL if free */
	struct gt_buffer_writer *own_next;
};

enum { GT_WRITER_CACHE = 4 };

/* A thread's writers. */
struct gt_buffer_thread {
	struct gt_writer_cache {
		/* id of the buffer; never reused, so a stale entry matches no buffer */
		uint64_t id;
		struct gt_buffer_writer *writer[2];
	} cache[GT_WRITER_CACHE];
	struct gt_buffer_writer *writers; /* all writers of the thread; requires the lock */
};

struct gputap_delivery {
	_Atomic uint32_t signal; /* futex: a delivery is requested */
	_Atomic uint32_t asleep;
	/* nonzero while the delivery's thread waits for other threads, so no thread may wait for
	 * it */
	_Atomic uint32_t waits;
	/* process that runs the delivery's thread; 0 before that thread exists */
	_Atomic uint32_t process;
	_Atomic uint32_t starting;
	struct gputap_delivery *next;
};

enum { GT_BATCH = 512 };

struct gputap_buffer {
	/* constant fields */
	uint64_t id;
	size_t bytes, watermark, chunk_bytes;
	uint32_t policy;
	gputap_buffer_fn fn;
	void *user;
	_Atomic(struct gputap_delivery *) delivery;
	/* fields for the writers' slow path and the reader */
	/* bytes counted by writers minus bytes read; temporarily negative */
	_Alignas(64) _Atomic int64_t filled;
	/* top of the stack of free chunks; its upper 16 bits change at every push and pop */
	_Atomic uint64_t pool;
	_Atomic uint64_t lost;
	_Atomic size_t oversize;  /* bytes of chunks made for large records */
	_Atomic uint32_t wanted;  /* nonzero if delivery is requested */
	_Atomic uint32_t room;    /* futex: chunks were returned */
	_Atomic uint32_t waiters; /* number of threads that wait for room */
	_Atomic uint32_t writer_count;
	_Atomic uint64_t flush_ticket;
	/* fields of the reader */
	_Alignas(64) _Atomic uint32_t draining;
	_Atomic uint64_t flush_done;
	_Atomic uint32_t done;                            /* futex: a drain has ended */
	_Atomic(const struct gt_buffer_thread *) drainer; /* thread that runs the drain */
	/* stack position of the drain in the drainer */
	uintptr_t frame;
	uint64_t drains, served;
	struct gt_buffer_writer *touched;
	uint32_t batch_count;
	struct gputap_record batch[GT_BATCH];
	/* fields that require the lock */
	_Atomic(struct gt_buffer_writer *) writers; /* grows only */
	struct gt_chunk *chunks;
	struct gputap_buffer *next;
};

extern _Thread_local struct gt_buffer_thread gt_buffer_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
extern struct gputap_buffer *gt_buffers __attribute__((visibility("hidden")));
/* All deliveries; never freed. */
extern struct gputap_delivery *_Atomic gt_deliveries __attribute__((visibility("hidden")));
/* The delivery that this thread runs, or NULL. */
extern _Thread_local struct gputap_delivery *gt_delivery_here
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Locks that are single words. In the child of a fork, the locks are unlocked. */
void gt_word_lock(_Atomic uint32_t *word);
void gt_word_unlock(_Atomic uint32_t *word);
void gt_buffers_lock(sigset_t *signals);
void gt_buffers_unlock(const sigset_t *signals);

/* Wait while *word is @seen, at most 5 ms, since callers also poll conditions without a futex.
 * gt_word_sleep() has no time limit. */
void gt_word_wait(_Atomic uint32_t *word, uint32_t seen);
void gt_word_sleep(_Atomic uint32_t *word, uint32_t seen);
void gt_word_wake(_Atomic uint32_t *word);

/* Return a number that identifies this process. In the child of a fork, the first call empties all
 * buffers. */
uint32_t gt_buffers_process(void);
/* Check quickly for a fork, like gt_buffers_process(). Has an effect only in a child whose fork ran
 * no handler of gputap. */
void gt_buffers_look(void);

void gt_buffers_init(void); /* runs once */

/* Return zeroed memory, or NULL if out of memory. */
void *gt_pages_map(size_t bytes);
struct gt_chunk *gt_chunk_create(size_t bytes);
/* Create a chunk that counts towards the buffer's bytes. The caller holds the lock. */
struct gt_chunk *gt_chunk_add(struct gputap_buffer *b);
void gt_chunk_begin(struct gt_chunk *c);
/* returns the chunk to the pool, or unmaps it */
void gt_chunk_release(struct gputap_buffer *b, struct gt_chunk *c);
void gt_pool_push(struct gputap_buffer *b, struct gt_chunk *c);
struct gt_chunk *gt_pool_pop(struct gputap_buffer *b); /* NULL if empty */

/* Take a free writer, or create a writer. The caller holds the lock. */
struct gt_buffer_writer *gt_writer_take(struct gputap_buffer *b, bool last);
void gt_writer_give(struct gt_buffer_writer *l);
/* Return this thread's writer, and add the writer to the thread's cache. */
struct gt_buffer_writer *gt_writer_of_thread(struct gputap_buffer *b, bool last);

void gt_buffer_free(struct gputap_buffer *b);  /* for a buffer that was removed from the list */
void gt_buffer_unmap(struct gputap_buffer *b); /* for a buffer that was never added to the list */

/* tool_delivery.c */
int gt_delivery_default(struct gputap_delivery **out);
void gt_delivery_want(struct gputap_buffer *b);
/* Return true if no thread may wait for a delivery's thread: the delivery's thread is the caller,
 * is waiting, or does not exist. */
bool gt_delivery_blocked(const struct gputap_delivery *d);
/* Deliver a buffer's records until @deadline (CLOCK_MONOTONIC ns). Return false if records
 * remain. */
bool gt_buffer_hand_over(struct gputap_buffer *b, uint64_t deadline);
#define GT_NO_DEADLINE UINT64_MAX

/* tool_ticks.c */
void gt_tool_ticks_start(void);
void gt_tool_ticks_convert(const struct gputap_record *records, size_t count);
void gt_tool_ticks_reset(void); /* in the child of a fork */

#endif
