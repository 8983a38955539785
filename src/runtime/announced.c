/* SPDX-License-Identifier: MIT */
/* See announced.h. Open calls of a thread:
 *
 *   open_calls (thread-local) ─► | calls[0] | calls[1] | .. |  taken at the thread's first call,
 *                                  outermost  innermost        returned for reuse at its end
 *
 * A call may be left by a jump (longjmp(), an exception), so that its end is never announced. The
 * next call that begins detects this: either it is at least as far up in the stack, or the word
 * just below the old call's stack address has been overwritten. The next call then drops the old
 * call. The end of an enclosing call also drops the calls inside it. Taps use the same rule with
 * gt_thread.outer and outer_return, which this file sets to the call's values.
 *
 * Data to which a call points is read when the call has ended and its status is success, because
 * the runtime may not have validated the data earlier.
 *
 * Locking: areas without a thread form a list, which is changed by compare and exchange of its
 * head. A change count protects against an area that was removed and added again meanwhile (the ABA
 * problem). Never here: allocation, except for a thread's first call. */
#include "runtime/announced.h"

#include <errno.h>
#include <stdalign.h>

#include "core/emit.h"
#include "core/stacks.h"
#include "record/describe.h"
#include "tool/tool.h"

enum { OPEN_MOST = 8, ARGUMENTS_MOST = 24, HELD_BYTES = 256 };

struct open_call {
	const struct gt_table *table;
	uint32_t index, word;
	uintptr_t at;
	uint64_t key, id, start;
	uint64_t slow_from_ns; /* start of the call if slow calls are wanted; otherwise 0 */
	uint32_t epoch, depth;
	bool is_recorded, is_notified;
	struct gt_tool_frame frame;
	alignas(8) uint8_t held[HELD_BYTES]; /* arguments in the form that tools get */
};

struct open_calls {
	/* next: number of the next area in the list; number: of this area, from 1 */
	uint32_t next, number;
	unsigned count;
	struct open_call calls[OPEN_MOST];
};

enum { AREAS_MOST = 4096 };
static struct open_calls *_Atomic areas[AREAS_MOST];
static _Atomic uint32_t area_count;
static _Atomic uint64_t idle_areas; /* number of the first area; upper half: change count */

static _Thread_local struct open_calls *open_calls __attribute__((tls_model("initial-exec")));

/* Areas ------------------------------------------------------------------------------------ */

static struct open_calls *take_idle_area(void)
{
	uint64_t head = atomic_load_explicit(&idle_areas, memory_order_acquire), next;
	struct open_calls *area;

	do {
		if (!(uint32_t)head)
			return NULL;
		area = atomic_load_explicit(&areas[(uint32_t)head - 1], memory_order_relaxed);
		next = ((head >> 32) + 1) << 32 | __atomic_load_n(&area->next, __ATOMIC_RELAXED);
	} while (!atomic_compare_exchange_weak_explicit(&idle_areas, &head, next,
							memory_order_acquire,
							memory_order_acquire));
	return area;
}

static struct open_calls *make_area(void)
{
	struct open_calls *area;
	uint32_t number;

	if (atomic_load_explicit(&area_count, memory_order_relaxed) >= AREAS_MOST)
		return NULL;
	number = atomic_fetch_add_explicit(&area_count, 1, memory_order_relaxed);
	area = number < AREAS_MOST ? gt_arena_take(sizeof *area) : NULL;
	if (area) {
		area->number = number + 1;
		atomic_store_explicit(&areas[number], area, memory_order_relaxed);
	}
	return area;
}

static struct open_calls *take_area(void)
{
	struct open_calls *area = take_idle_area();

	if (!area)
		area = make_area();
	if (area)
		area->count = 0;
	open_calls = area;
	return area;
}

