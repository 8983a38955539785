/* SPDX-License-Identifier: MIT */
/* See sample_stacks.h. */
#include "collector/sample_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "collector/sample_host.h"
#include "record/record.h"
#include "util/error.h"

enum { SET_LEAST = 256, PATH_MOST = 4096, STACKS_MOST = 1 << 20, WORDS_MOST = 65535 };

/* Sets -------------------------------------------------------------------------------------- */

static bool grow_set(struct gt_sample_set *s)
{
	struct gt_sample_set more = {.room = s->room ? 2 * s->room : SET_LEAST};

	more.keys = calloc(more.room, sizeof *more.keys);
	more.numbers = calloc(more.room, sizeof *more.numbers);
	if (!more.keys || !more.numbers) {
		free(more.keys);
		free(more.numbers);
		return false;
	}
	for (uint32_t i = 0; i < s->room; i++) {
		uint32_t at = (uint32_t)(s->keys[i] >> 32) & (more.room - 1);

		if (!s->keys[i])
			continue;
		while (more.keys[at])
			at = (at + 1) & (more.room - 1);
		more.keys[at] = s->keys[i];
		more.numbers[at] = s->numbers[i];
	}
	more.count = s->count;
	free(s->keys);
	free(s->numbers);
	*s = more;
	return true;
}

/* Return the place of @key's number; NULL: no memory, or too many keys. A new key has number 0. */
static uint32_t *find_number(struct gt_sample_set *s, uint64_t key)
{
	uint32_t at;

	key |= 1;
	if (2 * s->count >= s->room && (s->count >= STACKS_MOST || !grow_set(s)))
		return NULL;
	at = (uint32_t)(key >> 32) & (s->room - 1);
	while (s->keys[at] && s->keys[at] != key)
		at = (at + 1) & (s->room - 1);
	if (!s->keys[at]) {
		s->keys[at] = key;
		s->count++;
	}
	return &s->numbers[at];
}

static void free_set(struct gt_sample_set *s)
{
	free(s->keys);
	free(s->numbers);
}

/* Writing ----------------------------------------------------------------------------------- */

static bool write_record(struct gt_stream *stream, const void *record, size_t bytes)
{
	struct gt_counts counts = {0};

	if (!gt_capture_write_records(stream, record, bytes, &counts))
		return true;
	gt_error_clear(); /* the file takes no more data: reported once, at the end */
	return false;
}

static void write_module(struct gt_stream *stream, struct gt_remote_module *module)
{
	union {
		struct gt_record_code code;
		uint64_t
			room[(sizeof(struct gt_record_code) + PATH_MOST + GT_REMOTE_ID_BYTES + 16) /
			     8];
	} r;
	char *text = r.code.text;
	size_t bytes, size;

	memset(&r, 0, sizeof r);
	strncpy(text, module->path, PATH_MOST - 1);
	bytes = strlen(text) + 1;
	strcpy(text + bytes, module->id);
	bytes += strlen(module->id) + 1;
	size = sizeof r.code + ((bytes + 7) & ~(size_t)7);
	r.code.head = (struct gt_record){(uint16_t)(size / 8), GT_RECORD_CODE, 0, GT_CODE_MODULE};
	r.code.start = module->start;
	r.code.end = module->end;
	r.code.base = module->base;
	r.code.generation = module->generation;
	r.code.bytes = (uint32_t)bytes;
	module->is_written = write_record(stream, &r, size);
}

static bool write_code(const struct gt_sample_stacks *s, struct gt_remote_memory *memory,
		       const struct gt_remote_python_frame *frame, uint32_t number,
		       struct gt_stream *stream)
{
	struct gt_remote_python_code code;
	union {
		struct gt_record_code code;
		uint64_t room[(sizeof(struct gt_record_code) + sizeof code.text + 8) / 8];
	} r;
	size_t bytes, size;

	if (!gt_remote_python_read_code(&s->python, memory, frame, &code))
		return false;
	bytes = code.text_bytes + code.lines_bytes;
	size = sizeof r.code + ((bytes + 7) & ~(size_t)7);
	memset(&r, 0, size);
	r.code.head = (struct gt_record){(uint16_t)(size / 8), GT_RECORD_CODE, 0, GT_CODE_PYTHON};
	r.code.number = number;
	r.code.start = code.first_line;
	r.code.bytes = (uint32_t)bytes;
	memcpy(r.code.text, code.text, bytes);
	return write_record(stream, &r, size);
}

