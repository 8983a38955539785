/* SPDX-License-Identifier: MIT */
/* See elf_symbols.h. The file belongs to another program and may contain anything: every offset in
 * it is checked before use. */
#include "analysis/symbols/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/grow.h"

struct function {
	uint64_t address, bytes;
	const char *name;
	bool is_local;
};

struct gt_elf_symbols {
	const uint8_t *data;
	size_t bytes;
	struct function *functions; /* sorted by address */
	size_t count, room;
};

/* Return @count items of @each bytes at @offset; NULL: outside the file. */
static const void *part(const struct gt_elf_symbols *s, uint64_t offset, uint64_t count,
			uint64_t each)
{
	if (offset % 8 || offset > s->bytes || (each && count > (s->bytes - offset) / each))
		return NULL;
	return s->data + offset;
}

static const Elf64_Shdr *sections_of(const struct gt_elf_symbols *s, unsigned *count)
{
	const Elf64_Ehdr *e = part(s, 0, 1, sizeof *e);

	*count = 0;
	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	*count = e->e_shnum;
	return part(s, e->e_shoff, e->e_shnum, sizeof(Elf64_Shdr));
}

/* Return true if the build id matches. @wanted: "0" means that the file had no build id, and always
 * matches */
static bool has_build_id(const struct gt_elf_symbols *s, const char *wanted)
{
	const Elf64_Ehdr *e = part(s, 0, 1, sizeof *e);
	const Elf64_Phdr *h = e ? part(s, e->e_phoff, e->e_phnum, sizeof *h) : NULL;

	for (unsigned i = 0; h && i < e->e_phnum; i++) {
		uint64_t at = h[i].p_offset, end = at + h[i].p_filesz;

		if (h[i].p_type != PT_NOTE || at % 4 || end > s->bytes || end < at)
			continue;
		while (end - at >= sizeof(Elf64_Nhdr)) {
			const Elf64_Nhdr *n = (const void *)(s->data + at);
			uint64_t id = at + sizeof *n + ((n->n_namesz + 3ull) & ~3ull);
			uint64_t next = id + ((n->n_descsz + 3ull) & ~3ull);
			char text[2 * 64 + 1];

			if (next > end)
				break;
			if (n->n_type == NT_GNU_BUILD_ID && n->n_descsz <= 64) {
				for (unsigned k = 0; k < n->n_descsz; k++)
					snprintf(text + (size_t)2 * k, 3, "%02x", s->data[id + k]);
				text[2 * n->n_descsz] = '\0';
				return !strcmp(text, wanted);
			}
			at = next;
		}
	}
	return true;
}

static bool add_symbols(struct gt_elf_symbols *s, const Elf64_Shdr *table,
			const Elf64_Shdr *strings)
{
	const Elf64_Sym *symbol;
	struct function *more;
	const char *names = part(s, strings->sh_offset & ~UINT64_C(7), 0, 0);
	uint64_t count = table->sh_size / sizeof *symbol;

	symbol = part(s, table->sh_offset, count, sizeof *symbol);
	if (!symbol || !names || strings->sh_offset > s->bytes ||
	    strings->sh_size > s->bytes - strings->sh_offset || !strings->sh_size)
		return true;
	names = (const char *)s->data + strings->sh_offset;
	if (names[strings->sh_size - 1])
		return true;
	for (uint64_t i = 0; i < count; i++) {
		unsigned type = ELF64_ST_TYPE(symbol[i].st_info);

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !symbol[i].st_value ||
		    symbol[i].st_shndx == SHN_UNDEF || symbol[i].st_name >= strings->sh_size ||
		    !names[symbol[i].st_name])
			continue;
		more = gt_grow(s->functions, s->count, &s->room, sizeof *more);
		if (!more)
			return false;
		s->functions = more;
		s->functions[s->count++] =
			(struct function){symbol[i].st_value, symbol[i].st_size,
					  names + symbol[i].st_name,
					  ELF64_ST_BIND(symbol[i].st_info) == STB_LOCAL};
	}
	return true;
}

/* Sort names of one address: global names first, then by length, then alphabetically. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	size_t length, other;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->is_local != y->is_local)
		return x->is_local ? 1 : -1;
	length = strlen(x->name);
	other = strlen(y->name);
	if (length != other)
		return length < other ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool read_symbols(struct gt_elf_symbols *s)
{
	unsigned count;
	const Elf64_Shdr *h = sections_of(s, &count);

	for (unsigned i = 0; h && i < count; i++)
		if ((h[i].sh_type == SHT_SYMTAB || h[i].sh_type == SHT_DYNSYM) &&
		    h[i].sh_link < count && !add_symbols(s, &h[i], &h[h[i].sh_link]))
			return false;
	if (s->count)
		qsort(s->functions, s->count, sizeof *s->functions, compare_functions);
	return true;
}

struct gt_elf_symbols *gt_elf_symbols_open(const char *path, const char *build_id, int *other)
{
	struct gt_elf_symbols *s = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *data;

	if (other)
		*other = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		s = data == MAP_FAILED ? NULL : calloc(1, sizeof *s);
		if (s) {
			s->data = data;
			s->bytes = (size_t)st.st_size;
		} else if (data != MAP_FAILED) {
			munmap(data, (size_t)st.st_size);
		}
	}
	close(fd);
	if (s && *build_id && !has_build_id(s, build_id)) {
		if (other)
			*other = 1;
		gt_elf_symbols_close(s);
		return NULL;
	}
	if (s && !read_symbols(s)) {
		gt_elf_symbols_close(s);
		return NULL;
	}
	return s;
}

void gt_elf_symbols_close(struct gt_elf_symbols *s)
{
	if (!s)
		return;
	munmap((void *)(uintptr_t)s->data, s->bytes);
	free(s->functions);
	free(s);
}

const char *gt_elf_symbols_find(const struct gt_elf_symbols *s, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = s->count;
	const struct function *f;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	f = &s->functions[low - 1];
	while (f > s->functions && f[-1].address == f->address)
		f--;
	/* Functions written in assembler may have no size. */
	if (f->bytes && address >= f->address + f->bytes)
		return NULL;
	*offset = address - f->address;
	return f->name;
}

bool gt_elf_symbols_has(const struct gt_elf_symbols *s, const char *begin)
{
	const size_t n = strlen(begin);

	for (size_t i = 0; i < s->count; i++)
		if (!strncmp(s->functions[i].name, begin, n))
			return true;
	return false;
}
