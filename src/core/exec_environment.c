/* SPDX-License-Identifier: MIT */
/* See exec_environment.h.
 *
 *   area, mapped: | entries | our texts | room for static TLS | program's path | event's text |
 *
 * The area is not on the stack, because programs call exec on alternate signal stacks of 8 KiB and
 * in threads with stacks of 16 KiB. Each thread has a separate area. An exec call that returns
 * unmaps the area. If a vfork's child becomes another program, exec does not return. The child has
 * then mapped the area in its parent's memory, the same thread's next exec reuses the area, and the
 * area is freed with the thread. `exec_user` is:
 *
 *   0, or a process other than this       the area is free: the vfork's child is gone, because its
 *   process and its parent                parent runs
 *   this process, or its parent           a signal handler has interrupted exec: the handler maps a
 *                                         separate area
 *
 * Never here: malloc, locks, stdio, changes to errno. */
#include "core/exec_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emit.h"
#include "core/exec_target.h"
#include "core/recording.h"
#include "core/seccomp.h"
#include "record/variable.h"
#include "util/address_space.h"
#include "util/environment_value.h"
#include "util/static_tls.h"

#define OUR_LIBRARY "libgputap.so"

extern char **environ;

/* ENTRIES_LATE: limit of the number of variables in the session's folder */
enum { ENTRIES_LATE = 128, LATE_PATH_BYTES = 1024 };
enum { VALUE_BYTES = 1024, ENTRIES_MAX = 32 * 1024, TEXT_BYTES = 64 * 1024, TUNABLE_BYTES = 64 };

/* Variables and gputap's part of each variable. The runtimes' variables follow
 * (record/variable.h). */
enum { SESSION, PRELOAD, AUDIT, COMPAT, STATIC_TLS, ASAN, AUDIT_PATH, FILTERED };
static const struct {
	const char *name;
	/* for a list: prefix of the file name that identifies gputap's element. NULL: the whole
	 * value is gputap's */
	const char *library;
	bool last;      /* true if gputap's element comes last in the list */
	char separator; /* separator of the list; 0: colon */
} variables[] = {
	[SESSION] = {.name = GT_SESSION_ENV},
	[PRELOAD] = {.name = "LD_PRELOAD", .library = OUR_LIBRARY},
	[AUDIT] = {.name = "LD_AUDIT", .library = "libgputap-audit.so", .last = true},
	[COMPAT] = {.name = "GPUTAP_COMPAT"},
	/* settings that programs need in order to run with gputap's two libraries:
	 * collector/environment.c */
	[STATIC_TLS] = {.name = "GLIBC_TUNABLES", .library = GT_STATIC_TLS_TUNABLE, .last = true},
	[ASAN] = {.name = "ASAN_OPTIONS", .library = "verify_asan_link_order=", .last = true},
	[AUDIT_PATH] = {.name = GT_AUDIT_ENV},
	[FILTERED] = {.name = GT_FILTERED_ENV},
#define LIST(text, between) {.name = text, .library = OUR_LIBRARY, .separator = between},
#define WHOLE(text)         {.name = text},
	GT_VARIABLES_PASSED_ON(LIST, WHOLE)
#undef LIST
#undef WHOLE
};
enum { OURS_COUNT = sizeof variables / sizeof *variables };

/* The texts that gputap adds to the variables, one after the other, so that a process writes one
 * page. The first text is empty: that of a variable to which gputap adds nothing. */
static GT_AT_START char texts[1 + OURS_COUNT * VALUE_BYTES];
static GT_AT_START struct {
	uint32_t at;    /* offset of the text in `texts` */
	uint32_t bytes; /* its length; 0: gputap adds nothing */
} kept[OURS_COUNT];

struct area {
	char *entries[ENTRIES_MAX];
	char text[TEXT_BYTES];
	char tunable[TUNABLE_BYTES]; /* for the program to be executed */
	bool without_audit;          /* true if the program would not start with an auditor */
	/* true if the program's dynamic linker cannot load gputap's libraries:
	 * gt_exec_complains() */
	bool without_libraries;
	/* true if no variable may load gputap's library: the address space is too small, or the
	 * library is gone */
	bool is_barred;
	char path[PATH_MAX];
	char event[PATH_MAX + 256];
};
static_assert(sizeof(struct area) <= GT_EXEC_AREA_BYTES, "thread.c unmaps GT_EXEC_AREA_BYTES");

/* Find gputap's element in the list. Set *at to its start and *bytes to its length. Return false if
 * the list has no such element. */
