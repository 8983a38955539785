/* SPDX-License-Identifier: MIT */
/* See mapped.h: interposition of libraries that are already mapped.
 *
 *                                  calls that are bound later    calls that were bound before
 *   1. symbols of the library ──► taps
 *   2. slots (GOT, PLT, tables of pointers) of all mapped objects ───────────────► taps
 *
 * The audit library does step 1 while a library is mapped (runtime/arm.h). Step 2 changes each slot
 * that contains the address of one of the library's functions. A page that was made read-only after
 * relocation is made writable for the change. Addresses that a program has already copied into its
 * own variables with dlsym() are changed only where gputap is attached to a running program, and
 * only in the data of objects (runtime/held_pointers.h), not in the heap.
 *
 * A library that is opened later is found at the program's next call of dlsym() or dlvsym() for any
 * symbol: a front (runtime/call_through.h) looks for new libraries first. libc's dlsym() still sees
 * the caller's return address. These two functions are redirected like a runtime's functions, and
 * only if there is a tool: without a tool libgputap changes nothing in a process.
 *
 * Locking: one lock, private to this file. Objects are examined inside dl_iterate_phdr(), which
 * keeps them mapped.
 * Never here: allocation. Allocators that wrap another allocator call dlsym() inside malloc(). */
#include "runtime/mapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/late.h"
#include "core/recording.h"
#include "runtime/arm.h"
#include "runtime/call_through.h"
#include "runtime/held_pointers.h"
#include "tool/tool_load.h"

#define X(name, marker, part, left, wants, own_calls)       \
	extern const struct gt_attach gputap_attach_##name; \
	void gt_##name##_attached(void);
GT_INTERPOSED(X)
#undef X

#define HIDDEN __attribute__((visibility("hidden"), used))

HIDDEN void gt_mapped_asked(void);
/* Defined in the assembler code below. */
extern void *gt_mapped_dlsym(void *handle, const char *name) __attribute__((visibility("hidden")));
extern void *gt_mapped_dlvsym(void *handle, const char *name, const char *version)
	__attribute__((visibility("hidden")));
HIDDEN void *gt_mapped_real_dlsym, *gt_mapped_real_dlvsym;

enum { MOVES = 16, FOLLOWERS = 4 };

/* Same order as gt_interposables. */
static const struct {
	const struct gt_attach *point;
	void (*opened)(void);
} points[GT_INTERPOSABLES] = {
#define X(name, marker, part, left, wants, own_calls) {&gputap_attach_##name, gt_##name##_attached},
	GT_INTERPOSED(X)
#undef X
};

/* Addresses to replace in all slots. */
struct move {
	const struct gt_attach *point;
	int instance;
	/* NULL: replace real functions with taps */
	void *(*to)(uint32_t instance, uint32_t index);
	uintptr_t low, high; /* bounds of all addresses to replace */
	uintptr_t library;   /* base of the library that defines the addresses */
};

static GT_AT_START struct {
	struct gt_arming arming;
	struct move moves[MOVES];
	unsigned move_count;
	unsigned long long adds, subs; /* the linker's counters at the last look */
	bool watching, watch_now;
	/* true if a library was armed, or found no free instance, in this look */
	bool armed;
	bool is_left[GT_INTERPOSABLES]; /* true after gt_mapped_leave() */
	void (*followers[FOLLOWERS])(void);
	/* functions of libc to replace in this look */
	const struct gt_mapped_function *replaced;
	size_t replaced_count;
} state = {.arming = {.relocated = true}};

static _Thread_local bool looking __attribute__((tls_model("initial-exec")));

/* Return true if libgputap-audit.so is loaded. The audit library handles every library before this
 * file can. */
static bool has_auditor(void)
{
	enum { UNKNOWN, YES, NO };
	static _Atomic int known; /* cached, because the program may change its environment */
	const char *auditors;

	if (!atomic_load_explicit(&known, memory_order_relaxed)) {
		auditors = gt_recording_is_run() ? getenv("LD_AUDIT") : NULL;
		atomic_store(&known, auditors && strstr(auditors, "libgputap-audit.so") ? YES : NO);
	}
	return atomic_load_explicit(&known, memory_order_relaxed) == YES;
}

