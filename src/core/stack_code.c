/* SPDX-License-Identifier: MIT */
/* See stack_code.h. A module is identified by its address and the generation in which it was first
 * seen. After the dynamic linker has unmapped a module, all modules are written again with the
 * stacks that follow. */
#include "core/stack_code.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/own_maps.h"
#include "core/python_frames.h"
#include "core/unwind.h"
#include "record/record.h"

enum { PATH_BYTES = 1024, ID_BYTES = 20, PROBES = 64, PAGE_BYTES = 4096 };

/* Read the build id from the module's notes, in hexadecimal; "" if the module has none. */
static void read_build_id(const struct gt_unwind_object *o, char text[2 * ID_BYTES + 1])
{
	const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)o->start;
	const ElfW(Phdr) * h;

	text[0] = '\0';
	if (o->end - o->start < PAGE_BYTES || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
	    e->e_phoff + e->e_phnum * sizeof *h > PAGE_BYTES)
		return;
	h = (const ElfW(Phdr) *)(o->start + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++) {
		uintptr_t at = o->base + h[i].p_vaddr, end = at + h[i].p_memsz;

		if (h[i].p_type != PT_NOTE || at < o->start || end > o->end)
			continue;
		while (end - at >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)at;
			const uint8_t *id = (const uint8_t *)(n + 1) + ((n->n_namesz + 3) & ~3u);
			uintptr_t next = (uintptr_t)id + ((n->n_descsz + 3) & ~3u);

			if (next > end || next <= at)
				return;
			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
			    memcmp(n + 1, "GNU", 4) == 0 && n->n_descsz <= ID_BYTES) {
				for (unsigned k = 0; k < n->n_descsz; k++) {
					*text++ = "0123456789abcdef"[id[k] >> 4];
					*text++ = "0123456789abcdef"[id[k] & 15];
				}
				*text = '\0';
				return;
			}
			at = next;
		}
	}
}

/* Read the program's path. /proc/self/exe is not enough, because it names the dynamic linker if the
 * program was started as `ld.so PROGRAM`. */
static __attribute__((noinline)) void read_program_path(const struct gt_unwind_object *o,
							char text[PATH_BYTES])
{
	struct gt_own_map map;
	long n;

	if (gt_own_map_find(o->start, &map, text, PATH_BYTES) && text[0] == '/')
		return;
	n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", text, PATH_BYTES - 1);
	text[n > 0 ? n : 0] = '\0';
}

static bool write_module(struct gt_thread *t, const struct gt_unwind_object *o, uint32_t generation)
{
	char text[PATH_BYTES + 2 * ID_BYTES + 2] = "", id[2 * ID_BYTES + 1];
	const char *path = o->path;
	struct gt_record_code *c;
	enum gt_drop_reason why;
	size_t bytes, size;

	if (!*path)
		read_program_path(o, text);
	else
		strncpy(text, path, PATH_BYTES - 1);
	bytes = strlen(text) + 1;
	read_build_id(o, id);
	strcpy(text + bytes, id);
	bytes += strlen(id) + 1;
	size = sizeof *c + ((bytes + 7) & ~(size_t)7);
	c = gt_ring_try(t, size, &why);
	if (!c)
		return false;
	memset(c, 0, size);
	c->head = (struct gt_record){(uint16_t)(size / 8), GT_RECORD_CODE, 0, GT_CODE_MODULE};
	c->start = o->start;
	c->end = o->end;
	c->base = o->base;
	c->generation = generation;
	c->bytes = (uint32_t)bytes;
	memcpy(c->text, text, bytes);
	gt_ring_commit(t, size);
	return true;
}

/* Write the module if it was not written yet. Return the same value as gt_stack_code_note(). */
static bool note_module(struct gt_stack_modules *known, struct gt_thread *t, uint32_t generation,
			const struct gt_unwind_object *o)
{
	uint64_t key = (uint64_t)o->start ^ (uint64_t)generation << 48 ^ 1, there;
	unsigned at = (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 52);

	static_assert(GT_STACK_MODULES == 1 << 12, "an index is the hash's upper bits");
	for (unsigned i = 0; i < PROBES; i++, at = (at + 1) % GT_STACK_MODULES) {
		there = 0;
		if (!atomic_compare_exchange_strong(&known->keys[at], &there, key)) {
			if (there == key)
				return false;
			continue;
		}
		if (!write_module(t, o, generation))
			atomic_store(&known->keys[at], 0); /* the next stack tries again */
		return gt_python_meet(t, o);
	}
	return false;
}

bool gt_stack_code_note(struct gt_stack_modules *known, struct gt_thread *t, uint32_t generation,
			const uintptr_t *pcs, unsigned count)
{
	struct gt_unwind_object o = {0};
	bool any = false;

	for (unsigned i = 0; i < count; i++) {
		if (pcs[i] >= o.start && pcs[i] < o.end)
			continue;
		if (gt_unwind_find_object(pcs[i], &o))
			any |= note_module(known, t, generation, &o);
	}
	return any;
}
