/* SPDX-License-Identifier: MIT */
/* See attach_target.h. */
#include "collector/attach_target.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector/inject.h"
#include "collector/proc_files.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"

enum { PROCESSES_MOST = 4096, PART_BYTES = 4096 };

/* Finding ------------------------------------------------------------------------------ */

/* Return true if the path names the same file here and in the process. */
static bool is_same_file(uint32_t pid, const char *path)
{
	char its_path[PATH_MAX];
	struct stat own, its;

	snprintf(its_path, sizeof its_path, "/proc/%u/root%s", pid, path);
	if (stat(path, &own))
		return stat(its_path, &its) != 0;
	return !stat(its_path, &its) && own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

/* Return true if the process sees the same folders for sessions: it may have another root, or other
 * mounts. */
static bool sees_same_files(uint32_t pid)
{
	return is_same_file(pid, "/") && is_same_file(pid, "/dev/shm") && is_same_file(pid, "/tmp");
}

static bool read_gid(uint32_t pid, uint32_t *gid)
{
	char path[64], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof line, f))
		found = sscanf(line, "Gid: %*u %u", gid) == 1;
	if (f)
		fclose(f);
	return found;
}

static int fail_gone(uint32_t pid)
{
	gt_error(0, "there is no process %u", pid);
	return -ESRCH;
}

int gt_attach_find(uint32_t pid, struct gt_attach_target *out)
{
	char program[PATH_MAX];
	struct gt_proc_stat stat;
	struct gt_proc_ids ids;

	*out = (struct gt_attach_target){.pid = pid};
	if (!pid || !gt_proc_read_stat(pid, &stat) || stat.state == 'X' ||
	    (stat.state == 'Z' && stat.threads <= 1))
		return fail_gone(pid);
	if (pid == (uint32_t)getpid()) {
		gt_error(0, "%u is this gputap", pid);
		return -EINVAL;
	}
	if (!gt_proc_read_ids(pid, &ids) || !read_gid(pid, &out->gid))
		return fail_gone(pid);
	if (!gt_proc_read_program(pid, program, sizeof program) && errno == ENOENT)
		return gt_error(-ENOTSUP, "%u is a thread of the kernel, not a program", pid);
	out->inner_pid = ids.inner_pid;
	out->uid = ids.effective_uid;
	out->start = stat.start;
	out->start_ns = stat.start * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
	if (!sees_same_files(pid))
		snprintf(out->root, sizeof out->root, "/proc/%u/root", pid);
	return 0;
}

bool gt_attach_is_alive(const struct gt_attach_target *target)
{
	struct gt_proc_stat stat;

	return gt_proc_read_stat(target->pid, &stat) && stat.start == target->start &&
	       stat.state != 'X' && (stat.state != 'Z' || stat.threads > 1);
}

struct tree {
	struct gt_attach_target *list;
	size_t count, room;
};

static void add_process(uint32_t pid, void *data)
{
	struct tree *t = data;
	struct gt_attach_target *more;

	if (t->count == PROCESSES_MOST || pid == (uint32_t)getpid())
		return;
	more = gt_grow(t->list, t->count, &t->room, sizeof *t->list);
	if (!more)
		return;
	t->list = more;
	if (gt_attach_find(pid, &t->list[t->count]))
		gt_error_clear();
	else
		t->count++;
}

int gt_attach_find_tree(uint32_t pid, struct gt_attach_target **list, size_t *count)
{
	struct tree t = {0};
	int status;

	t.list = gt_grow(NULL, 0, &t.room, sizeof *t.list);
	if (!t.list)
		return gt_error(-ENOMEM, "no memory for the list of processes");
	status = gt_attach_find(pid, &t.list[0]);
	if (status) {
		free(t.list);
		return status;
	}
	t.count = 1;
	for (size_t i = 0; i < t.count; i++) {
		struct gt_proc_stat stat;

		if (gt_proc_read_stat(t.list[i].pid, &stat))
			gt_proc_each_child(t.list[i].pid, stat.threads, add_process, &t);
	}
	*list = t.list;
	*count = t.count;
	return 0;
}

/* Texts ---------------------------------------------------------------------------------- */

