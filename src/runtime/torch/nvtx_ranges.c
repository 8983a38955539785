/* SPDX-License-Identifier: MIT */
/* Ranges that programs push and pop by NVTX 3: torch.cuda.nvtx, emit_nvtx() of autograd.profiler.
 *
 * A program has all of NVTX inside, as pointers to functions that do nothing. At its first call it
 * opens the library that NVTX_INJECTION64_PATH names, and calls InitializeInjectionNvtx2() of it,
 * which puts functions of its own there. `gputap run` names libgputap.so, unless the user has named
 * another one. Programs with an NVTX 2 (libnvToolsExt.so.1) do the same.
 *
 * NEEDSWORK: marks, ranges that are started and ended, and texts of wchar_t are not recorded. */
#include <stddef.h>
#include <stdint.h>

#include "gputap/gputap.h"
#include "runtime/torch/range_texts.h"

#define EXPORT __attribute__((visibility("default")))

/* NVTX's own numbers and layouts. */
enum { EXPORT_TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { CORE_PUSH_EX = 8, CORE_PUSH_A = 9, CORE_POP = 11 };
enum { CORE2_PUSH_EX = 4, CORE2_POP = 5, CORE2_REGISTER_STRING_A = 10 };
enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };

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

/* Return: how many were open before, as NVTX has it. */
static int push_text(const struct gt_range_text *text)
{
	gputap_range_begin(GPUTAP_RANGE_USER, text ? text->text : "(no name)",
			   KEY + (uint64_t)depth, -1, NULL, 0);
	return depth++;
}

static int push_ascii(const char *message)
{
	return push_text(message ? gt_range_text(message) : NULL);
}

static int push_attributes(const struct nvtx_attributes *a)
{
	const void *message =
		a && a->size >= offsetof(struct nvtx_attributes, message) + sizeof a->message
			? a->message
			: NULL;

	if (message && a->message_type == MESSAGE_ASCII)
		return push_ascii(message);
	return push_text(message && a->message_type == MESSAGE_REGISTERED ? message : NULL);
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

static struct gt_range_text *register_string(void *domain, const char *text)
{
	(void)domain;
	return text ? gt_range_text(text) : NULL;
}

static void set(nvtx_function **table, unsigned size, unsigned number, nvtx_function ours)
{
	if (number < size && table[number])
		*table[number] = ours;
}

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t number))
{
	const struct nvtx_callbacks *c =
		get_export_table ? get_export_table(EXPORT_TABLE_CALLBACKS) : NULL;
	nvtx_function **table;
	unsigned size;

	if (!c || c->struct_size < sizeof *c || gputap_range_source(NULL, 0))
		return 0;
	if (c->get_module_table(MODULE_CORE, &table, &size)) {
		set(table, size, CORE_PUSH_EX, (nvtx_function)push_attributes);
		set(table, size, CORE_PUSH_A, (nvtx_function)push_ascii);
		set(table, size, CORE_POP, (nvtx_function)pop_range);
	}
	if (c->get_module_table(MODULE_CORE2, &table, &size)) {
		set(table, size, CORE2_PUSH_EX, (nvtx_function)push_in_domain);
		set(table, size, CORE2_POP, (nvtx_function)pop_in_domain);
		set(table, size, CORE2_REGISTER_STRING_A, (nvtx_function)register_string);
	}
	return 1;
}
