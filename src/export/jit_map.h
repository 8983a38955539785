/* SPDX-License-Identifier: MIT */
/* Names of code that was made while a program ran: /tmp/perf-PID.map, which JIT compilers write for
 * perf (node --perf-basic-prof, Java with perf-map-agent, Python -X perf, PyPy's vmprof, ..).
 * A line: begin and bytes in hexadecimal, and the name. Of those that cover an address the last
 * counts, as code moves. */
#ifndef GPUTAP_EXPORT_JIT_MAP_H
#define GPUTAP_EXPORT_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* When a map that is a process's can have been written last: CLOCK_REALTIME. */
struct gt_jit_map_time {
	uint64_t first_ns, last_ns;
};

/**
 * gt_jit_map_read() - names of addresses out of a map
 * @path: a regular file that @user owns, and that was written at that time; any other is not read,
 *        nor one behind a symbolic link
 * @addresses: rising; names[i] becomes that of addresses[i], which the caller frees; NULL stays
 *             where there is none
 * Return: how many have one now.
 */
size_t gt_jit_map_read(const char *path, uid_t user, struct gt_jit_map_time time,
		       const uint64_t *addresses, char **names, size_t count);

#endif
