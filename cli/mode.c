/* SPDX-License-Identifier: MIT */
/* See mode.h. A mode selects for each operation whether its calls are recorded, and whether the GPU
 * activities that its calls cause are recorded, with or without the calls.
 *
 *   mode              calls                           GPU activities
 *   lite              annotations                     kernels; a graph launch as one activity
 *   standard          annotations                     all
 *   a domain's        the domain's, annotations       all
 *   a lower domain's  all, but of the lower domains   all
 *                     only those beneath the same
 *                     domain
 *
 * Lower domains are domains on which other domains are built: their descriptions contain `beneath`.
 * HSA, for example, is beneath HIP. The description of a domain also defines the name of its mode
 * (`hip`, `hsa`).
 *
 * `default`, the mode without --mode, records the calls of all domains except lower ones, and the
 * calls of lower domains that --domains names. The GPU activities of an upper domain may belong to
 * a lower domain (ROCm's belong to HSA), so --domains hip keeps HSA's activities, and --domains
 * cuda_runtime keeps the activities of driver calls within runtime calls. --ops replaces the mode's
 * selection of calls. */
#include "cli/mode.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/query/filter.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "record/operation.h"

#define BIT(domain) GT_DOMAIN_BIT(domain)

static uint64_t annotations(void)
{
	uint64_t set = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		set |= gt_domain_traits[d].annotations ? BIT(d) : 0;
	return set;
}

/* Return the domains that form one API with @domain, such as HIP and the functions that HIP's
 * compiler calls. */
static uint64_t upper_domains(enum gt_domain domain)
{
	uint64_t set = BIT(domain);

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		set |= gt_domain_same_group((enum gt_domain)d, domain) ? BIT(d) : 0;
	return set;
}

/* Return the domains on which the domains in @upper are built. */
static uint64_t beneath(uint64_t upper)
{
	uint64_t set = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		for (unsigned u = 1; gt_domain_traits[d].beneath && u < GT_DOMAIN_COUNT; u++)
			if (upper & BIT(u) &&
			    gt_domain_traits[u].outermost == gt_domain_traits[d].beneath)
				set |= BIT(d);
	return set;
}

/* Return the domains that are beneath the same APIs as a domain in @set. */
static uint64_t activity_beside(uint64_t set)
{
	uint64_t upper = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		for (unsigned u = 1; set & BIT(d) && u < GT_DOMAIN_COUNT; u++)
			if (gt_domain_traits[u].outermost == gt_domain_traits[d].beneath)
				upper |= BIT(u);
	return beneath(upper);
}

/* Return the domains that are beneath the same APIs as @lower. If @lower is recorded on request,
 * return only @lower. */
static uint64_t beside(enum gt_domain lower)
{
	uint64_t set = 0;

	if (gt_domain_traits[lower].requested)
		return BIT(lower);
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		if (gt_domain_traits[d].beneath == gt_domain_traits[lower].beneath)
			set |= BIT(d);
	return set;
}

/* Return the domains whose GPU activities are recorded for those domains in @set that are recorded
 * on request. */
static uint64_t activity_of_requested(uint64_t set)
{
	uint64_t activity = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		if (set & BIT(d) && gt_domain_traits[d].requested)
			activity |= BIT(gt_domain_traits[d].activity);
	return activity;
}

/* Map a word of RTL_MODE to a mode. RTL has two words for `standard`. */
static const char *rtl_word(const char *word)
{
	return !strcmp(word, "full") || !strcmp(word, "default") ? "standard" : word;
}

static int find_mode(const char *word, const char *what, const struct mode **out)
{
	const char *names[MODES_MOST + 1] = {NULL};
	char said[128];

	for (unsigned m = 0; modes[m].name && m < MODES_MOST; m++) {
		names[m] = modes[m].name;
		if (!strcmp(word, names[m])) {
			*out = &modes[m];
			return 0;
		}
	}
	snprintf(said, sizeof said, "%s", what);
	return ui_unknown(said, word, names);
}

/* Copy the next word of a comma-separated list. Return false at its end. */
static bool next_word(const char **list, char *word, size_t room)
{
	size_t n;

	*list += strspn(*list, ", ");
	n = strcspn(*list, ", ");
	if (!n)
		return false;
	snprintf(word, room, "%.*s", (int)n, *list);
	*list += n;
	return true;
}

