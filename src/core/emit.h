/* SPDX-License-Identifier: MIT */
/* Functions with which the hand-written parts of a runtime write records other than calls: strings,
 * objects, events, clock readings. They also start and count GPU activities.
 *
 * All functions may be called from any thread, including a driver's thread, with the state that
 * gt_thread_get() returned. All accept a NULL thread and then record nothing. All preserve errno.
 *
 * Strings, objects and clock readings are not counted as seen, because they are neither calls nor
 * GPU activities. If a ring is full, the functions return failure (0, false), and the caller
 * retries at the next opportunity.
 *
 * After a fork, the child has a separate segment. Strings and stored objects (gt_fork_replay_add())
 * are written to that segment again automatically, with their old ids.
 *
 * A GPU activity is one record reserved with
 *     gt_ring_reserve(t, sizeof(struct gt_record_device), GT_CLASS_DEVICE, domain) ...
 *     gt_ring_commit()
 * by any thread that learns of the completion. gt_device_seen() is called once when the activity is
 * submitted, so that an activity that never completes is reported as unfinished. */
#ifndef GPUTAP_CORE_EMIT_H
#define GPUTAP_CORE_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/thread.h"
#include "record/record.h"

/**
 * gt_string_id() - return the number through which records refer to a text
 * @bytes: length; texts longer than 64 KiB or half a block are truncated
 * Return: the id, written once per process; 0 if the text could not be written now.
 * Lock-free. The first use of a text allocates (mmap, never malloc). Call this function when
 * kernels are created, not when they are launched.
 */
uint32_t gt_string_id(struct gt_thread *t, const char *text, size_t bytes);

/* Return the text with this id, valid forever, or NULL. Not for hot paths that keep adding new
 * texts. */
const char *gt_string_text(uint32_t id);

/* Return a number for a new object, unique in the process and its fork children, starting at 1. 0:
 * recording is off. */
uint64_t gt_object_number(enum gt_object_type type);

/* "key=value" strings of an object. A value that does not fit is truncated; the text stays well
 * formed. */
struct gt_text {
	size_t bytes;
	char data[1528];
};
void gt_text_add(struct gt_text *text, const char *key, const char *value);
void gt_text_add_bytes(struct gt_text *text, const char *key, const char *value, size_t bytes);
void gt_text_add_number(struct gt_text *text, const char *key, uint64_t value);
void gt_text_add_hex(struct gt_text *text, const char *key, const void *data, size_t bytes);

/* Write GT_RECORD_OBJECT, or GT_RECORD_MODULE for GT_OBJECT_MODULE. @text may be NULL. */
bool gt_object_write(struct gt_thread *t, enum gt_object_type type, enum gt_domain domain,
		     uint64_t number, uint64_t handle, uint64_t parent, const struct gt_text *text);

/* An object that continues to exist in fork children. gt_fork_replay_add() writes the object now,
 * and again into the records of each child until gt_fork_replay_remove() is called.
 * gt_fork_replay_add() returns NULL without a thread, or if memory is exhausted; in the latter case
 * the object was written only now. gt_fork_replay_remove() also accepts NULL. */
struct gt_object {
	enum gt_object_type type;
	enum gt_domain domain;
	uint64_t number, handle, parent;
	/* true if the object has GT_RECORD_LIFETIME records; gt_fork_replay_remove() writes the
	 * end */
	bool begins;
};
struct gt_fork_replay;
struct gt_fork_replay *gt_fork_replay_add(struct gt_thread *t, const struct gt_object *object,
					  const struct gt_text *text);
void gt_fork_replay_remove(struct gt_thread *t, struct gt_fork_replay *replay);
/* Write the object again with the program's name for the object, as "label". Children get the label
 * too if there is room after the text. */
void gt_fork_replay_label(struct gt_thread *t, struct gt_fork_replay *replay, const char *label);
/* Write an object again if the ring was full before. Return true if the records of this process
 * contain the object. */
bool gt_fork_replay_write(struct gt_thread *t, struct gt_fork_replay *replay);
/* Write all stored objects. */
void gt_fork_replay_all(struct gt_thread *t);

/* Return memory that is not zeroed and never freed. Lock-free. NULL: none available. */
void *gt_arena_take(size_t bytes);

/* Write GT_RECORD_LIFETIME with the current time. */
bool gt_lifetime_write(struct gt_thread *t, enum gt_object_type type, enum gt_domain domain,
		       uint64_t number, bool begins);

/* Write a record for a mapped runtime library, now and again in each fork child. For
 * src/runtime. */
void gt_module_add(struct gt_thread *t, enum gt_domain domain, uint64_t handle,
		   const struct gt_text *text);

/* Write the strings and modules that a new process inherited again. thread.c calls this function
 * when a thread attaches. Fast if there is nothing to write. Return true if this thread wrote the
 * records. The caller then calls gt_fork_replay_all(). */
bool gt_emit_renew(struct gt_thread *t);

/* Write GT_RECORD_EVENT with the current time. @text may be NULL. */
bool gt_event_write(struct gt_thread *t, enum gt_event_code code, enum gt_domain domain,
		    uint64_t value, const char *text);

/* Write GT_RECORD_CLOCK. @device_stamp: stamp that was read between the two host times. */
bool gt_clock_write(struct gt_thread *t, uint32_t device, uint8_t method, uint64_t host_before,
		    uint64_t host_after, uint64_t device_stamp, uint64_t runtime_host);

/* Count a GPU activity submitted from this thread. */
static inline void gt_device_seen(struct gt_thread *t, enum gt_domain domain)
{
	if (t)
		gt_count(&t->slot->domains[domain].seen[GT_CLASS_DEVICE]);
}

/* Bracket gputap's own calls into a runtime: between these two functions, taps call straight
 * through. Nests. */
static inline void gt_internal_enter(void)
{
	gt_thread.internal++;
}

static inline void gt_internal_leave(void)
{
	gt_thread.internal--;
}

#endif
