/* SPDX-License-Identifier: MIT */
/* Reads the text that run.c writes: "mode=lite domains=all ops=clEnqueue* kernels=.. args=yes
 * device=yes", and so on. Long lists are truncated. */
#include "analysis/tables/selection.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "record/domain.h"
#include "record/operation.h"

enum { OPERATIONS_CUT = 200 }; /* largest number of bytes of --ops in the text */

/* Read the value after @key, up to the first occurrence of any word in @ends. */
static void read_value(const char *options, const char *key, const char *const *ends, char *out,
		       size_t size)
{
	const char *from = strstr(options, key);
	size_t bytes;

	*out = '\0';
	if (!from)
		return;
	from += strlen(key);
	bytes = strlen(from);
	for (; *ends; ends++) {
		const char *end = strstr(from, *ends);

		if (end && (size_t)(end - from) < bytes)
			bytes = (size_t)(end - from);
	}
	snprintf(out, size, "%.*s", (int)bytes, from);
	if (!strcmp(out, "all"))
		*out = '\0';
}

void selection_read(const char *options, struct capture_selection *s)
{
	static const char *const of_domains[] = {" ops=", NULL},
				 *const of_operations[] = {" kernels=", " args=", NULL},
				 *const of_kernels[] = {" args=", NULL};

	if (!options)
		options = "";
	*s = (struct capture_selection){.mode = mode_of_options(options)};
	s->arguments = !strstr(options, " args=no");
	s->device = !strstr(options, " device=no");
	s->commands = !strstr(options, " command=no");
	read_value(options, "domains=", of_domains, s->domains, sizeof s->domains);
	read_value(options, " ops=", of_operations, s->operations, sizeof s->operations);
	read_value(options, " kernels=", of_kernels, s->kernels, sizeof s->kernels);
}

bool selection_has_calls(const struct capture_selection *s)
{
	return mode_has_calls(s->mode) || *s->operations;
}

/* Append one part of the selection. */
static void add_choice(char *text, size_t size, const char *separator, const char *what,
		       const char *value)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s%s", used ? separator : "", what, value);
}

bool selection_describe(const struct capture_selection *s, char *text, size_t size)
{
	static const char *const of_modes[GT_MODE_COUNT] = {
		[GT_MODE_LITE] = " (kernels and graph launches, no copies, no calls)",
		[GT_MODE_STANDARD] = " (GPU activities, no calls)",
		[GT_MODE_UPPER] = "",
		[GT_MODE_LOWER] = "",
	};

	*text = '\0';
	if (s->mode->records != GT_MODE_DEFAULT) {
		add_choice(text, size, "", "mode ", s->mode->name);
		add_choice(text, size, "", *s->operations ? "" : of_modes[s->mode->records], "");
	}
	if (*s->domains)
		add_choice(text, size, "; ", "only domains ", s->domains);
	if (*s->operations)
		add_choice(text, size, "; ", "only operations ", s->operations);
	if (*s->kernels)
		add_choice(text, size, "; ", "only kernels matching ", s->kernels);
	if (!s->arguments)
		add_choice(text, size, "; ", "no arguments", "");
	if (!s->device)
		add_choice(text, size, "; ", "no GPU activities", "");
	if (!s->commands)
		add_choice(text, size, "; ", "no command lines", "");
	return *text;
}

/* Return true if the pattern matches an operation that annotates the program. */
static bool names_annotation(const char *pattern)
{
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		for (uint32_t i = 0; gt_domain_traits[d].marks && i < gt_operation_count(d); i++) {
			const struct gt_operation_info *o = gt_operation(GT_OP(d, i, 0));

			if (o && o->mark && !fnmatch(pattern, o->name, 0))
				return true;
		}
	return false;
}

static bool operation_was_called(const struct summary *summary, const char *pattern)
{
	static const enum summary_class classes[] = {SUMMARY_CALLS, SUMMARY_RANGES};

	for (unsigned k = 0; k < 2; k++) {
		const struct summary_groups *groups = &summary->groups[classes[k]];

		for (uint32_t i = 0; i < groups->count; i++)
			if (groups->rows[i].name != LOOKUP_NONE &&
			    !fnmatch(pattern, texts_get(&summary->names, groups->rows[i].name), 0))
				return true;
	}
	/* the program chooses the names of annotations */
	return summary->groups[SUMMARY_RANGES].count && names_annotation(pattern);
}

static bool domain_was_used(const struct summary *summary, const char *name)
{
	const uint64_t domains = gt_domains_find(name, strlen(name));
	bool used = !domains || summary->runtimes & domains;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		used |= domains >> d & 1 && (summary->counts.seen[GT_CLASS_CALL][d] ||
					     summary->counts.seen[GT_CLASS_DEVICE][d]);
	return used;
}

static void add_unmet(const struct summary *summary, const char *list, const char *option,
		      bool (*met)(const struct summary *, const char *), char *text, size_t size)
{
	char word[256];

	for (;;) {
		size_t bytes;

		list += strspn(list, ", ");
		bytes = strcspn(list, ", ");
		if (!bytes)
			return;
		snprintf(word, sizeof word, "%.*s", (int)bytes, list);
		list += bytes;
		if (!met(summary, word))
			add_choice(text, size, ", ", option, word);
	}
}

bool selection_unmet(const struct capture_selection *s, const struct summary *summary, char *text,
		     size_t size)
{
	*text = '\0';
	add_unmet(summary, s->domains, "--domains ", domain_was_used, text, size);
	if (strlen(s->operations) < OPERATIONS_CUT)
		add_unmet(summary, s->operations, "--ops ", operation_was_called, text, size);
	if (*s->kernels && !summary->groups[SUMMARY_KERNELS].count)
		add_choice(text, size, ", ", "--kernels ", s->kernels);
	return *text;
}
