/* SPDX-License-Identifier: MIT */
/* Writes strings, objects, modules, events and clock readings.
 *
 *   bucket ─► entry {id, epoch, text} ─► entry ..
 *   entries live in chunks of an arena and are never moved or freed
 *
 * Locking: none. A new entry is published with a compare-and-swap on its bucket. A thread that
 * loses the race uses the winner's entry, and the id of the text that it wrote stays unused. A fork
 * at any moment leaves the table consistent. An entry's `epoch` identifies the process whose
 * records contain the entry. */
#include "core/emit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/recording.h"
#include "core/subscriber.h"

enum { BUCKETS = 1024, CHUNK_BYTES = 64 * 1024, STRING_BYTES = 64 * 1024 - 256 };

struct interned {
	struct interned *next;
	uint64_t hash;
	uint32_t id, bytes;
	_Atomic uint32_t epoch; /* 0: the text was not written yet */
	char text[];
};

struct arena_chunk {
	_Atomic size_t used;
	size_t bytes;
};

struct module {
	_Atomic(struct module *) next;
	enum gt_domain domain;
	uint64_t number, handle;
	struct gt_text text;
};

static _Atomic(struct interned *) buckets[BUCKETS];
static _Atomic(struct arena_chunk *) arena;
/* epoch of the process that has written all inherited records again */
static _Atomic uint32_t written_epoch;
static _Atomic(struct module *) modules; /* in the order of addition; never removed */

void *gt_arena_take(size_t bytes)
{
	struct arena_chunk *c = atomic_load_explicit(&arena, memory_order_acquire), *fresh;
	size_t at, chunk_bytes = CHUNK_BYTES;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes + sizeof *c > chunk_bytes)
		chunk_bytes = bytes + 64;
	for (;;) {
		if (c) {
			at = atomic_fetch_add_explicit(&c->used, bytes, memory_order_relaxed);
			if (at + bytes <= c->bytes)
				return (char *)c + at;
		}
		fresh = mmap(NULL, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		if (fresh == MAP_FAILED)
			return NULL;
		fresh->bytes = chunk_bytes;
		atomic_init(&fresh->used, (sizeof *fresh + 15) & ~(size_t)15);
		if (atomic_compare_exchange_strong_explicit(&arena, &c, fresh, memory_order_acq_rel,
							    memory_order_acquire))
			c = fresh;
		else
			munmap(fresh, chunk_bytes);
	}
}

static bool string_write(struct gt_thread *t, uint32_t id, const char *text, size_t bytes)
{
	size_t size = sizeof(struct gt_record_string) + ((bytes + 7) & ~(size_t)7);
	struct gt_record_string *s;
	enum gt_drop_reason why;

	s = gt_ring_try(t, size, &why);
	if (!s)
		return !gt_recording_has_rings();
	s->head = (struct gt_record){(uint16_t)(size / 8), GT_RECORD_STRING, 0, id};
	s->bytes = bytes;
	memcpy(s->text, text, bytes);
	memset(s->text + bytes, 0, size - sizeof *s - bytes);
	gt_ring_commit(t, size);
	return true;
}

static struct interned *find_interned(struct interned *from, const struct interned *until,
				      uint64_t hash, const char *text, size_t bytes)
{
	for (; from != until; from = from->next)
		if (from->hash == hash && from->bytes == bytes &&
		    memcmp(from->text, text, bytes) == 0)
			return from;
	return NULL;
}

/* Return the entry's id. Write the entry's text first if this process's records lack the text. */
static uint32_t entry_id(struct gt_thread *t, struct interned *e)
{
	if (atomic_load_explicit(&e->epoch, memory_order_relaxed) == t->epoch)
		return e->id;
	/* two threads may both write the text, which is harmless, because the texts are equal */
	if (!string_write(t, e->id, e->text, e->bytes))
		return 0;
	atomic_store_explicit(&e->epoch, t->epoch, memory_order_relaxed);
	return e->id;
}

