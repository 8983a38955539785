/* SPDX-License-Identifier: MIT */
/* Tries a plug-in's registration in a separate process, to find out whether it kills or blocks a
 * process.
 *
 *   host ── fork ──► trial: loads the plug-in, registers it, describes it
 *        ◄── pipe ── struct gt_plugin_trial, one write
 *
 * The host may have threads, so the child calls nothing but the dynamic linker and the plug-in. The
 * child is killed after TRIAL_NS, because it may wait for a lock that another thread held at the
 * fork. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plugin/plugin_parts.h"

#define TRIAL_NS UINT64_C(5000000000)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Return true for libraries that any program may have. */
static bool is_common(const char *name)
{
	static const char *const common[] = {"libc.so",    "libm.so",      "libdl.so",
					     "libpthread", "librt.so",     "libstdc++.so",
					     "libgcc_s",   "ld-linux",     "libgomp.so",
					     "libz.so",    "libatomic.so", "libc++"};

	for (size_t i = 0; i < sizeof common / sizeof *common; i++)
		if (!strncmp(name, common[i], strlen(common[i])))
			return true;
	return false;
}

static void list_needs(void *handle, char *needs, size_t size)
{
	const struct link_map *map = NULL;
	const char *strings = NULL;
	size_t used = 0;

	needs[0] = '\0';
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map)
		return;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
	for (const ElfW(Dyn) *d = map->l_ld; strings && d->d_tag != DT_NULL; d++) {
		const char *name = strings + d->d_un.d_val;

		if (d->d_tag == DT_NEEDED && !is_common(name) && !strpbrk(name, "\t\n") &&
		    used + strlen(name) + 2 < size)
			used += (size_t)sprintf(needs + used, "\t%s", name);
	}
}

/* Run the trial in the forked process. Does not return. */
static void try_plugin(const char *path, int pipe)
{
	static struct gt_plugin plugin;
	static struct gt_plugin_trial a;
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpgid(0, 0);
	for (int fd = 0; fd <= 2; fd++)
		dup2(nowhere, fd);
	a.good = gt_plugin_open(&plugin, path, a.why, sizeof a.why);
	if (a.good) {
		snprintf(a.why, sizeof a.why, "%s", plugin.about.name);
		list_needs(plugin.handle, a.needs, sizeof a.needs);
	}
	_exit(write(pipe, &a, sizeof a) != sizeof a);
}

/* Receive the trial's answer. Return false if no answer came in time. */
static bool receive(int pipe, struct gt_plugin_trial *a)
{
	uint64_t end = now_ns() + TRIAL_NS, now;
	struct pollfd p = {.fd = pipe, .events = POLLIN};
	int ready;

	do {
		now = now_ns();
		ready = now < end ? poll(&p, 1, (int)((end - now) / 1000000) + 1) : 0;
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return false;
	if (read(pipe, a, sizeof *a) != sizeof *a)
		a->why[0] = '\0';
	return true;
}

void gt_plugin_try(const char *path, struct gt_plugin_trial *a)
{
	int ends[2], status = 0;
	bool answered;
	pid_t child;

	memset(a, 0, sizeof *a);
	fflush(NULL);
	if (pipe2(ends, O_CLOEXEC) || (child = fork()) < 0) {
		snprintf(a->why, sizeof a->why, "it cannot be tested: %s", strerror(errno));
		return;
	}
	if (!child)
		try_plugin(path, ends[1]);
	close(ends[1]);
	answered = receive(ends[0], a);
	close(ends[0]);
	kill(-child, SIGKILL); /* also kills processes that the child started */
	kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!answered)
		snprintf(a->why, sizeof a->why, "its registration does not return");
	else if (!a->why[0])
		snprintf(a->why, sizeof a->why, "its registration ends the process: %s",
			 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit()");
}
