/* SPDX-License-Identifier: MIT */
/* See dwarf_lines.h. libdw's interface has been stable since 2005. The parts used here are declared
 * in this file, so that libdw is not required to build or run. */
#include "analysis/symbols/dwarf_lines.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Copied from elfutils' libdwfl.h, libdw.h and dwarf.h. */
struct callbacks {
	void *find_elf, *find_debuginfo, *section_address;
	char **debuginfo_path;
};
struct die {
	void *at, *unit, *abbreviation;
	long padding;
};
struct attribute {
	unsigned code, form;
	unsigned char *value;
	void *unit;
};
enum {
	TAG_SUBPROGRAM = 0x2e,
	TAG_INLINED = 0x1d,
	ATTRIBUTE_CALL_FILE = 0x58,
	ATTRIBUTE_CALL_LINE = 0x59,
	ATTRIBUTE_LINKAGE_NAME = 0x6e,
};

#define FUNCTIONS(X)                                                                               \
	X(void *, dwfl_begin, (const struct callbacks *))                                          \
	X(void, dwfl_end, (void *))                                                                \
	X(void *, dwfl_report_offline, (void *, const char *, const char *, int))                  \
	X(int, dwfl_report_end, (void *, void *, void *))                                          \
	X(void *, dwfl_module_getdwarf, (void *, uint64_t *))                                      \
	X(void *, dwfl_module_getelf, (void *, uint64_t *))                                        \
	X(void *, dwfl_module_getsrc, (void *, uint64_t))                                          \
	X(const char *, dwfl_lineinfo, (void *, uint64_t *, int *, int *, uint64_t *, uint64_t *)) \
	X(struct die *, dwfl_module_addrdie, (void *, uint64_t, uint64_t *))                       \
	X(int, dwarf_getscopes, (struct die *, uint64_t, struct die **))                           \
	X(int, dwarf_getscopes_die, (struct die *, struct die **))                                 \
	X(uint64_t, dwarf_dieoffset, (struct die *))                                               \
	X(struct die *, dwarf_offdie, (void *, uint64_t, struct die *))                            \
	X(int, dwarf_tag, (struct die *))                                                          \
	X(const char *, dwarf_diename, (struct die *))                                             \
	X(struct attribute *, dwarf_attr, (struct die *, unsigned, struct attribute *))            \
	X(struct attribute *, dwarf_attr_integrate, (struct die *, unsigned, struct attribute *))  \
	X(const char *, dwarf_formstring, (struct attribute *))                                    \
	X(int, dwarf_formudata, (struct attribute *, uint64_t *))                                  \
	X(int, dwarf_getsrcfiles, (struct die *, void **, size_t *))                               \
	X(const char *, dwarf_filesrc, (void *, size_t, uint64_t *, uint64_t *))

static struct {
	bool looked, is_there;
#define X(ret, name, parameters) ret(*name) parameters;
	FUNCTIONS(X)
#undef X
	struct callbacks callbacks;
} dw;

