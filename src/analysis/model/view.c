/* SPDX-License-Identifier: MIT */
/* Threads, queues, names and labels of a capture for exporters, see view.h. Each kind has an array
 * of pointers, so that the objects keep their addresses, and a map from the capture's key to the
 * index. */
#include "analysis/model/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/demangle.h"
#include "util/error.h"

enum {
	WORDS_MAX = 16384, /* maximum number of cached words (texts of values) */
	WORD_BYTES = 512,
	/* thread indexes reserved for threads that are missing in a damaged capture */
	STRIDE_SPARE = 1024,
};

static int no_memory(void)
{
	return gt_error(-ENOMEM, "cannot export");
}

/* Append a zeroed object of @bytes to a pointer array and a map. */
static void *add_thing(void ***array, uint32_t *count, struct gt_map *map, uint64_t a, uint64_t b,
		       size_t bytes)
{
	void **more = *array, *thing;

	if ((*count & (*count - 1)) == 0) { /* capacity doubles at powers of two */
		more = realloc(*array, (*count ? *count * 2 : 1) * sizeof *more);
		if (!more)
			goto fail;
		*array = more;
	}
	thing = calloc(1, bytes);
	if (!thing)
		goto fail;
	if (gt_map_add(map, a, b, *count)) {
		free(thing);
		goto fail;
	}
	more[(*count)++] = thing;
	return thing;

fail:
	no_memory();
	return NULL;
}

static uint64_t node_offset(const struct gt_view *v, const struct gt_process_info *process)
{
	const struct gt_capture_session *session =
		gt_capture_session_at(v->capture, process->session);

	return session ? (uint64_t)session->node * GT_VIEW_PID_STRIDE : 0;
}

uint64_t gt_view_pid(const struct gt_view *v, uint32_t process)
{
	const struct gt_process_info *p = gt_capture_process(v->capture, process);

	return p ? p->pid + node_offset(v, p) : 0;
}

static struct gt_view_thread *add_thread(struct gt_view *v, uint32_t process, uint32_t ordinal)
{
	struct gt_view_thread *t = add_thing((void ***)&v->threads, &v->thread_count,
					     &v->thread_map, process, ordinal, sizeof *t);
	const struct gt_thread_info *info = gt_capture_thread_find(v->capture, process, ordinal);
	const struct gt_process_info *p = gt_capture_process(v->capture, process);

	if (!t)
		return NULL;
	t->index = v->thread_count - 1;
	t->process = process;
	t->ordinal = ordinal;
	t->pid = gt_view_pid(v, process);
	t->tid = info && info->tid ? info->tid + (p ? node_offset(v, p) : 0) : 0;
	t->name = info && info->name ? info->name : "";
	return t;
}

static uint32_t next_stream(struct gt_view *v, uint32_t device)
{
	const size_t devices = gt_capture_device_count(v->capture);

	return ++v->streams[device < devices ? device : devices];
}

/* Number all queues in advance, so that their numbers do not depend on which queues have
 * records. */
static int number_streams(struct gt_view *v)
{
	const size_t count = gt_capture_object_count(v->capture);

	v->streams = calloc(gt_capture_device_count(v->capture) + 1, sizeof *v->streams);
	v->object_streams = calloc(count + 1, sizeof *v->object_streams);
	if (!v->streams || !v->object_streams)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct gt_object_info *o = gt_capture_object(v->capture, i);

		if (o->type == GT_OBJECT_QUEUE)
			v->object_streams[i] = next_stream(v, o->device_index);
	}
	return 0;
}

int gt_view_init(struct gt_view *v, const struct gt_capture *capture,
		 const struct gt_view_options *options)
{
	size_t count = gt_capture_thread_count(capture);

	*v = (struct gt_view){
		.capture = capture,
		.correlation_stride = (uint32_t)count + STRIDE_SPARE,
		.rows_budget = GT_TRACK_ROWS_BUDGET,
		.mangled = options && options->mangled,
	};
	if (number_streams(v)) {
		gt_view_fini(v);
		return no_memory();
	}
	/* All threads are added in advance, so that their numbers do not depend on the order of
	 * records. */
	for (size_t i = 0; i < count; i++) {
		const struct gt_thread_info *t = gt_capture_thread(capture, i);

		if (gt_map_find(&v->thread_map, t->process, t->ordinal) < 0 &&
		    !add_thread(v, t->process, t->ordinal)) {
			gt_view_fini(v);
			return -ENOMEM;
		}
	}
	return 0;
}

static void free_texts(struct gt_view_text **texts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(texts[i]->text);
		free(texts[i]->own);
		free(texts[i]);
	}
	free(texts);
}

