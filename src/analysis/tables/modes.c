/* SPDX-License-Identifier: MIT */
/* See modes.h. */
#include "analysis/tables/modes.h"

#include <string.h>

#include "generated/modes.h"

const struct mode modes[] = {{"default", GT_MODE_DEFAULT, GT_DOMAIN_NONE},
			     {"lite", GT_MODE_LITE, GT_DOMAIN_NONE},
			     {"standard", GT_MODE_STANDARD, GT_DOMAIN_NONE},
#define X(...) {__VA_ARGS__},
			     GT_MODES(X)
#undef X
				     {NULL, GT_MODE_DEFAULT, GT_DOMAIN_NONE}};

uint64_t mode_lower_domains(void)
{
	uint64_t set = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		set |= gt_domain_traits[d].beneath || gt_domain_traits[d].requested
			       ? GT_DOMAIN_BIT(d)
			       : 0;
	return set;
}

bool mode_records_calls(enum gt_domain domain)
{
	return !(mode_lower_domains() & GT_DOMAIN_BIT(domain));
}

const struct mode *mode_of_options(const char *options)
{
	const char *at = options ? strstr(options, "mode=") : NULL;

	for (unsigned m = 1; at && modes[m].name; m++)
		if (!strncmp(at + 5, modes[m].name, strlen(modes[m].name)) &&
		    strchr(" ", at[5 + strlen(modes[m].name)]))
			return &modes[m];
	return &modes[0];
}
