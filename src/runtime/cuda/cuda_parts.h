/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files for CUDA's GPU activities.
 *
 *   a launching call of the program
 *     tap                       gt_thread.api_id, api_start: the open call
 *       └─ libcuda ─ CUPTI ─ callback, ENTER    correlation id -> that call      (cuda_activity.c)
 *                          ─ callback, EXIT     the call succeeded: count as seen
 *   device ─ CUPTI's buffer of records ─► full, or flushed each 100 ms           (cupti_buffers.c)
 *     └─ helper: a record's correlation id -> the call: device record            (cuda_records.c)
 *
 * The link is stored before the device can start, so no record arrives before its link. */
#ifndef GPUTAP_RUNTIME_CUDA_PARTS_H
#define GPUTAP_RUNTIME_CUDA_PARTS_H

#include <stdatomic.h>

#include "core/emit.h"
#include "core/tap.h"
#include "generated/cuda_driver_taps.h"
#include "generated/cuda_driver_wraps.h"
#include "runtime/cuda/cupti_client.h"
#include "runtime/cuda/cupti_session.h"

#define GT_CUDA_MS    UINT64_C(1000000)
#define GT_CUDA_CLOCK 8 /* GT_CLOCK_HOST_TICKS */

/* Links (cuda_activity.c) -------------------------------------------------------------------- */

enum gt_cuda_link_flag {
	GT_CUDA_RECORDED = 1, /* the recording session wants the launch's activities */
	GT_CUDA_COUNTED = 2,  /* `records` are counted as seen when the call succeeds */
	GT_CUDA_GRAPH = 4,
	GT_CUDA_NOTIFIED = 8, /* tools are notified of the launch */
};

struct gt_cuda_link {
	_Atomic uint32_t correlation; /* 0 if none. Stored last (release), cleared first */
	uint32_t records : 28;        /* expected number of records; 0 if unknown */
	uint32_t flags   : 4;         /* enum gt_cuda_link_flag */
	uint64_t id, start;           /* id and start of the call */
	/* number of the graph's object; number of this launch among the graph's launches */
	uint32_t graph, replay;
	uint32_t epoch; /* of the session in which the call was made (core/recording.c) */
};

enum { GT_CUDA_LINKS = 1 << 18 };
extern struct gt_cuda_link *gt_cuda_links __attribute__((visibility("hidden")));

/* Map the table of links. Call before CUPTI's callbacks are enabled. Return false if out of
 * memory. */
bool gt_cuda_links_begin(void);

/* Correlation of a recent launch; not updated at every launch. */
extern _Atomic uint32_t gt_cuda_links_newest __attribute__((visibility("hidden")));

/* Functions for the helper, the only reader of links. */
/* Find the link of a record's correlation id. Return false if the id has no link. @more: true if
 * more records have arrived than were counted as seen. */
bool gt_cuda_link_find(uint32_t correlation, struct gt_cuda_link *link, bool *more);
/* Copy links that are still needed to a table that later launches do not overwrite. */
void gt_cuda_links_keep(void);
/* Forget all links, because CUPTI will restart its ids. */
void gt_cuda_links_forget(void);

/* Functions (cuda_functions.c) ------------------------------------------------------------- */

enum gt_cuda_function {
	GT_CUDA_NOTHING = 0,
	GT_CUDA_LAUNCH, /* a kernel */
	GT_CUDA_MOVE,   /* a memcpy or memset */
	GT_CUDA_OTHER,  /* the number of records is not known in advance */
	GT_CUDA_GRAPH_LAUNCH,
	GT_CUDA_BEGIN_CAPTURE,
	GT_CUDA_END_CAPTURE,
	GT_CUDA_INSTANTIATE,
	GT_CUDA_EXEC_DESTROY,
	GT_CUDA_NODE_ENABLE,
	GT_CUDA_STREAM_CREATE,
	GT_CUDA_STREAM_DESTROY,
	/* waits for the device, or asks whether it is idle. Not needed until CUPTI is to be
	 * finalised */
	GT_CUDA_WAIT,
};
/* Tables indexed by callback id: the enum gt_cuda_function, and true if the recording session wants
 * the function's activities. */