/* Return the number of a frame's code object; 0: it could not be read. */
static uint32_t number_code(struct gt_sample_stacks *s, struct gt_remote_memory *memory,
			    const struct gt_remote_python_frame *frame, struct gt_stream *stream)
{
	const uint64_t key =
		((uint64_t)frame->code ^ frame->identity * UINT64_C(0x9e3779b97f4a7c15)) *
		UINT64_C(0xbf58476d1ce4e5b9);
	uint32_t *number = find_number(&s->codes, key);

	if (number && !*number &&
	    write_code(s, memory, frame, GT_SAMPLE_CODES + s->skipped + s->codes.count, stream))
		*number = GT_SAMPLE_CODES + s->skipped + s->codes.count;
	return number ? *number : 0;
}

static bool write_frames(struct gt_sample_stacks *s, struct gt_remote_memory *memory,
			 const struct gt_sample_stack *stack, uint32_t number,
			 struct gt_stream *stream)
{
	union {
		struct gt_record_frames frames;
		uint64_t room[sizeof(struct gt_record_frames) / 8 + GT_REMOTE_FRAMES +
			      GT_REMOTE_PYTHON_FRAMES];
	} r;
	const size_t size =
		sizeof r.frames + (stack->count + stack->python_count) * sizeof(uint64_t);

	for (unsigned i = 0; i < stack->count; i++) {
		struct gt_remote_module *module =
			gt_remote_modules_find(&s->modules, stack->pcs[i]);

		if (module && !module->is_written)
			write_module(stream, module);
		r.frames.frames[i] = stack->pcs[i];
	}
	for (unsigned i = 0; i < stack->python_count; i++)
		r.frames.frames[stack->count + i] =
			GT_PYTHON_FRAME(number_code(s, memory, &stack->python[i], stream),
					stack->python[i].offset, stack->python[i].is_entry);
	r.frames.head = (struct gt_record){(uint16_t)(size / 8), GT_RECORD_FRAMES,
					   (uint8_t)stack->end, number};
	r.frames.generation = s->modules.generation;
	r.frames.native = (uint16_t)stack->count;
	r.frames.python = (uint16_t)stack->python_count;
	return write_record(stream, &r, size);
}

/* Interface --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	return ((hash << 7 | hash >> 57) ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t hash_stack(const struct gt_sample_stacks *s, const struct gt_sample_stack *stack)
{
	uint64_t hash = mix(s->modules.generation, stack->end);

	for (unsigned i = 0; i < stack->count; i++)
		hash = mix(hash, stack->pcs[i]);
	for (unsigned i = 0; i < stack->python_count; i++) {
		hash = mix(hash, stack->python[i].code ^ stack->python[i].identity);
		hash = mix(hash, stack->python[i].offset);
	}
	hash ^= hash >> 29;
	hash *= UINT64_C(0xbf58476d1ce4e5b9);
	return hash;
}

uint32_t gt_sample_stacks_number(struct gt_sample_stacks *s, struct gt_remote_memory *memory,
				 const struct gt_sample_stack *stack, struct gt_stream *stream)
{
	uint32_t *number = find_number(&s->stacks, hash_stack(s, stack));

	if (number && !*number &&
	    write_frames(s, memory, stack, GT_SAMPLE_STACKS + s->skipped + s->stacks.count, stream))
		*number = GT_SAMPLE_STACKS + s->skipped + s->stacks.count;
	return number ? *number : 0;
}

void gt_sample_stacks_init(struct gt_sample_stacks *s, uint32_t pid)
{
	memset(s, 0, sizeof *s);
	gt_remote_modules_init(&s->modules, pid, GT_SAMPLE_STACKS);
}

void gt_sample_stacks_fini(struct gt_sample_stacks *s)
{
	gt_remote_modules_fini(&s->modules);
	free_set(&s->stacks);
	free_set(&s->codes);
}
