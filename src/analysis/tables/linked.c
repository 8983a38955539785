/* SPDX-License-Identifier: MIT */
/* See linked.h. */
#include "analysis/tables/linked.h"

#include <stdlib.h>

static uint32_t page_of(struct linked *l, uint32_t process, uint64_t id, unsigned which)
{
	uint64_t first = id - id % LINKED_PAGE_IDS, hash = lookup_mix(first + lookup_mix(process));
	uint32_t i = l->last[which] - 1;

	if (l->last[which] && l->pages[i].first_id == first && l->pages[i].process == process)
		return i;
	for (; (i = idmap_get(&l->by_hash, hash)) != LOOKUP_NONE; hash++)
		if (l->pages[i].first_id == first && l->pages[i].process == process)
			break;
	if (i == LOOKUP_NONE) {
		GROW_LIST(l->pages, l->count, l->room);
		i = l->count++;
		l->pages[i] = (struct linked_page){.first_id = first, .process = process};
		idmap_put(&l->by_hash, hash, i);
	}
	l->last[which] = i + 1;
	return i;
}

void linked_call(struct linked *l, uint32_t process, uint64_t id)
{
	uint32_t page = page_of(l, process, id, 0), n = id % LINKED_PAGE_IDS, more;
	uint64_t bit = UINT64_C(1) << n % 64, *activity = &l->pages[page].activity[n / 64];
	uint64_t key = (uint64_t)page * LINKED_PAGE_IDS + n, waited;

	l->pages[page].calls[n / 64] |= bit;
	if (!(*activity & bit))
		return;
	*activity &= ~bit;
	more = idmap_get(&l->more, key);
	waited = 1 + (more == LOOKUP_NONE ? 0 : (uint64_t)more);
	l->activity += waited;
	l->lost -= waited;
}

void linked_activity(struct linked *l, uint32_t process, uint64_t id)
{
	uint32_t page, n = id % LINKED_PAGE_IDS, more;
	uint64_t bit = UINT64_C(1) << n % 64, key;

	if (!id)
		return;
	page = page_of(l, process, id, 1);
	if (l->pages[page].calls[n / 64] & bit) {
		l->activity++;
		return;
	}
	l->lost++;
	if (l->pages[page].activity[n / 64] & bit) {
		key = (uint64_t)page * LINKED_PAGE_IDS + n;
		more = idmap_get(&l->more, key);
		idmap_put(&l->more, key, more == LOOKUP_NONE ? 1 : more + 1);
	}
	l->pages[page].activity[n / 64] |= bit;
}

void linked_fini(struct linked *l)
{
	free(l->pages);
	idmap_fini(&l->by_hash);
	idmap_fini(&l->more);
	*l = (struct linked){0};
}
