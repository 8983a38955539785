/* SPDX-License-Identifier: MIT */
/* Writes one row per record, as in RFC 4180 with \n, and a header row.
 * docs/reference/export-formats.md explains the columns. Times are CLOCK_BOOTTIME ns. A column is
 * empty if the record has no such value or the value is not known. Recurring fields are generated
 * once per thread, operation, queue and name. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/model/view.h"
#include "export/formats.h"
#include "export/out.h"
#include "export/parallel.h"
#include "export/snippet.h"
#include "util/error.h"

enum { ARGS_MAX = 8192, NAME_MAX_BYTES = 4096 };

static const char header[] = "kind,pid,tid,process,thread,domain,operation,start_ns,end_ns,"
			     "duration_ns,correlation,parent,depth,"
			     "external_operation,external_user,status,error,return,device,queue,"
			     "name,queued_ns,submitted_ns,call_start_ns,bytes,"
			     "global_x,global_y,global_z,local_x,local_y,local_z,graph,graph_node,"
			     "graph_replay,arguments\n";

enum { DEVICE_COLUMNS = 16 }; /* number of columns from device to graph_replay */

struct csv {
	struct gt_out out;
	struct gt_view view;
	struct gt_clock_digits clock;
	const struct gt_view_options *options;
	/* Threads from this index on are missing in the capture's list. Their numbers depend on the
	 * order of records. */
	uint32_t known_threads;
	bool met_unknown; /* true if a record of such a thread was written */
	/* fields from domain to operation of GPU activities; NULL: not generated yet */
	struct gt_snippet *activities[GT_DOMAIN_COUNT][GT_DEVICE_OP_COUNT + 1];
};

static char *put_decimal(char *p, uint64_t v)
{
	p = gt_put_wide(p, v);
	*p++ = ',';
	return p;
}

/* Write a number. The number 0 means "not known" and leaves the column empty. */
static char *put_known(char *p, uint64_t v)
{
	if (v)
		p = gt_put_wide(p, v);
	*p++ = ',';
	return p;
}

/* Like put_known(). */
static inline char *put_time(struct csv *x, char *p, uint64_t ns)
{
	if (ns)
		p = gt_put_clock_ns(&x->clock, p, ns);
	*p++ = ',';
	return p;
}

static char *put_field(char *p, const char *text)
{
	size_t length = strlen(text);

	p = gt_put_csv(p, text, length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES);
	*p++ = ',';
	return p;
}

static char *put_status(char *p, uint32_t domain, int32_t status)
{
	const char *name = NULL;

	if (gt_status_failed((enum gt_domain)domain, status))
		name = gt_status_name((enum gt_domain)domain, status);

	p = gt_put_i64(p, status);
	*p++ = ',';
	return put_field(p, name ? name : "");
}

/* Snippets -------------------------------------------------------------------- */

/* Generate ,4711,4712,0,1, from the process and thread. */
static const struct gt_snippet *get_thread(struct csv *x, struct gt_view_thread *t)
{
	char text[5 * GT_NUMBER_MAX], *p = text;

	x->met_unknown |= t->index >= x->known_threads;
	if (t->own)
		return t->own;
	*p++ = ',';
	p = put_decimal(p, t->pid);
	p = put_known(p, t->tid);
	p = put_decimal(p, t->process);
	p = put_decimal(p, t->ordinal);
	return t->own = gt_snippet_create(text, (size_t)(p - text));
}

/* Generate "opencl,clFinish," */
static struct gt_snippet *create_operation(uint32_t op, const char *name)
{
	char text[2 * GT_TEXT_ROOM(NAME_MAX_BYTES)], *p = text;

	p = put_field(p, gt_domain_name((enum gt_domain)GT_OP_DOMAIN(op)));
	p = put_field(p, name);
	return gt_snippet_create(text, (size_t)(p - text));
}

static const struct gt_snippet *get_operation(struct gt_view_operation *o, uint32_t op)
{
	return o->own ? o->own : (o->own = create_operation(op, o->name));
}

static const struct gt_snippet *get_activity(struct csv *x, const struct gt_item *activity)
{
	uint32_t domain = GT_OP_DOMAIN(activity->op) % GT_DOMAIN_COUNT,
		 op = (uint32_t)activity->device_op;
	struct gt_snippet **s =
		&x->activities[domain][op < GT_DEVICE_OP_COUNT ? op : GT_DEVICE_OP_COUNT];

	if (!*s)
		*s = create_operation(activity->op, gt_device_op_name(activity->device_op));
	return *s;
}

