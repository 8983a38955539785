/* SPDX-License-Identifier: MIT */
/* Runs info, report and its pictures, cuts, every export, diff, what-if, merge and recover, and
 * reads the tables of libgputap-capture, on mutants of captures (mutate.h), as a user would, but in
 * one process:
 *
 *   hostile_captures FIRST COUNT CAPTURE... PARTNER
 * Tests the mutants FIRST to FIRST + COUNT - 1, and merges them with PARTNER. The first mutant of
 * each CAPTURE is the unchanged capture.
 *
 *   -p           plausible mutants: mutate_plausibly()
 *   -k           keep failing mutants as NUMBER.gputap in the current folder
 *   -t SECONDS   start no more mutants after this time
 *
 * A worker process runs the mutants one after another and notes its progress in shared memory. If
 * it dies, the mutant and the command are reported, and another worker continues after that mutant.
 * A command must not crash, must end in time, and must meet these conditions:
 *   - its status is 0 or 1 (for `diff` also 3), and a nonzero status is explained;
 *   - its output contains no control characters;
 *   - if the status of `info` is 0, then seen = recorded + evicted + lost, and all recorded rows
 *     are
 *     present; `report`, `export` and `merge` return 0 only in that case, and with the same
 *     numbers.
 * The program prints its findings, and how often each command succeeded. Exit status 1 if there are
 * findings. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/checksum.h"
#include "capture/format.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "collector/collector.h"
#include "collector/folder.h"
#include "collector/journal.h"
#include "check_tables.h"
#include "mutate.h"
#include "util/error.h"

enum { STEP_SECONDS = 30, STEPS = 64, OUTPUT_MAX = 8 << 20, FINDINGS_MAX = 50 };

/* Ways in which a command ends, in the order of the output. */
enum { STATUS_GOOD, STATUS_FAILED, STATUS_OTHER /* mostly status 3 of `diff` */, STATUSES };

/* Steps, in the order of the output. */
enum {
	STEP_INFO,
	STEP_INFO_JSON,
	STEP_REPORT,
	STEP_REPORT_JSON,
	STEP_RECOVER,
	STEP_MERGE,
	STEP_TABLES,
	STEP_OTHERS,
	STEP_EXPORTS, /* one step per format, followed by `looks` */
};

/* Progress of the worker, which the parent reads. */
struct progress {
	uint64_t number, findings, done;
	const char *step; /* an address that is valid in both processes */
	uint64_t statuses[STEPS][STATUSES];
};

struct input {
	uint8_t *bytes;
	size_t count;
};

static struct progress *progress;
static struct input inputs[64];
static size_t input_count;
static bool keep, plausible;
static time_t until = INT64_MAX;
static char folder[64], capture[128], second[128], original[128], output[160];
static int out_fd, err_fd, true_err;
static char *printed;

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC),
	    out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char buffer[4096];
	ssize_t n;

	while ((n = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, (size_t)n) != n)
			break;
	close(in);
	close(out);
}

