// SPDX-License-Identifier: MIT
/* gputap doctor: what can be traced on this machine, what is in the way, and how to get what is
 * missing. */
#include "cli/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/soft_runtime.h"
#include "cli/ui.h"
#include "clock/clock.h"
#include "collector/collector.h"
#include "collector/environment.h"
#include "collector/target.h"
#include "config.h"
#include "generated/runtimes.h"
#include "ring/segment.h"
#include "util/error.h"

enum finding_level { FOUND_OK, FOUND_NOTE, FOUND_BAD };
static const char *const level_names[] = {"ok", "note", "bad"};

struct finding {
	enum finding_level level;
	const char *area, *what;
	char text[512], hint[256];
};

enum { FINDINGS_MOST = 128, CHILD_SECONDS = 20 };

/* What people look for on a machine, as descriptions say it (api/README.md). */
static const struct runtime {
	const char *area, *name;
	bool traced;
	const char *library;            /* NULL: it is looked for by a function of its own */
	const char *way;                /* in which it is attached to, */
	const char *other_way, *symbol; /* or in this one where the library has the symbol */
	const char *device, *device_is;
	const char *hint; /* if there is none; NULL: then nothing is said */
} runtimes[] = {
#define X(...) {__VA_ARGS__},
	GT_RUNTIMES(X)
#undef X
};

enum { RUNTIME_COUNT = sizeof runtimes / sizeof *runtimes };

struct doctor {
	struct finding findings[FINDINGS_MOST];
	unsigned count;
	unsigned loaders, drivers, devices;
	unsigned libraries[RUNTIME_COUNT]; /* of each of runtimes[] */
	bool injection, amd_gpu, soft_gpu;
	char loader[PATH_MAX]; /* the one that programs get */
};

extern char **environ;

static struct finding *add(struct doctor *d, enum finding_level level, const char *area,
			   const char *what)
{
	struct finding *f = &d->findings[d->count < FINDINGS_MOST ? d->count++ : FINDINGS_MOST - 1];

	*f = (struct finding){.level = level, .area = area, .what = what};
	return f;
}

__attribute__((format(printf, 2, 3))) static void say(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->text, sizeof f->text, format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void hint(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->hint, sizeof f->hint, format, args);
	va_end(args);
}

/* gputap itself ---------------------------------------------------------------------- */

static void check_injection(struct doctor *d)
{
	/* no session: the libraries stay passive */
	static const char *const nothing = "/nonexistent";
	struct gt_libraries libraries;
	struct doctor_child child;
	char **environment;
	struct finding *f;

	/* by which children are started; and PoCL and others end without */
	if (access("/proc/self/exe", F_OK)) {
		f = add(d, FOUND_BAD, "gputap", "proc");
		say(f, "/proc is not mounted here: neither injection nor drivers can be tried");
		hint(f, "mount -t proc proc /proc");
		return;
	}
	f = add(d, FOUND_OK, "gputap", "libraries");
	if (gt_libraries_find(&libraries)) {
		f->level = FOUND_BAD;
		say(f, "%s", gt_error_text());
		gt_error_clear();
		return;
	}
	*strrchr(libraries.inject, '/') = '\0';
	say(f, "%s", libraries.inject);
	libraries.inject[strlen(libraries.inject)] = '/';

	f = add(d, FOUND_BAD, "gputap", "injection");
	if (gt_environment_make(environ, &libraries, nothing, NULL, false, &environment)) {
		say(f, "%s", gt_error_text());
		gt_error_clear();
		return;
	}
	if (doctor_run_child("loaded", NULL, environment, CHILD_SECONDS, &child)) {
		say(f, "cannot be tried: %s", gt_error_text());
		gt_error_clear();
	} else if (strstr(child.text, "inject") && strstr(child.text, "audit")) {
		f->level = FOUND_OK;
		d->injection = true;
		say(f, "LD_PRELOAD and LD_AUDIT get both libraries into a program");
	} else if (strstr(child.text, "inject")) {
		f->level = FOUND_NOTE;
		d->injection = true;
		say(f, "LD_PRELOAD works, LD_AUDIT does not: OpenCL through loaders without layers "
		       "is not seen");
	} else {
		say(f, "LD_PRELOAD does not get libgputap.so into a program");
		hint(f, "is /etc/ld.so.preload, a sandbox or a security module in the way?");
	}
	gt_environment_free(environment);
}

