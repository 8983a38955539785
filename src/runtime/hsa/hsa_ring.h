/* SPDX-License-Identifier: MIT */
/* Two rings of packets: the program's, which the device does not read, and the device's, which
 * the program does not know.
 *
 *   program: reserve, write packet, ring ─► theirs[] ─ one thread at a time, in order ─► device[]
 *               ▲                              │ up to the first packet that is not written yet
 *               └── read index ◄───────────────┴─────── origin[]: how many of the program's packets
 *                                                       are gone when one of the device's is
 *
 * Steps:
 *   1. The program's thread reserves a number, writes the packet, stores its header (release),
 *      and rings.
 *   2. The thread that rings enters the ring (`worker`, compare and exchange, acquire). If another
 *      thread is at work it waits, as it would for a packet in front of its own that is not
 *      written yet. If it is itself at work (a signal handler rings, or a tool's function that is
 *      called for a packet), it leaves a note (`again`) and goes on.
 *   3. The thread at work reads headers (acquire), copies each packet into device[], changes the
 *      copy where no device can have it yet, makes the program's place INVALID, stores origin[]
 *      (release), then the copy's header (release): the device may have it.
 *   4. It stores the program's read index (release), and the device's doorbell (release).
 *   5. It leaves the ring (`worker`, release), then looks for a note; with a note it begins anew.
 * A packet of ours between two of the program's moves those behind it, which the program does not
 * see: it has indices of its own.
 *
 * Room. The program keeps its packets in flight below its own ring's size. It learns by the read
 * index what the device has taken, or had taken at the last look (`shown`). The device's ring is
 * twice as large, with a place for one of ours behind each packet. But some programs look at the
 * read index in the queue's memory, which nobody can keep up with the device; there it counts what
 * went into the device's ring. Such a program may bring more than its ring's size: then the thread
 * at work waits for room, where the program would without us. The device's ring has no other
 * producer: its write index is stored, not added to.
 *
 * Nothing here calls HSA but ring->store; tests/unit/hsa_ring.c runs it alone. */
#ifndef GPUTAP_RUNTIME_HSA_RING_H
#define GPUTAP_RUNTIME_HSA_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/hsa/hsa_abi.h"

/* A packet's first four bytes, which make it one. */
typedef uint32_t __attribute__((may_alias)) gt_hsa_packet_head;
typedef uint64_t __attribute__((may_alias)) gt_hsa_packet_word;

struct gt_hsa_ring {
	/* constant */
	union gt_hsa_packet *theirs, *device;
	uint64_t theirs_size, device_size; /* powers of two; device_size >= theirs_size */
	uint64_t theirs_mask, device_mask, origin_mask; /* gt_hsa_ring_begin() makes them */
	_Atomic uint64_t *theirs_write, *theirs_read;   /* in the queue that the program has */
	_Atomic uint64_t *write, *read;                 /* in the runtime's */
	/* [2 * device_size]: an entry must not be written over while its packet is in a full
	 * ring */
	_Atomic uint64_t *origin;
	/* the device's doorbell itself; NULL: only the runtime knows how to ring it: */
	_Atomic uint64_t *cell;
	void (*store)(uint64_t doorbell, int64_t index);
	uint64_t doorbell; /* the runtime's */
	/* so many of the program's packets were gone when that was looked at last, or more.
	 * Rarely written */
	_Atomic uint64_t shown;

	_Alignas(64) _Atomic uintptr_t worker; /* who is at work; 0: nobody */
	_Atomic uint32_t again;                /* its own note: it was rung meanwhile */
	/* of the one who works */
	uint64_t taken; /* packets of the program's below are in the device's ring */
	/* index behind the newest packet there; the doorbell has been rung up to */
	uint64_t last, notified;
	uint64_t limit;            /* packets below may be looked at */
	uint64_t gone, read_known; /* of `taken` and `last` the device has taken so many, or more */
};

/* @ring has its constants. The packets of both rings become INVALID if @theirs is new memory. */
void gt_hsa_ring_begin(struct gt_hsa_ring *ring);