/* Take the lock. A signal handler that interrupts the holder may call dlsym(): `looking` keeps it
 * from waiting for the lock that its own thread holds. */
static void begin_look(void)
{
	looking = true;
	gt_mapped_lock();
}

static void end_look(void)
{
	gt_mapped_unlock();
	looking = false;
}

static struct gt_elf object_of(const struct dl_phdr_info *info)
{
	struct gt_elf o = {info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, NULL,
			   info->dlpi_name};

	for (unsigned i = 0; i < o.header_count; i++)
		if (o.headers[i].p_type == PT_DYNAMIC)
			o.dynamic = (const ElfW(Dyn) *)(o.base + o.headers[i].p_vaddr);
	return o;
}

static struct gt_elf self;

static int find_self(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct gt_elf o = object_of(info);

	(void)size;
	(void)data;
	if (!gt_elf_segment(&o, &state))
		return 0;
	self = o;
	return 1;
}

static bool is_ours(const struct gt_elf *o)
{
	return o->base == self.base;
}

/* Return true if an object has symbols and is not libgputap.so. */
static bool is_other_library(const struct dl_phdr_info *info, struct gt_elf *o,
			     struct gt_symbols *s)
{
	*o = object_of(info);
	return !is_ours(o) && gt_symbols_of(o, s);
}

/* Arming --------------------------------------------------------------------- */

/* one bit per armed instance whose library was found in this look */
static uint32_t mapped[GT_INTERPOSABLES];

/* Return true if the library's symbols lead to gputap's taps. Returns false if the library was
 * closed and opened again at the same address. */
static bool is_changed(const struct gt_attach *point, const struct gt_symbols *s)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	const char *name = GT_ATTACH_AT(point, point->names);

	for (uint32_t i = 0; i < shape->count; i++, name += strlen(name) + 1) {
		const ElfW(Sym) *symbol = gt_symbol_find(s, name);

		if (symbol && (symbol->st_info & 15) == STT_FUNC)
			return gt_elf_segment(&self, (void *)(s->base + symbol->st_value)) != NULL;
	}
	return false;
}

static bool is_armed(unsigned d, const struct gt_elf *o, const struct gt_symbols *s)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(points[d].point, points[d].point->shape);
	struct gt_attach_state *states = GT_ATTACH_AT(points[d].point, points[d].point->states);

	for (unsigned i = 0; i < shape->instances; i++) {
		if (atomic_load(&states[i].state) != GT_ATTACH_ARMED || states[i].base != o->base)
			continue;
		if (is_changed(points[d].point, s)) {
			mapped[d] |= 1u << i;
			return true;
		}
		atomic_store(&states[i].state, GT_ATTACH_FREE);
	}
	return false;
}

static void add_move(const struct gt_attach *point, int instance, void *(*to)(uint32_t, uint32_t),
		     uintptr_t library)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(point, point->shape);
	struct move *m = &state.moves[state.move_count];

	if (state.move_count == MOVES)
		return;
	*m = (struct move){.point = point,
			   .instance = instance,
			   .to = to,
			   .low = UINTPTR_MAX,
			   .library = library};
	for (int i = 0; i < (int)shape->count; i++) {
		struct gt_tap *tap = gt_attach_tap_state(point, instance, i);
		uintptr_t from = (uintptr_t)(to ? gt_attach_tap(point, instance, i) : tap->real);

		if (!tap->real)
			continue;
		m->low = from < m->low ? from : m->low;
		m->high = from + 1 > m->high ? from + 1 : m->high;
	}
	state.move_count++;
}

/* Return true if a loader of the runtime will load gputap, or has loaded it. */
static bool is_brought_in(unsigned d)
{
	const struct gt_attach_shape *shape = GT_ATTACH_AT(points[d].point, points[d].point->shape);
	struct gt_attach_state *states = GT_ATTACH_AT(points[d].point, points[d].point->states);

	for (uint32_t i = 0; i < shape->instances; i++)
		if (atomic_load(&states[i].state) == GT_ATTACH_LAYER)
			return true;
	return state.is_left[d];
}