static void find(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void keep_capture(void)
{
	char name[64];

	if (!keep)
		return;
	snprintf(name, sizeof name, "%" PRIu64 ".gputap", progress->number);
	copy_file(capture, name);
}

static void find(const char *format, ...)
{
	char text[1024];
	va_list args;
	int n = snprintf(text, sizeof text, "mutant %" PRIu64 ": %s: ", progress->number,
			 progress->step);

	va_start(args, format);
	n += vsnprintf(text + n, sizeof text - (size_t)n, format, args);
	va_end(args);
	dprintf(true_err, "%s\n", text);
	progress->findings++;
	keep_capture();
}

/* Running a command -------------------------------------------------------------- */

static const char *read_output(int fd, size_t *bytes)
{
	ssize_t n = pread(fd, printed, OUTPUT_MAX - 1, 0);

	*bytes = n > 0 ? (size_t)n : 0;
	printed[*bytes] = '\0';
	return printed;
}

/* Find control characters, which a terminal would interpret. */
static void check_harmless(int fd, const char *which)
{
	size_t bytes;
	const unsigned char *text = (const unsigned char *)read_output(fd, &bytes);

	for (size_t i = 0; i < bytes; i++)
		if ((text[i] < 0x20 && text[i] != '\n') || text[i] == 0x7f ||
		    (text[i] == 0xc2 && text[i + 1] >= 0x80 && text[i + 1] < 0xa0)) {
			find("%s has the control character %#x in it: %.60s", which, text[i],
			     text + (i > 20 ? i - 20 : 0));
			return;
		}
}

/* Return the exit status. */
static int run_command(const struct gt_command *command, unsigned step, const char *name,
		       char **argv)
{
	int argc = 0, status;
	size_t said;

	while (argv[argc])
		argc++;
	progress->step = name;
	if (ftruncate(out_fd, 0) || ftruncate(err_fd, 0) || lseek(out_fd, 0, SEEK_SET) ||
	    lseek(err_fd, 0, SEEK_SET))
		abort();
	ui_command = command->name;
	alarm(STEP_SECONDS);
	status = command->run(argc, argv);
	alarm(0);
	fflush(stdout);
	fflush(stderr);
	gt_error_clear();
	progress->statuses[step][!status       ? STATUS_GOOD
				 : status == 1 ? STATUS_FAILED
					       : STATUS_OTHER]++;
	if (status != 0 && status != 1 && (status != 3 || command != &gt_command_diff))
		find("status %d", status);
	read_output(err_fd, &said);
	if (status && !said) {
		read_output(out_fd, &said);
		if (!said)
			find("failed without a word");
	}
	check_harmless(err_fd, "stderr");
	check_harmless(out_fd, "stdout");
	return status;
}

/* Return the first number of @key in the output. */
static uint64_t number_of(const char *key)
{
	char quoted[64];
	const char *at;
	size_t bytes;

	snprintf(quoted, sizeof quoted, "\n  \"%s\": ", key);
	at = strstr(read_output(out_fd, &bytes), quoted);
	if (!at) {
		find("no %s in what it prints", key);
		return 0;
	}
	return strtoull(at + strlen(quoted), NULL, 10);
}

/* Checks ------------------------------------------------------------------------- */

struct sums {
	uint64_t seen, recorded, evicted, dropped, calls, activity;
};

static void check_whole(const struct sums *s)
{
	if (s->seen != s->recorded + s->evicted + s->dropped)
		find("status 0, and seen %" PRIu64 " is not recorded %" PRIu64
		     " + not kept %" PRIu64 " + lost %" PRIu64,
		     s->seen, s->recorded, s->evicted, s->dropped);
	if (s->recorded != s->calls + s->activity)
		find("status 0, and of %" PRIu64 " recorded %" PRIu64 " calls and %" PRIu64
		     " items of device work are there",
		     s->recorded, s->calls, s->activity);
}

static int run_info(const char *path, unsigned step, struct sums *s)
{
	char *json[] = {(char *)"info", (char *)"--json", (char *)(uintptr_t)path, NULL};
	int status = run_command(&gt_command_info, step, "info --json", json);
	size_t bytes;

	memset(s, 0, sizeof *s);
	read_output(out_fd, &bytes);
	if (!bytes)
		return status;
	*s = (struct sums){number_of("seen"),    number_of("recorded"), number_of("evicted"),
			   number_of("dropped"), number_of("calls"),    number_of("activities")};
	if (!status)
		check_whole(s);
	return status;
}

static void check_report(const struct sums *info, int info_status)
{
	char *json[] = {(char *)"report", (char *)"--json", (char *)"--top",
			(char *)"0",      capture,          NULL};
	int status = run_command(&gt_command_report, STEP_REPORT_JSON, "report --json", json);

	if (status == 0 && info_status)
		find("status 0, and info says 1");
	/* rows kept in a cut only because other rows need them are not counted as calls */
	if (status == 0 && !info->evicted &&
	    (number_of("calls") + number_of("range_records") != info->calls ||
	     number_of("activities") != info->activity || number_of("seen") != info->seen ||
	     number_of("dropped") != info->dropped))
		find("other sums than info's");
}

static uint64_t count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	uint64_t n = 0;
	bool quoted = false;
	int c;

	while (f && (c = getc_unlocked(f)) != EOF) {
		quoted ^= c == '"';
		n += c == '\n' && !quoted;
	}
	if (f)
		fclose(f);
	return n;
}