void gt_view_fini(struct gt_view *v)
{
	for (uint32_t i = 0; i < v->thread_count; i++) {
		free(v->threads[i]->own);
		free(v->threads[i]);
	}
	free(v->threads);
	for (uint32_t i = 0; i < v->queue_count; i++) {
		gt_track_rows_fini(&v->queues[i]->rows);
		free(v->queues[i]->own);
		free(v->queues[i]);
	}
	free(v->queues);
	for (int d = 0; d < GT_DOMAIN_COUNT; d++) {
		for (uint32_t i = 0; i < v->operation_limit[d]; i++)
			if (v->operations[d][i]) {
				free(v->operations[d][i]->own);
				free(v->operations[d][i]->name);
				free(v->operations[d][i]);
			}
		free(v->operations[d]);
	}
	free_texts(v->names, v->name_count);
	free_texts(v->words, v->word_count);
	gt_map_fini(&v->thread_map);
	gt_map_fini(&v->queue_map);
	gt_map_fini(&v->name_map);
	gt_map_fini(&v->word_map);
	free(v->streams);
	free(v->object_streams);
	*v = (struct gt_view){0};
}

struct gt_view_thread *gt_view_thread_find(struct gt_view *v, uint32_t process, uint32_t ordinal)
{
	int64_t found = gt_map_find(&v->thread_map, process, ordinal);

	return found >= 0 ? v->threads[found] : add_thread(v, process, ordinal);
}

struct gt_view_queue *gt_view_queue_slow(struct gt_view *v, const struct gt_item *activity)
{
	/* Activities whose queue is not known share one entry per process and device number. */
	uint64_t a = activity->process,
		 b = activity->queue ? (uintptr_t)activity->queue : activity->op;
	int64_t found = gt_map_find(&v->queue_map, a, b);
	const struct gt_object_info *device;
	struct gt_view_queue *q;
	size_t devices = gt_capture_device_count(v->capture);

	if (found >= 0)
		return v->queue_cache[gt_view_queue_slot(activity->queue)] = v->queues[found];
	q = add_thing((void ***)&v->queues, &v->queue_count, &v->queue_map, a, b, sizeof *q);
	if (!q)
		return NULL;
	device = activity->queue
			 ? activity->queue
			 : gt_capture_object_find(v->capture, activity->process, GT_OBJECT_DEVICE,
						  GT_DEVICE_REF_NUMBER(activity->op));
	q->index = v->queue_count - 1;
	q->rows.budget = &v->rows_budget;
	q->process = activity->process;
	q->pid = gt_view_pid(v, activity->process);
	q->object = activity->queue;
	q->device = device && device->device_index < devices ? device->device_index : UINT32_MAX;
	q->number = q->object ? q->object->ordinal : 0;
	q->stream = q->object ? v->object_streams[q->object - gt_capture_object(v->capture, 0)]
			      : next_stream(v, q->device);
	return v->queue_cache[gt_view_queue_slot(activity->queue)] = q;
}

static uint32_t device_of(const struct gt_view *v, const struct gt_item *activity, uint32_t number,
			  uint32_t otherwise)
{
	const struct gt_object_info *device =
		number ? gt_capture_object_find(v->capture, activity->process, GT_OBJECT_DEVICE,
						number)
		       : NULL;

	return device && device->device_index < gt_capture_device_count(v->capture)
		       ? device->device_index
		       : otherwise;
}

struct gt_view_ends gt_view_ends(const struct gt_view *v, const struct gt_item *activity,
				 const struct gt_view_queue *queue)
{
	const struct gt_endpoints *e =
		activity->device_op == GT_DEVICE_COPY ? gt_item_endpoints(activity) : NULL;

	if (!e)
		return (struct gt_view_ends){queue->device, queue->device};
	return (struct gt_view_ends){device_of(v, activity, e->source, queue->device),
				     device_of(v, activity, e->destination, queue->device)};
}

static bool set_text(struct gt_view_text *t, const char *text, size_t bytes)
{
	t->text = malloc(bytes + 1);
	if (!t->text)
		return false;
	memcpy(t->text, text, bytes);
	t->text[bytes] = '\0';
	t->bytes = (uint32_t)bytes;
	return true;
}

/* Add a text under a key that is not in the map. Return NULL if out of memory; the view is
 * unchanged. */
static struct gt_view_text *add_text(struct gt_view_text ***texts, uint32_t *count,
				     struct gt_map *map, uint64_t a, uint64_t b, const char *text,
				     size_t bytes)
{
	struct gt_view_text content = {.own = NULL}, *t;

	/* The content is created first, so that entries in the map are always complete. */
	if (!set_text(&content, text, bytes)) {
		no_memory();
		return NULL;
	}
	t = add_thing((void ***)texts, count, map, a, b, sizeof *t);
	if (!t) {
		free(content.text);
		return NULL;
	}
	*t = content;
	t->index = *count - 1;
	return t;
}

