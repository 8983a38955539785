/* SPDX-License-Identifier: MIT */
/* The loops of the Perfetto exporter. They write the start and the end of a call's slice
 * separately, and both ends of a GPU activity's slice together. The loops run millions of times, so
 * recurring bytes are generated once (perfetto.c) and copied: type, name and category of a slice
 * per operation, an annotation up to its value per argument, device and queue per row. This file is
 * compiled twice, see meson.build; GT_PF_RECORDS is the name of the exported function.
 *
 * Arguments are written as numbers, addresses, or interned texts: names of values, and payloads
 * (arrays, small memory) from the second occurrence on. Only new texts are formatted. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/number.h"
#include "export/perfetto.h"
#include "export/records.h"
#include "util/error.h"

/* Annotations with text ------------------------------------------------------------ */

static char *annotate_text(char *p, uint32_t key, const char *text)
{
	char *mark;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = gt_pb_u64(p, ANNOTATION_NAME, key);
	p = gt_pf_put_text(p, ANNOTATION_STRING, text);
	gt_pb_close(p, mark);
	return p;
}

static char *annotate_status(char *p, uint32_t op, int32_t status)
{
	const char *name = gt_status_name((enum gt_domain)GT_OP_DOMAIN(op), status);
	char text[96];

	snprintf(text, sizeof text, "%s (%d)", name ? name : "unknown error", status);
	return annotate_text(p, KEY_ERROR, text);
}

/* Write an argument's formatted text in place. The formatter produces valid UTF-8. */
static char *annotate_formatted(char *p, uint32_t key, const struct gt_item *call, unsigned arg)
{
	char *mark, *inner;
	size_t length;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = gt_pb_u64(p, ANNOTATION_NAME, key);
	p = gt_pb_open(p, ANNOTATION_STRING, &inner);
	length = gt_format_arg(p, TEXT_MAX, call->op, arg, call->args, call->payload,
			       call->payload_bytes);
	p += length < TEXT_MAX ? length : TEXT_MAX - 1;
	gt_pb_close(p, inner);
	gt_pb_close(p, mark);
	return p;
}

/* Write "1024 x 1024"; omits trailing dimensions of size 0 or 1. */
static char *put_size(char *p, uint32_t key, const uint32_t size[3])
{
	unsigned dimensions = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
	char text[3 * GT_NUMBER_MAX], *t = text, *mark;

	for (unsigned i = 0; i < dimensions; i++) {
		if (i)
			t = GT_PUT(t, " x ");
		t = gt_put_u64(t, size[i]); /* at most 36 bytes with the blanks */
	}
	p = gt_pb_open_short(p, EVENT_ANNOTATION, &mark);
	p = gt_pb_u64(p, ANNOTATION_NAME, key);
	p = gt_pb_bytes(p, ANNOTATION_STRING, text, (size_t)(t - text));
	gt_pb_close_short(p, mark);
	return p;
}

static __attribute__((noinline)) void make_sizes(struct gt_pf_size *s, const uint64_t size[3])
{
	uint32_t each[6]; /* global size, local size */
	char *p = s->data;

	memcpy(each, size, sizeof each);
	memcpy(s->size, size, sizeof s->size);
	if (each[0])
		p = put_size(p, KEY_GLOBAL_SIZE, each);
	if (each[3])
		p = put_size(p, KEY_LOCAL_SIZE, each + 3);
	s->bytes = (uint8_t)(p - s->data);
}

static_assert(offsetof(struct gt_item, local) == offsetof(struct gt_item, global) + 12,
	      "one load reads both fields");

static inline char *put_sizes(struct gt_pf *x, char *p, const struct gt_item *activity)
{
	struct gt_pf_size *s;
	uint64_t size[3];

	memcpy(size, (const char *)activity + offsetof(struct gt_item, global), sizeof size);
	if (__builtin_expect(gt_item_endpoints(activity) != NULL, 0)) {
		size[1] &= UINT32_MAX;
		size[2] = 0;
	}
	s = &x->sizes[((size[0] ^ size[1] << 20 ^ size[1] >> 24 ^ size[2] << 10) *
			       0x9e3779b97f4a7c15u >>
		       56) %
		      SIZES];
	if (__builtin_expect((s->size[0] ^ size[0]) | (s->size[1] ^ size[1]) |
				     (s->size[2] ^ size[2]),
			     0))
		make_sizes(s, size);
	memcpy(p, s->data, 16);
	memcpy(p + 16, s->data + 16, 16);
	for (unsigned i = 32; __builtin_expect(i < s->bytes, 0); i += 8)
		memcpy(p + i, s->data + i, 8);
	return p + s->bytes;
}

