/* SPDX-License-Identifier: MIT */
/* Interposition of one library. Either of two does it: libgputap-audit.so, when the library is
 * mapped and before the dynamic linker relocates it; or libgputap.so, later (runtime/mapped.c).
 * Each runtime's folder says which libraries, and which are left alone:
 * runtime/<name>/<name>_interposed.h.
 *
 * Steps of gt_arm(), in this order:
 *   1. The library's calls of its own exports stay its own (gt_keep_own()): its PLT and GOT slots
 *      for them get the real addresses, and their relocations are sent elsewhere, so that the
 *      dynamic linker does not change them again.
 *   2. A free instance of the taps is taken (compare and exchange).
 *   3. The instance's taps get the real addresses (gt_fill_taps()).
 *   4. The instance's state becomes ARMED (sequentially consistent): libgputap.so may adopt it.
 *   5. The library's symbols get the taps' addresses (release): who resolves one from now on calls
 *      a tap.
 *
 * No libc, no allocation; what cannot be done is left undone. */
#ifndef GPUTAP_RUNTIME_ARM_H
#define GPUTAP_RUNTIME_ARM_H

#include "core/tap.h"
#include "core/elf.h"
#include "runtime/interposition.h"

/* Of whoever arms. */
struct gt_arming {
	/* no loader of the runtime brings us in by a variable of its environment: each library is
	 * interposed that could be */
	bool alone;
	bool relocated;     /* libraries are, when they are armed */
	ElfW(Addr) nowhere; /* what relocations write that must write nothing */
	/* Called for an attach point that is armed, before its taps can be reached. NULL: whoever
	 * arms calls it later. */
	void (*opened)(void);
};

/* What can be interposed. Several domains may be in one library. */
struct gt_interposable {
	const char *object; /* of libgputap.so: gputap_attach_<domain> */
	const char *marker; /* a symbol that the runtime's library defines, and others hardly do */
	/* one that a smaller library of the same runtime defines; NULL: there is no such library */
	const char *part;
	const char *left; /* one that a library defines that is left alone; NULL: there is none */
	bool (*wants)(struct gt_arming *a, const struct gt_elf *o, const struct gt_symbols *s);
	/* gt_keep_own(); else a call that the library makes of itself is recognised when it
	 * comes */
	bool own_calls;
};

/* Interpose a library that does not offer its tables to tools. One that does imports that function
 * of librocprofiler-register's, as ROCm 6 and later do, and is attached to through it. */
static inline bool gt_wants_unregistered(struct gt_arming *a, const struct gt_elf *o,
					 const struct gt_symbols *s)
{
	(void)a;
	(void)o;
	return !gt_symbols_import(s, "rocprofiler_register_library_api_table");
}

#include "generated/interposed.h"

/* In the order of GT_INTERPOSED. */
static const struct gt_interposable gt_interposables[] = {
#define X(name, marker, part, left, wants, own_calls) \
	{"gputap_attach_" #name, marker, part, left, wants, own_calls},
	GT_INTERPOSED(X)
#undef X
};
enum { GT_INTERPOSABLES = sizeof gt_interposables / sizeof *gt_interposables };

static inline bool gt_is_interposable(const struct gt_interposable *what,
				      const struct gt_symbols *s)
{
	if (what->left && gt_symbol_find(s, what->left))
		return false;
	return gt_symbol_find(s, what->marker) || (what->part && gt_symbol_find(s, what->part));
}

/* An instance that no other way to attach and no other library uses. The first, but the last for a
 * library that is only a part: tools know runtimes by their instance, and such a library may be
 * mapped before the runtime's. */
static inline int gt_attach_take_instance(const struct gt_attach *point, bool is_part)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	struct gt_attach_state *states = GT_ATTACH_AT(point, point->states);

	for (uint32_t i = 0; i < shape->instances; i++) {
		uint32_t free = GT_ATTACH_FREE, at = is_part ? shape->instances - 1 - i : i;

		if (atomic_compare_exchange_strong(&states[at].state, &free, GT_ATTACH_LAYER))
			return (int)at;
	}
	return -1;
}

/* Position of an exported name; -1: there are no taps for it. */
static inline int gt_attach_position(const struct gt_attach *point, const char *name)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	const char *at = GT_ATTACH_AT(point, point->names);

	for (uint32_t i = 0; i < shape->count; i++, at += bare_length(at) + 1)
		if (bare_equal(at, name))
			return (int)i;
	return -1;
}

/* The tap of a position. */
static inline void *gt_attach_tap(const struct gt_attach *point, int instance, int position)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	const int32_t *functions = (const int32_t *)GT_ATTACH_AT(point, point->functions) +
				   (size_t)instance * shape->count;

	return GT_ATTACH_AT(point, functions[position]);
}

/* Its state. */
static inline struct gt_tap *gt_attach_tap_state(const struct gt_attach *point, int instance,
						 int position)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	const uint16_t *indices = GT_ATTACH_AT(point, point->indices);

	return (struct gt_tap *)GT_ATTACH_AT(point, point->taps) +
	       (size_t)instance * shape->operations + indices[position];
}

/* One table of relocations: those of PLT and GOT slots for the library's own exports are done
 * here, for good. */
