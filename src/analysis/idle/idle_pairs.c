/* SPDX-License-Identifier: MIT */
/* See idle.h. Finds the calls between which idle time lies, and the lines of the program that made
 * these calls, and adds up idle time by these pairs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/idle/idle_steps.h"
#include "analysis/symbols/frames.h"
#include "record/operation.h"
#include "util/error.h"

enum { LINE_BYTES = 256 };

struct idle_lines {
	struct gt_call_stacks *calls;
	struct gt_frame_names *frames;
	struct idmap by_stack; /* process << 32 | number of the stack -> name */
};

int idle_pairs_begin(struct idle *s)
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

void idle_pairs_fini(struct idle *s)
{
	if (s->lines) {
		gt_call_stacks_destroy(s->lines->calls);
		gt_frame_names_destroy(s->lines->frames);
		idmap_fini(&s->lines->by_stack);
		free(s->lines);
	}
	free(s->sites);
	free(s->pairs);
	idmap_fini(&s->site_numbers);
	idmap_fini(&s->pair_numbers);
}

/* Lines ------------------------------------------------------------------------------- */

static bool is_installed(const char *file)
{
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       strstr(file, "/lib/python3") || file[0] == '<';
}

static bool is_library(const char *module)
{
	return !module || strstr(module, ".so");
}

/* Return the preference for a frame, higher is better; 0: not a frame of the program. */
static unsigned rate_frame(const struct gt_frame *frame)
{
	if (frame->origin == GT_ORIGIN_PYTHON)
		return frame->file && !is_installed(frame->file) ? 6 : 5;
	if (!frame->function)
		return 0;
	if (frame->file && frame->line)
		return is_library(frame->module) ? 2 : 4;
	return is_library(frame->module) ? 1 : 3;
}

/* Return the innermost frame of the program itself; NULL: none is known. */
static const struct gt_frame *find_frame(const struct gt_frames *frames)
{
	const struct gt_frame *best = NULL;

	for (size_t i = 0; i < frames->count; i++)
		if (rate_frame(&frames->list[i]) > (best ? rate_frame(best) : 0))
			best = &frames->list[i];
	return best;
}

static uint32_t name_line(struct idle *s, uint32_t process, uint32_t stack)
{
	const struct gt_frames frames = gt_frames_get(s->lines->frames, process, stack);
	const struct gt_frame *frame = find_frame(&frames);
	char text[LINE_BYTES];

	if (!frame)
		return LOOKUP_NONE;
	gt_frame_text(frame, text, sizeof text);
	return texts_put(s->names, text);
}

uint32_t idle_find_line(struct idle *s, uint32_t process, uint64_t id)
{
	const uint32_t stack =
		s->lines && id ? gt_call_stacks_find(s->lines->calls, process, id) : 0;
	const uint64_t key = (uint64_t)process << 32 | stack;
	uint32_t name;

	if (!stack)
		return LOOKUP_NONE;
	name = idmap_get(&s->lines->by_stack, key);
	if (name != LOOKUP_NONE)
		return name - 1;
	name = name_line(s, process, stack);
	idmap_put(&s->lines->by_stack, key, name + 1); /* LOOKUP_NONE becomes 0 */
	return name;
}

/* Pairs ------------------------------------------------------------------------------- */

static bool is_pair(const struct idle *s, uint32_t number, const struct idle_pair *pair)
{
	const struct idle_pair *other = &s->pairs[number];

	return number < s->pair_count && other->previous_op == pair->previous_op &&
	       other->next_op == pair->next_op && other->previous_line == pair->previous_line &&
	       other->next_line == pair->next_line;
}

static uint32_t name_call(struct idle *s, uint32_t op)
{
	return op ? texts_put(s->names, gt_operation_name(op)) : LOOKUP_NONE;
}

uint32_t idle_find_pair(struct idle *s, uint32_t process, const struct gt_idle_edge *previous,
			const struct gt_idle_edge *next)
{
	struct idle_pair pair = {
		.previous_op = previous->id ? previous->op : 0,
		.previous_line = idle_find_line(s, process, previous->id),
		.next_op = next->id ? next->op : 0,
		.next_line = idle_find_line(s, process, next->id),
	};
	uint64_t hash;
	uint32_t i;

	if (is_pair(s, s->last_pair, &pair))
		return s->last_pair;
	hash = lookup_mix((uint64_t)pair.previous_op << 32 | pair.next_op);
	hash = lookup_mix(hash + ((uint64_t)pair.previous_line << 32 | pair.next_line));
	for (; (i = idmap_get(&s->pair_numbers, hash)) != LOOKUP_NONE; hash++)
		if (is_pair(s, i, &pair))
			return s->last_pair = i;
	pair.previous_call = name_call(s, pair.previous_op);
	pair.next_call = name_call(s, pair.next_op);
	GROW_LIST(s->pairs, s->pair_count, s->pair_room);
	s->pairs[s->pair_count] = pair;
	idmap_put(&s->pair_numbers, hash, s->pair_count);
	return s->last_pair = s->pair_count++;
}

static bool is_site(const struct idle *s, uint32_t number, uint32_t row, uint32_t cause,
		    uint32_t pair)
{
	return number < s->site_count && s->sites[number].row == row &&
	       s->sites[number].cause == cause && s->sites[number].pair == pair;
}

static uint32_t find_site(struct idle *s, uint32_t row, uint32_t cause, uint32_t pair)
{
	uint64_t hash = lookup_mix(lookup_mix((uint64_t)row << 32 | cause) + pair);
	uint32_t i;

	if (is_site(s, s->last_site, row, cause, pair))
		return s->last_site;
	for (; (i = idmap_get(&s->site_numbers, hash)) != LOOKUP_NONE; hash++)
		if (is_site(s, i, row, cause, pair))
			return s->last_site = i;
	GROW_LIST(s->sites, s->site_count, s->site_room);
	s->sites[s->site_count] = (struct idle_site){.row = row, .cause = cause, .pair = pair};
	idmap_put(&s->site_numbers, hash, s->site_count);
	return s->last_site = s->site_count++;
}

void idle_add_site(struct idle *s, uint32_t row, enum gt_idle_cause cause, uint32_t pair,
		   uint64_t ns)
{
	uint32_t number;

	if (pair == LOOKUP_NONE)
		return;
	number = find_site(s, row, cause, pair); /* find_site() may move the sites */
	s->sites[number].ns += ns;
	s->sites[number].gaps++;
}
