/* SPDX-License-Identifier: MIT */
/* The program's callbacks, and the thread in which each is called.
 *
 * A runtime calls a callback in whichever thread detects its trigger. PoCL calls a context's
 * destructors in the thread that releases the context's last event. Intel's runtime calls an
 * event's callbacks in the thread that queries its status. Either may be gputap's helper, or a
 * thread of the program inside a call that gputap itself makes, with a gputap lock held. Therefore
 * the runtime gets a function of gputap, and a struct that contains the program's function:
 *
 *   program ─ clSetEventCallback(f, data) ─► tap ─► struct callback {f, data}
 *                                             └───► runtime: clSetEventCallback(on_event, struct)
 *
 *   on_event() is called in                      f is called
 *   a call of the program, or a thread of the    there, immediately
 *   runtime
 *   a call of gputap, in a thread of the         in the same thread, before the program's call
 *   program                                      returns and after gputap's locks are released
 *   the helper                                   in a thread that is created for the first such
 *                                                callback. The thread resembles the runtime's: a
 *                                                stack of the usual size, the program's signal
 *                                                mask, and its calls are recorded
 *
 * The struct is freed before f is called, so an f that never returns (exit(), longjmp(),
 * pthread_exit()) leaks no memory. The callback for a context's errors may be called many times, so
 * its struct is never freed.
 * Not here: callbacks of builds, which no call of gputap can trigger.
 * Never here: calling f with a gputap lock held, or waiting for f. */
#include "core/callback.h"
#include "core/recording.h"
#include "runtime/opencl/activity.h"
#include "tool/tool_thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind {
	EVENT,
	CONTEXT_DESTROYED,
	MEMORY_DESTROYED,
	PROGRAM_RELEASED,
	CONTEXT_ERRORS, /* a registration for all errors of a context */
	SVM_FREED,
	CONTEXT_ERROR, /* one deferred error */
};
enum { TEXT_BYTES = 256, DETAIL_BYTES = 128, POINTERS = 48 };

struct callback {
	struct callback *next; /* next in the list of free or deferred structs */
	void (*function)(void);
	void *user;
	const struct gt_table *table;
	/* The argument of the callback. The runtime's call sets this member and the members
	 * below. */
	void *object;
	cl_int status;
	uint16_t kind;
	bool retained; /* true if a deferred event callback holds a reference */
};

/* A callback with additional data to store while it is deferred. */
struct large {
	struct callback callback;
	cl_uint count;
	void **pointers; /* `room`, or separate memory */
	size_t detail_bytes;
	union {
		struct {
			char text[TEXT_BYTES], detail[DETAIL_BYTES];
		};
		void *room[POINTERS];
	};
};

/* Free structs. */
struct stock {
	struct gt_cl_lock lock;
	struct callback *first;
	size_t bytes;
};
static struct stock small_stock = {.bytes = sizeof(struct callback)};
static struct stock large_stock = {.bytes = sizeof(struct large)};

/* Callbacks triggered in the helper, in order of arrival. Processes are identified by their first
 * epoch, because callbacks outlive a session. */
static struct {
	struct gt_cl_lock lock;
	struct callback *first, *last;
	_Atomic uint32_t epoch; /* process to which the callbacks belong */
	_Atomic uint32_t count;
	_Atomic uint32_t thread; /* process in which the thread for these callbacks runs */
	_Atomic uint32_t asleep; /* futex: 1 while that thread sleeps */
	_Atomic uint32_t over;   /* process that is ending */
} handed;

/* Ring of callbacks that this thread will call later. Points to the last one, whose `next` is the
 * first. */
_Thread_local struct callback *gt_cl_callbacks_waiting __attribute__((tls_model("initial-exec")));

static sigset_t program_mask; /* signal mask of the thread that registered the first callback */
static _Atomic uint32_t mask_known;

/* Structs -------------------------------------------------------------------------- */

static struct stock *stock_of(enum kind kind)
{
	return kind >= SVM_FREED ? &large_stock : &small_stock;
}

static bool lock_stock(struct stock *s, uint32_t epoch)
{
	enum gt_cl_lock_result r = gt_cl_lock_take(&s->lock, epoch);

	if (r == GT_CL_LOCK_STALE)
		s->first = NULL;
	return r != GT_CL_LOCK_FAILED;
}

static void give_callback(struct callback *c)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	struct stock *s = stock_of(c->kind);

	if (!epoch || !lock_stock(s, epoch))
		return;
	c->next = s->first;
	s->first = c;
	gt_cl_lock_release(&s->lock);
}

