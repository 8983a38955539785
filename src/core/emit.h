/* SPDX-License-Identifier: MIT */
/* What the hand-written parts of a runtime write besides calls: texts, objects, events, clock
 * readings, and how they start and count device work.
 *
 * All of it may be called from any thread, also a driver's, with the state that gt_thread_get()
 * gave. A thread of NULL is legal everywhere and means: nothing is recorded. errno is preserved.
 *
 * Strings, objects and clock readings are not counted as seen: they are no calls and no device
 * work. When a ring is full they fail visibly (0, false), and the caller tries again at the next
 * opportunity.
 *
 * After a fork the child's process has a segment of its own. Strings are written into it again by
 * themselves, under their old ids, and so are stored objects (gt_fork_replay_add()).
 *
 * Device work is one record reserved with
 *     gt_ring_reserve(t, sizeof(struct gt_record_device), GT_CLASS_DEVICE, domain) ..
 *     gt_ring_commit()
 * by whichever thread learns of the completion; gt_device_seen() is called once when the work is
 * submitted, so that work that never completes shows as unfinished. */
#ifndef GPUTAP_CORE_EMIT_H
#define GPUTAP_CORE_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/thread.h"
#include "record/record.h"

/**
 * gt_string_id() - the number under which records name a text
 * @bytes: length; texts beyond 64 KiB or half a block are cut
 * Return: the id, written once per process; 0 when it could not be written now. Lock-free;
 * the first use of a text allocates (mmap, never malloc). For creation of kernels, not for
 * launches.
 */
uint32_t gt_string_id(struct gt_thread *t, const char *text, size_t bytes);

/* The text of such a number; stays. NULL: there is none. Not for a way that is walked often with
 * ever other texts. */
const char *gt_string_text(uint32_t id);

/* A number for a new object: unique in the process and its fork children, from 1. 0:
 * recording is off. */
uint64_t gt_object_number(enum gt_object_type type);

/* "key=value" strings as objects carry them. A value that does not fit is cut; the text stays
 * well formed. */
struct gt_text {
	size_t bytes;
	char data[1528];
};
void gt_text_add(struct gt_text *text, const char *key, const char *value);
void gt_text_add_bytes(struct gt_text *text, const char *key, const char *value, size_t bytes);
void gt_text_add_number(struct gt_text *text, const char *key, uint64_t value);
void gt_text_add_hex(struct gt_text *text, const char *key, const void *data, size_t bytes);

/* GT_RECORD_OBJECT, or GT_RECORD_MODULE for GT_OBJECT_MODULE. @text may be NULL. */
bool gt_object_write(struct gt_thread *t, enum gt_object_type type, enum gt_domain domain,
		     uint64_t number, uint64_t handle, uint64_t parent, const struct gt_text *text);

/* An object that lives on in the children of a fork: written now, and again into each child's
 * records, until it is gone.
 * NULL: no memory, it was written only now; or no thread. gt_fork_replay_remove() takes NULL,
 * too. */
struct gt_object {
	enum gt_object_type type;
	enum gt_domain domain;
	uint64_t number, handle, parent;
	bool begins; /* with its GT_RECORD_LIFETIME; gt_fork_replay_remove() writes the end */
};
struct gt_fork_replay;
struct gt_fork_replay *gt_fork_replay_add(struct gt_thread *t, const struct gt_object *object,
					  const struct gt_text *text);
void gt_fork_replay_remove(struct gt_thread *t, struct gt_fork_replay *replay);
/* The object once more, with the program's name for it, "label". In children too, if there is
 * room beside the text. */
void gt_fork_replay_label(struct gt_thread *t, struct gt_fork_replay *replay, const char *label);
/* Once more, if the ring was full. True: it is in this process's records. */
bool gt_fork_replay_write(struct gt_thread *t, struct gt_fork_replay *replay);
/* All of them. */
void gt_fork_replay_all(struct gt_thread *t);

/* Memory that stays, not zeroed. Lock-free. NULL: there is none. */
void *gt_arena_take(size_t bytes);

/* GT_RECORD_LIFETIME, now. */
bool gt_lifetime_write(struct gt_thread *t, enum gt_object_type type, enum gt_domain domain,
		       uint64_t number, bool begins);

/* A runtime library that is mapped, written now and again in each fork child. For src/runtime. */
void gt_module_add(struct gt_thread *t, enum gt_domain domain, uint64_t handle,
		   const struct gt_text *text);

/* Write again what a new process inherited. thread.c calls it when a thread attaches; quick when
 * nothing is new. Return: this thread was the one to do it: gt_fork_replay_all() comes next. */
bool gt_emit_renew(struct gt_thread *t);

/* GT_RECORD_EVENT, with the time of now. @text may be NULL. */
bool gt_event_write(struct gt_thread *t, enum gt_event_code code, enum gt_domain domain,
		    uint64_t value, const char *text);

/* GT_RECORD_CLOCK: @device_stamp was read between the two host times. */
bool gt_clock_write(struct gt_thread *t, uint32_t device, uint8_t method, uint64_t host_before,
		    uint64_t host_after, uint64_t device_stamp, uint64_t runtime_host);

/* This thread submitted one item of device work. */
static inline void gt_device_seen(struct gt_thread *t, enum gt_domain domain)
{
	if (t)
		gt_count(&t->slot->domains[domain].seen[GT_CLASS_DEVICE]);
}

/* gputap's own calls into a runtime, between enter and leave: taps go straight through. Nests. */
static inline void gt_internal_enter(void)
{
	gt_thread.internal++;
}

static inline void gt_internal_leave(void)
{
	gt_thread.internal--;
}

#endif
