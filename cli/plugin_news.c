/* SPDX-License-Identifier: MIT */
/* Messages from a trial to the command that started it: the tested rule, and broken rules. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/plugin_check.h"

void gt_trial_report(struct gt_trial *t, enum gt_trial_news news, enum gt_rule rule,
		     const char *format, ...)
{
	struct gt_trial_message m = {.news = news, .rule = rule};
	va_list list;

	if (news == GT_TRIAL_BROKEN && t->reported >> rule & 1)
		return;
	t->reported |= news == GT_TRIAL_BROKEN ? UINT64_C(1) << rule : 0;
	va_start(list, format);
	vsnprintf(m.text, sizeof m.text, format, list);
	va_end(list);
	if (write(t->pipe, &m, sizeof m) != sizeof m)
		_exit(3);
}

void gt_trial_try(struct gt_trial *t, enum gt_rule rule, const char *what)
{
	t->trying = rule;
	gt_trial_report(t, GT_TRIAL_TRIES, rule, "%s", what);
}

bool gt_trial_has_group(struct gt_trial *t, enum gt_rule rule, enum gputap_plugin_group group)
{
	bool has = t->plugin.groups >> group & 1;

	if (!has)
		gt_trial_report(t, GT_TRIAL_ABSENT, rule, "-");
	return has;
}

const char *gt_trial_result_name(pu1Result result)
{
	static const char *const names[] = {
		"PU1_SUCCESS",      "PU1_ERROR_INVALID",   "PU1_ERROR_NOT_SUPPORTED",
		"PU1_ERROR_ORDER",  "PU1_ERROR_NO_MEMORY", "PU1_ERROR_EMPTY",
		"PU1_ERROR_DEVICE", "PU1_ERROR_FORKED"};

	return result == PU1_END                           ? "PU1_END"
	       : result <= 0 && result >= PU1_ERROR_FORKED ? names[-result]
							   : "an unknown pu1Result";
}
