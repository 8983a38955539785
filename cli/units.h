/* SPDX-License-Identifier: MIT */
/* Parses sizes and times in options. */
#ifndef GPUTAP_CLI_UNITS_H
#define GPUTAP_CLI_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* Parse bytes: "64M", "256KiB", "4096". */
bool parse_size(const char *text, uint64_t *out);
/* Parse ns: "100ms", "1s", "250us", "0". */
bool parse_time(const char *text, uint64_t *out);
/* Parse ns like parse_time(). A number without a unit is in seconds. Also accepts minutes ("2m",
 * "2min") and hours ("1h"). */
bool parse_seconds(const char *text, uint64_t *out);

#endif
