/* SPDX-License-Identifier: MIT */
/* Durations of kernels, from a file that a test writes:
 *
 * kernel            microseconds
 *   matmul              250
 *   void reduce<*       1.5ms
 *   *                   10
 *
 * The name is a shell pattern and may contain blanks: the last word of a line is the time. The
 * pattern is matched against the symbol's name, the demangled name, and the demangled name up to
 * its "(". The first matching line applies. A kernel that no line matches lasts as long as its
 * execution. */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/amdgpu/amdgpu.h"
#include "soft/common/settings.h"

struct rule {
	char *pattern;
	uint64_t ns;
};

static struct rule *rules; /* written on the first open, then read-only */
static size_t rule_count;

static char *trim_line(char *text)
{
	size_t n = strlen(text);

	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = 0;
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static bool add_rule(const char *pattern, int64_t ns)
{
	struct rule *grown = realloc(rules, (rule_count + 1) * sizeof *rules);

	if (!grown)
		return false;
	rules = grown;
	rules[rule_count].pattern = strdup(pattern);
	rules[rule_count].ns = (uint64_t)ns;
	return rules[rule_count].pattern && ++rule_count;
}

/* Parse a line. Return false if the line is neither a rule, nor empty, nor a comment. */
static bool read_line(char *line)
{
	char *text = trim_line(line), *time;
	int64_t ns;

	if (!*text || *text == '#')
		return true;
	time = text + strlen(text);
	while (time > text && !isspace((unsigned char)time[-1]))
		time--;
	if (time == text || !soft_parse_ns(time, "us", &ns) || ns < 0)
		return false;
	time[-1] = 0;
	return add_rule(trim_line(text), ns);
}

bool soft_durations_open(const char *path)
{
	char *line = NULL;
	size_t size = 0;
	unsigned number = 0;
	bool fine = true;
	FILE *file;

	if (!*path || rules)
		return true;
	file = fopen(path, "re");
	if (!file) {
		soft_say("SOFT_AMDGPU_DURATIONS=%s: %s", path, strerror(errno));
		return false;
	}
	while (fine && getline(&line, &size, file) > 0) {
		number++;
		fine = read_line(line);
	}
	if (!fine)
		soft_say("%s:%u: expected a kernel's name or a pattern, then microseconds (or "
			 "1.5ms, 20us): %s",
			 path, number, trim_line(line));
	free(line);
	fclose(file);
	return fine;
}

/* Demangle with the C++ library that ROCr has loaded. Return an allocated string, or NULL. */
static char *demangle(const char *name)
{
	char *(*function)(const char *, char *, size_t *, int *) = NULL;
	int status;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	*(void **)&function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	return function ? function(name, NULL, NULL, &status) : NULL;
}

static bool rule_matches(const struct rule *rule, const char *name)
{
	return fnmatch(rule->pattern, name, 0) == 0;
}

uint64_t soft_duration_ns(const char *kernel)
{
	char *full = rule_count ? demangle(kernel) : NULL, *base = full ? strdup(full) : NULL;
	uint64_t ns = 0;

	if (base && strchr(base, '('))
		*strchr(base, '(') = 0;
	for (size_t i = 0; i < rule_count; i++)
		if (rule_matches(&rules[i], kernel) || (full && rule_matches(&rules[i], full)) ||
		    (base && rule_matches(&rules[i], base))) {
			ns = rules[i].ns;
			break;
		}
	free(base);
	free(full);
	return ns;
}
