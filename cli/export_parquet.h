/* SPDX-License-Identifier: MIT */
/* Export to Parquet, which the Python package writes with pyarrow. */
#ifndef GPUTAP_CLI_EXPORT_PARQUET_H
#define GPUTAP_CLI_EXPORT_PARQUET_H

#include "cli/export.h"

/* Return true if the output is a folder of Parquet files. */
bool export_is_parquet(const struct export_request *request);
/* Export the captures: replaces this process by Python. Return the exit code if that fails; errors
 * are reported. */
int export_parquet(const struct export_request *request);

#endif
