/* SPDX-License-Identifier: MIT */
/* libgputap-audit.so: interposition that the dynamic linker itself does (LD_AUDIT).
 *
 * The linker tells of every object that it maps, before anything is bound to it. A runtime's library that has no door
 * of its own gets its symbol table changed right then: the addresses of its exported functions become those of
 * libgputap.so's taps, and the taps get the real addresses. Whatever is bound afterwards, lazily or at once, by a PLT, a
 * static table of pointers or dlsym(), from RTLD_LOCAL and RTLD_DEEPBIND libraries, finds the taps. (la_symbind64() is called
 * for PLT slots and dlsym() only, never for the relocations of a pointer table; and it makes the linker call us
 * for every binding of the program.)
 *
 *   OpenCL: a library that exports clGetPlatformIDs. Left alone: a loader that knows layers (the text OPENCL_LAYERS is in
 *   it: the layer door is there), a layer, and a driver behind such a loader.
 *
 * This library lives in a link namespace of its own. It uses no libc at all: none is mapped a second time for it (start-up),
 * and there is no state to share by mistake. No allocation, no thread-local storage, no output; what it cannot
 * do it leaves undone. All entries are called with the linker's lock held: one thread at a time. */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/tap.h"
#include "runtime/audit/bare.h"
#include "runtime/interposition.h"

enum { PENDING_MAX = 16, PAGE = 4096 };

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned int la_version(unsigned int version);
EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie);
EXPORT unsigned int la_objclose(uintptr_t *cookie);

static bool active;
static const struct gt_door *opencl;           /* in libgputap.so, once that is mapped */
static const struct link_map *pending[PENDING_MAX]; /* runtimes that were mapped before it */
static unsigned pending_count;
static bool layer_loader; /* an OpenCL loader that knows layers was seen */

/* One object's dynamic symbols. */
struct symbols {
	ElfW(Addr) base;
	ElfW(Sym) *table;
	const char *strings;
	const uint32_t *gnu;  /* DT_GNU_HASH */
	const uint32_t *sysv; /* DT_HASH */
};

