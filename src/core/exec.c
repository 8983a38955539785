/* SPDX-License-Identifier: MIT */
/* The exec family, exported in front of libc's: programs that clean the environment of their children (sudo-like
 * starters, build systems, mpirun, test harnesses) would end the trace with that.
 *
 *   environment given ──► ours missing in GPUTAP_SESSION, LD_PRELOAD, LD_AUDIT, OPENCL_LAYERS? put back ──► the real one
 *   file given        ──► cannot be traced (privileges, static)? GT_EVENT_NOT_TRACED says so
 *
 * A program that another `gputap run` starts, itself in our session, is that one's: whoever traces in what we trace gets what they
 * would without us.
 *
 * Everything else is passed on as it is: same result, same errno; pointers that the kernel refuses, too. Without a session the real function is called at once.
 *
 * May run in the child of a vfork, in the middle of a signal handler, after fork() in a program with threads: so no malloc, no
 * locks, no stdio; the new environment lies on the stack. What it puts back was copied when the library was loaded. An
 * environment too large for that is passed on as it is.
 * Not seen: system() and popen(), which use libc's own (they pass on the environment of the process). */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emit.h"
#include "core/exec_target.h"
#include "core/recording.h"

#define EXPORT __attribute__((visibility("default")))

enum { VALUE_BYTES = 1024, ENTRIES_MAX = 32 * 1024, TEXT_BYTES = 64 * 1024 };

extern char **environ;

/* A variable and what of it is ours. */
enum { SESSION, PRELOAD, AUDIT, LAYERS, ALL_LAYERS, HSA_TOOLS, REGISTER, COMPAT, STATIC_TLS, ASAN, OURS_COUNT };
static struct {
	const char *name;
	const char *library; /* a list: ours is the element whose last part begins so. NULL: all of it is ours */
	bool last;           /* of a list: ours comes last */
	char separator;      /* of a list, if it is not a colon */
	size_t bytes;        /* of ours; 0: there is none */
	char ours[VALUE_BYTES];
} variables[OURS_COUNT] = {
	[SESSION] = {.name = GT_SESSION_ENV},
	[PRELOAD] = {.name = "LD_PRELOAD", .library = "libgputap.so"},
	[AUDIT] = {.name = "LD_AUDIT", .library = "libgputap-audit.so", .last = true},
	[LAYERS] = {.name = "OPENCL_LAYERS", .library = "libgputap.so"},
	[ALL_LAYERS] = {.name = "GPUTAP_OPENCL_LAYERS"},
	[HSA_TOOLS] = {.name = "HSA_TOOLS_LIB", .library = "libgputap.so", .separator = ' '},
	[REGISTER] = {.name = "ROCPROFILER_REGISTER_FORCE_LOAD"},
	[COMPAT] = {.name = "GPUTAP_COMPAT"},
	/* what the first two need so as not to be in a program's way: collector/environment.c */
	[STATIC_TLS] = {.name = "GLIBC_TUNABLES", .library = "glibc.rtld.optional_static_tls=", .last = true},
	[ASAN] = {.name = "ASAN_OPTIONS", .library = "verify_asan_link_order=", .last = true},
};

static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_execveat)(int, const char *, char *const[], char *const[], int);
static int (*real_execvpe)(const char *, char *const[], char *const[]);
static int (*real_fexecve)(int, char *const[], char *const[]);
static int (*real_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
			 char *const[]);
static int (*real_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
			  char *const[]);

/* What comes before our library in the list, ours, what follows. False: ours is not in it. */
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

