/* SPDX-License-Identifier: MIT */
/* Looks up the ROCr that the dynamic linker would find in its search folders, and reads from its
 * ELF file which functions of libhsakmt it needs. If a ROCr needs functions that the substitute
 * lacks, it cannot be loaded. A ROCr that needs no functions contains its own libhsakmt, and cannot
 * use the substitute unless it can load another libhsakmt instead, as ROCr 7 can
 * (SOFT_RUNTIME_OTHER_THUNK). */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/soft_accelerator.h"
#include "cli/soft_runtime.h"
#include "cli/ui.h"
#include "soft/amdgpu/known.h"

#define ROCR   "libhsa-runtime64.so.1"
#define FOLDER "soft/amdgpu"

static const char *const stand_in_has[] = {
#define X(name) "hsaKmt" #name,
#include "soft/amdgpu/functions.h"
#undef X
};

struct rocr {
	char path[PATH_MAX]; /* "": not found */
	/* number of functions needed from libhsakmt; number of those that the substitute lacks */
	unsigned wants, lacks;
	char lacking[128];  /* names of some missing functions */
	bool loads_another; /* true if this ROCr can load another libhsakmt instead of its own */
};

static bool find_in(const char *folders, struct rocr *r)
{
	for (size_t n; folders && *folders; folders += n + (folders[n] == ':')) {
		char file[PATH_MAX];
		n = strcspn(folders, ":");
		if (n &&
		    snprintf(file, sizeof file, "%.*s/" ROCR, (int)n, folders) < (int)sizeof file &&
		    realpath(file, r->path))
			return true;
	}
	r->path[0] = '\0';
	return false;
}

static bool stand_in_has_call(const char *name)
{
	for (size_t i = 0; i < sizeof stand_in_has / sizeof *stand_in_has; i++)
		if (!strcmp(stand_in_has[i], name))
			return true;
	return false;
}

static void count_symbol(struct rocr *r, const char *name)
{
	size_t length = strlen(r->lacking);

	if (strncmp(name, "hsaKmt", 6) != 0)
		return;
	r->wants++;
	if (stand_in_has_call(name))
		return;
	r->lacks++;
	if (length + strlen(name) + 2 < sizeof r->lacking)
		snprintf(r->lacking + length, sizeof r->lacking - length, "%s%s", length ? " " : "",
			 name);
}

/* Read the undefined dynamic symbols of a mapped ELF file. An invalid file has none. */
static void read_symbols(struct rocr *r, const char *file, uint64_t bytes)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
	const Elf64_Shdr *section;

	if (bytes < sizeof *header || memcmp(file, ELFMAG, SELFMAG) || header->e_shoff > bytes ||
	    header->e_shnum > (bytes - header->e_shoff) / sizeof *section)
		return;
	section = (const Elf64_Shdr *)(file + header->e_shoff);
	for (unsigned i = 0; i < header->e_shnum; i++) {
		const Elf64_Shdr *s = &section[i], *names = s->sh_link < header->e_shnum
								    ? &section[s->sh_link]
								    : NULL;
		const Elf64_Sym *symbol = (const Elf64_Sym *)(file + s->sh_offset);
		if (s->sh_type != SHT_DYNSYM || !names || s->sh_offset > bytes ||
		    s->sh_size > bytes - s->sh_offset || names->sh_offset > bytes ||
		    !names->sh_size || names->sh_size > bytes - names->sh_offset ||
		    file[names->sh_offset + names->sh_size - 1])
			continue;
		for (uint64_t k = 0; k < s->sh_size / sizeof *symbol; k++)
			if (symbol[k].st_shndx == SHN_UNDEF && symbol[k].st_name < names->sh_size)
				count_symbol(r, file + names->sh_offset + symbol[k].st_name);
	}
}

static bool inspect_rocr(struct rocr *r)
{
	struct stat st;
	void *file;
	int fd;

	*r = (struct rocr){0};
	if (!find_in(getenv("LD_LIBRARY_PATH"), r) &&
	    !find_in("/usr/local/lib:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:"
		     "/usr/lib64:/usr/lib:/opt/rocm/lib",
		     r))
		return false;
	fd = open(r->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (fstat(fd, &st) == 0) {
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			read_symbols(r, file, (uint64_t)st.st_size);
			r->loads_another =
				memmem(file, (size_t)st.st_size, SOFT_RUNTIME_OTHER_THUNK,
				       sizeof SOFT_RUNTIME_OTHER_THUNK);
			munmap(file, (size_t)st.st_size);
		}
	}
	close(fd);
	return true;
}

/* Write a sentence about a fault; "": no fault. */
static void judge_rocr(const struct rocr *r, bool found, char *out, size_t size)
{
	*out = '\0';
	if (!found)
		snprintf(out, size, "no " ROCR " is installed; " SOFT_KNOWN_ROCR);
	else if (!r->wants && !r->loads_another)
		snprintf(out, size,
			 "%s has libhsakmt built in, which cannot be replaced; " SOFT_KNOWN_ROCR,
			 r->path);
	else if (r->lacks)
		snprintf(out, size,
			 "%s needs %u functions that the replacement lacks (%s); " SOFT_KNOWN_ROCR,
			 r->path, r->lacks, r->lacking);
	else if (!soft_knows_rocr(r->path))
		snprintf(out, size, "%s has not been tested; " SOFT_KNOWN_ROCR, r->path);
}

bool soft_runtime_check(char *out, size_t size)
{
	struct rocr r;
	bool found = inspect_rocr(&r);

	judge_rocr(&r, found, out, size);
	return found && (r.wants || r.loads_another) && !r.lacks;
}

bool soft_runtime_find(char out[PATH_MAX])
{
	return soft_find_folder(FOLDER, SOFT_RUNTIME_LIBRARY, out);
}

void soft_runtime_describe(FILE *out)
{
	char sentence[PATH_MAX + 512];
	struct rocr r;
	bool found = inspect_rocr(&r);

	judge_rocr(&r, found, sentence, sizeof sentence);
	fputs("        ", out);
	ui_put(out, *sentence ? sentence : r.path, UINT32_MAX); /* may contain any characters */
	fputc('\n', out);
}

void soft_runtime_warn(void)
{
	char sentence[PATH_MAX + 512];
	struct rocr r;
	bool found = inspect_rocr(&r);

	judge_rocr(&r, found, sentence, sizeof sentence);
	if (*sentence)
		ui_note("%s", sentence);
}
