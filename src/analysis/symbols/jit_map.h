/* SPDX-License-Identifier: MIT */
/* Reads names of code generated at run time from /tmp/perf-PID.map, which JIT compilers write for
 * perf (node --perf-basic-prof, Java with perf-map-agent, Python -X perf, PyPy's vmprof, ...). A
 * line contains start and size in hexadecimal, and the name. If several lines cover an address, the
 * last one is used, because code moves. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_JIT_MAP_H
#define GPUTAP_ANALYSIS_SYMBOLS_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Time range that must contain the last modification time of a map, in CLOCK_REALTIME. */
struct gt_jit_map_time {
	uint64_t first_ns, last_ns;
};

/**
 * gt_jit_map_read() - read names of addresses from a map
 * @path: read only if it is a regular file, not a symbolic link, that @user owns and that was last
 *        written in the range @time
 * @addresses: ascending
 * @names: names[i] receives the name of addresses[i], which the caller frees; unchanged (NULL) if
 *         the address has no name
 * Return: number of addresses that have a name now.
 */
size_t gt_jit_map_read(const char *path, uid_t user, struct gt_jit_map_time time,
		       const uint64_t *addresses, char **names, size_t count);

#endif
