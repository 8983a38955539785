/* SPDX-License-Identifier: MIT */
/* Attaches to Level Zero between the loader and a driver.
 *
 *   program ─► loader, its layers ─► tap ─► driver
 *
 * 1. The loader maps a driver. The audit library changes the addresses of the driver's exports
 *    zeGet..ProcAddrTable, so that the loader finds the functions below (level_zero_interposed.h).
 *    Each driver is an instance with separate taps.
 * 2. The loader calls these functions, each for one table. Each function lets the driver fill in a
 *    gputap table, which is empty and longer than any real table. The driver writes only as many
 *    entries as the loader's release knows, and only these entries are copied into the loader's
 *    table.
 * 3. Wanted entries become taps in the loader's table.
 *
 * This method works with every release of the loader, with a loader that is linked into the
 * program, together with the loader's own layers, and with several drivers. Handles are the
 * driver's own. Calls that the loader answers itself because it found no driver are not recorded.
 *
 * The driver may already have handed out its tables when gputap attaches to a running program, when
 * a tool enters one, or when a tool starts after a session has tapped only some functions. In these
 * cases, gputap searches for the copies of the tables (level_zero_tables.c). */
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/table.h"
#include "generated/level_zero_runtime_taps.h"
#include "generated/level_zero_sysman_taps.h"
#include "generated/level_zero_taps.h"
#include "generated/level_zero_tools_taps.h"
#include "record/operation.h"
#include "runtime/interposition.h"
#include "runtime/level_zero/level_zero_late.h"
#include "runtime/level_zero/level_zero_objects.h"
#include "runtime/level_zero/level_zero_tables.h"
#include "runtime/level_zero/level_zero_untapped.h"
#include "runtime/mapped.h"
#include "tool/tool_load.h"

enum {
#define X(function, exported) GT_LEVEL_ZERO_PARTS_INDEX_##function,
#include "runtime/level_zero/level_zero_parts.inc"
#undef X
	GT_LEVEL_ZERO_PARTS_INDEX_COUNT
};

#define HIDDEN_FUNCTION __attribute__((visibility("hidden"), used))

/* Not static, because the assembler uses the address. */
extern struct gt_tap gt_level_zero_parts_taps[GT_INSTANCES][GT_LEVEL_ZERO_PARTS_INDEX_COUNT];
HIDDEN_FUNCTION struct gt_tap gt_level_zero_parts_taps[GT_INSTANCES]
						      [GT_LEVEL_ZERO_PARTS_INDEX_COUNT];

#define GT_ATTACH         level_zero_parts
#define GT_ATTACH_UP      LEVEL_ZERO_PARTS
#define GT_ATTACH_EXPORTS "runtime/level_zero/level_zero_parts.inc"
#include "runtime/attach_object.inc"

typedef int get_table_fn(uint32_t version, void **out);

/* One bit for each instance for which unwanted entries were handed out unchanged. */
static _Atomic uint32_t partial;

/* Put taps into @filled, the driver's table. */
static void put_taps(unsigned instance, const struct gt_lz_part *p, void **filled)
{
	gt_lz_name_untapped(instance, gt_level_zero_parts_attach_states[instance].base, p, filled);
	gt_table_part(gt_lz_table(p->domain, instance), p->first, (uint32_t)(p->end - p->first),
		      filled, gt_lz_taps_all());
}

/* Replacement for a driver's zeGet..ProcAddrTable(). */
static int fill_part(unsigned instance, unsigned index, uint32_t version, void **out)
{
	get_table_fn *real = gt_level_zero_parts_taps[instance][index].real;
	const struct gt_lz_part *p = &gt_lz_parts[index];
	void *filled[GT_LZ_TABLE_MAX] = {NULL};
	int status;

	if (!out)
		return real(version, out);
	status = real(version, filled);
	if (!gt_lz_taps_all())
		atomic_fetch_or(&partial, 1u << instance);
	put_taps(instance, p, filled);
	for (unsigned i = 0; i < GT_LZ_TABLE_MAX; i++)
		if (filled[i])
			out[i] = filled[i];
	return status;
}

