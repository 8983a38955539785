/* SPDX-License-Identifier: MIT */
/* Writes the Protocol Buffers wire format in place. Every function writes at @p and returns the
 * end. The caller guarantees enough room. */
#ifndef GPUTAP_EXPORT_PROTO_H
#define GPUTAP_EXPORT_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

enum { GT_PB_VARINT = 0, GT_PB_FIXED64 = 1, GT_PB_BYTES = 2 };

static inline char *gt_pb_varint(char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (char)v;
	return p;
}

/* Continuation bits of a varint's bytes, and number of bytes, indexed by leading zero bits. Entries
 * with 9 and 10 bytes make the caller use gt_pb_varint(). */
#define GT_PB_SEVEN(x) x, x, x, x, x, x, x
static const struct gt_pb_lengths {
	uint64_t more[65];
	uint8_t bytes[65];
} gt_pb_lengths = {
	{0, GT_PB_SEVEN(0), GT_PB_SEVEN(0x80808080808080), GT_PB_SEVEN(0x808080808080),
	 GT_PB_SEVEN(0x8080808080), GT_PB_SEVEN(0x80808080), GT_PB_SEVEN(0x808080),
	 GT_PB_SEVEN(0x8080), GT_PB_SEVEN(0x80), GT_PB_SEVEN(0), 0},
	{10, GT_PB_SEVEN(9), GT_PB_SEVEN(8), GT_PB_SEVEN(7), GT_PB_SEVEN(6), GT_PB_SEVEN(5),
	 GT_PB_SEVEN(4), GT_PB_SEVEN(3), GT_PB_SEVEN(2), GT_PB_SEVEN(1), 1},
};
#undef GT_PB_SEVEN

/* Encode a varint of at most 8 bytes in a word. Return its number of bytes; if that exceeds 8,
 * *word is not valid. */
static inline size_t gt_pb_varint_word(uint64_t v, uint64_t *word)
{
	const struct gt_pb_lengths *lengths = &gt_pb_lengths;
#ifdef __LZCNT__
	uint64_t zeros = _lzcnt_u64(v);
#else
	uint64_t zeros = v ? (uint64_t)__builtin_clzll(v) : 64;
#endif

	__asm__("" : "+r"(lengths)); /* forces one base address for both tables */
#ifdef __BMI2__
	v = _pdep_u64(v, 0x7f7f7f7f7f7f7f7fu);
#else
	/* Spread groups of 7 bits over bytes, in steps of 28, 14 and 7 bits. */
	v = (v & 0x00fffffff0000000u) << 4 | (v & 0x000000000fffffffu);
	v = (v & 0x0fffc0000fffc000u) << 2 | (v & 0x00003fff00003fffu);
	v = (v & 0x3f803f803f803f80u) << 1 | (v & 0x007f007f007f007fu);
#endif
	*word = v | lengths->more[zeros];
	return lengths->bytes[zeros];
}

/* Write a varint without a branch on its length. May write up to 10 bytes at @p. Return the number
 * of bytes of the varint. */
static inline size_t gt_pb_varint_at(char *p, uint64_t v)
{
	uint64_t word;
	size_t bytes = gt_pb_varint_word(v, &word);

	if (__builtin_expect(bytes > 8, 0))
		return (size_t)(gt_pb_varint(p, v) - p);
	memcpy(p, &word, sizeof word);
	return bytes;
}

static inline char *gt_pb_varint_wide(char *p, uint64_t v)
{
	return p + gt_pb_varint_at(p, v);
}

/* Bytes that are generated once and copied into many messages. They are copied in steps of 16, so
 * up to 15 extra bytes are written. */
struct gt_pb_snippet {
	uint8_t bytes;
	char data[63];
};

static inline char *gt_pb_put(char *p, const struct gt_pb_snippet *snippet)
{
	memcpy(p, snippet->data, 16);
	for (unsigned i = 16; __builtin_expect(i < snippet->bytes, 0); i += 16)
		memcpy(p + i, snippet->data + i, 16);
	return p + snippet->bytes;
}

/* Copy a snippet of at most 16 bytes. Always writes 16 bytes. */
static inline char *gt_pb_put_short(char *p, const struct gt_pb_snippet *snippet)
{
	memcpy(p, snippet->data, 16);
	return p + snippet->bytes;
}

static inline char *gt_pb_tag(char *p, uint32_t field, unsigned type)
{
	return gt_pb_varint(p, field << 3 | type);
}

static inline char *gt_pb_u64(char *p, uint32_t field, uint64_t v)
{
	return gt_pb_varint(gt_pb_tag(p, field, GT_PB_VARINT), v);
}

/* Write a fixed64, sfixed64 or double field; the encodings are identical. */
static inline char *gt_pb_fixed64(char *p, uint32_t field, uint64_t bits)
{
	p = gt_pb_tag(p, field, GT_PB_FIXED64);
	memcpy(p, &bits, sizeof bits); /* little-endian, like all machines that gputap supports */
	return p + sizeof bits;
}

static inline char *gt_pb_double(char *p, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return gt_pb_fixed64(p, field, bits);
}

static inline char *gt_pb_bytes(char *p, uint32_t field, const void *data, size_t bytes)
{
	p = gt_pb_varint(gt_pb_tag(p, field, GT_PB_BYTES), bytes);
	memcpy(p, data, bytes);
	return p + bytes;
}

static inline char *gt_pb_text(char *p, uint32_t field, const char *text)
{
	return gt_pb_bytes(p, field, text, strlen(text));
}

/* Open a nested message of at most GT_PB_OPEN_MAX bytes. The length is written when the message is
 * closed, always in two bytes, because a varint may be longer than necessary. */
enum { GT_PB_OPEN_MAX = (1 << 14) - 1 };

static inline char *gt_pb_open(char *p, uint32_t field, char **mark)
{
	p = gt_pb_tag(p, field, GT_PB_BYTES);
	*mark = p;
	return p + 2;
}

static inline void gt_pb_close(char *p, char *mark)
{
	size_t bytes = (size_t)(p - mark - 2);

	mark[0] = (char)((bytes & 0x7f) | 0x80);
	mark[1] = (char)(bytes >> 7);
}

/* Open a nested message of at most 127 bytes; gt_pb_close_short() closes it. */
static inline char *gt_pb_open_short(char *p, uint32_t field, char **mark)
{
	p = gt_pb_tag(p, field, GT_PB_BYTES);
	*mark = p;
	return p + 1;
}

static inline void gt_pb_close_short(char *p, char *mark)
{
	*mark = (char)(p - mark - 1);
}

/* Close a message that is usually short. More than 127 bytes are moved up by one byte, to make room
 * for a longer length. Return the end. */
static inline char *gt_pb_close_either(char *p, char *mark)
{
	size_t bytes = (size_t)(p - mark - 1);

	if (__builtin_expect(bytes > 127, 0)) {
		memmove(mark + 2, mark + 1, bytes);
		gt_pb_close(++p, mark);
	} else {
		*mark = (char)bytes;
	}
	return p;
}

#endif
