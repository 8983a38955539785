/* SPDX-License-Identifier: MIT */
/* Records the libraries of a runtime that are actually mapped, once per domain. */
#ifndef GPUTAP_RUNTIME_MODULE_H
#define GPUTAP_RUNTIME_MODULE_H

#include <stdint.h>

#include "record/domain.h"

/* Record the library that contains @function.
 * @way: interception method for its calls: "layer", "interposition" or another name
 * @version: as passed to rocprofiler-register; 0: taken from the file name */
void gt_runtime_module_of(enum gt_domain domain, const void *function, const char *way,
			  uint64_t version);
/* Record a library by name, while the dynamic linker is processing it and cannot be queried for its
 * name. */
void gt_runtime_module_named(enum gt_domain domain, const char *path, uint64_t base,
			     const char *way, uint64_t version);

#endif
