/* SPDX-License-Identifier: MIT */
/* Fork server of the gputap command: runs random command lines on mutants of captures. Each command
 * runs in a fork child, in which the sanitizers are already loaded.
 *
 *   command_lines FIRST COUNT CAPTURE...
 * Runs the rounds FIRST to FIRST + COUNT - 1. A round makes two mutants of a CAPTURE (a.gputap,
 * b.gputap) and runs LINES command lines over them and over the CAPTURE (original.gputap).
 *
 *   -k           keep the captures of a failed round, in the current folder
 *   -t SECONDS   start no more rounds after this time
 *   -x PROGRAM   run PROGRAM instead, to measure the time that the fork server saves
 *
 * Each command must end within CPU_SECONDS with a status of 0 to 3. It must explain a nonzero
 * status, print UTF-8 without control characters, and print valid JSON if requested. The program
 * prints findings with their command lines, and the number of commands per status. Exit status 1 if
 * there are findings. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/checksum.h"
#include "capture/format.h"
#include "json_check.h"
#include "mutate.h"

/* cli/main.c, whose main() is built under this name */
int gputap_main(int argc, char **argv);

enum { LINES = 24, WORDS_MAX = 40, CPU_SECONDS = 30, WALL_SECONDS = 600, FINDINGS_MAX = 50 };
enum { INPUTS_MAX = 64, STATUSES = 4, OUTPUT_MAX = 32 << 20 };

struct input {
	uint8_t *bytes;
	size_t count;
};

/* A command line under construction. */
struct line {
	char *words[WORDS_MAX + 1];
	int count;
	bool is_json; /* true if the command writes to the standard output */
};

struct choice {
	const char *option;
	const char *const *values; /* NULL: the option takes no value */
};

struct syntax {
	const char *command;
	const struct choice *choices;
	unsigned files_most;
	bool has_output; /* invalid without -o */
};

static struct input inputs[INPUTS_MAX];
static size_t input_count;
static uint64_t state, round_number;
static bool keep;
static char *program;
static char folder[64];
static uint64_t statuses[STATUSES], findings, run_count;
static const char *const files[] = {"a.gputap", "b.gputap", "original.gputap"};

static size_t below(size_t n)
{
	return n ? mutate_random(&state) % n : 0;
}

/* The grammar -------------------------------------------------------------------- */

#define VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})
/* a value that is newly generated on each use */
static const char expression[] = "EXPRESSION";

static const struct choice report_choices[] = {
	{"-t", VALUES("ranks,rank_spread,rank_waits", "operations", "ranges,gpu_by_range",
		      "kernels", "failures,copies,other", "graphs,devices,idle,gaps,latency",
		      "stacks", "processes,threads,loss", "code_objects,kernel_symbols", "", "x")},
	{"-s", VALUES("mean", "total_ns", "name", "count", "mean_ns", "x")},
	{"-r", NULL},
	{"-n", VALUES("0", "1", "3", "99999999999999999999", "-1")},
	{"--frames", VALUES("0", "1", "3")},
	{"-b", VALUES("name", "device", "process,thread", "queue", "rank,host", "range",
		      "thread,rank", "queue,name")},
	{"-w", VALUES(expression)},
	{"--json", NULL},
	{"--csv", NULL},
	{"--timeline", NULL},
	{"--short", NULL},
	{"--mangled", NULL},
	{"-o", VALUES("out.html", "out.txt")},
	{"-f", NULL},
	{NULL, NULL},
};