extern uint8_t gt_cuda_functions[CUPTI_CALLBACK_IDS] __attribute__((visibility("hidden")));
extern uint8_t gt_cuda_asked[CUPTI_CALLBACK_IDS] __attribute__((visibility("hidden")));

static inline bool gt_cuda_is_launch(enum gt_cuda_function function)
{
	return function >= GT_CUDA_LAUNCH && function <= GT_CUDA_GRAPH_LAUNCH;
}

/* Classify the functions of an open CUPTI. Call after the library was opened. */
void gt_cuda_functions_find(const struct gt_cupti_library *library);
bool gt_cuda_callback_needed(uint32_t id);
/* Return true if activities launched now are recorded, false while the program pauses recording. */
bool gt_cuda_stream_open(void);
/* Return true if a tool or the recording session wants GPU activities. @ever: true to consider a
 * paused session as well. */
bool gt_cuda_activity_wanted(bool ever);

/* Type of a function's activities, if the function's name determines the type. */
extern uint8_t gt_cuda_activity_ops[CUPTI_CALLBACK_IDS] __attribute__((visibility("hidden")));

/* Tools (cuda_tool_activities.c) --------------------------------------------------- */

/* Begin the launch with a correlation id.
 * @id:      callback id
 * @is_open: true if the number of the launch's records is unknown, and possibly 0
 * @records: number of the launch's records; 0 if unknown */
void gt_cuda_items_enter(uint32_t correlation, uint32_t id, bool is_open, uint32_t records);
/* Report that the launching call has returned. Thread: the thread of gt_cuda_items_enter(). */
void gt_cuda_items_exit(uint32_t correlation, bool refused);
/* Notify tools of a device with an object number. @device: CUPTI's number; @text: text of the
 * object, which starts with the device's name. */
void gt_cuda_items_device(uint32_t number, uint32_t device, const struct gt_text *text);
/* Report that a record of the call has arrived. @r: the record as written; @device: CUPTI's
 * number. */
void gt_cuda_items_done(uint32_t correlation, const struct gt_record_device *r, uint32_t device);

/* Callbacks (cuda_activity.c) ------------------------------------------------------------------ */

/* CUPTI's only callback. */
void gt_cuda_activity_callback(void *user, int domain, uint32_t id, const void *data);
/* Return true if the program has launched since the last call of this function. */
bool gt_cuda_activity_launched(void);
/* All callbacks of launches are enabled: launches from now on have links. */
void gt_cuda_activity_linked(void);
/* Return true if the launch with that correlation was before gt_cuda_activity_linked(). */
bool gt_cuda_activity_is_earlier(uint32_t correlation);
/* Forget which contexts were described, because a new session has begun. */
void gt_cuda_activity_renew(void);

/* Buffers (cupti_buffers.c) --------------------------------------------------------------- */

void gt_cupti_request(uint8_t **buffer, size_t *bytes, size_t *records);
void gt_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
/* Read the returned buffers. Thread: any; while one thread reads, other threads return at once. */
void gt_cupti_buffers_read(struct gt_thread *t);
/* Read the buffers that were filled before CUPTI was finalised, then forget their links. */
void gt_cupti_buffers_restart(void);
/* Discard records that arrive from now on, because no helper reads them; or stop to do so. */
void gt_cupti_buffers_drop(bool on);
/* Discard the records and objects of a session that has ended, and unmap unused buffers. */
void gt_cupti_buffers_discard(void);

/* Records (cuda_records.c) ---------------------------------------------------------------- */

/* Write a record. Thread: the reader of buffers. */
void gt_cuda_record(struct gt_thread *t, const struct cupti_record *record);

/* Objects (cuda_objects.c) ---------------------------------------------------------------- */

/* Return an object's number, and write the object at its first use. Thread: the reader of
 * buffers. */
uint32_t gt_cuda_device(struct gt_thread *t, uint32_t device);
uint32_t gt_cuda_stream(struct gt_thread *t, uint32_t device, uint32_t context, uint32_t stream);
/* A kernel's symbol. */
struct gt_cuda_kernel {
	uint32_t name, symbol;
	bool wanted;
};
struct gt_cuda_kernel gt_cuda_kernel(struct gt_thread *t, const struct cupti_kernel *kernel);

