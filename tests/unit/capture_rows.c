/* SPDX-License-Identifier: MIT */
/* The row form: the decoded rows equal the encoded rows, in both versions of the loops, and
 * invalid input is refused. */
#include "capture/decode.h"
#include "capture/encode.h"
#include "records.h"

static struct gt_encoder encoder;
static struct gt_decoder decoder;
static struct records in;

/* Make values as in real calls: mostly near the previous values, sometimes arbitrary. */
static uint64_t some_value(uint64_t *state)
{
	uint64_t r = records_random(state);

	switch (r % 8) {
	case 0: return records_random(state);
	case 1: return UINT64_MAX - records_random(state) % 300;
	case 2: return records_random(state) % 70000;
	case 3: return 0x55d0c8000000 + records_random(state) % 0x2000000;
	case 4: return UINT64_C(1) << records_random(state) % 64;
	default: return records_random(state) % 3;
	}
}

static void some_record(uint64_t *state)
{
	static const uint8_t kinds[] = {GT_RECORD_CALL,   GT_RECORD_CALL,     GT_RECORD_CALL,
					GT_RECORD_DEVICE, GT_RECORD_EXTERNAL, GT_RECORD_PAD};
	uint8_t kind = kinds[records_random(state) % 6];
	size_t words, i;
	uint64_t *p;
	unsigned nargs = 0, domain = (unsigned)(records_random(state) % GT_DOMAIN_COUNT);

	switch (kind) {
	case GT_RECORD_CALL:
		nargs = (unsigned)(records_random(state) % 12);
		words = 5 + nargs + (records_random(state) % 5 ? 0 : records_random(state) % 300);
		break;
	case GT_RECORD_DEVICE:
		words = 16 + (records_random(state) % 5 ? 0 : records_random(state) % 200);
		break;
	case GT_RECORD_EXTERNAL:
		words = 3 + (records_random(state) % 5 ? 0 : records_random(state) % 3);
		break;
	default: words = 1 + records_random(state) % 4;
	}
	p = records_add(&in, words, kind, (uint8_t)(records_random(state) % 3),
			GT_OP(domain, records_random(state) % 6, nargs));
	for (i = 1; i < words; i++)
		p[i] = some_value(state);
}

static void check_row(const struct gt_row *row, const uint64_t *record)
{
	uint32_t words = record[0] & 0xffff, fixed = 1;

	CHECK_EQ(row->head, record[0]);
	if ((record[0] >> 16 & 0xff) == GT_RECORD_CALL) {
		CHECK_EQ(row->start, record[1]);
		CHECK_EQ(row->end, record[2]);
		CHECK_EQ(row->id, record[3]);
		fixed = 4;
	}
	CHECK_EQ(gt_row_count(row), words - fixed);
	CHECK_MEM(row->words, record + fixed, (words - fixed) * 8);
}

/* Compare the contents of one block with the records from @at on. Return the record after the
 * block. */
static const uint64_t *check_block(const uint64_t *at, const uint64_t *end,
				   gt_decoder_next_fn *next)
{
	static uint8_t payload[GT_FILE_PAYLOAD_MAX + GT_DECODE_SLACK];
	struct gt_file_stream base = {.base_ticks = encoder.base_ticks, .base_id = encoder.base_id};
	size_t bytes = (size_t)(encoder.p - encoder.begin);
	struct gt_row row;
	uint32_t rows = 0;
	int status;

	memcpy(payload, encoder.begin, bytes);
	memset(payload + bytes, 0xaa, GT_DECODE_SLACK);
	gt_decoder_init(&decoder);
	decoder.next = next;
	gt_decoder_begin(&decoder, &base, payload, bytes);
	while ((status = gt_decoder_next(&decoder, &row)) > 0) {
		while ((at[0] >> 16 & 0xff) == GT_RECORD_PAD)
			at += at[0] & 0xffff;
		CHECK_LT(at, end);
		check_row(&row, at);
		at += at[0] & 0xffff;
		rows++;
	}
	CHECK_EQ(status, 0);
	CHECK_EQ(rows, encoder.rows);
	gt_decoder_fini(&decoder);
	return at;
}

