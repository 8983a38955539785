/* SPDX-License-Identifier: MIT */
/* Finds gputap's libraries and composes the program's environment: see environment.h. */
#include "collector/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/target.h"
#include "config.h"
#include "generated/substitutes.h"
#include "record/variable.h"
#include "ring/session.h"
#include "util/error.h"
#include "util/static_tls.h"

#define INJECT_NAME      "libgputap.so.0"
#define AUDIT_NAME       "libgputap-audit.so"
#define LIBRARY_PATH_ENV "GPUTAP_LIBRARY_PATH"
/* where the dynamic linker splits LD_PRELOAD and LD_AUDIT; it supports no quotes */
#define SEPARATORS       " :"
#define LINK_NAME        "lib"

/* Find the library in an installed location, or in a build folder. */
static void find_compat(const char *directory, size_t n, struct gt_libraries *out)
{
	static const char *const folders[] = {"gputap", GT_SUBSTITUTES_FOLDER};
	char library[PATH_MAX + 64];

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(library, sizeof library, "%.*s/%s/" GT_SUBSTITUTES_FILE, (int)n, directory,
			 folders[i]);
		if (access(library, R_OK) == 0 &&
		    snprintf(out->compat, sizeof out->compat, "%.*s/%s", (int)n, directory,
			     folders[i]) < (int)sizeof out->compat)
			return;
	}
	out->compat[0] = '\0';
}

static int try_directory(const char *directory, size_t n, struct gt_libraries *out)
{
	if (!n ||
	    snprintf(out->inject, sizeof out->inject, "%.*s/" INJECT_NAME, (int)n, directory) >=
		    (int)sizeof out->inject ||
	    snprintf(out->audit, sizeof out->audit, "%.*s/" AUDIT_NAME, (int)n, directory) >=
		    (int)sizeof out->audit)
		return -1;
	if (access(out->inject, R_OK) || access(out->audit, R_OK))
		return -1;
	find_compat(directory, n, out);
	return 0;
}

int gt_libraries_find(struct gt_libraries *out)
{
	const char *list = getenv(LIBRARY_PATH_ENV);
	char self[PATH_MAX], beside[PATH_MAX + sizeof "/" GPUTAP_LIBDIR_FROM_BINDIR],
		installed[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const bool has_self = n > 0;

	if (has_self) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		if (!try_directory(self, strlen(self), out))
			return 0;
		/* an installed copy, even if it was moved afterwards */
		snprintf(beside, sizeof beside, "%s/" GPUTAP_LIBDIR_FROM_BINDIR, self);
		if (realpath(beside, installed) &&
		    !try_directory(installed, strlen(installed), out))
			return 0;
	} else if (!try_directory(GPUTAP_LIBDIR, strlen(GPUTAP_LIBDIR), out)) {
		return 0; /* not if an incomplete copy elsewhere could take another version's */
	}
	while (list && *list) {
		n = (ssize_t)strcspn(list, ":");
		if (list[0] == '/' && !try_directory(list, (size_t)n, out))
			return 0;
		list += n + (list[n] == ':');
	}
	return gt_error(
		0,
		"this gputap is not installed completely: " INJECT_NAME " and " AUDIT_NAME
		" must be in %s; install it again, or name their folder in " LIBRARY_PATH_ENV,
		has_self ? beside : GPUTAP_LIBDIR);
}

/* Replace the folder, which has @n bytes, at the start of @path. */
static int replace_folder(char path[PATH_MAX], size_t n, const char *folder)
{
	char old[PATH_MAX];

	memcpy(old, path, PATH_MAX);
	if (!old[0] || snprintf(path, PATH_MAX, "%s%s", folder, old + n) < PATH_MAX)
		return 0;
	return gt_error(-ENAMETOOLONG, "the path %s%s is too long", folder, old + n);
}

int gt_libraries_link(struct gt_libraries *l, const char *folder)
{
	const size_t n = (size_t)(strrchr(l->inject, '/') - l->inject);
	char directory[PATH_MAX], link[PATH_MAX];
	int status;

	if (!l->inject[strcspn(l->inject, SEPARATORS)])
		return 0;
	if (folder[strcspn(folder, SEPARATORS)])
		return gt_error(-EINVAL,
				"LD_PRELOAD allows no space or colon, which are in the paths %s "
				"and %s: set TMPDIR to a folder without them, or make room in "
				"/dev/shm",
				l->inject, folder);
	memcpy(directory, l->inject, n);
	directory[n] = '\0';
	if (snprintf(link, sizeof link, "%s/" LINK_NAME, folder) >= (int)sizeof link)
		return gt_error(-ENAMETOOLONG, "the path %s/" LINK_NAME " is too long", folder);
	if (symlink(directory, link))
		return gt_error(-errno, "cannot create the symbolic link %s", link);
	status = replace_folder(l->inject, n, link);
	if (!status)
		status = replace_folder(l->audit, n, link);
	return status ? status : replace_folder(l->compat, n, link);
}

static const char *get_value(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; *environment; environment++)
		if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

