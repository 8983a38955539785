/* SPDX-License-Identifier: MIT */
#include "cli/report_idle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/ui.h"
#include "record/operation.h"

enum { MOSTLY = 2, LINE_CAUSES = 3 };

/* Smallest percentages that are printed at the end of a run: of a device's idle time, and of a
 * cause. */
enum { LINE_SHARE = 10 };

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

uint64_t report_idle_device_ns(const struct summary *s, uint32_t device)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->idle.row_count; i++)
		if (s->idle.rows[i].owner.device == device)
			sum += s->idle.rows[i].all.ns;
	return sum;
}

static const char *name_detail(const struct summary *s, const struct idle_detail *d)
{
	if (d->op)
		return gt_operation_name(d->op);
	return d->name == LOOKUP_NONE ? NULL : texts_get(&s->names, d->name);
}

/* Return the largest detail that has a name and is smaller than @limit. */
static const struct idle_detail *find_largest(const struct summary *s, uint32_t row,
					      enum gt_idle_cause cause,
					      const struct idle_detail *last)
{
	const struct idle_detail *best = NULL;

	for (uint32_t i = 0; i < s->idle.detail_count; i++) {
		const struct idle_detail *d = &s->idle.details[i];

		if (d->row != row || d->cause != cause || !name_detail(s, d))
			continue;
		if (last && (d->ns > last->ns || (d->ns == last->ns && d <= last)))
			continue;
		if (!best || d->ns > best->ns)
			best = d;
	}
	return best;
}

void report_idle_mostly(const struct summary *s, uint32_t row, enum gt_idle_cause cause, char *text,
			size_t size)
{
	const uint64_t all = s->idle.rows[row].sums[cause].ns;
	const struct idle_detail *d = NULL;
	size_t used = 0;

	*text = '\0';
	for (unsigned k = 0; k < MOSTLY && (d = find_largest(s, row, cause, d)); k++) {
		if (d->ns * 20 < all)
			break;
		used += (size_t)snprintf(text + used, size - used, "%s%.120s %.0f%%", k ? ", " : "",
					 name_detail(s, d), percent(d->ns, all));
		used = used < size ? used : size - 1;
	}
}

static uint64_t unrecorded_of(const struct summary *s, uint32_t device)
{
	return s->idle.unrecorded_ns && device < s->idle.device_count
		       ? s->idle.unrecorded_ns[device]
		       : 0;
}

void report_idle_note(struct grid *g, const struct summary *s)
{
	enum { DEVICES_MOST = 4 };
	uint32_t devices = 0;
	char text[256];
	size_t used = 0;

	for (uint32_t d = 0; d < s->device_count; d++)
		if (unrecorded_of(s, d) && devices++ < DEVICES_MOST)
			used += (size_t)snprintf(text + used, sizeof text - used,
						 "%s%s of device %" PRIu32, used ? ", " : "",
						 show_duration(unrecorded_of(s, d)), d);
	if (!devices)
		return;
	if (devices > DEVICES_MOST)
		snprintf(text + used, sizeof text - used, " and more of other devices");
	g->note = grid_keep(g, "Not recorded, so neither busy nor idle: %s.", text);
}

void report_idle_json(struct json *j, const struct summary *s)
{
	json_array(j, "not_recorded");
	for (uint32_t d = 0; d < s->device_count; d++) {
		if (!unrecorded_of(s, d))
			continue;
		json_object(j, NULL);
		json_count(j, "device", d);
		json_string(j, "device_name", s->devices[d].name);
		json_count(j, "ns", unrecorded_of(s, d));
		json_close(j);
	}
	json_close(j);
}

enum gt_idle_cause report_idle_gap_cause(const struct idle_gap *gap)
{
	unsigned best = GT_IDLE_UNKNOWN;

	for (unsigned c = 0; c < GT_IDLE_COUNT; c++)
		if (gap->causes[c].ns > gap->causes[best].ns)
			best = c;
	return (enum gt_idle_cause)best;
}

bool report_idle_line(const struct summary *s, uint32_t device, uint64_t span_ns, char *text,
		      size_t size)
{
	uint64_t sums[GT_IDLE_COUNT] = {0}, all = report_idle_device_ns(s, device);
	size_t used = 0;

	for (uint32_t i = 0; i < s->idle.row_count; i++)
		for (unsigned c = 0; c < GT_IDLE_COUNT && s->idle.rows[i].owner.device == device;
		     c++)
			sums[c] += s->idle.rows[i].sums[c].ns;
	if (!all || percent(all, span_ns) < LINE_SHARE)
		return false;
	for (unsigned k = 0; k < LINE_CAUSES; k++) {
		unsigned best = 0;

		for (unsigned c = 1; c < GT_IDLE_COUNT; c++)
			if (sums[c] > sums[best])
				best = c;
		if (percent(sums[best], all) < LINE_SHARE)
			break;
		used += (size_t)snprintf(text + used, size - used, "%s%.0f%% %s", k ? ", " : "",
					 percent(sums[best], all),
					 gt_idle_cause_text((enum gt_idle_cause)best));
		used = used < size ? used : size - 1;
		sums[best] = 0;
	}
	return used > 0;
}
