/* SPDX-License-Identifier: MIT */
/* See own_memory.h. The kernel copies up to the first page of an entry that cannot be read, and
 * then stops: the first entry therefore ends with its page. */
#include "core/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/elf.h"

bool gt_own_memory_refused(ssize_t result)
{
	return result < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES);
}

static ssize_t read_by_file(uintptr_t from, void *to, size_t bytes)
{
	const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : pread(fd, to, bytes, (off_t)from);
	const int saved = fd < 0 ? EACCES : errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return got;
}

ssize_t gt_own_memory_read(uintptr_t from, void *to, size_t bytes)
{
	const size_t page = GT_ELF_PAGE - from % GT_ELF_PAGE, first = page < bytes ? page : bytes;
	const struct iovec local = {to, bytes},
			   remote[] = {{(void *)from, first},
				       {(void *)(from + first), bytes - first}};
	const ssize_t got = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1UL, remote,
				    bytes > first ? 2UL : 1UL, 0UL);

	return gt_own_memory_refused(got) ? read_by_file(from, to, bytes) : got;
}
