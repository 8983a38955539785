/* SPDX-License-Identifier: MIT */
/* Records a driver's library, and keeps it and the loader that the program uses mapped. */
#include "runtime/opencl/opencl_attach.h"

#include <errno.h>

#include "runtime/module.h"
#include "generated/opencl_taps.h"

void gt_opencl_used(const struct gt_table *table, const void *object)
{
	const void *const *const *functions = object;
	const void *function = NULL;
	int saved = errno;

	if (functions && *functions)
		function = gt_opencl_tables_function(object, GT_OPENCL_clFinish);
	if (functions && *functions && !function)
		function = (*functions)[GT_OPENCL_clFinish];
	if (!function)
		return;
	gt_runtime_module_of(GT_DOMAIN_OPENCL, function, "driver", 0);
	gt_opencl_keep_mapped(function);
	gt_opencl_keep_mapped(table->taps[GT_OPENCL_INDEX_clFinish].real);
	errno = saved;
}
