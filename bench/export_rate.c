/* SPDX-License-Identifier: MIT */
/* Measures the exporters' rates on one core: export_rate [CAPTURE [FORMAT..]]
 *
 * Without a capture, uses a synthetic capture of some 5 million records from tests/synth. A record
 * is a call or a GPU activity. records/s cover the whole export: reading the capture, formatting,
 * and writing to the page cache, in /tmp. The time is the user and system CPU time of the single
 * thread, so that neither the disk nor other load on a shared machine counts. For comparison, the
 * same run measures reading alone, copying the same bytes, and one snprintf() of a call's JSON.
 * Each format runs in a separate process, so that its peak memory is measured alone. */
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"
#include "export/export.h"
#include "measure.h"
#include "util/error.h"

enum { TRIALS = 3, SYNTH_CALLS = 1000000, SYNTH_THREADS = 4 };

static char folder[] = "/tmp/gputap-bench-XXXXXX";

static void die(const char *what)
{
	fprintf(stderr, "export_rate: %s\n", what);
	gt_error_print(stderr);
	exit(1);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static double seconds_since(uint64_t start_ns)
{
	return (double)(cpu_ns() - start_ns) / 1e9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void make_capture(char *path, size_t size)
{
	char self[PATH_MAX], command[2 * PATH_MAX + 128];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		die("readlink /proc/self/exe");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, size, "%s/synth.gputap", folder);
	snprintf(command, sizeof command,
		 "%s/../tests/synth/synth --calls %d --threads %d --nested -o %s", self,
		 SYNTH_CALLS, SYNTH_THREADS, path);
	if (system(command) != 0)
		die(command);
}

static struct gt_capture *open_capture(const char *path)
{
	struct gt_capture *c;

	if (gt_capture_open(path, &c))
		die("open");
	return c;
}

/* Count all records and measure the reading time, in the fastest of some trials. */
static uint64_t read_records(const char *path, double *best_s)
{
	struct gt_capture *c = open_capture(path);
	uint64_t count = 0;

	*best_s = 1e9;
	for (int trial = 0; trial < TRIALS; trial++) {
		uint64_t start = cpu_ns();
		const struct gt_item *item;
		struct gt_cursor *cursor;
		double s;

		count = 0;
		if (gt_cursor_create(c, &cursor))
			die("cursor");
		while (gt_cursor_next(cursor, &item) > 0)
			count += item->kind == GT_RECORD_CALL || item->kind == GT_RECORD_DEVICE;
		gt_cursor_destroy(cursor);
		s = seconds_since(start);
		if (s < *best_s)
			*best_s = s;
	}
	gt_capture_close(c);
	return count;
}

static double copy_bytes(uint64_t bytes)
{
	size_t part = 64 << 20;
	char *from = malloc(part), *to = malloc(part);
	uint64_t start;

	memset(from, 1, part);
	memset(to, 1, part);
	start = cpu_ns();
	for (uint64_t done = 0; done < bytes; done += part)
		memcpy(to, from, bytes - done < part ? bytes - done : part);
	__asm__ volatile("" ::"r"(to) : "memory");
	free(from);
	free(to);
	return seconds_since(start);
}

/* Return the ns that snprintf() takes for the JSON of a call. */
static double print_json(void)
{
	static char out[512];
	uint64_t start = cpu_ns();
	enum { N = 500000 };

	for (unsigned i = 0; i < N; i++) {
		uint64_t ts = 1763679937000000 + i * 977u;

		snprintf(out, sizeof out,
			 "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":%u,"
			 "\"tid\":%u,\"ts\":%llu.%03u,\"dur\":%llu.%03u,"
			 "\"args\":{\"cbid\":%u,\"correlation\":%u}},\n",
			 "clEnqueueNDRangeKernel", 4711, 4712, (unsigned long long)(ts / 1000),
			 (unsigned)(ts % 1000), (unsigned long long)i, i % 1000, 59, i);
		__asm__ volatile("" ::: "memory");
	}
	return seconds_since(start) * 1e9 / N;
}

/* Parts of an export, each between two of its progress reports, during which no other load shared
 * our core (measure.h). */
enum { PART_RECORDS = 1 << 16, PARTS_MAX = 4096 };
struct parts {
	double ns[PARTS_MAX], least, busy;
	uint64_t start;
	size_t count, alone;
};

static void part_begin(struct parts *p)
{
	p->busy = bench_busy();
	p->start = cpu_ns();
}

static void part_end(void *parts, uint64_t done, uint64_t total)
{
	struct parts *p = parts;
	double ns = (double)(cpu_ns() - p->start), before = p->busy;

	(void)done;
	(void)total;
	part_begin(p);
	p->count++;
	if (p->alone < PARTS_MAX && bench_alone(before, p->busy, p->least) == BENCH_ALONE)
		p->ns[p->alone++] = ns;
}

/* Measure one format in a separate process. */
static void measure(const struct gt_exporter *exporter, const char *capture, uint64_t records,
		    double read_s)
{
	double best_s = 1e9, copy_s;
	char out[PATH_MAX], key[64];
	struct rusage before, after;
	double user_s = 1e9;
	static struct parts parts;
	struct gt_view_options options = {.progress = part_end, .progress_data = &parts};
	struct stat st;

	parts.least = bench_least_busy(NULL);
	snprintf(out, sizeof out, "%s/out%s", folder, exporter->extensions[0]);
	for (int trial = 0; trial < TRIALS; trial++) {
		struct gt_capture *c = open_capture(capture);
		uint64_t start;
		double s;

		unlink(out); /* so that the kernel reuses its memory, which is warm */
		getrusage(RUSAGE_SELF, &before);
		start = cpu_ns();
		part_begin(&parts);
		if (gt_export(exporter, c, out, true, &options))
			die(exporter->name);
		s = seconds_since(start);
		getrusage(RUSAGE_SELF, &after);
		if (s < best_s) {
			best_s = s;
			user_s = seconds(after.ru_utime) - seconds(before.ru_utime);
		}
		gt_capture_close(c);
	}
	if (stat(out, &st))
		die(out);
	unlink(out);
	copy_s = copy_bytes((uint64_t)st.st_size);
#define TELL(what, value, unit)                                           \
	(snprintf(key, sizeof key, "export_%s_%s", exporter->name, what), \
	 bench_print(key, value, unit))
	TELL("rate", (double)records / best_s / 1e6, "Mrecords/s");
	/* omitted for formats that read the records twice */
	if (parts.count == TRIALS * (records / PART_RECORDS) && parts.alone >= 10)
		TELL("alone_rate", PART_RECORDS * 1e3 / bench_median(parts.ns, parts.alone),
		     "Mrecords/s");
	TELL("user_rate", (double)records / user_s / 1e6, "Mrecords/s");
	TELL("format_ns", (user_s - read_s) * 1e9 / (double)records, "ns/record");
	TELL("bytes", (double)st.st_size / (double)records, "bytes/record");
	TELL("speed", (double)st.st_size / best_s / 1e6, "MB/s");
	TELL("to_memcpy", best_s / copy_s, "x");
	TELL("peak", (double)after.ru_maxrss / 1024, "MiB");
#undef TELL
}

int main(int argc, char **argv)
{
	char made[PATH_MAX];
	const char *capture = made;
	uint64_t records;
	double read_s;
	int failed = 0;

	if (!mkdtemp(folder))
		die("mkdtemp in /tmp");
	if (argc > 1)
		capture = argv[1];
	else
		make_capture(made, sizeof made);
	records = read_records(capture, &read_s);
	bench_print("export_records", (double)records / 1e6, "Mrecords");
	bench_print("export_read_rate", (double)records / read_s / 1e6, "Mrecords/s");
	bench_print("export_snprintf_json", print_json(), "ns");
	for (size_t i = 0; gt_exporters[i]; i++) {
		bool wanted = argc < 3;
		pid_t child;
		int status;

		for (int a = 2; a < argc; a++)
			wanted |= !strcmp(argv[a], gt_exporters[i]->name);
		if (!wanted)
			continue;
		fflush(stdout);
		child = fork();
		if (child == 0) {
			measure(gt_exporters[i], capture, records, read_s);
			fflush(stdout);
			_exit(0);
		}
		failed |= waitpid(child, &status, 0) != child || status;
	}
	if (capture == made)
		unlink(made);
	rmdir(folder);
	return failed;
}