/* As gputap run looks for a place for its session, which makes do with little. */
static void check_memory(struct doctor *d)
{
	static const char *const places[] = {"/dev/shm", "/tmp"};
	const uint64_t little = 24 * UINT64_C(1048576), plenty = 264 * UINT64_C(1048576);

	for (unsigned i = 0; i < 2; i++) {
		struct statvfs fs;
		bool there = statvfs(places[i], &fs) == 0 && access(places[i], W_OK | X_OK) == 0;
		uint64_t room = there ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
		struct finding *f =
			add(d, room >= plenty ? FOUND_OK : FOUND_NOTE, "gputap", "memory");
		say(f,
		    there ? "%s has room for %s; a traced process takes up to 256 MiB"
			  : "%s cannot be written to",
		    places[i], ui_bytes(room));
		if (room < plenty)
			hint(f, "busy programs may lose records; in a container: start it with "
				"--shm-size=1g");
		if (room >= little)
			return;
		f->level = i ? FOUND_BAD : FOUND_NOTE;
	}
}

static void check_system(struct doctor *d)
{
	struct finding *f = add(d, FOUND_OK, "gputap", "libc");
	int major = 0, minor = 0;

	sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
	say(f, "glibc %s", gnu_get_libc_version());
	if (major == 2 && minor < 35) {
		f->level = FOUND_NOTE;
		hint(f, "before 2.35 the audit interface sees less; programs whose OpenCL loader "
			"knows layers are fine");
	}
	f = add(d, FOUND_OK, "gputap", "clock");
	if (gt_clock_host_choose() == GT_HOST_CLOCK_COUNTER) {
		say(f, "the CPU's counter is invariant: a time stamp takes about 10 ns");
	} else {
		f->level = FOUND_NOTE;
		say(f, "the CPU's counter cannot be trusted here (the kernel does not use it): "
		       "clock_gettime() instead, which takes longer");
	}
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
		struct finding *f = add(count->d, FOUND_NOTE, "gputap", "session");
		say(f, "%s was left by a gputap that was killed", found->path);
		hint(f, "gputap recover %s", found->path);
	}
}

static void find_sessions(struct doctor *d)
{
	struct session_count count = {.d = d};
	struct finding *f;

	gt_collector_sessions(note_session, &count);
	if (count.left <= SESSIONS_SHOWN)
		return;
	f = add(d, FOUND_NOTE, "gputap", "sessions");
	say(f, "%u more were left", count.left - SESSIONS_SHOWN);
	hint(f, "gputap recover   (lists them)");
}

/* OpenCL ------------------------------------------------------------------------------- */

static bool file_has(const char *path, const char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool has = false;
	void *map;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			has = memmem(map, (size_t)st.st_size, text, strlen(text)) != NULL;
			munmap(map, (size_t)st.st_size);
		}
	}
	close(fd);
	return has;
}

/* Links and copies in several folders of the list are one library. Return: false: it was told of
 * already, or leads nowhere. */
static bool is_new(const struct doctor *d, const char *path, char real[PATH_MAX])
{
	if (!realpath(path, real))
		return false;
	for (unsigned i = 0; i < d->count; i++)
		if (!strncmp(d->findings[i].text, real, strlen(real)))
			return false;
	return true;
}

static void add_loader(struct doctor *d, const char *path, unsigned runtime)
{
	char real[PATH_MAX];
	struct finding *f;

	(void)runtime;
	if (!is_new(d, path, real))
		return;
	f = add(d, FOUND_OK, "opencl", "loader");
	say(f, "%.400s, %s", real,
	    file_has(real, "OPENCL_LAYERS") ? "with layers"
					    : "without layers: interposition is used");
	if (!d->loaders++)
		snprintf(d->loader, sizeof d->loader, "%s", path);
}

/* What the dynamic linker's cache knows under @stem, one call each; only of our own word size. */
static void each_library(const char *stem,
			 void (*each)(struct doctor *d, const char *path, unsigned runtime),
			 struct doctor *d, unsigned runtime)
{
	FILE *cache =
		popen("/sbin/ldconfig -p 2>/dev/null || /usr/sbin/ldconfig -p 2>/dev/null", "re");
	char line[PATH_MAX + 256];

	while (cache && fgets(line, sizeof line, cache)) {
		char *arrow = strstr(line, " => "), *name = line + strspn(line, " \t");
		if (!arrow || strncmp(name, stem, strlen(stem)) ||
		    (sizeof(void *) == 8 && !strstr(line, "64")))
			continue;
		arrow[strcspn(arrow, "\n")] = '\0';
		each(d, arrow + 4, runtime);
	}
	if (cache)
		pclose(cache);
}

