/* SPDX-License-Identifier: MIT */
/* See name_frames.h. */
#include "analysis/symbols/name_frames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/symbols/bounded_lines.h"
#include "analysis/symbols/code_files.h"
#include "analysis/symbols/jit_map.h"
#include "capture/callstacks.h"
#include "capture/frame_names.h"
#include "record/record.h"
#include "util/error.h"
#include "util/grow.h"

enum { TABLE_LEAST = 1024, EACH = 256 };
/* time after the end of a process until which its map may still be written */
static const uint64_t MAP_LATE_NS = 2000000000;

/* A frame that has no name yet: an address in one generation of a process's modules. */
struct wanted {
	uint32_t process, generation; /* process and generation of the stack */
	uint64_t pc;
	const struct gt_code_info *code; /* NULL: not in a module */
	struct gt_code_file *file;       /* NULL: the file does not exist */
	const char *symbol;
	char *jit; /* owned */
	/* shared by all frames with the same address in a file; may be NULL */
	const struct gt_line_request *request;
};

struct naming {
	struct gt_capture *capture;
	struct gt_code_files *files;
	struct wanted *list;
	size_t count, room;
	uint32_t *table; /* hash table: index in the list + 1 */
	size_t table_room;
	struct gt_line_request *requests;
	size_t request_count;
	const struct gt_naming_options *options;
	struct gt_naming *result;
};

static int no_memory(void)
{
	return gt_error(-ENOMEM, "cannot store the names of frames");
}

static void show_progress(struct naming *n, uint64_t done, uint64_t total)
{
	if (n->options->progress)
		n->options->progress(n->options->data, done, total);
}

/* Choice of frames ------------------------------------------------------------------------ */

static uint64_t hash_frame(uint32_t process, uint32_t generation, uint64_t pc)
{
	uint64_t h = (pc ^ ((uint64_t)process << 32 | generation) * UINT64_C(0x9e3779b97f4a7c15)) *
		     UINT64_C(0xbf58476d1ce4e5b9);

	return h ^ h >> 31;
}

static bool grow_table(struct naming *n)
{
	size_t room = n->table_room ? 2 * n->table_room : TABLE_LEAST;
	uint32_t *table = calloc(room, sizeof *table);

	if (!table)
		return false;
	for (size_t i = 0; i < n->count; i++) {
		const struct wanted *w = &n->list[i];
		size_t at = hash_frame(w->process, w->generation, w->pc) & (room - 1);

		while (table[at])
			at = (at + 1) & (room - 1);
		table[at] = (uint32_t)i + 1;
	}
	free(n->table);
	n->table = table;
	n->table_room = room;
	return true;
}

static int add_frame(struct naming *n, uint32_t process, uint32_t generation, uint64_t pc)
{
	struct wanted *more;
	size_t at;

	if (2 * n->count >= n->table_room && !grow_table(n))
		return no_memory();
	at = hash_frame(process, generation, pc) & (n->table_room - 1);
	for (; n->table[at]; at = (at + 1) & (n->table_room - 1)) {
		const struct wanted *w = &n->list[n->table[at] - 1];

		if (w->pc == pc && w->process == process && w->generation == generation)
			return 0;
	}
	more = gt_grow(n->list, n->count, &n->room, sizeof *more);
	if (!more)
		return no_memory();
	n->list = more;
	n->list[n->count] = (struct wanted){.process = process,
					    .generation = generation,
					    .pc = pc,
					    .code = gt_capture_module_find(n->capture, process,
									   generation, pc)};
	n->table[at] = (uint32_t)++n->count;
	return 0;
}

static int collect_frames(struct naming *n)
{
	int status = 0;

	for (size_t i = 0; i < gt_capture_stack_count(n->capture) && !status; i++) {
		const struct gt_stack_info *s = gt_capture_stack_at(n->capture, i);

		for (uint32_t k = 0; k < s->native && !status; k++)
			status = add_frame(n, s->process, s->generation, s->frames[k]);
	}
	return status;
}

static uint32_t get_generation(const struct wanted *w)
{
	return w->code ? w->code->generation : 0;
}

static bool is_ours(const struct gt_code_info *code)
{
	const char *slash = strrchr(code->name, '/');

	return !strncmp(slash ? slash + 1 : code->name, "libgputap.so", 12);
}

/* Sort by module, then address. An address that occurs in several generations of stacks is kept
 * once. */
