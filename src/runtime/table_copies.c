/* SPDX-License-Identifier: MIT */
/* See table_copies.h. A copy is found by contents. It contains a word that is the address of a
 * function of the library, and this function occurs only once in all of the library's tables. The
 * table around this word is walked entry by entry. An entry that contains the library's function
 * for that position is replaced by the tap. The search therefore does not depend on who made the
 * copy, and on the set of entries that the owner of the copy knows. A call still passes through
 * exactly one tap before the library.
 *
 * The search covers private, writable pages in memory, except those of the library and of gputap.
 * Swapped-out pages are skipped, because tables are in use.
 *
 * Locking: one search at a time, under a word in the page that the kernel wipes in a fork's child.
 * Memory is read without faults (core/own_memory.h), because other threads may unmap it meanwhile.
 * An entry is exchanged only if it is unchanged.
 * Never here: allocation. */
#include "runtime/table_copies.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/elf.h"
#include "core/own_memory.h"
#include "core/recording_state.h"

enum {
	SLOTS = 1 << 12,
	CHUNK_WORDS = 1 << 15,
	PAGE_WORDS = 512,
	HANDLE_WORDS = 4,    /* words of a handle: pointers to tables of tables */
	DISPATCH_WORDS = 64, /* words of a table of tables: pointers to tables */
	TABLE_WORDS = 256,
};
_Static_assert(GT_TABLE_COPIES_ENTRIES < SLOTS / 2 && GT_TABLE_COPIES_ENTRIES < INT16_MAX,
	       "a hash table with room, of int16_t");
_Static_assert(PAGE_WORDS * sizeof(uintptr_t) == GT_ELF_PAGE, "mincore() reports pages");

struct address_range {
	uintptr_t from, to;
};

/* Entries of the library's tables. */
static struct place {
	uintptr_t real, tap; /* 0 if the library lacks the function or the function is not wanted */
	uint16_t first, end; /* places of the same table */
} places[GT_TABLE_COPIES_ENTRIES];
static unsigned place_count;
/* hash table that maps `real` to place + 1; 0 if free; negative if several places contain the
 * function */
static int16_t slots[SLOTS];
static uintptr_t low, high; /* lowest and highest `real` */

static uintptr_t words[CHUNK_WORDS];
static unsigned char resident[CHUNK_WORDS / PAGE_WORDS];

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Functions to look for ----------------------------------------------------------------- */

static int16_t *slot_of(uintptr_t real)
{
	size_t i = (real * UINT64_C(0x9e3779b97f4a7c15)) >> 52;

	while (slots[i] && places[(slots[i] < 0 ? -slots[i] : slots[i]) - 1].real != real)
		i = (i + 1) % SLOTS;
	return &slots[i];
}
_Static_assert(SLOTS == 1 << 12, "the hash above has 12 bits");

void gt_table_copies_begin(void)
{
	gt_word_take(&gt_wiped.copies_lock);
	memset(places, 0, sizeof places);
	memset(slots, 0, sizeof slots);
	place_count = 0;
	low = UINTPTR_MAX;
	high = 0;
}

void gt_table_copies_end(void)
{
	atomic_store_explicit(&gt_wiped.copies_lock, 0, memory_order_release);
}

unsigned gt_table_copies_table(unsigned count)
{
	const unsigned first = place_count;

	if (count > GT_TABLE_COPIES_ENTRIES - first)
		return GT_TABLE_COPIES_ENTRIES;
	for (unsigned i = first; i < first + count; i++) {
		places[i].first = (uint16_t)first;
		places[i].end = (uint16_t)(first + count);
	}
	place_count += count;
	return first;
}

void gt_table_copies_entry(unsigned place, const void *real, const void *tap)
{
	uintptr_t address = (uintptr_t)real;
	int16_t *slot;

	if (place >= place_count)
		return;
	places[place].real = address;
	places[place].tap = (uintptr_t)tap;
	slot = slot_of(address);
	*slot = (int16_t)(*slot ? -(*slot < 0 ? -*slot : *slot) : (int)place + 1);
	low = address < low ? address : low;
	high = address > high ? address : high;
}

