/* SPDX-License-Identifier: MIT */
/* Takes any bytes as a batch of records from a misbehaving program. The writer must read nothing
 * outside the batch (which lies at the end of an allocation), and the capture must return all
 * records that were counted as recorded. In the first byte, bit 0 selects two batches and bit 1
 * compression;
 * the other bits select where the batch is split. */
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "fuzz.h"
#include "util/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void write_batch(struct gt_stream *s, const uint8_t *data, size_t bytes,
			struct gt_counts *recorded)
{
	uint64_t *exact;

	bytes &= ~(size_t)7;
	exact = malloc(bytes ? bytes : 8);
	if (!exact)
		abort();
	memcpy(exact, data, bytes);
	(void)gt_capture_write_records(s, exact, bytes, recorded);
	gt_error_clear();
	free(exact);
}

static void read_back(const char *path, const struct gt_counts *recorded)
{
	uint64_t calls = 0, devices = 0, expected_calls = 0, expected_devices = 0;
	const struct gt_item *item;
	struct gt_capture *c;
	struct gt_cursor *k;
	unsigned d;
	int status;

	if (gt_capture_open(path, &c) || gt_cursor_create(c, &k))
		abort();
	while ((status = gt_cursor_next(k, &item)) > 0) {
		calls += item->kind == GT_RECORD_CALL;
		devices += item->kind == GT_RECORD_DEVICE;
	}
	for (d = 0; d < GT_DOMAIN_COUNT; d++) {
		expected_calls += recorded->recorded[GT_CLASS_CALL][d];
		expected_devices += recorded->recorded[GT_CLASS_DEVICE][d];
	}
	if (status || calls != expected_calls || devices != expected_devices ||
	    gt_capture_health(c)->bad_bytes)
		abort();
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static int fd = -1;
	static char path[64];
	struct gt_session_info session = {.rank = -1};
	struct gt_capture_options options = {0};
	struct gt_process_info process = {0};
	struct gt_counts recorded = {0};
	struct gt_capture_writer *w;
	struct gt_stream *s;
	size_t cut;

	if (bytes < 1)
		return 0;
	fuzz_file(&fd, path);
	options.compress = data[0] >> 1 & 1;
	cut = data[0] & 1 ? (bytes - 1) * (data[0] >> 2) / 64 : 0;
	if (gt_capture_writer_create(path, true, &options, &session, &w) ||
	    gt_capture_write_process(w, &process) || gt_capture_stream_create(w, 0, 1, &s))
		abort();
	write_batch(s, data + 1, cut, &recorded);
	if (cut && gt_capture_flush(w))
		abort();
	write_batch(s, data + 1 + cut, bytes - 1 - cut, &recorded);
	gt_capture_stream_destroy(s);
	if (gt_capture_write_counts(w, 0, &recorded) || gt_capture_writer_finish(w, true))
		abort();
	read_back(path, &recorded);
	return 0;
}