/* Encode the annotation of a correlation number whose higher bits differ from those of the previous
 * one. */
static __attribute__((noinline)) uint64_t make_correlation(struct gt_pf *x,
							   struct gt_pf_sequence *s,
							   const struct gt_item *item)
{
	const struct gt_view_thread *t =
		item->id ? gt_view_caller(&x->view, item->process, GT_ID_ORDINAL(item->id)) : NULL;
	struct gt_pf_correlation *c = &s->correlation;
	uint64_t correlation;

	correlation = gt_view_correlation(&x->view, t, item->id);
	c->high = correlation >> 7;
	c->id_high = correlation && item->id >> 7 ? item->id >> 7 : UINT64_MAX;
	c->bytes = (uint8_t)(GT_PF_ANNOTATE(c->data, CORRELATION, correlation) - c->data);
	c->more = c->bytes > GT_PF_VALUE_AT + 1 ? 0x80 : 0;
	return correlation;
}

/* Return gt_view_correlation() of an activity, for put_correlation(). Among 128 consecutive numbers
 * only the first byte differs. */
static inline uint64_t need_correlation(struct gt_pf *x, struct gt_pf_sequence *s,
					const struct gt_item *item)
{
	const struct gt_pf_correlation *c = &s->correlation;

	if (__builtin_expect(c->id_high == item->id >> 7, 1))
		return c->high << 7 | (item->id & 127);
	return make_correlation(x, s, item);
}

/* Encode the start of all calls whose ids have the same higher bits as @item's id. */
static __attribute__((noinline)) void make_begin(struct gt_pf *x, struct gt_pf_call *call,
						 const struct gt_view_thread *t,
						 const struct gt_item *item)
{
	uint64_t correlation = gt_view_correlation(&x->view, t, item->id),
		 high = item->id >> BEGIN_BITS;
	struct gt_pf_begin *b = &call->begin;
	char *p = b->data, *q;

	p = gt_pb_put_short(p, &call->event);
	if (call->flow_bytes)
		p = gt_pb_fixed64(p, EVENT_FLOW, correlation);
	q = GT_PF_ANNOTATE(p, CORRELATION, correlation);
	b->flow_at = (uint8_t)(p - b->data - sizeof correlation);
	b->value_at = (uint8_t)(p - b->data + GT_PF_VALUE_AT);
	b->in_value = 0x8080;
	if (correlation >> BEGIN_BITS == 0) { /* small numbers are written in two bytes too */
		q = p + GT_PF_VALUE_AT + 2;
		p[1] = GT_PF_VALUE_AT;
		b->in_value = 0x0080;
	}
	b->in_flow = (uint16_t)(correlation & ~UINT64_C(0) << BEGIN_BITS);
	b->bytes = (uint8_t)(q - b->data);
	if (!call->flow_bytes)
		b->flow_at = b->bytes;
	/* correlation numbers are consecutive, as ids are */
	b->id_high = correlation && high ? high : UINT64_MAX;
}

static inline char *put_begin(char *p, const struct gt_pf_begin *b, uint64_t id)
{
	uint16_t low = id & ((1u << BEGIN_BITS) - 1),
		 value = (uint16_t)((low & 127) | (low & ~127u) << 1 | b->in_value);

	gt_pf_put_whole(p, b->data);
	memcpy(p + 32, b->data + 32, 16);
	low |= b->in_flow;
	memcpy(p + b->flow_at, &low, sizeof low);
	memcpy(p + b->value_at, &value, sizeof value);
	return p + b->bytes;
}

static inline char *put_correlation(char *p, const struct gt_pf_correlation *c,
				    uint64_t correlation)
{
	memcpy(p, c->data, 16);
	p[GT_PF_VALUE_AT] = (char)((correlation & 127) | c->more);
	return p + c->bytes;
}

/* Arguments ------------------------------------------------------------------------- */

static inline void need_word(struct gt_pf *x, struct gt_pf_sequence *s,
			     const struct gt_view_text *word)
{
	if (__builtin_expect(gt_bits_has(&s->words, word->index), 1))
		return;
	gt_bits_add(&s->words, word->index);
	gt_pf_intern(x, s, INTERNED_ANNOTATION_STRING, word->index + IID_NULL + 1, word->text);
}

/* Format a payload and encode its annotation. Return NULL if this is the first occurrence, or if
 * the text is too long. */
