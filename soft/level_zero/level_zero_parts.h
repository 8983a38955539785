/* SPDX-License-Identifier: MIT */
/* The parts of the software driver for Level Zero.
 *
 *   driver_tables.c   the tables that the loader requests
 *   driver.c          driver, devices, contexts      memory.c    allocations
 *   list.c            command lists                  module.c    modules, kernels
 *   list_append.c     appending to lists             spirv.c     reading a module's SPIR-V
 *   list_mutable.c    commands changed later
 *   submit.c          queues, their threads          opencl.c    the OpenCL that runs kernels
 *   command.c         one command, its execution     event.c     events, pools, fences
 *   state.c           settings, the driver's lock    virtual.c   addresses, physical memory
 *   image.c           images, samplers               opencl_image.c   OpenCL objects of images
 *   image_copy.c      copies of images               opencl_find.c    finding an OpenCL
 *   budget.c          count of used memory           ipc.c           memory of other processes
 *   share.c           memory that they can map       sysman.c        queries of zes and zet
 *
 * A handle is a pointer to an object (object.c). The first word of an object is its kind. A handle
 * of another kind, or of a destroyed object, is refused.
 *
 * Locking: soft_ze_lock guards the state of events, fences and queues. It is a leaf lock, and no
 * command runs under it. Host threads and queue threads wait for soft_ze_changed. */
#ifndef SOFT_LEVEL_ZERO_PARTS_H
#define SOFT_LEVEL_ZERO_PARTS_H

#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdbool.h>

#include "soft/level_zero/config.h"
#include "soft/level_zero/opencl.h"
#include "soft/level_zero/share.h"
#include "soft/level_zero/spirv.h"

enum soft_ze_kind {
	SOFT_ZE_DRIVER = 0x7a650001,
	SOFT_ZE_DEVICE,
	SOFT_ZE_CONTEXT,
	SOFT_ZE_QUEUE,
	SOFT_ZE_LIST,
	SOFT_ZE_POOL,
	SOFT_ZE_EVENT,
	SOFT_ZE_FENCE,
	SOFT_ZE_MODULE,
	SOFT_ZE_LOG,
	SOFT_ZE_KERNEL,
	SOFT_ZE_PHYSICAL,
	SOFT_ZE_IMAGE,
	SOFT_ZE_SAMPLER,
	SOFT_ZE_KIND_END
};

/* Ordinals of queue groups. */
enum { SOFT_ZE_GROUP_COMPUTE, SOFT_ZE_GROUP_COPY, SOFT_ZE_GROUPS };

struct soft_ze_device {
	uint32_t kind;
	unsigned index, tile;          /* tile: index of this tile in its parent device */
	struct soft_ze_device *parent; /* NULL: this is a whole device */
	unsigned tile_count;
	uint64_t used_bytes; /* memory in use, counted in the whole device; atomic */
};

struct soft_ze_context {
	uint32_t kind;
	bool is_default;
};

/* When a command ran; all fields are 0 if its times are unknown. */
struct soft_ze_times {
	uint64_t start, end; /* device ticks, reduced to the valid bits */
	uint64_t host_start_ns, host_end_ns;
};

/* State of an event. In shared memory if several processes use the pool. */
struct soft_ze_event_state {
	uint32_t signalled;    /* atomic */
	ze_result_t status;    /* status of the command that signalled the event */
	uint64_t target, done; /* atomic */
	struct soft_ze_times times;
};

struct soft_ze_event_share {
	uint32_t users; /* number of users: the pool and its events; atomic */
	struct soft_ze_event_state *states;
	size_t bytes;
	uint64_t offset;
	bool imported, is_exported;
	struct soft_share_handle handle;
};

struct soft_ze_pool {
	uint32_t kind;
	struct soft_ze_context *context;
	uint32_t count;
	ze_event_pool_flags_t flags;
	bool counter_based;
	struct soft_ze_event_share *share; /* NULL: the pool is private to this process */
};

/* A command that will signal a counter-based event. In the event's `pending` list until it does. */
struct soft_ze_turn {
	uint64_t
		number; /* number that the command gives the event; in a wait: number to wait for */
	struct soft_ze_turn *next;
};

/* A regular event is either signalled or not. A counter-based event gives each command that will
 * signal it a number: `target` is the last number given, `done` the highest number signalled.
 * Programs reuse an event in other lists before it is done, and these lists need not end in the
 * order of the numbers. Waiting for a number therefore means waiting until that number is not
 * pending. */
