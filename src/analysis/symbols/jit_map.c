/* SPDX-License-Identifier: MIT */
/* See jit_map.h. Any user can write to the folder that contains the file, so it may contain
 * anything. */
#include "analysis/symbols/jit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_MOST_BYTES = 512 << 20,
	NAME_MOST_BYTES = 4096,
};

static uint64_t get_time_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

/* Open a map. Return NULL if the file does not exist or cannot be trusted. */
static FILE *open_map(const char *path, uid_t user, struct gt_jit_map_time time)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	struct stat st;
	FILE *f = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == user &&
	    st.st_size <= FILE_MOST_BYTES && get_time_ns(&st) >= time.first_ns &&
	    get_time_ns(&st) <= time.last_ns)
		f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

/* Parse "7f10 2a name of it\n". Return the name, NUL-terminated; NULL: invalid line. */
static char *parse_line(char *line, uint64_t *begin, uint64_t *bytes)
{
	char *p;

	*begin = strtoull(line, &p, 16);
	if (p == line || *p != ' ')
		return NULL;
	line = p + 1;
	*bytes = strtoull(line, &p, 16);
	if (p == line || *p != ' ' || *begin + *bytes < *begin)
		return NULL;
	p++;
	p[strcspn(p, "\n")] = '\0';
	if (strlen(p) > NAME_MOST_BYTES)
		p[NAME_MOST_BYTES] = '\0';
	return *p ? p : NULL;
}

/* Return the index of the first address at or above @address. */
static size_t find_address(const uint64_t *addresses, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t gt_jit_map_read(const char *path, uid_t user, struct gt_jit_map_time time,
		       const uint64_t *addresses, char **names, size_t count)
{
	FILE *f = open_map(path, user, time);
	uint64_t begin, bytes, read = 0;
	size_t room = 0, found = 0;
	char *line = NULL, *name;
	ssize_t n;

	if (!f)
		return 0;
	/* Stops even if the file grows while it is read. */
	while ((n = getline(&line, &room, f)) > 0 && (read += (uint64_t)n) <= FILE_MOST_BYTES) {
		name = parse_line(line, &begin, &bytes);
		if (!name)
			continue;
		for (size_t i = find_address(addresses, count, begin);
		     i < count && addresses[i] - begin < bytes; i++) {
			char *copy = strdup(name);

			if (!copy)
				break;
			found += !names[i];
			free(names[i]);
			names[i] = copy;
		}
	}
	free(line);
	fclose(f);
	return found;
}
