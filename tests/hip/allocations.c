/* SPDX-License-Identifier: MIT */
/* Preloaded: counts the allocations and mmap() calls of threads that launch kernels, so that a test
 * can check how many of them tracing adds to a launch. Prints "allocations N" on stderr. Calls of a
 * thread count between its allocations_mark(1) and allocations_mark(0). The program looks up this
 * function, and calls it only if this library is preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

void allocations_mark(int on);
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static _Thread_local int counting __attribute__((tls_model("initial-exec")));
static atomic_ulong total;

void allocations_mark(int on)
{
	counting = on;
	if (!on)
		fprintf(stderr, "allocations %lu\n", atomic_load(&total));
}

static void note(void)
{
	if (counting)
		atomic_fetch_add(&total, 1);
}

void *malloc(size_t n)
{
	note();
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	note();
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	note();
	return __libc_realloc(p, n);
}
