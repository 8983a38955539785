/* SPDX-License-Identifier: MIT */
/* See nvtx_payload.h. Layouts are copied when they are registered, and never freed.
 *
 *   schema 16777216: {0, INT32, "rank"}, {0, DOUBLE, "loss"}; payload: 16 bytes
 *   -> {"rank":3,"loss":0.25}
 *
 * Plain entries are decoded: integers, floating-point numbers, addresses, texts, registered
 * strings, enums, nested schemas, arrays of a fixed length. Other entries, payloads of unknown
 * schemas, and payloads of schemas with a variable length become hexadecimal text of their first
 * bytes.
 * NEEDSWORK: not decoded yet: unions, arrays whose length is in another entry, half and quadruple
 * precision, texts in UTF-16 and UTF-32.
 * Locking: none; a domain's schemas are a list that only grows. A program's payload is read during
 * the call that passes the payload. Bytes beyond the payload are never read. */
#include "runtime/nvtx/nvtx_payload.h"

#include <stdbool.h>
#include <string.h>

#include "core/emit.h"

enum { BYTES_SHOWN = 64, ENTRIES_MOST = 256, ELEMENTS_MOST = 256, DEPTH_MOST = 8 };

struct gt_nvtx_schema {
	struct gt_nvtx_schema *next;
	uint64_t id;
	const char *name;
	bool is_static;
	bool is_whole; /* true if the bytes of the entries alone determine the text */
	size_t bytes;  /* size declared by the program; 0 if not declared */
	size_t packed; /* maximum alignment of the entries; 0 for natural alignment */
	/* size and alignment of the schema as an entry of another schema; computed at registration,
	 * so that a schema cannot contain itself */
	size_t size, align;
	size_t count;
	/* values of an enum; NULL for a schema, which has the entries below */
	struct nvtx_enum_value *values;
	struct nvtx_entry entries[];
};

/* An element of a payload: its bytes, and the number of bytes available. */
struct element {
	const uint8_t *data;
	size_t bytes;
};

#define PUT(o, text) gt_nvtx_put(o, text, sizeof(text) - 1)

void gt_nvtx_put_number(struct gt_nvtx_out *o, int32_t type, uint64_t value)
{
	uint32_t low = (uint32_t)value;
	double d;
	float f;

	memcpy(&d, &value, sizeof d);
	memcpy(&f, &low, sizeof f);
	switch (type) {
	case NVTX_PAYLOAD_U64: gt_nvtx_put_unsigned(o, value); return;
	case NVTX_PAYLOAD_I64: gt_nvtx_put_signed(o, (int64_t)value); return;
	case NVTX_PAYLOAD_F64: gt_nvtx_put_real(o, d, 17); return;
	case NVTX_PAYLOAD_U32: gt_nvtx_put_unsigned(o, low); return;
	case NVTX_PAYLOAD_I32: gt_nvtx_put_signed(o, (int32_t)low); return;
	case NVTX_PAYLOAD_F32: gt_nvtx_put_real(o, (double)f, 9); return;
	default: return;
	}
}

/* Schemas ---------------------------------------------------------------------- */

static struct gt_nvtx_schema *find_schema(struct gt_nvtx_domain *domain, uint64_t id)
{
	struct gt_nvtx_schema *s = atomic_load_explicit(&domain->schemas, memory_order_acquire);

	while (s && s->id != id)
		s = s->next;
	return s;
}

static const char *keep_name(const char *name)
{
	const struct gt_range_text *text = gt_nvtx_keep(name);

	return text ? text->text : NULL;
}

static uint64_t add_schema(struct gt_nvtx_domain *domain, struct gt_nvtx_schema *s, uint64_t id)
{
	s->id = id ? id
		   : NVTX_SCHEMA_DYNAMIC + atomic_fetch_add_explicit(&domain->newest_schema, 1,
								     memory_order_relaxed);
	s->next = atomic_load_explicit(&domain->schemas, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&domain->schemas, &s->next, s,
						      memory_order_release, memory_order_relaxed))
		;
	return s->id;
}

/* Sizes ------------------------------------------------------------------------ */

