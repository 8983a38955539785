/* SPDX-License-Identifier: MIT */
/* Handles driver properties that would make the loader's calls bypass the taps: functions that the
 * driver looks up for callers, and handles that contain tables. */
#include <string.h>

#include "core/table.h"
#include "generated/level_zero_taps.h"
#include "generated/level_zero_wraps.h"
#include "runtime/level_zero/level_zero_abi.h"
#include "runtime/level_zero/level_zero_tables.h"
#include "runtime/level_zero/level_zero_untapped.h"

#define REAL(call, name) ((gt_level_zero_##name##_fn *)(call)->tap->real)

int gt_level_zero_wrap_zeDriverGetProperties(const struct gt_call *call, void *driver,
					     void *properties)
{
	int status = REAL(call, zeDriverGetProperties)(driver, properties);
	struct lz_chained *at = status ? NULL : properties;

	for (; at; at = at->next) {
		struct lz_driver_ddi_handles_properties *p = (void *)at;

		/* With this flag the loader calls functions through the handles instead of its
		 * table. If the handles' tables have no taps, the flag is cleared. With several
		 * drivers, zeDriverGetDefaultContext() then gives the loader a handle that the
		 * loader does not know */
		if (at->type == LZ_DRIVER_DDI_HANDLES_PROPERTIES &&
		    p->flags & LZ_DRIVER_DDI_HANDLES &&
		    !gt_lz_tables_of_handle(call->table->instance, driver))
			p->flags &= ~(uint32_t)LZ_DRIVER_DDI_HANDLES;
	}
	return status;
}

int gt_level_zero_wrap_zeDriverGetExtensionFunctionAddress(const struct gt_call *call, void *driver,
							   const char *name, void **function)
{
	int status = REAL(call, zeDriverGetExtensionFunctionAddress)(driver, name, function);
	struct gt_table *tables[GT_INSTANCES];
	bool unknown = false;

	if (status || !function || !*function || !name)
		return status;
	for (unsigned i = 0; i < GT_INSTANCES; i++)
		tables[i] = &gt_level_zero_tables[i];
	*function = gt_table_extension(tables, GT_INSTANCES, name, *function, &unknown);
	if (unknown)
		gt_lz_name_function(name);
	return status;
}