static const struct {
	const char *ending, *format; /* format: NULL: the file name extension selects it */
} exports[] = {
	{"pftrace", NULL}, {"json", NULL},   {"json.gz", NULL},         {"hta.json", "hta"},
	{"rpd", NULL},     {"db", "rpd"},    {"rocpd", NULL},           {"folded", NULL},
	{"csv", NULL},     {"gputap", NULL}, {"speedscope.json", NULL},
};
enum { EXPORTS = sizeof exports / sizeof *exports };

/* Check that a copy reports the same numbers as the mutant. */
static void check_copy(const struct sums *info)
{
	struct sums copy;

	if (!run_info(output, STEP_OTHERS, &copy) &&
	    (copy.seen != info->seen || copy.calls != info->calls ||
	     copy.activity != info->activity))
		find("other sums than the original's");
}

static void check_exports(const struct sums *info, int info_status)
{
	for (unsigned i = 0; i < EXPORTS; i++) {
		const char *ending = exports[i].ending;
		char *argv[] = {(char *)"export", capture, (char *)"-f", (char *)"-o",
				output,           NULL,    NULL,         NULL};
		int status;

		snprintf(output, sizeof output, "%s/out.%s", folder, ending);
		if (exports[i].format) {
			argv[5] = (char *)"--format";
			argv[6] = (char *)(uintptr_t)exports[i].format;
		}
		status = run_command(&gt_command_export, STEP_EXPORTS + i, ending, argv);
		/* because a copy also contains the damaged parts */
		if (status == 0 && info_status && strcmp(ending, "gputap") != 0)
			find("status 0, and info says 1");
		if (status == 0 && !strcmp(ending, "csv") && !info->evicted &&
		    count_lines(output) != 1 + info->calls + info->activity)
			find("%" PRIu64 " lines for %" PRIu64 " records", count_lines(output),
			     info->calls + info->activity);
		if (status == 0 && !strcmp(ending, "gputap"))
			check_copy(info);
		unlink(output);
	}
}

/* Run other commands over a capture, checking only their termination. EXPR: one of `expressions`,
 * selected by the number of the mutant. ORIGINAL: the capture that the mutant was made from. */
static const struct {
	const struct gt_command *command;
	const char *name, *words[12]; /* ends with NULL */
} looks[] = {
	{&gt_command_report,
	 "tables",
	 {"report", "-n", "0", "-t",
	  "ranks,rank_spread,rank_waits,operations,ranges,gpu_by_range,graphs,idle,gaps,patterns,"
	  "latency,stacks,host_samples,open,code_objects,kernel_symbols",
	  "CAPTURE"}},
	{&gt_command_report, "timeline", {"report", "--timeline", "CAPTURE"}},
	{&gt_command_report, "html", {"report", "-f", "-o", "OUT.html", "CAPTURE"}},
	{&gt_command_report, "by rank", {"report", "--by", "rank,host", "CAPTURE", "SECOND"}},
	{&gt_command_report, "by range", {"report", "--by", "range", "CAPTURE"}},
	{&gt_command_report, "screen", {"report", "CAPTURE"}},
	{&gt_command_report, "where", {"report", "-w", "EXPR", "CAPTURE"}},
	{&gt_command_report, "where timeline", {"report", "--timeline", "-w", "EXPR", "CAPTURE"}},
	{&gt_command_export, "cut", {"export", "-f", "-o", "OUT.gputap", "-w", "EXPR", "CAPTURE"}},
	{&gt_command_export,
	 "slice",
	 {"export", "-f", "-o", "OUT.pftrace", "-w", "EXPR", "CAPTURE"}},
	{&gt_command_diff, "diff", {"diff", "CAPTURE", "ORIGINAL"}},
	{&gt_command_diff, "diff to", {"diff", "--json", "ORIGINAL", "CAPTURE"}},
	{&gt_command_diff,
	 "diff slices",
	 {"diff", "CAPTURE", "--baseline", "EXPR", "--candidate", "at>=1ms"}},
	{&gt_command_diff, "diff per", {"diff", "--per", "*", "CAPTURE", "ORIGINAL"}},
	{&gt_command_what_if, "what-if", {"what-if", "CAPTURE"}},
	{&gt_command_what_if,
	 "what-if changes",
	 {"what-if", "--json", "--scale", "kind=kernel", "1e6", "--bandwidth", "1e-6",
	  "--launch-cost", "0", "CAPTURE"}},
	{&gt_command_what_if,
	 "what-if overlap",
	 {"what-if", "--overlap", "0", "--scale", "EXPR", "0", "CAPTURE"}},
	{&gt_command_what_if, "what-if per", {"what-if", "--per", "*", "CAPTURE"}},
	{&gt_command_what_if, "what-if jobs", {"what-if", "CAPTURE", "ORIGINAL", "SECOND"}},
	{&gt_command_diff, "diff svg", {"diff", "--svg", "-n", "0", "CAPTURE", "ORIGINAL"}},
};
enum { LOOKS = sizeof looks / sizeof *looks };

