/* SPDX-License-Identifier: MIT */
/* Writes calls and ranges for the Chrome exporter: see chrome.h. */
#include "export/chrome_notes.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/error.h"

/* Texts of an operation: everything before the thread's row, and everything after the
 * correlation. */
struct call_text {
	struct gt_snippet *begin, *api;
	bool by_return; /* true if the status is the return value */
};

/* Calls ----------------------------------------------------------------------- */

static const char *call_category(uint32_t op)
{
	unsigned domain = GT_OP_DOMAIN(op);

	if (domain < GT_DOMAIN_COUNT && gt_domain_traits[domain].category[0])
		return gt_domain_traits[domain].category;
	return "cuda_runtime";
}

/* Return the CUDA name for a call; NULL: readers do not search for calls of this kind. */
static const char *cuda_name(const struct gt_view_operation *o)
{
	switch (o->info ? o->info->kind : GT_KIND_OTHER) {
	case GT_KIND_LAUNCH: return "cudaLaunchKernel";
	case GT_KIND_COPY: return "cudaMemcpyAsync";
	case GT_KIND_SET: return "cudaMemsetAsync";
	default: return NULL;
	}
}

/* Generate {"ph":"X","cat":"cuda_runtime","name":"clFinish","pid": */
static struct call_text *operation_begin(struct gt_chrome *x, struct gt_view_operation *o,
					 uint32_t op)
{
	const char *other = x->cuda_names ? cuda_name(o) : NULL;
	struct call_text *call = calloc(1, sizeof *call);
	/* A vendor's name may be long, and each character may take 6 bytes of JSON. */
	size_t name_bytes = o->name_bytes < TEXT_MAX ? o->name_bytes : TEXT_MAX;
	char *text = malloc(256 + 6 * name_bytes), *p = text;

	if (!call || !text) {
		gt_error(-ENOMEM, "cannot export");
		free(call);
		free(text);
		return NULL;
	}
	o->own = call;
	p = GT_PUT(p, "{\"ph\":\"X\",\"cat\":");
	p = gt_chrome_put_quoted(p, call_category(op));
	p = GT_PUT(p, ",\"name\":");
	p = gt_chrome_put_quoted(p, other ? other : o->name);
	p = GT_PUT(p, ",\"pid\":");
	call->begin = gt_snippet_create(text, (size_t)(p - text));
	p = text;
	if (other) {
		p = GT_PUT(p, ",\"api\":");
		p = gt_chrome_put_quoted(p, o->name);
	}
	call->api = gt_snippet_create(text, (size_t)(p - text));
	free(text);
	call->by_return = o->info && o->info->status_arg == -1;
	return call;
}

/* Generate 4711,"tid":4712,"ts": */
static struct gt_snippet *thread_begin(struct gt_chrome *x, struct gt_view_thread *t)
{
	char text[128], name[64], *p = text;

	/* A thread without a number, because of damage, still needs a row. */
	uint64_t tid = t->tid ? t->tid : (UINT64_C(1) << 32) + t->index;

	snprintf(name, sizeof name, "thread %u", (unsigned)tid);
	gt_chrome_write_label(x, "thread_name", t->pid, tid, "name", *t->name ? t->name : name);
	gt_chrome_write_sort(x, "thread_sort_index", t->pid, tid, t->ordinal);
	p = gt_put_u64(p, t->pid);
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, tid);
	p = GT_PUT(p, ",\"ts\":");
	return t->own = gt_snippet_create(text, (size_t)(p - text));
}

/* Write ,"from":["launch at a.c:12","main at a.c:30"] */
static __attribute__((noinline)) char *put_functions(struct gt_chrome *x, char *p,
						     const struct gt_item *call)
{
	unsigned count = gt_launch_frames_find(&x->launches, call);

	if (!count)
		return p;
	p = GT_PUT(p, ",\"from\":[");
	for (unsigned i = 0; i < count; i++) {
		if (i)
			*p++ = ',';
		p = gt_chrome_put_quoted(p, x->launches.texts[i]);
	}
	*p++ = ']';
	return p;
}

const struct gt_snippet *gt_chrome_thread_row(struct gt_chrome *x, struct gt_view_thread *t)
{
	return t->own ? t->own : thread_begin(x, t);
}

static inline int write_call_event(struct gt_chrome *x, const struct gt_item *call)
{
	struct gt_view_thread *t = gt_view_thread(&x->view, call->process, call->ordinal);
	struct gt_view_operation *o = gt_view_operation(&x->view, call->op);
	const struct call_text *text;
	const struct gt_snippet *row;
	uint64_t correlation;
	int32_t status = 0;
	bool failed;
	char *p, *place, *place_end;

	if (!t || !o)
		return -ENOMEM;
	text = o->own ? o->own : operation_begin(x, o, call->op);
	row = gt_chrome_thread_row(x, t);
	if (__builtin_expect(x->part && x->noted != t, 0))
		gt_chrome_note_thread(x, t);
	if (!text || !text->begin || !text->api || !row)
		return -ENOMEM;
	correlation = gt_view_correlation(&x->view, t, call->id);
	/* A zero result usually means success, so only other results are looked up. */
	failed = (call->ret || !text->by_return) &&
		 gt_call_status(call->op, call->ret, call->args, &status) &&
		 gt_status_failed((enum gt_domain)GT_OP_DOMAIN(call->op), status);

	p = gt_out_room(&x->out);
	place = p = gt_put_snippet(p, text->begin);
	p = gt_put_snippet(p, row);
	place_end = p = gt_put_clock_us(&x->clock, p, gt_chrome_shift(x, call->start_ns));
	p = GT_PUT(p, ",\"dur\":");
	p = gt_put_us(p, call->end_ns - call->start_ns);
	p = GT_PUT(p, ",\"args\":{");
	if (call->external[GT_EXTERNAL_OPERATION]) {
		p = GT_PUT(p, "\"External id\":");
		p = gt_put_u64(p, call->external[GT_EXTERNAL_OPERATION]);
		*p++ = ',';
	} else {
		p = gt_chrome_put_external(x, p, call);
	}
	p = GT_PUT(p, "\"cbid\":");
	p = gt_put_u64(p, GT_OP_NUMBER(call->op));
	p = GT_PUT(p, ",\"correlation\":");
	p = gt_put_u64(p, correlation);
	p = gt_put_snippet(p, text->api);
	if (__builtin_expect(x->launches.calls != NULL, 0))
		p = put_functions(x, p, call);
	if (failed)
		p = gt_chrome_put_error(p, GT_OP_DOMAIN(call->op), status);
	p = GT_PUT(p, "}},\n");
	if (__builtin_expect(o->allocates, 0))
		gt_memory_use_note(&x->memory, call, 0);
	if (o->submits && !failed)
		p = gt_chrome_put_flow(p, 's', correlation, place, place_end);
	gt_out_end(&x->out, p);
	return 0;
}
/* Ranges ----------------------------------------------------------------------- */

