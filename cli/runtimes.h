/* SPDX-License-Identifier: MIT */
/* Libraries and tools that accelerator programs need, from the descriptions of runtimes (`runtime`
 * in api/README.md). */
#ifndef GPUTAP_CLI_RUNTIMES_H
#define GPUTAP_CLI_RUNTIMES_H

#include <stdbool.h>

#include "generated/runtimes.h"

struct runtime {
	const char *area, *name; /* in gputap doctor; for people */
	bool traced;
	const char *library;            /* NULL: its trial finds it (cli/doctor.h) */
	const char *way;                /* interception method, */
	const char *other_way, *symbol; /* or this one if the library has the symbol */
	const char *needs;              /* area of a runtime that its programs also need; or NULL */
	const char *device, *device_is; /* its compute device's file; "an AMD GPU" */
	const char *software;           /* `gputap soft` with this name replaces the device */
	const char *hint;               /* if the library is missing; NULL: print nothing */
	const char *compiler, *compiler_file, *compiler_hint; /* in PATH, or else that file */
	const char *absent; /* words: statuses that mean a missing device */
};

extern const struct runtime runtimes[GT_RUNTIME_COUNT];

/* Return the runtime whose status of that name may mean a missing device; NULL: none. */
const struct runtime *runtime_find_absent(const char *status);

#endif
