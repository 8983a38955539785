/* SPDX-License-Identifier: MIT */
/* The files that another process maps, with their unwinding rules.
 *
 *   /proc/PID/maps ─► modules ─ on first use ─► image: the file's read-only segments, mapped here
 *                                               at the same distances as in the process
 *
 * The image comes from the file as the process sees it (/proc/PID/root), if the file starts with
 * the same bytes as the process's memory; else from the process's memory (the vDSO, files that were
 * removed or replaced). The images are read under the guard for truncated files
 * (collector/guard.h). */
#ifndef GPUTAP_COLLECTOR_REMOTE_MODULES_H
#define GPUTAP_COLLECTOR_REMOTE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind_rules.h"

enum { GT_REMOTE_ID_BYTES = 41 };

struct gt_remote_module {
	uintptr_t start, end;        /* mapped range in the process */
	uintptr_t base;              /* valid once loaded */
	char *path;                  /* without the suffix for a removed file */
	char id[GT_REMOTE_ID_BYTES]; /* build id in hexadecimal; "": none */
	uint32_t generation;         /* generation in which the module appeared */
	bool is_loaded;              /* true if the image was looked for */
	bool is_written;             /* for the caller: the module is in the capture */
	bool is_met;                 /* for the caller: checked whether it is Python */
	/* the image; `start` NULL: there is none */
	struct gt_unwind_object object;
};

enum { GT_REMOTE_RULES = 4096 };

struct gt_remote_modules {
	uint32_t pid, generation;
	struct gt_remote_module *list; /* sorted by address */
	size_t count, room;
	struct gt_unwind_rule rules[GT_REMOTE_RULES]; /* by a hash of the address */
};

/* @generation: number of the first generation. */
void gt_remote_modules_init(struct gt_remote_modules *m, uint32_t pid, uint32_t generation);
void gt_remote_modules_fini(struct gt_remote_modules *m);

/* Read the process's mappings. A change of a known module begins a generation. Return false if
 * they are not readable. */
bool gt_remote_modules_read(struct gt_remote_modules *m);

/* Return the module of an address, loaded; NULL: in no module. Valid until the next
 * gt_remote_modules_read(). */
struct gt_remote_module *gt_remote_modules_find(struct gt_remote_modules *m, uintptr_t pc);

/* Return the rule for @pc; kind UNKNOWN: none. @exact: false for a return address that was
 * decreased by 1. */
const struct gt_unwind_rule *gt_remote_modules_rule(struct gt_remote_modules *m, uintptr_t pc,
						    bool exact);

/* Return the first address of the function around @pc; 0: not known. */
uintptr_t gt_remote_modules_function(struct gt_remote_modules *m, uintptr_t pc);

/* Copy @bytes of code before @pc from the image. Return false if there is no image. */
bool gt_remote_modules_code(struct gt_remote_modules *m, uintptr_t pc, void *to, size_t bytes);

/* Return the address in the process of a dynamic symbol of the module's file; 0: none. */
uintptr_t gt_remote_module_symbol(const struct gt_remote_modules *m,
				  const struct gt_remote_module *module, const char *name);

#endif