/* Return the size of a plain type in bytes, or 0 if unknown. */
static size_t plain_bytes(uint64_t type)
{
	static const uint8_t bytes[] = {
		[NVTX_TYPE_CHAR] = 1,      [NVTX_TYPE_UCHAR] = 1,     [NVTX_TYPE_SHORT] = 2,
		[NVTX_TYPE_USHORT] = 2,    [NVTX_TYPE_INT] = 4,       [NVTX_TYPE_UINT] = 4,
		[NVTX_TYPE_LONG] = 8,      [NVTX_TYPE_ULONG] = 8,     [NVTX_TYPE_LONGLONG] = 8,
		[NVTX_TYPE_ULONGLONG] = 8, [NVTX_TYPE_INT8] = 1,      [NVTX_TYPE_UINT8] = 1,
		[NVTX_TYPE_INT16] = 2,     [NVTX_TYPE_UINT16] = 2,    [NVTX_TYPE_INT32] = 4,
		[NVTX_TYPE_UINT32] = 4,    [NVTX_TYPE_INT64] = 8,     [NVTX_TYPE_UINT64] = 8,
		[NVTX_TYPE_FLOAT] = 4,     [NVTX_TYPE_DOUBLE] = 8,    [NVTX_TYPE_SIZE] = 8,
		[NVTX_TYPE_ADDRESS] = 8,   [NVTX_TYPE_BYTE] = 1,      [NVTX_TYPE_FLOAT32] = 4,
		[NVTX_TYPE_FLOAT64] = 8,   [NVTX_TYPE_RANGE_ID] = 8,  [NVTX_TYPE_CATEGORY] = 4,
		[NVTX_TYPE_COLOR] = 4,     [NVTX_TYPE_SCOPE] = 8,     [NVTX_TYPE_PID32] = 4,
		[NVTX_TYPE_PID64] = 8,     [NVTX_TYPE_TID32] = 4,     [NVTX_TYPE_TID64] = 8,
		[NVTX_TYPE_TEXT] = 1,      [NVTX_TYPE_TEXT_UTF8] = 1, [NVTX_TYPE_REGISTERED] = 8,
	};

	return type < sizeof bytes ? bytes[type] : 0;
}

static bool is_text(uint64_t type)
{
	return type == NVTX_TYPE_TEXT || type == NVTX_TYPE_TEXT_UTF8;
}

/* Return true if the type is that of a text outside the payload, whose address is in the
 * payload. */
static bool is_text_elsewhere(const struct nvtx_entry *e)
{
	return is_text(e->type) &&
	       (e->flags & NVTX_ENTRY_POINTER || (!e->detail && !(e->flags & NVTX_ENTRY_ARRAY)));
}

/* Return the size of one element in bytes, or 0 if unknown. *align receives the alignment of the
 * element's type. */
static size_t element_bytes(struct gt_nvtx_domain *domain, const struct nvtx_entry *e,
			    size_t *align)
{
	const struct gt_nvtx_schema *inside;

	if (is_text_elsewhere(e) || e->flags & NVTX_ENTRY_POINTER)
		return *align = 8;
	if (e->flags & (NVTX_ENTRY_FROM_BASE | NVTX_ENTRY_FROM_HERE))
		return 0;
	if (e->type < NVTX_SCHEMA_FIRST)
		return *align = plain_bytes(e->type);
	inside = find_schema(domain, e->type);
	*align = inside ? inside->align : 1;
	return inside && inside->is_static ? inside->size : 0;
}

/* Return the number of the entry's elements, or 0 if unknown. */
static size_t element_count(const struct nvtx_entry *e)
{
	if (is_text(e->type) && !is_text_elsewhere(e))
		return e->detail;
	switch (e->flags & NVTX_ENTRY_ARRAY) {
	case 0: return 1;
	case NVTX_ENTRY_FIXED: return e->detail;
	default: return 0;
	}
}

/* Find the entry's offset: after the previous entries, as in a C struct. Return false if
 * unknown. */
static bool place_entry(struct gt_nvtx_domain *domain, const struct gt_nvtx_schema *s, size_t i,
			size_t *at, size_t *end, size_t *most_align)
{
	const struct nvtx_entry *e = &s->entries[i];
	size_t align = 1, bytes = element_bytes(domain, e, &align), count = element_count(e);

	if (!bytes || !count || count > UINT32_MAX || bytes > UINT32_MAX || !align)
		return false;
	if (s->packed && align > s->packed)
		align = s->packed;
	*at = i && !e->offset ? (*end + align - 1) / align * align : (size_t)e->offset;
	*end = *at + bytes * count;
	*most_align = align > *most_align ? align : *most_align;
	return true;
}

