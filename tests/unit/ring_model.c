/* SPDX-License-Identifier: MIT */
/* Model check of the ring's protocol: the real functions of src/ring/ (gt_pool_pop, gt_pool_push,
 * gt_pool_grow, gt_slot_take, gt_block_take, gt_block_link), executed by writers and a collector in
 * every order of their atomic operations. Any of these actors may die between any two operations.
 *
 *   world | contexts and stacks of the actors | segment: header, slots, blocks | expected
 *         | results |
 *
 * Each atomic operation in the included sources is a point where another actor may continue. The
 * search is depth first. At each point the world is copied, one actor makes one step, and a state
 * that was already reached is not followed again. A state consists of the segment, the records
 * taken out, and for each actor a hash of all values that it has read: the next step of an actor
 * depends on nothing else.
 *
 * Checked in every state: no block is twice in the rings and the pool together. Checked in every
 * end state (all writers finished or dead): the collector, and after its death recovery, has taken
 * the committed records of each writer exactly once, in order and complete. Not checked: memory
 * weaker than sequential consistency (the test ring_threads under ThreadSanitizer checks memory
 * orders), more actors than in these tests, and the collector's file (the model takes records and
 * marks them as taken in one step, because the journal makes it one step). */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#pragma GCC diagnostic ignored "-Wshadow" /* nested macros in macro arguments */

static void step(void);
static void step_at(const volatile void *at);
static void stored(const volatile void *at, uint64_t value);
static void has_read(uint64_t value);

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_add_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong_explicit
#define atomic_load_explicit(at, order)                        \
	__extension__({                                        \
		__auto_type at_ = (at);                        \
		__typeof__((void)0, *at_) value_;              \
		step_at(at_);                                  \
		__atomic_load(at_, &value_, __ATOMIC_SEQ_CST); \
		has_read(value_);                              \
		value_;                                        \
	})
#define atomic_store_explicit(at, value, order)                 \
	__extension__({                                         \
		__auto_type at_ = (at);                         \
		__typeof__((void)0, *at_) value_ = (value);     \
		step_at(at_);                                   \
		__atomic_store(at_, &value_, __ATOMIC_SEQ_CST); \
		stored(at_, (uint64_t)value_);                  \
	})
#define atomic_fetch_add_explicit(at, value, order)                        \
	__extension__({                                                    \
		__auto_type at_ = (at);                                    \
		__typeof__((void)0, *at_) sum_;                            \
		step_at(at_);                                              \
		sum_ = __atomic_fetch_add(at_, (value), __ATOMIC_SEQ_CST); \
		has_read(sum_);                                            \
		sum_;                                                      \
	})
