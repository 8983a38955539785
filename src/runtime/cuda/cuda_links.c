/* SPDX-License-Identifier: MIT */
/* Links CUPTI's correlation ids to calls.
 *
 *   links[id % GT_CUDA_LINKS]   {id, call, start, number of records}
 *   kept[hash]                  links still needed when the table wraps around
 *
 * Both are mapped when CUPTI is opened, 20 MB, and touched page by page.
 *
 * Writer: the launching thread at ENTER, the only thread with that id (cuda_activity.c). The writer
 * clears `correlation`, stores the other fields, and stores `correlation` (release). Reader: the
 * helper, which checks `correlation` before and after it copies the link. Whenever half of the
 * table's ids have been used, the helper copies the links still needed out of the older half,
 * because a kernel may run for minutes. */
#include <string.h>

#include "runtime/cuda/cuda_parts.h"
#include "util/zeroed.h"

enum { KEPT = 1 << 18, PROBES = 64 };

struct gt_cuda_link *gt_cuda_links;
_Atomic uint32_t gt_cuda_links_newest;

struct progress {
	uint32_t correlation, records; /* number of records received so far */
};

struct kept {
	struct gt_cuda_link link;
	uint32_t records;
};

static struct tables {
	struct gt_cuda_link links[GT_CUDA_LINKS];
	/* used only in the helper */
	struct progress progress[GT_CUDA_LINKS];
	struct kept kept[KEPT];
} * tables;
static uint32_t newest, swept;
static bool keeps_any;

bool gt_cuda_links_begin(void)
{
	if (!tables)
		tables = gt_zeroed_map(sizeof *tables);
	gt_cuda_links = tables ? tables->links : NULL;
	return tables != NULL;
}

/* Copy a link. Return false if the slot belongs to another id or is being overwritten for another
 * id. */
static bool copy_link(uint32_t correlation, struct gt_cuda_link *link)
{
	const struct gt_cuda_link *l = &gt_cuda_links[correlation % GT_CUDA_LINKS];

	if (atomic_load_explicit(&l->correlation, memory_order_acquire) != correlation)
		return false;
	*link = *l;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&l->correlation, memory_order_relaxed) == correlation;
}

static struct kept *find_kept(uint32_t correlation)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct kept *k = &tables->kept[(correlation + i) % KEPT];

		if (atomic_load_explicit(&k->link.correlation, memory_order_relaxed) == correlation)
			return k;
	}
	return NULL;
}

/* Return the number of records that were counted as seen at the launch. */
static uint32_t counted_of(const struct gt_cuda_link *link)
{
	return link->flags & GT_CUDA_COUNTED ? link->records : 0;
}

bool gt_cuda_link_find(uint32_t correlation, struct gt_cuda_link *link, bool *more)
{
	struct progress *p;
	struct kept *k;

	/* CUPTI reports no call for the record; in links[], 0 marks slots without a link */
	if (!correlation || !tables)
		return false;
	p = &tables->progress[correlation % GT_CUDA_LINKS];
	if (copy_link(correlation, link)) {
		if ((int32_t)(correlation - newest) > 0)
			newest = correlation;
		if (p->correlation != correlation)
			*p = (struct progress){.correlation = correlation};
		*more = p->records++ >= counted_of(link);
		return true;
	}
	k = find_kept(correlation);
	if (!k)
		return false;
	*link = k->link;
	*more = k->records++ >= counted_of(link);
	if (k->records >= link->records && !(link->flags & GT_CUDA_GRAPH))
		atomic_store_explicit(&k->link.correlation, 0, memory_order_relaxed);
	return true;
}

static void keep_link(const struct gt_cuda_link *link, uint32_t records)
{
	struct kept *oldest = &tables->kept[link->correlation % KEPT];

	for (uint32_t i = 0; i < PROBES; i++) {
		struct kept *k = &tables->kept[(link->correlation + i) % KEPT];

		if (!k->link.correlation) {
			oldest = k;
			break;
		}
		if ((int32_t)(k->link.correlation - oldest->link.correlation) < 0)
			oldest = k;
	}
	oldest->link = *link;
	oldest->records = records;
	keeps_any = true;
}

void gt_cuda_links_keep(void)
{
	uint32_t launched = atomic_load_explicit(&gt_cuda_links_newest, memory_order_relaxed);
	uint32_t until;

	if ((int32_t)(launched - newest) > 0)
		newest = launched;
	until = newest - GT_CUDA_LINKS / 4;
	if (newest < GT_CUDA_LINKS / 2 || (int32_t)(newest - swept) < GT_CUDA_LINKS / 2)
		return;
	if (until - swept > GT_CUDA_LINKS)
		swept = until - GT_CUDA_LINKS;
	for (; swept != until; swept++) {
		const struct progress *p = &tables->progress[swept % GT_CUDA_LINKS];
		uint32_t records = p->correlation == swept ? p->records : 0;
		struct gt_cuda_link link;

		if (copy_link(swept, &link) && link.flags & GT_CUDA_RECORDED &&
		    records < link.records)
			keep_link(&link, records);
	}
}

void gt_cuda_links_forget(void)
{
	if (!tables)
		return;
	/* otherwise, the records of a launch without a link would be assigned to an earlier launch
	 * with the same id */
	for (uint32_t i = 0; i < GT_CUDA_LINKS; i++)
		if (atomic_load_explicit(&gt_cuda_links[i].correlation, memory_order_relaxed))
			atomic_store_explicit(&gt_cuda_links[i].correlation, 0,
					      memory_order_relaxed);
	atomic_store_explicit(&gt_cuda_links_newest, 0, memory_order_relaxed);
	newest = 0;
	swept = 0;
	memset(tables->progress, 0, sizeof tables->progress);
	if (keeps_any)
		memset(tables->kept, 0, sizeof tables->kept);
	keeps_any = false;
}
