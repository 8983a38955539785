/* SPDX-License-Identifier: MIT */
/* Functions of an ELF file by address, from .symtab and .dynsym. */
#ifndef GPUTAP_EXPORT_ELF_SYMBOLS_H
#define GPUTAP_EXPORT_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct gt_elf_symbols;

/* @build_id: in hexadecimal; "": any. Return NULL: no such file, not an ELF file, or not the one
 *            with this build id; *other (may be NULL) is set for the last reason. */
struct gt_elf_symbols *gt_elf_symbols_open(const char *path, const char *build_id, int *other);
void gt_elf_symbols_close(struct gt_elf_symbols *s);

/* Return the function at an address in the file; NULL: none. *offset: from its start. */
const char *gt_elf_symbols_find(const struct gt_elf_symbols *s, uint64_t address, uint64_t *offset);

/* Return true if it has a function whose name starts so. */
bool gt_elf_symbols_has(const struct gt_elf_symbols *s, const char *begin);

#endif
