/* SPDX-License-Identifier: MIT */
/* Preloaded into the gputap command: makes the FAIL_NTH-th allocation (FAIL_KIND=memory) or write
 * to a file (FAIL_KIND=write) fail. At exit it writes the number of allocations or writes to the
 * file FAIL_COUNT. */
#undef _FILE_OFFSET_BITS /* pwrite() and pwrite64() need two separate names here */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static _Atomic unsigned long count;
static unsigned long nth;
static char kind;

__attribute__((constructor)) static void begin(void)
{
	const char *value = getenv("FAIL_NTH");

	nth = value ? strtoul(value, NULL, 10) : 0;
	value = getenv("FAIL_KIND");
	kind = value ? value[0] : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	char text[32];
	int n = snprintf(text, sizeof text, "%lu", atomic_load(&count));
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	kind = 0;
	if (fd >= 0 && syscall(SYS_write, fd, text, n) == n)
		close(fd);
}

static int fails(char what)
{
	return kind == what && atomic_fetch_add(&count, 1) + 1 == nth;
}

void *malloc(size_t bytes)
{
	if (!fails('m'))
		return __libc_malloc(bytes);
	errno = ENOMEM;
	return NULL;
}

void *calloc(size_t n, size_t bytes)
{
	if (!fails('m'))
		return __libc_calloc(n, bytes);
	errno = ENOMEM;
	return NULL;
}

void *realloc(void *old, size_t bytes)
{
	if (!fails('m'))
		return __libc_realloc(old, bytes);
	errno = ENOMEM;
	return NULL;
}

/* Fail as on a full disk. Writes to descriptors 0 to 2 never fail. */
static int full(int fd)
{
	if (fd <= 2 || !fails('w'))
		return 0;
	errno = ENOSPC;
	return 1;
}

ssize_t write(int fd, const void *data, size_t bytes)
{
	return full(fd) ? -1 : syscall(SYS_write, fd, data, bytes);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
	return full(fd) ? -1 : syscall(SYS_pwrite64, fd, data, bytes, at);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at)
{
	return full(fd) ? -1 : syscall(SYS_pwrite64, fd, data, bytes, at);
}
