/* SPDX-License-Identifier: MIT */
/* Two rings of packets: the program's ring, which the device does not read, and the device's ring,
 * which the program does not know.
 *
 *   program: reserve, write packet, ring ─► theirs[] ─ one thread at a time, in order ─► device[]
 *               ▲                              │ up to the first packet that is not written yet
 *               └── read index ◄───────────────┴─────── origin[]: number of program packets that
 *                                                       are gone once a device packet is gone
 *
 * Steps:
 *   1. The program's thread reserves a number, writes the packet, stores its header (release), and
 *      rings the doorbell.
 *   2. The ringing thread enters the ring as its worker (`worker`, compare and exchange, acquire).
 *      If another thread is the worker, the ringing thread waits, as it would for an earlier packet
 *      that is not written yet. If the ringing thread is already the worker (because a signal
 *      handler rings, or a tool's function that was called for a packet), it leaves a note
 *      (`again`) and continues.
 *   3. The worker reads headers (acquire), copies each packet into device[], changes the copy
 *      before it becomes visible to the device, makes the program's slot INVALID, stores origin[]
 *      (release), then the copy's header (release). The device may now process the copy.
 *   4. The worker stores the program's read index (release) and the device's doorbell (release).
 *   5. The worker leaves the ring (`worker`, release) and checks for a note. If there is a note,
 *      the worker starts again.
 * A gputap packet inserted between two program packets shifts the later packets. The program does
 * not see this, because it has separate indices.
 *
 * Room. The program keeps its packets in flight below the ring size. The read index
 * shows the program how many packets the device has taken, as of the last look (`shown`). The
 * device's ring is twice as large, with room for one gputap packet after each packet. Some
 * programs, however, read the read index in the queue's memory, which cannot be kept in step with
 * the device; that index counts the packets copied to the device's ring. Such a program may submit
 * more packets than its ring holds. The worker then waits for room, where the program would wait
 * without gputap. The device's ring has no other producer, so its write index is stored, not added
 * to.
 *
 * ring->store is the only HSA function called here; tests/unit/hsa_ring.c tests this file alone. */
#ifndef GPUTAP_RUNTIME_HSA_RING_H
#define GPUTAP_RUNTIME_HSA_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/hsa/hsa_abi.h"

/* First four bytes of a packet. Storing them makes the packet valid. */
typedef uint32_t __attribute__((may_alias)) gt_hsa_packet_head;
typedef uint64_t __attribute__((may_alias)) gt_hsa_packet_word;

struct gt_hsa_ring {
	/* constant */
	union gt_hsa_packet *theirs, *device;
	uint64_t theirs_size, device_size; /* powers of two; device_size >= theirs_size */
	uint64_t theirs_mask, device_mask, origin_mask; /* set by gt_hsa_ring_begin() */
	_Atomic uint64_t *theirs_write, *theirs_read; /* in the proxy queue that the program uses */
	_Atomic uint64_t *write, *read;               /* in the runtime's queue */
	/* [2 * device_size]: an entry must survive as long as its packet is in a full ring */
	_Atomic uint64_t *origin;
	/* the device's doorbell; NULL: only the runtime can ring it, with store(doorbell, index) */
	_Atomic uint64_t *cell;
	void (*store)(uint64_t doorbell, int64_t index);
	uint64_t doorbell; /* handle of the runtime doorbell, or argument for `store` */
	/* true if @theirs is the ring that the device reads, of a queue that the program created
	 * before gputap was there. @device then is a ring in between, and store() puts its packets
	 * into the device's ring (hsa_adopt.c). */
	bool in_place;
	/* Number of program packets that the device had taken at the last look. Rarely written. */
	_Atomic uint64_t shown;

	_Alignas(64) _Atomic uintptr_t worker; /* thread that is the ring's worker; 0: none */
	/* the worker's note to itself: the doorbell was rung meanwhile */
	_Atomic uint32_t again;
	/* Private to the worker. */
	uint64_t taken; /* number of program packets copied to the device's ring */
	/* last: index after the newest packet in the device's ring; notified: index for which the
	 * doorbell was rung last */
	uint64_t last, notified;
	uint64_t limit; /* end of the packets that may be processed */
	/* packets that the device is known to have taken: number of program packets, and index in
	 * the device's ring */
	uint64_t gone, read_known;
};

