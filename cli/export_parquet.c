/* SPDX-License-Identifier: MIT */
/* See export_parquet.h. Checks the options and the captures, finds Python and the package, and
 * executes gputap.parquet (python/src/gputap/parquet.py).
 *
 *   python3: GPUTAP_PYTHON, or in PATH
 *   package: python/src beside the build folder, or DATADIR/gputap/python of an installed copy, or
 *            wherever Python finds it */
#include "cli/export_parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/ui.h"
#include "config.h"

extern char **environ;

#define LIBRARY_ENV "GPUTAP_CAPTURE_LIBRARY"
#define PYTHON_ENV  "GPUTAP_PYTHON"
#define LIBRARY     "libgputap-capture.so.0"

/* Without the current folder, whose files could have the same names as modules. */
#define WITHOUT_CURRENT_FOLDER "import sys\nif sys.path[0] == '': del sys.path[0]\n"

enum { FINE, OLD_PYTHON = 3, NO_PACKAGE, NO_PYARROW };
static const char check[] =
	WITHOUT_CURRENT_FOLDER "from importlib.util import find_spec as f\n"
			       "sys.exit(3 if sys.version_info < (3, 9)\n"
			       "  else 4 if not (f('gputap') and f('gputap.parquet'))\n"
			       "  else 5 if not f('pyarrow') else 0)\n";
static const char run[] =
	WITHOUT_CURRENT_FOLDER "from gputap.parquet import main\nsys.exit(main())\n";

bool export_is_parquet(const struct export_request *request)
{
	size_t length = strlen(request->output);

	if (request->format)
		return !strcmp(request->format, "parquet") || !strcmp(request->format, ".parquet");
	while (length && request->output[length - 1] == '/')
		length--;
	return length > strlen(".parquet") &&
	       !strncmp(request->output + length - strlen(".parquet"), ".parquet",
			strlen(".parquet"));
}

/* Environment ---------------------------------------------------------------------- */

static bool use_package(const char *folder)
{
	const char *rest = getenv("PYTHONPATH");
	char file[2 * PATH_MAX], real[PATH_MAX], *value;

	snprintf(file, sizeof file, "%s/gputap/parquet.py", folder);
	if (access(file, R_OK) || !realpath(folder, real) || strchr(real, ':'))
		return false;
	if (asprintf(&value, "%s%s%s", real, rest && *rest ? ":" : "", rest ? rest : "") < 0)
		return false;
	setenv("PYTHONPATH", value, 1);
	free(value);
	return true;
}

static bool use_library(const char *folder)
{
	char file[2 * PATH_MAX];

	snprintf(file, sizeof file, "%s/" LIBRARY, folder);
	return !access(file, R_OK) && !setenv(LIBRARY_ENV, file, 1);
}