static bool has_v3(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
	return false;
#endif
}

static void round_trip(uint64_t seed, gt_encoder_run_fn *run, gt_decoder_next_fn *next)
{
	const uint64_t *r, *end, *checked;
	enum gt_encode_stop stop;
	int i;

	in.count = 0;
	for (i = 0; i < 400; i++)
		some_record(&seed);
	records_call(&in, 1, 0, 0, 1, 2, 3, 0); /* so that the last record is not a PAD */
	r = checked = in.words;
	end = in.words + in.count;
	gt_encoder_init(&encoder, 1);
	encoder.run = run;
	do {
		r = gt_encoder_run(&encoder, r, end, &stop);
		CHECK(stop == GT_ENCODE_END || stop == GT_ENCODE_FULL);
		checked = check_block(checked, end, next);
		gt_encoder_reset(&encoder, NULL, 0);
	} while (stop == GT_ENCODE_FULL);
	CHECK_EQ(checked, end);
}

UNIT_TEST(rows_give_back_every_record_that_was_encoded)
{
	uint64_t seed;

	for (seed = 1; seed <= 300; seed++)
		round_trip(seed * 7919, gt_encoder_run_any, gt_decoder_next_any);
}

UNIT_TEST(rows_are_the_same_with_and_without_vectors)
{
#if defined(__x86_64__)
	static struct gt_encoder other;
	enum gt_encode_stop stop, stop2;
	uint64_t seed, state;
	int i;

	if (!has_v3())
		unit_skip("this CPU has no AVX2 and BMI2");
	for (seed = 1; seed <= 200; seed++) {
		round_trip(seed * 104729, gt_encoder_run_v3, gt_decoder_next_any);
		round_trip(seed * 104729, gt_encoder_run_any, gt_decoder_next_v3);
		in.count = 0;
		state = seed;
		for (i = 0; i < 100; i++)
			some_record(&state);
		gt_encoder_init(&encoder, 1);
		gt_encoder_init(&other, 1);
		CHECK_EQ(gt_encoder_run_any(&encoder, in.words, in.words + in.count, &stop),
			 gt_encoder_run_v3(&other, in.words, in.words + in.count, &stop2));
		CHECK_EQ(stop, stop2);
		CHECK_EQ(encoder.p - encoder.begin, other.p - other.begin);
		CHECK_MEM(encoder.begin, other.begin, (size_t)(encoder.p - encoder.begin));
	}
#else
	unit_skip("this CPU has no AVX2 and BMI2");
#endif
}

UNIT_TEST(rows_of_a_call_with_four_arguments_take_16_bytes_at_most)
{
	enum gt_encode_stop stop;
	uint64_t i, state = 5;

	/* clSetKernelArg: kernel, index, size, pointer; then the value */
	for (i = 0; i < 2000; i++) {
		uint64_t *p =
			records_add(&in, 11, GT_RECORD_CALL, 0, GT_OP(GT_DOMAIN_OPENCL, 38, 4));

		p[1] = 1000000 + i * 600 + records_random(&state) % 200;
		p[2] = p[1] + 200 + records_random(&state) % 200;
		p[3] = GT_ID(1, i + 1);
		p[5] = 0x55d0c8000000 + records_random(&state) % 4 * 0x60;
		p[6] = i % 4;
		p[7] = 8;
		p[8] = 0x7ffd10203000 + i % 4 * 8;
		p[9] = 3 | UINT64_C(8) << 32;
		p[10] = 0x55d0c9100000 + records_random(&state) % 32 * 0x1a0;
	}
	gt_encoder_init(&encoder, 1);
	gt_encoder_run(&encoder, in.words, in.words + in.count, &stop);
	CHECK_EQ(stop, GT_ENCODE_END);
	CHECK_LE((uint64_t)(encoder.p - encoder.begin), 2000 * 16);
}

