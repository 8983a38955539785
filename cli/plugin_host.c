/* SPDX-License-Identifier: MIT */
/* The host that a trial simulates: buffers that end before an unmapped page, and a check of each
 * record. A write beyond the end of a buffer causes a fault, which is reported before the process
 * ends. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dlfcn.h>

#include "cli/plugin_check.h"

#include "util/grow.h"

#define SECOND_NS UINT64_C(1000000000)

struct gt_trial *gt_trial_now;

/* Buffers ---------------------------------------------------------------------- */

static struct gt_trial_buffer *add_buffer(struct gt_trial *t, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = (bytes + page - 1) & ~(page - 1);
	struct gt_trial_buffer *b = &t->buffers[t->buffer_count];
	uint8_t *data;

	if (t->buffer_count == GT_TRIAL_BUFFERS)
		return NULL;
	data = mmap(NULL, used + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED || mprotect(data + used, page, PROT_NONE))
		return NULL;
	*b = (struct gt_trial_buffer){data + used - bytes, bytes, 0, used + page, 0};
	t->buffer_count++;
	return b;
}

static void request(uint8_t **buffer, size_t *size)
{
	struct gt_trial *t = gt_trial_now;
	struct gt_trial_buffer *b = NULL;

	pthread_mutex_lock(&t->lock);
	if (t->buffer_bytes)
		b = add_buffer(t, t->buffer_bytes);
	pthread_mutex_unlock(&t->lock);
	*buffer = b ? b->data : NULL;
	*size = b ? b->bytes : 0;
}

static void on_completed(uint8_t *buffer, size_t size, size_t valid)
{
	struct gt_trial *t = gt_trial_now;
	struct gt_trial_buffer *b = NULL;

	pthread_mutex_lock(&t->lock);
	for (size_t i = t->buffer_count; i-- && !b;)
		if (t->buffers[i].data == buffer)
			b = &t->buffers[i];
	if (b) {
		b->completed++;
		b->valid = valid < b->bytes ? valid : b->bytes;
	}
	pthread_mutex_unlock(&t->lock);
	GT_TRIAL_WANT(t, GT_RULE_COMPLETED_ONCE, b, "an unrequested buffer was completed");
	if (!b)
		return;
	GT_TRIAL_WANT(t, GT_RULE_COMPLETED_ONCE, b->completed == 1,
		      "a buffer was completed %u times", b->completed);
	GT_TRIAL_WANT(t, GT_RULE_COMPLETED_ONCE, size == b->bytes,
		      "a buffer of %zu bytes was completed with size %zu", b->bytes, size);
	GT_TRIAL_WANT(t, GT_RULE_OVERRUN, valid <= b->bytes,
		      "a buffer of %zu bytes was completed with %zu valid bytes", b->bytes, valid);
}

void gt_trial_callbacks(pu1BufferRequestFn *to_request, pu1BufferCompleteFn *to_complete)
{
	*to_request = request;
	*to_complete = on_completed;
}

/* Report the fault. Runs in the trial's process, which ends here, and uses only write(). */
static void on_fault(int number, siginfo_t *info, void *context)
{
	struct gt_trial *t = gt_trial_now;
	const uint8_t *at = info->si_addr;

	(void)context;
	for (size_t i = 0; i < t->buffer_count; i++) {
		const struct gt_trial_buffer *b = &t->buffers[i];

		if (at >= b->data + b->bytes && at < b->data + b->bytes + 4096) {
			gt_trial_report(t, GT_TRIAL_BROKEN, GT_RULE_OVERRUN,
					"byte %zu of a buffer of %zu bytes was accessed",
					(size_t)(at - b->data), b->bytes);
			_exit(4);
		}
	}
	signal(number, SIG_DFL);
	raise(number);
}

/* Loading ---------------------------------------------------------------------- */

