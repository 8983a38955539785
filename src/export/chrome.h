/* SPDX-License-Identifier: MIT */
/* Internals of the Chrome exporter: chrome.c (file, header and metadata events), chrome_calls.c
 * (calls and ranges of the program), chrome_activity.c (GPU activities and launches of graphs),
 * chrome_memory.c (memory in use), chrome_parts.c and chrome_notes.c (encoders in several threads).
 * chrome.c describes the rules of the format. */
#ifndef GPUTAP_EXPORT_CHROME_H
#define GPUTAP_EXPORT_CHROME_H

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/model/innermost.h"
#include "analysis/model/memory_use.h"
#include "analysis/model/ranges.h"
#include "analysis/model/replays.h"
#include "analysis/model/view.h"
#include "analysis/symbols/launch_frames.h"
#include "export/out.h"
#include "export/parallel.h"
#include "export/snippet.h"

enum {
	ROW_TID = 100000,       /* distance between the rows of a queue; see chrome.c */
	GRAPH_TID = 1000000000, /* first row for launches of graphs */
	DEVICE_SORT = 5000000,  /* sorts device processes after processes of the system */
	/* Length of most place texts, and half the length of the longest one, which contains three
	 * numbers and the names of two of them. In its event, at least as many bytes follow the
	 * place before the copy. */
	PLACE_USUAL = 48,
	TEXT_MAX = 4096, /* maximum bytes of a name, before escaping */
};

struct gt_chrome {
	struct gt_out out;
	const struct gt_view_options *options;
	bool cuda_names;
	struct gt_view view;
	/* An encoder of a part (parallel.h) writes notes instead of labels, rows of activities
	 * other than the first one, ranges, launches of graphs and memory in use. NULL: the
	 * exporter */
	struct gt_part *part;
	bool left; /* encoder: true if the exporter must encode this piece */
	const struct gt_view_thread *noted; /* encoder: thread whose label the part has a note of */
	/* Threads from this index on are missing in the capture's list. Their numbers depend on the
	 * order of records. */
	uint32_t known_threads;
	struct gt_ranges ranges;
	struct gt_innermost innermost;
	struct gt_launch_frames launches; /* call stacks of calls */
	struct gt_replays replays;
	struct gt_memory_use memory;              /* collected from written calls */
	const struct gt_view_queue *replay_queue; /* queue whose launches are being written */
	unsigned replay_rows;                     /* number of rows of `replay_queue` so far */
	uint64_t shift_ns;                        /* offset from BOOTTIME to ns since base_ns */
	uint64_t base_ns;
	struct gt_clock_digits clock;
	bool *device_named; /* indexed by device; the last entry is for "not known" */
	/* recently seen kernels, see chrome_kernel.c; NULL: none yet */
	struct gt_chrome_kernel *kernels;
	struct gt_snippet
		*activities[GT_DEVICE_OP_COUNT]; /* start of an activity that has no name */
};

/* chrome_text.c */

/* Write @text quoted and escaped; at most TEXT_MAX bytes of it. */
char *gt_chrome_put_quoted(char *p, const char *text);
/* Write ,"error":"CL_INVALID_VALUE (-30)" */
char *gt_chrome_put_error(char *p, uint32_t domain, int32_t status);

static inline uint64_t gt_chrome_shift(const struct gt_chrome *x, uint64_t ns)
{
	return ns + x->shift_ns;
}

static inline uint64_t gt_chrome_device_pid(const struct gt_chrome *x, uint32_t device)
{
	return device == UINT32_MAX ? gt_capture_device_count(x->view.capture) : device;
}

/* Write "External id":17, the operator or range that contains the item. torch writes this field for
 * calls and GPU activities. */
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
	x->left |= t->index >= x->known_threads;
	p = GT_PUT(p, "\"External id\":");
	p = gt_put_u64(p, gt_view_correlation(&x->view, t, range));
	*p++ = ',';
	return p;
}

#define GT_CHROME_FLOW_END ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"},\n"

/* Write {"ph":"s","id":17,"pid":4711,"tid":4712,"ts":1.000,"cat":"ac2g","name":"ac2g"}.
 * @place: text from the pid to the ts, as already written in the event */
static inline char *gt_chrome_put_flow(char *p, char phase, uint64_t id, const char *place,
				       const char *place_end)
{
	p = GT_PUT(p, "{\"ph\":\"");
	*p++ = phase;
	p = GT_PUT(p, "\",\"id\":");
	p = gt_put_u64(p, id);
	p = GT_PUT(p, ",\"pid\":");
	/* Copies extra bytes after the place; later output overwrites them. */
	memcpy(p, place, PLACE_USUAL);
	if (__builtin_expect(place_end - place > PLACE_USUAL, 0))
		memcpy(p + PLACE_USUAL, place + PLACE_USUAL, PLACE_USUAL);
	p += place_end - place;
	if (phase == 's')
		return GT_PUT(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n");
	return GT_PUT(p, GT_CHROME_FLOW_END);
}

/* Write a metadata event: the name of a process or row, or its sort index. Encoders write none. */
void gt_chrome_write_label(struct gt_chrome *x, const char *kind, uint64_t pid, uint64_t tid,
			   const char *key, const char *text);
void gt_chrome_write_sort(struct gt_chrome *x, const char *kind, uint64_t pid, uint64_t tid,
			  uint64_t index);

/* Write calls, or marks of the program (ROCTx; chrome_calls.c), from *item up to the first item of
 * another kind. The loop is inside the function, so that it is compiled together with the code for
 * a call. */
int gt_chrome_write_calls(struct gt_chrome *x, const struct gt_item **item,
			  const struct gt_item *end);
/* Write ranges that were never ended. Call after the last record. */
int gt_chrome_write_open_ranges(struct gt_chrome *x);
void gt_chrome_calls_fini(struct gt_chrome *x);

/* Write memory in use over time (chrome_memory.c). Call after the last record. */
int gt_chrome_write_memory(struct gt_chrome *x);

/* Write times in which processes were not recorded (chrome_pauses.c). */
int gt_chrome_write_pauses(struct gt_chrome *x);

/* Write ,"registers per thread":40,"grid":[..] (chrome_kernel.c) */
char *gt_chrome_put_kernel(struct gt_chrome *x, char *p, const struct gt_view_queue *q,
			   const struct gt_item *activity);

/* chrome_activity.c */
int gt_chrome_write_activity(struct gt_chrome *x, const struct gt_item **item,
			     const struct gt_item *end);
int gt_chrome_write_replay(void *exporter, const struct gt_replay *replay, unsigned row);
/* Return the text of a queue's row, from its process to its time. The exporter writes the labels of
 * new rows first. Return NULL with a cause if out of memory. */
const struct gt_snippet *gt_chrome_find_row(struct gt_chrome *x, struct gt_view_queue *q,
					    unsigned row);
void gt_chrome_activity_fini(struct gt_chrome *x);

/* chrome_calls.c. Write the label of a thread, unless it was written. Return its row, or NULL with
 * a cause if out of memory. */
const struct gt_snippet *gt_chrome_thread_row(struct gt_chrome *x, struct gt_view_thread *t);

/* chrome_parts.c. Initialise and free the state that the exporter and each encoder have. */
int gt_chrome_begin(struct gt_chrome *x, const struct gt_capture *c,
		    const struct gt_view_options *options);
void gt_chrome_fini(struct gt_chrome *x);
gt_export_items_fn gt_chrome_write_items;
extern const struct gt_encoder_type gt_chrome_encoder;

#endif
