/* SPDX-License-Identifier: MIT */
/* Writes JSON for scripts: indented, and valid even if names contain arbitrary bytes (invalid UTF-8
 * becomes U+FFFD). */
#ifndef GPUTAP_CLI_JSON_H
#define GPUTAP_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	unsigned depth;
	bool filled[16]; /* true if this level already has a member */
	char closing[16];
};

/* Open an object. @key: NULL in an array and for the outermost value. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
/* Close the innermost object or array. Closing the outermost one also ends the line. */
void json_close(struct json *j);
void json_string(struct json *j, const char *key, const char *value); /* @value NULL: write null */
void json_count(struct json *j, const char *key, uint64_t value);
void json_integer(struct json *j, const char *key, int64_t value);
void json_number(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
