/* SPDX-License-Identifier: MIT */
/* A report as one HTML file: its tables, sortable, and a timeline that can be zoomed. It needs no
 * network and may use none: its policy (CSP) lets in only the style and the script that are in it,
 * by their hashes. What the traced program called things is data, never markup. */
#ifndef GPUTAP_CLI_REPORT_HTML_H
#define GPUTAP_CLI_REPORT_HTML_H

#include <stdbool.h>

#include "cli/grid.h"
#include "cli/picture.h"

enum { HTML_ROWS_MOST = 2000 }; /* of a table */

struct report_page {
	const char *title, *head; /* head: lines as a report in text begins */
	const char *overview;     /* the first screen of a terminal, one line each; "": none */
	const struct picture *picture;
	/* The @number-th table, which the page releases; false: there are no more */
	bool (*table)(void *data, unsigned number, struct grid *out);
	void *data;
	size_t top; /* rows of a table at most; 0: HTML_ROWS_MOST */
};

/* How a picture for a page is to be read. */
void report_html_init_picture(struct picture *p);
/* Return: 0 or negative errno with a cause. */
int report_html_write(const struct report_page *page, FILE *out);

#endif
