/* SPDX-License-Identifier: MIT */
/* Reads all tables of captures through gputap/capture.h, and checks what the Arrow interface
 * promises: lengths, offsets, indexes of dictionaries, numbers of missing values, UTF-8. */
#ifndef GPUTAP_CHECK_TABLES_H
#define GPUTAP_CHECK_TABLES_H

#include <stdint.h>

struct table_counts {
	uint64_t calls, activities; /* rows of these tables */
};

/**
 * check_tables() - read all tables
 * @where: expression; NULL: all records
 * @wrong: receives the first broken promise; "": none
 * Return: 0: all rows were read; 1: the capture was refused or a table could not be read, with a
 *         cause.
 */
int check_tables(const char *path, const char *where, struct table_counts *counts, char wrong[256]);

#endif
