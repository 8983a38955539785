/* SPDX-License-Identifier: MIT */
/* See static_tls.h.
 *
 *   mapped for the search | objects found, the program first | text: names, folders, paths |
 *
 * The search is breadth first, as in ld.so: the DT_NEEDED names of an object are searched after
 * those of all earlier objects. Names and files that were found before are not searched again.
 *
 * Files are read with pread(), so that a concurrent truncation of a library cannot kill the program
 * with SIGBUS. Missing and unreadable files are skipped, because ld.so reports them better.
 *
 * Never here: malloc, locks, stdio, libc's cancellation points, changes to errno. */
#include "util/static_tls.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/environment_value.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#define OUR_LIB     "lib/x86_64-linux-gnu", "lib64"
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#define OUR_LIB     "lib/aarch64-linux-gnu", "lib64"
#else
#define OUR_MACHINE EM_NONE
#define OUR_LIB     "lib64"
#endif

enum {
	OBJECTS = 1024,
	TEXT_BYTES = 256 << 10,
	HEADERS = 64,
	DYNAMIC = 1024,
	NAME_BYTES = 1024,
	NONE = 0,
	SCRIPTS = 4
};

/* An object. Texts are offsets; NONE: no text. */
struct object {
	uint64_t device, inode;
	uint32_t parent;       /* object that needs this one */
	uint32_t name, origin; /* requested name; folder of the object's file */
	uint32_t rpath, runpath;
	uint32_t needed, needed_count; /* names, one after the other */
};

struct tls_search {
	struct gt_static_tls *out;
	const char *library_path;
	const uint8_t *cache; /* /etc/ld.so.cache, mapped; NULL: not mapped yet */
	size_t cache_bytes;
	bool no_cache;
	uint32_t count, used; /* number of objects; number of bytes of text */
	Elf64_Phdr headers[HEADERS];
	Elf64_Dyn dynamic[DYNAMIC];
	char path[PATH_MAX];
	struct object object[OBJECTS];
	char text[TEXT_BYTES];
};

static bool read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return syscall(SYS_pread64, fd, to, bytes, (off_t)offset) == (long)bytes;
}

