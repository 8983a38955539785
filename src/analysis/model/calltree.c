/* SPDX-License-Identifier: MIT */
/* See calltree.h. Makes three or four passes over the records:
 *
 *   1. Read ranges, which are recorded when they end, and the calls that launched GPU activities.
 *   2. If another thread ended ranges, find the last call in each of these ranges.
 *   3. Read calls, thread by thread in order of start. Each call gets a node below the call or
 *      range in which it was started. The nodes of launching calls are stored.
 *   4. Add GPU activities below the nodes of their calls.
 *
 * Call ids, not times, determine the position of a range. A range is open for calls of its thread,
 * from the call that started the range to the call that ended it. */
#include "analysis/model/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/text.h"
#include "analysis/model/ranges.h"
#include "analysis/symbols/frames.h"
#include "util/error.h"
#include "util/grow.h"

enum { PASSES = 4, DEPTH_MAX = 256, NONE = -1, FRAME_BYTES = 4096 };

struct tree_range {
	uint64_t open, close; /* ids of the thread's first and last call in the range */
	uint64_t start_ns, end_ns;
	uint32_t process, ordinal, frame;
	uint32_t node;  /* 0: no node yet */
	int32_t around; /* range that was open when this one was started; NONE if there was none */
	bool has_time;
	/* true if another thread ended the range, so that the second pass sets `close` */
	bool timed;
	bool crosses; /* true if the range, or one around it, ends after an enclosing range */
};

struct open_call {
	uint64_t id, end_ns;
	uint32_t node;
	uint8_t depth;
	bool has_time;
};

struct tree_builder {
	struct gt_calltree *tree;
	struct gt_view view;
	const struct gt_view_options *options;
	unsigned pass;
	bool filtered;
	/* root of the last call outside ranges and calls; root 0: none yet */
	uint32_t root_process, root;
	struct tree_range *ranges; /* sorted by process, ordinal, open */
	size_t range_count, range_room, timed_count;
	struct gt_callset callers;     /* calls that launched activities, with their nodes */
	struct gt_call_stacks *stacks; /* NULL: no stacks */
	struct gt_frame_names *names;
	/* Current thread in the third pass; the second pass uses some of these fields. */
	uint32_t process, ordinal;
	size_t next_range, range_end;
	int32_t range; /* range that was started last; may have ended */
	struct open_call calls[DEPTH_MAX];
	unsigned depth;
};

static int no_memory(void)
{
	return gt_error(-ENOMEM, "cannot export");
}

/* The tree ------------------------------------------------------------------------ */

/* Return the index of a frame, or a negative value if out of memory. */
static int64_t get_frame(struct gt_calltree *t, enum gt_frame_kind kind, const char *text)
{
	size_t bytes = strlen(text);
	uint64_t a = gt_text_hash(text, bytes, kind), b = gt_text_hash(text, bytes, ~a);
	int64_t found = gt_map_find(&t->frame_map, a, b);
	struct gt_calltree_frame *frames;
	char *copy;

	if (found >= 0)
		return found;
	frames = gt_grow(t->frames, t->frame_count, &t->frame_room, sizeof *frames);
	if (!frames)
		return no_memory();
	t->frames = frames;
	copy = strdup(text);
	if (!copy || gt_map_add(&t->frame_map, a, b, (uint32_t)t->frame_count)) {
		free(copy);
		return no_memory();
	}
	frames[t->frame_count] = (struct gt_calltree_frame){copy, kind};
	return (int64_t)t->frame_count++;
}

static int64_t add_node(struct gt_calltree *t, uint32_t parent, uint32_t frame)
{
	struct gt_calltree_node *nodes =
		gt_grow(t->nodes, t->node_count, &t->node_room, sizeof *nodes);

	if (!nodes)
		return no_memory();
	t->nodes = nodes;
	nodes[t->node_count] = (struct gt_calltree_node){.parent = parent, .frame = frame};
	if (t->node_count) {
		nodes[t->node_count].sibling = nodes[parent].child;
		nodes[parent].child = (uint32_t)t->node_count;
	}
	return (int64_t)t->node_count++;
}

/* Return the node of a frame below @parent, or a negative value if out of memory. @frame: may be a
 * negative error */
