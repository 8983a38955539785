/* SPDX-License-Identifier: MIT */
/* Checks of contents that involve several records: texts that must not change, duplicate records,
 * impossible sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plugin_check.h"

#define BYTES_MOST (UINT64_C(1) << 48)
enum { BLOCK_MOST = 1 << 24, STREAMS_MOST = 1 << 20 };

static bool lies_in_buffer(const struct gt_trial *t, const char *text)
{
	const uint8_t *at = (const uint8_t *)text;

	for (size_t i = 0; i < t->buffer_count; i++)
		if (at >= t->buffers[i].data && at < t->buffers[i].data + t->buffers[i].bytes)
			return true;
	return false;
}

void gt_trial_keep_text(struct gt_trial *t, const char *text)
{
	struct gt_trial_text *kept;

	if (!text || t->text_count == GT_TRIAL_TEXTS || lies_in_buffer(t, text))
		return;
	for (size_t i = t->text_count; i--;)
		if (t->texts[i].at == text)
			return; /* only the first reading of a record counts */
	kept = &t->texts[t->text_count++];
	kept->at = text;
	snprintf(kept->copy, sizeof kept->copy, "%s", text);
}

void gt_trial_compare_texts(struct gt_trial *t)
{
	gt_trial_try(t, GT_RULE_TEXTS, "reading texts of records again");
	for (size_t i = 0; i < t->text_count; i++) {
		const struct gt_trial_text *kept = &t->texts[i];

		GT_TRIAL_WANT(t, GT_RULE_TEXTS,
			      !strncmp(kept->copy, kept->at, sizeof kept->copy - 1),
			      "a text changed from \"%.60s\" to \"%.60s\"", kept->copy, kept->at);
	}
}

static int compare_records(const void *a, const void *b)
{
	return memcmp(*(const pu1ActivityRecord *const *)a, *(const pu1ActivityRecord *const *)b,
		      sizeof(pu1ActivityRecord));
}

void gt_trial_want_once(struct gt_trial *t)
{
	const pu1ActivityRecord **sorted = calloc(t->record_count + 1, sizeof *sorted);
	size_t again = 0;

	if (!sorted)
		return;
	for (size_t i = 0; i < t->record_count; i++)
		sorted[i] = &t->records[i];
	qsort(sorted, t->record_count, sizeof *sorted, compare_records);
	for (size_t i = 1; i < t->record_count; i++)
		again += !compare_records(&sorted[i - 1], &sorted[i]);
	GT_TRIAL_WANT(t, GT_RULE_ONCE, !again, "%zu of %zu records are duplicates", again,
		      t->record_count);
	free(sorted);
}

void gt_trial_check_sizes(struct gt_trial *t, const pu1ActivityRecord *r)
{
	unsigned __int128 block = (unsigned __int128)r->block[0] * r->block[1] * r->block[2],
			  grid = (unsigned __int128)r->grid[0] * r->grid[1] * r->grid[2];

	GT_TRIAL_WANT(t, GT_RULE_SIZES, r->bytes <= BYTES_MOST, "a record has %llu bytes",
		      (unsigned long long)r->bytes);
	GT_TRIAL_WANT(t, GT_RULE_SIZES, block <= BLOCK_MOST, "a block has %u x %u x %u threads",
		      r->block[0], r->block[1], r->block[2]);
	GT_TRIAL_WANT(t, GT_RULE_SIZES, !(grid >> 63), "a grid has %u x %u x %u blocks", r->grid[0],
		      r->grid[1], r->grid[2]);
	GT_TRIAL_WANT(t, GT_RULE_SIZES, r->copy_direction <= PU1_COPY_PTOP,
		      "a copy has the unknown direction %u", r->copy_direction);
}

void gt_trial_check_rows(struct gt_trial *t)
{
	const pu1RowsGroup *rows = &t->plugin.calls.rows;
	pu1DeviceRow row = {.size = sizeof row};

	gt_trial_try(t, GT_RULE_SIZES, "reading device rows");
	if (!rows->device_count || !rows->device)
		return;
	for (int32_t i = 0; i < rows->device_count() && i < GT_PLUGIN_DEVICES_MOST; i++)
		if (rows->device(i, &row) == PU1_SUCCESS)
			GT_TRIAL_WANT(t, GT_RULE_SIZES,
				      row.stream_count <= STREAMS_MOST &&
					      row.memory_bytes <= BYTES_MOST,
				      "device %d has %u streams and %llu bytes", i,
				      row.stream_count, (unsigned long long)row.memory_bytes);
}
