/* SPDX-License-Identifier: MIT */
/* Capture files that are damaged, cut, from other versions, or cannot grow: the reader reads intact
 * parts, and refuses and reports damaged parts. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "capture/checksum.h"
#include "records.h"

static struct records r;

/* Damage -------------------------------------------------------------------- */

/* Write a capture with all kinds of blocks: several stream blocks with 8 calls each. Return the
 * number of calls. */
static uint64_t write_sample(const char *path, bool compress)
{
	struct gt_capture_writer *w = capture_begin(path, compress);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_thread_info thread = {.ordinal = 1, .tid = 43, .name = "t"};
	struct gt_counts counts = {0};
	uint64_t n, id = 0;

	CHECK_OK(gt_capture_write_thread(w, &thread));
	for (n = 0; n < 6; n++) {
		unsigned i;

		r.count = 0;
		records_string(&r, (uint32_t)n + 1, "a kernel");
		for (i = 0; i < 8; i++) {
			id++;
			records_call(&r, 1, 3, 0, GT_ID(1, id), 1000000000 + id * 100,
				     1000000050 + id * 100, id);
		}
		records_device(&r, GT_ID(1, id), 1000000000 + id * 100, 1000000010 + id * 100);
		counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL] += 8;
		counts.seen[GT_CLASS_DEVICE][GT_DOMAIN_OPENCL]++;
		write_records(s, &r, &counts);
		CHECK_OK(gt_capture_flush(w));
	}
	capture_finish(w, s, &counts);
	return id;
}

static uint64_t sum_of(const struct gt_counts *n, enum gt_class class)
{
	uint64_t sum = n->recorded[class][GT_DOMAIN_OPENCL];
	unsigned why;

	for (why = 0; why < GT_DROP_REASON_COUNT; why++)
		sum += n->dropped[why][class][GT_DOMAIN_OPENCL];
	return sum;
}

/* Open the file and walk through its items. Return the number of calls, or -1 if the file is
 * refused. */
static int64_t walk(const char *path)
{
	struct gt_capture *c;
	struct gt_cursor *k;
	const struct gt_item *item;
	int64_t calls = 0;
	int status = gt_capture_open(path, &c);

	if (status) {
		CHECK(gt_error_text()[0] != '\0');
		gt_error_clear();
		return -1;
	}
	k = cursor_of(c);
	while ((item = next_item(k)))
		calls += item->kind == GT_RECORD_CALL;
	gt_cursor_destroy(k);
	if (gt_capture_process_count(c)) { /* the sums are correct although records were lost */
		const struct gt_counts *n = gt_capture_counts(c, 0);

		CHECK_EQ(n->recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL], calls);
		CHECK_EQ(n->seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL], sum_of(n, GT_CLASS_CALL));
		CHECK_EQ(n->seen[GT_CLASS_DEVICE][GT_DOMAIN_OPENCL], sum_of(n, GT_CLASS_DEVICE));
	}
	gt_capture_close(c);
	return calls;
}

static void truncate_everywhere(bool compress)
{
	const char *path = file_name("a.gputap"), *cut = file_name("cut.gputap");
	uint64_t calls = write_sample(path, compress);
	size_t bytes, n;
	uint8_t *data = file_read(path, &bytes);
	int64_t last = -1;

	for (n = 0; n <= bytes; n++) {
		int64_t now;

		file_write(cut, data, n);
		now = walk(cut);
		CHECK_GE(now, last); /* every complete block stays readable */
		CHECK(now <= 0 || now % 8 == 0);
		last = now;
	}
	CHECK_EQ(last, calls);
	free(data);
}

UNIT_TEST(a_capture_cut_at_any_byte_gives_all_its_whole_blocks)
{
	truncate_everywhere(false);
}

UNIT_TEST(a_compressed_capture_cut_at_any_byte_gives_all_its_whole_blocks)
{
	truncate_everywhere(true);
}

