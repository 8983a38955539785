/* SPDX-License-Identifier: MIT */
/* See mpi_world.h. */
#include "cli/mpi_world.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORLD_SYMBOL "ompi_mpi_comm_world"

enum { MPICH_WORLD = 0x44000000, PATH_BYTES = 4096, LINE_BYTES = PATH_BYTES + 128 };

/* A mapped ELF file. */
struct file {
	const uint8_t *bytes;
	size_t size;
};

/* The last library that was examined. Ranks of a host have the same one. */
static struct {
	dev_t device;
	ino_t inode;
	uint64_t offset; /* of the variable from the library's base; 0: it has none */
} known;

static const void *find_part(const struct file *f, uint64_t offset, uint64_t bytes)
{
	return offset <= f->size && bytes <= f->size - offset ? f->bytes + offset : NULL;
}

/* Find the variable in a table of symbols. Return its address in the file; 0: not there. */
static uint64_t find_in_table(const struct file *f, const Elf64_Shdr *table,
			      const Elf64_Shdr *names)
{
	const Elf64_Sym *symbols = find_part(f, table->sh_offset, table->sh_size);
	const char *text = find_part(f, names->sh_offset, names->sh_size);
	const size_t name_bytes = sizeof WORLD_SYMBOL;

	for (size_t i = 0; symbols && text && i < table->sh_size / sizeof *symbols; i++)
		if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < names->sh_size &&
		    names->sh_size - symbols[i].st_name >= name_bytes &&
		    !memcmp(text + symbols[i].st_name, WORLD_SYMBOL, name_bytes))
			return symbols[i].st_value;
	return 0;
}

static uint64_t find_symbol(const struct file *f)
{
	const Elf64_Ehdr *head = find_part(f, 0, sizeof *head);
	const Elf64_Shdr *sections;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof *sections)
		return 0;
	sections = find_part(f, head->e_shoff, head->e_shnum * sizeof *sections);
	for (unsigned i = 0; sections && i < head->e_shnum; i++)
		if (sections[i].sh_type == SHT_DYNSYM && sections[i].sh_link < head->e_shnum)
			return find_in_table(f, &sections[i], &sections[sections[i].sh_link]);
	return 0;
}

/* Return the offset of the variable in the library at @path; 0: the library has none. */
static uint64_t find_offset(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	struct file f;
	void *mapped;

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) || !status.st_size) {
		close(fd);
		return 0;
	}
	if (status.st_dev == known.device && status.st_ino == known.inode) {
		close(fd);
		return known.offset;
	}
	mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		return 0;
	f = (struct file){mapped, (size_t)status.st_size};
	known.device = status.st_dev;
	known.inode = status.st_ino;
	known.offset = find_symbol(&f);
	munmap(mapped, (size_t)status.st_size);
	return known.offset;
}

bool mpi_world_is(uint32_t pid, uint32_t handle)
{
	char path[64], line[LINE_BYTES], name[PATH_BYTES + 64];
	bool found = false;
	FILE *f;

	if (handle == MPICH_WORLD)
		return true;
	snprintf(path, sizeof path, "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof line, f)) {
		unsigned long long base, offset;
		const char *slash = strchr(line, '/');
		uint64_t at;

		/* the first mapping of a library is that of its first page */
		if (!slash || !strstr(slash, "/libmpi") ||
		    sscanf(line, "%llx-%*x %*s %llx", &base, &offset) != 2 || offset)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(name, sizeof name, "/proc/%u/root%s", pid, slash);
		at = find_offset(name);
		found = at && (uint32_t)(base + at) == handle;
	}
	if (f)
		fclose(f);
	return found;
}
