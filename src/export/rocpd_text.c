/* SPDX-License-Identifier: MIT */
/* Stores the names of a rocpd file, and inserts the file's ids into SQL texts: see rocpd.h. */
#include "export/rocpd.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/text.h"
#include "util/grow.h"

enum { NAME_MAX_BYTES = 8192 };

int64_t gt_rocpd_name(struct rocpd *r, const char *name)
{
	size_t bytes = strlen(name);
	uint64_t a, b;
	int64_t found;
	char **names, *clean;

	bytes = (size_t)(gt_put_utf8(r->text, name,
				     bytes < NAME_MAX_BYTES ? bytes : NAME_MAX_BYTES) -
			 r->text);
	a = gt_text_hash(r->text, bytes, 1);
	b = gt_text_hash(r->text, bytes, 2);
	found = gt_map_find(&r->names, a, b);
	if (found >= 0)
		return found + 1;
	names = gt_grow(r->name_text, r->name_count, &r->name_capacity, sizeof *names);
	r->name_text = names ? names : r->name_text;
	clean = strndup(r->text, bytes);
	if (!names || !clean || gt_map_add(&r->names, a, b, (uint32_t)r->name_count) < 0) {
		free(clean);
		gt_rocpd_no_memory(r);
		return ROCPD_EMPTY_TEXT;
	}
	names[r->name_count++] = clean;
	return (int64_t)r->name_count;
}

char *gt_rocpd_schema(const struct rocpd *r, const char *text)
{
	size_t bytes = 0;
	const char *p;
	char *out, *to;

	for (p = text; *p; p++)
		bytes += *p == '%' ? sizeof r->uuid : 1;
	out = to = malloc(bytes + 1);
	for (p = text; out && *p; p++)
		if (*p != '%')
			*to++ = *p;
		else
			to = stpcpy(to, *++p == 'U' ? r->uuid : r->guid);
	if (out)
		*to = '\0';
	return out;
}