static void find_loaders(struct doctor *d)
{
	const char *list = getenv("LD_LIBRARY_PATH");
	char path[PATH_MAX];
	struct finding *f;

	for (; list && *list; list += *list == ':') {
		size_t n = strcspn(list, ":");
		snprintf(path, sizeof path, "%.*s/libOpenCL.so.1", (int)n, list);
		if (access(path, R_OK) == 0)
			add_loader(d, path, 0);
		list += n;
	}
	each_library("libOpenCL.so", add_loader, d, 0);
	if (d->loaders)
		return;
	f = add(d, FOUND_BAD, "opencl", "loader");
	say(f, "there is no libOpenCL.so");
	hint(f, "apt install ocl-icd-libopencl1");
}

/* A driver that @file names; @library is for dlopen(). */
typedef void driver_fn(struct doctor *d, const char *file, const char *library);

static void check_driver(struct doctor *d, const char *file, const char *library)
{
	struct finding *f = add(d, FOUND_BAD, "opencl", "driver");
	struct doctor_child child;

	if (doctor_run_child("library", library, NULL, CHILD_SECONDS, &child)) {
		say(f, "%s: cannot be tried: %s", library, gt_error_text());
		gt_error_clear();
	} else if (child.timed_out) {
		say(f, "%s (%s): was not loaded within %d s", library, file, CHILD_SECONDS);
	} else if (WIFSIGNALED(child.wait_status)) {
		say(f, "%s (%s): crashes when it is loaded: %s", library, file,
		    strsignal(WTERMSIG(child.wait_status)));
	} else if (WEXITSTATUS(child.wait_status)) {
		child.text[strcspn(child.text, "\n")] = '\0';
		say(f, "%s (%s): %.300s", library, file, child.text);
	} else {
		f->level = FOUND_OK;
		d->drivers++;
		say(f, "%s (%s)", library, file);
	}
}

/* An ICD file holds the name of a library. */
static void read_icd_file(struct doctor *d, const char *path, driver_fn *each)
{
	char line[PATH_MAX] = "";
	FILE *file = fopen(path, "re");

	if (file && fgets(line, sizeof line, file)) {
		line[strcspn(line, " \t\r\n")] = '\0';
		if (*line)
			each(d, path, line);
	}
	if (file)
		fclose(file);
}

