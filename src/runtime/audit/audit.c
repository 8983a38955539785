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
 *   HIP: a library that exports __hipRegisterFatBinary, whatever its file is called. Left alone: one that offers its tables
 *   to tools (it calls rocprofiler_register_library_api_table, as ROCm 6 and later do: the table's door is there).
 *   ROCTx: a library that exports roctxRangePushA. Left alone: one that offers its tables, and ours (it has gputap_roctx), which
 *   does that by itself.
 *
 * What a library calls of its own exports is nobody's call. Its PLT slots for them get the real addresses before the linker
 * looks at them, and their relocations are sent elsewhere, so that they stay.
 *
 * And a program that wants ROCTx where there is none gets ours, by la_objsearch(): after all other places, so that a real one is
 * found wherever it lies. (LD_LIBRARY_PATH would come before a program's RUNPATH and the linker's cache.)
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

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#define TRIPLET "x86_64-linux-gnu"
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#define TRIPLET "aarch64-linux-gnu"
#endif

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned int la_version(unsigned int version);
EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie);
EXPORT unsigned int la_objclose(uintptr_t *cookie);
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag);

static bool active;
static const char *compat; /* the folder of our ROCTx; NULL: there is none */
static bool layer_loader; /* an OpenCL loader that knows layers was seen */
static ElfW(Addr) nowhere; /* what relocations write that must write nothing */

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

static bool in_names(const struct gt_door *door, const char *name)
{
	const struct gt_door_shape *shape = GT_DOOR_AT(door, door->shape);
	const char *at = GT_DOOR_AT(door, door->names);

	for (uint32_t i = 0; i < shape->count; i++, at += bare_length(at) + 1)
		if (bare_equal(at, name))
			return true;
	return false;
}

/* One table of relocations: those of PLT and GOT slots for the library's own exports are done here, for good. */
static void settle(const struct gt_door *door, const struct link_map *map, const struct symbols *s, ElfW(Rela) *first, size_t count)
{
	const ElfW(Phdr) *segment = first && count ? segment_of(map, first) : NULL, *slots;

	if (!segment || !set_protection(first, first + count, PF_R | PF_W))
		return;
	for (ElfW(Rela) *r = first; r < first + count; r++) {
		const ElfW(Sym) *symbol = &s->table[ELF64_R_SYM(r->r_info)];
		ElfW(Addr) *slot = (ElfW(Addr) *)(map->l_addr + r->r_offset);
		unsigned type = ELF64_R_TYPE(r->r_info);

		if ((type != JUMP_SLOT && type != GLOB_DAT) || !is_defined(symbol) ||
		    !in_names(door, s->strings + symbol->st_name))
			continue;
		slots = segment_of(map, slot);
		if (!slots || !(slots->p_flags & PF_W))
			continue;
		*slot = map->l_addr + symbol->st_value;
		r->r_offset = (ElfW(Addr))&nowhere - map->l_addr;
	}
	set_protection(first, first + count, segment->p_flags);
}

/* Before the symbols change, and before the linker relocates: the library's own calls of its exports stay its own.
 * (Tables of pointers are left to the linker: those are for others.) */
static void keep_own_calls(const struct gt_door *door, const struct link_map *map, const struct symbols *s)
{
	ElfW(Rela) *plt = NULL, *others = NULL;
	size_t plt_count = 0, count = 0;

	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		void *p = (void *)(uintptr_t)dynamic_pointer(map, d->d_un.d_ptr);

		if (d->d_tag == DT_JMPREL)
			plt = p;
		else if (d->d_tag == DT_PLTRELSZ)
			plt_count = d->d_un.d_val / sizeof *plt;
		else if (d->d_tag == DT_RELA)
			others = p;
		else if (d->d_tag == DT_RELASZ)
			count = d->d_un.d_val / sizeof *others;
	}
	settle(door, map, s, plt, plt_count);
	settle(door, map, s, others, count);
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

static void arm(const struct gt_door *door, const struct link_map *map, bool own_calls)
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
	if (segment && own_calls)
		keep_own_calls(door, map, &s);
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

/* Does the library refer to a symbol of somebody else? */
static bool imports(const struct symbols *s, const char *name)
{
	uint32_t count = s->gnu ? s->gnu[1] : s->sysv[1]; /* DT_GNU_HASH: the undefined ones come first */

	for (uint32_t i = 1; i < count; i++)
		if (s->table[i].st_shndx == SHN_UNDEF && bare_equal(s->strings + s->table[i].st_name, name))
			return true;
	return false;
}

static bool wants_opencl(const struct link_map *map, const struct symbols *s)
{
	static const char layers[] = "OPENCL_LAYERS";

	if (find(s, "clInitLayer"))
		return false;
	if (contains(map, layers, sizeof layers - 1)) {
		layer_loader = true;
		return false;
	}
	return !(layer_loader && find(s, "clIcdGetPlatformIDsKHR"));
}

static bool wants_roctx(const struct link_map *map, const struct symbols *s)
{
	(void)map;
	return !imports(s, "rocprofiler_register_library_api_table") && !find(s, "gputap_roctx");
}

