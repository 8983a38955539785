/* SPDX-License-Identifier: MIT */
#include "cli/report_patterns.h"

#include <inttypes.h>
#include <string.h>

#include "cli/ui.h"
#include "record/operation.h"

enum { FIRST_SCREEN = 3, SENTENCE = 400 };

static const char *const advice[PATTERN_COUNT] = {
	[PATTERN_SMALL_COPIES] = "copy several values at once, or keep them on the device",
	[PATTERN_WAIT_EACH] = "wait once, after the last launch of a step",
	[PATTERN_ALLOCATIONS] = "allocate before the loop, or from a pool",
	[PATTERN_BUILDS] = "build device code once, before the loop",
	[PATTERN_PAGEABLE] = "copy from and to pinned memory",
	[PATTERN_COPY_RUNS] = "copy once, from one buffer",
	[PATTERN_SMALL_KERNELS] = "launch a step as a graph or a command buffer, or fuse kernels",
};

/* Return the advice that the figures support: the pattern left devices idle; NULL: none. */
static const char *find_advice(const struct pattern *p)
{
	return p->idle_ns && p->idle_ns >= p->span_ns / 100 ? advice[p->kind] : NULL;
}

static uint64_t mean_bytes(const struct pattern *p)
{
	return p->count ? p->bytes / p->count : 0;
}

static const char *plural(uint64_t count, const char *one, const char *more)
{
	return count == 1 ? one : more;
}

/* Return "; 4 in each step", or "" if that is not known. */
static const char *each_step(const struct pattern *p, char *text, size_t size)
{
	const struct period *period = &p->period;
	const double each = period->steps ? (double)p->count / (double)period->steps : 0;

	*text = '\0';
	if (period->length && each >= 0.95)
		snprintf(text, size, "; about %.0f in each step", each);
	return text;
}

static uint64_t since_start(const struct summary *s, uint64_t time)
{
	uint64_t start = 0;

	for (uint32_t i = 0; i < s->file_count; i++)
		if (s->files[i].start_ns <= time && s->files[i].start_ns > start)
			start = s->files[i].start_ns;
	return time - start;
}

static void write_sentence(const struct summary *s, const struct pattern *p, char *text,
			   size_t size)
{
	const char *op = p->op ? gt_operation_name(p->op) : "";
	const char *then = p->then ? gt_operation_name(p->then) : "";
	char step[64];
	size_t used;

	each_step(p, step, sizeof step);
	switch (p->kind) {
	case PATTERN_SMALL_COPIES:
		snprintf(text, size, "%s copies of %s, each followed by a wait: %s%s%s%s",
			 show_count(p->count), show_bytes(mean_bytes(p)), op, *then ? ", " : "",
			 then, step);
		break;
	case PATTERN_WAIT_EACH:
		snprintf(text, size, "a wait after %s of %s launches: %s, %s", show_count(p->count),
			 show_count(p->of), then, op);
		break;
	case PATTERN_ALLOCATIONS:
		snprintf(text, size, "%s allocations and frees in the loop: %s%s",
			 show_count(p->count), op, step);
		break;
	case PATTERN_BUILDS:
		snprintf(text, size, "%s builds of device code in the loop: %s",
			 show_count(p->count), op);
		break;
	case PATTERN_PAGEABLE:
		snprintf(text, size, "%s copies of pageable memory, %s each%s",
			 show_count(p->count), show_bytes(mean_bytes(p)), step);
		break;
	case PATTERN_POLLING:
		snprintf(text, size, "%s calls of %s in a row", show_count(p->count), op);
		break;
	case PATTERN_COPY_RUNS:
		snprintf(text, size, "%s copies of %s each, many in a row: %s",
			 show_count(p->count), show_bytes(mean_bytes(p)), op);
		break;
	case PATTERN_SMALL_KERNELS:
		snprintf(text, size,
			 "%s kernels are too short for the host to launch them in "
			 "time: median %s",
			 show_count(p->of), show_duration(p->each_ns));
		break;
	case PATTERN_PAUSE:
		snprintf(text, size,
			 "one pause at %s is %.0f%% of the idle time of device %" PRIu32,
			 show_duration(since_start(s, p->each_ns)),
			 p->of ? 100.0 * (double)p->idle_ns / (double)p->of : 0, p->device);
		break;
	case PATTERN_PERIOD:
		snprintf(text, size,
			 "%s steps of %s (p10 %s, p90 %s), each %" PRIu32 " %s, %" PRIu32 " %s",
			 show_count(p->period.steps), show_duration(p->period.median_ns),
			 show_duration(p->period.low_ns), show_duration(p->period.high_ns),
			 p->period.length,
			 plural(p->period.length, "GPU activity", "GPU activities"),
			 p->period.kernels, plural(p->period.kernels, "kernel", "kernels"));
		break;
	case PATTERN_COUNT: *text = '\0'; break;
	}
	used = strlen(text);
	if (p->line != LOOKUP_NONE)
		snprintf(text + used, size - used, "; from %s", texts_get(&s->names, p->line));
}

