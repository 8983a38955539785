/* SPDX-License-Identifier: MIT */
/* Shared code of commands that take several captures. */
#include "cli/inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/ui.h"
#include "util/error.h"

enum { FILES_SPARE = 64 };

/* Raise the limit of open files, because every capture stays open while it is read. */
static void raise_files_limit(size_t count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= count + FILES_SPARE)
		return;
	limit.rlim_cur =
		limit.rlim_max < count + FILES_SPARE ? limit.rlim_max : count + FILES_SPARE;
	setrlimit(RLIMIT_NOFILE, &limit);
}

bool inputs_are_same(const char *input, const char *output)
{
	struct stat a, b;

	return !stat(input, &a) && !stat(output, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int inputs_report_same(const char *output)
{
	return ui_fail(GT_EXIT_USAGE, "%s is one of the inputs: name another file after -o",
		       output);
}

int inputs_report_empty(void)
{
	return ui_fail(GT_EXIT_USAGE, "the name of a capture is empty");
}

int inputs_choose(struct capture_inputs *in, char **paths, int count)
{
	for (int i = 0; i < count; i++)
		if (!*paths[i])
			return inputs_report_empty();
	*in = (struct capture_inputs){
		.paths = calloc(count > 0 ? (size_t)count : 0, sizeof *in->paths)};
	if (!in->paths)
		return ui_fail(GT_EXIT_FAILURE, "out of memory");
	for (int i = 0; i < count; i++) {
		int status = count > 1 ? gt_capture_probe(paths[i]) : 0;

		if (!status) {
			in->paths[in->count++] = paths[i];
			continue;
		}
		if (status != -EBADMSG && status != -ENODATA && status != -ENOTSUP) {
			inputs_fini(in);
			return ui_fail(GT_EXIT_FAILURE, "%s", "");
		}
		ui_note("left out: %s", gt_error_text());
		gt_error_clear();
		in->left_out = true;
	}
	if (!in->count) {
		inputs_fini(in);
		return ui_fail(GT_EXIT_FAILURE, "none of the %d files is a capture", count);
	}
	raise_files_limit(in->count);
	return GT_EXIT_OK;
}

void inputs_fini(struct capture_inputs *in)
{
	free(in->paths);
	in->paths = NULL;
}

/* Find the times of a session's records, on the first session's clock. */
static void find_span(const struct gt_capture_session *s, uint64_t *from, uint64_t *to)
{
	*from = s->info.start_ns;
	*to = UINT64_MAX;
	if (s->kept.is_kept && s->kept.end_ns) {
		*from = s->kept.begin_ns + (uint64_t)s->shift_ns;
		*to = s->kept.end_ns + (uint64_t)s->shift_ns;
	}
}

/* Return true if two sessions contain the same records. Either both are snapshots or parts of one
 * recording, or one of them is the whole recording. */
static bool is_overlapping(const struct gt_capture_session *a, const struct gt_capture_session *b)
{
	uint64_t from[2], to[2];

	if ((!a->kept.is_kept && !b->kept.is_kept) ||
	    a->info.start_realtime_ns != b->info.start_realtime_ns ||
	    a->info.start_ns != b->info.start_ns || strcmp(a->info.boot_id, b->info.boot_id) != 0)
		return false;
	find_span(a, &from[0], &to[0]);
	find_span(b, &from[1], &to[1]);
	return from[0] <= to[1] && from[1] <= to[0];
}

static void note_overlaps(const struct gt_capture *capture)
{
	size_t count = gt_capture_session_count(capture), pairs = 0;
	const struct gt_capture_session *first = NULL, *second = NULL;

	/* sessions are sorted by start, so overlapping sessions are adjacent */
	for (size_t i = 1; i < count; i++) {
		const struct gt_capture_session *s = gt_capture_session_at(capture, i);

		for (size_t k = i; k-- > 0;) {
			const struct gt_capture_session *other = gt_capture_session_at(capture, k);

			if (other->info.start_ns != s->info.start_ns)
				break;
			if (!is_overlapping(other, s))
				continue;
			first = first ? first : other;
			second = second ? second : s;
			pairs++;
		}
	}
	if (pairs)
		ui_note("%s and %s%s come from one recording and overlap: records in both count "
			"twice",
			first->path, second->path, pairs > 1 ? ", and others," : "");
}

void inputs_print_notes(const struct gt_capture *capture)
{
	const struct gt_capture_session *first = gt_capture_session_at(capture, 0);
	size_t repeated = gt_capture_repeated_count(capture), moved = 0, lost = 0, shared = 0;
	uint64_t uncertainty_ns = 0, shared_ns = 0;

	if (gt_capture_index(capture)->wrong_files)
		ui_note("a block index is damaged or inconsistent with the blocks: block headers "
			"were read instead");
	if (repeated)
		ui_note("%s session%s given twice (as a copy or in a merged capture): read once",
			show_count(repeated), repeated == 1 ? " is" : "s are");
	for (size_t i = 0; i < gt_capture_session_count(capture); i++) {
		const struct gt_capture_session *s = gt_capture_session_at(capture, i);

		moved += s->alignment == GT_ALIGNED_REALTIME;
		lost += s->alignment == GT_ALIGNED_NOT;
		shared += s->alignment == GT_ALIGNED_SHARED;
		if (s->alignment == GT_ALIGNED_SHARED && s->uncertainty_ns > shared_ns)
			shared_ns = s->uncertainty_ns;
		if (s->alignment == GT_ALIGNED_REALTIME && s->uncertainty_ns > uncertainty_ns)
			uncertainty_ns = s->uncertainty_ns;
	}
	note_overlaps(capture);
	if (moved)
		ui_note("%s session%s ran on another machine or boot than %s: aligned by wall "
			"clocks (CLOCK_REALTIME), which moved by %s during tracing; the difference "
			"between two machines' clocks is unknown",
			show_count(moved), moved == 1 ? "" : "s", first->path,
			show_duration(uncertainty_ns));
	if (shared)
		ui_note("%s session%s ran on another machine or boot than %s: aligned by the "
			"collective calls that they made together, within %s",
			show_count(shared), shared == 1 ? "" : "s", first->path,
			show_duration(shared_ns));
	if (lost)
		ui_note("%s session%s not aligned: no clock reading is readable", show_count(lost),
			lost == 1 ? " is" : "s are");
}
