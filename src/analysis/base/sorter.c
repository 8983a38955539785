/* SPDX-License-Identifier: MIT */
/* See sorter.h. Memory is one block, filled from both ends:
 *
 *   | entries: number, length, key .. -> | free | <- slots: next 8 bytes of the key, its entry |
 *
 * Texts with long common prefixes (arguments of the same call) make plain comparisons slow. Slots
 * are therefore sorted by 8 bytes of the key at a time, as numbers, and only equal slots continue
 * after their common prefix. Entries are in memory in any order, and fetching them takes most of
 * the time, so the sort uses few rounds, with prefetching. */
#include "analysis/base/sorter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"

enum { MAX_KEY = 4096, READ_BYTES = 64 << 10, SMALL = 24, AHEAD = 12 };

struct sort_entry {
	uint64_t number;
	uint32_t bytes;
	uint8_t key[];
};
#define ENTRY_BYTES(key_bytes) ((offsetof(struct sort_entry, key) + (key_bytes) + 7) & ~(size_t)7)

struct sort_slot {
	uint64_t chunk; /* 8 bytes of the key, big-endian, zero-padded at its end */
	uint32_t at;    /* offset of the entry, in units of 8 bytes */
};

/* A sorted part of the file that is being read. */
struct sorted_part {
	uint64_t offset, end; /* range that has not been read yet */
	uint8_t *buffer;
	size_t used, filled;
	const struct sort_entry *head; /* NULL: end of the part */
};

struct gt_sorter {
	uint8_t *memory;
	size_t memory_bytes, entries_bytes, slot_count;
	/* Valid after sorting. While keys are added, slots grow downwards from the end of
	 * memory. */
	struct sort_slot *slots;
	char *folder;
	int fd;
	uint64_t file_bytes;
	struct sorted_part *parts;
	size_t part_count;
	size_t *heap, heap_count; /* heap of part indexes, ordered by the parts' heads */
	size_t next_slot;
	bool sorted;
};

int gt_sorter_create(const char *folder, size_t memory_bytes, struct gt_sorter **out)
{
	struct gt_sorter *s = calloc(1, sizeof *s);

	*out = NULL;
	assert(memory_bytes >= 65536 && memory_bytes <= (size_t)8 << 32);
	if (!s || !(s->folder = strdup(folder)) ||
	    !(s->memory = malloc(memory_bytes &= ~(size_t)15))) {
		if (s)
			free(s->folder);
		free(s);
		return gt_error(-ENOMEM, "cannot sort records");
	}
	s->memory_bytes = memory_bytes;
	s->slots = (struct sort_slot *)(void *)(s->memory + memory_bytes);
	s->fd = -1;
	*out = s;
	return 0;
}

void gt_sorter_destroy(struct gt_sorter *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->part_count; i++)
		free(s->parts[i].buffer);
	if (s->fd >= 0)
		close(s->fd);
	free(s->parts);
	free(s->heap);
	free(s->folder);
	free(s->memory);
	free(s);
}

static struct sort_entry *entry_of(const struct gt_sorter *s, const struct sort_slot *slot)
{
	return (struct sort_entry *)(void *)(s->memory + (size_t)slot->at * 8);
}

/* Sorting in memory ------------------------------------------------------------ */

/* Return 8 bytes of the key from @depth on. May read up to 8 bytes past the key: in memory, slots
 * always follow an entry. */
static uint64_t chunk_of(const struct sort_entry *e, size_t depth)
{
	uint64_t word;

	if (depth >= e->bytes)
		return 0;
	memcpy(&word, e->key + depth, 8);
	word = __builtin_bswap64(word);
	return e->bytes - depth < 8 ? word & ~(UINT64_MAX >> (8 * (e->bytes - depth))) : word;
}

/* Compare by chunk, then by order of adding. */
static bool before(const struct sort_slot *a, const struct sort_slot *b)
{
	return a->chunk != b->chunk ? a->chunk < b->chunk : a->at < b->at;
}