static const struct choice diff_choices[] = {
	{"-t", VALUES("totals", "devices,idle", "ranks", "kernels", "copies,other,graphs", "ranges",
		      "gpu_by_range,operations")},
	{"-w", VALUES(expression)},
	{"--baseline", VALUES(expression)},
	{"--candidate", VALUES(expression)},
	{"--per", VALUES("*", "step", "step*", "*#2", "")},
	{"-b", VALUES("device", "rank", "device,rank")},
	{"-n", VALUES("0", "1", "5")},
	{"--noise", VALUES("0", "2%", "100", "1e9", "nan")},
	{"--fail-over", VALUES("5%", "0", "kernels:1%,copies:0%", "x:1")},
	{"--mangled", NULL},
	{"--json", NULL},
	{"--csv", NULL},
	{"--markdown", NULL},
	{"--svg", NULL},
	{"--vs", NULL},
	{"-o", VALUES("out.json", "out.csv", "out.md", "out.svg")},
	{"-f", NULL},
	{NULL, NULL},
};

static const struct choice export_choices[] = {
	{"-w", VALUES(expression)},
	{"--mangled", NULL},
	{"--weight", VALUES("device", "host")},
	{"--format", VALUES("perfetto", "chrome", "hta", "rpd", "rocpd", "csv", "folded",
			    "speedscope", "gputap")},
	{NULL, NULL},
};

static const struct choice merge_choices[] = {
	{"-w", VALUES(expression)},
	{"--mangled", NULL},
	{NULL, NULL},
};

static const struct choice info_choices[] = {{"--all", NULL}, {"--json", NULL}, {NULL, NULL}};

static const struct syntax syntaxes[] = {
	{"report", report_choices, 3, false}, {"diff", diff_choices, 3, false},
	{"export", export_choices, 3, true},  {"diff", diff_choices, 2, false},
	{"merge", merge_choices, 3, true},    {"info", info_choices, 3, false},
};

static const char *const outputs[] = {
	"out.pftrace", "out.json", "out.json.gz", "out.hta.json.gz",     "out.rpd",
	"out.rocpd",   "out.csv",  "out.folded",  "out.speedscope.json", "out.gputap",
};

static const char *const terms[] = {
	"name=cl*",
	"name~'^cl(E|F)'",
	"name!=x",
	"name!~k",
	"domain=opencl",
	"kind=kernel",
	"kind=memcpy",
	"device=0",
	"device=*dev*",
	"queue=1",
	"process=4*",
	"thread=w*",
	"duration>10us",
	"duration<=1ms",
	"bytes>=1KiB",
	"failed",
	"range=step",
	"range=*",
	"range=*#1..2",
	"range=step#3",
	"at=0s..1s",
	"at>=100us",
	"at<*#2+10us",
	"at=*#1",
	"at>=*#1..3",
	"rank=0..7",
	"host=*",
	"at>=",
	"name",
	"name~'('",
	"bytes>99999EiB",
	"rank=-1",
	"''",
	"range=*#0",
	"at=5s..1s",
	"duration>nanous",
};

static void make_expression(char *text, size_t room, unsigned depth)
{
	char left[512], right[512];

	if (depth > 3 || below(3)) {
		snprintf(text, room, "%s", terms[below(sizeof terms / sizeof *terms)]);
		return;
	}
	make_expression(left, sizeof left, depth + 1);
	make_expression(right, sizeof right, depth + 1);
	switch (below(4)) {
	case 0: snprintf(text, room, "not %s", left); break;
	case 1: snprintf(text, room, "(%s)", left); break;
	case 2: snprintf(text, room, "%s and %s", left, right); break;
	default: snprintf(text, room, "(%s) or %s", left, right);
	}
}

static void add_word(struct line *line, const char *word)
{
	char text[2048];

	if (line->count == WORDS_MAX)
		return;
	if (word == expression) {
		make_expression(text, sizeof text, 0);
		word = text;
	}
	line->words[line->count] = strdup(word);
	if (!line->words[line->count])
		abort();
	line->words[++line->count] = NULL;
}

static void add_option(struct line *line, const struct choice *c)
{
	size_t n = 0;

	add_word(line, c->option);
	line->is_json |= !strcmp(c->option, "--json");
	if (!c->values)
		return;
	while (c->values[n])
		n++;
	add_word(line, c->values[below(n)]);
}

