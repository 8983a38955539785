/* SPDX-License-Identifier: MIT */
/* See address_space.h. Never here: malloc, locks, stdio, changes to errno. */
#include "util/address_space.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHARE = 8, HEADERS_MOST = 64 };

static bool read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return syscall(SYS_pread64, fd, to, bytes, (off_t)offset) == (long)bytes;
}

/* Return the number of bytes that the dynamic linker maps for the file in @fd: one range from the
 * first segment to the last. */
static uint64_t measure(int fd)
{
	uint64_t low = UINT64_MAX, high = 0;
	Elf64_Phdr p;
	Elf64_Ehdr e;

	if (!read_at(fd, &e, sizeof e, 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	for (unsigned i = 0; i < e.e_phnum && i < HEADERS_MOST; i++) {
		if (!read_at(fd, &p, sizeof p, e.e_phoff + i * sizeof p))
			break;
		if (p.p_type != PT_LOAD)
			continue;
		low = p.p_vaddr < low ? p.p_vaddr : low;
		high = p.p_vaddr + p.p_memsz > high ? p.p_vaddr + p.p_memsz : high;
	}
	return high > low ? high - low : 0;
}

bool gt_address_space_is_short(const char *const *paths, size_t count)
{
	struct rlimit limit;
	uint64_t bytes = 0;
	int saved = errno;

	if (syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		limit.rlim_cur = UINT64_MAX;
	for (size_t i = 0; i < count && limit.rlim_cur != UINT64_MAX; i++) {
		int fd = (int)syscall(SYS_openat, AT_FDCWD, paths[i], O_RDONLY | O_CLOEXEC, 0);

		bytes += fd >= 0 ? measure(fd) : 0;
		if (fd >= 0)
			syscall(SYS_close, fd);
	}
	errno = saved;
	return bytes > limit.rlim_cur / SHARE;
}
