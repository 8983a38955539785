/* SPDX-License-Identifier: MIT */
/* See answer_words.h. */
#include "cli/answer_words.h"

#include <stdlib.h>
#include <string.h>

#include "collector/control.h"

char *answer_copy_word(const char *line, const char *key)
{
	size_t n = strlen(key);
	char *value;

	for (const char *p = line; *p;) {
		size_t length = strcspn(p, " ");

		if (length > n && p[n] == '=' && !strncmp(p, key, n)) {
			value = strndup(p + n + 1, length - n - 1);
			if (value)
				gt_control_unescape(value);
			return value;
		}
		p += length;
		p += strspn(p, " ");
	}
	return NULL;
}

char *answer_copy_text(const char *line, const char *key)
{
	char *value = answer_copy_word(line, key);

	return value ? value : strdup("");
}

bool answer_read_number(const char *line, const char *key, uint64_t *out)
{
	char *value = answer_copy_word(line, key);
	bool is_there = value && *value;

	*out = is_there ? strtoull(value, NULL, 10) : 0;
	free(value);
	return is_there;
}

uint64_t answer_get_number(const char *line, const char *key)
{
	uint64_t n;

	answer_read_number(line, key, &n);
	return n;
}

int64_t answer_get_signed(const char *line, const char *key)
{
	char *value = answer_copy_word(line, key);
	int64_t n = value && *value ? strtoll(value, NULL, 10) : -1;

	free(value);
	return n;
}

bool answer_is_yes(const char *line, const char *key)
{
	char *value = answer_copy_word(line, key);
	bool yes = value && !strcmp(value, "yes");

	free(value);
	return yes;
}