static __attribute__((noinline)) struct gt_pf_value *make_payload(struct gt_pf *x,
								  struct gt_pf_sequence *s,
								  const struct gt_pf_argument *a,
								  const struct gt_item *item,
								  struct gt_pf_payload *slot)
{
	uint32_t arg = (uint16_t)slot->head;
	char text[TEXT_MAX];
	size_t length;

	if (!slot->word) {
		length = gt_format_arg(text, sizeof text, item->op, arg, item->args, item->payload,
				       item->payload_bytes);
		if (length < sizeof text)
			slot->word = gt_view_word_of(&x->view, text, length);
		if (!slot->word)
			return NULL;
	}
	need_word(x, s, slot->word);
	slot->owner = s;
	slot->written.bytes = (uint8_t)(gt_pf_annotate(slot->written.data, &a->form[1],
						       slot->word->index + IID_NULL + 1) -
					slot->written.data);
	return &slot->written;
}

/* Return the annotation of a payload of 9 bytes or more; NULL: first occurrence, or too long. */
static __attribute__((noinline)) struct gt_pf_value *long_payload(
	struct gt_pf *x, struct gt_pf_sequence *s, const struct gt_pf_argument *a,
	const struct gt_item *item, const uint8_t *payload, uint32_t bytes, uint64_t length)
{
	uint64_t words[4] = {0}, head, hash;
	struct gt_pf_payload *slot;

	if (bytes > PAYLOAD_BYTES)
		return NULL;
	memcpy(&head, payload, sizeof head);
	memcpy(words, payload + sizeof head, bytes);
	hash = head ^ (uint64_t)item->op << 20 ^ length ^ words[0] ^ words[1] << 3 ^ words[2] << 6 ^
	       words[3] << 9;
	slot = &x->payloads[gt_pf_payload_slot(hash)];
	if (slot->op != item->op || slot->head != head || slot->length != length ||
	    memcmp(slot->data, words, sizeof words)) {
		*slot = (struct gt_pf_payload){.op = item->op, .head = head, .length = length};
		memcpy(slot->data, words, sizeof words);
		return NULL;
	}
	return slot->owner == s ? &slot->written : make_payload(x, s, a, item, slot);
}

/* Return the annotation of an argument's payload. Most payloads are one word. */
static inline struct gt_pf_value *payload_value(struct gt_pf *x, struct gt_pf_sequence *s,
						const struct gt_pf_argument *a,
						const struct gt_item *item, const uint8_t *payload,
						uint32_t bytes, bool has_length)
{
	uint64_t length = has_length ? item->args[a->length_arg] : 0, head, word = 0;
	struct gt_pf_payload *slot;

	if (bytes > 8)
		return long_payload(x, s, a, item, payload, bytes, length);
	memcpy(&head, payload, sizeof head);
	if (bytes) { /* reads a whole word: payloads are padded to words */
		memcpy(&word, payload + sizeof head, 8);
		word &= UINT64_MAX >> (64 - bytes * 8);
	}
	slot = &x->payloads[gt_pf_payload_slot(head ^ (uint64_t)item->op << 20 ^ length ^ word)];
	if (__builtin_expect((slot->op ^ item->op) | (slot->head ^ head) | (slot->length ^ length) |
				     (slot->data[0] ^ word),
			     0)) {
		*slot = (struct gt_pf_payload){.op = item->op,
					       .head = head,
					       .length = length,
					       .data = {word}};
		return NULL;
	}
	return __builtin_expect(slot->owner == s, 1) ? &slot->written
						     : make_payload(x, s, a, item, slot);
}

/* Mark an argument whose payload is new. If the new payload has taken the slot of another
 * argument's payload, mark that argument too. */
static __attribute__((noinline)) void forget_given(struct gt_pf *x, const struct gt_item *item,
						   uint32_t bits, unsigned arg)
{
	for (bits |= UINT32_C(1) << arg; bits; bits &= bits - 1) {
		unsigned i = (unsigned)__builtin_ctz(bits);

		if (i != arg && x->given[i]->bytes)
			continue;
		x->unknown[i].value = ~item->args[i];
		x->given[i] = &x->unknown[i];
	}
}

