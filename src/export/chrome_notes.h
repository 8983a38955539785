/* SPDX-License-Identifier: MIT */
/* Notes of the Chrome exporter's encoders (parallel.h).
 *
 * Texts of calls and activities depend only on the capture, with these exceptions, for which an
 * encoder writes notes. The exporter reads the notes in order when it appends the part:
 *   label     of a thread's row is written before its first call
 *   row       of an activity depends on all earlier activities of its queue. Encoders write the
 *             first row, which is right unless activities overlap, and the exporter replaces it
 *   mark      starts or ends a range, perhaps one of another piece. The note has the whole call
 *   replay, memory  are collected, and written at the end of the file */
#ifndef GPUTAP_EXPORT_CHROME_NOTES_H
#define GPUTAP_EXPORT_CHROME_NOTES_H

#include "export/chrome.h"

/* An activity in the first row of a queue, with the offsets of its places in the part. */
struct gt_chrome_place {
	uint32_t at, row_at; /* of the event, and of the text of the row */
	uint32_t flow_at;    /* of the text of the row in the flow; 0: no flow */
};

enum gt_chrome_note_kind {
	GT_CHROME_NOTE_THREAD,
	GT_CHROME_NOTE_ACTIVITY,
	GT_CHROME_NOTE_REPLAY,
	GT_CHROME_NOTE_MARK,
	GT_CHROME_NOTE_MEMORY
};

/* Each note starts with its kind and its size, a multiple of 8. */
struct gt_chrome_note {
	uint32_t kind, bytes;
};

struct gt_chrome_thread_note {
	struct gt_chrome_note note;
	uint32_t at, process, ordinal;
};

struct gt_chrome_activity_note {
	struct gt_chrome_note note;
	struct gt_chrome_place place;
	uint32_t process;
	bool timed;
	const struct gt_object_info *queue;
	uint64_t start_ns, end_ns;
};

struct gt_chrome_replay_note {
	struct gt_chrome_note note;
	uint64_t correlation;
	struct gt_item activity;
};

/* Followed by the arguments and the payload. */
struct gt_chrome_mark_note {
	struct gt_chrome_note note;
	uint32_t at;
	struct gt_item call;
};

/* Followed by the changes. */
struct gt_chrome_memory_note {
	struct gt_chrome_note note;
	uint64_t count;
};

/* Write notes. If out of memory, set x->left. */
void gt_chrome_note_thread(struct gt_chrome *x, const struct gt_view_thread *t);
void gt_chrome_note_activity(struct gt_chrome *x, const struct gt_item *activity, bool timed,
			     const struct gt_chrome_place *place);
void gt_chrome_note_replay(struct gt_chrome *x, const struct gt_item *activity,
			   uint64_t correlation);
void gt_chrome_note_mark(struct gt_chrome *x, const struct gt_item *call);
/* Write a note of all changes of memory in use that the encoder has collected. */
void gt_chrome_note_memory(struct gt_chrome *x);

#endif
