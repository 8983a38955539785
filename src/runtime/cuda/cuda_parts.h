/* SPDX-License-Identifier: MIT */
/* CUDA's device work: what its files share.
 *
 *   a launching call of the program
 *     tap                       gt_thread.api_id, api_start: the open call
 *       └─ libcuda ─ CUPTI ─ callback, ENTER    correlation id -> that call      (cuda_work.c)
 *                          ─ callback, EXIT     it has succeeded: counted as seen
 *   device ─ CUPTI's buffer of records ─► full, or flushed each 100 ms           (cupti_buffers.c)
 *     └─ helper: a record's correlation id -> the call: device record            (cuda_records.c)
 *
 * The link is there before the device can have begun, so no record comes too early for it. */
#ifndef GPUTAP_RUNTIME_CUDA_PARTS_H
#define GPUTAP_RUNTIME_CUDA_PARTS_H

#include <stdatomic.h>

#include "core/emit.h"
#include "core/tap.h"
#include "generated/cuda_driver_taps.h"
#include "generated/cuda_driver_wraps.h"
#include "runtime/cuda/cupti_guest.h"
#include "runtime/cuda/cupti_owner.h"

#define GT_CUDA_MS    UINT64_C(1000000)
#define GT_CUDA_CLOCK 8 /* GT_CLOCK_HOST_TICKS */

/* Links (cuda_work.c) -------------------------------------------------------------------- */

enum gt_cuda_link_flag {
	GT_CUDA_RECORDED = 1, /* the session asks for its work */
	GT_CUDA_COUNTED = 2,  /* `records` of it are counted as seen when the call succeeds */
	GT_CUDA_GRAPH = 4,
	GT_CUDA_NOTIFIED = 8, /* tools are: gt_cuda_items_take() */
};

struct gt_cuda_link {
	_Atomic uint32_t correlation; /* 0: none. Stored last (release), first cleared */
	uint32_t records : 28;        /* so many will come, as far as is known */
	uint32_t flags   : 4;         /* enum gt_cuda_link_flag */
	uint64_t id, start;           /* of the call */
	uint32_t graph, replay;       /* number of the graph's object, which launch of it */
};

enum { GT_CUDA_LINKS = 1 << 18 };
extern struct gt_cuda_link gt_cuda_links[GT_CUDA_LINKS] __attribute__((visibility("hidden")));

/* Of about the newest launch: stored now and then. */
extern _Atomic uint32_t gt_cuda_links_newest __attribute__((visibility("hidden")));

/* For the helper, which alone reads links: */
/* A record of that correlation id has come. False: no link. @more: more have come than were counted
 * as seen. */
bool gt_cuda_link_find(uint32_t correlation, struct gt_cuda_link *link, bool *more);
/* Links that are still waited for are kept where later launches do not overwrite them. */
void gt_cuda_links_keep(void);
/* CUPTI will count its ids anew. */
void gt_cuda_links_forget(void);

/* Functions (cuda_functions.c) ------------------------------------------------------------- */

enum gt_cuda_function {
	GT_CUDA_NOTHING = 0,
	GT_CUDA_LAUNCH, /* a kernel */
	GT_CUDA_MOVE,   /* a copy, a set */
	GT_CUDA_OTHER,  /* how many records come is not known before */
	GT_CUDA_GRAPH_LAUNCH,
	GT_CUDA_BEGIN_CAPTURE,
	GT_CUDA_END_CAPTURE,
	GT_CUDA_INSTANTIATE,
	GT_CUDA_EXEC_DESTROY,
	GT_CUDA_NODE_ENABLE,
	GT_CUDA_STREAM_CREATE,
};
/* By callback id: enum gt_cuda_function; does the session ask for its work? */
extern uint8_t gt_cuda_functions[CUPTI_CALLBACK_IDS] __attribute__((visibility("hidden")));
extern uint8_t gt_cuda_asked[CUPTI_CALLBACK_IDS] __attribute__((visibility("hidden")));

static inline bool gt_cuda_is_launch(enum gt_cuda_function function)
{
	return function >= GT_CUDA_LAUNCH && function <= GT_CUDA_GRAPH_LAUNCH;
}

/* After a library was opened. */
void gt_cuda_functions_find(const struct gt_cupti_library *library);
bool gt_cuda_callback_needed(uint32_t id);
/* Is what is launched now recorded? Not while the program pauses its recording. */
bool gt_cuda_stream_open(void);
/* Does anybody ask for device work: the session, paused or not (@ever), or a tool? */
bool gt_cuda_work_wanted(bool ever);

