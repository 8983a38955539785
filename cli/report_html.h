/* SPDX-License-Identifier: MIT */
/* Write a report as one HTML file: the first screen, a timeline that can be zoomed, and tables that
 * can be sorted and filtered. It needs no network and cannot use one: its policy (CSP) allows only
 * the style and the script with its hashes. Names of the traced program are data, never markup. */
#ifndef GPUTAP_CLI_REPORT_HTML_H
#define GPUTAP_CLI_REPORT_HTML_H

#include <stdbool.h>

#include "cli/grid.h"
#include "cli/picture.h"

enum { HTML_ROWS_MOST = 2000 }; /* of a table */

struct report_page {
	const char *title, *head; /* head: the first lines of a report as text */
	const char *overview;     /* first screen of a terminal, in unwrapped lines; "": none */
	const struct picture *picture;
	/* Get the @number-th table, which the page releases. Return: false if there is none. */
	bool (*table)(void *data, unsigned number, struct grid *out);
	void *data;
	size_t top; /* most rows of a table; 0: HTML_ROWS_MOST */
};

/* Set the options of a picture for a page; call before it is read. */
void report_html_init_picture(struct picture *p);
/* Return: 0 or negative errno with a cause. */
int report_html_write(const struct report_page *page, FILE *out);

#endif
