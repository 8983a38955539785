/* SPDX-License-Identifier: MIT */
/* See inject_target.h.
 *
 * Unsafe are the places that hold, or may hold, what pthread_create() needs in the same thread:
 *   malloc     its arena's lock and this thread's cache. malloc.c is one object file whose static
 *              functions have no dynamic symbols, and calls between them may leave no frame. The
 *              linker places it as a whole, so the range is everything between the exported
 *              functions of other files around it
 *   threads    lists of stacks (pthread_create, _exit, _detach, set*id), which have their own lock
 *   fork, exit half of the process's state is locked or already destroyed
 *   ld.so      the lock of thread-local storage, lazy binding
 *   other allocators   a module that defines malloc() for the process: all of its code, which for a
 *              program that an allocator is linked into says nothing about the program's functions
 * Not unsafe are locks of stdio and locale, which pthread_create() does not take: the worker may
 * need them, but the stopped thread runs again by then. */
#include "collector/inject_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/guard.h"
#include "collector/inject_symbols.h"
#include "collector/proc_files.h"

/* PASSED_BYTES: longest /proc/self/fd/NUMBER */
enum {
	PASSED_BYTES = 24,
	HEADERS_MOST = 64,
	LINKS_MOST = 4096,
	INSTRUCTION_BYTES = 64,
	DEBUG_MAP = 8
};

int gt_inject_say(struct gt_inject_why *why, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof why->text, format, args);
	va_end(args);
	why->status = status;
	return status;
}

/* Ranges ------------------------------------------------------------------------------------ */

static void add_unsafe(struct gt_inject_target *t, uintptr_t from, uintptr_t to)
{
	if (from < to && t->unsafe_count < GT_INJECT_RANGES)
		t->unsafe[t->unsafe_count++] = (struct gt_inject_range){from, to};
}

bool gt_inject_is_unsafe(const struct gt_inject_target *t, uintptr_t pc)
{
	for (unsigned i = 0; i < t->unsafe_count; i++)
		if (gt_inject_in_range(&t->unsafe[i], pc))
			return true;
	return false;
}

bool gt_inject_is_mixed(const struct gt_inject_target *t, uintptr_t pc)
{
	for (unsigned i = 0; i < t->mixed_count; i++)
		if (gt_inject_in_range(&t->mixed[i], pc))
			return true;
	return false;
}

/* Note a module that defines malloc() for the process. A library made for that is unsafe. In a
 * program that an allocator is linked into, nothing says which functions are the allocator's. */
static void add_allocator(struct gt_inject_target *t, const char *name, uintptr_t from,
			  uintptr_t to)
{
	t->has_allocator = true;
	if (strstr(name, "malloc") && strstr(name, ".so"))
		add_unsafe(t, from, to);
	else if (t->mixed_count < GT_INJECT_MIXED)
		t->mixed[t->mixed_count++] = (struct gt_inject_range){from, to};
	else
		add_unsafe(t, from, to);
}

