/* SPDX-License-Identifier: MIT */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { CHAIN_BYTES = 2048 };

static _Thread_local char chain[CHAIN_BYTES];

/* Return true for a status that only classifies a failure. The sentence of such a failure contains
 * more information than the status text. */
static int is_sort(int status)
{
	return status == -EBADMSG || status == -ENODATA || status == -ENOTSUP;
}

/* Replace control characters. Paths and names come from files and other users' processes, and a
 * terminal would execute control sequences in them. */
static void make_harmless(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) /* a C1 control in UTF-8 */
			p[0] = p[1] = '?';
}

int gt_error(int status, const char *format, ...)
{
	char cause[CHAIN_BYTES], inner[CHAIN_BYTES];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(cause, sizeof cause, format, args);
	va_end(args);
	if (n < 0)
		cause[0] = '\0';
	make_harmless(cause);
	memcpy(inner, chain, sizeof inner);
	if (inner[0])
		snprintf(chain, sizeof chain, "%.1000s: %.1000s", cause, inner);
	else if (status < 0 && !is_sort(status))
		snprintf(chain, sizeof chain, "%.1000s: %s", cause, strerror(-status));
	else
		snprintf(chain, sizeof chain, "%.2000s", cause);
	return status < 0 ? status : -EINVAL;
}

void gt_error_clear(void)
{
	chain[0] = '\0';
}

const char *gt_error_text(void)
{
	return chain;
}

void gt_error_print(FILE *out)
{
	if (chain[0])
		fprintf(out, "gputap: %s\n", chain);
	gt_error_clear();
}