static int64_t get_node(struct gt_calltree *t, int64_t parent, int64_t frame)
{
	uint64_t key = (uint64_t)(uint32_t)frame;
	int64_t found;

	if (parent < 0 || frame < 0)
		return -ENOMEM;
	found = gt_map_find(&t->node_map, (uint64_t)parent, key);
	if (found >= 0)
		return found;
	if (gt_map_add(&t->node_map, (uint64_t)parent, key, (uint32_t)t->node_count))
		return no_memory();
	return add_node(t, (uint32_t)parent, (uint32_t)frame);
}

uint32_t gt_calltree_next(const struct gt_calltree *t, uint32_t node)
{
	if (t->nodes[node].child)
		return t->nodes[node].child;
	while (node && !t->nodes[node].sibling)
		node = t->nodes[node].parent;
	return node ? t->nodes[node].sibling : 0;
}

/* Reverse the lists of children, because each child was inserted at the front. */
static void order_children(struct gt_calltree *t)
{
	for (size_t i = 0; i < t->node_count; i++) {
		uint32_t child = t->nodes[i].child, before = 0;

		while (child) {
			uint32_t next = t->nodes[child].sibling;

			t->nodes[child].sibling = before;
			before = child;
			child = next;
		}
		t->nodes[i].child = before;
	}
}

/* Return the parent node for ranges and calls that no range or call encloses. */
static int64_t get_root(struct tree_builder *b, uint32_t process)
{
	const struct gt_process_info *info = gt_capture_process(b->view.capture, process);
	char title[512] = "?";
	int64_t node;

	if (b->root && b->root_process == process)
		return b->root;
	if (info)
		gt_view_process_title(&b->view, info, title, sizeof title);
	node = get_node(b->tree, 0, get_frame(b->tree, GT_FRAME_PROCESS, title));
	if (node > 0) {
		b->root = (uint32_t)node;
		b->root_process = process;
	}
	return node;
}

/* Return the frame of a text that the view stores, and cache its index in *@own. */
static int64_t get_kept_frame(struct gt_calltree *t, enum gt_frame_kind kind, const char *text,
			      void **own)
{
	uint32_t *kept = *own;
	int64_t frame;

	if (kept)
		return *kept;
	frame = get_frame(t, kind, text);
	kept = frame < 0 ? NULL : malloc(sizeof *kept);
	if (kept) { /* if the index is not cached, the frame is looked up again next time */
		*kept = (uint32_t)frame;
		*own = kept;
	}
	return frame;
}

/* Ranges --------------------------------------------------------------------------- */

/* Add a range. @ended: false if the range was never ended; it then lasts to the end of the
 * recording */
static int add_range(struct tree_builder *b, const struct gt_range *range, bool ended)
{
	struct tree_range *ranges;
	int64_t frame;

	if (range->instant || !range->begun)
		return 0;
	ranges = gt_grow(b->ranges, b->range_count, &b->range_room, sizeof *ranges);
	if (!ranges || b->range_count >= INT32_MAX)
		return no_memory();
	b->ranges = ranges;
	frame = get_frame(b->tree, GT_FRAME_RANGE, range->name);
	if (frame < 0)
		return (int)frame;
	ranges[b->range_count++] = (struct tree_range){
		.open = range->begun,
		.close = range->ended ? range->ended : UINT64_MAX,
		.start_ns = range->start_ns,
		.end_ns = range->end_ns,
		.process = range->process,
		.ordinal = range->ordinal,
		.frame = (uint32_t)frame,
		.around = NONE,
		.has_time = !range->across && !b->filtered,
		.timed = ended && !range->ended,
	};
	b->timed_count += ended && !range->ended;
	return 0;
}

static int compare_thread(const struct tree_range *r, uint32_t process, uint32_t ordinal)
{
	if (r->process != process)
		return r->process < process ? -1 : 1;
	return (r->ordinal > ordinal) - (r->ordinal < ordinal);
}

static int compare_ranges(const void *x, const void *y)
{
	const struct tree_range *a = x, *b = y;
	int threads = compare_thread(a, b->process, b->ordinal);

	if (threads)
		return threads;
	if (a->open != b->open)
		return a->open < b->open ? -1 : 1;
	return (a->close < b->close) - (a->close > b->close); /* outer range first */
}