static void measure_schema(struct gt_nvtx_domain *domain, struct gt_nvtx_schema *s)
{
	size_t at = 0, end = 0, farthest = 0, align = 1;

	s->size = s->bytes;
	for (size_t i = 0; i < s->count; i++) {
		if (!place_entry(domain, s, i, &at, &end, &align))
			return;
		farthest = end > farthest ? end : farthest;
	}
	s->align = align;
	if (!s->bytes)
		s->size = (farthest + align - 1) / align * align;
}

/* Return true if the payload's bytes alone determine its text: the payload contains no addresses of
 * data that the program may change, and no schemas that the program may register again. */
static bool is_whole(const struct gt_nvtx_schema *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (is_text_elsewhere(&s->entries[i]) || s->entries[i].type >= NVTX_SCHEMA_FIRST)
			return false;
	return true;
}

/* Registration ------------------------------------------------------------------ */

uint64_t gt_nvtx_schema_add(struct gt_nvtx_domain *domain, const struct nvtx_schema_attributes *a)
{
	const uint64_t needed = NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_COUNT;
	uint64_t id = a && (a->fields & NVTX_SCHEMA_HAS_ID) ? a->id : 0;
	struct gt_nvtx_schema *s;

	if (!a || (a->fields & needed) != needed || !a->entries || a->entry_count > ENTRIES_MOST)
		return 0;
	s = gt_arena_take(sizeof *s + a->entry_count * sizeof *s->entries);
	if (!s)
		return 0;
	*s = (struct gt_nvtx_schema){
		.name = a->fields & NVTX_SCHEMA_HAS_NAME ? keep_name(a->name) : NULL,
		.is_static = a->fields & NVTX_SCHEMA_HAS_TYPE && a->type == NVTX_SCHEMA_STATIC,
		.bytes = a->fields & NVTX_SCHEMA_HAS_BYTES ? a->bytes : 0,
		.packed = a->fields & NVTX_SCHEMA_HAS_PACKED ? a->packed : 0,
		.align = 1,
		.count = a->entry_count,
	};
	for (size_t i = 0; i < a->entry_count; i++) {
		s->entries[i] = a->entries[i];
		s->entries[i].name = keep_name(a->entries[i].name);
	}
	measure_schema(domain, s);
	s->is_whole = is_whole(s);
	return add_schema(domain, s, id);
}

uint64_t gt_nvtx_enum_add(struct gt_nvtx_domain *domain, const struct nvtx_enum_attributes *a)
{
	const uint64_t needed = NVTX_ENUM_HAS_ENTRIES | NVTX_ENUM_HAS_COUNT;
	uint64_t id = a && (a->fields & NVTX_ENUM_HAS_ID) ? a->id : 0;
	struct nvtx_enum_value *values;
	struct gt_nvtx_schema *s;

	if (!a || (a->fields & needed) != needed || !a->entries || a->entry_count > 4096)
		return 0;
	s = gt_arena_take(sizeof *s);
	values = s ? gt_arena_take((a->entry_count + 1) * sizeof *values) : NULL;
	if (!values)
		return 0;
	*s = (struct gt_nvtx_schema){
		.name = a->fields & NVTX_ENUM_HAS_NAME ? keep_name(a->name) : NULL,
		.is_static = true,
		.size = a->fields & NVTX_ENUM_HAS_BYTES ? a->bytes : 0,
		.align = a->fields & NVTX_ENUM_HAS_BYTES ? a->bytes : 1,
		.count = a->entry_count,
		.values = values,
	};
	for (size_t i = 0; i < a->entry_count; i++) {
		values[i] = a->entries[i];
		values[i].name = keep_name(a->entries[i].name);
	}
	return add_schema(domain, s, id);
}

/* Values ----------------------------------------------------------------------- */

static void put_bytes(struct gt_nvtx_out *o, struct element x)
{
	static const char hex[] = "0123456789abcdef";

	PUT(o, "\"0x");
	for (size_t i = 0; i < x.bytes && i < BYTES_SHOWN; i++)
		gt_nvtx_put(o, (const char[]){hex[x.data[i] >> 4], hex[x.data[i] & 15]}, 2);
	if (x.bytes > BYTES_SHOWN)
		PUT(o, "..");
	PUT(o, "\"");
}

static uint64_t load_word(struct element x)
{
	uint64_t word = 0;

	memcpy(&word, x.data, x.bytes < sizeof word ? x.bytes : sizeof word);
	return word;
}