static const char *value_or(char *const *environment, const char *name, const char *otherwise)
{
	const char *value = get_value(environment, name);

	return value ? value : otherwise;
}

/* Return true if the element of @n bytes is the file @ours, or the same file of another gputap, for
 * example of another version. One process cannot use both. */
static bool is_ours(const char *element, size_t n, const char *ours)
{
	const char *name = strrchr(ours, '/');
	const size_t bytes = name ? strlen(name) : strlen(ours);

	if (name && n >= bytes)
		return !strncmp(element + n - bytes, name, bytes);
	return n == strlen(ours) && !strncmp(element, ours, n);
}

/* Return true if the file @other exists and is not this gputap's library. */
static bool is_another(const struct gt_libraries *l, const char *other)
{
	struct stat ours, theirs;

	return !stat(l->inject, &ours) && !stat(other, &theirs) &&
	       (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino);
}

bool gt_libraries_find_other(const struct gt_libraries *l, char other[PATH_MAX])
{
	const char *list = getenv("LD_PRELOAD");

	while (list && *list) {
		const size_t n = strcspn(list, SEPARATORS);

		if (n < PATH_MAX && is_ours(list, n, l->inject)) {
			memcpy(other, list, n);
			other[n] = '\0';
			if (is_another(l, other))
				return true;
		}
		list += n + (list[n] != '\0');
	}
	return false;
}