static int arm_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct gt_elf o;
	struct gt_symbols s;

	(void)size;
	(void)data;
	if (!is_other_library(info, &o, &s))
		return 0;
	for (unsigned d = 0; d < GT_INTERPOSABLES; d++) {
		const struct gt_interposable *what = &gt_interposables[d];
		int instance;

		state.arming.alone = !is_brought_in(d);
		if (!gt_is_interposable(what, &s) || is_armed(d, &o, &s) ||
		    !what->wants(&state.arming, &o, &s))
			continue;
		/* `opened` must be called before the taps can be reached, because other threads may
		 * have opened the same library, and their first calls must be recorded. */
		state.arming.opened = points[d].opened;
		instance = gt_arm(&state.arming, what, points[d].point, &o, what->own_calls);
		state.armed = true;
		if (instance < 0)
			continue;
		mapped[d] |= 1u << instance;
		atomic_store(&((struct gt_attach_state *)GT_ATTACH_AT(
				     points[d].point, points[d].point->states))[instance]
				      .late,
			     state.adds == 0);
		add_move(points[d].point, instance, NULL, o.base);
	}
	return 0;
}

/* Free the instances of libraries that are no longer mapped. */
static void forget(void)
{
	for (unsigned d = 0; d < GT_INTERPOSABLES; d++) {
		const struct gt_attach_shape *shape =
			GT_ATTACH_AT(points[d].point, points[d].point->shape);
		struct gt_attach_state *states =
			GT_ATTACH_AT(points[d].point, points[d].point->states);

		for (unsigned i = 0; i < shape->instances; i++) {
			uint32_t armed = GT_ATTACH_ARMED;

			if (!(mapped[d] >> i & 1))
				atomic_compare_exchange_strong(&states[i].state, &armed,
							       GT_ATTACH_FREE);
		}
		mapped[d] = 0;
	}
}

/* Changing slots ------------------------------------------------------------- */

/* Return the new target of a slot that contains @value, or 0 if the slot must not change. */
static uintptr_t target_of_slot(const struct move *m, uintptr_t value, const char *name)
{
	const uint16_t *indices = GT_ATTACH_AT(m->point, m->point->indices);
	int i = gt_attach_position(m->point, name);
	void *tap, *from;

	if (i < 0)
		return 0;
	tap = gt_attach_tap(m->point, m->instance, i);
	from = m->to ? tap : gt_attach_tap_state(m->point, m->instance, i)->real;
	if (value != (uintptr_t)from)
		return 0;
	return (uintptr_t)(m->to ? m->to((uint32_t)m->instance, indices[i]) : tap);
}

static void write_slot(const struct gt_elf *o, ElfW(Addr) * slot, uintptr_t value)
{
	const ElfW(Phdr) *segment = gt_elf_segment(o, slot);
	unsigned flags = segment ? segment->p_flags : 0;

	if (gt_elf_in_relro(o, slot))
		flags &= ~(unsigned)PF_W;
	if (!segment || (!(flags & PF_W) && !gt_set_protection(slot, slot + 1, flags | PF_W)))
		return;
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	if (!(flags & PF_W))
		gt_set_protection(slot, slot + 1, flags);
}

static uintptr_t settled(const struct gt_elf *o, unsigned type, uintptr_t value, const char *name)
{
	uintptr_t to = 0;

	if (state.watch_now && value == (uintptr_t)gt_mapped_real_dlsym)
		return (uintptr_t)gt_mapped_dlsym;
	if (state.watch_now && value == (uintptr_t)gt_mapped_real_dlvsym)
		return (uintptr_t)gt_mapped_dlvsym;
	for (size_t i = 0; i < state.replaced_count; i++)
		if (value == (uintptr_t)state.replaced[i].from)
			return (uintptr_t)state.replaced[i].to;
	for (unsigned i = 0; i < state.move_count && !to; i++) {
		const struct move *m = &state.moves[i];

		/* The library's own calls are not redirected. The library's tables of pointers are
		 * redirected, because other libraries read the tables. */
		if (value >= m->low && value < m->high &&
		    (o->base != m->library || type == GT_POINTER))
			to = target_of_slot(m, value, name);
	}
	return to;
}

