/* SPDX-License-Identifier: MIT */
/* Functions that compilers call in code without a C library too, for example clang -O0 to clear a
 * struct. Only libgputap-audit.so contains them. Volatile, because a compiler would otherwise turn
 * each loop into a call of the function itself. */
#include <stddef.h>

__attribute__((visibility("hidden"))) void *memset(void *to, int value, size_t bytes);
__attribute__((visibility("hidden"))) void *memcpy(void *restrict to, const void *restrict from,
						   size_t bytes);

void *memset(void *to, int value, size_t bytes)
{
	volatile unsigned char *p = to;

	for (size_t i = 0; i < bytes; i++)
		p[i] = (unsigned char)value;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	volatile unsigned char *p = to;
	const unsigned char *q = from;

	for (size_t i = 0; i < bytes; i++)
		p[i] = q[i];
	return to;
}
