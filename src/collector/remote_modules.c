/* SPDX-License-Identifier: MIT */
/* See remote_modules.h. */
#include "collector/remote_modules.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/guard.h"
#include "collector/remote_memory.h"
#include "util/grow.h"

enum { PAGE = GT_REMOTE_PAGE, HEADERS_MOST = 64 };
/* largest segment that is copied from the process's memory */
static const size_t COPY_MOST = 16 << 20;
static const size_t SPAN_MOST = (size_t)16 << 30;

void gt_remote_modules_init(struct gt_remote_modules *m, uint32_t pid, uint32_t generation)
{
	memset(m, 0, sizeof *m);
	m->pid = pid;
	m->generation = generation;
}

static void drop_module(struct gt_remote_module *module)
{
	if (module->object.start)
		munmap((void *)module->object.start, module->object.end - module->object.start);
	free(module->path);
}

void gt_remote_modules_fini(struct gt_remote_modules *m)
{
	for (size_t i = 0; i < m->count; i++)
		drop_module(&m->list[i]);
	free(m->list);
	memset(m, 0, sizeof *m);
}

/* Mappings ---------------------------------------------------------------------------------- */

/* A line of /proc/PID/maps. */
struct map_line {
	uintptr_t start, end;
	uint64_t offset;
	char *path;
};

static bool parse_line(char *line, struct map_line *out)
{
	unsigned long start, end;
	unsigned long long offset;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%lx-%lx %*s %llx %*s %*s %n", &start, &end, &offset, &at) < 3 || !at)
		return false;
	*out = (struct map_line){start, end, offset, line + at};
	return line[at] == '/' || !strcmp(line + at, "[vdso]");
}

static void cut_suffix(char *path)
{
	static const char suffix[] = " (deleted)";
	size_t n = strlen(path);

	if (n > sizeof suffix && !strcmp(path + n - (sizeof suffix - 1), suffix))
		path[n - (sizeof suffix - 1)] = '\0';
}

/* Append the line's module to @list, or extend the last module. */
static bool add_line(struct gt_remote_modules *fresh, struct map_line *line)
{
	struct gt_remote_module *last = fresh->count ? &fresh->list[fresh->count - 1] : NULL, *more;

	cut_suffix(line->path);
	if (last && line->offset && !strcmp(last->path, line->path)) {
		last->end = line->end;
		return true;
	}
	if (line->offset)
		return true; /* a file that is mapped as data */
	more = gt_grow(fresh->list, fresh->count, &fresh->room, sizeof *more);
	if (!more)
		return false;
	fresh->list = more;
	more += fresh->count;
	*more = (struct gt_remote_module){.start = line->start, .end = line->end};
	more->path = strdup(line->path);
	fresh->count += more->path != NULL;
	return more->path != NULL;
}

/* Take over what is known of the modules that are still mapped. Return true if any is not. */
static bool keep_known(struct gt_remote_modules *m, struct gt_remote_modules *fresh)
{
	bool changed = false;
	size_t k = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct gt_remote_module *old = &m->list[i], *same;

		while (k < fresh->count && fresh->list[k].start < old->start)
			k++;
		same = k < fresh->count ? &fresh->list[k] : NULL;
		if (!same || same->start != old->start || strcmp(same->path, old->path) != 0) {
			changed |= old->is_loaded;
			drop_module(old);
			continue;
		}
		free(same->path);
		old->end = same->end > old->end ? same->end : old->end;
		*same = *old;
	}
	return changed;
}

bool gt_remote_modules_read(struct gt_remote_modules *m)
{
	struct gt_remote_modules fresh = {.count = 0};
	struct map_line line;
	char path[64], *text = NULL;
	size_t room = 0;
	bool is_whole = true;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/maps", m->pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (is_whole && getline(&text, &room, f) > 0)
		if (parse_line(text, &line))
			is_whole = add_line(&fresh, &line);
	free(text);
	fclose(f);
	if (!fresh.count || !is_whole) {
		for (size_t i = 0; i < fresh.count; i++)
			free(fresh.list[i].path);
		free(fresh.list);
		return false;
	}
	if (keep_known(m, &fresh)) {
		m->generation++;
		memset(m->rules, 0, sizeof m->rules);
	}
	free(m->list);
	m->list = fresh.list;
	m->count = fresh.count;
	m->room = fresh.room;
	for (size_t i = 0; i < m->count; i++)
		if (!m->list[i].is_loaded)
			m->list[i].generation = m->generation;
	return true;
}

/* Images ------------------------------------------------------------------------------------ */

struct elf_head {
	ElfW(Ehdr) file;
	ElfW(Phdr) segments[HEADERS_MOST];
	uintptr_t low, high; /* addresses in the file that segments cover */
};

