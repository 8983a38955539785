/* SPDX-License-Identifier: MIT */
/* See ranges.h. Open ranges of all threads are in one list. Calls of a thread are consecutive, so
 * the ranges of the current thread are usually at the end. */
#include "analysis/model/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/number.h"
#include "record/describe.h"
#include "record/operation.h"
#include "util/error.h"
#include "util/grow.h"

struct gt_range_open {
	uint32_t process, ordinal, op;
	uint64_t start_ns, id; /* id 0: pushed range */
	uint64_t first;        /* id of the call that started the range */
	char *name;
	struct gt_range_detail detail;
	char *texts; /* owns the texts of `detail`; NULL: none */
	bool context;
};

struct gt_range_stop {
	uint32_t process;
	uint64_t id, end_ns;
};

enum gt_range_mark gt_mark_look_up(uint32_t op)
{
	const struct gt_operation_info *info = gt_operation(op);

	return info ? (enum gt_range_mark)info->mark : GT_MARK_NONE;
}

/* Return the index of the argument with a role; -1: none. */
static int find_argument(uint32_t op, enum gt_role role)
{
	const struct gt_operation_info *info = gt_operation(op);

	for (int i = 0; info && i < info->nargs; i++)
		if (info->args[i].role == role)
			return i;
	return -1;
}

size_t gt_mark_text(const struct gt_item *call, const char **text)
{
	struct gt_payload head;
	int arg = find_argument(call->op, GT_ROLE_MESSAGE);
	const uint8_t *message =
		arg < 0 ? NULL
			: gt_payload_find(call->payload, call->payload_bytes, (uint32_t)arg, &head);

	*text = message ? (const char *)message : gt_operation_name(call->op);
	return message ? strnlen(*text, head.bytes) : strlen(*text);
}

const char *gt_range_category(const struct gt_range *range)
{
	const struct gt_operation_info *info = range->whole ? gt_operation(range->op) : NULL;

	return info ? info->group : "user_annotation";
}

/* Return the text of the argument with a role. */
static struct gt_range_words find_words(const struct gt_item *call, enum gt_role role)
{
	struct gt_payload head;
	int arg = find_argument(call->op, role);
	const uint8_t *text =
		arg < 0 ? NULL
			: gt_payload_find(call->payload, call->payload_bytes, (uint32_t)arg, &head);

	return text ? (struct gt_range_words){(const char *)text,
					      strnlen((const char *)text, head.bytes)}
		    : (struct gt_range_words){0};
}

/* Return the value of the argument with a role; 0: none. */
static uint64_t find_word(const struct gt_item *call, enum gt_role role)
{
	int arg = find_argument(call->op, role);

	return arg >= 0 && call->args && (unsigned)arg < GT_OP_NARGS(call->op) ? call->args[arg]
									       : 0;
}

struct gt_range_detail gt_range_detail(const struct gt_item *call)
{
	const int64_t sequence = (int64_t)find_word(call, GT_ROLE_SEQUENCE);
	struct gt_range_detail detail = {
		.sequence = sequence > 0 ? (uint64_t)sequence : 0,
		.colour = (uint32_t)find_word(call, GT_ROLE_COLOUR),
		.scope = find_words(call, GT_ROLE_SCOPE),
		.category = find_words(call, GT_ROLE_CATEGORY),
		.payload = find_words(call, GT_ROLE_PAYLOAD),
	};
	struct gt_payload head;
	int arg = find_argument(call->op, GT_ROLE_SHAPES);
	const uint8_t *shapes =
		arg < 0 ? NULL
			: gt_payload_find(call->payload, call->payload_bytes, (uint32_t)arg, &head);

	if (shapes) {
		detail.shapes = shapes;
		detail.shape_words = head.bytes / sizeof(int64_t);
	}
	return detail;
}

const char *gt_range_colour(const struct gt_range_detail *detail, char *text)
{
	static const char hex[] = "0123456789abcdef";

	text[0] = '#';
	for (int i = 0; i < 6; i++)
		text[1 + i] = hex[detail->colour >> (20 - 4 * i) & 15];
	text[7] = '\0';
	return text;
}

/* Return true for a JSON number. Longer numbers count as text, because readers would lose
 * digits. */