static void sort_ranges(struct tree_builder *b)
{
	int32_t open = NONE;

	if (b->range_count)
		qsort(b->ranges, b->range_count, sizeof *b->ranges, compare_ranges);
	for (size_t i = 0; i < b->range_count; i++) {
		struct tree_range *r = &b->ranges[i];

		while (open != NONE && (compare_thread(&b->ranges[open], r->process, r->ordinal) ||
					b->ranges[open].close < r->open))
			open = b->ranges[open].around;
		r->around = open;
		r->crosses = open != NONE &&
			     (b->ranges[open].crosses || r->close > b->ranges[open].close);
		open = (int32_t)i;
	}
}

/* Compare ranges. Ranges that another thread ended come first, sorted by thread and end. */
static int compare_timed(const void *x, const void *y)
{
	const struct tree_range *a = x, *b = y;
	int threads;

	if (a->timed != b->timed)
		return a->timed ? -1 : 1;
	threads = compare_thread(a, b->process, b->ordinal);
	return threads ? threads : (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* Set the last call of the ranges that ended before call @item started. Calls of a thread come in
 * order of start. */
static int take_timed(struct tree_builder *b, const struct gt_item *item)
{
	if (item->kind != GT_RECORD_CALL)
		return 0;
	if (item->process != b->process || item->ordinal != b->ordinal) {
		b->process = item->process;
		b->ordinal = item->ordinal;
		for (b->next_range = 0;
		     b->next_range < b->timed_count &&
		     compare_thread(&b->ranges[b->next_range], b->process, b->ordinal) < 0;)
			b->next_range++;
	}
	for (; b->next_range < b->timed_count; b->next_range++) {
		struct tree_range *r = &b->ranges[b->next_range];

		if (compare_thread(r, b->process, b->ordinal) || r->end_ns >= item->start_ns)
			break;
		r->close = item->id - 1 > r->open ? item->id - 1 : r->open;
	}
	return 0;
}

/* Return the index of the thread's first range that opens at call @id or later. */
static size_t find_range(const struct tree_builder *b, uint32_t process, uint32_t ordinal,
			 uint64_t id)
{
	size_t low = 0, high = b->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tree_range *r = &b->ranges[middle];
		int threads = compare_thread(r, process, ordinal);

		if (threads < 0 || (!threads && r->open < id))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return the innermost range in which the thread started call @id, or NONE. @from: last range
 * opened before the call */
static int32_t get_innermost(const struct tree_builder *b, int32_t from, uint64_t id)
{
	while (from != NONE && b->ranges[from].close < id)
		from = b->ranges[from].around;
	return from;
}

/* Return the node of a range. A range without a node is entered as if it were outside all calls. */
static int64_t get_range_node(struct tree_builder *b, int32_t range)
{
	struct tree_range *r = &b->ranges[range];
	int64_t parent, node;
	int32_t path[DEPTH_MAX];
	unsigned depth = 0;

	for (; range != NONE && !b->ranges[range].node && depth < DEPTH_MAX;
	     range = b->ranges[range].around)
		path[depth++] = range;
	if (!depth)
		return r->node;
	parent = range == NONE ? get_root(b, r->process) : b->ranges[range].node;
	while (depth) {
		r = &b->ranges[path[--depth]];
		node = get_node(b->tree, parent, r->frame);
		if (node < 0)
			return node;
		r->node = (uint32_t)node;
		parent = node;
	}
	return parent;
}

/* Return the node of a range that crosses others. Its parents are only the ranges in which call @id
 * was started. */
static int64_t get_open_node(struct tree_builder *b, int32_t range, uint64_t id)
{
	int32_t path[DEPTH_MAX];
	unsigned depth = 0;
	int64_t node;

	for (; range != NONE && b->ranges[range].crosses && depth < DEPTH_MAX;
	     range = b->ranges[range].around)
		if (b->ranges[range].close >= id)
			path[depth++] = range;
	range = get_innermost(b, range, id);
	if (!depth && range == NONE)
		return get_root(b, b->process);
	node = range == NONE ? get_root(b, b->ranges[path[0]].process) : get_range_node(b, range);
	while (depth)
		node = get_node(b->tree, node, b->ranges[path[--depth]].frame);
	return node;
}

/* Calls ----------------------------------------------------------------------------- */

static struct open_call *get_open_call(struct tree_builder *b)
{
	return b->depth ? &b->calls[b->depth - 1] : NULL;
}

/* Return true if @range is inside @call, false if @call is inside @range. */
static bool is_range_in(const struct tree_builder *b, int32_t range, const struct open_call *call)
{
	return range != NONE && (!call || b->ranges[range].open > call->id);
}

/* Return the parent node of a call or range @id that starts inside @range and @call. Subtract its
 * duration from the own time of the inner of the two. */
static int64_t enter(struct tree_builder *b, uint64_t id, int32_t range,
		     const struct open_call *call, uint64_t duration_ns)
{
	struct gt_calltree *t = b->tree;
	int64_t node;

	/* Ranges that cross others have no own time to subtract from. */
	for (int32_t r = range; duration_ns && is_range_in(b, r, call); r = b->ranges[r].around)
		if (b->ranges[r].has_time) {
			t->nodes[b->ranges[r].node].host_ns -= (int64_t)duration_ns;
			duration_ns = 0;
		}
	if (call && call->has_time)
		t->nodes[call->node].host_ns -= (int64_t)duration_ns;
	if (is_range_in(b, range, call))
		return b->ranges[range].crosses ? get_open_node(b, range, id)
						: get_range_node(b, range);
	node = call ? (int64_t)call->node : get_root(b, b->process);
	return node;
}

static int open_range(struct tree_builder *b, int32_t range)
{
	struct tree_range *r = &b->ranges[range];
	const struct open_call *call;
	int64_t node;

	while (b->depth && b->calls[b->depth - 1].end_ns <= r->start_ns)
		b->depth--;
	call = get_open_call(b);
	node = get_node(b->tree,
			enter(b, r->open, r->around, call,
			      r->has_time ? r->end_ns - r->start_ns : 0),
			r->frame);
	if (node < 0)
		return (int)node;
	r->node = (uint32_t)node;
	if (r->has_time)
		b->tree->nodes[node].host_ns += (int64_t)(r->end_ns - r->start_ns);
	return 0;
}

/* Open all ranges of the thread up to call @id. */
static int open_ranges(struct tree_builder *b, uint64_t id)
{
	int status = 0;

	for (; !status && b->next_range < b->range_end && b->ranges[b->next_range].open <= id;
	     b->next_range++) {
		b->range = (int32_t)b->next_range;
		status = open_range(b, b->range);
	}
	return status;
}

static int begin_thread(struct tree_builder *b, const struct gt_item *item)
{
	int status = open_ranges(b, UINT64_MAX); /* remaining ranges of the previous thread */

	b->process = item->process;
	b->ordinal = item->ordinal;
	b->next_range = find_range(b, item->process, item->ordinal, 0);
	b->range_end = find_range(b, item->process, item->ordinal, UINT64_MAX);
	b->range = NONE;
	b->depth = 0;
	return status;
}

/* Return the parent node of a call that another thread handed over. The parent is at the position
 * where that thread made the call. */
static int64_t enter_elsewhere(struct tree_builder *b, const struct gt_item *item)
{
	uint64_t place = gt_item_place(item);
	uint32_t ordinal = GT_ID_ORDINAL(place);
	size_t next = find_range(b, item->process, ordinal, place + 1);
	int32_t range = NONE;

	if (next && !compare_thread(&b->ranges[next - 1], item->process, ordinal))
		range = get_innermost(b, (int32_t)next - 1, place);
	if (range == NONE)
		return get_root(b, item->process);
	return b->ranges[range].crosses ? get_open_node(b, range, place) : get_range_node(b, range);
}

/* Enter the functions from which an outermost call was made, below @node. Return the node of the
 * innermost function. */
static int64_t enter_functions(struct tree_builder *b, int64_t node, const struct gt_item *call)
{
	uint32_t number = gt_call_stacks_find(b->stacks, call->process, call->id);
	struct gt_frames frames = {0};
	char text[FRAME_BYTES];

	if (number)
		frames = gt_frames_get(b->names, call->process, number);
	for (size_t i = frames.count; i-- > 0 && node >= 0;) {
		gt_frame_text(&frames.list[i], text, sizeof text);
		node = get_node(b->tree, node, get_frame(b->tree, GT_FRAME_HOST, text));
	}
	return node;
}

static int take_call(struct tree_builder *b, const struct gt_item *call)
{
	struct gt_view_operation *operation = gt_view_operation(&b->view, call->op);
	uint64_t duration_ns = call->end_ns > call->start_ns ? call->end_ns - call->start_ns : 0;
	int status = open_ranges(b, call->id);
	uint32_t *caller;
	int64_t node;
	bool wanted;

	if (!operation || status)
		return -ENOMEM;
	while (b->depth && b->calls[b->depth - 1].depth >= call->depth)
		b->depth--;
	if (call->within && !b->depth)
		node = enter_elsewhere(b, call);
	else
		node = enter(b, call->id, get_innermost(b, b->range, call->id), get_open_call(b),
			     duration_ns);
	if (b->stacks && !b->depth)
		node = enter_functions(b, node, call);
	node = get_node(b->tree, node,
			get_kept_frame(b->tree, GT_FRAME_CALL, operation->name, &operation->own));
	if (node < 0)
		return (int)node;
	wanted = !b->filtered || gt_capture_wants(b->view.capture, call);
	if (wanted)
		b->tree->nodes[node].host_ns += (int64_t)duration_ns;
	if (b->depth < DEPTH_MAX)
		b->calls[b->depth++] = (struct open_call){call->id, call->end_ns, (uint32_t)node,
							  call->depth, wanted};
	caller = gt_callset_find(&b->callers, call->process, call->id);
	if (caller)
		*caller = (uint32_t)node;
	return 0;
}

/* GPU activities -------------------------------------------------------------------- */

static int take_activity(struct tree_builder *b, const struct gt_item *activity)
{
	const uint32_t *caller = gt_callset_find(&b->callers, activity->process, activity->id);
	struct gt_view_text *name =
		activity->name ? gt_view_name(&b->view, activity->process, activity->name) : NULL;
	int64_t node = caller && *caller ? *caller : enter_elsewhere(b, activity);

	if (activity->name && !name)
		return -ENOMEM;
	if (!activity->start_ns || activity->end_ns < activity->start_ns) {
		b->tree->untimed++;
		return 0;
	}
	node = get_node(b->tree, node,
			name ? get_kept_frame(b->tree, GT_FRAME_ACTIVITY, name->text, &name->own)
			     : get_frame(b->tree, GT_FRAME_ACTIVITY,
					 gt_device_op_name(activity->device_op)));
	if (node < 0)
		return (int)node;
	b->tree->nodes[node].device_ns += activity->end_ns - activity->start_ns;
	b->tree->nodes[node].device_count++;
	return 0;
}

/* Passes ---------------------------------------------------------------------------- */

static void report_pass(void *data, uint64_t done, uint64_t total)
{
	const struct tree_builder *b = data;

	b->options->progress(b->options->progress_data, done + b->pass * total, PASSES * total);
}

typedef int take_item_fn(struct tree_builder *b, struct gt_ranges *ranges,
			 const struct gt_item *item);

static int take_first(struct tree_builder *b, struct gt_ranges *ranges, const struct gt_item *item)
{
	struct gt_range range;
	int status;

	if (item->kind == GT_RECORD_DEVICE && item->id && gt_capture_wants(b->view.capture, item))
		return gt_callset_mark(&b->callers, item->process, item->id) ? no_memory() : 0;
	if (item->kind != GT_RECORD_CALL)
		return 0;
	status = gt_ranges_step(ranges, item, &range);
	return status > 0 ? add_range(b, &range, true) : status;
}

static int take_second(struct tree_builder *b, struct gt_ranges *ranges, const struct gt_item *item)
{
	(void)ranges;
	return take_timed(b, item);
}

static int take_third(struct tree_builder *b, struct gt_ranges *ranges, const struct gt_item *item)
{
	int status = 0;

	(void)ranges;
	if (item->kind != GT_RECORD_CALL)
		return 0;
	if (item->process != b->process || item->ordinal != b->ordinal)
		status = begin_thread(b, item);
	return status || gt_mark_of(item->op) != GT_MARK_NONE ? status : take_call(b, item);
}

static int take_fourth(struct tree_builder *b, struct gt_ranges *ranges, const struct gt_item *item)
{
	(void)ranges;
	if (item->kind != GT_RECORD_DEVICE || !gt_capture_wants(b->view.capture, item))
		return 0;
	return take_activity(b, item);
}

static int run_pass(struct tree_builder *b, struct gt_ranges *ranges, take_item_fn *take)
{
	struct gt_view_options ours = {.progress = b->options && b->options->progress ? report_pass
										      : NULL,
				       .progress_data = b};
	struct gt_view_progress progress;
	const struct gt_item *item;
	struct gt_cursor *cursor;
	int more, status = gt_cursor_create(b->view.capture, &cursor);

	if (status)
		return status;
	gt_cursor_take_all(cursor);
	gt_view_progress_begin(&progress, &b->view, &ours);
	while (!status && (more = gt_cursor_next(cursor, &item)) != 0) {
		status = more < 0 ? more : take(b, ranges, item);
		gt_view_progress_step(&progress, cursor);
	}
	gt_cursor_destroy(cursor);
	b->pass++;
	return status;
}

static int read_ranges(struct tree_builder *b)
{
	struct gt_ranges ranges = {.open = NULL};
	struct gt_range range;
	int status = run_pass(b, &ranges, take_first);

	while (!status && gt_ranges_rest(&ranges, &range))
		status = add_range(b, &range, false);
	gt_ranges_fini(&ranges);
	if (!status && b->timed_count) {
		qsort(b->ranges, b->range_count, sizeof *b->ranges, compare_timed);
		status = run_pass(b, NULL, take_second);
		b->process = UINT32_MAX;
	}
	b->pass = 2;
	b->next_range = 0;
	sort_ranges(b);
	if (!status && gt_callset_settle(&b->callers))
		status = no_memory();
	return status;
}

static void add_up(struct gt_calltree *t)
{
	for (size_t i = 0; i < t->node_count; i++) {
		if (t->nodes[i].host_ns < 0)
			t->nodes[i].host_ns = 0;
		t->host_ns += (uint64_t)t->nodes[i].host_ns;
		t->device_ns += t->nodes[i].device_ns;
	}
	order_children(t);
}

/* Return true if stacks were recorded only for calls that end gaps, so that few launches have one.
 * The tree then has no functions of the program, as without stacks. */
static bool has_only_gaps(const struct gt_capture *c)
{
	for (size_t i = 0; i < gt_capture_session_count(c); i++) {
		const char *options = gt_capture_session_at(c, i)->info.options;

		if (!options || !strstr(options, " stacks=gaps"))
			return false;
	}
	return true;
}

static int read_stacks(struct tree_builder *b)
{
	int status = 0;

	if (!has_only_gaps(b->view.capture))
		status = gt_call_stacks_create(b->view.capture, &b->stacks);
	if (!status && b->stacks)
		b->names = gt_frame_names_create(b->view.capture);
	return !status && b->stacks && !b->names ? no_memory() : status;
}

int gt_calltree_build(struct gt_calltree *t, const struct gt_capture *c,
		      const struct gt_view_options *options)
{
	struct tree_builder b = {.tree = t,
				 .options = options,
				 .filtered = gt_capture_is_filtered(c),
				 .process = UINT32_MAX,
				 .range = NONE};
	int64_t frame;
	int status = gt_view_init(&b.view, c, options);

	if (status)
		return status;
	status = read_stacks(&b);
	frame = get_frame(t, GT_FRAME_PROCESS, "");
	status = status ? status : frame < 0 ? (int)frame : (int)add_node(t, 0, (uint32_t)frame);
	if (!status)
		status = read_ranges(&b);
	if (!status)
		status = run_pass(&b, NULL, take_third);
	if (!status)
		status = open_ranges(&b, UINT64_MAX);
	if (!status)
		status = run_pass(&b, NULL, take_fourth);
	if (!status)
		add_up(t);
	free(b.ranges);
	gt_callset_fini(&b.callers);
	gt_call_stacks_destroy(b.stacks);
	gt_frame_names_destroy(b.names);
	gt_view_fini(&b.view);
	return status;
}

void gt_calltree_fini(struct gt_calltree *t)
{
	for (size_t i = 0; i < t->frame_count; i++)
		free(t->frames[i].text);
	free(t->frames);
	free(t->nodes);
	gt_map_fini(&t->node_map);
	gt_map_fini(&t->frame_map);
	*t = (struct gt_calltree){.nodes = NULL};
}
