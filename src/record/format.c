/* SPDX-License-Identifier: MIT */
/* Formats the arguments of a call as text, using the generated description.
 *
 * Exporters format millions of calls. Therefore this code uses no printf(), one pass, and one
 * bounds check per piece. The output is valid UTF-8 (other bytes are written as \xHH) and one line,
 * for any input from the traced program. A word or payload that does not fit its description is
 * shown raw, because records come from files and are not trusted. */
#include <stdio.h>
#include <string.h>

#include "record/describe.h"

/* Text is written to `at`; bytes beyond `end` are only counted. */
struct text_out {
	char *at, *end;
	size_t beyond;
};

static __attribute__((noinline)) void put_part(struct text_out *t, const char *s, size_t n)
{
	size_t room = (size_t)(t->end - t->at);

	if (room)
		memcpy(t->at, s, room);
	t->at = t->end;
	t->beyond += n - room;
}

/* Copy a short part. Most parts have fewer than 32 bytes: two overlapping stores and no call. */
static inline void copy_short(char *to, const char *from, size_t n)
{
	if (n > 32)
		memcpy(to, from, n);
	else if (n >= 16)
		memcpy(to, from, 16), memcpy(to + n - 16, from + n - 16, 16);
	else if (n >= 8)
		memcpy(to, from, 8), memcpy(to + n - 8, from + n - 8, 8);
	else if (n >= 4)
		memcpy(to, from, 4), memcpy(to + n - 4, from + n - 4, 4);
	else if (n)
		to[0] = from[0], to[n / 2] = from[n / 2], to[n - 1] = from[n - 1];
}

static inline void put_text_part(struct text_out *t, const char *s, size_t n)
{
	if (n > (size_t)(t->end - t->at)) {
		put_part(t, s, n);
		return;
	}
	copy_short(t->at, s, n);
	t->at += n;
}

static inline void put_char(struct text_out *t, char c)
{
	if (t->at < t->end)
		*t->at++ = c;
	else
		t->beyond++;
}

#define PUT(t, literal) put_text_part(t, literal, sizeof literal - 1)

static void put_unsigned(struct text_out *t, uint64_t v)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
		"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";
	char digits[20], *p = digits + sizeof digits;

	if (v < 10) { /* many counts and sizes */
		put_char(t, (char)('0' + v));
		return;
	}
	while (v >= 100) {
		p -= 2;
		memcpy(p, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		p -= 2;
		memcpy(p, pairs + v * 2, 2);
	} else {
		*--p = (char)('0' + v);
	}
	put_text_part(t, p, (size_t)(digits + sizeof digits - p));
}

