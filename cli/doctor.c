/* SPDX-License-Identifier: MIT */
/* gputap doctor: reports which runtimes can be traced on this machine, obstacles to tracing, and
 * how to get missing parts. The descriptions and trials of runtimes provide this information, see
 * src/doctor/doctor.h. */
#include "doctor/doctor.h"

#include <errno.h>
#include <getopt.h>
#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/doctor_probe.h"
#include "cli/doctor_torch.h"
#include "cli/json.h"
#include "cli/runtimes.h"
#include "cli/soft_accelerator.h"
#include "cli/ui.h"
#include "clock/clock.h"
#include "collector/collector.h"
#include "collector/environment.h"
#include "collector/target.h"
#include "config.h"
#include "ring/segment.h"
#include "util/error.h"

static const char *const level_names[] = {"ok", "note", "bad"};

extern char **environ;

/* Everything that is known about this machine. */
struct machine {
	struct doctor doctor;
	unsigned libraries[GT_RUNTIME_COUNT];
	enum doctor_verdict verdicts[GT_RUNTIME_COUNT];
	bool injection;
};

/* gputap itself ---------------------------------------------------------------------- */

/* Remove the folder in which gt_libraries_link() may have created a link. */
static void remove_folder(const char *folder)
{
	char link[PATH_MAX];

	snprintf(link, sizeof link, "%s/lib", folder);
	unlink(link);
	rmdir(folder);
}

static void check_injection(struct machine *m)
{
	struct doctor *d = &m->doctor;
	/* without a session, the libraries stay passive */
	static const char *const nothing = "/nonexistent";
	static const struct gt_target any; /* the program */
	struct gt_libraries libraries;
	struct doctor_child child;
	char **environment, folder[] = "/tmp/gputap-doctor-XXXXXX";
	struct finding *f;

	/* the command starts child processes through /proc, and PoCL and other drivers exit without
	 * /proc */
	if (access("/proc/self/exe", F_OK)) {
		f = doctor_add(d, FOUND_BAD, "gputap", "proc");
		doctor_say(f, "/proc is not mounted: cannot test injection and drivers");
		doctor_hint(f, "mount -t proc proc /proc");
		return;
	}
	f = doctor_add(d, FOUND_OK, "gputap", "libraries");
	if (gt_libraries_find(&libraries)) {
		f->level = FOUND_BAD;
		doctor_say(f, "%s", gt_error_text());
		gt_error_clear();
		return;
	}
	*strrchr(libraries.inject, '/') = '\0';
	doctor_say(f, "%s", libraries.inject);
	libraries.inject[strlen(libraries.inject)] = '/';

	f = doctor_add(d, FOUND_BAD, "gputap", "injection");
	if (!mkdtemp(folder))
		folder[0] = '\0';
	if (gt_libraries_link(&libraries, folder) ||
	    gt_environment_make(environ, &libraries, nothing, UINT32_MAX, &any, &environment)) {
		doctor_say(f, "%s", gt_error_text());
		gt_error_clear();
		remove_folder(folder);
		return;
	}
	if (doctor_run_child("loaded", NULL, environment, DOCTOR_CHILD_SECONDS, &child)) {
		doctor_say(f, "cannot be tested: %s", gt_error_text());
		gt_error_clear();
	} else if (strstr(child.text, "inject") && strstr(child.text, "audit")) {
		f->level = FOUND_OK;
		m->injection = true;
		doctor_say(f, "LD_PRELOAD and LD_AUDIT load both libraries into a program");
	} else if (strstr(child.text, "inject")) {
		f->level = FOUND_NOTE;
		m->injection = true;
		doctor_say(f, "LD_PRELOAD works, LD_AUDIT does not: OpenCL through loaders without "
			      "layers is not traced");
	} else {
		doctor_say(f, "LD_PRELOAD does not load libgputap.so into a program");
		doctor_hint(f, "check /etc/ld.so.preload, sandboxes and security modules");
	}
	gt_environment_free(environment);
	remove_folder(folder);
}