static const struct summary_thread *find_thread(const struct summary *s, const struct pattern *p)
{
	for (uint32_t i = 0; p->ordinal && i < s->thread_count; i++)
		if (s->threads[i].process == p->process && s->threads[i].ordinal == p->ordinal)
			return &s->threads[i];
	return NULL;
}

void report_make_patterns(struct grid *g, const struct summary *s)
{
	char sentence[SENTENCE];

	for (uint32_t i = 0; i < s->patterns.count; i++) {
		const struct pattern *p = &s->patterns.list[i];
		const struct summary_thread *thread = find_thread(s, p);
		const bool has_steps = p->period.length != 0;
		const char *what = find_advice(p);
		struct grid_cell *cell = grid_row(g);

		write_sentence(s, p, sentence, sizeof sentence);
		*cell++ = p->kind == PATTERN_PERIOD ? cell_none() : cell_count(p->idle_ns);
		*cell++ = p->kind == PATTERN_PERIOD || p->kind == PATTERN_PAUSE ? cell_none()
										: cell_count(p->ns);
		*cell++ = cell_count(p->count);
		*cell++ = p->bytes ? cell_count(p->bytes) : cell_none();
		*cell++ = p->device == LOOKUP_NONE ? cell_none() : cell_count(p->device);
		*cell++ = p->process < s->process_count ? cell_count(s->processes[p->process].pid)
							: cell_none();
		*cell++ = thread ? cell_count(thread->tid) : cell_none();
		*cell++ = thread ? cell_text(thread->name) : cell_none();
		*cell++ = cell_text(pattern_kind_name(p->kind));
		*cell++ = p->op ? cell_text(grid_keep(g, "%s", gt_operation_name(p->op)))
				: cell_none();
		*cell++ = p->then ? cell_text(grid_keep(g, "%s", gt_operation_name(p->then)))
				  : cell_none();
		*cell++ = p->line == LOOKUP_NONE ? cell_none()
						 : cell_text(texts_get(&s->names, p->line));
		*cell++ = has_steps ? cell_count(p->period.steps) : cell_none();
		*cell++ = has_steps ? cell_count(p->period.median_ns) : cell_none();
		*cell++ = has_steps ? cell_count(p->period.low_ns) : cell_none();
		*cell++ = has_steps ? cell_count(p->period.high_ns) : cell_none();
		*cell++ = has_steps ? cell_count(p->period.length) : cell_none();
		*cell++ = has_steps ? cell_count(p->period.kernels) : cell_none();
		*cell++ = cell_text(grid_keep(g, "%s", sentence));
		*cell++ = what ? cell_text(what) : cell_none();
		*cell++ = cell_text(grid_keep(g, "%s%s%s", sentence, what ? ". Advice: " : "",
					      what ? what : ""));
	}
	g->sentences = true;
}

void report_print_patterns(const struct summary *s, FILE *out)
{
	char sentence[SENTENCE];
	uint32_t kinds = 0; /* bits of kinds that were printed */
	unsigned shown = 0;

	for (uint32_t i = 0; i < s->patterns.count; i++) {
		const struct pattern *p = &s->patterns.list[i];
		const char *what = find_advice(p);

		/* of each kind, only the thread that costs most */
		if (kinds >> p->kind & 1 ||
		    (p->kind != PATTERN_PERIOD && (!what || shown == FIRST_SCREEN)))
			continue;
		kinds |= UINT32_C(1) << p->kind;
		write_sentence(s, p, sentence, sizeof sentence);
		if (p->kind == PATTERN_PERIOD) {
			ui_print_line(out, "Steps", NULL, "%s", sentence);
			continue;
		}
		ui_print_line(out, shown++ ? "" : "Patterns", NULL, "idle %s: %s. Advice: %s",
			      show_duration(p->idle_ns), sentence, what);
	}
}