struct gt_view_text *gt_view_name(struct gt_view *v, uint32_t process, uint32_t string)
{
	int64_t found = gt_map_find(&v->name_map, process, string);
	struct gt_view_text *t;
	const char *text;
	char *readable;

	if (found >= 0)
		return v->names[found];
	text = gt_capture_string(v->capture, process, string);
	if (!text || !*text)
		text = "(name not recorded)";
	readable = v->mangled ? NULL : gt_demangle(text);
	text = readable ? readable : text;
	t = add_text(&v->names, &v->name_count, &v->name_map, process, string, text, strlen(text));
	free(readable);
	return t;
}

/* Add a word under a key. The map does not compare contents, so equal words with different keys are
 * stored separately. */
static struct gt_view_text *add_word(struct gt_view *v, uint64_t a, uint64_t b, const char *text,
				     size_t bytes)
{
	struct gt_view_text *t = NULL;

	if (v->word_count < WORDS_MAX)
		t = add_text(&v->words, &v->word_count, &v->word_map, a, b, text, bytes);
	if (!t)
		gt_error_clear(); /* the caller then formats the argument itself */
	return t;
}

struct gt_view_text *gt_view_word_of(struct gt_view *v, const char *text, size_t bytes)
{
	/* The key is a number that identifies no operation, and a counter. */
	return add_word(v, UINT64_MAX, v->word_count, text, bytes);
}

struct gt_view_text *gt_view_word(struct gt_view *v, uint32_t op, unsigned arg,
				  const uint64_t *args)
{
	uint64_t a = (uint64_t)op << 8 | arg;
	int64_t found = gt_map_find(&v->word_map, a, args[arg]);
	char buffer[WORD_BYTES];
	size_t length;

	if (found >= 0)
		return v->words[found];
	length = gt_format_arg(buffer, sizeof buffer, op, arg, args, NULL, 0);
	return add_word(v, a, args[arg], buffer,
			length < sizeof buffer ? length : sizeof buffer - 1);
}

static bool submits(const struct gt_operation_info *info)
{
	if (!info)
		return true;
	switch (info->kind) {
	case GT_KIND_LAUNCH:
	case GT_KIND_COPY:
	case GT_KIND_SET: return true;
	default: /* barriers, maps and migrations have other kinds, but are known by their names */
		return strstr(info->name, "Enqueue") != NULL;
	}
}

struct gt_view_operation *gt_view_operation_slow(struct gt_view *v, uint32_t op)
{
	uint32_t domain = GT_OP_DOMAIN(op) % GT_DOMAIN_COUNT, number = GT_OP_NUMBER(op);
	uint32_t limit = v->operation_limit[domain];
	struct gt_view_operation *o;

	if (number >= limit) {
		uint32_t want = (uint32_t)gt_operation_count((enum gt_domain)domain);
		struct gt_view_operation **more;

		if (want <= number)
			want = number + 1;
		more = realloc(v->operations[domain], want * sizeof *more);
		if (!more)
			goto no_memory;
		memset(more + limit, 0, (want - limit) * sizeof *more);
		v->operations[domain] = more;
		v->operation_limit[domain] = want;
	}
	o = calloc(1, sizeof *o);
	if (!o)
		goto no_memory;
	o->name = strdup(gt_operation_name(op));
	if (!o->name) {
		free(o);
		goto no_memory;
	}
	o->name_bytes = (uint32_t)strlen(o->name);
	o->index = v->operation_count++;
	o->info = gt_operation(op);
	o->nargs = o->info ? o->info->nargs : 0;
	o->allocates = o->info && (o->info->kind == GT_KIND_FREE ||
				   o->info->kind == GT_KIND_RETAIN || o->info->memory);
	o->submits = gt_domain_traits[domain].relayed || submits(o->info);
	return v->operations[domain][number] = o;

no_memory:
	no_memory();
	return NULL;
}

uint64_t gt_view_activity_time(const struct gt_item *activity)
{
	return activity->start_ns       ? activity->start_ns
	       : activity->submitted_ns ? activity->submitted_ns
	       : activity->queued_ns    ? activity->queued_ns
					: activity->call_start_ns;
}

const char *gt_view_process_label(const struct gt_process_info *process, char *buffer, size_t size)
{
	const char *path = process->exe && *process->exe ? process->exe : process->argv, *slash;

	if (!path || !*path) {
		snprintf(buffer, size, "process %u", process->pid);
		return buffer;
	}
	slash = strrchr(path, '/');
	snprintf(buffer, size, "%s", slash && slash[1] ? slash + 1 : path);
	return buffer;
}