static bool read_head(const struct gt_remote_modules *m, const struct gt_remote_module *module,
		      struct elf_head *h)
{
	if (!gt_remote_copy(m->pid, module->start, &h->file, sizeof h->file) ||
	    memcmp(h->file.e_ident, ELFMAG, SELFMAG) != 0 || h->file.e_phnum > HEADERS_MOST ||
	    h->file.e_phentsize != sizeof *h->segments ||
	    !gt_remote_copy(m->pid, module->start + h->file.e_phoff, h->segments,
			    h->file.e_phnum * sizeof *h->segments))
		return false;
	h->low = UINTPTR_MAX;
	h->high = 0;
	for (unsigned i = 0; i < h->file.e_phnum; i++) {
		const ElfW(Phdr) *s = &h->segments[i];

		if (s->p_type != PT_LOAD)
			continue;
		h->low = s->p_vaddr < h->low ? s->p_vaddr : h->low;
		h->high = s->p_vaddr + s->p_memsz > h->high ? s->p_vaddr + s->p_memsz : h->high;
	}
	h->low &= ~(uintptr_t)(PAGE - 1);
	h->high = (h->high + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	return h->high > h->low && h->high - h->low < SPAN_MOST;
}

static int open_file(const struct gt_remote_modules *m, const struct gt_remote_module *module)
{
	char path[PATH_MAX + 32];

	if (module->path[0] != '/' || snprintf(path, sizeof path, "/proc/%u/root%s", m->pid,
					       module->path) >= (int)sizeof path)
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Open the module's file, if it starts with the same bytes as the memory. Return -1 if not. */
static int open_same_file(const struct gt_remote_modules *m, const struct gt_remote_module *module)
{
	uint8_t file[PAGE], memory[PAGE];
	int fd = open_file(m, module);
	ssize_t n = fd >= 0 ? pread(fd, file, sizeof file, 0) : -1;

	if (n > 0 && gt_remote_copy(m->pid, module->start, memory, (size_t)n) &&
	    !memcmp(file, memory, (size_t)n))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool load_segment(const struct gt_remote_modules *m, const struct gt_remote_module *module,
			 int fd, const ElfW(Phdr) * s, uintptr_t image, uintptr_t low)
{
	const uintptr_t at = s->p_vaddr & ~(uintptr_t)(PAGE - 1), head = s->p_vaddr - at;
	void *to = (void *)(image + (at - low));
	const size_t bytes = s->p_filesz + head;

	if (fd >= 0)
		return mmap(to, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
			    (off_t)(s->p_offset - head)) != MAP_FAILED;
	return bytes <= COPY_MOST && !mprotect(to, bytes, PROT_READ | PROT_WRITE) &&
	       gt_remote_copy(m->pid, module->start - low + at, to, bytes);
}

static void read_build_id(const ElfW(Phdr) * s, uintptr_t note, char id[GT_REMOTE_ID_BYTES])
{
	const uintptr_t end = note + s->p_filesz;

	while (!*id && end - note > sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)note;
		const uint8_t *data = (const uint8_t *)(n + 1) + ((n->n_namesz + 3) & ~3u);
		const uintptr_t next = (uintptr_t)data + ((n->n_descsz + 3) & ~3u);

		if (next > end || next <= note)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(n + 1, "GNU", 4) &&
		    n->n_descsz <= (GT_REMOTE_ID_BYTES - 1) / 2)
			for (unsigned k = 0; k < n->n_descsz; k++) {
				id[2 * k] = "0123456789abcdef"[data[k] >> 4];
				id[2 * k + 1] = "0123456789abcdef"[data[k] & 15];
			}
		note = next;
	}
}

static void load_image(const struct gt_remote_modules *m, struct gt_remote_module *module)
{
	struct elf_head h;
	uintptr_t image, tables = 0;
	void *p;
	int fd;

	if (!read_head(m, module, &h))
		return;
	module->base = module->start - h.low;
	if (module->end < module->base + h.high)
		module->end = module->base + h.high; /* the last segment has no file */
	p = mmap(NULL, h.high - h.low, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		 0);
	if (p == MAP_FAILED)
		return;
	image = (uintptr_t)p;
	fd = open_same_file(m, module);
	for (unsigned i = 0; i < h.file.e_phnum; i++) {
		const ElfW(Phdr) *s = &h.segments[i];

		if (s->p_type == PT_LOAD && !(s->p_flags & PF_W) && s->p_vaddr >= h.low)
			load_segment(m, module, fd, s, image, h.low);
		if (s->p_type == PT_GNU_EH_FRAME && s->p_vaddr >= h.low && s->p_vaddr < h.high)
			tables = image + (s->p_vaddr - h.low);
	}
	if (fd >= 0)
		close(fd);
	module->object = (struct gt_unwind_object){.start = image,
						   .end = image + (h.high - h.low),
						   .base = image - h.low,
						   .table = (const void *)tables,
						   .path = module->path};
	if (!GT_GUARD())
		return;
	for (unsigned i = 0; i < h.file.e_phnum; i++) {
		const ElfW(Phdr) *s = &h.segments[i];

		if (s->p_type == PT_NOTE && s->p_vaddr >= h.low &&
		    s->p_vaddr + s->p_filesz <= h.high && s->p_vaddr + s->p_filesz >= s->p_vaddr)
			read_build_id(s, image + (s->p_vaddr - h.low), module->id);
	}
	gt_guard_end();
}

struct gt_remote_module *gt_remote_modules_find(struct gt_remote_modules *m, uintptr_t pc)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (m->list[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || pc >= m->list[low - 1].end)
		return NULL;
	if (!m->list[low - 1].is_loaded) {
		m->list[low - 1].is_loaded = true;
		load_image(m, &m->list[low - 1]);
	}
	return &m->list[low - 1];
}

/* Rules ------------------------------------------------------------------------------------- */

static void find_rule(const struct gt_remote_module *module, uintptr_t pc, bool exact,
		      struct gt_unwind_rule *rule)
{
	const uintptr_t local = pc - module->base + module->object.base;

