/* SPDX-License-Identifier: MIT */
/* See run_stacks.h. */
#include "cli/run_stacks.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/ui.h"

static const uint64_t SLOW_NS = 1000000; /* "slow" without a time */

int run_stacks_option(const char *value, struct gt_session *s,
		      bool (*parse_time)(const char *text, uint64_t *ns))
{
	static const char *const words[] = {"launch", "slow", NULL};
	char word[32];

	s->stacks = value ? 0 : GT_STACKS_LAUNCHES;
	for (const char *p = value; p && *p; p += *p == ',') {
		size_t n = strcspn(p, ",");

		snprintf(word, sizeof word, "%.*s", (int)n, p);
		p += n;
		if (!strcmp(word, "launch")) {
			s->stacks |= GT_STACKS_LAUNCHES;
			continue;
		}
		if (strcmp(word, "slow") && strncmp(word, "slow:", 5))
			return ui_unknown("kind of call for --stacks", word, words);
		s->stacks |= GT_STACKS_SLOW;
		s->stacks_slow_ns = SLOW_NS;
		if (word[4] && !parse_time(word + 5, &s->stacks_slow_ns))
			return ui_fail(GT_EXIT_USAGE,
				       "--stacks %s: a time such as 1ms or 500us goes behind "
				       "'slow:'",
				       word);
	}
	if (!s->stacks)
		return ui_fail(GT_EXIT_USAGE, "--stacks= wants launch, slow:TIME, or both");
	return GT_EXIT_OK;
}

int run_stacks_check(const struct gt_session *s)
{
	if (s->stacks && (s->mode == GT_MODE_LITE || s->mode == GT_MODE_STANDARD))
		return ui_fail(GT_EXIT_USAGE,
			       "--stacks is about calls, and --mode lite and standard record none");
	return GT_EXIT_OK;
}

void run_stacks_describe(const struct gt_session *s, char *text, size_t size)
{
	const bool launches = s->stacks & GT_STACKS_LAUNCHES, slow = s->stacks & GT_STACKS_SLOW;

	*text = '\0';
	if (!s->stacks)
		return;
	snprintf(text, size, " stacks=%s%s", launches ? "launch" : "",
		 slow ? launches ? ",slow" : "slow" : "");
	if (slow)
		snprintf(text + strlen(text), size - strlen(text), ":%lluns",
			 (unsigned long long)s->stacks_slow_ns);
}