static bool is_signed(uint64_t type)
{
	switch (type) {
	case NVTX_TYPE_CHAR:
	case NVTX_TYPE_SHORT:
	case NVTX_TYPE_INT:
	case NVTX_TYPE_LONG:
	case NVTX_TYPE_LONGLONG:
	case NVTX_TYPE_INT8:
	case NVTX_TYPE_INT16:
	case NVTX_TYPE_INT32:
	case NVTX_TYPE_INT64: return true;
	default: return false;
	}
}

static void put_plain(struct gt_nvtx_out *o, uint64_t type, struct element x)
{
	uint64_t word = load_word(x);
	unsigned unused = (unsigned)(64 - 8 * x.bytes);
	const struct gt_range_text *text;

	switch (type) {
	case NVTX_TYPE_FLOAT:
	case NVTX_TYPE_FLOAT32: gt_nvtx_put_number(o, NVTX_PAYLOAD_F32, word); return;
	case NVTX_TYPE_DOUBLE:
	case NVTX_TYPE_FLOAT64: gt_nvtx_put_number(o, NVTX_PAYLOAD_F64, word); return;
	case NVTX_TYPE_REGISTERED:
		text = (const struct gt_range_text *)(uintptr_t)word;
		gt_nvtx_put_quoted(o, text ? text->text : "", text ? GT_NVTX_TEXT_BYTES : 0);
		return;
	default: break;
	}
	if (is_signed(type))
		gt_nvtx_put_signed(o, (int64_t)(word << unused) >> unused);
	else
		gt_nvtx_put_unsigned(o, word);
}

static void put_enum(struct gt_nvtx_out *o, const struct gt_nvtx_schema *s, struct element x)
{
	uint64_t word = load_word(x);

	for (size_t i = 0; i < s->count; i++)
		if (s->values[i].value == word && s->values[i].name) {
			gt_nvtx_put_quoted(o, s->values[i].name, GT_NVTX_TEXT_BYTES);
			return;
		}
	gt_nvtx_put_unsigned(o, word);
}

static void put_schema(struct gt_nvtx_out *o, struct gt_nvtx_domain *domain,
		       const struct gt_nvtx_schema *s, struct element x, unsigned depth);

static void put_element(struct gt_nvtx_out *o, struct gt_nvtx_domain *domain,
			const struct nvtx_entry *e, struct element x, unsigned depth)
{
	const struct gt_nvtx_schema *inside =
		e->type < NVTX_SCHEMA_FIRST ? NULL : find_schema(domain, e->type);
	const char *text;

	if (is_text_elsewhere(e)) {
		text = (const char *)(uintptr_t)load_word(x);
		gt_nvtx_put_quoted(o, text ? text : "",
				   !text       ? 0
				   : e->detail ? (size_t)e->detail
					       : GT_NVTX_TEXT_BYTES);
	} else if (e->flags & NVTX_ENTRY_POINTER) {
		gt_nvtx_put_unsigned(o, load_word(x));
	} else if (e->type < NVTX_SCHEMA_FIRST) {
		put_plain(o, e->type, x);
	} else if (inside && inside->values) {
		put_enum(o, inside, x);
	} else if (inside && depth < DEPTH_MOST) {
		put_schema(o, domain, inside, x, depth + 1);
	} else {
		put_bytes(o, x);
	}
}

static void put_entry(struct gt_nvtx_out *o, struct gt_nvtx_domain *domain,
		      const struct nvtx_entry *e, struct element x, unsigned depth)
{
	size_t align = 1, bytes = element_bytes(domain, e, &align), count = element_count(e);

	if (is_text(e->type) && !is_text_elsewhere(e)) {
		gt_nvtx_put_quoted(o, (const char *)x.data, x.bytes);
		return;
	}
	if (!(e->flags & NVTX_ENTRY_ARRAY)) {
		put_element(o, domain, e, x, depth);
		return;
	}
	PUT(o, "[");
	for (size_t i = 0; i < count && i < ELEMENTS_MOST; i++) {
		if (i)
			PUT(o, ",");
		put_element(o, domain, e, (struct element){x.data + i * bytes, bytes}, depth);
	}
	PUT(o, "]");
}

static void put_key(struct gt_nvtx_out *o, const struct nvtx_entry *e, size_t i)
{
	if (e->name) {
		gt_nvtx_put_quoted(o, e->name, GT_NVTX_TEXT_BYTES);
		return;
	}
	PUT(o, "\"");
	gt_nvtx_put_unsigned(o, i);
	PUT(o, "\"");
}