static bool find_element(const char *list, const char *library, const char **at, size_t *bytes)
{
	size_t n = strlen(library);

	while (*list) {
		size_t length = strcspn(list, ": ");
		const char *part = list;

		for (size_t i = 0; i < length; i++)
			if (list[i] == '/')
				part = list + i + 1;
		if ((size_t)(list + length - part) >= n && memcmp(part, library, n) == 0) {
			*at = list;
			*bytes = length;
			return true;
		}
		list += length + (list[length] != '\0');
	}
	return false;
}

/* Restore lists that a runtime modified: ocl-icd writes NULs into OPENCL_LAYERS at the first read,
 * so a child would see only the first layer. */
static void restore_lists(void)
{
	for (int i = 0; i < GT_VARIABLE_COUNT; i++) {
		const struct gt_variable *v = &gt_variables[i];
		const char *all, *now;

		if (v->kind != GT_VARIABLE_LIST || !v->saved)
			continue;
		all = getenv(v->saved);
		now = getenv(v->name);
		if (all && now && strcmp(all, now) != 0 && strncmp(all, now, strlen(now)) == 0)
			setenv(v->name, all, 1);
	}
}

/* Return gputap's part of the variable, "" if it has none. */
static const char *ours_of(int i)
{
	return i == FILTERED ? "1" : texts + kept[i].at;
}

void gt_exec_remember_filter(void)
{
	kept[FILTERED].bytes = 1;
}

static void remember(char *const *environment)
{
	uint32_t at_text = 1;

	for (int i = 0; i < OURS_COUNT; i++) {
		const char *value = gt_environment_value(environment, variables[i].name),
			   *at = value;
		size_t bytes = value ? strlen(value) : 0;

		if (!value ||
		    (variables[i].library &&
		     !find_element(value, variables[i].library, &at, &bytes)) ||
		    bytes == 0 || bytes >= VALUE_BYTES)
			continue;
		if (i == FILTERED) {
			gt_exec_remember_filter();
			continue;
		}
		memcpy(texts + at_text, at, bytes);
		kept[i].at = at_text;
		kept[i].bytes = (uint32_t)bytes;
		at_text += (uint32_t)bytes + 1;
	}
	/* even if this program does not support an auditor, its children may support one */
	if (!kept[AUDIT].bytes)
		kept[AUDIT] = kept[AUDIT_PATH];
}

void gt_exec_remember(void)
{
	restore_lists();
	remember(environ);
}

void gt_exec_forget(void)
{
	for (int i = 0; i < OURS_COUNT; i++)
		if (i != FILTERED)
			kept[i].bytes = 0;
}

bool gt_exec_remember_late(const char *directory)
{
	char path[LATE_PATH_BYTES], *entries[ENTRIES_LATE], *text;
	size_t n = strlen(directory), count = 0;
	struct stat st;
	int fd;

	gt_exec_forget();
	if (n + sizeof "/" GT_ENVIRONMENT_FILE > sizeof path)
		return false;
	memcpy(path, directory, n);
	memcpy(path + n, "/" GT_ENVIRONMENT_FILE, sizeof "/" GT_ENVIRONMENT_FILE);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	text = fstat(fd, &st) || st.st_size <= 0
		       ? MAP_FAILED
		       : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (text == MAP_FAILED)
		return false;
	for (const char *at = text, *end = text + st.st_size;
	     count < ENTRIES_LATE - 1 && memchr(at, '\0', (size_t)(end - at)); at += strlen(at) + 1)
		entries[count++] = (char *)(uintptr_t)at;
	entries[count] = NULL;
	remember(entries);
	munmap(text, (size_t)st.st_size);
	return kept[PRELOAD].bytes != 0;
}

static bool active(void)
{
	return gt_recording_is_run() && kept[PRELOAD].bytes &&
	       !atomic_load_explicit(&gt_recording.session->stop, memory_order_relaxed);
}

/* Return true if the session has ended and its path of the library is gone. The path is a link in
 * the session's folder if the library's own path has a space or a colon (collector/environment.c).
 * A process that outlives the session must not pass it on: ld.so complains at each start. */
static bool is_library_gone(void)
{
	int saved = errno;
	bool is_gone = gt_recording_is_run() && kept[PRELOAD].bytes &&
		       syscall(SYS_faccessat, AT_FDCWD, ours_of(PRELOAD), F_OK) != 0 &&
		       errno == ENOENT;

	errno = saved;
	return is_gone;
}

/* Return true if the environment names another session that exists, and that session's library. An
 * ended session in a saved environment does not count. */
