/* SPDX-License-Identifier: MIT */
/* core/unwind.h: return addresses of the calling thread, compared with the addresses that the
 * compiler reports. */
#include "core/unwind.h"

#include <sys/mman.h>

#include "unit.h"

enum { DEEP = 20, LEFT = 4096 };

static struct gt_unwind_area area;
static uintptr_t pcs[GT_UNWIND_MOST], expected[DEEP + 1];
static unsigned count;
static enum gt_unwind_end end;

__attribute__((noinline)) static void descend(int depth, void (*last)(void))
{
	volatile char room[64];

	room[0] = (char)depth;
	expected[depth] = (uintptr_t)__builtin_return_address(0);
	if (depth)
		descend(depth - 1, last);
	else
		last();
	(void)room[0];
}

__attribute__((noinline)) static void unwind(void)
{
	count = 0;
	end = gt_unwind(&area, 0, pcs, &count);
	__asm__ volatile("" ::: "memory");
}

/* Find the call of the first descending function in the stack, and check all calls after it. */
static void check_descent(void)
{
	unsigned i = 0;

	while (i < count && pcs[i] != expected[0] - 1)
		i++;
	for (int depth = 0; depth <= DEEP; depth++, i++)
		CHECK_EQ(i < count ? pcs[i] : 0, expected[depth] - 1);
}

UNIT_TEST(each_caller_is_found_by_the_tables)
{
	gt_unwind_init();
	descend(DEEP, unwind);
#if defined(__x86_64__)
	CHECK_EQ((int)end, GT_UNWIND_WHOLE);
#else /* only frame pointers are used, which some code may not have */
	CHECK(count > 0);
	if (count <= DEEP)
		return;
#endif
	check_descent();
	descend(DEEP, unwind); /* with cached rules */
	check_descent();
}

#if defined(__x86_64__)
/* push rbp; mov rbp, rsp or mov rbp, value; mov rax, target; call rax; pop rbp; ret */
static void write_function(uint8_t *to, const void *target, uint64_t value)
{
	static const uint8_t frame[] = {0x55, 0x48, 0x89, 0xe5}, set[] = {0x55, 0x48, 0xbd},
			     call[] = {0xff, 0xd0, 0x5d, 0xc3}, load[] = {0x48, 0xb8};

	memcpy(to, value ? set : frame, value ? sizeof set : sizeof frame);
	to += value ? sizeof set : sizeof frame;
	if (value)
		memcpy(to, &value, sizeof value);
	to += value ? sizeof value : 0;
	memcpy(to, load, sizeof load);
	memcpy(to + sizeof load, &target, sizeof target);
	memcpy(to + sizeof load + sizeof target, call, sizeof call);
}

static uint8_t *made;

__attribute__((noinline)) static void enter_made(void)
{
	((void (*)(void))made)();
	__asm__ volatile("" ::: "memory");
}

static void make_code(void)
{
	gt_unwind_init();
	made = mmap(NULL, LEFT, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	CHECK(made != MAP_FAILED);
}

UNIT_TEST(code_without_tables_that_calls_itself_is_walked_by_frame_pointers)
{
	enum { FUNCTIONS = 30, BYTES = 64 };
	unsigned found = 0;

	make_code();
	for (int i = 0; i < FUNCTIONS; i++)
		write_function(made + (size_t)i * BYTES,
			       i + 1 < FUNCTIONS ? (void *)(made + (size_t)(i + 1) * BYTES)
						 : (void *)unwind,
			       0);
	descend(DEEP, enter_made);
	for (unsigned i = 0; i < count; i++)
		found += pcs[i] - (uintptr_t)made < LEFT;
	CHECK_EQ(found, FUNCTIONS);
	CHECK_EQ((int)end, GT_UNWIND_WHOLE);
	check_descent();
}

/* The frame pointer may lead to garbage, to unmapped memory or into a circle, but the walk must
 * never leave the stack. */
UNIT_TEST(a_register_that_is_no_frame_pointer_ends_the_walk)
{
	uint64_t words[64], seed = 1;

	make_code();
	for (int round = 0; round < 2000; round++) {
		uint64_t value;

		for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			words[i] = seed >> 60 < 8    ? (uint64_t)(uintptr_t)&words[seed >> 33 & 63]
				   : seed >> 60 < 12 ? (uint64_t)(uintptr_t)enter_made + (seed & 15)
						     : seed >> (seed & 63);
		}
		value = round % 4 ? (uint64_t)(uintptr_t)&words[round % 64] : seed | 8;
		write_function(made, (void *)unwind, value);
		enter_made();
		CHECK(count <= GT_UNWIND_MOST);
	}
}
#endif
