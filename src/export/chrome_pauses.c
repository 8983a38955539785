/* SPDX-License-Identifier: MIT */
/* Writes, in Chrome JSON, the times in which processes were not recorded: an instant at the start
 * of each pause, with the length of the pause. Readers do not include instants in sums. TraceLens
 * rejects asynchronous events. */
#include "analysis/idle/unrecorded_spans.h"
#include "export/chrome.h"

/* Write an instant:
 * {"ph":"i","s":"p","cat":"gputap","name":"not recorded: --delay","pid":4711,"tid":4711,"ts":1.000,
 * "args":{"ns":5000}} */
static void write_span(struct gt_chrome *x, const struct gt_unrecorded *span)
{
	char text[GT_UNRECORDED_TEXT], *p = gt_out_room(&x->out);

	p = GT_PUT(p, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"gputap\",\"name\":");
	p = gt_chrome_put_quoted(p, gt_unrecorded_text(span, text));
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_u64(p, gt_view_pid(&x->view, span->process));
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, gt_view_pid(&x->view, span->process));
	p = GT_PUT(p, ",\"ts\":");
	p = gt_put_us(p, gt_chrome_shift(x, span->start_ns));
	p = GT_PUT(p, ",\"args\":{\"ns\":");
	p = gt_put_u64(p, span->end_ns - span->start_ns);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
}

int gt_chrome_write_pauses(struct gt_chrome *x)
{
	struct gt_unrecorded_list list;
	int status = gt_unrecorded_read(&list, x->view.capture);

	for (size_t i = 0; i < list.count && !status; i++)
		write_span(x, &list.spans[i]);
	gt_unrecorded_fini(&list);
	return status;
}
