/* SPDX-License-Identifier: MIT */
/* See arrow_batch.h. */
#include "dataset/arrow_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/text.h"
#include "dataset/fill_column.h"
#include "util/error.h"

enum { ALIGNMENT = 64 };

/* A column as an Arrow array. */
struct child {
	struct ArrowArray array;
	struct ArrowArray dictionary; /* release NULL: none */
	struct ArrowArray elements;   /* COLUMN_LIST */
	struct ArrowArray *element_pointer;
	const void *buffers[3], *element_buffers[2];
};

struct batch {
	unsigned users; /* atomic */
	const struct batch_shape *shape;
	size_t count, room; /* rows */
	size_t column_count;
	struct column_data *data;
	struct child *children;
	struct ArrowArray **pointers;
	const void *no_validity[1];
	void *memory;
};

static size_t bytes_of(enum column_type type, size_t rows)
{
	switch (type) {
	case COLUMN_BOOL: return rows / 8 + 16; /* put_bits() */
	case COLUMN_I16: return rows * sizeof(int16_t);
	case COLUMN_I64: return rows * sizeof(int64_t);
	case COLUMN_TEXT:
	case COLUMN_LIST: return (rows + 1) * sizeof(int32_t);
	default: return rows * sizeof(int32_t);
	}
}

static size_t align(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static const struct column *column_at(const struct batch_shape *shape, size_t i)
{
	return &shape->table->columns[shape->columns[i]];
}

/* Set the buffers of all columns, from @memory on; NULL: only compute their size. Return the
 * size. */
static size_t place_buffers(struct batch *b, const struct batch_shape *shape, char *memory)
{
	size_t at = 0;

	for (size_t i = 0; i < shape->column_count; i++) {
		const struct column *c = column_at(shape, i);
		struct column_data *data = memory ? &b->data[i] : NULL;

		if (data)
			data->values = memory + at;
		/* only these types are not written completely by the fill functions */
		if (data &&
		    (c->type == COLUMN_BOOL || c->type == COLUMN_TEXT || c->type == COLUMN_LIST))
			memset(data->values, 0, bytes_of(c->type, shape->rows));
		at += align(bytes_of(c->type, shape->rows));
		if (!c->nullable)
			continue;
		if (data) {
			data->valid = (uint8_t *)memory + at;
			memset(data->valid, 0, bytes_of(COLUMN_BOOL, shape->rows));
		}
		at += align(bytes_of(COLUMN_BOOL, shape->rows));
	}
	return at;
}

struct batch *batch_create(const struct batch_shape *shape)
{
	const size_t count = shape->column_count;
	struct batch *b = calloc(1, sizeof *b);

	if (b) {
		b->users = 1;
		b->shape = shape;
		b->room = shape->rows;
		b->column_count = count;
		b->data = calloc(count, sizeof *b->data);
		b->children = calloc(count, sizeof *b->children);
		b->pointers = calloc(count, sizeof *b->pointers);
		b->memory = aligned_alloc(ALIGNMENT, place_buffers(b, shape, NULL));
	}
	if (!b || !b->data || !b->children || !b->pointers || !b->memory) {
		batch_destroy(b);
		gt_error(-ENOMEM, "cannot read table %s", shape->table->name);
		return NULL;
	}
	place_buffers(b, shape, b->memory);
	return b;
}

void batch_destroy(struct batch *b)
{
	if (!b)
		return;
	for (size_t i = 0; b->data && b->children && i < b->column_count; i++) {
		free(b->data[i].bytes);
		/* still there if the batch could not be handed over */
		if (b->children[i].dictionary.release)
			b->children[i].dictionary.release(&b->children[i].dictionary);
	}
	free(b->data);
	free(b->children);
	free(b->pointers);
	free(b->memory);
	free(b);
}

static void drop_batch(struct batch *b)
{
	if (!__atomic_sub_fetch(&b->users, 1, __ATOMIC_ACQ_REL))
		batch_destroy(b);
}

size_t batch_rows(const struct batch *b)
{
	return b->count;
}

/* Texts and lists ------------------------------------------------------------------ */

static void make_room(struct column_data *out, size_t bytes)
{
	size_t room = out->byte_room ? out->byte_room : 4096;
	char *more;

	while (room - out->byte_count < bytes)
		room *= 2;
	if (room == out->byte_room)
		return;
	/* offsets are int32_t */
	more = room > INT32_MAX ? NULL : realloc(out->bytes, room);
	if (!more)
		memory_ran_out();
	out->bytes = more;
	out->byte_room = room;
}

void put_text(struct column_data *out, size_t i, const char *text)
{
	const size_t bytes = text ? strlen(text) : 0;

	if (text) {
		make_room(out, 3 * bytes + 1);
		out->byte_count = (size_t)(gt_put_utf8(out->bytes + out->byte_count, text, bytes) -
					   out->bytes);
	}
	((int32_t *)out->values)[out->at + i + 1] = (int32_t)out->byte_count;
	if (out->valid)
		put_bits(out->valid, out->at + i, text != NULL);
}

void put_list(struct column_data *out, size_t i, const int32_t *elements, size_t count)
{
	make_room(out, count * sizeof *elements + 1);
	if (count)
		memcpy(out->bytes + out->byte_count, elements, count * sizeof *elements);
	out->byte_count += count * sizeof *elements;
	((int32_t *)out->values)[out->at + i + 1] = (int32_t)(out->byte_count / sizeof *elements);
}

/* Rows ------------------------------------------------------------------------------- */

#define FILL_MEMBERS(type, null)                                                             \
	do {                                                                                 \
		type *to = (type *)out->values + out->at;                                    \
		uint64_t bits = 0;                                                           \
                                                                                             \
		for (size_t i = 0; i < rows->count; i++) {                                   \
			const type value = *(const type *)((const char *)rows->row[i] + at); \
                                                                                             \
			to[i] = (null) ? 0 : value;                                          \
			bits |= (uint64_t) !(null) << i;                                     \
		}                                                                            \
		if (out->valid)                                                              \
			put_bits(out->valid, out->at, bits);                                 \
	} while (0)

/* Fill a column from members of the rows. */
static void fill_members(const struct column *c, struct column_data *out, const struct rows *rows)
{
	const size_t at = c->member;

	switch (c->type) {
	case COLUMN_I64: FILL_MEMBERS(int64_t, value == INT64_MIN); break;
	case COLUMN_I16: FILL_MEMBERS(int16_t, value == INT16_MIN); break;
	case COLUMN_BOOL:
		for (size_t i = 0; i < rows->count; i++)
			put_bits(out->values, out->at + i,
				 *(const bool *)((const char *)rows->row[i] + at));
		break;
	case COLUMN_TEXT:
		for (size_t i = 0; i < rows->count; i++)
			put_text(out, i, *(char *const *)((const char *)rows->row[i] + at));
		break;
	default:
		if (c->dictionary)
			FILL_MEMBERS(int32_t, value < 0);
		else
			FILL_MEMBERS(int32_t, value == INT32_MIN);
	}
}

void batch_add(struct batch *b, struct reader *r, const struct rows *rows)
{
	for (size_t i = 0; i < b->column_count; i++) {
		const struct column *c = column_at(b->shape, i);
		struct column_data *out = &b->data[i];

		if (c->fill)
			c->fill(r, out, rows);
		else
			fill_members(c, out, rows);
		out->at += rows->count;
	}
	b->count += rows->count;
}

/* Export ------------------------------------------------------------------------------- */

const char *batch_format(const struct column *column)
{
	static const char *const formats[] = {
		[COLUMN_BOOL] = "b", [COLUMN_I16] = "s",  [COLUMN_I32] = "i",
		[COLUMN_I64] = "l",  [COLUMN_TEXT] = "u", [COLUMN_LIST] = "+l",
	};

	return formats[column->type];
}

static void release_elements(struct ArrowArray *array)
{
	drop_batch(array->private_data);
	array->release = NULL;
}

static void release_child(struct ArrowArray *array)
{
	struct batch *b = array->private_data;

	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	if (array->n_children && array->children[0]->release)
		array->children[0]->release(array->children[0]);
	array->release = NULL;
	drop_batch(b);
}

static void release_batch(struct ArrowArray *array)
{
	struct batch *b = array->private_data;

	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	array->release = NULL;
	drop_batch(b);
}

static void export_list(struct batch *b, struct child *child, const struct column_data *data)
{
	child->element_buffers[1] = data->bytes ? data->bytes : b->memory;
	child->elements = (struct ArrowArray){
		.length = (int64_t)(data->byte_count / sizeof(int32_t)),
		.n_buffers = 2,
		.buffers = child->element_buffers,
		.release = release_elements,
		.private_data = b,
	};
	child->element_pointer = &child->elements;
	child->array.n_children = 1;
	child->array.children = &child->element_pointer;
	b->users++;
}

/* Count the rows without a value. Bits after the last row are not set. */
static int64_t count_nulls(const uint8_t *valid, size_t rows)
{
	int64_t values = 0;

	for (size_t at = 0; at * 8 < rows; at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, valid + at, sizeof word); /* the bitmap has slack */
		values += __builtin_popcountll(word);
	}
	return (int64_t)rows - values;
}

