/* SPDX-License-Identifier: MIT */
/* See proc_files.h; `man 5 proc` describes the formats. */
#include "collector/proc_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PATH_BYTES = 96, NAME_BYTES = 64, STAT_BYTES = 1024, CHILDREN_BYTES = 4096 };
/* fields of /proc/PID/stat, numbered as in the manual */
enum {
	FIELD_STATE = 3,
	FIELD_PPID = 4,
	FIELD_THREADS = 20,
	FIELD_START = 22,
	FIELD_STACK = 28,
	FIELD_ARGUMENTS = 48,
	FIELD_ENVIRONMENT_END = 51,
	FIELD_EXIT_CODE = 52, /* same encoding as wait() */
	FIELD_COUNT
};

static int open_file(uint32_t pid, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static FILE *open_stream(uint32_t pid, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
	return fopen(path, "re");
}

bool gt_proc_read_stat(uint32_t pid, struct gt_proc_stat *out)
{
	unsigned long long fields[FIELD_COUNT] = {0};
	int fd = open_file(pid, "stat"), field = FIELD_STATE;
	char text[STAT_BYTES], *name, *p;
	ssize_t n;

	memset(out, 0, sizeof *out);
	n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	name = strchr(text, '(');
	p = strrchr(text, ')'); /* the name may contain anything */
	if (!name || !p || p[1] != ' ')
		return false;
	snprintf(out->name, sizeof out->name, "%.*s", (int)(p - name - 1), name + 1);
	out->state = p[2];
	for (p = strchr(p + 2, ' '); p && ++field < FIELD_COUNT; p = strchr(p + 1, ' '))
		fields[field] = strtoull(p + 1, NULL, 10);
	out->ppid = (uint32_t)fields[FIELD_PPID];
	out->threads = (uint32_t)fields[FIELD_THREADS];
	out->start = fields[FIELD_START];
	out->exit_signal = (uint32_t)fields[FIELD_EXIT_CODE] & 0x7f;
	if (fields[FIELD_ENVIRONMENT_END])
		out->exec_id = fields[FIELD_STACK] * 31 + fields[FIELD_ARGUMENTS] * 7 +
			       fields[FIELD_ENVIRONMENT_END];
	return true;
}

static void read_children(uint32_t pid, const char *thread, void (*each)(uint32_t pid, void *data),
			  void *data)
{
	char name[NAME_BYTES], text[CHILDREN_BYTES];
	uint32_t child = 0;
	ssize_t n;
	int fd;

	snprintf(name, sizeof name, "task/%s/children", thread);
	fd = open_file(pid, name);
	if (fd < 0)
		return;
	while ((n = read(fd, text, sizeof text)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] != ' ') {
				child = 10 * child + (uint32_t)(text[i] - '0');
				continue;
			}
			each(child, data);
			child = 0;
		}
	close(fd);
}

void gt_proc_each_child(uint32_t pid, uint32_t threads, void (*each)(uint32_t pid, void *data),
			void *data)
{
	char path[PATH_BYTES];
	struct dirent *e;
	DIR *dir;

	if (threads <= 1) {
		snprintf(path, sizeof path, "%u", pid);
		read_children(pid, path, each, data);
		return;
	}
	snprintf(path, sizeof path, "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			read_children(pid, e->d_name, each, data);
	if (dir)
		closedir(dir);
}

int gt_proc_maps(uint32_t pid, int fd, const char *path)
{
	FILE *f = open_stream(pid, "maps");
	char *line = NULL, inode[PATH_BYTES];
	size_t room = 0;
	struct stat st;
	bool found = false;
	int error;

	if (!f || fstat(fd, &st)) {
		error = errno;
		if (f)
			fclose(f);
		return -error;
	}
	snprintf(inode, sizeof inode, " %02x:%02x %llu ", major(st.st_dev), minor(st.st_dev),
		 (unsigned long long)st.st_ino);
	errno = 0;
	while (!found && getline(&line, &room, f) > 0)
		found = strstr(line, inode) || strstr(line, path);
	error = found || !ferror(f) ? 0 : errno;
	free(line);
	fclose(f);
	return error ? -error : found;
}

uint32_t gt_proc_find_mapped(uint32_t pid, const char *const *parts, unsigned count)
{
	FILE *f = open_stream(pid, "maps");
	char *line = NULL;
	size_t room = 0;
	uint32_t found = 0;

	while (f && getline(&line, &room, f) > 0)
		for (unsigned i = 0; i < count; i++)
			found |= (uint32_t)(strstr(line, parts[i]) != NULL) << i;
	free(line);
	if (f)
		fclose(f);
	return found;
}

int gt_proc_each_variable(uint32_t pid, void (*each)(const char *variable, void *data), void *data)
{
	FILE *f = open_stream(pid, "environ");
	char *variable = NULL;
	size_t room = 0;
	int error;

	if (!f)
		return -errno;
	errno = 0;
	while (getdelim(&variable, &room, '\0', f) > 0)
		each(variable, data);
	error = ferror(f) ? errno : 0;
	free(variable);
	fclose(f);
	return -error;
}

bool gt_proc_read_ids(uint32_t pid, struct gt_proc_ids *out)
{
	FILE *f = open_stream(pid, "status");
	bool has_ids = false;
	char line[512], *p;

	*out = (struct gt_proc_ids){.inner_pid = pid};
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "Uid: %u %u", &out->uid, &out->effective_uid) == 2)
			has_ids = true;
		if (!strncmp(line, "NSpid:", 6) && (p = strrchr(line, '\t')))
			out->inner_pid = (uint32_t)strtoul(p + 1, NULL, 10);
	}
	if (f)
		fclose(f);
	return has_ids;
}

bool gt_proc_read_program(uint32_t pid, char *out, size_t room)
{
	static const char removed[] = " (deleted)";
	char link[PATH_BYTES];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/%u/exe", pid);
	n = readlink(link, out, room - 1);
	out[n > 0 ? n : 0] = '\0';
	if (n >= (ssize_t)sizeof removed && !strcmp(out + n - (sizeof removed - 1), removed))
		out[n - (ssize_t)(sizeof removed - 1)] = '\0';
	return n > 0;
}
