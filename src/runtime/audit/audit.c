/* SPDX-License-Identifier: MIT */
/* libgputap-audit.so: interposition in the dynamic linker (LD_AUDIT).
 *
 * The linker calls this library for every object that it maps, before anything is bound to the
 * object. If the object is a runtime's library that offers no table of functions, its symbol table
 * is changed at that moment: the addresses of its exported functions become those of libgputap.so's
 * taps, and the taps get the real addresses. All later bindings lead to the taps: lazy or
 * immediate, through a PLT, a static table of pointers or dlsym(), also from RTLD_LOCAL and
 * RTLD_DEEPBIND libraries. (la_symbind64() is called only for PLT slots and dlsym(), never for the
 * relocations of a pointer table. la_symbind64() would also make the linker call this library for
 * every binding of the program.) runtime/arm.h describes the changes to a library. Without an
 * auditor, libgputap.so makes the same changes later (runtime/mapped.c).
 *
 * Until torch's first operator runs, gputap functions are placed in front of two libtorch functions
 * (runtime/torch_fronts.h).
 *
 * If a program needs a library that is not found and that gputap can substitute (ROCTx), it gets
 * gputap's substitute through la_objsearch(), after all other search paths, so that a real library
 * is preferred. (LD_LIBRARY_PATH would precede the program's RUNPATH and the linker's cache.)
 *
 * This library has a separate link namespace. The library uses no libc, which saves mapping a
 * second libc at start-up and avoids accidentally shared state. No allocation, no thread-local
 * storage, no output; impossible steps are skipped. All entry points are called with the linker's
 * lock held, so by one thread at a time. */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tool_opened.h"
#include "core/unloads.h"
#include "generated/substitutes.h"
#include "runtime/arm.h"
#include "runtime/torch_fronts.h"

enum { PENDING_MAX = 16 };

#if defined(__x86_64__)
#define TRIPLET "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define TRIPLET "aarch64-linux-gnu"
#endif

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned int la_version(unsigned int version);
EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie);
EXPORT unsigned int la_objclose(uintptr_t *cookie);
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag);

static bool active;
static const char *compat; /* folder with substitute libraries; NULL: none */
static struct gt_arming arming;

/* State of one entry of gt_interposables. */
static struct api {
	const struct gt_attach *point; /* set once libgputap.so is mapped */
	unsigned pending_count;
	/* libraries that were mapped before libgputap.so */
	const struct link_map *pending[PENDING_MAX];
} apis[GT_INTERPOSABLES];

/* Describe a mapped object. Its program headers are known only if its first page begins with the
 * ELF header. */
static struct gt_elf object_of(const struct link_map *map)
{
	struct gt_elf o = {.base = map->l_addr, .dynamic = map->l_ld, .path = map->l_name};
	const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)map->l_addr;

	if (e && e->e_ident[0] == 0x7f && e->e_ident[1] == 'E' &&
	    e->e_phentsize == sizeof(ElfW(Phdr)) &&
	    e->e_phoff + e->e_phnum * sizeof(ElfW(Phdr)) <= GT_ELF_PAGE) {
		o.headers = (const ElfW(Phdr) *)((const char *)e + e->e_phoff);
		o.header_count = e->e_phnum;
	}
	return o;
}

/* The object in libgputap.so through which it is notified of tools that a running program opens. */
static struct gt_tool_opened *tools; /* set once libgputap.so is mapped */

/* true once this library has armed another one. Until then, the states of interposition, pages
 * that are otherwise untouched, need no look. */
static bool has_armed;

static void arm_instance(unsigned i, const struct gt_elf *o, bool own_calls)
{
	const struct gt_attach *point = apis[i].point;

	gt_arm(&arming, &gt_interposables[i], point, o, own_calls);
	has_armed = true;
	if (!tools) /* the library that is being mapped is libgputap.so: see meet_tool() */
		return;
	atomic_store(&tools->armed, 1);
	if (atomic_load(&tools->ready)) {
		void (*opened)(void);

		*(void **)&opened = GT_ATTACH_AT(point, point->opened);
		opened();
	}
}

