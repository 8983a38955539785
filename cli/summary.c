/* SPDX-License-Identifier: MIT */
/* One pass over the records of all files together. Every record is first put into small numbers
 * (its name, device, process, thread, queue), then shown to the filter, then added to its group,
 * its thread and its device. */
#include "cli/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/enclosing_read.h"
#include "cli/kept.h"
#include "cli/recorded_text.h"
#include "cli/ui.h"
#include "cli/untraced.h"
#include "cli/waits.h"
#include "util/demangle.h"
#include "util/error.h"

/* numbers of device operations in FILTER_KIND: behind the calls' kinds */
enum { KIND_DEVICE = 64 };

/* What is only needed while they are read. */
struct summary_reading {
	struct summary *s;
	const struct gt_capture *capture;
	struct idmap operations; /* GT_OP() -> name */
	struct idmap strings;    /* process << 32 | string id -> name */
	struct idmap threads;    /* process << 32 | ordinal -> thread */
	struct idmap devices;    /* process << 32 | device reference -> device */
	struct idmap queues;     /* address of gt_object_info -> queue */
	struct gt_ranges ranges;
	uint64_t last_thread_key;
	uint32_t last_thread;
};

/* A record in small numbers. */
struct summary_entry {
	const struct gt_item *item;
	enum summary_class class;
	uint32_t domain, name, device, process, thread, queue;
	uint32_t brief;              /* name of work, of copies the direction alone */
	uint32_t ranges;             /* around it */
	uint32_t scope, category;    /* of a range */
	enum gt_operation_kind kind; /* of a call */
	uint64_t duration_ns;
	uint64_t at_ns; /* its begin; of work without times that of its call; 0: not known */
	int32_t status;
	bool timed, failed;
};

#define GROW(array, count, room)                                                             \
	((count) == (room) ? ((array) = lookup_grow((array), (room), (room) ? (room)*2 : 16, \
						    sizeof *(array)),                        \
			      (room) = (room) ? (room)*2 : 16)                               \
			   : 0)

/* Names for people and filters -------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static unsigned range_texts(const struct summary *s, uint32_t set, const char **texts)
{
	uint32_t names[FILTER_TEXTS_MOST];
	unsigned count = enclosing_names(&s->enclosing, set, names, FILTER_TEXTS_MOST);

	for (unsigned i = 0; i < count; i++)
		texts[i] = texts_get(&s->names, names[i]);
	return count;
}

unsigned summary_texts(void *data, enum filter_field field, uint32_t number, const char **texts)
{
	static _Thread_local char digits[32];
	struct summary *s = data;

	switch (field) {
	case FILTER_NAME: texts[0] = texts_get(&s->names, number); return 1;
	case FILTER_DOMAIN: texts[0] = gt_domain_name((enum gt_domain)number); return 1;
	case FILTER_KIND:
		texts[0] = number < KIND_DEVICE
				   ? gt_operation_kind_name((enum gt_operation_kind)number)
				   : gt_device_op_name((enum gt_device_op)(number - KIND_DEVICE));
		return 1;
	case FILTER_DEVICE:
		snprintf(digits, sizeof digits, "%" PRIu32, number);
		texts[0] = digits;
		texts[1] = s->devices[number].name;
		return 2;
	case FILTER_PROCESS:
		snprintf(digits, sizeof digits, "%" PRIu32, s->processes[number].pid);
		texts[0] = digits;
		texts[1] = s->processes[number].name;
		texts[2] = s->processes[number].exe;
		return 3;
	case FILTER_THREAD:
		snprintf(digits, sizeof digits, "%" PRIu32, s->threads[number].tid);
		texts[0] = digits;
		texts[1] = s->threads[number].name;
		return 2;
	case FILTER_QUEUE:
		snprintf(digits, sizeof digits, "%" PRIu32, s->queues[number].ordinal);
		texts[0] = digits;
		return 1;
	case FILTER_RANGE: return range_texts(s, number, texts);
	case FILTER_HOST: texts[0] = s->files[number].host; return 1;
	default: return 0;
	}
}

/* Small numbers ------------------------------------------------------------------ */

static uint32_t intern_name(struct summary *s, const char *text)
{
	return texts_put(&s->names, text);
}

static uint32_t operation_name(struct summary_reading *r, uint32_t op)
{
	uint32_t name = idmap_get(&r->operations, op);

	if (name == LOOKUP_NONE) {
		name = intern_name(r->s, gt_operation_name(op));
		idmap_put(&r->operations, op, name);
	}
	return name;
}

static uint32_t kernel_name(struct summary_reading *r, const struct gt_item *item)
{
	uint64_t key = (uint64_t)item->process << 32 | item->name;
	uint32_t name = idmap_get(&r->strings, key);
	const char *text;
	char *readable;

	if (name == LOOKUP_NONE) {
		text = item->name ? gt_capture_string(r->capture, item->process, item->name) : "";
		readable = r->s->mangled ? NULL : gt_demangle(text);
		name = intern_name(r->s, readable ? readable : *text ? text : "(no name)");
		free(readable);
		idmap_put(&r->strings, key, name);
	}
	return name;
}

/* Of a copy or a set: its direction; CUDA's says between which kinds of memory, too. */
static uint32_t copy_name(struct summary_reading *r, const struct gt_item *item, uint32_t direction)
{
	uint32_t name = item->name ? kernel_name(r, item) : direction;

	return strncmp(texts_get(&r->s->names, name), "Mem", 3) == 0 ? name : direction;
}

static uint32_t add_thread(struct summary_reading *r, uint32_t process, uint32_t ordinal)
{
	const struct gt_host_clock_map *clock = gt_capture_process_clock(r->capture, process);
	const struct gt_thread_info *info = gt_capture_thread_find(r->capture, process, ordinal);
	struct summary *s = r->s;
	struct summary_thread *t;

	GROW(s->threads, s->thread_count, s->thread_room);
	t = &s->threads[s->thread_count];
	t->process = process;
	t->ordinal = ordinal;
	if (info) {
		t->tid = info->tid;
		t->name = texts_get(&s->names, intern_name(s, info->name ? info->name : ""));
		t->start_ns = clock && info->start_ticks
				      ? gt_host_clock_to_ns(clock, info->start_ticks)
				      : 0;
		t->end_ns =
			clock && info->end_ticks ? gt_host_clock_to_ns(clock, info->end_ticks) : 0;
	} else {
		t->name = texts_get(&s->names, intern_name(s, ""));
	}
	s->processes[t->process].threads++;
	s->files[s->processes[process].file].threads++;
	return s->thread_count++;
}

