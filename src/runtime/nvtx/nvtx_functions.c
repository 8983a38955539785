/* SPDX-License-Identifier: MIT */
/* Implements NVTX's functions in all their forms (A, W, Ex, Domain) for a program's tables, and the
 * functions of the payload extension (nvtx_functions.h). Each function converts its arguments to
 * the common form (nvtx_ranges.h, nvtx_names.h).
 *
 * Attributes contain their size. Members beyond that size are not read. */
#include "runtime/nvtx/nvtx_functions.h"

#include <string.h>

#include "core/emit.h"
#include "generated/nvtx_ops.h"
#include "runtime/nvtx/nvtx_names.h"
#include "runtime/nvtx/nvtx_payload.h"
#include "runtime/nvtx/nvtx_ranges.h"

enum { PAYLOAD_BYTES = 4096 };

/* Memory for texts that had to be converted. */
struct room {
	char message[GT_NVTX_TEXT_BYTES], payload[PAYLOAD_BYTES];
};

#define HAS(a, member) ((a)->size >= offsetof(__typeof__(*(a)), member) + sizeof(a)->member)

/* Descriptions */

static struct gt_nvtx_said say_text(const char *message)
{
	return (struct gt_nvtx_said){.domain = gt_nvtx_domain_of(NULL), .message = message};
}

static struct gt_nvtx_said say_wide(const wchar_t *message, struct room *room)
{
	struct gt_nvtx_out o = {room->message, room->message + sizeof room->message - 1};

	return say_text(gt_nvtx_message(NVTX_MESSAGE_WIDE, message, &o));
}

static void end_payload(struct gt_nvtx_said *said, const struct gt_nvtx_out *o, const char *from)
{
	said->payload_bytes = (uint32_t)(o->at - from);
	said->payload = said->payload_bytes ? from : NULL;
}

static void add_payloads(struct gt_nvtx_said *said, const struct nvtx_payload *payloads,
			 size_t count, struct room *room)
{
	struct gt_nvtx_out o = {room->payload, room->payload + sizeof room->payload};

	if (!said->message)
		said->message = gt_nvtx_payload_message(said->domain, payloads, count);
	said->payload_kept = gt_nvtx_payload_kept(said->domain, payloads, count, &o);
	if (said->payload_kept) {
		said->payload = said->payload_kept->text;
		said->payload_bytes = (uint32_t)strlen(said->payload);
		return;
	}
	o.at = room->payload;
	gt_nvtx_put_payloads(&o, said->domain, payloads, count);
	end_payload(said, &o, room->payload);
}

static struct gt_nvtx_said say_attributes(void *domain, const struct nvtx_attributes *a,
					  struct room *room)
{
	struct gt_nvtx_out message = {room->message, room->message + sizeof room->message - 1},
			   payload = {room->payload, room->payload + sizeof room->payload};
	struct gt_nvtx_said said = {.domain = gt_nvtx_domain_of(domain)};

	if (!a)
		return said;
	if (HAS(a, message))
		said.message = gt_nvtx_message(a->message_type, a->message, &message);
	if (said.message && a->message_type == NVTX_MESSAGE_REGISTERED)
		said.message_kept = (struct gt_range_text *)(uintptr_t)a->message;
	if (HAS(a, category))
		said.category = a->category;
	if (HAS(a, color) && a->color_type)
		said.color = a->color;
	if (HAS(a, payload) && a->payload_type == NVTX_PAYLOAD_EXTENDED) {
		add_payloads(&said, (const struct nvtx_payload *)(uintptr_t)a->payload,
			     a->reserved > 0 ? (size_t)a->reserved : 0, room);
	} else if (HAS(a, payload) && a->payload_type) {
		gt_nvtx_put_number(&payload, a->payload_type, a->payload);
		end_payload(&said, &payload, room->payload);
	}
	return said;
}

static struct gt_nvtx_said say_payloads(void *domain, const struct nvtx_payload *payloads,
					size_t count, struct room *room)
{
	struct gt_nvtx_said said = {.domain = gt_nvtx_domain_of(domain)};

	add_payloads(&said, payloads, count, room);
	return said;
}

/* Ranges, marks */

static int push_ascii(const char *message)
{
	const struct gt_nvtx_said said = say_text(message);

	return gt_nvtx_push(&said);
}

static int push_wide(const wchar_t *message)
{
	struct room room;
	const struct gt_nvtx_said said = say_wide(message, &room);

	return gt_nvtx_push(&said);
}

