/* SPDX-License-Identifier: MIT */
/* State of one runtime instance's table, for generated taps and the interception methods.
 *
 * A tap is a function with the same prototype as the runtime's function. The tap reads the
 * `services` of its operation; if nothing is requested, it jumps to the real function. Otherwise it
 * jumps to a function that does the requested work and that all instances share, with the address
 * of its state as a hidden last argument (core/thunk.S). Each instance of a runtime (two copies
 * mapped, two OpenCL platforms' extension functions) has separate taps, because only the tap knows
 * through which instance it was called. */
#ifndef GPUTAP_CORE_TAP_H
#define GPUTAP_CORE_TAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/gap_edges.h"
#include "core/rank_waits.h"
#include "core/thread.h"
#include "record/record.h"

enum gt_service {
	GT_SERVICE_STREAM = 1, /* record the call */
	/* run the hand-written wrap around the real function, for GPU activities or to hide changes
	 * from the program */
	GT_SERVICE_WRAP = 2,
	/* record the call's GPU activities, even if the call itself is not recorded */
	GT_SERVICE_ACTIVITY = 4,
	GT_SERVICE_NOTIFY = 8, /* notify tools before and after the call (src/tool) */
	/* the call is not recorded, but its stream's submit order must include it, or activities
	 * that the call waits for are harvested */
	GT_SERVICE_ORDER = 16,
	/* record the call stack at the start of the call (STACK), or at the end of a call that took
	 * long (SLOW). Implies GT_SERVICE_NOTIFY, because a tap has only one alternative path */
	GT_SERVICE_STACK = 32,
	GT_SERVICE_SLOW = 64,
};

/* maximum number of copies of one runtime in a process; each copy has a set of taps */
enum { GT_INSTANCES = 8 };

/* State of a tap. The tap itself, in assembler, knows the layout. */
struct gt_tap {
	/* function of the runtime, or of the next tool; NULL: the function does not exist */
	void *real;
	_Atomic uint32_t services; /* enum gt_service; contexts may change the value at any time */
	/* nonzero if no context requested the operation when the runtime offered its table: calls
	 * bypass the tap */
	uint32_t left_out;
};
static_assert(sizeof(struct gt_tap) == 16 && offsetof(struct gt_tap, services) == 8,
	      "core/thunk.S uses these numbers");
static_assert(GT_SERVICE_WRAP == 2 && GT_SERVICE_ACTIVITY == 4 && GT_SERVICE_NOTIFY == 8 &&
		      GT_SERVICE_ORDER == 16,
	      "core/thunk.S uses these numbers");

/* Reasons why the tap of an unrecorded call does not call straight through. */
enum gt_also {
	GT_ALSO_ORDER = 1, /* the submit order of the call's stream must include the call */
	GT_ALSO_WAITS =
		2, /* the call returns when activities have completed: gt_activity_waited() */
	/* the session records the call even in pauses, because the call creates a communicator.
	 * Without the record, later calls could not be assigned to the communicator */
	GT_ALSO_PAUSED = 4,
};

/* Constant description of an operation, generated. Without pointers, so that loading the library
 * relocates nothing. gt_operation_text() returns the name. */
struct gt_operation {
	uint32_t op; /* GT_OP() */
	/* offset in bytes in the runtime's table; UINT32_MAX: not in the table (extension
	 * function) */
	uint32_t table_offset;
	/* true if the operation has a hand-written wrap; false: GT_SERVICE_WRAP must not be set */
	bool wrap;
	/* true if the wrap is needed even without GPU activities, because gputap would otherwise
	 * miss calls, perhaps calls of a domain that shares its activities with this domain */
	bool wrap_always;
	uint8_t also; /* enum gt_also; nonzero: the tap has a function for GT_SERVICE_ORDER */
};

#define GT_WRAP __attribute__((visibility("hidden")))

