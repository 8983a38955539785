/* SPDX-License-Identifier: MIT */
/* See kernels.h. `gputap run` validated the expression before the program started. The demangler
 * comes from the libstdc++ that the runtime has mapped (HIP is written in C++). gputap does not
 * load libstdc++ itself. If libstdc++ is not mapped, only mangled names are matched. */
#include "core/kernels.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording.h"

enum { NAME_BYTES = 8192 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static regex_t expression;
static bool filtered;

static void compile(void)
{
	const struct gt_session *s = gt_recording.session;

	filtered = s && s->kernels[0] &&
		   regcomp(&expression, s->kernels, REG_EXTENDED | REG_NOSUB) == 0;
}

static bool matches(const char *name)
{
	return regexec(&expression, name, 0, NULL, 0) == 0;
}

typedef char *demangle_fn(const char *mangled, char *buffer, size_t *length, int *status);

static demangle_fn *demangler(void)
{
	/* only if libstdc++ is mapped already */
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	demangle_fn *f = NULL;

	if (library) {
		f = (demangle_fn *)(uintptr_t)dlsym(library, "__cxa_demangle");
		dlclose(library);
	}
	return f;
}

static bool demangled_matches(const char *name)
{
	demangle_fn *demangle = strncmp(name, "_Z", 2) == 0 ? demangler() : NULL;
	char *text = demangle ? demangle(name, NULL, NULL, &(int){0}) : NULL;
	bool found = text && matches(text);

	free(text);
	return found;
}

bool gt_kernel_wanted(const char *name, size_t bytes)
{
	int saved = errno;
	char *text;
	bool wanted;

	pthread_once(&once, compile);
	if (!filtered)
		return true;
	text = strndup(name, bytes < NAME_BYTES ? bytes : NAME_BYTES);
	wanted = !text || matches(text) || demangled_matches(text);
	free(text);
	errno = saved;
	return wanted;
}