#define atomic_compare_exchange_strong_explicit(at, expected, wanted, order, order2)   \
	__extension__({                                                                \
		__auto_type at_ = (at);                                                \
		__typeof__((void)0, *at_) wanted_ = (wanted);                          \
		bool done_;                                                            \
		step_at(at_);                                                          \
		done_ = __atomic_compare_exchange(at_, (expected), &wanted_, false,    \
						  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		has_read(*(expected) + (uint64_t)done_ * 977);                         \
		done_;                                                                 \
	})
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit

#include "ring/pool.h"
#include "../../src/ring/segment_writer.c"

#include "unit.h"

enum {
	WRITERS_MAX = 2,
	ACTORS_MAX = WRITERS_MAX + 1,
	STACK_BYTES = 5 * 1024,
	SLOTS_MAX = 3,
	BLOCKS_MAX = 3,
	RECORD_WORDS = 4,
	RECORD_BYTES = RECORD_WORDS * 8,
	BLOCK_BYTES = 128,
	HEADER_BYTES = (sizeof(struct gt_segment) + 63) & ~63u,
	TABLE_BITS = 23,
	DEPTH_MAX = 4000,
};

/* Parameters of one run of the search. */
static struct setting {
	unsigned writers, slots, blocks, deaths;
	/* records: number for each writer; a_block: number in a block */
	unsigned records[WRITERS_MAX], a_block;
	bool warm;   /* all blocks were used before and are in the pool */
	bool halves; /* writers stop in the middle of a record */
	/* number of times that the collector takes a free block and returns it cold */
	unsigned cools;
	/* number of blocks that may be used until the collector permits all; 0: all */
	unsigned limit;
} setting;

/* The private memory of the collector, lost when it dies. */
struct cursor {
	bool active;
	uint32_t block, at;
};

static struct world {
	ucontext_t scheduler, actor[ACTORS_MAX];
	/* hash of the values that the actor has read since `history` was set */
	uint64_t history[ACTORS_MAX];
	bool alive[ACTORS_MAX], finished[ACTORS_MAX];
	uint32_t linked; /* one bit per block, set if the block is in a ring or the pool */
	unsigned deaths, cooled;
	struct cursor cursor[SLOTS_MAX];
	unsigned committed[WRITERS_MAX], out[WRITERS_MAX];
	const char *broken;
	_Alignas(64) uint8_t segment[HEADER_BYTES + SLOTS_MAX * sizeof(struct gt_slot) +
				     BLOCKS_MAX * BLOCK_BYTES];
	_Alignas(64) uint8_t stack[ACTORS_MAX][STACK_BYTES];
} world;

static int running = -1; /* running actor; -1: the scheduler, whose own operations are not steps */
static struct gt_segment *const segment = (struct gt_segment *)world.segment;

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static void step(void)
{
	if (running < 0)
		return;
	/* the actor's position changes even after a store, which reads no value */
	world.history[running] = mix(world.history[running], 5);
	swapcontext(&world.actor[running], &world.scheduler);
}

static struct gt_block *block_at(const volatile void *at)
{
	const uint8_t *start = (const uint8_t *)gt_segment_block(segment, 1),
		      *byte = (const uint8_t *)(uintptr_t)at;

	return byte >= start && byte < start + setting.blocks * BLOCK_BYTES
		       ? gt_segment_block(segment,
					  1 + (uint32_t)((size_t)(byte - start) / BLOCK_BYTES))
		       : NULL;
}

static uint32_t bit_of(const struct gt_block *b)
{
	return 1u << (((const uint8_t *)b - (const uint8_t *)gt_segment_block(segment, 1)) /
			      BLOCK_BYTES +
		      1);
}

/* Make a step unless no other actor can notice the operation. The order does not matter for
 * operations on a block that is not linked yet, on the actor's own variables, and on a count that
 * no actor reads. */
static void step_at(const volatile void *at)
{
	const uint8_t *byte = (const uint8_t *)(uintptr_t)at;
	const struct gt_block *b = block_at(at);

	if (byte < world.segment || byte >= world.segment + sizeof world.segment ||
	    at == (void *)&segment->full_count ||
	    (b && !(world.linked & bit_of(b)) && at != (void *)&b->free_next))
		return;
	step();
}

/* Track the blocks that other actors can reach. */
static void stored(const volatile void *at, uint64_t value)
{
	const struct gt_block *b = block_at(at);
	bool link = b && at == (void *)&b->next;

	for (uint32_t i = 1; i < setting.slots; i++)
		link |= at == (void *)&gt_segment_slot(segment, i)->first;
	if (link && value)
		world.linked |= 1u << value;
}

static void has_read(uint64_t value)
{
	if (running >= 0)
		world.history[running] = mix(world.history[running] + 1, value);
}

static void broken(const char *what)
{
	if (!world.broken)
		world.broken = what;
}

/* Actors ------------------------------------------------------------------------ */

static void write_record(uint8_t *at, unsigned writer, unsigned number)
{
	uint64_t *words = (uint64_t *)at;

	words[0] = words[1] = (uint64_t)writer << 32 | number;
	if (setting.halves)
		step();
	words[2] = words[3] = words[0];
}

/* Write as core/thread.c does, but without waiting: without a block, no record. */
static void writer(unsigned self)
{
	_Atomic uint32_t hint = 1;
	uint32_t index = gt_slot_take(segment, &hint), number;
	struct gt_block *block = NULL;
	struct gt_slot *slot;
	unsigned in_block = setting.a_block;

	if (index == UINT32_MAX)
		return;
	slot = gt_segment_slot(segment, index);
	slot->ordinal = self + 1;
	atomic_store_explicit(&slot->first, GT_BLOCK_NONE, memory_order_relaxed);
	atomic_store_explicit(&slot->state, GT_SLOT_ACTIVE, memory_order_release);
	for (unsigned tries = 0, n = 0; tries < setting.records[self]; tries++) {
		if (in_block == setting.a_block) {
			number = gt_block_take(segment);
			if (number == GT_BLOCK_NONE)
				continue;
			gt_block_link(segment, index, block, number);
			block = gt_segment_block(segment, number);
			in_block = 0;
		}
		write_record(gt_block_data(block) + in_block * RECORD_BYTES, self, n);
		in_block++;
		atomic_store_explicit(&block->committed, in_block * RECORD_BYTES,
				      memory_order_release);
		/* no step in between, so both happen at the same moment */
		world.committed[self] = ++n;
	}
	atomic_store_explicit(&slot->state, GT_SLOT_CLOSED, memory_order_release);
}

/* Take the records of the block from @at on, in one step. */
static void take_records(const struct gt_block *b, uint32_t at, uint32_t committed)
{
	for (; at < committed; at += RECORD_BYTES) {
		const uint64_t *words =
			(const uint64_t *)(gt_block_data((struct gt_block *)(uintptr_t)b) + at);
		unsigned self = (unsigned)(words[0] >> 32), number = (unsigned)words[0];

		if (words[1] != words[0] || words[2] != words[0] || words[3] != words[0])
			broken("a record is torn");
		else if (self >= setting.writers || self + 1 != b->ordinal)
			broken("a record is in another thread's ring");
		else if (number != world.out[self])
			broken(number < world.out[self] ? "a record came out twice"
							: "a record was lost");
		else
			world.out[self]++;
		has_read(words[0]);
	}
}

/* Process a slot once. Return true if there was work. */
static bool collect(uint32_t index)
{
	struct gt_slot *slot = gt_segment_slot(segment, index);
	struct cursor *c = &world.cursor[index];
	uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire), next, committed,
		 old;
	struct gt_block *b;

	if (state != GT_SLOT_ACTIVE && state != GT_SLOT_CLOSED)
		return false;
	if (!c->active) {
		c->block = atomic_load_explicit(&slot->first, memory_order_acquire);
		if (c->block == GT_BLOCK_NONE) {
			if (state != GT_SLOT_CLOSED)
				return false;
			atomic_store_explicit(&slot->state, GT_SLOT_FREE, memory_order_release);
			return true;
		}
		c->at = atomic_load_explicit(&gt_segment_block(segment, c->block)->drained,
					     memory_order_relaxed);
		c->active = true;
	}
	b = gt_segment_block(segment, c->block);
	/* read before `committed`, which is then final */
	next = atomic_load_explicit(&b->next, memory_order_acquire);
	committed = atomic_load_explicit(&b->committed, memory_order_acquire);
	if (committed == c->at && next == GT_BLOCK_NONE && state != GT_SLOT_CLOSED)
		return false;
	step();
	/* the commit of the journal: records in the file and marks in the segment change in one
	 * step */
	take_records(b, c->at, committed);
	old = c->block;
	c->at = committed;
	__atomic_store_n((uint32_t *)&b->drained, committed, __ATOMIC_SEQ_CST);
	if (next != GT_BLOCK_NONE) {
		c->block = next;
		c->at = 0;
		__atomic_store_n((uint32_t *)&slot->first, next, __ATOMIC_SEQ_CST);
		world.linked &= ~(1u << old);
		gt_pool_push(segment, old);
	} else if (state == GT_SLOT_CLOSED) {
		__atomic_store_n((uint32_t *)&slot->first, GT_BLOCK_NONE, __ATOMIC_SEQ_CST);
		c->active = false;
		atomic_store_explicit(&slot->state, GT_SLOT_FREE, memory_order_release);
		world.linked &= ~(1u << old);
		gt_pool_push(segment, old);
	}
	return true;
}

