/* SPDX-License-Identifier: MIT */
/* RPD files (.rpd, .db): a SQLite database as rocmProfileData's tools read it, of schema 3 and, by the one rule
 * that text ids of names and arguments come from one sequence and arguments stand in both text tables, of schema 2.
 *
 * Two passes over the capture. The first writes the calls: a call's row number is the row number of its thread's
 * run plus its count within it (struct run), so that the second pass, which writes device work, finds the row of
 * any call in a few kilobytes. Work whose call is not in the capture gets a row of its own to hang on: RPD's tools
 * delete work without one. Rows go into the file as b-tree pages (bulk.h), index entries too, after a sort on the
 * side (sorter.h); SQLite makes the empty tables at the beginning and fills small ones at the end.
 *
 * Names and arguments are made harmless (no quotes, backslashes, control characters, broken UTF-8): RPD's tools
 * print them into JSON as they are. Times are CLOCK_BOOTTIME ns. */
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/bulk.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/map.h"
#include "export/number.h"
#include "export/rpd_schema.h"
#include "export/sorter.h"
#include "export/text.h"
#include "export/view.h"
#include "util/error.h"

enum {
	EMPTY_TEXT = 1,       /* id of '' in both text tables: RPD's importer looks for it there */
	ARGS_SLOTS = 1 << 14, /* of the cache of argument texts */
	ARGS_KEY_BYTES = 240, /* longer ones are not kept */
	ARGS_ROOM = 16384,    /* for one text before it is cut */
	RUN_GAP = 64,         /* calls missing in a run before a new one begins */
	SMALL_CAPTURE = 8 << 20,
	TEXT_SORT_BYTES = 64 << 20, /* memory of the sorters, for captures that are not small */
	LINK_SORT_BYTES = 16 << 20,
	SMALL_SORT_BYTES = 2 << 20,
	HEX_BYTES = 19,
};

/* Calls of one thread, one after the other: count `seq + i` has row `row + i`. */
struct run {
	uint32_t process, ordinal;
	uint64_t seq, span;
	int64_t row;
};

/* What is remembered of a call's row, 4 bits each. */
enum { CALL_THERE = 1, CALL_BLOCKS = 2, CALL_HAS_KERNEL = 4, CALL_HAS_COPY = 8 };

struct marker { uint64_t value, start_ns; };

/* The view's `own` of a thread: external ids that are pushed. */
struct thread_own {
	struct { struct marker *stack; uint32_t depth, capacity; } external[GT_EXTERNAL_STACK_COUNT];
	uint64_t last_ns;
};

struct operation_own { int64_t name, category; int blocking_arg; };
struct queue_own { char handle[HEX_BYTES]; };

/* A call's operation, result, arguments and payload as they are, and the id of their text. */
struct args_slot {
	int64_t id;
	uint32_t bytes;
	uint8_t key[ARGS_KEY_BYTES];
};

struct rpd {
	struct gt_view view;
	struct gt_bulk *db;
	struct gt_bulk_tree *string, *ustring, *api, *copyapi, *kernelapi, *op, *api_ops;
	struct gt_bulk_tree *ops_by_op;
	struct gt_sorter *texts_sorted, *links_sorted, *kernels_sorted, *copies_sorted; /* become indexes */
	struct gt_bulk_row row;
	struct gt_map texts;       /* two hashes of a name -> index into text_ids */
	int64_t *text_ids;
	size_t text_count, text_capacity;
	int64_t next_string, next_api, next_op;
	struct run *runs;
	size_t run_count, run_capacity, last_run;
	uint8_t *flags;            /* CALL_*, two rows a byte */
	size_t flags_bytes;
	struct gt_map unseen;      /* process, call id -> row - first_unseen, for calls that are not in the capture */
	int64_t first_unseen;
	struct args_slot *args;
	char *text;                /* ARGS_ROOM and some, and again for the clean copy */
	int64_t domain_ids[GT_DOMAIN_COUNT], type_ids[GT_DEVICE_OP_COUNT], task_id, marker_id, unseen_id;
	uint64_t untimed;          /* device work without times: has no row */
	int status;
};

static int no_memory(struct rpd *r)
{
	if (!r->status)
		r->status = gt_error(-ENOMEM, "export");
	return r->status;
}

/* Room for one more element. Return: the array, which may have moved, or NULL. */
static void *grow(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
	size_t bigger = *capacity ? *capacity * 2 : 64;
	void *moved;

	if (count < *capacity)
		return array;
	moved = realloc(array, bigger * element_bytes);
	if (moved)
		*capacity = bigger;
	return moved;
}

/* Texts ---------------------------------------------------------------------- */

/* Copy @text without what RPD's tools would print into JSON unescaped. Room: 3 bytes for each of @bytes. */
static char *put_clean(char *p, const char *text, size_t bytes)
{
	const char *end = text + bytes;

	while (text < end) {
		unsigned char c = (unsigned char)*text;
		unsigned n;

		if (c >= 0x80) {
			n = gt_utf8_length((const unsigned char *)text, (size_t)(end - text));
			p = n ? gt_put(p, text, n) : gt_put(p, "\xef\xbf\xbd", 3);
			text += n ? n : 1;
			continue;
		}
		*p++ = c < 0x20 || c == 0x7f ? ' ' : c == '"' ? '\'' : c == '\\' ? '/' : (char)c;
		text++;
	}
	return p;
}