int mode_check_domain(const char *word)
{
	static const char *known[FILTER_DOMAIN_WORDS];

	if (filter_domain_words(known, word))
		return 0;
	if (!gt_domains_find(word, strlen(word)))
		return ui_unknown("domain", word, known);
	ui_fail(GT_EXIT_USAGE, "%s is not supported yet", word);
	ui_list_names("supported:", known);
	return GT_EXIT_USAGE;
}

static int choose_domains(const char *list, uint64_t *out)
{
	char word[128];

	*out = 0;
	while (next_word(&list, word, sizeof word)) {
		int code = mode_check_domain(word);

		if (code)
			return code;
		*out |= gt_domains_find(word, strlen(word));
	}
	if (!*out)
		return ui_fail(GT_EXIT_USAGE, "--domains is empty; see 'gputap list domains'");
	return 0;
}

/* Return all operation names of the chosen domains, NULL-terminated, for suggestions of similar
 * names. */
static const char **operation_names(uint64_t domains)
{
	const char **list;
	size_t n = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		n += domains & BIT(d) ? gt_operation_count(d) : 0;
	list = calloc(n + 1, sizeof *list);
	n = 0;
	for (unsigned d = 1; list && d < GT_DOMAIN_COUNT; d++)
		for (uint32_t i = 0; domains & BIT(d) && i < gt_operation_count(d); i++) {
			const struct gt_operation_info *o = gt_operation(GT_OP(d, i, 0));

			if (o)
				list[n++] = o->name;
		}
	return list;
}

/* Select the operations that match @pattern. Return one bit for each domain with a match. */
static uint64_t choose_matching(const char *pattern, uint64_t domains, struct gt_session *s)
{
	uint64_t found = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		for (uint32_t i = 0; domains & BIT(d) && i < gt_operation_count(d); i++) {
			const struct gt_operation_info *o = gt_operation(GT_OP(d, i, 0));

			if (!o || fnmatch(pattern, o->name, 0))
				continue;
			s->ops[d][i / 64] |= UINT64_C(1) << (i % 64);
			found |= BIT(d);
		}
	return found;
}

const char *mode_nearest_operation(const char *word, uint64_t domains)
{
	const char **list = strpbrk(word, "*?[") ? NULL : operation_names(domains);
	const char *near = list ? nearest_name(word, list) : NULL;

	free(list);
	return near;
}

static int unknown_operation(const char *word, uint64_t domains)
{
	const char *near = mode_nearest_operation(word, domains);

	if (near)
		return ui_fail(GT_EXIT_USAGE, "unknown operation '%s'; did you mean '%s'?", word,
			       near);
	return ui_fail(GT_EXIT_USAGE, "no operation matches '%s'; see 'gputap list operations'",
		       word);
}

static int choose_operations(const char *list, uint64_t domains, struct gt_session *s,
			     uint64_t *matched)
{
	char word[256];

	*matched = 0;
	memset(s->ops, 0, sizeof s->ops);
	while (next_word(&list, word, sizeof word)) {
		uint64_t found = choose_matching(word, domains, s);

		if (!found)
			return unknown_operation(word, domains);
		*matched |= found;
	}
	if (!*matched)
		return ui_fail(GT_EXIT_USAGE, "--ops is empty; see 'gputap list operations'");
	return 0;
}

/* Escape brackets, stars and other characters of a C++ name that have a meaning in an
 * expression. */
static void escape(const char *from, char *to, size_t size)
{
	size_t n = 0;

	for (; *from && n + 3 < size; from++) {
		if (strchr(".[]{}()*+?^$|\\", *from))
			to[n++] = '\\';
		to[n++] = *from;
	}
	to[n] = '\0';
}