static uint32_t thread_of(struct summary_reading *r, uint32_t process, uint32_t ordinal)
{
	uint64_t key = (uint64_t)process << 32 | ordinal;
	uint32_t thread;

	if (key == r->last_thread_key && r->last_thread != LOOKUP_NONE)
		return r->last_thread;
	thread = idmap_get(&r->threads, key);
	if (thread == LOOKUP_NONE) {
		thread = add_thread(r, process, ordinal);
		idmap_put(&r->threads, key, thread);
	}
	r->last_thread_key = key;
	r->last_thread = thread;
	return thread;
}

/* The capture says which devices are the same. */
static uint32_t add_device(struct summary_reading *r, const struct gt_object_info *object,
			   enum gt_domain domain)
{
	struct summary *s = r->s;
	const char *name = object ? gt_object_called(object) : NULL;
	struct summary_device *d;
	char id[32];
	uint32_t number;

	name = name && *name ? name : "unknown device";
	snprintf(id, sizeof id, "%d", object ? (int)object->device_index : -1);
	number = texts_put(&s->device_ids, id);
	if (number < s->device_count)
		return number;
	GROW(s->devices, s->device_count, s->device_room);
	d = &s->devices[s->device_count++];
	d->name_id = intern_name(s, name);
	d->name = texts_get(&s->names, d->name_id);
	d->domain = domain;
	return number;
}

static uint32_t device_of(struct summary_reading *r, const struct gt_item *item)
{
	uint64_t key = (uint64_t)item->process << 32 | item->op;
	uint32_t device = idmap_get(&r->devices, key);
	const struct gt_object_info *object;

	if (device != LOOKUP_NONE)
		return device;
	object = gt_capture_object_find(r->capture, item->process, GT_OBJECT_DEVICE,
					GT_DEVICE_REF_NUMBER(item->op));
	if (object)
		object = gt_capture_device(r->capture, object->device_index);
	device = add_device(r, object, (enum gt_domain)GT_OP_DOMAIN(item->op));
	idmap_put(&r->devices, key, device);
	return device;
}

static uint32_t queue_of(struct summary_reading *r, const struct gt_item *item, uint32_t device)
{
	uint64_t key = (uint64_t)(uintptr_t)item->queue;
	struct summary *s = r->s;
	uint32_t queue;

	if (!item->queue)
		return LOOKUP_NONE;
	queue = idmap_get(&r->queues, key);
	if (queue != LOOKUP_NONE)
		return queue;
	GROW(s->queues, s->queue_count, s->queue_room);
	queue = s->queue_count++;
	s->queues[queue] = (struct summary_queue){.device = device,
						  .process = item->process,
						  .ordinal = item->queue->ordinal,
						  .handle = item->queue->handle,
						  .domain = item->queue->domain};
	idmap_put(&r->queues, key, queue);
	return queue;
}

/* What tells tracks apart; small, as it is made for every record. */
struct track_ids {
	uint32_t device, name, process, thread, queue, place;
};

static bool is_track(const struct summary_track *l, const struct track_ids *k)
{
	return l->device == k->device && l->name == k->name && l->process == k->process &&
	       l->thread == k->thread && l->queue == k->queue && l->place == k->place;
}

static uint32_t find_track(struct summary *s, const struct track_ids *k)
{
	uint64_t hash = lookup_mix((uint64_t)k->device << 32 | k->name);
	uint32_t i;

	hash = lookup_mix(hash + ((uint64_t)k->process << 32 | k->thread));
	hash = lookup_mix(hash + ((uint64_t)k->place << 32 | k->queue));
	for (; (i = idmap_get(&s->tracks_by_hash, hash)) != LOOKUP_NONE; hash++)
		if (is_track(&s->tracks[i], k))
			return i;
	GROW(s->tracks, s->track_count, s->track_room);
	s->tracks[s->track_count] = (struct summary_track){.device = k->device,
							   .name = k->name,
							   .process = k->process,
							   .thread = k->thread,
							   .queue = k->queue,
							   .place = k->place};
	idmap_put(&s->tracks_by_hash, hash, s->track_count);
	return s->track_count++;
}

/* @e: of device work. */
static struct track_ids track_ids_of(const struct summary *s, const struct summary_entry *e)
{
	unsigned keys = s->track_keys;

	return (struct track_ids){
		.device = e->device,
		.name = keys & SUMMARY_NAME ? e->name : LOOKUP_NONE,
		.process = keys & SUMMARY_PROCESS ? e->process : LOOKUP_NONE,
		.thread = keys & SUMMARY_THREAD ? e->thread : LOOKUP_NONE,
		.queue = keys & SUMMARY_QUEUE ? e->queue : LOOKUP_NONE,
		.place = s->processes[e->process].place,
	};
}

static uint32_t track_of(struct summary *s, const struct summary_entry *e)
{
	const struct track_ids ids = track_ids_of(s, e);

	return find_track(s, &ids);
}

/* Groups ------------------------------------------------------------------------- */

/* What tells groups apart; small, as it is made for every record. */
struct group_ids {
	uint32_t domain, name, device, process, thread, queue, place;
	uint32_t scope, category; /* of ranges; else 0 */
};

static bool is_group(const struct summary_group *g, const struct group_ids *k)
{
	return g->name == k->name && g->domain == k->domain && g->device == k->device &&
	       g->process == k->process && g->thread == k->thread && g->queue == k->queue &&
	       g->place == k->place && g->scope == k->scope && g->category == k->category;
}

