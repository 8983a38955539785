/* SPDX-License-Identifier: MIT */
/* Calls libstdc++'s demangler from C (demangle.h). The demangler's header is for C++ only, so this
 * file repeats the prototype, which the Itanium C++ ABI fixes. libstdc++ is loaded for the first
 * mangled name: linking it would add 1.5 ms to each start of the command, more than the rest of the
 * start. */
#include "util/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_fn(const char *mangled, char *buffer, size_t *bytes, int *status);

static demangle_fn *demangle; /* NULL: unavailable */

static void load_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL); /* never unloaded */

	if (library)
		*(void **)&demangle = dlsym(library, "__cxa_demangle");
}

char *gt_demangle(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	/* SYCL names a kernel after a type: reduce "typeinfo name for MyKernel" to MyKernel, the
	 * type in the source */
	const char *encoded = strncmp(name, "_ZTS", 4) == 0 ? name + 4 : name;
	int status = -1;
	char *text;

	/* a name without the prefix would be read as a type: "f" would be float */
	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	pthread_once(&once, load_demangler);
	text = demangle ? demangle(encoded, NULL, NULL, &status) : NULL;
	if (status == 0 && text && *text)
		return text;
	free(text);
	return NULL;
}
