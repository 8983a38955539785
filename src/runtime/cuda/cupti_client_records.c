/* SPDX-License-Identifier: MIT */
/* Selects the client's records in a buffer (cupti_client.h). The client does not get:
 * - records of kinds that only gputap requested;
 * - records of kinds that both gputap and the client requested, if the activity was launched before
 *   the client enabled the kind or after the client disabled the kind, while gputap had the kind
 *   enabled throughout. Launches are distinguished by correlation, which grows from call to call.
 * CUPTI gets ticks from gputap as its clock. These times are converted to the client's clock, which
 * is CUPTI's default clock unless the client has given CUPTI a clock.
 * Only the buffer's memory is accessed. A record ends where CUPTI reports the start of the next
 * record. */
#include <string.h>

#include "runtime/cuda/cupti_client.h"

/* Offsets of the times in a record of each kind; 0 ends a list. Valid for CUPTI 11.8 to 13.5. */
static const uint8_t times_of_kind[CUPTI_KIND_COUNT][6] = {
	[1] = {16, 24},  [2] = {16, 24},  [3] = {16, 24, 32, 120, 128},
	[4] = {8, 16},   [5] = {8, 16},   [10] = {16, 24, 32, 120, 128},
	[12] = {8},      [17] = {24, 32}, [18] = {8, 16, 96, 104, 112},
	[19] = {8},      [20] = {8},      [22] = {16, 24},
	[25] = {16, 24}, [33] = {64, 72}, [34] = {64, 72},
	[35] = {64, 72}, [38] = {8, 16},  [41] = {16},
	[42] = {16},     [43] = {16},     [44] = {16},
	[45] = {24, 32}, [47] = {16, 24}, [48] = {8, 16},
	[49] = {32},     [50] = {56},     [51] = {8, 16},
	[52] = {16, 24},
};

/* Return the offset of the correlation if the session enables the kind, otherwise 0. */
static uint32_t correlation_at(uint32_t kind)
{
	switch (kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_KERNEL_SERIAL: return offsetof(struct cupti_kernel, correlation);
	case CUPTI_KIND_COPY: return offsetof(struct cupti_copy, correlation);
	case CUPTI_KIND_COPY_PEER: return offsetof(struct cupti_copy_peer, correlation);
	case CUPTI_KIND_SET: return offsetof(struct cupti_set, correlation);
	case CUPTI_KIND_GRAPH: return offsetof(struct cupti_graph, correlation);
	default: return 0;
	}
}

/* Return the kind that the client requested. CUPTI may answer a request with a record of another
 * kind. */
static uint32_t asked_kind(const struct gt_cupti_turn *turn, uint32_t kind)
{
	if (kind == CUPTI_KIND_COPY_PEER && !turn->kinds[kind].asked)
		return CUPTI_KIND_COPY;
	if (kind == CUPTI_KIND_KERNEL_SERIAL && !turn->kinds[kind].asked)
		return CUPTI_KIND_KERNEL;
	if (kind == CUPTI_KIND_KERNEL && !turn->kinds[kind].asked)
		return CUPTI_KIND_KERNEL_SERIAL;
	return kind;
}

/* Return true if correlation @a is later than @b. Correlations count up, and may wrap around. */
static bool is_later(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static bool is_clients(const struct gt_cupti_turn *turn, const uint8_t *record, uint32_t kind)
{
	uint32_t at = correlation_at(kind), correlation;
	const struct gt_cupti_span *span;

	if (!at)
		return true;
	span = &turn->kinds[asked_kind(turn, kind)];
	if (!span->asked)
		return false;
	memcpy(&correlation, record + at, sizeof correlation);
	if (span->after && (!turn->first || is_later(turn->first, correlation)))
		return false;
	return !(span->before && is_later(correlation, span->last));
}

static void convert_times(const struct gt_cupti_turn *turn, uint8_t *record, size_t bytes,
			  uint32_t kind)
{
	for (const uint8_t *at = times_of_kind[kind]; *at; at++) {
		uint64_t time;

		if (*at + sizeof time > bytes)
			return;
		memcpy(&time, record + *at, sizeof time);
		if (!time || time == UINT64_MAX) /* CUPTI does not know the time */
			continue;
		time = turn->time_to +
		       (uint64_t)(int64_t)((double)(int64_t)(time - turn->time_from) *
					   turn->time_rate);
		memcpy(record + *at, &time, sizeof time);
	}
}

/* Return the size of @record in bytes. @following receives the next record, or NULL. */
static size_t record_bytes(cuptiActivityGetNextRecord_fn *next, uint8_t *buffer, size_t valid,
			   struct cupti_record *record, struct cupti_record **following)
{
	*following = record;
	if (next(buffer, valid, following) != CUPTI_SUCCESS)
		*following = NULL;
	return (size_t)((*following ? (uint8_t *)*following : buffer + valid) - (uint8_t *)record);
}

size_t gt_cupti_client_filter(const struct gt_cupti_turn *turn, cuptiActivityGetNextRecord_fn *next,
			      uint8_t *buffer, size_t valid)
{
	struct cupti_record *record = NULL, *following;
	uint8_t *to = buffer;

	if (!valid || next(buffer, valid, &record) != CUPTI_SUCCESS)
		return valid;
	for (; record; record = following) {
		/* from here on, this record may be overwritten, but the next record may not */
		size_t bytes = record_bytes(next, buffer, valid, record, &following);
		uint32_t kind = record->kind;

		if (!is_clients(turn, (uint8_t *)record, kind))
			continue;
		if (turn->convert && kind < CUPTI_KIND_COUNT)
			convert_times(turn, (uint8_t *)record, bytes, kind);
		memmove(to, record, bytes);
		to += bytes;
	}
	return (size_t)(to - buffer);
}

size_t gt_cupti_client_count(const struct gt_cupti_turn *turn, cuptiActivityGetNextRecord_fn *next,
			     uint8_t *buffer, size_t valid)
{
	struct cupti_record *record = NULL;
	size_t count = 0;

	while (valid && next(buffer, valid, &record) == CUPTI_SUCCESS)
		count += is_clients(turn, (uint8_t *)record, record->kind);
	return count;
}

size_t gt_cupti_client_fit(cuptiActivityGetNextRecord_fn *next, uint8_t *buffer, size_t valid,
			   size_t room)
{
	struct cupti_record *record = NULL, *following;
	size_t fits = 0;

	if (valid <= room)
		return valid;
	if (next(buffer, valid, &record) != CUPTI_SUCCESS)
		return 0;
	for (; record; record = following) {
		size_t bytes = record_bytes(next, buffer, valid, record, &following);

		if (fits + bytes > room)
			break;
		fits += bytes;
	}
	return fits;
}
