/* SPDX-License-Identifier: MIT */
/* Determines the kind of program that is about to run: see target.h. */
#include "collector/target.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "collector/environment.h"
#include "util/address_space.h"
#include "util/dynamic_linker.h"
#include "util/static_tls.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OUR_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OUR_MACHINE EM_PPC64
#else
#define OUR_MACHINE EM_NONE
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_BYTE_ORDER ELFDATA2LSB
#else
#define OUR_BYTE_ORDER ELFDATA2MSB
#endif

static bool is_program(const char *path, bool *found)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	*found = true;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Resolve @program like execvp(): a name with a slash is a path; any other name is looked up along
 * PATH. */
static void resolve(const char *program, struct gt_target *t)
{
	const char *path = getenv("PATH");
	char candidate[PATH_MAX];

	if (strchr(program, '/')) {
		snprintf(t->path, sizeof t->path, "%s", program);
		t->executable = is_program(program, &t->found);
		return;
	}
	if (!*program)
		return;
	for (path = path ? path : "/bin:/usr/bin";; path++) {
		size_t n = strcspn(path, ":");
		bool found = false;

		if (snprintf(candidate, sizeof candidate, "%.*s%s%s", (int)n, path, n ? "/" : "",
			     program) < (int)sizeof candidate &&
		    is_program(candidate, &found)) {
			strcpy(t->path, candidate);
			t->found = t->executable = true;
			return;
		}
		/* the file exists but is not executable. It is the result unless a later candidate
		 * is executable */
		if (found && !t->found) {
			strcpy(t->path, candidate);
			t->found = true;
		}
		path += n;
		if (!*path)
			return;
	}
}

/* Like has_capabilities() of core/exec_target.c. */
static bool has_capabilities(int fd, bool granted)
{
	uint32_t words[6] = {0};

	if (fgetxattr(fd, "security.capability", words, sizeof words) <= 0)
		return false;
	return le32toh(words[0]) & VFS_CAP_FLAGS_EFFECTIVE || (granted && (words[1] | words[3]));
}

