/* SPDX-License-Identifier: MIT */
/* See trigger.h. Before the first record, the expression is evaluated for each operation, to find
 * the smallest duration with which a record can match. "and" takes the longer duration of its two
 * sides, "or" the shorter one. "not" sets no limit. */
#include "cli/trigger.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"
#include "analysis/model/view.h"
#include "analysis/query/filter_tree.h"
#include "cli/command.h"
#include "cli/trigger_absent.h"
#include "cli/ui.h"
#include "cli/where.h"
#include "record/operation.h"

struct trigger {
	struct filter *filter;
	struct texts texts; /* numbers of the texts in filter_record.text */
	char pid[16];
};

/* Store the texts of a number. A process has its pid and the names of its program as texts. */
static unsigned give_texts(void *data, enum filter_field field, uint32_t number, const char **texts)
{
	const struct trigger *t = data;
	const char *text = texts_get(&t->texts, number), *slash;

	texts[0] = text;
	if (field == FILTER_DOMAIN) {
		texts[1] = gt_domain_traits[gt_domain_find(text)].family;
		return *texts[1] ? 2 : 1;
	}
	if (field != FILTER_PROCESS)
		return 1;
	texts[0] = strchr(text, ' ') ? strchr(text, ' ') + 1 : text; /* the text is "PID EXE" */
	slash = strrchr(texts[0], '/');
	texts[1] = slash ? slash + 1 : texts[0];
	texts[2] = t->pid;
	return 3;
}

static const char *domain_of(const struct gt_trigger_record *r)
{
	return gt_domain_name((enum gt_domain)GT_OP_DOMAIN(r->op));
}

static const char *kind_of(const struct gt_trigger_record *r)
{
	const struct gt_operation_info *info = r->is_activity ? NULL : gt_operation(r->op);

	return r->is_activity ? gt_device_op_name(r->device_op)
			      : gt_operation_kind_name(info ? (enum gt_operation_kind)info->kind
							    : GT_KIND_OTHER);
}

static const char *name_of(const struct gt_trigger_record *r)
{
	return !r->is_activity           ? gt_operation_name(r->op)
	       : r->kernel && *r->kernel ? r->kernel
					 : gt_device_op_name(r->device_op);
}

/* Return true if the condition can match a record, considering only names that are known in
 * advance. */
static bool may_hold(struct trigger *t, const struct filter_node *n,
		     const struct gt_trigger_record *r)
{
	struct filter one = *t->filter;
	struct filter_record record;

	memset(record.text, 0xff, sizeof record.text);
	if (n->field == FILTER_DOMAIN)
		record.text[FILTER_DOMAIN] = texts_put(&t->texts, domain_of(r));
	else if (n->field == FILTER_KIND)
		record.text[FILTER_KIND] = texts_put(&t->texts, kind_of(r));
	else if (n->field == FILTER_NAME && !r->is_activity)
		record.text[FILTER_NAME] = texts_put(&t->texts, name_of(r));
	else
		return true;
	one.root = (struct filter_node *)(uintptr_t)n;
	return filter_match(&one, &record);
}

static uint64_t shortest_of_number(const struct filter_node *n)
{
	if (n->field != FILTER_DURATION)
		return 0;
	switch (n->compare) {
	case CMP_GT: return n->number < UINT64_MAX ? n->number + 1 : n->number;
	case CMP_GE:
	case CMP_EQ: return n->number;
	default: return 0;
	}
}

static uint64_t shortest_of(struct trigger *t, const struct filter_node *n,
			    const struct gt_trigger_record *r, bool *failed)
{
	bool left = false, right = false;
	uint64_t a, b;

	*failed = false;
	switch (n->type) {
	case NODE_AND:
		a = shortest_of(t, n->left, r, &left);
		b = shortest_of(t, n->right, r, &right);
		*failed = left || right;
		return a > b ? a : b;
	case NODE_OR:
		a = shortest_of(t, n->left, r, &left);
		b = shortest_of(t, n->right, r, &right);
		*failed = (left || a == UINT64_MAX) && (right || b == UINT64_MAX);
		return a < b ? a : b;
	case NODE_FAILED: *failed = true; return 0;
	case NODE_NUMBER: return shortest_of_number(n);
	case NODE_TEXT:
	case NODE_REGEX: return may_hold(t, n, r) ? 0 : UINT64_MAX;
	default: return 0;
	}
}

static uint64_t find_shortest(void *data, const struct gt_trigger_record *r, bool *failed)
{
	struct trigger *t = data;

	return shortest_of(t, t->filter->root, r, failed);
}

static bool has_bytes(const struct gt_trigger_record *r)
{
	const enum gt_activity_class class =
		gt_view_activity_class((enum gt_device_op)r->device_op);

	return r->is_activity && (class == GT_ACTIVITY_COPY || class == GT_ACTIVITY_SET);
}

