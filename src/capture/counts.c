/* SPDX-License-Identifier: MIT */
/* See counts.h. */
#include "capture/counts.h"

#include <string.h>

/* Return the sum of kind @what in the counts; NULL: the kind is from a later version. */
static const uint64_t *find_sum(const struct gt_counts *counts, unsigned what, unsigned class,
				unsigned domain)
{
	if (class >= GT_CLASS_COUNT || domain >= GT_DOMAIN_COUNT)
		return NULL;
	if (what == 0)
		return &counts->seen[class][domain];
	if (what == 1)
		return &counts->recorded[class][domain];
	if (what == GT_SUM_NOT_KEPT)
		return &counts->evicted[class][domain];
	return what - 2 < GT_DROP_REASON_COUNT ? &counts->dropped[what - 2][class][domain] : NULL;
}

size_t gt_counts_pack(const struct gt_counts *counts, struct gt_file_sum *sums)
{
	size_t n = 0;

	for (unsigned i = 0; i < 3 + GT_DROP_REASON_COUNT; i++)
		for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
			for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
				unsigned what = i < 2 + GT_DROP_REASON_COUNT ? i : GT_SUM_NOT_KEPT;
				uint64_t value = *find_sum(counts, what, c, d);

				if (value && sums)
					sums[n] = (struct gt_file_sum){
						(uint8_t)what, (uint8_t)c, (uint8_t)d, 0, 0, value};
				n += value != 0;
			}
	return n;
}

void gt_counts_unpack(const void *sums, size_t bytes, struct gt_counts *counts)
{
	struct gt_file_sum s;

	memset(counts, 0, sizeof *counts);
	for (size_t at = 0; at + sizeof s <= bytes; at += sizeof s) {
		uint64_t *sum;

		memcpy(&s, (const char *)sums + at, sizeof s);
		sum = (uint64_t *)find_sum(counts, s.what, s.class, s.domain);
		if (sum)
			*sum = s.value;
	}
}

void gt_counts_keep(struct gt_counts *counts, const uint64_t here[GT_CLASS_COUNT][GT_DOMAIN_COUNT])
{
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int d = 0; d < GT_DOMAIN_COUNT; d++) {
			if (here[c][d] > counts->recorded[c][d])
				continue;
			counts->evicted[c][d] += counts->recorded[c][d] - here[c][d];
			counts->recorded[c][d] = here[c][d];
		}
}

void gt_counts_sum(struct gt_counts *to, const struct gt_counts *what)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)what;

	static_assert(sizeof *to % sizeof *a == 0 &&
			      _Alignof(struct gt_counts) == _Alignof(uint64_t),
		      "nothing but uint64_t");
	for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
		a[i] += b[i];
}
