/* SPDX-License-Identifier: MIT */
/* See mutate_parts.h. */
#include "mutate_parts.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "capture/decode.h"

void mutation_append(struct piece *b, const void *data, size_t bytes)
{
	if (b->room - b->bytes < bytes) {
		b->room = (b->bytes + bytes) * 2;
		b->payload = must(realloc(b->payload, b->room));
	}
	if (bytes)
		memcpy(b->payload + b->bytes, data, bytes);
	b->bytes += bytes;
}

/* Parsing ----------------------------------------------------------------------- */

static void decode_rows(struct piece *b, const uint8_t *raw, size_t bytes)
{
	static struct gt_decoder decoder;
	uint8_t *slack = must(calloc(1, bytes + GT_DECODE_SLACK));
	struct gt_row row;

	memcpy(slack, raw, bytes);
	gt_decoder_init(&decoder);
	gt_decoder_begin(&decoder, &b->stream, slack, bytes);
	while (gt_decoder_next(&decoder, &row) == 1) {
		mutation_append(b, &row.head, 8);
		if ((row.head >> 16 & 0xff) == GT_RECORD_CALL) {
			uint64_t fixed[3] = {row.start, row.end, row.id};

			mutation_append(b, fixed, sizeof fixed);
		}
		mutation_append(b, row.words, (size_t)gt_row_count(&row) * 8);
	}
	gt_decoder_fini(&decoder);
	free(slack);
}

static void take_payload(struct piece *b, const uint8_t *stored)
{
	const struct gt_file_block *h = &b->head;
	uint8_t *raw = must(malloc((size_t)h->raw_bytes + 1));
	size_t n = h->stored_bytes;

	if (h->flags & GT_BLOCK_ZSTD)
		n = ZSTD_decompress(raw, h->raw_bytes, stored, h->stored_bytes);
	else
		memcpy(raw, stored, n);
	if (ZSTD_isError(n))
		n = 0;
	if (h->type == GT_BLOCK_STREAM)
		decode_rows(b, raw, n);
	else
		mutation_append(b, raw, n);
	free(raw);
	if (h->flags & GT_BLOCK_ZSTD)
		b->lies = 4;
	b->head.flags &= (uint8_t)~GT_BLOCK_ZSTD;
}

void mutation_parse(struct mutation *m, const uint8_t *file, size_t bytes)
{
	size_t at = sizeof m->header;

	memcpy(&m->header, file, sizeof m->header);
	while (at + sizeof(struct gt_file_block) <= bytes && m->count < MUTATION_BLOCKS_MAX / 2) {
		struct piece *b = must(calloc(1, sizeof *b));
		size_t known = sizeof b->head;

		memcpy(&b->head, file + at, sizeof b->head);
		if (b->head.head_bytes + b->head.stored_bytes > bytes - at) {
			free(b);
			return;
		}
		if (b->head.type == GT_BLOCK_STREAM) {
			memcpy(&b->stream, file + at + known, sizeof b->stream);
			known += sizeof b->stream +
				 b->stream.count_entries * sizeof(struct gt_file_count);
		}
		b->extra_bytes = b->head.head_bytes > known ? b->head.head_bytes - known : 0;
		if (b->extra_bytes > MUTATION_HEAD_EXTRA)
			b->extra_bytes = MUTATION_HEAD_EXTRA;
		memcpy(b->extra, file + at + known, b->extra_bytes);
		take_payload(b, file + at + b->head.head_bytes);
		m->pieces[m->count++] = b;
		at += (size_t)b->head.head_bytes + b->head.stored_bytes;
	}
}

void mutation_free(struct mutation *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->pieces[i]->payload);
		free(m->pieces[i]);
	}
	m->count = 0;
}

/* Values ------------------------------------------------------------------------ */

uint64_t mutation_odd_value(struct mutation *m, uint64_t old)
{
	/* clang-format off */
	static const uint64_t values[] = {
		0, 1, 2, 7, 15, 16, 31, 32, 63, 64, 127, 128, 254, 255, 256, 1023, 1024, 65535,
		65536, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_C(1) << 32, UINT64_C(1) << 40,
		(UINT64_C(1) << 40) - 1, UINT64_C(1) << 53, INT64_MAX, UINT64_C(1) << 63,
		UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 7, UINT64_MAX - 4095,
		UINT64_C(0xffffffff00000000), UINT64_C(0xffffffff00000001), 1000000000,
		UINT64_C(18446744073709551),
	};
	/* clang-format on */

	switch (below(m, 8)) {
	case 0: return old + 1;
	case 1: return old - 1;
	case 2: return old ^ UINT64_C(1) << below(m, 64);
	case 3: return draw(m);
	case 4: return below(m, 20);
	default: return values[below(m, sizeof values / sizeof *values)];
	}
}

void mutation_put_odd_text(struct mutation *m, uint8_t *at, size_t bytes)
{
	static const char texts[][48] = {"\033]0;owned\007",
					 "\033[2J\033[31m",
					 "\"},{\"a\":\"",
					 "a\0b\0=\0",
					 "%s%n%d",
					 "\xff\xfe\x80",
					 "\xc2\x9b"
					 "31m",
					 "';drop table rocpd_string;--",
					 "\r\n\t\v",
					 "\xe2\x80\xae"
					 "gnp",
					 "name=\0uuid=\0pci=",
					 "</script>",
					 "0x",
					 "-1",
					 "18446744073709551616",
					 "_ZN",
					 "_ZNSt",
					 "=",
					 "=="};
	const char *text = texts[below(m, sizeof texts / sizeof *texts)];
	size_t n = strlen(text) + below(m, 4);

	if (bytes)
		memcpy(at, text, n < bytes ? n : bytes);
}

/* Records ----------------------------------------------------------------------- */

size_t mutation_find_records(const struct piece *b, size_t *at, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i + 8 <= b->bytes && n < most;) {
		uint16_t words;

		memcpy(&words, b->payload + i, sizeof words);
		if (!words || words > (b->bytes - i) / 8)
			break;
		at[n++] = i;
		i += (size_t)words * 8;
	}
	return n;
}

bool mutation_has_records(const struct piece *b)
{
	return b->head.type == GT_BLOCK_STREAM || b->head.type == GT_BLOCK_RECORDS;
}

void mutation_insert(struct piece *b, size_t at, const void *data, size_t bytes)
{
	mutation_append(b, data, bytes);
	memmove(b->payload + at + bytes, b->payload + at, b->bytes - bytes - at);
	memcpy(b->payload + at, data, bytes);
}