static uint32_t find_group(struct summary_groups *groups, const struct group_ids *k,
			   const struct summary_entry *e)
{
	uint64_t hash = lookup_mix((uint64_t)k->name << 32 | k->device);
	uint32_t row;

	hash = lookup_mix(hash + ((uint64_t)k->process << 32 | k->thread));
	hash = lookup_mix(hash + ((uint64_t)k->queue << 32 | k->domain));
	if (k->place != LOOKUP_NONE)
		hash = lookup_mix(hash + k->place);
	if (k->scope | k->category)
		hash = lookup_mix(hash + ((uint64_t)k->scope << 32 | k->category));
	for (; (row = idmap_get(&groups->by_hash, hash)) != LOOKUP_NONE; hash++)
		if (is_group(&groups->rows[row], k))
			return row;
	GROW(groups->rows, groups->count, groups->room);
	groups->rows[groups->count] = (struct summary_group){
		.domain = k->domain,
		.name = k->name,
		.device = k->device,
		.process = k->process,
		.thread = k->thread,
		.queue = k->queue,
		.place = k->place,
		.scope = k->scope,
		.category = k->category,
		.device_op = e->item->device_op,
		.kind = e->kind,
	};
	idmap_put(&groups->by_hash, hash, groups->count);
	return groups->count++;
}

static uint32_t group_of(struct summary *s, const struct summary_entry *e)
{
	struct summary_groups *groups = &s->groups[e->class];
	unsigned keys = s->keys[e->class];
	const struct group_ids k = {
		.domain = e->domain,
		.name = keys & SUMMARY_NAME || e->class >= SUMMARY_COPIES ? e->name : LOOKUP_NONE,
		.device = keys & SUMMARY_DEVICE ? e->device : LOOKUP_NONE,
		.process = keys & SUMMARY_PROCESS ? e->process : LOOKUP_NONE,
		.thread = keys & SUMMARY_THREAD ? e->thread : LOOKUP_NONE,
		.queue = keys & SUMMARY_QUEUE ? e->queue : LOOKUP_NONE,
		.place = s->processes[e->process].place,
		.scope = e->scope,
		.category = e->category,
	};
	uint32_t *hint;

	if (e->name >= groups->hint_count) {
		groups->hints = lookup_grow(groups->hints, groups->hint_count, e->name + 64,
					    sizeof *groups->hints);
		groups->hint_count = e->name + 64;
	}
	hint = &groups->hints[e->name];
	if (!*hint || !is_group(&groups->rows[*hint - 1], &k))
		*hint = find_group(groups, &k, e) + 1;
	return *hint - 1;
}

static void add_to_group(struct summary_group *g, const struct summary_entry *e)
{
	g->count++;
	g->failed += e->failed;
	g->bytes += e->item->bytes;
	if (e->timed) {
		histogram_add(&g->times, e->duration_ns);
		g->timed_bytes += e->item->bytes;
	}
}

static void observe(struct summary *s, const struct summary_entry *e, uint32_t group,
		    uint64_t thread, uint64_t place)
{
	const struct summary_observed what = {
		.class = e->class,
		.group = group,
		.thread = thread,
		.place = place,
		.duration_ns = e->duration_ns,
	};

	if (s->observer && e->timed)
		s->observer->observe(s->observer, &what);
}

static void add_failure(struct summary *s, const struct summary_entry *e)
{
	bool device = e->class >= SUMMARY_KERNELS;
	uint64_t key = lookup_mix((uint64_t)e->name << 32 | (uint32_t)e->status) +
		       (device ? e->domain + 16 : e->domain);
	struct summary_failure *f;
	uint32_t i;

	for (; (i = idmap_get(&s->failure_ids, key)) != LOOKUP_NONE; key++) {
		f = &s->failures[i];
		if (f->name == e->name && f->status == e->status && f->domain == e->domain &&
		    f->device == device) {
			f->count++;
			return;
		}
	}
	GROW(s->failures, s->failure_count, s->failure_room);
	idmap_put(&s->failure_ids, key, s->failure_count);
	s->failures[s->failure_count++] =
		(struct summary_failure){e->domain, e->name, e->status, device, 1};
}

/* Records ------------------------------------------------------------------------ */

static uint64_t thread_key(uint32_t process, uint32_t ordinal)
{
	return enclosing_thread(process, ordinal);
}

/* Of the thread in whose ranges the item is. */
static uint64_t place_key(const struct gt_item *item)
{
	return thread_key(item->process, GT_ID_ORDINAL(gt_item_place(item)));
}

static bool matches(struct summary *s, const struct summary_entry *e, uint32_t kind)
{
	const struct filter_record record = {
		.text = {e->name, e->domain, kind, e->device, e->process, e->thread, e->queue,
			 e->ranges, s->processes[e->process].file},
		.duration_ns = e->duration_ns,
		.bytes = e->item->bytes,
		.at_ns = e->at_ns,
		.rank = (int32_t)s->processes[e->process].rank, /* LOOKUP_NONE is -1 */
		.timed = e->timed,
		.failed = e->failed,
	};

	return !s->filter || filter_match(s->filter, &record);
}

/* The call's time is no own time of the call that it was made in. A call that was made in one that
 * is not recorded finds an earlier one at that depth, which has ended. */
static void note_open(struct summary *s, struct summary_thread *t, const struct summary_entry *e,
		      uint32_t group)
{
	const unsigned depth = e->item->depth;

	if (depth >= t->open_count) {
		t->open = lookup_grow(t->open, t->open_count, depth + 4, sizeof *t->open);
		for (uint32_t i = t->open_count; i < depth + 4; i++)
			t->open[i] = (struct summary_open){.group = LOOKUP_NONE};
		t->open_count = depth + 4;
	}
	if (depth && t->open[depth - 1].group != LOOKUP_NONE &&
	    e->item->start_ns <= t->open[depth - 1].end_ns) {
		struct summary_open *around = &t->open[depth - 1];
		uint64_t inner_ns =
			e->duration_ns < around->own_ns ? e->duration_ns : around->own_ns;

		around->own_ns -= inner_ns;
		s->groups[SUMMARY_CALLS].rows[around->group].inner_ns += inner_ns;
		s->kind_ns[around->kind] -= inner_ns;
	}
	t->open[depth] = (struct summary_open){.end_ns = e->item->start_ns + e->duration_ns,
					       .own_ns = e->duration_ns,
					       .group = group,
					       .kind = e->kind};
}

static void add_wait(struct stages_wait *sum, const struct stages_wait *wait)
{
	sum->moving_ns += wait->moving_ns;
	sum->earlier_ns += wait->earlier_ns;
	sum->runtime_ns += wait->runtime_ns;
	sum->unknown_ns += wait->unknown_ns;
}