static uint64_t hash_cursors(void);

/* Cool a block as collector/memory.c does. If the collector dies in between, the block is lost to
 * the pool. */
static void cool(void)
{
	uint32_t number = gt_pool_pop(segment);

	if (number == GT_BLOCK_NONE)
		return;
	world.cooled++;
	world.history[running] = mix(hash_cursors(), 1000 + number);
	atomic_store_explicit(&gt_segment_block(segment, number)->is_cold, 1, memory_order_relaxed);
	gt_pool_push(segment, number);
}

static uint64_t hash_cursors(void)
{
	uint64_t hash = 1;

	for (unsigned i = 0; i < setting.slots; i++)
		hash = mix(mix(mix(hash, world.cursor[i].active), world.cursor[i].block),
			   world.cursor[i].at);
	return hash;
}

static void collector(void)
{
	for (;;) {
		world.history[running] = mix(hash_cursors(), 500);
		if (setting.limit && segment->block_limit != setting.blocks)
			atomic_store_explicit(&segment->block_limit, setting.blocks,
					      memory_order_relaxed);
		if (world.cooled < setting.cools)
			cool();
		for (uint32_t i = 1; i < setting.slots; i++) {
			/* all memory of the collector at this point */
			world.history[running] = mix(hash_cursors(), i);
			collect(i);
		}
	}
}

