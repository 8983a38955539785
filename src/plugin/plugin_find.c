/* SPDX-License-Identifier: MIT */
/* Finds plug-in files: first the files that the path names, then the files in the standard folders.
 * A file is refused if anyone but the process's user and root may write it, or replace it by
 * writing to one of the folders above it, because the plug-in's code would run with this process's
 * rights. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/plugin_parts.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

/* smallest user id whose group of the same number contains only that user */
enum { PRIVATE_GROUPS_FROM = 1000 };

static bool others_may_write(const struct stat *st, bool above)
{
	if (above && st->st_mode & S_ISVTX)
		return false; /* others cannot replace files of other users */
	if (st->st_mode & S_IWOTH)
		return true;
	return st->st_mode & S_IWGRP && st->st_gid &&
	       !(st->st_gid == st->st_uid && st->st_gid >= PRIVATE_GROUPS_FROM);
}

static bool is_unsafe_at(const char *path, bool above, char *why, size_t size)
{
	struct stat st;

	if (stat(path, &st)) {
		snprintf(why, size, "%s: %s", path, strerror(errno));
		return true;
	}
	if (st.st_uid && st.st_uid != geteuid()) {
		snprintf(why, size,
			 "%s belongs to user %u: it is not loaded into a program of user %u", path,
			 st.st_uid, geteuid());
		return true;
	}
	if (others_may_write(&st, above)) {
		snprintf(why, size, "other users can write %s: 'chmod go-w' it", path);
		return true;
	}
	return false;
}

bool gt_plugin_is_unsafe(const char *path, char *why, size_t size)
{
	char real[PATH_MAX];

	if (!realpath(path, real)) {
		snprintf(why, size, "%s", strerror(errno));
		return true;
	}
	if (is_unsafe_at(real, false, why, size))
		return true;
	for (char *slash = strrchr(real, '/'); slash && slash != real; slash = strrchr(real, '/')) {
		*slash = 0;
		if (is_unsafe_at(real, true, why, size))
			return true;
	}
	return is_unsafe_at("/", true, why, size);
}

static bool is_other_machine(const Elf64_Ehdr *head, char *why, size_t size)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {{EM_X86_64, "x86-64"},  {EM_AARCH64, "64-bit Arm"}, {EM_386, "32-bit x86"},
		     {EM_ARM, "32-bit Arm"}, {EM_PPC64, "64-bit Power"}, {EM_RISCV, "RISC-V"}};

#ifdef OWN_MACHINE
	if (head->e_machine == OWN_MACHINE && head->e_ident[EI_CLASS] == ELFCLASS64)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].machine == head->e_machine) {
			snprintf(why, size, "it is built for %s", names[i].name);
			return true;
		}
	snprintf(why, size, "it is built for another architecture (%u)", head->e_machine);
	return true;
#else
	return false;
#endif
}

/* Return true if the file is truncated, for example by an incomplete copy. The dynamic linker maps
 * segments without checking the file's size, so such a library kills the program. */
static bool is_cut(int fd, const Elf64_Ehdr *head, const struct stat *st)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; i < head->e_phnum; i++) {
		off_t at = (off_t)(head->e_phoff + i * sizeof segment);

		if (pread(fd, &segment, sizeof segment, at) != sizeof segment ||
		    segment.p_offset > (uint64_t)st->st_size ||
		    segment.p_filesz > (uint64_t)st->st_size - segment.p_offset)
			return true;
	}
	return false;
}

bool gt_plugin_is_no_library(const char *path, char *why, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;
	struct stat st;
	Elf64_Ehdr head;
	bool cut = false;

	if (fd >= 0) {
		got = fstat(fd, &st) ? -1 : read(fd, &head, sizeof head);
		cut = got == sizeof head && is_cut(fd, &head, &st);
		close(fd);
	}
	if (got < 0) {
		snprintf(why, size, "%s", strerror(errno));
		return true;
	}
	if ((size_t)got < sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG)) {
		snprintf(why, size, "it is not a shared library");
		return true;
	}
	if (is_other_machine(&head, why, size))
		return true;
	if (head.e_type != ET_DYN) {
		snprintf(why, size, "it is not a shared library, but a program or an object file");
		return true;
	}
	if (cut)
		snprintf(why, size, "the file is truncated: copy it again");
	return cut;
}

static int is_library_name(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && !strcmp(dot, ".so");
}

/* Look for plug-ins in @folder. @named: true if the user named the folder. In that case, a folder
 * without plug-ins is reported. */
static void look_into_folder(struct gt_plugin_seeker *seeker, const char *folder, bool named)
{
	struct dirent **entries;
	char path[PATH_MAX], why[PATH_MAX + 64];
	int n = scandir(folder, &entries, is_library_name, alphasort);

	if (n <= 0) {
		if (named)
			seeker->report(seeker, "no plug-in in %s: %s", folder,
				       n ? strerror(errno) : "no file there ends with .so");
		if (!n)
			free(entries);
		return;
	}
	if (gt_plugin_is_unsafe(folder, why, sizeof why)) {
		seeker->report(seeker, "plug-ins in %s are not loaded: %s", folder, why);
		seeker = NULL;
	}
	for (int i = 0; i < n; i++) {
		if (seeker && snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) <
				      (int)sizeof path)
			seeker->found(seeker, path);
		free(entries[i]);
	}
	free(entries);
}

static void look_at(struct gt_plugin_seeker *seeker, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		seeker->report(seeker, "no plug-in at %s: %s", path, strerror(errno));
	else if (S_ISDIR(st.st_mode))
		look_into_folder(seeker, path, true);
	else if (S_ISREG(st.st_mode))
		seeker->found(seeker, path);
	else
		seeker->report(seeker, "no plug-in at %s: it is neither a file nor a folder", path);
}

void gt_plugin_find(struct gt_plugin_seeker *seeker, const char *path, bool standard_folders)
{
	const char *home = getauxval(AT_SECURE) ? NULL : getenv("HOME");
	char part[PATH_MAX];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		if (n >= sizeof part)
			seeker->report(seeker, "no plug-in: its path of %zu bytes is too long", n);
		else if (n) {
			memcpy(part, path, n);
			part[n] = 0;
			look_at(seeker, part);
		}
		path += n + (path[n] == ':');
	}
	if (!standard_folders)
		return;
	look_into_folder(seeker, "/usr/lib/kineto/plugins", false);
	look_into_folder(seeker, "/usr/local/lib/kineto/plugins", false);
	if (home && *home == '/' &&
	    snprintf(part, sizeof part, "%s/.local/lib/kineto/plugins", home) < (int)sizeof part)
		look_into_folder(seeker, part, false);
}