static char *put_words(char *p, const char *key, const struct gt_range_words *words)
{
	char text[TEXT_MAX + 1];
	size_t bytes = words->bytes < TEXT_MAX ? words->bytes : TEXT_MAX;

	if (!words->text)
		return p;
	memcpy(text, words->text, bytes);
	text[bytes] = '\0';
	p = gt_chrome_put_quoted(p, key);
	*p++ = ':';
	p = gt_range_is_number(words) ? gt_put(p, text, bytes) : gt_chrome_put_quoted(p, text);
	*p++ = ',';
	return p;
}

/* Write details under the names that torch.profiler uses. */
static char *put_range_detail(struct gt_chrome *x, char *p, struct gt_view_thread *t,
			      const struct gt_range *range)
{
	const struct gt_range_detail *detail = &range->detail;
	char shapes[1024], colour[16], *from = p;

	if (range->whole) {
		p = GT_PUT(p, "\"External id\":");
		p = gt_put_u64(p, gt_view_correlation(&x->view, t, range->whole->id));
		*p++ = ',';
	}
	if (detail->sequence) {
		p = GT_PUT(p, "\"Sequence number\":");
		p = gt_put_u64(p, detail->sequence);
		*p++ = ',';
	}
	if (detail->shapes) {
		p = GT_PUT(p, "\"Input Dims\":");
		p = gt_put(p, shapes, gt_range_shapes(detail, shapes, sizeof shapes));
		*p++ = ',';
	}
	p = put_words(p, "domain", &detail->scope);
	p = put_words(p, "category", &detail->category);
	p = put_words(p, "payload", &detail->payload);
	if (detail->colour) {
		p = GT_PUT(p, "\"color\":");
		p = gt_chrome_put_quoted(p, gt_range_colour(detail, colour));
		*p++ = ',';
	}
	return p - (p != from); /* remove the last comma */
}

static int write_range(struct gt_chrome *x, const struct gt_range *range)
{
	struct gt_view_thread *t = gt_view_thread(&x->view, range->process, range->ordinal);
	const struct gt_snippet *row = !t ? NULL : t->own ? t->own : thread_begin(x, t);
	char *p;

	if (!row)
		return -ENOMEM;
	p = gt_out_room(&x->out);
	p = GT_PUT(p, "{\"ph\":\"X\",\"cat\":");
	p = gt_chrome_put_quoted(p, gt_range_category(range));
	p = GT_PUT(p, ",\"name\":");
	p = gt_chrome_put_quoted(p, range->name);
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_snippet(p, row);
	p = gt_put_us(p, gt_chrome_shift(x, range->start_ns));
	p = GT_PUT(p, ",\"dur\":");
	p = gt_put_us(p, range->end_ns - range->start_ns);
	p = GT_PUT(p, ",\"args\":{");
	p = put_range_detail(x, p, t, range);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
	return 0;
}

static inline int write_call_or_mark(struct gt_chrome *x, const struct gt_item *call)
{
	struct gt_range range;
	int status;

	if (__builtin_expect(gt_mark_of(call->op) == GT_MARK_NONE, 1))
		return write_call_event(x, call);
	if (x->part) {
		gt_chrome_note_mark(x, call);
		return 0;
	}
	status = gt_ranges_step(&x->ranges, call, &range);
	return status > 0 ? write_range(x, &range) : status;
}

int gt_chrome_write_calls(struct gt_chrome *x, const struct gt_item **item,
			  const struct gt_item *end)
{
	int status = 0;

	for (; !status && *item < end && (*item)->kind == GT_RECORD_CALL; ++*item)
		status = write_call_or_mark(x, *item);
	return status;
}

int gt_chrome_write_open_ranges(struct gt_chrome *x)
{
	struct gt_range range;
	int status = 0;

	while (!status && gt_ranges_rest(&x->ranges, &range))
		status = write_range(x, &range);
	return status;
}

void gt_chrome_calls_fini(struct gt_chrome *x)
{
	for (int d = 0; d < GT_DOMAIN_COUNT; d++)
		for (uint32_t i = 0; i < x->view.operation_limit[d]; i++) {
			struct call_text *call =
				x->view.operations[d][i] ? x->view.operations[d][i]->own : NULL;

			free(call ? call->begin : NULL);
			free(call ? call->api : NULL);
		}
}
