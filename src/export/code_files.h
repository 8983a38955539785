/* SPDX-License-Identifier: MIT */
/* Functions by their addresses in files of code: what the symbol tables and the debug information
 * of the files say that were mapped, where those are still there with the same build id. Each file
 * is read once, however many processes had it mapped. */
#ifndef GPUTAP_EXPORT_CODE_FILES_H
#define GPUTAP_EXPORT_CODE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/callstacks.h"
#include "capture/frame_names.h"

/* CPython's function that runs its frames; compilers put something behind the name. */
#define GT_PYTHON_EVALUATION "_PyEval_EvalFrameDefault"

struct gt_code_files;
struct gt_code_file;

/* NULL: no memory. */
struct gt_code_files *gt_code_files_create(void);
void gt_code_files_destroy(struct gt_code_files *files);

/* That of a module. NULL: no memory. */
struct gt_code_file *gt_code_file_get(struct gt_code_files *files, const struct gt_code_info *code);
/* Is it there, and the one that was mapped? */
bool gt_code_file_is_there(const struct gt_code_file *file);
/* Is it an interpreter of Python's? Where it is not there, its name says so. */
bool gt_code_file_is_interpreter(const struct gt_code_file *file);
/* Bytes of the file; 0: it is not there. */
uint64_t gt_code_file_bytes(const struct gt_code_file *file);

/* By the symbol table. NULL: it has none there. Valid until gt_code_files_destroy(). */
const char *gt_code_file_symbol(const struct gt_code_file *file, uint64_t address);

/**
 * gt_code_file_find() - the functions at an address, innermost first, by all that there is
 * The last one is named by the symbol table, which says more than debug information of a part that
 * a compiler has split off. This may take long where debug information is large.
 * Return: how many; 0: nothing is known. Texts are valid until gt_code_files_destroy().
 */
size_t gt_code_file_find(struct gt_code_file *file, uint64_t address,
			 struct gt_frame_name list[GT_FRAME_NAMES_MOST]);

#endif