struct soft_ze_event {
	uint32_t kind;
	uint32_t users; /* number of users: the program and commands; atomic */
	struct soft_ze_pool *pool;
	bool counter_based, stamped;
	ze_event_scope_flags_t signal_scope, wait_scope;
	struct soft_ze_event_state *state; /* `own`, or an element of `share` */
	struct soft_ze_event_share *share;
	struct soft_ze_event_state own;
	struct soft_ze_turn *pending; /* guarded by soft_ze_lock */
};

struct soft_ze_fence {
	uint32_t kind;
	uint32_t signalled; /* atomic */
	ze_result_t status; /* status of the queue when it signalled the fence */
};

struct soft_ze_log {
	uint32_t kind;
	char *text;
};

struct soft_ze_module {
	uint32_t kind;
	uint32_t users; /* number of users: the program, kernels, launches; atomic */
	struct soft_ze_context *context;
	struct soft_ze_device *device;
	struct soft_cl_program *program; /* NULL: kernels are not executed */
	struct soft_spirv code;          /* kernels and their parameters */
	void *input;                     /* source that the module was built from */
	size_t input_bytes;
};

struct soft_ze_argument {
	bool set, is_null;
	size_t bytes;
	void *value;
	struct soft_cl_object *object; /* reference-counted */
};

struct soft_ze_kernel {
	uint32_t kind;
	struct soft_ze_module *module;
	const struct soft_spirv_kernel *about;
	struct soft_cl_kernel *code; /* reference-counted, because commands also use this object */
	uint32_t group[3], offset[3];
	ze_kernel_indirect_access_flags_t indirect;
	struct soft_ze_argument *arguments; /* one for each parameter of the kernel */
};

/* An image. Only `object` is reference-counted: by the program and by each command. */
struct soft_ze_image {
	uint32_t kind;
	/* device whose budget includes the pixels; NULL: pixels are not owned */
	struct soft_ze_device *device;
	struct soft_cl_object *object;
	size_t pixel_bytes;
	size_t extent[3]; /* layers count as rows (1D) or slices (2D) */
	uint64_t id;
};

/* Commands ----------------------------------------------------------------------- */

enum soft_ze_command_kind {
	SOFT_ZE_LAUNCH,
	SOFT_ZE_COPY,
	SOFT_ZE_COPY_REGION,
	SOFT_ZE_FILL,
	SOFT_ZE_BARRIER, /* barriers, signals, waits: only event handling */
	SOFT_ZE_RESET,
	SOFT_ZE_WRITE_TIME,
	SOFT_ZE_QUERY_TIMES,
	SOFT_ZE_HOST_CALL,
	SOFT_ZE_COPY_IMAGE,
	SOFT_ZE_COMMAND_KINDS
};

struct soft_ze_region {
	size_t width, height, depth;
	size_t to_offset, to_pitch, to_slice, from_offset, from_pitch, from_slice;
};

struct soft_ze_launch {
	struct soft_cl_kernel *code;   /* reference-counted; NULL: the kernel is not executed */
	struct soft_ze_module *module; /* reference-counted, because the module owns *about */
	const struct soft_spirv_kernel *about;
	uint32_t group[3], groups[3], offset[3];
	/* group counts, read when the launch runs; NULL: known already (`groups`) */
	const ze_group_count_t *indirect;
	/* the launch runs only if `number` is below *limit; NULL: always */
	const uint32_t *limit;
	uint32_t number;
	/* values of the arguments follow in the same memory block */
	struct soft_cl_argument *arguments;
	unsigned argument_count;
};

struct soft_ze_command {
	struct soft_ze_command *next;
	enum soft_ze_command_kind kind;
	uint64_t id;                  /* id of a mutable command */
	struct soft_ze_event *signal; /* reference-counted, like all events of a command */
	struct soft_ze_event **waits;
	uint32_t wait_count;
	uint32_t wait_slots; /* number of waits before the program changed them; 0: unchanged */
	void *to;
	const void *from;
	size_t bytes;
	struct soft_ze_region *region;
	/* reference-counted: the images among source and destination */
	struct soft_cl_object *images[2];
	void *pattern;
	size_t pattern_bytes;
	struct soft_ze_launch *launch;
	/* events to query or reset; `bytes` is their number, `from` the offsets */
	struct soft_ze_event **queried;
	void (*host_call)(void *);
};

