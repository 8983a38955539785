/* SPDX-License-Identifier: MIT */
/* exec_bad: passes pointers that the kernel refuses to the exec family and prints the result of
 * each call. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

extern char **environ;

static char *good[] = {"KEPT=1", NULL}, *arguments[] = {"true", NULL};

/* Map two pages and make the second inaccessible. Return the end of the first. */
static char *edge(void)
{
	char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(at + PAGE, PAGE);
	return at + PAGE;
}

/* Fork a child for each call, because a successful exec would end this program. */
static void show(const char *what, int way, const char *path, char *const *argv, char *const *envp)
{
	static const char *const ways[] = {"execve",   "execv",       "execvpe",     "fexecve",
					   "execveat", "posix_spawn", "posix_spawnp"};
	int status, rc = 0;
	pid_t pid, spawned;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		environ = way == 1 ? (char **)(uintptr_t)envp : environ;
		if (way == 0)
			execve(path, argv, envp);
		else if (way == 1)
			execv(path, argv);
		else if (way == 2)
			execvpe(path, argv, envp);
		else if (way == 3)
			fexecve(open("/bin/true", O_RDONLY), argv, envp);
		else if (way == 4)
			execveat(AT_FDCWD, path, argv, envp, 0);
		else
			rc = (way == 5 ? posix_spawn : posix_spawnp)(&spawned, path, NULL, NULL,
								     argv, envp);
		if (way >= 5 && rc == 0)
			_exit(waitpid(spawned, &status, 0) == spawned ? status >> 8 : 98);
		_exit(100 + (way >= 5 ? rc : errno));
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s, %s: signal %d\n", ways[way], what, WTERMSIG(status));
	else
		printf("%s, %s: %d\n", ways[way], what, WEXITSTATUS(status));
}

int main(void)
{
	char *bad = (char *)(uintptr_t)16, *unterminated = edge(), *crossing,
	     **cut = (char **)(uintptr_t)edge();

	memset(unterminated -= 8, 'x', 8);
	crossing = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(crossing, 'x', PAGE + 8);
	*--cut = "KEPT=1"; /* the next pointer is unreadable */
	for (int way = 0; way < 7; way++) {
		show("all good", way, "/bin/true", arguments, good);
		show("a text over two pages", way, "/bin/true", arguments,
		     (char *[]){crossing, NULL});
		show("no environment", way, "/bin/true", arguments, NULL);
		show("environment", way, "/bin/true", arguments, (char *const *)(uintptr_t)bad);
		show("a text", way, "/bin/true", arguments, (char *[]){"KEPT=1", bad, NULL});
		show("a text without end", way, "/bin/true", arguments,
		     (char *[]){unterminated, NULL});
		show("environment without end", way, "/bin/true", arguments, cut);
		show("arguments", way, "/bin/true", (char *const *)(uintptr_t)bad, good);
		if (way != 2 && way != 6) /* in these two cases, libc itself reads the path */
			show("path", way, bad, arguments, good);
	}
	return 0;
}
