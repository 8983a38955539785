/* SPDX-License-Identifier: MIT */
/* Prints the ten kernels that took longest: ./top_kernels job/
 * cc top_kernels.c -o top_kernels $(pkg-config --cflags --libs gputap-capture) */
#include <gputap/capture.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct kernel {
	const char *name; /* one name has one address while the cursor is open */
	uint64_t count;
	int64_t ns;
} kernels[10000];
static size_t kernel_count;

static int by_time(const void *a, const void *b)
{
	int64_t x = ((const struct kernel *)a)->ns, y = ((const struct kernel *)b)->ns;

	return (x < y) - (x > y);
}

static void add(const struct gputap_capture_activity *a)
{
	size_t i = 0;

	while (i < kernel_count && kernels[i].name != a->name)
		i++;
	if (!a->name || a->duration_ns == GPUTAP_UNKNOWN || i == 10000)
		return;
	kernel_count += i == kernel_count;
	kernels[i] = (struct kernel){a->name, kernels[i].count + 1, kernels[i].ns + a->duration_ns};
}

int main(int argc, char **argv)
{
	struct gputap_capture_health health = {.size = sizeof health};
	struct gputap_capture_activity a = {.size = sizeof a};
	struct gputap_capture_cursor *cursor = NULL;
	struct gputap_capture *c = NULL;
	int status =
		gputap_capture_open((const char *const *)argv + 1, (size_t)argc - 1, &health, &c);

	status = status ? status : gputap_capture_cursor(c, "activities", &cursor);
	while (status >= 0 && (status = gputap_capture_next_activity(cursor, &a)) > 0)
		add(&a);
	if (status)
		fprintf(stderr, "top_kernels: %s\n", gputap_capture_error());
	qsort(kernels, kernel_count, sizeof *kernels, by_time);
	for (size_t i = 0; i < kernel_count && i < 10; i++)
		printf("%12.3f ms %8" PRIu64 " x %s\n", (double)kernels[i].ns / 1e6,
		       kernels[i].count, kernels[i].name);
	if (!status && !health.is_whole)
		fprintf(stderr, "top_kernels: %" PRIu64 " records are missing\n", health.lost);
	gputap_capture_cursor_close(cursor);
	gputap_capture_close(c);
	return status != 0;
}