/* Check if the kernel's rules let this user attach to running processes. */
static void check_attach(struct doctor *d)
{
	struct finding *f = doctor_add(d, FOUND_OK, "gputap", "attach");
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0; /* without Yama, the kernel's own rules apply */

	if (file && fscanf(file, "%d", &scope) != 1)
		scope = 0;
	if (file)
		fclose(file);
#if !defined(__x86_64__)
	f->level = FOUND_NOTE;
	doctor_say(f, "gputap attach is only available on x86-64");
	return;
#endif
	if (scope < 3 && !geteuid()) {
		doctor_say(f, "root can attach to running processes");
		return;
	}
	if (!scope) {
		doctor_say(f, "this user can attach to its running processes");
		return;
	}
	f->level = FOUND_NOTE;
	doctor_say(f,
		   scope < 3 ? "kernel.yama.ptrace_scope is %d: only root can attach to running "
			       "processes"
			     : "kernel.yama.ptrace_scope is %d: nothing can attach to running "
			       "processes until the machine starts again",
		   scope);
	if (scope < 3)
		doctor_hint(f, "sudo gputap attach PID, or sudo sysctl kernel.yama.ptrace_scope=0");
}

/* Check the places where gputap run looks for memory for its session. The session itself needs
 * little memory. */
static void check_memory(struct doctor *d)
{
	static const char *const places[] = {"/dev/shm", "/tmp"};
	const uint64_t little = 24 * UINT64_C(1048576), plenty = 264 * UINT64_C(1048576);

	for (unsigned i = 0; i < 2; i++) {
		struct statvfs fs;
		bool there = statvfs(places[i], &fs) == 0 && access(places[i], W_OK | X_OK) == 0;
		uint64_t room = there ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
		struct finding *f =
			doctor_add(d, room >= plenty ? FOUND_OK : FOUND_NOTE, "gputap", "memory");
		doctor_say(f,
			   there ? "%s has room for %s; a traced process takes up to 256 MiB"
				 : "%s is not writable",
			   places[i], show_bytes(room));
		if (room < plenty)
			doctor_hint(f, "busy programs may lose records; start a container with "
				       "--shm-size=1g");
		if (room >= little)
			return;
		f->level = i ? FOUND_BAD : FOUND_NOTE;
	}
}

static void check_system(struct doctor *d)
{
	struct finding *f = doctor_add(d, FOUND_OK, "gputap", "libc");
	int major = 0, minor = 0;

	sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
	doctor_say(f, "glibc %s", gnu_get_libc_version());
	if (major == 2 && minor < 35) {
		f->level = FOUND_NOTE;
		doctor_hint(f, "before 2.35, the audit interface misses calls bound at load time; "
			       "OpenCL loaders with layers are not affected");
	}
	f = doctor_add(d, FOUND_OK, "gputap", "clock");
	if (gt_clock_host_choose() == GT_HOST_CLOCK_COUNTER) {
		doctor_say(f, "the CPU's counter is invariant: a time stamp takes about 10 ns");
	} else {
		f->level = FOUND_NOTE;
		doctor_say(f, "the CPU's counter is unreliable (the kernel does not use it): "
			      "gputap uses clock_gettime(), which takes longer");
	}
	if (access("/proc/self/exe", F_OK) || access("/proc/thread-self/children", F_OK) == 0)
		return;
	f = doctor_add(d, FOUND_NOTE, "gputap", "children");
	doctor_say(f, "the kernel does not list child processes (CONFIG_PROC_CHILDREN): processes "
		      "that bypass interposition are not reported");
}

enum { SESSIONS_SHOWN = 3 };

struct session_count {
	struct doctor *d;
	unsigned left;
};

static void note_session(const struct gt_session_found *found, void *data)
{
	struct session_count *count = data;

	if (found->collector_pid)
		return;
	if (count->left++ < SESSIONS_SHOWN) {
		struct finding *f = doctor_add(count->d, FOUND_NOTE, "gputap", "session");
		doctor_say(f, "%s is left over from a session whose gputap was killed",
			   found->path);
		doctor_hint(f, "gputap recover %s", found->path);
	}
}

static void find_sessions(struct doctor *d)
{
	struct session_count count = {.d = d};
	struct finding *f;

	gt_collector_sessions(note_session, &count);
	if (count.left <= SESSIONS_SHOWN)
		return;
	f = doctor_add(d, FOUND_NOTE, "gputap", "sessions");
	doctor_say(f, "%u more sessions are left over", count.left - SESSIONS_SHOWN);
	doctor_hint(f, "gputap recover   (lists them)");
}

/* Runtimes ------------------------------------------------------------------------------ */

/* State of a search for the libraries of one runtime. */
struct runtime_search {
	struct machine *m;
	unsigned runtime;
};

static void count_library(void *data, const char *path)
{
	const struct runtime_search *s = data;

	(void)path;
	s->m->libraries[s->runtime]++;
}