static void actor_main(int self)
{
	if (self == (int)setting.writers)
		collector();
	writer((unsigned)self);
	world.finished[self] = true;
	for (;;)
		step();
}

/* The search -------------------------------------------------------------------- */

static uint64_t *table, states, ends;
static struct world *saved[DEPTH_MAX];

static void make_world(void)
{
	memset(&world, 0, sizeof world);
	segment->header_bytes = HEADER_BYTES;
	segment->slot_bytes = sizeof(struct gt_slot);
	segment->slot_count = setting.slots;
	segment->block_bytes = BLOCK_BYTES;
	segment->block_count = setting.blocks;
	segment->block_limit = setting.limit;
	segment->block_offset = segment->header_bytes + setting.slots * sizeof(struct gt_slot);
	__atomic_store_n((uint32_t *)&segment->slots_used, 1, __ATOMIC_SEQ_CST);
	/* reserved */
	__atomic_store_n((uint32_t *)&gt_segment_slot(segment, 0)->state, GT_SLOT_ACTIVE,
			 __ATOMIC_SEQ_CST);
	for (uint32_t n = setting.blocks; n > 0 && setting.warm; n--) {
		gt_pool_grow(segment);
		gt_pool_push(segment, n);
	}
	for (unsigned i = 0; i <= setting.writers; i++) {
		world.alive[i] = true;
		getcontext(&world.actor[i]);
		world.actor[i].uc_stack.ss_sp = world.stack[i];
		world.actor[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&world.actor[i], (void (*)(void))actor_main, 1, (int)i);
		/* run up to the first operation */
		running = (int)i;
		swapcontext(&world.scheduler, &world.actor[i]);
		running = -1;
	}
}

static uint64_t hash_world(void)
{
	const uint64_t *words = (const uint64_t *)world.segment;
	uint64_t hash = 7;

	/* all bytes before this point are constant */
	for (size_t i = offsetof(struct gt_segment, state) / 8; i < sizeof world.segment / 8; i++)
		hash = words[i] ? mix(hash + i, words[i]) : hash;
	for (unsigned i = 0; i <= setting.writers; i++)
		hash = mix(hash, world.alive[i] ? world.history[i] + world.finished[i] : 3);
	for (unsigned i = 0; i < setting.writers; i++)
		hash = mix(hash, (uint64_t)world.committed[i] << 8 | world.out[i]);
	hash = mix(mix(hash, hash_cursors()), world.cooled);
	return hash | 1;
}

/* Add the state. Return true if the state is new. */
static bool enter_state(void)
{
	uint64_t hash = hash_world(), mask = (UINT64_C(1) << TABLE_BITS) - 1;

	for (uint64_t i = hash >> 7 & mask;; i = (i + 1) & mask) {
		if (table[i] == hash)
			return false;
		if (table[i] == 0) {
			table[i] = hash;
			CHECK_LT(++states, mask * 7 / 8);
			return true;
		}
	}
}

static void check_blocks(void)
{
	bool taken[BLOCKS_MAX + 1] = {false};
	uint32_t n = (uint32_t)segment->free;

	for (; n && !world.broken; n = gt_segment_block(segment, n)->free_next) {
		if (n > setting.blocks || taken[n])
			broken("a block is twice in the pool");
		else
			taken[n] = true;
	}
	for (uint32_t i = 1; i < setting.slots && !world.broken; i++) {
		const struct gt_slot *slot = gt_segment_slot(segment, i);

		if (slot->state != GT_SLOT_ACTIVE && slot->state != GT_SLOT_CLOSED)
			continue;
		for (n = slot->first; n && !world.broken; n = gt_segment_block(segment, n)->next) {
			if (n > setting.blocks || taken[n])
				broken("a block is in two places");
			else
				taken[n] = true;
		}
	}
}

/* No writer acts any more: the collector continues or, after its death, recovery starts from the
 * marks. */
