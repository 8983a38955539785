/* SPDX-License-Identifier: MIT */
/* Amounts as options say them. */
#ifndef GPUTAP_CLI_AMOUNTS_H
#define GPUTAP_CLI_AMOUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* "64M", "256KiB", "4096": bytes. */
bool parse_size(const char *text, uint64_t *out);
/* "100ms", "1s", "250us", "0": ns. */
bool parse_time(const char *text, uint64_t *out);
/* The same, and a number alone is seconds; also minutes ("2m", "2min") and hours ("1h"). */
bool parse_seconds(const char *text, uint64_t *out);

#endif
