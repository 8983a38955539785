/* SPDX-License-Identifier: MIT */
#include "cli/report_idle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Describe a detail: what the thread waited for, in which range, or in which call. Return false if
 * nothing is known. */
static bool describe_detail(const struct summary *s, const struct idle_detail *d, char *text,
			    size_t size)
{
	const char *wait = d->wait == LOOKUP_NONE ? NULL : texts_get(&s->names, d->wait);
	const char *place = d->op                    ? gt_operation_name(d->op)
			    : d->name == LOOKUP_NONE ? NULL
						     : texts_get(&s->names, d->name);

	if (wait && place)
		snprintf(text, size, "%.120s in %.60s", wait, place);
	else
		snprintf(text, size, "%.120s", wait ? wait : place ? place : "");
	return wait || place;
}

/* Details that differ only in numbers of threads and processes. */
struct group {
	const struct idle_detail *first;
	uint64_t ns;
	uint32_t count;
};

struct groups {
	struct group *list;
	struct texts keys;
	size_t room;
};

/* Copy @text. Unless @count is 1, replace numbers of threads and processes with @count. */
static void put_numbers(const char *text, uint32_t count, char *to, size_t size)
{
	static const char *const words[] = {"(thread ", "(pid "};
	static const char *const several[] = {"threads", "processes"};
	size_t used = 0;

	*to = '\0';
	while (*text && used + 1 < size) {
		size_t w = 0;

		while (w < 2 && strncmp(text, words[w], strlen(words[w])))
			w++;
		if (w == 2 || count == 1) {
			to[used++] = *text++;
			to[used] = '\0';
			continue;
		}
		text += strlen(words[w]);
		text += strspn(text, "0123456789");
		used += (size_t)snprintf(to + used, size - used, "(%" PRIu32 " %s", count,
					 several[w]);
		used = used < size ? used : size - 1;
	}
}

/* Collect the details of a row's cause. */
static void collect_groups(const struct summary *s, uint32_t row, enum gt_idle_cause cause,
			   struct groups *g)
{
	char text[200], key[260];

	for (uint32_t i = 0; i < s->idle.detail_count; i++) {
		const struct idle_detail *d = &s->idle.details[i];
		size_t known = g->keys.count;
		uint32_t number;

		if (d->row != row || d->cause != cause || !describe_detail(s, d, text, sizeof text))
			continue;
		put_numbers(text, 0, key, sizeof key);
		number = texts_put(&g->keys, key);
		if (number == known) {
			GROW_LIST(g->list, known, g->room);
			g->list[number] = (struct group){.first = d};
		}
		g->list[number].ns += d->ns;
		g->list[number].count++;
	}
}

/* Return the largest group that is left, and remove it; first NULL: none is left. */
static struct group take_largest(struct groups *g)
{
	struct group best = {.first = NULL};
	uint32_t at = 0;

	for (uint32_t i = 0; i < g->keys.count; i++)
		if (g->list[i].first && (!best.first || g->list[i].ns > best.ns)) {
			best = g->list[i];
			at = i;
		}
	if (best.first)
		g->list[at].first = NULL;
	return best;
}

/* Write the counts that show that a cause is right. */
static void describe_evidence(const struct idle_evidence *e, enum gt_idle_cause cause, char *text,
			      size_t size)
{
	const double faults = e->minor_faults + e->major_faults;

	if (cause == GT_IDLE_HOST_FAULTS && faults >= 1)
		snprintf(text, size, "%s page faults", show_count((uint64_t)(faults + 0.5)));
	else if (cause == GT_IDLE_HOST_RUNNABLE && e->involuntary >= 1)
		snprintf(text, size, "replaced by others %s times",
			 show_count((uint64_t)(e->involuntary + 0.5)));
}

/* Return the place with the most time, of those after @last in order of time; NULL: none is
 * left. */
static const struct idle_place *find_place(const struct summary *s, uint32_t row,
					   enum gt_idle_cause cause, const struct idle_place *last)
{
	const struct idle_place *best = NULL;

	for (uint32_t i = 0; i < s->idle.place_count; i++) {
		const struct idle_place *p = &s->idle.places[i];

		if (p->row != row || p->cause != cause || (best && p->ns <= best->ns))
			continue;
		if (!last || p->ns < last->ns || (p->ns == last->ns && p > last))
			best = p;
	}
	return best;
}