static void put_signed(struct text_out *t, int64_t v)
{
	if (v < 0)
		PUT(t, "-");
	put_unsigned(t, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* Return eight hexadecimal digits with the last one in the highest byte. */
static uint64_t hex_digits(uint32_t v)
{
	uint64_t x = v, above_9;

	/* spread halves, bytes and nibbles; the highest ends up lowest */
	x = (x << 16 | x) & UINT64_C(0x0000ffff0000ffff);
	x = (x & UINT64_C(0xffff)) << 32 | x >> 32;
	x = ((x >> 8) & UINT64_C(0x000000ff000000ff)) | (x & UINT64_C(0x000000ff000000ff)) << 16;
	x = ((x >> 4) & UINT64_C(0x000f000f000f000f)) | (x & UINT64_C(0x000f000f000f000f)) << 8;
	above_9 = ((x + UINT64_C(0x0606060606060606)) >> 4) & UINT64_C(0x0101010101010101);
	return x + UINT64_C(0x3030303030303030) + above_9 * ('a' - '0' - 10);
}

enum { HEX_MAX = 2 + 16 };

/* Write at @to; may write up to HEX_MAX bytes, even if the text is shorter. Return the end. */
static inline char *write_hex(char *to, uint64_t v)
{
	unsigned zeros = v ? (unsigned)__builtin_clzll(v) / 4 : 15;
	uint64_t left = v << 4 * zeros, high = hex_digits((uint32_t)(left >> 32)),
		 low = hex_digits((uint32_t)left);

	memcpy(to, "0x", 2);
	memcpy(to + 2, &high, 8);
	memcpy(to + 10, &low, 8);
	return to + HEX_MAX - zeros;
}

static void put_hex(struct text_out *t, uint64_t v)
{
	char text[HEX_MAX];

	if (__builtin_expect(t->end - t->at >= HEX_MAX, 1))
		t->at = write_hex(t->at, v);
	else
		put_text_part(t, text, (size_t)(write_hex(text, v) - text));
}

static void put_address(struct text_out *t, uint64_t v)
{
	if (v)
		put_hex(t, v);
	else
		PUT(t, "NULL");
}

static void put_flags(struct text_out *t, const struct gt_type *type, uint64_t v)
{
	const struct gt_value_name *whole = gt_value_name(type, (int64_t)v);
	uint64_t left = v;

	if (whole) {
		put_text_part(t, whole->name, whole->bytes);
		return;
	}
	for (size_t i = 0; i < type->name_count && left; i++) {
		const struct gt_value_name *n = &type->names[i];
		uint64_t bit = (uint64_t)n->value;

		if (!bit || (bit & (bit - 1)) || !(left & bit))
			continue;
		if (left != v)
			PUT(t, "|");
		put_text_part(t, n->name, n->bytes);
		left &= ~bit;
	}
	if (left || !v) {
		if (left != v)
			PUT(t, "|");
		if (v)
			put_hex(t, left);
		else
			PUT(t, "0");
	}
}

/* Format a float with printf, because floats are rare (elapsed times of events). */
static __attribute__((noinline)) void put_float(struct text_out *t, const struct gt_type *type,
						uint64_t v)
{
	uint32_t bits = (uint32_t)v;
	char digits[32];
	double d;
	float f;

	memcpy(&f, &bits, sizeof f);
	memcpy(&d, &v, sizeof d);
	if (type->bytes == sizeof d)
		snprintf(digits, sizeof digits, "%.17g", d);
	else
		snprintf(digits, sizeof digits, "%.9g", (double)f);
	put_text_part(t, digits, strlen(digits));
}

static void put_value(struct text_out *t, const struct gt_type *type, uint64_t v)
{
	const struct gt_value_name *name;

	switch (type->class & GT_TYPE_CLASS) {
	case GT_TYPE_SIGNED: put_signed(t, (int64_t)v); return;
	case GT_TYPE_ADDRESS: put_address(t, v); return;
	case GT_TYPE_FLOAT: put_float(t, type, v); return;
	case GT_TYPE_FLAGS: put_flags(t, type, v); return;
	case GT_TYPE_ENUM:
	case GT_TYPE_PROPERTIES:
		name = gt_value_name(type, (int64_t)v);
		if (name)
			put_text_part(t, name->name, name->bytes);
		else if (type->class & GT_TYPE_IS_SIGNED)
			put_signed(t, (int64_t)v);
		else
			put_hex(t, v);
		return;
	default: put_unsigned(t, v);
	}
}

uint64_t gt_value_load(const struct gt_type *type, const uint8_t *p)
{
	bool negative = type->class == GT_TYPE_SIGNED || type->class & GT_TYPE_IS_SIGNED;
	uint64_t v = 0;

	/* valid only on little-endian machines, and only such machines write records */
	memcpy(&v, p, type->bytes < 8 ? type->bytes : 8);
	if (negative && type->bytes == 4)
		return (uint64_t)(int64_t)(int32_t)v;
	return v;
}

/* Return the length in bytes of the UTF-8 character at @p, or 0 if the character is invalid. */
static size_t utf8_length(const uint8_t *p, size_t n)
{
	size_t bytes = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (!bytes || bytes > n)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return bytes;
}

static void put_string(struct text_out *t, const uint8_t *p, size_t n)
{
	static const char hex[] = "0123456789abcdef";

	PUT(t, "\"");
	for (size_t i = 0; i < n;) {
		size_t plain = i;

		while (plain < n && p[plain] >= 0x20 && p[plain] < 0x7f && p[plain] != '"' &&
		       p[plain] != '\\')
			plain++;
		put_text_part(t, (const char *)p + i, plain - i);
		i = plain;
		if (i == n)
			break;
		size_t wide = utf8_length(p + i, n - i);

		if (wide) {
			put_text_part(t, (const char *)p + i, wide);
			i += wide;
			continue;
		}
		char letter = p[i] == '\n'                  ? 'n'
			      : p[i] == '\t'                ? 't'
			      : p[i] == '"' || p[i] == '\\' ? (char)p[i]
							    : 0;

		if (letter)
			put_text_part(t, (char[]){'\\', letter}, 2);
		else
			put_text_part(t, (char[]){'\\', 'x', hex[p[i] >> 4], hex[p[i] & 15]}, 4);
		i++;
	}
	PUT(t, "\"");
}

static void put_bytes(struct text_out *t, const uint8_t *p, size_t n, bool cut)
{
	uint64_t v = 0;

	if (!cut && (n == 1 || n == 2 || n == 4 || n == 8)) {
		memcpy(&v, p, n);
		put_hex(t, v);
		return;
	}
	PUT(t, "[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			PUT(t, " ");
		put_text_part(t,
			      (char[]){"0123456789abcdef"[p[i] >> 4],
				       "0123456789abcdef"[p[i] & 15]},
			      2);
	}
	if (cut)
		PUT(t, " ..");
	PUT(t, "]");
}

static void put_array(struct text_out *t, const struct gt_type *type, const uint8_t *p, size_t n,
		      bool cut)
{
	PUT(t, "[");
	for (size_t i = 0; i + type->bytes <= n; i += type->bytes) {
		if (i)
			PUT(t, ", ");
		put_value(t, type, gt_value_load(type, p + i));
	}
	if (cut)
		PUT(t, ", ..");
	PUT(t, "]");
}

static void put_properties(struct text_out *t, const struct gt_type *types,
			   const struct gt_type *type, const uint8_t *p, size_t n, bool cut)
{
	PUT(t, "{");
	for (size_t i = 0; i + 16 <= n; i += 16) {
		uint64_t key = gt_value_load(type, p + i), v;
		const struct gt_value_name *name = gt_value_name(type, (int64_t)key);

		memcpy(&v, p + i + 8, sizeof v);
		if (i)
			PUT(t, ", ");
		put_value(t, type, key);
		put_char(t, '=');
		if (name && name->value_type)
			put_value(t, &types[name->value_type], v);
		else
			put_hex(t, v);
	}
	if (cut)
		PUT(t, ", ..");
	PUT(t, "}");
}

static void put_struct(struct text_out *t, const struct gt_type *types, const struct gt_type *type,
		       const uint8_t *p, size_t n)
{
	PUT(t, "{");
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gt_field *f = &type->fields[i];

		if ((size_t)f->offset + types[f->type].bytes > n)
			break;
		if (i)
			PUT(t, ", ");
		put_text_part(t, f->name, f->bytes);
		put_char(t, '=');
		put_value(t, &types[f->type], gt_value_load(&types[f->type], p + f->offset));
	}
	PUT(t, "}");
}

const uint8_t *gt_payload_find(const uint8_t *payload, uint32_t bytes, unsigned arg,
			       struct gt_payload *h)
{
	while (bytes >= sizeof *h) {
		memcpy(h, payload, sizeof *h);
		payload += sizeof *h;
		bytes -= (uint32_t)sizeof *h;
		if (h->bytes > bytes)
			return NULL;
		if (h->arg == arg)
			return payload;
		uint32_t padded = (h->bytes + 7) & ~(uint32_t)7;

		if (padded > bytes)
			return NULL;
		payload += padded;
		bytes -= padded;
	}
	return NULL;
}

static void put_argument(struct text_out *t, const struct gt_domain_description *d,
			 const struct gt_operation_info *info, unsigned arg, unsigned nargs,
			 const uint64_t *args, const uint8_t *payload, uint32_t payload_bytes)
{
	const struct gt_argument_info *a = &info->args[arg];
	const struct gt_type *type = &d->types[a->value_type];
	struct gt_payload h;
	const uint8_t *p;

	if (a->how == GT_HOW_VALUE) {
		put_value(t, type, args[arg]);
		return;
	}
	p = gt_payload_find(payload, payload_bytes, arg, &h);
	if (!p) {
		put_address(t, args[arg]);
		return;
	}
	bool cut = h.flags & GT_PAYLOAD_TRUNCATED, more;

	switch (a->how) {
	case GT_HOW_STRING:
	case GT_HOW_STRINGS:
	case GT_HOW_NAMED:
		more = a->how == GT_HOW_STRINGS && a->length_arg < nargs && args[a->length_arg] > 1;
		if (more)
			PUT(t, "[");
		put_string(t, p, h.bytes);
		if (cut)
			PUT(t, "..");
		if (more)
			PUT(t, ", ..]");
		return;
	case GT_HOW_ARRAY: put_array(t, type, p, h.bytes, cut); return;
	case GT_HOW_LIST: /* without the terminating 0 */
		put_array(t, type, p, h.bytes - (cut || h.bytes < 8 ? 0 : 8), cut);
		return;
	case GT_HOW_STRUCT: put_struct(t, d->types, type, p, h.bytes); return;
	case GT_HOW_PROPERTIES: put_properties(t, d->types, type, p, h.bytes, cut); return;
	default: put_bytes(t, p, h.bytes, cut);
	}
}

static struct text_out begin_text(char *buffer, size_t size)
{
	/* reserve one byte for the terminator */
	return (struct text_out){buffer, size ? buffer + size - 1 : buffer, 0};
}

static size_t finish(struct text_out *t, const char *buffer, size_t size)
{
	if (size)
		*t->at = '\0';
	return (size_t)(t->at - buffer) + t->beyond;
}

size_t gt_format_args(char *buffer, size_t size, uint32_t op, uint64_t ret, const uint64_t *args,
		      const uint8_t *payload, uint32_t payload_bytes, const char *separator)
{
	const struct gt_operation_info *info = gt_operation(op);
	const struct gt_domain_description *d =
		gt_domain_description((enum gt_domain)GT_OP_DOMAIN(op));
	unsigned nargs = GT_OP_NARGS(op);
	size_t between = strlen(separator);
	struct text_out t = begin_text(buffer, size);

	(void)ret;
	for (unsigned i = 0; i < nargs; i++) {
		if (i)
			put_text_part(&t, separator, between);
		if (info && i < info->nargs) {
			put_text_part(&t, info->args[i].name, info->args[i].name_bytes);
			put_char(&t, '=');
			put_argument(&t, d, info, i, nargs, args, payload, payload_bytes);
		} else { /* recorded by a newer gputap that knew more arguments */
			put_hex(&t, args[i]);
		}
	}
	return finish(&t, buffer, size);
}

size_t gt_format_arg(char *buffer, size_t size, uint32_t op, unsigned arg, const uint64_t *args,
		     const uint8_t *payload, uint32_t payload_bytes)
{
	const struct gt_operation_info *info = gt_operation(op);
	struct text_out t = begin_text(buffer, size);
	unsigned nargs = GT_OP_NARGS(op);

	if (arg < nargs && info && arg < info->nargs)
		put_argument(&t, gt_domain_description((enum gt_domain)GT_OP_DOMAIN(op)), info, arg,
			     nargs, args, payload, payload_bytes);
	else if (arg < nargs)
		put_hex(&t, args[arg]);
	return finish(&t, buffer, size);
}

size_t gt_format_value(char *buffer, size_t size, const struct gt_domain_description *d,
		       const struct gt_type *type, const uint8_t *p, size_t bytes)
{
	struct text_out t = begin_text(buffer, size);

	if (type->class == GT_TYPE_STRUCT)
		put_struct(&t, d->types, type, p, bytes);
	else
		put_value(&t, type, gt_value_load(type, p));
	return finish(&t, buffer, size);
}

size_t gt_format_string(char *buffer, size_t size, const char *string, size_t bytes, bool cut)
{
	struct text_out t = begin_text(buffer, size);

	put_string(&t, (const uint8_t *)string, bytes);
	if (cut)
		PUT(&t, "..");
	return finish(&t, buffer, size);
}