/* Generate "0,3," from the device and the queue. */
static const struct gt_snippet *get_queue(struct gt_view_queue *q)
{
	char text[2 * GT_NUMBER_MAX], *p = text;

	if (q->own)
		return q->own;
	if (q->device != UINT32_MAX)
		p = gt_put_u64(p, q->device);
	*p++ = ',';
	p = put_known(p, q->number);
	return q->own = gt_snippet_create(text, (size_t)(p - text));
}

static const struct gt_snippet *get_name(struct gt_view_text *name)
{
	char text[GT_TEXT_ROOM(NAME_MAX_BYTES)];

	if (!name->own)
		name->own = gt_snippet_create(text, (size_t)(put_field(text, name->text) - text));
	return name->own;
}

static void free_snippets(struct csv *x)
{
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		for (unsigned op = 0; op <= GT_DEVICE_OP_COUNT; op++)
			free(x->activities[d][op]);
}

/* Lines ----------------------------------------------------------------------- */

static inline char *put_times(struct csv *x, char *p, const struct gt_item *item)
{
	p = put_time(x, p, item->start_ns);
	p = put_time(x, p, item->end_ns);
	if (item->start_ns && item->end_ns >= item->start_ns)
		p = gt_put_wide(p, item->end_ns - item->start_ns);
	*p++ = ',';
	return p;
}

/* Write the arguments in place, and quotes around them if the field needs only these. */
static char *put_arguments(char *p, const struct gt_item *call)
{
	char text[ARGS_MAX], *field = p + 1;
	size_t bytes = gt_format_args(field, ARGS_MAX, call->op, call->ret, call->args,
				      call->payload, call->payload_bytes, ", ");
	bool quoted;

	bytes = bytes < ARGS_MAX ? bytes : ARGS_MAX - 1;
	if (!gt_csv_is_plain(field, bytes, &quoted)) {
		memcpy(text, field, bytes);
		return gt_put_csv(p, text, bytes);
	}
	if (!quoted) {
		memmove(p, field, bytes);
		return p + bytes;
	}
	*p = field[bytes] = '"';
	return field + bytes + 1;
}

static int write_call_line(void *exporter, const struct gt_item *call)
{
	struct csv *x = exporter;
	struct gt_view_thread *t = gt_view_thread(&x->view, call->process, call->ordinal);
	struct gt_view_operation *o = gt_view_operation(&x->view, call->op);
	const struct gt_snippet *thread = t ? get_thread(x, t) : NULL,
				*operation = o ? get_operation(o, call->op) : NULL;
	char *p = gt_out_room(&x->out);
	int32_t status;

	if (!thread || !operation)
		return -ENOMEM;
	p = gt_put_snippet(GT_PUT(p, "call"), thread);
	p = gt_put_snippet(p, operation);
	p = put_times(x, p, call);
	p = put_decimal(p, gt_view_correlation(&x->view, t, call->id));
	p = put_known(p, gt_view_correlation(&x->view, t, call->parent));
	p = put_decimal(p, call->depth);
	p = put_known(p, call->external[GT_EXTERNAL_OPERATION]);
	p = put_known(p, call->external[GT_EXTERNAL_USER]);
	if (gt_call_status(call->op, call->ret, call->args, &status))
		p = put_status(p, GT_OP_DOMAIN(call->op), status);
	else
		p = GT_PUT(p, ",,");
	p = GT_PUT(p, "0x");
	p = gt_put_hex(p, call->ret);
	*p++ = ',';
	memset(p, ',', DEVICE_COLUMNS);
	p += DEVICE_COLUMNS;
	if (call->args)
		p = put_arguments(p, call);
	*p++ = '\n';
	gt_out_end(&x->out, p);
	return 0;
}

static char *put_sizes(char *p, const uint32_t size[3])
{
	for (int i = 0; i < 3; i++)
		p = put_known(p, size[i]);
	return p;
}

