/* SPDX-License-Identifier: MIT */
/* Ranges that programs push and pop, or start and end, and marks, by NVTX 3: torch.cuda.nvtx,
 * emit_nvtx() of autograd.profiler.
 *
 * A program has all of NVTX inside, as pointers to functions that do nothing. At its first call it
 * opens the library that NVTX_INJECTION64_PATH names, and calls InitializeInjectionNvtx2() of it,
 * which puts functions of its own there. `gputap run` names libgputap.so, unless the user has named
 * another one. Programs with an NVTX 2 (libnvToolsExt.so.1) do the same.
 *
 * Domains, categories, colours and payloads are not recorded. */
#include <stddef.h>
#include <stdint.h>

#include <wchar.h>

#include "gputap/gputap.h"
#include "runtime/torch/range_texts.h"
#include "runtime/torch/torch_ranges.h"

#define EXPORT __attribute__((visibility("default")))

/* NVTX's own numbers and layouts. */
enum { EXPORT_TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum {
	CORE_MARK_EX = 1,
	CORE_MARK_A,
	CORE_MARK_W,
	CORE_START_EX,
	CORE_START_A,
	CORE_START_W,
	CORE_END,
	CORE_PUSH_EX,
	CORE_PUSH_A,
	CORE_PUSH_W,
	CORE_POP
};
enum {
	CORE2_MARK_EX = 1,
	CORE2_START_EX,
	CORE2_END,
	CORE2_PUSH_EX,
	CORE2_POP,
	CORE2_REGISTER_STRING_A = 10,
	CORE2_REGISTER_STRING_W
};
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

typedef void (*nvtx_function)(void);

struct nvtx_callbacks {
	size_t struct_size;
	int (*get_module_table)(int module, nvtx_function ***table, unsigned *size);
};

EXPORT int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t number));

static const uint64_t KEY = UINT64_C(1) << 57; /* as in itt_ranges.c */
static _Thread_local int depth __attribute__((tls_model("initial-exec")));

/* UTF-8, cut at some 1 KiB. */
static const struct gt_range_text *wide_text(const wchar_t *message)
{
	char text[1024], *p = text;

	for (; message && *message && p < text + sizeof text - 5; message++) {
		const uint32_t c = (uint32_t)*message;

		if (c < 0x80) {
			*p++ = (char)c;
		} else if (c < 0x800) {
			*p++ = (char)(0xc0 | c >> 6);
			*p++ = (char)(0x80 | (c & 63));
		} else if (c < 0x10000) {
			*p++ = (char)(0xe0 | c >> 12);
			*p++ = (char)(0x80 | (c >> 6 & 63));
			*p++ = (char)(0x80 | (c & 63));
		} else {
			*p++ = (char)(0xf0 | (c >> 18 & 7));
			*p++ = (char)(0x80 | (c >> 12 & 63));
			*p++ = (char)(0x80 | (c >> 6 & 63));
			*p++ = (char)(0x80 | (c & 63));
		}
	}
	*p = '\0';
	return message ? gt_range_text(text) : NULL;
}

static const struct gt_range_text *ascii_text(const char *message)
{
	return message ? gt_range_text(message) : NULL;
}

static const struct gt_range_text *text_of(const struct nvtx_attributes *a)
{
	const void *message =
		a && a->size >= offsetof(struct nvtx_attributes, message) + sizeof a->message
			? a->message
			: NULL;

	switch (message ? a->message_type : 0) {
	case MESSAGE_ASCII: return ascii_text(message);
	case MESSAGE_WIDE: return wide_text(message);
	case MESSAGE_REGISTERED: return message;
	default: return NULL;
	}
}

static const char *get_text(const struct gt_range_text *text)
{
	return text ? text->text : "(no name)";
}

/* Return: how many were open before, as NVTX has it. */
static int push_text(const struct gt_range_text *text)
{
	gputap_range_begin(GPUTAP_RANGE_USER, get_text(text), KEY + (uint64_t)depth, -1, NULL, 0);
	return depth++;
}

static int push_ascii(const char *message)
{
	return push_text(ascii_text(message));
}

static int push_wide(const wchar_t *message)
{
	return push_text(wide_text(message));
}