static void export_child(struct batch *b, size_t i)
{
	const struct column *c = column_at(b->shape, i);
	const struct column_data *data = &b->data[i];
	struct child *child = &b->children[i];
	const int64_t null_count = data->valid ? count_nulls(data->valid, b->count) : 0;

	child->buffers[0] = null_count ? data->valid : NULL;
	child->buffers[1] = data->values;
	/* an empty text still needs an address */
	child->buffers[2] = data->bytes ? data->bytes : b->memory;
	child->array = (struct ArrowArray){
		.length = (int64_t)b->count,
		.null_count = null_count,
		.n_buffers = c->type == COLUMN_TEXT ? 3 : 2,
		.buffers = child->buffers,
		.dictionary = c->dictionary ? &child->dictionary : NULL,
		.release = release_child,
		.private_data = b,
	};
	if (c->type == COLUMN_LIST)
		export_list(b, child, data);
	b->pointers[i] = &child->array;
	b->users++;
}

void batch_export(struct batch *b, struct reader *r, struct ArrowArray *out)
{
	const struct batch_shape *shape = b->shape;

	for (size_t i = 0; i < b->column_count; i++) {
		const unsigned kind = column_at(shape, i)->dictionary;

		if (kind)
			dictionary_export(&r->dictionaries[kind - 1], &b->children[i].dictionary);
	}
	for (size_t i = 0; i < b->column_count; i++)
		export_child(b, i);
	*out = (struct ArrowArray){
		.length = (int64_t)b->count,
		.n_buffers = 1,
		.buffers = b->no_validity,
		.n_children = (int64_t)b->column_count,
		.children = b->pointers,
		.release = release_batch,
		.private_data = b,
	};
}
