/* SPDX-License-Identifier: MIT */
/* Passes packets from the program's ring to the device's ring, without HSA: with several producers,
 * and a device that reads its ring only up to the doorbell. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/hsa/hsa_ring.h"
#include "unit.h"

#if defined(__SANITIZE_THREAD__)
enum { SCALE = 20 };
#else
enum { SCALE = 1 };
#endif
enum {
	SIZE = 64,
	DEVICE_SIZE = 2 * SIZE,
	PRODUCERS = 4,
	EACH = 40000 / SCALE,
	OURS = 77,
	AS_IT_IS = 78
};

static struct {
	struct gt_hsa_ring ring;
	union gt_hsa_packet theirs[SIZE], device[DEVICE_SIZE];
	_Atomic uint64_t origin[2 * DEVICE_SIZE], theirs_write, theirs_read, write, read, bell;
	unsigned insert_every; /* 0: never */
	/* one packet in this many is changed, other packets pass unchanged; 0: all are changed */
	unsigned pass_every;
	/* fields of the device */
	uint64_t seen[PRODUCERS + 1], ours, as_they_were;
	_Atomic uint32_t wrong;
} all;

static bool pass_most; /* four of five packets pass unchanged */

static void rung(uint64_t doorbell, int64_t index)
{
	(void)doorbell;
	atomic_store_explicit(&all.bell, (uint64_t)index + 1, memory_order_release);
}

static void begin(unsigned insert_every, bool cell)
{
	static _Atomic uint64_t unused;

	memset(&all, 0, sizeof all);
	all.insert_every = insert_every;
	all.pass_every = pass_most ? 5 : 0;
	all.ring = (struct gt_hsa_ring){.theirs = all.theirs,
					.device = all.device,
					.theirs_size = SIZE,
					.device_size = DEVICE_SIZE,
					.theirs_write = &all.theirs_write,
					.theirs_read = &all.theirs_read,
					.write = &all.write,
					.read = &all.read,
					.origin = all.origin,
					.store = rung,
					.cell = cell ? &unused : NULL};
	for (int i = 0; i < DEVICE_SIZE; i++)
		all.device[i].kernel.header = GT_HSA_PACKET_INVALID;
	gt_hsa_ring_begin(&all.ring);
}

/* Return how many of the next packets pass unchanged. 0: check the free space. */
static uint64_t run_of(const struct gt_hsa_ring *r)
{
	uint64_t most = gt_hsa_ring_had_room(r, all.pass_every - 1 - r->taken % all.pass_every),
		 n = 0;

	while (n < most && r->taken + n < r->limit &&
	       __atomic_load_n(&r->theirs[(r->taken + n) & r->theirs_mask].kernel.header,
			       __ATOMIC_ACQUIRE) != GT_HSA_PACKET_INVALID)
		n++;
	return n;
}

/* Copy packets, as hsa_packets.c does. */
static void ring(uint64_t index)
{
	struct gt_hsa_ring *r = &all.ring;
	uintptr_t me = (uintptr_t)pthread_self();

	do {
		const union gt_hsa_packet *from;
		enum gt_hsa_ring_entry how;

		while ((how = gt_hsa_ring_enter(r, me)) == GT_HSA_RING_BUSY)
			sched_yield();
		if (how == GT_HSA_RING_NOTED)
			return;
		gt_hsa_ring_look(r, index);
		while ((from = gt_hsa_ring_next(r)) != NULL) {
			bool ours = all.insert_every && (r->taken + 1) % all.insert_every == 0;
			union gt_hsa_packet *p;

			while (!gt_hsa_ring_has_room(r)) {
				gt_hsa_ring_notify(r);
				sched_yield();
			}
			if (all.pass_every && (r->taken + 1) % all.pass_every) {
				uint64_t run = run_of(r);

				gt_hsa_ring_pass(r, run ? run : 1);
				continue;
			}
			p = gt_hsa_ring_copy(r, from);
			p->kernel.completion_signal = ~from->kernel.kernel_object; /* patched */
			gt_hsa_ring_hand_on(r, p, from, ours);
			if (ours)
				gt_hsa_ring_insert(
					r, &(union gt_hsa_packet){
						   .barrier = {.header = GT_HSA_PACKET_BARRIER_AND,
							       .completion_signal = OURS}});
		}
		gt_hsa_ring_notify(r);
	} while (!gt_hsa_ring_leave(r));
}