static bool is_others(char *const *environment)
{
	const char *session = gt_environment_value(environment, GT_SESSION_ENV),
		   *preload = gt_environment_value(environment, "LD_PRELOAD"), *at;
	size_t bytes;
	int saved = errno;
	bool others = session && preload && strcmp(session, ours_of(SESSION)) != 0 &&
		      find_element(preload, variables[PRELOAD].library, &at, &bytes) &&
		      syscall(SYS_faccessat, AT_FDCWD, session, R_OK | X_OK) == 0;

	errno = saved;
	return others;
}

/* The area ---------------------------------------------------------------------- */

static struct area *map_area(void)
{
	void *at = mmap(NULL, GT_EXEC_AREA_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* A spare area for one thread at a time, used if no more memory can be mapped (RLIMIT_AS). The
 * program may then have to be started without gputap's libraries. */
static struct area spare;
static _Atomic(struct gt_thread *) spare_user;

static struct area *take_spare(bool is_first)
{
	struct gt_thread *nobody = NULL;

	/* this thread owns the spare area, but is not in exec. A vfork's child that became another
	 * program has left the area in this state */
	if (atomic_compare_exchange_strong(&spare_user, &nobody, &gt_thread) ||
	    (nobody == &gt_thread && is_first))
		return &spare;
	return NULL;
}

static struct area *take_area(struct gt_exec *e)
{
	struct gt_thread *t = &gt_thread;
	uint32_t pid = (uint32_t)syscall(SYS_getpid), user = t->exec_user;

	e->is_lent = !user || (user != pid && user != (uint32_t)syscall(SYS_getppid));
	if (!e->is_lent) {
		e->area = map_area();
		return e->area ? e->area : (e->area = take_spare(false));
	}
	t->exec_user = pid;
	/* from here on, signal handlers of this thread map their own areas */
	__asm__ volatile("" ::: "memory");
	if (!t->exec_area)
		gt_thread_keep_exec_area(t, map_area());
	return e->area = t->exec_area ? t->exec_area : take_spare(true);
}

static void give_area(struct gt_exec *e)
{
	struct gt_thread *t = &gt_thread;
	int saved = errno;

	if (e->is_lent)
		t->exec_area = NULL;
	if (e->area == &spare)
		atomic_store(&spare_user, NULL);
	else if (e->area)
		munmap(e->area, GT_EXEC_AREA_BYTES);
	__asm__ volatile("" ::: "memory");
	if (e->is_lent)
		t->exec_user = 0;
	errno = saved;
}

/* The new environment ---------------------------------------------------------- */

static char *append_bytes(char *at, const char *text, size_t bytes)
{
	memcpy(at, text, bytes);
	return at + bytes;
}

static char *append_number(char *at, uint64_t value)
{
	char digits[24], *d = digits + sizeof digits;

	do
		*--d = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	return append_bytes(at, d, (size_t)(digits + sizeof digits - d));
}

/* Return true if this variable loads one or more gputap libraries into the program. */
static bool is_library(int i)
{
	if (i == AUDIT || !variables[i].library)
		return i == AUDIT || !strcmp(ours_of(i), ours_of(PRELOAD));
	return !strcmp(variables[i].library, OUR_LIBRARY);
}

/* Return true for a variable of another interface (ITT's, NVTX's) whose value is exactly gputap's
 * library. */
static bool names_library(const char *entry)
{
	const char *value = strchr(entry, '=');

	return value && kept[PRELOAD].bytes && !strcmp(value + 1, ours_of(PRELOAD));
}

/* Return the text that gputap adds to the variable for this program; *bytes is 0 if gputap adds
 * nothing. */
static const char *wanted(const struct area *a, int i, size_t *bytes)
{
	if (i == STATIC_TLS) {
		*bytes = strlen(a->tunable);
		return a->tunable;
	}
	*bytes = kept[i].bytes;
	if ((i == AUDIT && (a->without_audit || a->without_libraries)) ||
	    (i == PRELOAD && a->without_libraries) || (is_library(i) && a->is_barred))
		*bytes = 0;
	return ours_of(i);
}

/* Return true if the environment needs no change for this variable. */
static bool is_kept(const struct area *a, int i, char *const *environment)
{
	const char *value = gt_environment_value(environment, variables[i].name), *at, *ours;
	size_t bytes, found;

	if (!kept[i].bytes)
		return true;
	ours = wanted(a, i, &bytes);
	if (!value)
		return !bytes;
	if (!variables[i].library)
		return strcmp(value, ours) == 0;
	if (!find_element(value, variables[i].library, &at, &found))
		return !bytes;
	/* any copy of gputap's libraries will do */
	return bytes && (i != STATIC_TLS || (found == bytes && memcmp(at, ours, bytes) == 0));
}

/* Write "NAME=ours:theirs" at @at, without gputap's old part of @theirs. Return the end of the
 * text. */
static char *compose(const struct area *a, int i, const char *theirs, char *at)
{
	const char *ours, *old;
	char separator = variables[i].separator ? variables[i].separator : ':', *start;
	size_t bytes, n = theirs && variables[i].library ? strlen(theirs) : 0, old_bytes;

	ours = wanted(a, i, &bytes);
	at = append_bytes(at, variables[i].name, strlen(variables[i].name));
	*at++ = '=';
	start = at;
	if (bytes && !variables[i].last)
		at = append_bytes(at, ours, bytes);
	if (n && at != start)
		*at++ = separator;
	if (n && find_element(theirs, variables[i].library, &old, &old_bytes)) {
		const char *rest = old + old_bytes + (old[old_bytes] != '\0');

		at = append_bytes(at, theirs, (size_t)(old - theirs));
		n -= (size_t)(rest - theirs);
		theirs = rest;
	}
	if (n)
		at = append_bytes(at, theirs, n);
	if (bytes && variables[i].last) {
		if (at != start && at[-1] != separator)
			*at++ = separator;
		at = append_bytes(at, ours, bytes);
	}
	*at++ = '\0';
	return at;
}

/* Return the number of entries of the new environment; 0: no change is needed, or the environment
 * is too large. */
static size_t count_variables(const struct area *a, char *const *environment)
{
	size_t count = 0, text_bytes = 0, bytes;
	bool is_missing = a->is_barred;

	while (environment && environment[count])
		count++;
	for (int i = 0; i < OURS_COUNT; i++)
		if (!is_kept(a, i, environment)) {
			const char *theirs = gt_environment_value(environment, variables[i].name);

			is_missing = true;
			wanted(a, i, &bytes);
			text_bytes += strlen(variables[i].name) + bytes +
				      (theirs ? strlen(theirs) : 0) + 4;
		}
	return is_missing && count + OURS_COUNT + 1 < ENTRIES_MAX && text_bytes < TEXT_BYTES
		       ? count + OURS_COUNT + 1
		       : 0;
}

static char *const *repair(struct area *a, char *const *environment)
{
	char *text = a->text;
	size_t n = 0;

	if (!count_variables(a, environment))
		return environment;
	for (char *const *e = environment; e && *e; e++) {
		bool replaced = a->is_barred && names_library(*e);

		for (int i = 0; i < OURS_COUNT; i++) {
			size_t bytes = strlen(variables[i].name);

			if (strncmp(*e, variables[i].name, bytes) == 0 && (*e)[bytes] == '=' &&
			    !is_kept(a, i, environment))
				replaced = true;
		}
		if (!replaced)
			a->entries[n++] = *e;
	}
	for (int i = 0; i < OURS_COUNT; i++) {
		char *end;

		if (is_kept(a, i, environment))
			continue;
		end = compose(a, i, gt_environment_value(environment, variables[i].name), text);
		/* the variable contained only gputap's part */
		if (end[-2] == '=' && end - 2 == text + strlen(variables[i].name))
			continue;
		a->entries[n++] = text;
		text = end;
	}
	a->entries[n] = NULL;
	return a->entries;
}

/* The program ------------------------------------------------------------------ */

static void report_untraced(struct area *a, const char *path, const char *why, int error)
{
	char *at = a->event;

	if (!gt_exec_can_report())
		return;
	if (path && strlen(path) < PATH_MAX)
		at = append_bytes(append_bytes(at, path, strlen(path)), ": ", 2);
	memcpy(at, why, strlen(why) + 1);
	gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_NONE, (uint64_t)error,
		       a->event);
}

/* Return the path that execvp() will use; NULL: execvp() will find no program. */
static const char *search(struct area *a, const char *file)
{
	const char *path = getenv("PATH");

	if (strchr(file, '/'))
		return file;
	for (path = path ? path : _PATH_STDPATH; *path; path += *path == ':') {
		size_t n = strcspn(path, ":"), f = strlen(file);

		if (n + f + 2 < sizeof a->path) {
			memcpy(a->path, path, n);
			a->path[n] = '/';
			memcpy(a->path + n + (n != 0), file, f + 1);
			if (syscall(SYS_faccessat, AT_FDCWD, a->path, X_OK) == 0)
				return a->path;
		}
		path += n;
	}
	return NULL;
}

/* Compose the tunable for this program, from the room that the program needs and the room that the
 * user requested. */
static void make_area(struct area *a, int fd, char *const *environment)
{
	const char *tunables = gt_environment_value(environment, variables[STATIC_TLS].name), *at;
	uint64_t asked = gt_recording.session->static_tls, room;
	struct gt_static_tls tls;
	size_t bytes;

	/* the value differs from the one that gputap set for this process, so it is the user's own
	 * setting */
	if (tunables && find_element(tunables, GT_STATIC_TLS_TUNABLE, &at, &bytes) &&
	    (bytes != kept[STATIC_TLS].bytes || memcmp(at, ours_of(STATIC_TLS), bytes) != 0))
		asked = gt_static_tls_asked(at);
	if (fd >= 0 && gt_static_tls_look(fd, environment, ours_of(PRELOAD), &tls))
		room = gt_static_tls_room(&tls, asked);
	else
		room = asked > GT_STATIC_TLS_USUAL ? asked : GT_STATIC_TLS_USUAL;
	a->without_audit = fd >= 0 && gt_static_tls_is_hopeless(&tls);
	*append_number(append_bytes(a->tunable, GT_STATIC_TLS_TUNABLE,
				    strlen(GT_STATIC_TLS_TUNABLE)),
		       room) = '\0';
}

static void look_at_program(struct area *a, int fd, const char *path, char *const *environment,
			    uint32_t *lost)
{
	int own = path ? gt_exec_open(fd, path) : fd;
	const char *why = own >= 0 ? gt_exec_obstacle(own) : NULL;
	const char *const libraries[] = {ours_of(PRELOAD), ours_of(AUDIT)};
	int error = gt_exec_loss(why);

	make_area(a, own, environment);
	if (!why && gt_address_space_is_short(libraries, 2)) {
		why = GT_ADDRESS_SPACE_SHORT;
		error = ENOMEM;
		a->is_barred = true;
	}
	a->without_libraries = a->is_barred || gt_exec_complains(why);
	if (!why && gt_exec_lose(fd, path, ours_of(PRELOAD), lost) != GT_LOST_NONE)
		goto out;
	if (!why && a->without_audit)
		why = "glibc refuses an auditor because of the alignment of its thread-local "
		      "storage: only runtimes that need no auditor are traced";
	if (why)
		report_untraced(a, path, why, error);
out:
	if (path && own >= 0)
		syscall(SYS_close, own);
}

void gt_exec_begin(struct gt_exec *e, int fd, const char *path, bool is_searched,
		   char *const *environment)
{
	const bool is_active = active();
	int saved = errno;
	struct area *a;

	*e = (struct gt_exec){.environment = environment, .lost = GT_LOST_NOWHERE};
	if ((!is_active && !is_library_gone()) || !gt_exec_is_readable(environment) ||
	    (path && !gt_exec_is_readable((char *const[]){(char *)(uintptr_t)path, NULL})))
		return;
	a = take_area(e);
	if (!a)
		goto out;
	a->without_libraries = a->is_barred = !is_active;
	if (is_active && is_searched)
		path = search(a, path);
	if (is_others(environment)) {
		if (is_active)
			report_untraced(a, path, "another gputap run traces it", 0);
		goto out;
	}
	if (!is_active)
		a->tunable[0] = '\0';
	else if (path || !is_searched)
		look_at_program(a, fd, path, environment, &e->lost);
	else
		make_area(a, -1, environment);
	e->environment = repair(a, environment);
out:
	errno = saved;
}

void gt_exec_end(struct gt_exec *e)
{
	gt_exec_take_back(e->lost);
	if (e->area || e->is_lent)
		give_area(e);
}

/* Return true if a dynamic linker that receives this environment does not load gputap's library. */
static bool lacks_ours(char *const *environment)
{
	const char *preload = gt_environment_value(environment, variables[PRELOAD].name), *at;
	size_t bytes;

	return !gt_environment_value(environment, variables[SESSION].name) || !preload ||
	       !find_element(preload, variables[PRELOAD].library, &at, &bytes);
}

uint32_t gt_exec_look_for_libc(const char *path)
{
	struct gt_exec e;
	uint32_t lost;

	gt_exec_begin(&e, AT_FDCWD, path, false, environ);
	lost = e.lost;
	if (e.area && active() && lost == GT_LOST_NOWHERE && lacks_ours(environ))
		lost = gt_exec_lose_environment(path);
	e.lost = GT_LOST_NOWHERE; /* the caller now owns the entry */
	gt_exec_end(&e);
	return lost;
}