/* The linker has made these absolute, but not in objects whose dynamic section it cannot write. */
static const void *dynamic_pointer(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static bool read_symbols(const struct link_map *map, struct symbols *s)
{
	*s = (struct symbols){.base = map->l_addr};
	if (!map->l_ld)
		return false;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		const void *p = dynamic_pointer(map, d->d_un.d_ptr);

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

static bool is_defined(const ElfW(Sym) *symbol)
{
	unsigned type = symbol->st_info & 15;

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS && symbol->st_value != 0 &&
	       (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE);
}

static ElfW(Sym) *find_gnu(const struct symbols *s, const char *name)
{
	uint32_t buckets = s->gnu[0], first = s->gnu[1], words = s->gnu[2], shift = s->gnu[3], hash = 5381, i;
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
		if ((chain[i - first] | 1) == (hash | 1) && bare_equal(s->strings + s->table[i].st_name, name) &&
		    is_defined(&s->table[i]))
			return &s->table[i];
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

static ElfW(Sym) *find(const struct symbols *s, const char *name)
{
	if (s->gnu)
		return find_gnu(s, name);
	for (uint32_t i = 1; i < s->sysv[1]; i++)
		if (is_defined(&s->table[i]) && bare_equal(s->strings + s->table[i].st_name, name))
			return &s->table[i];
	return NULL;
}

/* The object's program headers: its first page begins with the ELF header. NULL: not as expected. */
static const ElfW(Ehdr) *elf_header(const struct link_map *map)
{
	const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)map->l_addr;

	if (!e || e->e_ident[0] != 0x7f || e->e_ident[1] != 'E' || e->e_phentsize != sizeof(ElfW(Phdr)) ||
	    e->e_phoff + e->e_phnum * sizeof(ElfW(Phdr)) > PAGE)
		return NULL;
	return e;
}

static const ElfW(Phdr) *segment_of(const struct link_map *map, const void *address)
{
	const ElfW(Ehdr) *e = elf_header(map);
	const ElfW(Phdr) *p = e ? (const ElfW(Phdr) *)((const char *)e + e->e_phoff) : NULL;
	ElfW(Addr) at = (ElfW(Addr))address - map->l_addr;

	for (unsigned i = 0; e && i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && at >= p[i].p_vaddr && at < p[i].p_vaddr + p[i].p_memsz)
			return &p[i];
	return NULL;
}

/* Is the text in what the object cannot change? */
static bool contains(const struct link_map *map, const char *text, size_t bytes)
{
	const ElfW(Ehdr) *e = elf_header(map);
	const ElfW(Phdr) *p = e ? (const ElfW(Phdr) *)((const char *)e + e->e_phoff) : NULL;

	for (unsigned i = 0; e && i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_R) && !(p[i].p_flags & PF_W) &&
		    bare_find((const char *)(map->l_addr + p[i].p_vaddr), p[i].p_filesz, text, bytes))
			return true;
	return false;
}

static bool set_protection(const void *from, const void *to, unsigned flags)
{
	uintptr_t start = (uintptr_t)from & ~(uintptr_t)(PAGE - 1), end = ((uintptr_t)to + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	int prot = (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) | (flags & PF_X ? PROT_EXEC : 0);

	return bare_syscall3(SYS_mprotect, (long)start, (long)(end - start), prot) == 0;
}

/* An instance that no other door and no other library uses, from the last: the layer door begins with the first. */
static int take_instance(const struct gt_door_shape *shape, struct gt_door_state *states)
{
	for (int i = (int)shape->instances - 1; i >= 0; i--) {
		uint32_t free = GT_DOOR_FREE;

		if (atomic_compare_exchange_strong(&states[i].state, &free, GT_DOOR_LAYER))
			return i;
	}
	return -1;
}

/* The names of @door that the library defines, in turn: their first, their last, or each changed. */
static void change_symbols(const struct gt_door *door, const struct symbols *s, int instance, ElfW(Sym) **from, ElfW(Sym) **to)
{
	const struct gt_door_shape *shape = GT_DOOR_AT(door, door->shape);
	const char *name = GT_DOOR_AT(door, door->names);
	const uint16_t *indices = GT_DOOR_AT(door, door->indices);
	const int32_t *functions = (const int32_t *)GT_DOOR_AT(door, door->functions) + (size_t)instance * shape->count;
	struct gt_tap *taps = (struct gt_tap *)GT_DOOR_AT(door, door->taps) + (size_t)instance * shape->operations;

	for (uint32_t i = 0; i < shape->count; i++, name += bare_length(name) + 1) {
		ElfW(Sym) *symbol = find(s, name);

		if (!symbol || (symbol->st_info & 15) != STT_FUNC)
			continue;
		if (from) { /* look only */
			if (!*from || symbol < *from)
				*from = symbol;
			if (!*to || symbol + 1 > *to)
				*to = symbol + 1;
			continue;
		}
		taps[indices[i]].real = (void *)(s->base + symbol->st_value);
		/* until libgputap.so's constructor has decided: a call before that goes its slow way and asks */
		atomic_store_explicit(&taps[indices[i]].services, GT_SERVICE_STREAM, memory_order_relaxed);
		symbol->st_value = (ElfW(Addr))GT_DOOR_AT(door, functions[i]) - s->base;
	}
}

static void arm(const struct gt_door *door, const struct link_map *map)
{
	const struct gt_door_shape *shape = GT_DOOR_AT(door, door->shape);
	struct gt_door_state *states = GT_DOOR_AT(door, door->states);
	ElfW(Sym) *from = NULL, *to = NULL;
	const ElfW(Phdr) *segment;
	struct symbols s;
	int i;

	if (!read_symbols(map, &s))
		return;
	change_symbols(door, &s, 0, &from, &to);
	segment = from ? segment_of(map, from) : NULL;
	if (!segment || !set_protection(from, to, PF_R | PF_W))
		return;
	i = take_instance(shape, states);
	if (i >= 0) {
		change_symbols(door, &s, i, NULL, NULL);
		bare_copy(states[i].path, map->l_name, sizeof states[i].path);
		states[i].base = map->l_addr;
		atomic_store(&states[i].adopted, 0);
		atomic_store(&states[i].state, GT_DOOR_ARMED);
	} else {
		atomic_fetch_add(&states[0].missed, 1);
	}
	set_protection(from, to, segment->p_flags);
	if (atomic_load(&states[0].ready)) {
		void (*opened)(void);

		*(void **)&opened = GT_DOOR_AT(door, door->opened);
		opened();
	}
}

/* Does this library's OpenCL need interposition? */
static bool wants_opencl(const struct link_map *map, const struct symbols *s)
{
	static const char layers[] = "OPENCL_LAYERS";

	if (!find(s, "clGetPlatformIDs") || find(s, "clInitLayer"))
		return false;
	if (contains(map, layers, sizeof layers - 1)) {
		layer_loader = true;
		return false;
	}
	return !(layer_loader && find(s, "clIcdGetPlatformIDsKHR"));
}

static void meet_opencl(const struct link_map *map, const struct symbols *s)
{
	const ElfW(Sym) *symbol = opencl ? NULL : find(s, "gputap_door_opencl");

	if (symbol) {
		const struct gt_door *door = (const struct gt_door *)(s->base + symbol->st_value);
		const struct gt_door_shape *shape = GT_DOOR_AT(door, door->shape);

		if (door->magic != GT_DOOR_MAGIC || shape->tap_bytes != sizeof(struct gt_tap))
			return; /* another version's */
		opencl = door;
		for (unsigned i = 0; i < pending_count; i++)
			arm(opencl, pending[i]);
		pending_count = 0;
		return;
	}
	if (!wants_opencl(map, s))
		return;
	if (opencl)
		arm(opencl, map);
	else if (pending_count < PENDING_MAX)
		pending[pending_count++] = map;
}

__attribute__((constructor)) static void begin(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	for (char **e = environment; e && *e; e++)
		if (bare_find(*e, sizeof "GPUTAP_SESSION=" - 1, "GPUTAP_SESSION=", sizeof "GPUTAP_SESSION=" - 1))
			active = true;
}

unsigned int la_version(unsigned int version)
{
	/* 0: the linker forgets us. We use what every version of the interface has. */
	return active && version >= 1 ? (version < LAV_CURRENT ? version : LAV_CURRENT) : 0;
}

/* Flags of 0: we want to hear of no binding. */
unsigned int la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	struct symbols s;

	(void)namespace;
	*cookie = (uintptr_t)map;
	if (read_symbols(map, &s))
		meet_opencl(map, &s);
	return 0;
}

unsigned int la_objclose(uintptr_t *cookie)
{
	const struct link_map *map = (const struct link_map *)*cookie;
	const struct gt_door_shape *shape = opencl ? GT_DOOR_AT(opencl, opencl->shape) : NULL;
	struct gt_door_state *states = opencl ? GT_DOOR_AT(opencl, opencl->states) : NULL;

	for (unsigned i = 0; i < pending_count; i++)
		if (pending[i] == map)
			pending[i] = pending[--pending_count];
	for (unsigned i = 0; shape && i < shape->instances; i++)
		if (atomic_load(&states[i].state) == GT_DOOR_ARMED && states[i].base == map->l_addr)
			atomic_store(&states[i].state, GT_DOOR_FREE);
	return 0;
}