/* Return a bit for each argument that has a payload. The annotations are in x->given. */
static inline uint32_t need_payloads(struct gt_pf *x, struct gt_pf_sequence *s,
				     const struct gt_pf_call *call, const struct gt_item *item)
{
	const uint8_t *next = item->payload, *end = next + item->payload_bytes;
	uint32_t bits = 0;
	struct gt_payload head;

	while ((size_t)(end - next) >= sizeof head) {
		size_t padded;

		memcpy(&head, next, sizeof head);
		padded = sizeof head + (((size_t)head.bytes + 7) & ~(size_t)7);
		if (__builtin_expect(padded > (size_t)(end - next), 0))
			break;
		if (head.arg < call->shown && call->addresses >> head.arg & 1) {
			struct gt_pf_value *value =
				payload_value(x, s, &call->args[head.arg], item, next, head.bytes,
					      call->lengths >> head.arg & 1);

			if (__builtin_expect(!value, 0)) {
				forget_given(x, item, bits, head.arg);
			} else {
				if (__builtin_expect(value->value != item->args[head.arg], 0))
					value->value = item->args[head.arg];
				x->given[head.arg] = value;
			}
			bits |= UINT32_C(1) << head.arg;
		}
		next += padded;
	}
	return bits;
}

/* Encode the annotation of a value that is not cached. Return false if the value is neither a
 * number nor an interned text. */
static __attribute__((noinline)) bool make_value(struct gt_pf *x, struct gt_pf_sequence *s,
						 const struct gt_pf_call *call,
						 const struct gt_item *item, unsigned i,
						 struct gt_pf_value *slot)
{
	uint64_t value = item->args[i];
	bool text = false;

	if (call->named >> i & 1) {
		struct gt_view_text *word = gt_view_word(&x->view, item->op, i, item->args);

		if (!word)
			return false;
		need_word(x, s, word);
		value = word->index + IID_NULL + 1;
		text = true;
	} else if (call->addresses >> i & 1 && !value) {
		value = IID_NULL;
		text = true;
	}
	slot->value = item->args[i];
	slot->bytes = (uint8_t)(gt_pf_annotate(slot->data, &call->args[i].form[text], value) -
				slot->data);
	return true;
}

/* Write an argument whose value is not cached. Return the end, or NULL as put_arguments() does. */
static __attribute__((noinline)) char *put_new_value(struct gt_pf *x, struct gt_pf_sequence *s,
						     char *p, const struct gt_pf_call *call,
						     const struct gt_item *item, unsigned i)
{
	struct gt_pf_value *slot = &call->values[i * VALUES + gt_pf_value_slot(item->args[i])];
	const char *packet = x->out.next;

	if (x->given_bits >> i & 1 || !make_value(x, s, call, item, i, slot))
		return p - packet < ANNOTATIONS_MAX
			       ? annotate_formatted(p, call->args[i].key, item, i)
			       : p;
	return x->out.next == packet ? gt_pf_put_value(p, slot) : NULL;
}

/* Write all arguments. @payloads: constant 0 for calls without payloads. Return the end; NULL: a
 * text had to be interned at @p first, so the caller must start the packet again. */
static inline __attribute__((always_inline)) char *put_arguments(struct gt_pf *x,
								 struct gt_pf_sequence *s, char *p,
								 const struct gt_pf_call *call,
								 const struct gt_item *item,
								 uint32_t payloads)
{
	const char *slots = (const char *)call->values;
	const uint64_t *args = item->args;
	unsigned nargs = call->shown;
	uint64_t factor = GT_PF_FACTOR;

	__asm__("" : "+r"(factor)); /* keeps the factor in a register */
	for (unsigned i = 0; i < nargs; i++, slots += VALUES * VALUE_ALIGNED) {
		uint64_t value = args[i];
		/* The hash yields the slot's byte offset. */
		const struct gt_pf_value *slot =
			(const struct gt_pf_value *)(slots + gt_pf_value_at(value, factor));

		if (payloads)
			slot = payloads >> i & 1 ? x->given[i] : slot;
		if (__builtin_expect(slot->value == value, 1)) {
			p = gt_pf_put_value(p, slot);
			continue;
		}
		p = put_new_value(x, s, p, call, item, i);
		if (!p)
			return NULL;
	}
	return p;
}

/* Calls ------------------------------------------------------------------------------- */

static char *put_result(char *p, const struct gt_pf_call *call, const struct gt_item *item)
{
	int32_t status;

	if (gt_call_status(item->op, item->ret, item->args, &status) &&
	    gt_status_failed((enum gt_domain)GT_OP_DOMAIN(item->op), status))
		return annotate_status(p, item->op, status);
	/* A result that is not a status is a handle, an address or void. */
	if (item->ret && !call->by_return)
		return GT_PF_ANNOTATE(p, RETURN, item->ret);
	return p;
}

static_assert(GT_EXTERNAL_STACK_COUNT == 2, "the code names each stack");