/* Let Python find the package and the library that belong to this command. */
static void set_environment(void)
{
	char self[PATH_MAX], at[2 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *library = getenv(LIBRARY_ENV);

	self[n > 0 ? n : 0] = '\0';
	if (n > 0)
		*strrchr(self, '/') = '\0';
	snprintf(at, sizeof at, "%s/../python/src", self);
	if (!use_package(at)) {
		snprintf(at, sizeof at, "%s/" GPUTAP_DATADIR_FROM_BINDIR "/gputap/python", self);
		if (!use_package(at))
			use_package(GPUTAP_DATADIR "/gputap/python");
	}
	if (library && *library)
		return;
	snprintf(at, sizeof at, "%s/" GPUTAP_LIBDIR_FROM_BINDIR, self);
	if (!use_library(self) && !use_library(at))
		use_library(GPUTAP_LIBDIR);
}

static const char *find_python(void)
{
	const char *python = getenv(PYTHON_ENV);

	return python && *python ? python : "python3";
}

/* Run the check. Return its exit status, or negative errno. */
static int run_check(const char *python)
{
	char *argv[] = {(char *)(uintptr_t)python, (char[]){"-c"}, (char *)(uintptr_t)check, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	status = -posix_spawnp(&pid, python, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (status)
		return status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Return GT_EXIT_OK if Python can write Parquet. Otherwise say what is missing. */
static int check_python(const char *python)
{
	const int status = run_check(python);

	switch (status) {
	case FINE: return GT_EXIT_OK;
	case OLD_PYTHON:
		return ui_fail(GT_EXIT_FAILURE,
			       "Parquet needs Python 3.9 or later with pyarrow, and %s is older: "
			       "name another in " PYTHON_ENV,
			       python);
	case NO_PACKAGE:
		return ui_fail(GT_EXIT_FAILURE,
			       "Parquet needs gputap's Python package, which %s does not find: "
			       "install gputap again, or name the folder in PYTHONPATH",
			       python);
	case NO_PYARROW:
		return ui_fail(GT_EXIT_FAILURE,
			       "Parquet needs pyarrow, which %s does not have: '%s -m pip install "
			       "pyarrow', or name a Python that has it in " PYTHON_ENV,
			       python, python);
	}
	if (status < 0)
		return ui_fail(GT_EXIT_FAILURE,
			       "Parquet needs Python 3.9 or later with pyarrow, but %s cannot be "
			       "executed (%s): name another in " PYTHON_ENV,
			       python, strerror(-status));
	return ui_fail(GT_EXIT_FAILURE,
		       "Parquet needs Python 3.9 or later with pyarrow, but %s ends with status "
		       "%d: name another in " PYTHON_ENV,
		       python, status);
}

/* The command line ------------------------------------------------------------------- */

static char *join(const char *option, const char *value)
{
	char *text;

	return asprintf(&text, "%s%s", option, value) < 0 ? NULL : text;
}

/* Replace this process. Return the exit code if that fails. */
static int execute(const struct export_request *request, const struct capture_inputs *in,
		   const char *python)
{
	enum { OPTIONS = 12 };
	const char **argv = calloc(OPTIONS + in->count, sizeof *argv);
	char jobs[16];
	size_t n = 0;

	if (!argv)
		return ui_fail(GT_EXIT_FAILURE, "out of memory");
	argv[n++] = python;
	argv[n++] = "-c";
	argv[n++] = run;
	argv[n++] = join("--output=", request->output);
	if (request->replace)
		argv[n++] = "--force";
	if (request->where)
		argv[n++] = join("--where=", request->where);
	if (request->part)
		argv[n++] = join("--part=", request->part);
	snprintf(jobs, sizeof jobs, "--jobs=%u", request->jobs);
	if (request->jobs)
		argv[n++] = jobs;
	if (in->left_out)
		argv[n++] = "--incomplete";
	argv[n++] = "--";
	for (size_t i = 0; i < in->count; i++)
		argv[n++] = in->paths[i];
	execvp(python, (char **)(uintptr_t)argv);
	/* the few strings that were joined are freed at exit */
	free(argv);
	return ui_fail(GT_EXIT_FAILURE, "cannot execute %s: %m", python);
}

int export_parquet(const struct export_request *request)
{
	const char *python = find_python();
	struct capture_inputs in;
	int code;

	if (request->weight)
		return ui_fail(GT_EXIT_USAGE, "--weight applies to stacks (folded, speedscope)");
	if (request->mangled)
		return ui_fail(GT_EXIT_USAGE,
			       "--mangled does not apply to Parquet, whose names are demangled");
	code = inputs_choose(&in, request->inputs, request->input_count);
	if (code)
		return code;
	for (size_t i = 0; i < in.count && !code; i++)
		if (inputs_are_same(in.paths[i], request->output))
			code = inputs_report_same(request->output);
	if (!code) {
		set_environment();
		code = check_python(python);
	}
	if (!code)
		code = execute(request, &in, python);
	inputs_fini(&in);
	return code;
}