UNIT_TEST(one_flipped_bit_costs_one_block_at_most)
{
	const char *path = file_name("a.gputap"), *bad = file_name("bad.gputap");
	int64_t calls = (int64_t)write_sample(path, false);
	size_t bytes, n;
	uint8_t *data = file_read(path, &bytes);

	for (n = 0; n < bytes; n++) {
		int64_t got;

		data[n] ^= (uint8_t)(1 << n % 8);
		file_write(bad, data, bytes);
		data[n] ^= (uint8_t)(1 << n % 8);
		got = walk(bad);
		CHECK_GE(got, calls - 8);
		CHECK_LE(got, calls);
	}
	free(data);
}

UNIT_TEST(a_damaged_payload_is_counted_as_torn)
{
	const char *path = file_name("a.gputap");
	uint64_t calls = write_sample(path, false);
	size_t bytes, n, hits = 0;
	uint8_t *data = file_read(path, &bytes);
	struct gt_file_block head;
	struct gt_capture *c;

	for (n = sizeof(struct gt_file_header); n < bytes;
	     n += (size_t)head.head_bytes + head.stored_bytes) {
		memcpy(&head, data + n, sizeof head);
		if (head.type == GT_BLOCK_STREAM && ++hits == 2)
			data[n + head.head_bytes + head.stored_bytes / 2] ^= 0x10;
	}
	file_write(path, data, bytes);
	c = open_capture(path);
	/* found when the device clocks were determined */
	CHECK_EQ(gt_capture_health(c)->bad_blocks, 1);
	CHECK_EQ(count_items(c), calls - 8 + 5);
	CHECK_EQ(gt_capture_counts(c, 0)->dropped[GT_DROP_CORRUPT][GT_CLASS_CALL][GT_DOMAIN_OPENCL],
		 8);
	CHECK_EQ(gt_capture_counts(c, 0)
			 ->dropped[GT_DROP_CORRUPT][GT_CLASS_DEVICE][GT_DOMAIN_OPENCL],
		 1);
	CHECK_EQ(gt_capture_counts(c, 0)->recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL], calls - 8);
	CHECK_OK(gt_capture_verify(c));
	CHECK_EQ(gt_capture_health(c)->bad_blocks, 1); /* told once */
	gt_capture_close(c);
	free(data);
}

UNIT_TEST(garbage_between_blocks_is_skipped)
{
	const char *path = file_name("a.gputap");
	uint64_t calls = write_sample(path, false);
	size_t bytes, n, at = 0, junk = 300000;
	uint8_t *data = file_read(path, &bytes), *mixed = malloc(bytes + junk);
	struct gt_file_block head;
	struct gt_capture *c;

	CHECK_NOT_NULL(mixed);
	for (n = sizeof(struct gt_file_header); n < bytes / 2;
	     n += (size_t)head.head_bytes + head.stored_bytes) {
		memcpy(&head, data + n, sizeof head);
		at = n;
	}
	memcpy(mixed, data, at);
	for (n = 0; n < junk; n++)
		mixed[at + n] =
			n % 97 ? (uint8_t)(n * 31) : (uint8_t)(GT_BLOCK_MAGIC >> 8 * (n / 97 % 4));
	memcpy(mixed + at + junk, data + at, bytes - at);
	file_write(path, mixed, bytes + junk);
	c = open_capture(path);
	CHECK_EQ(count_items(c), calls + 6);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, junk);
	CHECK_EQ(gt_capture_health(c)->bad_blocks, 1);
	gt_capture_close(c);
	free(mixed);
	free(data);
}

/* Write invalid contents with correct checksums: @change changes each block of @type. */
static void forge(const char *path, uint8_t type,
		  void (*change)(struct gt_file_block *head, uint8_t *extension, uint8_t *payload))
{
	size_t bytes, at = sizeof(struct gt_file_header);
	uint8_t *data = file_read(path, &bytes);
	struct gt_file_block head;

	for (; at < bytes; at += (size_t)head.head_bytes + head.stored_bytes) {
		memcpy(&head, data + at, sizeof head);
		if (head.type != type)
			continue;
		change(&head, data + at + sizeof head, data + at + head.head_bytes);
		head.payload_crc = gt_crc32c(0, data + at + head.head_bytes, head.stored_bytes);
		memcpy(data + at, &head, sizeof head);
		head.head_crc = gt_head_crc(data + at, head.head_bytes);
		memcpy(data + at, &head, sizeof head);
	}
	file_write(path, data, bytes);
	free(data);
}