static int write_activity_line(void *exporter, const struct gt_item *activity)
{
	struct csv *x = exporter;
	struct gt_view_queue *q = gt_view_queue(&x->view, activity);
	/* The submitting thread if known, otherwise the thread that wrote the record. */
	struct gt_view_thread *t =
		gt_view_caller(&x->view, activity->process,
			       activity->id ? GT_ID_ORDINAL(activity->id) : activity->ordinal);
	struct gt_view_text *name =
		activity->name ? gt_view_name(&x->view, activity->process, activity->name) : NULL;
	const struct gt_snippet *thread = t ? get_thread(x, t) : NULL,
				*operation = get_activity(x, activity),
				*queue = q ? get_queue(q) : NULL,
				*kernel = name ? get_name(name) : NULL;
	char *p = gt_out_room(&x->out);

	if (!queue || !thread || !operation || (activity->name && !kernel))
		return -ENOMEM;
	p = gt_put_snippet(GT_PUT(p, "device"), thread);
	p = gt_put_snippet(p, operation);
	p = put_times(x, p, activity);
	p = put_known(p, gt_view_correlation(&x->view, t, activity->id));
	p = GT_PUT(p, ",,,,");
	p = put_status(p, GT_OP_DOMAIN(activity->op), activity->status);
	p = GT_PUT(p, ",");
	p = gt_put_snippet(p, queue);
	if (kernel)
		p = gt_put_snippet(p, kernel);
	else
		*p++ = ',';
	p = put_time(x, p, activity->queued_ns);
	p = put_time(x, p, activity->submitted_ns);
	p = put_time(x, p, activity->call_start_ns);
	p = put_known(p, activity->bytes);
	p = put_sizes(p, activity->global);
	p = put_sizes(p, gt_item_endpoints(activity) ? (const uint32_t[3]){0} : activity->local);
	p = put_known(p, activity->graph);
	if (activity->replay) {
		p = put_decimal(p, activity->ordinal_in_graph);
		p = put_decimal(p, activity->replay);
	} else {
		p = GT_PUT(p, ",,");
	}
	*p++ = '\n';
	gt_out_end(&x->out, p);
	return 0;
}

static int write_items(void *exporter, const struct gt_item *item, const struct gt_item *end)
{
	GT_EXPORT_EACH(exporter, item, end, write_call_line, write_activity_line);
}

static int begin_csv(struct csv *x, const struct gt_capture *c,
		     const struct gt_view_options *options)
{
	int status;

	*x = (struct csv){.clock = GT_CLOCK_DIGITS, .options = options};
	status = gt_view_init(&x->view, c, options);
	x->known_threads = x->view.thread_count;
	return status;
}

static void fini_csv(struct csv *x)
{
	free_snippets(x);
	gt_view_fini(&x->view);
}

/* In several threads ----------------------------------------------------------- */

static void *create_encoder(void *exporter)
{
	const struct csv *main = exporter;
	struct csv *x = malloc(sizeof *x);

	if (!x || begin_csv(x, main->view.capture, main->options)) {
		free(x);
		return NULL;
	}
	return x;
}

static void destroy_encoder(void *encoder)
{
	fini_csv(encoder);
	free(encoder);
}

static void begin_part(void *encoder, struct gt_part *part)
{
	struct csv *x = encoder;

	x->out = part->out;
	x->met_unknown = false;
}

static bool end_part(void *encoder, struct gt_part *part)
{
	struct csv *x = encoder;

	part->out = x->out;
	return !x->met_unknown;
}

static int append_part(void *exporter, const struct gt_part *part)
{
	struct csv *x = exporter;

	gt_out_write(&x->out, part->out.base, (size_t)(part->out.next - part->out.base));
	return 0;
}

static const struct gt_encoder_type encoder_type = {
	.create = create_encoder,
	.destroy = destroy_encoder,
	.begin = begin_part,
	.encode = write_items,
	.end = end_part,
	.append = append_part,
	.write = write_items,
};

static int write_csv(const struct gt_capture *c, const char *path,
		     const struct gt_view_options *options)
{
	struct csv x;
	int status = begin_csv(&x, c, options);

	if (status)
		return status;
	status = gt_out_open(&x.out, path, false);
	if (status)
		goto fini;
	if (options->jobs > 1)
		gt_out_use_thread(&x.out);
	gt_out_text(&x.out, header);
	status = gt_export_in_parallel(&x.view, &x.out, options, &x, &encoder_type);
	status = gt_out_finish(&x.out, status);
fini:
	fini_csv(&x);
	return status;
}

static const char *const extensions[] = {".csv", NULL};

const struct gt_exporter gt_exporter_csv = {
	.name = "csv",
	.extensions = extensions,
	.text = "a row for each call and each GPU activity",
	.write = write_csv,
};
