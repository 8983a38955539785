/* SPDX-License-Identifier: MIT */
/* The runtimes' own tables of functions, when they are registered. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_INTERCEPT_TABLE_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_INTERCEPT_TABLE_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* gputap's own: tables of any library that calls gputap_table_offer(). Each name is a bit of
 * these, given when it comes first; rocprofiler_query_intercept_table_name() tells which. Not
 * among "all". */
#define ROCPROFILER_GPUTAP_OFFERED_TABLES 0x7fff0000

/**
 * typedef rocprofiler_intercept_library_cb_t - keep entries, put own functions in their place that
 * call them
 * @type:        one bit
 * @lib_version: 10000 * major + 100 * minor + patch
 * @tables:      @num_tables (1) of them; HSA's is an HsaApiTable
 * In the middle of the runtime's initialisation: it must not be called from here.
 */
typedef void (*rocprofiler_intercept_library_cb_t)(rocprofiler_intercept_table_t type,
						   uint64_t lib_version, uint64_t lib_instance,
						   void **tables, uint64_t num_tables,
						   void *user_data);

rocprofiler_status_t rocprofiler_query_intercept_table_name(rocprofiler_intercept_table_t kind,
							    const char **name,
							    uint64_t *name_len) ROCPROFILER_API;
/* @libs: bits of rocprofiler_intercept_table_t; 0: all. Before and during initialisation, then
 * CONFIGURATION_LOCKED. Who registers later stands in front. */
rocprofiler_status_t rocprofiler_at_intercept_table_registration(
	rocprofiler_intercept_library_cb_t callback, int libs, void *data) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