static uint64_t reserve(uint64_t count)
{
	return atomic_fetch_add_explicit(&all.theirs_write, count, memory_order_acq_rel);
}

static void write_packet(uint64_t index, uint64_t producer, uint64_t number)
{
	union gt_hsa_packet *p = &all.theirs[index % SIZE];

	p->kernel.kernel_object = number;
	p->kernel.kernarg = producer;
	p->kernel.completion_signal = AS_IT_IS;
	__atomic_store_n(&p->kernel.header, (uint16_t)GT_HSA_PACKET_KERNEL, __ATOMIC_RELEASE);
}

/* Take a packet if one is below the doorbell. */
static bool device_takes(void)
{
	uint64_t read = atomic_load_explicit(&all.read, memory_order_relaxed);
	union gt_hsa_packet *p = &all.device[read % DEVICE_SIZE];
	uint16_t header;

	if (read >= atomic_load_explicit(&all.bell, memory_order_acquire))
		return false;
	header = __atomic_load_n(&p->kernel.header, __ATOMIC_ACQUIRE);
	if (header == GT_HSA_PACKET_INVALID)
		return false;
	if (header == GT_HSA_PACKET_BARRIER_AND) {
		all.wrong += p->barrier.completion_signal != OURS;
		all.ours++;
	} else {
		uint64_t producer = p->kernel.kernarg;

		all.wrong += header != GT_HSA_PACKET_KERNEL || producer > PRODUCERS ||
			     p->kernel.kernel_object != all.seen[producer] ||
			     (p->kernel.completion_signal != ~p->kernel.kernel_object &&
			      !(all.pass_every && p->kernel.completion_signal == AS_IT_IS));
		all.as_they_were += p->kernel.completion_signal == AS_IT_IS;
		if (producer <= PRODUCERS)
			all.seen[producer]++;
	}
	__atomic_store_n(&p->kernel.header, (uint16_t)GT_HSA_PACKET_INVALID, __ATOMIC_RELAXED);
	atomic_store_explicit(&all.read, read + 1, memory_order_release);
	return true;
}

static void put(uint64_t producer, uint64_t number)
{
	uint64_t index = reserve(1);

	write_packet(index, producer, number);
	ring(index);
}

UNIT_TEST(a_packet_behind_a_gap_waits)
{
	uint64_t first, second;

	begin(0, false);
	first = reserve(1);
	second = reserve(1);
	write_packet(second, 0, 1);
	ring(second);
	CHECK(!device_takes());
	write_packet(first, 0, 0);
	ring(first);
	CHECK(device_takes() && device_takes() && !device_takes());
	CHECK(all.seen[0] == 2 && !all.wrong);
}

UNIT_TEST(a_doorbell_before_the_write_index_counts)
{
	begin(0, false);
	write_packet(0, 0, 0);
	ring(0);
	reserve(1);
	CHECK(device_takes() && all.seen[0] == 1 &&
	      all.theirs[0].kernel.header == GT_HSA_PACKET_INVALID);
	ring(UINT64_MAX); /* no index */
	CHECK(!device_takes());
}

UNIT_TEST(the_read_index_counts_the_programs_packets)
{
	begin(3, false);
	for (uint64_t i = 0; i < 10 * SIZE; i++) {
		put(0, i);
		CHECK(gt_hsa_ring_read(&all.ring) == i);
		CHECK(atomic_load(&all.theirs_read) == i + 1);
		while (device_takes())
			;
		CHECK(gt_hsa_ring_read(&all.ring) == i + 1);
	}
	CHECK(all.ours == 10 * SIZE / 3 && !all.wrong);
}

