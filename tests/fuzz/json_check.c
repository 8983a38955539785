/* SPDX-License-Identifier: MIT */
/* See json_check.h. */
#include "json_check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct scan {
	const char *at, *end;
	unsigned depth;
};

/* Return the number of bytes of the character, or 0 if the character is invalid. */
static size_t character_bytes(const unsigned char *p, size_t rest)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	uint32_t code = n > 1 ? p[0] & (0x7fu >> n) : p[0];

	if (!n || n > rest || p[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if ((n == 3 && code < 0x800) || (n == 4 && code < 0x10000) || code > 0x10ffff)
		return 0;
	return code >= 0xd800 && code < 0xe000 ? 0 : n;
}

size_t text_check(const char *text, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t at = 0; at < bytes;) {
		size_t n = character_bytes(p + at, bytes - at);

		if (!n || (p[at] < 0x20 && p[at] != '\n') || p[at] == 0x7f ||
		    (p[at] == 0xc2 && p[at + 1] < 0xa0))
			return at;
		at += n;
	}
	return bytes;
}

static void skip_space(struct scan *s)
{
	while (s->at < s->end && memchr(" \n\r\t", *s->at, 4))
		s->at++;
}

static bool take(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
		return false;
	s->at += n;
	return true;
}

static bool scan_string(struct scan *s)
{
	if (!take(s, "\""))
		return false;
	while (s->at < s->end && *s->at != '"') {
		size_t n = character_bytes((const unsigned char *)s->at, (size_t)(s->end - s->at));

		if (!n || (unsigned char)*s->at < 0x20)
			return false;
		if (*s->at == '\\') {
			if (++s->at == s->end || !*s->at || !strchr("\"\\/bfnrtu", *s->at))
				return false;
			for (int i = 0; *s->at == 'u' && i < 4; i++)
				if (s->end - s->at < 6 ||
				    !strchr("0123456789abcdefABCDEF", s->at[1 + i]))
					return false;
		}
		s->at += n;
	}
	return take(s, "\"");
}

static bool scan_digits(struct scan *s)
{
	const char *first = s->at;

	while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
		s->at++;
	return s->at > first;
}

static bool scan_number(struct scan *s)
{
	take(s, "-");
	if (!take(s, "0") && !scan_digits(s))
		return false;
	if (take(s, ".") && !scan_digits(s))
		return false;
	if (take(s, "e") || take(s, "E")) {
		if (!take(s, "+"))
			take(s, "-");
		return scan_digits(s);
	}
	return true;
}

static bool scan_value(struct scan *s);

/* Parse members or elements, after the opening bracket. */
static bool scan_list(struct scan *s, const char *closing, bool is_object)
{
	if (++s->depth > DEPTH_MAX)
		return false;
	skip_space(s);
	if (!take(s, closing)) {
		do {
			skip_space(s);
			if (is_object) {
				if (!scan_string(s))
					return false;
				skip_space(s);
				if (!take(s, ":"))
					return false;
			}
			if (!scan_value(s))
				return false;
			skip_space(s);
		} while (take(s, ","));
		if (!take(s, closing))
			return false;
	}
	s->depth--;
	return true;
}

static bool scan_value(struct scan *s)
{
	skip_space(s);
	if (s->at == s->end)
		return false;
	switch (*s->at) {
	case '{': s->at++; return scan_list(s, "}", true);
	case '[': s->at++; return scan_list(s, "]", false);
	case '"': return scan_string(s);
	case 't': return take(s, "true");
	case 'f': return take(s, "false");
	case 'n': return take(s, "null");
	default: return scan_number(s);
	}
}

size_t json_check(const char *text, size_t bytes, bool several)
{
	struct scan s = {text, text + bytes, 0};
	bool valid;

	do {
		valid = scan_value(&s);
		if (valid)
			skip_space(&s);
	} while (valid && several && s.at < s.end);
	return (size_t)(s.at - text);
}