/* One registered table of a runtime. */
struct gt_table {
	enum gt_domain domain;
	uint32_t instance;
	const struct gt_operation *operations;
	uint32_t operation_count;
	struct gt_tap *taps; /* array of operation_count taps */
	const char *name;    /* the runtime's name for the table */
	/* version given to rocprofiler-register, 10000 * major + 100 * minor + patch; 0: not
	 * given */
	uint64_t version;
	/* size in bytes of the shortest table of any release, if new releases only append entries;
	 * 0: the table has the same size in all releases */
	size_t least;
	/* tap function of each operation, as the distance from the element. NULL: the calls are
	 * announced and have no taps */
	const int32_t *functions;
};

/* Return the tap function of an operation. */
static inline void *gt_table_tap(const struct gt_table *table, uint32_t index)
{
	const int32_t *at = &table->functions[index];

	return (void *)((uintptr_t)at + (uintptr_t)(intptr_t)*at);
}

/* Passed to a wrap before the operation's arguments:
 *   ret gt_<domain>_wrap_<operation>(const struct gt_call *call, args...)
 * The wrap itself makes the real call through call->tap->real. */
struct gt_call {
	const struct gt_table *table;
	const struct gt_tap *tap;
	/* NULL: nothing of this call is recorded. Behave as if gputap were not there, but keep
	 * hiding previous changes */
	struct gt_thread *thread;
	/* correlation id; 0: the call itself is not recorded; its GPU activities are recorded if
	 * `thread` is not NULL */
	uint64_t id;
	uint64_t start; /* host ticks; 0 if `thread` is NULL */
};

/* Options that taps read. Copied from the session when recording starts. */
extern struct gt_tap_options {
	uint32_t record_args;
	uint32_t payload_cap;
	uint32_t choose_kernels; /* nonzero if some kernels are not recorded: core/kernels.h */
	/* nonzero if the runtime submits from its own threads: gt_submit_order_add_call() */
	uint32_t submit_orders;
	/* nonzero if GPU activities are recorded; only then may a tap query the runtime about
	 * devices */
	uint32_t follow_devices;
	uint32_t reserved;
} gt_tap_options __attribute__((visibility("hidden")));

/* For taps of an `outermost` API, around calls that launch, copy or set, if
 * gt_tap_options.submit_orders is set.
 * @by_pointer: true if @function is the host's stub, not a handle.
 * @own: true if a missing @stream stands for the thread's own default stream.
 * @blocking: true for a copy that returns when it is complete.
 * @plain: true if the ranges of a copy or set are fully known: [destination, + bytes), [source, +
 *         bytes). */
enum gt_submit_kind {
	GT_SUBMIT_LAUNCH,
	GT_SUBMIT_COPY,
	GT_SUBMIT_FILL,
	GT_SUBMIT_GRAPH,
	GT_SUBMIT_SYNC
};
struct gt_submit_call {
	enum gt_submit_kind kind;
	bool by_pointer, own, blocking, plain;
	uintptr_t function, stream;
};
void gt_submit_order_add_call(struct gt_thread *t, const struct gt_table *table,
			      struct gt_submit_call call)
	__attribute__((cold, visibility("hidden")));
void gt_submit_order_end_call(struct gt_thread *t, uint64_t status)
	__attribute__((cold, visibility("hidden")));
/* Call when the activities that this thread launched are complete, as far as the thread knows.
 * Records the activities before the call returns, so that a crash of the program does not lose the
 * records. Does not wait. */
void gt_activity_waited(void) __attribute__((visibility("hidden")));
/* Note a call whose activities cannot be distinguished from another call's. */
void gt_submit_order_give_up(struct gt_thread *t) __attribute__((cold, visibility("hidden")));

static inline uint32_t gt_tap_services(const struct gt_tap *tap)
{
	return atomic_load_explicit(&tap->services, memory_order_relaxed);
}

/* Functions that taps jump to. A tap has no frame, so GT_HERE() in such a function is the stack
 * address at which the program made the call. The attribute keeps the compiler from inlining one
 * such function into another. */
#define GT_SHARED __attribute__((noinline))
#define GT_ORDER  __attribute__((noinline, cold))

/* Return the function that makes a call as if no tools were present, for use between a tool's two
 * callbacks. Call it with the hidden argument. The real function ignores that argument, because no
 * other argument uses the register. @ordered: NULL if the operation has no such function. */
