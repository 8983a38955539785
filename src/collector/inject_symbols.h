/* SPDX-License-Identifier: MIT */
/* Dynamic symbols of a module of another process. Read from the module's image
 * (remote_modules.h), which exists even if the file was removed or replaced. The tables are found
 * as the dynamic linker finds them, through the dynamic section in the process's memory. */
#ifndef GPUTAP_COLLECTOR_INJECT_SYMBOLS_H
#define GPUTAP_COLLECTOR_INJECT_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/remote_modules.h"

struct gt_inject_symbols {
	const ElfW(Sym) * list;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH; NULL: none */
	size_t count;
	uintptr_t base;       /* added to a symbol's value; gives an address in the process */
	uintptr_t debug;      /* DT_DEBUG: address of struct r_debug; 0: none */
	uintptr_t image, end; /* range of the image in this process */
};

/* Find the tables of a module. Return false if it has none. */
bool gt_inject_symbols_open(struct gt_remote_modules *modules, uintptr_t start,
			    struct gt_inject_symbols *out);

/* Return the address in the process of a defined symbol; 0: none. @bytes: NULL, or its size. */
uintptr_t gt_inject_symbols_find(const struct gt_inject_symbols *s, const char *name,
				 size_t *bytes);

/* Call @each for every defined function, with its address in the process. */
void gt_inject_symbols_each(const struct gt_inject_symbols *s,
			    void (*each)(const char *name, uintptr_t at, size_t bytes, void *data),
			    void *data);

#endif