static int settle_one(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct gt_elf o = object_of(info);
	struct gt_relocations tables[2];
	struct gt_symbols s;

	(void)size;
	(void)data;
	if (is_ours(&o) || !gt_symbols_of(&o, &s))
		return 0;
	gt_relocations_of(&o, tables);
	for (int t = 0; t < 2; t++)
		for (const ElfW(Rela) *r = tables[t].first; r < tables[t].first + tables[t].count;
		     r++) {
			ElfW(Addr) *slot = (ElfW(Addr) *)(o.base + r->r_offset);
			unsigned type = ELF64_R_TYPE(r->r_info);
			uintptr_t to;

			if ((type != GT_JUMP_SLOT && type != GT_GLOB_DAT &&
			     (type != GT_POINTER || r->r_addend)) ||
			    !ELF64_R_SYM(r->r_info) || (uintptr_t)slot % sizeof *slot ||
			    !gt_elf_segment(&o, slot))
				continue;
			to = settled(&o, type, *slot,
				     s.strings + s.table[ELF64_R_SYM(r->r_info)].st_name);
			if (to)
				write_slot(&o, slot, to);
		}
	return 0;
}

/* Return the tap of the function at @value, if one of the moves replaces the function. */
static uintptr_t target_of_pointer(uintptr_t value, void *data)
{
	(void)data;
	for (unsigned n = 0; n < state.move_count; n++) {
		const struct move *m = &state.moves[n];
		const struct gt_attach_shape *shape = GT_ATTACH_AT(m->point, m->point->shape);

		if (m->to || value < m->low || value >= m->high)
			continue;
		for (int i = 0; i < (int)shape->count; i++)
			if ((uintptr_t)gt_attach_tap_state(m->point, m->instance, i)->real == value)
				return (uintptr_t)gt_attach_tap(m->point, m->instance, i);
	}
	return 0;
}

/* Replace the pointers that objects of a running program hold. The libraries' own are left. */
static void settle_held(void)
{
	uintptr_t left[MOVES + 1] = {self.base};
	struct gt_held_pointers held = {.low = UINTPTR_MAX,
					.left = left,
					.left_count = 1,
					.target = target_of_pointer};

	for (unsigned n = 0; n < state.move_count; n++) {
		const struct move *m = &state.moves[n];

		if (m->to || m->low == UINTPTR_MAX)
			continue;
		held.low = m->low < held.low ? m->low : held.low;
		held.high = m->high > held.high ? m->high : held.high;
		left[held.left_count++] = m->library;
	}
	if (held.high)
		gt_held_pointers_replace(&held);
}

void gt_mapped_replace_held(const struct gt_held_pointers *held)
{
	begin_look();
	gt_held_pointers_replace(held);
	end_look();
}

struct wanted_function {
	const char *name;
	uintptr_t to;
	bool done;
};

/* Set a slot in the first object, which is the program. */
static int set_slot(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct gt_elf o = object_of(info);
	struct gt_relocations tables[2];
	struct wanted_function *w = data;
	struct gt_symbols s;

	(void)size;
	if (!gt_symbols_of(&o, &s))
		return 1;
	gt_relocations_of(&o, tables);
	for (int t = 0; t < 2; t++)
		for (const ElfW(Rela) *r = tables[t].first; r < tables[t].first + tables[t].count;
		     r++) {
			unsigned type = ELF64_R_TYPE(r->r_info);
			ElfW(Addr) *slot = (ElfW(Addr) *)(o.base + r->r_offset);

			if ((type != GT_JUMP_SLOT && type != GT_GLOB_DAT) ||
			    !gt_elf_segment(&o, slot) ||
			    strcmp(s.strings + s.table[ELF64_R_SYM(r->r_info)].st_name, w->name))
				continue;
			write_slot(&o, slot, w->to);
			w->done |= *slot == w->to;
		}
	return 1;
}

bool gt_mapped_program(const char *name, void *to)
{
	struct wanted_function w = {name, (uintptr_t)to, false};

	dl_iterate_phdr(set_slot, &w);
	return w.done;
}

/* Symbols -------------------------------------------------------------------- */

static void change_symbol(const struct gt_elf *o, ElfW(Sym) * symbol, uintptr_t to)
{
	const ElfW(Phdr) *segment = gt_elf_segment(o, symbol);

	if (!segment || !gt_set_protection(symbol, symbol + 1, segment->p_flags | PF_W))
		return;
	symbol->st_value = to - o->base;
	gt_set_protection(symbol, symbol + 1, segment->p_flags);
}

