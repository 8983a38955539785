/* SPDX-License-Identifier: MIT */
/* Finds objects that the dynamic linker has mapped, and their dynamic symbols, for interposition.
 * Both libgputap.so and the audit library include this file, so it must not use libc
 * (core/bare.h). */
#ifndef GPUTAP_CORE_ELF_H
#define GPUTAP_CORE_ELF_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/bare.h"

#if defined(__x86_64__)
enum {
	GT_JUMP_SLOT = R_X86_64_JUMP_SLOT,
	GT_GLOB_DAT = R_X86_64_GLOB_DAT,
	GT_POINTER = R_X86_64_64
};
#elif defined(__aarch64__)
enum {
	GT_JUMP_SLOT = R_AARCH64_JUMP_SLOT,
	GT_GLOB_DAT = R_AARCH64_GLOB_DAT,
	GT_POINTER = R_AARCH64_ABS64
};
#endif

enum { GT_ELF_PAGE = 4096 };

struct gt_elf {
	ElfW(Addr) base;
	const ElfW(Phdr) * headers; /* NULL: the file has an unexpected format */
	unsigned header_count;
	const ElfW(Dyn) * dynamic; /* NULL: the object has no dynamic section */
	const char *path;
};

/* An object's dynamic symbols. */
struct gt_symbols {
	ElfW(Addr) base;
	ElfW(Sym) * table;
	const char *strings;
	const uint32_t *gnu;  /* DT_GNU_HASH */
	const uint32_t *sysv; /* DT_HASH */
};

/* Return an address from the dynamic section. The linker makes these addresses absolute, except in
 * objects with a read-only dynamic section. */
static inline const void *gt_dynamic_pointer(const struct gt_elf *o, ElfW(Addr) value)
{
	return (const void *)(value < o->base ? value + o->base : value);
}

static inline bool gt_symbols_of(const struct gt_elf *o, struct gt_symbols *s)
{
	*s = (struct gt_symbols){.base = o->base};
	if (!o->dynamic)
		return false;
	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
		const void *p = gt_dynamic_pointer(o, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			s->table = (ElfW(Sym) *)(uintptr_t)p;
		else if (d->d_tag == DT_STRTAB)
			s->strings = p;
		else if (d->d_tag == DT_GNU_HASH)
			s->gnu = p;
		else if (d->d_tag == DT_HASH)
			s->sysv = p;
	}
	return s->table && s->strings && (s->gnu || s->sysv);
}

static inline bool gt_symbol_is_defined(const ElfW(Sym) * symbol)
{
	unsigned type = symbol->st_info & 15;

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
	       symbol->st_value != 0 &&
	       (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE);
}

static inline bool gt_symbol_is(const struct gt_symbols *s, uint32_t i, const char *name)
{
	return gt_symbol_is_defined(&s->table[i]) &&
	       bare_equal(s->strings + s->table[i].st_name, name);
}

/* Find the first symbol of this name, or the next one after @after if @after is not NULL: a name
 * may have several versions. */
