/* SPDX-License-Identifier: MIT */
/* See own_maps.h. */
#include "core/own_maps.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAPS_BYTES = 4096, FIELDS = 5 /* number of fields before the name */ };

/* Parse "7f00-7f10 rw-p 00000000 00:00 0    [stack]" up to @end. Fill in *map and return the start
 * of the name. */
static const char *parse_line(const char *p, const char *end, struct gt_own_map *map)
{
	uintptr_t *to = &map->low;

	map->low = map->high = 0;
	for (; p < end && *p != ' '; p++) {
		if (*p == '-')
			to = &map->high;
		else
			*to = *to << 4 | (uintptr_t)(*p >= 'a' ? *p - 'a' + 10 : *p - '0');
	}
	map->writable = end - p > 2 && p[2] == 'w';
	for (int field = 1; p < end && field < FIELDS; field++)
		for (p++; p < end && *p != ' ';)
			p++;
	while (p < end && *p == ' ')
		p++;
	return p;
}

static void copy_name(char *name, size_t bytes, const char *begin, const char *end)
{
	size_t n = (size_t)(end - begin);

	n = n < bytes ? n : 0;
	memcpy(name, begin, n);
	name[n] = '\0';
}

/* @text: buffer of MAPS_BYTES. */
static bool find_line(long fd, char *text, uintptr_t at, struct gt_own_map *map, char *name,
		      size_t bytes)
{
	size_t have = 0;
	long n;

	while ((n = syscall(SYS_read, fd, text + have, MAPS_BYTES - have)) > 0) {
		char *begin = text, *end;

		have += (size_t)n;
		while ((end = memchr(begin, '\n', (size_t)(text + have - begin)))) {
			const char *own = parse_line(begin, end, map);

			if (at >= map->low && at < map->high) {
				copy_name(name, bytes, own, end);
				return true;
			}
			begin = end + 1;
		}
		have -= (size_t)(begin - text);
		memmove(text, begin, have);
		if (have == MAPS_BYTES)
			/* the path is longer than the buffer, so this line is not the wanted
			 * mapping */
			have = 0;
	}
	return false;
}

bool gt_own_map_find(uintptr_t at, struct gt_own_map *map, char *name, size_t bytes)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	void *text;
	bool found;

	if (fd < 0)
		return false;
	text = mmap(NULL, MAPS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	found = text != MAP_FAILED && find_line(fd, text, at, map, name, bytes);
	if (text != MAP_FAILED)
		munmap(text, MAPS_BYTES);
	syscall(SYS_close, fd);
	return found;
}
