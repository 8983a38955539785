/* SPDX-License-Identifier: MIT */
/* What the program needs in its environment so that gputap's libraries are loaded into it and
 * its children. */
#ifndef GPUTAP_COLLECTOR_ENVIRONMENT_H
#define GPUTAP_COLLECTOR_ENVIRONMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_libraries {
	char inject[PATH_MAX]; /* libgputap.so.0 */
	char audit[PATH_MAX];  /* libgputap-audit.so */
	char compat[PATH_MAX]; /* the folder of our libroctx64.so.4; "": it is not there */
};

/**
 * gt_libraries_find() - where our two libraries lie
 * Beside the running executable (a build folder), where gputap was installed, in
 * GPUTAP_LIBRARY_PATH.
 */
int gt_libraries_find(struct gt_libraries *out);

struct gt_target;

/**
 * gt_environment_make() - a copy of @base with what the session needs
 * LD_PRELOAD: ours, then the user's. LD_AUDIT: the user's, then ours.
 * The runtimes' own variables (record/variable.h): in lists of libraries ours comes first, which is
 * nearest to the runtime (OpenCL's loaders call the last layer first), so the user's see the
 * program as they would without us; ocl-icd cuts OPENCL_LAYERS after the first use, so the whole
 * value also travels in a variable of ours. A variable that no domain of @domains comes in by stays
 * as it is, because programs do more where it is set: XLA makes a range with a payload for each
 * operation that it runs where NVTX's is.
 * GPUTAP_COMPAT: where the audit library finds substitutes (`substitute` in api/README.md).
 * GLIBC_TUNABLES: the static thread-local storage that @target's libraries need, which an auditor
 * takes the room of.
 * @domains: bit per enum gt_domain that may be recorded: gt_session_recordable(). All of them where
 *           GPUTAP_TOOLS names tools, which choose for themselves
 * @target: what is run first. Where its dynamic linker takes none of our libraries, LD_PRELOAD and
 *          LD_AUDIT stay the user's; where there is no room for them, all variables do
 * Owner: caller; gt_environment_free().
 */
int gt_environment_make(char *const *base, const struct gt_libraries *libraries, const char *folder,
			uint32_t domains, const struct gt_target *target, char ***out);
void gt_environment_free(char **environment);

#endif
