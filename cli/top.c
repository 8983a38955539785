/* SPDX-License-Identifier: MIT */
/* gputap top: shows the current activity of a running session. Follows the session's capture while
 * it grows (capture/follow.h). The program and its collector are not affected. */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "capture/follow.h"
#include "cli/command.h"
#include "cli/top_print.h"
#include "cli/top_session.h"
#include "cli/ui.h"
#include "util/clock_ns.h"
#include "util/error.h"

#define NS UINT64_C(1000000000)
enum {
	LAG_MS = 300, /* delay after which completed records have reached the file */
	KEEP_S = 3,
	HEAD_LINES = 17, /* number of screen lines that are not table rows */
	ROWS_PLAIN = 10,
	PART_RECORDS = 1 << 20, /* number of records after which more may follow immediately */
};

struct top {
	const char *which;
	struct top_session session;
	/* of the views: interval, start of the first one, ends of the last two */
	uint64_t delay_ns, begin_ns, last_ns, before_ns;
	long count; /* number of views; 0: until the session ends */
	bool json, ended, quit, held, screen;
	enum top_order order;
	struct top_sums sums;
	struct gt_follow *follow;
	struct stuck_list stuck;
};

static void print_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap top%s [options] [SESSION]\n"
	       "Show the activity of a running session every second: devices, kernels, copies,\n"
	       "calls. SESSION is the name of the session's capture or the id of one of its\n"
	       "processes; default: the only session.\n"
	       "\n"
	       "%sExamples%s\n"
	       "  gputap top                    the session that runs here\n"
	       "  gputap top serve.gputap       the session that writes this capture\n"
	       "  gputap top --once --json      one second, for scripts\n"
	       "\n"
	       "%sOptions%s\n"
	       "  -d, --delay SECONDS   length and interval of each view; default: 1\n"
	       "  -n, --count N         end after N views\n"
	       "      --once            the same as --count 1\n"
	       "  -s, --sort ORDER      sort kernels, copies, calls by time, count, mean, name\n"
	       "      --json            print a JSON object for each view\n"
	       "  -h, --help\n"
	       "\n"
	       "Keys on a terminal: q quits, s selects the next sort column, p freezes the view,\n"
	       "r pauses or resumes the session's recording, w writes a snapshot.\n",
	       c->bold, c->reset, c->bold, c->reset, c->bold, c->reset);
}

/* Options -------------------------------------------------------------------------- */

static int parse_order(const char *word, enum top_order *order)
{
	for (int i = 0; i < TOP_ORDER_COUNT; i++)
		if (!strcmp(word, top_order_names[i])) {
			*order = (enum top_order)i;
			return GT_EXIT_OK;
		}
	return ui_unknown("order", word, top_order_names);
}

static int parse_delay(const char *word, uint64_t *ns)
{
	char *end;
	double seconds = strtod(word, &end);

	if (end == word || *end || !(seconds >= 0.1 && seconds <= 3600))
		return ui_fail(GT_EXIT_USAGE,
			       "--delay needs a number of seconds from 0.1 to 3600, not '%s'",
			       word);
	*ns = (uint64_t)(seconds * (double)NS);
	return GT_EXIT_OK;
}

static int parse_count(const char *word, long *count)
{
	char *end;

	*count = strtol(word, &end, 10);
	if (end == word || *end || *count < 1)
		return ui_fail(GT_EXIT_USAGE, "--count needs a number of views, not '%s'", word);
	return GT_EXIT_OK;
}