bool gt_dwarf_lines_are_there(void)
{
	void *library;
	bool all = true;

	if (dw.looked)
		return dw.is_there;
	dw.looked = true;
	library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
#define X(ret, name, parameters)                    \
	*(void **)&dw.name = dlsym(library, #name); \
	all &= dw.name != NULL;
	FUNCTIONS(X)
#undef X
	dw.callbacks.find_elf = dlsym(library, "dwfl_build_id_find_elf");
	dw.callbacks.find_debuginfo = dlsym(library, "dwfl_standard_find_debuginfo");
	dw.callbacks.section_address = dlsym(library, "dwfl_offline_section_address");
	dw.is_there = all && dw.callbacks.find_elf && dw.callbacks.find_debuginfo &&
		      dw.callbacks.section_address;
	/* Keep libdw from querying a debuginfod server. */
	unsetenv("DEBUGINFOD_URLS");
	return dw.is_there;
}

struct gt_dwarf_lines {
	void *session, *module, *dwarf;
	uint64_t bias; /* libdw's address minus the address in the file */
};

struct gt_dwarf_lines *gt_dwarf_lines_open(const char *path)
{
	struct gt_dwarf_lines *d;
	uint64_t bias;

	if (!gt_dwarf_lines_are_there())
		return NULL;
	d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->session = dw.dwfl_begin(&dw.callbacks);
	if (d->session)
		d->module = dw.dwfl_report_offline(d->session, "", path, -1);
	if (d->module && dw.dwfl_report_end(d->session, NULL, NULL) == 0 &&
	    dw.dwfl_module_getelf(d->module, &d->bias))
		d->dwarf = dw.dwfl_module_getdwarf(d->module, &bias);
	if (d->dwarf)
		return d;
	gt_dwarf_lines_close(d);
	return NULL;
}

void gt_dwarf_lines_close(struct gt_dwarf_lines *d)
{
	if (!d)
		return;
	if (d->session)
		dw.dwfl_end(d->session);
	free(d);
}

static const char *name_of(struct die *die)
{
	struct attribute a;
	const char *linked = dw.dwarf_attr_integrate(die, ATTRIBUTE_LINKAGE_NAME, &a)
				     ? dw.dwarf_formstring(&a)
				     : NULL;

	return linked ? linked : dw.dwarf_diename(die);
}

static uint64_t number_of(struct die *die, unsigned code)
{
	struct attribute a;
	uint64_t value = 0;

	if (!dw.dwarf_attr(die, code, &a) || dw.dwarf_formudata(&a, &value) != 0)
		return 0;
	return value;
}

/* Set the line of the enclosing function to the line where the inlined function was called. */
static void put_call(struct gt_frame_name *caller, struct die *unit, struct die *inlined)
{
	void *files;
	size_t count;
	uint64_t file = number_of(inlined, ATTRIBUTE_CALL_FILE);

	caller->line = (uint32_t)number_of(inlined, ATTRIBUTE_CALL_LINE);
	if (dw.dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
		caller->file = dw.dwarf_filesrc(files, file, NULL, NULL);
}

/* Find the scopes around the innermost scope at an address. The caller frees them. */
static int find_scopes(const struct gt_dwarf_lines *d, struct die *unit, uint64_t address,
		       struct die **scopes)
{
	struct die innermost;
	int count = dw.dwarf_getscopes(unit, address, scopes);
	bool found;

	if (count <= 0)
		return 0;
	found = dw.dwarf_offdie(d->dwarf, dw.dwarf_dieoffset(*scopes), &innermost) != NULL;
	free(*scopes);
	*scopes = NULL;
	count = found ? dw.dwarf_getscopes_die(&innermost, scopes) : 0;
	return count > 0 ? count : 0;
}

size_t gt_dwarf_lines_find(const struct gt_dwarf_lines *d, uint64_t address,
			   struct gt_frame_name *frames, size_t most)
{
	uint64_t bias = 0;
	void *line = dw.dwfl_module_getsrc(d->module, address + d->bias);
	struct die *unit = dw.dwfl_module_addrdie(d->module, address + d->bias, &bias),
		   *scopes = NULL;
	size_t count = 0;
	int number = 0, scope_count;

	frames[0] = (struct gt_frame_name){0};
	if (line) {
		frames[0].file = dw.dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
		frames[0].line = number > 0 ? (uint32_t)number : 0;
	}
	scope_count = unit ? find_scopes(d, unit, address + d->bias - bias, &scopes) : 0;
	for (int i = 0; i < scope_count && count < most; i++) {
		const int tag = dw.dwarf_tag(&scopes[i]);

		if (tag != TAG_INLINED && tag != TAG_SUBPROGRAM)
			continue;
		frames[count++].function = name_of(&scopes[i]);
		if (tag == TAG_SUBPROGRAM || count == most)
			break;
		frames[count] = (struct gt_frame_name){0};
		put_call(&frames[count], unit, &scopes[i]);
	}
	free(scopes);
	return count ? count : line != NULL;
}