static int open_elf_file(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path,
			    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

static const char *text_at(const struct tls_search *s, uint32_t at)
{
	return s->text + at;
}

static uint32_t keep_text(struct tls_search *s, const char *text, size_t bytes)
{
	uint32_t at = s->used;

	if (bytes + 1 > TEXT_BYTES - s->used)
		return NONE;
	memcpy(s->text + at, text, bytes);
	s->text[at + bytes] = '\0';
	s->used += (uint32_t)bytes + 1;
	return at;
}

/* Copy a string from the file. Return NONE if the string does not fit. */
static uint32_t keep_string(struct tls_search *s, int fd, uint64_t offset)
{
	char *to = s->text + s->used;
	size_t room = TEXT_BYTES - s->used, length;
	long n = syscall(SYS_pread64, fd, to, room < NAME_BYTES ? room : NAME_BYTES, (off_t)offset);
	uint32_t at = s->used;

	length = n > 0 ? strnlen(to, (size_t)n) : 0;
	if (!length || length == (size_t)n)
		return NONE;
	s->used += (uint32_t)length + 1;
	return at;
}

static uint64_t file_offset(const struct tls_search *s, uint32_t count, uint64_t address)
{
	for (uint32_t i = 0; i < count; i++)
		if (s->headers[i].p_type == PT_LOAD && address >= s->headers[i].p_vaddr &&
		    address - s->headers[i].p_vaddr < s->headers[i].p_filesz)
			return address - s->headers[i].p_vaddr + s->headers[i].p_offset;
	return 0;
}

static void read_dynamic(struct tls_search *s, int fd, uint32_t headers, struct object *o,
			 uint64_t *flags)
{
	const Elf64_Phdr *p = NULL;
	uint64_t strings = 0;
	size_t count;

	for (uint32_t i = 0; i < headers; i++)
		if (s->headers[i].p_type == PT_DYNAMIC)
			p = &s->headers[i];
	count = p ? p->p_filesz / sizeof(Elf64_Dyn) : 0;
	count = count < DYNAMIC ? count : DYNAMIC;
	if (!count || !read_at(fd, s->dynamic, count * sizeof(Elf64_Dyn), p->p_offset))
		return;
	for (size_t i = 0; i < count && s->dynamic[i].d_tag != DT_NULL; i++)
		if (s->dynamic[i].d_tag == DT_STRTAB)
			strings = file_offset(s, headers, s->dynamic[i].d_un.d_ptr);
		else if (s->dynamic[i].d_tag == DT_FLAGS)
			*flags = s->dynamic[i].d_un.d_val;
	if (!strings)
		return;
	for (size_t i = 0; i < count && s->dynamic[i].d_tag != DT_NULL; i++)
		if (s->dynamic[i].d_tag == DT_RPATH)
			o->rpath = keep_string(s, fd, strings + s->dynamic[i].d_un.d_val);
		else if (s->dynamic[i].d_tag == DT_RUNPATH)
			o->runpath = keep_string(s, fd, strings + s->dynamic[i].d_un.d_val);
	o->needed = s->used;
	for (size_t i = 0; i < count && s->dynamic[i].d_tag != DT_NULL; i++)
		if (s->dynamic[i].d_tag == DT_NEEDED &&
		    keep_string(s, fd, strings + s->dynamic[i].d_un.d_val) != NONE)
			o->needed_count++;
}

static void add_storage(struct tls_search *s, uint32_t headers, bool is_program, uint64_t flags)
{
	for (uint32_t i = 0; i < headers; i++) {
		uint64_t alignment = s->headers[i].p_align ? s->headers[i].p_align : 1;

		if (s->headers[i].p_type != PT_TLS)
			continue;
		if (is_program) {
			s->out->program_bytes = s->headers[i].p_memsz;
			s->out->program_alignment = alignment;
			return;
		}
		s->out->library_bytes += s->headers[i].p_memsz + alignment;
		if ((flags & DF_STATIC_TLS) && alignment > s->out->fixed_alignment)
			s->out->fixed_alignment = alignment;
	}
}

/* Return the number of program headers, or 0 if the file is not an object for this machine. */
static uint32_t read_headers(struct tls_search *s, int fd)
{
	uint32_t count;
	Elf64_Ehdr e;

	if (!read_at(fd, &e, sizeof e, 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != OUR_MACHINE ||
	    e.e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	count = e.e_phnum < HEADERS ? e.e_phnum : HEADERS;
	return read_at(fd, s->headers, count * sizeof *s->headers, e.e_phoff) ? count : 0;
}

/* Add a library. @path: path of the file in @fd, for $ORIGIN. Return false if the file is not the
 * wanted library, so that the search continues. */
static bool add_library(struct tls_search *s, int fd, uint32_t parent, uint32_t name,
			const char *path)
{
	struct object *o = &s->object[s->count];
	const char *slash = strrchr(path, '/');
	uint64_t flags = 0;
	struct stat st;
	uint32_t headers;

	if (s->count == OBJECTS)
		return true;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->object[i].inode == st.st_ino && s->object[i].device == st.st_dev)
			return true;
	headers = read_headers(s, fd);
	if (!headers)
		return false;
	*o = (struct object){.device = st.st_dev,
			     .inode = st.st_ino,
			     .parent = parent,
			     .name = name};
	o->origin = slash ? keep_text(s, path, (size_t)(slash - path)) : keep_text(s, ".", 1);
	read_dynamic(s, fd, headers, o, &flags);
	add_storage(s, headers, s->count == 0, flags);
	s->out->libraries += s->count != 0;
	s->count++;
	return true;
}

static bool try_path(struct tls_search *s, uint32_t parent, uint32_t name)
{
	int fd = open_elf_file(s->path);
	bool done;

	if (fd < 0)
		return false;
	done = add_library(s, fd, parent, name, s->path);
	syscall(SYS_close, fd);
	return done;
}

/* Append to s->path, which has @at bytes. Return the new length, or 0 if the path is too long. */
static size_t append_path(struct tls_search *s, size_t at, const char *text, size_t bytes)
{
	if (at + bytes >= sizeof s->path)
		return 0;
	memcpy(s->path + at, text, bytes);
	s->path[at + bytes] = '\0';
	return at + bytes;
}

/* Return the length of "$NAME" or "${NAME}" at @text, or 0 for other text. */
static size_t token_bytes(const char *text, const char *end, const char *name)
{
	size_t n = strlen(name), brace = text + 1 < end && text[1] == '{';
	const char *start = text + 1 + brace;

	if ((size_t)(end - start) < n + brace || memcmp(start, name, n) != 0 ||
	    (brace && start[n] != '}'))
		return 0;
	return 1 + brace + n + brace;
}

/* Copy [text, end) to s->path with $ORIGIN and $LIB replaced. Return the length of the path, or 0
 * if it is too long or empty. */
static size_t expand(struct tls_search *s, uint32_t origin, const char *lib, const char *text,
		     const char *end)
{
	size_t at = 0, n;

	while (text < end) {
		if (*text == '$' && origin != NONE && (n = token_bytes(text, end, "ORIGIN")) != 0)
			at = append_path(s, at, text_at(s, origin), strlen(text_at(s, origin)));
		else if (*text == '$' && (n = token_bytes(text, end, "LIB")) != 0)
			at = append_path(s, at, lib, strlen(lib));
		else
			at = append_path(s, at, text, n = 1);
		if (!at)
			return 0;
		text += n;
	}
	return at;
}

/* Search a list of folders, separated by colons (or semicolons, in LD_LIBRARY_PATH). */
static bool try_list(struct tls_search *s, uint32_t parent, uint32_t name, uint32_t origin,
		     const char *list)
{
	static const char *const libs[] = {OUR_LIB};
	const char *wanted = text_at(s, name), *end;

	for (; list && *list; list = end + (*end != '\0')) {
		end = list + strcspn(list, ":;");
		for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
			size_t n = list == end ? append_path(s, 0, ".", 1)
					       : expand(s, origin, libs[i], list, end);

			n = n ? append_path(s, n, "/", 1) : 0;
			if (n && append_path(s, n, wanted, strlen(wanted)) &&
			    try_path(s, parent, name))
				return true;
			if (!memchr(list, '$', (size_t)(end - list)))
				break;
		}
	}
	return false;
}

/* The part of /etc/ld.so.cache for glibc 2.2 and later. */
struct cache_head {
	char magic[20]; /* "glibc-ld.so.cache1.1" */
	uint32_t count, string_bytes;
	uint8_t flags, unused1[3];
	uint32_t extension, unused2[3];
};
struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets of texts, relative to the head */
	uint32_t os;
	uint64_t hwcap;
};