static void each_driver(struct doctor *d, driver_fn *each)
{
	/* in the order in which ocl-icd and the Khronos loader look */
	const char *names = getenv("OCL_ICD_FILENAMES"), *place = getenv("OCL_ICD_VENDORS");
	char path[PATH_MAX];
	struct dirent **entries;
	int count;

	for (; names && *names; names += *names == ':') {
		size_t n = strcspn(names, ":");
		snprintf(path, sizeof path, "%.*s", (int)n, names);
		each(d, "OCL_ICD_FILENAMES", path);
		names += n;
	}
	if (!place || !*place)
		place = getenv("OPENCL_VENDOR_PATH");
	if (!place || !*place)
		place = "/etc/OpenCL/vendors";
	if (ui_ends_with(place, ".icd")) {
		read_icd_file(d, place, each);
		return;
	}
	count = scandir(place, &entries, NULL, alphasort);
	if (count < 0 && strstr(place, ".so")) {
		each(d, "OCL_ICD_VENDORS", place);
		return;
	}
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/%s", place, entries[i]->d_name);
		if (ui_ends_with(path, ".icd"))
			read_icd_file(d, path, each);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void note_nvidia(struct doctor *d, const char *path, unsigned runtime)
{
	struct finding *f;

	(void)runtime;
	for (unsigned i = 0; i < d->count; i++)
		if (strstr(d->findings[i].text, "libnvidia-opencl"))
			return;
	f = add(d, FOUND_NOTE, "opencl", "driver");
	say(f, "%.400s is here, but no loader is told of it", path);
	hint(f, "OCL_ICD_FILENAMES=libnvidia-opencl.so.1 gputap run ..");
}

static void find_drivers(struct doctor *d)
{
	struct finding *f;

	each_driver(d, check_driver);
	each_library("libnvidia-opencl.so", note_nvidia, d, 0);
	if (d->drivers)
		return;
	f = add(d, FOUND_BAD, "opencl", "driver");
	say(f, "no OpenCL driver can be loaded");
	hint(f, "apt install pocl-opencl-icd   (runs on the CPU)");
}

static void find_devices(struct doctor *d)
{
	struct doctor_child child;
	struct finding *f;

	if (!d->loaders || !d->drivers)
		return; /* told already */
	if (doctor_run_child("opencl", d->loader, NULL, CHILD_SECONDS, &child)) {
		f = add(d, FOUND_BAD, "opencl", "device");
		say(f, "cannot be looked for: %s", gt_error_text());
		gt_error_clear();
		return;
	}
	for (char *line = child.text, *next; *line; line = next) {
		char *field[4] = {line, line, line, line};
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		for (unsigned i = 1; i < 4; i++) {
			char *tab = strchr(field[i - 1], '\t');
			if (!tab)
				break;
			*tab = '\0';
			field[i] = tab + 1;
		}
		if (field[3] == line)
			continue; /* not one of our lines */
		f = add(d, FOUND_OK, "opencl", "device");
		say(f, "%.200s (%s, driver %.100s, %.100s)", field[1], field[0], field[2],
		    field[3]);
		d->devices++;
	}
	if (child.timed_out || WIFSIGNALED(child.wait_status)) {
		f = add(d, FOUND_BAD, "opencl", "device");
		if (child.timed_out)
			say(f, "a driver did not answer within %d s", CHILD_SECONDS);
		else
			say(f, "a driver crashes when it is asked for its devices: %s",
			    strsignal(WTERMSIG(child.wait_status)));
	} else if (!d->devices) {
		f = add(d, FOUND_BAD, "opencl", "device");
		say(f, "the drivers have no device");
		hint(f, "is /dev/dri, /dev/kfd or /dev/nvidia* there, and may you open it (groups "
			"video, render)?");
	}
}

/* Without a look into the drivers, which takes long: for the end of a run that saw nothing.
 * ------------------------ */

static void count_driver(struct doctor *d, const char *file, const char *library)
{
	(void)file;
	(void)library;
	d->drivers++;
}

static void count_library(struct doctor *d, const char *path, unsigned runtime)
{
	(void)path;
	d->libraries[runtime]++;
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
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
		append(text, size, " %s %s", access(r->device, F_OK) ? "without" : "with",
		       r->device_is);
}

/* "HIP and HSA with an AMD GPU, Toy" */
static void append_runtimes(struct doctor *d, char *text, size_t size)
{
	const struct runtime *last = NULL;

	for (unsigned i = 0; i < RUNTIME_COUNT; i++) {
		const struct runtime *r = &runtimes[i];

		if (!r->traced || !r->library)
			continue;
		each_library(r->library, count_library, d, i);
		if (!d->libraries[i])
			continue;
		if (last && r->device && last->device && !strcmp(last->device, r->device)) {
			append(text, size, " and %s", r->name);
		} else {
			append_device(text, size, last);
			append(text, size, "%s%s", *text ? ", " : "", r->name);
		}
		last = r;
	}
	append_device(text, size, last);
}

void gt_doctor_short(char *text, size_t size)
{
	struct doctor *d = calloc(1, sizeof *d);
	char found[256] = "";

	if (!d) {
		snprintf(text, size, "'gputap doctor' says what can be traced here");
		return;
	}
	each_library("libOpenCL.so", add_loader, d, 0);
	each_driver(d, count_driver);
	if (d->loaders && d->drivers)
		append(found, sizeof found, "OpenCL with %u driver%s", d->drivers,
		       d->drivers == 1 ? "" : "s");
	else if (d->loaders)
		append(found, sizeof found, "OpenCL without a driver");
	append_runtimes(d, found, sizeof found);
	if (*found)
		snprintf(text, size, "here: %s; 'gputap doctor' says more", found);
	else
		snprintf(text, size, "there is none here; 'gputap doctor' says how to get one");
	free(d);
}

/* Elsewhere ------------------------------------------------------------------------------ */

static void note_library(struct doctor *d, const char *path, unsigned runtime)
{
	struct finding *f;
	char real[PATH_MAX];

	(void)runtime;
	if (!is_new(d, path, real))
		return;
	f = add(d, FOUND_NOTE, "others", "runtime");
	say(f, "%.400s: this version of gputap does not trace it", real);
}

static void add_library(struct doctor *d, const char *path, unsigned runtime)
{
	const struct runtime *r = &runtimes[runtime];
	char real[PATH_MAX];
	struct finding *f;

	if (!is_new(d, path, real))
		return;
	f = add(d, FOUND_OK, r->area, "runtime");
	say(f, "%.400s: %s is used", real,
	    r->symbol && file_has(real, r->symbol) ? r->other_way : r->way);
	d->libraries[runtime]++;
}

static void find_hipcc(struct doctor *d)
{
	struct gt_target hipcc;
	struct finding *f;

	gt_target_look("hipcc", &hipcc);
	if (!hipcc.executable)
		gt_target_look("/opt/rocm/bin/hipcc", &hipcc);
	if (hipcc.executable) {
		f = add(d, FOUND_OK, "hip", "compiler");
		say(f, "%.400s", hipcc.path);
	} else {
		f = add(d, FOUND_NOTE, "hip", "compiler");
		say(f, "there is no hipcc; HIP programs that are compiled already do without");
		hint(f, "apt install hipcc   (or ROCm's packages)");
	}
}

static void find_runtimes(struct doctor *d)
{
	for (unsigned i = 0; i < RUNTIME_COUNT; i++) {
		const struct runtime *r = &runtimes[i];

		if (!r->traced || !r->library)
			continue;
		each_library(r->library, add_library, d, i);
		if (!d->libraries[i] && r->hint) {
			struct finding *f = add(d, FOUND_NOTE, r->area, "runtime");
			say(f, "there is no %s", r->library);
			hint(f, "%s", r->hint);
		}
		if (!strcmp(r->area, "hip"))
			find_hipcc(d);
	}
}

/* Were libraries found of the runtime that findings are of? */
static bool has_runtime(const struct doctor *d, const char *area)
{
	for (unsigned i = 0; i < RUNTIME_COUNT; i++)
		if (!strcmp(runtimes[i].area, area))
			return d->libraries[i] != 0;
	return false;
}

/* What HIP and HSA compute on: the kernel's driver, and what stands in for it. */
static void find_amd_gpus(struct doctor *d)
{
	struct finding *f = add(d, FOUND_NOTE, "amdgpu", "driver");
	char folder[PATH_MAX], sentence[sizeof f->text];
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		f->level = FOUND_OK;
		d->amd_gpu = true;
		say(f, "there is /dev/kfd, and it may be used");
	} else if (errno == ENOENT) {
		say(f, "there is no /dev/kfd, so no AMD GPU: HIP's calls fail, and are traced");
		hint(f, "gputap soft amdgpu PROGRAM   (runs it on an AMD GPU in software)");
	} else {
		say(f, "/dev/kfd cannot be opened: %s", strerror(errno));
		hint(f, "may you? groups render and video: 'id' says yours; in a container: "
			"--device /dev/kfd --device /dev/dri");
	}

	f = add(d, FOUND_NOTE, "amdgpu", "software");
	if (!soft_runtime_find(folder)) {
		say(f, "there is no AMD GPU in software: this gputap was built without ROCr's "
		       "headers");
		hint(f, "apt install libhsa-runtime-dev, then build anew");
		return;
	}
	d->soft_gpu = soft_runtime_check(sentence, sizeof sentence);
	if (*sentence) {
		say(f, "%s", sentence);
	} else {
		f->level = FOUND_OK;
		say(f, "%.400s/" SOFT_RUNTIME_LIBRARY, folder);
	}
}