/* So many of the program's packets has the device taken. */
static inline uint64_t gt_hsa_ring_read(const struct gt_hsa_ring *ring)
{
	uint64_t gone, read, write;

	do {
		read = atomic_load_explicit(ring->read, memory_order_acquire);
		if (__builtin_expect(!read, 0))
			return 0;
		gone = atomic_load_explicit(&ring->origin[(read - 1) & ring->origin_mask],
					    memory_order_acquire);
		write = atomic_load_explicit(ring->write, memory_order_relaxed);
	} while (__builtin_expect((int64_t)(write - read) > (int64_t)ring->origin_mask,
				  0)); /* it may be a later packet's by now */
	return gone;
}

/* Who has reserved up to @reserved asks whether there is room. Is there, by far, also by what
 * was seen last? The index itself lies in a cache line that the device writes for each packet. */
static inline bool gt_hsa_ring_is_roomy(const struct gt_hsa_ring *ring, uint64_t reserved,
					uint64_t *gone)
{
	*gone = atomic_load_explicit(&ring->shown, memory_order_acquire);
	return reserved - *gone <= ring->theirs_size / 2;
}

static inline uint64_t gt_hsa_ring_show(struct gt_hsa_ring *ring)
{
	uint64_t gone = gt_hsa_ring_read(ring);

	/* who reads it may write there */
	atomic_store_explicit(&ring->shown, gone, memory_order_release);
	return gone;
}

enum gt_hsa_ring_entry { GT_HSA_RING_BUSY, GT_HSA_RING_ENTERED, GT_HSA_RING_NOTED };

/* @me: of this thread, not 0. BUSY: another thread is in it; NOTED: this one is, and will see to
 *         it. */
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

/* Everything that was seen is done. Return: false: there was a note, and it is to be entered
 * again. */
static inline bool gt_hsa_ring_leave(struct gt_hsa_ring *ring)
{
	atomic_store_explicit(&ring->worker, 0, memory_order_release);
	if (__builtin_expect(!atomic_load_explicit(&ring->again, memory_order_relaxed), 1))
		return true;
	atomic_store_explicit(&ring->again, 0, memory_order_relaxed);
	return false;
}

/* How far may be looked. @index: what the doorbell was rung with, which may be before the write
 * index is stored. */
static inline void gt_hsa_ring_look(struct gt_hsa_ring *ring, uint64_t index)
{
	uint64_t write = atomic_load_explicit(ring->theirs_write, memory_order_acquire);

	ring->limit = index + 1 > write && index < write + ring->theirs_size ? index + 1 : write;
}

/* The program's next packet, number ring->taken. NULL: it is not written yet, or there is none. */
static inline const union gt_hsa_packet *gt_hsa_ring_next(struct gt_hsa_ring *ring)
{
	union gt_hsa_packet *p = &ring->theirs[ring->taken & ring->theirs_mask];

	if (ring->taken >= ring->limit ||
	    GT_HSA_PACKET_TYPE(__atomic_load_n(&p->kernel.header, __ATOMIC_ACQUIRE)) ==
		    GT_HSA_PACKET_INVALID)
		return NULL;
	return p;
}

/* Can every packet have one of ours behind it? */
static inline bool gt_hsa_ring_is_large(const struct gt_hsa_ring *ring)
{
	return ring->device_size >= 2 * ring->theirs_size;
}

/* Are fewer in flight than the program's ring has places? (And is there room, which follows but
 * where gputap put in others.) */
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

/* For so many there was room when it was looked at last, @most at most. 0: it has to be looked
 * at. */
static inline uint64_t gt_hsa_ring_had_room(const struct gt_hsa_ring *ring, uint64_t most)
{
	int64_t places = (int64_t)(ring->theirs_size - (ring->taken - ring->gone));
	int64_t free = (int64_t)(ring->device_size - 1 - (ring->last - ring->read_known));

	places = places < free ? places : free;
	return places > 0 ? ((uint64_t)places < most ? (uint64_t)places : most) : 0;
}