static char *put_external(char *p, const struct gt_item *item)
{
	if (item->external[GT_EXTERNAL_OPERATION])
		p = GT_PF_ANNOTATE(p, EXTERNAL_OPERATION, item->external[GT_EXTERNAL_OPERATION]);
	if (item->external[GT_EXTERNAL_USER])
		p = GT_PF_ANNOTATE(p, EXTERNAL_USER, item->external[GT_EXTERNAL_USER]);
	return p;
}

/* Return the number of the range or operator that contains the call @item, or the launching call of
 * the activity @item; 0: none. The range has this number as "external_id" and in its flow. */
static __attribute__((noinline)) uint64_t find_range(struct gt_pf *x, const struct gt_item *item)
{
	uint64_t place = gt_item_place(item);
	uint32_t ordinal = GT_ID_ORDINAL(place);
	struct gt_view_thread *t = place ? gt_view_caller(&x->view, item->process, ordinal) : NULL;
	uint64_t range = t ? gt_innermost_find(&x->innermost, item->process, ordinal, place) : 0;

	return range ? gt_view_correlation(&x->view, t, range) : 0;
}

static inline char *put_range_of_call(struct gt_pf *x, char *p, const struct gt_item *call)
{
	uint64_t range = find_range(x, call);

	return range ? GT_PF_ANNOTATE(p, EXTERNAL_ID, range) : p;
}

static inline char *put_range_of_activity(struct gt_pf *x, char *p, const struct gt_item *activity)
{
	uint64_t range = find_range(x, activity);

	if (!range)
		return p;
	p = gt_pb_fixed64(p, EVENT_FLOW, range);
	return GT_PF_ANNOTATE(p, EXTERNAL_ID, range);
}

/* Write the end of the innermost open call, a packet of about 10 bytes. @delta: ns on the
 * sequence's clock */
static inline char *put_end(char *p, const struct gt_pf_sequence *s, uint64_t delta)
{
	static const char event[4] = {PACKET_TRACK_EVENT << 3 | GT_PB_BYTES, 2,
				      EVENT_TYPE << 3 | GT_PB_VARINT, TYPE_END};
	char *packet = p + 1;

	p = gt_pb_varint_wide(gt_pb_put_short(p, &s->timed_head), delta);
	memcpy(p, event, sizeof event);
	p += sizeof event;
	gt_pb_close_short(p, packet);
	return p;
}

/* End the calls that are over when a call of @depth starts at @start_ns. @p: has room for all ends,
 * because open calls have distinct depths */
static inline char *close_calls(char *p, struct gt_pf_sequence *s, uint32_t depth,
				uint64_t start_ns)
{
	const struct gt_pf_open *top = s->open + s->open_count;
	uint64_t last_ns = s->last_ns;

	if (top == s->open)
		return p;
	do {
		uint64_t end_ns = top[-1].end_ns;

		/* If an enclosing call was lost, calls of smaller depth may be open although they
		 * are over. */
		if (top[-1].depth < depth && end_ns >= start_ns)
			break;
		end_ns = end_ns > last_ns ? end_ns : last_ns;
		p = put_end(p, s, end_ns - last_ns);
		last_ns = end_ns;
	} while (--top != s->open);
	s->open_count = (uint32_t)(top - s->open);
	s->last_ns = last_ns;
	return p;
}

static inline void push_call(struct gt_pf_sequence *s, uint64_t end_ns, uint32_t depth)
{
	uint32_t count = s->open_count;

	/* Rounding must not make a call end after its enclosing call. */
	if (count && end_ns > s->open[count - 1].end_ns)
		end_ns = s->open[count - 1].end_ns;
	s->open[count].end_ns = end_ns;
	s->open[count].depth = depth;
	s->open_count = count + 1;
}

/* Write the time of a late call. A call that encloses more calls than a cursor holds comes after
 * them. The delta clock cannot go back, so such a call uses BOOTTIME, and its begin and end are
 * written together; the reader sorts by time. */
static char *put_late_time(char *p, uint64_t ns)
{
	p = gt_pb_u64(p, PACKET_TIMESTAMP, ns);
	return gt_pb_u64(p, PACKET_CLOCK, CLOCK_BOOTTIME_ID);
}

static void write_late_end(struct gt_pf *x, struct gt_pf_sequence *s, uint64_t ns)
{
	char *packet, *mark, *p = gt_pf_packet_open(x, s, &packet);

	p = put_late_time(p, ns);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, &mark);
	p = gt_pb_u64(p, EVENT_TYPE, TYPE_END);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