/* Write the lines at which threads were sampled during most of the time. */
static void describe_places(const struct summary *s, uint32_t row, enum gt_idle_cause cause,
			    char *text, size_t size)
{
	const uint64_t all = s->idle.rows[row].sums[cause].ns;
	const struct idle_place *place = NULL;
	size_t used = 0;

	*text = '\0';
	for (unsigned k = 0; k < MOSTLY; k++) {
		place = find_place(s, row, cause, place);
		if (!place || place->ns * 20 < all)
			break;
		used += (size_t)snprintf(text + used, size - used, "%s%.120s %.0f%%",
					 used ? ", " : "", texts_get(&s->names, place->line),
					 percent(place->ns, all));
		used = used < size ? used : size - 1;
	}
}

void report_idle_mostly(const struct summary *s, uint32_t row, enum gt_idle_cause cause, char *text,
			size_t size)
{
	const uint64_t all = s->idle.rows[row].sums[cause].ns;
	struct groups groups = {.list = NULL};
	char name[200], shown[260], places[300];
	size_t used;

	*text = '\0';
	describe_evidence(&s->idle.rows[row].evidence[cause], cause, text, size);
	used = strlen(text);
	collect_groups(s, row, cause, &groups);
	for (unsigned k = 0; k < MOSTLY; k++) {
		const struct group best = take_largest(&groups);

		if (!best.first || best.ns * 20 < all)
			break;
		describe_detail(s, best.first, name, sizeof name);
		put_numbers(name, best.count, shown, sizeof shown);
		used += (size_t)snprintf(text + used, size - used, "%s%s %.0f%%", used ? ", " : "",
					 shown, percent(best.ns, all));
		used = used < size ? used : size - 1;
	}
	describe_places(s, row, cause, places, sizeof places);
	if (*places)
		snprintf(text + used, size - used, "%s%s", used ? ", " : "", places);
	free(groups.list);
	texts_fini(&groups.keys);
}

const char *report_idle_wait(const struct summary *s, uint32_t row, enum gt_idle_cause cause)
{
	const struct idle_detail *best = NULL;

	for (uint32_t i = 0; i < s->idle.detail_count; i++) {
		const struct idle_detail *d = &s->idle.details[i];

		if (d->row == row && d->cause == cause && d->wait != LOOKUP_NONE &&
		    (!best || d->ns > best->ns))
			best = d;
	}
	return best ? texts_get(&s->names, best->wait) : NULL;
}

/* Pairs of calls ----------------------------------------------------------------------- */

const struct idle_site *report_idle_site(const struct summary *s, uint32_t row,
					 enum gt_idle_cause cause)
{
	const struct idle_site *best = NULL;

	for (uint32_t i = 0; i < s->idle.site_count; i++) {
		const struct idle_site *site = &s->idle.sites[i];

		if (site->row == row && site->cause == cause && (!best || site->ns > best->ns))
			best = site;
	}
	return best;
}