struct place {
	uint64_t rank; /* UINT64_MAX: none */
	uint32_t machine, process;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->machine != y->machine)
		return x->machine < y->machine ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

uint32_t *gt_view_order_processes(const struct gt_view *v)
{
	uint32_t count = (uint32_t)gt_capture_process_count(v->capture);
	struct place *places = calloc(count + 1, sizeof *places);
	uint32_t *order = calloc(count + 1, sizeof *order);

	if (!places || !order)
		gt_error(-ENOMEM, "cannot store processes");
	for (uint32_t i = 0; places && order && i < count; i++) {
		const struct gt_process_info *p = gt_capture_process(v->capture, i);
		const struct gt_capture_session *s = gt_capture_session_at(v->capture, p->session);

		places[i] = (struct place){p->rank.rank < 0 ? UINT64_MAX : (uint64_t)p->rank.rank,
					   s ? s->machine : 0, i};
	}
	if (places)
		qsort(places, count, sizeof *places, compare_places);
	for (uint32_t i = 0; places && order && i < count; i++)
		order[i] = places[i].process;
	if (!places) {
		free(order);
		order = NULL;
	}
	free(places);
	return order;
}

const char *gt_view_process_title(const struct gt_view *v, const struct gt_process_info *process,
				  char *buffer, size_t size)
{
	const struct gt_capture_session *session =
		gt_capture_session_at(v->capture, process->session);
	size_t n;

	gt_view_process_label(process, buffer, size);
	n = strlen(buffer);
	/* The capture of a single rank states the rank in its header. */
	if (!session ||
	    (gt_capture_session_count(v->capture) < 2 && process->rank.rank == session->info.rank))
		return buffer;
	if (process->rank.rank >= 0)
		snprintf(buffer + n, size - n, " (rank %d, %.64s)", process->rank.rank,
			 session->info.hostname);
	else
		snprintf(buffer + n, size - n, " (%.64s)", session->info.hostname);
	return buffer;
}

const char *gt_view_command(const char *argv, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (const char *word = argv; word && *word && used + 1 < size; word += strlen(word) + 1) {
		int n = snprintf(buffer + used, size - used, "%s%s", used ? " " : "", word);

		used += n < 0 ? 0 : (size_t)n;
	}
	return buffer;
}

static bool has_several_machines(const struct gt_capture *c)
{
	for (size_t i = 0; i < gt_capture_session_count(c); i++)
		if (gt_capture_session_at(c, i)->machine)
			return true;
	return false;
}

static void add_host(const struct gt_capture *c, const struct gt_object_info *device, char *buffer,
		     size_t size)
{
	const struct gt_process_info *process = gt_capture_process(c, device->process);
	const struct gt_capture_session *s =
		process ? gt_capture_session_at(c, process->session) : NULL;
	size_t n = strlen(buffer);

	if (s)
		snprintf(buffer + n, size - n, " (%.64s)", s->info.hostname);
}

const char *gt_view_device_label(const struct gt_view *v, uint32_t device, char *buffer,
				 size_t size)
{
	const struct gt_object_info *object = device < gt_capture_device_count(v->capture)
						      ? gt_capture_device(v->capture, device)
						      : NULL;
	const char *name = object ? gt_object_called(object) : NULL;

	if (device == UINT32_MAX)
		snprintf(buffer, size, "unknown device");
	else if (name && *name)
		snprintf(buffer, size, "device %u: %s", device, name);
	else
		snprintf(buffer, size, "device %u", device);
	if (object && has_several_machines(v->capture))
		add_host(v->capture, object, buffer, size);
	return buffer;
}

struct gt_view_counts gt_view_counts(const struct gt_view *v, enum gt_class class)
{
	struct gt_view_counts sum = {0};

	for (uint32_t p = 0; p < gt_capture_process_count(v->capture); p++) {
		const struct gt_counts *c = gt_capture_counts(v->capture, p);

		for (int d = 0; c && d < GT_DOMAIN_COUNT; d++) {
			sum.seen += c->seen[class][d];
			sum.recorded += c->recorded[class][d];
			for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
				sum.dropped += c->dropped[why][class][d];
		}
	}
	return sum;
}

void gt_view_progress_begin(struct gt_view_progress *p, const struct gt_view *v,
			    const struct gt_view_options *options)
{
	*p = (struct gt_view_progress){.options = options,
				       .total = gt_capture_health(v->capture)->bytes};
}

void gt_view_progress_report(struct gt_view_progress *p, const struct gt_cursor *cursor)
{
	if (p->options && p->options->progress)
		p->options->progress(p->options->progress_data, gt_cursor_position(cursor),
				     p->total);
}
