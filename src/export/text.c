/* SPDX-License-Identifier: MIT */
#include "export/text.h"

#include <stdbool.h>
#include <string.h>

#include "export/number.h"

unsigned gt_utf8_length(const unsigned char *text, size_t bytes)
{
	unsigned char first = text[0], low = 0x80, high = 0xbf;
	unsigned length;

	if (first < 0x80)
		return 1;
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

static char *put_replacement(char *p)
{
	return GT_PUT(p, "\xef\xbf\xbd");
}

char *gt_put_utf8(char *p, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		unsigned length = gt_utf8_length((const unsigned char *)text + i, bytes - i);

		if (!length) {
			p = put_replacement(p);
			i++;
			continue;
		}
		p = gt_put(p, text + i, length);
		i += length;
	}
	return p;
}

static char *put_json_escape(char *p, unsigned char c)
{
	*p++ = '\\';
	switch (c) {
	case '"': *p++ = '"'; return p;
	case '\\': *p++ = '\\'; return p;
	case '\n': *p++ = 'n'; return p;
	case '\r': *p++ = 'r'; return p;
	case '\t': *p++ = 't'; return p;
	default:
		p = GT_PUT(p, "u00");
		*p++ = "0123456789abcdef"[c >> 4];
		*p++ = "0123456789abcdef"[c & 15];
		return p;
	}
}

char *gt_put_json(char *p, const char *text, size_t bytes)
{
	const unsigned char *t = (const unsigned char *)text;

	for (size_t i = 0; i < bytes;) {
		unsigned length;

		if (t[i] >= 0x20 && t[i] < 0x7f && t[i] != '"' && t[i] != '\\') {
			*p++ = (char)t[i++];
			continue;
		}
		if (t[i] < 0x80) { /* DEL too: legal, but some readers stumble */
			p = put_json_escape(p, t[i++]);
			continue;
		}
		length = gt_utf8_length(t + i, bytes - i);
		p = length ? gt_put(p, text + i, length) : put_replacement(p);
		i += length ? length : 1;
	}
	return p;
}

char *gt_put_csv(char *p, const char *text, size_t bytes)
{
	bool quoted = bytes && (text[0] == ' ' || text[bytes - 1] == ' ');

	for (size_t i = 0; i < bytes && !quoted; i++)
		quoted = text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
	if (!quoted)
		return gt_put_utf8(p, text, bytes);
	*p++ = '"';
	while (bytes) {
		const char *quote = memchr(text, '"', bytes);
		size_t part = quote ? (size_t)(quote - text) + 1 : bytes;

		p = gt_put_utf8(p, text, part);
		if (quote)
			*p++ = '"';
		text += part;
		bytes -= part;
	}
	*p++ = '"';
	return p;
}

char *gt_put_harmless(char *p, const char *text, size_t bytes)
{
	const char *end = text + bytes;

	while (text < end) {
		unsigned char c = (unsigned char)*text;
		unsigned n;

		if (c >= 0x80) {
			n = gt_utf8_length((const unsigned char *)text, (size_t)(end - text));
			p = n ? gt_put(p, text, n) : gt_put(p, "\xef\xbf\xbd", 3);
			text += n ? n : 1;
			continue;
		}
		*p++ = c < 0x20 || c == 0x7f ? ' ' : c == '"' ? '\'' : c == '\\' ? '/' : (char)c;
		text++;
	}
	return p;
}

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