struct soft_ze_queue {
	uint32_t kind;
	struct soft_ze_queue *next; /* list of all queues */
	struct soft_ze_device *device;
	uint32_t ordinal, index, flags;
	ze_command_queue_mode_t mode;
	ze_command_queue_priority_t priority;
	pthread_t thread;
	pthread_cond_t wake; /* wakes the queue's thread */
	struct soft_ze_submission *first, **last;
	/* number of the oldest unfinished submission; UINT64_MAX: the queue is idle */
	uint64_t oldest;
	bool ends;
	/* without threads: true if a thread of the program is running one of the queue's
	 * commands */
	bool busy;
	ze_result_t failed; /* persistent device failure */
	struct soft_cl_queue *cl_queue;
};

struct soft_ze_list {
	uint32_t kind;
	struct soft_ze_context *context;
	struct soft_ze_device *device;
	uint32_t ordinal, flags;
	struct soft_ze_queue *queue; /* queue of an immediate list; NULL otherwise */
	bool closed, is_mutable;
	uint64_t next_id; /* id for the next command; 0: the command is not mutable */
	uint64_t last_id;
	struct soft_ze_command *first, **last;
};

/* state.c ------------------------------------------------------------------------- */

extern struct soft_ze_config soft_ze_config;
extern pthread_mutex_t soft_ze_lock;
extern pthread_cond_t soft_ze_changed;
/* numbers of commands run, for the trace; atomic */
extern uint64_t soft_ze_done[SOFT_ZE_COMMAND_KINDS];

/* True in a fork child of a process that had started the driver: the queue threads do not exist
 * here. */
extern bool soft_ze_forked;
/* Report once on stderr that the driver does not work in a fork child. */
ze_result_t soft_ze_refuse_child(void);
/* Read the settings once. Return true if the settings are valid. */
bool soft_ze_start(void);
static inline bool soft_ze_fails(enum soft_ze_fault fault)
{
	return soft_fault_now(&soft_ze_config.faults[fault]);
}
/* Print a line on stderr if the trace has this level. */
__attribute__((format(printf, 2, 3))) void soft_ze_say(unsigned level, const char *format, ...);
/* Set the thread's message for zeDriverGetLastErrorDescription. */
__attribute__((format(printf, 1, 2))) void soft_ze_set_error(const char *format, ...);
const char *soft_ze_last_error(void);
/* Return CLOCK_MONOTONIC_RAW in ns. */
uint64_t soft_ze_host_ns(void);
/* Return the device clock in ticks. */
uint64_t soft_ze_ticks(void);
/* Wait until @is_done(@argument), called under the lock, returns true. @timeout_ns: UINT64_MAX for
 * no limit. Return false on timeout. */
bool soft_ze_wait(bool (*is_done)(void *), void *argument, uint64_t timeout_ns);
/* Wait until something changes, or another process may have changed something. Call with the lock
 * held. */
void soft_ze_wait_for_change(void);
/* Number of pools whose events other processes may signal. While not 0, waiters poll every
 * millisecond. */
extern uint32_t soft_ze_shared_pools; /* atomic */
/* If not NULL, called at each such poll with the lock held, so that queues without threads
 * continue. */
extern void (*soft_ze_on_look)(void);

/* object.c ------------------------------------------------------------------------ */

/* Allocate a zeroed object with its kind set. Return NULL if out of memory. */
void *soft_ze_object_create(enum soft_ze_kind kind, size_t bytes);
/* Destroy an object. The handle of the object is refused until another object reuses the memory. */
void soft_ze_object_destroy(void *object, enum soft_ze_kind kind);

static inline void *soft_ze_check(void *handle, enum soft_ze_kind kind)
{
	return handle && !soft_ze_forked && *(uint32_t *)handle == (uint32_t)kind ? handle : NULL;
}
static inline ze_result_t soft_ze_refuse(const void *handle)
{
	if (soft_ze_forked)
		return soft_ze_refuse_child();
	return handle ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}
/* Declare @name as the object of @handle. If @handle is invalid, make the calling function return a
 * status. */
#define SOFT_ZE_OBJECT(name, type, handle, kind)                   \
	struct type *name = soft_ze_check((void *)(handle), kind); \
	if (!name)                                                 \
	return soft_ze_refuse(handle)
/* Like SOFT_ZE_OBJECT(), for a function that only checks that @handle is such an object. */
#define SOFT_ZE_VALID(handle, kind)                 \
	if (!soft_ze_check((void *)(handle), kind)) \
	return soft_ze_refuse(handle)

/* event.c ------------------------------------------------------------------------- */

