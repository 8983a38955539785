/* SPDX-License-Identifier: MIT */
/* See dispatches.h. */
#include "analysis/tables/dispatches.h"

#include <stdlib.h>

#include "record/operation.h"

void dispatches_add(struct dispatches *d, const struct gt_item *item)
{
	enum gt_domain domain = GT_OP_DOMAIN(item->op);
	bool named = (unsigned)domain < GT_DOMAIN_COUNT && gt_domain_traits[domain].symbols;
	uint32_t symbol = named && item->device_op == GT_DEVICE_KERNEL
				  ? GT_KERNEL_SYMBOL(item->object[1])
				  : 0,
		 at;
	uint64_t key = (uint64_t)item->process << 32 | symbol;

	if (!symbol)
		return;
	at = idmap_get(&d->ids, key);
	if (at == LOOKUP_NONE) {
		GROW_LIST(d->counts, d->count, d->room);
		at = d->count++;
		idmap_put(&d->ids, key, at);
	}
	d->counts[at]++;
}

uint64_t dispatches_of(const struct dispatches *d, const struct gt_object_info *kernel)
{
	uint32_t at =
		idmap_get(&d->ids, (uint64_t)kernel->process << 32 | (uint32_t)kernel->number);

	return at == LOOKUP_NONE ? 0 : d->counts[at];
}

void dispatches_fini(struct dispatches *d)
{
	idmap_fini(&d->ids);
	free(d->counts);
	*d = (struct dispatches){0};
}
