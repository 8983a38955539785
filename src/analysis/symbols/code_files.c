/* SPDX-License-Identifier: MIT */
/* See code_files.h. */
#include "analysis/symbols/code_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/symbols/dwarf_lines.h"
#include "analysis/symbols/elf_symbols.h"

struct gt_code_file {
	struct gt_code_file *next;
	const char *path, *build_id;    /* belongs to the capture */
	struct gt_elf_symbols *symbols; /* NULL: none */
	struct gt_dwarf_lines *lines;   /* NULL: none, or not loaded yet */
	uint64_t bytes;
	bool has_asked_lines, is_interpreter;
};

struct gt_code_files {
	struct gt_code_file *first;
};

struct gt_code_files *gt_code_files_create(void)
{
	return calloc(1, sizeof(struct gt_code_files));
}

void gt_code_files_destroy(struct gt_code_files *files)
{
	struct gt_code_file *f;

	while (files && (f = files->first)) {
		files->first = f->next;
		gt_elf_symbols_close(f->symbols);
		gt_dwarf_lines_close(f->lines);
		free(f);
	}
	free(files);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void open_file(struct gt_code_file *f)
{
	const char *name = last_part(f->path);
	struct stat st;

	f->symbols = gt_elf_symbols_open(f->path, f->build_id, NULL);
	f->is_interpreter = f->symbols
				    ? gt_elf_symbols_has(f->symbols, GT_PYTHON_EVALUATION)
				    : !strncmp(name, "python", 6) || !strncmp(name, "libpython", 9);
	f->bytes = f->symbols && !stat(f->path, &st) ? (uint64_t)st.st_size : 0;
}

struct gt_code_file *gt_code_file_get(struct gt_code_files *files, const struct gt_code_info *code)
{
	struct gt_code_file *f;

	for (f = files->first; f; f = f->next)
		if (!strcmp(f->path, code->name) && !strcmp(f->build_id, code->detail))
			return f;
	f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->path = code->name;
	f->build_id = code->detail;
	f->next = files->first;
	files->first = f;
	open_file(f);
	return f;
}

bool gt_code_file_is_there(const struct gt_code_file *f)
{
	return f->symbols != NULL;
}

bool gt_code_file_is_interpreter(const struct gt_code_file *f)
{
	return f->is_interpreter;
}

uint64_t gt_code_file_bytes(const struct gt_code_file *f)
{
	return f->bytes;
}

const char *gt_code_file_symbol(const struct gt_code_file *f, uint64_t address)
{
	uint64_t offset;

	return f->symbols ? gt_elf_symbols_find(f->symbols, address, &offset) : NULL;
}

size_t gt_code_file_find(struct gt_code_file *f, uint64_t address,
			 struct gt_frame_name list[GT_FRAME_NAMES_MOST])
{
	const char *symbol = gt_code_file_symbol(f, address);
	size_t count;

	if (!f->has_asked_lines &&
	    f->symbols) /* if there are no symbols, the file may have been replaced */
		f->lines = gt_dwarf_lines_open(f->path);
	f->has_asked_lines = true;
	count = f->lines ? gt_dwarf_lines_find(f->lines, address, list, GT_FRAME_NAMES_MOST) : 0;
	if (symbol) {
		if (!count)
			list[count++] = (struct gt_frame_name){0};
		list[count - 1].function = symbol;
	}
	return count;
}
