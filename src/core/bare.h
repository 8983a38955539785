/* SPDX-License-Identifier: MIT */
/* Replacements for the few libc functions that the audit library needs. The audit library runs
 * without libc. */
#ifndef GPUTAP_CORE_BARE_H
#define GPUTAP_CORE_BARE_H

#include <stdbool.h>
#include <stddef.h>

static inline bool bare_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static inline size_t bare_length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

/* Copy @text, truncated to @size bytes including the NUL. */
static inline void bare_copy(char *out, const char *text, size_t size)
{
	size_t n = 0;

	for (; text && text[n] && n + 1 < size; n++)
		out[n] = text[n];
	out[n] = '\0';
}

/* Return true if the @bytes bytes of @text occur in the @size bytes of @data. */
static inline bool bare_find(const char *data, size_t size, const char *text, size_t bytes)
{
	for (size_t i = 0; i + bytes <= size; i++) {
		size_t n = 0;

		while (n < bytes && data[i + n] == text[n])
			n++;
		if (n == bytes)
			return true;
	}
	return false;
}

/* Return the kernel's result; a negative errno on failure. */
static inline long bare_syscall3(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#else
#error "system calls of this machine"
#endif
}

#endif
