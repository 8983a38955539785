/* SPDX-License-Identifier: MIT */
/* Runner of C unit tests: see unit.h. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SKIP = 77, SHOW_BYTES = 256 };

static struct unit_test *tests, **tests_end = &tests;
static char folder[64];

void unit_register(struct unit_test *test)
{
	*tests_end = test;
	tests_end = &test->next;
}

void unit_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	fflush(stderr);
	_exit(1);
}

void unit_skip(const char *reason)
{
	fprintf(stderr, "skipped: %s\n", reason);
	_exit(EXIT_SKIP);
}

void unit_need_the_kernel(void)
{
	_Atomic int *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool wiped = false;
	int status;
	pid_t pid;

	if (page == MAP_FAILED || madvise((void *)(uintptr_t)page, 4096, MADV_WIPEONFORK))
		return; /* the kernel does not support MADV_WIPEONFORK, so skip the check */
	*page = 1;
	pid = fork();
	if (pid == 0)
		_exit(*page);
	wiped = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
	munmap((void *)(uintptr_t)page, 4096);
	if (!wiped)
		unit_skip("an emulator that does less than the kernel");
}

const char *unit_folder(void)
{
	if (!folder[0]) {
		strcpy(folder, "/tmp/gputap-unit-XXXXXX");
		if (!mkdtemp(folder))
			unit_fail(__FILE__, __LINE__, "mkdtemp(%s): %s", folder, strerror(errno));
	}
	return folder;
}

static char *show_buffer(void)
{
	static _Thread_local char buffers[4][SHOW_BYTES];
	static _Thread_local unsigned next;

	return buffers[next++ % 4];
}

const char *unit_show_signed(long long value)
{
	char *b = show_buffer();

	snprintf(b, SHOW_BYTES, "%lld", value);
	return b;
}

const char *unit_show_unsigned(unsigned long long value)
{
	char *b = show_buffer();

	snprintf(b, SHOW_BYTES, value > 0xffff ? "%llu (%#llx)" : "%llu", value, value);
	return b;
}

const char *unit_show_double(double value)
{
	char *b = show_buffer();

	snprintf(b, SHOW_BYTES, "%.17g", value);
	return b;
}

const char *unit_show_string(const char *value)
{
	char *b = show_buffer();

	if (value)
		snprintf(b, SHOW_BYTES, "\"%s\"", value);
	else
		strcpy(b, "NULL");
	return b;
}

const char *unit_show_pointer(const void *value)
{
	char *b = show_buffer();

	snprintf(b, SHOW_BYTES, "%p", value);
	return b;
}

void unit_check_string(const char *file, int line, const char *a_text, const char *b_text,
		       const char *a, const char *b)
{
	if (a == b || (a && b && !strcmp(a, b)))
		return;
	unit_fail(file, line, "%s == %s:\n  %s%s%s\n  %s%s%s", a_text, b_text, a ? "\"" : "",
		  a ? a : "NULL", a ? "\"" : "", b ? "\"" : "", b ? b : "NULL", b ? "\"" : "");
}

void unit_check_memory(const char *file, int line, const char *a_text, const char *b_text,
		       const void *a, const void *b, size_t bytes)
{
	const unsigned char *x = a, *y = b;
	size_t at = 0;

	while (at < bytes && x[at] == y[at])
		at++;
	if (at < bytes)
		unit_fail(file, line, "%s == %s: byte %zu of %zu: %#04x and %#04x", a_text, b_text,
			  at, bytes, x[at], y[at]);
}

static unsigned open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned count = 0;

	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count;
}

/* Run in the test's own process. Does not return. */
static void run_here(const struct unit_test *test)
{
	unsigned before = open_descriptors(), after;

	test->run();
	after = open_descriptors();
	if (after != before) {
		fprintf(stderr, "%s: leaves %d descriptors open\n", test->name,
			(int)(after - before));
		exit(1);
	}
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
		fprintf(stderr, "%s: leaves a child process behind\n", test->name);
		exit(1);
	}
	exit(0); /* not _exit(): destructors and the leak sanitizer are part of the test */
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

/* Wait for a test. End its whole process group if the test takes too long. */
static int wait_for(pid_t pid, unsigned seconds, bool *late)
{
	struct timespec start, now;
	int status;

	*late = false;
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!*late && now.tv_sec - start.tv_sec >= (time_t)seconds) {
			*late = true;
			kill(-pid, SIGKILL);
		}
		poll(NULL, 0, 1);
	}
	kill(-pid, SIGKILL); /* end any process left in its group */
	return status;
}

/* Return 0 for passed, 1 for failed, or EXIT_SKIP. */
static int run_forked(const struct unit_test *test)
{
	const char *word = "FAIL", *why = "";
	char text[64] = "";
	bool late;
	int status, result = 1;
	pid_t pid;

	fflush(NULL);
	strcpy(folder, "/tmp/gputap-unit-XXXXXX");
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	pid = fork();
	if (pid < 0) {
		perror("fork");
		return 1;
	}
	if (pid == 0) {
		setpgid(0, 0);
		run_here(test);
	}
	setpgid(pid, pid);
	status = wait_for(pid, test->seconds, &late);
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	folder[0] = '\0';
	if (late) {
		snprintf(text, sizeof text, ": took over %u s", test->seconds);
		why = text;
	} else if (WIFSIGNALED(status)) {
		snprintf(text, sizeof text, ": %s", strsignal(WTERMSIG(status)));
		why = text;
	} else if (WEXITSTATUS(status) == EXIT_SKIP) {
		result = EXIT_SKIP;
		word = "skip";
	} else if (WEXITSTATUS(status) == 0) {
		result = 0;
		word = "ok";
	}
	printf("%s %s%s\n", word, test->name, why);
	return result;
}

static struct unit_test *find(const char *name)
{
	struct unit_test *t = tests;

	while (t && strcmp(t->name, name))
		t = t->next;
	if (!t)
		fprintf(stderr, "no test named %s; --list shows them\n", name);
	return t;
}

int main(int argc, char **argv)
{
	bool here = argc > 1 && !strcmp(argv[1], "--no-fork");
	unsigned failed = 0, ran = 0, skipped = 0;
	struct unit_test *t;
	int i, result;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (t = tests; t; t = t->next)
			puts(t->name);
		return 0;
	}
	if (here) {
		t = argc == 3 ? find(argv[2]) : NULL;
		if (!t)
			return 2;
		run_here(t);
	}
	for (i = 1, t = argc > 1 ? find(argv[1]) : tests; t;
	     t = argc > 1 ? (i < argc ? find(argv[i]) : NULL) : t->next) {
		result = run_forked(t);
		i++;
		ran++;
		failed += result == 1;
		skipped += result == EXIT_SKIP;
	}
	if (argc > 1 && i != argc)
		return 2;
	if (argc == 2 && skipped)
		return EXIT_SKIP;
	return failed || !ran ? 1 : 0;
}
