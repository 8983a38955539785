/* SPDX-License-Identifier: MIT */
/* `gputap recover`: does the work that the collector would have done if it had not been killed.
 *
 * The journal records how far the collector had come (journal.h). The capture is cut back to the
 * matching length. A batch that was flushed but not carried out in the rings is carried out. Then
 * the rings are read to their ends. If `gputap recover` is killed, it can be run again: it uses the
 * same journal, or makes a new journal if there is none (rebuild.h). */
#include "collector/collector.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/batch.h"
#include "collector/drain.h"
#include "collector/folder.h"
#include "collector/guard.h"
#include "collector/rebuild.h"
#include "util/error.h"

static void add_process(const char *name, void *data)
{
	struct gt_process *process;

	gt_drain_add(data, name, &process);
	gt_error_clear(); /* refused segments are counted */
}

/* Count rings that the journal lists but that do not exist. Rings of processes whose end is in the
 * capture may have been removed. */
static void count_missing(struct gt_drain *d)
{
	for (uint32_t i = 0; i < d->journal.account_count; i++) {
		const struct gt_account *a = &d->journal.file->accounts[i];

		if (a->state == GT_ACCOUNT_OPEN && !gt_drain_find(d, a->pid, a->start_ticks))
			d->torn++;
	}
}

/* Wait a moment between stopping programs and reading their rings, so that a record in progress is
 * included. */
static void let_writers_finish(struct gt_drain *d, struct gt_run_result *result)
{
	struct timespec t = {.tv_nsec = 20 * 1000 * 1000};

	for (size_t i = 0; i < d->process_count; i++) {
		struct gt_process *process = d->processes[i];
		bool in_use = process->segment && gt_file_in_use(process->fd) == 1;

		process->exited = !in_use;
		result->still_running += in_use;
	}
	if (result->still_running)
		nanosleep(&t, NULL);
}

/* Reopen the capture at the journal's position. */
static int reopen(struct gt_drain *d, const char *output, struct gt_capture_writer **writer)
{
	const struct gt_journal_head *head = &d->journal.file->head;

	gt_batch_redo(d);
	return head->kept.asked.window_ns
		       ? gt_capture_writer_reopen_retained(output, head->capture_id,
							   head->capture_bytes, &head->kept, writer)
		       : gt_capture_writer_reopen(output, head->capture_id, head->capture_bytes,
						  writer);
}

static int rebuild(struct gt_drain *d, const char *output, struct gt_capture_writer **writer)
{
	int status = gt_rebuild_journal(d, output, writer);

	if (!status)
		gt_batch_redo(d);
	return status;
}

/* End the session in the programs that still run. Their threads that follow the session wait until
 * the control word changes. */