/* Write a payload of a schema as a JSON object. The first unknown entry and all data after it are
 * written as bytes. */
static void put_schema(struct gt_nvtx_out *o, struct gt_nvtx_domain *domain,
		       const struct gt_nvtx_schema *s, struct element x, unsigned depth)
{
	size_t at = 0, end = 0, align = 1;
	bool first = true;

	PUT(o, "{");
	for (size_t i = 0; i < s->count; i++) {
		const struct nvtx_entry *e = &s->entries[i];
		size_t before = end;
		bool known =
			place_entry(domain, s, i, &at, &end, &align) && end <= x.bytes && at <= end;

		if (known && e->flags & (NVTX_ENTRY_HIDE | NVTX_ENTRY_MESSAGE))
			continue;
		if (!first)
			PUT(o, ",");
		first = false;
		if (!known) {
			before = before < x.bytes ? before : x.bytes;
			PUT(o, "\"bytes\":");
			put_bytes(o, (struct element){x.data + before, x.bytes - before});
			break;
		}
		put_key(o, e, i);
		PUT(o, ":");
		put_entry(o, domain, e, (struct element){x.data + at, end - at}, depth);
	}
	PUT(o, "}");
}

/* Payloads --------------------------------------------------------------------- */

static struct element get_element(struct gt_nvtx_domain *domain, const struct nvtx_payload *p)
{
	const struct gt_nvtx_schema *s =
		p->schema < NVTX_SCHEMA_FIRST ? NULL : find_schema(domain, p->schema);
	size_t bytes = p->bytes;

	if (bytes == SIZE_MAX)
		bytes = is_text(p->schema) && p->data ? strnlen(p->data, GT_NVTX_TEXT_BYTES)
			: s && s->is_static           ? s->size
			: s                           ? 0
						      : plain_bytes(p->schema);
	return (struct element){p->data, p->data ? bytes : 0};
}

static void put_payload(struct gt_nvtx_out *o, struct gt_nvtx_domain *domain,
			const struct nvtx_payload *p)
{
	const struct gt_nvtx_schema *s =
		p->schema < NVTX_SCHEMA_FIRST ? NULL : find_schema(domain, p->schema);
	struct element x = get_element(domain, p);
	size_t bytes = p->schema < NVTX_SCHEMA_FIRST ? plain_bytes(p->schema) : 0;

	if (is_text(p->schema)) {
		gt_nvtx_put_quoted(o, (const char *)x.data, x.bytes);
	} else if (bytes && x.bytes == bytes) {
		put_plain(o, p->schema, x);
	} else if (bytes && x.bytes > bytes && p->schema != NVTX_TYPE_BYTE) {
		PUT(o, "[");
		for (size_t i = 0; (i + 1) * bytes <= x.bytes && i < ELEMENTS_MOST; i++) {
			if (i)
				PUT(o, ",");
			put_plain(o, p->schema, (struct element){x.data + i * bytes, bytes});
		}
		PUT(o, "]");
	} else if (s && s->values && x.bytes) {
		put_enum(o, s, x);
	} else if (s && !s->values && s->is_static) {
		put_schema(o, domain, s, x, 0);
	} else {
		put_bytes(o, x);
	}
}

void gt_nvtx_put_payloads(struct gt_nvtx_out *o, struct gt_nvtx_domain *domain,
			  const struct nvtx_payload *payloads, size_t count)
{
	if (!payloads || !count || count > ELEMENTS_MOST)
		return;
	if (count > 1)
		PUT(o, "[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			PUT(o, ",");
		put_payload(o, domain, &payloads[i]);
	}
	if (count > 1)
		PUT(o, "]");
}

/* Payloads whose text is kept: XLA passes the same few payloads for each operation that it runs,
 * with kilobytes of text in registered strings. The lists only grow, at their heads, like a
 * domain's schemas. */
enum { KEPT_BUCKETS = 1024, KEPT_MOST = 16384, KEPT_BYTES = 256 };

struct kept_payload {
	struct kept_payload *next;
	const struct gt_nvtx_schema *schema;
	struct gt_range_text *text;
	uint32_t hash, bytes;
	uint8_t data[];
};

static _Atomic(struct kept_payload *) kept_payloads[KEPT_BUCKETS];
static _Atomic uint32_t kept_count;

