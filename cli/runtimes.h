/* SPDX-License-Identifier: MIT */
/* Libraries and tools that accelerator programs need, generated from the descriptions of runtimes
 * (`runtime` in api/README.md). */
#ifndef GPUTAP_CLI_RUNTIMES_H
#define GPUTAP_CLI_RUNTIMES_H

#include <stdbool.h>

#include "generated/runtimes.h"

struct runtime {
	const char *area, *name; /* area: used in gputap doctor; name: used in text */
	bool traced;
	/* NULL: the runtime's trial finds the library (src/doctor/doctor.h) */
	const char *library;
	const char *way;                /* interception method */
	const char *other_way, *symbol; /* interception method if the library defines `symbol` */
	/* area of another runtime that this runtime's programs need; NULL: none */
	const char *needs;
	/* file of the compute device, and its description: "an AMD GPU" */
	const char *device, *device_is;
	/* name of the software device in `gputap soft` that replaces the device */
	const char *software;
	const char *hint; /* hint if the library is missing; NULL: none */
	/* name to search in PATH; file to use if PATH lacks it */
	const char *compiler, *compiler_file, *compiler_hint;
	const char *absent; /* status names that mean a missing device, separated by spaces */
};

extern const struct runtime runtimes[GT_RUNTIME_COUNT];

/* Return the runtime for which a status of this name may mean a missing device; NULL: none. */
const struct runtime *runtime_find_absent(const char *status);

#endif
