/* SPDX-License-Identifier: MIT */
/* See pack.h. */
#include "analysis/base/pack.h"

#include <string.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/lookup.h"

enum { MORE = 128, NUMBER_BYTES_MOST = 10 };

/* Make room for @bytes more. */
static bool make_room(struct pack *p, size_t bytes)
{
	if (p->wrong || bytes > p->used_most - p->used) {
		p->wrong = true;
		return false;
	}
	p->bytes = grow_list(p->bytes, p->used + bytes, &p->room, 1);
	return true;
}

static void put_number(struct pack *p, uint64_t value)
{
	if (!make_room(p, NUMBER_BYTES_MOST))
		return;
	for (; value >= MORE; value >>= 7)
		p->bytes[p->used++] = (uint8_t)(value | MORE);
	p->bytes[p->used++] = (uint8_t)value;
}

static uint64_t get_number(struct pack *p)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && p->from < p->end && !p->wrong; shift += 7) {
		const uint8_t byte = *p->from++;

		value |= (uint64_t)(byte & (MORE - 1)) << shift;
		if (!(byte & MORE))
			return value;
	}
	p->wrong = true;
	return 0;
}

void pack_u64(struct pack *p, uint64_t *value)
{
	if (pack_is_reading(p))
		*value = get_number(p);
	else
		put_number(p, *value);
}

void pack_u32(struct pack *p, uint32_t *value)
{
	uint64_t wide = *value;

	pack_u64(p, &wide);
	p->wrong |= wide > UINT32_MAX;
	if (pack_is_reading(p))
		*value = p->wrong ? 0 : (uint32_t)wide;
}

void pack_bool(struct pack *p, bool *value)
{
	uint32_t number = *value;

	pack_number(p, &number, 2, false);
	*value = number;
}

void pack_number(struct pack *p, uint32_t *value, uint32_t limit, bool or_none)
{
	uint64_t number = (uint64_t)*value + or_none;

	if (or_none && *value == LOOKUP_NONE)
		number = 0;
	pack_u64(p, &number);
	p->wrong |= number >= (uint64_t)limit + or_none;
	if (!pack_is_reading(p))
		return;
	if (p->wrong)
		*value = or_none ? LOOKUP_NONE : 0;
	else
		*value = or_none && !number ? LOOKUP_NONE : (uint32_t)number - or_none;
}

void pack_count(struct pack *p, uint32_t *count, size_t least_bytes)
{
	pack_u32(p, count);
	if (!pack_is_reading(p))
		return;
	p->wrong |= *count > (size_t)(p->end - p->from) / least_bytes;
	*count = p->wrong ? 0 : *count;
}

static const char *get_text(struct pack *p)
{
	const uint64_t length = get_number(p);
	const char *text = (const char *)p->from;

	if (p->wrong || length >= (size_t)(p->end - p->from) ||
	    strnlen(text, length + 1) != length) {
		p->wrong = true;
		return "";
	}
	p->from += length + 1;
	return text;
}

void pack_text(struct pack *p, const char **text)
{
	size_t length;

	if (pack_is_reading(p)) {
		*text = get_text(p);
		return;
	}
	length = strlen(*text);
	put_number(p, length);
	if (!make_room(p, length + 1))
		return;
	memcpy(p->bytes + p->used, *text, length + 1);
	p->used += length + 1;
}
