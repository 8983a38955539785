/* SPDX-License-Identifier: MIT */
/* librocprofiler-sdk-rocattach.so.1: AMD's library for attaching tools, on gputap's injector.
 *
 *   rocprofv3 --attach PID                        process PID
 *     rocattach_attach()
 *       gt_inject() ── librocprofiler-sdk-attach.so.1: gputap_rocattach("b..") ─► tool_attach()
 *     rocattach_detach()
 *       gt_inject() ── the same:                       gputap_rocattach("d")   ─► tool_detach()
 *
 * Between the calls nothing is traced or stopped; AMD's library holds the process's thread
 * "rocp-bg-attach" meanwhile. The libraries are those next to this library.
 *
 * One client at a time attaches to a process. If the client ends without a detach, the tools stay
 * until the next client attaches.
 *
 * Locking: one lock around each function. Nothing is printed except errors. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rocprofiler-sdk-rocattach/rocattach.h>

#include "collector/guard.h"
#include "collector/inject.h"
#include "collector/proc_files.h"
#include "compat/rocprofiler/attach_entry.h"
#include "util/error.h"
#include "util/grow.h"

#define ENTRY_LIBRARY "librocprofiler-sdk-attach.so.1"
#define SDK_LIBRARY   "librocprofiler-sdk.so.1"

enum { PROCESSES_MOST = 4096, PART_BYTES = 4000 };
/* tools write their output in tool_detach() */
static const uint64_t ANSWER_NS = UINT64_C(600) * 1000000000;

struct attached {
	uint32_t pid, root; /* root: of the tree; 0: attached alone */
	uint64_t start;
};

static struct {
	pthread_mutex_t lock;
	struct attached *list;
	size_t count, room;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Statuses ------------------------------------------------------------------------------------ */

static const struct {
	const char *name, *text;
} statuses[ROCATTACH_STATUS_LAST] = {
	[ROCATTACH_STATUS_SUCCESS] = {"ROCATTACH_STATUS_SUCCESS", "Success"},
	[ROCATTACH_STATUS_ERROR] = {"ROCATTACH_STATUS_ERROR", "General error"},
	[ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT] = {"ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT",
						     "Invalid function argument"},
	[ROCATTACH_STATUS_ERROR_NOT_SUPPORTED] = {"ROCATTACH_STATUS_ERROR_NOT_SUPPORTED",
						  "Attachment not supported on this platform"},
	[ROCATTACH_STATUS_ERROR_PTRACE_ERROR] = {"ROCATTACH_STATUS_ERROR_PTRACE_ERROR",
						 "General ptrace error"},
	[ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED] =
		{"ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED",
		 "ptrace returned EPERM, operation not permitted"},
	[ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND] =
		{"ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND",
		 "ptrace returned ESRCH, no such process"},
};

const char *rocattach_get_status_name(rocattach_status_t status)
{
	return (unsigned)status < ROCATTACH_STATUS_LAST ? statuses[status].name : NULL;
}

const char *rocattach_get_status_string(rocattach_status_t status)
{
	return (unsigned)status < ROCATTACH_STATUS_LAST ? statuses[status].text : NULL;
}

rocattach_status_t rocattach_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
	if (major)
		*major = ROCATTACH_VERSION_MAJOR;
	if (minor)
		*minor = ROCATTACH_VERSION_MINOR;
	if (patch)
		*patch = ROCATTACH_VERSION_PATCH;
	return ROCATTACH_STATUS_SUCCESS;
}

rocattach_status_t rocattach_get_version_triplet(rocattach_version_triplet_t *info)
{
	return rocattach_get_version(&info->major, &info->minor, &info->patch);
}

/* Print the causes of a failure, and translate its status. */
static rocattach_status_t report(int status)
{
	gt_error_print(stderr);
	switch (status) {
	case 0: return ROCATTACH_STATUS_SUCCESS;
	case -EINVAL: return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
	case -ENOTSUP: return ROCATTACH_STATUS_ERROR_NOT_SUPPORTED;
	case -EPERM: return ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED;
	case -ESRCH: return ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND;
	case -EBUSY:
	case -EAGAIN:
	case -ETIMEDOUT: return ROCATTACH_STATUS_ERROR_PTRACE_ERROR;
	default: return ROCATTACH_STATUS_ERROR;
	}
}