UNIT_TEST(a_record_longer_than_its_batch_is_malformed_wherever_it_lies)
{
	enum gt_encode_stop stop;
	const uint64_t *at;

	records_call(&in, 1, 2, 0, 1, 10, 20, 0);
	records_call(&in, 1, 2, 0, 2, 30, 40, 0);
	gt_encoder_init(&encoder, 1);
	at = gt_encoder_run(&encoder, in.words, in.words + in.count - 1, &stop);
	CHECK_EQ(stop, GT_ENCODE_MALFORMED);
	CHECK_EQ(at - in.words, 7);
	CHECK_EQ(encoder.rows, 1);
}

UNIT_TEST(records_whose_words_cannot_hold_their_kind_are_malformed)
{
	static const struct {
		uint16_t words;
		uint8_t kind;
		uint32_t op;
	} bad[] = {{0, GT_RECORD_CALL, GT_OP(1, 1, 0)},
		   {4, GT_RECORD_CALL, GT_OP(1, 1, 0)},
		   {6, GT_RECORD_CALL, GT_OP(1, 1, 4)},
		   {5, GT_RECORD_CALL, GT_OP(16, 1, 0)},
		   {15, GT_RECORD_DEVICE, GT_DEVICE_REF(1, 1)},
		   {16, GT_RECORD_DEVICE, GT_DEVICE_REF(255, 1)},
		   {2, GT_RECORD_EXTERNAL, 0},
		   {0, GT_RECORD_PAD, 0}};
	enum gt_encode_stop stop;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		in.count = 0;
		records_add(&in, 64, bad[i].kind, 0, bad[i].op);
		in.words[0] = (in.words[0] & ~UINT64_C(0xffff)) | bad[i].words;
		gt_encoder_init(&encoder, 1);
		gt_encoder_run(&encoder, in.words, in.words + 64, &stop);
		CHECK_EQ(stop, GT_ENCODE_MALFORMED);
	}
}

/* For random and partly random payloads, both versions give the same result and access nothing
 * outside the payload (sanitizers check this). */
UNIT_TEST(any_bytes_decode_to_something_or_are_refused)
{
	static uint8_t payload[4096 + GT_DECODE_SLACK];
	struct gt_file_stream base = {0};
	uint64_t state = 99, round;
	int version;

	for (round = 0; round < 3000; round++) {
		size_t bytes = records_random(&state) % 4096, i;
		uint64_t sum[2] = {0, 0}, rows[2] = {0, 0};
		int status[2] = {0, 0};

		for (i = 0; i < bytes; i++)
			payload[i] = (uint8_t)records_random(&state);
		/* payload shapes of known kinds */
		for (i = 0; i + 9 < bytes && round % 2; i += 1 + records_random(&state) % 50) {
			struct gt_record head = {(uint16_t)(3 + records_random(&state) % 30),
						 (uint8_t)(records_random(&state) % 10), 0,
						 0x1000000};

			payload[i] = GT_ROW_NEW_SHAPE;
			memcpy(payload + i + 1, &head, 8);
		}
		memset(payload + bytes, 0, GT_DECODE_SLACK);
		for (version = 0; version < (has_v3() ? 2 : 1); version++) {
			struct gt_row row;

			gt_decoder_init(&decoder);
#if defined(__x86_64__)
			decoder.next = version ? gt_decoder_next_v3 : gt_decoder_next_any;
#endif
			gt_decoder_begin(&decoder, &base, payload, bytes);
			while ((status[version] = gt_decoder_next(&decoder, &row)) > 0) {
				rows[version]++;
				for (i = 0; i < gt_row_count(&row); i++)
					sum[version] = sum[version] * 31 + row.words[i];
			}
			gt_decoder_fini(&decoder);
		}
		if (has_v3()) {
			CHECK_EQ(rows[0], rows[1]);
			CHECK_EQ(sum[0], sum[1]);
			CHECK_EQ(status[0], status[1]);
		}
	}
}