/* Initialise @ring, whose constants must be set. If @theirs is new memory, the packets of both
 * rings become INVALID. */
void gt_hsa_ring_begin(struct gt_hsa_ring *ring);

/* Initialise @ring for a ring that is in use: ring->in_place. Both rings' indices are equal, and
 * *ring->theirs_write, *ring->write and *ring->theirs_read are the index of the next packet. */
void gt_hsa_ring_begin_in_place(struct gt_hsa_ring *ring);

/* Pass over packets up to @index that are in the program's ring, and belong to the device already.
 * Called by the worker of a ring that is in use by the device. */
void gt_hsa_ring_skip(struct gt_hsa_ring *ring, uint64_t index);

/* Return the number of program packets that the device has taken. */
static inline uint64_t gt_hsa_ring_read(const struct gt_hsa_ring *ring)
{
	uint64_t gone, read, write;

	do {
		read = atomic_load_explicit(ring->read, memory_order_acquire);
		if (__builtin_expect(!read || ring->in_place, 0)) /* or all indices are equal */
			return read;
		gone = atomic_load_explicit(&ring->origin[(read - 1) & ring->origin_mask],
					    memory_order_acquire);
		write = atomic_load_explicit(ring->write, memory_order_relaxed);
	} while (__builtin_expect((int64_t)(write - read) > (int64_t)ring->origin_mask,
				  0)); /* the entry may already belong to a later packet */
	return gone;
}

/* Return true if there was plenty of room, at the last look, for a thread that has reserved up to
 * @reserved. Reading the index itself is slow, because the device writes its cache line for each
 * packet. */
static inline bool gt_hsa_ring_is_roomy(const struct gt_hsa_ring *ring, uint64_t reserved,
					uint64_t *gone)
{
	*gone = atomic_load_explicit(&ring->shown, memory_order_acquire);
	return reserved - *gone <= ring->theirs_size / 2;
}

static inline uint64_t gt_hsa_ring_show(struct gt_hsa_ring *ring)
{
	uint64_t gone = gt_hsa_ring_read(ring);

	/* A reader may write to those slots afterwards. */
	atomic_store_explicit(&ring->shown, gone, memory_order_release);
	return gone;
}

enum gt_hsa_ring_entry { GT_HSA_RING_BUSY, GT_HSA_RING_ENTERED, GT_HSA_RING_NOTED };

/* Enter the ring. @me: identifies this thread, not 0. Return BUSY if another thread is the worker;
 * NOTED if this thread is already the worker and will handle the note. */
static inline enum gt_hsa_ring_entry gt_hsa_ring_enter(struct gt_hsa_ring *ring, uintptr_t me)
{
	uintptr_t worker = 0;

	if (__builtin_expect(atomic_compare_exchange_strong_explicit(&ring->worker, &worker, me,
								     memory_order_acquire,
								     memory_order_relaxed),
			     1))
		return GT_HSA_RING_ENTERED;
	if (worker != me)
		return GT_HSA_RING_BUSY;
	atomic_store_explicit(&ring->again, 1, memory_order_relaxed);
	return GT_HSA_RING_NOTED;
}

/* Leave the ring after all packets seen were handled. Return false if there was a note; the thread
 * must then enter the ring again. */
static inline bool gt_hsa_ring_leave(struct gt_hsa_ring *ring)
{
	atomic_store_explicit(&ring->worker, 0, memory_order_release);
	if (__builtin_expect(!atomic_load_explicit(&ring->again, memory_order_relaxed), 1))
		return true;
	atomic_store_explicit(&ring->again, 0, memory_order_relaxed);
	return false;
}

/* Set the limit up to which packets are processed. @index: value with which the doorbell was rung;
 * the ring may precede the store of the write index */
static inline void gt_hsa_ring_look(struct gt_hsa_ring *ring, uint64_t index)
{
	uint64_t write = atomic_load_explicit(ring->theirs_write, memory_order_acquire);

	ring->limit = index + 1 > write && index < write + ring->theirs_size ? index + 1 : write;
	if (__builtin_expect(ring->in_place, 0)) {
		/* A packet beyond has been reserved at most; its slot may contain an earlier
		 * packet. */
		uint64_t end =
			atomic_load_explicit(ring->read, memory_order_acquire) + ring->theirs_size;

		ring->limit = ring->limit < end ? ring->limit : end;
	}
}