static void map_cache(struct tls_search *s)
{
	int fd = s->no_cache ? -1 : open_elf_file("/etc/ld.so.cache");
	struct stat st;
	void *at;

	s->no_cache = true; /* do not try again */
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(struct cache_head)) {
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at != MAP_FAILED) {
			s->cache = at;
			s->cache_bytes = (size_t)st.st_size;
		}
	}
	syscall(SYS_close, fd);
}

/* Find the new cache format, which follows the old one if the file has both. */
static const struct cache_head *find_cache_head(const struct tls_search *s)
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	enum { OLD_HEAD = 16, OLD_ENTRY = 12, OLD_COUNT_AT = 12 };
	uint32_t old;
	size_t at;

	if (memcmp(s->cache, magic, sizeof magic - 1) == 0)
		return (const struct cache_head *)s->cache;
	if (memcmp(s->cache, "ld.so-1.7.0", 11) != 0)
		return NULL;
	memcpy(&old, s->cache + OLD_COUNT_AT, sizeof old);
	at = (OLD_HEAD + (size_t)old * OLD_ENTRY + 7) & ~(size_t)7;
	if (at + sizeof(struct cache_head) > s->cache_bytes ||
	    memcmp(s->cache + at, magic, sizeof magic - 1) != 0)
		return NULL;
	return (const struct cache_head *)(s->cache + at);
}

static bool try_cache(struct tls_search *s, uint32_t parent, uint32_t name)
{
	const char *wanted = text_at(s, name), *base;
	const struct cache_head *head;
	const struct cache_entry *e;
	size_t room, bytes = strlen(wanted) + 1;

	if (!s->cache)
		map_cache(s);
	head = s->cache ? find_cache_head(s) : NULL;
	if (!head)
		return false;
	base = (const char *)head;
	room = s->cache_bytes - (size_t)(base - (const char *)s->cache);
	e = (const struct cache_entry *)(head + 1);
	if (head->count > (room - sizeof *head) / sizeof *e)
		return false;
	for (uint32_t i = 0; i < head->count; i++) {
		size_t length;

		if (e[i].key > room - bytes || bytes > room ||
		    memcmp(base + e[i].key, wanted, bytes) != 0 || e[i].value >= room)
			continue;
		length = strnlen(base + e[i].value, room - e[i].value);
		if (append_path(s, 0, base + e[i].value, length) && try_path(s, parent, name))
			return true;
	}
	return false;
}

/* Find a library in ld.so's order: DT_RPATH of the object that needs the library and of the objects
 * that need that object, LD_LIBRARY_PATH, the object's DT_RUNPATH, the cache, and the system's
 * folders. */