static int choose_kernels(const char *text, struct gt_session *s)
{
	char why[128], literal[2 * GT_KERNELS_BYTES];
	regex_t expression;
	int error;

	if (!*text)
		return ui_fail(GT_EXIT_USAGE, "--kernels '': needs an extended regular expression "
					      "(as for grep -E); '.' matches every kernel");
	if (strlen(text) >= sizeof s->kernels)
		return ui_fail(GT_EXIT_USAGE, "--kernels can have at most %zu bytes",
			       sizeof s->kernels - 1);
	error = regcomp(&expression, text, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &expression, why, sizeof why);
		escape(text, literal, sizeof literal);
		return ui_fail(GT_EXIT_USAGE, "--kernels '%s': %s; to match it literally, use '%s'",
			       text, why, literal);
	}
	regfree(&expression);
	snprintf(s->kernels, sizeof s->kernels, "%s", text);
	return 0;
}

static void set_calls(struct gt_session *s, uint64_t domains)
{
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		memset(s->ops[d], domains & BIT(d) ? 0xff : 0, sizeof s->ops[d]);
}

static void set_activity(struct gt_session *s, uint64_t domains)
{
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		memset(s->activity[d], domains & BIT(d) ? 0xff : 0, sizeof s->activity[d]);
}

/* Select only the calls that launch activities, in APIs whose calls directly cause activities.
 * Runtimes that split a launch into packets (HSA) check the mode themselves. */
static void keep_launches(struct gt_session *s)
{
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		for (uint32_t i = 0; !gt_domain_traits[d].beneath && i < gt_operation_count(d);
		     i++) {
			const struct gt_operation_info *o = gt_operation(GT_OP(d, i, 0));

			if (o && o->kind != GT_KIND_LAUNCH)
				s->activity[d][i / 64] &= ~(UINT64_C(1) << (i % 64));
		}
}

int mode_choose(struct mode_options *o, struct gt_session *s)
{
	uint64_t asked = s->domains, matched = 0, lower;
	const char *rtl = o->mode ? NULL : getenv("RTL_MODE");
	const struct mode *mode = &modes[0];
	bool only_upper; /* true if --domains, which may name other domains, is absent */
	int code = 0;

	if (o->mode)
		code = find_mode(o->mode, "mode", &mode);
	else if (rtl && *rtl)
		code = find_mode(rtl_word(rtl), "RTL_MODE", &mode);
	o->chosen = mode;
	if (!code && o->domains)
		code = choose_domains(o->domains, &asked);
	if (code)
		return code;
	s->mode = mode->records;
	only_upper = s->mode == GT_MODE_UPPER && !o->domains;
	lower = mode_lower_domains();
	s->domains = asked | beneath(asked) | activity_of_requested(asked);
	if (!mode_has_calls(mode))
		set_calls(s, asked & annotations());
	else if (s->mode == GT_MODE_LOWER)
		set_calls(s, (asked & ~lower) | (s->domains & beside(mode->domain)));
	else if (only_upper)
		set_calls(s, upper_domains(mode->domain) | annotations());
	else if (s->mode == GT_MODE_UPPER || !o->domains)
		set_calls(s, asked & ~lower);
	else
		set_calls(s, asked);
	if (o->ops)
		code = choose_operations(o->ops, asked, s, &matched);
	/* Select the GPU activities of lower domains, because calls of other domains cause them as
	 * well. Other activities are recorded with their calls, if the mode records calls */
	if (!mode_has_calls(mode) || only_upper)
		set_activity(s, UINT64_MAX);
	else
		set_activity(s, activity_of_requested(o->ops       ? matched
						      : o->domains ? asked
								   : 0) |
					(!o->ops || s->mode
						 ? lower
						 : beneath(matched) |
							   activity_beside(matched & lower)));
	if (s->mode == GT_MODE_LITE)
		keep_launches(s);
	s->named = (o->domains ? asked : 0) | matched;
	if (!code && o->kernels)
		code = choose_kernels(o->kernels, s);
	return code;
}

const char *mode_rtl_output(char *buffer, size_t size)
{
	const char *from = getenv("RTL_OUTPUT"), *p;
	size_t n = 0;

	if (!from || !*from)
		return NULL;
	for (; *from && n + 16 < size; from = p) {
		p = from + 1;
		if (from[0] == '%' && from[1] == 'p') {
			n += (size_t)snprintf(buffer + n, size - n, "%d", (int)getpid());
			p++;
		} else {
			buffer[n++] = *from;
		}
	}
	buffer[n] = '\0';
	return buffer;
}
