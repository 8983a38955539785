/* SPDX-License-Identifier: MIT */
/* Numbers with units, as users write them in options and files. Each function fails unless it can
 * parse the whole text. */
#ifndef SOFT_SETTINGS_H
#define SOFT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* "8", "0x10". */
bool soft_parse_count(const char *text, uint64_t *out);
/* "512M", "16G", "4096": powers of 1024. */
bool soft_parse_bytes(const char *text, uint64_t *out);
/* "1.5ms", "20us", "-3s", "100ns": in nanoseconds. @unit is the unit of a plain number. */
bool soft_parse_ns(const char *text, const char *unit, int64_t *out);
/* "50ppm", "-0.5ppm", "20ppb": in parts per billion. A plain number is in ppm. */
bool soft_parse_ppb(const char *text, int64_t *out);

#endif