/* The domain that a call's device work, or a queue's, is recorded as. Numbers come from files. */
static uint32_t work_domain(uint32_t domain)
{
	return domain < GT_DOMAIN_COUNT ? gt_domain_traits[domain].work : domain;
}

/* Is the call made in another one? One of a domain that is recorded on request does not count: what
 * it waits for is known of the calls in it alone, as if it were not recorded. */
static bool is_inner(struct summary_thread *t, const struct gt_item *item)
{
	const bool requested = gt_domain_traits[GT_OP_DOMAIN(item->op)].requested;

	if (item->depth > t->outer)
		return true;
	t->outer = item->depth + requested;
	return requested;
}

/* A call that waits: in which parts, is known when all work is. One inside of another is a part of
 * that one. */
static void note_wait(struct summary_reading *r, const struct summary_entry *e, bool inner,
		      uint32_t group)
{
	const struct gt_item *item = e->item;
	struct summary *s = r->s;
	uint64_t handles[WAITS_EVENTS_MOST];
	struct stages_call call = {
		.id = item->id,
		.start_ns = item->start_ns,
		.end_ns = item->start_ns + e->duration_ns,
		.process = e->process,
		.thread = e->thread,
		.group = group,
		.domain = work_domain(GT_OP_DOMAIN(item->op)),
	};
	struct stages_wait unknown = {.unknown_ns = e->duration_ns};

	switch (waits_find(item, inner, e->failed, &call, handles)) {
	case WAITS_NOT: break;
	case WAITS_KNOWN: stages_call(&s->stages, &call); break;
	case WAITS_UNKNOWN:
		add_wait(&s->wait, &unknown);
		add_wait(&s->threads[e->thread].wait, &unknown);
		add_wait(&s->groups[SUMMARY_CALLS].rows[group].wait, &unknown);
	}
}

static struct summary_entry entry_of_call(struct summary_reading *r, const struct gt_item *item)
{
	const struct gt_operation_info *info = gt_operation(item->op);
	struct summary_entry e = {
		.kind = info ? (enum gt_operation_kind)info->kind : GT_KIND_OTHER,
		.item = item,
		.class = SUMMARY_CALLS,
		.domain = GT_OP_DOMAIN(item->op),
		.device = LOOKUP_NONE,
		.queue = LOOKUP_NONE,
		.process = item->process,
		.duration_ns = item->end_ns > item->start_ns ? item->end_ns - item->start_ns : 0,
		.at_ns = item->start_ns,
		.timed = true,
	};

	e.name = operation_name(r, item->op);
	e.thread = thread_of(r, item->process, item->ordinal);
	e.ranges = enclosing_find(&r->s->enclosing, place_key(item), gt_item_place(item));
	e.failed = gt_call_status(item->op, item->ret, item->args, &e.status) &&
		   gt_status_failed((enum gt_domain)e.domain, e.status);
	return e;
}

static void add_call(struct summary_reading *r, const struct gt_item *item)
{
	struct summary *s = r->s;
	const struct summary_entry e = entry_of_call(r, item);
	const enum gt_operation_kind kind = e.kind;
	struct summary_process *p;
	struct summary_thread *t;
	uint32_t group = LOOKUP_NONE;
	bool inner;

	if (!s->slice.some)
		linked_call(&s->linked, e.process, item->id);
	waits_note_call(&s->stages.awaited, item);
	t = &s->threads[e.thread];
	p = &s->processes[e.process];
	inner = is_inner(t, item);
	if (matches(s, &e, (uint32_t)kind)) {
		ranks_add_call(&s->ranks, item, true);
		group = group_of(s, &e);
		add_to_group(&s->groups[SUMMARY_CALLS].rows[group], &e);
		observe(s, &e, group, place_key(item), gt_item_place(item));
		launched_call(&s->launched, &(struct launched_call){.process = e.process,
								    .name = e.name,
								    .id = item->id,
								    .ns = e.duration_ns,
								    .kind = e.kind});
		s->matched++;
		s->kind_ns[kind] += e.duration_ns;
		t->calls++;
		p->calls++;
		if (item->depth == 0) {
			t->call_ns += e.duration_ns;
			p->call_ns += e.duration_ns;
		}
		note_wait(r, &e, inner, group);
		if (kind == GT_KIND_ALLOCATION || kind == GT_KIND_FREE)
			gt_memory_use_note(&s->memory, item, 0);
		if (e.failed) {
			t->failed++;
			p->failed++;
			add_failure(s, &e);
		}
	} else {
		ranks_add_call(&s->ranks, item, false);
	}
	note_open(s, t, &e, group);
}

static uint32_t intern_words(struct summary *s, const struct gt_range_words *words)
{
	char text[256];

	if (!words->text || !words->bytes)
		return LOOKUP_NONE;
	snprintf(text, sizeof text, "%.*s", (int)(words->bytes < 255 ? words->bytes : 255),
		 words->text);
	return intern_name(s, text);
}

/* A whole range of the program, nested or not. A mark has a name but no time. @id: of the call
 * that began it; 0: not known. */
static struct summary_entry entry_of_range(struct summary_reading *r, const struct gt_range *range,
					   uint64_t id)
{
	static const struct gt_item item = {.kind = GT_RECORD_CALL};
	struct summary_entry e = {
		.kind = GT_KIND_MARKER,
		.item = &item,
		.class = SUMMARY_RANGES,
		.domain = GT_OP_DOMAIN(range->op),
		.device = LOOKUP_NONE,
		.queue = LOOKUP_NONE,
		.process = range->process,
		.duration_ns = range->end_ns - range->start_ns,
		.at_ns = range->start_ns,
		.timed = !range->instant,
	};

	e.name = intern_name(r->s, range->name);
	e.scope = intern_words(r->s, &range->detail.scope);
	e.category = intern_words(r->s, &range->detail.category);
	e.thread = thread_of(r, range->process, range->ordinal);
	e.ranges = enclosing_find(&r->s->enclosing, thread_key(range->process, range->ordinal), id);
	return e;
}