static void find_library(struct tls_search *s, uint32_t parent, uint32_t name)
{
	const struct object *asker = &s->object[parent], *o;
	const char *wanted = text_at(s, name);

	for (uint32_t i = 0; i < s->count; i++)
		if (s->object[i].name != NONE && strcmp(text_at(s, s->object[i].name), wanted) == 0)
			return;
	if (strchr(wanted, '/')) {
		if (expand(s, asker->origin, "lib64", wanted, wanted + strlen(wanted)))
			try_path(s, parent, name);
		return;
	}
	for (o = asker; asker->runpath == NONE; o = &s->object[o->parent]) {
		if (o->runpath == NONE && o->rpath != NONE &&
		    try_list(s, parent, name, o->origin, text_at(s, o->rpath)))
			return;
		if (o == s->object)
			break;
	}
	if (try_list(s, parent, name, s->object[0].origin, s->library_path))
		return;
	if (asker->runpath != NONE &&
	    try_list(s, parent, name, asker->origin, text_at(s, asker->runpath)))
		return;
	if (!try_cache(s, parent, name))
		try_list(s, parent, name, NONE, "/$LIB:/usr/$LIB:/lib:/usr/lib");
}

/* Find the libraries in the value of LD_PRELOAD, or one gputap library. */
static void find_preloaded(struct tls_search *s, const char *list)
{
	while (list && *list) {
		size_t n = strcspn(list, ": ");
		uint32_t name = n ? keep_text(s, list, n) : NONE;

		if (name != NONE)
			find_library(s, 0, name);
		list += n + (list[n] != '\0');
	}
}

static void find_all(struct tls_search *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t name = s->object[i].needed;

		for (uint32_t k = 0; k < s->object[i].needed_count; k++) {
			find_library(s, i, name);
			name += (uint32_t)strlen(text_at(s, name)) + 1;
		}
	}
}

/* Open the interpreter of a file that starts with "#!". Return -1 for any other file. */
static int open_interpreter(struct tls_search *s, int fd)
{
	long n = syscall(SYS_pread64, fd, s->path, sizeof s->path - 1, (off_t)0);
	char *start;

	if (n < 3 || s->path[0] != '#' || s->path[1] != '!')
		return -1;
	s->path[n] = '\0';
	start = s->path + 2 + strspn(s->path + 2, " \t");
	start[strcspn(start, " \t\r\n")] = '\0';
	return open_elf_file(start);
}

static bool has_interpreter(struct tls_search *s, int fd)
{
	uint32_t headers = read_headers(s, fd);

	for (uint32_t i = 0; i < headers; i++)
		if (s->headers[i].p_type == PT_INTERP)
			return true;
	return false;
}

/* Note the folder of the program file, found through /proc. */
static void name_program(struct tls_search *s, int fd)
{
	char link[32] = "/proc/self/fd/", digits[12], *d = digits + sizeof digits,
	     *at = link + strlen(link);
	unsigned number = (unsigned)fd;
	long n;

	do
		*--d = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	memcpy(at, d, (size_t)(digits + sizeof digits - d));
	at[digits + sizeof digits - d] = '\0';
	n = syscall(SYS_readlinkat, AT_FDCWD, link, s->path, sizeof s->path - 1);
	s->path[n > 0 ? n : 0] = '\0';
}

static bool search_file(struct tls_search *s, int fd, char *const *environment, const char *preload)
{
	int own = fd, next;
	bool found = false;

	for (int i = 0; i < SCRIPTS && (next = open_interpreter(s, own)) >= 0; i++) {
		if (own != fd)
			syscall(SYS_close, own);
		own = next;
	}
	if (has_interpreter(s, own)) {
		name_program(s, own);
		s->used = 1; /* offset NONE contains no text */
		s->library_path = gt_environment_value(environment, "LD_LIBRARY_PATH");
		found = add_library(s, own, 0, NONE, s->path);
	}
	if (found) {
		find_preloaded(s, preload);
		find_preloaded(s, gt_environment_value(environment, "LD_PRELOAD"));
		find_all(s);
	}
	if (own != fd)
		syscall(SYS_close, own);
	return found;
}

bool gt_static_tls_look(int fd, char *const *environment, const char *preload,
			struct gt_static_tls *out)
{
	struct tls_search *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int saved = errno;
	bool found;

	memset(out, 0, sizeof *out);
	if (s == MAP_FAILED)
		return false;
	s->out = out;
	found = search_file(s, fd, environment, preload);
	if (s->cache)
		munmap((void *)(uintptr_t)s->cache, s->cache_bytes);
	munmap(s, sizeof *s);
	errno = saved;
	return found;
}

uint64_t gt_static_tls_asked(const char *tunables)
{
	const char *at = tunables ? strstr(tunables, GT_STATIC_TLS_TUNABLE) : NULL;
	uint64_t value = 0;

	for (at = at ? at + strlen(GT_STATIC_TLS_TUNABLE) : NULL; at && *at >= '0' && *at <= '9';
	     at++)
		value = value < UINT32_MAX / 16 ? value * 10 + (uint64_t)(*at - '0') : value;
	return value;
}