static void check_sums_are_told(const char *path, uint64_t places)
{
	struct gt_capture *c = open_capture(path);

	count_items(c);
	CHECK_EQ(gt_capture_health(c)->bad_sums, places);
	CHECK(!gt_capture_is_whole(gt_capture_health(c)));
	CHECK_EQ(gt_capture_counts(c, 0)->seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL],
		 sum_of(gt_capture_counts(c, 0), GT_CLASS_CALL));
	count_items(c);
	CHECK_EQ(gt_capture_health(c)->bad_sums, places); /* told once */
	gt_capture_close(c);
}

static void see_more(struct gt_file_block *head, uint8_t *extension, uint8_t *payload)
{
	struct gt_file_sum sum;

	(void)head, (void)extension;
	memcpy(&sum, payload, sizeof sum);
	CHECK_EQ(sum.what, 0);
	sum.value++;
	memcpy(payload, &sum, sizeof sum);
}

/* seen = recorded + dropped holds, but only modulo 2^64. */
static void see_too_many(struct gt_file_block *head, uint8_t *extension, uint8_t *payload)
{
	struct gt_file_sum *sums = (void *)payload, one;

	(void)extension;
	for (size_t i = 0; i < head->stored_bytes / sizeof one; i++) {
		memcpy(&one, &sums[i], sizeof one);
		if (one.what == 1 && one.class == GT_CLASS_DEVICE) {
			one.what = 2;
			one.class = GT_CLASS_CALL;
			one.value = -one.value;
		}
		memcpy(&sums[i], &one, sizeof one);
	}
}

static void count_one_more(struct gt_file_block *head, uint8_t *extension, uint8_t *payload)
{
	struct gt_file_count n;

	(void)head, (void)payload;
	memcpy(&n, extension + sizeof(struct gt_file_stream), sizeof n);
	n.count ^= 1;
	memcpy(extension + sizeof(struct gt_file_stream), &n, sizeof n);
}

static void name_domain_64(struct gt_file_block *head, uint8_t *extension, uint8_t *payload)
{
	(void)head, (void)extension;
	CHECK_EQ(payload[0], GT_ROW_NEW_SHAPE);
	payload[8] = GT_DOMAIN_COUNT;
}

UNIT_TEST(sums_that_are_not_what_the_records_are_are_reported_and_made_to_agree)
{
	const char *path = file_name("a.gputap");

	write_sample(path, false);
	forge(path, GT_BLOCK_COUNTS, see_more);
	check_sums_are_told(path, 1);
	write_sample(path, false);
	forge(path, GT_BLOCK_COUNTS, see_too_many);
	check_sums_are_told(path, 1);
}

UNIT_TEST(blocks_that_count_other_rows_than_they_have_are_reported_when_they_are_read)
{
	const char *path = file_name("a.gputap");
	uint64_t calls = write_sample(path, true);
	struct gt_capture *c;

	forge(path, GT_BLOCK_STREAM, count_one_more);
	c = open_capture(path);
	CHECK_EQ(count_items(c), calls + 6); /* all items are still read */
	CHECK(gt_capture_health(c)->bad_sums >= 6);
	gt_capture_close(c);
}

UNIT_TEST(rows_of_a_domain_that_nobody_has_room_for_are_refused)
{
	const char *path = file_name("a.gputap");
	struct gt_capture *c;

	write_sample(path, false);
	forge(path, GT_BLOCK_STREAM, name_domain_64);
	c = open_capture(path);
	CHECK_EQ(count_items(c), 0);
	CHECK_EQ(gt_capture_health(c)->bad_blocks, 6);
	gt_capture_close(c);
}

static void name_process_40(struct gt_file_block *head, uint8_t *extension, uint8_t *payload)
{
	(void)extension, (void)payload;
	head->process = 40;
}

