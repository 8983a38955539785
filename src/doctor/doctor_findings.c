/* SPDX-License-Identifier: MIT */
/* Findings, and the search for libraries on this machine. See doctor.h. */
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/doctor.h"

struct finding *doctor_add(struct doctor *d, enum finding_level level, const char *area,
			   const char *what)
{
	unsigned last = DOCTOR_FINDINGS_MOST - 1;
	struct finding *f = &d->findings[d->count <= last ? d->count++ : last];

	*f = (struct finding){.level = level, .area = area, .what = what};
	return f;
}

void doctor_say(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->text, sizeof f->text, format, args);
	va_end(args);
}

void doctor_hint(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->hint, sizeof f->hint, format, args);
	va_end(args);
	doctor_translate_hint(f->hint, sizeof f->hint);
}

bool doctor_is_new(const struct doctor *d, const char *path, char real[PATH_MAX])
{
	if (!realpath(path, real))
		return false;
	for (unsigned i = 0; i < d->count; i++)
		if (!strncmp(d->findings[i].text, real, strlen(real)))
			return false;
	return true;
}

bool doctor_file_has(const char *path, const char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool has = false;
	void *map;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			has = memmem(map, (size_t)st.st_size, text, strlen(text)) != NULL;
			munmap(map, (size_t)st.st_size);
		}
	}
	close(fd);
	return has;
}

static void each_in_folder(const char *folder, int bytes, const char *stem,
			   void (*each)(void *data, const char *path), void *data)
{
	char pattern[PATH_MAX];
	glob_t found = {0};

	snprintf(pattern, sizeof pattern, "%.*s/%s*", bytes, folder, stem);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			each(data, found.gl_pathv[i]);
	globfree(&found);
}

void doctor_each_library(const char *stem, void (*each)(void *data, const char *path), void *data)
{
	const char *folders = getenv("LD_LIBRARY_PATH");
	char line[PATH_MAX + 256];
	FILE *cache;

	for (size_t n; folders && *folders; folders += n + (folders[n] == ':')) {
		n = strcspn(folders, ":");
		if (n && n < PATH_MAX)
			each_in_folder(folders, (int)n, stem, each, data);
	}
	cache = popen("/sbin/ldconfig -p 2>/dev/null || /usr/sbin/ldconfig -p 2>/dev/null", "re");
	while (cache && fgets(line, sizeof line, cache)) {
		char *arrow = strstr(line, " => "), *name = line + strspn(line, " \t");

		if (!arrow || strncmp(name, stem, strlen(stem)) ||
		    (sizeof(void *) == 8 && !strstr(line, "64")))
			continue;
		arrow[strcspn(arrow, "\n")] = '\0';
		each(data, arrow + 4);
	}
	if (cache)
		pclose(cache);
}