static void add_library(void *data, const char *path)
{
	const struct runtime_search *s = data;
	const struct runtime *r = &runtimes[s->runtime];
	char real[PATH_MAX];
	struct finding *f;

	if (!doctor_is_new(&s->m->doctor, path, real))
		return;
	f = doctor_add(&s->m->doctor, FOUND_OK, r->area, "runtime");
	doctor_say(f, "%.400s: %s is used", real,
		   r->symbol && doctor_file_has(real, r->symbol) ? r->other_way : r->way);
	s->m->libraries[s->runtime]++;
}

static void note_library(void *data, const char *path)
{
	const struct runtime_search *s = data;
	char real[PATH_MAX];

	if (doctor_is_new(&s->m->doctor, path, real))
		doctor_say(doctor_add(&s->m->doctor, FOUND_NOTE, "others", "runtime"),
			   "%.400s is not traced by this version of gputap", real);
}

static void find_libraries(struct machine *m, unsigned runtime)
{
	const struct runtime *r = &runtimes[runtime];

	doctor_each_library(r->library, add_library, &(struct runtime_search){m, runtime});
	if (!m->libraries[runtime] && r->hint) {
		struct finding *f = doctor_add(&m->doctor, FOUND_NOTE, r->area, "runtime");
		doctor_say(f, "%s is not installed", r->library);
		doctor_hint(f, "%s", r->hint);
	}
}

static void find_compiler(struct doctor *d, const struct runtime *r)
{
	struct gt_target compiler;
	struct finding *f;

	gt_target_look(r->compiler, &compiler);
	if (!compiler.executable)
		gt_target_look(r->compiler_file, &compiler);
	if (compiler.executable) {
		doctor_say(doctor_add(d, FOUND_OK, r->area, "compiler"), "%.400s", compiler.path);
		return;
	}
	f = doctor_add(d, FOUND_NOTE, r->area, "compiler");
	doctor_say(f, "%s is not installed; compiled %s programs do not need it", r->compiler,
		   r->name);
	doctor_hint(f, "%s", r->compiler_hint);
}

/* Return the verdict of the runtime's trial, or of the software that can replace its device. */
static enum doctor_verdict look_at(struct doctor *d, const struct runtime *r,
				   const struct doctor_trial *trial)
{
	const struct soft_accelerator *software =
		r->software ? soft_find_accelerator(r->software) : NULL;
	enum doctor_verdict verdict = trial->look(d), in_software = DOCTOR_NO;

	if (software && software->look)
		in_software = software->look(d);
	return verdict ? verdict : in_software;
}

static void find_runtimes(struct machine *m)
{
	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++) {
		const struct runtime *r = &runtimes[i];
		const struct doctor_trial *trial = doctor_find_trial(r->area);

		if (!r->traced)
			continue;
		if (r->library)
			find_libraries(m, i);
		if (r->compiler)
			find_compiler(&m->doctor, r);
		m->verdicts[i] = trial        ? look_at(&m->doctor, r, trial)
				 : r->library ? DOCTOR_YES
					      : DOCTOR_NO;
	}
}

static void find_others(struct machine *m)
{
	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++)
		if (!runtimes[i].traced && runtimes[i].library)
			doctor_each_library(runtimes[i].library, note_library,
					    &(struct runtime_search){m, i});
}

/* Return the verdict on a runtime, based on its libraries and device and on those of the runtime
 * that it needs. */
static enum doctor_verdict verdict_of(const struct machine *m, unsigned runtime)
{
	const struct runtime *r = &runtimes[runtime];

	if (!m->injection || (r->library && !m->libraries[runtime]))
		return DOCTOR_NO;
	for (unsigned i = 0; r->needs && i < GT_RUNTIME_COUNT; i++)
		if (!strcmp(runtimes[i].area, r->needs))
			return verdict_of(m, i);
	return m->verdicts[runtime];
}

static unsigned count_traceable(const struct machine *m)
{
	unsigned count = 0;

	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++)
		count += verdict_of(m, i) != DOCTOR_NO;
	return count;
}

/* Summary for the end of a run that recorded nothing ------------------------------------ */

__attribute__((format(printf, 3, 4))) static void append_text(char *text, size_t size,
							      const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, size - length, format, args);
	va_end(args);
}

static void append_device(char *text, size_t size, const struct runtime *r)
{
	if (r && r->device)
		append_text(text, size, " %s %s", access(r->device, F_OK) ? "without" : "with",
			    r->device_is);
}

