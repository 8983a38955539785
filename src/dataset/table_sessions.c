/* SPDX-License-Identifier: MIT */
/* Tables `sessions`, `processes` and `threads`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/view.h"
#include "dataset/table_reader.h"

enum { TEXT_BYTES = 4096, UUID_BYTES = 33 };

/* Texts of the rows that are in a batch. */
struct texts_of_rows {
	char text[ROWS_MOST][TEXT_BYTES];
};

/* Return room for a text of the row. */
static char *text_of(struct reader *r, const void *row)
{
	struct texts_of_rows *t = r->own;

	return t->text[(size_t)((const char *)row - r->rows) / r->table->row_bytes];
}

static const char *known_text(const char *text)
{
	return text && *text ? text : NULL;
}

/* Sessions ------------------------------------------------------------------------ */

struct session_row {
	int32_t session, machine, rank;
	const char *uuid, *path, *host, *boot_id, *command, *directory, *version, *options;
	int64_t start_ns, realtime_offset_ns, uncertainty_ns, bytes, bad_bytes;
	int32_t alignment, end;
	bool is_part;
	char uuid_text[UUID_BYTES];
};

static const char *alignment_name(enum gt_alignment alignment)
{
	static const char *const names[] = {
		[GT_ALIGNED_BOOT] = "same clock",
		[GT_ALIGNED_REALTIME] = "wall clocks",
		[GT_ALIGNED_SHARED] = "collective calls",
		[GT_ALIGNED_NOT] = "not aligned",
	};

	return names[alignment];
}

static const char *end_name(enum gt_capture_end end)
{
	return end == GT_CAPTURE_COMPLETE     ? "complete"
	       : end == GT_CAPTURE_INCOMPLETE ? "incomplete"
					      : "unfinished";
}

static bool build_session(struct reader *r, size_t i, void *out)
{
	const struct gt_capture_session *s = gt_capture_session_at(r->dataset->capture, i);
	struct session_row *row = out;

	if (!reader_has_session(r, (uint32_t)i))
		return false;
	*row = (struct session_row){
		.session = (int32_t)i,
		.machine = (int32_t)s->machine,
		.rank = s->info.rank < 0 ? INT32_MIN : s->info.rank,
		.path = s->path,
		.host = known_text(s->info.hostname),
		.boot_id = known_text(s->info.boot_id),
		.command = gt_view_command(s->info.command, text_of(r, out), TEXT_BYTES),
		.directory = known_text(s->info.directory),
		.version = known_text(s->info.gputap_version),
		.options = known_text(s->info.options),
		.start_ns = dataset_time(r->dataset, s->info.start_ns),
		.realtime_offset_ns = r->dataset->realtime_offset_ns,
		.uncertainty_ns =
			s->alignment == GT_ALIGNED_NOT ? INT64_MIN : (int64_t)s->uncertainty_ns,
		.bytes = (int64_t)s->health.bytes,
		.bad_bytes = (int64_t)s->health.bad_bytes,
		.alignment = reader_text(r, DICTIONARY_OTHER, alignment_name(s->alignment)),
		.end = reader_text(r, DICTIONARY_KIND, end_name(s->health.end)),
		.is_part = s->kept.is_kept,
	};
	for (unsigned k = 0; k < sizeof s->uuid; k++)
		snprintf(row->uuid_text + 2 * k, 3, "%02x", s->uuid[k]);
	row->uuid = row->uuid_text;
	return true;
}

#define S(field, type, unit, null, text) \
	COLUMN_MEMBER(struct session_row, field, type, unit, null, text)

static const struct column session_columns[] = {
	S(session, COLUMN_I32, "", false, "number of the session, in the order of their starts"),
	S(uuid, COLUMN_TEXT, "", false, "id of the capture, in hexadecimal"),
	S(path, COLUMN_TEXT, "", true, "path of the capture when it was opened or merged"),
	S(host, COLUMN_TEXT, "", true, "name of the host"),
	S(machine, COLUMN_I32, "", false, "number of the machine"),
	S(boot_id, COLUMN_TEXT, "", true, "boot id of the machine's kernel"),
	S(rank, COLUMN_I32, "", true, "rank that the launcher gave the session"),
	S(command, COLUMN_TEXT, "", true, "command that was traced"),
	S(directory, COLUMN_TEXT, "", true, "its working directory"),
	S(version, COLUMN_TEXT, "", true, "version of gputap"),
	S(options, COLUMN_TEXT, "", true, "how the command was traced"),
	S(start_ns, COLUMN_I64, "ns", true, "start, since 1970"),
	S(realtime_offset_ns, COLUMN_I64, "ns", false,
	  "difference from CLOCK_BOOTTIME of the first session to all times of the tables"),
	COLUMN_TEXTS(struct session_row, alignment, DICTIONARY_OTHER, false,
		     "how the session's clock was related to the first session's"),
	S(uncertainty_ns, COLUMN_I64, "ns", true, "possible error of this relation"),
	COLUMN_TEXTS(struct session_row, end, DICTIONARY_KIND, false,
		     "complete; incomplete: records are missing at the end; unfinished: still "
		     "running, or gputap was killed"),
	S(is_part, COLUMN_BOOL, "", false,
	  "a snapshot, a flight recorder's capture or a cut: earlier records are not included"),
	S(bytes, COLUMN_I64, "bytes", false, "size of the capture"),
	S(bad_bytes, COLUMN_I64, "bytes", false, "bytes that were damaged and skipped"),
};