bool gt_libraries_find_shadowed(const struct gt_libraries *l, char other[PATH_MAX])
{
	const char *list = getenv("LD_LIBRARY_PATH");

	while (list && *list) {
		const size_t n = strcspn(list, ":;");

		if (n && n < PATH_MAX - sizeof INJECT_NAME &&
		    snprintf(other, PATH_MAX, "%.*s/" INJECT_NAME, (int)n, list) < PATH_MAX &&
		    is_another(l, other))
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

/* Return "@name=@first:@rest". If the user's list contains @ours already (gputap in gputap), or
 * that file of another gputap, it is removed from the list. */
static char *list_variable(const char *name, const char *ours, const char *users, bool ours_first)
{
	size_t room = strlen(name) + strlen(ours) + (users ? strlen(users) : 0) + 4;
	char *text = malloc(room), *rest = malloc(room), *end = rest;

	if (!text || !rest) {
		free(text);
		free(rest);
		return NULL;
	}
	*end = '\0';
	while (users && *users) {
		size_t n = strcspn(users, ": ");

		if (n && !is_ours(users, n, ours))
			end += sprintf(end, "%s%.*s", end == rest ? "" : ":", (int)n, users);
		users += n + (users[n] != '\0');
	}
	if (end == rest)
		sprintf(text, "%s=%s", name, ours);
	else if (ours_first)
		sprintf(text, "%s=%s:%s", name, ours, rest);
	else
		sprintf(text, "%s=%s:%s", name, rest, ours);
	free(rest);
	return text;
}

static char *variable(const char *name, const char *value)
{
	char *text = malloc(strlen(name) + strlen(value) + 2);

	if (text)
		sprintf(text, "%s=%s", name, value);
	return text;
}

/* Return a list that ends with @last, to which the runtime reports which of the user's libraries
 * failed. The user's text stays unchanged, because ROCr interprets quotes and backslashes in it.
 * gputap gets the tables first, so the user's tools are in front of gputap and see the same calls
 * as without gputap. */
static char *list_around(const struct gt_variable *v, const char *ours, const char *users,
			 const char *last)
{
	char *text = NULL;

	if (!users || !*users)
		return variable(v->name, ours);
	if (strstr(users, ours)) /* this gputap runs under another gputap */
		return variable(v->name, users);
	return asprintf(&text, "%s=%s%c%s%c%s", v->name, ours, v->separator, users, v->separator,
			last) < 0
		       ? NULL
		       : text;
}

/* Return a runtime's variable with its value. */
static char *runtime_variable(const struct gt_variable *v, char *const *base,
			      const struct gt_libraries *l)
{
	const char *users = get_value(base, v->name);

	switch (v->kind) {
	case GT_VARIABLE_LIST:
		return v->ends ? list_around(v, l->inject, users, l->audit)
			       : list_variable(v->name, l->inject, users, true);
	case GT_VARIABLE_VALUE: return variable(v->name, v->value);
	case GT_VARIABLE_LIBRARY: return variable(v->name, users ? users : l->inject);
	case GT_VARIABLE_DEFAULT:
		return variable(v->name, users                                   ? users
					 : v->other && get_value(base, v->other) ? v->with_value
										 : v->value);
	}
	return NULL;
}

/* Return a variable that holds a copy. For a list, the copy is the complete list that the program
 * gets (@text: "NAME=list"). For a value, the copy is the user's original, even under another
 * gputap. */
static char *saved_variable(const struct gt_variable *v, char *const *base, const char *text)
{
	if (v->kind == GT_VARIABLE_LIST)
		return text ? variable(v->saved, strchr(text, '=') + 1) : NULL;
	return variable(v->saved, value_or(base, v->saved, value_or(base, v->name, "")));
}

static bool is_replaced(const char *entry, char *const *set, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strcspn(set[i], "=") + 1;

		if (!strncmp(entry, set[i], n))
			return true;
	}
	return false;
}

/* Return "GLIBC_TUNABLES=theirs:ours", with the static thread-local storage that the program needs
 * together with an auditor. The program's children get their own value: core/exec_environment.c. */
static char *tunables_variable(char *const *base, const struct gt_static_tls *tls)
{
	const char *theirs = get_value(base, "GLIBC_TUNABLES"),
		   *asked = theirs ? strstr(theirs, GT_STATIC_TLS_TUNABLE) : NULL;
	char ours[64], *rest = NULL, *text;

	snprintf(ours, sizeof ours, GT_STATIC_TLS_TUNABLE "%llu",
		 (unsigned long long)gt_static_tls_room(tls, gt_static_tls_asked(theirs)));
	if (asked && asprintf(&rest, "%.*s%s", (int)(asked - theirs), theirs,
			      asked + strcspn(asked, ":")) < 0)
		return NULL;
	text = list_variable("GLIBC_TUNABLES", ours, asked ? rest : theirs, false);
	free(rest);
	return text;
}

static void look_at_storage(const char *program, char *const *base, const char *inject,
			    struct gt_static_tls *out)
{
	int fd = program ? open(program, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;

	memset(out, 0, sizeof *out);
	if (fd < 0)
		return;
	gt_static_tls_look(fd, base, inject, out);
	close(fd);
}

/* Add the variables of the runtimes to @set. Return the number of added variables. */
static size_t set_runtimes_variables(uint64_t domains, char *const *base,
				     const struct gt_libraries *l, char **set)
{
	const bool has_tools = *value_or(base, "GPUTAP_TOOLS", "") != '\0';
	size_t count = 0;

	for (const struct gt_variable *v = gt_variables; v < gt_variables + GT_VARIABLE_COUNT;
	     v++) {
		char *text;

		if (!has_tools && !(v->domains & domains))
			continue;
		text = set[count++] = runtime_variable(v, base, l);
		if (v->saved)
			set[count++] = saved_variable(v, base, text);
	}
	return count;
}

/* Add the variables that load gputap's libraries into the program to @set. Return the number of
 * added variables. */
static size_t set_library_variables(uint64_t domains, char *const *base,
				    const struct gt_libraries *l, const struct gt_target *target,
				    char **set)
{
	struct gt_static_tls tls;
	size_t set_count;

	look_at_storage(target->executable ? target->path : NULL, base, l->inject, &tls);
	set_count = set_runtimes_variables(domains, base, l, set);
	/* Options for AddressSanitizer, in one element of the list. gcc's AddressSanitizer ends a
	 * program in which it is not the first library; under gputap, gputap's library is first,
	 * which is harmless. The leak detector reads a header before thread-local storage, which is
	 * missing when the dynamic linker has an auditor. */
	set[set_count++] =
		list_variable("ASAN_OPTIONS", "verify_asan_link_order=0,intercept_tls_get_addr=0",
			      get_value(base, "ASAN_OPTIONS"), false);
	set[set_count++] = tunables_variable(base, &tls);
	set[set_count++] = variable("GPUTAP_COMPAT", l->compat);
	set[set_count++] = variable(GT_AUDIT_ENV, l->audit);
	if (!target->complains) {
		set[set_count++] =
			list_variable("LD_PRELOAD", l->inject, get_value(base, "LD_PRELOAD"), true);
		set[set_count++] = gt_static_tls_is_hopeless(&tls)
					   ? variable("LD_AUDIT", value_or(base, "LD_AUDIT", ""))
					   : list_variable("LD_AUDIT", l->audit,
							   get_value(base, "LD_AUDIT"), false);
	}
	return set_count;
}

int gt_environment_make(char *const *base, const struct gt_libraries *l, const char *folder,
			uint64_t domains, const struct gt_target *target, char ***out)
{
	char *set[7 + 2 * GT_VARIABLE_COUNT];
	char **all = NULL;
	size_t set_count = 0, count = 0, n = 0;
	bool good = true;

	set[set_count++] = variable(GT_SESSION_ENV, folder);
	if (target->obstacle != GT_TARGET_ADDRESS_SPACE)
		set_count += set_library_variables(domains, base, l, target, set + set_count);
	for (size_t i = 0; i < set_count; i++)
		good = good && set[i];
	while (base[count])
		count++;
	if (good)
		all = calloc(count + set_count + 1, sizeof *all);
	for (size_t i = 0; all && i < count; i++)
		if (!is_replaced(base[i], set, set_count)) {
			all[n] = strdup(base[i]);
			good = good && all[n++];
		}
	for (size_t i = 0; i < set_count; i++)
		if (all)
			all[n++] = set[i];
		else
			free(set[i]);
	if (!all || !good) {
		gt_environment_free(all);
		return gt_error(-ENOMEM, "no memory for the program's environment");
	}
	*out = all;
	return 0;
}

void gt_environment_free(char **environment)
{
	for (size_t i = 0; environment && environment[i]; i++)
		free(environment[i]);
	free(environment);
}