static int push_in_domain(void *domain, const struct nvtx_attributes *a)
{
	struct room room;
	const struct gt_nvtx_said said = say_attributes(domain, a, &room);

	return gt_nvtx_push(&said);
}

static int push_attributes(const struct nvtx_attributes *a)
{
	return push_in_domain(NULL, a);
}

static int pop_in_domain(void *domain)
{
	return gt_nvtx_pop(gt_nvtx_domain_of(domain), NULL);
}

static int pop_range(void)
{
	return pop_in_domain(NULL);
}

static uint64_t start_ascii(const char *message)
{
	const struct gt_nvtx_said said = say_text(message);

	return gt_nvtx_start(&said);
}

static uint64_t start_wide(const wchar_t *message)
{
	struct room room;
	const struct gt_nvtx_said said = say_wide(message, &room);

	return gt_nvtx_start(&said);
}

static uint64_t start_in_domain(void *domain, const struct nvtx_attributes *a)
{
	struct room room;
	const struct gt_nvtx_said said = say_attributes(domain, a, &room);

	return gt_nvtx_start(&said);
}

static uint64_t start_attributes(const struct nvtx_attributes *a)
{
	return start_in_domain(NULL, a);
}

static void end_in_domain(void *domain, uint64_t id)
{
	(void)domain;
	gt_nvtx_end(id, NULL);
}

static void end_started(uint64_t id)
{
	gt_nvtx_end(id, NULL);
}

static void mark_ascii(const char *message)
{
	const struct gt_nvtx_said said = say_text(message);

	gt_nvtx_mark(&said);
}

static void mark_wide(const wchar_t *message)
{
	struct room room;
	const struct gt_nvtx_said said = say_wide(message, &room);

	gt_nvtx_mark(&said);
}

static void mark_in_domain(void *domain, const struct nvtx_attributes *a)
{
	struct room room;
	const struct gt_nvtx_said said = say_attributes(domain, a, &room);

	gt_nvtx_mark(&said);
}

static void mark_attributes(const struct nvtx_attributes *a)
{
	mark_in_domain(NULL, a);
}

/* Names */

static const char *kept(const struct gt_range_text *text)
{
	return text ? text->text : NULL;
}

static void *create_domain(const char *name)
{
	return gt_nvtx_domain_create(name);
}

static void *create_domain_wide(const wchar_t *name)
{
	return gt_nvtx_domain_create(kept(gt_nvtx_keep_wide(name)));
}

static void destroy_domain(void *domain)
{
	(void)domain; /* the domain is kept, because ranges may be open in it */
}

static void name_category_in(void *domain, uint32_t category, const char *name)
{
	gt_nvtx_category_name(gt_nvtx_domain_of(domain), category, name);
}

static void name_category_in_wide(void *domain, uint32_t category, const wchar_t *name)
{
	name_category_in(domain, category, kept(gt_nvtx_keep_wide(name)));
}

static void name_category(uint32_t category, const char *name)
{
	name_category_in(NULL, category, name);
}

static void name_category_wide(uint32_t category, const wchar_t *name)
{
	name_category_in_wide(NULL, category, name);
}

static const void *register_ascii(void *domain, const char *text)
{
	(void)domain;
	return gt_nvtx_keep(text);
}

static const void *register_wide(void *domain, const wchar_t *text)
{
	(void)domain;
	return gt_nvtx_keep_wide(text);
}

static void *create_resource(void *domain, const struct nvtx_resource_attributes *a)
{
	struct room room;
	struct gt_nvtx_out o = {room.message, room.message + sizeof room.message - 1};

	(void)domain;
	if (!a || !HAS(a, message))
		return NULL;
	return (void *)(uintptr_t)gt_nvtx_name_resource(a, gt_nvtx_message(a->message_type,
									   a->message, &o));
}

static void destroy_resource(void *resource)
{
	(void)resource;
}

static void initialize(const void *reserved)
{
	(void)reserved; /* this call has caused gputap to be loaded */
}

static void name_thread_wide(uint32_t tid, const wchar_t *name)
{
	gt_nvtx_name_thread(tid, kept(gt_nvtx_keep_wide(name)));
}

static void name_device_wide(int device, const wchar_t *name)
{
	gt_nvtx_name_device(device, kept(gt_nvtx_keep_wide(name)));
}

static void name_context_wide(uint64_t context, const wchar_t *name)
{
	gt_nvtx_name_context(context, kept(gt_nvtx_keep_wide(name)));
}

