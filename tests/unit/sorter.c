/* SPDX-License-Identifier: MIT */
/* analysis/base/sorter.h compared with qsort(). */
#include "analysis/base/sorter.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

struct item {
	char key[128];
	size_t bytes;
	uint64_t number;
};

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = memcmp(x->key, y->key, x->bytes < y->bytes ? x->bytes : y->bytes);

	if (order)
		return order;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sort @count items made by @make within @memory bytes and compare. */
static void check(size_t count, size_t memory, void (*make)(struct item *, uint64_t))
{
	struct item *items = calloc(count + 1, sizeof *items);
	struct gt_sorter *s;
	const void *key;
	uint64_t number;
	size_t bytes;

	CHECK_OK(gt_sorter_create(unit_folder(), memory, &s));
	for (size_t i = 0; i < count; i++) {
		items[i].number = i;
		make(&items[i], i * 2654435761u % 1000003);
		CHECK_OK(gt_sorter_add(s, items[i].key, items[i].bytes, i));
	}
	qsort(items, count, sizeof *items, compare);
	for (size_t i = 0; i < count; i++) {
		CHECK_EQ(gt_sorter_next(s, &key, &bytes, &number), 1);
		CHECK_EQ(number, items[i].number);
		CHECK_EQ(bytes, items[i].bytes);
		CHECK_MEM(key, items[i].key, bytes);
	}
	CHECK_EQ(gt_sorter_next(s, &key, &bytes, &number), 0);
	CHECK_EQ(gt_sorter_next(s, &key, &bytes, &number), 0);
	gt_sorter_destroy(s);
	free(items);
}

static void make_arguments(struct item *item, uint64_t k)
{
	item->bytes =
		(size_t)snprintf(item->key, sizeof item->key,
				 "queue=0x55d0c8aa1000 | kernel=0x%llx | work_dim=%llu",
				 (unsigned long long)(k % 1000), (unsigned long long)(k % 37));
}

/* Make many equal items, many items that are prefixes of one another, and the empty item. */
static void make_nested(struct item *item, uint64_t k)
{
	item->bytes = k % 40;
	memset(item->key, 'a', sizeof item->key);
	if (item->bytes && k % 3 == 0)
		item->key[item->bytes - 1] = (char)(0xc0 + k % 7);
}

static void make_number(struct item *item, uint64_t k)
{
	uint64_t big = __builtin_bswap64(k % 5000);

	item->bytes = 8;
	memcpy(item->key, &big, 8);
}

UNIT_TEST(sorter_sorts_nothing_and_one)
{
	check(0, 1 << 20, make_arguments);
	check(1, 1 << 20, make_arguments);
}

UNIT_TEST(sorter_sorts_in_memory_as_qsort_does)
{
	check(20000, 16 << 20, make_arguments);
	check(20000, 16 << 20, make_nested);
	check(20000, 16 << 20, make_number);
}

UNIT_TEST(sorter_merges_what_did_not_fit_as_qsort_does)
{
	check(60000, 65536, make_arguments);
	check(60000, 65536, make_nested);
	check(60000, 65536, make_number);
	check(60000, 1 << 20, make_arguments);
}

UNIT_TEST(sorter_tells_a_folder_it_cannot_write_to)
{
	struct gt_sorter *s;
	char key[1000];
	int status = 0;

	memset(key, 'k', sizeof key);
	CHECK_OK(gt_sorter_create("/proc/self", 65536, &s));
	for (int i = 0; i < 1000 && !status; i++)
		status = gt_sorter_add(s, key, sizeof key, 0);
	CHECK_LT(status, 0);
	gt_sorter_destroy(s);
}