/* Return the area of a thread that ends to the list. */
static void give_area(struct gt_thread *t)
{
	struct open_calls *area = open_calls;
	uint64_t head, next;

	(void)t;
	if (!area)
		return;
	open_calls = NULL;
	head = atomic_load_explicit(&idle_areas, memory_order_relaxed);
	do {
		__atomic_store_n(&area->next, (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | area->number;
	} while (!atomic_compare_exchange_weak_explicit(&idle_areas, &head, next,
							memory_order_release,
							memory_order_relaxed));
}

void gt_announced_init(enum gt_domain domain)
{
	gt_domain_description(domain); /* allocates the description in advance */
	atomic_store_explicit(&gt_thread_hooks.ends[GT_THREAD_END_ANNOUNCED], give_area,
			      memory_order_release);
}

/* Open calls ------------------------------------------------------------------------------- */

static bool is_left(const struct open_call *c, uintptr_t at)
{
	return at && c->at && (at >= c->at || gt_stack_word(c->at) != c->word);
}

/* Drop the innermost call, which was left by a jump. */
static void drop_call(struct open_calls *open)
{
	open->calls[--open->count].frame.mark = 0;
}

static struct open_call *push_call(const struct gt_announcement *a)
{
	struct open_calls *open = open_calls ? open_calls : take_area();
	struct open_call *c;

	if (!open)
		return NULL;
	while (open->count && is_left(&open->calls[open->count - 1], a->at))
		drop_call(open);
	if (open->count == OPEN_MOST)
		return NULL;
	c = &open->calls[open->count++];
	c->table = a->table;
	c->index = a->index;
	c->key = a->key;
	c->at = a->at;
	c->word = a->at ? gt_stack_word(a->at) : 0;
	c->is_recorded = c->is_notified = false;
	c->frame.mark = 0;
	return c;
}

/* Return the call that ends, and drop the calls inside it. Return NULL if its start was not
 * announced. */
static struct open_call *find_call(const struct gt_announcement *a)
{
	struct open_calls *open = open_calls;

	for (unsigned i = open ? open->count : 0; i-- > 0;) {
		struct open_call *c = &open->calls[i];

		if (c->table != a->table || c->index != a->index || c->key != a->key)
			continue;
		while (open->count > i + 1)
			drop_call(open);
		return c;
	}
	return NULL;
}

/* Recording -------------------------------------------------------------------------------- */

static struct gt_thread *find_thread(enum gt_domain domain, uintptr_t at)
{
	struct gt_thread *t = &gt_thread;

	if (gt_likely(gt_thread_ready(t) && gt_thread_is_inside(t, at)))
		return t;
	return gt_thread_attach_call(t, domain, at);
}

static void begin_recording(struct open_call *c, uint32_t services)
{
	const uint32_t op = c->table->operations[c->index].op;
	struct gt_thread *t = find_thread(c->table->domain, c->at ? c->at : GT_HERE());

	if (gt_unlikely(!t))
		return;
	c->depth = t->depth;
	c->id = gt_call_begin(t, c->table->domain, GT_OP_NUMBER(op));
	if (!c->depth && c->at) { /* the call's address, not that of this function */
		t->outer = c->at;
		t->outer_return = c->word;
	}
	c->epoch = t->epoch;
	c->is_recorded = true;
	c->slow_from_ns = 0;
	if (gt_unlikely(services & GT_SERVICE_STACK))
		gt_stacks_take(t, op, c->id);
	else if (gt_unlikely(services & GT_SERVICE_SLOW))
		c->slow_from_ns = gt_ticks_boottime();
	c->start = gt_domain_traits[c->table->domain].annotations
			   ? gt_call_start(t, c->table->domain)
			   : gt_edge_start(t, op, c->id);
}

struct arguments {
	const struct gt_domain_description *domain;
	const struct gt_operation_info *info;
	const uint8_t *at;
	uint64_t words[ARGUMENTS_MOST];
	struct gt_blob blobs[ARGUMENTS_MOST];
	unsigned count, blob_count;
	size_t value_bytes; /* bytes of structs passed by value, with their headers */
	bool is_read;       /* true if the runtime has read the data behind the pointers */
};

static void add_blob(struct arguments *all, struct gt_blob blob)
{
	if (blob.data)
		all->blobs[all->blob_count++] = blob;
}

static const void *pointer_at(const uint8_t *at)
{
	const void *p;

	memcpy(&p, at, sizeof p);
	return p;
}

/* Return the size of an array in bytes. The length argument counts bytes or elements of the array's
 * type. */
static uint64_t array_bytes(const struct arguments *all, const struct gt_argument_info *a)
{
	const struct gt_argument_info *length = &all->info->args[a->length_arg];
	const unsigned each = a->how == GT_HOW_BYTES ? 1 : all->domain->types[a->value_type].bytes;

	return gt_value_load(&all->domain->types[length->value_type], all->at + length->offset) *
	       each;
}

/* Add the data that a pointer argument points to. */
static void add_pointer(struct arguments *all, unsigned i, const struct gt_announcement *call)
{
	const struct gt_argument_info *a = &all->info->args[i];
	const void *p = pointer_at(all->at + a->offset);
	const int is_read = all->is_read && p;

	all->words[i] = (uintptr_t)p;
	switch (a->how) {
	case GT_HOW_NAMED: add_blob(all, gt_blob_string(i, 1, call->name)); break;
	case GT_HOW_STRING: add_blob(all, gt_blob_string(i, is_read, p)); break;
	case GT_HOW_STRUCT:
		add_blob(all, gt_blob(i, is_read, p, all->domain->types[a->value_type].bytes));
		break;
	case GT_HOW_ARRAY:
	case GT_HOW_BYTES:
		if (a->length_arg < all->count)
			add_blob(all, gt_blob(i, is_read, p, array_bytes(all, a)));
		break;
	default:
		if (a->out)
			all->words[i] =
				is_read ? gt_value_load(&all->domain->types[a->value_type], p) : 0;
	}
}

static void add_value(struct arguments *all, unsigned i, const struct gt_announcement *call)
{
	const struct gt_argument_info *a = &all->info->args[i];

	if (a->how == GT_HOW_STRUCT) {
		all->words[i] = gt_value_word(all->at + a->offset, a->bytes);
		all->value_bytes += sizeof(struct gt_payload) + ((a->bytes + 7u) & ~7u);
		return;
	}
	all->words[i] = gt_value_load(&all->domain->types[a->value_type], all->at + a->offset);
	if (a->how == GT_HOW_NAMED)
		add_blob(all, gt_blob_string(i, 1, call->name));
}

static bool find_arguments(struct arguments *all, const struct gt_announcement *call,
			   int32_t status)
{
	const uint32_t op = call->table->operations[call->index].op;

	all->domain = gt_domain_description(call->table->domain);
	all->info = gt_operation(op);
	all->at = call->arguments;
	if (!all->info || !all->info->nargs || all->info->nargs > ARGUMENTS_MOST || !all->at)
		return false;
	all->count = all->info->nargs;
	all->blob_count = 0;
	all->value_bytes = 0;
	all->is_read =
		all->info->status_arg != -1 || !gt_status_failed(call->table->domain, status);
	for (unsigned i = 0; i < all->count; i++)
		if (all->info->args[i].stars)
			add_pointer(all, i, call);
		else
			add_value(all, i, call);
	return true;
}

static void put_values(uint64_t *p, const struct arguments *all, const struct gt_facts *facts)
{
	if (facts) {
		gt_value_put(p, GT_PAYLOAD_FACTS, facts, sizeof *facts);
		p += 1 + sizeof *facts / 8;
	}
	for (unsigned i = 0; i < all->count; i++) {
		const struct gt_argument_info *a = &all->info->args[i];

		if (a->stars || a->how != GT_HOW_STRUCT)
			continue;
		gt_value_put(p, i, all->at + a->offset, a->bytes);
		p += 1 + (a->bytes + 7u) / 8;
	}
	gt_blobs_put(p, all->blobs, all->blob_count);
}

static void write_record(struct gt_thread *t, const struct open_call *c,
			 const struct gt_announcement *call, int32_t status, uint64_t end)
{
	const uint32_t op = c->table->operations[c->index].op;
	const uint64_t ret = (uint64_t)(int64_t)status;
	struct gt_record_call *r;
	struct arguments all;
	size_t bytes;

	if (!gt_tap_options.record_args || !find_arguments(&all, call, status)) {
		gt_tap_record_plain(t, GT_OP(c->table->domain, GT_OP_NUMBER(op), 0), c->id,
				    c->start, end, ret);
		return;
	}
	bytes = sizeof *r + 8 * all.count + all.value_bytes +
		gt_blobs_bytes(all.blobs, all.blob_count) +
		(call->facts ? sizeof(struct gt_payload) + sizeof *call->facts : 0);
	r = gt_tap_record(t, op, bytes, c->id, c->start, end, ret);
	if (gt_unlikely(!r))
		return;
	memcpy(r->args, all.words, 8 * all.count);
	put_values(r->args + all.count, &all, call->facts);
	gt_ring_commit(t, bytes);
}

static void end_recording(const struct open_call *c, const struct gt_announcement *call,
			  int32_t status, uint64_t end)
{
	struct gt_thread *t = &gt_thread;

	/* In a forked child, do nothing if the call began in the parent. */
	if (t->epoch == c->epoch &&
	    t->epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed)) {
		t->depth = c->depth + 1;
		if (!gt_domain_traits[c->table->domain].annotations)
			gt_edge_note_end(t, c->id, c->start, end);
		write_record(t, c, call, status, end);
		if (gt_unlikely(c->slow_from_ns) &&
		    gt_stacks_is_slow(gt_ticks_boottime() - c->slow_from_ns))
			gt_stacks_take(t, c->table->operations[c->index].op, c->id);
	}
	gt_call_end(t);
}

uint64_t gt_announced_open(uint64_t *start)
{
	const struct open_calls *open = open_calls;
	const uintptr_t here = GT_HERE();

	for (unsigned i = open ? open->count : 0; i-- > 0;) {
		const struct open_call *c = &open->calls[i];

		if (!c->is_recorded || c->epoch != gt_thread.epoch || is_left(c, here))
			continue;
		*start = c->start;
		return c->id;
	}
	return 0;
}

/* Begin and end ---------------------------------------------------------------------------- */

/* Return the size of the struct of all arguments. */
static uint32_t arguments_bytes(const struct gt_operation_info *info)
{
	const struct gt_argument_info *last =
		info && info->nargs ? &info->args[info->nargs - 1] : NULL;

	return last ? last->offset + last->bytes : 0;
}

/* Notify tools of the start. Tools get a copy of the arguments, so that changes by tools have no
 * effect. */
static void notify_begin(struct open_call *c, const void *arguments)
{
	uint32_t bytes =
		arguments ? arguments_bytes(gt_operation(c->table->operations[c->index].op)) : 0;

	if (bytes > HELD_BYTES)
		bytes = 0;
	if (bytes)
		memcpy(c->held, arguments, bytes);
	c->is_notified = gt_tool_call_enter_at(&c->frame, c->at ? c->at : GT_HERE(), c->table,
					       c->index, bytes ? c->held : NULL, bytes);
}

void gt_announced_begin(const struct gt_announcement *a)
{
	const struct gt_tap *tap = &a->table->taps[a->index];
	struct open_call *c;
	int saved = errno;

	if (!gt_announced_is_wanted(a->table, a->index) || gt_thread.internal)
		return;
	c = push_call(a);
	if (c && gt_tap_services(tap) & GT_SERVICE_NOTIFY)
		notify_begin(c, a->arguments);
	/* Read again, because the notification may have started tools. */
	if (c && gt_tap_services(tap) & GT_SERVICE_STREAM)
		begin_recording(c, gt_tap_services(tap));
	errno = saved;
}

bool gt_announced_is_open(const struct gt_announcement *a)
{
	const struct open_calls *open = open_calls;
	const struct open_call *c = open && open->count ? &open->calls[open->count - 1] : NULL;

	return c && c->table == a->table && c->index == a->index && c->key == a->key;
}

void gt_announced_end(const struct gt_announcement *a, int32_t status)
{
	uint64_t end = gt_ticks();
	struct open_call *c = find_call(a);
	int saved = errno;

	if (!c)
		return;
	if (c->is_recorded)
		end_recording(c, a, status, end);
	if (c->is_notified) {
		c->frame.word = gt_stack_word(c->frame.at);
		gt_tool_call_exit(&c->frame, &status, sizeof status);
	}
	open_calls->count = (unsigned)(c - open_calls->calls);
	errno = saved;
}
