/* SPDX-License-Identifier: MIT */
/* Table `calls`: a row for each host API call, in the order of cursors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "dataset/fill_column.h"
#include "dataset/call_operations.h"
#include "dataset/range_tops.h"
#include "dataset/table_items.h"

enum { ARGUMENTS_BYTES = 16384 };

struct calls {
	struct items items;
	struct operations operations;
	struct idmap errors;     /* domain << 32 | status -> number of its text */
	struct range_tops *tops; /* NULL: no ranges are wanted */
	struct gt_call_stacks *stacks;
	/* statuses of the rows, if a column needs them: bit i for row i */
	bool needs_status;
	int32_t status[ROWS_MOST];
	uint64_t has_status, has_failed;
};

FILL(session, int32_t, rows->thread->session)
FILL(process, int32_t, (int32_t)k->process)
FILL_IF(thread, int32_t, rows->thread->number >= 0, rows->thread->number)
FILL(id, int64_t, dataset_id(rows->thread, k->id))
FILL_IF(parent, int64_t, k->parent, dataset_id(rows->thread, k->parent))
FILL(depth, int16_t, k->depth)
FILL(domain, int32_t, rows->operation[i]->domain)
FILL(operation, int32_t, rows->operation[i]->name)
FILL(kind, int32_t, rows->operation[i]->kind)
FILL(start_ns, int64_t, dataset_since_1970(r->dataset, k->start_ns))
FILL(duration_ns, int64_t, (int64_t)(k->end_ns - k->start_ns))

/* Get the statuses of rows. */
static void read_statuses(struct calls *c, const struct rows *rows)
{
	uint64_t known = 0, failed = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct gt_item *k = rows->row[i];

		c->status[i] = 0;
		if (!gt_call_status(k->op, k->ret, k->args, &c->status[i]))
			continue;
		known |= UINT64_C(1) << i;
		if (c->status[i] && /* 0 is a success in every domain */
		    gt_status_failed((enum gt_domain)GT_OP_DOMAIN(k->op), c->status[i]))
			failed |= UINT64_C(1) << i;
	}
	c->has_status = known;
	c->has_failed = failed;
}

static void fill_status(struct reader *r, struct column_data *out, const struct rows *rows)
{
	const struct calls *c = r->own;

	memcpy((int32_t *)out->values + out->at, c->status, rows->count * sizeof *c->status);
	put_bits(out->valid, out->at, c->has_status);
}

/* Return the number of a status's name. */
static int32_t find_error(struct reader *r, enum gt_domain domain, int32_t status)
{
	struct calls *c = r->own;
	const uint64_t key = (uint64_t)domain << 32 | (uint32_t)status;
	uint32_t number = idmap_get(&c->errors, key);
	const char *name;
	char digits[16];

	if (number != LOOKUP_NONE)
		return (int32_t)number;
	name = gt_status_name(domain, status);
	if (!name)
		snprintf(digits, sizeof digits, "%d", status);
	number = (uint32_t)reader_text(r, DICTIONARY_ERROR, name ? name : digits);
	idmap_put(&c->errors, key, number);
	return (int32_t)number;
}

static enum gt_domain domain_of(const struct rows *rows, size_t i)
{
	return (enum gt_domain)GT_OP_DOMAIN(((const struct gt_item *)rows->row[i])->op);
}

static void fill_error(struct reader *r, struct column_data *out, const struct rows *rows)
{
	const struct calls *c = r->own;
	int32_t *to = (int32_t *)out->values + out->at;

	memset(to, 0, rows->count * sizeof *to);
	for (uint64_t rest = c->has_failed; rest; rest &= rest - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(rest);

		to[i] = find_error(r, domain_of(rows, i), c->status[i]);
	}
	put_bits(out->valid, out->at, c->has_failed);
}

static void fill_refused(struct reader *r, struct column_data *out, const struct rows *rows)
{
	const struct calls *c = r->own;
	uint64_t bits = 0;

	for (uint64_t rest = c->has_failed; rest; rest &= rest - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(rest);

		bits |= (uint64_t)gt_status_refused(domain_of(rows, i), c->status[i]) << i;
	}
	put_bits(out->values, out->at, bits);
}

/* Values of arguments ------------------------------------------------------------ */

static bool search_value(const struct gt_item *k, unsigned value, uint64_t *out)
{
	const struct gt_call_view view = {k->op, k->args, k->payload, k->payload_bytes};

	switch (value) {
	case VALUE_BYTES: return gt_call_bytes(&view, out);
	case VALUE_ADDRESS:
		return gt_call_address(&view, k->ret, out) ||
		       gt_call_role(&view, GT_ROLE_ADDRESS, 0, out);
	case VALUE_STREAM: return gt_call_role(&view, GT_ROLE_STREAM, 0, out);
	default: return gt_call_role(&view, GT_ROLE_EVENT, 0, out);
	}
}