static const char *const expressions[] = {
	"at>=100us and at<1ms",
	"range=*#1..2",
	"not at=*#1",
	"duration>1us and not (kind=kernel or at<=*#2-1us)",
	"failed or rank=0 or host=a",
	"name~'^cl(E|F)' and thread!=1",
	"at=*#1..3 or bytes>0",
	"process=4* and device=0",
};

static void check_looks(uint64_t number)
{
	enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

	for (unsigned i = 0; i < LOOKS; i++) {
		char *argv[13] = {NULL};
		int status;

		*output = '\0';
		for (unsigned k = 0; looks[i].words[k]; k++) {
			const char *word = looks[i].words[k];

			if (!strncmp(word, "OUT", 3))
				snprintf(output, sizeof output, "%s/out%s", folder, word + 3);
			argv[k] = !strcmp(word, "CAPTURE")    ? capture
				  : !strcmp(word, "SECOND")   ? second
				  : !strcmp(word, "ORIGINAL") ? original
				  : !strncmp(word, "OUT", 3)  ? output
				  : !strcmp(word, "EXPR")
					  ? (char *)(uintptr_t)expressions[number % EXPRESSIONS]
					  : (char *)(uintptr_t)word;
		}
		status = run_command(looks[i].command, STEP_EXPORTS + EXPORTS + i, looks[i].name,
				     argv);
		if (status == 0 && !strcmp(looks[i].name, "cut")) {
			struct sums sums;

			run_info(output, STEP_OTHERS, &sums);
		}
		if (*output)
			unlink(output);
	}
}

/* Read all tables, and those of some records. */
static void check_library(uint64_t number, const struct sums *info, int info_status)
{
	enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };
	struct table_counts counts;
	char wrong[256];
	int status;

	progress->step = "tables of the library";
	alarm(STEP_SECONDS);
	status = check_tables(capture, NULL, &counts, wrong);
	progress->statuses[STEP_TABLES][status ? STATUS_FAILED : STATUS_GOOD]++;
	if (*wrong)
		find("%s", wrong);
	if (!status && !info_status && !info->evicted &&
	    (counts.calls != info->calls || counts.activities != info->activity))
		find("%" PRIu64 " calls and %" PRIu64 " activities, not info's", counts.calls,
		     counts.activities);
	check_tables(capture, expressions[number % EXPRESSIONS], &counts, wrong);
	alarm(0);
	if (*wrong)
		find("%s", wrong);
}

static void check_merge(const struct sums *info, int info_status)
{
	char *argv[] = {(char *)"merge", capture, second, (char *)"-f", (char *)"-o", output, NULL};
	struct sums other, sum;
	int status, other_status;

	other_status = run_info(second, STEP_OTHERS, &other);
	snprintf(output, sizeof output, "%s/merged.gputap", folder);
	status = run_command(&gt_command_merge, STEP_MERGE, "merge", argv);
	if (status == 0) {
		int merged_status = run_info(output, STEP_OTHERS, &sum);

		progress->step = "info of merge";
		if (merged_status != (info_status || other_status))
			find("status %d, of the parts %d and %d", merged_status, info_status,
			     other_status);
		if (!merged_status && (sum.seen != info->seen + other.seen ||
				       sum.recorded != info->recorded + other.recorded ||
				       sum.dropped != info->dropped + other.dropped))
			find("other sums than the parts'");
	}
	unlink(output);
}

