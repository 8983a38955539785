/* SPDX-License-Identifier: MIT */
/* Attaches to the copies of NVTX 3 in a running program (core/late.h).
 *
 * Each program and library that includes NVTX's headers contains a copy, which has decided at its
 * first call that there is no tool. A copy has no symbol. Its data begins with a pattern of two
 * sizes, a version, and pointers to two functions of the same object:
 *
 *   | state, 0 | 16 | function | 24 | version, 0 | function | pointers to functions ... |
 *               └── what a copy passes to an injected library: struct nvtx_callbacks
 *
 * gputap's functions are put into the copy in the same way as at its first call. A copy without a
 * call so far is marked as initialised, because its first call would remove the functions again.
 * Ranges that are pushed from now on are recorded. Domains and strings that the program registered
 * earlier have the handle NULL, so their ranges belong to the default domain.
 * NEEDSWORK: the payload extension of a copy that has made a call. */
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sched.h>
#include <string.h>

#include "core/late.h"
#include "core/own_memory.h"
#include "core/recording.h"
#include "runtime/nvtx/nvtx_functions.h"
#include "runtime/nvtx/nvtx_inject.h"

enum { FRESH = 0, STARTED = 1, COMPLETE = 2 }; /* state of a copy */
enum { COPIES_MOST = 256, BLOCK = 64 << 10, VERSIONS = 100, WAITS = 1000 };

struct copy {
	uint32_t state, zero;
	struct nvtx_callbacks callbacks;
	uint64_t version_size;
	uint32_t version, reserved;
	uintptr_t set_version;
};

static struct copy *copies[COPIES_MOST];
static size_t copy_count;
/* block of an object's data, with the end of the block before */
static uint64_t block[BLOCK / 8];

static bool is_code(const struct dl_phdr_info *info, uintptr_t at)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && h->p_flags & PF_X &&
		    at - (info->dlpi_addr + h->p_vaddr) < h->p_memsz)
			return true;
	}
	return false;
}

static bool is_copy(const struct dl_phdr_info *info, const struct copy *c)
{
	return c->state <= COMPLETE && !c->zero &&
	       c->callbacks.struct_size == sizeof c->callbacks &&
	       c->version_size == sizeof *c - offsetof(struct copy, version_size) && c->version &&
	       c->version < VERSIONS && !c->reserved &&
	       is_code(info, (uintptr_t)c->callbacks.get_module_table) &&
	       is_code(info, c->set_version);
}

/* Look for copies in an object's initialised data. */
static void search_part(const struct dl_phdr_info *info, uintptr_t from, uintptr_t to)
{
	while (from + sizeof(struct copy) <= to && copy_count < COPIES_MOST) {
		const size_t wanted = to - from < BLOCK ? to - from : BLOCK;
		const ssize_t bytes = gt_own_memory_read(from, block, wanted);

		if (bytes < (ssize_t)sizeof(struct copy))
			return;
		for (size_t at = 0; at + sizeof(struct copy) <= (size_t)bytes; at += 8)
			if (is_copy(info, (const struct copy *)((const char *)block + at)) &&
			    copy_count < COPIES_MOST)
				copies[copy_count++] = (struct copy *)(from + at);
		from += ((size_t)bytes & ~(size_t)7) - sizeof(struct copy) + 8;
	}
}

static int search_object(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const uintptr_t from = (info->dlpi_addr + h->p_vaddr + 7) & ~(uintptr_t)7;

		if (h->p_type == PT_LOAD && h->p_flags & PF_W)
			search_part(info, from, info->dlpi_addr + h->p_vaddr + h->p_filesz);
	}
	return 0;
}

/* Functions that gputap does not replace must do nothing, instead of initialising the copy. */
static void clear_others(const struct copy *c)
{
	for (int module = 0; module < GT_NVTX_MODULES; module++) {
		const struct gt_nvtx_functions *ours = &gt_nvtx_modules[module];
		nvtx_function **table;
		unsigned size;

		if (!c->callbacks.get_module_table(module, &table, &size))
			continue;
		for (unsigned i = 0; i < size; i++)
			if (table[i] && !(i < ours->count && ours->list[i]))
				*table[i] = NULL;
	}
}

static void attach_copy(struct copy *c)
{
	_Atomic uint32_t *state = (_Atomic uint32_t *)&c->state;
	uint32_t before = FRESH;

	/* another thread's first call */
	for (int i = 0; i < WAITS && atomic_load(state) == STARTED; i++)
		sched_yield();
	if (atomic_compare_exchange_strong(state, &before, STARTED)) {
		const bool is_ours = gt_nvtx_inject(&c->callbacks);

		if (is_ours)
			clear_others(c);
		atomic_store(state, is_ours ? COMPLETE : FRESH);
	} else if (before == COMPLETE) {
		gt_nvtx_inject(&c->callbacks);
	}
}

static void attach_copies(void)
{
	copy_count = 0;
	dl_iterate_phdr(search_object, NULL);
	for (size_t i = 0; i < copy_count; i++)
		attach_copy(copies[i]);
}

GT_PROVIDE(gt_late) = {.name = "nvtx", .attach = attach_copies};