static void add_range_entry(struct summary_reading *r, const struct gt_range *range, uint64_t id)
{
	struct summary *s = r->s;
	const struct summary_entry e = entry_of_range(r, range, id);
	const bool counts = matches(s, &e, GT_KIND_MARKER);
	uint32_t group;

	operators_range(&s->operators,
			&(struct operators_range){.thread = thread_key(range->process,
								       range->ordinal),
						  .first = range->first,
						  .last = range->last,
						  .duration_ns = e.duration_ns,
						  .name = e.name,
						  .counts = counts});
	if (!s->no_idle)
		idle_add_range(&s->idle, range, e.name);
	if (!counts)
		return;
	s->matched_ranges++;
	ranks_add_range(&s->ranks, e.process, range->name);
	group = group_of(s, &e);
	add_to_group(&s->groups[SUMMARY_RANGES].rows[group], &e);
	observe(s, &e, group, thread_key(range->process, range->ordinal), id);
}

static int add_mark(struct summary_reading *r, const struct gt_item *call)
{
	struct gt_range range;
	int status = gt_ranges_step(&r->ranges, call, &range);

	if (status > 0)
		add_range_entry(r, &range, range.begun);
	return status < 0 ? status : 0;
}

static enum summary_class device_class(enum gt_device_op op)
{
	switch (op) {
	case GT_DEVICE_KERNEL:
	case GT_DEVICE_NATIVE: return SUMMARY_KERNELS;
	case GT_DEVICE_READ:
	case GT_DEVICE_WRITE:
	case GT_DEVICE_COPY:
	case GT_DEVICE_FILL:
	case GT_DEVICE_MAP:
	case GT_DEVICE_UNMAP:
	case GT_DEVICE_MIGRATE: return SUMMARY_COPIES;
	default: return SUMMARY_OTHER;
	}
}

static uint64_t ns_between(uint64_t later, uint64_t earlier)
{
	return later > earlier ? later - earlier : 0;
}

/* From the call's begin to the kernel's start, and where on the way the time went. */
static void add_latency(struct summary_track *d, const struct gt_item *item)
{
	if (!item->call_start_ns || !item->start_ns)
		return;
	if (item->start_ns < item->call_start_ns) {
		d->early++;
		return;
	}
	histogram_add(&d->launch, item->start_ns - item->call_start_ns);
	if (!item->queued_ns || !item->submitted_ns)
		return;
	histogram_add(&d->enqueue, ns_between(item->queued_ns, item->call_start_ns));
	histogram_add(&d->submit, ns_between(item->submitted_ns, item->queued_ns));
	histogram_add(&d->wait, ns_between(item->start_ns, item->submitted_ns));
}

/* Markers and barriers are no work: some runtimes stamp them long before what they wait for has
 * ended. Nor is scratch memory, for which the device waits. */
static bool is_work(const struct gt_item *item)
{
	return item->device_op != GT_DEVICE_MARKER && item->device_op != GT_DEVICE_BARRIER &&
	       item->device_op != GT_DEVICE_SCRATCH;
}

/* All work, whatever the filter: what others stood behind; a device that does others' work is not
 * idle. Those that go on share one order of all work. @track: LOOKUP_NONE: its latency is not asked
 * for. */
static void add_stages(struct summary_reading *r, const struct summary_entry *e, uint32_t track,
		       bool matched)
{
	struct summary *s = r->s;
	const struct gt_item *item = e->item;
	const struct track_ids ids = track_ids_of(s, e);
	const struct gt_device_clock *clock =
		gt_capture_device_clock(r->capture, e->process, GT_DEVICE_REF_NUMBER(item->op));
	const struct idle_work idle = {
		.item = item,
		.owner = {ids.device, ids.name, ids.process, ids.thread, ids.queue, ids.place},
		.slack_ns = clock ? gt_device_clock_residual_ns(clock) : 0,
		.name = e->name,
		.counts = matched,
		.is_marker = !is_work(item),
	};
	struct stages_work work = {
		.id = item->id,
		.call_start_ns = item->call_start_ns,
		.submitted_ns = item->submitted_ns,
		.start_ns = item->start_ns,
		.end_ns = item->end_ns,
		.process = e->process,
		.device = e->device,
		.queue = e->queue,
		.track = track,
		.moves = e->class == SUMMARY_COPIES,
		.slack_ns = 1000 + idle.slack_ns,
	};

	/* what it stood behind may not have been read */
	if (!filter_slice_covers(&s->slice, item->call_start_ns, item->start_ns))
		work.track = LOOKUP_NONE;

	if (e->timed && is_work(item)) {
		work.tag = s->no_idle ? 0 : idle_tag(&s->idle, &idle);
		stages_work(&s->stages, &work);
	} else if (e->timed && !s->no_idle) {
		idle_add_work(&s->idle, &idle);
	} else if (!e->timed && e->queue != LOOKUP_NONE) {
		s->queues[e->queue].untimed = true;
	}
}

static void add_busy(struct summary *s, struct summary_track *d, const struct summary_entry *e)
{
	const struct gt_item *item = e->item;
	struct timeline_span span = {item->start_ns, item->end_ns,
				     item->queued_ns ? item->queued_ns : item->call_start_ns,
				     e->brief, e->brief};

	if (!is_work(item))
		return;
	timeline_add(&d->all, &span);
	ranks_add_work(&s->ranks, e->process, &span);
	if (item->device_op == GT_DEVICE_KERNEL)
		ranks_add_kernel(&s->ranks, item, e->brief, texts_get(&s->names, e->brief));
	if (e->class == SUMMARY_KERNELS)
		timeline_add(&d->kernels, &span);
	else if (e->class == SUMMARY_COPIES)
		timeline_add(&d->copies, &span);
}

static struct summary_entry entry_of_work(struct summary_reading *r, const struct gt_item *item)
{
	struct summary *s = r->s;
	struct summary_entry e = {
		.item = item,
		.class = device_class(item->device_op),
		.domain = GT_OP_DOMAIN(item->op),
		.process = item->process,
		.thread = LOOKUP_NONE,
		.status = item->status,
		.failed = item->status < 0,
		.timed = item->start_ns && item->end_ns >= item->start_ns,
		.at_ns = item->start_ns ? item->start_ns : item->call_start_ns,
	};