/* Write the call stack: "from" is the calling function, "from 2" its caller, and so on. */
static __attribute__((noinline)) char *put_functions(struct gt_pf *x, char *p,
						     const struct gt_item *call)
{
	unsigned count = gt_launch_frames_find(&x->launches, call);
	char name[16] = "from";

	for (unsigned i = 0; i < count; i++) {
		if (i)
			snprintf(name, sizeof name, "from %u", i + 1);
		p = gt_pf_annotate_named_text(p, name, x->launches.texts[i]);
	}
	return p;
}

/* Write a call. Always inlined: into the loop for usual calls, and into put_call_slow().
 * @payloads: bit for each argument that has a payload; the annotations are in x->given */
static void put_call_slow(struct gt_pf *x, struct gt_pf_sequence *s, const struct gt_pf_call *call,
			  const struct gt_item *item, uint32_t payloads, bool late);
static inline __attribute__((always_inline)) void put_call(struct gt_pf *x,
							   struct gt_pf_sequence *s, char *p,
							   const struct gt_pf_call *call,
							   const struct gt_item *item,
							   uint32_t payloads, bool late)
{
	uint64_t start_ns = late || item->start_ns > s->last_ns ? item->start_ns : s->last_ns;
	uint64_t end_ns = item->end_ns > start_ns ? item->end_ns : start_ns;
	char *packet, *mark;

	if (late)
		p = put_late_time(gt_pf_short_open(x, s, &packet), start_ns);
	else
		p = gt_pf_timed_open(p, s, start_ns - s->last_ns, &packet);
	mark = p + 1;
	p = put_begin(p, &call->begin, item->id);
	if (item->args) {
		p = payloads ? put_arguments(x, s, p, call, item, payloads)
			     : put_arguments(x, s, p, call, item, 0);
		if (__builtin_expect(!p, 0)) {
			put_call_slow(x, s, call, item, payloads, late);
			return;
		}
	}
	if (item->ret || !call->by_return) /* most calls return 0 as their status */
		p = put_result(p, call, item);
	if (__builtin_expect((item->external[0] | item->external[1]) != 0, 0))
		p = put_external(p, item);
	if (__builtin_expect(x->innermost.count != 0, 0))
		p = put_range_of_call(x, p, item);
	if (__builtin_expect(x->launches.calls != NULL, 0))
		p = put_functions(x, p, item);
	gt_out_end(&x->out, gt_pf_short_close(p, packet, mark));
	if (late) {
		write_late_end(x, s, end_ns);
		return;
	}
	s->last_ns = s->last_begin_ns = start_ns;
	push_call(s, end_ns, item->depth);
}

/* Write a late call, or a call whose packet must be started again because it uses a new text. */
static __attribute__((noinline)) void put_call_slow(struct gt_pf *x, struct gt_pf_sequence *s,
						    const struct gt_pf_call *call,
						    const struct gt_item *item, uint32_t payloads,
						    bool late)
{
	put_call(x, s, gt_out_room(&x->out), call, item, payloads, late);
}

static inline int write_call_packets(struct gt_pf *x, struct gt_view_thread *t,
				     const struct gt_item *item)
{
	struct gt_pf_sequence *s = t->own ? t->own : gt_pf_thread_begin(x, t);
	struct gt_pf_call *call = x->recent[item->op % RECENT];
	uint32_t payloads;
	char *p;

	if (__builtin_expect(!s, 0))
		return -ENOMEM;
	if (__builtin_expect(call->op != item->op || call->owner != s, 0)) {
		/* Marks are never cached as recent operations, so they always reach this point. */
		if (gt_mark_of(item->op))
			return gt_pf_mark(x, t, item);
		call = gt_pf_operation(x, s, item->op);
		if (!call)
			return -ENOMEM;
	}
	if (__builtin_expect(call->allocates, 0))
		gt_memory_use_note(&x->memory, item, 0);
	if (__builtin_expect(call->begin.id_high != item->id >> BEGIN_BITS, 0))
		make_begin(x, call, t, item);
	p = close_calls(gt_out_room(&x->out), s, item->depth, item->start_ns);
	gt_out_end(&x->out, p);
	payloads = 0;
	if (item->payload_bytes) {
		payloads = need_payloads(x, s, call, item);
		p = gt_out_room(&x->out);
	}
	x->given_bits = payloads;
	if (__builtin_expect(item->start_ns < s->last_begin_ns, 0))
		put_call_slow(x, s, call, item, payloads, true);
	else
		put_call(x, s, p, call, item, payloads, false);
	return 0;
}

/* GPU activities ------------------------------------------------------------------------ */