/* At most GT_BULK_TEXT_BYTES, and no character cut in two. */
static size_t cut_text(const char *text, size_t bytes)
{
	if (bytes <= GT_BULK_TEXT_BYTES)
		return bytes;
	bytes = GT_BULK_TEXT_BYTES;
	while (bytes && ((unsigned char)text[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

static void note(struct rpd *r, int status)
{
	if (status && !r->status)
		r->status = status;
}

/* Names stand in rocpd_string, arguments in both text tables. */
static void add_text(struct rpd *r, int64_t id, const char *text, size_t bytes, bool argument)
{
	gt_bulk_begin(&r->row);
	gt_bulk_null(&r->row);
	gt_bulk_text(&r->row, text, bytes);
	gt_bulk_add(r->string, id, &r->row);
	if (argument)
		gt_bulk_add(r->ustring, id, &r->row);
	note(r, gt_sorter_add(r->texts_sorted, text, bytes, (uint64_t)id << 1 | argument));
}

/* An entry of an index by a row number of rocpd_api. */
static void add_link(struct rpd *r, struct gt_sorter *index, int64_t api, int64_t id)
{
	uint64_t big = __builtin_bswap64((uint64_t)api);

	note(r, gt_sorter_add(index, &big, sizeof big, (uint64_t)id));
}

static uint64_t hash_text(const char *text, size_t bytes, uint64_t seed)
{
	uint64_t h = seed ^ bytes * 0x9e3779b97f4a7c15u, word;

	for (; bytes >= 8; text += 8, bytes -= 8) {
		memcpy(&word, text, 8);
		h = (h ^ word) * 0xbf58476d1ce4e5b9u;
		h ^= h >> 29;
	}
	word = 0;
	memcpy(&word, text, bytes);
	h = (h ^ word) * 0x94d049bb133111ebu;
	return h ^ h >> 32;
}

/* Id of a name; names are few and written once. */
static int64_t name_id(struct rpd *r, const char *name)
{
	size_t bytes = strlen(name);
	char *clean = r->text;
	int64_t found;
	uint64_t a, b;

	bytes = cut_text(clean, (size_t)(put_clean(clean, name, bytes < ARGS_ROOM ? bytes : ARGS_ROOM) - clean));
	a = hash_text(clean, bytes, 1);
	b = hash_text(clean, bytes, 2);
	found = gt_map_find(&r->texts, a, b);
	if (found >= 0)
		return r->text_ids[found];
	r->text_ids = grow(r->text_ids, r->text_count, &r->text_capacity, sizeof *r->text_ids);
	if (!r->text_ids || gt_map_add(&r->texts, a, b, (uint32_t)r->text_count) < 0) {
		no_memory(r);
		return EMPTY_TEXT;
	}
	r->text_ids[r->text_count++] = r->next_string;
	add_text(r, r->next_string, clean, bytes, !bytes); /* '' is an argument too */
	return r->next_string++;
}

/* "name=value | name=value", clean. Return: the end. */
static char *put_args(struct rpd *r, char *p, const struct gt_item *item, const struct gt_view_operation *operation)
{
	const struct gt_operation_info *info = operation->info;
	char *end = r->text + ARGS_ROOM, value[4096], *start = p;
	int32_t status;

	for (unsigned i = 0; i < operation->nargs && p < end - 256; i++) {
		size_t n = strlen(info->args[i].name);
		struct gt_view_text *word;

		if (p != start)
			p = GT_PUT(p, " | ");
		p = gt_put(p, info->args[i].name, n < 64 ? n : 64);
		*p++ = '=';
		switch (info->args[i].form) {
		case GT_FORM_UNSIGNED:
			p = gt_put_u64(p, item->args[i]);
			continue;
		case GT_FORM_SIGNED:
			p = gt_put_i64(p, (int64_t)item->args[i]);
			continue;
		case GT_FORM_ADDRESS:
			p = gt_put_hex(GT_PUT(p, "0x"), item->args[i]);
			continue;
		case GT_FORM_NAMED:
			word = gt_view_word(&r->view, item->op, i, item->args);
			if (word && word->bytes < (size_t)(end - p) / 3) {
				p = put_clean(p, word->text, word->bytes);
				continue;
			}
			break;
		default:
			break;
		}
		n = gt_format_arg(value, sizeof value, item->op, i, item->args, item->payload, item->payload_bytes);
		if (n >= sizeof value)
			n = sizeof value - 1;
		if (n > (size_t)(end - p) / 3)
			n = (size_t)(end - p) / 3;
		p = put_clean(p, value, n);
	}
	if (gt_call_status(item->op, item->ret, item->args, &status) && status < 0) {
		const char *name = gt_status_name(GT_OP_DOMAIN(item->op), status);

		p = GT_PUT(p, " | status=");
		p = name ? gt_put(p, name, strlen(name)) : gt_put_i64(p, status);
	}
	return p;
}

/* Id of a call's arguments as text, in both text tables. The text depends on nothing but the key, and programs
 * repeat themselves: a cache by the key saves most of the making, the writing and the space. */
static int64_t args_id(struct rpd *r, const struct gt_item *item, const struct gt_view_operation *operation)
{
	uint8_t key[ARGS_KEY_BYTES];
	uint32_t words = GT_OP_NARGS(item->op), bytes = 16 + words * 8;
	struct args_slot *slot = NULL;
	char *text = r->text;
	size_t length;
	int64_t id;

	if (!item->args || !operation->info)
		return EMPTY_TEXT;
	if (bytes + item->payload_bytes <= sizeof key) {
		uint64_t op = item->op;

		memcpy(key, &op, 8);
		memcpy(key + 8, &item->ret, 8);
		memcpy(key + 16, item->args, words * 8);
		if (item->payload_bytes)
			memcpy(key + bytes, item->payload, item->payload_bytes);
		bytes += item->payload_bytes;
		slot = &r->args[hash_text((char *)key, bytes, 0) % ARGS_SLOTS];
		if (slot->bytes == bytes && !memcmp(slot->key, key, bytes))
			return slot->id;
	}
	length = cut_text(text, (size_t)(put_args(r, text, item, operation) - text));
	if (!length)
		return EMPTY_TEXT;
	id = r->next_string++;
	add_text(r, id, text, length, true);
	if (slot) {
		slot->id = id;
		slot->bytes = bytes;
		memcpy(slot->key, key, bytes);
	}
	return id;
}

/* Calls ---------------------------------------------------------------------- */

static unsigned get_flags(const struct rpd *r, int64_t row)
{
	return (size_t)row / 2 < r->flags_bytes ? r->flags[row / 2] >> (row % 2 * 4) & 15u : 0;
}

static void set_flags(struct rpd *r, int64_t row, unsigned flags)
{
	size_t byte = (size_t)row / 2;

	if (byte >= r->flags_bytes) {
		size_t bigger = byte + byte / 2 + 4096;
		uint8_t *moved = realloc(r->flags, bigger);

		if (!moved) {
			no_memory(r);
			return;
		}
		memset(moved + r->flags_bytes, 0, bigger - r->flags_bytes);
		r->flags = moved;
		r->flags_bytes = bigger;
	}
	r->flags[byte] |= (uint8_t)(flags << (row % 2 * 4));
}

/* The row number of a call that comes now. */
static int64_t take_row(struct rpd *r, const struct gt_item *call)
{
	struct run *run = r->run_count ? &r->runs[r->run_count - 1] : NULL;
	uint64_t seq = GT_ID_SEQ(call->id);

	if (!run || run->process != call->process || run->ordinal != call->ordinal || seq < run->seq + run->span ||
	    seq - (run->seq + run->span) > RUN_GAP || r->next_api != run->row + (int64_t)run->span) {
		struct run *moved = grow(r->runs, r->run_count, &r->run_capacity, sizeof *r->runs);

		if (!moved) {
			no_memory(r);
			return 0;
		}
		r->runs = moved;
		run = &r->runs[r->run_count++];
		*run = (struct run){call->process, call->ordinal, seq, 0, r->next_api};
	}
	run->span = seq - run->seq + 1;
	r->next_api = run->row + (int64_t)run->span;
	return r->next_api - 1;
}

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The row of a call, after the runs were sorted. 0: it is not in the capture. */
static int64_t find_row(struct rpd *r, uint32_t process, uint64_t id)
{
	struct run key = {process, GT_ID_ORDINAL(id), GT_ID_SEQ(id), 0, 0};
	size_t low = 0, high = r->run_count;
	int64_t row;

	if (r->last_run < r->run_count && compare_runs(&r->runs[r->last_run], &key) <= 0 &&
	    (r->last_run + 1 == r->run_count || compare_runs(&key, &r->runs[r->last_run + 1]) < 0)) {
		low = r->last_run + 1;
		high = low;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_runs(&r->runs[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	r->last_run = --low;
	if (r->runs[low].process != process || r->runs[low].ordinal != key.ordinal || key.seq - r->runs[low].seq >= r->runs[low].span)
		return 0;
	row = r->runs[low].row + (int64_t)(key.seq - r->runs[low].seq);
	return get_flags(r, row) & CALL_THERE ? row : 0;
}

struct api_row {
	int64_t id, pid, tid;
	uint64_t start_ns, end_ns;
	int64_t name, category, domain, args;
};

static void add_api(struct rpd *r, const struct api_row *api)
{
	struct gt_bulk_row *row = &r->row;

	gt_bulk_begin(row);
	gt_bulk_null(row);
	gt_bulk_int(row, api->pid);
	gt_bulk_int(row, api->tid);
	gt_bulk_int(row, (int64_t)api->start_ns);
	gt_bulk_int(row, (int64_t)(api->end_ns > api->start_ns ? api->end_ns : api->start_ns));
	gt_bulk_int(row, api->name);
	gt_bulk_int(row, api->category);
	gt_bulk_int(row, api->domain);
	gt_bulk_int(row, api->args);
	gt_bulk_add(r->api, api->id, row);
}

static struct operation_own *operation_own(struct rpd *r, struct gt_view_operation *operation)
{
	struct operation_own *own = operation->own;

	if (own)
		return own;
	operation->own = own = malloc(sizeof *own);
	if (!own) {
		no_memory(r);
		return NULL;
	}
	own->name = name_id(r, operation->name);
	own->category = name_id(r, operation->info ? gt_operation_kind_name(operation->info->kind) : "");
	own->blocking_arg = -1;
	for (int i = 0; i < operation->nargs; i++)
		if (!strncmp(operation->info->args[i].name, "blocking", 8))
			own->blocking_arg = i;
	return own;
}

static struct thread_own *thread_own(struct rpd *r, struct gt_view_thread *thread)
{
	if (!thread->own && !(thread->own = calloc(1, sizeof(struct thread_own))))
		no_memory(r);
	return thread->own;
}

static int64_t domain_id(struct rpd *r, uint32_t domain)
{
	if (domain >= GT_DOMAIN_COUNT)
		domain = GT_DOMAIN_NONE;
	if (!r->domain_ids[domain])
		r->domain_ids[domain] = name_id(r, gt_domain_name(domain));
	return r->domain_ids[domain];
}

static void add_call(struct rpd *r, const struct gt_item *item)
{
	struct gt_view_thread *thread = gt_view_thread(&r->view, item->process, item->ordinal);
	struct gt_view_operation *operation = gt_view_operation(&r->view, item->op);
	struct operation_own *own;
	struct thread_own *mine;
	struct api_row api;
	int64_t args;

	if (!thread || !operation || !(own = operation_own(r, operation)) || !(mine = thread_own(r, thread))) {
		r->status = r->status ? r->status : -ENOMEM;
		return;
	}
	args = args_id(r, item, operation);
	api = (struct api_row){take_row(r, item), thread->pid, thread->tid, item->start_ns, item->end_ns, own->name, own->category,
			       domain_id(r, GT_OP_DOMAIN(item->op)), args};
	add_api(r, &api);
	set_flags(r, api.id, own->blocking_arg >= 0 && item->args && item->args[own->blocking_arg] ? CALL_THERE | CALL_BLOCKS :
												      CALL_THERE);
	if (item->end_ns > mine->last_ns)
		mine->last_ns = item->end_ns;
}

/* External ids ---------------------------------------------------------------- */

/* A range of the user's or the framework's, as RPD has them: an api row named UserMarker. */
static void add_marker(struct rpd *r, const struct gt_view_thread *thread, enum gt_external_stack stack, struct marker m,
		       uint64_t end_ns)
{
	struct api_row api = {r->next_api++, thread->pid, thread->tid, m.start_ns, end_ns, r->marker_id, EMPTY_TEXT, r->marker_id,
			      r->next_string++};
	char *text = r->text, *p = text;

	p = stack == GT_EXTERNAL_USER ? GT_PUT(p, "user ") : GT_PUT(p, "operation ");
	p = gt_put_u64(p, m.value);
	add_text(r, api.args, text, (size_t)(p - text), true);
	add_api(r, &api);
}

static void add_external(struct rpd *r, const struct gt_item *item)
{
	struct gt_view_thread *thread = gt_view_thread(&r->view, item->process, item->ordinal);
	struct thread_own *own = thread ? thread_own(r, thread) : NULL;
	uint32_t stack = item->op;

	if (!own || stack >= GT_EXTERNAL_STACK_COUNT) {
		r->status = own ? 0 : -ENOMEM;
		return;
	}
	if (item->start_ns > own->last_ns)
		own->last_ns = item->start_ns;
	if (!item->depth) {
		/* a pop without its push is of a push from before the recording */
		if (own->external[stack].depth) {
			struct marker m = own->external[stack].stack[--own->external[stack].depth];

			add_marker(r, thread, stack, m, item->start_ns);
		}
		return;
	}
	if (own->external[stack].depth == own->external[stack].capacity) {
		uint32_t bigger = own->external[stack].capacity ? own->external[stack].capacity * 2 : 8;
		struct marker *moved = realloc(own->external[stack].stack, bigger * sizeof *moved);

		if (!moved) {
			no_memory(r);
			return;
		}
		own->external[stack].stack = moved;
		own->external[stack].capacity = bigger;
	}
	own->external[stack].stack[own->external[stack].depth++] = (struct marker){item->ret, item->start_ns};
}

/* Ranges that were never closed end with their thread's last call. */
static void close_markers(struct rpd *r)
{
	for (uint32_t i = 0; i < r->view.thread_count; i++) {
		struct gt_view_thread *thread = r->view.threads[i];
		struct thread_own *own = thread->own;

		for (unsigned stack = 0; own && stack < GT_EXTERNAL_STACK_COUNT; stack++) {
			while (own->external[stack].depth) {
				struct marker m = own->external[stack].stack[--own->external[stack].depth];

				add_marker(r, thread, stack, m, own->last_ns);
			}
			free(own->external[stack].stack);
			own->external[stack].stack = NULL;
		}
	}
}

/* Device work ------------------------------------------------------------------ */

/* RPD's words where it has them. */
static const char *type_name(enum gt_device_op op)
{
	static const char *const names[GT_DEVICE_OP_COUNT] = {
		[GT_DEVICE_KERNEL] = "KernelExecution", [GT_DEVICE_READ] = "CopyDeviceToHost", [GT_DEVICE_WRITE] = "CopyHostToDevice",
		[GT_DEVICE_COPY] = "CopyDeviceToDevice", [GT_DEVICE_FILL] = "FillBuffer", [GT_DEVICE_MAP] = "MapBuffer",
		[GT_DEVICE_UNMAP] = "UnmapBuffer", [GT_DEVICE_MIGRATE] = "MigrateBuffer", [GT_DEVICE_MARKER] = "Marker",
		[GT_DEVICE_BARRIER] = "Barrier", [GT_DEVICE_COMMAND_BUFFER] = "Task", [GT_DEVICE_NATIVE] = "NativeKernel",
		[GT_DEVICE_OTHER] = "Other",
	};

	return op < GT_DEVICE_OP_COUNT && names[op] ? names[op] : "Other";
}

static struct queue_own *queue_own(struct rpd *r, struct gt_view_queue *queue)
{
	struct queue_own *own = queue->own;

	if (own)
		return own;
	queue->own = own = malloc(sizeof *own);
	if (!own) {
		no_memory(r);
		return NULL;
	}
	*gt_put_hex(GT_PUT(own->handle, "0x"), queue->object ? queue->object->handle : 0) = '\0';
	return own;
}

/* A row for a call that the capture does not have, for its work to hang on. It has no length: so it nests. */
static int64_t add_unseen_call(struct rpd *r, const struct gt_item *work)
{
	uint32_t ordinal = work->id ? GT_ID_ORDINAL(work->id) : work->ordinal;
	struct gt_view_thread *thread = gt_view_thread(&r->view, work->process, ordinal);
	uint64_t at = work->call_start_ns ? work->call_start_ns : work->queued_ns ? work->queued_ns : work->start_ns;
	int64_t known = work->id ? gt_map_find(&r->unseen, work->process, work->id) : -1;
	struct api_row api;

	if (known >= 0)
		return r->first_unseen + known;
	if (!thread) {
		r->status = r->status ? r->status : -ENOMEM;
		return 0;
	}
	api = (struct api_row){r->next_api++, thread->pid, thread->tid, at, at, r->unseen_id, EMPTY_TEXT,
			       domain_id(r, GT_OP_DOMAIN(work->op)), EMPTY_TEXT};
	add_api(r, &api);
	set_flags(r, api.id, CALL_THERE);
	if (work->id && gt_map_add(&r->unseen, work->process, work->id, (uint32_t)(api.id - r->first_unseen)) < 0)
		no_memory(r);
	return api.id;
}

/* One row per launching call, whatever it launched: a graph goes by a name of its own. */
static void add_kernelapi(struct rpd *r, const struct gt_item *work, int64_t api, const char *stream, int64_t kernel, bool graph)
{
	struct gt_bulk_row *row = &r->row;
	int64_t id;

	if (get_flags(r, api) & CALL_HAS_KERNEL)
		return;
	set_flags(r, api, CALL_HAS_KERNEL);
	if (graph) {
		char name[64];

		snprintf(name, sizeof name, "Graph Kernel (0x%llx)", (unsigned long long)work->object[0]);
		kernel = name_id(r, name);
	}
	gt_bulk_begin(row);
	gt_bulk_int(row, api);
	gt_bulk_text(row, stream, strlen(stream));
	for (unsigned i = 0; i < 3; i++)
		gt_bulk_int(row, graph ? 0 : work->global[i]);
	for (unsigned i = 0; i < 3; i++)
		gt_bulk_int(row, graph ? 0 : work->local[i]);
	gt_bulk_int(row, 0);
	gt_bulk_int(row, 0);
	gt_bulk_int(row, kernel);
	id = (int64_t)gt_bulk_count(r->kernelapi) + 1;
	gt_bulk_add(r->kernelapi, id, row);
	add_link(r, r->kernels_sorted, api, id);
}

static void add_copyapi(struct rpd *r, const struct gt_item *work, int64_t api, const char *stream, int64_t device)
{
	enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST, DEVICE_TO_DEVICE, NO_DEVICE = -1 };
	bool reads = work->device_op == GT_DEVICE_READ, writes = work->device_op == GT_DEVICE_WRITE;
	unsigned flags = get_flags(r, api);
	struct gt_bulk_row *row = &r->row;
	char address[HEX_BYTES];
	int64_t id;

	if (flags & CALL_HAS_COPY)
		return;
	set_flags(r, api, CALL_HAS_COPY);
	gt_bulk_begin(row);
	gt_bulk_int(row, api);
	gt_bulk_text(row, stream, strlen(stream));
	gt_bulk_int(row, (int64_t)work->bytes);
	gt_bulk_int(row, work->global[1] ? work->global[0] : 0);
	gt_bulk_int(row, work->global[1]);
	gt_bulk_int(row, reads ? DEVICE_TO_HOST : writes ? HOST_TO_DEVICE : DEVICE_TO_DEVICE);
	for (int i = 1; i >= 0; i--) /* destination, source */
		gt_bulk_text(row, address, (size_t)(gt_put_hex(GT_PUT(address, "0x"), work->object[i]) - address));
	gt_bulk_int(row, reads ? NO_DEVICE : device);
	gt_bulk_int(row, writes ? NO_DEVICE : device);
	gt_bulk_int(row, !!(flags & CALL_BLOCKS));
	gt_bulk_int(row, 0); /* whether host memory is pinned is not known */
	id = (int64_t)gt_bulk_count(r->copyapi) + 1;
	gt_bulk_add(r->copyapi, id, row);
	add_link(r, r->copies_sorted, api, id);
}

static void add_work(struct rpd *r, const struct gt_item *work)
{
	struct gt_view_queue *queue = gt_view_queue(&r->view, work);
	struct queue_own *own = queue ? queue_own(r, queue) : NULL;
	bool graph = work->device_op == GT_DEVICE_COMMAND_BUFFER || work->replay;
	struct gt_bulk_row *row = &r->row;
	int64_t api, op, name = EMPTY_TEXT, type, device;

	if (!own) {
		r->status = r->status ? r->status : -ENOMEM;
		return;
	}
	if (!work->start_ns) {
		r->untimed++;
		return;
	}
	api = work->id ? find_row(r, work->process, work->id) : 0;
	if (!api)
		api = add_unseen_call(r, work);
	if (work->name) {
		struct gt_view_text *text = gt_view_name(&r->view, work->process, work->name);

		name = text ? name_id(r, text->text) : EMPTY_TEXT;
	}
	type = graph && work->device_op == GT_DEVICE_KERNEL ? r->task_id :
	       r->type_ids[work->device_op < GT_DEVICE_OP_COUNT ? work->device_op : GT_DEVICE_OTHER];
	device = queue->device == UINT32_MAX ? -1 : (int64_t)queue->device;
	op = r->next_op++;
	gt_bulk_begin(row);
	gt_bulk_null(row);
	gt_bulk_int(row, device);
	gt_bulk_int(row, queue->stream);
	gt_bulk_int(row, work->ordinal_in_graph);
	gt_bulk_int(row, (int64_t)work->start_ns);
	gt_bulk_int(row, (int64_t)(work->end_ns > work->start_ns ? work->end_ns : work->start_ns));
	gt_bulk_int(row, name);
	gt_bulk_int(row, type);
	gt_bulk_add(r->op, op, row);
	gt_bulk_begin(row);
	gt_bulk_null(row);
	gt_bulk_int(row, api);
	gt_bulk_int(row, op);
	gt_bulk_add(r->api_ops, op, row);
	add_link(r, r->links_sorted, api, op);
	gt_bulk_begin(row);
	gt_bulk_int(row, op);
	gt_bulk_int(row, op); /* both rise together */
	gt_bulk_add(r->ops_by_op, 0, row);
	if (graph || work->device_op == GT_DEVICE_KERNEL)
		add_kernelapi(r, work, api, own->handle, name, graph);
	else if (work->device_op == GT_DEVICE_READ || work->device_op == GT_DEVICE_WRITE || work->device_op == GT_DEVICE_COPY)
		add_copyapi(r, work, api, own->handle, device);
}

/* The file ---------------------------------------------------------------------- */

/* Progress over both passes. */
struct two_passes {
	const struct gt_export_options *options;
	unsigned pass;
};

static void tell_pass(void *data, uint64_t done, uint64_t total)
{
	const struct two_passes *p = data;

	p->options->progress(p->options->progress_data, done + p->pass * total, 2 * total);
}

static int run_pass(struct rpd *r, unsigned pass, const struct gt_export_options *options)
{
	struct two_passes both = {options, pass};
	struct gt_export_options ours = {.progress = options->progress ? tell_pass : NULL, .progress_data = &both};
	struct gt_view_progress progress;
	const struct gt_item *item;
	struct gt_cursor *cursor;
	int status = gt_cursor_create(r->view.capture, &cursor);

	if (status)
		return status;
	gt_view_progress_begin(&progress, &r->view, &ours);
	while (!r->status && (status = gt_cursor_next(cursor, &item)) > 0) {
		if (pass == 0 && item->kind == GT_RECORD_CALL)
			add_call(r, item);
		else if (pass == 0 && item->kind == GT_RECORD_EXTERNAL)
			add_external(r, item);
		else if (pass == 1 && item->kind == GT_RECORD_DEVICE)
			add_work(r, item);
		if (gt_bulk_status(r->db)) /* told by gt_bulk_finish() */
			break;
		gt_view_progress_step(&progress, cursor);
	}
	gt_cursor_destroy(cursor);
	return r->status ? r->status : status < 0 ? status : 0;
}

/* Text of SQL that grows; what %Q makes of a text is safe in it. */
static void put_sql(struct rpd *r, sqlite3_str *sql, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sqlite3_str_vappendf(sql, format, args);
	va_end(args);
	if (sqlite3_str_errcode(sql))
		no_memory(r);
}

static void put_clean_text(struct rpd *r, sqlite3_str *sql, const char *before, const char *text)
{
	size_t bytes = strlen(text);

	*put_clean(r->text, text, bytes < ARGS_ROOM ? bytes : ARGS_ROOM) = '\0';
	put_sql(r, sql, "%s%Q", before, r->text);
}

static void put_metadata(struct rpd *r, sqlite3_str *sql, const char *tag, const char *value)
{
	put_sql(r, sql, "INSERT INTO rocpd_metadata(tag, value) VALUES (%Q", tag);
	put_clean_text(r, sql, ", ", value);
	put_sql(r, sql, ");");
}

static void put_number(struct rpd *r, sqlite3_str *sql, const char *tag, uint64_t value)
{
	put_sql(r, sql, "INSERT INTO rocpd_metadata(tag, value) VALUES (%Q, '%llu');", tag, (unsigned long long)value);
}

static void put_all_metadata(struct rpd *r, sqlite3_str *sql, const struct gt_export_options *options)
{
	const struct gt_session_info *session = gt_capture_session(r->view.capture);
	struct gt_view_counts calls = gt_view_counts(&r->view, GT_CLASS_CALL), work = gt_view_counts(&r->view, GT_CLASS_DEVICE);
	char command[4096];

	put_metadata(r, sql, "gpu_stride", "1000");
	put_metadata(r, sql, "pid_stride", "10000000");
	put_metadata(r, sql, "schema_version", "3");
	put_metadata(r, sql, "gputap::version", session->gputap_version);
	put_metadata(r, sql, "gputap::clock", "CLOCK_BOOTTIME");
	put_metadata(r, sql, "gputap::hostname", session->hostname);
	put_metadata(r, sql, "gputap::boot_id", session->boot_id);
	put_metadata(r, sql, "gputap::command", gt_view_command(session->command, command, sizeof command));
	put_metadata(r, sql, "gputap::exported_by", options->command_line ? options->command_line : "");
	put_metadata(r, sql, "gputap::complete",
		     gt_capture_health(r->view.capture)->end == GT_CAPTURE_COMPLETE ? "yes" : "no");
	put_number(r, sql, "gputap::calls_seen", calls.seen);
	put_number(r, sql, "gputap::calls_dropped", calls.dropped);
	put_number(r, sql, "gputap::ops_seen", work.seen);
	put_number(r, sql, "gputap::ops_dropped", work.dropped);
	put_number(r, sql, "gputap::ops_without_times", r->untimed);
}

static void put_own_tables(struct rpd *r, sqlite3_str *sql)
{
	const struct gt_capture *c = r->view.capture;
	char line[4096];

	for (size_t i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_process_info *p = gt_capture_process(c, (uint32_t)i);

		put_sql(r, sql, "INSERT INTO gputap_process VALUES (%u, %u, %u", p->pid, p->image, p->ppid);
		put_clean_text(r, sql, ", ", p->exe);
		put_clean_text(r, sql, ", ", gt_view_command(p->argv, line, sizeof line));
		put_sql(r, sql, ", %lld, nullif(%lld, 0));", (long long)p->start_ns, (long long)p->end_ns);
	}
	for (uint32_t i = 0; i < r->view.thread_count; i++) {
		put_sql(r, sql, "INSERT INTO gputap_thread VALUES (%u, %u", r->view.threads[i]->pid, r->view.threads[i]->tid);
		put_clean_text(r, sql, ", ", r->view.threads[i]->name);
		put_sql(r, sql, ");");
	}
	for (uint32_t i = 0; i < r->view.queue_count; i++) {
		const struct gt_view_queue *q = r->view.queues[i];
		const struct queue_own *own = q->own;

		put_sql(r, sql, "INSERT INTO gputap_queue VALUES (%lld, %u, %u, %Q", q->device == UINT32_MAX ? -1LL : (long long)q->device,
			q->stream, q->pid, own ? own->handle : "0x0");
		put_clean_text(r, sql, ", ", gt_view_device_label(&r->view, q->device, line, sizeof line));
		put_sql(r, sql, ");");
	}
}

/* The indexes of both text tables, in one go. */
static int index_texts(struct rpd *r)
{
	struct gt_bulk_tree *by_string = gt_bulk_tree(r->db, "rocpd_string_by_string");
	struct gt_bulk_tree *by_ustring = gt_bulk_tree(r->db, "rocpd_ustring_by_string");
	const void *text;
	uint64_t number;
	size_t bytes;
	int status;

	if (!by_string || !by_ustring)
		return -ENOENT;
	while ((status = gt_sorter_next(r->texts_sorted, &text, &bytes, &number)) > 0) {
		gt_bulk_begin(&r->row);
		gt_bulk_text(&r->row, text, bytes);
		gt_bulk_int(&r->row, (int64_t)(number >> 1));
		gt_bulk_add(by_string, 0, &r->row);
		if (number & 1)
			gt_bulk_add(by_ustring, 0, &r->row);
	}
	return status;
}

static int index_links(struct rpd *r, struct gt_sorter *sorted, const char *index)
{
	struct gt_bulk_tree *tree = gt_bulk_tree(r->db, index);
	const void *key;
	uint64_t id, big;
	size_t bytes;
	int status;

	if (!tree)
		return -ENOENT;
	while ((status = gt_sorter_next(sorted, &key, &bytes, &id)) > 0) {
		memcpy(&big, key, sizeof big);
		gt_bulk_begin(&r->row);
		gt_bulk_int(&r->row, (int64_t)__builtin_bswap64(big));
		gt_bulk_int(&r->row, (int64_t)id);
		gt_bulk_add(tree, 0, &r->row);
	}
	return status;
}

static int write_indexes(struct rpd *r)
{
	int status = index_texts(r);

	if (!status)
		status = index_links(r, r->links_sorted, "rocpd_api_ops_by_api");
	if (!status) /* SQLite's own names for those of their primary keys */
		status = index_links(r, r->kernels_sorted, "sqlite_autoindex_rocpd_kernelapi_1");
	if (!status)
		status = index_links(r, r->copies_sorted, "sqlite_autoindex_rocpd_copyapi_1");
	return status;
}

/* What SQLite itself has to do at the end. */
static int finish(struct rpd *r, const struct gt_export_options *options)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	char *text;
	int status;

	put_sql(r, sql, "BEGIN;");
	put_all_metadata(r, sql, options);
	put_own_tables(r, sql);
	put_sql(r, sql, "%s", rpd_views);
	/* so that rows added later get numbers behind ours */
	put_sql(r, sql, "INSERT INTO sqlite_sequence VALUES ('rocpd_string', %lld), ('rocpd_ustring', %lld), ('rocpd_api', %lld), "
			"('rocpd_op', %lld), ('rocpd_api_ops', %lld);", r->next_string - 1, r->next_string - 1, r->next_api - 1,
		r->next_op - 1, r->next_op - 1);
	put_sql(r, sql, "COMMIT;");
	text = sqlite3_str_finish(sql);
	if (!text)
		no_memory(r);
	if (r->status) {
		sqlite3_free(text);
		return r->status;
	}
	status = gt_bulk_finish(r->db, text);
	r->db = NULL;
	sqlite3_free(text);
	return status;
}

static int open_file(struct rpd *r, const char *path)
{
	struct { struct gt_bulk_tree **tree; const char *name; } trees[] = {
		{&r->string, "rocpd_string"}, {&r->ustring, "rocpd_ustring"}, {&r->api, "rocpd_api"}, {&r->copyapi, "rocpd_copyapi"},
		{&r->kernelapi, "rocpd_kernelapi"}, {&r->op, "rocpd_op"}, {&r->api_ops, "rocpd_api_ops"},
		{&r->ops_by_op, "rocpd_api_ops_by_op"},
	};
	bool small = gt_capture_health(r->view.capture)->bytes < SMALL_CAPTURE;
	struct { struct gt_sorter **sorter; size_t memory; } sorters[] = {
		{&r->texts_sorted, TEXT_SORT_BYTES}, {&r->links_sorted, LINK_SORT_BYTES}, {&r->kernels_sorted, LINK_SORT_BYTES},
		{&r->copies_sorted, LINK_SORT_BYTES},
	};
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int status = gt_bulk_create(path, rpd_tables, small ? GT_BULK_MIN_PAGE : GT_BULK_MAX_PAGE, &r->db);

	/* what does not fit in memory goes beside the file: there is room, if anywhere */
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	for (size_t i = 0; i < sizeof sorters / sizeof *sorters && !status; i++)
		status = gt_sorter_create(folder, small ? SMALL_SORT_BYTES : sorters[i].memory, sorters[i].sorter);
	if (status)
		return status;
	for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
		if (!(*trees[i].tree = gt_bulk_tree(r->db, trees[i].name)))
			return -ENOENT;
	r->next_string = r->next_api = r->next_op = 1;
	name_id(r, ""); /* EMPTY_TEXT */
	for (unsigned i = 0; i < GT_DEVICE_OP_COUNT; i++)
		r->type_ids[i] = name_id(r, type_name(i));
	r->task_id = name_id(r, "Task");
	r->marker_id = name_id(r, "UserMarker");
	r->unseen_id = name_id(r, "(call not recorded)");
	return r->status;
}

static int write_rpd(const struct gt_capture *c, const char *path, const struct gt_export_options *options)
{
	struct rpd *r = calloc(1, sizeof *r);
	int status;

	if (!r)
		return gt_error(-ENOMEM, "export");
	status = gt_view_init(&r->view, c);
	r->args = calloc(ARGS_SLOTS, sizeof *r->args);
	r->text = malloc(ARGS_ROOM * 3 + 8192);
	if (!status && (!r->args || !r->text))
		status = no_memory(r);
	if (!status)
		status = open_file(r, path);
	if (!status)
		status = run_pass(r, 0, options);
	if (r->view.capture)
		close_markers(r);
	if (!status) {
		qsort(r->runs, r->run_count, sizeof *r->runs, compare_runs);
		r->first_unseen = r->next_api;
		status = run_pass(r, 1, options);
	}
	if (!status)
		status = write_indexes(r);
	if (!status)
		status = finish(r, options);
	gt_bulk_destroy(r->db);
	gt_sorter_destroy(r->texts_sorted);
	gt_sorter_destroy(r->links_sorted);
	gt_sorter_destroy(r->kernels_sorted);
	gt_sorter_destroy(r->copies_sorted);
	gt_view_fini(&r->view);
	gt_map_fini(&r->texts);
	gt_map_fini(&r->unseen);
	free(r->text_ids);
	free(r->runs);
	free(r->flags);
	free(r->args);
	free(r->text);
	free(r);
	return status;
}

static const char *const extensions[] = {".rpd", ".db", NULL};

const struct gt_exporter gt_exporter_rpd = {
	.name = "rpd",
	.extensions = extensions,
	.text = "rocmProfileData's SQLite tables, for its tools and for SQL",
	.write = write_rpd,
};
