/* SPDX-License-Identifier: MIT */
/* Call libstdc++'s demangler from C, see demangle.h. Its header is for C++ only, so its prototype,
 * which the Itanium C++ ABI fixes, is repeated here. The library is loaded with the first name that
 * needs it: linking it costs each start of the command 1.5 ms, more than the rest of its start. */
#include "util/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_fn(const char *mangled, char *buffer, size_t *bytes, int *status);

static demangle_fn *demangle; /* NULL: not available */

static void load_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL); /* never unloaded */

	if (library)
		*(void **)&demangle = dlsym(library, "__cxa_demangle");
}

char *gt_demangle(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	/* SYCL names a kernel after a type: of "typeinfo name for MyKernel", keep MyKernel, the
	 * type in the source */
	const char *encoded = strncmp(name, "_ZTS", 4) == 0 ? name + 4 : name;
	int status = -1;
	char *text;

	/* without the prefix it would be read as a type: "f" would be float */
	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	pthread_once(&once, load_demangler);
	text = demangle ? demangle(encoded, NULL, NULL, &status) : NULL;
	if (status == 0 && text && *text)
		return text;
	free(text);
	return NULL;
}