static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (get_generation(x) != get_generation(y))
		return get_generation(x) < get_generation(y) ? -1 : 1;
	return (x->pc > y->pc) - (x->pc < y->pc);
}

/* Keep each frame that needs a name once. Frames of gputap and frames with a name are left out. */
static void choose_frames(struct naming *n)
{
	size_t kept = 0;

	if (n->count)
		qsort(n->list, n->count, sizeof *n->list, compare_wanted);
	for (size_t i = 0; i < n->count; i++) {
		const struct wanted *w = &n->list[i];

		if ((w->code && is_ours(w->code)) ||
		    (kept && !compare_wanted(&n->list[kept - 1], w)) ||
		    gt_capture_names_find(n->capture, w->process, get_generation(w), w->pc))
			continue;
		n->list[kept++] = *w;
	}
	n->count = kept;
}

/* Symbol tables --------------------------------------------------------------------------- */

static int find_symbols(struct naming *n)
{
	for (size_t i = 0; i < n->count; i++) {
		struct wanted *w = &n->list[i];
		struct gt_code_file *file;

		if (i % EACH == 0)
			show_progress(n, i, 2 * n->count);
		if (!w->code)
			continue;
		file = gt_code_file_get(n->files, w->code);
		if (!file)
			return no_memory();
		if (!gt_code_file_is_there(file))
			continue;
		w->file = file;
		w->symbol = gt_code_file_symbol(file, w->pc - w->code->base);
	}
	return 0;
}

/* Maps of JIT compilers -------------------------------------------------------------------- */

static struct gt_jit_map_time get_map_time(const struct naming *n, uint32_t process)
{
	const struct gt_process_info *p = gt_capture_process(n->capture, process);
	const struct gt_session_info *s = &gt_capture_session_at(n->capture, 0)->info;
	struct gt_jit_map_time t = {s->start_realtime_ns, UINT64_MAX};

	if (p->ended && p->end_ns > s->start_ns)
		t.last_ns = s->start_realtime_ns + (p->end_ns - s->start_ns) + MAP_LATE_NS;
	return t;
}

/* Read the map of one process for @count frames with ascending addresses. */
static int read_map(const struct naming *n, struct wanted *list, size_t count)
{
	uint64_t *addresses = calloc(count, sizeof *addresses);
	char **names = calloc(count, sizeof *names), path[64];

	for (size_t i = 0; addresses && i < count; i++)
		addresses[i] = list[i].pc;
	snprintf(path, sizeof path, "/tmp/perf-%u.map",
		 gt_capture_process(n->capture, list->process)->pid);
	if (addresses && names)
		gt_jit_map_read(path, geteuid(), get_map_time(n, list->process), addresses, names,
				count);
	for (size_t i = 0; names && i < count; i++)
		list[i].jit = names[i];
	free(names);
	free(addresses);
	return addresses && names ? 0 : no_memory();
}

/* Look up frames in maps of JIT compilers. Frames outside all modules have generation 0, which
 * other frames may have too. */
static int find_jit(struct naming *n)
{
	struct wanted *list = calloc(n->count + 1, sizeof *list);
	size_t count = 0, i = 0, k;
	int status = 0;

	if (!list)
		return no_memory();
	for (size_t from = 0; from < n->count && !status; from = i) {
		for (i = from, count = 0;
		     i < n->count && n->list[i].process == n->list[from].process; i++)
			if (!n->list[i].code)
				list[count++] = n->list[i];
		if (count)
			status = read_map(n, list, count);
		for (i = from, k = 0; i < n->count && n->list[i].process == n->list[from].process;
		     i++)
			if (!n->list[i].code)
				n->list[i].jit = list[k++].jit;
	}
	free(list);
	return status;
}

/* Lines ------------------------------------------------------------------------------------ */

/* Sort small files first, because small files yield most results per time. */
static int compare_requests(const void *a, const void *b)
{
	const struct gt_line_request *x = a, *y = b;
	uint64_t bytes, other;

	if (x->file != y->file) {
		bytes = gt_code_file_bytes(x->file);
		other = gt_code_file_bytes(y->file);
		if (bytes != other)
			return bytes < other ? -1 : 1;
		return x->file < y->file ? -1 : 1;
	}
	return (x->address > y->address) - (x->address < y->address);
}

static void on_line(void *data, uint64_t done)
{
	struct naming *n = data;

	show_progress(n, n->count + done * n->count / n->request_count, 2 * n->count);
}

