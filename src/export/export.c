/* SPDX-License-Identifier: MIT */
/* Lists the exporters. Writes each file under a temporary name, so that a file with the final name
 * is always complete. */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/formats.h"
#include "util/error.h"

const struct gt_exporter *const gt_exporters[] = {
	&gt_exporter_perfetto,   &gt_exporter_chrome,
	&gt_exporter_chrome_gz,  &gt_exporter_hta,
	&gt_exporter_rpd,        &gt_exporter_rocpd,
	&gt_exporter_csv,        &gt_exporter_folded,
	&gt_exporter_speedscope, NULL,
};

const struct gt_exporter *gt_exporter_for_path(const char *path)
{
	const struct gt_exporter *best = NULL;
	size_t length = strlen(path), longest = 0;

	for (size_t i = 0; gt_exporters[i]; i++)
		for (const char *const *e = gt_exporters[i]->extensions; *e; e++) {
			size_t n = strlen(*e);

			/* Requires a name before the extension, because ".csv" alone is a hidden
			 * file, not a format. */
			if (n > longest && n < length && path[length - n - 1] != '/' &&
			    !strcmp(path + length - n, *e)) {
				best = gt_exporters[i];
				longest = n;
			}
		}
	return best;
}

const struct gt_exporter *gt_exporter_find(const char *name)
{
	for (size_t i = 0; gt_exporters[i]; i++)
		if (!strcmp(gt_exporters[i]->name, name))
			return gt_exporters[i];
	for (size_t i = 0; gt_exporters[i]; i++)
		for (const char *const *e = gt_exporters[i]->extensions; *e; e++)
			if (!strcmp(*e + (*name != '.'), name))
				return gt_exporters[i];
	return NULL;
}

/* Refuse to rename over a device, a pipe or a folder, or over a link to one (/dev/stdout). */
static int check_target(const char *path, bool replace)
{
	struct stat st;

	/* A dangling link exists although stat() fails. */
	if (stat(path, &st) < 0 && lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : gt_error(-errno, "cannot access %s", path);
	if (S_ISDIR(st.st_mode))
		return gt_error(-EISDIR, "%s", path);
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		gt_error(0, "%s is not a regular file; exports are written next to it and renamed",
			 path);
		return -EINVAL;
	}
	return replace ? 0 : gt_error(-EEXIST, "%s", path);
}

/* Rename the finished file to @path. */
static int publish(const char *temporary, const char *path, bool replace)
{
	if (replace)
		return rename(temporary, path) < 0 ? -errno : 0;
	/* Fails if @path was created since the check. */
	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* The file system does not support RENAME_NOREPLACE. */
	return link(temporary, path) < 0 || unlink(temporary) < 0 ? -errno : 0;
}

/* Signals on which the unfinished file is removed. The process then ends as it would without a
 * handler. An ignored signal (nohup) stays ignored. */
static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDS = sizeof ends / sizeof *ends };
static char unfinished[4096];

static void remove_unfinished(int number)
{
	unlink(unfinished);
	raise(number); /* the default action is restored: SA_RESETHAND */
}

/* Remove the unfinished file at exit. Commands exit if memory is exhausted
 * (analysis/base/lookup.c), which may happen in a callback while a file is written
 * (gt_view_options). */
static void remove_unfinished_at_exit(void)
{
	if (unfinished[0])
		unlink(unfinished);
}

static void guard_unfinished(struct sigaction before[ENDS])
{
	static bool registered;
	struct sigaction ours = {.sa_handler = remove_unfinished,
				 .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};

	if (!registered)
		registered = !atexit(remove_unfinished_at_exit);
	for (int i = 0; i < ENDS; i++)
		if (sigaction(ends[i], NULL, &before[i]) == 0 && before[i].sa_handler == SIG_DFL)
			sigaction(ends[i], &ours, NULL);
}

static void unguard_unfinished(const struct sigaction before[ENDS])
{
	for (int i = 0; i < ENDS; i++)
		sigaction(ends[i], &before[i], NULL);
	unfinished[0] = '\0';
}

int gt_export_publish(const char *path, bool replace,
		      int (*write)(void *data, const char *temporary), void *data)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - path) : 0, status, n;
	struct sigaction before[ENDS];
	char temporary[sizeof unfinished];

	status = check_target(path, replace);
	if (status)
		return status;
	n = snprintf(temporary, sizeof temporary, "%.*s.%.200s.%d.part", folder, path,
		     path + folder, (int)getpid());
	if (n < 0 || (size_t)n >= sizeof temporary)
		return gt_error(-ENAMETOOLONG, "%s", path);
	if (unlink(temporary) < 0 && errno != ENOENT) /* left by a process with this pid */
		return gt_error(-errno, "cannot create a temporary file next to it");
	strcpy(unfinished, temporary);
	guard_unfinished(before);
	status = write(data, temporary);
	if (!status) {
		status = publish(temporary, path, replace);
		if (status)
			gt_error(status, "cannot rename it to %s", path);
	}
	if (status)
		unlink(temporary);
	unguard_unfinished(before);
	return status;
}

struct export_run {
	const struct gt_exporter *exporter;
	const struct gt_capture *capture;
	const struct gt_view_options *options;
};

static int write_export(void *data, const char *temporary)
{
	const struct export_run *r = data;

	return r->exporter->write(r->capture, temporary, r->options);
}

int gt_export(const struct gt_exporter *exporter, const struct gt_capture *c, const char *path,
	      bool replace, const struct gt_view_options *options)
{
	static const struct gt_view_options none;
	struct export_run request = {exporter, c, options ? options : &none};

	return gt_export_publish(path, replace, write_export, &request);
}
