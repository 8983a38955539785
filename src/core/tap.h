/* SPDX-License-Identifier: MIT */
/* What generated taps and the doors share: the state of one runtime instance's table.
 *
 * A tap is a function with the prototype of the runtime's. It reads its operation's
 * `services`; nothing asked: tail call of the real function. Each instance of a runtime
 * (two copies mapped, two OpenCL platforms' extension functions) has taps of its own, made by
 * including the generated file once per instance, because a tap cannot tell who called it. */
#ifndef GPUTAP_CORE_TAP_H
#define GPUTAP_CORE_TAP_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "core/thread.h"
#include "record/record.h"

enum gt_service {
	GT_SERVICE_STREAM = 1, /* record it */
	GT_SERVICE_WRAP = 2,   /* device activity or transparency needs the hand-written wrap around the real function */
};

struct gt_tap {
	void *real;                /* the runtime's (or the next tool's) function; NULL: not there */
	_Atomic uint32_t services; /* enum gt_service; changed by contexts at any time */
	uint32_t reserved;
};

/* Constant description of an operation, generated. */
struct gt_operation {
	const char *name;
	uint32_t op;         /* GT_OP() */
	uint32_t table_offset; /* bytes into the runtime's table; UINT32_MAX: not in it (extension function) */
	void *const *taps;   /* tap function per instance */
	void *wrap;          /* hand-written wrap; NULL: none, and GT_SERVICE_WRAP must not be set */
};

/* Wraps are declared weak, so that the table of operations knows which ones exist. */
#define GT_WRAP __attribute__((weak, visibility("hidden")))
#define GT_PASTE_(a, b, c) a##b##_##c
#define GT_PASTE(a, b, c) GT_PASTE_(a, b, c)

/* One registered table of a runtime. */
struct gt_table {
	enum gt_domain domain;
	uint32_t instance;
	const struct gt_operation *operations;
	uint32_t operation_count;
	struct gt_tap *taps; /* operation_count */
	const char *name, *version; /* as the runtime calls itself */
};

/* A wrap gets this before the operation's own arguments:
 *   ret gt_<domain>_wrap_<operation>(const struct gt_call *call, args...)
 * and makes the real call itself through call->tap->real. */
struct gt_call {
	const struct gt_table *table;
	const struct gt_tap *tap;
	struct gt_thread *thread; /* NULL: this call is not recorded; behave as if gputap were not there,
				   * but for keeping what was changed invisible */
	uint64_t id;    /* correlation id; 0 when not recorded */
	uint64_t start; /* host ticks; 0 when not recorded */
};

/* Options that taps read, copied from the session when recording starts. */
extern struct gt_tap_options {
	uint32_t record_args;
	uint32_t payload_cap;
} gt_tap_options __attribute__((visibility("hidden")));

/* Bytes that a payload argument of `bytes` takes in the record. */
static inline size_t gt_payload_bytes(size_t bytes)
{
	size_t cap = gt_tap_options.payload_cap;

	return sizeof(struct gt_payload) + (((bytes < cap ? bytes : cap) + 7) & ~(size_t)7);
}

/* Write one payload argument, return behind it. */
static inline uint8_t *gt_payload_put(uint8_t *p, unsigned arg, const void *data, size_t bytes)
{
	size_t cap = gt_tap_options.payload_cap, n = bytes < cap ? bytes : cap;
	struct gt_payload h = {(uint16_t)arg, bytes > cap ? GT_PAYLOAD_TRUNCATED : 0, (uint32_t)n};

	memcpy(p, &h, sizeof h);
	memcpy(p + sizeof h, data, n);
	return p + sizeof h + ((n + 7) & ~(size_t)7);
}

#endif
