/* SPDX-License-Identifier: MIT */
/* Records calls of the CUDA runtime API. The runtime is usually a copy inside the program or inside
 * a library from NVIDIA, and such a copy cannot be interposed. CUPTI calls back before and after
 * each call, in every copy:
 *
 *   program ─► cudaMalloc() ─► CUPTI ─► ENTER ─► gt_announced_begin()
 *                   └─► cuMemAlloc_v2(): its tap records a child of the call
 *                             CUPTI ─► EXIT ──► gt_announced_end(): status, arguments
 *
 * A callback's id is the operation's number. The arguments are adjacent members of a struct, which
 * is a local variable of the runtime's function. The struct's address is used as the call's
 * position in the stack. The callback's own frame cannot be used, because the callback has returned
 * when the call continues. A function without arguments may have no such struct. In that case the
 * position is the address of the status, or of the word that CUPTI reserves for its user.
 *
 * Not recorded: the call in which the runtime initialises the driver, because that call opens
 * CUPTI. */
#include "runtime/cuda/cuda_runtime_calls.h"

#include "core/table.h"
#include "generated/cuda_runtime_taps.h"
#include "runtime/announced.h"
#include "runtime/cuda/cuda_parts.h"

enum { NUMBERS = 1024 };

static struct gt_table *const table = &gt_cuda_runtime_tables[0];

/* Tables indexed by operation number: the index of the operation + 1, or 0 if unknown; and true if
 * CUPTI's callback is enabled. */
static uint16_t places[NUMBERS];
static _Atomic uint8_t enabled[NUMBERS];
static _Atomic uint32_t is_known; /* true once the table is registered with the contexts */

void gt_cuda_runtime_begin(void)
{
	for (uint32_t i = 0; i < table->operation_count; i++)
		places[GT_OP_NUMBER(table->operations[i].op)] = (uint16_t)(i + 1);
}

static void make_known(void)
{
	if (atomic_exchange_explicit(&is_known, 1, memory_order_acq_rel))
		return;
	gt_announced_init(GT_DOMAIN_CUDA_RUNTIME);
	gt_table_adopt(table);
}

bool gt_cuda_runtime_wanted(void)
{
	make_known();
	for (uint32_t i = 0; i < table->operation_count; i++)
		if (gt_announced_is_wanted(table, i))
			return true;
	return false;
}

bool gt_cuda_runtime_needs(uint32_t id)
{
	return id < NUMBERS && places[id] && gt_announced_is_wanted(table, places[id] - 1u);
}

void gt_cuda_runtime_enable(bool (*enable)(uint32_t id, bool on), bool again)
{
	make_known();
	for (uint32_t i = 0; i < table->operation_count; i++) {
		const uint32_t number = GT_OP_NUMBER(table->operations[i].op);
		const bool on = gt_announced_is_wanted(table, i);
		const bool was =
			atomic_exchange_explicit(&enabled[number], on, memory_order_relaxed);

		if (on != was || (on && again))
			enable(number, on);
	}
}

void gt_cuda_runtime_callback(uint32_t id, const void *data)
{
	const struct cupti_callback *c = data;
	const uint32_t place = id < NUMBERS ? places[id] : 0;
	int32_t status = 0;

	if (!place)
		return;
	const struct gt_announcement a = {.table = table,
					  .index = place - 1,
					  .arguments = c->parameters,
					  .key = c->correlation,
					  .at = gt_cuda_find_place(c),
					  .name = c->symbol};

	if (c->site == CUPTI_ENTER) {
		gt_announced_begin(&a);
		return;
	}
	if (c->return_value)
		memcpy(&status, c->return_value, sizeof status);
	gt_announced_end(&a, status);
}