UNIT_TEST(a_process_of_any_index_is_one_process_in_a_merged_file_too)
{
	const char *a = file_name("a.gputap"), *merged = file_name("merged.gputap");
	const char *const paths[] = {a};
	struct gt_capture_health health;
	struct gt_capture *c;
	size_t repeated, processes;

	write_sample(a, false);
	c = open_capture(a);
	processes = gt_capture_process_count(c);
	gt_capture_close(c);
	forge(a, GT_BLOCK_PROCESS, name_process_40);
	CHECK_OK(gt_capture_merge(paths, 1, merged, NULL, &health, &repeated));
	CHECK_EQ(health.bad_blocks, 0);
	c = open_capture(merged);
	CHECK_EQ(gt_capture_process_count(c), processes + 1);
	gt_capture_close(c);
}

static void pack_section(struct gt_file_block *head, uint8_t *extension, uint8_t *payload)
{
	(void)extension, (void)payload;
	head->flags |= GT_BLOCK_ZSTD;
}

static enum gt_capture_end end_of(const char *path)
{
	struct gt_capture *c = open_capture(path);
	enum gt_capture_end end = gt_capture_health(c)->end;

	gt_capture_close(c);
	return end;
}

UNIT_TEST(a_section_that_a_later_version_wrote_ends_alike_in_reading_and_in_merging)
{
	const char *a = file_name("a.gputap"), *once = file_name("once.gputap"),
		   *twice = file_name("twice.gputap");
	struct gt_capture_health health;
	size_t repeated;

	write_sample(a, false);
	CHECK_OK(gt_capture_merge((const char *const[]){a}, 1, once, NULL, &health, &repeated));
	CHECK_EQ(end_of(once), GT_CAPTURE_COMPLETE);
	forge(once, GT_BLOCK_SECTION, pack_section);
	CHECK_OK(gt_capture_merge((const char *const[]){once}, 1, twice, NULL, &health, &repeated));
	CHECK_EQ(end_of(twice), end_of(once));
	CHECK_NE(end_of(once), GT_CAPTURE_COMPLETE);
}

/* The header of a capture without sections, followed by blocks of a section. No writer produces
 * this, but merging must omit the same blocks as reading. */
UNIT_TEST(a_file_with_the_id_of_a_capture_that_is_in_is_left_out_whole)
{
	const char *a = file_name("a.gputap"), *b = file_name("b.gputap"),
		   *merged = file_name("merged.gputap");
	const char *const paths[] = {a, b};
	uint64_t calls = write_sample(a, false);
	struct gt_capture_health health;
	size_t repeated, bytes, first;
	struct gt_file_block section;
	struct gt_file_header header;
	struct gt_capture *c;
	uint8_t *data;

	CHECK_OK(gt_capture_merge(paths, 1, b, NULL, &health, &repeated));
	data = file_read(a, &bytes);
	memcpy(&header, data, sizeof header);
	free(data);
	data = file_read(b, &bytes);
	memcpy(&section, data + sizeof header, sizeof section);
	CHECK_EQ(section.type, GT_BLOCK_SECTION);
	first = (size_t)section.head_bytes + section.stored_bytes;
	memcpy(data + first, &header, sizeof header); /* so that no block reports the section */
	file_write(b, data + first, bytes - first);
	free(data);

	CHECK_OK(gt_capture_open_several(paths, 2, &c));
	CHECK_EQ(count_items(c), calls + 6);
	gt_capture_close(c);
	CHECK_OK(gt_capture_merge(paths, 2, merged, NULL, &health, &repeated));
	CHECK_EQ(repeated, 1);
	CHECK_EQ(health.end, GT_CAPTURE_COMPLETE);
	c = open_capture(merged);
	CHECK_EQ(count_items(c), calls + 6);
	CHECK_EQ(gt_capture_session_count(c), 1);
	gt_capture_close(c);
}

/* The search for the next block must not read the same bytes repeatedly, and must skip holes.
 * Otherwise these tests would take minutes or years, until the time limit. */