static inline void gt_keep_own(struct gt_arming *a, const struct gt_attach *point,
			       const struct gt_elf *o, const struct gt_symbols *s,
			       const struct gt_relocations *table)
{
	ElfW(Rela) *first = table->first, *end = first + table->count;
	const ElfW(Phdr) *segment = table->count ? gt_elf_segment(o, first) : NULL, *slots;

	if (!segment || !gt_set_protection(first, end, PF_R | PF_W))
		return;
	for (ElfW(Rela) *r = first; r < end; r++) {
		const ElfW(Sym) *symbol = &s->table[ELF64_R_SYM(r->r_info)];
		ElfW(Addr) *slot = (ElfW(Addr) *)(o->base + r->r_offset);
		unsigned type = ELF64_R_TYPE(r->r_info);

		ElfW(Addr) to = o->base + symbol->st_value;

		if (type != GT_JUMP_SLOT && type != GT_GLOB_DAT)
			continue;
		if (!gt_symbol_is_defined(symbol) && point->threads &&
		    bare_equal(s->strings + symbol->st_name, "pthread_create"))
			/* runtime/submit_order.h says why */
			to = (ElfW(Addr))GT_ATTACH_AT(point, point->threads);
		else if (!gt_symbol_is_defined(symbol) ||
			 gt_attach_position(point, s->strings + symbol->st_name) < 0)
			continue;
		slots = gt_elf_segment(o, slot);
		if (!slots || !(slots->p_flags & PF_W) ||
		    (a->relocated && gt_elf_in_relro(o, slot)))
			continue;
		*slot = to;
		r->r_offset = (ElfW(Addr)) & a->nowhere - o->base;
	}
	gt_set_protection(first, end, segment->p_flags);
}

/* The next name of @point that the library defines as a function, from *position on; *position
 * and *name are behind it then. NULL: no more. */
static inline ElfW(Sym) * gt_next_function(const struct gt_attach *point,
					   const struct gt_symbols *s, uint32_t *position,
					   const char **name)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);

	*name = *position ? *name : GT_ATTACH_AT(point, point->names);
	while (*position < shape->count) {
		ElfW(Sym) *symbol = gt_symbol_find(s, *name);

		++*position;
		*name += bare_length(*name) + 1;
		if (symbol && (symbol->st_info & 15) == STT_FUNC)
			return symbol;
	}
	return NULL;
}

/* From the first to behind the last of them. */
static inline void gt_symbols_range(const struct gt_attach *point, const struct gt_symbols *s,
				    ElfW(Sym) * *from, ElfW(Sym) * *to)
{
	const char *name;

	for (uint32_t i = 0;;) {
		ElfW(Sym) *symbol = gt_next_function(point, s, &i, &name);

		if (!symbol)
			return;
		if (!*from || symbol < *from)
			*from = symbol;
		if (!*to || symbol + 1 > *to)
			*to = symbol + 1;
	}
}

/* Step 3. */
static inline void gt_fill_taps(const struct gt_attach *point, const struct gt_symbols *s,
				int instance)
{
	ElfW(Sym) * symbol;
	const char *name;

	for (uint32_t i = 0; (symbol = gt_next_function(point, s, &i, &name)) != NULL;) {
		struct gt_tap *tap = gt_attach_tap_state(point, instance, (int)i - 1);

		tap->real = (void *)(s->base + symbol->st_value);
		/* until libgputap.so's constructor has decided: a call before that goes its slow
		 * way and asks */
		atomic_store_explicit(&tap->services, GT_SERVICE_STREAM, memory_order_relaxed);
	}
}

static inline void gt_change_symbols(const struct gt_attach *point, const struct gt_symbols *s,
				     int instance)
{
	ElfW(Sym) * symbol;
	const char *name;

	for (uint32_t i = 0; (symbol = gt_next_function(point, s, &i, &name)) != NULL;)
		__atomic_store_n(&symbol->st_value,
				 (ElfW(Addr))gt_attach_tap(point, instance, (int)i - 1) - s->base,
				 __ATOMIC_RELEASE);
}

/* Return: the instance; -1: it stays as it is. */
static inline int gt_arm(struct gt_arming *a, const struct gt_interposable *what,
			 const struct gt_attach *point, const struct gt_elf *o, bool own_calls)
{
	struct gt_attach_state *states = GT_ATTACH_AT(point, point->states);
	ElfW(Sym) *from = NULL, *to = NULL;
	struct gt_relocations tables[2];
	const ElfW(Phdr) * segment;
	struct gt_symbols s;
	int i;

	if (!gt_symbols_of(o, &s))
		return -1;
	gt_symbols_range(point, &s, &from, &to);
	segment = from ? gt_elf_segment(o, from) : NULL;
	if (segment && own_calls) {
		/* before the symbols change. Tables of pointers are left to the linker: those
		 * are for others */
		gt_relocations_of(o, tables);
		gt_keep_own(a, point, o, &s, &tables[0]);
		gt_keep_own(a, point, o, &s, &tables[1]);
	}
	if (!segment || !gt_set_protection(from, to, PF_R | PF_W))
		return -1;
	i = gt_attach_take_instance(point, !gt_symbol_find(&s, what->marker));
	if (i >= 0) {
		gt_fill_taps(point, &s, i);
		bare_copy(states[i].path, o->path, sizeof states[i].path);
		states[i].base = o->base;
		atomic_store(&states[i].adopted, 0);
		atomic_store(&states[i].state, GT_ATTACH_ARMED);
		if (a->opened)
			a->opened();
		gt_change_symbols(point, &s, i);
	} else {
		atomic_fetch_add(&states[0].missed, 1);
	}
	gt_set_protection(from, to, segment->p_flags);
	return i;
}

#endif
