/* SPDX-License-Identifier: MIT */
/* libsoft-kfd.so, for LD_PRELOAD: simulates the kernel driver's files for programs that check for
 * the driver themselves (rocminfo checks lsmod or /sys for the module, and opens /dev/kfd). ROCr
 * and HIP never check. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

API int open(const char *path, int flags, ...);
API int open64(const char *path, int flags, ...);
API FILE *fopen(const char *path, const char *mode);
API FILE *fopen64(const char *path, const char *mode);
API FILE *popen(const char *command, const char *type);

static const char *instead_of(const char *path)
{
	return strcmp(path, "/dev/kfd") == 0 ? "/dev/null" : path;
}

static int open_by(const char *name, const char *path, int flags, unsigned mode)
{
	int (*real)(const char *, int, ...);

	*(void **)&real = dlsym(RTLD_NEXT, name);
	return real(instead_of(path), flags, mode);
}

static unsigned mode_of(int flags, va_list arguments)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, unsigned)
								   : 0;
}

API int open(const char *path, int flags, ...)
{
	va_list arguments;
	unsigned mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return open_by("open", path, flags, mode);
}

API int open64(const char *path, int flags, ...)
{
	va_list arguments;
	unsigned mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return open_by("open64", path, flags, mode);
}

/* Return a stream that reports the module as loaded. C++ streams can read its descriptor. */
static FILE *module_state(void)
{
	int fd = memfd_create("initstate", MFD_CLOEXEC);

	if (fd < 0 || write(fd, "live\n", 5) != 5 || lseek(fd, 0, SEEK_SET))
		return NULL;
	return fdopen(fd, "r");
}

static FILE *fopen_by(const char *name, const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *);

	*(void **)&real = dlsym(RTLD_NEXT, name);
	return strcmp(path, "/sys/module/amdgpu/initstate") == 0 ? module_state()
								 : real(instead_of(path), mode);
}

API FILE *fopen(const char *path, const char *mode)
{
	return fopen_by("fopen", path, mode);
}

API FILE *fopen64(const char *path, const char *mode)
{
	return fopen_by("fopen64", path, mode);
}

API FILE *popen(const char *command, const char *type)
{
	FILE *(*real)(const char *, const char *);

	*(void **)&real = dlsym(RTLD_NEXT, "popen");
	return real(strncmp(command, "lsmod", 5) == 0 ? "echo 'amdgpu 1 0'" : command, type);
}