/* Return the place of this function, or -1 if no place or several places contain it. */
static int find_place(uintptr_t word)
{
	if (word < low || word > high)
		return -1;
	return *slot_of(word) - 1 < 0 ? -1 : *slot_of(word) - 1;
}

static bool is_tap(uintptr_t word)
{
	for (unsigned i = 0; i < place_count; i++)
		if (places[i].tap && places[i].tap == word)
			return true;
	return false;
}

/* Memory ------------------------------------------------------------------------------- */

/* Read memory. Return the number of bytes that could be read. */
static size_t read_memory(uintptr_t from, void *to, size_t bytes)
{
	const ssize_t got = gt_own_memory_read(from, to, bytes);

	return got > 0 ? (size_t)got : 0;
}

/* Call @fn for each mapping until it returns true. Return false if the mappings cannot be read. */
static bool each_mapping(bool (*fn)(struct address_range r, const char *line, void *data),
			 void *data)
{
	static char text[1 << 14];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t kept = 0;
	bool over = false;
	ssize_t got;

	if (fd < 0)
		return false;
	while (!over && (got = read(fd, text + kept, sizeof text - 1 - kept)) > 0) {
		char *line = text, *end;

		text[kept += (size_t)got] = '\0';
		while (!over && (end = strchr(line, '\n'))) {
			struct address_range r;
			int at = 0;

			*end = '\0';
			if (sscanf(line, "%lx-%lx %n", &r.from, &r.to, &at) == 2)
				over = fn(r, line + at, data);
			line = end + 1;
		}
		kept -= (size_t)(line - text);
		memmove(text, line, kept);
	}
	close(fd);
	return true;
}

static bool set_flags(struct address_range r, const char *line, void *data)
{
	struct {
		uintptr_t address;
		unsigned flags;
	} *wanted = data;

	if (wanted->address < r.from || wanted->address >= r.to)
		return false;
	wanted->flags = (line[0] == 'r' ? PF_R : 0) | (line[1] == 'w' ? PF_W : 0) |
			(line[2] == 'x' ? PF_X : 0);
	return true;
}

static unsigned flags_of(uintptr_t address)
{
	struct {
		uintptr_t address;
		unsigned flags;
	} wanted = {address, 0};

	each_mapping(set_flags, &wanted);
	return wanted.flags;
}

/* Return an object's address range, from its first page to its last. The object's mapping starts
 * with its header. */
static struct address_range object_range(uintptr_t base, const ElfW(Ehdr) * header)
{
	struct address_range r = {base, base};
	ElfW(Ehdr) head;
	ElfW(Phdr) phdr;

	if (read_memory((uintptr_t)header, &head, sizeof head) != sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return r;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		uintptr_t at = (uintptr_t)header + head.e_phoff + i * sizeof phdr;
		uintptr_t end;

		if (read_memory(at, &phdr, sizeof phdr) != sizeof phdr || phdr.p_type != PT_LOAD)
			continue;
		end = base + phdr.p_vaddr + phdr.p_memsz;
		end = (end + GT_ELF_PAGE - 1) & ~(uintptr_t)(GT_ELF_PAGE - 1);
		r.to = end > r.to ? end : r.to;
	}
	return r;
}

/* Tables ------------------------------------------------------------------------------- */

/* Put taps into the table that contains the function of @place at @address, but only into entries
 * that lie within @r. Return the number of changed entries. */
static int settle_table(unsigned place, uintptr_t address, struct address_range r)
{
	const unsigned first = places[place].first, end = places[place].end;
	int changed = 0;

	for (unsigned i = first; i < end; i++) {
		uintptr_t at = address + i * sizeof(void *) - place * sizeof(void *),
			  was = places[i].real;

		if (was && at >= r.from && at + sizeof(void *) <= r.to)
			changed += __atomic_compare_exchange_n((uintptr_t *)at, &was, places[i].tap,
							       false, __ATOMIC_RELEASE,
							       __ATOMIC_RELAXED);
	}
	return changed;
}

static int search_words(const uintptr_t *text, size_t count, uintptr_t address,
			struct address_range r)
{
	int changed = 0;

