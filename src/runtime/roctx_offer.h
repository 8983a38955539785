/* SPDX-License-Identifier: MIT */
/* The symbol gputap_roctx of gputap's ROCTx libraries (src/compat/roctx). libgputap looks up the
 * symbol when it is attached to a running program. */
#ifndef GPUTAP_RUNTIME_ROCTX_OFFER_H
#define GPUTAP_RUNTIME_ROCTX_OFFER_H

#include <stdint.h>

/* rocprofiler_set_api_table() */
typedef int gt_set_api_table_fn(const char *name, uint64_t version, uint64_t instance,
				void **tables, uint64_t count);

struct gt_roctx_offer {
	char name[8]; /* "gputap". Up to version 0.1, the symbol ends here */
	/* pass the library's tables to @take, unless another library offers its own */
	void (*offer)(gt_set_api_table_fn *take);
};

#endif