UNIT_TEST(a_file_of_nothing_but_magic_numbers_and_a_hole_of_terabytes_are_walked_once)
{
	const char *path = file_name("a.gputap");
	size_t bytes, total = 64 << 20, n;
	uint32_t magic = GT_BLOCK_MAGIC;
	uint8_t *data, *many = malloc(total);
	uint64_t calls = write_sample(path, false);
	struct gt_capture *c;

	CHECK_NOT_NULL(many);
	data = file_read(path, &bytes);
	for (n = 0; n < total; n += sizeof magic)
		memcpy(many + n, &magic, sizeof magic);
	memcpy(many, data, sizeof(struct gt_file_header));
	file_write(path, many, total);
	c = open_capture(path);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, total - sizeof(struct gt_file_header));
	gt_capture_close(c);
	file_write(path, data, bytes);
	CHECK_EQ(truncate(path, INT64_C(1) << 42), 0);
	c = open_capture(path);
	CHECK_EQ(count_items(c), calls + 6);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, (UINT64_C(1) << 42) - bytes);
	gt_capture_close(c);
	free(many);
	free(data);
}

/* Unreadable files ---------------------------------------------------------- */

static void refused(const char *path, int status, const char *word)
{
	struct gt_capture *c = (void *)1;

	CHECK_EQ(gt_capture_open(path, &c), status);
	CHECK_NULL(c);
	CHECK_NOT_NULL(strstr(gt_error_text(), word));
	gt_error_clear();
}

UNIT_TEST(what_is_no_capture_is_refused_with_a_sentence)
{
	const char *path = file_name("a.gputap");

	file_write(path, "", 0);
	refused(path, -ENODATA, "is empty");
	file_write(path, "hello\n", 6);
	refused(path, -EBADMSG, "not a gputap capture");
	file_write(path,
		   "a long text that is no capture, as long as a capture's header is at least", 74);
	refused(path, -EBADMSG, "not a gputap capture");
	file_write(path, GT_FILE_MAGIC "\1\0\0\0", 12);
	refused(path, -EBADMSG, "truncated within its first");
	refused(unit_folder(), -EISDIR, "Is a directory");
	refused(file_name("missing"), -ENOENT, "missing");
	unlink(path);
	CHECK_EQ(mkfifo(path, 0600), 0);
	refused(path, -EINVAL, "not a regular file");
}

UNIT_TEST(a_newer_major_version_is_refused_and_a_newer_minor_one_is_read)
{
	const char *path = file_name("a.gputap");
	uint64_t calls = write_sample(path, false);
	size_t bytes;
	uint8_t *data = file_read(path, &bytes);
	struct gt_file_header *h = (void *)data;

	h->minor = 900;
	h->crc = gt_crc32c(0, h, offsetof(struct gt_file_header, crc));
	file_write(path, data, bytes);
	CHECK_EQ(walk(path), calls);
	h->major = GT_FILE_MAJOR_MERGED + 1;
	h->crc = gt_crc32c(0, h, offsetof(struct gt_file_header, crc));
	file_write(path, data, bytes);
	refused(path, -ENOTSUP, "newer gputap");
	free(data);
}

static size_t add_block(uint8_t *to, struct gt_file_block head, const void *extension,
			size_t extension_bytes, const void *payload, size_t bytes)
{
	uint8_t buffer[GT_FILE_HEAD_MAX];

	head.magic = GT_BLOCK_MAGIC;
	head.head_bytes = (uint16_t)(sizeof head + extension_bytes);
	head.stored_bytes = head.raw_bytes = (uint32_t)bytes;
	head.payload_crc = gt_crc32c(0, payload, bytes);
	head.head_crc = 0;
	memcpy(buffer, &head, sizeof head);
	memcpy(buffer + sizeof head, extension, extension_bytes);
	head.head_crc = gt_head_crc(buffer, head.head_bytes);
	memcpy(to, &head, sizeof head);
	memcpy(to + sizeof head, extension, extension_bytes);
	memcpy(to + head.head_bytes, payload, bytes);
	return head.head_bytes + bytes;
}

