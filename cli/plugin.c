/* SPDX-License-Identifier: MIT */
/* gputap plugin: tests a vendor's plug-in against the rules of docs/tools/vendor-plugin.md. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/plugin_check.h"
#include "cli/ui.h"
#include "util/clock_ns.h"

static const char help[] =
	"gputap plugin check [options] FILE.so\n"
	"gputap plugin rules\n"
	"\n"
	"Check whether a vendor's plug-in for torch.profiler and gputap keeps the rules\n"
	"of docs/tools/vendor-plugin.md. Each test runs in its own process, so that a\n"
	"crash or a hang is reported as well. Tests that need GPU activity call the\n"
	"plug-in's pu1Exercise().\n"
	"\n"
	"Examples\n"
	"  gputap plugin check ./libmy_vendor_pu1.so\n"
	"  gputap plugin check --exercise ./libmy_tests.so ./libmy_vendor_pu1.so\n"
	"  gputap plugin rules                     print the rules, with their numbers\n"
	"\n"
	"Options\n"
	"      --exercise FILE   call FILE's pu1Exercise() if the plug-in has none\n"
	"      --seconds N       time limit per test; default: 10. After a time-out, the\n"
	"                        remaining tests get a quarter of this limit\n"
	"  -v, --verbose         also show rules that are kept or not applicable\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 all rules that could be tested are kept; 1 a rule is broken.\n";

enum { SECONDS = 10, SILENT_SECONDS = 2, OPTION_EXERCISE = 256, OPTION_SECONDS };

static const struct option options[] = {
	{"exercise", required_argument, NULL, OPTION_EXERCISE},
	{"seconds", required_argument, NULL, OPTION_SECONDS},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char *const sentences[GT_RULE_COUNT] = {
#define X(name, sentence) [GT_RULE_##name] = sentence,
#include "cli/plugin_rules.inc"
#undef X
};

enum state { UNTRIED, KEPT, BROKEN, ABSENT, STATES };

static const char *const state_names[STATES] = {"skipped", "kept", "broken", "n/a"};

struct outcome {
	enum state state;
	char how[512];
};

#define SECOND_NS UINT64_C(1000000000)

struct check {
	const char *path, *exercise;
	unsigned seconds;
	bool verbose, has_activity;
	bool stopped; /* true if loading failed, so that later rules were not tested */
	bool hung;    /* true if a trial did not return */
	struct outcome outcomes[GT_RULE_COUNT];
};

static int print_rules(void)
{
	for (int i = 1; i < GT_RULE_COUNT; i++)
		printf("%2d  %s\n", i, sentences[i]);
	return GT_EXIT_OK;
}

/* Trials ----------------------------------------------------------------------- */

static void break_rule(struct check *c, uint32_t rule, const char *how)
{
	struct outcome *o = &c->outcomes[rule];

	if (rule == GT_RULE_NONE || rule >= GT_RULE_COUNT || o->state == BROKEN)
		return;
	o->state = BROKEN;
	snprintf(o->how, sizeof o->how, "%s", how);
}

/* Run a trial in the forked process. Does not return. */
static void run_trial(const struct check *c, const struct gt_trial_kind *kind, int pipe)
{
	static struct gt_trial trial;
	bool loads = kind == &gt_trials[0];

	trial = (struct gt_trial){.path = c->path, .exercise = c->exercise, .pipe = pipe};
	trial.trying = (enum gt_rule)kind->rules[0];
	if (!loads && !gt_trial_open(&trial))
		_exit(2);
	if (kind->needs_activity && !trial.activity)
		gt_trial_report(&trial, GT_TRIAL_UNTRIED, GT_RULE_NONE,
				"no library exports pu1Exercise()");
	else
		kind->run(&trial);
	gt_trial_report(&trial, GT_TRIAL_ENDED, GT_RULE_NONE, "-");
	exit(0); /* runs the plug-in's exit handlers, which are part of the trial */
}

struct listening {
	uint32_t trying;
	char call[256];
	bool reported, ended, untried;
};