/* Encode the start of activities of this name and kind on @s, unless that is cached. Numbers 1 to
 * GT_DEVICE_OP_COUNT are names for kinds of activities.
 * Return NULL with a cause if out of memory. */
static __attribute__((noinline)) struct gt_pf_activity *make_activity(
	struct gt_pf *x, struct gt_pf_sequence *s, const struct gt_item *activity,
	struct gt_pf_activity *slot)
{
	enum gt_activity_class class = gt_view_activity_class(activity->device_op);
	uint32_t number = (uint32_t)activity->device_op;
	struct gt_view_text *name = NULL;
	char *p, *mark;

	if (activity->name) {
		name = gt_view_name(&x->view, activity->process, activity->name);
		if (!name)
			return NULL;
		number = GT_DEVICE_OP_COUNT + name->index;
	}
	if (!gt_bits_has(&s->names, number)) {
		gt_bits_add(&s->names, number);
		gt_pf_intern(x, s, INTERNED_EVENT_NAME, number + 1,
			     name ? name->text : gt_device_op_name(activity->device_op));
	}
	p = gt_pb_open_short(slot->data, PACKET_TRACK_EVENT, &mark);
	p = gt_pb_u64(p, EVENT_TYPE, TYPE_BEGIN);
	p = gt_pb_u64(p, EVENT_NAME, number + 1); /* at most 6 bytes */
	p = gt_pb_u64(p, EVENT_CATEGORY, class + 1);
	slot->bytes = (uint8_t)(p - slot->data);
	slot->class = (uint8_t) class;
	slot->device_op = (uint8_t)activity->device_op;
	slot->sequence = s->id;
	slot->name = (uint64_t)activity->process << 32 | activity->name;
	return slot;
}
enum { ACTIVITY_TYPE = 3 }; /* offset of the event type in `data` */

static inline struct gt_pf_activity *need_activity(struct gt_pf *x, struct gt_pf_sequence *s,
						   const struct gt_item *activity)
{
	uint64_t name = (uint64_t)activity->process << 32 | activity->name;
	uint64_t hash = (name ^ (uint64_t)s->id << 16 ^ (uint64_t)activity->device_op << 27) *
			0x9e3779b97f4a7c15u;
	struct gt_pf_activity *slot = &x->activities[(hash >> 56) % ACTIVITIES];

	if (__builtin_expect(slot->name == name && slot->sequence == s->id &&
				     slot->device_op == activity->device_op,
			     1))
		return slot;
	return make_activity(x, s, activity, slot);
}

static inline char *put_bytes(char *p, const struct gt_item *activity, enum gt_activity_class class)
{
	char *mark;

	p = GT_PF_ANNOTATE(p, BYTES, activity->bytes);
	if (class != GT_ACTIVITY_COPY || activity->end_ns <= activity->start_ns)
		return p;
	p = gt_pb_open_short(p, EVENT_ANNOTATION, &mark);
	p = gt_pb_u64(p, ANNOTATION_NAME, KEY_BANDWIDTH);
	p = gt_pb_double(p, ANNOTATION_DOUBLE,
			 (double)activity->bytes / (double)(activity->end_ns - activity->start_ns));
	gt_pb_close_short(p, mark);
	return p;
}

static inline char *put_activity_annotations(struct gt_pf *x, char *p,
					     const struct gt_item *activity,
					     enum gt_activity_class class)
{
	uint64_t nodes;

	p = put_sizes(x, p, activity);
	if (activity->bytes)
		p = put_bytes(p, activity, class);
	/* Times before the start are written as durations, which are easier to read. The durations
	 * are signed because clocks may be wrong. */
	if (activity->start_ns && activity->call_start_ns)
		p = GT_PF_ANNOTATE(p, LATENCY, activity->start_ns - activity->call_start_ns);
	if (activity->submitted_ns && activity->queued_ns)
		p = GT_PF_ANNOTATE(p, QUEUED, activity->submitted_ns - activity->queued_ns);
	if (activity->start_ns && activity->submitted_ns)
		p = GT_PF_ANNOTATE(p, SUBMITTED, activity->start_ns - activity->submitted_ns);
	if (activity->replay) {
		if (activity->graph)
			p = GT_PF_ANNOTATE(p, GRAPH, activity->graph);
		if (activity->ordinal_in_graph != UINT32_MAX &&
		    activity->device_op != GT_DEVICE_GRAPH)
			p = GT_PF_ANNOTATE(p, GRAPH_NODE, activity->ordinal_in_graph);
		p = GT_PF_ANNOTATE(p, GRAPH_REPLAY, activity->replay);
		nodes = gt_replay_is_whole(activity)
				? gt_replay_nodes(&x->view, activity->process, activity->graph)
				: 0;
		if (nodes)
			p = GT_PF_ANNOTATE(p, GRAPH_NODES, nodes);
	}
	return activity->status < 0 ? annotate_status(p, activity->op, activity->status) : p;
}

