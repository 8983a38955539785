/* SPDX-License-Identifier: MIT */
/* Which libraries of a runtime are really mapped: a record for each, once per domain. */
#ifndef GPUTAP_RUNTIME_MODULE_H
#define GPUTAP_RUNTIME_MODULE_H

#include <stdint.h>

#include "record/domain.h"

/* Record the library that holds @function. @way: how its calls are seen, "layer",
 * "interposition", ..
 * @version: as given to rocprofiler-register; 0: what its file's name says. */
void gt_runtime_module_of(enum gt_domain domain, const void *function, const char *way,
			  uint64_t version);
/* The same while the dynamic linker is busy with the library, so that it cannot be asked for its
 * name. */
void gt_runtime_module_named(enum gt_domain domain, const char *path, uint64_t base,
			     const char *way, uint64_t version);

#endif
