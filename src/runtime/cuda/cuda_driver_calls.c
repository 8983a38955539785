/* SPDX-License-Identifier: MIT */
/* Assigns CUPTI's callback ids to operations, and decides which callbacks are needed: see
 * cuda_driver_calls.h. Ids are assigned to names, because newer releases of CUPTI may use ids that
 * gputap has given to other functions. */
#include "runtime/cuda/cuda_driver_calls.h"

#include <string.h>

#include "core/emit.h"
#include "core/late.h"
#include "record/operation.h"
#include "runtime/announced.h"
#include "runtime/cuda/cuda_parts.h"

enum { IDS = CUPTI_CALLBACK_IDS };

/* Tables indexed by callback id: the index of the operation + 1; 0 if CUPTI has no such function or
 * gputap does not know it. CUPTI's name of an unknown function, NULL after it was reported. True
 * if CUPTI's callback is enabled. */
static uint16_t places[IDS];
static const char *_Atomic unknown[IDS];
static _Atomic uint8_t enabled[IDS];

static uint32_t find_place(uint32_t id, const char *name)
{
	const struct gt_table *table = gt_cuda_table();
	uint32_t found = 0;

	for (uint32_t i = 0; i < table->operation_count && !found; i++)
		if (GT_OP_NUMBER(table->operations[i].op) == id &&
		    strcmp(gt_operation_text(table->operations[i].op), name) == 0)
			found = i + 1;
	for (uint32_t i = 0; i < table->operation_count && !found; i++)
		if (strcmp(gt_operation_text(table->operations[i].op), name) == 0)
			found = i + 1;
	return found;
}

void gt_cuda_calls_begin(const struct gt_cupti_library *library)
{
	for (uint32_t id = 1; id < IDS; id++) {
		const char *name = NULL;

		if (library->cuptiGetCallbackName(CUPTI_DOMAIN_DRIVER, id, &name) || !name)
			continue;
		places[id] = (uint16_t)find_place(id, name);
		if (!places[id])
			atomic_store_explicit(&unknown[id], name, memory_order_relaxed);
	}
	gt_announced_init(GT_DOMAIN_CUDA_DRIVER);
}

static bool is_allowed(void)
{
	return gt_is_late() && gt_tap_options.follow_devices;
}

bool gt_cuda_calls_wanted(void)
{
	const struct gt_table *table = gt_cuda_table();

	for (uint32_t i = 0; is_allowed() && i < table->operation_count; i++)
		if (gt_announced_is_wanted(table, i))
			return true;
	return false;
}

bool gt_cuda_calls_need(uint32_t id)
{
	return id < IDS && is_allowed() && places[id] &&
	       gt_announced_is_wanted(gt_cuda_table(), places[id] - 1u);
}

void gt_cuda_calls_enable(bool (*enable)(uint32_t id, bool on), bool again)
{
	const bool any = gt_cuda_calls_wanted();

	for (uint32_t id = 1; id < IDS; id++) {
		const bool on =
			gt_cuda_calls_need(id) ||
			(any && atomic_load_explicit(&unknown[id], memory_order_relaxed) != NULL);
		const bool was = atomic_exchange_explicit(&enabled[id], on, memory_order_relaxed);

		if (on != was || (on && again))
			enable(id, on);
	}
}

/* Report a function that gputap does not know, once. */
static void report_unknown(uint32_t id)
{
	const char *name = atomic_exchange_explicit(&unknown[id], NULL, memory_order_relaxed);

	if (name)
		gt_event_write(gt_thread_own(), GT_EVENT_UNKNOWN_ENTRY, GT_DOMAIN_CUDA_DRIVER, 0,
			       name);
}

uint32_t gt_cuda_calls_find(uint32_t id)
{
	if (id >= IDS || !atomic_load_explicit(&enabled[id], memory_order_relaxed))
		return 0;
	if (gt_unlikely(!places[id]))
		report_unknown(id);
	return places[id];
}