/* @p will be written to before long, though another core had it last. */
static inline void gt_hsa_fetch(void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/* A place in the device's ring. */
static inline union gt_hsa_packet *gt_hsa_ring_reserve(struct gt_hsa_ring *ring)
{
	uint64_t index = ring->last++;

	atomic_store_explicit(ring->write, index + 1, memory_order_release);
	return &ring->device[index & ring->device_mask];
}

/* From the first four bytes on the device may have it. */
static inline void gt_hsa_ring_publish(struct gt_hsa_ring *ring, union gt_hsa_packet *p,
				       const void *head, uint64_t gone)
{
	uint32_t first;

	memcpy(&first, head, sizeof first);
	atomic_store_explicit(&ring->origin[(ring->last - 1) & ring->origin_mask], gone,
			      memory_order_release);
	__atomic_store_n((gt_hsa_packet_head *)(void *)p, first, __ATOMIC_RELEASE);
}

/* All but the head. Word by word: the program may have stored it just now, and a load across two
 * stores waits until the cache has both, which is a ring that is as large as the cache. */
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

/* The program's next packet, but for its head, into the device's ring: to be patched, then
 * gt_hsa_ring_hand_on(). */
static inline union gt_hsa_packet *gt_hsa_ring_copy(struct gt_hsa_ring *ring,
						    const union gt_hsa_packet *from)
{
	union gt_hsa_packet *p = gt_hsa_ring_reserve(ring);

	gt_hsa_packet_copy(p, from);
	return p;
}

/* @followed: gt_hsa_ring_insert() comes next: only when that one is gone, the packet's place in
 *         the program's ring is free. */
static inline void gt_hsa_ring_hand_on(struct gt_hsa_ring *ring, union gt_hsa_packet *p,
				       const union gt_hsa_packet *from, bool followed)
{
	union gt_hsa_packet *theirs = &ring->theirs[ring->taken & ring->theirs_mask];
	uint32_t head;

	memcpy(&head, from, sizeof head);
	/* before the device may have it: then the place is the program's again */
	__atomic_store_n(&theirs->kernel.header, (uint16_t)GT_HSA_PACKET_INVALID, __ATOMIC_RELAXED);
	ring->taken++;
	gt_hsa_ring_publish(ring, p, &head, ring->taken - followed);
	gt_hsa_fetch(&ring->theirs[ring->taken & ring->theirs_mask]);
	gt_hsa_fetch(&ring->device[ring->last & ring->device_mask]);
}

/* The program's next packets, which are written, into the device's ring as they are: reserve,
 * copy and hand on in one, for packets that nobody looks at. */
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
		/* before the device may have it: then the place is the program's again */
		__atomic_store_n(&from->kernel.header, (uint16_t)GT_HSA_PACKET_INVALID,
				 __ATOMIC_RELAXED);
		atomic_store_explicit(&origin[last++ & origin_mask], ++taken, memory_order_release);
		__atomic_store_n((gt_hsa_packet_head *)(void *)p, head, __ATOMIC_RELEASE);
	} while (taken != end);
	gt_hsa_fetch(&theirs[taken & theirs_mask]);
	gt_hsa_fetch(&device[last & device_mask]);
}

/* A packet of ours, behind the newest one. */
void gt_hsa_ring_insert(struct gt_hsa_ring *ring, const union gt_hsa_packet *packet);

/* The device may begin with what has been handed on. */
static inline void gt_hsa_ring_notify(struct gt_hsa_ring *ring)
{
	if (ring->notified == ring->last)
		return;
	ring->notified = ring->last;
	atomic_store_explicit(ring->theirs_read, ring->taken, memory_order_release);
	if (__builtin_expect(!ring->cell, 0)) {
		ring->store(ring->doorbell, (int64_t)(ring->last - 1));
		return;
	}
#if defined(__x86_64__) /* as the runtime does: its packets may lie in write-combined memory */
	__asm__ volatile("sfence" : : : "memory");
#endif
	atomic_store_explicit(ring->cell, ring->last - 1, memory_order_release);
}

#endif
