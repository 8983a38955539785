/* SPDX-License-Identifier: MIT */
/* Names of code generated at run time: /tmp/perf-PID.map, which JIT compilers write for perf (node
 * --perf-basic-prof, Java with perf-map-agent, Python -X perf, PyPy's vmprof, ...). A line has
 * start and size in hexadecimal, and the name. If several lines cover an address the last one
 * counts, because code moves. */
#ifndef GPUTAP_EXPORT_JIT_MAP_H
#define GPUTAP_EXPORT_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Time range in which the map of a process must have been written last: CLOCK_REALTIME. */
struct gt_jit_map_time {
	uint64_t first_ns, last_ns;
};

/**
 * gt_jit_map_read() - read names of addresses from a map
 * @path: a regular file that @user owns, and that was last written in that time range; any other is
 *        not read, nor a symbolic link
 * @addresses: increasing; names[i] becomes the name of addresses[i], which the caller frees; it
 *             stays NULL if there is none
 * Return: how many have a name now.
 */
size_t gt_jit_map_read(const char *path, uid_t user, struct gt_jit_map_time time,
		       const uint64_t *addresses, char **names, size_t count);

#endif