static size_t put_call(const struct summary *s, const char *word, uint32_t call, uint32_t line,
		       char *text, size_t size)
{
	int n;

	if (call == LOOKUP_NONE)
		return 0;
	if (line == LOOKUP_NONE)
		n = snprintf(text, size, "%s %.64s", word, texts_get(&s->names, call));
	else
		n = snprintf(text, size, "%s %.64s: %.120s", word, texts_get(&s->names, call),
			     texts_get(&s->names, line));
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

void report_idle_pair(const struct summary *s, uint32_t pair, enum gt_idle_cause cause,
		      const char *separator, char *text, size_t size)
{
	const struct idle_pair *p = pair < s->idle.pair_count ? &s->idle.pairs[pair] : NULL;
	size_t used;

	*text = '\0';
	if (!p)
		return;
	if (!gt_idle_is_host(cause)) {
		if (p->next_line != LOOKUP_NONE)
			snprintf(text, size, "from %.120s", texts_get(&s->names, p->next_line));
		return;
	}
	/* a line is better than the call before, whose stack may not have been recorded */
	used = p->previous_line == LOOKUP_NONE && p->next_line != LOOKUP_NONE
		       ? 0
		       : put_call(s, "after", p->previous_call, p->previous_line, text, size);
	if (p->next_call == LOOKUP_NONE)
		return;
	used += (size_t)snprintf(text + used, size - used, "%s", used ? separator : "");
	used = used < size ? used : size - 1;
	put_call(s, "before", p->next_call, p->next_line, text + used, size - used);
}

void report_idle_between(const struct summary *s, uint32_t row, enum gt_idle_cause cause,
			 const char *separator, char *text, size_t size)
{
	const struct idle_site *site = report_idle_site(s, row, cause);

	report_idle_pair(s, site ? site->pair : LOOKUP_NONE, cause, separator, text, size);
}

/* Notes -------------------------------------------------------------------------------- */

/* Write the largest causes of a phase, or of all phases for IDLE_PHASE_UNKNOWN. Return their idle
 * time. */
static uint64_t put_causes(const struct summary *s, uint32_t device, enum idle_phase phase,
			   char *text, size_t size)
{
	uint64_t sums[GT_IDLE_COUNT] = {0}, all = 0;
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < s->idle.row_count; i++) {
		const struct idle_row *row = &s->idle.rows[i];

		if (row->owner.device != device || (phase && row->owner.phase != phase))
			continue;
		all += row->all.ns;
		for (unsigned c = 0; c < GT_IDLE_COUNT; c++)
			sums[c] += row->sums[c].ns;
	}
	for (unsigned k = 0; k < LINE_CAUSES && all; k++) {
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
	return all;
}

uint64_t report_idle_phase_ns(const struct summary *s, uint32_t device, enum idle_phase phase)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->idle.row_count; i++)
		if (s->idle.rows[i].owner.device == device && s->idle.rows[i].owner.phase == phase)
			sum += s->idle.rows[i].all.ns;
	return sum;
}

bool report_idle_startup(const struct summary *s, const struct summary_track *d, char *text,
			 size_t size)
{
	const uint64_t step = s->first_steps ? s->first_steps[d->device] : 0,
		       span = timeline_span_ns(&d->all), startup_ns = step - d->all.first_ns,
		       startup = report_idle_phase_ns(s, d->device, IDLE_PHASE_START_UP),
		       steps = report_idle_phase_ns(s, d->device, IDLE_PHASE_STEPS);
	char before[40], before_idle[40], after[40], causes[160];

	if (!step || startup_ns * 100 < span || startup_ns >= span || startup + steps == 0)
		return false;
	snprintf(before, sizeof before, "%s", show_duration(startup_ns));
	snprintf(before_idle, sizeof before_idle, "%s", show_duration(startup));
	snprintf(after, sizeof after, "%s", show_duration(span - startup_ns));
	put_causes(s, d->device, IDLE_PHASE_START_UP, causes, sizeof causes);
	snprintf(text, size, "start-up %s, idle %s%s%s%s; then steps for %s, idle %s (%.1f%%)",
		 before, before_idle, *causes ? " (" : "", causes, *causes ? ")" : "", after,
		 show_duration(steps), percent(steps, span - startup_ns));
	return true;
}

bool report_idle_line(const struct summary *s, uint32_t device, uint64_t span_ns, char *text,
		      size_t size)
{
	const enum idle_phase phase = report_idle_phase_ns(s, device, IDLE_PHASE_STEPS)
					      ? IDLE_PHASE_STEPS
					      : IDLE_PHASE_UNKNOWN;
	const uint64_t all = put_causes(s, device, phase, text, size);

	return *text && percent(all, span_ns) >= LINE_SHARE;
}

static uint64_t unrecorded_of(const struct summary *s, uint32_t device)
{
	return s->idle.unrecorded_ns && device < s->idle.device_count
		       ? s->idle.unrecorded_ns[device]
		       : 0;
}

/* Time of a run in which a device had no activity yet, or no more. */
struct ends {
	uint64_t before_ns, after_ns;
};

static struct ends find_ends(const struct summary *s, const struct summary_track *d)
{
	uint64_t start = d->all.first_ns, end = d->all.last_ns;