/* Return the program's next packet, number ring->taken. Return NULL if the packet does not exist or
 * is not written yet. */
static inline const union gt_hsa_packet *gt_hsa_ring_next(struct gt_hsa_ring *ring)
{
	union gt_hsa_packet *p = &ring->theirs[ring->taken & ring->theirs_mask];

	if (ring->taken >= ring->limit ||
	    GT_HSA_PACKET_TYPE(__atomic_load_n(&p->kernel.header, __ATOMIC_ACQUIRE)) ==
		    GT_HSA_PACKET_INVALID)
		return NULL;
	return p;
}

/* Return true if the device's ring has room for a gputap packet after every packet. */
static inline bool gt_hsa_ring_is_large(const struct gt_hsa_ring *ring)
{
	return ring->device_size >= 2 * ring->theirs_size;
}

/* Return true if fewer packets are in flight than the program's ring holds. The device's ring then
 * has room too, except if gputap inserted packets, which is checked as well. */
static inline bool gt_hsa_ring_has_room(struct gt_hsa_ring *ring)
{
	uint64_t last = ring->last + 1 + gt_hsa_ring_is_large(ring);

	if (__builtin_expect(ring->taken - ring->gone < ring->theirs_size &&
				     last - ring->read_known <= ring->device_size,
			     1))
		return true;
	ring->gone = gt_hsa_ring_read(ring);
	ring->read_known = atomic_load_explicit(ring->read, memory_order_acquire);
	return ring->taken - ring->gone < ring->theirs_size &&
	       last - ring->read_known <= ring->device_size;
}

/* Return the number of packets for which there was room at the last look, at most @most. 0: look
 * again. */
static inline uint64_t gt_hsa_ring_had_room(const struct gt_hsa_ring *ring, uint64_t most)
{
	int64_t places = (int64_t)(ring->theirs_size - (ring->taken - ring->gone));
	int64_t free = (int64_t)(ring->device_size - 1 - (ring->last - ring->read_known));

	places = places < free ? places : free;
	return places > 0 ? ((uint64_t)places < most ? (uint64_t)places : most) : 0;
}

