/* SPDX-License-Identifier: MIT */
/* Internals of a tool's buffer, shared by tool_buffer.c (threads write records), tool_delivery.c (a
 * thread delivers them), tool_buffer_list.c (lists and memory) and tool_ticks.c.
 *
 *   thread 1 ──► writer ──► chunk ─► chunk ──┐
 *            └─► writer of `last` records ────┤
 *   thread 2 ──► writer ──► chunk ────────────┴──► delivery's thread: snapshot, batch, callback
 *                                               └──► chunks back to the pool
 *
 * One thread owns a writer and stores records through it. One thread reads it: the thread that
 * has the buffer's `draining`. A thread that ends returns its writers; the next thread that
 * takes one continues where the former stopped. Steps of a chunk:
 *   1. the owner stores records and then `committed` (release);
 *   2. the reader loads `committed` (acquire), reads up to there, stores `consumed` (release);
 *   3. the owner links the next chunk after a full one;
 *   4. the reader unlinks the full chunk and returns it to the pool.
 * If the reader has read a writer's only chunk to its end, the owner starts that chunk again with
 * the next lap. `committed` and `consumed` are lap << 32 | bytes.
 *
 * A buffer has chunks for its bytes, and one more for each writer. A thread that sleeps with its
 * last chunk therefore cannot make another thread wait for room.
 *
 * Locks: one for lists, owners and deliveries (gt_buffers_lock(); held with all signals blocked,
 * never while a callback runs). Writing takes none while there is room: fields that all threads
 * share are accessed once per chunk, or more often near the watermark. */
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
	_Alignas(64) _Atomic uint64_t committed; /* the owner stores it */
	_Atomic(struct gt_chunk *) next;         /* the owner, once */
	_Alignas(64) _Atomic uint64_t consumed;  /* the reader */
	_Atomic(struct gt_chunk *) below;        /* in the pool */
	struct gt_chunk *all;                    /* list of chunks not grown; with the lock */
	size_t bytes;                            /* of data */
	/* beyond the buffer's bytes, or for one large record: unmapped when read */
	bool grown;
	bool abandoned; /* a fork interrupted a write to it */
	_Alignas(64) uint8_t data[];
};

/* Header of each payload. The payload is padded to 8 bytes. */
struct gt_buffered_head {
	uint64_t kind;
	uint32_t bytes;
	uint16_t ticks_offset, ticks_count; /* times still in host ticks */
};

struct gt_buffer_writer {
	/* the owner stores these */
	_Alignas(64) uint8_t *cur;
	uint8_t *limit; /* end of the chunk, or the point from which the watermark may be near */
	struct gt_chunk *chunk;
	uint64_t lap;           /* of chunk; << 32 */
	uint8_t *counted;       /* bytes up to here are counted in the buffer's `filled` */
	volatile uint32_t busy; /* not 0: a signal handler that writes now uses another writer */
	/* the reader stores these */
	_Alignas(64) struct gt_chunk *held; /* first chunk that was not returned */
	struct gt_chunk *read;
	uint64_t read_word;
	struct gt_chunk *stop; /* end of this drain */
	uint64_t stop_word, drain;
	uint64_t consumed; /* bytes since held */
	struct gt_buffer_writer *touched_next;
	bool touched;
	/* with the lock; `next` and `last` are constant once it is in the list */
	bool last;
	struct gt_buffer_writer *next;
	struct gputap_buffer *buffer;
	struct gt_buffer_thread *owner; /* NULL: free */
	struct gt_buffer_writer *own_next;
};

enum { GT_WRITER_CACHE = 4 };

/* A thread's writers. */
struct gt_buffer_thread {
	struct gt_writer_cache {
		/* of the buffer; never reused, so a stale entry matches no buffer */
		uint64_t id;
		struct gt_buffer_writer *writer[2];
	} cache[GT_WRITER_CACHE];
	struct gt_buffer_writer *writers; /* all; with the lock */
};

struct gputap_delivery {
	_Atomic uint32_t signal; /* futex: a delivery is requested */
	_Atomic uint32_t asleep;
	/* its thread waits for other threads, so no thread may wait for it */
	_Atomic uint32_t waits;
	_Atomic uint32_t process; /* process that has its thread; 0: none yet */
	_Atomic uint32_t starting;
	struct gputap_delivery *next;
};

enum { GT_BATCH = 512 };