static inline int write_activity_packets(struct gt_pf *x, const struct gt_item *activity)
{
	struct gt_view_queue *q = gt_view_queue(&x->view, activity);
	uint64_t correlation;
	bool timed = activity->start_ns && activity->end_ns >= activity->start_ns;
	uint64_t start_ns = timed ? activity->start_ns : gt_view_activity_time(activity),
		 end_ns = timed ? activity->end_ns : start_ns;
	char text[GT_REPLAY_NAME], *p, *packet, *mark;
	struct gt_pf_sequence *s;
	struct gt_pf_activity *kind = NULL;
	enum gt_activity_class class;
	bool whole;
	int row;

	if (!q)
		return -ENOMEM;
	if (start_ns < x->zero)
		start_ns = x->zero;
	if (end_ns < start_ns)
		end_ns = start_ns;
	row = timed ? gt_track_rows_place(&q->rows, start_ns, end_ns) : 0;
	if (row < 0)
		return gt_error(row, "export");
	s = gt_pf_row(x, q, (unsigned)row);
	if (!s)
		return -ENOMEM;
	correlation = need_correlation(x, s, activity);
	whole = gt_replay_is_whole(activity);
	if (__builtin_expect(!whole, 1))
		kind = need_activity(x, s, activity);
	if ((!whole && !kind) || gt_replays_add(&x->replays, q, activity, correlation))
		return -ENOMEM;

	p = gt_pf_timed_open(gt_out_room(&x->out), s, start_ns - x->zero, &packet);
	if (__builtin_expect(whole, 0)) { /* same form as a launch whose nodes were recorded */
		class = gt_view_activity_class(activity->device_op);
		p = gt_pb_open_short(p, PACKET_TRACK_EVENT, &mark);
		p = gt_pb_u64(p, EVENT_TYPE, timed ? TYPE_BEGIN : TYPE_INSTANT);
		p = gt_pf_put_text(p, EVENT_NAME_TEXT,
				   gt_replay_name(activity->graph, activity->replay, text));
		p = gt_pb_u64(p, EVENT_CATEGORY, class + 1);
	} else {
		class = kind->class;
		mark = p + 1;
		memcpy(p, kind->data, sizeof kind->data);
		p[ACTIVITY_TYPE] = timed ? TYPE_BEGIN : TYPE_INSTANT;
		p += kind->bytes;
	}
	if (correlation) {
		p = gt_pb_fixed64(p, EVENT_FLOW, correlation);
		p = put_correlation(p, &s->correlation, correlation);
	}
	if (__builtin_expect(x->innermost.count != 0, 0))
		p = put_range_of_activity(x, p, activity);
	p = gt_pb_put(p, &s->activity);
	p = put_activity_annotations(x, p, activity, class);
	if (!timed)
		p = annotate_text(p, KEY_TIMES, "unknown");
	p = gt_pf_short_close(p, packet, mark);
	if (timed)
		p = put_end(p, s, end_ns - x->zero);
	gt_out_end(&x->out, p);
	return 0;
}

/* Loop ----------------------------------------------------------------------------------- */

static int write_items(void *exporter, const struct gt_item *item, const struct gt_item *end)
{
	struct gt_pf *x = exporter;
	struct gt_view_thread *t = gt_view_thread(&x->view, item->process, item->ordinal);

	if (!t)
		return -ENOMEM;
	for (; item < end; item++) {
		int status = item->kind == GT_RECORD_CALL     ? write_call_packets(x, t, item)
			     : item->kind == GT_RECORD_DEVICE ? write_activity_packets(x, item)
							      : 0;

		if (__builtin_expect(status, 0))
			return status;
	}
	return 0;
}

int GT_PF_RECORDS(struct gt_pf *x, const struct gt_view_options *options)
{
	int status = gt_export_records(&x->view, &x->out, options, x, write_items);

	for (uint32_t i = 0; !status && i < x->view.thread_count; i++) {
		struct gt_pf_sequence *s = x->view.threads[i]->own;

		if (s)
			gt_out_end(&x->out, close_calls(gt_out_room(&x->out), s, 0, UINT64_MAX));
	}
	return status;
}