/* The functions that malloc.c exports. */
static bool is_of_malloc(const char *name)
{
	static const char *const names[] = {
		"malloc",         "free",
		"calloc",         "realloc",
		"memalign",       "pvalloc",
		"valloc",         "cfree",
		"malloc_trim",    "mallopt",
		"mallinfo",       "mallinfo2",
		"malloc_stats",   "malloc_info",
		"aligned_alloc",  "malloc_usable_size",
		"posix_memalign", "__libc_memalign",
		"__libc_malloc",  "__libc_free",
		"__libc_calloc",  "__libc_realloc",
		"__libc_valloc",  "__libc_pvalloc",
		"__libc_mallopt",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

struct malloc_range {
	uintptr_t low, high;     /* from the first to the end of the last function of malloc.c */
	uintptr_t before, after; /* end and start of the functions around it */
	bool is_known;           /* `low` and `high` are valid */
};

static void widen(const char *name, uintptr_t at, size_t bytes, void *data)
{
	struct malloc_range *r = data;

	if (!r->is_known) {
		if (!is_of_malloc(name))
			return;
		r->low = at < r->low ? at : r->low;
		r->high = at + bytes > r->high ? at + bytes : r->high;
	} else if (at + bytes <= r->low && at + bytes > r->before) {
		r->before = at + bytes;
	} else if (at >= r->high && at < r->after) {
		r->after = at;
	}
}

static void add_malloc(struct gt_inject_target *t, const struct gt_inject_symbols *libc)
{
	struct malloc_range r = {.low = UINTPTR_MAX, .after = UINTPTR_MAX};

	gt_inject_symbols_each(libc, widen, &r);
	r.is_known = true;
	gt_inject_symbols_each(libc, widen, &r);
	add_unsafe(t, r.before, r.after);
}

static void add_functions(struct gt_inject_target *t, const struct gt_inject_symbols *s)
{
	static const char *const names[] = {
		"pthread_create",
		"pthread_exit",
		"pthread_detach",
		"pthread_tryjoin_np",
		"pthread_getattr_np",
		"pthread_setattr_default_np",
		"pthread_getattr_default_np",
		"pthread_kill",
		"pthread_sigqueue",
		"pthread_cancel",
		"pthread_setname_np",
		"fork",
		"_Fork",
		"vfork",
		"posix_spawn",
		"posix_spawnp",
		"popen",
		"system",
		"daemon",
		"forkpty",
		"wordexp",
		"exit",
		"quick_exit",
		"_exit",
		"dl_iterate_phdr",
		"__call_tls_dtors",
		"__libc_thread_freeres",
		"__libc_freeres",
		"setuid",
		"setgid",
		"seteuid",
		"setegid",
		"setreuid",
		"setregid",
		"setresuid",
		"setresgid",
		"setgroups",
		"initgroups",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t bytes;
		const uintptr_t at = gt_inject_symbols_find(s, names[i], &bytes);

		if (at)
			add_unsafe(t, at, at + bytes);
	}
}

/* Modules ----------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_library(const char *name, const char *library, const char *older)
{
	return !strcmp(name, library) || !strncmp(name, older, strlen(older));
}

static bool is_libc(const char *name)
{
	return is_library(name, "libc.so.6", "libc-2.");
}

static bool is_loader(const char *name)
{
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) ||
	       !strcmp(name, "ld.so");
}

/* Find a library in the dynamic linker's list for the program. @entry: receives l_addr, l_name,
 * l_ld and l_next of struct link_map. Libraries of an auditor are in another list. */
static bool find_link(struct gt_inject_target *t, uintptr_t base, uintptr_t entry[4])
{
	const uint32_t pid = (uint32_t)t->pid;
	struct gt_inject_symbols program;
	char path[PATH_MAX];
	uintptr_t link;

	if (!gt_proc_read_program(pid, path, sizeof path))
		return false;
	for (size_t i = 0; i < t->modules.count; i++) {
		if (strcmp(t->modules.list[i].path, path) != 0)
			continue;
		gt_inject_symbols_open(&t->modules, t->modules.list[i].start, &program);
		if (!program.debug ||
		    !gt_remote_copy(pid, program.debug + DEBUG_MAP, &link, sizeof link))
			return false;
		for (int n = 0; link && n < LINKS_MOST; n++) {
			if (!gt_remote_copy(pid, link, entry, 4 * sizeof *entry))
				return false;
			if (entry[0] == base)
				return true;
			link = entry[3];
		}
		return false;
	}
	return false;
}

bool gt_inject_target_find_passed(struct gt_inject_target *t, const char *name, char *path,
				  size_t room)
{
	char mapped[PATH_MAX];

	snprintf(mapped, sizeof mapped, "/memfd:%s", name);
	for (size_t i = 0; i < t->modules.count; i++) {
		const struct gt_remote_module *m = &t->modules.list[i];
		uintptr_t entry[4];

		if (!strcmp(m->path, mapped) && gt_remote_modules_find(&t->modules, m->start) &&
		    find_link(t, m->base, entry) && room > PASSED_BYTES &&
		    gt_remote_copy((uint32_t)t->pid, entry[1], path, PASSED_BYTES)) {
			path[PASSED_BYTES] = '\0';
			return true;
		}
	}
	return false;
}

/* Read the path of the dynamic linker. Return false if the program has none. */
static bool read_interpreter(pid_t pid, char path[PATH_MAX])
{
	ElfW(Phdr) segments[HEADERS_MOST];
	ElfW(Ehdr) file;
	char link[64];
	size_t bytes, n;
	bool found = false;
	int fd;

	snprintf(link, sizeof link, "/proc/%d/exe", pid);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = pread(fd, &file, sizeof file, 0) == sizeof file ? file.e_phnum : 0;
	bytes = n * sizeof *segments;
	if (n > HEADERS_MOST || pread(fd, segments, bytes, (off_t)file.e_phoff) != (ssize_t)bytes)
		n = 0;
	for (size_t i = 0; i < n && !found; i++) {
		ssize_t got;

		if (segments[i].p_type != PT_INTERP || segments[i].p_filesz >= PATH_MAX)
			continue;
		got = pread(fd, path, segments[i].p_filesz, (off_t)segments[i].p_offset);
		path[got > 0 ? got : 0] = '\0';
		found = true;
	}
	close(fd);
	return found;
}

static int say_no_libc(const struct gt_inject_target *t, struct gt_inject_why *why)
{
	char path[PATH_MAX];

	if (!read_interpreter(t->pid, path))
		return gt_inject_say(
			why, -ENOTSUP,
			"process %d is linked statically, so that nothing can be loaded "
			"into it: link the program dynamically",
			t->pid);
	if (strstr(path, "musl"))
		return gt_inject_say(why, -ENOTSUP,
				     "process %d uses musl's C library, which cannot load gputap's "
				     "libraries: build the program for glibc",
				     t->pid);
	if (strstr(path, "ld-linux"))
		return gt_inject_say(
			why, -EAGAIN,
			"process %d is starting, and has not loaded its C library yet: "
			"try again",
			t->pid);
	return gt_inject_say(why, -ENOTSUP,
			     "process %d does not use glibc (its dynamic linker is %.200s): build "
			     "the program for glibc",
			     t->pid, path);
}

static const char *find_sanitizer(const struct gt_inject_symbols *s)
{
	static const char *const names[][2] = {
		{"__asan_init", "AddressSanitizer"},
		{"__tsan_init", "ThreadSanitizer"},
		{"__msan_init", "MemorySanitizer"},
		{"__hwasan_init", "HWAddressSanitizer"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (gt_inject_symbols_find(s, names[i][0], NULL))
			return names[i][1];
	return NULL;
}

/* Look at a module that is neither libc nor the dynamic linker. */
static int meet_module(struct gt_inject_target *t, const struct gt_remote_module *module,
		       struct gt_inject_why *why)
{
	static const char *const allocators[] = {"malloc", "calloc", "realloc", "free"};
	const uintptr_t start = module->start, end = module->end;
	struct gt_inject_symbols s;
	const char *sanitizer;

	if (!gt_inject_symbols_open(&t->modules, start, &s))
		return 0;
	sanitizer = find_sanitizer(&s);
	if (sanitizer)
		return gt_inject_say(why, -ENOTSUP,
				     "process %d was built with %s, which must see every thread "
				     "from its start: build the program without it",
				     t->pid, sanitizer);
	for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++)
		if (gt_inject_symbols_find(&s, allocators[i], NULL)) {
			add_allocator(t, base_name(module->path), start, end);
			break;
		}
	return 0;
}

/* libc ------------------------------------------------------------------------------------- */

/* libc and, before glibc 2.34, the libraries that were part of it. */
struct libraries {
	struct gt_inject_symbols libc, threads, dl;
	bool has_libc;
};

static uintptr_t find_in(const struct libraries *l, const char *name)
{
	uintptr_t at = gt_inject_symbols_find(&l->libc, name, NULL);

	at = at ? at : gt_inject_symbols_find(&l->threads, name, NULL);
	return at ? at : gt_inject_symbols_find(&l->dl, name, NULL);
}

/* Find a `syscall` instruction with a `ret` after it. */
static uintptr_t find_instruction(struct gt_inject_target *t, const struct libraries *l)
{
	const uintptr_t at = find_in(l, "getpid");
	uint8_t code[INSTRUCTION_BYTES], *p;

	if (!at || !gt_remote_modules_code(&t->modules, at + sizeof code, code, sizeof code))
		return 0;
	p = memmem(code, sizeof code, "\x0f\x05\xc3", 3);
	return p ? at + (uintptr_t)(p - code) : 0;
}

static int find_functions(struct gt_inject_target *t, const struct libraries *l,
			  struct gt_inject_why *why)
{
	struct gt_inject_job *j = &t->functions;

	t->pthread_create = find_in(l, "pthread_create");
	t->instruction = find_instruction(t, l);
	j->self = find_in(l, "pthread_self");
	j->detach = find_in(l, "pthread_detach");
	j->dlopen = find_in(l, "dlopen");
	j->dlsym = find_in(l, "dlsym");
	j->dlerror = find_in(l, "dlerror");
	j->munmap = find_in(l, "munmap");
	if (!t->pthread_create || !j->detach || !j->dlopen || !j->dlsym || !j->dlerror)
		return gt_inject_say(why, -ENOTSUP,
				     "process %d uses a glibc before 2.34 without threads or "
				     "dlopen(): start the program with "
				     "LD_PRELOAD=libpthread.so.0:libdl.so.2, or with gputap run",
				     t->pid);
	if (!t->instruction || !j->self || !j->munmap)
		return gt_inject_say(why, -ENOTSUP,
				     "process %d uses a libc whose functions gputap does not know: "
				     "start the program with gputap run",
				     t->pid);
	return 0;
}

static int read_modules(struct gt_inject_target *t, struct gt_inject_why *why)
{
	struct libraries l = {.has_libc = false};
	size_t libcs = 0;

	t->unsafe_count = 0;
	t->mixed_count = 0;
	t->has_allocator = false;
	for (size_t i = 0; i < t->modules.count; i++)
		libcs += is_libc(base_name(t->modules.list[i].path));
	for (size_t i = 0; i < t->modules.count; i++) {
		const struct gt_remote_module *m = &t->modules.list[i];
		const char *name = base_name(m->path);
		struct gt_inject_symbols s;
		uintptr_t entry[4];
		int status;

		if (is_loader(name)) {
			gt_remote_modules_find(&t->modules, m->start);
			add_unsafe(t, m->start, m->end);
		} else if (is_libc(name)) {
			if (!gt_inject_symbols_open(&t->modules, m->start, &s))
				continue;
			add_malloc(t, &s);
			add_functions(t, &s);
			if (libcs > 1 && !find_link(t, s.base, entry))
				continue;
			l.libc = s;
			l.has_libc = true;
			t->libc = (struct gt_inject_range){m->start, m->end};
		} else if (is_library(name, "libpthread.so.0", "libpthread-2.")) {
			t->threads = (struct gt_inject_range){m->start, m->end};
			if (gt_inject_symbols_open(&t->modules, m->start, &l.threads))
				add_functions(t, &l.threads);
		} else if (is_library(name, "libdl.so.2", "libdl-2.")) {
			gt_inject_symbols_open(&t->modules, m->start, &l.dl);
		} else {
			status = meet_module(t, m, why);
			if (status)
				return status;
		}
	}
	if (!l.has_libc)
		return say_no_libc(t, why);
	if (t->unsafe_count == GT_INJECT_RANGES)
		return gt_inject_say(why, -ENOTSUP,
				     "process %d has more allocators than gputap can keep clear of",
				     t->pid);
	return find_functions(t, &l, why);
}

/* Processes --------------------------------------------------------------------------------- */

static bool is_same_program(const struct gt_inject_target *t)
{
	struct gt_proc_stat stat;

	return gt_proc_read_stat((uint32_t)t->pid, &stat) && stat.state != 'Z' &&
	       stat.state != 'X' && (!t->exec_id || !stat.exec_id || stat.exec_id == t->exec_id);
}

bool gt_inject_target_refresh(struct gt_inject_target *t)
{
	const uint32_t generation = t->modules.generation;
	const size_t count = t->modules.count;
	struct gt_inject_why why;

	if (!is_same_program(t) || !gt_remote_modules_read(&t->modules))
		return false;
	/* a library that was loaded since may be an allocator */
	return (t->modules.generation == generation && t->modules.count == count) ||
	       read_modules(t, &why) == 0;
}

int gt_inject_target_open(struct gt_inject_target *t, pid_t pid, struct gt_inject_why *why)
{
	struct gt_proc_stat stat;
	char path[64];
	int status;

	t->pid = pid;
	gt_remote_modules_init(&t->modules, (uint32_t)pid, 0);
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	t->memory = open(path, O_RDWR | O_CLOEXEC);
	if (t->memory < 0)
		return gt_inject_say(why, errno == ENOENT ? -ESRCH : -errno,
				     "the memory of process %d cannot be written (%s): run gputap "
				     "as root",
				     pid, strerror(errno));
	if (!gt_proc_read_stat((uint32_t)pid, &stat) || !gt_remote_modules_read(&t->modules)) {
		status = gt_inject_say(why, -ESRCH, "process %d has ended", pid);
		goto close_memory;
	}
	t->exec_id = stat.exec_id;
	status = read_modules(t, why);
	if (status)
		goto close_memory;
	return 0;

close_memory:
	gt_inject_target_close(t);
	return status;
}

void gt_inject_target_close(struct gt_inject_target *t)
{
	gt_remote_modules_fini(&t->modules);
	if (t->memory >= 0)
		close(t->memory);
	t->memory = -1;
}