/* Of a function's work, as far as its name says it. */
extern uint8_t gt_cuda_work_ops[CUPTI_CALLBACK_IDS] __attribute__((visibility("hidden")));

/* Tools (cuda_items.c) ---------------------------------------------------------------------- */

/* The launch of that correlation id begins. @id: of its callback; @is_open: it is not known how
 * many records will come, or whether any will. @records: so many, 0: not known. */
void gt_cuda_items_enter(uint32_t correlation, uint32_t id, bool is_open, uint32_t records);
/* It has returned. Thread: the same. */
void gt_cuda_items_exit(uint32_t correlation, bool refused);
/* A device of that object's number: tools are notified of it. @device: as CUPTI numbers it; @text:
 * of the object, its name first. */
void gt_cuda_items_device(uint32_t number, uint32_t device, const struct gt_text *text);
/* A record of it has come. @r: as it is written; @device: as CUPTI numbers it. */
void gt_cuda_items_done(uint32_t correlation, const struct gt_record_device *r, uint32_t device);

/* Callbacks (cuda_work.c) ------------------------------------------------------------------ */

/* CUPTI's one callback. */
void gt_cuda_work_callback(void *user, int domain, uint32_t id, const void *data);
/* Has anything been launched since this was last asked? */
bool gt_cuda_work_launched(void);

/* Buffers (cupti_buffers.c) --------------------------------------------------------------- */

void gt_cupti_request(uint8_t **buffer, size_t *bytes, size_t *records);
void gt_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
/* Read what has come back. Thread: one at a time; others leave it to that one. */
void gt_cupti_buffers_read(struct gt_thread *t);
/* CUPTI was gone: what came before is read, then its links are forgotten. */
void gt_cupti_buffers_restart(void);

/* Records (cuda_records.c) ---------------------------------------------------------------- */

/* Thread: that reads buffers. */
void gt_cuda_record(struct gt_thread *t, const struct cupti_record *record);

/* Objects (cuda_objects.c) ---------------------------------------------------------------- */

/* Numbers of objects; written when first asked for. Thread: that reads buffers. */
uint32_t gt_cuda_device(struct gt_thread *t, uint32_t device);
uint32_t gt_cuda_stream(struct gt_thread *t, uint32_t device, uint32_t context, uint32_t stream);
/* Number of a kernel's symbol. */
struct gt_cuda_kernel {
	uint32_t name, symbol;
	bool wanted;
};
struct gt_cuda_kernel gt_cuda_kernel(struct gt_thread *t, const struct cupti_kernel *kernel);

/* In callbacks, at their EXIT: what the program has made. @parameters: the function's. */
void gt_cuda_graph_made(void *exec, void *graph);
void gt_cuda_graph_gone(void *exec);
/* A node of it is switched off or on: how many run is not known from now on. */
void gt_cuda_graph_changed(void *exec);
/* "graph 3": string id by the object's number; 0: not known any more. */
uint32_t gt_cuda_graph_name(uint32_t number);
/* A launch of it begins. Return: its object's number; 0: not known. @records: that it will give;
 * 0: not known. */
uint32_t gt_cuda_graph_launch(void *exec, uint32_t *replay, uint32_t *records);
void gt_cuda_context_used(void *context, uint32_t id);
void gt_cuda_stream_made(void *context, uint32_t context_id, void *stream);

/* What is beneath (cuda_beneath.c) ---------------------------------------------------------- */

/* The driver's function behind all taps; NULL: it has none, or no driver was seen yet. */
#define GT_CUDA_REAL(name) ((gt_cuda_driver_##name##_fn *)gt_cuda_real(GT_CUDA_DRIVER_INDEX_##name))
void *gt_cuda_real(uint32_t index);
void gt_cuda_table_is(const struct gt_table *table);

/* The helper looks now: much was launched. */
void gt_cuda_helper_wake(void);
/* The helper's: until it is woken, or so long. */
void gt_cuda_helper_sleep(uint64_t ns);
/* The processors that the process may use, as they were before the program bound its threads:
 * CUPTI's own threads get what the thread has that makes them. */
struct gt_cuda_affinity {
	bool changed;
	uint64_t before[16];
};
void gt_cuda_affinity_widen(struct gt_cuda_affinity *affinity);
void gt_cuda_affinity_restore(const struct gt_cuda_affinity *affinity);

/* Helper (cuda_helper.c) ------------------------------------------------------------------ */

/* _exit() is called. Signal: safe. */
void gt_cuda_helper_leave(void);

#endif