static bool match(void *data, const struct gt_trigger_record *r)
{
	struct trigger *t = data;
	struct filter_record record = {.duration_ns = r->duration_ns,
				       .bytes = r->bytes,
				       .rank = -1,
				       .timed = r->timed,
				       .sized = has_bytes(r),
				       .failed = r->failed};
	char process[512];

	memset(record.text, 0xff, sizeof record.text);
	snprintf(t->pid, sizeof t->pid, "%u", r->pid);
	snprintf(process, sizeof process, "%u %.400s", r->pid, r->exe);
	record.text[FILTER_NAME] = texts_put(&t->texts, name_of(r));
	record.text[FILTER_DOMAIN] = texts_put(&t->texts, domain_of(r));
	record.text[FILTER_KIND] = texts_put(&t->texts, kind_of(r));
	record.text[FILTER_PROCESS] = texts_put(&t->texts, process);
	return filter_match(t->filter, &record);
}

static bool match_absent(void *data, const struct gt_trigger_record *r)
{
	struct trigger *t = data;

	return !t->filter || match(data, r);
}

static const char *find_unavailable(const struct trigger *t, enum gt_trigger_what what)
{
	static const struct {
		enum filter_field field;
		const char *name;
		uint32_t has; /* enum gt_trigger_what, as bits */
	} fields[] = {
		{FILTER_NAME, "name", 1u << GT_TRIGGER_RECORD | 1u << GT_TRIGGER_OPEN},
		{FILTER_DOMAIN, "domain",
		 1u << GT_TRIGGER_RECORD | 1u << GT_TRIGGER_OPEN | 1u << GT_TRIGGER_GAP},
		{FILTER_KIND, "kind", 1u << GT_TRIGGER_RECORD | 1u << GT_TRIGGER_OPEN},
		{FILTER_DURATION, "duration", 1u << GT_TRIGGER_RECORD},
		{FILTER_BYTES, "bytes", 1u << GT_TRIGGER_RECORD},
		{FILTER_FAILED, "failed", 1u << GT_TRIGGER_RECORD},
		{FILTER_DEVICE, "device", 0},
		{FILTER_THREAD, "thread", 0},
		{FILTER_QUEUE, "queue", 0},
		{FILTER_RANGE, "range", 0},
		{FILTER_HOST, "host", 0},
		{FILTER_RANK, "rank", 0},
		{FILTER_AT, "at", 0},
	};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (!(fields[i].has & 1u << what) && filter_asks(t->filter, fields[i].field))
			return fields[i].name;
	return NULL;
}

static int fail_unavailable(const char *name, enum gt_trigger_what what)
{
	static const char *const valid[] = {
		[GT_TRIGGER_RECORD] = "name domain kind process duration bytes failed",
		[GT_TRIGGER_NO_PROGRESS] = "process",
		[GT_TRIGGER_GAP] = "domain process",
		[GT_TRIGGER_OPEN] = "name domain kind process",
	};

	if (what == GT_TRIGGER_RECORD)
		return ui_fail(GT_EXIT_USAGE,
			       "--trigger: '%s' is not available while the program runs; valid: %s",
			       name, valid[what]);
	return ui_fail(GT_EXIT_USAGE, "--trigger: '%s' is not available with '%s'; valid: %s", name,
		       trigger_absent_name(what), valid[what]);
}

int trigger_create(const char *expression, struct gt_trigger *out)
{
	struct trigger *t = allocate_list(1, sizeof *t);
	struct trigger_absent absent;
	struct filter_error error;
	const char *unavailable;
	char *rest;

	if (!trigger_absent_parse(expression, &absent, &error)) {
		free(t);
		return where_print_error_of("--trigger", expression, &error);
	}
	*out = (struct gt_trigger){.what = absent.what,
				   .least_ns = absent.least_ns,
				   .data = t,
				   .find_shortest = find_shortest,
				   .match =
					   absent.what == GT_TRIGGER_RECORD ? match : match_absent};
	if (absent.what == GT_TRIGGER_RECORD) {
		absent.rest = expression;
		absent.rest_bytes = strlen(expression);
	} else if (!absent.rest_bytes) {
		return GT_EXIT_OK;
	}
	rest = strndup(absent.rest, absent.rest_bytes);
	t->filter = rest ? filter_create(rest, give_texts, t, &error) : NULL;
	free(rest);
	if (!rest || !t->filter) {
		error.at += (size_t)(absent.rest - expression);
		free(t);
		return rest ? where_print_error_of("--trigger", expression, &error)
			    : ui_fail(GT_EXIT_FAILURE, "--trigger: no memory");
	}
	unavailable = find_unavailable(t, absent.what);
	if (unavailable) {
		filter_destroy(t->filter);
		free(t);
		return fail_unavailable(unavailable, absent.what);
	}
	out->asks_time = filter_asks(t->filter, FILTER_DURATION);
	return GT_EXIT_OK;
}