static void find_others(struct doctor *d)
{
	for (unsigned i = 0; i < RUNTIME_COUNT; i++)
		if (!runtimes[i].traced && runtimes[i].library)
			each_library(runtimes[i].library, note_library, d, i);
}

static void find_tools(struct doctor *d)
{
	static const struct {
		const char *program, *what_for;
	} tools[] = {
		{"clinfo", "lists OpenCL devices in full"},
		{"sqlite3", "asks questions of .rpd exports"},
		{"jq", "takes reports in JSON apart"},
	};
	struct gt_target file;

	for (unsigned i = 0; i < sizeof tools / sizeof *tools; i++) {
		gt_target_look(tools[i].program, &file);
		struct finding *f =
			add(d, file.executable ? FOUND_OK : FOUND_NOTE, "others", "tool");
		say(f, "%s %s%s", tools[i].program, file.executable ? "" : "is not here; it ",
		    tools[i].what_for);
		if (!file.executable)
			hint(f, "apt install %s", tools[i].program);
	}
}

/* Output ----------------------------------------------------------------------------------- */

enum { TRACE_OPENCL, TRACE_HIP, TRACE_HSA, TRACEABLE };

/* Which runtimes can be traced with work on a device. Return: how many. */
static unsigned traceable(const struct doctor *d, bool out[TRACEABLE])
{
	bool gpu = d->amd_gpu || d->soft_gpu;

	out[TRACE_OPENCL] = d->injection && d->devices;
	out[TRACE_HIP] = d->injection && has_runtime(d, "hip") && has_runtime(d, "hsa") && gpu;
	out[TRACE_HSA] = d->injection && has_runtime(d, "hsa") && gpu;
	return (unsigned)out[TRACE_OPENCL] + out[TRACE_HIP] + out[TRACE_HSA];
}