static void make_line(struct line *line)
{
	const struct syntax *s = &syntaxes[below(sizeof syntaxes / sizeof *syntaxes)];
	size_t choices = 0;

	memset(line, 0, sizeof *line);
	while (s->choices[choices].option)
		choices++;
	add_word(line, "gputap");
	add_word(line, s->command);
	for (size_t i = below(4); i; i--)
		add_option(line, &s->choices[below(choices)]);
	for (size_t i = below(s->files_most), k = below(3); i < s->files_most; i++, k++) {
		add_word(line, files[k % 3]);
		if (!strcmp(s->command, "diff") && s->files_most == 3 && i == 1)
			add_word(line, "--vs");
	}
	if (s->has_output) {
		add_word(line, "-f");
		add_word(line, "-o");
		add_word(line, outputs[below(sizeof outputs / sizeof *outputs)]);
	}
}

static void free_line(struct line *line)
{
	for (int i = 0; i < line->count; i++)
		free(line->words[i]);
}

/* Findings ----------------------------------------------------------------------- */

static void copy_capture(const char *name)
{
	char from[128], to[96], buffer[65536];
	int in, out;
	ssize_t n;

	snprintf(from, sizeof from, "%s/%s", folder, name);
	snprintf(to, sizeof to, "%" PRIu64 "-%s", round_number, name);
	in = open(from, O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	while ((n = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, (size_t)n) != n)
			break;
	close(in);
	close(out);
}

static void find(const struct line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void find(const struct line *line, const char *format, ...)
{
	va_list args;

	printf("round %" PRIu64 ":", round_number);
	for (int i = 0; i < line->count; i++)
		printf(" '%s'", line->words[i]);
	printf(": ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	findings++;
	for (unsigned i = 0; keep && i < 3; i++)
		copy_capture(files[i]);
}

/* Running ------------------------------------------------------------------------ */

static void become_command(const struct line *line, int out, int err)
{
	struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS};

	if (chdir(folder) || dup2(out, 1) != 1 || dup2(err, 2) != 2 || setrlimit(RLIMIT_CPU, &cpu))
		_exit(120);
	alarm(WALL_SECONDS);
	if (program) {
		execv(program, line->words);
		_exit(121);
	}
	exit(gputap_main(line->count, (char **)(uintptr_t)line->words));
}

static char *read_output(int fd, size_t *bytes)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)end + 1);

	if (!text)
		abort();
	*bytes = end > 0 && pread(fd, text, (size_t)end, 0) == end ? (size_t)end : 0;
	return text;
}

static bool has_option(const struct line *line, const char *option)
{
	for (int i = 0; i < line->count; i++)
		if (!strcmp(line->words[i], option))
			return true;
	return false;
}

static void check_output(const struct line *line, int status, int out, int err)
{
	size_t out_bytes, err_bytes, at;
	char *text = read_output(out, &out_bytes), *said = read_output(err, &err_bytes);
	bool is_file = has_option(line, "-o");

	if (status && !err_bytes && !out_bytes)
		find(line, "status %d without a word", status);
	at = text_check(text, out_bytes);
	if (at < out_bytes)
		find(line, "standard output, byte %zu: not printable UTF-8: %.40s", at, text + at);
	at = text_check(said, err_bytes);
	if (at < err_bytes)
		find(line, "standard error, byte %zu: not printable UTF-8: %.40s", at, said + at);
	if (line->is_json && out_bytes && !is_file && status != 2) {
		at = json_check(text, out_bytes, !strcmp(line->words[1], "info"));
		if (at < out_bytes)
			find(line, "no JSON from byte %zu on: %.60s", at, text + at);
	}
	free(text);
	free(said);
}

/* Check a file that a command wrote. */
static void check_file(const struct line *line, const char *name)
{
	char path[128], *text;
	size_t bytes, at;
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	text = read_output(fd, &bytes);
	close(fd);
	at = json_check(text, bytes, false);
	if (at < bytes || !bytes)
		find(line, "%s is no JSON from byte %zu on: %.60s", name, at, text + at);
	free(text);
}