static uint32_t hash_payload(const struct gt_nvtx_schema *s, struct element x)
{
	uint64_t hash = (uintptr_t)s;

	for (size_t at = 0; at < x.bytes; at += 8) {
		uint64_t word = 0;

		memcpy(&word, x.data + at, x.bytes - at < 8 ? x.bytes - at : 8);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return (uint32_t)(hash ^ hash >> 32);
}

static struct gt_range_text *keep_payload(const struct gt_nvtx_schema *s, struct element x,
					  uint32_t hash, const struct gt_nvtx_out *o,
					  const char *text)
{
	_Atomic(struct kept_payload *) *bucket = &kept_payloads[hash % KEPT_BUCKETS];
	struct kept_payload *k;

	if (atomic_fetch_add_explicit(&kept_count, 1, memory_order_relaxed) >= KEPT_MOST)
		return NULL;
	k = gt_arena_take((sizeof *k + x.bytes + 7) & ~(size_t)7);
	if (!k)
		return NULL;
	*k = (struct kept_payload){.schema = s, .hash = hash, .bytes = (uint32_t)x.bytes};
	k->text = gt_range_text_whole(text, (size_t)(o->at - text));
	if (!k->text || strlen(k->text->text) != (size_t)(o->at - text)) /* too many texts */
		return NULL;
	memcpy(k->data, x.data, x.bytes);
	k->next = atomic_load_explicit(bucket, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(bucket, &k->next, k, memory_order_release,
						      memory_order_relaxed))
		;
	return k->text;
}

struct gt_range_text *gt_nvtx_payload_kept(struct gt_nvtx_domain *domain,
					   const struct nvtx_payload *payloads, size_t count,
					   struct gt_nvtx_out *o)
{
	const struct gt_nvtx_schema *s =
		payloads && count == 1 && payloads->schema >= NVTX_SCHEMA_FIRST
			? find_schema(domain, payloads->schema)
			: NULL;
	const char *text = o->at;
	struct element x;
	uint32_t hash;

	if (!s || s->values || !s->is_static || !s->is_whole)
		return NULL;
	x = get_element(domain, payloads);
	if (!x.bytes || x.bytes > KEPT_BYTES)
		return NULL;
	hash = hash_payload(s, x);
	for (struct kept_payload *k = atomic_load_explicit(&kept_payloads[hash % KEPT_BUCKETS],
							   memory_order_acquire);
	     k; k = k->next)
		if (k->hash == hash && k->schema == s && k->bytes == x.bytes &&
		    !memcmp(k->data, x.data, x.bytes))
			return k->text;
	if (atomic_load_explicit(&kept_count, memory_order_relaxed) >= KEPT_MOST)
		return NULL;
	put_schema(o, domain, s, x, 0);
	return keep_payload(s, x, hash, o, text);
}

static const char *find_message(struct gt_nvtx_domain *domain, const struct gt_nvtx_schema *s,
				struct element x)
{
	size_t at = 0, end = 0, align = 1;

	for (size_t i = 0; i < s->count; i++) {
		const struct nvtx_entry *e = &s->entries[i];
		struct element value;

		if (!place_entry(domain, s, i, &at, &end, &align) || end > x.bytes || at > end)
			break;
		value = (struct element){x.data + at, end - at};
		if (!(e->flags & NVTX_ENTRY_MESSAGE) || !load_word(value))
			continue;
		if (e->type == NVTX_TYPE_REGISTERED)
			return ((const struct gt_range_text *)(uintptr_t)load_word(value))->text;
		if (is_text_elsewhere(e))
			return (const char *)(uintptr_t)load_word(value);
		/* the text ends after its length or at a NUL inside it */
		if (is_text(e->type) && memchr(value.data, '\0', value.bytes))
			return (const char *)value.data;
	}
	return s->name;
}

const char *gt_nvtx_payload_message(struct gt_nvtx_domain *domain,
				    const struct nvtx_payload *payloads, size_t count)
{
	for (size_t i = 0; payloads && i < count && i < ELEMENTS_MOST; i++) {
		const struct gt_nvtx_schema *s = payloads[i].schema < NVTX_SCHEMA_FIRST
							 ? NULL
							 : find_schema(domain, payloads[i].schema);
		const char *text =
			s && !s->values && s->is_static
				? find_message(domain, s, get_element(domain, &payloads[i]))
				: NULL;

		if (text)
			return text;
	}
	return NULL;
}
