/* SPDX-License-Identifier: MIT */
/* Writes one row per record, as in RFC 4180 with \n, and a header row.
 * docs/reference/export-formats.md explains the columns. Times are CLOCK_BOOTTIME ns. A column is
 * empty if the record has no such value or the value is not known. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/model/view.h"
#include "export/formats.h"
#include "export/out.h"
#include "export/records.h"
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
};

static char *put_decimal(char *p, uint64_t v)
{
	p = gt_put_u64(p, v);
	*p++ = ',';
	return p;
}

/* Write a number. The number 0 means "not known" and leaves the column empty. */
static char *put_known(char *p, uint64_t v)
{
	if (v)
		p = gt_put_u64(p, v);
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

static char *put_start(char *p, const char *kind, const struct gt_view_thread *t, uint32_t op,
		       const char *operation, const struct gt_item *item)
{
	bool timed = item->start_ns && item->end_ns >= item->start_ns;

	p = put_field(p, kind);
	p = put_decimal(p, t->pid);
	p = put_known(p, t->tid);
	p = put_decimal(p, t->process);
	p = put_decimal(p, t->ordinal);
	p = put_field(p, gt_domain_name((enum gt_domain)GT_OP_DOMAIN(op)));
	p = put_field(p, operation);
	p = put_known(p, item->start_ns);
	p = put_known(p, item->end_ns);
	if (timed)
		p = gt_put_u64(p, item->end_ns - item->start_ns);
	*p++ = ',';
	return p;
}

static int write_call_line(void *exporter, const struct gt_item *call)
{
	struct csv *x = exporter;
	struct gt_view_thread *t = gt_view_thread(&x->view, call->process, call->ordinal);
	struct gt_view_operation *o = gt_view_operation(&x->view, call->op);
	char text[ARGS_MAX], *p = gt_out_room(&x->out);
	int32_t status;

	if (!t || !o)
		return -ENOMEM;
	p = put_start(p, "call", t, call->op, o->name, call);
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
	if (call->args) {
		gt_format_args(text, sizeof text, call->op, call->ret, call->args, call->payload,
			       call->payload_bytes, ", ");
		p = gt_put_csv(p, text, strlen(text));
	}
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
		gt_view_thread(&x->view, activity->process,
			       activity->id ? GT_ID_ORDINAL(activity->id) : activity->ordinal);
	struct gt_view_text *name =
		activity->name ? gt_view_name(&x->view, activity->process, activity->name) : NULL;
	char *p = gt_out_room(&x->out);

	if (!q || !t || (activity->name && !name))
		return -ENOMEM;
	p = put_start(p, "device", t, activity->op, gt_device_op_name(activity->device_op),
		      activity);
	p = put_known(p, gt_view_correlation(&x->view, t, activity->id));
	p = GT_PUT(p, ",,,,");
	p = put_status(p, GT_OP_DOMAIN(activity->op), activity->status);
	p = GT_PUT(p, ",");
	if (q->device != UINT32_MAX)
		p = gt_put_u64(p, q->device);
	*p++ = ',';
	p = put_known(p, q->number);
	p = put_field(p, name ? name->text : "");
	p = put_known(p, activity->queued_ns);
	p = put_known(p, activity->submitted_ns);
	p = put_known(p, activity->call_start_ns);
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

static int write_csv(const struct gt_capture *c, const char *path,
		     const struct gt_view_options *options)
{
	struct csv x = {.view = {.capture = NULL}};
	int status = gt_view_init(&x.view, c, options);

	if (status)
		return status;
	status = gt_out_open(&x.out, path, false);
	if (status)
		goto fini_view;
	gt_out_text(&x.out, header);
	status = gt_export_records(&x.view, &x.out, options, &x, write_items);
	status = gt_out_finish(&x.out, status);
fini_view:
	gt_view_fini(&x.view);
	return status;
}

static const char *const extensions[] = {".csv", NULL};

const struct gt_exporter gt_exporter_csv = {
	.name = "csv",
	.extensions = extensions,
	.text = "a row for each call and each GPU activity",
	.write = write_csv,
};
