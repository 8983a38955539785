/* SPDX-License-Identifier: MIT */
/* Parses fault switches: see faults.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "soft/common/faults.h"

static struct soft_fault *find_fault(struct soft_fault *faults, const char *name, size_t length)
{
	for (; faults->name; faults++)
		if (strlen(faults->name) == length && !strncmp(faults->name, name, length))
			return faults;
	return NULL;
}

/* Parse ":3", ":3+" or nothing. Return the rest of the text, or NULL for other input. */
static const char *parse_range(struct soft_fault *fault, const char *text)
{
	char *end;

	fault->first = 1;
	fault->last = UINT64_MAX;
	if (*text != ':')
		return text;
	if (!isdigit((unsigned char)text[1]))
		return NULL;
	fault->first = strtoull(text + 1, &end, 10);
	if (*end == '+')
		end++;
	else
		fault->last = fault->first;
	return fault->first ? end : NULL;
}

bool soft_faults_parse(struct soft_fault *faults, const char *text)
{
	for (;;) {
		size_t length = strcspn(text, ":,");
		struct soft_fault *fault = find_fault(faults, text, length);

		text = fault ? parse_range(fault, text + length) : NULL;
		if (!text || (*text && *text != ','))
			return false;
		if (!*text++)
			return true;
	}
}