static void listen_to(struct check *c, struct listening *l, const struct gt_trial_message *m)
{
	switch (m->news) {
	case GT_TRIAL_TRIES:
		l->trying = m->rule;
		snprintf(l->call, sizeof l->call, "%.*s", (int)sizeof m->text, m->text);
		break;
	case GT_TRIAL_BROKEN:
		break_rule(c, m->rule, m->text);
		l->reported = true;
		break;
	case GT_TRIAL_UNTRIED: l->untried = true; break;
	case GT_TRIAL_ABSENT:
		if (m->rule < GT_RULE_COUNT && c->outcomes[m->rule].state == UNTRIED)
			c->outcomes[m->rule].state = ABSENT;
		break;
	case GT_TRIAL_ENDED: l->ended = true; break;
	}
}

/* Receive all messages of a trial. Return false if the trial's time is over. */
static bool receive_all(struct check *c, struct listening *l, int pipe)
{
	unsigned seconds = c->hung && c->seconds > 3 ? c->seconds / 4 : c->seconds;
	uint64_t start = gt_clock_ns(CLOCK_MONOTONIC), end = start + seconds * SECOND_NS,
		 silent = start + SILENT_SECONDS * SECOND_NS;
	struct gt_trial_message m;

	for (;;) {
		uint64_t now = gt_clock_ns(CLOCK_MONOTONIC), until = silent < end ? silent : end;
		struct pollfd p = {.fd = pipe, .events = POLLIN};
		int ready = now < until ? poll(&p, 1, (int)((until - now) / 1000000) + 1) : 0;

		if (ready < 0 && errno == EINTR)
			continue;
		if (!ready && until == silent && silent < end) {
			silent = UINT64_MAX;
			ui_note("%s (rule %u): waiting for up to %u s", l->call, l->trying,
				seconds);
			continue;
		}
		if (ready <= 0)
			return false;
		if (read(pipe, &m, sizeof m) != sizeof m)
			return true;
		m.text[sizeof m.text - 1] = 0;
		listen_to(c, l, &m);
	}
}

static void judge_end(struct check *c, const struct listening *l, int status)
{
	char how[512];

	if (WIFSIGNALED(status))
		snprintf(how, sizeof how, "%s: %s", l->call, strsignal(WTERMSIG(status)));
	else if (!l->ended && !l->reported)
		snprintf(how, sizeof how, "%s: the process exited with status %d", l->call,
			 WEXITSTATUS(status));
	else if (l->ended && WEXITSTATUS(status))
		snprintf(how, sizeof how, "exit(0) ended with status %d", WEXITSTATUS(status));
	else
		return;
	break_rule(c, l->trying, how);
}

static void keep_rest(struct check *c, const struct gt_trial_kind *kind, const struct listening *l)
{
	for (const uint8_t *rule = kind->rules; *rule; rule++)
		if (c->outcomes[*rule].state == UNTRIED && l->ended && !l->untried)
			c->outcomes[*rule].state = KEPT;
	if (l->untried)
		c->has_activity = false;
}

