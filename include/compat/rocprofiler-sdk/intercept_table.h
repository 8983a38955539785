/* SPDX-License-Identifier: MIT */
/* The function tables of runtimes, available when a runtime registers them. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_INTERCEPT_TABLE_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_INTERCEPT_TABLE_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* An extension of gputap: mask of the tables that libraries pass to gputap_table_offer(). A table
 * name gets one of these bits when it is first offered. rocprofiler_query_intercept_table_name()
 * returns the name for a bit. A request for all tables does not include offered tables. */
#define ROCPROFILER_GPUTAP_OFFERED_TABLES 0x7fff0000

/**
 * typedef rocprofiler_intercept_library_cb_t - save entries of a table, and replace them by
 * functions that call the saved entries
 * @type:        one bit
 * @lib_version: 10000 * major + 100 * minor + patch
 * @tables:      array of @num_tables (1) tables; HSA's table is an HsaApiTable
 * Called while the runtime is initialising: do not call the runtime from this callback.
 */
typedef void (*rocprofiler_intercept_library_cb_t)(rocprofiler_intercept_table_t type,
						   uint64_t lib_version, uint64_t lib_instance,
						   void **tables, uint64_t num_tables,
						   void *user_data);

rocprofiler_status_t rocprofiler_query_intercept_table_name(rocprofiler_intercept_table_t kind,
							    const char **name,
							    uint64_t *name_len) ROCPROFILER_API;
/* Call @callback when a runtime registers its table. The last subscriber is outermost. @libs: bits
 * of rocprofiler_intercept_table_t; 0: all tables. Return: CONFIGURATION_LOCKED after
 * initialisation. */
rocprofiler_status_t rocprofiler_at_intercept_table_registration(
	rocprofiler_intercept_library_cb_t callback, int libs, void *data) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
