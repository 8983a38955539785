/* SPDX-License-Identifier: MIT */
/* Writes texts and metadata events for all parts of the Chrome exporter: see chrome.h. */
#include "export/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

char *gt_chrome_put_quoted(char *p, const char *text)
{
	size_t length = strlen(text);

	*p++ = '"';
	p = gt_put_json(p, text, length < TEXT_MAX ? length : TEXT_MAX);
	*p++ = '"';
	return p;
}

char *gt_chrome_put_error(char *p, uint32_t domain, int32_t status)
{
	const char *name = gt_status_name((enum gt_domain)domain, status);
	char text[128];

	snprintf(text, sizeof text, "%s (%d)", name ? name : "unknown error", status);
	p = GT_PUT(p, ",\"error\":");
	return gt_chrome_put_quoted(p, text);
}

static char *put_metadata(char *p, const char *kind, uint64_t pid, uint64_t tid)
{
	p = GT_PUT(p, "{\"ph\":\"M\",\"name\":");
	p = gt_chrome_put_quoted(p, kind);
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_u64(p, pid);
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, tid);
	return GT_PUT(p, ",\"args\":{");
}

void gt_chrome_write_label(struct gt_chrome *x, const char *kind, uint64_t pid, uint64_t tid,
			   const char *key, const char *text)
{
	char *p;

	if (x->part)
		return;
	p = put_metadata(gt_out_room(&x->out), kind, pid, tid);
	p = gt_chrome_put_quoted(p, key);
	*p++ = ':';
	p = gt_chrome_put_quoted(p, text);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
}

void gt_chrome_write_sort(struct gt_chrome *x, const char *kind, uint64_t pid, uint64_t tid,
			  uint64_t index)
{
	char *p;

	if (x->part)
		return;
	p = put_metadata(gt_out_room(&x->out), kind, pid, tid);
	p = GT_PUT(p, "\"sort_index\":");
	p = gt_put_u64(p, index);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
}
