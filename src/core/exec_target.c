/* SPDX-License-Identifier: MIT */
/* Examines a program's file: privileges, word size, dynamic or static linking, musl's C library.
 * Follows as many levels of "#!" as the kernel. Also checks the arguments that the program passes
 * to exec. */
#include "core/exec_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/seccomp.h"
#include "util/dynamic_linker.h"

#if defined(__x86_64__)
enum { OUR_MACHINE = EM_X86_64, OUR_BYTE_ORDER = ELFDATA2LSB };
#elif defined(__aarch64__)
enum { OUR_MACHINE = EM_AARCH64, OUR_BYTE_ORDER = ELFDATA2LSB };
#endif

enum { PAGE = 4096, NO_PAGE = 1, KERNEL_SIGSET_BYTES = 8 };
enum {
	HEAD_BYTES = 512,
	PROGRAM_HEADERS = 32,
	FILES = 6, /* the kernel's limit: five scripts, and the interpreter of the last script */
	OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
};

union head {
	Elf64_Ehdr elf;
	Elf32_Ehdr elf32;
	char text[HEAD_BYTES];
};

static const char privileged[] =
	"it gains privileges (set-user-ID, set-group-ID or file capabilities)";
static const char other_machine[] = "it is built for another architecture or word size";
static const char other_machine_static[] =
	"it is built for another architecture or word size, and statically linked";
static const char musl[] = "it uses the musl C library, which cannot load gputap's libraries";
static const char is_static[] = "it is statically linked";

/* Return true for file capabilities that set AT_SECURE. Effective capabilities set AT_SECURE even
 * if the kernel does not grant them (no_new_privs). Other capabilities set AT_SECURE only if the
 * kernel grants them. */
static bool has_capabilities(int fd, bool granted)
{
	/* struct vfs_ns_cap_data: flags, then permitted and inheritable, twice */
	uint32_t words[6] = {0};

	if (fgetxattr(fd, "security.capability", words, sizeof words) <= 0)
		return false;
	return words[0] & VFS_CAP_FLAGS_EFFECTIVE || (granted && (words[1] | words[3]));
}

