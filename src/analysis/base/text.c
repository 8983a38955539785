/* SPDX-License-Identifier: MIT */
#include "analysis/base/text.h"

#include <string.h>

#include "analysis/base/number.h"

/* Characters ------------------------------------------------------------------- */

/* Return the length of the UTF-8 sequence at @text (2 to 4); 0: invalid. */
static unsigned sequence_length(const unsigned char *text, size_t bytes)
{
	unsigned char first = text[0], low = 0x80, high = 0xbf;
	unsigned length;

	if (first < 0xc2 || first > 0xf4)
		return 0;
	length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (bytes < length)
		return 0;
	switch (first) {
	case 0xe0: low = 0xa0; break;  /* overlong */
	case 0xed: high = 0x9f; break; /* surrogates */
	case 0xf0: low = 0x90; break;  /* overlong */
	case 0xf4: high = 0x8f; break; /* over U+10FFFF */
	}
	if (text[1] < low || text[1] > high)
		return 0;
	for (unsigned i = 2; i < length; i++)
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	return length;
}

unsigned gt_text_next(const char *text, size_t bytes, uint32_t *character)
{
	const unsigned char *t = (const unsigned char *)text;
	unsigned length = *t < 0x80 ? 1 : sequence_length(t, bytes);

	if (!length) {
		*character = GT_TEXT_BAD;
		return 1;
	}
	*character = length == 1 ? *t : *t & (0x7fu >> length);
	for (unsigned i = 1; i < length; i++)
		*character = *character << 6 | (t[i] & 0x3fu);
	return length;
}

