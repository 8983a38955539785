/* SPDX-License-Identifier: MIT */
/* Finds functions at addresses in code files, from symbol tables and debug information of the
 * mapped files, if they still exist with the same build id. Each file is read once, even if several
 * processes mapped it. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_CODE_FILES_H
#define GPUTAP_ANALYSIS_SYMBOLS_CODE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/callstacks.h"
#include "capture/frame_names.h"

/* CPython's function that evaluates frames. Compilers append suffixes to this name. */
#define GT_PYTHON_EVALUATION "_PyEval_EvalFrameDefault"

struct gt_code_files;
struct gt_code_file;

/* Create an empty set of files. Return NULL if out of memory. */
struct gt_code_files *gt_code_files_create(void);
void gt_code_files_destroy(struct gt_code_files *files);

/* Return the file of a module. Return NULL if out of memory. */
struct gt_code_file *gt_code_file_get(struct gt_code_files *files, const struct gt_code_info *code);
/* Return true if the file exists and is the one that was mapped. */
bool gt_code_file_is_there(const struct gt_code_file *file);
/* Return true if the file is a Python interpreter. If the file does not exist, its name decides. */
bool gt_code_file_is_interpreter(const struct gt_code_file *file);
/* Return the size of the file; 0: the file does not exist. */
uint64_t gt_code_file_bytes(const struct gt_code_file *file);

/* Look up an address in the symbol table. The name is valid until gt_code_files_destroy(). Return
 * NULL: no symbol at @address. */
const char *gt_code_file_symbol(const struct gt_code_file *file, uint64_t address);

/**
 * gt_code_file_find() - find the functions at an address, innermost first, from all sources
 * The name of the outermost function comes from the symbol table, which is more precise than debug
 * information if a compiler split off a part of the function. The search takes long if the debug
 * information is large.
 * Return: number of functions; 0: nothing is known. Texts are valid until gt_code_files_destroy().
 */
size_t gt_code_file_find(struct gt_code_file *file, uint64_t address,
			 struct gt_frame_name list[GT_FRAME_NAMES_MOST]);

#endif
