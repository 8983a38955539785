/* SPDX-License-Identifier: MIT */
/* Inside of the Chrome exporter: what chrome.c (the file, its head and its events),
 * chrome_calls.c (calls and what the program says of itself), chrome_work.c (device work, launches
 * of graphs) and chrome_memory.c share. chrome.c has the format's rules. */
#ifndef GPUTAP_EXPORT_CHROME_H
#define GPUTAP_EXPORT_CHROME_H

#include "export/innermost.h"
#include "export/launch_frames.h"
#include "export/memory_use.h"
#include "export/number.h"
#include "export/out.h"
#include "export/ranges.h"
#include "export/replays.h"
#include "export/text.h"
#include "export/view.h"

enum {
	ROW_TID = 100000,       /* from one row of a queue to the next, see chrome.c */
	GRAPH_TID = 1000000000, /* the first row of graphs' launches */
	DEVICE_SORT = 5000000,  /* processes of devices come behind those of the system */
	SNIPPET_STEP = 32,
	/* bytes of most places, and half of the longest: three numbers, and what names two of them.
	 * So many stand behind a place in its event, in front of the copy */
	PLACE_USUAL = 48,
	TEXT_MAX = 4096, /* bytes of a name, before it is escaped */
};

/* Text that is made once. Copied in steps, so there are SNIPPET_STEP bytes more of it. */
struct gt_snippet {
	uint32_t bytes;
	char text[];
};

struct gt_chrome {
	struct gt_out out;
	bool cuda_names;
	struct gt_view view;
	struct gt_ranges ranges;
	struct gt_innermost innermost;
	struct gt_launch_frames launches; /* functions that calls were made from */
	struct gt_replays replays;
	struct gt_memory_use memory;              /* by the calls that were written */
	const struct gt_view_queue *replay_queue; /* whose launches are written .. */
	unsigned replay_rows;                     /* .. in so many rows until now */
	uint64_t shift_ns;                        /* added to BOOTTIME gives ns since base */
	uint64_t base_ns;
	bool *device_named;               /* by device, the last one for "not known" */
	struct gt_chrome_kernel *kernels; /* of late, see chrome_kernel.c; NULL: none yet */
	struct gt_snippet *works[GT_DEVICE_OP_COUNT]; /* beginning of work without a name */
};

/* chrome_text.c */

/* NULL: no memory, with a cause. */
struct gt_snippet *gt_chrome_make_snippet(const char *text, size_t bytes);

static inline char *gt_chrome_put_snippet(char *p, const struct gt_snippet *snippet)
{
	for (uint32_t i = 0; i < snippet->bytes; i += SNIPPET_STEP)
		memcpy(p + i, snippet->text + i, SNIPPET_STEP);
	return p + snippet->bytes;
}

/* "text", escaped; at most TEXT_MAX bytes of it. */
char *gt_chrome_put_quoted(char *p, const char *text);
/* ,"error":"CL_INVALID_VALUE (-30)" */
char *gt_chrome_put_error(char *p, uint32_t domain, int32_t status);

static inline uint64_t gt_chrome_shift(const struct gt_chrome *x, uint64_t ns)
{
	return ns + x->shift_ns;
}

static inline uint64_t gt_chrome_device_pid(const struct gt_chrome *x, uint32_t device)
{
	return device == UINT32_MAX ? gt_capture_device_count(x->view.capture) : device;
}

/* "External id":17, of the operator or range that the item is in; torch gives it to calls and to
 * device work. */
static inline char *gt_chrome_put_external(struct gt_chrome *x, char *p, const struct gt_item *item)
{
	uint64_t place = gt_item_place(item), range = 0;
	uint32_t ordinal = GT_ID_ORDINAL(place);
	struct gt_view_thread *t;

	if (x->innermost.count && place)
		range = gt_innermost_find(&x->innermost, item->process, ordinal, place);
	t = range ? gt_view_caller(&x->view, item->process, ordinal) : NULL;
	if (!t)
		return p;
	p = GT_PUT(p, "\"External id\":");
	p = gt_put_u64(p, gt_view_correlation(&x->view, t, range));
	*p++ = ',';
	return p;
}

/* {"ph":"s","id":17,"pid":4711,"tid":4712,"ts":1.000,"cat":"ac2g","name":"ac2g"},
 * @place: from the pid to the ts, as it stands in the event already */
static inline char *gt_chrome_put_flow(char *p, char phase, uint64_t id, const char *place,
				       const char *place_end)
{
	p = GT_PUT(p, "{\"ph\":\"");
	*p++ = phase;
	p = GT_PUT(p, "\",\"id\":");
	p = gt_put_u64(p, id);
	p = GT_PUT(p, ",\"pid\":");
	/* what stands behind the place is copied, too, and written over */
	memcpy(p, place, PLACE_USUAL);
	if (__builtin_expect(place_end - place > PLACE_USUAL, 0))
		memcpy(p + PLACE_USUAL, place + PLACE_USUAL, PLACE_USUAL);
	p += place_end - place;
	if (phase == 's')
		return GT_PUT(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n");
	return GT_PUT(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"},\n");
}

/* Metadata events: the name of a process or row, and where it is sorted. */
void gt_chrome_write_label(struct gt_chrome *x, const char *kind, uint64_t pid, uint64_t tid,
			   const char *key, const char *text);
void gt_chrome_write_sort(struct gt_chrome *x, const char *kind, uint64_t pid, uint64_t tid,
			  uint64_t index);

/* chrome_calls.c. Calls, or what they say of the program (ROCTx), from *item up to one that is
 * none, so that the loop lies where its work is. */
int gt_chrome_write_calls(struct gt_chrome *x, const struct gt_item **item,
			  const struct gt_item *end);
/* At the end: ranges that were not ended. */
int gt_chrome_write_open_ranges(struct gt_chrome *x);
void gt_chrome_calls_fini(struct gt_chrome *x);

/* chrome_memory.c: memory in use over time, after the last record. */
int gt_chrome_write_memory(struct gt_chrome *x);

/* chrome_pauses.c: when processes were not recorded. */
int gt_chrome_write_pauses(struct gt_chrome *x);

/* chrome_kernel.c: ,"registers per thread":40,"grid":[..] */
char *gt_chrome_put_kernel(struct gt_chrome *x, char *p, const struct gt_view_queue *q,
			   const struct gt_item *work);

/* chrome_work.c */
int gt_chrome_write_work(struct gt_chrome *x, const struct gt_item **item,
			 const struct gt_item *end);
int gt_chrome_write_replay(void *exporter, const struct gt_replay *replay, unsigned row);
void gt_chrome_work_fini(struct gt_chrome *x);

#endif