/* Append text such as "OpenCL with 2 drivers, HIP and HSA with an AMD GPU, Toy". */
static void append_runtimes(struct machine *m, char *text, size_t size)
{
	const struct runtime *last = NULL; /* last runtime whose device has not been printed yet */

	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++) {
		const struct runtime *r = &runtimes[i];
		const struct doctor_trial *trial = doctor_find_trial(r->area);
		char own[128] = "";

		if (!r->traced)
			continue;
		if (trial && trial->look_short) {
			trial->look_short(own, sizeof own);
		} else if (r->library) {
			doctor_each_library(r->library, count_library,
					    &(struct runtime_search){m, i});
			if (m->libraries[i])
				snprintf(own, sizeof own, "%s", r->name);
		}
		if (!*own)
			continue;
		if (last && r->device && last->device && !strcmp(last->device, r->device)) {
			append_text(text, size, " and %s", own);
		} else {
			append_device(text, size, last);
			append_text(text, size, "%s%s", *text ? ", " : "", own);
		}
		last = r;
	}
	append_device(text, size, last);
}

void gt_doctor_short(char *text, size_t size)
{
	struct machine *m = calloc(1, sizeof *m);
	char found[256] = "";

	if (!m) {
		snprintf(text, size, "'gputap doctor' shows what can be traced here");
		return;
	}
	append_runtimes(m, found, sizeof found);
	if (*found)
		snprintf(text, size, "installed here: %s; see 'gputap doctor'", found);
	else
		snprintf(text, size,
			 "no such runtime is installed here; 'gputap doctor' shows how to get one");
	free(m);
}

/* Other tools ---------------------------------------------------------------------------- */

static void find_tools(struct doctor *d)
{
	static const struct {
		const char *program, *what_for;
	} tools[] = {
		{"clinfo", "lists OpenCL devices in detail"},
		{"sqlite3", "queries .rpd exports"},
		{"jq", "processes reports in JSON"},
	};
	struct gt_target file;

	for (unsigned i = 0; i < sizeof tools / sizeof *tools; i++) {
		gt_target_look(tools[i].program, &file);
		struct finding *f =
			doctor_add(d, file.executable ? FOUND_OK : FOUND_NOTE, "others", "tool");
		doctor_say(f, "%s %s%s", tools[i].program,
			   file.executable ? "" : "is not installed; it ", tools[i].what_for);
		if (!file.executable)
			doctor_hint(f, "apt install %s", tools[i].program);
	}
}

/* Output ----------------------------------------------------------------------------------- */

/* Print names: "HIP", "HIP and HSA", "OpenCL, HIP and HSA". @own: print "HIP's and HSA's". */
static void print_names(const char *const *names, unsigned count, bool own)
{
	for (unsigned i = 0; i < count; i++)
		printf("%s%s%s",
		       !i               ? ""
		       : i + 1 == count ? " and "
					: ", ",
		       names[i], own ? "'s" : "");
}

/* Find the runtimes that use the same software device as @first. Return the number of these
 * runtimes. */
static unsigned find_beside(const struct machine *m, const struct runtime *first,
			    const char *names[GT_RUNTIME_COUNT])
{
	unsigned count = 0;

	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++)
		if (verdict_of(m, i) == DOCTOR_IN_SOFTWARE && runtimes[i].software &&
		    !strcmp(runtimes[i].software, first->software)) {
			if (!count && &runtimes[i] != first)
				return 0; /* already reported */
			names[count++] = runtimes[i].name;
		}
	return count;
}

static void print_verdict(const struct machine *m)
{
	const struct ui_colors *c = ui_colors(stdout);
	const char *names[GT_RUNTIME_COUNT];
	unsigned count = 0;

	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++)
		if (verdict_of(m, i) != DOCTOR_NO)
			names[count++] = runtimes[i].name;
	if (!count) {
		printf("\n%sNothing can be traced here yet.%s Findings marked bad prevent "
		       "tracing.\n",
		       c->red, c->reset);
		return;
	}
	printf("\n%s", c->bold);
	print_names(names, count, false);
	printf(" programs can be traced here:%s\n  gputap run PROGRAM ARGS\n", c->reset);
	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++) {
		const struct runtime *r = &runtimes[i];

		if (verdict_of(m, i) != DOCTOR_IN_SOFTWARE || !r->software)
			continue;
		count = find_beside(m, r, names);
		if (!count)
			continue;
		print_names(names, count, true);
		printf(" on %s in software:\n  gputap run -- gputap soft %s -- PROGRAM ARGS\n",
		       r->device_is, r->software);
	}
}

