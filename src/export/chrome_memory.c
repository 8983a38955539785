/* SPDX-License-Identifier: MIT */
/* Writes memory in use over time in Chrome JSON, as counters of the process (memory_tracks.h). */
#include "analysis/model/memory_tracks.h"
#include "export/chrome.h"

/* Write {"ph":"C","cat":"memory","name":"device memory (level_zero)","pid":4711,"tid":0,"ts":1.000,
 * "args":{"bytes":4096}} */
static void write_point(void *exporter, const struct gt_memory_track *track, uint64_t ns,
			uint64_t in_use)
{
	struct gt_chrome *x = exporter;
	char label[GT_MEMORY_LABEL], *p = gt_out_room(&x->out);

	p = GT_PUT(p, "{\"ph\":\"C\",\"cat\":\"memory\",\"name\":");
	p = gt_chrome_put_quoted(p, gt_memory_track_label(track, label));
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_u64(p, gt_view_pid(&x->view, track->process));
	p = GT_PUT(p, ",\"tid\":0,\"ts\":");
	p = gt_put_us(p, gt_chrome_shift(x, ns));
	p = GT_PUT(p, ",\"args\":{\"bytes\":");
	p = gt_put_u64(p, in_use);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
}

int gt_chrome_write_memory(struct gt_chrome *x)
{
	return gt_memory_tracks_each(&x->memory, write_point, x);
}