	if (!summary_track_has_times(d))
		return (struct ends){0, 0};
	for (uint32_t i = 0; i < s->file_count && summary_has_whole_run(s); i++) {
		start = s->files[i].start_ns < start ? s->files[i].start_ns : start;
		end = s->files[i].end_ns > end ? s->files[i].end_ns : end;
	}
	return (struct ends){d->all.first_ns - start, end - d->all.last_ns};
}

/* Return true if tracks are those of whole devices in whole runs, so that their ends are known. */
static bool has_whole_tracks(const struct summary *s)
{
	return !s->track_keys && !s->place_keys && summary_has_whole_run(s);
}

/* Describe the unrecorded time of all devices. */
static void describe_unrecorded(const struct summary *s, char *text, size_t size)
{
	enum { DEVICES_MOST = 4 };
	uint32_t devices = 0;
	size_t used = 0;

	for (uint32_t d = 0; d < s->device_count; d++) {
		if (!unrecorded_of(s, d) || devices++ >= DEVICES_MOST)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s of device %" PRIu32,
					 used ? ", " : "Not recorded, so neither busy nor idle: ",
					 show_duration(unrecorded_of(s, d)), d);
	}
	if (devices)
		snprintf(text + used, size - used, "%s.",
			 devices > DEVICES_MOST ? " and more of other devices" : "");
}

/* Describe the time outside the table's gaps, and the time before the first step. */
static void describe_ends(const struct summary *s, const struct summary_track *d, char *text,
			  size_t size)
{
	const struct ends ends = find_ends(s, d);
	char before[40], startup[300];
	size_t used = 0;

	*text = '\0';
	snprintf(before, sizeof before, "%s", show_duration(ends.before_ns));
	if (ends.before_ns || ends.after_ns)
		used = (size_t)snprintf(text, size,
					"Not in this table: %s before the first activity of device "
					"%" PRIu32 ", %s after the last.",
					before, d->device, show_duration(ends.after_ns));
	used = used < size ? used : size - 1;
	if (report_idle_startup(s, d, startup, sizeof startup))
		snprintf(text + used, size - used, "%sDevice %" PRIu32 ": %s.", used ? " " : "",
			 d->device, startup);
}

void report_idle_note(struct grid *g, const struct summary *s)
{
	enum { DEVICES_MOST = 2 };
	char unrecorded[300] = "", ends[DEVICES_MOST][500] = {"", ""};

	describe_unrecorded(s, unrecorded, sizeof unrecorded);
	for (uint32_t i = 0; i < s->track_count && i < DEVICES_MOST && has_whole_tracks(s); i++)
		describe_ends(s, &s->tracks[i], ends[i], sizeof ends[i]);
	if (*unrecorded || *ends[0] || *ends[1])
		g->note = grid_keep(g, "%s%s%s%s%s", unrecorded, *unrecorded && *ends[0] ? " " : "",
				    ends[0], *ends[1] ? " " : "", ends[1]);
}

/* Write the times before a device's first activity, after its last, and before its first step. */
static void write_ends(struct json *j, const struct summary *s)
{
	json_array(j, "start_up");
	for (uint32_t i = 0; i < s->track_count && has_whole_tracks(s); i++) {
		const struct summary_track *d = &s->tracks[i];
		const struct ends ends = find_ends(s, d);

		json_object(j, NULL);
		json_count(j, "device", d->device);
		json_count(j, "before_first_activity_ns", ends.before_ns);
		json_count(j, "after_last_activity_ns", ends.after_ns);
		json_count(j, "before_first_step_ns",
			   s->first_steps && s->first_steps[d->device]
				   ? s->first_steps[d->device] - d->all.first_ns
				   : 0);
		json_count(j, "before_first_step_idle_ns",
			   report_idle_phase_ns(s, d->device, IDLE_PHASE_START_UP));
		json_close(j);
	}
	json_close(j);
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
	write_ends(j, s);
}

enum gt_idle_cause report_idle_gap_cause(const struct idle_gap *gap)
{
	unsigned best = GT_IDLE_UNKNOWN;

	for (unsigned c = 0; c < GT_IDLE_COUNT; c++)
		if (gap->causes[c].ns > gap->causes[best].ns)
			best = c;
	return (enum gt_idle_cause)best;
}