static void meet_point(unsigned index, const struct gt_symbols *s, const ElfW(Sym) * symbol)
{
	struct api *a = &apis[index];
	const struct gt_attach *point = (const struct gt_attach *)(s->base + symbol->st_value);
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);

	if (point->magic != GT_ATTACH_MAGIC || shape->tap_bytes != sizeof(struct gt_tap))
		return; /* the object is from another version */
	a->point = point;
	/* libgputap.so came late (not preloaded), so these libraries may already be relocated, and
	 * their slots may be read-only. */
	for (unsigned i = 0; i < a->pending_count; i++) {
		struct gt_elf o = object_of(a->pending[i]);

		arm_instance(index, &o, false);
	}
	a->pending_count = 0;
}

static void meet_library(unsigned i, const struct link_map *map, const struct gt_elf *o,
			 const struct gt_symbols *s, bool is_ours)
{
	const struct gt_interposable *what = &gt_interposables[i];
	struct api *a = &apis[i];
	const ElfW(Sym) *symbol = a->point || !is_ours ? NULL : gt_symbol_find(s, what->object);

	if (symbol)
		meet_point(i, s, symbol);
	else if (!gt_is_interposable(what, s) || !what->wants(&arming, o, s))
		return;
	else if (a->point)
		arm_instance(i, o, what->own_calls);
	else if (a->pending_count < PENDING_MAX)
		a->pending[a->pending_count++] = map;
}

/* Fronts of two functions of libtorch. */
static const struct gt_torch_fronts *fronts; /* set once libgputap.so is mapped */
static ElfW(Addr) torch_base;                /* base of the libtorch that has the fronts; 0: none */

static void put_front(const struct gt_elf *o, const struct gt_symbols *s, unsigned i)
{
	ElfW(Sym) *symbol = gt_symbol_find(s, gt_torch_front_names[i]);
	const ElfW(Phdr) *segment = symbol ? gt_elf_segment(o, symbol) : NULL;

	if (!segment || !gt_set_protection(symbol, symbol + 1, segment->p_flags | PF_W))
		return;
	*(void **)GT_ATTACH_AT(fronts, fronts->front[i].real) =
		(void *)(o->base + symbol->st_value);
	symbol->st_value = (ElfW(Addr))GT_ATTACH_AT(fronts, fronts->front[i].function) - o->base;
	gt_set_protection(symbol, symbol + 1, segment->p_flags);
	torch_base = o->base;
}

static void meet_torch(const struct gt_elf *o, const struct gt_symbols *s)
{
	const ElfW(Sym) *ours = fronts ? NULL : gt_symbol_find(s, "gputap_attach_ranges");

	if (ours) {
		fronts = (const struct gt_torch_fronts *)(s->base + ours->st_value);
		if (fronts->magic != GT_TORCH_FRONTS_MAGIC)
			fronts = NULL; /* from another version */
		return;
	}
	for (unsigned i = 0;
	     fronts && (!torch_base || torch_base == o->base) && i < GT_TORCH_FRONTS; i++)
		put_front(o, s, i);
}

/* The object in libgputap.so that counts unmapped modules. Call stacks need this count, because
 * another module may be mapped at the same address. */
static struct gt_unloads *unloads; /* set once libgputap.so is mapped */

static void meet_unloads(const struct gt_symbols *s)
{
	const ElfW(Sym) *ours = unloads ? NULL : gt_symbol_find(s, "gputap_attach_unloads");

	if (!ours)
		return;
	unloads = (struct gt_unloads *)(s->base + ours->st_value);
	if (unloads->magic != GT_UNLOADS_MAGIC)
		unloads = NULL; /* from another version */
}

static void meet_tool(const struct gt_symbols *s)
{
	const ElfW(Sym) *ours = tools ? NULL : gt_symbol_find(s, "gputap_attach_tools");
	void (*opened)(void);

	if (ours) {
		tools = (struct gt_tool_opened *)(s->base + ours->st_value);
		if (tools->magic != GT_TOOL_OPENED_MAGIC)
			tools = NULL; /* from another version */
		else if (has_armed)
			atomic_store(&tools->armed, 1);
	} else if (tools && gt_symbol_find(s, "gputap_tool_describe")) {
		opened = atomic_load(&tools->opened);
		if (opened)
			opened();
	}
}

