/* SPDX-License-Identifier: MIT */
/* Names of kernels that differ between builds. Only compiler-generated parts are removed:
 *
 *   0x7f31c0a0            an address in a template argument        0x*
 *   {lambda(int)#2}       demangled by libstdc++                   {lambda(int)#*}
 *   $_3  'lambda1'(int)   clang's                                  $_*  'lambda'(int)
 *   _GLOBAL__N__1f2e3d4c  nvcc's namespace of a file               _GLOBAL__N__* */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/diff.h"

/* Return the length of @prefix and of the number after it at the start of @text; 0: no match. */
static size_t numbered(const char *text, const char *prefix, bool hexadecimal)
{
	size_t n = strlen(prefix), start = n;

	if (strncmp(text, prefix, n) != 0)
		return 0;
	while (hexadecimal ? isxdigit((unsigned char)text[n]) : isdigit((unsigned char)text[n]))
		n++;
	return n > start ? n : 0;
}

char *diff_plain_name(const char *name)
{
	static const struct {
		const char *prefix;
		bool hexadecimal;
	} parts[] = {{"0x", true},  {"$_", false}, {"'lambda", false},
		     {"}#", false}, {")#", false}, {"_GLOBAL__N__", true}};
	char *plain = allocate_list(strlen(name) * 2 + 1, 1), *to = plain, last = ' ';
	bool changed = false;

	while (*name) {
		size_t bytes = 0;

		for (unsigned i = 0; i < sizeof parts / sizeof *parts && !bytes; i++) {
			if (i == 0 && isalnum((unsigned char)last))
				continue; /* an address does not start in the middle of a word */
			bytes = numbered(name, parts[i].prefix, parts[i].hexadecimal);
			if (!bytes)
				continue;
			to = stpcpy(stpcpy(to, parts[i].prefix), "*");
			changed = true;
		}
		if (!bytes)
			*to++ = *name;
		last = *name;
		name += bytes ? bytes : 1;
	}
	*to = '\0';
	if (changed)
		return plain;
	free(plain);
	return NULL;
}