static bool is_privileged(int fd)
{
	bool granted = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
	struct statvfs fs;
	struct stat st;

	if (fstat(fd, &st) || (fstatvfs(fd, &fs) == 0 && fs.f_flag & ST_NOSUID))
		return false;
	return (granted && (st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	       (granted && (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
		st.st_gid != getegid()) ||
	       (geteuid() != 0 && has_capabilities(fd, granted));
}

/* Return true if a program for another word size or machine has a dynamic linker. In both ELF
 * classes, a program header starts with its type. With the other byte order, a dynamic linker is
 * assumed. */
static bool has_foreign_linker(int fd, const unsigned char *head)
{
	const Elf32_Ehdr *e32 = (const void *)head;
	const Elf64_Ehdr *e64 = (const void *)head;
	bool is_32 = head[EI_CLASS] == ELFCLASS32;
	uint64_t offset = is_32 ? e32->e_phoff : e64->e_phoff,
		 bytes = is_32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	unsigned count = is_32 ? e32->e_phnum : e64->e_phnum;
	uint32_t type;

	if (head[EI_DATA] != OUR_BYTE_ORDER)
		return true;
	for (unsigned i = 0; i < count; i++) {
		if (pread(fd, &type, sizeof type, (off_t)(offset + i * bytes)) != sizeof type)
			break;
		if (type == PT_INTERP)
			return true;
	}
	return false;
}

static enum gt_target_obstacle look_at_elf(int fd, const unsigned char *head, ssize_t n,
					   bool *complains)
{
	const Elf64_Ehdr *e = (const void *)head;
	enum gt_dynamic_linker linker = GT_LINKER_UNKNOWN;
	bool has_interpreter = false;
	struct gt_static_tls tls;
	char name[PATH_MAX];

	if (n < (ssize_t)sizeof *e)
		return GT_TARGET_NONE;
	if (head[EI_CLASS] == ELFCLASS32 ||
	    (OUR_MACHINE != EM_NONE && e->e_machine != OUR_MACHINE)) {
		*complains = has_foreign_linker(fd, head);
		return head[EI_CLASS] == ELFCLASS32 ? GT_TARGET_32BIT : GT_TARGET_MACHINE;
	}
	for (unsigned i = 0; i < e->e_phnum; i++) {
		Elf64_Phdr p;

		if (pread(fd, &p, sizeof p, (off_t)(e->e_phoff + (uint64_t)i * e->e_phentsize)) !=
		    sizeof p)
			break;
		if (p.p_type != PT_INTERP)
			continue;
		has_interpreter = true;
		n = pread(fd, name, p.p_filesz < sizeof name - 1 ? p.p_filesz : sizeof name - 1,
			  (off_t)p.p_offset);
		name[n > 0 ? n : 0] = '\0';
		linker = gt_dynamic_linker_of(name);
	}
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (!has_interpreter) { /* `ld.so prog` is equivalent to `prog` */
		char path[PATH_MAX];

		n = readlink(name, path, sizeof path - 1);
		path[n > 0 ? n : 0] = '\0';
		linker = gt_dynamic_linker_of(path);
	}
	if (!has_interpreter && linker == GT_LINKER_UNKNOWN)
		return GT_TARGET_STATIC;
	if (linker == GT_LINKER_MUSL) {
		*complains = true;
		return GT_TARGET_MUSL;
	}
	return gt_static_tls_look(fd, environ, NULL, &tls) && gt_static_tls_is_hopeless(&tls)
		       ? GT_TARGET_ALIGNMENT
		       : GT_TARGET_NONE;
}

/* Get the path after "#!". Return false if there is no path. */
static bool script_interpreter(const unsigned char *head, ssize_t n, char *out, size_t room)
{
	const char *p = (const char *)head + 2;
	size_t length;

	if (n < 3 || head[0] != '#' || head[1] != '!')
		return false;
	p += strspn(p, " \t");
	length = strcspn(p, " \t\n\r");
	return length && snprintf(out, room, "%.*s", (int)length, p) < (int)room;
}

static enum gt_target_obstacle look_at_file(const char *path, struct gt_target *t, int depth)
{
	unsigned char head[512] = {0};
	enum gt_target_obstacle obstacle = GT_TARGET_NONE;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		/* the file is executable but not readable, so exec still works */
		return GT_TARGET_NONE;
	n = read(fd, head, sizeof head - 1);
	if (n > SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
		obstacle = is_privileged(fd) ? GT_TARGET_PRIVILEGED
					     : look_at_elf(fd, head, n, &t->complains);
	else if (depth < 4 && script_interpreter(head, n, t->interpreter, sizeof t->interpreter))
		obstacle = look_at_file(t->interpreter, t, depth + 1);
	close(fd);
	return obstacle;
}

void gt_target_look(const char *program, struct gt_target *out)
{
	memset(out, 0, sizeof *out);
	resolve(program, out);
	if (out->executable)
		out->obstacle = look_at_file(out->path, out, 0);
}

void gt_target_look_with(const char *program, const struct gt_libraries *libraries,
			 struct gt_target *out)
{
	const char *const paths[] = {libraries->inject, libraries->audit};

	gt_target_look(program, out);
	if (out->executable && !out->obstacle && gt_address_space_is_short(paths, 2)) {
		out->obstacle = GT_TARGET_ADDRESS_SPACE;
		out->complains = true;
	}
}

const char *gt_target_reason(enum gt_target_obstacle obstacle)
{
	switch (obstacle) {
	case GT_TARGET_PRIVILEGED:
		return "it runs with extra privileges (set-user-id, set-group-id or file "
		       "capabilities), so the dynamic linker does not preload libraries";
	case GT_TARGET_STATIC:
		return "it is statically linked, so no dynamic linker can load other libraries";
	case GT_TARGET_32BIT: return "it is a 32-bit program and gputap's libraries are 64-bit";
	case GT_TARGET_MACHINE: return "it is built for another architecture";
	case GT_TARGET_MUSL:
		return "it uses the musl C library, which cannot load gputap's libraries";
	case GT_TARGET_ALIGNMENT:
		return "its libraries' thread-local storage is aligned to more than 64 bytes, "
		       "which glibc refuses with an auditor; only runtimes that need no auditor "
		       "are traced (OpenCL layers, ROCm 6)";
	case GT_TARGET_ADDRESS_SPACE: return GT_ADDRESS_SPACE_SHORT;
	case GT_TARGET_NONE: break;
	}
	return NULL;
}
