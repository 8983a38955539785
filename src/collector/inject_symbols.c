/* SPDX-License-Identifier: MIT */
/* See inject_symbols.h. All reads of an image are guarded (guard.h) and within the image, because a
 * damaged or truncated file must not end the collector. */
#include "collector/inject_symbols.h"

#include <elf.h>
#include <string.h>

#include "collector/guard.h"
#include "collector/remote_memory.h"

enum { HEADERS_MOST = 64, ENTRIES_MOST = 256, GNU_HASH_WORDS = 4 };

static bool is_within(const struct gt_inject_symbols *s, const void *at, size_t bytes)
{
	const uintptr_t p = (uintptr_t)at;

	return p >= s->image && p <= s->end && s->end - p >= bytes;
}

/* Read the dynamic section. Return the number of entries. */
static size_t read_dynamic(const struct gt_remote_modules *modules,
			   const struct gt_remote_module *module, ElfW(Dyn) entries[ENTRIES_MOST])
{
	ElfW(Phdr) segments[HEADERS_MOST];
	ElfW(Ehdr) file;

	if (!gt_remote_copy(modules->pid, module->start, &file, sizeof file) ||
	    file.e_phnum > HEADERS_MOST || file.e_phentsize != sizeof *segments ||
	    !gt_remote_copy(modules->pid, module->start + file.e_phoff, segments,
			    file.e_phnum * sizeof *segments))
		return 0;
	for (unsigned i = 0; i < file.e_phnum; i++) {
		size_t n = segments[i].p_memsz / sizeof *entries;

		if (segments[i].p_type != PT_DYNAMIC)
			continue;
		n = n < ENTRIES_MOST ? n : ENTRIES_MOST;
		return gt_remote_copy(modules->pid, module->base + segments[i].p_vaddr, entries,
				      n * sizeof *entries)
			       ? n
			       : 0;
	}
	return 0;
}

/* Return the table at an entry's address. The dynamic linker has added the load address, except in
 * the vDSO. */
static const void *to_image(const struct gt_remote_module *module, uintptr_t at)
{
	at = at < module->base ? at + module->base : at;
	return (const void *)(at - module->base + module->object.base);
}

/* Return the number of symbols according to the hash table, which does not say it: the last symbol
 * is the end of the chain that starts last. */
static size_t count_hashed(const struct gt_inject_symbols *s)
{
	const uint32_t *h = s->hash, *buckets, *chains;
	uint32_t last = 0;

	if (!is_within(s, h, GNU_HASH_WORDS * sizeof *h))
		return 0;
	buckets = h + GNU_HASH_WORDS + (size_t)h[2] * 2; /* h[2]: 64-bit words of the filter */
	chains = buckets + h[0];
	if (!is_within(s, buckets, h[0] * sizeof *h))
		return 0;
	for (uint32_t i = 0; i < h[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < h[1])
		return 0;
	while (is_within(s, chains + (last - h[1]), sizeof *chains)) {
		if (chains[last - h[1]] & 1)
			return (size_t)last + 1;
		last++;
	}
	return 0;
}

bool gt_inject_symbols_open(struct gt_remote_modules *modules, uintptr_t start,
			    struct gt_inject_symbols *out)
{
	const struct gt_remote_module *module = gt_remote_modules_find(modules, start);
	struct gt_inject_symbols s = {.count = 0};
	ElfW(Dyn) entries[ENTRIES_MOST];
	const uint32_t *old_hash = NULL;
	size_t n;

	*out = s;
	if (!module || !module->object.start)
		return false;
	s.base = module->base;
	s.image = module->object.start;
	s.end = module->object.end;
	n = read_dynamic(modules, module, entries);
	for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++)
		switch (entries[i].d_tag) {
		case DT_SYMTAB: s.list = to_image(module, entries[i].d_un.d_ptr); break;
		case DT_STRTAB: s.names = to_image(module, entries[i].d_un.d_ptr); break;
		case DT_GNU_HASH: s.hash = to_image(module, entries[i].d_un.d_ptr); break;
		case DT_HASH: old_hash = to_image(module, entries[i].d_un.d_ptr); break;
		case DT_DEBUG: s.debug = entries[i].d_un.d_ptr; break;
		default: break;
		}
	*out = s;
	if (!s.list || !s.names || !GT_GUARD())
		return false;
	if (out->hash)
		out->count = count_hashed(out);
	else if (old_hash && is_within(out, old_hash, 2 * sizeof *old_hash))
		out->count = old_hash[1];
	gt_guard_end();
	return out->count && is_within(out, out->list, out->count * sizeof *out->list);
}

static bool is_name(const struct gt_inject_symbols *s, const ElfW(Sym) * y, const char *name)
{
	const size_t bytes = strlen(name) + 1;

	return y->st_shndx != SHN_UNDEF && y->st_value &&
	       is_within(s, s->names + y->st_name, bytes) &&
	       !memcmp(s->names + y->st_name, name, bytes);
}

/* Find with the hash table, as the dynamic linker does. Return the symbol's index; 0: none. */
static size_t find_hashed(const struct gt_inject_symbols *s, const char *name)
{
	const uint32_t *h = s->hash, *buckets = h + GNU_HASH_WORDS + (size_t)h[2] * 2,
		       *chains = buckets + h[0];
	uint32_t hash = 5381, i;

	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		hash = hash * 33 + *p;
	if (!h[0])
		return 0;
	for (i = buckets[hash % h[0]]; i >= h[1] && i < s->count; i++) {
		const uint32_t link = chains[i - h[1]];

		if ((link | 1) == (hash | 1) && is_name(s, &s->list[i], name))
			return i;
		if (link & 1)
			break;
	}
	return 0;
}

uintptr_t gt_inject_symbols_find(const struct gt_inject_symbols *s, const char *name, size_t *bytes)
{
	volatile uintptr_t at = 0, size = 0;
	size_t i;

	if (!s->count || !GT_GUARD())
		return 0;
	if (s->hash)
		i = find_hashed(s, name);
	else
		for (i = s->count - 1; i && !is_name(s, &s->list[i], name); i--)
			;
	if (i) {
		at = s->base + s->list[i].st_value;
		size = s->list[i].st_size;
	}
	gt_guard_end();
	if (bytes)
		*bytes = size;
	return at;
}

void gt_inject_symbols_each(const struct gt_inject_symbols *s,
			    void (*each)(const char *name, uintptr_t at, size_t bytes, void *data),
			    void *data)
{
	if (!GT_GUARD())
		return;
	for (size_t i = 1; i < s->count; i++) {
		const ElfW(Sym) *y = &s->list[i];
		const unsigned type = ELF64_ST_TYPE(y->st_info);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && y->st_shndx != SHN_UNDEF &&
		    is_within(s, s->names + y->st_name, 1))
			each(s->names + y->st_name, s->base + y->st_value, y->st_size, data);
	}
	gt_guard_end();
}