static uint32_t string_id(struct gt_thread *t, const char *text, size_t bytes)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_relaxed);
	size_t cap = r->block_bytes / 2 < STRING_BYTES ? r->block_bytes / 2 : STRING_BYTES;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct interned *head, *e, *mine;
	_Atomic(struct interned *) *bucket;

	if (bytes > cap)
		bytes = cap;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	bucket = &buckets[(hash ^ hash >> 32) % BUCKETS];
	head = atomic_load_explicit(bucket, memory_order_acquire);
	e = find_interned(head, NULL, hash, text, bytes);
	if (e)
		return entry_id(t, e);
	mine = gt_arena_take(sizeof *mine + bytes + 1);
	if (!mine)
		return 0;
	mine->hash = hash;
	mine->bytes = (uint32_t)bytes;
	mine->id = atomic_fetch_add_explicit(&r->next_string, 1, memory_order_relaxed) + 1;
	memcpy(mine->text, text, bytes);
	mine->text[bytes] = '\0';
	mine->next = head;
	while (!atomic_compare_exchange_weak_explicit(bucket, &head, mine, memory_order_release,
						      memory_order_acquire)) {
		e = find_interned(head, mine->next, hash, text, bytes);
		if (e)
			return entry_id(t, e);
		mine->next = head;
	}
	return entry_id(t, mine);
}

uint32_t gt_string_id(struct gt_thread *t, const char *text, size_t bytes)
{
	int saved = errno;
	uint32_t id;

	if (!t)
		return 0;
	id = string_id(t, text, bytes);
	errno = saved;
	return id;
}

const char *gt_string_text(uint32_t id)
{
	static _Atomic(struct interned *) recent[256];
	struct interned *e = atomic_load_explicit(&recent[id % 256], memory_order_acquire);

	if (!id || (e && e->id == id))
		return id ? e->text : NULL;
	for (uint32_t i = 0; i < BUCKETS; i++)
		for (e = atomic_load_explicit(&buckets[i], memory_order_acquire); e; e = e->next)
			if (e->id == id) {
				atomic_store_explicit(&recent[id % 256], e, memory_order_release);
				return e->text;
			}
	return NULL;
}

uint64_t gt_object_number(enum gt_object_type type)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	return r ? atomic_fetch_add_explicit(&r->next_object[type], 1, memory_order_relaxed) +
			       UINT64_C(1)
		 : 0;
}

void gt_text_add_bytes(struct gt_text *text, const char *key, const char *value, size_t bytes)
{
	size_t n = strlen(key), room = sizeof text->data - text->bytes;

	if (n + 2 > room)
		return;
	if (bytes > room - n - 2)
		bytes = room - n - 2;
	memcpy(text->data + text->bytes, key, n);
	text->bytes += n;
	text->data[text->bytes++] = '=';
	for (size_t i = 0; i < bytes && value[i]; i++)
		text->data[text->bytes++] = value[i];
	text->data[text->bytes++] = '\0';
}

void gt_text_add(struct gt_text *text, const char *key, const char *value)
{
	gt_text_add_bytes(text, key, value, strlen(value));
}

void gt_text_add_number(struct gt_text *text, const char *key, uint64_t value)
{
	char digits[20], *d = digits + sizeof digits;

	do
		*--d = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	gt_text_add_bytes(text, key, d, (size_t)(digits + sizeof digits - d));
}

