/* SPDX-License-Identifier: MIT */
/* Prepares the environment in which gputap's libraries are loaded into the program and its
 * children. */
#ifndef GPUTAP_COLLECTOR_ENVIRONMENT_H
#define GPUTAP_COLLECTOR_ENVIRONMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_libraries {
	char inject[PATH_MAX]; /* libgputap.so.0 */
	char audit[PATH_MAX];  /* libgputap-audit.so */
	char compat[PATH_MAX]; /* folder with gputap's libroctx64.so.4; "": not available */
};

/**
 * gt_libraries_find() - find gputap's two libraries
 * Searches next to the running executable (in a build folder), in the folder where gputap was
 * installed, and in GPUTAP_LIBRARY_PATH.
 */
int gt_libraries_find(struct gt_libraries *out);

/**
 * gt_libraries_link() - give the libraries a path that LD_PRELOAD and LD_AUDIT can contain
 * If the path has a space or a colon, create a symbolic link to the libraries' folder.
 * @folder: where to create the link; the caller removes @folder/lib
 */
int gt_libraries_link(struct gt_libraries *libraries, const char *folder);

/**
 * gt_libraries_find_other() - find a libgputap.so.0 of another gputap in LD_PRELOAD
 * gt_environment_make() removes it from the list: one process cannot use two of them.
 */
bool gt_libraries_find_other(const struct gt_libraries *libraries, char other[PATH_MAX]);

/**
 * gt_libraries_find_shadowed() - find a libgputap.so.0 of another gputap in LD_LIBRARY_PATH
 * The program gets this gputap's library instead, because it is loaded first and has the same name.
 */
bool gt_libraries_find_shadowed(const struct gt_libraries *libraries, char other[PATH_MAX]);

struct gt_target;

/**
 * gt_environment_make() - copy @base and add the variables that the session needs
 * LD_PRELOAD: gputap's library, then the user's. LD_AUDIT: the user's, then gputap's.
 * The runtimes' own variables (record/variable.h): gputap's library comes first in lists of
 * libraries, which puts it nearest to the runtime (OpenCL's loaders call the last layer first). So
 * the user's libraries see the program in the same way as without gputap. ocl-icd truncates
 * OPENCL_LAYERS after the first use, so the complete value is also passed in a variable of gputap.
 * A variable that none of @domains needs stays unchanged, because some programs do more work if it
 * is set: with NVTX's variable set, XLA makes a range with a payload for each operation that it
 * runs.
 * GPUTAP_COMPAT: where the audit library finds substitutes (`substitute` in api/README.md).
 * GLIBC_TUNABLES: the static thread-local storage that @target's libraries need, because an auditor
 * takes some of this storage.
 * @domains: bit per enum gt_domain that may be recorded: gt_session_recordable(). All domains if
 *           GPUTAP_TOOLS names tools, because tools choose for themselves
 * @target: the first program. If its dynamic linker cannot load gputap's libraries, LD_PRELOAD and
 *          LD_AUDIT keep the user's values. If the address space is too small for the libraries,
 *          all variables keep the user's values
 * Owner: caller; gt_environment_free().
 */
int gt_environment_make(char *const *base, const struct gt_libraries *libraries, const char *folder,
			uint64_t domains, const struct gt_target *target, char ***out);
void gt_environment_free(char **environment);

#endif