static inline ElfW(Sym) *
	gt_symbol_find_gnu(const struct gt_symbols *s, const char *name, const ElfW(Sym) * after)
{
	uint32_t buckets = s->gnu[0], first = s->gnu[1], words = s->gnu[2], shift = s->gnu[3],
		 hash = 5381, i;
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(s->gnu + 4);
	const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
	const unsigned bits = sizeof *bloom * 8;
	ElfW(Addr) word;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	if (!buckets || !words)
		return NULL;
	word = bloom[hash / bits % words];
	if (!(word >> (hash % bits) & word >> ((hash >> shift) % bits) & 1))
		return NULL;
	for (i = bucket[hash % buckets]; i >= first; i++) {
		if ((chain[i - first] | 1) == (hash | 1) && (!after || &s->table[i] > after) &&
		    gt_symbol_is(s, i, name))
			return &s->table[i];
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

static inline ElfW(Sym) *
	gt_symbol_find_next(const struct gt_symbols *s, const char *name, const ElfW(Sym) * after)
{
	if (s->gnu)
		return gt_symbol_find_gnu(s, name, after);
	for (uint32_t i = after ? (uint32_t)(after - s->table) + 1 : 1; i < s->sysv[1]; i++)
		if (gt_symbol_is(s, i, name))
			return &s->table[i];
	return NULL;
}

static inline ElfW(Sym) * gt_symbol_find(const struct gt_symbols *s, const char *name)
{
	return gt_symbol_find_next(s, name, NULL);
}

/* Return true if the object refers to a symbol of another object. */
static inline bool gt_symbols_import(const struct gt_symbols *s, const char *name)
{
	/* DT_GNU_HASH: undefined symbols come first */
	uint32_t count = s->gnu ? s->gnu[1] : s->sysv[1];

	for (uint32_t i = 1; i < count; i++)
		if (s->table[i].st_shndx == SHN_UNDEF &&
		    bare_equal(s->strings + s->table[i].st_name, name))
			return true;
	return false;
}

static inline const ElfW(Phdr) * gt_elf_segment(const struct gt_elf *o, const void *address)
{
	ElfW(Addr) at = (ElfW(Addr))address - o->base;

	for (unsigned i = 0; i < o->header_count; i++) {
		const ElfW(Phdr) *p = &o->headers[i];

		if (p->p_type == PT_LOAD && at >= p->p_vaddr && at < p->p_vaddr + p->p_memsz)
			return p;
	}
	return NULL;
}

/* Return true if the page was made read-only after the object had been relocated. */
static inline bool gt_elf_in_relro(const struct gt_elf *o, const void *address)
{
	const ElfW(Addr) page = ~(ElfW(Addr))(GT_ELF_PAGE - 1);

	for (unsigned i = 0; i < o->header_count; i++) {
		const ElfW(Phdr) *p = &o->headers[i];

		if (p->p_type == PT_GNU_RELRO &&
		    (ElfW(Addr))address >= ((o->base + p->p_vaddr) & page) &&
		    (ElfW(Addr))address < ((o->base + p->p_vaddr + p->p_memsz) & page))
			return true;
	}
	return false;
}

/* Return true if the object's read-only part contains @text. */
static inline bool gt_elf_contains(const struct gt_elf *o, const char *text, size_t bytes)
{
	for (unsigned i = 0; i < o->header_count; i++) {
		const ElfW(Phdr) *p = &o->headers[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && !(p->p_flags & PF_W) &&
		    bare_find((const char *)(o->base + p->p_vaddr), p->p_filesz, text, bytes))
			return true;
	}
	return false;
}

static inline bool gt_set_protection(const void *from, const void *to, unsigned flags)
{
	const uintptr_t page = GT_ELF_PAGE - 1;
	uintptr_t start = (uintptr_t)from & ~page, end = ((uintptr_t)to + page) & ~page;
	int prot = (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
		   (flags & PF_X ? PROT_EXEC : 0);

	return bare_syscall3(SYS_mprotect, (long)start, (long)(end - start), prot) == 0;
}

/* Relocation tables: PLT relocations and all others. */
struct gt_relocations {
	ElfW(Rela) * first;
	size_t count;
};

static inline void gt_relocations_of(const struct gt_elf *o, struct gt_relocations tables[2])
{
	tables[0] = tables[1] = (struct gt_relocations){NULL, 0};
	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
		void *p = (void *)(uintptr_t)gt_dynamic_pointer(o, d->d_un.d_ptr);

		if (d->d_tag == DT_JMPREL)
			tables[0].first = p;
		else if (d->d_tag == DT_PLTRELSZ)
			tables[0].count = d->d_un.d_val / sizeof(ElfW(Rela));
		else if (d->d_tag == DT_RELA)
			tables[1].first = p;
		else if (d->d_tag == DT_RELASZ)
			tables[1].count = d->d_un.d_val / sizeof(ElfW(Rela));
	}
	for (int i = 0; i < 2; i++)
		if (!tables[i].first)
			tables[i].count = 0;
}

#endif