static int next_sessions(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most, r->dataset->session_count, build_session);
}

const struct table table_sessions = {
	.name = "sessions",
	.text = "recordings: one for each `gputap run`",
	.columns = session_columns,
	.column_count = sizeof session_columns / sizeof *session_columns,
	.row_bytes = sizeof(struct session_row),
	.own_bytes = sizeof(struct texts_of_rows),
	.next = next_sessions,
};

/* Processes ------------------------------------------------------------------------- */

struct process_row {
	int32_t session, process, pid, ppid, rank, world_size, local_rank, wait_status;
	const char *name, *executable, *command;
	int64_t start_ns, end_ns;
};

static int32_t known_number(int64_t number)
{
	return number < 0 || number > INT32_MAX ? INT32_MIN : (int32_t)number;
}

static bool build_process(struct reader *r, size_t i, void *out)
{
	const struct gt_process_info *p = gt_capture_process(r->dataset->capture, (uint32_t)i);
	struct process_row *row = out;
	const char *slash;

	if (!reader_has_session(r, p->session))
		return false;
	*row = (struct process_row){
		.session = (int32_t)p->session,
		.process = (int32_t)i,
		.pid = (int32_t)p->pid,
		.ppid = (int32_t)p->ppid,
		.rank = known_number(p->rank.rank),
		.world_size = p->rank.size > 0 ? known_number(p->rank.size) : INT32_MIN,
		.local_rank = known_number(p->rank.local_rank),
		.wait_status = p->wait_status < 0 ? INT32_MIN : p->wait_status,
		.executable = known_text(p->exe),
		.command = gt_view_command(p->argv, text_of(r, out), TEXT_BYTES),
		.start_ns = dataset_time(r->dataset, p->start_ns),
		.end_ns = dataset_time(r->dataset, p->end_ns),
	};
	slash = row->executable ? strrchr(row->executable, '/') : NULL;
	row->name = slash && slash[1] ? slash + 1 : row->executable;
	return true;
}

#define P(field, type, unit, null, text) \
	COLUMN_MEMBER(struct process_row, field, type, unit, null, text)

static const struct column process_columns[] = {
	P(session, COLUMN_I32, "", false, "number of the session"),
	P(process, COLUMN_I32, "", false, "number of the process"),
	P(pid, COLUMN_I32, "", false, "process id; several processes can have the same"),
	P(ppid, COLUMN_I32, "", false, "process id of the parent"),
	P(rank, COLUMN_I32, "", true, "rank in the job"),
	P(world_size, COLUMN_I32, "", true, "number of ranks of the job"),
	P(local_rank, COLUMN_I32, "", true, "rank on the host"),
	P(name, COLUMN_TEXT, "", true, "name of the program"),
	P(executable, COLUMN_TEXT, "", true, "path of the program"),
	P(command, COLUMN_TEXT, "", true, "command line"),
	P(start_ns, COLUMN_I64, "ns", true, "start, since 1970"),
	P(end_ns, COLUMN_I64, "ns", true, "end, since 1970"),
	P(wait_status, COLUMN_I32, "", true, "as waitpid() reports it"),
};

static int next_processes(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most, gt_capture_process_count(r->dataset->capture),
				   build_process);
}

const struct table table_processes = {
	.name = "processes",
	.text = "processes: one for each exec or fork",
	.columns = process_columns,
	.column_count = sizeof process_columns / sizeof *process_columns,
	.row_bytes = sizeof(struct process_row),
	.own_bytes = sizeof(struct texts_of_rows),
	.next = next_processes,
};

/* Threads --------------------------------------------------------------------------- */

struct thread_row {
	int32_t session, process, thread, tid;
	const char *name;
};

static bool build_thread(struct reader *r, size_t i, void *out)
{
	const struct gt_thread_info *t = gt_capture_thread(r->dataset->capture, i);
	struct thread_row *row = out;

	if (!reader_has_process(r, t->process))
		return false;
	*row = (struct thread_row){
		.session = reader_session_of(r, t->process),
		.process = (int32_t)t->process,
		.thread = (int32_t)i,
		.tid = t->tid ? (int32_t)t->tid : INT32_MIN,
		.name = known_text(t->name),
	};
	return true;
}

#define T(field, type, unit, null, text) \
	COLUMN_MEMBER(struct thread_row, field, type, unit, null, text)

static const struct column thread_columns[] = {
	T(session, COLUMN_I32, "", false, "number of the session"),
	T(process, COLUMN_I32, "", false, "number of the process"),
	T(thread, COLUMN_I32, "", false, "number of the thread"),
	T(tid, COLUMN_I32, "", true, "thread id"),
	T(name, COLUMN_TEXT, "", true, "name of the thread"),
};

static int next_threads(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most, gt_capture_thread_count(r->dataset->capture),
				   build_thread);
}

const struct table table_threads = {
	.name = "threads",
	.text = "threads that made calls",
	.columns = thread_columns,
	.column_count = sizeof thread_columns / sizeof *thread_columns,
	.row_bytes = sizeof(struct thread_row),
	.next = next_threads,
};