/* Recover ------------------------------------------------------------------------ */

static void put_file(const char *in, const char *name, const void *data, size_t bytes)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/%s", in, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	close(fd);
}

/* Make a session whose collector has died, with the mutant as its capture and without rings. */
static void check_recover(const struct mutant *mutant)
{
	static struct gt_session session;
	char directory[128];
	struct gt_folder f;
	const struct gt_keep_position kept = {0};
	struct gt_journal journal;
	struct sums s;
	uint8_t id[GT_CAPTURE_ID_BYTES] = {0};
	char *argv[] = {(char *)"recover", directory, NULL};

	gt_session_defaults(&session);
	session.magic = GT_SESSION_MAGIC;
	session.version = GT_SESSION_VERSION;
	session.bytes = sizeof session;
	session.block_bytes = 65536;
	session.pool_bytes = 1 << 20;
	if (mutant->count > 32)
		memcpy(id, mutant->bytes + 16, sizeof id);
	if (gt_folder_create(&session, capture, NULL, &f) || gt_journal_create(&f, id, &journal))
		abort();
	snprintf(directory, sizeof directory, "%s", f.path);
	gt_journal_redo_begin(&journal, mutant->count, &kept, 0);
	gt_journal_redo_accounts(&journal);
	gt_journal_redo_end(&journal);
	gt_journal_close(&journal);
	gt_folder_close(&f);
	if (!run_command(&gt_command_recover, STEP_RECOVER, "recover", argv))
		run_info(capture, STEP_OTHERS, &s);
	else if (!gt_folder_open(directory, &f))
		gt_folder_remove(&f);
	gt_error_clear();
}

/* Mutants ------------------------------------------------------------------------ */

static uint8_t *copy_bytes(const struct input *in)
{
	uint8_t *bytes = malloc(in->count);

	if (!bytes)
		abort();
	return memcpy(bytes, in->bytes, in->count);
}

/* Write the original capture with another session number, because diff refuses copies. */
static void put_original(const struct input *in)
{
	struct gt_file_header *header = (struct gt_file_header *)in->bytes;

	header->uuid[0] ^= 1;
	header->crc = gt_crc32c(0, header, offsetof(struct gt_file_header, crc));
	put_file(folder, "original.gputap", in->bytes, in->count);
	header->uuid[0] ^= 1;
	header->crc = gt_crc32c(0, header, offsetof(struct gt_file_header, crc));
}

static void run_mutant(uint64_t number)
{
	static struct mutant mutant;
	const struct input *in = &inputs[number / 2 % (input_count - 1)],
			   *other = &inputs[input_count - 1];
	char *text[] = {(char *)"info", (char *)"--all", capture, NULL};
	char *report[] = {(char *)"report", (char *)"--top", (char *)"0", capture, NULL};
	struct sums info;
	int status;

	progress->number = number;
	progress->step = "mutate";
	if (number & 1 || number / 2 >= input_count - 1) {
		if (!plausible || !mutate_plausibly(in->bytes, in->count, number, &mutant))
			mutate(in->bytes, in->count, number, &mutant);
	} else {
		free(mutant.bytes);
		mutant = (struct mutant){copy_bytes(in), in->count, in->count};
	}
	put_file(folder, "mutant.gputap", mutant.bytes, mutant.count);
	put_file(folder, "second.gputap", other->bytes, other->count);
	put_original(in);
	run_command(&gt_command_info, STEP_INFO, "info", text);
	status = run_info(capture, STEP_INFO_JSON, &info);
	run_command(&gt_command_report, STEP_REPORT, "report", report);
	check_report(&info, status);
	check_exports(&info, status);
	check_looks(number);
	check_library(number, &info, status);
	check_merge(&info, status);
	check_recover(&mutant);
}