static void forget(struct api *a, const struct link_map *map)
{
	const struct gt_attach_shape *shape =
		a->point ? GT_ATTACH_AT(a->point, a->point->shape) : NULL;
	struct gt_attach_state *states = a->point ? GT_ATTACH_AT(a->point, a->point->states) : NULL;

	for (unsigned i = 0; i < a->pending_count; i++)
		if (a->pending[i] == map)
			a->pending[i] = a->pending[--a->pending_count];
	for (unsigned i = 0; has_armed && shape && i < shape->instances; i++)
		if (atomic_load(&states[i].state) == GT_ATTACH_ARMED &&
		    states[i].base == map->l_addr)
			atomic_store(&states[i].state, GT_ATTACH_FREE);
}

__attribute__((constructor)) static void start_audit(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	for (char **e = environment; e && *e; e++)
		if (bare_find(*e, sizeof "GPUTAP_SESSION=" - 1,
			      "GPUTAP_SESSION=", sizeof "GPUTAP_SESSION=" - 1))
			active = true;
		else if (bare_find(*e, sizeof "GPUTAP_COMPAT=/" - 1, "GPUTAP_COMPAT=/",
				   sizeof "GPUTAP_COMPAT=/" - 1))
			compat = *e + sizeof "GPUTAP_COMPAT=" - 1;
}

/* Write "@folder/@name" to the single static buffer. Return NULL if the path is too long or the
 * file does not exist. */
static char *file_in(const char *folder, const char *name)
{
	static char path[512];
	size_t n = bare_length(folder);

	if (n + 1 + bare_length(name) + 1 > sizeof path)
		return NULL;
	bare_copy(path, folder, sizeof path);
	path[n] = '/';
	bare_copy(path + n + 1, name, sizeof path - n - 1);
	return bare_syscall3(SYS_faccessat, -100 /* AT_FDCWD */, (long)path, 4 /* R_OK */) == 0
		       ? path
		       : NULL;
}

/* Return the path of the substitute for @name. Return NULL if gputap has none, or if the real
 * library is in one of the linker's own folders, which are searched last. */
static char *stand_in(const char *name)
{
	static const char *const folders[] = {"/lib/" TRIPLET, "/usr/lib/" TRIPLET,
					      "/lib64",        "/usr/lib64",
					      "/lib",          "/usr/lib"};
	static const char *const ours[][2] = {
#define X(wanted, file) {wanted, file},
		GT_SUBSTITUTES(X)
#undef X
	};
	const char *file = name;

	for (const char *c = name; *c; c++)
		file = *c == '/' ? c + 1 : file;
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		if (!bare_equal(file, ours[i][0]))
			continue;
		for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
			if (file_in(folders[f], file))
				return NULL;
		return file_in(compat, ours[i][1]);
	}
	return NULL;
}

unsigned int la_version(unsigned int version)
{
	/* With 0 the linker would ignore this library, which uses only features of all interface
	 * versions. */
	return active && version >= 1 ? (version < LAV_CURRENT ? version : LAV_CURRENT) : 0;
}

/* Examine a new object. Returns no flags, so that the linker reports no bindings to this
 * library. */
unsigned int la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	struct gt_elf o = object_of(map);
	struct gt_symbols s;
	bool is_ours;

	(void)namespace;
	*cookie = (uintptr_t)map;
	if (!gt_symbols_of(&o, &s))
		return 0;
	/* one look-up instead of one per attach point in libraries other than libgputap.so */
	is_ours = gt_symbol_find(&s, "gputap_attach_tools");
	for (unsigned i = 0; i < GT_INTERPOSABLES; i++)
		meet_library(i, map, &o, &s, is_ours);
	meet_torch(&o, &s);
	meet_unloads(&s);
	meet_tool(&s);
	return 0;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag)
{
	char *path = flag == LA_SER_DEFAULT && compat ? stand_in(name) : NULL;

	(void)cookie;
	return path ? path : (char *)(uintptr_t)name;
}

unsigned int la_objclose(uintptr_t *cookie)
{
	const struct link_map *map = (const struct link_map *)*cookie;

	for (unsigned i = 0; i < GT_INTERPOSABLES; i++)
		forget(&apis[i], map);
	if (torch_base && torch_base == map->l_addr)
		torch_base = 0; /* another libtorch may be mapped later */
	if (unloads)
		atomic_fetch_add(&unloads->count, 1);
	return 0;
}