bool gt_range_is_number(const struct gt_range_words *words)
{
	const char *p = words->text, *const end = p + words->bytes;
	size_t digits = 0;

	if (!p || words->bytes > 24)
		return false;
	p += p < end && *p == '-';
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		digits++;
	if (!digits)
		return false;
	if (p < end && *p == '.')
		for (p++, digits = 0; p < end && *p >= '0' && *p <= '9'; p++)
			digits++;
	if (digits && p < end && *p == 'e') {
		p++;
		p += p < end && (*p == '-' || *p == '+');
		for (digits = 0; p < end && *p >= '0' && *p <= '9'; p++)
			digits++;
	}
	return digits && p == end;
}

size_t gt_range_shapes(const struct gt_range_detail *detail, char *text, size_t size)
{
	enum { CLOSING = 32 }; /* room for one number and the closing brackets */
	char *p = text, *const end = text + size - CLOSING;
	int64_t word, dimensions;
	size_t i = 0;

	*p++ = '[';
	while (i < detail->shape_words && p < end) {
		memcpy(&dimensions, detail->shapes + 8 * i++, sizeof dimensions);
		p = i > 1 ? gt_put(p, ", [", 3) : gt_put(p, "[", 1);
		for (int64_t d = 0; d < dimensions && i < detail->shape_words && p < end; d++) {
			memcpy(&word, detail->shapes + 8 * i++, sizeof word);
			if (d)
				p = gt_put(p, ", ", 2);
			if (word < 0)
				*p++ = '-';
			p = gt_put_u64(p, word < 0 ? 0 - (uint64_t)word : (uint64_t)word);
		}
		*p++ = ']';
	}
	*p++ = ']';
	*p = '\0';
	return (size_t)(p - text);
}

/* Return the number that identifies a range in its start and stop: an argument, or the result of
 * the start. */
static uint64_t range_id(const struct gt_item *call)
{
	int arg = find_argument(call->op, GT_ROLE_RANGE);

	if (arg >= 0)
		return call->args && (unsigned)arg < GT_OP_NARGS(call->op) ? call->args[arg] : 0;
	return call->ret;
}

/* Call gt_grow(), and set a cause if memory is exhausted. */
static void *grow_list(void *list, size_t count, size_t *room, size_t bytes)
{
	void *moved = gt_grow(list, count, room, bytes);

	if (!moved)
		gt_error(-ENOMEM, "cannot store the ranges of the program");
	return moved;
}

static int give_range(struct gt_ranges *r, size_t i, uint64_t end_ns, struct gt_range *out)
{
	const struct gt_range_open o = r->open[i];

	memmove(&r->open[i], &r->open[i + 1], (r->open_count - i - 1) * sizeof *r->open);
	r->open_count--;
	free(r->name);
	free(r->detail);
	r->name = o.name;
	r->detail = o.texts;
	*out = (struct gt_range){
		.process = o.process,
		.ordinal = o.ordinal,
		.op = o.op,
		.start_ns = o.start_ns,
		.end_ns = end_ns > o.start_ns ? end_ns : o.start_ns,
		.name = o.name,
		.across = o.id != 0,
		.begun = o.first,
		.detail = o.detail,
		.context = o.context,
	};
	return 1;
}

static char *keep_words(char *at, struct gt_range_words *words)
{
	if (!words->text)
		return at;
	memcpy(at, words->text, words->bytes);
	words->text = at;
	return at + words->bytes;
}

/* Copy the texts of @detail, because the call is no longer available when the range ends. Return
 * false if out of memory. */
static bool keep_detail(struct gt_range_detail *detail, char **texts)
{
	size_t bytes = detail->scope.bytes + detail->category.bytes + detail->payload.bytes;
	char *at = bytes ? malloc(bytes) : NULL;

	*texts = at;
	if (!at)
		return !bytes;
	at = keep_words(at, &detail->scope);
	at = keep_words(at, &detail->category);
	keep_words(at, &detail->payload);
	return true;
}