static inline void *gt_tap_inner(const struct gt_tap *tap, void *recorded, void *ordered)
{
	uint32_t services = gt_tap_services(tap);

	if (ordered && services & GT_SERVICE_ORDER)
		return ordered;
	return services & ~(uint32_t)GT_SERVICE_NOTIFY ? recorded : tap->real;
}

/* Return the tap's state from the hidden argument of an operation whose arguments use all integer
 * registers: the bits of the address. */
static inline const struct gt_tap *gt_tap_of_bits(double bits)
{
	const struct gt_tap *tap;

	static_assert(sizeof tap == sizeof bits, "holds an address");
	memcpy(&tap, &bits, sizeof tap);
	return tap;
}

/* Return the table of the instance to which a tap belongs. @first: the first tap of the first
 * instance; @bytes: size of an instance's taps. All but @tap are constants, so this takes a
 * multiplication and reads no memory. */
static inline GT_IN_LINE const struct gt_table *gt_table_of(const struct gt_tap *tap,
							    const struct gt_tap *first,
							    size_t bytes,
							    const struct gt_table *tables,
							    size_t instances)
{
	uint32_t distance = (uint32_t)((uintptr_t)tap - (uintptr_t)first);

	return instances == 1 ? tables : tables + distance / (uint32_t)bytes;
}

/* Return the return word of a record without arguments, for an operation that returns its status
 * through an argument. A failed call returned NULL, so the status can replace the return value
 * (record/record.h). */
static inline uint64_t gt_tap_failed(int32_t status, uint64_t ret)
{
	return status < 0 && !ret ? (uint64_t)(int64_t)status : ret;
}

/* Call after the real call. Return false if there is no record to write; the call is then
 * complete. */
static inline bool gt_call_recorded(const struct gt_call *call)
{
	if (gt_likely(call->id))
		return true;
	if (call->thread)
		gt_call_end(call->thread);
	return false;
}

/* Reserve a call's record and fill in everything except the arguments. The caller fills in the
 * arguments, then calls gt_ring_commit() with the same number of bytes. */
static inline GT_IN_LINE struct gt_record_call *gt_tap_record(struct gt_thread *t, uint32_t op,
							      size_t bytes, uint64_t id,
							      uint64_t start, uint64_t end,
							      uint64_t ret)
{
	struct gt_record_call *r = gt_ring_reserve(t, bytes, GT_CLASS_CALL, GT_OP_DOMAIN(op));

	if (gt_likely(r != NULL)) {
		/* writes struct gt_record in one store; the record's depth is the lower 8 bits of
		 * the number of enclosing calls, because the sum is truncated to 32 bits */
		uint32_t low = ((uint32_t)bytes / 8 | (uint32_t)GT_RECORD_CALL << 16) - (1u << 24) +
			       (t->depth << 24);
		uint64_t head = low | (uint64_t)op << 32;

		memcpy(&r->head, &head, sizeof head);
		r->start = start;
		r->end = end;
		r->id = id;
		r->ret = ret;
	}
	return r;
}

/* Write a complete record without arguments. */
static inline GT_IN_LINE void gt_tap_record_plain(struct gt_thread *t, uint32_t op, uint64_t id,
						  uint64_t start, uint64_t end, uint64_t ret)
{
	if (gt_likely(gt_tap_record(t, op, sizeof(struct gt_record_call), id, start, end, ret) !=
		      NULL))
		gt_ring_commit(t, sizeof(struct gt_record_call));
}

/* Return the first eight bytes of a value passed by value, as a word of a record. */
static inline uint64_t gt_value_word(const void *value, size_t bytes)
{
	uint64_t word = 0;

	memcpy(&word, value, bytes < 8 ? bytes : 8);
	return word;
}

/* Write a whole struct passed by value, as payload: 1 + (bytes + 7) / 8 words. No cap applies,
 * because the struct is an argument. */
static inline GT_IN_LINE void gt_value_put(uint64_t *p, uint32_t arg, const void *value,
					   size_t bytes)
{
	p[0] = arg | (uint64_t)bytes << 32; /* struct gt_payload */
	if (bytes % 8)
		p[1 + bytes / 8] = 0;
	memcpy(p + 1, value, bytes);
}

