/* SPDX-License-Identifier: MIT */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>

#include "cli/ui.h"

static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	ui_put_as(out, gt_put_json, text);
	fputc('"', out);
}

static void write_lead(struct json *j, const char *key)
{
	if (j->depth) {
		fputs(j->filled[j->depth] ? ",\n" : "\n", j->out);
		fprintf(j->out, "%*s", (int)j->depth * 2, "");
		j->filled[j->depth] = true;
	}
	if (key) {
		put_text(j->out, key);
		fputs(": ", j->out);
	}
}

static void open_level(struct json *j, const char *key, char opening, char closing)
{
	write_lead(j, key);
	fputc(opening, j->out);
	j->depth++;
	j->filled[j->depth] = false;
	j->closing[j->depth] = closing;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void json_close(struct json *j)
{
	char closing = j->closing[j->depth];
	bool filled = j->filled[j->depth];

	j->depth--;
	if (filled)
		fprintf(j->out, "\n%*s", (int)j->depth * 2, "");
	fputc(closing, j->out);
	if (!j->depth)
		fputc('\n', j->out);
}

void json_string(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	write_lead(j, key);
	put_text(j->out, value);
}

void json_count(struct json *j, const char *key, uint64_t value)
{
	write_lead(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_integer(struct json *j, const char *key, int64_t value)
{
	write_lead(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_number(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	write_lead(j, key);
	fprintf(j->out, "%.6g", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	write_lead(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	write_lead(j, key);
	fputs("null", j->out);
}
