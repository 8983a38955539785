// SPDX-License-Identifier: MIT
/* libstdc++'s demangler, which speaks C, see demangle.h. Its header is for C++ only, so the prototype stands here: the
 * Itanium C++ ABI fixes it. */
#include "util/demangle.h"

#include <stdlib.h>
#include <string.h>

char *__cxa_demangle(const char *mangled, char *buffer, size_t *bytes, int *status);

char *gt_demangle(const char *name)
{
	int status = -1;
	char *text;

	/* without the prefix it would be read as a type: "f" is float */
	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	text = __cxa_demangle(name, NULL, NULL, &status);
	if (status == 0 && text && *text)
		return text;
	free(text);
	return NULL;
}