/* Get the value of a role. */
static bool find_value(const struct gt_item *k, const struct operation *o, unsigned value,
		       uint64_t *word)
{
	const struct value_plan *plan = &o->values[value];

	*word = 0;
	if (!k->args || plan->source == VALUE_NONE)
		return false;
	if (plan->source == VALUE_SEARCH)
		return search_value(k, value, word);
	if (plan->argument >= GT_OP_NARGS(k->op))
		return false;
	*word = k->args[plan->argument];
	return true;
}

/* Fill a column with the values of a role. Handles and addresses are unsigned words; the column has
 * the same 64 bits. */
static void fill_value(struct column_data *out, const struct rows *rows, unsigned value)
{
	int64_t *to = (int64_t *)out->values + out->at;
	uint64_t bits = 0, word;

	for (size_t i = 0; i < rows->count; i++) {
		const bool known = find_value(rows->row[i], rows->operation[i], value, &word);

		if (value == VALUE_BYTES && word > INT64_MAX)
			word = INT64_MAX;
		to[i] = known ? (int64_t)word : 0;
		bits |= (uint64_t)known << i;
	}
	put_bits(out->valid, out->at, bits);
}

#define FILL_VALUE(name, value)                                            \
	static void fill_##name(struct reader *r, struct column_data *out, \
				const struct rows *rows)                   \
	{                                                                  \
		(void)r;                                                   \
		fill_value(out, rows, value);                              \
	}
FILL_VALUE(bytes, VALUE_BYTES)
FILL_VALUE(address, VALUE_ADDRESS)
FILL_VALUE(stream, VALUE_STREAM)
FILL_VALUE(event, VALUE_EVENT)

static void fill_blocking(struct reader *r, struct column_data *out, const struct rows *rows)
{
	uint64_t known = 0, blocks = 0;

	(void)r;
	for (size_t i = 0; i < rows->count; i++) {
		const struct gt_item *k = rows->row[i];
		enum gt_blocking blocking = rows->operation[i]->blocking;

		if (blocking == GT_BLOCKING_UNKNOWN)
			blocking = gt_call_blocking(k->op, k->args);
		known |= (uint64_t)(blocking != GT_BLOCKING_UNKNOWN) << i;
		blocks |= (uint64_t)(blocking == GT_BLOCKING_YES) << i;
	}
	put_bits(out->values, out->at, blocks);
	put_bits(out->valid, out->at, known);
}

/* The rule of gt_collectives_note(), src/capture/collectives.c, which report uses: the communicator
 * is an argument, so a call without recorded arguments is not compared and not counted. */
static void fill_collective(struct reader *r, struct column_data *out, const struct rows *rows)
{
	uint64_t bits = 0;

	(void)r;
	for (size_t i = 0; i < rows->count; i++) {
		const struct gt_item *k = rows->row[i];
		const struct gt_operation_info *info = rows->operation[i]->info;
		const bool is_collective =
			info && info->collective && info->joins && (k->args || !info->nargs);

		bits |= (uint64_t)is_collective << i;
	}
	put_bits(out->values, out->at, bits);
}

static void fill_arguments(struct reader *r, struct column_data *out, const struct rows *rows)
{
	char text[ARGUMENTS_BYTES];

	(void)r;
	for (size_t i = 0; i < rows->count; i++) {
		const struct gt_item *k = rows->row[i];

		if (k->args)
			gt_format_args(text, sizeof text, k->op, k->ret, k->args, k->payload,
				       k->payload_bytes, ", ");
		put_text(out, i, k->args ? text : NULL);
	}
}

/* Ranges and stacks ----------------------------------------------------------------- */

static void fill_range(struct reader *r, struct column_data *out, const struct rows *rows)
{
	struct calls *c = r->own;
	int64_t *to = (int64_t *)out->values + out->at;
	uint64_t bits = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct gt_item *k = rows->row[i];
		const uint64_t range = range_tops_find(c->tops, k->id);

		to[i] = range ? dataset_id(rows->thread, range) : 0;
		bits |= (uint64_t)(range != 0) << i;
	}
	put_bits(out->valid, out->at, bits);
}

static void fill_stack(struct reader *r, struct column_data *out, const struct rows *rows)
{
	struct calls *c = r->own;
	int32_t *to = (int32_t *)out->values + out->at;
	uint64_t bits = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct gt_item *k = rows->row[i];
		const uint32_t number = gt_call_stacks_find(c->stacks, k->process, k->id);

		to[i] = (int32_t)number;
		bits |= (uint64_t)(number != 0) << i;
	}
	put_bits(out->valid, out->at, bits);
}

/* The table -------------------------------------------------------------------------- */