/* Return the exit code, or -1 to continue. */
static int parse_options(struct top *t, int argc, char **argv)
{
	static const struct option options[] = {
		{"delay", required_argument, NULL, 'd'},
		{"count", required_argument, NULL, 'n'},
		{"once", no_argument, NULL, 'O'},
		{"sort", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'J'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, rc = 0;

	opterr = 0;
	optind = 1;
	while (!rc && (c = getopt_long(argc, argv, ":d:n:s:h", options, NULL)) != -1)
		switch (c) {
		case 'd': rc = parse_delay(optarg, &t->delay_ns); break;
		case 'n': rc = parse_count(optarg, &t->count); break;
		case 'O': t->count = 1; break;
		case 's': rc = parse_order(optarg, &t->order); break;
		case 'J': t->json = true; break;
		case 'h': print_help(); return GT_EXIT_OK;
		default: return ui_bad_option("top", argv, options);
		}
	if (rc)
		return rc;
	if (argc - optind > 1)
		return ui_fail(GT_EXIT_USAGE, "only one session at a time; also given: '%s'",
			       argv[optind + 1]);
	t->which = argv[optind];
	return -1;
}

/* The screen ------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupted;
static struct termios terminal_before;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* Save the terminal's contents, which are restored at the end. */
static void open_screen(struct top *t)
{
	struct sigaction action = {.sa_handler = interrupt};
	struct termios raw;

	for (int i = 0; i < 3; i++)
		sigaction((const int[]){SIGINT, SIGTERM, SIGHUP}[i], &action, NULL);
	t->screen = !t->json && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) &&
		    !tcgetattr(STDIN_FILENO, &terminal_before);
	if (!t->screen)
		return;
	raw = terminal_before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	/* write each view at once */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	fputs("\033[?1049h\033[?25l", stdout);
}

static void close_screen(const struct top *t)
{
	if (!t->screen)
		return;
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

static size_t choose_rows(const struct top *t)
{
	struct winsize size;
	int rows;

	if (t->json)
		return 0;
	if (!t->screen || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row)
		return ROWS_PLAIN;
	rows = ((int)size.ws_row - HEAD_LINES - (int)t->sums.device_count) / 3;
	return rows < 2 ? 2 : (size_t)rows;
}

static const char *get_state(const struct top *t)
{
	if (t->ended)
		return "ended";
	if (t->sums.processes && t->sums.ended == t->sums.processes)
		return "all processes ended";
	return t->session.is_paused ? "paused" : "recording";
}

static void print_keys(const struct top *t)
{
	char text[256];

	snprintf(text, sizeof text, "%s%sq: quit, s: by %s, p: %s, r: %s, w: snapshot",
		 t->session.said, *t->session.said ? "; " : "", top_order_names[t->order],
		 t->held ? "unfreeze" : "freeze", t->session.is_paused ? "record" : "pause");
	putchar('\n');
	ui_put(stdout, text, ui_room(stdout) - 1);
}

static void print_view(const struct top *t, uint64_t from_ns, uint64_t to_ns)
{
	const struct top_view view = {
		.sums = &t->sums,
		.session = &t->session,
		.stuck = &t->stuck,
		.interval_ns = to_ns - from_ns,
		.elapsed_ns = to_ns - t->begin_ns,
		.from_ns = from_ns > t->begin_ns ? from_ns - LAG_MS * NS / 1000 : t->begin_ns,
		.to_ns = to_ns - LAG_MS * NS / 1000,
		.state = get_state(t),
		.order = t->order,
		.held = t->held,
		.rows = choose_rows(t),
	};

	if (t->json) {
		top_print_json(&view, stdout);
	} else {
		if (t->screen)
			fputs("\033[H\033[J", stdout);
		top_print_text(&view, stdout);
	}
	if (t->screen)
		print_keys(t);
	else if (!t->json && t->count != 1 && !t->ended)
		fputc('\n', stdout);
	fflush(stdout);
}

/* Following -------------------------------------------------------------------------- */

/* Read all new records. Return 0 or negative errno with a cause. */
static int read_new(struct top *t)
{
	bool over = top_session_is_over(&t->session);
	uint64_t calls, activity;
	int status;

	do { /* at a high rate, records come in several parts */
		struct gt_capture *capture;

		calls = t->sums.all_call_count;
		activity = t->sums.all_activity;
		status = gt_follow_next(t->follow, &capture, &t->ended);
		if (!status && capture) {
			status = top_sums_add(&t->sums, capture);
			gt_capture_close(capture);
		}
	} while (!status && !t->ended && !interrupted &&
		 t->sums.all_call_count - calls + t->sums.all_activity - activity > PART_RECORDS);
	if (over) /* the collector was killed, so the capture has no end and never gets one */
		t->ended = true;
	return status;
}

static void take_key(struct top *t)
{
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1)
		return;
	if (key == 'q' || key == 'Q')
		t->quit = true;
	else if (key == 's')
		t->order = (t->order + 1) % TOP_ORDER_COUNT;
	else if (key == 'p' || key == ' ')
		t->held = !t->held;
	else if (key == 'r')
		top_session_switch(&t->session);
	else if (key == 'w')
		top_session_snapshot(&t->session);
}

/* Wait until it is time for the next view. Return true if a key was pressed. */
static bool wait_until(struct top *t, uint64_t until_ns)
{
	struct pollfd in = {.fd = t->screen ? STDIN_FILENO : -1, .events = POLLIN};
	uint64_t now = gt_clock_ns(CLOCK_BOOTTIME);

	while (now < until_ns && !interrupted) {
		if (poll(&in, 1, (int)((until_ns - now + 999999) / 1000000)) > 0) {
			take_key(t);
			return true;
		}
		now = gt_clock_ns(CLOCK_BOOTTIME);
	}
	return false;
}

static int show_views(struct top *t)
{
	uint64_t shown_ns;
	int status = 0;

	t->last_ns = t->begin_ns;
	for (long views = 0; !t->quit && !interrupted && !t->ended;) {
		while (!t->quit && wait_until(t, t->last_ns + t->delay_ns))
			if (views && !t->held)
				print_view(t, t->before_ns, t->last_ns);
		if (t->quit || interrupted)
			break;
		top_sums_begin(&t->sums);
		shown_ns = top_session_look(&t->session);
		if (!t->held) {
			stuck_list_fini(&t->stuck);
			stuck_list_ask(&t->stuck, t->session.folder, STUCK_MS);
		}
		status = read_new(t);
		if (status)
			break;
		top_sums_settle(&t->sums, shown_ns - KEEP_S * NS - 2 * t->delay_ns);
		if (!t->held)
			print_view(t, t->last_ns, shown_ns);
		t->before_ns = t->last_ns;
		t->last_ns = shown_ns;
		if (++views == t->count)
			break;
	}
	return status;
}

/* Report that a session provides no more data, or has provided none yet. Return the exit code. */
static int refuse_session(const struct top *t, int status)
{
	if (!status && t->ended)
		return ui_fail(GT_EXIT_FAILURE,
			       "the session of %s has ended; 'gputap report %s' shows more",
			       t->session.path, show_shell_word(t->session.path));
	return GT_EXIT_OK;
}

static int run_top(int argc, char **argv)
{
	struct top t = {.delay_ns = NS};
	int code = parse_options(&t, argc, argv);

	if (code >= 0)
		return code;
	code = top_session_find(&t.session, t.which);
	if (code)
		return code;
	if (gt_follow_open(t.session.path, &t.follow))
		return ui_fail(GT_EXIT_FAILURE, "cannot follow %s", t.session.path);
	t.begin_ns = t.sums.begin_ns = top_session_look(&t.session);
	code = refuse_session(&t, read_new(&t));
	if (code) {
		gt_follow_close(t.follow);
		top_sums_fini(&t.sums);
		return code;
	}
	gt_error_clear(); /* if the error persists, it is found again and reported */
	open_screen(&t);
	code = show_views(&t);
	close_screen(&t);
	if (code)
		code = ui_fail(GT_EXIT_FAILURE, "cannot continue");
	else if (t.screen && t.ended)
		ui_note("%s: the session has ended; 'gputap report %s' shows more", t.session.path,
			show_shell_word(t.session.path));
	gt_follow_close(t.follow);
	top_sums_fini(&t.sums);
	stuck_list_fini(&t.stuck);
	return code;
}

const struct gt_command gt_command_top = {"top", "show what a running session is doing now",
					  run_top};
