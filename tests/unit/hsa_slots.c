/* SPDX-License-Identifier: MIT */
/* Slots for an HSA queue's activities in progress (runtime/hsa/hsa_slots.h) are taken, submitted
 * and freed in any order, without a runtime. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "runtime/hsa/hsa_slots.h"
#include "unit.h"

enum { CAPACITY = 8 };

static struct {
	struct gt_hsa_slot slot[CAPACITY];
	struct gt_hsa_signal signal[CAPACITY];
	uint32_t order[CAPACITY], freed[CAPACITY];
	struct gt_hsa_slots slots;
	struct gt_hsa_ring ring;
	uint64_t now, wakes;
} all;

uint64_t gt_hsa_boottime_ns(void)
{
	return all.now += 100 * GT_HSA_MS;
}

void gt_hsa_wake_helper(struct gt_hsa_agent *a)
{
	(void)a;
	all.wakes++;
}

static void begin(void)
{
	memset(&all, 0, sizeof all);
	all.slots.slot = all.slot;
	all.slots.order = all.order;
	all.slots.freed = all.freed;
	all.slots.capacity = CAPACITY;
	all.slots.stuck_head = UINT64_MAX;
	all.slots.armed = CAPACITY;
	for (int i = 0; i < CAPACITY; i++)
		all.slot[i].ours = &all.signal[i];
}

static struct gt_hsa_slot *submit(uint32_t packet)
{
	struct gt_hsa_slot *s = gt_hsa_slots_take(&all.slots, &all.ring, NULL);

	if (!s)
		return NULL;
	s->activity.packet = packet;
	gt_hsa_slots_submit(&all.slots, s, GT_HSA_ACTIVITY_PENDING);
	return s;
}

UNIT_TEST(a_slot_that_was_freed_is_taken_before_one_that_was_never_used)
{
	struct gt_hsa_slot *first;

	begin();
	first = submit(0);
	CHECK(first == &all.slot[0] && submit(1) == &all.slot[1]);
	gt_hsa_slots_free_position(&all.slots, 0);
	CHECK(atomic_load(&first->watch.state) == GT_HSA_ACTIVITY_FREE);
	CHECK(submit(2) == first && submit(3) == &all.slot[2]);
}

UNIT_TEST(work_that_is_done_out_of_order_leaves_its_position_empty)
{
	begin();
	for (uint32_t i = 0; i < 3; i++)
		submit(i);
	gt_hsa_slots_free_position(&all.slots, 1);
	CHECK(gt_hsa_slots_at(&all.slots, 0) == &all.slot[0]);
	CHECK(!gt_hsa_slots_at(&all.slots, 1));
	CHECK(gt_hsa_slots_at(&all.slots, 2) == &all.slot[2]);
}

UNIT_TEST(a_packet_is_found_behind_work_that_is_done_before_it)
{
	begin();
	for (uint32_t i = 0; i < 3; i++)
		submit(10 + i);
	gt_hsa_slots_free_position(&all.slots, 1);
	CHECK(gt_hsa_slots_find_packet(&all.slots, 12) == &all.slot[2].activity);
	CHECK(gt_hsa_slots_find_packet(&all.slots, 10) == &all.slot[0].activity);
	CHECK(!gt_hsa_slots_find_packet(&all.slots, 11));
}

UNIT_TEST(with_all_slots_in_use_the_helper_is_waited_for_once)
{
	uint64_t wakes;

	begin();
	for (uint32_t i = 0; i < CAPACITY; i++)
		CHECK(submit(i) != NULL);
	CHECK(!submit(CAPACITY));
	wakes = all.wakes;
	CHECK(wakes && !submit(CAPACITY) && all.wakes == wakes);
	gt_hsa_slots_free_position(&all.slots, 0);
	atomic_store(&all.slots.head, 1);
	CHECK(submit(CAPACITY) == &all.slot[0]);
}

enum { PIECES = 20000 };

/* Harvest completed activities in a different order, with each third activity late. */
static void *harvest(void *unused)
{
	uint64_t next = 0, head = 0, late = UINT64_MAX;

	(void)unused;
	while (head < PIECES) {
		uint64_t tail = atomic_load_explicit(&all.slots.tail, memory_order_acquire);
		struct gt_hsa_slot *s;

		if (next == tail && late == UINT64_MAX)
			continue;
		if (late == UINT64_MAX && next % 3 == 0 && next + 1 < PIECES) {
			late = next++;
			continue;
		}
		if (next == tail && tail < PIECES)
			continue;
		if (next < tail) {
			s = gt_hsa_slots_at(&all.slots, next);
			CHECK(s && s->activity.packet == (uint32_t)next &&
			      s->activity.id == next + 1);
			gt_hsa_slots_free_position(&all.slots, next++);
		}
		if (late != UINT64_MAX) {
			s = gt_hsa_slots_at(&all.slots, late);
			CHECK(s && s->activity.packet == (uint32_t)late);
			gt_hsa_slots_free_position(&all.slots, late);
			late = UINT64_MAX;
		}
		head = next;
		atomic_store_explicit(&all.slots.head, head, memory_order_release);
	}
	return NULL;
}

UNIT_TEST(what_one_thread_submits_another_one_frees_in_any_order)
{
	pthread_t harvester;

	begin();
	CHECK(pthread_create(&harvester, NULL, harvest, NULL) == 0);
	for (uint32_t i = 0; i < PIECES; i++) {
		struct gt_hsa_slot *s;

		while (!(s = gt_hsa_slots_take(&all.slots, &all.ring, NULL))) {
			all.slots.stuck_head = UINT64_MAX;
			sched_yield();
		}
		s->activity.packet = i;
		s->activity.id = i + UINT64_C(1);
		gt_hsa_slots_submit(&all.slots, s, GT_HSA_ACTIVITY_PENDING);
	}
	pthread_join(harvester, NULL);
	CHECK(atomic_load(&all.slots.freed_put) == PIECES);
}
