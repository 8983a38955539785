/* SPDX-License-Identifier: MIT */
/* What people look for on a machine to run accelerator programs, as the descriptions of runtimes
 * say it (`runtime` in api/README.md). */
#ifndef GPUTAP_CLI_RUNTIMES_H
#define GPUTAP_CLI_RUNTIMES_H

#include <stdbool.h>

#include "generated/runtimes.h"

struct runtime {
	const char *area, *name; /* in gputap doctor; to people */
	bool traced;
	const char *library;            /* NULL: its trial looks for it (cli/doctor.h) */
	const char *way;                /* in which it is attached to, */
	const char *other_way, *symbol; /* or in this one where the library has the symbol */
	const char *needs; /* area of the runtime that its programs need, too; or NULL */
	const char *device, *device_is; /* file of the device that it computes on; "an AMD GPU" */
	const char *software;           /* `gputap soft` of this name stands in for the device */
	const char *hint;               /* where there is no library; NULL: nothing is said then */
	const char *compiler, *compiler_file, *compiler_hint; /* in PATH, or else that file */
	const char *absent; /* words: statuses which say that there is no device */
};

extern const struct runtime runtimes[GT_RUNTIME_COUNT];

/* The runtime whose status of that name may say that there is no device; NULL: none's does. */
const struct runtime *runtime_find_absent(const char *status);

#endif