static int push_attributes(const struct nvtx_attributes *a)
{
	return push_text(text_of(a));
}

static int pop_range(void)
{
	if (!depth)
		return -1;
	gputap_range_end(KEY + (uint64_t)--depth);
	return depth;
}

static int push_in_domain(void *domain, const struct nvtx_attributes *a)
{
	(void)domain;
	return push_attributes(a);
}

static int pop_in_domain(void *domain)
{
	(void)domain;
	return pop_range();
}

static uint64_t start_ascii(const char *message)
{
	return gt_range_start(get_text(ascii_text(message)));
}

static uint64_t start_wide(const wchar_t *message)
{
	return gt_range_start(get_text(wide_text(message)));
}

static uint64_t start_attributes(const struct nvtx_attributes *a)
{
	return gt_range_start(get_text(text_of(a)));
}

static uint64_t start_in_domain(void *domain, const struct nvtx_attributes *a)
{
	(void)domain;
	return start_attributes(a);
}

static void end_in_domain(void *domain, uint64_t id)
{
	(void)domain;
	gt_range_stop(id);
}

static void mark_ascii(const char *message)
{
	gt_range_mark(get_text(ascii_text(message)));
}

static void mark_wide(const wchar_t *message)
{
	gt_range_mark(get_text(wide_text(message)));
}

static void mark_attributes(const struct nvtx_attributes *a)
{
	gt_range_mark(get_text(text_of(a)));
}

static void mark_in_domain(void *domain, const struct nvtx_attributes *a)
{
	(void)domain;
	mark_attributes(a);
}

static const struct gt_range_text *register_ascii(void *domain, const char *text)
{
	(void)domain;
	return ascii_text(text);
}

static const struct gt_range_text *register_wide(void *domain, const wchar_t *text)
{
	(void)domain;
	return wide_text(text);
}

static void set_function(nvtx_function **table, unsigned size, unsigned number, nvtx_function ours)
{
	if (ours && number < size && table[number])
		*table[number] = ours;
}

#define FUNCTION(f) ((nvtx_function)(uintptr_t)(f))
static const nvtx_function core[] = {
	[CORE_MARK_EX] = FUNCTION(mark_attributes), [CORE_MARK_A] = FUNCTION(mark_ascii),
	[CORE_MARK_W] = FUNCTION(mark_wide),        [CORE_START_EX] = FUNCTION(start_attributes),
	[CORE_START_A] = FUNCTION(start_ascii),     [CORE_START_W] = FUNCTION(start_wide),
	[CORE_END] = FUNCTION(gt_range_stop),       [CORE_PUSH_EX] = FUNCTION(push_attributes),
	[CORE_PUSH_A] = FUNCTION(push_ascii),       [CORE_PUSH_W] = FUNCTION(push_wide),
	[CORE_POP] = FUNCTION(pop_range),
};
static const nvtx_function core2[] = {
	[CORE2_MARK_EX] = FUNCTION(mark_in_domain),
	[CORE2_START_EX] = FUNCTION(start_in_domain),
	[CORE2_END] = FUNCTION(end_in_domain),
	[CORE2_PUSH_EX] = FUNCTION(push_in_domain),
	[CORE2_POP] = FUNCTION(pop_in_domain),
	[CORE2_REGISTER_STRING_A] = FUNCTION(register_ascii),
	[CORE2_REGISTER_STRING_W] = FUNCTION(register_wide),
};

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t number))
{
	const struct nvtx_callbacks *c =
		get_export_table ? get_export_table(EXPORT_TABLE_CALLBACKS) : NULL;
	nvtx_function **table;
	unsigned size;

	if (!c || c->struct_size < sizeof *c || gputap_range_source(NULL, 0))
		return 0;
	if (c->get_module_table(MODULE_CORE, &table, &size))
		for (unsigned i = 0; i < sizeof core / sizeof *core; i++)
			set_function(table, size, i, core[i]);
	if (c->get_module_table(MODULE_CORE2, &table, &size))
		for (unsigned i = 0; i < sizeof core2 / sizeof *core2; i++)
			set_function(table, size, i, core2[i]);
	return 1;
}