	e.duration_ns = e.timed ? item->end_ns - item->start_ns : 0;
	e.brief = item->device_op == GT_DEVICE_KERNEL ||
				  (item->device_op == GT_DEVICE_SCRATCH && item->name)
			  ? kernel_name(r, item)
			  : intern_name(s, gt_device_op_name(item->device_op));
	e.name = e.class == SUMMARY_COPIES ? copy_name(r, item, e.brief) : e.brief;
	e.device = device_of(r, item);
	e.queue = queue_of(r, item, e.device);
	if (item->id)
		e.thread = thread_of(r, item->process, GT_ID_ORDINAL(item->id));
	e.ranges = enclosing_find(&s->enclosing, place_key(item), gt_item_place(item));
	return e;
}

static void add_device_work(struct summary_reading *r, const struct gt_item *item)
{
	struct summary *s = r->s;
	const struct summary_entry e = entry_of_work(r, item);
	struct summary_track *d;
	uint32_t group, track;

	if (!s->slice.some)
		linked_work(&s->linked, e.process, item->id);
	if (!matches(s, &e, KIND_DEVICE + (uint32_t)item->device_op)) {
		add_stages(r, &e, LOOKUP_NONE, false);
		return;
	}
	s->matched++;
	track = track_of(s, &e);
	add_stages(r, &e, item->device_op == GT_DEVICE_KERNEL ? track : LOOKUP_NONE, true);
	group = group_of(s, &e); /* moves the rows when it adds one */
	add_to_group(&s->groups[e.class].rows[group], &e);
	observe(s, &e, group, place_key(item), gt_item_place(item));
	graphs_add(&s->graphs, r->capture, item);
	if (is_work(item))
		launched_work(&s->launched, e.process, item->id, e.name, e.duration_ns);
	/* its ranges may not have been read */
	if (is_work(item) && filter_slice_covers(&s->slice, item->call_start_ns, e.at_ns))
		operators_work(&s->operators, place_key(item), gt_item_place(item), e.duration_ns);
	dispatches_add(&s->dispatches, item);
	d = &s->tracks[track];
	d->count++;
	d->untimed += !e.timed;
	d->failed += e.failed;
	if (e.timed) {
		add_busy(s, d, &e);
		if (item->device_op == GT_DEVICE_KERNEL)
			add_latency(d, item);
	}
	if (e.failed)
		add_failure(s, &e);
	s->processes[e.process].device_count++;
	s->processes[e.process].device_ns += e.duration_ns;
	if (e.thread != LOOKUP_NONE) {
		s->threads[e.thread].device_count++;
		s->threads[e.thread].device_ns += e.duration_ns;
	}
}

/* Files -------------------------------------------------------------------------- */

/* argv joined by NUL as words with spaces between, as a shell would take them. */
static const char *joined(struct summary *s, const char *argv)
{
	char line[4096];
	size_t n = 0;

	for (; argv && *argv && n + 2 < sizeof line; argv += strlen(argv) + 1)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", n ? " " : "",
				      ui_shell_word(argv));
	line[n < sizeof line ? n : sizeof line - 1] = '\0';
	return texts_get(&s->names, intern_name(s, n ? line : ""));
}

static const char *keep_text(struct summary *s, const char *text)
{
	return texts_get(&s->names, intern_name(s, text ? text : ""));
}

static void add_counts(struct gt_counts *sum, const struct gt_counts *counts)
{
	const uint64_t *from = (const uint64_t *)counts;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; counts && i < sizeof *sum / sizeof *to; i++)
		to[i] += from[i];
}

/* A row for each session, whichever file it is in. */
static void add_sessions(struct summary_reading *r)
{
	struct summary *s = r->s;
	size_t count = gt_capture_session_count(r->capture);

	s->files = lookup_grow(s->files, 0, (uint32_t)count, sizeof *s->files);
	for (size_t i = 0; i < count; i++) {
		const struct gt_capture_session *session = gt_capture_session_at(r->capture, i);
		char kept[KEPT_TEXT], recorded[RECORDED_TEXT];

		kept_text(r->capture, session, kept);
		recorded_text(r->capture, session, recorded);
		s->files[s->file_count++] = (struct summary_file){
			.path = keep_text(s, session->path),
			.command = joined(s, session->info.command),
			.host = keep_text(s, session->info.hostname),
			.start_ns = session->info.start_ns,
			.end_ns = session->info.start_ns,
			.realtime_ns = session->info.start_realtime_ns,
			.processes = session->process_count,
			.kept_text = keep_text(s, kept),
			.recorded_text = keep_text(s, recorded),
		};
	}
}

static void count_untraced(struct summary_reading *r)
{
	char text[1200];

	for (size_t i = 0; i < gt_capture_event_count(r->capture); i++) {
		const struct gt_event_info *e = gt_capture_event(r->capture, i);

		if (gt_event_is_untraced(e) && e->process < r->s->process_count)
			r->s->files[r->s->processes[e->process].file].untraced++;
	}
	for (uint32_t i = 0; i < r->s->file_count; i++)
		if (r->s->files[i].untraced) {
			untraced_text(r->capture, i, text, sizeof text);
			r->s->files[i].untraced_text = keep_text(r->s, text);
		}
}

/* Of the rank and the host, as far as rows are split by them. */
static uint32_t place_of(struct summary *s, const struct summary_process *p)
{
	const struct summary_place place = {s->place_keys & SUMMARY_RANK ? p->rank : LOOKUP_NONE,
					    s->place_keys & SUMMARY_HOST ? p->host : LOOKUP_NONE};
	uint64_t key = (uint64_t)place.rank << 32 | place.host;
	uint32_t number = idmap_get(&s->place_ids, key);

	if (!s->place_keys || number != LOOKUP_NONE)
		return number;
	GROW(s->places, s->place_count, s->place_room);
	s->places[s->place_count] = place;
	idmap_put(&s->place_ids, key, s->place_count);
	return s->place_count++;
}