/* Add a sentence, and return @status, which must be negative. */
#define FAIL(status, ...) (gt_error(-ENOTSUP, __VA_ARGS__), (status))

/* The call in the process --------------------------------------------------------------------- */

/* Write the path of a library next to this one. */
static int find_beside(const char *name, char *out)
{
	char own[PATH_MAX], *slash;
	Dl_info where;

	if (!dladdr(&all, &where) || !where.dli_fname || !realpath(where.dli_fname, own))
		return FAIL(-ENOENT, "the folder of librocprofiler-sdk-rocattach is not known");
	slash = strrchr(own, '/');
	*slash = '\0';
	if (snprintf(out, PATH_MAX, "%s/%s", own, name) >= PATH_MAX || access(out, R_OK))
		return FAIL(-ENOENT, "%s is missing in %s", name, own);
	return 0;
}

/* Explain what gputap_rocattach() returned. */
static int explain_answer(uint32_t pid, const char *tools, int answer)
{
	if (!answer)
		return 0;
	switch (answer) {
	case -EALREADY:
		return FAIL(-EALREADY,
			    "process %u has been attached with another tool than %s, and keeps it",
			    pid, tools);
	case -EBUSY:
		return FAIL(-EBUSY,
			    "another program has attached tools to process %u, and not detached "
			    "them yet",
			    pid);
	case -ENOENT:
		return FAIL(-ENOENT,
			    "process %u cannot load gputap's librocprofiler-sdk: its stderr says "
			    "why",
			    pid);
	case -EEXIST:
		return FAIL(-EEXIST,
			    "process %u has loaded another librocprofiler-sdk than gputap's: "
			    "use the rocattach of that installation",
			    pid);
	default: break;
	}
	if (answer >= ATTACH_REGISTER)
		return FAIL(-EIO, "librocprofiler-register of process %u returned %d", pid,
			    answer - ATTACH_REGISTER);
	return FAIL(-EIO,
		    "process %u returned %d for the tool %s: its stderr says more, for example if "
		    "the tool has no rocprofiler_configure_attach()",
		    pid, answer, tools);
}

/* Call gputap_rocattach() in the process. Return 0 or negative errno; @answer: what it returned. */
static int call(uint32_t pid, const char *argument, int *answer)
{
	char library[PATH_MAX];
	const struct gt_inject_request request = {
		.pid = (pid_t)pid,
		.library = library,
		.function = ATTACH_ENTRY,
		.argument = argument,
		.answer_ns = ANSWER_NS,
	};
	struct gt_inject_result result = {0};
	sigset_t ends, before;
	int status = find_beside(ENTRY_LIBRARY, library);

	if (status)
		return status;
	/* a signal that ended this process now would leave the other one with a stopped thread */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	status = gt_inject(&request, &result);
	gt_guard_restore(); /* SIGBUS belongs to the program that uses this library */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	*answer = result.answer;
	return status;
}

/* Pass a request in parts. */
static int call_in_parts(uint32_t pid, const char *text, int *answer)
{
	const char *end = text + strlen(text);
	char part[PART_BYTES + 3];
	int status = 0;

	*answer = 0;
	for (const char *at = text; at < end && !status && !*answer;) {
		size_t bytes = (size_t)(end - at) < PART_BYTES ? (size_t)(end - at) : PART_BYTES;

		part[0] = at == text ? ATTACH_BEGIN : ATTACH_MORE;
		part[1] = at + bytes == end ? ATTACH_LAST : ATTACH_PART;
		memcpy(part + 2, at, bytes);
		part[2 + bytes] = '\0';
		at += bytes;
		status = call(pid, part, answer);
	}
	return status;
}

/* Requests ------------------------------------------------------------------------------------ */

static const char *get_tools(void)
{
	const char *tools = secure_getenv("ROCPROF_ATTACH_TOOL_LIBRARY");

	return tools ? tools : "librocprofiler-sdk-tool.so.1";
}

