/* SPDX-License-Identifier: MIT */
/* See runtimes.h. */
#include "cli/runtimes.h"

#include <string.h>

const struct runtime runtimes[GT_RUNTIME_COUNT] = {
#define X(...) {__VA_ARGS__},
	GT_RUNTIMES(X)
#undef X
};

static bool has_word(const char *words, const char *word)
{
	size_t bytes = strlen(word);

	for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
		if (!strncmp(words, word, bytes) && strchr(" ", words[bytes]))
			return true;
	return false;
}

const struct runtime *runtime_find_absent(const char *status)
{
	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++)
		if (*status && has_word(runtimes[i].absent, status))
			return &runtimes[i];
	return NULL;
}