static int begin_range(struct gt_ranges *r, const struct gt_item *call, uint64_t id)
{
	struct gt_range_open *open = grow_list(r->open, r->open_count, &r->open_room, sizeof *open);
	const char *text;
	size_t bytes = gt_mark_text(call, &text);
	char *name = strndup(text, bytes), *texts = NULL;
	struct gt_range_detail detail = gt_range_detail(call);
	bool kept = name && keep_detail(&detail, &texts);

	if (open)
		r->open = open;
	if (!open || !kept) {
		free(name);
		free(texts);
		return open ? gt_error(-ENOMEM, "cannot store the ranges of the program") : -ENOMEM;
	}
	r->open[r->open_count++] = (struct gt_range_open){
		.process = call->process,
		.ordinal = call->ordinal,
		.op = call->op,
		.start_ns = call->start_ns,
		.id = id,
		.first = call->id,
		.name = name,
		.detail = detail,
		.texts = texts,
		.context = call->context & GT_CONTEXT_RANGE,
	};
	return 0;
}

static int start_range(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out)
{
	uint64_t id = range_id(call);
	int status = begin_range(r, call, id);

	for (size_t i = 0; !status && i < r->stop_count; i++)
		if (r->stops[i].process == call->process && r->stops[i].id == id) {
			uint64_t end_ns = r->stops[i].end_ns;

			r->stops[i] = r->stops[--r->stop_count];
			return give_range(r, r->open_count - 1, end_ns, out);
		}
	return status;
}

static int stop_range(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out)
{
	uint64_t id = range_id(call);
	struct gt_range_stop *stops;

	for (size_t i = r->open_count; id && i-- > 0;)
		if (r->open[i].process == call->process && r->open[i].id == id) {
			give_range(r, i, call->end_ns, out);
			out->ended = out->ordinal == call->ordinal ? call->id : 0;
			return 1;
		}
	stops = id ? grow_list(r->stops, r->stop_count, &r->stop_room, sizeof *stops) : NULL;
	if (!stops)
		return id ? -ENOMEM : 0;
	r->stops = stops;
	r->stops[r->stop_count++] = (struct gt_range_stop){call->process, id, call->end_ns};
	return 0;
}

static int give_whole(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out)
{
	const char *text;
	size_t bytes = gt_mark_text(call, &text);

	free(r->name);
	r->name = strndup(text, bytes);
	if (!r->name)
		return gt_error(-ENOMEM, "cannot store the ranges of the program");
	*out = (struct gt_range){.process = call->process,
				 .ordinal = call->ordinal,
				 .op = call->op,
				 .start_ns = call->start_ns,
				 .end_ns = call->end_ns,
				 .name = r->name,
				 .first = call->id,
				 .last = call->ret,
				 .begun = call->id,
				 .ended = call->ret,
				 .whole = call,
				 .detail = gt_range_detail(call)};
	return 1;
}

static int step_ranges(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out)
{
	int status;

	if (call->end_ns > r->last_ns)
		r->last_ns = call->end_ns;
	switch (gt_mark_of(call->op)) {
	case GT_MARK_INSTANT:
		status = begin_range(r, call, 0);
		if (status)
			return status;
		give_range(r, r->open_count - 1, call->start_ns, out);
		out->instant = true;
		return 1;
	case GT_MARK_RANGE: return give_whole(r, call, out);
	case GT_MARK_PUSH: return begin_range(r, call, 0);
	case GT_MARK_START: return start_range(r, call, out);
	case GT_MARK_STOP: return stop_range(r, call, out);
	case GT_MARK_POP: /* if there is no push, it preceded the recording */
		for (size_t i = r->open_count; i-- > 0;)
			if (!r->open[i].id && r->open[i].process == call->process &&
			    r->open[i].ordinal == call->ordinal) {
				uint64_t first = r->open[i].first;

				give_range(r, i, call->end_ns, out);
				out->first = first;
				out->ended = out->last = call->id;
				return 1;
			}
		return 0;
	default: return 0;
	}
}

int gt_ranges_step(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out)
{
	int status = step_ranges(r, call, out);

	if (status > 0) /* the call that ends the range decides whether it is context */
		out->context = call->context & GT_CONTEXT_RANGE;
	return status;
}

bool gt_ranges_rest(struct gt_ranges *r, struct gt_range *out)
{
	return r->open_count && give_range(r, r->open_count - 1, r->last_ns, out);
}

void gt_ranges_fini(struct gt_ranges *r)
{
	for (size_t i = 0; i < r->open_count; i++) {
		free(r->open[i].name);
		free(r->open[i].texts);
	}
	free(r->open);
	free(r->stops);
	free(r->name);
	free(r->detail);
}