static struct callback *take_callback(enum kind kind, void (*function)(void), void *user)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	struct stock *s = stock_of(kind);
	struct callback *c = NULL;

	if (!epoch)
		return NULL;
	if (lock_stock(s, epoch)) {
		c = s->first;
		if (c)
			s->first = c->next;
		gt_cl_lock_release(&s->lock);
	}
	if (!c && !(c = gt_cl_memory_take(epoch, s->bytes)))
		return NULL;
	*c = (struct callback){.function = function, .user = user, .kind = (uint16_t)kind};
	return c;
}

/* Register a callback. Return NULL if no structs are left; the runtime then gets the program's
 * function itself. */
static struct callback *register_callback(const struct gt_call *call, enum kind kind,
					  void (*function)(void), void *user)
{
	struct callback *c;

	if (!function || !(c = take_callback(kind, function, user)))
		return NULL;
	c->table = gt_cl_table_find(call);
	if (!atomic_load_explicit(&mask_known, memory_order_acquire)) {
		pthread_sigmask(SIG_SETMASK, NULL, &program_mask);
		atomic_store_explicit(&mask_known, 1, memory_order_release);
	}
	return c;
}

/* Running callbacks ------------------------------------------------------------------- */

static void call_program(const struct callback *c, const struct large *l)
{
	const uint32_t outer = gt_callback_depth;

	gt_callback_depth = gt_thread.depth; /* calls inside the callback belong to the program */
	switch ((enum kind)c->kind) {
	case EVENT: ((gt_cl_event_notify)c->function)(c->object, c->status, c->user); break;
	case CONTEXT_DESTROYED: ((gt_cl_context_destroyed)c->function)(c->object, c->user); break;
	case MEMORY_DESTROYED: ((gt_cl_mem_notify)c->function)(c->object, c->user); break;
	case PROGRAM_RELEASED: ((gt_cl_program_notify)c->function)(c->object, c->user); break;
	case SVM_FREED:
		((gt_cl_svm_free)c->function)(c->object, l->count, l->pointers, c->user);
		break;
	case CONTEXT_ERRORS: /* a registration, never called */ break;
	case CONTEXT_ERROR:
		((gt_cl_context_notify)c->function)(l->text, l->detail_bytes ? l->detail : NULL,
						    l->detail_bytes, c->user);
		break;
	}
	gt_callback_depth = outer;
}

/* Free the struct, then call the program's function. */
static void run_callback(struct callback *c)
{
	struct callback copy = *c;
	struct large large;

	if (stock_of(c->kind) == &large_stock) {
		large = *(struct large *)c;
		if (large.pointers == ((struct large *)c)->room)
			large.pointers = large.room;
	}
	give_callback(c);
	call_program(&copy, &large);
	if (copy.retained)
		gt_cl_event_release(copy.table, copy.object);
}

void gt_cl_callbacks_run_waiting(void)
{
	struct callback *last, *c;

	while ((last = gt_cl_callbacks_waiting) && !gt_thread.internal) {
		c = last->next;
		if (c == last)
			gt_cl_callbacks_waiting = NULL;
		else
			last->next = c->next;
		run_callback(c);
	}
}

static bool lock_handed(uint32_t epoch)
{
	enum gt_cl_lock_result r = gt_cl_lock_take(&handed.lock, epoch);

	if (r != GT_CL_LOCK_FAILED && (r == GT_CL_LOCK_STALE || handed.epoch != epoch)) {
		/* Entries left by a fork belong to the parent. */
		handed.first = handed.last = NULL;
		handed.count = 0;
		handed.epoch = epoch;
	}
	return r != GT_CL_LOCK_FAILED;
}

static struct callback *next_handed(uint32_t epoch)
{
	struct callback *c = NULL;

	if (!atomic_load_explicit(&handed.count, memory_order_acquire) || handed.epoch != epoch ||
	    !lock_handed(epoch))
		return NULL;
	c = handed.first;
	if (c) {
		handed.first = c->next;
		handed.count--;
	}
	gt_cl_lock_release(&handed.lock);
	return c;
}