enum { BEHIND_WHAT = 19 }; /* number of columns before a sentence */

static void print_text(const struct machine *m)
{
	const struct doctor *d = &m->doctor;
	const struct ui_colors *c = ui_colors(stdout);
	const char *const colors[] = {c->green, c->yellow, c->red};
	const char *area = "";

	for (unsigned i = 0; i < d->count; i++) {
		const struct finding *f = &d->findings[i];
		if (strcmp(area, f->area))
			printf("%s%s%s%s\n", *area ? "\n" : "", c->bold, f->area, c->reset);
		area = f->area;
		printf("  %s%-4s%s  %-9s  ", colors[f->level], level_names[f->level], c->reset,
		       f->what);
		ui_wrap(stdout, BEHIND_WHAT, BEHIND_WHAT, f->text);
		putchar('\n');
		if (*f->hint) {
			printf("                   %s-> ", c->cyan);
			ui_wrap(stdout, BEHIND_WHAT + 3, BEHIND_WHAT + 3, f->hint);
			printf("%s\n", c->reset);
		}
	}
	print_verdict(m);
}

static void print_json(const struct machine *m)
{
	const struct doctor *d = &m->doctor;
	struct json j = {.out = stdout};

	json_object(&j, NULL);
	json_string(&j, "format", "gputap-doctor");
	json_count(&j, "version", 1);
	json_string(&j, "gputap", GPUTAP_VERSION);
	json_bool(&j, "ok", count_traceable(m) > 0);
	json_array(&j, "traceable");
	for (unsigned i = 0; i < GT_RUNTIME_COUNT; i++)
		if (verdict_of(m, i) != DOCTOR_NO)
			json_string(&j, NULL, runtimes[i].area);
	json_close(&j);
	json_array(&j, "findings");
	for (unsigned i = 0; i < d->count; i++) {
		const struct finding *f = &d->findings[i];
		json_object(&j, NULL);
		json_string(&j, "area", f->area);
		json_string(&j, "what", f->what);
		json_string(&j, "level", level_names[f->level]);
		json_string(&j, "text", f->text);
		json_string(&j, "hint", *f->hint ? f->hint : NULL);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
}

static void print_doctor_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap doctor%s [options]\n"
	       "Check which runtimes can be traced on this machine, what prevents tracing, and\n"
	       "how to install missing parts. Exit status 0 if at least one runtime can be\n"
	       "traced, else 1.\n"
	       "\n"
	       "%sExamples%s\n"
	       "  gputap doctor\n"
	       "  gputap doctor --json | jq -r '.findings[] | select(.level == \"bad\") | .hint'\n"
	       "  OCL_ICD_FILENAMES=libnvidia-opencl.so.1 gputap doctor     with another driver\n"
	       "\n"
	       "%sOptions%s\n"
	       "      --json   print JSON for scripts; keys never change\n"
	       "  -h, --help\n",
	       c->bold, c->reset, c->bold, c->reset, c->bold, c->reset);
}

static int doctor_main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"json", no_argument, NULL, 'J'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct machine *m;
	bool json = false;
	int c, code;

	if (argc > 2 && !strcmp(argv[1], "--probe"))
		return doctor_probe(argc - 2, argv + 2);
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
		switch (c) {
		case 'J': json = true; break;
		case 'h': print_doctor_help(); return GT_EXIT_OK;
		default: return ui_bad_option("doctor", argv, long_options);
		}
	}
	if (optind < argc)
		return ui_fail(GT_EXIT_USAGE, "takes no '%s'", argv[optind]);
	m = calloc(1, sizeof *m);
	if (!m)
		return ui_fail(GT_EXIT_FAILURE, "out of memory");
	check_injection(m);
	check_memory(&m->doctor);
	check_attach(&m->doctor);
	check_system(&m->doctor);
	find_sessions(&m->doctor);
	find_runtimes(m);
	find_others(m);
	doctor_find_torch(&m->doctor);
	find_tools(&m->doctor);
	if (json)
		print_json(m);
	else
		print_text(m);
	code = count_traceable(m) ? GT_EXIT_OK : GT_EXIT_FAILURE;
	free(m);
	return code;
}

const struct gt_command gt_command_doctor = {"doctor",
					     "show what can be traced here and what is missing",
					     doctor_main};