/* Note that the program has created an object. Called from callbacks, at EXIT, with the arguments
 * of the creating function. */
void gt_cuda_graph_made(void *exec, void *graph);
/* Note a graph whose instantiation was not observed. */
void gt_cuda_graph_met(void *exec);
/* Forget all graphs, whose ends were not observed while gputap was detached. */
void gt_cuda_graphs_forget(void);
/* Describe streams, contexts and kernels again in the records of a new session. Call while no
 * thread reads buffers. */
void gt_cuda_objects_renew(void);
void gt_cuda_graph_gone(void *exec);
/* Note that a node of an executable graph was enabled or disabled. From now on, the number of nodes
 * that run is unknown. */
void gt_cuda_graph_changed(void *exec);
/* Return the string id of the name (such as "graph 3") of the graph with that object number, or 0
 * if the name is no longer known. */
uint32_t gt_cuda_graph_name(uint32_t number);
/* Start a launch of a graph. Return the number of the graph's object, or 0 if unknown. @records:
 * number of records that the launch will produce; 0 if unknown. */
uint32_t gt_cuda_graph_launch(void *exec, uint32_t *replay, uint32_t *records);
void gt_cuda_context_used(void *context, uint32_t id);
void gt_cuda_stream_made(void *context, uint32_t context_id, void *stream);

/* Streams with graphs (cuda_graph_streams.c) -------------------------------------------------- */

/* Note a launch of a graph, in CUPTI's callback. */
void gt_cuda_graph_streams_note(void *stream);
void gt_cuda_graph_streams_destroyed(void *stream);
/* Return true if graphs were launched since CUPTI was opened. */
bool gt_cuda_graph_streams_any(void);
/* Return true if no graph executes and no other thread launches one: CUPTI may be finalised in this
 * thread. Does not wait. */
bool gt_cuda_graph_streams_idle(void);
/* Forget all streams after CUPTI was finalised. */
void gt_cuda_graph_streams_forget(void);

/* Memory (cuda_memory.c) -------------------------------------------------------------------- */

/* Get what a tap's `asks` gets, for a successful call that CUPTI has reported. @parameters: CUPTI's
 * struct of the call's arguments. Return false if the operation asks nothing. */
bool gt_cuda_ask_parameters(const struct gt_table *table, unsigned index, const void *parameters,
			    struct gt_facts *facts);

/* The layer below (cuda_beneath.c) ---------------------------------------------------------- */

/* Return the driver's own function, below all taps. Return NULL if the driver lacks the function or
 * has not been seen yet. */
#define GT_CUDA_REAL(name) ((gt_cuda_driver_##name##_fn *)gt_cuda_real(GT_CUDA_DRIVER_INDEX_##name))
void *gt_cuda_real(uint32_t index);
void gt_cuda_table_is(const struct gt_table *table);
/* Return the table of the driver in use. */
const struct gt_table *gt_cuda_table(void);
/* Return the position in the stack of the call that a callback reports, for struct
 * gt_announcement.at. Thread: the callback's. */
uintptr_t gt_cuda_find_place(const struct cupti_callback *data);

/* Wake the helper after many launches. */
void gt_cuda_helper_wake(void);
/* Sleep until woken, at most @ns. Thread: the helper. */
void gt_cuda_helper_sleep(uint64_t ns);
/* Processors that the process was allowed to use before the program bound its threads. Needed
 * because CUPTI's threads inherit the processors of the thread that creates them. */
struct gt_cuda_affinity {
	bool changed;
	uint64_t before[16];
};
/* Add the processors of all threads, because the thread in which gputap attaches may be bound. */
void gt_cuda_affinity_note_all(void);
void gt_cuda_affinity_widen(struct gt_cuda_affinity *affinity);
void gt_cuda_affinity_restore(const struct gt_cuda_affinity *affinity);

/* Helper (cuda_helper.c) ------------------------------------------------------------------ */

/* Let the helper read the last records. Called in _exit() and before a detach. Signal: safe. */
void gt_cuda_helper_leave(void);
/* Start CUPTI and the helper in a process that has used the driver before gputap was attached. */
void gt_cuda_helper_attach(void);
/* Let the helper read the last records and end. The next launch finalises CUPTI. Waits. */
void gt_cuda_helper_detach(void);

#endif
