/* SPDX-License-Identifier: MIT */
/* Preloaded before libgputap.so: makes the FAIL_NTH-th of that library's system calls and
 * allocations fail.
 * Only calls from libgputap.so count; calls from the program always succeed. At exit it writes the
 * number of calls to the file FAIL_COUNT. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic unsigned long count;

static bool from_gputap(const void *caller)
{
	Dl_info where;

	return dladdr(caller, &where) && where.dli_fname && strstr(where.dli_fname, "libgputap.so");
}

static bool fails(const void *caller)
{
	static unsigned long nth;

	if (!from_gputap(caller))
		return false;
	if (!nth)
		nth = getenv("FAIL_NTH") ? strtoul(getenv("FAIL_NTH"), NULL, 10) : 0;
	return atomic_fetch_add(&count, 1) + 1 == nth;
}

/* Return the error that a system call fails with, or 0 if the call does not fail in practice. */
static int error_of(long number)
{
	switch (number) {
	case SYS_openat: return EMFILE;
	case SYS_ftruncate: return ENOSPC;
	case SYS_fallocate: return ENOSPC;
	case SYS_madvise: return EFAULT;
	case SYS_renameat: return ENOENT;
	case SYS_fchmod: return EPERM;
	case SYS_readlinkat: return EACCES;
	case SYS_read: return EIO;
	case SYS_unlinkat: return ENOENT;
	case SYS_pread64: return EIO;
	}
	return 0;
}

long syscall(long number, ...)
{
	long (*real)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (error_of(number) && fails(__builtin_return_address(0))) {
		errno = error_of(number);
		return -1;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define REAL(type, name, ...)      \
	type (*real)(__VA_ARGS__); \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	REAL(void *, mmap, void *, size_t, int, int, int, off_t);
	if (fails(__builtin_return_address(0))) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return real(at, bytes, prot, flags, fd, offset);
}

int fstat(int fd, struct stat *st)
{
	REAL(int, fstat, int, struct stat *);
	if (fails(__builtin_return_address(0))) {
		errno = EIO;
		return -1;
	}
	return real(fd, st);
}

int getrlimit(__rlimit_resource_t what, struct rlimit *limit)
{
	REAL(int, getrlimit, __rlimit_resource_t, struct rlimit *);
	if (fails(__builtin_return_address(0))) {
		errno = EINVAL;
		return -1;
	}
	return real(what, limit);
}

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	REAL(int, pthread_key_create, pthread_key_t *, void (*)(void *));
	return fails(__builtin_return_address(0)) ? EAGAIN : real(key, destructor);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	return fails(__builtin_return_address(0)) ? EAGAIN : real(thread, attr, start, arg);
}

char *realpath(const char *path, char *out)
{
	REAL(char *, realpath, const char *, char *);
	if (fails(__builtin_return_address(0))) {
		errno = ELOOP;
		return NULL;
	}
	return real(path, out);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fprintf(f, "%lu\n", (unsigned long)count);
		fclose(f);
	}
}