void gt_text_add_hex(struct gt_text *text, const char *key, const void *data, size_t bytes)
{
	char hex[128];

	for (size_t i = 0; i < bytes && i < sizeof hex / 2; i++) {
		hex[2 * i] = "0123456789abcdef"[((const uint8_t *)data)[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[((const uint8_t *)data)[i] & 15];
	}
	gt_text_add_bytes(text, key, hex, 2 * (bytes < sizeof hex / 2 ? bytes : sizeof hex / 2));
}

bool gt_object_write(struct gt_thread *t, enum gt_object_type type, enum gt_domain domain,
		     uint64_t number, uint64_t handle, uint64_t parent, const struct gt_text *text)
{
	size_t bytes = text ? text->bytes : 0,
	       size = sizeof(struct gt_record_object) + ((bytes + 7) & ~(size_t)7);
	struct gt_record_object *o;
	enum gt_drop_reason why;

	o = t ? gt_ring_try(t, size, &why) : NULL;
	if (!o)
		return t && !gt_recording_has_rings();
	o->head = (struct gt_record){(uint16_t)(size / 8),
				     type == GT_OBJECT_MODULE ? GT_RECORD_MODULE : GT_RECORD_OBJECT,
				     (uint8_t)domain, type};
	o->number = number;
	o->handle = handle;
	o->parent = parent;
	o->bytes = bytes;
	if (bytes)
		memcpy(o->text, text->data, bytes);
	memset(o->text + bytes, 0, size - sizeof *o - bytes);
	gt_ring_commit(t, size);
	return true;
}

bool gt_lifetime_write(struct gt_thread *t, enum gt_object_type type, enum gt_domain domain,
		       uint64_t number, bool begins)
{
	struct gt_record_lifetime *l;
	enum gt_drop_reason why;

	l = t ? gt_ring_try(t, sizeof *l, &why) : NULL;
	if (!l)
		return t && !gt_recording_has_rings();
	*l = (struct gt_record_lifetime){{sizeof *l / 8, GT_RECORD_LIFETIME, (uint8_t)domain, type},
					 gt_ticks(),
					 number,
					 begins};
	gt_ring_commit(t, sizeof *l);
	return true;
}

bool gt_event_write(struct gt_thread *t, enum gt_event_code code, enum gt_domain domain,
		    uint64_t value, const char *text)
{
	size_t bytes = text ? strnlen(text, 4000) : 0,
	       size = sizeof(struct gt_record_event) + ((bytes + 7) & ~(size_t)7);
	struct gt_record_event *e;
	enum gt_drop_reason why;

	gt_subscribers_event(code, domain, value, text);
	e = t ? gt_ring_try(t, size, &why) : NULL;
	if (!e)
		return t && !gt_recording_has_rings();
	e->head = (struct gt_record){(uint16_t)(size / 8), GT_RECORD_EVENT, (uint8_t)domain, code};
	e->time = gt_ticks();
	e->value = value;
	e->bytes = bytes;
	if (bytes)
		memcpy(e->text, text, bytes);
	memset(e->text + bytes, 0, size - sizeof *e - bytes);
	gt_ring_commit(t, size);
	return true;
}

bool gt_clock_write(struct gt_thread *t, uint32_t device, uint8_t method, uint64_t host_before,
		    uint64_t host_after, uint64_t device_stamp, uint64_t runtime_host)
{
	struct gt_record_clock *c;
	enum gt_drop_reason why;

	c = t ? gt_ring_try(t, sizeof *c, &why) : NULL;
	if (!c)
		return t && !gt_recording_has_rings();
	*c = (struct gt_record_clock){{sizeof *c / 8, GT_RECORD_CLOCK, method, device},
				      host_before,
				      host_after,
				      device_stamp,
				      runtime_host};
	gt_ring_commit(t, sizeof *c);
	return true;
}

static void module_write(struct gt_thread *t, const struct module *m)
{
	gt_object_write(t, GT_OBJECT_MODULE, m->domain, m->number, m->handle, 0, &m->text);
}

void gt_module_add(struct gt_thread *t, enum gt_domain domain, uint64_t handle,
		   const struct gt_text *text)
{
	_Atomic(struct module *) *place = &modules;
	struct module *m = gt_arena_take(sizeof *m), *other = NULL;

	if (!m) {
		gt_event_write(t, GT_EVENT_LOSS, domain, 1, "no memory to record a library");
		return;
	}
	*m = (struct module){.domain = domain,
			     .number = gt_object_number(GT_OBJECT_MODULE),
			     .handle = handle,
			     .text = *text};
	while (!atomic_compare_exchange_strong_explicit(place, &other, m, memory_order_release,
							memory_order_acquire)) {
		place = &other->next;
		other = NULL;
	}
	if (t)
		module_write(t, m);
}

bool gt_emit_renew(struct gt_thread *t)
{
	uint32_t before = atomic_load_explicit(&written_epoch, memory_order_relaxed);

	if (before == t->epoch ||
	    !atomic_compare_exchange_strong_explicit(&written_epoch, &before, t->epoch,
						     memory_order_relaxed, memory_order_relaxed))
		return false;
	for (struct module *m = atomic_load_explicit(&modules, memory_order_acquire); m;
	     m = atomic_load_explicit(&m->next, memory_order_acquire))
		module_write(t, m);
	for (uint32_t i = 0; i < BUCKETS; i++)
		for (struct interned *e = atomic_load_explicit(&buckets[i], memory_order_acquire);
		     e; e = e->next)
			entry_id(t, e);
	return true;
}
