/* SPDX-License-Identifier: MIT */
/* OpenCL without a layer-capable loader: libgputap-audit.so has put our taps in the place of a library's exported
 * functions (runtime/audit/audit.c). This is libgputap.so's half: the table that it looks for (runtime/interposition.h), and taking
 * over what it has armed.
 *
 * Calls that the library makes to its own exported functions come through the taps too, and a library in front of a
 * layer-capable loader would be seen twice: so with an armed instance, calls within calls are the runtime's own
 * and not recorded. */
#include <stdbool.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/table.h"
#include "runtime/interposition.h"
#include "runtime/opencl/door.h"
#include "runtime/opencl/taps.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

/* Named by the assembler below, hence not static. */
extern const struct gt_door_shape gt_opencl_door_shape;
extern const char gt_opencl_door_names[];
extern const uint16_t gt_opencl_door_indices[];
extern struct gt_door_state gt_opencl_door_states[GT_OPENCL_INSTANCES];
void gt_opencl_door_opened(void);

HIDDEN const char gt_opencl_door_names[] =
#define X(name) #name "\0"
#include "generated/opencl_exports.inc"
#undef X
	;

HIDDEN const uint16_t gt_opencl_door_indices[] = {
#define X(name) GT_OPENCL_INDEX_##name,
#include "generated/opencl_exports.inc"
#undef X
};

HIDDEN const struct gt_door_shape gt_opencl_door_shape = {
	sizeof gt_opencl_door_indices / sizeof *gt_opencl_door_indices, GT_OPENCL_INSTANCES, GT_OPENCL_INDEX_COUNT,
	sizeof(struct gt_tap)};

HIDDEN struct gt_door_state gt_opencl_door_states[GT_OPENCL_INSTANCES];

/* Differences of addresses, which C cannot have as constants. */
__asm__(
	".section .rodata.gputap_door, \"a\"\n"
	".balign 8\n"
	".globl gputap_door_opencl\n"
	".type gputap_door_opencl, @object\n"
	"gputap_door_opencl:\n"
	"	.quad 0x3130524f4f445447\n"
	"	.long gt_opencl_door_shape - gputap_door_opencl\n"
	"	.long gt_opencl_door_names - gputap_door_opencl\n"
	"	.long gt_opencl_door_indices - gputap_door_opencl\n"
	"	.long .Lfunctions - gputap_door_opencl\n"
	"	.long gt_opencl_taps - gputap_door_opencl\n"
	"	.long gt_opencl_door_states - gputap_door_opencl\n"
	"	.long gt_opencl_door_opened - gputap_door_opencl\n"
	"	.long 0\n"
	".size gputap_door_opencl, 40\n"
	".Lfunctions:\n"
#define X(name) "	.long gt_opencl_tap0_" #name " - gputap_door_opencl\n"
#include "generated/opencl_exports.inc"
#undef X
#define X(name) "	.long gt_opencl_tap1_" #name " - gputap_door_opencl\n"
#include "generated/opencl_exports.inc"
#undef X
#define X(name) "	.long gt_opencl_tap2_" #name " - gputap_door_opencl\n"
#include "generated/opencl_exports.inc"
#undef X
	".text\n");
_Static_assert(GT_OPENCL_INSTANCES == 3, "one list of functions above for each instance");
_Static_assert(sizeof(struct gt_door) == 40, "the assembler above lays it out");

static void adopt(uint32_t i)
{
	struct gt_door_state *s = &gt_opencl_door_states[i];

	if (atomic_load_explicit(&s->state, memory_order_acquire) != GT_DOOR_ARMED ||
	    atomic_exchange_explicit(&s->adopted, 1, memory_order_relaxed))
		return;
	gt_skip_nested = UINT32_MAX;
	gt_table_adopt(&gt_opencl_tables[i]);
	gt_opencl_module_named(s->path, s->base, "interposition");
}

/* With the dynamic linker's lock held: no dlopen(), no dladdr() here. */
HIDDEN void gt_opencl_door_opened(void)
{
	for (uint32_t i = 0; i < GT_OPENCL_INSTANCES; i++)
		adopt(i);
	if (atomic_exchange_explicit(&gt_opencl_door_states[0].missed, 0, memory_order_relaxed))
		gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_OPENCL, 0,
			       "a copy of the OpenCL library: there are more than can be told apart");
}

bool gt_opencl_door_take(uint32_t instance)
{
	uint32_t free = GT_DOOR_FREE;

	return atomic_compare_exchange_strong(&gt_opencl_door_states[instance].state, &free, GT_DOOR_LAYER) ||
	       free == GT_DOOR_LAYER;
}

__attribute__((constructor)) static void begin(void)
{
	gt_recording_init();
	atomic_store_explicit(&gt_opencl_door_states[0].ready, 1, memory_order_relaxed);
	gt_opencl_door_opened();
}