struct gputap_buffer {
	/* constant */
	uint64_t id;
	size_t bytes, watermark, chunk_bytes;
	uint32_t policy;
	gputap_buffer_fn fn;
	void *user;
	_Atomic(struct gputap_delivery *) delivery;
	/* for writers' slow path and the reader */
	/* bytes counted by writers less bytes read; temporarily negative */
	_Alignas(64) _Atomic int64_t filled;
	/* top of the stack of free chunks; its upper 16 bits change at every step */
	_Atomic uint64_t pool;
	_Atomic uint64_t lost;
	_Atomic size_t oversize;  /* bytes of chunks made for large records */
	_Atomic uint32_t wanted;  /* delivery is requested */
	_Atomic uint32_t room;    /* futex: chunks were returned */
	_Atomic uint32_t waiters; /* for room */
	_Atomic uint32_t writer_count;
	_Atomic uint64_t flush_ticket;
	/* the reader's */
	_Alignas(64) _Atomic uint32_t draining;
	_Atomic uint64_t flush_done;
	_Atomic uint32_t done;                            /* futex: a drain has ended */
	_Atomic(const struct gt_buffer_thread *) drainer; /* thread that drains */
	uintptr_t frame;                                  /* position of the drain in its stack */
	uint64_t drains, served;
	struct gt_buffer_writer *touched;
	uint32_t batch_count;
	struct gputap_record batch[GT_BATCH];
	/* with the lock */
	_Atomic(struct gt_buffer_writer *) writers; /* grows only */
	struct gt_chunk *chunks;
	struct gputap_buffer *next;
};

extern _Thread_local struct gt_buffer_thread gt_buffer_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
extern struct gputap_buffer *gt_buffers __attribute__((visibility("hidden")));
/* All deliveries; never freed. */
extern struct gputap_delivery *_Atomic gt_deliveries __attribute__((visibility("hidden")));
/* The delivery that this thread runs; NULL: none. */
extern _Thread_local struct gputap_delivery *gt_delivery_here
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Locks in words; the child of a fork finds them unlocked. */
void gt_word_lock(_Atomic uint32_t *word);
void gt_word_unlock(_Atomic uint32_t *word);
void gt_buffers_lock(sigset_t *signals);
void gt_buffers_unlock(const sigset_t *signals);

/* Wait while *word is @seen, at most 5 ms, since callers also poll conditions without a futex.
 * sleep() has no limit. */
void gt_word_wait(_Atomic uint32_t *word, uint32_t seen);
void gt_word_sleep(_Atomic uint32_t *word, uint32_t seen);
void gt_word_wake(_Atomic uint32_t *word);

/* Return a number for this process. In the child of a fork the first call empties all buffers. */
uint32_t gt_buffers_process(void);
/* Do the same quickly. Has an effect only in a child whose fork ran no handler of gputap. */
void gt_buffers_look(void);

void gt_buffers_init(void); /* once */

/* Return zeroed memory; NULL: no memory. */
void *gt_pages_map(size_t bytes);
struct gt_chunk *gt_chunk_create(size_t bytes);
/* Create a chunk that counts towards the buffer's bytes. With the lock. */
struct gt_chunk *gt_chunk_add(struct gputap_buffer *b);
void gt_chunk_begin(struct gt_chunk *c);
void gt_chunk_release(struct gputap_buffer *b, struct gt_chunk *c); /* to the pool, or unmap */
void gt_pool_push(struct gputap_buffer *b, struct gt_chunk *c);
struct gt_chunk *gt_pool_pop(struct gputap_buffer *b); /* NULL: it is empty */

/* Take a free writer, or create one. With the lock. */
struct gt_buffer_writer *gt_writer_take(struct gputap_buffer *b, bool last);
void gt_writer_give(struct gt_buffer_writer *l);
/* Return this thread's writer. It is then in the thread's cache. */
struct gt_buffer_writer *gt_writer_of_thread(struct gputap_buffer *b, bool last);

void gt_buffer_free(struct gputap_buffer *b);  /* not in the list any more */
void gt_buffer_unmap(struct gputap_buffer *b); /* never in the list */

/* tool_delivery.c */
int gt_delivery_default(struct gputap_delivery **out);
void gt_delivery_want(struct gputap_buffer *b);
/* Return true if a delivery's thread cannot be waited for: it is this thread, it is waiting, or it
 * does not exist. */
bool gt_delivery_blocked(const struct gputap_delivery *d);
/* Deliver a buffer's records until @deadline (CLOCK_MONOTONIC ns). Return false if some remain. */
bool gt_buffer_hand_over(struct gputap_buffer *b, uint64_t deadline);
#define GT_NO_DEADLINE UINT64_MAX

/* tool_ticks.c */
void gt_tool_ticks_start(void);
void gt_tool_ticks_convert(const struct gputap_record *records, size_t count);
void gt_tool_ticks_reset(void); /* in a fork child */

#endif