	*rule = (struct gt_unwind_rule){.pc = pc};
	if (!module->object.start || !GT_GUARD())
		return;
	gt_unwind_find_rule(&module->object, local, rule);
	/* a function that is returned to but was never called, such as a coroutine's first */
	if (rule->kind == GT_UNWIND_UNKNOWN && !exact)
		gt_unwind_find_rule(&module->object, local + 1, rule);
	gt_guard_end();
	rule->pc = pc;
}

const struct gt_unwind_rule *gt_remote_modules_rule(struct gt_remote_modules *m, uintptr_t pc,
						    bool exact)
{
	struct gt_unwind_rule *slot = &m->rules[(pc ^ pc >> 12 ^ pc >> 24) % GT_REMOTE_RULES];
	const struct gt_remote_module *module;

	if (slot->pc == pc)
		return slot;
	module = gt_remote_modules_find(m, pc);
	if (module)
		find_rule(module, pc, exact, slot);
	else
		*slot = (struct gt_unwind_rule){.pc = 0};
	return slot;
}

uintptr_t gt_remote_modules_function(struct gt_remote_modules *m, uintptr_t pc)
{
	const struct gt_remote_module *module = gt_remote_modules_find(m, pc);
	volatile uintptr_t begin = 0;

	if (!module || !module->object.start || !GT_GUARD())
		return 0;
	begin = gt_unwind_find_function(&module->object, pc - module->base + module->object.base);
	gt_guard_end();
	return begin ? begin - module->object.base + module->base : 0;
}

bool gt_remote_modules_code(struct gt_remote_modules *m, uintptr_t pc, void *to, size_t bytes)
{
	const struct gt_remote_module *module = gt_remote_modules_find(m, pc);

	if (!module || !module->object.start || pc - bytes < module->start || !GT_GUARD())
		return false;
	memcpy(to, (const void *)(pc - bytes - module->base + module->object.base), bytes);
	gt_guard_end();
	return true;
}

/* Symbols ----------------------------------------------------------------------------------- */

/* Find a dynamic symbol in a mapped file. Sections are used, because the dynamic section does not
 * say how many symbols there are. */
static uintptr_t find_symbol(const uint8_t *file, size_t bytes, const char *name)
{
	const ElfW(Ehdr) *e = (const void *)file;
	const ElfW(Shdr) *sections = (const void *)(file + e->e_shoff), *names;
	const size_t room = strlen(name) + 1;

	if (bytes < sizeof *e || e->e_shoff > bytes || e->e_shentsize != sizeof *sections ||
	    e->e_shnum > (bytes - e->e_shoff) / sizeof *sections)
		return 0;
	for (unsigned i = 0; i < e->e_shnum; i++) {
		const ElfW(Shdr) *s = &sections[i];
		const ElfW(Sym) *list = (const void *)(file + s->sh_offset);

		if (s->sh_type != SHT_DYNSYM || s->sh_link >= e->e_shnum || s->sh_offset > bytes ||
		    s->sh_size > bytes - s->sh_offset)
			continue;
		names = &sections[s->sh_link];
		if (names->sh_offset > bytes || names->sh_size > bytes - names->sh_offset)
			return 0;
		for (size_t k = 0; k < s->sh_size / sizeof *list; k++)
			if (list[k].st_shndx != SHN_UNDEF && names->sh_size >= room &&
			    list[k].st_name <= names->sh_size - room &&
			    !memcmp(file + names->sh_offset + list[k].st_name, name, room))
				return list[k].st_value;
	}
	return 0;
}

uintptr_t gt_remote_module_symbol(const struct gt_remote_modules *m,
				  const struct gt_remote_module *module, const char *name)
{
	volatile uintptr_t value = 0;
	int fd = open_same_file(m, module);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return 0;
	if (GT_GUARD()) {
		value = find_symbol(p, (size_t)st.st_size, name);
		gt_guard_end();
	}
	munmap(p, (size_t)st.st_size);
	return value ? value + module->base : 0;
}