static void sort_small(struct sort_slot *slots, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct sort_slot moving = slots[i];
		size_t k = i;

		for (; k && before(&moving, &slots[k - 1]); k--)
			slots[k] = slots[k - 1];
		slots[k] = moving;
	}
}

static void swap_slots(struct sort_slot *a, struct sort_slot *b)
{
	struct sort_slot t = *a;

	*a = *b;
	*b = t;
}

/* Sort by chunk and then age (quicksort), which makes equal chunks adjacent. Recursion depth:
 * log2(count). */
static void sort_chunks(struct sort_slot *slots, size_t count)
{
	while (count > SMALL) {
		struct sort_slot *low = slots, *high = slots + count - 1,
				 *middle = slots + count / 2, pivot;

		if (before(middle, low))
			swap_slots(middle, low);
		if (before(high, low))
			swap_slots(high, low);
		if (before(high, middle))
			swap_slots(high, middle);
		pivot = *middle;
		while (low <= high) {
			while (before(low, &pivot))
				low++;
			while (before(&pivot, high))
				high--;
			if (low <= high) {
				swap_slots(low, high);
				low++;
				high--;
			}
		}
		/* The loop continues with the larger part. */
		if (high + 1 - slots < slots + count - low) {
			sort_chunks(slots, (size_t)(high + 1 - slots));
			count -= (size_t)(low - slots);
			slots = low;
		} else {
			sort_chunks(low, (size_t)(slots + count - low));
			count = (size_t)(high + 1 - slots);
		}
	}
	sort_small(slots, count);
}

static void fetch_ahead(const struct gt_sorter *s, const struct sort_slot *slots, size_t i,
			size_t count, size_t depth)
{
	const struct sort_entry *e;

	if (i + AHEAD >= count)
		return;
	e = entry_of(s, &slots[i + AHEAD]);
	__builtin_prefetch(e);
	__builtin_prefetch(e->key + depth);
}

/* Return the length of the common prefix of all keys, which are equal up to @depth. On a
 * little-endian machine the lowest byte comes first. */
static size_t common_depth(const struct gt_sorter *s, const struct sort_slot *slots, size_t count,
			   size_t depth)
{
	const struct sort_entry *first = entry_of(s, &slots[0]);
	size_t common = first->bytes;

	for (size_t i = 1; i < count && common > depth; i++) {
		const struct sort_entry *e = entry_of(s, &slots[i]);
		uint64_t a, b;

		fetch_ahead(s, slots, i, count, depth);
		if (e->bytes < common)
			common = e->bytes;
		for (size_t k = depth; k < common; k += 8) {
			memcpy(&a, first->key + k, 8);
			memcpy(&b, e->key + k, 8);
			if (a != b) {
				k += (size_t)__builtin_ctzll(a ^ b) / 8;
				common = k < common ? k : common;
				break;
			}
		}
	}
	return common > depth ? common : depth;
}

/* Sort slots by the key from @depth on. Keys have at most MAX_KEY bytes, so the recursion depth is
 * at most MAX_KEY / 8. */
static void sort_from(struct gt_sorter *s, struct sort_slot *slots, size_t count, size_t depth)
{
	bool further;
	size_t i, k;

	if (!count)
		return;
	depth = common_depth(s, slots, count, depth);
	for (i = 0; i < count; i++) {
		fetch_ahead(s, slots, i, count, depth);
		slots[i].chunk = chunk_of(entry_of(s, &slots[i]), depth);
	}
	sort_chunks(slots, count);
	for (i = 0; i < count; i = k) {
		for (k = i + 1; k < count && slots[k].chunk == slots[i].chunk; k++)
			;
		if (k - i == 1)
			continue;
		further = false;
		for (size_t n = i; n < k && !further; n++)
			further = entry_of(s, &slots[n])->bytes > depth + 8;
		if (further)
			sort_from(s, slots + i, k - i, depth + 8);
	}
}

