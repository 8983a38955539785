/* SPDX-License-Identifier: MIT */
/* Takes any bytes as the content of a stored summary: stores them in a capture and prints reports.
 * FUZZ_CAPTURE names a small capture to which the contents of the seeds belong. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/tables/stored_summary.h"
#include "capture/summary_block.h"
#include "cli/command.h"
#include "fuzz.h"
#include "util/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

struct base {
	uint8_t *bytes;
	size_t count;
};

static const struct base *get_base(void)
{
	static struct base base;
	const char *path = getenv("FUZZ_CAPTURE");
	FILE *file = base.bytes || !path ? NULL : fopen(path, "rb");

	if (base.bytes)
		return &base;
	if (!file || fseek(file, 0, SEEK_END))
		abort();
	base.count = (size_t)ftell(file);
	base.bytes = malloc(base.count);
	rewind(file);
	if (!base.bytes || fread(base.bytes, 1, base.count, file) != base.count)
		abort();
	fclose(file);
	if (!freopen("/dev/null", "w", stdout))
		abort();
	return &base;
}

/* Return true if the content is restored. Otherwise, reports read the records, which other fuzzers
 * test. */
static bool is_restored(const char *path)
{
	struct summary s = {0};
	struct gt_capture *c;
	bool restored;

	if (gt_capture_open(path, &c))
		abort();
	restored = stored_summary_read(&s, c);
	summary_fini(&s);
	gt_capture_close(c);
	return restored;
}

static void report(char *path, const char *form)
{
	char *argv[] = {(char *)"report",
			path,
			(char *)"-t",
			(char *)"kernels,copies,other,operations,ranges,failures,devices,idle,"
				"latency,processes,threads,loss",
			(char *)(uintptr_t)form,
			NULL};

	gt_command_report.run(form ? 5 : 2, argv);
	gt_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static int fd = -1;
	static char path[64];
	const struct base *base = get_base();
	struct gt_capture *c;

	fuzz_file(&fd, path);
	if (ftruncate(fd, 0) || pwrite(fd, base->bytes, base->count, 0) != (ssize_t)base->count)
		abort();
	if (!bytes || gt_capture_open(path, &c))
		return 0;
	if (gt_capture_store_summary(c, STORED_SUMMARY_VERSION, data, bytes))
		abort();
	gt_capture_close(c);
	if (!is_restored(path))
		return 0;
	report(path, NULL);
	report(path, "--json");
	report(path, "--csv");
	return 0;
}
