/* SPDX-License-Identifier: MIT */
#include "cli/output_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/ui.h"
#include "util/rank.h"

static int no_such(const char *pattern, const char *what)
{
	return ui_fail(GT_EXIT_USAGE,
		       "--output %s: unknown '%s'; %%p is the process, %%h the host, %%r the rank, "
		       "%%q{NAME} a variable, %%%% a percent sign",
		       pattern, what);
}

/* Write the value for %q{NAME}. @at: position after the '{'. */
static int put_variable(const char *pattern, const char *at, size_t length, char *value,
			size_t size)
{
	char name[256];
	const char *text;

	snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
		 at);
	text = getenv(name);
	if (!text || !*text)
		return ui_fail(GT_EXIT_USAGE, "--output %s: the environment has no %s", pattern,
			       *name ? name : "variable without a name");
	snprintf(value, size, "%s", text);
	return 0;
}

/* Expand the %x whose character after the '%' is at @at. Return 0, and the length in *bytes; or an
 * exit status. */
static int expand_one(const char *pattern, const char *at, char *value, size_t size, size_t *bytes)
{
	const char *end;
	char what[8];

	*bytes = 1;
	switch (*at) {
	case '%': snprintf(value, size, "%%"); return 0;
	case 'p': snprintf(value, size, "%d", (int)getpid()); return 0;
	case 'h':
		if (gethostname(value, size))
			return ui_fail(GT_EXIT_FAILURE, "--output %s: cannot get the host name: %m",
				       pattern);
		value[size - 1] = '\0';
		return 0;
	case 'r':
		if (gt_rank_of_environment() < 0)
			return ui_fail(GT_EXIT_USAGE,
				       "--output %s: no launcher assigned a rank (RANK, "
				       "OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID "
				       "are not set); %%p is the process id",
				       pattern);
		snprintf(value, size, "%d", (int)gt_rank_of_environment());
		return 0;
	case 'q':
		end = at[1] == '{' ? strchr(at, '}') : NULL;
		if (!end)
			return ui_fail(
				GT_EXIT_USAGE,
				"--output %s: %%q needs a variable's name, as in %%q{SLURM_JOB_ID}",
				pattern);
		*bytes = (size_t)(end + 1 - at);
		return put_variable(pattern, at + 2, *bytes - 3, value, size);
	default: snprintf(what, sizeof what, "%%%.1s", at); return no_such(pattern, what);
	}
}

int output_name_expand(const char *pattern, char *out, size_t size)
{
	size_t used = 0, bytes;
	char value[4096];

	for (const char *p = pattern; *p && used < size; p += bytes) {
		const char *percent = strchr(p, '%');

		bytes = percent ? (size_t)(percent - p) : strlen(p);
		if (bytes) {
			used += (size_t)snprintf(out + used, size - used, "%.*s", (int)bytes, p);
		} else {
			int code = expand_one(pattern, p + 1, value, sizeof value, &bytes);

			if (code)
				return code;
			bytes++; /* includes the '%' */
			used += (size_t)snprintf(out + used, size - used, "%s", value);
		}
	}
	return used < size
		       ? 0
		       : ui_fail(GT_EXIT_USAGE, "--output %.60s..: the name is too long", pattern);
}

int output_name_check_folder(const char *name)
{
	const char *slash = strrchr(name, '/');
	const int bytes = slash ? (int)(slash - name) : 0;
	char folder[4096];
	struct stat st;

	if (bytes <= 0 || (size_t)bytes >= sizeof folder)
		return 0;
	snprintf(folder, sizeof folder, "%.*s", bytes, name);
	if (!stat(folder, &st) || errno != ENOENT)
		return 0;
	return ui_fail(GT_EXIT_FAILURE, "folder %s does not exist: create it with 'mkdir -p %s'",
		       folder, folder);
}

void output_name_note_ranks(const char *name, const char *pattern)
{
	const char *slash = strrchr(name, '/'), *dot = strchr(slash ? slash : name, '.');
	size_t stem = dot ? (size_t)(dot - name) : strlen(name);

	if (gt_rank_of_environment() >= 0 && !strchr(pattern, '%'))
		fprintf(stderr, "  each rank needs its own file: -o '%.*s.%%r%s'\n", (int)stem,
			name, dot ? dot : "");
}