static void clear_outputs(void)
{
	static const char *const others[] = {"out.html", "out.md", "out.svg", "out.txt"};
	char path[128];

	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, outputs[i]);
		unlink(path);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, others[i]);
		unlink(path);
	}
}

static void run_line(const struct line *line)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_command(line, out, err);
	if (pid < 0 || out < 0 || err < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	run_count++;
	if (WIFSIGNALED(status) || WEXITSTATUS(status) >= STATUSES) {
		size_t bytes;
		char *said = read_output(err, &bytes);

		find(line, "ended by %s %d\n%s", WIFSIGNALED(status) ? "signal" : "status",
		     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), said);
		free(said);
	} else {
		statuses[WEXITSTATUS(status)]++;
		check_output(line, WEXITSTATUS(status), out, err);
		if (WEXITSTATUS(status) == 0 && !has_option(line, "--format")) {
			check_file(line, "out.json");
			check_file(line, "out.speedscope.json");
		}
	}
	close(out);
	close(err);
	clear_outputs();
}

/* Rounds ------------------------------------------------------------------------- */

static void put_file(const char *name, const void *data, size_t bytes)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	close(fd);
}

/* Write mostly plausible mutants, because all commands refuse other mutants for the same
 * reasons. */
static void put_mutant(const char *name, const struct input *in, uint64_t number)
{
	static struct mutant mutant;

	if (below(8) == 0 || !mutate_plausibly(in->bytes, in->count, number, &mutant))
		mutate(in->bytes, in->count, number, &mutant);
	put_file(name, mutant.bytes, mutant.count);
}

static void run_round(uint64_t number)
{
	const struct input *in;

	round_number = number;
	state = number * UINT64_C(0x9e3779b97f4a7c15) + 3;
	in = &inputs[below(input_count)];
	put_mutant(files[0], in, number * 2);
	put_mutant(files[1], below(4) ? in : &inputs[below(input_count)], number * 2 + 1);
	put_file(files[2], in->bytes, in->count);
	for (int i = 0; i < LINES; i++) {
		struct line line;

		make_line(&line);
		run_line(&line);
		free_line(&line);
	}
}

static void read_input(const char *path)
{
	struct input *in = &inputs[input_count];
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
	input_count++;
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void remove_folder(void)
{
	char path[128];

	clear_outputs();
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		unlink(path);
	}
	rmdir(folder);
}

int main(int argc, char **argv)
{
	uint64_t first, count, i;
	time_t begin = now(), seconds = 0;

	if (argc < 4) {
		fprintf(stderr, "command_lines FIRST COUNT [-k] [-t SECONDS] [-x PROGRAM] "
				"CAPTURE..\n");
		return 2;
	}
	first = strtoull(argv[1], NULL, 10);
	count = strtoull(argv[2], NULL, 10);
	for (int a = 3; a < argc && input_count < INPUTS_MAX; a++)
		if (!strcmp(argv[a], "-k"))
			keep = true;
		else if (!strcmp(argv[a], "-t") && a + 1 < argc)
			seconds = atol(argv[++a]);
		else if (!strcmp(argv[a], "-x") && a + 1 < argc)
			program = argv[++a];
		else
			read_input(argv[a]);
	strcpy(folder, "/dev/shm/lines-XXXXXX");
	if (!input_count || !mkdtemp(folder))
		return 2;
	setenv("LC_ALL", "C.UTF-8", 1);
	for (i = 0; i < count && findings < FINDINGS_MAX; i++) {
		if (seconds && now() - begin >= seconds)
			break;
		run_round(first + i);
	}
	remove_folder();
	printf("%" PRIu64 " command lines in %" PRIu64 " rounds and %ld s, %" PRIu64 " findings\n",
	       run_count, i, (long)(now() - begin), findings);
	for (unsigned k = 0; k < STATUSES; k++)
		printf("  status %u: %" PRIu64 "\n", k, statuses[k]);
	return findings != 0;
}
