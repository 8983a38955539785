/* SPDX-License-Identifier: MIT */
/* Looks up functions of an ELF file by address, in .symtab and .dynsym. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_ELF_SYMBOLS_H
#define GPUTAP_ANALYSIS_SYMBOLS_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct gt_elf_symbols;

/* Open a file. @build_id: in hexadecimal; "": any. Return NULL if the file does not exist, is not
 * an ELF file, or has another build id. In the last case, also set *other unless @other is NULL. */
struct gt_elf_symbols *gt_elf_symbols_open(const char *path, const char *build_id, int *other);
void gt_elf_symbols_close(struct gt_elf_symbols *s);

/* Return the function at an address in the file; NULL: none. *offset: distance from the function's
 * start. */
const char *gt_elf_symbols_find(const struct gt_elf_symbols *s, uint64_t address, uint64_t *offset);

/* Return true if the name of any function starts with @begin. */
bool gt_elf_symbols_has(const struct gt_elf_symbols *s, const char *begin);

#endif
