/* SPDX-License-Identifier: MIT */
/* Takes any bytes as a capture and reads all of its tables. The first byte selects whether the
 * checksums are repaired first, and an expression. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check_tables.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const expressions[] = {NULL, "range=*#1..2", "at>=100us and at<1ms",
						  "duration>1us and not kind=kernel"};
	static int fd = -1;
	static char path[64];
	struct table_counts counts;
	char wrong[256];
	uint8_t *file;

	if (bytes < 1)
		return 0;
	fuzz_file(&fd, path);
	file = malloc(bytes);
	if (!file)
		return 0;
	memcpy(file, data + 1, bytes - 1);
	if (data[0] & 1)
		fuzz_mend(file, bytes - 1);
	if (ftruncate(fd, 0) || pwrite(fd, file, bytes - 1, 0) != (ssize_t)bytes - 1)
		abort();
	free(file);
	check_tables(path, expressions[data[0] >> 1 & 3], &counts, wrong);
	if (*wrong) {
		fprintf(stderr, "%s\n", wrong);
		abort();
	}
	return 0;
}