static void add_processes(struct summary_reading *r)
{
	struct summary *s = r->s;
	size_t count = gt_capture_process_count(r->capture);

	for (uint32_t i = 0; i < count; i++) {
		const struct gt_process_info *info = gt_capture_process(r->capture, i);
		struct summary_process *p;
		GROW(s->processes, s->process_count, s->process_room);
		p = &s->processes[s->process_count++];
		*p = (struct summary_process){
			.file = info->session,
			.index = i,
			.pid = info->pid,
			.fork_count = info->fork_count,
			.ppid = info->ppid,
			.start_ns = info->start_ns,
			.end_ns = info->end_ns,
			.wait_status = info->wait_status,
			.ended = info->ended,
			.proper_end = info->proper_end,
		};
		p->exe = keep_text(s, info->exe);
		p->name = keep_text(s, last_part(p->exe));
		p->rank = info->rank.rank < 0 ? LOOKUP_NONE : (uint32_t)info->rank.rank;
		p->host = intern_name(s, s->files[info->session].host);
		p->place = place_of(s, p);
		ranks_add_process(&s->ranks, i, p->rank, p->host);
		ranks_add_life(&s->ranks, i, info->start_ns, info->end_ns);
		s->runtimes |= info->runtimes;
		add_counts(&s->counts, gt_capture_counts(r->capture, i));
		if (info->end_ns > s->files[p->file].end_ns)
			s->files[p->file].end_ns = info->end_ns;
	}
}

static int read_summary(struct summary_reading *r, struct gt_cursor *cursor,
			struct ui_progress *progress)
{
	struct summary *s = r->s;
	const struct gt_item *item;
	uint64_t records = 0;
	int rc;

	while ((rc = gt_cursor_next(cursor, &item)) == 1) {
		struct summary_file *file;
		bool looked_for;

		if ((++records & 0xffff) == 0)
			ui_progress_set(progress, gt_cursor_position(cursor));
		if (item->process >= s->process_count)
			continue; /* a damaged file can say anything */
		if (!s->no_idle)
			idle_note(&s->idle, item);
		file = &s->files[s->processes[item->process].file];
		looked_for = filter_slice_has(&s->slice, item->start_ns ? item->start_ns
									: item->call_start_ns);
		file->records += looked_for;
		if (item->kind == GT_RECORD_CALL) {
			enum gt_range_mark mark = gt_mark_of(item->op);

			if (mark == GT_MARK_RANGE) { /* its time is that of the calls in it */
				s->read_ranges += looked_for;
			} else {
				s->read[GT_CLASS_CALL] += looked_for;
				add_call(r, item);
			}
			if (mark && (rc = add_mark(r, item)))
				return rc;
		} else if (item->kind == GT_RECORD_DEVICE) {
			s->read[GT_CLASS_DEVICE] += looked_for;
			add_device_work(r, item);
		}
		if (item->end_ns > file->end_ns)
			file->end_ns = item->end_ns;
	}
	return rc;
}

/* Did the programs mark no range? As a capture's counts say, if it is whole. */
static bool has_no_ranges(const struct gt_capture *capture)
{
	if (!gt_capture_is_whole(gt_capture_health(capture)))
		return false;
	for (uint32_t i = 0; i < gt_capture_process_count(capture); i++) {
		const struct gt_counts *counts = gt_capture_counts(capture, i);

		for (int domain = 0; domain < GT_DOMAIN_COUNT; domain++)
			if (gt_domain_traits[domain].marks &&
			    (!counts || counts->seen[GT_CLASS_CALL][domain]))
				return false;
	}
	return true;
}

static void reading_fini(struct summary_reading *r)
{
	idmap_fini(&r->operations);
	idmap_fini(&r->strings);
	idmap_fini(&r->threads);
	idmap_fini(&r->devices);
	idmap_fini(&r->queues);
}

/* What the filter must know of the capture before it sees a record, and what of it is read. */
static int begin_filter(struct summary *s, const struct gt_capture *capture)
{
	int rc = 0;

	filter_slice_end(capture);
	if (!s->filter)
		return 0;
	filter_set_origin(s->filter, gt_capture_session(capture)->start_ns);
	if (enclosing_is_asked(s->filter))
		rc = enclosing_read(&s->enclosing, &s->names, s->filter, capture);
	return rc ? rc : filter_slice_begin(&s->slice, s->filter, capture);
}

int summary_add(struct summary *s, const struct gt_capture *capture)
{
	struct gt_cursor *cursor;
	struct gt_range range;
	struct ui_progress progress = {0};
	struct summary_reading r = {
		.s = s,
		.capture = capture,
		.last_thread = LOOKUP_NONE,
	};
	int rc;

	if ((rc = begin_filter(s, capture)))
		return rc;
	rc = gt_cursor_create(capture, &cursor);
	if (rc)
		return rc;
	rc = launched_begin(&s->launched, capture);
	if (rc) {
		gt_cursor_destroy(cursor);
		return rc;
	}
	s->capture = capture;
	stages_init(&s->stages);
	s->idle.capture = capture;
	s->idle.names = &s->names;
	idle_init(&s->idle);
	s->operators.no_ranges = has_no_ranges(capture);
	add_sessions(&r);
	add_processes(&r);
	if (s->progress)
		ui_progress_begin(&progress,
				  s->file_count == 1 ? last_part(s->files[0].path) : "reading",
				  gt_capture_health(capture)->bytes);
	for (uint32_t i = 0; s->slice.some && i < s->file_count; i++) {
		uint64_t last_ns = gt_capture_last_call_ns(capture, i);

		if (last_ns > s->files[i].end_ns)
			s->files[i].end_ns = last_ns;
	}
	rc = read_summary(&r, cursor, &progress);
	while (!rc && gt_ranges_rest(&r.ranges, &range))
		add_range_entry(&r, &range, range.begun);
	gt_ranges_fini(&r.ranges);
	ui_progress_end(&progress);
	count_untraced(&r);
	for (uint32_t i = 0; i < s->file_count; i++) /* damage is found on the way */
		s->files[i].health = gt_capture_session_at(capture, i)->health;
	s->health = *gt_capture_health(capture);
	gt_cursor_destroy(cursor);
	reading_fini(&r);
	return rc < 0 ? rc : 0;
}

/* Without a summary -------------------------------------------------------------- */

struct summary_reading *summary_begin_filter(struct summary *s, const struct gt_capture *capture)
{
	struct summary_reading *r;

