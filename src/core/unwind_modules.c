/* SPDX-License-Identifier: MIT */
/* Finds the module of an address in this process: see unwind.h. */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "core/unwind.h"

#if !defined(DLFO_STRUCT_HAS_EH_DBASE) /* used before glibc 2.35 */
struct dl_find_object {
	unsigned long long int dlfo_flags;
	void *dlfo_map_start;
	void *dlfo_map_end;
	struct link_map *dlfo_link_map;
	void *dlfo_eh_frame;
	unsigned long long int reserved[7];
};
#endif
/* _dl_find_object() of glibc 2.35 and later. libgputap.so must not refer to the function directly,
 * because it must also load with older versions of glibc. Constant after gt_unwind_init(). */
static int (*find_object)(void *pc, struct dl_find_object *found);

void gt_unwind_init(void)
{
	*(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
}

struct wanted_object {
	uintptr_t pc;
	struct gt_unwind_object *object;
};

static int match_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct wanted_object *w = data;
	struct gt_unwind_object o = {.base = info->dlpi_addr, .start = UINTPTR_MAX};

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_GNU_EH_FRAME)
			o.table = (const void *)at;
		if (h->p_type == PT_DYNAMIC)
			o.dynamic = (const void *)at;
		if (h->p_type != PT_LOAD)
			continue;
		o.start = at < o.start ? at : o.start;
		o.end = at + h->p_memsz > o.end ? at + h->p_memsz : o.end;
	}
	if (w->pc < o.start || w->pc >= o.end)
		return 0;
	o.path = info->dlpi_name;
	*w->object = o;
	return 1;
}

bool gt_unwind_find_object(uintptr_t pc, struct gt_unwind_object *object)
{
	struct dl_find_object found;
	struct wanted_object wanted = {pc, object};

	if (!find_object)
		return dl_iterate_phdr(match_object, &wanted) != 0;
	if (find_object((void *)pc, &found) != 0)
		return false;
	*object = (struct gt_unwind_object){(uintptr_t)found.dlfo_map_start,
					    (uintptr_t)found.dlfo_map_end,
					    found.dlfo_link_map->l_addr,
					    found.dlfo_eh_frame,
					    found.dlfo_link_map->l_name,
					    found.dlfo_link_map->l_ld};
	return true;
}
