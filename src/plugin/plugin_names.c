/* SPDX-License-Identifier: MIT */
/* Sanitises plug-ins' texts: UTF-8, without control characters, quotes and backslashes (Kineto
 * writes names into JSON unchanged). Each name is kept once, until the process ends, in a table
 * that maps plug-ins' original texts to the sanitised texts. Only one thread may call these
 * functions at a time. */
#include <stdlib.h>
#include <string.h>

#include "plugin/plugin_parts.h"

enum { NAME_BYTES_MOST = 4096, LINES_BYTES_MOST = 65536, CHUNK_BYTES = 65536 };

struct name_entry {
	uint64_t hash;
	uint32_t raw_bytes;
	uint32_t how;     /* enum gt_plugin_text */
	const char *text; /* sanitised text; the original bytes follow its NUL */
};

struct name_chunk {
	struct name_chunk *next;
	size_t used, bytes;
	char data[];
};

static struct name_entry *table;
static size_t table_size, table_used;
static struct name_chunk *name_chunks, *line_chunks;

static char *take_bytes(struct name_chunk **chunks, size_t bytes)
{
	struct name_chunk *c = *chunks;
	char *at;

	if (!c || c->bytes - c->used < bytes) {
		size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;

		c = malloc(sizeof *c + room);
		if (!c)
			return NULL;
		*c = (struct name_chunk){*chunks, 0, room};
		*chunks = c;
	}
	at = c->data + c->used;
	c->used += bytes;
	return at;
}

/* Return the length of the character at @s, or 0 if the character is not well-formed. @left:
 * readable bytes. */
static size_t character_bytes(const unsigned char *s, size_t left)
{
	size_t n = s[0] < 0x80   ? 1
		   : s[0] < 0xc2 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf5 ? 4
				 : 0;

	if (!n || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f) ||
	    (s[0] == 0xc2 && s[1] < 0xa0)) /* C1 control characters */
		return 0;
	return n;
}

static char mend_byte(unsigned char c, bool lines)
{
	if (c == '"')
		return '\'';
	if (c == '\\')
		return '/';
	if (c == '\n' && lines)
		return '\n';
	return c < ' ' || c == 0x7f ? ' ' : (char)c;
}

enum gt_plugin_text gt_plugin_mend(char *out, size_t size, const char *text, size_t bytes,
				   bool lines)
{
	const unsigned char *s = (const unsigned char *)text;
	enum gt_plugin_text how = bytes ? GT_TEXT_GOOD : GT_TEXT_NONE;
	size_t at = 0;

	for (size_t i = 0, n; i < bytes; i += n) {
		n = character_bytes(s + i, bytes - i);
		if (at + (n ? n : 1) >= size) {
			out[at] = 0;
			return GT_TEXT_MENDED;
		}
		if (n > 1) {
			memcpy(out + at, s + i, n);
			at += n;
			continue;
		}
		out[at] = n ? mend_byte(s[i], lines) : '?';
		n = 1;
		if (out[at] != (char)s[i])
			how = GT_TEXT_MENDED;
		at++;
	}
	out[at] = 0;
	return how;
}

static uint64_t hash_of(const char *text, size_t bytes)
{
	uint64_t hash = bytes * UINT64_C(0x9e3779b97f4a7c15), word;
	size_t i = 0;

	for (; i + 8 <= bytes; i += 8) {
		memcpy(&word, text + i, 8);
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, text + i, bytes - i);
	hash = (hash ^ word) * UINT64_C(0xc4ceb9fe1a85ec53);
	return (hash ^ hash >> 29) | 1; /* 0 marks a free slot */
}

static bool grow_table(void)
{
	size_t size = table_size ? 2 * table_size : 1024;
	struct name_entry *bigger = calloc(size, sizeof *bigger);

	if (!bigger)
		return false;
	for (size_t i = 0; i < table_size; i++)
		if (table[i].hash) {
			size_t at = table[i].hash & (size - 1);

			while (bigger[at].hash)
				at = (at + 1) & (size - 1);
			bigger[at] = table[i];
		}
	free(table);
	table = bigger;
	table_size = size;
	return true;
}

static const char *add_name(struct name_entry *e, uint64_t hash, const char *text, size_t bytes)
{
	char fit[NAME_BYTES_MOST + 1];
	enum gt_plugin_text how = gt_plugin_mend(fit, sizeof fit, text, bytes, false);
	size_t fit_bytes = strlen(fit) + 1;
	char *kept = take_bytes(&name_chunks, fit_bytes + bytes);

	if (!kept)
		return NULL;
	memcpy(kept, fit, fit_bytes);
	memcpy(kept + fit_bytes, text, bytes);
	*e = (struct name_entry){hash, (uint32_t)bytes, how, kept};
	table_used++;
	return kept;
}

const char *gt_plugin_name(const char *text, size_t room, enum gt_plugin_text *how)
{
	size_t bytes = text ? strnlen(text, room < NAME_BYTES_MOST ? room : NAME_BYTES_MOST) : 0;
	uint64_t hash;
	size_t at;

	*how = GT_TEXT_NONE;
	if (!bytes)
		return "unnamed";
	hash = hash_of(text, bytes);
	if (4 * table_used >= 3 * table_size && !grow_table())
		return "unnamed";
	for (at = hash & (table_size - 1); table[at].hash; at = (at + 1) & (table_size - 1)) {
		const struct name_entry *e = &table[at];

		if (e->hash == hash && e->raw_bytes == bytes &&
		    !memcmp(e->text + strlen(e->text) + 1, text, bytes)) {
			*how = (enum gt_plugin_text)e->how;
			return e->text;
		}
	}
	text = add_name(&table[at], hash, text, bytes);
	if (!text)
		return "unnamed";
	*how = (enum gt_plugin_text)table[at].how;
	return text;
}

const char *gt_plugin_lines(const char *text, size_t room, enum gt_plugin_text *how)
{
	size_t bytes = text ? strnlen(text, room < LINES_BYTES_MOST ? room : LINES_BYTES_MOST) : 0;
	char *kept;

	*how = GT_TEXT_GOOD;
	if (!bytes)
		return "";
	kept = take_bytes(&line_chunks, bytes + 1);
	if (!kept)
		return "";
	*how = gt_plugin_mend(kept, bytes + 1, text, bytes, true);
	return kept;
}

void gt_plugin_lines_clear(void)
{
	while (line_chunks) {
		struct name_chunk *next = line_chunks->next;

		free(line_chunks);
		line_chunks = next;
	}
}
