/* SPDX-License-Identifier: MIT */
/* A capture in memory, for tests of code that reads captures: the functions of capture/capture.h on
 * arrays that the test fills in. Nothing is encoded or decoded, so the capture may contain records
 * that no collector would write. */
#ifndef GPUTAP_FAKE_CAPTURE_H
#define GPUTAP_FAKE_CAPTURE_H

#include "capture/capture.h"
#include "record/operation.h"

enum { FAKE_MAX = 64, FAKE_PAYLOAD = 256 };

struct gt_capture {
	struct gt_session_info session;
	struct gt_capture_session only; /* tests of idle time set `kept` in this session */
	struct gt_capture_health health;
	struct gt_process_info process[FAKE_MAX];
	struct gt_thread_info thread[FAKE_MAX];
	struct gt_object_info object[FAKE_MAX];
	struct gt_event_info event[FAKE_MAX];
	struct gt_counts counts[FAKE_MAX];
	const char *string[FAKE_MAX];    /* indexed by id, the same for all processes */
	struct gt_window_info window[4]; /* windows of process 0 */
	size_t processes, threads, objects, events, devices, windows;
	struct gt_item *item;
	uint64_t (*args)[16]; /* by item */
	size_t items, capacity;
	uint64_t sequence[FAKE_MAX]; /* indexed by thread ordinal */
};

/* Set up one process (pid 1000, "prog"), one thread (tid 1000), one device with one queue. */
void fake_capture_init(struct gt_capture *c);
void fake_capture_fini(struct gt_capture *c);
uint32_t fake_process(struct gt_capture *c, uint32_t pid, const char *exe);
void fake_thread(struct gt_capture *c, uint32_t process, uint32_t ordinal, uint32_t tid,
		 const char *name);
const struct gt_object_info *fake_device(struct gt_capture *c, uint32_t process, const char *text);
const struct gt_object_info *fake_queue(struct gt_capture *c, uint32_t process, uint64_t device);

/* Append a call of an operation. @args: all arguments of the operation, or NULL. */
struct gt_item *fake_call(struct gt_capture *c, uint32_t ordinal, const char *name, uint64_t start,
			  uint64_t end, unsigned depth, const uint64_t *args);
/* Append a reading of a thread's state. @state: enum gt_host_state, or 0. */
struct gt_item *fake_state(struct gt_capture *c, uint32_t ordinal, enum gt_host_detail detail,
			   unsigned state, uint64_t start, uint64_t end, const uint64_t value[8]);
/* Append a GPU activity. @id: id of its call, or 0. */
struct gt_item *fake_activity(struct gt_capture *c, const struct gt_object_info *queue,
			      enum gt_device_op op, uint32_t name, uint64_t start, uint64_t end,
			      uint64_t id);

#endif
