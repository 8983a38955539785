/* SPDX-License-Identifier: MIT */
/* See level_zero_untapped.h. */
#include "runtime/level_zero/level_zero_untapped.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/elf.h"
#include "core/emit.h"
#include "core/table.h"

enum { NAMES_MAX = 256 };

/* Return true once for each hash of a name. If there are too many names, always return true,
 * because a repeated report is better than no report. */
static bool is_new(const char *name)
{
	static _Atomic uint64_t reported[NAMES_MAX];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	for (unsigned i = 0; i < NAMES_MAX; i++) {
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&reported[i], &there, hash))
			return true;
		if (there == hash)
			return false;
	}
	return true;
}

void gt_lz_name_function(const char *name)
{
	if (is_new(name))
		gt_event_write(gt_thread_own(), GT_EVENT_UNKNOWN_ENTRY, GT_DOMAIN_LEVEL_ZERO, 0,
			       name);
}

/* Whole tables ------------------------------------------------------------------------- */

static bool is_known_part(const char *name)
{
	for (int i = 0; i < GT_LZ_PARTS; i++)
		if (strcmp(gt_lz_parts[i].name, name) == 0)
			return true;
	return false;
}

static void name_export(const char *name)
{
	static const char end[] = "ProcAddrTable";
	size_t length = strlen(name);

	if (strncmp(name, "ze", 2) == 0 && strstr(name, "Get") && length >= sizeof end &&
	    strcmp(name + length - sizeof end + 1, end) == 0 && !is_known_part(name))
		gt_lz_name_function(name);
}

static void name_exports_gnu(const struct gt_symbols *s)
{
	uint32_t buckets = s->gnu[0], first = s->gnu[1], words = s->gnu[2];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(s->gnu + 4);
	const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;

	for (uint32_t b = 0; b < buckets; b++)
		for (uint32_t i = bucket[b]; i >= first && i; i++) {
			name_export(s->strings + s->table[i].st_name);
			if (chain[i - first] & 1)
				break;
		}
}

static void name_exports(uintptr_t base)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)base;
	struct gt_elf o = {.base = base};
	struct gt_symbols s;

	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return;
	o.headers = (const ElfW(Phdr) *)(base + head->e_phoff);
	o.header_count = head->e_phnum;
	for (unsigned i = 0; i < o.header_count; i++)
		if (o.headers[i].p_type == PT_DYNAMIC)
			o.dynamic = (const ElfW(Dyn) *)(base + o.headers[i].p_vaddr);
	if (!gt_symbols_of(&o, &s))
		return;
	if (s.gnu)
		name_exports_gnu(&s);
	for (uint32_t i = 1; !s.gnu && i < s.sysv[1]; i++)
		if (gt_symbol_is_defined(&s.table[i]))
			name_export(s.strings + s.table[i].st_name);
}

/* Entries ------------------------------------------------------------------------------ */

void gt_lz_name_untapped(unsigned instance, uintptr_t base, const struct gt_lz_part *part,
			 void *const *filled)
{
	/* base address of the last driver whose exports were scanned */
	static _Atomic uintptr_t searched[GT_INSTANCES];
	const struct gt_table *table = gt_lz_table(part->domain, instance);
	char text[96];

	if (atomic_exchange(&searched[instance], base) != base)
		name_exports(base);
	for (uint32_t i = 0; i < GT_LZ_TABLE_MAX; i++) {
		uint32_t number = part->first + i;

		if (!filled[i] || (number < part->end && gt_table_has(table, number)))
			continue;
		snprintf(text, sizeof text, "%s, entry %u", part->name, (unsigned)i);
		if (is_new(text))
			gt_event_write(gt_thread_own(), GT_EVENT_UNKNOWN_ENTRY, part->domain,
				       number, text);
	}
}