UNIT_TEST(who_asks_for_room_gets_none_that_is_not_there)
{
	uint64_t gone;

	begin(0, false);
	for (uint64_t i = 0; i < SIZE / 2; i++)
		put(0, i);
	CHECK(gt_hsa_ring_is_roomy(&all.ring, SIZE / 2, &gone) && gone == 0);
	while (device_takes())
		;
	/* the last known read index is sufficient for half the ring */
	CHECK(gt_hsa_ring_is_roomy(&all.ring, SIZE / 2, &gone) && gone == 0);
	CHECK(!gt_hsa_ring_is_roomy(&all.ring, SIZE / 2 + 1, &gone) &&
	      gt_hsa_ring_show(&all.ring) == SIZE / 2);
	CHECK(gt_hsa_ring_is_roomy(&all.ring, SIZE, &gone) && gone == SIZE / 2);
	CHECK(!gt_hsa_ring_is_roomy(&all.ring, SIZE + 1, &gone));
}

UNIT_TEST(a_run_goes_on_as_far_as_there_was_room)
{
	begin(0, false);
	for (uint64_t i = 0; i < SIZE; i++)
		write_packet(reserve(1), 0, i);
	CHECK(gt_hsa_ring_had_room(&all.ring, 16) == 16);
	gt_hsa_ring_look(&all.ring, 0);
	gt_hsa_ring_pass(&all.ring, SIZE - 3);
	CHECK(!device_takes() && atomic_load(&all.write) == SIZE - 3); /* no doorbell yet */
	CHECK(gt_hsa_ring_had_room(&all.ring, 16) == 3);
	gt_hsa_ring_pass(&all.ring, 3);
	CHECK(gt_hsa_ring_had_room(&all.ring, 16) == 0 && !gt_hsa_ring_has_room(&all.ring));
	gt_hsa_ring_notify(&all.ring);
	all.pass_every = 1; /* the packets are unchanged */
	while (device_takes())
		;
	CHECK(all.seen[0] == SIZE && all.as_they_were == SIZE && !all.wrong &&
	      gt_hsa_ring_has_room(&all.ring));
}

UNIT_TEST(a_full_ring_has_room_for_one_of_ours_behind_each)
{
	begin(1, false);
	for (uint64_t i = 0; i < SIZE; i++)
		put(0, i);
	CHECK(atomic_load(&all.write) - atomic_load(&all.read) == DEVICE_SIZE);
	CHECK(gt_hsa_ring_read(&all.ring) == 0 && !gt_hsa_ring_has_room(&all.ring));
	CHECK(device_takes() && gt_hsa_ring_read(&all.ring) == 0 &&
	      !gt_hsa_ring_has_room(&all.ring));
	CHECK(device_takes() && gt_hsa_ring_read(&all.ring) == 1 &&
	      gt_hsa_ring_has_room(&all.ring));
	put(0, SIZE);
	CHECK(gt_hsa_ring_read(&all.ring) == 1 && !gt_hsa_ring_has_room(&all.ring));
	while (device_takes())
		;
	CHECK(all.seen[0] == SIZE + 1 && all.ours == SIZE + 1 && !all.wrong &&
	      gt_hsa_ring_has_room(&all.ring));
}

UNIT_TEST(a_ring_in_the_middle_of_work_is_seen_to)
{
	uintptr_t me = (uintptr_t)pthread_self();

	begin(0, false);
	CHECK(gt_hsa_ring_enter(&all.ring, me) == GT_HSA_RING_ENTERED);
	put(0, 0);
	CHECK(!device_takes());
	CHECK(gt_hsa_ring_enter(&all.ring, me + 1) == GT_HSA_RING_BUSY);
	CHECK(!gt_hsa_ring_leave(&all.ring));
	ring(0);
	CHECK(device_takes() && !device_takes());
}