static void print_verdict(const struct doctor *d)
{
	static const char *const names[] = {"OpenCL", "HIP", "HSA"};
	const struct ui_colors *c = ui_colors(stdout);
	bool can[TRACEABLE];
	unsigned count = traceable(d, can), told = 0;

	if (!count) {
		printf("\n%sNothing can be traced here yet.%s What is marked bad is in the way.\n",
		       c->red, c->reset);
		return;
	}
	printf("\n%s", c->bold);
	for (unsigned i = 0; i < TRACEABLE; i++)
		if (can[i]) {
			printf("%s%s", !told ? "" : told + 1 == count ? " and " : ", ", names[i]);
			told++;
		}
	printf(" programs can be traced here:%s gputap run PROGRAM ARGS\n", c->reset);
	if (can[TRACE_HSA] && !d->amd_gpu)
		printf("%s on an AMD GPU in software:\n  gputap run -- gputap soft amdgpu -- "
		       "PROGRAM ARGS\n",
		       can[TRACE_HIP] ? "HIP's and HSA's" : "HSA's");
}

enum { BEHIND_WHAT = 19 }; /* columns of what stands in front of a sentence */

static void print_text(const struct doctor *d)
{
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
	print_verdict(d);
}

static void print_json(const struct doctor *d)
{
	static const char *const names[] = {"opencl", "hip", "hsa"};
	struct json j = {.out = stdout};
	bool can[TRACEABLE];
	unsigned count = traceable(d, can);

	json_object(&j, NULL);
	json_string(&j, "format", "gputap-doctor");
	json_count(&j, "version", 1);
	json_string(&j, "gputap", GPUTAP_VERSION);
	json_bool(&j, "ok", count > 0);
	json_array(&j, "traceable");
	for (unsigned i = 0; i < TRACEABLE; i++)
		if (can[i])
			json_string(&j, NULL, names[i]);
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

static void print_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap doctor%s [options]\n"
	       "Looks at this machine: what can be traced, what is in the way, how to get what\n"
	       "is missing. Exit status 0 if at least one runtime can be traced, else 1.\n\n"
	       "%sExamples%s\n"
	       "  gputap doctor\n"
	       "  gputap doctor --json | jq -r '.findings[] | select(.level == \"bad\") | .hint'\n"
	       "  OCL_ICD_FILENAMES=libnvidia-opencl.so.1 gputap doctor     with another driver\n\n"
	       "%sOptions%s\n"
	       "      --json   for scripts; keys never change\n"
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
	struct doctor *d;
	bool json = false, can[TRACEABLE];
	int c, code;

	if (argc > 2 && !strcmp(argv[1], "--probe"))
		return doctor_probe(argc - 2, argv + 2);
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
		switch (c) {
		case 'J': json = true; break;
		case 'h': print_help(); return GT_EXIT_OK;
		default: return ui_bad_option("doctor", argv, long_options);
		}
	}
	if (optind < argc)
		return ui_fail(GT_EXIT_USAGE, "takes no '%s'", argv[optind]);
	d = calloc(1, sizeof *d);
	if (!d)
		return ui_fail(GT_EXIT_FAILURE, "out of memory");
	check_injection(d);
	check_memory(d);
	check_system(d);
	find_sessions(d);
	find_loaders(d);
	find_drivers(d);
	find_devices(d);
	find_runtimes(d);
	find_amd_gpus(d);
	find_others(d);
	find_tools(d);
	if (json)
		print_json(d);
	else
		print_text(d);
	code = traceable(d, can) ? GT_EXIT_OK : GT_EXIT_FAILURE;
	free(d);
	return code;
}

const struct gt_command gt_command_doctor = {"doctor",
					     "say what can be traced here, and what is missing",
					     doctor_main};
