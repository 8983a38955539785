/* SPDX-License-Identifier: MIT */
/* gputap: finds and runs a command. Each command is a separate file in this folder. */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "collector/target.h"
#include "config.h"

static const struct gt_command *const commands[] = {
	&gt_command_run,    &gt_command_attach,   &gt_command_detach,  &gt_command_report,
	&gt_command_diff,   &gt_command_export,   &gt_command_info,    &gt_command_merge,
	&gt_command_list,   &gt_command_recover,  &gt_command_top,     &gt_command_doctor,
	&gt_command_plugin, &gt_command_soft,     &gt_command_start,   &gt_command_stop,
	&gt_command_status, &gt_command_snapshot, &gt_command_what_if,
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const struct gt_command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void print_all_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("Record what a program does on its GPUs, and show where the time went.\n\n"
	       "%sStart here%s\n"
	       "  gputap run -o prog.gputap ./prog args   trace it and print a short report\n"
	       "  gputap report prog.gputap               show where the time went\n"
	       "  gputap export prog.gputap -o prog.pftrace\n"
	       "                                          then open it at ui.perfetto.dev\n"
	       "  gputap doctor                           show what can be traced here\n\n"
	       "%sCommands%s\n",
	       c->bold, c->reset, c->bold, c->reset);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %s%-8s%s  %s\n", c->cyan, commands[i]->name, c->reset,
		       commands[i]->summary);
	printf("\nRun 'gputap COMMAND --help' for the options of a command, 'man gputap-COMMAND'\n"
	       "for its manual page, 'gputap --version' for the version.\n");
}

static int print_version(void)
{
	printf("gputap %s\n", GPUTAP_VERSION);
	return GT_EXIT_OK;
}

static int unknown_command(const char *word)
{
	const char *names[COMMAND_COUNT + 2];
	struct gt_target program;
	size_t n = 0;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[n++] = commands[i]->name;
	names[n++] = "help";
	names[n] = NULL;

	if (text_ends_with(word, ".gputap"))
		return ui_fail(GT_EXIT_USAGE,
			       "'%s' is not a command; did you mean 'gputap report %s'?", word,
			       word);
	gt_target_look(word, &program);
	if (program.executable)
		return ui_fail(GT_EXIT_USAGE,
			       "'%s' is not a command; did you mean 'gputap run %s'?", word, word);
	return ui_unknown("command", word, names);
}

/* Return @code, or a failure if the output could not be written. */
static int finish_output(int code)
{
	int status = ui_flush(stdout);

	if (!status)
		return code;
	ui_fail(code, "cannot write to standard output: %s", strerror(-status));
	return code == GT_EXIT_OK ? GT_EXIT_FAILURE : code;
}

struct invocation {
	const struct gt_command *command;
	int argc;
	char **argv;
};

static int call_command(void *data)
{
	const struct invocation *call = data;

	return call->command->run(call->argc, call->argv);
}

static int run_command(const struct gt_command *command, int argc, char **argv)
{
	struct invocation call = {command, argc, argv};
	int code;

	ui_command = command->name;
	code = guard_memory(call_command, &call);
	if (code < 0)
		code = ui_fail(GT_EXIT_FAILURE, "%s", "");
	return finish_output(code);
}

static int help_for(int argc, char **argv)
{
	const struct gt_command *command;
	char *args[3];

	if (argc < 3) {
		print_all_help();
		return finish_output(GT_EXIT_OK);
	}
	command = find_command(argv[2]);
	if (!command)
		return unknown_command(argv[2]);
	args[0] = argv[2];
	args[1] = (char[]){"--help"};
	args[2] = NULL;
	return run_command(command, 2, args);
}

static void ignore_signal(int number)
{
	(void)number;
}

/* Turn writing beyond `ulimit -f` into an error that is reported and leaves no unfinished files. A
 * handler is used instead of SIG_IGN, so that programs started by gputap get the default action
 * again. */
static void survive_file_limit(void)
{
	struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART}, old;

	if (!sigaction(SIGXFSZ, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
	const struct gt_command *command;

	survive_file_limit();
	/* allows any character in names, while numbers keep the decimal point */
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		print_all_help();
		return GT_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help_for(argc, argv);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version"))
		return finish_output(print_version());
	if (argv[1][0] == '-') {
		const char *near =
			nearest_name(argv[1], (const char *const[]){"--help", "--version", NULL});

		if (near)
			return ui_fail(GT_EXIT_USAGE,
				       "unknown option %s before the command; did you mean %s?",
				       argv[1], near);
		ui_fail(GT_EXIT_USAGE, "unknown option %s before the command", argv[1]);
		fprintf(stderr, "  'gputap run PROGRAM ARGS' traces a program, 'gputap --help' "
				"lists commands\n");
		return GT_EXIT_USAGE;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return run_command(command, argc - 1, argv + 1);
}