static void check_end(void)
{
	bool more = true;

	ends++;
	if (!world.alive[setting.writers])
		memset(world.cursor, 0, sizeof world.cursor);
	while (more) {
		more = false;
		for (uint32_t i = 1; i < setting.slots; i++)
			more |= collect(i);
	}
	for (unsigned w = 0; w < setting.writers; w++)
		if (world.out[w] != world.committed[w])
			broken("committed records did not come out");
}

static bool writers_done(void)
{
	for (unsigned w = 0; w < setting.writers; w++)
		if (world.alive[w] && !world.finished[w])
			return false;
	return true;
}

static void search(unsigned depth)
{
	if (depth == DEPTH_MAX)
		unit_fail(__FILE__, __LINE__, "deeper than %d steps", DEPTH_MAX);
	if (!saved[depth])
		saved[depth] = malloc(sizeof world);
	memcpy(saved[depth], &world, sizeof world);
	if (writers_done() && !world.alive[setting.writers]) {
		check_end();
		if (world.broken)
			unit_fail(__FILE__, __LINE__, "%s, after %u steps and %u deaths",
				  world.broken, depth, world.deaths);
		return;
	}
	for (unsigned i = 0; i <= setting.writers; i++) {
		if (!world.alive[i] || world.finished[i])
			continue;
		/* one step */
		running = (int)i;
		swapcontext(&world.scheduler, &world.actor[i]);
		running = -1;
		check_blocks();
		if (world.broken)
			unit_fail(__FILE__, __LINE__, "%s, after %u steps and %u deaths",
				  world.broken, depth, world.deaths);
		if (enter_state())
			search(depth + 1);
		memcpy(&world, saved[depth], sizeof world);
		/* or its actor's death; in every search, the collector ends or dies */
		if (i == setting.writers ? writers_done() || world.deaths < setting.deaths
					 : world.deaths < setting.deaths) {
			world.alive[i] = false;
			world.deaths++;
			if (enter_state())
				search(depth + 1);
			memcpy(&world, saved[depth], sizeof world);
		}
	}
}

static void check(struct setting s)
{
	setting = s;
	table = calloc(UINT64_C(1) << TABLE_BITS, sizeof *table);
	make_world();
	search(0);
	printf("%u writers, %u and %u records, %u slots, %u blocks, %u deaths: %llu states, %llu "
	       "ends\n",
	       s.writers, s.records[0], s.records[1], s.slots - 1, s.blocks, s.deaths,
	       (unsigned long long)states, (unsigned long long)ends);
	for (unsigned i = 0; i < DEPTH_MAX; i++)
		free(saved[i]);
	free(table);
	CHECK_GT(ends, 0);
}

UNIT_TEST(one_writer_over_many_blocks)
{
	check((struct setting){.writers = 1,
			       .records = {7},
			       .a_block = 2,
			       .slots = 2,
			       .blocks = 2,
			       .deaths = 2,
			       .halves = true});
}

UNIT_TEST(two_writers_share_a_pool)
{
	check((struct setting){.writers = 2,
			       .records = {2, 1},
			       .a_block = 1,
			       .slots = 3,
			       .blocks = 2,
			       .deaths = 1});
}

UNIT_TEST(two_writers_after_each_other_in_one_slot)
{
	check((struct setting){.writers = 2,
			       .records = {3, 3},
			       .a_block = 2,
			       .slots = 2,
			       .blocks = 2,
			       .deaths = 1,
			       .halves = true});
}

/* Without the tag in segment.free this test fails, because a block can be popped, returned and
 * popped again during another actor's pop. */
UNIT_TEST(two_writers_and_blocks_that_come_back)
{
	check((struct setting){.writers = 2,
			       .records = {1, 2},
			       .a_block = 1,
			       .slots = 3,
			       .blocks = 2,
			       .warm = true});
}

UNIT_TEST(one_writer_and_blocks_that_are_cooled_and_allowed_later)
{
	check((struct setting){.writers = 1,
			       .records = {4},
			       .a_block = 1,
			       .slots = 2,
			       .blocks = 3,
			       .limit = 1,
			       .deaths = 1,
			       .cools = 2});
}

UNIT_TEST(two_writers_and_blocks_that_are_cooled)
{
	check((struct setting){.writers = 2,
			       .records = {1, 1},
			       .a_block = 1,
			       .slots = 3,
			       .blocks = 2,
			       .warm = true,
			       .cools = 1});
}