bool gt_text_is_control(uint32_t c)
{
	if (c < 0xa0)
		return c < 0x20 || c >= 0x7f;
	return c == 0x061c || (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfffe || c == 0xffff || c == GT_TEXT_BAD;
}

static char *put_replacement(char *p)
{
	return GT_PUT(p, "\xef\xbf\xbd");
}

/* Write @character, escaped for an output format. Return the end, or NULL if it needs no escape. */
typedef char *escape_fn(char *p, uint32_t character);

static inline char *put_escaped(char *p, const char *text, size_t bytes, escape_fn *escape)
{
	for (const char *end = text + bytes; text < end;) {
		uint32_t c;
		unsigned length = gt_text_next(text, (size_t)(end - text), &c);
		char *next = escape(p, c);

		p = next ? next : gt_put(p, text, length);
		text += length;
	}
	return p;
}

/* Binary formats --------------------------------------------------------------- */

static char *escape_utf8(char *p, uint32_t c)
{
	return c == GT_TEXT_BAD ? put_replacement(p) : NULL;
}

char *gt_put_utf8(char *p, const char *text, size_t bytes)
{
	return put_escaped(p, text, bytes, escape_utf8);
}

/* JSON ------------------------------------------------------------------------- */

static char *put_u(char *p, uint32_t c)
{
	p = GT_PUT(p, "\\u");
	for (int shift = 12; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[c >> shift & 15];
	return p;
}

static char *escape_json(char *p, uint32_t c)
{
	switch (c) {
	case '"': return GT_PUT(p, "\\\"");
	case '\\': return GT_PUT(p, "\\\\");
	case '\n': return GT_PUT(p, "\\n");
	case '\r': return GT_PUT(p, "\\r");
	case '\t': return GT_PUT(p, "\\t");
	case GT_TEXT_BAD: return put_replacement(p);
	default: return gt_text_is_control(c) ? put_u(p, c) : NULL;
	}
}

char *gt_put_json(char *p, const char *text, size_t bytes)
{
	size_t plain = 0;

	/* The plain prefix is usually the whole text. */
	while (plain < bytes && text[plain] >= 0x20 && text[plain] < 0x7f && text[plain] != '"' &&
	       text[plain] != '\\') {
		*p++ = text[plain++];
	}
	return put_escaped(p, text + plain, bytes - plain, escape_json);
}

static char *escape_page_json(char *p, uint32_t c)
{
	if (c < 0x80 && c && strchr("\"\\<>&'\n\t", (int)c))
		return put_u(p, c);
	return gt_text_is_control(c) ? put_replacement(p) : NULL;
}

char *gt_put_page_json(char *p, const char *text, size_t bytes)
{
	return put_escaped(p, text, bytes, escape_page_json);
}

/* CSV -------------------------------------------------------------------------- */

static size_t count_digits(const char *text, size_t bytes)
{
	size_t n = 0;

	while (n < bytes && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

/* Return true for a number such as -12.5e+3. */
static bool is_number(const char *text, size_t bytes)
{
	size_t at = bytes && (*text == '-' || *text == '+'), digits;

	digits = count_digits(text + at, bytes - at);
	at += digits;
	if (at < bytes && text[at] == '.') {
		size_t more = count_digits(text + at + 1, bytes - at - 1);

		at += 1 + more;
		digits += more;
	}
	if (digits && at < bytes && (text[at] | 0x20) == 'e') {
		at += 1 + (at + 1 < bytes && (text[at + 1] == '-' || text[at + 1] == '+'));
		digits = count_digits(text + at, bytes - at);
		at += digits;
	}
	return digits && at == bytes;
}

/* Return true for a text that needs a leading apostrophe. This includes texts that start with an
 * apostrophe, so that removing one restores the text exactly. */
static bool is_formula(const char *text, size_t bytes)
{
	size_t at = 0;
	uint32_t c;

	while (at < bytes && (text[at] == ' ' || text[at] == '\''))
		at++;
	if (at == bytes)
		return false;
	gt_text_next(text + at, bytes - at, &c);
	if (c >= 0xff00 && c < 0xff5f) /* full-width forms */
		c -= 0xfee0;
	return (c == '=' || c == '+' || c == '-' || c == '@' || c == '\t' || c == '\n') &&
	       !is_number(text, bytes);
}

static char *escape_csv(char *p, uint32_t c)
{
	if (c == '"')
		return GT_PUT(p, "\"\"");
	return gt_text_is_control(c) && c != '\t' && c != '\n' ? put_replacement(p) : NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The compiler compares all bytes at once. Bytes from 0x80 on are negative. */
typedef int8_t csv_bytes __attribute__((vector_size(16)));

static void find_csv_bytes(const char *text, csv_bytes *special, csv_bytes *commas)
{
	csv_bytes v;

	memcpy(&v, text, sizeof v);
	*special |= (v < ' ') | (v == '"') | (v == 0x7f);
	*commas |= v == ',';
}

static bool is_any_set(csv_bytes v)
{
	uint64_t halves[2];

	memcpy(halves, &v, sizeof v);
	return halves[0] | halves[1];
}

bool gt_csv_is_plain(const char *text, size_t bytes, bool *quoted)
{
	csv_bytes special = {0}, commas = {0};
	char padded[sizeof special];
	size_t at = 0;

	*quoted = false;
	if (!bytes)
		return true;
	for (; bytes - at >= sizeof special; at += sizeof special)
		find_csv_bytes(text + at, &special, &commas);
	if (bytes >= sizeof special) { /* the last bytes; some were compared before */
		find_csv_bytes(text + bytes - sizeof special, &special, &commas);
	} else {
		memset(padded, 'a', sizeof padded);
		memcpy(padded, text, bytes);
		find_csv_bytes(padded, &special, &commas);
	}
	*quoted = is_any_set(commas) || is_blank(text[0]) || is_blank(text[bytes - 1]);
	return !is_any_set(special) && !is_formula(text, bytes);
}

char *gt_put_csv(char *p, const char *text, size_t bytes)
{
	bool formula, quoted;

	if (gt_csv_is_plain(text, bytes, &quoted)) {
		if (quoted)
			*p++ = '"';
		p = gt_put(p, text, bytes);
		if (quoted)
			*p++ = '"';
		return p;
	}
	formula = is_formula(text, bytes);
	for (size_t i = 0; i < bytes && !quoted; i++)
		quoted = text[i] == '"' || text[i] == '\n';
	if (quoted)
		*p++ = '"';
	if (formula)
		*p++ = '\'';
	p = put_escaped(p, text, bytes, escape_csv);
	if (quoted)
		*p++ = '"';
	return p;
}

/* Pages ------------------------------------------------------------------------ */

/* Write a numeric reference such as &#38; */
static char *put_reference(char *p, uint32_t c)
{
	p = gt_put_u64(GT_PUT(p, "&#"), c);
	*p++ = ';';
	return p;
}

static char *escape_page(char *p, uint32_t c)
{
	if (c < 0x80 && c && strchr("<>&\"'", (int)c))
		return put_reference(p, c);
	return gt_text_is_control(c) ? put_replacement(p) : NULL;
}

char *gt_put_page(char *p, const char *text, size_t bytes)
{
	return put_escaped(p, text, bytes, escape_page);
}

/* Escape characters of CommonMark's and GitHub's inline markup. "www." and "x@y" would create
 * links. */
static char *escape_markdown(char *p, uint32_t c)
{
	if (c < 0x80 && c && strchr("<>&\"'|`*_[]~@#:.$!\\", (int)c))
		return put_reference(p, c);
	return gt_text_is_control(c) ? put_replacement(p) : NULL;
}

char *gt_put_markdown(char *p, const char *text, size_t bytes)
{
	return put_escaped(p, text, bytes, escape_markdown);
}

/* Text formats of other programs --------------------------------------------------- */

static char *put_character(char *p, char c)
{
	*p++ = c;
	return p;
}

static char *escape_frame(char *p, uint32_t c)
{
	if (c == GT_TEXT_BAD)
		return put_replacement(p);
	if (c == ';')
		return put_character(p, ',');
	return gt_text_is_control(c) ? put_character(p, ' ') : NULL;
}

char *gt_put_frame(char *p, const char *text, size_t bytes)
{
	return put_escaped(p, text, bytes, escape_frame);
}

static char *escape_harmless(char *p, uint32_t c)
{
	switch (c) {
	case '"': return put_character(p, '\'');
	case '\\': return put_character(p, '/');
	case GT_TEXT_BAD: return put_replacement(p);
	default: return gt_text_is_control(c) ? put_character(p, ' ') : NULL;
	}
}

char *gt_put_harmless(char *p, const char *text, size_t bytes)
{
	return put_escaped(p, text, bytes, escape_harmless);
}

/* Lengths and hashes ------------------------------------------------------------- */

size_t gt_cut_utf8(const char *text, size_t bytes, size_t most)
{
	if (bytes <= most)
		return bytes;
	while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

uint64_t gt_text_hash(const char *text, size_t bytes, uint64_t seed)
{
	uint64_t h = seed ^ bytes * 0x9e3779b97f4a7c15u, word;

	for (; bytes >= 8; text += 8, bytes -= 8) {
		memcpy(&word, text, 8);
		h = (h ^ word) * 0xbf58476d1ce4e5b9u;
		h ^= h >> 29;
	}
	word = 0;
	memcpy(&word, text, bytes);
	h = (h ^ word) * 0x94d049bb133111ebu;
	return h ^ h >> 32;
}