static void stop_programs(struct gt_folder *folder)
{
	volatile uint32_t word = 0;

	gt_folder_stop(folder);
	if (!folder->session || !GT_GUARD())
		return;
	word = atomic_load_explicit(&folder->session->control, memory_order_relaxed);
	gt_guard_end();
	gt_folder_store(folder, &folder->session->control, word + GT_CONTROL(1, 0, 0));
	syscall(SYS_futex, &folder->session->control, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static int finish(struct gt_folder *folder, struct gt_drain *d, const char *output,
		  struct gt_run_result *result)
{
	struct gt_clock_tuple tuple;
	struct gt_capture_writer *writer;
	int status = d->is_rebuilt ? rebuild(d, output, &writer) : reopen(d, output, &writer);

	if (status == -EALREADY)
		return status;
	if (status)
		return gt_error(status, "cannot continue %s", output);
	d->writer = writer;
	gt_clock_tuple_take(folder->host_clock, &tuple);
	gt_drain_write_clock(d, &tuple);
	stop_programs(folder);
	gt_folder_rings(folder, add_process, d);
	count_missing(d);
	gt_drain_stop(d);
	let_writers_finish(d, result);
	while (d->process_count && !d->output_error)
		gt_drain_end_process(d, d->processes[0], 0);
	gt_drain_write_untraced(d);
	gt_batch_commit(d);
	if (d->output_error) {
		/* the rings stay for another attempt, because recovery, unlike tracing, has no
		 * deadline */
		status = gt_error(d->output_error, "cannot write all of %s", output);
		gt_capture_writer_destroy(writer);
		return status;
	}
	gt_drain_result(d, result);
	status = gt_capture_writer_finish(writer, result->complete);
	return status ? gt_error(status, "cannot finish %s", output) : 0;
}

/* Remove the folder of a finished session if the folder is empty. */
static bool remove_rest(const char *directory)
{
	char path[PATH_MAX];
	const char *name = realpath(directory, path) ? strrchr(path, '/') : NULL;
	struct stat st;

	return name && !lstat(path, &st) && st.st_uid == geteuid() &&
	       !strncmp(name, "/" GT_FOLDER_PREFIX, sizeof GT_FOLDER_PREFIX) && rmdir(path) == 0;
}

static void count_ring(const char *name, void *data)
{
	(void)name;
	++*(unsigned *)data;
}

/* Open or make the journal. Return -EALREADY if nothing is left to read. */
static int open_journal(struct gt_drain *d)
{
	int status = gt_journal_open(d->folder, &d->journal);
	unsigned rings = 0;

	if (status ==
	    -ENOENT) /* the journal is removed before the rings, so rings may still exist */
		gt_folder_rings(d->folder, count_ring, &rings);
	if (status == -ENOENT && !rings) {
		gt_error_clear();
		/* the folder may be any folder, with files that gputap must not remove */
		return d->folder->session
			       ? -EALREADY
			       : gt_error(-EBADMSG, "%s/session is truncated", d->folder->path);
	}
	d->is_rebuilt = status == -ENOENT || status == -EBADMSG;
	if (d->is_rebuilt)
		gt_error_clear();
	return d->is_rebuilt ? 0 : status;
}

int gt_collector_recover(const char *directory, char *output, struct gt_run_result *result)
{
	struct gt_folder folder;
	struct gt_drain d;
	bool never_began;
	int status;

	memset(result, 0, sizeof *result);
	result->wait_status = -1;
	output[0] = '\0';
	status = gt_folder_open(directory, &folder);
	if (status)
		return status == -ENOENT && remove_rest(directory) ? -EALREADY : status;
	gt_drain_init(&d, &folder, NULL);
	d.recovering = true;
	gt_guard_install();
	status = open_journal(&d);
	never_began = !status && !d.is_rebuilt && !d.journal.file->head.capture_bytes &&
		      !d.journal.file->head.redo_capture_bytes;
	if (never_began)
		status = -ENODATA;
	if (!status)
		status = gt_folder_output(&folder, output, PATH_MAX);
	if (!status)
		status = finish(&folder, &d, output, result);
	gt_guard_restore();
	gt_drain_fini(&d);
	if (!status || status == -EALREADY || never_began)
		gt_folder_remove(&folder);
	else
		gt_folder_close(&folder);
	if (never_began)
		return gt_error(status, "the collector of %s died before the program was started",
				directory);
	return status;
}

struct found {
	void (*each)(const struct gt_session_found *found, void *data);
	void *data;
};

static void look_at_session(const char *path, void *data)
{
	const struct found *f = data;
	struct gt_session_found found = {.path = path};
	struct gt_folder folder;
	char output[PATH_MAX] = "";

	if (gt_folder_open(path, &folder)) {
		gt_error_clear();
		return;
	}
	if (gt_folder_output(&folder, output, sizeof output))
		gt_error_clear();
	found.output = output;
	found.collector_pid = gt_journal_owner(&folder);
	found.in_use = gt_file_in_use(folder.session_fd) == 1;
	gt_folder_close(&folder);
	f->each(&found, f->data);
}

void gt_collector_sessions(void (*each)(const struct gt_session_found *found, void *data),
			   void *data)
{
	struct found f = {each, data};

	gt_folder_find(look_at_session, &f);
}