/* Payload: the data that pointer arguments point to. A tap makes one blob per such argument and
 * passes all blobs together. A blob's data is NULL if there is nothing to read or the data must not
 * be read. Each blob takes a struct gt_payload and its bytes, capped at gt_tap_options.payload_cap,
 * so that a record with a few payloads is smaller than a block and smaller than 512 KiB. */
struct gt_blob {
	const void *data; /* NULL: no payload */
	uint32_t arg;
	/* total size, even beyond the cap; for truncated strings and lists, at least cap + 1 */
	uint64_t bytes;
};

static inline struct gt_blob gt_blob(uint32_t arg, int ok, const void *data, uint64_t bytes)
{
	return (struct gt_blob){ok && bytes ? data : NULL, arg, bytes};
}

static inline struct gt_blob gt_blob_string(uint32_t arg, int ok, const char *text)
{
	return (struct gt_blob){ok ? text : NULL, arg,
				ok && text ? strnlen(text, (size_t)gt_tap_options.payload_cap + 1)
					   : 0};
}

/* Return a blob for strings[0] of strings[count], with length lengths[0] or NUL-terminated. */
static inline struct gt_blob gt_blob_first_string(uint32_t arg, int ok, const char **strings,
						  uint64_t count, const size_t *lengths)
{
	if (!ok || !count || !strings)
		return (struct gt_blob){NULL, arg, 0};
	if (lengths && lengths[0] && strings[0])
		return (struct gt_blob){strings[0], arg, lengths[0]};
	return gt_blob_string(arg, 1, strings[0]);
}

/* Return a blob of the 64-bit words up to and including the first 0. @step 2: only every second
 * word can be the terminator. */
static inline struct gt_blob gt_blob_list(uint32_t arg, int ok, const void *list, size_t step)
{
	const uint64_t *words = list;
	size_t n = 0;

	if (!ok || !words)
		return (struct gt_blob){NULL, arg, 0};
	while (n * 8 <= gt_tap_options.payload_cap && words[n])
		n += step;
	return (struct gt_blob){words, arg, (n + 1) * 8};
}

/* gt_blobs_bytes() returns the size of the blobs in a record; gt_blobs_put() writes them. All taps
 * share these functions, because calls with several payloads take long anyway. */
size_t gt_blobs_bytes(const struct gt_blob *blobs, unsigned count)
	__attribute__((visibility("hidden")));
void gt_blobs_put(void *p, const struct gt_blob *blobs, unsigned count)
	__attribute__((visibility("hidden")));
void gt_blob_put_any(void *p, uint32_t arg, const void *data, uint64_t bytes)
	__attribute__((visibility("hidden")));

/* Same as gt_blobs_bytes() for one blob, inlined for kernel arguments of the usual 4 or 8 bytes. */
static inline size_t gt_blob_bytes(struct gt_blob b)
{
	uint64_t cap = gt_tap_options.payload_cap, n = b.bytes < cap ? b.bytes : cap;

	return b.data ? sizeof(struct gt_payload) + (size_t)((n + 7) & ~UINT64_C(7)) : 0;
}

static inline void gt_blob_put(uint64_t *p, struct gt_blob b)
{
	uint32_t half;

	/* a small struct, whose size is a compile-time constant */
	if (__builtin_constant_p(b.bytes) && b.bytes > 8 && b.bytes <= 16) {
		if (b.data && gt_likely(gt_tap_options.payload_cap >= b.bytes))
			gt_value_put(p, b.arg, b.data, b.bytes);
		else if (b.data)
			gt_blob_put_any(p, b.arg, b.data, b.bytes);
	} else if (b.data && (b.bytes == 8 || b.bytes == 4) && gt_tap_options.payload_cap >= 8) {
		p[0] = b.arg | b.bytes << 32; /* struct gt_payload */
		if (b.bytes == 8) {
			memcpy(p + 1, b.data, 8);
		} else {
			memcpy(&half, b.data, 4);
			p[1] = half;
		}
	} else if (b.data) {
		gt_blob_put_any(p, b.arg, b.data, b.bytes);
	}
}

#endif