/* Prefetch @p for writing, because another core used it last. */
static inline void gt_hsa_fetch(void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/* Reserve a slot in the device's ring. */
static inline union gt_hsa_packet *gt_hsa_ring_reserve(struct gt_hsa_ring *ring)
{
	uint64_t index = ring->last++;

	atomic_store_explicit(ring->write, index + 1, memory_order_release);
	return &ring->device[index & ring->device_mask];
}

/* Publish a packet. The device may process it once its first four bytes are stored. */
static inline void gt_hsa_ring_publish(struct gt_hsa_ring *ring, union gt_hsa_packet *p,
				       const void *head, uint64_t gone)
{
	uint32_t first;

	memcpy(&first, head, sizeof first);
	atomic_store_explicit(&ring->origin[(ring->last - 1) & ring->origin_mask], gone,
			      memory_order_release);
	__atomic_store_n((gt_hsa_packet_head *)(void *)p, first, __ATOMIC_RELEASE);
}

/* Copy a packet except its head, word by word. If the program has just stored the packet, a load
 * that spans two stores waits until both are in the cache, which is slow when the ring is as large
 * as the cache. */
static inline void gt_hsa_packet_copy(union gt_hsa_packet *to, const union gt_hsa_packet *from)
{
	const gt_hsa_packet_word *source = (const gt_hsa_packet_word *)(const void *)from;
	gt_hsa_packet_word *p = (gt_hsa_packet_word *)(void *)to;

	__atomic_store_n((gt_hsa_packet_head *)p + 1,
			 __atomic_load_n((const gt_hsa_packet_head *)source + 1, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
#pragma GCC unroll 7
	for (int i = 1; i < 8; i++)
		__atomic_store_n(&p[i], __atomic_load_n(&source[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

/* Copy the program's next packet, without its head, into the device's ring. The caller patches the
 * copy and passes it to gt_hsa_ring_hand_on(). */
static inline union gt_hsa_packet *gt_hsa_ring_copy(struct gt_hsa_ring *ring,
						    const union gt_hsa_packet *from)
{
	union gt_hsa_packet *p = gt_hsa_ring_reserve(ring);

	gt_hsa_packet_copy(p, from);
	return p;
}

/* Hand a packet to the device. @followed: true if gt_hsa_ring_insert() comes next; the packet's
 * slot in the program's ring becomes free only when the inserted packet is gone */
static inline void gt_hsa_ring_hand_on(struct gt_hsa_ring *ring, union gt_hsa_packet *p,
				       const union gt_hsa_packet *from, bool followed)
{
	union gt_hsa_packet *theirs = &ring->theirs[ring->taken & ring->theirs_mask];
	uint32_t head;

	memcpy(&head, from, sizeof head);
	/* Must precede the hand-over, after which the slot belongs to the program again. */
	__atomic_store_n(&theirs->kernel.header, (uint16_t)GT_HSA_PACKET_INVALID, __ATOMIC_RELAXED);
	ring->taken++;
	gt_hsa_ring_publish(ring, p, &head, ring->taken - followed);
	gt_hsa_fetch(&ring->theirs[ring->taken & ring->theirs_mask]);
	gt_hsa_fetch(&ring->device[ring->last & ring->device_mask]);
}

/* Hand the program's next @count packets, which must be written, to the device unchanged. Used for
 * packets that are not wanted; reserves, copies and hands on in one step. */
static inline void gt_hsa_ring_pass(struct gt_hsa_ring *ring, uint64_t count)
{
	uint64_t taken = ring->taken, last = ring->last, end = taken + count;
	const uint64_t theirs_mask = ring->theirs_mask, device_mask = ring->device_mask,
		       origin_mask = ring->origin_mask;
	union gt_hsa_packet *theirs = ring->theirs, *device = ring->device;
	_Atomic uint64_t *origin = ring->origin;

	ring->taken = end;
	ring->last = last + count;
	atomic_store_explicit(ring->write, last + count, memory_order_release);
	do {
		union gt_hsa_packet *from = &theirs[taken & theirs_mask],
				    *p = &device[last & device_mask];
		uint32_t head = __atomic_load_n((const gt_hsa_packet_head *)(const void *)from,
						__ATOMIC_RELAXED);

		gt_hsa_packet_copy(p, from);
		/* Must precede the hand-over, after which the slot belongs to the program again. */
		__atomic_store_n(&from->kernel.header, (uint16_t)GT_HSA_PACKET_INVALID,
				 __ATOMIC_RELAXED);
		atomic_store_explicit(&origin[last++ & origin_mask], ++taken, memory_order_release);
		__atomic_store_n((gt_hsa_packet_head *)(void *)p, head, __ATOMIC_RELEASE);
	} while (taken != end);
	gt_hsa_fetch(&theirs[taken & theirs_mask]);
	gt_hsa_fetch(&device[last & device_mask]);
}

/* Insert a gputap packet after the newest packet. */
void gt_hsa_ring_insert(struct gt_hsa_ring *ring, const union gt_hsa_packet *packet);

/* Ring the device's doorbell for all packets handed on so far. */
static inline void gt_hsa_ring_notify(struct gt_hsa_ring *ring)
{
	if (ring->notified == ring->last) {
		/* the ring may be for a packet that was reserved before the queue was adopted */
		if (__builtin_expect(ring->in_place, 0) && ring->last)
			ring->store(ring->doorbell, (int64_t)(ring->last - 1));
		return;
	}
	ring->notified = ring->last;
	atomic_store_explicit(ring->theirs_read, ring->taken, memory_order_release);
	if (__builtin_expect(!ring->cell, 0)) {
		ring->store(ring->doorbell, (int64_t)(ring->last - 1));
		return;
	}
#if defined(__x86_64__) /* as the runtime does, because packets may be in write-combined memory */
	__asm__ volatile("sfence" : : : "memory");
#endif
	atomic_store_explicit(ring->cell, ring->last - 1, memory_order_release);
}

#endif