/* Change all versions of a libc symbol that lead to @from. */
static void change_name(const struct gt_elf *o, const struct gt_symbols *s, const char *name,
			void *from, void *to)
{
	for (ElfW(Sym) *symbol = gt_symbol_find(s, name); symbol;
	     symbol = gt_symbol_find_next(s, name, symbol))
		if (o->base + symbol->st_value == (uintptr_t)from)
			change_symbol(o, symbol, (uintptr_t)to);
}

static int change_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct gt_elf o;
	struct gt_symbols s;

	(void)size;
	(void)data;
	if (!is_other_library(info, &o, &s))
		return 0;
	if (state.watch_now && gt_elf_segment(&o, gt_mapped_real_dlsym)) {
		change_name(&o, &s, "dlsym", gt_mapped_real_dlsym,
			    (void *)(uintptr_t)gt_mapped_dlsym);
		change_name(&o, &s, "dlvsym", gt_mapped_real_dlvsym,
			    (void *)(uintptr_t)gt_mapped_dlvsym);
	}
	for (size_t i = 0; i < state.replaced_count; i++)
		if (gt_elf_segment(&o, state.replaced[i].from))
			change_name(&o, &s, state.replaced[i].name, state.replaced[i].from,
				    state.replaced[i].to);
	for (unsigned n = 0; n < state.move_count; n++) {
		const struct move *m = &state.moves[n];
		const struct gt_attach_shape *shape = GT_ATTACH_AT(m->point, m->point->shape);
		const char *name = GT_ATTACH_AT(m->point, m->point->names);

		if (!m->to || m->library != o.base)
			continue;
		for (uint32_t i = 0; i < shape->count; i++, name += strlen(name) + 1) {
			ElfW(Sym) *symbol = gt_symbol_find(&s, name);
			uintptr_t to =
				symbol ? target_of_slot(m, o.base + symbol->st_value, name) : 0;

			if (to)
				change_symbol(&o, symbol, to);
		}
	}
	return 0;
}

/* Looking -------------------------------------------------------------------- */

/* Apply all entries of `moves`. The caller must hold this file's lock. */
static void settle_all(void)
{
	if (state.move_count || state.watch_now || state.replaced_count) {
		dl_iterate_phdr(change_one, NULL);
		dl_iterate_phdr(settle_one, NULL);
		if (gt_is_late())
			settle_held();
	}
	state.move_count = 0;
	state.watch_now = false;
	state.replaced_count = 0;
}

static int read_counts(struct dl_phdr_info *info, size_t size, void *counts)
{
	unsigned long long *to = counts;

	(void)size;
	to[0] = info->dlpi_adds;
	to[1] = info->dlpi_subs;
	return 1;
}

/* State for forked children. A child inherits the dynamic linker's lock as it was: if another
 * thread of the parent was inside dlopen(), dl_iterate_phdr() would wait forever in the child. The
 * child therefore does not call it until its list of objects has changed. A changed list means that
 * the child itself has opened or closed a library, which needs that lock. An unchanged list
 * contains no new objects. */
static struct {
	const struct link_map *first;
	bool possible;
	uintptr_t objects; /* sum of the objects mapped at the fork */
} orphan;

static const struct link_map *first_object(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	struct link_map *first = NULL;

	if (!program || dlinfo(program, RTLD_DI_LINKMAP, &first) != 0)
		first = NULL;
	if (program)
		dlclose(program);
	return first;
}

/* Return a checksum of all mapped objects, without taking a lock. */
static uintptr_t objects_there(void)
{
	uintptr_t sum = 0;

	for (const struct link_map *m = orphan.first; m; m = m->l_next)
		sum = sum * 31 + m->l_addr;
	return sum;
}

static bool is_orphan(void)
{
	if (orphan.possible && objects_there() != orphan.objects)
		orphan.possible = false;
	return orphan.possible;
}

void gt_mapped_leave(const char *object)
{
	begin_look();
	for (unsigned d = 0; d < GT_INTERPOSABLES; d++)
		if (strcmp(gt_interposables[d].object, object) == 0)
			state.is_left[d] = true;
	end_look();
}

GT_AT_START_CODE void gt_mapped_follow(void (*follower)(void))
{
	bool has_looked;

	begin_look();
	has_looked = state.adds;
	for (unsigned i = 0; i < FOLLOWERS; i++)
		if (!state.followers[i]) {
			state.followers[i] = follower;
			break;
		}
	end_look();
	if (has_looked) /* another constructor of this library has already looked */
		follower();
}

