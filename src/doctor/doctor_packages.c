/* SPDX-License-Identifier: MIT */
/* Names of packages in the distributions that gputap doctor knows. See doctor.h.
 *
 * Hints name Debian's packages. /etc/os-release says which distribution this is; the package
 * managers in PATH do not, because Debian packages dnf and zypper, and Fedora packages apt. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"

enum manager { APT, DNF, ZYPPER, PACMAN, MANAGER_COUNT, UNKNOWN = MANAGER_COUNT };

static const char *const commands[MANAGER_COUNT] = {
	[APT] = "apt install",
	[DNF] = "dnf install",
	[ZYPPER] = "zypper install",
	[PACMAN] = "pacman -S",
};

/* As in tools/packages; NULL: not packaged. */
static const char *const packages[][MANAGER_COUNT] = {
	{"clinfo", "clinfo", "clinfo", "clinfo"},
	{"hipcc", "hipcc", NULL, "hip-runtime-amd"},
	{"jq", "jq", "jq", "jq"},
	{"libamdhip64-dev", "rocm-hip-devel", NULL, "hip-runtime-amd"},
	{"libhsa-runtime-dev", "rocm-runtime-devel", NULL, "hsa-rocr"},
	{"libhsa-runtime64-1", "rocm-runtime", NULL, "hsa-rocr"},
	{"libze-dev", "oneapi-level-zero-devel", "level-zero-devel", "level-zero-headers"},
	{"libze1", "oneapi-level-zero", "libze_loader1", "level-zero-loader"},
	{"ocl-icd-libopencl1", "ocl-icd", "libOpenCL1", "ocl-icd"},
	{"pocl-opencl-icd", "pocl", "pocl", "pocl"},
	{"sqlite3", "sqlite", "sqlite3", "sqlite"},
};

static enum manager manager_of(const char *id)
{
	static const struct {
		const char *id;
		enum manager manager;
	} known[] = {
		{"debian", APT},  {"ubuntu", APT},  {"fedora", DNF},
		{"rhel", DNF},    {"centos", DNF},  {"opensuse", ZYPPER},
		{"suse", ZYPPER}, {"sles", ZYPPER}, {"arch", PACMAN},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(id, known[i].id))
			return known[i].manager;
	return UNKNOWN;
}

/* Find the manager of the first known word in ID, else in ID_LIKE: ID_LIKE="rhel fedora". */
static enum manager read_os_release(FILE *file)
{
	enum manager found = UNKNOWN, like = UNKNOWN;
	char line[512], *rest, *word;

	while (fgets(line, sizeof line, file)) {
		bool is_id = !strncmp(line, "ID=", 3);

		if (!is_id && strncmp(line, "ID_LIKE=", 8))
			continue;
		rest = strchr(line, '=') + 1;
		while ((word = strtok_r(rest, " \"'\n", &rest))) {
			enum manager m = manager_of(word);

			if (m != UNKNOWN && is_id)
				found = m;
			else if (m != UNKNOWN && like == UNKNOWN)
				like = m;
		}
	}
	return found != UNKNOWN ? found : like;
}

static enum manager find_manager(void)
{
	const char *given = getenv("GPUTAP_OS_RELEASE");
	FILE *file = fopen(given ? given : "/etc/os-release", "re");
	enum manager manager;

	if (!file && !given)
		file = fopen("/usr/lib/os-release", "re");
	if (!file)
		return UNKNOWN;
	manager = read_os_release(file);
	fclose(file);
	return manager;
}

/* Return the name of Debian's package @name, of @length bytes, with @manager; NULL: none. */
static const char *find_package(const char *name, size_t length, enum manager manager)
{
	for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
		if (strlen(packages[i][APT]) == length && !strncmp(packages[i][APT], name, length))
			return packages[i][manager];
	return NULL;
}

/* Append a word to the command, once. Return false if it does not fit. */
static bool add_word(char *text, size_t size, const char *word)
{
	size_t length = strlen(text);
	const char *there = strstr(text, word);
	char after = there ? there[strlen(word)] : 'x';

	if (there && there > text && there[-1] == ' ' && (after == ' ' || after == '\0'))
		return true;
	return (size_t)snprintf(text + length, size - length, " %s", word) < size - length;
}

static bool write_command(const char *names, enum manager manager, char *text, size_t size)
{
	snprintf(text, size, "%s", commands[manager]);
	for (size_t n; *names; names += n + strspn(names + n, " ")) {
		const char *package;

		n = strcspn(names, " ");
		package = find_package(names, n, manager);
		if (!package || !add_word(text, size, package))
			return false;
	}
	return true;
}

const char *doctor_install(const char *names, char *text, size_t size)
{
	enum manager manager = find_manager();

	if (manager == APT)
		snprintf(text, size, "%s %s", commands[APT], names);
	else if (manager == UNKNOWN || !write_command(names, manager, text, size))
		snprintf(text, size, "install what Debian packages as %s", names);
	return text;
}

void doctor_translate_hint(char *hint, size_t size)
{
	static const char begin[] = "apt install ";
	char names[256], command[256], rest[256];
	size_t length;

	if (strncmp(hint, begin, sizeof begin - 1))
		return;
	snprintf(names, sizeof names, "%s", hint + sizeof begin - 1);
	length = strcspn(names, ",;("); /* of the names; a remark follows */
	while (length && names[length - 1] == ' ')
		length--;
	snprintf(rest, sizeof rest, "%s", names + length);
	names[length] = '\0';
	doctor_install(names, command, sizeof command);
	snprintf(hint, size, "%.*s%s", (int)size, command, rest);
}
