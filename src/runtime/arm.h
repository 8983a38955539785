/* SPDX-License-Identifier: MIT */
/* Interposition of a library. A library is interposed either by libgputap-audit.so, when the
 * library is mapped and before the dynamic linker relocates it, or later by libgputap.so (see
 * runtime/mapped.c). Each runtime's runtime/<name>/<name>_interposed.h lists the libraries to
 * interpose and the exceptions.
 *
 * Steps of gt_arm(), in this order:
 *   1. Calls by which the library reaches its own exported functions remain direct (gt_keep_own()):
 *      the PLT and GOT slots for these functions get the real addresses, and their relocations are
 *      redirected so that the dynamic linker does not change the slots again.
 *   2. A free instance of the taps is taken (compare and exchange).
 *   3. The instance's taps get the real addresses (gt_fill_taps()).
 *   4. The instance's state becomes ARMED (sequentially consistent), so libgputap.so may adopt the
 *      instance.
 *   5. The library's symbols get the taps' addresses (release). Symbols resolved from now on lead
 *      to taps.
 *
 * No libc, no allocation. A step that is not possible is skipped. */
#ifndef GPUTAP_RUNTIME_ARM_H
#define GPUTAP_RUNTIME_ARM_H

#include "core/tap.h"
#include "core/elf.h"
#include "runtime/interposition.h"

/* State of one arming pass. */
struct gt_arming {
	/* true if no loader of the runtime loads gputap through an environment variable: interpose
	 * every library that can be interposed */
	bool alone;
	bool relocated;     /* true if libraries are already relocated when they are armed */
	ElfW(Addr) nowhere; /* target for relocations that must have no effect */
	/* Called for an attach point once it is armed, before its taps can be reached. NULL: the
	 * caller of gt_arm() calls the function later. */
	void (*opened)(void);
};

/* A library that can be interposed. A library may contain several domains. */
struct gt_interposable {
	const char *object; /* object in libgputap.so: gputap_attach_<domain> */
	const char *marker; /* symbol that the runtime's library and few other libraries define */
	/* symbol that a smaller library of the same runtime defines; NULL: there is none */
	const char *part;
	const char *left; /* symbol that marks libraries that must not be interposed; NULL: none */
	bool (*wants)(struct gt_arming *a, const struct gt_elf *o, const struct gt_symbols *s);
	/* true to use gt_keep_own(); if false, the library's calls of its exported functions are
	 * recognised when they happen */
	bool own_calls;
};

/* Return true for libraries that do not offer their tables to tools. Libraries of ROCm 6 and later
 * offer their tables: such libraries import this function of librocprofiler-register, through which
 * gputap attaches. */
static inline bool gt_wants_unregistered(struct gt_arming *a, const struct gt_elf *o,
					 const struct gt_symbols *s)
{
	(void)a;
	(void)o;
	return !gt_symbols_import(s, "rocprofiler_register_library_api_table");
}

#include "generated/interposed.h"

/* Same order as GT_INTERPOSED. */
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

/* Take an instance that no other interception method and no other library uses. The search starts
 * at the first instance, or at the last one if the library is only a part of the runtime, because
 * tools identify runtimes by instance number, and a part may be mapped before the runtime's main
 * library. */
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

/* Return the position of an exported name, or -1 if the name has no taps. */
static inline int gt_attach_position(const struct gt_attach *point, const char *name)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	const char *at = GT_ATTACH_AT(point, point->names);

	for (uint32_t i = 0; i < shape->count; i++, at += bare_length(at) + 1)
		if (bare_equal(at, name))
			return (int)i;
	return -1;
}

/* Return the tap at a position. */
static inline void *gt_attach_tap(const struct gt_attach *point, int instance, int position)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	const int32_t *functions = (const int32_t *)GT_ATTACH_AT(point, point->functions) +
				   (size_t)instance * shape->count;

	return GT_ATTACH_AT(point, functions[position]);
}

/* Return the state of the tap at a position. */
static inline struct gt_tap *gt_attach_tap_state(const struct gt_attach *point, int instance,
						 int position)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	const uint16_t *indices = GT_ATTACH_AT(point, point->indices);

	return (struct gt_tap *)GT_ATTACH_AT(point, point->taps) +
	       (size_t)instance * shape->operations + indices[position];
}

/* Handle a table of relocations: set the PLT and GOT slots for the library's own exports to the
 * real addresses, permanently. */
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
			/* runtime/submit_order.h explains the reason */
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

/* Return the next name of @point, from *position on, that the library defines as a function.
 * Advance *position and *name past it. Return NULL if there are no more names. */
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

/* Get the range of the library's symbols that have taps, from the first symbol to the end of the
 * last one. */
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

/* Do step 3 of gt_arm(). */
static inline void gt_fill_taps(const struct gt_attach *point, const struct gt_symbols *s,
				int instance)
{
	ElfW(Sym) * symbol;
	const char *name;

	for (uint32_t i = 0; (symbol = gt_next_function(point, s, &i, &name)) != NULL;) {
		struct gt_tap *tap = gt_attach_tap_state(point, instance, (int)i - 1);

		tap->real = (void *)(s->base + symbol->st_value);
		/* This value is used until the constructor of libgputap.so sets the services. Calls
		 * before that take the slow path, which checks again. */
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

/* Arm a library. Return the instance, or -1 if the library is left unchanged. */
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
		/* Must precede the change of the symbols. Tables of pointers are left to the
		 * linker, because other libraries read them. */
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
