/* SPDX-License-Identifier: MIT */
/* Converts options to variables, finds folders, and executes the program: see
 * soft_accelerator.h. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/soft_accelerator.h"
#include "cli/ui.h"
#include "config.h"

/* of LD_PRELOAD, LD_LIBRARY_PATH and ZE_ENABLE_ALT_DRIVERS */
#define LIST_SEPARATORS " :;,"

void soft_put_first(const char *variable, const char *word)
{
	const char *rest = getenv(variable);
	char *value;

	if (!rest || !*rest)
		setenv(variable, word, 1);
	else if (asprintf(&value, "%s:%s", word, rest) > 0) {
		setenv(variable, value, 1);
		free(value);
	}
}

static bool has_library(const char *folder, const char *library)
{
	char file[PATH_MAX];

	return snprintf(file, sizeof file, "%s/%s", folder, library) < (int)sizeof file &&
	       access(file, R_OK) == 0;
}

static bool is_own_folder(const char *path)
{
	struct stat st;

	return (!mkdir(path, 0700) || errno == EEXIST) && !lstat(path, &st) &&
	       S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
}

/* Replace @path by a symbolic link to it if variables with lists of paths cannot contain it. The
 * program replaces this command, so the link cannot be removed afterwards: it stays, named after
 * its target, for the next time. */
static void use_link(char path[PATH_MAX])
{
	char link[64], target[PATH_MAX];
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
	ssize_t n;

	if (!path[strcspn(path, LIST_SEPARATORS)])
		return;
	for (const char *c = path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
	snprintf(link, sizeof link, "/tmp/gputap-soft-%u", (unsigned)geteuid());
	if (is_own_folder(link)) {
		snprintf(link, sizeof link, "/tmp/gputap-soft-%u/%016llx", (unsigned)geteuid(),
			 (unsigned long long)hash);
		n = symlink(path, link) && errno != EEXIST
			    ? -1
			    : readlink(link, target, sizeof target - 1);
		if (n > 0 && (size_t)n == strlen(path) && !memcmp(target, path, (size_t)n)) {
			strcpy(path, link);
			return;
		}
	}
	ui_note("the path %s has a separator of lists (space, colon, comma or semicolon), and no "
		"link to it can be made in /tmp: the program may not find the library",
		path);
}

static bool find_folder(const char *folder, const char *library, char out[PATH_MAX])
{
	char self[PATH_MAX], at[2 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		snprintf(at, sizeof at, "%s/%s", self, folder);
		if (realpath(at, out) && has_library(out, library))
			return true;
		snprintf(at, sizeof at, "%s/" GPUTAP_LIBDIR_FROM_BINDIR "/gputap/%s", self, folder);
		if (realpath(at, out) && has_library(out, library))
			return true;
	}
	snprintf(at, sizeof at, GPUTAP_LIBDIR "/gputap/%s", folder);
	return realpath(at, out) && has_library(out, library);
}

bool soft_find_folder(const char *folder, const char *library, char out[PATH_MAX])
{
	if (!find_folder(folder, library, out))
		return false;
	use_link(out);
	return true;
}

static const char *option_name(const struct soft_accelerator *a, int value)
{
	for (const struct option *o = a->options; o->name; o++)
		if (o->val == value)
			return o->name;
	return "";
}

int soft_accelerator_check(const struct soft_accelerator *a)
{
	char why[512];

	if (a->check(why, sizeof why))
		return 0;
	for (const struct soft_variable *v = a->variables; v->variable; v++) {
		size_t n = strlen(v->variable);
		if (!strncmp(why, v->variable, n) && why[n] == '=')
			return ui_fail(GT_EXIT_USAGE, "--%s %s", option_name(a, v->option),
				       why + n + 1);
	}
	return ui_fail(GT_EXIT_USAGE, "%s", why);
}

static int set_option(const struct soft_accelerator *a, int option, const char *value)
{
	const struct soft_variable *v = a->variables;
	char path[PATH_MAX];

	while (v->variable && v->option != option)
		v++;
	if (!v->variable) {
		if (a->set)
			a->set(option);
		return 0;
	}
	if (v->is_file) {
		if (!realpath(value, path) || access(path, R_OK))
			return ui_fail(GT_EXIT_FAILURE, "cannot read %s: %s", value,
				       strerror(errno));
		value = path;
	}
	setenv(v->variable, value ? value : v->value, 1);
	return 0;
}

int soft_become(char **argv)
{
	execvp(argv[0], argv);
	return ui_fail(errno == ENOENT ? GT_EXIT_NOT_FOUND : GT_EXIT_CANNOT_EXEC,
		       "cannot start %s: %s", argv[0], strerror(errno));
}

int soft_accelerator_run(const struct soft_accelerator *a, int argc, char **argv)
{
	int option, status;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+:h", a->options, NULL)) != -1) {
		if (option == 'h') {
			fputs(a->help, stdout);
			return GT_EXIT_OK;
		}
		if (option == '?' || option == ':')
			return ui_bad_option("soft", argv, a->options);
		status = set_option(a, option, optarg);
		if (status)
			return status;
	}
	if (optind == argc) {
		ui_fail(GT_EXIT_USAGE, "no program to run");
		fprintf(stderr, "  'gputap soft %s -- ./program'\n", a->name);
		return GT_EXIT_USAGE;
	}
	return a->start(argv + optind);
}