	if (begin_filter(s, capture))
		return NULL;
	r = calloc(1, sizeof *r);
	if (!r) {
		gt_error(-ENOMEM, "--where");
		return NULL;
	}
	*r = (struct summary_reading){.s = s, .capture = capture, .last_thread = LOOKUP_NONE};
	s->capture = capture;
	add_sessions(r);
	add_processes(r);
	return r;
}

bool summary_wants(void *reading, const struct gt_item *item)
{
	struct summary_reading *r = reading;
	struct summary_entry e;
	uint32_t kind;

	if (item->process >= r->s->process_count)
		return false;
	if (item->kind == GT_RECORD_DEVICE) {
		e = entry_of_work(r, item);
		kind = KIND_DEVICE + (uint32_t)item->device_op;
	} else if (gt_mark_of(item->op) == GT_MARK_RANGE) {
		struct gt_range range;

		if (gt_ranges_step(&r->ranges, item, &range) != 1)
			return false;
		e = entry_of_range(r, &range, range.begun);
		kind = GT_KIND_MARKER;
	} else {
		e = entry_of_call(r, item);
		kind = (uint32_t)e.kind;
	}
	if (!matches(r->s, &e, kind))
		return false;
	r->s->matched++;
	return true;
}

void summary_end_filter(struct summary_reading *r)
{
	if (!r)
		return;
	gt_ranges_fini(&r->ranges);
	reading_fini(r);
	free(r);
}

static void take_latency(void *data, uint32_t track, uint64_t own_ns, uint64_t others_ns,
			 uint64_t runtime_ns)
{
	struct summary *s = data;

	histogram_add(&s->tracks[track].own, own_ns);
	histogram_add(&s->tracks[track].others, others_ns);
	histogram_add(&s->tracks[track].runtime, runtime_ns);
}

static void take_wait(void *data, uint32_t thread, uint32_t group, const struct stages_wait *wait)
{
	struct summary *s = data;

	add_wait(&s->wait, wait);
	add_wait(&s->threads[thread].wait, wait);
	add_wait(&s->groups[SUMMARY_CALLS].rows[group].wait, wait);
}

static void take_work(void *data, const struct stages_work *work)
{
	struct summary *s = data;

	idle_step(&s->idle, &(struct idle_start){.start = work->start_ns,
						 .end = work->end_ns,
						 .id = work->id,
						 .call_start = work->call_start_ns,
						 .submitted = work->submitted_ns,
						 .tag = work->tag});
}

static int finish_stages(struct summary *s)
{
	const struct stages_out out = {s, take_latency, take_wait, s->no_idle ? NULL : take_work};
	struct stages_queue *queues = lookup_grow(NULL, 0, s->queue_count, sizeof *queues);
	uint64_t lost = 0;
	int rc;

	for (uint32_t i = 0; i < s->queue_count; i++) {
		const struct summary_queue *q = &s->queues[i];

		queues[i] = (struct stages_queue){.handle = q->handle,
						  .process = q->process,
						  .queue = i,
						  .untimed = q->untimed,
						  .domain = work_domain(q->domain)};
	}
	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
		for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
			lost += s->counts.dropped[why][GT_CLASS_DEVICE][d];
	rc = stages_finish(&s->stages, queues, s->queue_count, lost > 0, &out);
	free(queues);
	return rc;
}

int summary_finish(struct summary *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->track_count && !rc; i++) {
		rc = timeline_finish(&s->tracks[i].all);
		rc = rc ? rc : timeline_finish(&s->tracks[i].kernels);
		rc = rc ? rc : timeline_finish(&s->tracks[i].copies);
	}
	rc = rc ? rc : gt_memory_use_settle(&s->memory, NULL, NULL);
	rc = rc ? rc : graphs_finish(&s->graphs);
	rc = rc ? rc : operators_finish(&s->operators);
	rc = rc ? rc : ranks_finish(&s->ranks);
	rc = rc ? rc : finish_stages(s);
	return rc || s->no_idle ? rc : idle_finish(&s->idle);
}

uint64_t summary_self_ns(const struct summary_group *group)
{
	return group->times.total > group->inner_ns ? group->times.total - group->inner_ns : 0;
}

uint64_t summary_seen(const struct summary *s)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
		for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
			sum += s->counts.seen[c][d];
	return sum;
}

uint64_t summary_dropped(const struct summary *s)
{
	uint64_t sum = 0;

	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
		for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
			for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
				sum += s->counts.dropped[why][c][d];
	return sum;
}

void summary_fini(struct summary *s)
{
	for (unsigned c = 0; c < SUMMARY_CLASS_COUNT; c++) {
		for (uint32_t i = 0; i < s->groups[c].count; i++)
			histogram_fini(&s->groups[c].rows[i].times);
		free(s->groups[c].rows);
		free(s->groups[c].hints);
		idmap_fini(&s->groups[c].by_hash);
	}
	for (uint32_t i = 0; i < s->track_count; i++) {
		struct summary_track *d = &s->tracks[i];
		timeline_fini(&d->all);
		timeline_fini(&d->kernels);
		timeline_fini(&d->copies);
		histogram_fini(&d->launch);
		histogram_fini(&d->enqueue);
		histogram_fini(&d->submit);
		histogram_fini(&d->wait);
		histogram_fini(&d->own);
		histogram_fini(&d->others);
		histogram_fini(&d->runtime);
	}
	for (uint32_t i = 0; i < s->thread_count; i++)
		free(s->threads[i].open);
	free(s->files);
	free(s->devices);
	free(s->tracks);
	idmap_fini(&s->tracks_by_hash);
	stages_fini(&s->stages);
	idle_fini(&s->idle);
	free(s->processes);
	free(s->threads);
	free(s->queues);
	free(s->places);
	idmap_fini(&s->place_ids);
	free(s->failures);
	texts_fini(&s->names);
	texts_fini(&s->device_ids);
	idmap_fini(&s->failure_ids);
	gt_memory_use_fini(&s->memory);
	graphs_fini(&s->graphs);
	operators_fini(&s->operators);
	ranks_fini(&s->ranks);
	launched_fini(&s->launched);
	enclosing_fini(&s->enclosing);
	dispatches_fini(&s->dispatches);
	linked_fini(&s->linked);
	*s = (struct summary){0};
}