struct soft_ze_event *soft_ze_event_get(struct soft_ze_event *event);
void soft_ze_event_put(struct soft_ze_event *event);
/* Create an event without a pool. */
ze_result_t soft_ze_event_create_counter_based(bool stamped, ze_event_handle_t *out);
/* Signal an event. Call with the lock held. @number is for counter-based events. */
bool soft_ze_event_is_done(const struct soft_ze_event *event, uint64_t number);
/* Take the next number of a counter-based event into @turn, which must stay valid until the event
 * is signalled. */
void soft_ze_event_expect(struct soft_ze_event *event, struct soft_ze_turn *turn);
void soft_ze_event_signal(struct soft_ze_event *event, struct soft_ze_turn *turn,
			  ze_result_t status, const struct soft_ze_times *times);
/* Return the times of a run that started at these ticks and ends now. Call without the lock. */
struct soft_ze_times soft_ze_times_until_now(uint64_t start);
void soft_ze_event_read_times(const struct soft_ze_event *event, ze_kernel_timestamp_result_t *out);

/* command.c ------------------------------------------------------------------------ */

struct soft_ze_command *soft_ze_command_create(enum soft_ze_command_kind kind);
void soft_ze_command_destroy(struct soft_ze_command *command);
/* Take references to events. Return false if out of memory or if a handle is invalid. */
bool soft_ze_command_set_events(struct soft_ze_command *command, ze_event_handle_t signal,
				uint32_t wait_count, ze_event_handle_t *waits);
bool soft_ze_command_set_waits(struct soft_ze_command *command, uint32_t wait_count,
			       ze_event_handle_t *waits);
bool soft_ze_command_set_signal(struct soft_ze_command *command, ze_event_handle_t signal);
/* Execute the command without its events. */
ze_result_t soft_ze_command_do(struct soft_ze_command *command, struct soft_ze_queue *queue);

/* submit.c ------------------------------------------------------------------------- */

ze_result_t soft_ze_queue_create(struct soft_ze_device *device, const ze_command_queue_desc_t *desc,
				 struct soft_ze_queue **out);
void soft_ze_queue_destroy(struct soft_ze_queue *queue);
/* Submit commands, linked through next, to the queue. @owned: the queue destroys the commands
 * afterwards, also on failure. */
ze_result_t soft_ze_submit(struct soft_ze_queue *queue, struct soft_ze_command *first, bool owned,
			   struct soft_ze_fence *fence);
ze_result_t soft_ze_queue_wait(struct soft_ze_queue *queue, uint64_t timeout_ns);
/* Wait for all queues of the device, its tiles and its parent. NULL means all devices. */
ze_result_t soft_ze_device_wait(struct soft_ze_device *device);

/* budget.c -------------------------------------------------------------------------- */

/* Take @bytes from the budget of the device, or of its parent if it is a tile. Return false if the
 * budget has too few bytes left. */
bool soft_ze_budget_take(struct soft_ze_device *device, size_t bytes);
void soft_ze_budget_give(struct soft_ze_device *device, size_t bytes);

/* memory.c -------------------------------------------------------------------------- */

/* Export the allocation that contains @memory, which must be host or device memory. */
ze_result_t soft_ze_memory_export(const void *memory, struct soft_share_handle *out);
/* Import memory of another process for @device. Close the memory with the function below. */
ze_result_t soft_ze_memory_import(struct soft_share_handle *handle, struct soft_ze_device *device,
				  void **out);
ze_result_t soft_ze_memory_close(const void *memory);

/* image.c ---------------------------------------------------------------------------- */

/* Return the OpenCL object for an image or a sampler, or NULL if @handle is invalid. */
struct soft_cl_object *soft_ze_find_object(enum soft_spirv_parameter_kind kind, const void *handle);

/* module.c, driver.c, list.c --------------------------------------------------------- */

struct soft_ze_launch *soft_ze_launch_create(struct soft_ze_kernel *kernel,
					     const uint32_t groups[3], const uint32_t group[3],
					     void **arguments);
void soft_ze_launch_destroy(struct soft_ze_launch *launch);
/* Change the value of argument @index in a launch that is not running. */
ze_result_t soft_ze_launch_set(struct soft_ze_launch *launch, uint32_t index, size_t bytes,
			       const void *value);
extern struct soft_ze_context soft_ze_default_context;
struct soft_ze_device *soft_ze_device_number(unsigned index);
/* Append @command, taking ownership even on failure. A NULL @command means out of memory. */
ze_result_t soft_ze_list_append(ze_command_list_handle_t list, struct soft_ze_command *command,
				ze_event_handle_t signal, uint32_t wait_count,
				ze_event_handle_t *waits);

#endif