static int start_trial(struct check *c, const struct gt_trial_kind *kind)
{
	struct listening l = {.trying = kind->rules[0], .call = "loading it"};
	int ends[2], status;
	char how[512];
	pid_t child;

	fflush(NULL);
	if (pipe(ends) || (child = fork()) < 0)
		return ui_fail(GT_EXIT_FAILURE, "cannot start a test: %m");
	if (!child) {
		close(ends[0]);
		setpgid(0, 0);
		run_trial(c, kind, ends[1]);
	}
	close(ends[1]);
	if (!receive_all(c, &l, ends[0])) {
		snprintf(how, sizeof how, "%s: did not return", l.call);
		break_rule(c, l.trying, how);
		l.reported = c->hung = true;
		kill(child, SIGKILL);
	}
	close(ends[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!l.reported || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		judge_end(c, &l, status);
	kill(-child, SIGKILL); /* also kills processes that the trial forked */
	keep_rest(c, kind, &l);
	return GT_EXIT_OK;
}

/* Report ----------------------------------------------------------------------- */

static void print_outcome(const struct check *c, int rule)
{
	const struct outcome *o = &c->outcomes[rule];
	const struct ui_colors *color = ui_colors(stdout);

	if ((o->state == KEPT || o->state == ABSENT) && !c->verbose)
		return;
	printf("%s%-8s%s%2d  ",
	       o->state == BROKEN ? color->red
	       : o->state == KEPT ? color->green
				  : color->dim,
	       state_names[o->state], color->reset, rule);
	ui_wrap(stdout, 12, 12, sentences[rule]);
	if (o->state == BROKEN) {
		printf("\n            ");
		ui_wrap(stdout, 12, 12, o->how);
	}
	putchar('\n');
}

static int report(const struct check *c)
{
	unsigned counts[STATES] = {0};

	for (int i = 1; i < GT_RULE_COUNT; i++) {
		if (!c->stopped || c->outcomes[i].state != UNTRIED)
			print_outcome(c, i);
		counts[c->outcomes[i].state]++;
	}
	if (c->stopped)
		printf("%sskipped%s     All other rules need a plug-in that loads and registers.\n",
		       ui_colors(stdout)->dim, ui_colors(stdout)->reset);
	printf("%s: %u rules kept, %u broken, %u skipped", c->path, counts[KEPT], counts[BROKEN],
	       counts[UNTRIED]);
	if (counts[ABSENT])
		printf(", %u not applicable (missing groups)", counts[ABSENT]);
	putchar('\n');
	if (!c->has_activity)
		printf("  rules about records need GPU activity: export pu1Exercise(), or use\n"
		       "  --exercise FILE\n");
	return counts[BROKEN] ? GT_EXIT_FAILURE : GT_EXIT_OK;
}

/* Return true if the trial that loads the plug-in ended early because it could not continue. */
static bool stop_at_loading(struct check *c)
{
	int first = 1;

	for (; first <= GT_RULE_NAMED; first++)
		if (c->outcomes[first].state == BROKEN && first != GT_RULE_SILENT &&
		    !(first == GT_RULE_NAMED && strstr(c->outcomes[first].how, "name")))
			break;
	c->stopped = first <= GT_RULE_NAMED;
	for (int i = first + 1; c->stopped && i < GT_RULE_COUNT; i++)
		if (c->outcomes[i].state == KEPT && (i != GT_RULE_SILENT || first <= GT_RULE_LOADS))
			c->outcomes[i].state = UNTRIED;
	return c->stopped;
}

static int check_plugin(struct check *c)
{
	char real[PATH_MAX];

	if (!realpath(c->path, real))
		return ui_fail(GT_EXIT_FAILURE, "cannot read %s: %m", c->path);
	c->path = real; /* dlopen() would search other folders for a name without a slash */
	c->has_activity = true;
	for (size_t i = 0; i < gt_trial_count; i++) {
		int code = start_trial(c, &gt_trials[i]);

		if (code)
			return code;
		if (i == 0 && stop_at_loading(c))
			break;
	}
	return report(c);
}

static int run_plugin_command(int argc, char **argv)
{
	struct check c = {.seconds = SECONDS};
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
		switch (option) {
		case OPTION_EXERCISE:
			c.exercise = realpath(optarg, NULL);
			if (!c.exercise)
				return ui_fail(GT_EXIT_FAILURE, "cannot read %s: %m", optarg);
			break;
		case OPTION_SECONDS:
			c.seconds = (unsigned)strtoul(optarg, NULL, 10);
			if (!c.seconds || c.seconds > 3600)
				return ui_fail(GT_EXIT_USAGE,
					       "--seconds %s: a number from 1 to 3600", optarg);
			break;
		case 'v': c.verbose = true; break;
		case 'h': fputs(help, stdout); return GT_EXIT_OK;
		default: return ui_bad_option("plugin", argv, options);
		}
	}
	if (optind == argc)
		return ui_fail(GT_EXIT_USAGE, "no command given: 'gputap plugin check FILE.so' or "
					      "'gputap plugin rules'");
	if (!strcmp(argv[optind], "rules") && optind + 1 == argc)
		return print_rules();
	if (strcmp(argv[optind], "check"))
		return ui_unknown("plugin command", argv[optind],
				  (const char *const[]){"check", "rules", NULL});
	if (optind + 2 != argc)
		return ui_fail(GT_EXIT_USAGE, "name one plug-in: 'gputap plugin check FILE.so'");
	c.path = argv[optind + 1];
	return check_plugin(&c);
}

const struct gt_command gt_command_plugin = {"plugin", "check a vendor's plug-in",
					     run_plugin_command};