/* A library is opened in the process, which may have another root folder. */
static int check_visible(uint32_t pid, const char *path, const char *what)
{
	char its_path[PATH_MAX + 32];
	struct stat st;

	snprintf(its_path, sizeof its_path, "/proc/%u/root%s", pid, path);
	if (stat(its_path, &st) == 0 ? S_ISREG(st.st_mode) : errno != ENOENT && errno != ENOTDIR)
		return 0; /* or not known: dlopen() will say it there */
	return FAIL(-EINVAL, "process %u does not see the %s %s", pid, what, path);
}

static int check_tools(uint32_t pid, const char *tools)
{
	char path[PATH_MAX];
	bool found = false;
	int status = 0;

	for (size_t n; *tools && !status; tools += n + (tools[n] != '\0')) {
		n = strcspn(tools, ":");
		if (!n)
			continue;
		if (n >= sizeof path)
			return FAIL(-EINVAL, "the path of a tool library is too long");
		memcpy(path, tools, n);
		path[n] = '\0';
		found = true;
		if (path[0] == '/')
			status = check_visible(pid, path, "tool library");
	}
	return found || status ? status
			       : FAIL(-EINVAL, "ROCPROF_ATTACH_TOOL_LIBRARY names no library");
}

/* Return true if a variable is passed to the process. Upstream does not pass
 * ROCPROFILER_REGISTER_LIBRARY; ROCP_TOOL_LIBRARIES would replace the tools. */
static bool is_passed(const char *variable)
{
	if (strncmp(variable, "ROCP", 4) != 0 || !strchr(variable, '=') ||
	    !strncmp(variable, "ROCPROFILER_REGISTER_LIBRARY=", 29) ||
	    !strncmp(variable, "ROCP_TOOL_LIBRARIES=", 20))
		return false;
	if (!strchr(variable, ATTACH_SEPARATOR))
		return true;
	fprintf(stderr, "gputap: %.*s is not passed on: its value has a control character\n",
		(int)strcspn(variable, "="), variable);
	return false;
}