	for (size_t i = 0; i < count; i++) {
		int place = find_place(text[i]);

		if (place >= 0)
			changed += settle_table((unsigned)place, address + i * sizeof *text, r);
	}
	return changed;
}

struct search {
	struct address_range ours, library;
	int changed;
	bool refused; /* true if the process's memory cannot be read */
};

static bool overlap(struct address_range a, struct address_range b)
{
	return a.from < b.to && b.from < a.to;
}

static void search_chunk(struct search *s, struct address_range chunk, struct address_range r)
{
	size_t pages = (chunk.to - chunk.from) / GT_ELF_PAGE, first = 0, end;

	if (mincore((void *)chunk.from, chunk.to - chunk.from, resident))
		return;
	for (; first < pages; first = end + 1) {
		uintptr_t at = chunk.from + first * GT_ELF_PAGE;
		ssize_t got;

		for (end = first; end < pages && resident[end] & 1; end++)
			;
		got = end > first ? gt_own_memory_read(at, words, (end - first) * GT_ELF_PAGE) : 0;
		s->refused |= gt_own_memory_refused(got);
		if (got > 0)
			s->changed += search_words(words, (size_t)got / sizeof *words, at, r);
	}
}

static bool search_mapping(struct address_range r, const char *line, void *data)
{
	struct search *s = data;

	if (strncmp(line, "rw-p", 4) != 0 || strstr(line, "[stack") || strstr(line, " /dev/") ||
	    overlap(r, s->ours) || overlap(r, s->library))
		return false;
	for (uintptr_t at = r.from; at < r.to; at += sizeof words) {
		uintptr_t end = r.to - at < sizeof words ? r.to : at + sizeof words;

		search_chunk(s, (struct address_range){at, end}, r);
	}
	return false;
}

int gt_table_copies_find(uintptr_t base)
{
	struct search s = {.library = object_range(base, (const ElfW(Ehdr) *)base)};
	bool known = true;
	int saved = errno;

	s.ours = object_range((uintptr_t)&__ehdr_start, &__ehdr_start);
	if (high)
		known = each_mapping(search_mapping, &s);
	errno = saved;
	return known && !s.refused ? s.changed : -1;
}

/* Handles ------------------------------------------------------------------------------ */

/* Put taps into one table that a handle leads to. Return true if the table has taps. */
static bool settle_pointed(uintptr_t table)
{
	uintptr_t text[TABLE_WORDS];
	size_t count = read_memory(table, text, sizeof text) / sizeof *text;
	struct address_range r = {table, table + count * sizeof *text};
	unsigned flags = PF_R | PF_W;
	bool has_taps = false, has_ours = false;

	for (size_t i = 0; i < count; i++) {
		has_ours |= find_place(text[i]) >= 0;
		has_taps |= !has_ours && is_tap(text[i]);
	}
	if (!has_ours)
		return has_taps;
	flags = flags_of(table);
	if (!(flags & PF_W) && !gt_set_protection((void *)r.from, (void *)r.to, flags | PF_W))
		return false;
	search_words(text, count, table, r);
	if (!(flags & PF_W))
		gt_set_protection((void *)r.from, (void *)r.to, flags);
	return true;
}

static bool settle_dispatch(uintptr_t dispatch)
{
	uintptr_t tables[DISPATCH_WORDS];
	size_t count = read_memory(dispatch, tables, sizeof tables) / sizeof *tables;
	bool any = false;

	for (size_t i = 1; i < count; i++) /* skip the first word, a version and a flag */
		if (tables[i] && tables[i] % sizeof(void *) == 0)
			any |= settle_pointed(tables[i]);
	return any;
}

bool gt_table_copies_of_handle(const void *handle)
{
	uintptr_t dispatch[HANDLE_WORDS];
	size_t count = read_memory((uintptr_t)handle, dispatch, sizeof dispatch);
	bool any = false;
	int saved = errno;

	for (size_t i = 0; i < count / sizeof *dispatch; i++)
		if (dispatch[i] && dispatch[i] % sizeof(void *) == 0)
			any |= settle_dispatch(dispatch[i]);
	errno = saved;
	return any || !high;
}
