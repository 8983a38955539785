/* SPDX-License-Identifier: MIT */
/* Functions of an ELF file by their addresses, out of .symtab and .dynsym. */
#ifndef GPUTAP_EXPORT_ELF_SYMBOLS_H
#define GPUTAP_EXPORT_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct gt_elf_symbols;

/* @build_id: in hexadecimal; "": whatever it is. NULL: it is not there, no ELF file, or not the one
 * of this build id; *other (may be NULL) says whether it was the latter. */
struct gt_elf_symbols *gt_elf_symbols_open(const char *path, const char *build_id, int *other);
void gt_elf_symbols_close(struct gt_elf_symbols *s);

/* The function at an address as the file has it; NULL: none. *offset: from its begin. */
const char *gt_elf_symbols_find(const struct gt_elf_symbols *s, uint64_t address, uint64_t *offset);

/* Has it a function whose name begins so? */
bool gt_elf_symbols_has(const struct gt_elf_symbols *s, const char *begin);

#endif