UNIT_TEST(the_devices_own_doorbell_gets_the_index)
{
	begin(0, true);
	put(0, 0);
	put(0, 1);
	CHECK(atomic_load(all.ring.cell) == 1 && atomic_load(&all.bell) == 0);
}

static uint64_t asked_for_room(uint64_t index)
{
	uint64_t gone;

	return gt_hsa_ring_is_roomy(&all.ring, index + 1, &gone) ? gone
								 : gt_hsa_ring_show(&all.ring);
}

/* Half of the producers use the read index in memory, which may admit more packets than fit. The
 * other half uses the index that gt_hsa_ring_is_roomy() returns. */
static void *produce(void *arg)
{
	uint64_t producer = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < EACH; i++) {
		uint64_t index = reserve(1);

		while (index - (producer % 2 ? atomic_load_explicit(&all.theirs_read,
								    memory_order_acquire)
					     : asked_for_room(index)) >=
		       SIZE)
			sched_yield();
		write_packet(index, producer, i);
		ring(index);
	}
	return NULL;
}

static void *consume(void *arg)
{
	const _Atomic uint32_t *over = arg;

	while (!atomic_load(over))
		if (!device_takes())
			sched_yield();
	while (device_takes())
		;
	return NULL;
}

static void producers(unsigned insert_every)
{
	static _Atomic uint32_t over;
	pthread_t threads[PRODUCERS], device;

	begin(insert_every, false);
	over = 0;
	pthread_create(&device, NULL, consume, &over);
	for (uintptr_t i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, produce, (void *)i);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	over = 1;
	pthread_join(device, NULL);
	for (int i = 0; i < PRODUCERS; i++)
		CHECK(all.seen[i] == EACH);
	CHECK(!all.wrong && gt_hsa_ring_read(&all.ring) == PRODUCERS * EACH);
	CHECK(all.ours == (insert_every ? PRODUCERS * EACH / insert_every : 0));
	CHECK(all.as_they_were == (pass_most ? PRODUCERS * EACH / 5 * 4 : 0));
}

UNIT_TEST(several_producers_lose_nothing)
{
	producers(0);
}

UNIT_TEST(several_producers_lose_nothing_with_packets_of_ours_between)
{
	producers(1);
	producers(5);
}

UNIT_TEST(a_packet_that_is_passed_on_is_the_same_but_for_the_place)
{
	union gt_hsa_packet was = {
		.kernel = {.header = GT_HSA_PACKET_KERNEL | GT_HSA_PACKET_BARRIER_BIT,
			   .setup = 3,
			   .local = {4, 5, 6},
			   .reserved0 = 7,
			   .grid = {8, 9, 10},
			   .private_bytes = 11,
			   .group_bytes = 12,
			   .kernel_object = 13,
			   .kernarg = 14,
			   .reserved2 = 15,
			   .completion_signal = 16}};

	begin(0, false);
	put(0, 0); /* not at the first position */
	all.theirs[reserve(1)] = was;
	gt_hsa_ring_look(&all.ring, 1);
	gt_hsa_ring_pass(&all.ring, 1);
	CHECK(!memcmp(&all.device[1], &was, sizeof was) &&
	      all.theirs[1].kernel.header == GT_HSA_PACKET_INVALID);
	CHECK(atomic_load(&all.write) == 2 && atomic_load(&all.bell) == 1 &&
	      !gt_hsa_ring_next(&all.ring));
	gt_hsa_ring_notify(&all.ring);
	CHECK(atomic_load(&all.bell) == 2 && atomic_load(&all.theirs_read) == 2);
	atomic_store(&all.read, 2);
	CHECK(gt_hsa_ring_read(&all.ring) == 2);
}

/* Most packets pass unchanged, some are patched, and a packet of ours follows every third patched
 * packet. */
UNIT_TEST(several_producers_lose_nothing_of_what_is_passed_on)
{
	pass_most = true;
	producers(0);
	producers(15);
	pass_most = false;
}