static const char *value_of(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

/* ocl-icd writes NULs into OPENCL_LAYERS when it first reads it: our parent's child sees the first layer only. */
static void restore_layers(void)
{
	const char *all = getenv("GPUTAP_OPENCL_LAYERS"), *now = getenv("OPENCL_LAYERS");

	if (all && now && strcmp(all, now) != 0 && strncmp(all, now, strlen(now)) == 0)
		setenv("OPENCL_LAYERS", all, 1);
}

/* With the process's first environment. */
static void remember(void)
{
	for (int i = 0; i < OURS_COUNT; i++) {
		const char *value = getenv(variables[i].name), *at = value;
		size_t bytes = value ? strlen(value) : 0;

		if (!value || (variables[i].library && !find_element(value, variables[i].library, &at, &bytes)) ||
		    bytes == 0 || bytes >= VALUE_BYTES)
			continue;
		memcpy(variables[i].ours, at, bytes);
		variables[i].bytes = bytes;
	}
}

static void find_real(void)
{
	if (!real_execvpe) {
		*(void **)&real_execve = dlsym(RTLD_NEXT, "execve");
		*(void **)&real_execveat = dlsym(RTLD_NEXT, "execveat");
		*(void **)&real_execvpe = dlsym(RTLD_NEXT, "execvpe");
		*(void **)&real_fexecve = dlsym(RTLD_NEXT, "fexecve");
		*(void **)&real_spawn = dlsym(RTLD_NEXT, "posix_spawn");
		*(void **)&real_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
	}
}

__attribute__((constructor)) static void begin(void)
{
	find_real();
	gt_recording_init();
	if (gt_recording_is_run()) {
		restore_layers();
		remember();
	}
}

static bool active(void)
{
	return gt_recording_is_run() && variables[PRELOAD].bytes &&
	       !atomic_load_explicit(&gt_recording.session->stop, memory_order_relaxed);
}

/* Is ours still there? */
static bool is_kept(int i, char *const *environment)
{
	const char *value, *at;
	size_t bytes;

	if (!variables[i].bytes)
		return true;
	value = value_of(environment, variables[i].name);
	if (!value)
		return false;
	if (!variables[i].library)
		return strcmp(value, variables[i].ours) == 0;
	return find_element(value, variables[i].library, &at, &bytes);
}

static char *append(char *at, const char *text, size_t bytes)
{
	memcpy(at, text, bytes);
	return at + bytes;
}

/* "NAME=ours:theirs" at @at. Return: behind its end. */
static char *compose(int i, const char *theirs, char *at)
{
	size_t n = theirs && variables[i].library ? strlen(theirs) : 0;
	char separator = variables[i].separator ? variables[i].separator : ':';

	at = append(at, variables[i].name, strlen(variables[i].name));
	*at++ = '=';
	if (n && variables[i].last) {
		at = append(at, theirs, n);
		*at++ = separator;
	}
	at = append(at, variables[i].ours, variables[i].bytes);
	if (n && !variables[i].last) {
		*at++ = separator;
		at = append(at, theirs, n);
	}
	*at++ = '\0';
	return at;
}

/* Another session's, which is there; and its library. Not one that ended, in an environment that somebody had saved. */
static bool is_others(char *const *environment)
{
	const char *session = value_of(environment, GT_SESSION_ENV), *preload = value_of(environment, "LD_PRELOAD"), *at;
	size_t bytes;
	int saved = errno;
	bool others = session && preload && strcmp(session, variables[SESSION].ours) != 0 &&
		      find_element(preload, variables[PRELOAD].library, &at, &bytes) &&
		      syscall(SYS_faccessat, AT_FDCWD, session, R_OK | X_OK) == 0;

	errno = saved;
	return others;
}

struct repair {
	size_t entries, text_bytes; /* 0 entries: nothing to do, or too much */
};

static struct repair repair_size(char *const *environment)
{
	struct repair r = {0, 0};
	size_t count = 0;
	bool missing = false;

	if (!active() || !gt_exec_is_readable(environment) || is_others(environment))
		return r;
	while (environment && environment[count])
		count++;
	for (int i = 0; i < OURS_COUNT; i++)
		if (!is_kept(i, environment)) {
			const char *theirs = value_of(environment, variables[i].name);

			missing = true;
			r.text_bytes += strlen(variables[i].name) + variables[i].bytes + (theirs ? strlen(theirs) : 0) + 3;
		}
	if (missing && count < ENTRIES_MAX && r.text_bytes < TEXT_BYTES)
		r.entries = count + OURS_COUNT + 1;
	return r;
}

/* @entries and @text as large as repair_size() says. */
static char *const *repair(char *const *environment, char **entries, char *text)
{
	size_t n = 0;

	for (char *const *e = environment; e && *e; e++) {
		bool replaced = false;

		for (int i = 0; i < OURS_COUNT; i++) {
			size_t bytes = strlen(variables[i].name);

			if (strncmp(*e, variables[i].name, bytes) == 0 && (*e)[bytes] == '=' && !is_kept(i, environment))
				replaced = true;
		}
		if (!replaced)
			entries[n++] = *e;
	}
	for (int i = 0; i < OURS_COUNT; i++)
		if (!is_kept(i, environment)) {
			entries[n++] = text;
			text = compose(i, value_of(environment, variables[i].name), text);
		}
	entries[n] = NULL;
	return entries;
}

/* `keep`: the environment to give on. On the caller's stack, hence a macro. */
#define REPAIR(environment)                                                              \
	struct repair size = repair_size(environment);                                   \
	char **entries = size.entries ? alloca(size.entries * sizeof *entries) : NULL;   \
	char *text = size.entries ? alloca(size.text_bytes) : NULL;                      \
	char *const *keep = entries ? repair(environment, entries, text) : (environment)

static void tell(int fd, const char *path, char *const *environment)
{
	const char *why;
	char text[PATH_MAX + 128], *at = text;

	if (!active() || !gt_exec_is_readable(environment))
		return;
	why = is_others(environment) ? "another gputap run traces it" : gt_exec_obstacle(fd, path);
	if (!why)
		return;
	if (path && strlen(path) < PATH_MAX)
		at = append(append(at, path, strlen(path)), ": ", 2);
	memcpy(at, why, strlen(why) + 1);
	gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_NONE, 0, text);
}

