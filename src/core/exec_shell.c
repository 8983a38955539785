/* SPDX-License-Identifier: MIT */
/* See exec_shell.h. Never here: malloc, locks, stdio, changes to errno. */
#include "core/exec_shell.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/exec_environment.h"

/* the kernel limits each argument of a program to this size */
enum { ARGUMENT_BYTES = 128 << 10 };

#define EXPORT_WORD "export "
#define EXEC_WORDS  "exec " _PATH_BSHELL " -c "

extern char **environ;

/* Return true for an entry that gputap has added to the environment. */
static bool is_added(const struct gt_exec *e, const char *entry)
{
	return e->area && (uintptr_t)entry - (uintptr_t)e->area < GT_EXEC_AREA_BYTES;
}

static char *append(char *at, const char *text, size_t bytes)
{
	memcpy(at, text, bytes);
	return at + bytes;
}

/* Write @text as one word of the shell. A quote becomes '\''. */
static char *append_quoted(char *at, const char *text)
{
	*at++ = '\'';
	for (; *text; text++)
		at = *text == '\'' ? append(at, "'\\''", 4) : append(at, text, 1);
	*at++ = '\'';
	return at;
}

static size_t quoted_bytes(const char *text)
{
	size_t bytes = 2;

	for (; *text; text++)
		bytes += *text == '\'' ? 4 : 1;
	return bytes;
}

static size_t count_bytes(const struct gt_exec *e, const char *command)
{
	size_t bytes = 0;

	for (char *const *entry = e->environment; entry && *entry; entry++)
		if (is_added(e, *entry))
			bytes += sizeof EXPORT_WORD + quoted_bytes(*entry) + 1;
	return bytes ? bytes + sizeof EXEC_WORDS + quoted_bytes(command) : 0;
}

static void write_command(const struct gt_exec *e, const char *command, char *at)
{
	for (char *const *entry = e->environment; *entry; entry++) {
		size_t name_bytes;

		if (!is_added(e, *entry))
			continue;
		name_bytes = strcspn(*entry, "=") + 1;
		at = append(at, EXPORT_WORD, sizeof EXPORT_WORD - 1);
		at = append(at, *entry, name_bytes);
		at = append_quoted(at, *entry + name_bytes);
		at = append(at, "; ", 2);
	}
	at = append(at, EXEC_WORDS, sizeof EXEC_WORDS - 1);
	*append_quoted(at, command) = '\0';
}

void gt_exec_shell_begin(struct gt_exec_shell *s, const char *command)
{
	int saved = errno;
	struct gt_exec e;
	size_t bytes;

	*s = (struct gt_exec_shell){.command = command};
	if (!command)
		return;
	gt_exec_begin(&e, AT_FDCWD, _PATH_BSHELL, false, environ);
	bytes = count_bytes(&e, command);
	if (bytes && bytes < ARGUMENT_BYTES) {
		s->area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (s->area == MAP_FAILED)
			s->area = NULL;
	}
	if (s->area) {
		write_command(&e, command, s->area);
		s->command = s->area;
		s->bytes = bytes;
	}
	e.lost = GT_LOST_NOWHERE; /* keep the entry: the shell is about to start */
	gt_exec_end(&e);
	errno = saved;
}

void gt_exec_shell_end(struct gt_exec_shell *s)
{
	int saved = errno;

	if (s->area)
		munmap(s->area, s->bytes);
	s->area = NULL;
	errno = saved;
}