/* Parts in the file ------------------------------------------------------------- */

static int open_runs_file(struct gt_sorter *s)
{
	char name[4096];

	s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd >= 0)
		return 0;
	/* The file system does not support unnamed files. */
	if (snprintf(name, sizeof name, "%s/.gputap-sort-XXXXXX", s->folder) >= (int)sizeof name)
		return gt_error(-ENAMETOOLONG, "%s", s->folder);
	s->fd = mkostemp(name, O_CLOEXEC);
	if (s->fd < 0)
		return gt_error(-errno, "cannot create a temporary file in %s", s->folder);
	unlink(name);
	return 0;
}

static int write_all(struct gt_sorter *s, const uint8_t *p, size_t bytes)
{
	while (bytes) {
		ssize_t n = pwrite(s->fd, p, bytes, (off_t)s->file_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gt_error(n < 0 ? -errno : -EIO,
					"cannot write a temporary file in %s", s->folder);
		p += n;
		bytes -= (size_t)n;
		s->file_bytes += (uint64_t)n;
	}
	return 0;
}

/* Write all entries in memory as a sorted part of the file. */
static int spill_part(struct gt_sorter *s)
{
	struct sorted_part *more = realloc(s->parts, (s->part_count + 1) * sizeof *more);
	uint8_t *buffer = malloc(READ_BYTES);
	size_t used = 0;
	int status = more && buffer ? 0 : gt_error(-ENOMEM, "cannot sort records");

	if (more)
		s->parts = more;
	if (!status && s->fd < 0)
		status = open_runs_file(s);
	if (!status) {
		more[s->part_count] = (struct sorted_part){.offset = s->file_bytes};
		sort_from(s, s->slots, s->slot_count, 0);
	}
	for (size_t i = 0; i < s->slot_count && !status; i++) {
		const struct sort_entry *e = entry_of(s, &s->slots[i]);
		size_t bytes = ENTRY_BYTES(e->bytes);

		if (used + bytes > READ_BYTES) {
			status = write_all(s, buffer, used);
			used = 0;
		}
		memcpy(buffer + used, e, bytes);
		used += bytes;
	}
	if (!status)
		status = write_all(s, buffer, used);
	free(buffer);
	if (status)
		return status;
	s->parts[s->part_count++].end = s->file_bytes;
	s->entries_bytes = s->slot_count = 0;
	s->slots = (struct sort_slot *)(void *)(s->memory + s->memory_bytes);
	return 0;
}

int gt_sorter_add(struct gt_sorter *s, const void *key, size_t bytes, uint64_t number)
{
	struct sort_entry *e;
	int status;

	assert(bytes <= MAX_KEY && !s->sorted);
	if (s->entries_bytes + ENTRY_BYTES(bytes) + (s->slot_count + 1) * sizeof *s->slots >
	    s->memory_bytes) {
		status = spill_part(s);
		if (status)
			return status;
	}
	e = (struct sort_entry *)(void *)(s->memory + s->entries_bytes);
	e->number = number;
	e->bytes = (uint32_t)bytes;
	memcpy(e->key, key, bytes);
	(--s->slots)->at = (uint32_t)(s->entries_bytes / 8);
	s->slot_count++;
	s->entries_bytes += ENTRY_BYTES(bytes);
	return 0;
}

/* Advance to the next entry of the part. */
static int advance(struct gt_sorter *s, struct sorted_part *p)
{
	const struct sort_entry *e;

	for (bool again = false;; again = true) {
		size_t left = p->filled - p->used;

		e = (const struct sort_entry *)(void *)(p->buffer + p->used);
		if (left >= offsetof(struct sort_entry, key) && left >= ENTRY_BYTES(e->bytes)) {
			p->head = e;
			p->used += ENTRY_BYTES(e->bytes);
			return 0;
		}
		if (!left && p->offset == p->end) {
			p->head = NULL;
			return 0;
		}
		if (again)
			return gt_error(-EIO, "cannot read back a temporary file in %s", s->folder);
		memmove(p->buffer, p->buffer + p->used, left);
		p->used = 0;
		p->filled = left;
		while (p->filled < READ_BYTES && p->offset < p->end) {
			size_t want = READ_BYTES - p->filled;
			ssize_t n = pread(s->fd, p->buffer + p->filled,
					  want < p->end - p->offset ? want : p->end - p->offset,
					  (off_t)p->offset);

			if (n <= 0 && errno != EINTR)
				return gt_error(n < 0 ? -errno : -EIO,
						"cannot read back a temporary file in %s",
						s->folder);
			p->filled += n > 0 ? (size_t)n : 0;
			p->offset += n > 0 ? (uint64_t)n : 0;
		}
	}
}

/* Compare the heads of two parts. Parts were written in order of adding, so for equal keys the
 * earlier part comes first. */
static bool part_before(const struct gt_sorter *s, size_t a, size_t b)
{
	const struct sort_entry *x = s->parts[a].head, *y = s->parts[b].head;
	int order = memcmp(x->key, y->key, x->bytes < y->bytes ? x->bytes : y->bytes);

	if (!order)
		order = x->bytes != y->bytes ? (x->bytes < y->bytes ? -1 : 1) : a < b ? -1 : 1;
	return order < 0;
}

static void sift_down(struct gt_sorter *s, size_t at)
{
	size_t *heap = s->heap, moving = heap[at], child;

	for (; (child = 2 * at + 1) < s->heap_count; at = child) {
		if (child + 1 < s->heap_count && part_before(s, heap[child + 1], heap[child]))
			child++;
		if (!part_before(s, heap[child], moving))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moving;
}

static int begin_reading(struct gt_sorter *s)
{
	int status;

	s->sorted = true;
	if (!s->part_count) {
		sort_from(s, s->slots, s->slot_count, 0);
		return 0;
	}
	status = spill_part(s);
	if (status)
		return status;
	free(s->memory);
	s->memory = NULL;
	s->heap = malloc(s->part_count * sizeof *s->heap);
	if (!s->heap)
		return gt_error(-ENOMEM, "cannot sort records");
	for (size_t i = 0; i < s->part_count; i++) {
		s->parts[i].buffer = malloc(READ_BYTES);
		if (!s->parts[i].buffer)
			return gt_error(-ENOMEM, "cannot sort records");
		status = advance(s, &s->parts[i]);
		if (status)
			return status;
		if (s->parts[i].head)
			s->heap[s->heap_count++] = i;
	}
	for (size_t i = s->heap_count / 2; i-- > 0;)
		sift_down(s, i);
	s->next_slot = SIZE_MAX; /* the first head has not been returned yet */
	return 0;
}

int gt_sorter_next(struct gt_sorter *s, const void **key, size_t *bytes, uint64_t *number)
{
	const struct sort_entry *e;
	int status;

	if (!s->sorted && (status = begin_reading(s)))
		return status;
	if (!s->part_count) {
		if (s->next_slot == s->slot_count)
			return 0;
		e = entry_of(s, &s->slots[s->next_slot++]);
	} else {
		if (s->next_slot != SIZE_MAX && s->heap_count) {
			/* Advances past the entry that the previous call returned. */
			status = advance(s, &s->parts[s->heap[0]]);
			if (status)
				return status;
			if (!s->parts[s->heap[0]].head)
				s->heap[0] = s->heap[--s->heap_count];
			if (s->heap_count)
				sift_down(s, 0);
		}
		s->next_slot = 0;
		if (!s->heap_count)
			return 0;
		e = s->parts[s->heap[0]].head;
	}
	*key = e->key;
	*bytes = e->bytes;
	*number = e->number;
	return 1;
}