static void hand_to_thread(struct callback *c)
{
	uint32_t epoch = gt_recording_process();

	while (!lock_handed(epoch))
		; /* the lock's holder is a stopped thread, but the helper can wait */
	c->next = NULL;
	if (handed.first)
		handed.last->next = c;
	else
		handed.first = c;
	handed.last = c;
	atomic_fetch_add_explicit(&handed.count, 1, memory_order_seq_cst);
	gt_cl_lock_release(&handed.lock);
	if (atomic_exchange_explicit(&handed.asleep, 0, memory_order_seq_cst))
		syscall(SYS_futex, &handed.asleep, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static bool may_run_here(void)
{
	return !gt_thread.internal && !gt_tool_thread_is_ours();
}

/* Defer a callback that arrived where the program's function must not be called. */
static void defer_callback(struct callback *c)
{
	if (c->kind == EVENT && c->table)
		c->retained = gt_cl_event_retain(c->table, c->object);
	if (gt_tool_thread_is_ours()) {
		hand_to_thread(c);
		return;
	}
	if (gt_cl_callbacks_waiting) {
		c->next = gt_cl_callbacks_waiting->next;
		gt_cl_callbacks_waiting->next = c;
	} else {
		c->next = c;
	}
	gt_cl_callbacks_waiting = c;
}

static void receive_callback(struct callback *c, void *object, cl_int status)
{
	c->object = object;
	c->status = status;
	if (gt_likely(may_run_here()))
		run_callback(c);
	else
		defer_callback(c);
}

/* Functions passed to the runtime --------------------------------------------------------- */

static void on_event(cl_event event, cl_int status, void *user)
{
	receive_callback(user, event, status);
}

static void on_context_destroyed(cl_context context, void *user)
{
	receive_callback(user, context, 0);
}

static void on_memory_destroyed(cl_mem memory, void *user)
{
	receive_callback(user, memory, 0);
}

static void on_program_released(cl_program program, void *user)
{
	receive_callback(user, program, 0);
}

static void on_svm_free(cl_command_queue queue, cl_uint count, void **pointers, void *user)
{
	struct large *l = user;

	l->count = count;
	l->pointers = pointers;
	if (!may_run_here()) {
		l->pointers = l->room;
		if (count > POINTERS)
			l->pointers = gt_cl_memory_take(gt_thread.epoch, count * sizeof *pointers);
		if (l->pointers && pointers)
			memcpy(l->pointers, pointers, count * sizeof *pointers);
		else
			l->pointers = pointers;
	}
	receive_callback(&l->callback, queue, 0);
}

/* Handle a context's error, at any time. The text belongs to the runtime, and is copied if the
 * callback is deferred. */
static void on_context_error(const char *text, const void *detail, size_t bytes, void *user)
{
	const struct callback *kept = user;
	const uint32_t outer = gt_callback_depth;
	struct large *l;

	if (gt_likely(may_run_here())) {
		gt_callback_depth = gt_thread.depth;
		((gt_cl_context_notify)kept->function)(text, detail, bytes, kept->user);
		gt_callback_depth = outer;
		return;
	}
	l = (struct large *)take_callback(CONTEXT_ERROR, kept->function, kept->user);
	if (!l)
		return;
	strncpy(l->text, text ? text : "", TEXT_BYTES - 1);
	l->text[TEXT_BYTES - 1] = '\0';
	l->detail_bytes = !detail ? 0 : bytes < DETAIL_BYTES ? bytes : DETAIL_BYTES;
	memcpy(l->detail, detail, l->detail_bytes);
	defer_callback(&l->callback);
}

struct gt_cl_context_callback gt_cl_context_callback_make(const struct gt_call *call,
							  gt_cl_context_notify function, void *user)
{
	struct callback *c;

	c = register_callback(call, CONTEXT_ERRORS, (void (*)(void))function, user);
	if (!c)
		return (struct gt_cl_context_callback){function, user};
	return (struct gt_cl_context_callback){on_context_error, c};
}

void gt_cl_context_callback_drop(const struct gt_cl_context_callback *n)
{
	if (n->function == on_context_error)
		give_callback(n->user);
}

struct gt_cl_svm_callback gt_cl_svm_callback_make(const struct gt_call *call,
						  gt_cl_svm_free function, void *user)
{
	struct callback *c = register_callback(call, SVM_FREED, (void (*)(void))function, user);

	return c ? (struct gt_cl_svm_callback){on_svm_free, c}
		 : (struct gt_cl_svm_callback){function, user};
}

void gt_cl_svm_callback_drop(const struct gt_cl_svm_callback *f)
{
	if (f->function == on_svm_free)
		give_callback(f->user);
}

/* Define the wrap of a function that registers a callback. If the runtime refuses the registration,
 * the struct is freed, because the runtime will not call the callback. */
#define REGISTER(name, kind, mine, object_type, object, function_type)                 \
	cl_int gt_opencl_wrap_##name(const struct gt_call *call, object_type object,   \
				     function_type function, void *user)               \
	{                                                                              \
		struct callback *c =                                                   \
			register_callback(call, kind, (void (*)(void))function, user); \
		cl_int ret;                                                            \
                                                                                       \
		if (!c)                                                                \
			return GT_CL_REAL(call, name)(object, function, user);         \
		ret = GT_CL_REAL(call, name)(object, mine, c);                         \
		if (ret != CL_SUCCESS)                                                 \
			give_callback(c);                                              \
		return ret;                                                            \
	}

REGISTER(clSetContextDestructorCallback, CONTEXT_DESTROYED, on_context_destroyed, cl_context,
	 context, gt_cl_context_destroyed)
REGISTER(clSetMemObjectDestructorCallback, MEMORY_DESTROYED, on_memory_destroyed, cl_mem, memory,
	 gt_cl_mem_notify)
REGISTER(clSetProgramReleaseCallback, PROGRAM_RELEASED, on_program_released, cl_program, program,
	 gt_cl_program_notify)

cl_int gt_opencl_wrap_clSetEventCallback(const struct gt_call *call, cl_event event, cl_int status,
					 gt_cl_event_notify function, void *user)
{
	struct callback *c = register_callback(call, EVENT, (void (*)(void))function, user);
	cl_int ret;

	if (!c)
		return GT_CL_REAL(call, clSetEventCallback)(event, status, function, user);
	ret = GT_CL_REAL(call, clSetEventCallback)(event, status, on_event, c);
	if (ret != CL_SUCCESS)
		give_callback(c);
	return ret;
}

/* The thread for callbacks triggered in the helper ---------------------------------------- */

static void sleep_until_handed(uint32_t epoch)
{
	atomic_store_explicit(&handed.asleep, 1, memory_order_seq_cst);
	if (!atomic_load_explicit(&handed.count, memory_order_seq_cst) && handed.over != epoch)
		syscall(SYS_futex, &handed.asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	atomic_store_explicit(&handed.asleep, 0, memory_order_relaxed);
}

static pthread_key_t ended;

/* Mark the thread as ended, possibly by a callback. The helper starts another thread for the next
 * callback. This is the destructor of a key, because pthread_cleanup_push() would make every
 * program depend on libgcc_s. */
static void thread_left(void *thread)
{
	if (thread)
		gt_tool_thread_count(false);
	atomic_store_explicit(&handed.thread, 0, memory_order_release);
}

static void make_key(void)
{
	pthread_key_create(&ended, thread_left);
}

static void *run_handed(void *arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint32_t epoch = (uint32_t)(uintptr_t)arg;
	struct callback *c;
	sigset_t none;

	gt_tool_thread_name("gputap callback");
	gt_tool_thread_count(true);
	pthread_sigmask(SIG_SETMASK, NULL, &none);
	pthread_once(&once, make_key);
	pthread_setspecific(ended, &ended);
	while (atomic_load_explicit(&handed.over, memory_order_relaxed) != epoch) {
		c = next_handed(epoch);
		if (!c) {
			sleep_until_handed(epoch);
			continue;
		}
		pthread_sigmask(SIG_SETMASK, &program_mask, NULL);
		run_callback(c);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
	}
	return NULL;
}

bool gt_cl_callback_thread_wanted(void)
{
	const uint32_t epoch = gt_recording_process();

	return atomic_load_explicit(&handed.count, memory_order_seq_cst) && handed.epoch == epoch &&
	       atomic_load_explicit(&handed.thread, memory_order_acquire) != epoch;
}

void gt_cl_callback_thread_start(void)
{
	const uint32_t epoch = gt_recording_process();

	if (gt_likely(!gt_cl_callback_thread_wanted()))
		return;
	atomic_store_explicit(&handed.thread, epoch, memory_order_release);
	if (gt_tool_thread_start(run_handed, (void *)(uintptr_t)epoch, 0) != 0)
		thread_left(NULL); /* the helper or gt_cl_callbacks_end() runs the callbacks */
}

void gt_cl_callbacks_end(bool run_them)
{
	const uint32_t epoch = gt_recording_process();
	struct callback *c;

	atomic_store_explicit(&handed.over, epoch, memory_order_seq_cst);
	while (run_them && epoch && (c = next_handed(epoch)))
		run_callback(c);
}
