/* SPDX-License-Identifier: MIT */
/* See held_pointers.h.
 *
 *   dl_iterate_phdr()   writable segments of all objects ─► parts[], sorted
 *   /proc/self/maps     which of their pages are writable now (a program may protect its data)
 *   /proc/self/pagemap  which of these pages exist
 *
 * A page may be unmapped or protected between the look at maps and the change, if the program
 * closes the library at that moment; objects are therefore read without faults
 * (core/own_memory.h). Never here: allocation. */
#include "runtime/held_pointers.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/elf.h"
#include "core/own_memory.h"

enum { PARTS_MOST = 4096, PAGE = GT_ELF_PAGE, PAGES_AT_ONCE = 64 };
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)

struct part {
	uintptr_t from, to;
};

struct search {
	const struct gt_held_pointers *held;
	struct part parts[PARTS_MOST];
	size_t count;
	int pagemap; /* -1: read all pages */
	size_t changed;
	uint64_t words[PAGES_AT_ONCE * PAGE / 8];
};

static struct search search;

static bool is_left(const struct gt_held_pointers *held, uintptr_t base)
{
	for (size_t i = 0; i < held->left_count; i++)
		if (held->left[i] == base)
			return true;
	return false;
}

static int add_parts(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	uintptr_t read_only_from = 0, read_only_to = 0;

	(void)size;
	if (is_left(s->held, info->dlpi_addr))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
			read_only_from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			read_only_to = read_only_from + info->dlpi_phdr[i].p_memsz;
		}
	for (unsigned i = 0; i < info->dlpi_phnum && s->count < PARTS_MOST; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + h->p_vaddr, to = from + h->p_memsz;

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_W))
			continue;
		if (read_only_from <= from && read_only_to > from)
			from = read_only_to;
		from = (from + 7) & ~(uintptr_t)7;
		if (from + 8 <= to)
			s->parts[s->count++] = (struct part){from, to & ~(uintptr_t)7};
	}
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static void look_at_words(struct search *s, uintptr_t at, size_t count)
{
	const struct gt_held_pointers *held = s->held;

	for (size_t i = 0; i < count; i++) {
		uintptr_t value = s->words[i], to;

		if (value < held->low || value >= held->high)
			continue;
		to = held->target(value, held->data);
		s->changed += to && __atomic_compare_exchange_n((uintptr_t *)(at + 8 * i), &value,
								to, false, __ATOMIC_SEQ_CST,
								__ATOMIC_RELAXED);
	}
}

/* Look at the words in [from, to), which lie in existing pages. */
static void look_at(struct search *s, uintptr_t from, uintptr_t to)
{
	const ssize_t bytes = gt_own_memory_read(from, s->words, to - from);

	if (bytes > 0)
		look_at_words(s, from, (size_t)bytes / 8);
}

static bool page_exists(const uint64_t *pages, size_t count, size_t i)
{
	return i >= count || pages[i] & (PAGE_PRESENT | PAGE_SWAPPED);
}

/* Look at a writable part of an object, in stretches of existing pages. */
static void look_at_part(struct search *s, uintptr_t from, uintptr_t to)
{
	while (from < to) {
		const uintptr_t first = from / PAGE,
				most = to - from > (PAGES_AT_ONCE - 1) * (uintptr_t)PAGE
					       ? (first + PAGES_AT_ONCE) * PAGE
					       : to;
		uint64_t pages[PAGES_AT_ONCE];
		const ssize_t bytes = pread(s->pagemap, pages, sizeof pages, (off_t)(first * 8));
		const size_t known = bytes > 0 ? (size_t)bytes / 8 : 0;

		while (from < most) {
			uintptr_t end = from;
			bool exists = page_exists(pages, known, from / PAGE - first);

			while (end < most &&
			       page_exists(pages, known, end / PAGE - first) == exists)
				end = (end / PAGE + 1) * PAGE;
			end = end < most ? end : most;
			if (exists)
				look_at(s, from, end);
			from = end;
		}
	}
}

/* Look at the parts of objects in a mapping that can be written. */
static void look_at_mapping(struct search *s, uintptr_t from, uintptr_t to)
{
	size_t low = 0, high = s->count;

	while (low < high) { /* the first part that ends behind @from */
		const size_t middle = (low + high) / 2;

		if (s->parts[middle].to <= from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->count && s->parts[low].from < to; low++)
		look_at_part(s, s->parts[low].from > from ? s->parts[low].from : from,
			     s->parts[low].to < to ? s->parts[low].to : to);
}

/* Handle a line of /proc/self/maps: "from-to rw-p ..". */
static void look_at_line(struct search *s, const char *line)
{
	char *end;
	const uintptr_t from = strtoul(line, &end, 16);

	if (*end == '-') {
		const uintptr_t to = strtoul(end + 1, &end, 16);

		if (strncmp(end, " rw-p ", 6) == 0)
			look_at_mapping(s, from, to);
	}
}

static void look_at_mappings(struct search *s)
{
	static char text[16 << 10];
	int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t kept = 0;
	ssize_t n;

	while (file >= 0 && (n = read(file, text + kept, sizeof text - 1 - kept)) > 0) {
		char *line = text, *end;

		text[kept + (size_t)n] = '\0';
		for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
			look_at_line(s, line);
		kept = strlen(line);
		memmove(text, line, kept);
		if (kept == sizeof text - 1)
			break;
	}
	if (file >= 0)
		close(file);
}

size_t gt_held_pointers_replace(const struct gt_held_pointers *held)
{
	struct search *s = &search;

	s->held = held;
	s->count = s->changed = 0;
	dl_iterate_phdr(add_parts, s);
	qsort(s->parts, s->count, sizeof *s->parts, compare_parts);
	s->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	look_at_mappings(s);
	if (s->pagemap >= 0)
		close(s->pagemap);
	return s->changed;
}
