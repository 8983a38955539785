/* SPDX-License-Identifier: MIT */
/* Record the libraries of a runtime that are actually mapped: one record each, once per domain. */
#ifndef GPUTAP_RUNTIME_MODULE_H
#define GPUTAP_RUNTIME_MODULE_H

#include <stdint.h>

#include "record/domain.h"

/* Record the library that holds @function. @way: how its calls are seen: "layer", "interposition"
 * or another method's name. @version: as given to rocprofiler-register; 0: take it from the file's
 * name. */
void gt_runtime_module_of(enum gt_domain domain, const void *function, const char *way,
			  uint64_t version);
/* The same, while the dynamic linker is busy with the library and so cannot be asked about its
 * name. */
void gt_runtime_module_named(enum gt_domain domain, const char *path, uint64_t base,
			     const char *way, uint64_t version);

#endif