UNIT_TEST(blocks_of_unknown_types_and_longer_ones_are_read_over)
{
	const char *path = file_name("a.gputap");
	uint64_t calls = write_sample(path, false), longer[12] = {7, 1, 2, 3, 0, 77};
	size_t bytes, n = sizeof(struct gt_file_header);
	uint8_t *data = file_read(path, &bytes), *more = malloc(bytes + 4096);
	struct gt_capture *c;

	CHECK_NOT_NULL(more);
	memcpy(more, data, n);
	n += add_block(more + n, (struct gt_file_block){.type = 200, .process = 5}, "extended", 8,
		       "unknown", 7);
	n += add_block(more + n, (struct gt_file_block){.type = GT_BLOCK_CLOCK}, "extended", 8,
		       longer, sizeof longer);
	memcpy(more + n, data + sizeof(struct gt_file_header),
	       bytes - sizeof(struct gt_file_header));
	file_write(path, more, n + bytes - sizeof(struct gt_file_header));
	c = open_capture(path);
	CHECK_EQ(gt_capture_health(c)->unknown_blocks, 1);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, 0);
	CHECK_EQ(count_items(c), calls + 6);
	gt_capture_close(c);
	free(more);
	free(data);
}

UNIT_TEST(a_block_that_names_a_process_far_away_makes_one_process)
{
	const char *path = file_name("a.gputap");
	uint8_t *data, more[256];
	size_t bytes, n;
	struct gt_capture *c;
	int fd;

	write_sample(path, false);
	data = file_read(path, &bytes);
	n = add_block(more,
		      (struct gt_file_block){.type = GT_BLOCK_PROCESS,
					     .process = GT_FILE_PROCESS_MAX - 1},
		      "", 0, "", 0);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK_EQ(write(fd, more, n), (ssize_t)n);
	close(fd);
	c = open_capture(path);
	CHECK_EQ(gt_capture_process_count(c), 2);
	CHECK_EQ(gt_capture_health(c)->bad_blocks, 0);
	CHECK_EQ(gt_capture_health(c)->end, GT_CAPTURE_CUT); /* data follow the end mark */
	gt_capture_close(c);
	free(data);
}

/* Continuing, and files that cannot grow ------------------------------------ */

UNIT_TEST(a_capture_without_end_mark_is_cut_and_can_be_gone_on_with)
{
	const char *path = file_name("a.gputap");
	uint64_t calls = write_sample(path, false), at;
	struct gt_capture_writer *w;
	struct gt_counts counts = {0};
	struct gt_capture *c;
	struct gt_stream *s;
	size_t bytes;
	uint8_t *data = file_read(path, &bytes);

	file_write(path, data, bytes - 3); /* the end mark is incomplete */
	c = open_capture(path);
	CHECK_EQ(gt_capture_health(c)->end, GT_CAPTURE_CUT);
	gt_capture_close(c);
	CHECK_OK(gt_capture_writer_reopen(path, NULL, UINT64_MAX, &w));
	s = stream_begin(w, 0, 1);
	r.count = 0;
	records_call(&r, 1, 1, 0, GT_ID(1, 1000), 2000000000, 2000000001, 0);
	write_records(s, &r, &counts);
	CHECK_OK(gt_capture_flush(w));
	at = gt_capture_writer_bytes(w);
	write_records(s, &r, &counts);
	gt_capture_stream_destroy(s);
	CHECK_OK(gt_capture_writer_finish(w, false));
	c = open_capture(path);
	CHECK_EQ(gt_capture_health(c)->end, GT_CAPTURE_INCOMPLETE);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, 0);
	CHECK_EQ(count_items(c), calls + 6 + 2);
	gt_capture_close(c);

	/* back to the state after the flush */
	CHECK_OK(gt_capture_writer_reopen(path, NULL, at, &w));
	CHECK_EQ(gt_capture_writer_bytes(w), at);
	CHECK_OK(gt_capture_writer_finish(w, true));
	c = open_capture(path);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, 0);
	CHECK_EQ(count_items(c), calls + 6 + 1);
	gt_capture_close(c);
	free(data);
}

