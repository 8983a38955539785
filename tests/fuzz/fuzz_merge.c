/* SPDX-License-Identifier: MIT */
/* Takes any bytes as two captures and merges them. If both captures are complete, reading the
 * merged file must give the same result as reading both captures together, in any layout. Otherwise
 * the merged file must still be readable.
 * Bits 0 and 1 of the first byte repair the checksums of the first and the second capture. The next
 * two bytes contain the start of the second capture. */
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/scan.h"
#include "fuzz.h"
#include "util/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Sessions and processes are not counted, because a session or process that is known only from the
 * head of a block with a damaged payload is not merged. */
struct sum {
	uint64_t items, ids, times, payload, objects, events;
};

static void write_part(int *fd, char *path, const uint8_t *data, size_t bytes, bool mended)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	fuzz_file(fd, path);
	if (!copy)
		abort();
	memcpy(copy, data, bytes);
	if (mended)
		fuzz_mend(copy, bytes);
	if (ftruncate(*fd, 0) || pwrite(*fd, copy, bytes, 0) != (ssize_t)bytes)
		abort();
	free(copy);
}

static struct sum sum_of(struct gt_capture *c)
{
	struct sum s = {.objects = gt_capture_object_count(c), .events = gt_capture_event_count(c)};
	const struct gt_item *item;
	struct gt_cursor *cursor;

	if (gt_cursor_create(c, &cursor))
		abort();
	while (gt_cursor_next(cursor, &item) > 0) {
		s.items++;
		s.ids += item->id;
		s.times += item->start_ns ^ item->end_ns;
		s.payload += item->payload_bytes;
	}
	gt_cursor_destroy(cursor);
	return s;
}

static struct sum read_several(const char *const *paths, size_t count)
{
	struct gt_capture *c;
	struct sum s;

	if (gt_capture_open_several(paths, count, &c))
		abort(); /* true if the captures were merged */
	s = sum_of(c);
	gt_capture_close(c);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static int fds[2] = {-1, -1};
	static char part[2][64], merged[64];
	const char *const paths[] = {part[0], part[1]}, *const whole[] = {merged};
	struct gt_capture_health health;
	size_t cut, repeated;
	struct sum apart, together;

	if (bytes < 3)
		return 0;
	cut = (size_t)(data[1] | data[2] << 8);
	cut = cut < bytes - 3 ? cut : bytes - 3;
	write_part(&fds[0], part[0], data + 3, cut, data[0] & 1);
	write_part(&fds[1], part[1], data + 3 + cut, bytes - 3 - cut, data[0] & 2);
	snprintf(merged, sizeof merged, "/dev/shm/fuzz-merge-%d", (int)getpid());
	unlink(merged);
	if (gt_capture_merge(paths, 2, merged, NULL, &health, &repeated)) {
		if (!gt_error_text()[0])
			abort(); /* the file was refused without an error message */
	} else {
		apart = read_several(paths, 2);
		together = read_several(whole, 1);
		if (gt_capture_is_whole(&health) && health.end == GT_CAPTURE_COMPLETE &&
		    memcmp(&apart, &together, sizeof apart) != 0)
			abort();
	}
	unlink(merged);
	gt_error_clear();
	return 0;
}