/* Make the text of attach_entry.h. Return NULL without memory. */
static char *make_request(const char *sdk, const char *tools)
{
	static const char separator[] = {ATTACH_SEPARATOR, '\0'};
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (!f)
		return NULL;
	fprintf(f, "%d%s%s%s%s", getpid(), separator, sdk, separator, tools);
	for (char **v = environ; *v; v++)
		if (is_passed(*v))
			fprintf(f, "%s%s", separator, *v);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* The list ------------------------------------------------------------------------------------ */

static bool is_alive(const struct attached *a)
{
	struct gt_proc_stat stat;

	return gt_proc_read_stat(a->pid, &stat) && stat.start == a->start && stat.state != 'X' &&
	       (stat.state != 'Z' || stat.threads > 1);
}

static void forget(size_t at)
{
	all.list[at] = all.list[--all.count];
}

/* Return the number of the entry, or `all.count`. */
static size_t find_attached(uint32_t pid)
{
	size_t at = 0;

	while (at < all.count && all.list[at].pid != pid)
		at++;
	return at;
}

static int check_pid(int pid)
{
	size_t at;

	if (pid <= 0)
		return FAIL(-EINVAL, "%d is not a process", pid);
	if (pid == getpid())
		return FAIL(-EINVAL, "process %d is the attaching process", pid);
	at = find_attached((uint32_t)pid);
	if (at < all.count && is_alive(&all.list[at]))
		return FAIL(-EINVAL, "process %d is attached already", pid);
	if (at < all.count)
		forget(at);
	return 0;
}

/* Attaching ----------------------------------------------------------------------------------- */

static int attach_with(uint32_t pid, const char *sdk, const char *tools)
{
	char *text = make_request(sdk, tools);
	int answer, status;

	if (!text)
		return gt_error(-ENOMEM, "no memory to attach");
	status = call_in_parts(pid, text, &answer);
	free(text);
	return status ? status : explain_answer(pid, tools, answer);
}

static int attach_one(int pid, uint32_t root)
{
	struct attached made = {(uint32_t)pid, root, 0}, *more;
	const char *tools = get_tools();
	struct gt_proc_stat stat;
	char sdk[PATH_MAX];
	int status = check_pid(pid);

	if (status)
		return status;
	if (gt_proc_read_stat((uint32_t)pid, &stat))
		made.start = stat.start;
	if (!is_alive(&made))
		return FAIL(-ESRCH, "there is no process %d", pid);
	status = check_tools((uint32_t)pid, tools);
	status = status ? status : find_beside(SDK_LIBRARY, sdk);
	status = status ? status : check_visible((uint32_t)pid, sdk, "library");
	if (status)
		return status;
	more = gt_grow(all.list, all.count, &all.room, sizeof *more);
	if (!more)
		return gt_error(-ENOMEM, "no memory to attach");
	all.list = more;
	status = attach_with((uint32_t)pid, sdk, tools);
	if (!status)
		all.list[all.count++] = made;
	return status;
}

static int detach_at(size_t at)
{
	const struct attached a = all.list[at];
	int answer = 0, status;

	forget(at);
	if (!is_alive(&a))
		return FAIL(-ESRCH, "process %u has ended", a.pid);
	status = call(a.pid, (const char[]){ATTACH_DETACH, '\0'}, &answer);
	return status ? status : explain_answer(a.pid, "that was attached", answer);
}

rocattach_status_t rocattach_attach(int pid)
{
	rocattach_status_t status;

	pthread_mutex_lock(&all.lock);
	status = report(attach_one(pid, 0));
	pthread_mutex_unlock(&all.lock);
	return status;
}

rocattach_status_t rocattach_detach(int pid)
{
	rocattach_status_t status = ROCATTACH_STATUS_SUCCESS;
	size_t at;

	pthread_mutex_lock(&all.lock);
	at = find_attached((uint32_t)pid);
	if (pid == 0)
		while (all.count)
			report(detach_at(0));
	else
		status = report(at < all.count ? detach_at(at)
					       : FAIL(-EINVAL, "process %d is not attached", pid));
	pthread_mutex_unlock(&all.lock);
	return status;
}

/* Trees --------------------------------------------------------------------------------------- */

struct tree {
	uint32_t *pids;
	size_t count, room;
};

static void add_process(uint32_t pid, void *data)
{
	struct tree *t = data;
	uint32_t *more;

	if (t->count == PROCESSES_MOST || pid == (uint32_t)getpid())
		return;
	more = gt_grow(t->pids, t->count, &t->room, sizeof *more);
	if (!more)
		return;
	t->pids = more;
	t->pids[t->count++] = pid;
}

/* Return true if a tool has something to trace. Shells and other helpers are left alone. */
static bool uses_rocm(uint32_t pid)
{
	static const char *const parts[] = {"libhsa-runtime64.so", "libamdhip64.so",
					    "librocprofiler-register.so"};

	return gt_proc_find_mapped(pid, parts, sizeof parts / sizeof *parts) != 0;
}

static void list_tree(uint32_t root, struct tree *t)
{
	struct gt_proc_stat stat;

	add_process(root, t);
	for (size_t i = 0; i < t->count; i++)
		if (gt_proc_read_stat(t->pids[i], &stat))
			gt_proc_each_child(t->pids[i], stat.threads, add_process, t);
}

static rocattach_status_t attach_tree(int root)
{
	rocattach_status_t last = report(attach_one(root, (uint32_t)root)), status;
	struct tree t = {0};

	if (last)
		return last;
	list_tree((uint32_t)root, &t);
	for (size_t i = 1; i < t.count; i++) {
		if (!uses_rocm(t.pids[i]))
			continue;
		status = report(attach_one((int)t.pids[i], (uint32_t)root));
		if (status)
			last = status;
	}
	free(t.pids);
	return last;
}

rocattach_status_t rocattach_attach_tree(int pid)
{
	rocattach_status_t status;

	pthread_mutex_lock(&all.lock);
	status = attach_tree(pid);
	pthread_mutex_unlock(&all.lock);
	return status;
}

rocattach_status_t rocattach_detach_tree(int pid)
{
	rocattach_status_t last = ROCATTACH_STATUS_SUCCESS;
	bool found = false;

	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; pid > 0 && i < all.count;) {
		rocattach_status_t status;

		if (all.list[i].root != (uint32_t)pid) {
			i++;
			continue;
		}
		found = true;
		status = report(detach_at(i)); /* removes the entry */
		if (status)
			last = status;
	}
	if (!found)
		last = report(FAIL(-EINVAL, "process %d is not attached with its tree", pid));
	pthread_mutex_unlock(&all.lock);
	return last;
}