static bool wants_hip(const struct link_map *map, const struct symbols *s)
{
	(void)map;
	return !imports(s, "rocprofiler_register_library_api_table");
}

/* What can be interposed. Several domains may be in one library. */
static struct api {
	const char *object; /* of libgputap.so: gputap_door_<domain> */
	const char *marker; /* a symbol that the runtime's library defines, and others hardly do */
	bool (*wants)(const struct link_map *map, const struct symbols *s);
	bool own_calls;     /* keep_own_calls(); else calls within calls are told apart when they come */
	const struct gt_door *door; /* once libgputap.so is mapped */
	unsigned pending_count;
	const struct link_map *pending[PENDING_MAX]; /* libraries that were mapped before it */
} apis[] = {
	{"gputap_door_opencl", "clGetPlatformIDs", wants_opencl, false, NULL, 0, {NULL}},
	{"gputap_door_hip", "__hipRegisterFatBinary", wants_hip, true, NULL, 0, {NULL}},
	{"gputap_door_hip_compiler", "__hipRegisterFatBinary", wants_hip, true, NULL, 0, {NULL}},
	{"gputap_door_roctx", "roctxRangePushA", wants_roctx, true, NULL, 0, {NULL}},
};

enum { APIS = sizeof apis / sizeof *apis };

static void meet_door(struct api *a, const struct symbols *s, const ElfW(Sym) *symbol)
{
	const struct gt_door *door = (const struct gt_door *)(s->base + symbol->st_value);
	const struct gt_door_shape *shape = GT_DOOR_AT(door, door->shape);

	if (door->magic != GT_DOOR_MAGIC || shape->tap_bytes != sizeof(struct gt_tap))
		return; /* another version's */
	a->door = door;
	/* libgputap.so came late (not preloaded): these may be relocated, and their slots read-only */
	for (unsigned i = 0; i < a->pending_count; i++)
		arm(a->door, a->pending[i], false);
	a->pending_count = 0;
}

static void meet(struct api *a, const struct link_map *map, const struct symbols *s)
{
	const ElfW(Sym) *symbol = a->door ? NULL : find(s, a->object);

	if (symbol)
		meet_door(a, s, symbol);
	else if (!find(s, a->marker) || !a->wants(map, s))
		return;
	else if (a->door)
		arm(a->door, map, a->own_calls);
	else if (a->pending_count < PENDING_MAX)
		a->pending[a->pending_count++] = map;
}

static void forget(struct api *a, const struct link_map *map)
{
	const struct gt_door_shape *shape = a->door ? GT_DOOR_AT(a->door, a->door->shape) : NULL;
	struct gt_door_state *states = a->door ? GT_DOOR_AT(a->door, a->door->states) : NULL;

	for (unsigned i = 0; i < a->pending_count; i++)
		if (a->pending[i] == map)
			a->pending[i] = a->pending[--a->pending_count];
	for (unsigned i = 0; shape && i < shape->instances; i++)
		if (atomic_load(&states[i].state) == GT_DOOR_ARMED && states[i].base == map->l_addr)
			atomic_store(&states[i].state, GT_DOOR_FREE);
}

__attribute__((constructor)) static void begin(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	for (char **e = environment; e && *e; e++)
		if (bare_find(*e, sizeof "GPUTAP_SESSION=" - 1, "GPUTAP_SESSION=", sizeof "GPUTAP_SESSION=" - 1))
			active = true;
		else if (bare_find(*e, sizeof "GPUTAP_COMPAT=/" - 1, "GPUTAP_COMPAT=/", sizeof "GPUTAP_COMPAT=/" - 1))
			compat = *e + sizeof "GPUTAP_COMPAT=" - 1;
}

/* "@folder/@name" in the one buffer there is; NULL: too long, or no such file. */
static char *file_in(const char *folder, const char *name)
{
	static char path[512];
	size_t n = bare_length(folder);

	if (n + 1 + bare_length(name) + 1 > sizeof path)
		return NULL;
	bare_copy(path, folder, sizeof path);
	path[n] = '/';
	bare_copy(path + n + 1, name, sizeof path - n - 1);
	return bare_syscall3(SYS_faccessat, -100 /* AT_FDCWD */, (long)path, 4 /* R_OK */) == 0 ? path : NULL;
}

/* @name is a file in one of the linker's own folders, which come last. */
static char *stand_in(const char *name)
{
	static const char *const folders[] = {"/lib/" TRIPLET, "/usr/lib/" TRIPLET, "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
	static const char *const ours[][2] = {
		{"libroctx64.so.4", "libroctx64.so.4"}, {"libroctx64.so", "libroctx64.so.4"},
		{"librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so.1"},
		{"librocprofiler-sdk-roctx.so", "librocprofiler-sdk-roctx.so.1"},
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
		for (unsigned i = 0; i < APIS; i++)
			meet(&apis[i], map, &s);
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
	for (unsigned i = 0; i < APIS; i++)
		forget(&apis[i], (const struct link_map *)*cookie);
	return 0;
}
