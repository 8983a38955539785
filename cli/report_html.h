/* SPDX-License-Identifier: MIT */
/* Writes a report as one HTML file: the first screen, a timeline with zoom, and tables that can be
 * sorted and filtered. The file needs no network and cannot use one: its policy (CSP) allows only
 * the style and the script with the given hashes. Names from the traced program are data, never
 * markup. */
#ifndef GPUTAP_CLI_REPORT_HTML_H
#define GPUTAP_CLI_REPORT_HTML_H

#include <stdbool.h>

#include "cli/grid.h"
#include "cli/picture.h"

enum { HTML_ROWS_MOST = 2000 }; /* largest number of rows in a table */

struct report_page {
	const char *title, *head; /* head: the first lines of a report as text */
	/* first screen as shown on a terminal, without line wrapping; "": none */
	const char *overview;
	const struct picture *picture;
	/* Make the @number-th table in @out, which the page releases. Return false if there is no
	 * such table. */
	bool (*table)(void *data, unsigned number, struct grid *out);
	void *data;
	size_t top; /* largest number of rows in a table; 0: HTML_ROWS_MOST */
};

/* Set the options of a picture for a page. Call before reading the picture. */
void report_html_init_picture(struct picture *p);
/* Write the page. Return: 0 or negative errno with a cause. */
int report_html_write(const struct report_page *page, FILE *out);

#endif
