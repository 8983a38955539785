/* SPDX-License-Identifier: MIT */
/* See own_maps.h. */
#include "core/own_maps.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAPS_BYTES = 4096, FIELDS = 5 /* in front of the name */ };

/* "7f00-7f10 rw-p 00000000 00:00 0    [stack]" up to @end. */
static bool parse_line(const char *p, const char *end, struct gt_own_map *map)
{
	uintptr_t *to = &map->low;
	size_t n;

	map->low = map->high = 0;
	for (; p < end && *p != ' '; p++) {
		if (*p == '-')
			to = &map->high;
		else
			*to = *to << 4 | (uintptr_t)(*p >= 'a' ? *p - 'a' + 10 : *p - '0');
	}
	for (int field = 1; p < end && field < FIELDS; field++)
		for (p++; p < end && *p != ' ';)
			p++;
	while (p < end && *p == ' ')
		p++;
	n = (size_t)(end - p);
	n = n < sizeof map->name ? n : 0;
	memcpy(map->name, p, n);
	map->name[n] = '\0';
	return map->high > map->low;
}

bool gt_own_map_find(uintptr_t at, struct gt_own_map *map)
{
	char text[MAPS_BYTES];
	size_t have = 0;
	bool found = false;
	long n, fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (!found && (n = syscall(SYS_read, fd, text + have, sizeof text - have)) > 0) {
		char *begin = text, *end;

		have += (size_t)n;
		while (!found && (end = memchr(begin, '\n', (size_t)(text + have - begin)))) {
			found = parse_line(begin, end, map) && at >= map->low && at < map->high;
			begin = end + 1;
		}
		have -= (size_t)(begin - text);
		memmove(text, begin, have);
		if (have == sizeof text)
			have = 0; /* a path longer than this: its line is none of ours */
	}
	syscall(SYS_close, fd);
	return found;
}