void gt_mapped_call_followers(void)
{
	for (unsigned i = 0; i < FOLLOWERS && state.followers[i]; i++)
		state.followers[i]();
}

struct defined {
	const char *name, *without;
};

static int find_definition(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct gt_elf o = object_of(info);
	const struct defined *d = data;
	struct gt_symbols s;

	(void)size;
	return !is_ours(&o) && gt_symbols_of(&o, &s) && gt_symbol_find(&s, d->name) &&
	       !(d->without && gt_symbol_find(&s, d->without));
}

bool gt_mapped_defines(const char *name, const char *without)
{
	struct defined d = {name, without};

	return dl_iterate_phdr(find_definition, &d) != 0;
}

void gt_mapped_look(void)
{
	unsigned long long counts[2] = {0, 0};
	int saved = errno;
	bool armed = false, changed;

	if (looking || has_auditor() || is_orphan())
		return;
	begin_look();
	dl_iterate_phdr(read_counts, counts);
	changed = counts[0] != state.adds || counts[1] != state.subs;
	if (changed) {
		if (!self.headers)
			dl_iterate_phdr(find_self, NULL);
		state.armed = false;
		dl_iterate_phdr(arm_one, NULL);
		forget();
		settle_all();
		armed = state.armed;
		state.adds = counts[0];
		state.subs = counts[1];
	}
	end_look();
	for (unsigned d = 0; armed && d < GT_INTERPOSABLES; d++)
		/* Also called if a library found no free instance, which must be reported while no
		 * lock is held. */
		points[d].opened();
	if (armed) {
		gt_tools_finish_at_exit();
		gt_mapped_call_followers();
	}
	if (changed)
		gt_tools_look();
	errno = saved;
}

void gt_mapped_redirect(const struct gt_attach *point, uint32_t instance,
			void *(*to)(uint32_t instance, uint32_t index))
{
	struct gt_attach_state *states = GT_ATTACH_AT(point, point->states);

	begin_look();
	if (atomic_load(&states[instance].state) == GT_ATTACH_ARMED) {
		add_move(point, (int)instance, to, states[instance].base);
		settle_all();
	}
	end_look();
}

static _Thread_local bool forks __attribute__((tls_model("initial-exec")));

/* Take this file's lock before a fork, so that this file does not hold the linker's lock during the
 * fork. */
static void before_fork(void)
{
	forks = !looking;
	if (forks)
		begin_look();
}

static void after_fork(void)
{
	if (forks)
		end_look();
}

static void after_fork_in_child(void)
{
	after_fork();
	orphan.possible = true;
	orphan.objects = objects_there();
}

void gt_mapped_watch(void)
{
	if (has_auditor())
		return;
	orphan.first = first_object();
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
	begin_look();
	if (!self.headers)
		dl_iterate_phdr(find_self, NULL);
	if (!state.watching) {
		gt_mapped_real_dlsym = (void *)(uintptr_t)dlsym;
		gt_mapped_real_dlvsym = (void *)(uintptr_t)dlvsym;
		state.watching = state.watch_now = true;
		settle_all();
	}
	end_look();
}

void gt_mapped_asked(void)
{
	if (atomic_load_explicit(&gt_recording.tools, memory_order_relaxed) || gt_is_late())
		gt_mapped_look();
}

void gt_mapped_replace(const struct gt_mapped_function *list, size_t count)
{
	begin_look();
	if (!self.headers)
		dl_iterate_phdr(find_self, NULL);
	state.replaced = list;
	state.replaced_count = count;
	settle_all();
	end_look();
}

void gt_mapped_attach(void)
{
	if (!state.watching)
		gt_mapped_watch();
	gt_mapped_look();
}

/* Define a front, so that dlsym() sees the caller's return address, not an address in this
 * library. */
#define FRONT(name)                                                             \
	__asm__(".text\n"                                                       \
		".globl gt_mapped_" #name                                       \
		"\n" GT_CALL_THROUGH("gt_mapped_" #name, "", "gt_mapped_asked", \
				     "gt_mapped_real_" #name))
FRONT(dlsym);
FRONT(dlvsym);