static int find_lines(struct naming *n)
{
	size_t count = 0;

	n->requests = calloc(n->count + 1, sizeof *n->requests);
	if (!n->requests)
		return no_memory();
	for (size_t i = 0; i < n->count; i++)
		if (n->list[i].file)
			n->requests[count++] =
				(struct gt_line_request){.file = n->list[i].file,
							 .address = n->list[i].pc -
								    n->list[i].code->base};
	if (!count)
		return 0;
	qsort(n->requests, count, sizeof *n->requests, compare_requests);
	for (size_t i = 0; i < count; i++)
		if (!i || compare_requests(&n->requests[i], &n->requests[n->request_count - 1]))
			n->requests[n->request_count++] = n->requests[i];
	n->result->end =
		gt_bounded_lines(n->requests, n->request_count, n->options->lines_ns, on_line, n);
	for (size_t i = 0; i < n->count; i++) {
		struct wanted *w = &n->list[i];
		const struct gt_line_request key = {
			.file = w->file,
			.address = w->file ? w->pc - w->code->base : 0,
		};

		if (w->file)
			w->request = bsearch(&key, n->requests, n->request_count,
					     sizeof *n->requests, compare_requests);
		n->result->without_line += w->file && !(w->request && w->request->text);
	}
	return 0;
}

/* Writing to the capture ------------------------------------------------------------------ */

static int append_frame(struct naming *n, struct gt_names_append *to, const struct wanted *w)
{
	const struct gt_line_request *r = w->request && w->request->text ? w->request : NULL;
	struct gt_names_info known = {.bytes = r ? r->bytes : 0, .text = r ? r->text : ""};
	struct gt_frame_name list[GT_FRAME_NAMES_MOST];
	size_t count = gt_names_unpack(&known, list);
	uint32_t flags = r ? GT_NAMES_LINES : 0;

	if (!w->file && !w->jit)
		return 0;
	if (w->file && gt_code_file_is_interpreter(w->file))
		flags |= GT_NAMES_INTERPRETER;
	if (w->jit)
		flags |= GT_NAMES_JIT;
	if (!count && (w->symbol || w->jit))
		list[count++] = (struct gt_frame_name){w->jit ? w->jit : w->symbol, NULL, 0};
	n->result->named += count > 0;
	return gt_names_append(to, w->process, get_generation(w), w->pc, flags, list, count);
}

static int append_all(struct naming *n)
{
	struct gt_names_append *to;
	int status = gt_names_begin(n->capture, &to);

	if (status)
		return status;
	for (size_t i = 0; i < n->count && !status; i++)
		status = append_frame(n, to, &n->list[i]);
	if (!status)
		return gt_names_end(to);
	gt_names_cancel(to);
	return status;
}

static int name_all(struct naming *n)
{
	int status;

	n->files = gt_code_files_create();
	if (!n->files)
		return no_memory();
	status = collect_frames(n);
	if (status)
		return status;
	choose_frames(n);
	n->result->frames = n->count;
	if (!n->count)
		return 0;
	if ((status = find_symbols(n)) || (status = find_jit(n)) || (status = find_lines(n)))
		return status;
	return append_all(n);
}

/* Return false if the capture was recorded with `gputap run --stacks=no-names`. `gputap recover`
 * learns this only from the capture. */
static bool is_wanted(const struct gt_capture *c)
{
	const char *option = strstr(gt_capture_session_at(c, 0)->info.options, " stacks=");
	const char *no = option ? strstr(option, ",no-names") : NULL;

	return !no || no > option + 1 + strcspn(option + 1, " ");
}

int gt_name_frames(const char *path, const struct gt_naming_options *options,
		   struct gt_naming *result)
{
	struct naming n = {.options = options, .result = result};
	int status = gt_capture_open(path, &n.capture);

	*result = (struct gt_naming){0};
	if (status)
		return status;
	if (gt_capture_stack_count(n.capture) && is_wanted(n.capture))
		status = name_all(&n);
	for (size_t i = 0; i < n.count; i++)
		free(n.list[i].jit);
	for (size_t i = 0; i < n.request_count; i++)
		free(n.requests[i].text);
	free(n.requests);
	free(n.list);
	free(n.table);
	gt_code_files_destroy(n.files);
	gt_capture_close(n.capture);
	return status;
}