/* The functions that the loader calls: one function for each instance and table. */
/* clang-format off */
#define PART_TAP(n, function)                                                                \
	int gt_level_zero_parts_tap##n##_##function(uint32_t, void **);                      \
	HIDDEN_FUNCTION                                                                      \
	int gt_level_zero_parts_tap##n##_##function(uint32_t version, void **out)            \
	{                                                                                    \
		return fill_part(n, GT_LEVEL_ZERO_PARTS_INDEX_##function, version, out);     \
	}
#define X(function, exported)                                                                \
	PART_TAP(0, function) PART_TAP(1, function) PART_TAP(2, function) PART_TAP(3, function) \
	PART_TAP(4, function) PART_TAP(5, function) PART_TAP(6, function) PART_TAP(7, function)
#include "runtime/level_zero/level_zero_parts.inc"
#undef X
/* clang-format on */
_Static_assert(GT_INSTANCES == 8, "one function above for each");

/* Attach to newly mapped drivers. The caller may hold the dynamic linker's lock, so this function
 * must not call dlopen() or dladdr(). */
__attribute__((visibility("hidden"), used)) void gt_level_zero_parts_attached(void)
{
	gt_attach_adopt_all(gt_level_zero_parts_attach_states, gt_level_zero_tables, GT_INSTANCES,
			    GT_DOMAIN_LEVEL_ZERO, "Level Zero driver's");
}

/* Drivers mapped before gputap -------------------------------------------------------- */

enum { VERSION_1 = 1 << 16, LATEST_MINOR = 31, DRIVERS = 8 };

/* Get the driver's functions by requesting its tables like a loader, in the latest version that the
 * driver knows. */
static void learn_functions(unsigned instance)
{
	uint32_t version = VERSION_1 + LATEST_MINOR;

	for (unsigned i = 0; i < GT_LZ_PARTS; i++) {
		get_table_fn *get = gt_level_zero_parts_taps[instance][i].real;
		void *filled[GT_LZ_TABLE_MAX] = {NULL};

		while (get && i == GT_LZ_PART_zeGetGlobalProcAddrTable && version > VERSION_1 &&
		       get(version, filled))
			version--;
		memset(filled, 0, sizeof filled);
		if (get && !get(version, filled))
			put_taps(instance, &gt_lz_parts[i], filled);
	}
}

/* Get the handles of the driver. Return their number. */
static uint32_t get_handles(unsigned instance, void *handles[DRIVERS])
{
	uint32_t count = DRIVERS;
	int (*get)(uint32_t *, void **) =
		gt_level_zero_tables[instance].taps[GT_LEVEL_ZERO_INDEX_zeDriverGet].real;

	if (!get || get(&count, handles))
		return 0;
	return count < DRIVERS ? count : DRIVERS;
}

/* Get the functions that the driver returns for a name. */
static void learn_named(unsigned instance)
{
	struct gt_table *table = &gt_level_zero_tables[instance];
	gt_level_zero_zeDriverGetExtensionFunctionAddress_fn *get =
		GT_LZ(table, zeDriverGetExtensionFunctionAddress);
	void *handles[DRIVERS] = {NULL}, *function;

	if (!get || !get_handles(instance, handles))
		return;
	for (uint32_t i = 0; i < table->operation_count; i++) {
		const struct gt_operation *op = &table->operations[i];

		function = NULL;
		if (op->table_offset == UINT32_MAX &&
		    !get(handles[0], gt_operation_text(op->op), &function) && function)
			gt_table_set(table, i, function);
	}
}

static void find_tables_of_handles(unsigned instance)
{
	void *handles[DRIVERS] = {NULL};
	uint32_t count = get_handles(instance, handles);

	for (uint32_t i = 0; i < count; i++)
		gt_lz_tables_of_handle(instance, handles[i]);
}

/* After gputap has attached or a tool has started, find the tables that were handed out earlier
 * without taps, or with taps for some functions only. */
static void find_tables(void)
{
	for (unsigned i = 0; gt_lz_taps_all() && i < GT_INSTANCES; i++) {
		struct gt_attach_state *state = &gt_level_zero_parts_attach_states[i];
		bool late = atomic_exchange(&state->late, 0);
		bool some = atomic_fetch_and(&partial, ~(1u << i)) >> i & 1;

		if (!(late || some) || atomic_load(&state->state) != GT_ATTACH_ARMED)
			continue;
		if (late) {
			gt_lz_come_late();
			learn_functions(i);
			learn_named(i);
		}
		if (gt_lz_tables_find(i, state->base) < 0) {
			gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_LEVEL_ZERO,
				       0, state->path);
			atomic_store(&state->late, gt_is_late()); /* for the next session */
		}
		find_tables_of_handles(i);
	}
}

__attribute__((constructor)) static void start_level_zero_attach(void)
{
	gt_attach_begin(gt_level_zero_parts_attached);
	gt_mapped_follow(find_tables);
}

GT_PROVIDE(gt_late) = {.name = "level_zero", .attach = find_tables, .finish = gt_lz_harvest_all};
