/* SPDX-License-Identifier: MIT */
/* Finds the captures that a user names: files, and folders of files. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dataset/dataset.h"
#include "util/error.h"
#include "util/grow.h"

struct files {
	char **list;
	size_t count, room;
};

/* Add a path. Takes over @path, which may be NULL if out of memory. */
static int add_file(struct files *f, char *path)
{
	char **list = path ? gt_grow(f->list, f->count, &f->room, sizeof *list) : NULL;

	if (!list) {
		free(path);
		return gt_error(-ENOMEM, "cannot list the captures");
	}
	f->list = list;
	list[f->count++] = path;
	return 0;
}

static bool is_capture_name(const char *name)
{
	static const char extension[] = ".gputap";
	const size_t bytes = strlen(name);

	return *name != '.' && bytes >= sizeof extension &&
	       !strcmp(name + bytes - (sizeof extension - 1), extension);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_folder(struct files *f, const char *path)
{
	const size_t first = f->count;
	const struct dirent *entry;
	DIR *folder = opendir(path);
	int status = 0;

	if (!folder)
		return gt_error(-errno, "cannot read %s", path);
	while (!status && (entry = readdir(folder))) {
		char *file = NULL;

		if (!is_capture_name(entry->d_name))
			continue;
		if (asprintf(&file, "%s/%s", path, entry->d_name) < 0)
			file = NULL;
		status = add_file(f, file);
	}
	closedir(folder);
	if (!status && f->count == first)
		status = gt_error(-ENODATA, "%s contains no file *.gputap", path);
	if (f->count > first)
		qsort(f->list + first, f->count - first, sizeof *f->list, compare_paths);
	return status;
}

int dataset_list_files(const char *const *paths, size_t count, char ***files, size_t *file_count)
{
	struct files f = {0};
	struct stat st;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		status = !stat(paths[i], &st) && S_ISDIR(st.st_mode)
				 ? add_folder(&f, paths[i])
				 : add_file(&f, strdup(paths[i]));
	if (status) {
		while (f.count)
			free(f.list[--f.count]);
		free(f.list);
		return status;
	}
	*files = f.list;
	*file_count = f.count;
	return 0;
}