/* Read the words of the command line, each of which ends with a NUL. */
static char *read_words(uint32_t pid, size_t *bytes)
{
	char path[64], *text = NULL, *more;
	struct gt_proc_stat stat;
	size_t room = 0;
	FILE *f;

	*bytes = 0;
	snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
	f = fopen(path, "re");
	while (f && (more = gt_grow_to(text, *bytes + PART_BYTES, &room, 1)) != NULL) {
		size_t n;

		text = more;
		n = fread(text + *bytes, 1, PART_BYTES - 1, f);
		*bytes += n;
		if (n < PART_BYTES - 1)
			break;
	}
	if (f)
		fclose(f);
	if (*bytes && text[0]) {
		text[(*bytes)++] = '\0'; /* a program can overwrite the last NUL */
		return text;
	}
	free(text); /* the program has overwritten its command line */
	text = strdup(gt_proc_read_stat(pid, &stat) ? stat.name : "program");
	*bytes = text ? strlen(text) + 1 : 0;
	return text;
}

int gt_attach_text_read(uint32_t pid, struct gt_attach_text *out)
{
	char path[64];
	size_t bytes, count = 0, n = 0;
	ssize_t length;

	memset(out, 0, sizeof *out);
	snprintf(path, sizeof path, "/proc/%u/cwd", pid);
	length = readlink(path, out->directory, sizeof out->directory - 1);
	out->directory[length > 0 ? length : 0] = '\0';
	out->words = read_words(pid, &bytes);
	for (size_t i = 0; out->words && i < bytes; i += strlen(out->words + i) + 1)
		count++;
	/* the words end with two NULs, unless the program has overwritten the last one */
	if (count > 1 && !out->words[bytes - 1] && !out->words[bytes - 2])
		count--;
	out->argv = out->words ? calloc(count + 1, sizeof *out->argv) : NULL;
	if (!out->argv) {
		gt_attach_text_fini(out);
		return gt_error(-ENOMEM, "no memory for the command line of process %u", pid);
	}
	for (size_t i = 0; n < count; i += strlen(out->words + i) + 1)
		out->argv[n++] = out->words + i;
	return 0;
}

void gt_attach_text_fini(struct gt_attach_text *text)
{
	free(text->argv);
	free(text->words);
	text->argv = NULL;
	text->words = NULL;
}

/* Attaching ------------------------------------------------------------------------------- */

/* Explain what gputap_attach() returned (runtime/late_attach.c). */
static int explain_answer(uint32_t pid, int answer)
{
	switch (answer) {
	case 0: return 0;
	case -EBUSY:
		gt_error(0,
			 "another session records process %u: 'gputap status' lists the sessions, "
			 "and "
			 "'gputap recover' ends one whose gputap was killed",
			 pid);
		return -EBUSY;
	case -ENOTSUP:
		return gt_error(-ENOTSUP,
				"process %u has loaded another version of gputap, which stays "
				"loaded until the process ends",
				pid);
	case -ECANCELED:
		return gt_error(
			-ENOTSUP,
			"process %u could not create its memory in the session's folder: is "
			"there room, and may it write there?",
			pid);
	default: return gt_error(answer, "process %u could not join the session", pid);
	}
}

int gt_attach(const struct gt_attach_target *target, const char *library,
	      const struct gt_folder *folder, struct gt_attach_note *out)
{
	const struct gt_inject_request request = {
		.pid = (pid_t)target->pid,
		.library = library,
		.function = "gputap_attach",
		.argument = gt_folder_inner_path(folder),
	};
	const uint64_t begin_ns = gt_clock_ns(CLOCK_MONOTONIC);
	struct gt_inject_result result = {0};
	sigset_t ends, before;
	int status;

	*out = (struct gt_attach_note){.target = target};
	if (!gt_attach_is_alive(target))
		return fail_gone(target->pid);
	/* a signal that ended gputap now would leave the process with a stopped thread's registers
	 * half changed */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ends, &before);
	status = gt_inject(&request, &result);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!status)
		status = explain_answer(target->pid, result.answer);
	out->took_ns = gt_clock_ns(CLOCK_MONOTONIC) - begin_ns;
	out->stop_ns = result.stop_ns;
	return status;
}