enum { COLUMN_STATUS = 11, COLUMN_ERROR, COLUMN_REFUSED, COLUMN_RANGE, COLUMN_STACK };

static const struct column columns[] = {
	FILLED_COLUMN(session, COLUMN_I32, "", false, "number of the session"),
	FILLED_COLUMN(process, COLUMN_I32, "", false, "number of the process"),
	FILLED_COLUMN(thread, COLUMN_I32, "", true, "number of the thread"),
	FILLED_COLUMN(id, COLUMN_I64, "", false, "id of the call"),
	FILLED_COLUMN(parent, COLUMN_I64, "", true, "id of the enclosing call"),
	FILLED_COLUMN(depth, COLUMN_I16, "", false, "number of enclosing calls"),
	FILLED_TEXTS(domain, DICTIONARY_DOMAIN, false,
		     "API: such as opencl, hip, cuda_runtime; ranges: annotations"),
	FILLED_TEXTS(operation, DICTIONARY_OPERATION, false, "name of the function"),
	FILLED_TEXTS(kind, DICTIONARY_KIND, false,
		     "launch, memcpy, memset, allocation, free, synchronisation, marker, retain or "
		     "other"),
	FILLED_COLUMN(start_ns, COLUMN_I64, "ns", false, "start, since 1970"),
	FILLED_COLUMN(duration_ns, COLUMN_I64, "ns", false, "duration"),
	[COLUMN_STATUS] =
		FILLED_COLUMN(status, COLUMN_I32, "", true, "status that the call returned"),
	[COLUMN_ERROR] = FILLED_TEXTS(error, DICTIONARY_ERROR, true,
				      "name of the status, if the call failed"),
	[COLUMN_REFUSED] = FILLED_COLUMN(
		refused, COLUMN_BOOL, "", false,
		"the program only tried: a feature is missing, or an object is already in the "
		"requested state"),
	[COLUMN_RANGE] =
		FILLED_COLUMN(range, COLUMN_I64, "", true,
			      "id of the innermost range of the program that contains the call"),
	[COLUMN_STACK] = FILLED_COLUMN(stack, COLUMN_I32, "", true,
				       "number of the call stack in its process"),
	FILLED_COLUMN(bytes, COLUMN_I64, "bytes", true, "bytes moved, set or allocated"),
	FILLED_COLUMN(address, COLUMN_I64, "", true, "address allocated or freed"),
	FILLED_COLUMN(stream, COLUMN_I64, "", true, "handle of the stream or queue"),
	FILLED_COLUMN(event, COLUMN_I64, "", true, "handle of the event"),
	FILLED_COLUMN(blocking, COLUMN_BOOL, "", true,
		      "the call returns after the device has done what was requested"),
	FILLED_COLUMN(collective, COLUMN_BOOL, "", false,
		      "all processes of a communicator make the call together"),
	{.name = "arguments",
	 .type = COLUMN_TEXT,
	 .unit = "",
	 .nullable = true,
	 .on_request = true,
	 .fill = fill_arguments,
	 .text = "arguments as text"},
};

static int open_calls(struct reader *r)
{
	struct calls *c = r->own;
	int status;

	c->needs_status =
		r->wants[COLUMN_STATUS] || r->wants[COLUMN_ERROR] || r->wants[COLUMN_REFUSED];
	if (r->wants[COLUMN_RANGE]) {
		status = range_tops_create(r, &c->tops);
		if (status)
			return status;
	}
	if (r->wants[COLUMN_STACK]) {
		status = gt_call_stacks_create(r->dataset->capture, &c->stacks);
		if (status)
			return status;
	}
	return items_open(r, &c->items, GT_RECORD_CALL);
}

static int next_calls(struct reader *r, struct rows *rows, size_t most)
{
	struct calls *c = r->own;
	int status = items_next(r, &c->items, rows, most);

	if (status <= 0)
		return status;
	for (size_t i = 0; i < rows->count; i++) {
		const struct gt_item *k = rows->row[i];

		rows->operation[i] = operations_find(&c->operations, r, k->op);
	}
	if (c->needs_status)
		read_statuses(c, rows);
	return c->tops ? range_tops_enter(c->tops, rows->thread) : 1;
}

static void close_calls(struct reader *r)
{
	struct calls *c = r->own;

	items_close(&c->items);
	operations_fini(&c->operations);
	idmap_fini(&c->errors);
	range_tops_destroy(c->tops);
	gt_call_stacks_destroy(c->stacks);
}

const struct table table_calls = {
	.name = "calls",
	.text = "calls of runtimes' APIs, and the program's own annotations",
	.columns = columns,
	.column_count = sizeof columns / sizeof *columns,
	.own_bytes = sizeof(struct calls),
	.open = open_calls,
	.next = next_calls,
	.close = close_calls,
	.is_partitioned = true,
};
