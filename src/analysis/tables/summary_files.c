/* SPDX-License-Identifier: MIT */
/* Reads sessions and processes of a capture before its records, and untraced processes after its
 * records. */
#include "analysis/tables/summary_steps.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/show.h"
#include "analysis/tables/recorded_text.h"
#include "analysis/tables/retained.h"
#include "analysis/tables/untraced.h"
#include "util/file_name.h"

/* Return argv, which is separated by NULs, as words in shell syntax. */
static const char *joined(struct summary *s, const char *argv)
{
	char line[4096];
	size_t n = 0;

	for (; argv && *argv && n + 2 < sizeof line; argv += strlen(argv) + 1)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", n ? " " : "",
				      show_shell_word(argv));
	line[n < sizeof line ? n : sizeof line - 1] = '\0';
	return texts_get(&s->names, summary_intern(s, n ? line : ""));
}

static const char *keep_text(struct summary *s, const char *text)
{
	return texts_get(&s->names, summary_intern(s, text ? text : ""));
}

static void add_counts(struct gt_counts *sum, const struct gt_counts *counts)
{
	const uint64_t *from = (const uint64_t *)counts;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; counts && i < sizeof *sum / sizeof *to; i++)
		to[i] += from[i];
}

void summary_add_sessions(struct summary_reading *r)
{
	struct summary *s = r->s;
	size_t count = gt_capture_session_count(r->capture);

	s->files = resize_list(s->files, 0, (uint32_t)count, sizeof *s->files);
	for (size_t i = 0; i < count; i++) {
		const struct gt_capture_session *session = gt_capture_session_at(r->capture, i);
		char kept[RETAINED_TEXT], recorded[RECORDED_TEXT];

		retained_text(r->capture, session, kept);
		recorded_text(r->capture, session, recorded);
		s->files[s->file_count++] = (struct summary_file){
			.path = keep_text(s, session->path),
			.command = joined(s, session->info.command),
			.host = keep_text(s, session->info.hostname),
			.start_ns = session->info.start_ns,
			.end_ns = session->info.start_ns,
			.realtime_ns = session->info.start_realtime_ns,
			.processes = session->process_count,
			.is_cut = session->kept.is_cut,
			.retained_text = keep_text(s, kept),
			.recorded_text = keep_text(s, recorded),
		};
	}
}

void summary_count_untraced(struct summary_reading *r)
{
	char text[1200];

	for (size_t i = 0; i < gt_capture_event_count(r->capture); i++) {
		const struct gt_event_info *e = gt_capture_event(r->capture, i);

		if (gt_event_is_untraced(e) && e->process < r->s->process_count)
			r->s->files[r->s->processes[e->process].file].untraced++;
	}
	for (uint32_t i = 0; i < r->s->file_count; i++)
		if (r->s->files[i].untraced) {
			untraced_text(r->capture, i, text, sizeof text);
			r->s->files[i].untraced_text = keep_text(r->s, text);
		}
}

/* Return the number of the place (rank and host), if rows are split by rank or host. */
static uint32_t place_of(struct summary *s, const struct summary_process *p)
{
	const struct summary_place place = {s->place_keys & SUMMARY_RANK ? p->rank : LOOKUP_NONE,
					    s->place_keys & SUMMARY_HOST ? p->host : LOOKUP_NONE};
	uint64_t key = (uint64_t)place.rank << 32 | place.host;
	uint32_t number = idmap_get(&s->place_ids, key);

	if (!s->place_keys || number != LOOKUP_NONE)
		return number;
	GROW_LIST(s->places, s->place_count, s->place_room);
	s->places[s->place_count] = place;
	idmap_put(&s->place_ids, key, s->place_count);
	return s->place_count++;
}

void summary_add_processes(struct summary_reading *r)
{
	struct summary *s = r->s;
	size_t count = gt_capture_process_count(r->capture);

	for (uint32_t i = 0; i < count; i++) {
		const struct gt_process_info *info = gt_capture_process(r->capture, i);
		struct summary_process *p;
		GROW_LIST(s->processes, s->process_count, s->process_room);
		p = &s->processes[s->process_count++];
		*p = (struct summary_process){
			.file = info->session,
			.index = i,
			.pid = info->pid,
			.fork_count = info->fork_count,
			.ppid = info->ppid,
			.start_ns = info->start_ns,
			.end_ns = info->end_ns,
			.wait_status = info->wait_status,
			.ended = info->ended,
			.proper_end = info->proper_end,
		};
		p->exe = keep_text(s, info->exe);
		p->name = keep_text(s, gt_file_name(p->exe));
		p->rank = info->rank.rank < 0 ? LOOKUP_NONE : (uint32_t)info->rank.rank;
		p->host = summary_intern(s, s->files[info->session].host);
		p->place = place_of(s, p);
		ranks_add_process(&s->ranks, i, p->rank, p->host);
		ranks_add_life(&s->ranks, i, info->start_ns, info->end_ns);
		s->runtimes |= info->runtimes;
		add_counts(&s->counts, gt_capture_counts(r->capture, i));
		if (info->end_ns > s->files[p->file].end_ns)
			s->files[p->file].end_ns = info->end_ns;
	}
}

bool summary_has_whole_run(const struct summary *s)
{
	if (s->filter || s->scope.some || s->scope.of_processes || s->is_part)
		return false;
	for (uint32_t i = 0; i < s->file_count; i++)
		if (s->files[i].is_cut || *s->files[i].retained_text || *s->files[i].recorded_text)
			return false;
	return true;
}

uint64_t summary_odd_ns(const struct summary *s)
{
	uint64_t run_ns = 0;

	for (uint32_t i = 0; i < s->file_count; i++)
		if (s->files[i].end_ns - s->files[i].start_ns > run_ns)
			run_ns = s->files[i].end_ns - s->files[i].start_ns;
	return run_ns / 100;
}