bool gt_trial_open(struct gt_trial *t)
{
	static char stack[65536];
	struct sigaction action = {.sa_sigaction = on_fault,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	char why[512];
	void *library = NULL;

	gt_trial_now = t;
	pthread_mutex_init(&t->lock, NULL);
	t->buffers = calloc(GT_TRIAL_BUFFERS, sizeof *t->buffers);
	t->buffer_bytes = 1 << 16;
	if (!t->buffers)
		return false;
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	if (!gt_plugin_open(&t->plugin, t->path, why, sizeof why)) {
		gt_trial_report(t, GT_TRIAL_BROKEN, t->trying, "%s", why);
		return false;
	}
	if (t->exercise)
		library = dlopen(t->exercise, RTLD_NOW | RTLD_LOCAL);
	*(void **)&t->activity = dlsym(library ? library : t->plugin.handle, "pu1Exercise");
	return true;
}

/* Sessions --------------------------------------------------------------------- */

static void learn_plugin(struct gt_plugin *p, bool last)
{
	if (!last) {
		p->clock = p->calls.clock.kind ? p->calls.clock.kind() : PU1_CLOCK_REALTIME;
		p->device_count = p->calls.rows.device_count ? p->calls.rows.device_count() : -1;
	}
	gt_plugin_clock_read(p, last);
}

void gt_trial_begin(struct gt_trial *t)
{
	const struct gt_plugin_calls *c = &t->plugin.calls;
	pu1Result result = c->callbacks(request, on_completed);

	GT_TRIAL_WANT(t, t->trying, !result, "pu1TracingSetCallbacks() returned %s",
		      gt_trial_result_name(result));
	t->begun_ns = gt_plugin_now();
	learn_plugin(&t->plugin, false);
	for (uint32_t kind = 1; kind < PU1_KIND_COUNT; kind++) {
		if (!(t->plugin.about.kinds >> kind & 1))
			continue;
		result = c->enable((pu1ActivityKind)kind);
		GT_TRIAL_WANT(t, GT_RULE_KINDS, !result, "pu1TracingEnable(%u) returned %s", kind,
			      gt_trial_result_name(result));
		t->plugin.enabled |= 1u << kind;
	}
}

void gt_trial_end(struct gt_trial *t)
{
	for (uint32_t kind = 1; kind < PU1_KIND_COUNT; kind++)
		if (t->plugin.about.kinds >> kind & 1)
			t->plugin.calls.disable((pu1ActivityKind)kind);
	t->plugin.enabled = 0;
}

void gt_trial_flush(struct gt_trial *t)
{
	pu1Result result = t->plugin.calls.flush();

	GT_TRIAL_WANT(t, GT_RULE_FLUSHED, !result, "pu1FlushAll() returned %s",
		      gt_trial_result_name(result));
}

void gt_trial_exercise(struct gt_trial *t, uint32_t items)
{
	pu1Result result = t->activity(items);

	GT_TRIAL_WANT(t, t->trying, !result, "pu1Exercise() returned %s",
		      gt_trial_result_name(result));
}

/* Records ---------------------------------------------------------------------- */

static bool is_call_record(const pu1ActivityRecord *r)
{
	return r->kind == PU1_KIND_PRIVATEUSE1_RUNTIME || r->kind == PU1_KIND_PRIVATEUSE1_DRIVER;
}

static void check_times(struct gt_trial *t, const pu1ActivityRecord *r)
{
	uint64_t start = r->start_time, end = r->end_time;

	if (!start || end < start) {
		gt_trial_report(t, GT_TRIAL_BROKEN, GT_RULE_TIMES,
				"a record of kind %u starts at %llu and ends at %llu", r->kind,
				(unsigned long long)start, (unsigned long long)end);
		return;
	}
	if (!is_call_record(r)) {
		start = gt_plugin_real_time(&t->plugin, r->device_id, start);
		end = gt_plugin_real_time(&t->plugin, r->device_id, end);
	}
	GT_TRIAL_WANT(t, GT_RULE_TIMES,
		      start + SECOND_NS >= t->begun_ns && end <= gt_plugin_now() + SECOND_NS,
		      "a record of kind %u starts %lld ms from the session's start", r->kind,
		      (long long)(int64_t)(start - t->begun_ns) / 1000000);
}

static void check_ids(struct gt_trial *t, const pu1ActivityRecord *r)
{
	const pu1RowsGroup *rows = &t->plugin.calls.rows;
	pu1StreamRow stream = {.size = sizeof stream};
	pu1GraphRow graph = {.size = sizeof graph};
	bool whole = r->kind == PU1_KIND_COUNTER ||
		     (r->kind == PU1_KIND_SYNCHRONIZATION && !r->stream_id);

	if (is_call_record(r))
		return;
	GT_TRIAL_WANT(t, GT_RULE_IDS, r->device_id >= 0 && (whole || r->stream_id >= 1),
		      "a record names device %d, stream %d", r->device_id, r->stream_id);
	if (rows->device_count)
		GT_TRIAL_WANT(t, GT_RULE_IDS, r->device_id < rows->device_count(),
			      "a record names device %d, but there are %d devices", r->device_id,
			      rows->device_count());
	if (r->graph_id && t->plugin.calls.graphs.graph)
		GT_TRIAL_WANT(t, GT_RULE_IDS,
			      t->plugin.calls.graphs.graph(r->graph_id, &graph) == PU1_SUCCESS &&
				      r->graph_node < graph.node_count,
			      "a record names node %u of graph %llu, which does not exist",
			      r->graph_node, (unsigned long long)r->graph_id);
	if (rows->stream && !whole)
		GT_TRIAL_WANT(t, GT_RULE_IDS,
			      rows->stream(r->device_id, r->stream_id, &stream) == PU1_SUCCESS,
			      "a record names stream %d, which has no row", r->stream_id);
}

static void check_names(struct gt_trial *t, const pu1ActivityRecord *r)
{
	static char fit[65536];
	bool wanted = r->kind == PU1_KIND_CONCURRENT_KERNEL || is_call_record(r);

	GT_TRIAL_WANT(t, GT_RULE_NAMES, !wanted || (r->name && *r->name),
		      "a record of kind %u has no name", r->kind);
	if (!r->name || !*r->name)
		return;
	GT_TRIAL_WANT(t, GT_RULE_NAMES,
		      gt_plugin_mend(fit, sizeof fit, r->name, strnlen(r->name, sizeof fit - 1),
				     false) == GT_TEXT_GOOD,
		      "a name is invalid; repaired: %.200s", fit);
	for (const char *at = r->metadata; at && *at; at++)
		GT_TRIAL_WANT(t, GT_RULE_NAMES, (unsigned char)*at >= ' ' || *at == '\n',
			      "byte %td of metadata is control character %d", at - r->metadata,
			      *at);
}

static void check_record(struct gt_trial *t, const pu1ActivityRecord *r)
{
	bool known = r->kind && r->kind < PU1_KIND_COUNT && t->plugin.about.kinds >> r->kind & 1;

	GT_TRIAL_WANT(t, GT_RULE_KIND, known,
		      "a record has kind %u, which the plug-in does not declare", r->kind);
	if (!known)
		return;
	check_times(t, r);
	check_ids(t, r);
	check_names(t, r);
}

/* Check the contents of a record. Members that the plug-in's version lacks are 0. */
static void look_at_content(struct gt_trial *t, const pu1ActivityRecord *r)
{
	gt_trial_check_sizes(t, r);
	gt_trial_keep_text(t, r->name);
	gt_trial_keep_text(t, r->metadata);
}

static bool keep_record(struct gt_trial *t, const pu1ActivityRecord *r)
{
	pu1ActivityRecord *more =
		gt_grow(t->records, t->record_count, &t->record_room, sizeof *more);

	if (!more)
		return false;
	t->records = more;
	more = &t->records[t->record_count++];
	memset(more, 0, sizeof *more);
	memcpy(more, r, r->size < sizeof *r ? r->size : sizeof *r);
	look_at_content(t, more);
	return true;
}

static void walk_buffer(struct gt_trial *t, const struct gt_trial_buffer *b)
{
	const pu1ActivityRecord *r = NULL, *before = NULL;
	const uint8_t *at, *end = b->data + b->valid;
	pu1Result result;

	while ((result = t->plugin.calls.next(b->data, b->valid, &r)) == PU1_SUCCESS) {
		at = (const uint8_t *)r;
		GT_TRIAL_WANT(t, GT_RULE_WALK, r && r > before,
			      "a record is repeated or out of order");
		if (!r || r <= before)
			return;
		if (at < b->data || at > end || (uintptr_t)at % 8 ||
		    (size_t)(end - at) < PU1_RECORD_SIZE_LEAST || r->size < PU1_RECORD_SIZE_LEAST ||
		    r->size > (size_t)(end - at)) {
			gt_trial_report(t, GT_TRIAL_BROKEN, GT_RULE_PLACE,
					"a record at byte %td of %zu valid bytes is misplaced or "
					"has a wrong size",
					at - b->data, b->valid);
			return;
		}
		check_record(t, r);
		if (!keep_record(t, r))
			return;
		before = r;
	}
	GT_TRIAL_WANT(t, GT_RULE_WALK, result == PU1_END,
		      "pu1GetNextRecord() returned %s after the last record",
		      gt_trial_result_name(result));
}

void gt_trial_collect(struct gt_trial *t)
{
	learn_plugin(&t->plugin, true);
	t->record_count = 0;
	for (; t->seen < t->buffer_count; t->seen++) {
		struct gt_trial_buffer *b = &t->buffers[t->seen];

		GT_TRIAL_WANT(t, GT_RULE_FLUSHED, b->completed, "the plug-in still holds a buffer");
		if (!b->completed)
			continue;
		if (b->valid)
			walk_buffer(t, b);
	}
	gt_trial_want_once(t);
}
