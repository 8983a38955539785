/* SPDX-License-Identifier: MIT */
/* Attaching to the tables of a copy of HSA's runtime, however they were found. */
#ifndef GPUTAP_RUNTIME_HSA_ATTACH_H
#define GPUTAP_RUNTIME_HSA_ATTACH_H

#include "runtime/hsa/hsa_runtime.h"

/* Interception method for a runtime that has been initialised without gputap. */
#define GT_HSA_IN_PLACE "tables in place"

/* Attach the tables of a copy of the runtime, which may be in use. @way: interception method, for
 * the module's record; @version: of the runtime, as 10000 * major + 100 * minor + patch; 0: not
 * known. Return 0, also if the tables are already attached; -EINVAL: there is no table of AMD's
 * extensions; -ENOSPC: too many copies, which is reported in an event. */
int gt_hsa_attach_tables(struct gt_hsa_tables *tables, const char *way, uint64_t version);

#endif