/* Return true if the kernel sets AT_SECURE, so that ld.so ignores LD_PRELOAD and LD_AUDIT. */
static bool gains_privileges(int fd)
{
	/* a seccomp filter usually comes with no_new_privs, and may kill the process for calling
	 * prctl() */
	bool granted = !gt_seccomp_is_filtered() &&
		       syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
	struct statvfs fs;
	struct stat st;

	if (fstat(fd, &st) != 0 || (fstatvfs(fd, &fs) == 0 && fs.f_flag & ST_NOSUID))
		return false;
	if (granted && (st.st_mode & S_ISUID) && st.st_uid != getuid())
		return true;
	if (granted && (st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    st.st_gid != getgid())
		return true;
	return getuid() != 0 && has_capabilities(fd, granted);
}

/* Works for both ELF classes, because every program header starts with its type. */
static bool has_interpreter(int fd, uint64_t offset, size_t count, size_t bytes)
{
	uint32_t type; /* one word per read, because the stack may be small */

	for (size_t i = 0; i < count && i < PROGRAM_HEADERS; i++)
		if (syscall(SYS_pread64, fd, &type, sizeof type, (off_t)(offset + i * bytes)) ==
			    sizeof type &&
		    type == PT_INTERP)
			return true;
	return false;
}

/* Return the obstacle in a program of another word size or machine. The obstacle depends on whether
 * the program has a dynamic linker, which would complain about gputap's libraries. With the other
 * byte order, assume a dynamic linker. */
static const char *look_at_foreign(int fd, const union head *h)
{
	bool has =
		h->elf.e_ident[EI_CLASS] == ELFCLASS32
			? has_interpreter(fd, h->elf32.e_phoff, h->elf32.e_phnum,
					  sizeof(Elf32_Phdr))
			: has_interpreter(fd, h->elf.e_phoff, h->elf.e_phnum, sizeof(Elf64_Phdr));

	return has || h->elf.e_ident[EI_DATA] != OUR_BYTE_ORDER ? other_machine
								: other_machine_static;
}

/* Read the path of @fd from /proc, truncated to @room bytes. */
static void read_file_name(int fd, char *out, size_t room)
{
	char link[32] = "/proc/self/fd/", digits[12], *d = digits + sizeof digits;
	unsigned number = (unsigned)fd;
	long n;

	do
		*--d = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	memcpy(link + strlen(link), d, (size_t)(digits + sizeof digits - d));
	n = syscall(SYS_readlinkat, AT_FDCWD, link, out, room - 1);
	out[n > 0 ? n : 0] = '\0';
}

/* Examine a program for this machine. The name of the program's dynamic linker decides, or the name
 * of the program itself, because `ld.so PROGRAM` is equivalent to PROGRAM. Overwrites @head. */
static const char *look_at_native(int fd, union head *head)
{
	uint64_t offset = head->elf.e_phoff;
	size_t count = head->elf.e_phnum, length;
	Elf64_Phdr p = {.p_type = PT_NULL};
	enum gt_dynamic_linker linker;
	long n;

	for (size_t i = 0; i < count && i < PROGRAM_HEADERS && p.p_type != PT_INTERP; i++)
		if (syscall(SYS_pread64, fd, &p, sizeof p, (off_t)(offset + i * sizeof p)) !=
		    sizeof p)
			p.p_type = PT_NULL;
	if (p.p_type == PT_INTERP) {
		length = p.p_filesz < HEAD_BYTES ? p.p_filesz : HEAD_BYTES - 1;
		n = syscall(SYS_pread64, fd, head->text, length, (off_t)p.p_offset);
		head->text[n > 0 ? n : 0] = '\0';
		return gt_dynamic_linker_of(head->text) == GT_LINKER_MUSL ? musl : NULL;
	}
	read_file_name(fd, head->text, HEAD_BYTES);
	linker = gt_dynamic_linker_of(head->text);
	return linker == GT_LINKER_MUSL ? musl : linker == GT_LINKER_GLIBC ? NULL : is_static;
}

/* Open the interpreter of the script in @line. Return -1 if there is none. */
static int open_interpreter(char *line)
{
	char *start = line + 2, *end;

	start += strspn(start, " \t");
	end = start + strcspn(start, " \t\n");
	if (*end == '\0' || end == start)
		return -1;
	*end = '\0';
	return (int)syscall(SYS_openat, AT_FDCWD, start, OPEN_FLAGS, 0);
}

static const char *inspect_image(int fd, union head *head, ssize_t n)
{
	if (gains_privileges(fd))
		return privileged;
	if (n < (ssize_t)sizeof head->elf || memcmp(head->elf.e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (head->elf.e_ident[EI_CLASS] != ELFCLASS64 || head->elf.e_machine != OUR_MACHINE)
		return look_at_foreign(fd, head);
	return look_at_native(fd, head);
}

static const char *inspect_program(int fd)
{
	const char *why = NULL;
	union head head;
	int own = fd;

	for (int i = 0; i < FILES && own >= 0; i++) {
		ssize_t n = syscall(SYS_pread64, own, &head, sizeof head - 1, (off_t)0);
		int next = -1;

		head.text[n > 0 ? n : 0] = '\0';
		/* the kernel ignores the privileges of scripts */
		if (head.text[0] == '#' && head.text[1] == '!')
			next = open_interpreter(head.text);
		else if (n >= 4)
			why = inspect_image(own, &head, n);
		if (own != fd)
			syscall(SYS_close, own);
		own = next;
	}
	if (own >= 0 && own != fd)
		syscall(SYS_close, own);
	return why;
}

/* Page that was last found to be readable. */
struct readable {
	uintptr_t page;
};

/* Return true if the address is readable. The kernel copies the set before it checks the first
 * argument, which is invalid, so the call fails with EFAULT or EINVAL and changes nothing.
 * (Sandboxes allow this call, because libc uses it everywhere. access() would look up the text as a
 * file name.) */
static bool is_readable(struct readable *last, const void *at)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)(PAGE - 1);

	if (page == last->page)
		return true;
	if (!page || (syscall(SYS_rt_sigprocmask, -1, page, NULL, KERNEL_SIGSET_BYTES) != 0 &&
		      errno == EFAULT))
		return false;
	last->page = page;
	return true;
}

static bool is_text_readable(struct readable *last, const char *text)
{
	for (;;) {
		size_t rest = PAGE - ((uintptr_t)text & (PAGE - 1));

		if (!is_readable(last, text))
			return false;
		if (memchr(text, '\0', rest))
			return true;
		text += rest;
	}
}

bool gt_exec_is_readable(char *const *list)
{
	struct readable slots = {NO_PAGE}, texts = {NO_PAGE};
	int saved = errno;
	bool readable = true;

	for (; list && readable; list++) {
		readable = is_readable(&slots, list) &&
			   is_readable(&slots, (const char *)(list + 1) - 1);
		if (!readable || !*list)
			break;
		readable = is_text_readable(&texts, *list);
	}
	errno = saved;
	return readable;
}

int gt_exec_open(int fd, const char *path)
{
	int saved = errno, own = (int)syscall(SYS_openat, fd, path, OPEN_FLAGS, 0);

	errno = saved;
	return own;
}

const char *gt_exec_obstacle(int fd)
{
	int saved = errno;
	const char *why = inspect_program(fd);

	errno = saved;
	return why;
}

int gt_exec_loss(const char *obstacle)
{
	return obstacle == privileged ? EPERM
	       : obstacle == other_machine || obstacle == other_machine_static || obstacle == musl
		       ? ENOEXEC
		       : 0;
}

bool gt_exec_complains(const char *obstacle)
{
	return obstacle == other_machine || obstacle == musl;
}