static void name_stream_wide(uint64_t stream, const wchar_t *name)
{
	gt_nvtx_name_stream(stream, kept(gt_nvtx_keep_wide(name)));
}

static void name_event_wide(uint64_t event, const wchar_t *name)
{
	gt_nvtx_name_event(event, kept(gt_nvtx_keep_wide(name)));
}

/* Locks */

static void *create_sync(void *domain, const struct nvtx_sync_attributes *a)
{
	struct room room;
	struct gt_nvtx_out o = {room.message, room.message + sizeof room.message - 1};

	return (void *)(uintptr_t)gt_nvtx_sync_create(
		a && HAS(a, message) ? gt_nvtx_message(a->message_type, a->message, &o) : NULL,
		gt_nvtx_domain_of(domain));
}

#define SYNC(function, name)                                                                       \
	static void function(void *handle)                                                         \
	{                                                                                          \
		gt_nvtx_count_sync(GT_NVTX_nvtxDomainSyncUser##name, (uint64_t)(uintptr_t)handle); \
	}
SYNC(destroy_sync, Destroy)
SYNC(begin_acquire, AcquireStart)
SYNC(fail_acquire, AcquireFailed)
SYNC(end_acquire, AcquireSuccess)
SYNC(release_sync, Releasing)

/* The payload extension */

static uint64_t register_schema(void *domain, const struct nvtx_schema_attributes *a)
{
	return gt_nvtx_schema_add(gt_nvtx_domain_of(domain), a);
}

static uint64_t register_enum(void *domain, const struct nvtx_enum_attributes *a)
{
	return gt_nvtx_enum_add(gt_nvtx_domain_of(domain), a);
}

static void mark_payload(void *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct room room;
	const struct gt_nvtx_said said = say_payloads(domain, payloads, count, &room);

	gt_nvtx_mark(&said);
}

static int push_payload(void *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct room room;
	const struct gt_nvtx_said said = say_payloads(domain, payloads, count, &room);

	return gt_nvtx_push(&said);
}

/* End a range. The name of the payload's schema is not used as a message, because the range has a
 * message. */
static int pop_payload(void *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct room room;
	struct gt_nvtx_said said = say_payloads(domain, payloads, count, &room);

	said.message = NULL;
	return gt_nvtx_pop(said.domain, &said);
}

static uint64_t start_payload(void *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct room room;
	const struct gt_nvtx_said said = say_payloads(domain, payloads, count, &room);

	return gt_nvtx_start(&said);
}

static void end_with_payload(void *domain, uint64_t id, const struct nvtx_payload *payloads,
			     size_t count)
{
	struct room room;
	const struct gt_nvtx_said said = say_payloads(domain, payloads, count, &room);

	gt_nvtx_end(id, &said);
}

static uint8_t is_domain_enabled(void *domain)
{
	(void)domain;
	return 1;
}

/* Tables */

#define FUNCTION(f) ((nvtx_function)(uintptr_t)(f))

static const nvtx_function core[] = {
	[NVTX_CORE_MARK_EX] = FUNCTION(mark_attributes),
	[NVTX_CORE_MARK_A] = FUNCTION(mark_ascii),
	[NVTX_CORE_MARK_W] = FUNCTION(mark_wide),
	[NVTX_CORE_START_EX] = FUNCTION(start_attributes),
	[NVTX_CORE_START_A] = FUNCTION(start_ascii),
	[NVTX_CORE_START_W] = FUNCTION(start_wide),
	[NVTX_CORE_END] = FUNCTION(end_started),
	[NVTX_CORE_PUSH_EX] = FUNCTION(push_attributes),
	[NVTX_CORE_PUSH_A] = FUNCTION(push_ascii),
	[NVTX_CORE_PUSH_W] = FUNCTION(push_wide),
	[NVTX_CORE_POP] = FUNCTION(pop_range),
	[NVTX_CORE_CATEGORY_A] = FUNCTION(name_category),
	[NVTX_CORE_CATEGORY_W] = FUNCTION(name_category_wide),
	[NVTX_CORE_THREAD_A] = FUNCTION(gt_nvtx_name_thread),
	[NVTX_CORE_THREAD_W] = FUNCTION(name_thread_wide),
};

static const nvtx_function core2[] = {
	[NVTX_CORE2_MARK_EX] = FUNCTION(mark_in_domain),
	[NVTX_CORE2_START_EX] = FUNCTION(start_in_domain),
	[NVTX_CORE2_END] = FUNCTION(end_in_domain),
	[NVTX_CORE2_PUSH_EX] = FUNCTION(push_in_domain),
	[NVTX_CORE2_POP] = FUNCTION(pop_in_domain),
	[NVTX_CORE2_RESOURCE_CREATE] = FUNCTION(create_resource),
	[NVTX_CORE2_RESOURCE_DESTROY] = FUNCTION(destroy_resource),
	[NVTX_CORE2_CATEGORY_A] = FUNCTION(name_category_in),
	[NVTX_CORE2_CATEGORY_W] = FUNCTION(name_category_in_wide),
	[NVTX_CORE2_STRING_A] = FUNCTION(register_ascii),
	[NVTX_CORE2_STRING_W] = FUNCTION(register_wide),
	[NVTX_CORE2_DOMAIN_A] = FUNCTION(create_domain),
	[NVTX_CORE2_DOMAIN_W] = FUNCTION(create_domain_wide),
	[NVTX_CORE2_DOMAIN_DESTROY] = FUNCTION(destroy_domain),
	[NVTX_CORE2_INITIALIZE] = FUNCTION(initialize),
};

static const nvtx_function cuda[] = {
	[NVTX_CUDA_DEVICE_A] = FUNCTION(gt_nvtx_name_device),
	[NVTX_CUDA_DEVICE_W] = FUNCTION(name_device_wide),
	[NVTX_CUDA_CONTEXT_A] = FUNCTION(gt_nvtx_name_context),
	[NVTX_CUDA_CONTEXT_W] = FUNCTION(name_context_wide),
	[NVTX_CUDA_STREAM_A] = FUNCTION(gt_nvtx_name_stream),
	[NVTX_CUDA_STREAM_W] = FUNCTION(name_stream_wide),
	[NVTX_CUDA_EVENT_A] = FUNCTION(gt_nvtx_name_event),
	[NVTX_CUDA_EVENT_W] = FUNCTION(name_event_wide),
};

static const nvtx_function cudart[] = {
	[NVTX_CUDART_DEVICE_A] = FUNCTION(gt_nvtx_name_device),
	[NVTX_CUDART_DEVICE_W] = FUNCTION(name_device_wide),
	[NVTX_CUDART_STREAM_A] = FUNCTION(gt_nvtx_name_stream),
	[NVTX_CUDART_STREAM_W] = FUNCTION(name_stream_wide),
	[NVTX_CUDART_EVENT_A] = FUNCTION(gt_nvtx_name_event),
	[NVTX_CUDART_EVENT_W] = FUNCTION(name_event_wide),
};

static const nvtx_function sync[] = {
	[NVTX_SYNC_CREATE] = FUNCTION(create_sync),
	[NVTX_SYNC_DESTROY] = FUNCTION(destroy_sync),
	[NVTX_SYNC_ACQUIRE] = FUNCTION(begin_acquire),
	[NVTX_SYNC_FAILED] = FUNCTION(fail_acquire),
	[NVTX_SYNC_ACQUIRED] = FUNCTION(end_acquire),
	[NVTX_SYNC_RELEASING] = FUNCTION(release_sync),
};

static const nvtx_function payload[] = {
	[NVTX_SLOT_SCHEMA] = FUNCTION(register_schema),
	[NVTX_SLOT_ENUM] = FUNCTION(register_enum),
	[NVTX_SLOT_MARK] = FUNCTION(mark_payload),
	[NVTX_SLOT_PUSH] = FUNCTION(push_payload),
	[NVTX_SLOT_POP] = FUNCTION(pop_payload),
	[NVTX_SLOT_START] = FUNCTION(start_payload),
	[NVTX_SLOT_END] = FUNCTION(end_with_payload),
	[NVTX_SLOT_IS_ENABLED] = FUNCTION(is_domain_enabled),
};

#define TABLE(list)                                 \
	{                                           \
		list, sizeof(list) / sizeof *(list) \
	}

const struct gt_nvtx_functions gt_nvtx_modules[GT_NVTX_MODULES] = {
	[NVTX_CORE] = TABLE(core),     [NVTX_CORE2] = TABLE(core2), [NVTX_CUDA] = TABLE(cuda),
	[NVTX_CUDART] = TABLE(cudart), [NVTX_SYNC] = TABLE(sync),
};

const struct gt_nvtx_functions gt_nvtx_payload_slots = TABLE(payload);