UNIT_TEST(two_writers_of_one_file_are_refused)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false), *other;

	CHECK_OK(gt_capture_flush(w));
	CHECK_EQ(gt_capture_writer_reopen(path, NULL, UINT64_MAX, &other), -EBUSY);
	CHECK_NOT_NULL(strstr(gt_error_text(), "being written"));
	gt_error_clear();
	CHECK_OK(gt_capture_writer_finish(w, true));
	CHECK_EQ(gt_capture_writer_create(path, false, NULL, &(struct gt_session_info){.rank = -1},
					  &other),
		 -EEXIST);
	gt_error_clear();
}

static struct gt_counts fill_up(struct gt_capture_writer *w, struct gt_stream *s, int *failed)
{
	struct gt_counts good = {0}, counts = {0};
	uint64_t n, state = 3;
	int i;

	for (n = 0; n < 600; n++) {
		r.count = 0;
		for (i = 0; i < 100; i++) {
			uint64_t *p = records_call(&r, 1, 8, 0, GT_ID(1, n * 100 + i + 1),
						   1000000000 + n * 1000 + i * 10,
						   1000000005 + n * 1000 + i * 10, 0);
			int k;

			for (k = 0; k < 8; k++)
				/* 64 incompressible bytes */
				p[5 + k] = records_random(&state);
		}
		if (gt_capture_write_records(s, r.words, r.count * 8, &counts))
			break;
		if (n % 10 == 9) {
			int status = gt_capture_flush(w);

			if (!status)
				/* otherwise the file contains only data from before the last
				 * successful flush */
				good = counts;
			else
				*failed = status;
			counts = good;
		}
	}
	return good;
}

UNIT_TEST(a_file_that_takes_no_more_keeps_what_was_flushed_and_says_what_was_lost)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w;
	struct gt_stream *s;
	struct rlimit limit = {1 << 20, 1 << 20};
	struct gt_counts counts;
	struct gt_capture *c;
	int failed = 0;

	/* exceeding the limit would end this process with SIGXFSZ */
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	w = capture_begin(path, false);
	s = stream_begin(w, 0, 1);
	counts = fill_up(w, s, &failed);
	CHECK_EQ(failed, -EFBIG);
	gt_error_clear();
	counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL] = 60000;
	counts.dropped[GT_DROP_OUTPUT][GT_CLASS_CALL][GT_DOMAIN_OPENCL] =
		60000 - counts.recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL];
	r.count = 0;
	records_string(&r, 1, "late");
	CHECK_OK(gt_capture_write_records(s, r.words, r.count * 8, NULL));
	capture_finish(w, s, &counts);
	c = open_capture(path);
	CHECK_EQ(gt_capture_health(c)->end, GT_CAPTURE_COMPLETE);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, 0);
	CHECK_EQ(count_items(c), counts.recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL]);
	CHECK_GT(gt_capture_counts(c, 0)->recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL], 0);
	CHECK_GT(gt_capture_counts(c, 0)->dropped[GT_DROP_OUTPUT][GT_CLASS_CALL][GT_DOMAIN_OPENCL],
		 0);
	/* data other than records survives a failed flush */
	CHECK_STR(gt_capture_string(c, 0, 1), "late");
	gt_capture_close(c);
}

UNIT_TEST(a_capture_that_cannot_begin_leaves_no_file)
{
	const char *path = file_name("a.gputap");
	struct gt_session_info session = {.hostname = "host"};
	struct rlimit limit = {16, RLIM_INFINITY};
	struct gt_capture_writer *w;

	signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK_EQ(gt_capture_writer_create(path, false, NULL, &session, &w), -ENOSPC);
	CHECK_EQ(access(path, F_OK), -1);
	gt_error_clear();
	limit.rlim_cur = RLIM_INFINITY;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	/* the failed attempt left no data behind */
	CHECK_OK(gt_capture_writer_create(path, false, NULL, &session, &w));
	gt_capture_writer_destroy(w);
}
