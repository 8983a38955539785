/* SPDX-License-Identifier: MIT */
/* See idle.h. Finds the lines of the program that made calls, and the lines at which threads were
 * sampled between calls, and adds up idle time by the latter. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/idle/idle_samples.h"
#include "analysis/idle/idle_steps.h"
#include "analysis/symbols/program_line.h"
#include "util/error.h"

enum { LINE_BYTES = 256 };

struct idle_lines {
	struct gt_call_stacks *calls;
	struct gt_frame_names *frames;
	struct idmap by_stack; /* process << 32 | number of the stack -> name */
};

int idle_lines_begin(struct idle *s)
{
	struct gt_call_stacks *calls = NULL;
	int status;

	if (s->lines || !gt_capture_stack_count(s->capture))
		return 0;
	status = gt_call_stacks_create(s->capture, &calls);
	if (status || !calls)
		return status;
	s->lines = allocate_list(1, sizeof *s->lines);
	s->lines->calls = calls;
	s->lines->frames = gt_frame_names_create(s->capture);
	if (!s->lines->frames)
		return gt_error(-ENOMEM, "cannot name call stacks");
	/* every run ends with idle times; the names in the capture were bounded in time */
	gt_frame_names_skip_lines(s->lines->frames);
	return 0;
}

void idle_lines_fini(struct idle *s)
{
	if (s->lines) {
		gt_call_stacks_destroy(s->lines->calls);
		gt_frame_names_destroy(s->lines->frames);
		idmap_fini(&s->lines->by_stack);
		free(s->lines);
	}
	free(s->places);
	idmap_fini(&s->place_numbers);
	idle_samples_destroy(s->samples);
}

/* Lines ------------------------------------------------------------------------------- */

static uint32_t name_line(struct idle *s, uint32_t process, uint32_t stack)
{
	const struct gt_frames frames = gt_frames_get(s->lines->frames, process, stack);
	const struct gt_frame *frame = gt_frames_program_line(&frames);
	char text[LINE_BYTES];

	if (!frame)
		return LOOKUP_NONE;
	gt_frame_text(frame, text, sizeof text);
	return texts_put(s->names, text);
}

/* Return the line of the program in a stack, as a number in s->names; LOOKUP_NONE: not known. */
static uint32_t find_line(struct idle *s, uint32_t process, uint32_t stack)
{
	const uint64_t key = (uint64_t)process << 32 | stack;
	uint32_t name;

	if (!s->lines || !stack)
		return LOOKUP_NONE;
	name = idmap_get(&s->lines->by_stack, key);
	if (name != LOOKUP_NONE)
		return name - 1;
	name = name_line(s, process, stack);
	idmap_put(&s->lines->by_stack, key, name + 1); /* LOOKUP_NONE becomes 0 */
	return name;
}

uint32_t idle_find_line(struct idle *s, uint32_t process, uint64_t id)
{
	return s->lines && id
		       ? find_line(s, process, gt_call_stacks_find(s->lines->calls, process, id))
		       : LOOKUP_NONE;
}

/* Sampled lines ----------------------------------------------------------------------- */

static bool is_place(const struct idle *s, uint32_t number, uint32_t row, uint32_t cause,
		     uint32_t line)
{
	return number < s->place_count && s->places[number].row == row &&
	       s->places[number].cause == cause && s->places[number].line == line;
}

static void add_place(struct idle *s, uint32_t row, uint32_t cause, uint32_t line, uint64_t ns)
{
	uint64_t hash = lookup_mix(lookup_mix((uint64_t)row << 32 | cause) + line);
	uint32_t i;

	for (; (i = idmap_get(&s->place_numbers, hash)) != LOOKUP_NONE; hash++)
		if (is_place(s, i, row, cause, line)) {
			s->places[i].ns += ns;
			return;
		}
	GROW_LIST(s->places, s->place_count, s->place_room);
	s->places[s->place_count] =
		(struct idle_place){.row = row, .cause = cause, .line = line, .ns = ns};
	idmap_put(&s->place_numbers, hash, s->place_count++);
}

void idle_add_places(struct idle *s, uint32_t row, enum gt_idle_cause cause, uint64_t from,
		     uint64_t to)
{
	const struct idle_sampled_span *spans;
	size_t count;

	if (!s->samples)
		return;
	spans = idle_samples_spans(s->samples, &count);
	for (size_t i = idle_samples_find(s->samples, from); i < count && spans[i].start < to;
	     i++) {
		const uint64_t start = spans[i].start > from ? spans[i].start : from,
			       end = spans[i].end < to ? spans[i].end : to;
		const uint32_t line = find_line(s, spans[i].process, spans[i].stack);

		if (start < end && line != LOOKUP_NONE)
			add_place(s, row, cause, line, end - start);
	}
}