void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static void redirect(void)
{
	out_fd = memfd_create("out", MFD_CLOEXEC);
	err_fd = memfd_create("err", MFD_CLOEXEC);
	true_err = dup(2);
	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)true_err);
	printed =
		mmap(NULL, OUTPUT_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (printed == MAP_FAILED || dup2(out_fd, 1) != 1 || dup2(err_fd, 2) != 2)
		abort();
}

static bool is_enough(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return progress->findings >= FINDINGS_MAX || now.tv_sec >= until;
}

/* Runs in a separate process. */
static void activity(uint64_t first, uint64_t end)
{
	redirect();
	for (uint64_t n = first; n < end && !is_enough(); n++) {
		run_mutant(n);
		progress->done++;
	}
	progress->number = end;
	_exit(0);
}

static int start_worker(uint64_t first, uint64_t end)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		activity(first, end);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	return status;
}

static void read_input(const char *path)
{
	struct input *in = &inputs[input_count++];
	FILE *f = fopen(path, "rb");
	struct stat st;

	if (!f || fstat(fileno(f), &st) || st.st_size < 64) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	in->count = (size_t)st.st_size;
	in->bytes = malloc(in->count);
	if (!in->bytes || fread(in->bytes, 1, in->count, f) != in->count)
		exit(2);
	fclose(f);
}

static_assert(STEP_EXPORTS + EXPORTS + LOOKS <= STEPS, "all are counted");

static void print_sums(uint64_t count)
{
	static const char *const names[STEP_EXPORTS] = {"info --all",    "info --json",   "report",
							"report --json", "recover",       "merge",
							"tables",        "info of others"};

	printf("%" PRIu64 " mutants, %" PRIu64 " findings\n", count, progress->findings);
	for (unsigned i = 0; i < STEP_EXPORTS + EXPORTS + LOOKS; i++)
		printf("  %-16s status 0: %" PRIu64 ", 1: %" PRIu64 ", other: %" PRIu64 "\n",
		       i < STEP_EXPORTS             ? names[i]
		       : i < STEP_EXPORTS + EXPORTS ? exports[i - STEP_EXPORTS].ending
						    : looks[i - STEP_EXPORTS - EXPORTS].name,
		       progress->statuses[i][STATUS_GOOD], progress->statuses[i][STATUS_FAILED],
		       progress->statuses[i][STATUS_OTHER]);
}

int main(int argc, char **argv)
{
	uint64_t first, end, at;
	struct timespec now;
	long seconds = 0;

	if (argc < 4) {
		fprintf(stderr,
			"hostile_captures FIRST COUNT [-pk] [-t SECONDS] CAPTURE.. PARTNER\n");
		return 2;
	}
	setlocale(LC_CTYPE, "C.UTF-8");
	first = strtoull(argv[1], NULL, 10);
	end = first + strtoull(argv[2], NULL, 10);
	for (int i = 3; i < argc && input_count < sizeof inputs / sizeof *inputs; i++)
		if (!strcmp(argv[i], "-k"))
			keep = true;
		else if (!strcmp(argv[i], "-p"))
			plausible = true;
		else if (!strcmp(argv[i], "-t") && i + 1 < argc)
			seconds = atol(argv[++i]);
		else
			read_input(argv[i]);
	progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	strcpy(folder, "/dev/shm/hostile-XXXXXX");
	if (progress == MAP_FAILED || input_count < 2 || !mkdtemp(folder))
		return 2;
	snprintf(capture, sizeof capture, "%s/mutant.gputap", folder);
	snprintf(second, sizeof second, "%s/second.gputap", folder);
	snprintf(original, sizeof original, "%s/original.gputap", folder);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (seconds)
		until = now.tv_sec + seconds;
	for (at = first; at < end && !is_enough();) {
		int status = start_worker(at, end);

		if (status || progress->number != end) {
			printf("mutant %" PRIu64 ": %s: ended by %s %d\n", progress->number,
			       progress->step, WIFSIGNALED(status) ? "signal" : "status",
			       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
			progress->findings++;
			keep_capture();
		}
		at = progress->number < end ? progress->number + 1 : end;
	}
	print_sums(progress->done);
	unlink(capture);
	unlink(second);
	unlink(original);
	unlink(output);
	rmdir(folder);
	return progress->findings != 0;
}
