/* SPDX-License-Identifier: MIT */
/* See stack_lines.h. */
#include "analysis/symbols/stack_lines.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file_name.h"

enum { LINE_BYTES = 4096 };

static bool has_no_name(const struct gt_frame *f)
{
	return !f->function && !f->file && f->origin != GT_ORIGIN_PYTHON;
}

/* A line, and the frames that the line represents. */
struct part {
	size_t first, count;
};

/* Split frames into parts. Adjacent frames without names in one module become one line. */
static size_t find_parts(const struct gt_frames *frames, struct part *parts)
{
	size_t count = 0;

	for (size_t i = 0; i < frames->count; i++) {
		const struct gt_frame *f = &frames->list[i], *last = f - 1;

		if (i && has_no_name(f) && has_no_name(last) &&
		    (f->module == last->module ||
		     (f->module && last->module && !strcmp(f->module, last->module))))
			parts[count - 1].count++;
		else
			parts[count++] = (struct part){i, 1};
	}
	return count;
}

/* Return a C++ name without its parameters, and with long template arguments as "<..>". */
static char *shorten_name(const char *name)
{
	enum { ARGUMENTS_MOST = 16 };
	size_t length = strlen(name), out = 0;
	char *text = malloc(length + 1);
	int depth = 0;

	if (!text)
		return NULL;
	for (size_t i = length; i-- > 0 && name[length - 1] == ')';) {
		depth += (name[i] == ')') - (name[i] == '(');
		if (depth)
			continue;
		length = i && strncmp(name + i, "(anonymous namespace)", 21) != 0 ? i : length;
		break;
	}
	depth = 0;
	for (size_t i = 0, begin = 0; i < length; i++) {
		const bool is_arrow = i && (name[i - 1] == '-' || name[i - 1] == '=');
		const bool is_operator = i >= 8 && !strncmp(name + i - 8, "operator", 8);

		text[out++] = name[i];
		if (name[i] == '<' && !is_operator && !depth++)
			begin = out;
		else if (name[i] == '>' && !is_arrow && !is_operator && depth && !--depth &&
			 out - begin > ARGUMENTS_MOST) {
			out = begin;
			memcpy(text + out, "..>", 3);
			out += 3;
		}
	}
	text[out] = '\0';
	return text;
}

static void print_part(FILE *out, const struct gt_frames *frames, const struct part *part)
{
	const struct gt_frame *f = &frames->list[part->first];
	struct gt_frame short_one;
	char text[LINE_BYTES], *name;

	if (part->count > 1) {
		fprintf(out, "%zu frames of %s\n", part->count,
			f->module ? gt_file_name(f->module) : "[jit]");
		return;
	}
	short_one = *f;
	name = f->function && f->origin != GT_ORIGIN_PYTHON ? shorten_name(f->function) : NULL;
	if (name)
		short_one.function = name;
	gt_frame_text(&short_one, text, sizeof text);
	fprintf(out, "%s\n", text);
	free(name);
}

/* Print the lines between @from and @to, followed by the number of frames omitted before @next. */
static void print_parts(FILE *out, const struct gt_frames *frames, const struct part *parts,
			size_t from, size_t to, size_t next)
{
	size_t frames_left = 0;

	for (size_t i = from; i < to; i++)
		print_part(out, frames, &parts[i]);
	for (size_t i = to; i < next; i++)
		frames_left += parts[i].count;
	if (frames_left)
		fprintf(out, ".. %zu more frame%s\n", frames_left, frames_left == 1 ? "" : "s");
}

static size_t find_python(const struct gt_frames *frames, const struct part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (frames->list[parts[i].first].origin == GT_ORIGIN_PYTHON)
			return i;
	return count;
}

static void print_lines(FILE *out, const struct gt_frames *frames, const struct part *parts,
			size_t count, size_t most)
{
	size_t python = find_python(frames, parts, count), head = most;

	if (!most || count <= most + 1) {
		print_parts(out, frames, parts, 0, count, count);
		return;
	}
	if (python == count || python < most - most / 2) {
		print_parts(out, frames, parts, 0, most, count);
		return;
	}
	head = most / 2;
	print_parts(out, frames, parts, 0, head, python);
	most = python + most - head;
	print_parts(out, frames, parts, python, most < count ? most : count, count);
}

char *stack_lines(const struct gt_frames *frames, size_t most)
{
	struct part *parts = malloc((frames->count + 1) * sizeof *parts);
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = parts && frames->count ? open_memstream(&text, &bytes) : NULL;

	if (out) {
		print_lines(out, frames, parts, find_parts(frames, parts), most);
		fclose(out);
		if (text && bytes)
			text[bytes - 1] = '\0';
	}
	free(parts);
	return text;
}