/* As execvp() will find it. */
static void tell_searched(const char *file, char *const *environment)
{
	const char *path = getenv("PATH");
	char candidate[PATH_MAX];

	int saved = errno;

	if (!active())
		return;
	if (strchr(file, '/')) {
		tell(AT_FDCWD, file, environment);
		return;
	}
	for (path = path ? path : _PATH_STDPATH; *path; path += *path == ':') {
		size_t n = strcspn(path, ":"), f = strlen(file);

		if (n + f + 2 < sizeof candidate) {
			memcpy(candidate, path, n);
			candidate[n] = '/';
			memcpy(candidate + n + (n != 0), file, f + 1);
			if (syscall(SYS_faccessat, AT_FDCWD, candidate, X_OK) == 0) {
				tell(AT_FDCWD, candidate, environment);
				break;
			}
		}
		path += n;
	}
	errno = saved;
}

/* Before our constructor there is nothing to go through but the kernel: no looking up here, in what may be a vfork's child. */
EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	REPAIR(envp);
	tell(AT_FDCWD, path, envp);
	return real_execve ? real_execve(path, argv, keep) : (int)syscall(SYS_execve, path, argv, keep);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	REPAIR(envp);
	find_real();
	tell_searched(file, envp);
	return real_execvpe(file, argv, keep);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	REPAIR(envp);
	char *const *given = envp;

	find_real();
	__asm__("" : "+r"(given));
	if (!given) /* libc's refuses it, unlike the kernel */
		return real_fexecve(fd, argv, envp);
	tell(fd, NULL, envp);
	return real_fexecve(fd, argv, keep);
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	REPAIR(envp);
	const char *name = path;

	__asm__("" : "+r"(name)); /* unistd.h says that it is never NULL */
	if (name && gt_exec_is_readable((char *const[]){(char *)(uintptr_t)name, NULL}))
		tell(fd, *name ? name : NULL, envp);
	return real_execveat ? real_execveat(fd, path, argv, keep, flags) : (int)syscall(SYS_execveat, fd, path, argv, keep, flags);
}

/* A va_list by its address: whether passing one by value moves the caller's differs between machines. */
struct arguments {
	va_list list;
};

static size_t count_arguments(const char *first, struct arguments *rest)
{
	size_t n = 0;

	for (; first; first = va_arg(rest->list, const char *))
		n++;
	return n;
}

/* Leaves @rest behind the NULL. */
static void copy_arguments(char **argv, const char *first, struct arguments *rest)
{
	for (; first; first = va_arg(rest->list, const char *))
		*argv++ = (char *)(uintptr_t)first;
	*argv = NULL;
}

/* `argv`: all of them, on the stack. unistd.h says that the first is never NULL; programs pass NULL all the same. */
#define ARGUMENTS(first)                                                      \
	struct arguments rest, again;                                         \
	const char *start = (first);                                          \
	char **argv;                                                          \
	__asm__("" : "+r"(start));                                            \
	va_start(rest.list, first);                                           \
	va_copy(again.list, rest.list);                                       \
	argv = alloca((count_arguments(start, &again) + 1) * sizeof *argv);   \
	va_end(again.list);                                                   \
	copy_arguments(argv, start, &rest)

EXPORT int execl(const char *path, const char *arg, ...)
{
	ARGUMENTS(arg);
	va_end(rest.list);
	return execve(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	ARGUMENTS(arg);
	va_end(rest.list);
	return execvpe(file, argv, environ);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	char *const *environment;

	ARGUMENTS(arg);
	environment = va_arg(rest.list, char *const *);
	va_end(rest.list);
	return execve(path, argv, environment);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	REPAIR(envp);
	find_real();
	tell(AT_FDCWD, path, envp);
	return real_spawn(pid, path, actions, attributes, argv, keep);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	REPAIR(envp);
	find_real();
	tell_searched(file, envp);
	return real_spawnp(pid, file, actions, attributes, argv, keep);
}
