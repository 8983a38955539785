/* SPDX-License-Identifier: MIT */
/* The OpenCL test of gputap doctor: loaders (libOpenCL.so), drivers as the loaders find them, and
 * the devices of all drivers. A driver is loaded, and its devices queried, only in a child process.
 * Part of the command, not of the injected library: src/doctor/doctor.h. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "util/error.h"

#define LOADER "libOpenCL.so"

struct opencl_search {
	struct doctor *d; /* NULL: only count the drivers */
	unsigned loaders, drivers, devices;
	char loader[PATH_MAX]; /* path of the loader that programs get */
};

static void add_loader(void *data, const char *path)
{
	struct opencl_search *s = data;
	char real[PATH_MAX];
	struct finding *f;

	if (!doctor_is_new(s->d, path, real))
		return;
	f = doctor_add(s->d, FOUND_OK, "opencl", "loader");
	doctor_say(f, "%.400s, %s", real,
		   doctor_file_has(real, "OPENCL_LAYERS")
			   ? "with layers"
			   : "without layers: interposition is used");
	if (!s->loaders++)
		snprintf(s->loader, sizeof s->loader, "%s", path);
}

static void find_loaders(struct opencl_search *s)
{
	struct finding *f;

	doctor_each_library(LOADER, add_loader, s);
	if (s->loaders)
		return;
	f = doctor_add(s->d, FOUND_BAD, "opencl", "loader");
	doctor_say(f, "no libOpenCL.so is installed");
	doctor_hint(f, "apt install ocl-icd-libopencl1");
}

/* Handle a driver. @file: names the driver; @library: argument for dlopen() */
typedef void driver_fn(struct opencl_search *s, const char *file, const char *library);

static void check_driver(struct opencl_search *s, const char *file, const char *library)
{
	struct finding *f = doctor_add(s->d, FOUND_BAD, "opencl", "driver");
	struct doctor_child child;

	if (doctor_run_child("library", library, NULL, DOCTOR_CHILD_SECONDS, &child)) {
		doctor_say(f, "%s: cannot be tested: %s", library, gt_error_text());
		gt_error_clear();
	} else if (child.timed_out) {
		doctor_say(f, "%s (%s): did not load within %d s", library, file,
			   DOCTOR_CHILD_SECONDS);
	} else if (WIFSIGNALED(child.wait_status)) {
		doctor_say(f, "%s (%s): crashes when it is loaded: %s", library, file,
			   strsignal(WTERMSIG(child.wait_status)));
	} else if (WEXITSTATUS(child.wait_status)) {
		child.text[strcspn(child.text, "\n")] = '\0';
		doctor_say(f, "%s (%s): %.300s", library, file, child.text);
	} else {
		f->level = FOUND_OK;
		s->drivers++;
		doctor_say(f, "%s (%s)", library, file);
	}
}

/* Read an ICD file, which contains the name of a library. */
static void read_icd_file(struct opencl_search *s, const char *path, driver_fn *each)
{
	char line[PATH_MAX] = "";
	FILE *file = fopen(path, "re");

	if (file && fgets(line, sizeof line, file)) {
		line[strcspn(line, " \t\r\n")] = '\0';
		if (*line)
			each(s, path, line);
	}
	if (file)
		fclose(file);
}

static void each_driver(struct opencl_search *s, driver_fn *each)
{
	/* Same order as in ocl-icd and the Khronos loader. */
	const char *names = getenv("OCL_ICD_FILENAMES"), *place = getenv("OCL_ICD_VENDORS");
	char path[PATH_MAX];
	struct dirent **entries;
	int count;

	for (; names && *names; names += *names == ':') {
		size_t n = strcspn(names, ":");
		snprintf(path, sizeof path, "%.*s", (int)n, names);
		each(s, "OCL_ICD_FILENAMES", path);
		names += n;
	}
	if (!place || !*place)
		place = getenv("OPENCL_VENDOR_PATH");
	if (!place || !*place)
		place = "/etc/OpenCL/vendors";
	if (!fnmatch("*.icd", place, 0)) {
		read_icd_file(s, place, each);
		return;
	}
	count = scandir(place, &entries, NULL, alphasort);
	if (count < 0 && strstr(place, ".so")) {
		each(s, "OCL_ICD_VENDORS", place);
		return;
	}
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/%s", place, entries[i]->d_name);
		if (!fnmatch("*.icd", path, 0))
			read_icd_file(s, path, each);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void note_nvidia(void *data, const char *path)
{
	struct doctor *d = ((struct opencl_search *)data)->d;
	struct finding *f;

	for (unsigned i = 0; i < d->count; i++)
		if (strstr(d->findings[i].text, "libnvidia-opencl"))
			return;
	f = doctor_add(d, FOUND_NOTE, "opencl", "driver");
	doctor_say(f, "%.400s exists, but no loader finds it", path);
	doctor_hint(f, "OCL_ICD_FILENAMES=libnvidia-opencl.so.1 gputap run ..");
}

static void find_drivers(struct opencl_search *s)
{
	struct finding *f;

	each_driver(s, check_driver);
	doctor_each_library("libnvidia-opencl.so", note_nvidia, s);
	if (s->drivers)
		return;
	f = doctor_add(s->d, FOUND_BAD, "opencl", "driver");
	doctor_say(f, "no OpenCL driver can be loaded");
	doctor_hint(f, "apt install pocl-opencl-icd   (runs on the CPU)");
}

static void find_devices(struct opencl_search *s)
{
	struct doctor_child child;
	struct finding *f;

	if (!s->loaders || !s->drivers)
		return; /* reported already */
	if (doctor_run_child("opencl", s->loader, NULL, DOCTOR_CHILD_SECONDS, &child)) {
		f = doctor_add(s->d, FOUND_BAD, "opencl", "device");
		doctor_say(f, "cannot list devices: %s", gt_error_text());
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
			continue; /* a line that another library printed */
		f = doctor_add(s->d, FOUND_OK, "opencl", "device");
		doctor_say(f, "%.200s (%s, driver %.100s, %.100s)", field[1], field[0], field[2],
			   field[3]);
		s->devices++;
	}
	if (child.timed_out || WIFSIGNALED(child.wait_status)) {
		f = doctor_add(s->d, FOUND_BAD, "opencl", "device");
		if (child.timed_out)
			doctor_say(f, "a driver did not answer within %d s", DOCTOR_CHILD_SECONDS);
		else
			doctor_say(f, "a driver crashes when it lists its devices: %s",
				   strsignal(WTERMSIG(child.wait_status)));
	} else if (!s->devices) {
		f = doctor_add(s->d, FOUND_BAD, "opencl", "device");
		doctor_say(f, "the drivers have no device");
		doctor_hint(f, "check that /dev/dri, /dev/kfd or /dev/nvidia* exists and that you "
			       "can open it (groups video, render)");
	}
}

static enum doctor_verdict look_for_opencl(struct doctor *d)
{
	struct opencl_search s = {.d = d};

	find_loaders(&s);
	find_drivers(&s);
	find_devices(&s);
	return s.devices ? DOCTOR_YES : DOCTOR_NO;
}

static void count_loader(void *data, const char *path)
{
	(void)path;
	((struct opencl_search *)data)->loaders++;
}

static void count_driver(struct opencl_search *s, const char *file, const char *library)
{
	(void)file;
	(void)library;
	s->drivers++;
}

static void describe_opencl(char *text, size_t size)
{
	struct opencl_search s = {0};

	doctor_each_library(LOADER, count_loader, &s);
	each_driver(&s, count_driver);
	if (s.loaders && s.drivers)
		snprintf(text, size, "OpenCL with %u driver%s", s.drivers,
			 s.drivers == 1 ? "" : "s");
	else if (s.loaders)
		snprintf(text, size, "OpenCL without a driver");
}

/* Print one line per device with tab-separated type, name, driver version and platform. */
static int probe_opencl(const char *name)
{
	enum { MOST = 16 };
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	cl_platform_id platforms[MOST];
	cl_uint platform_count = 0;
	__typeof__(&clGetPlatformIDs) get_platforms;
	__typeof__(&clGetPlatformInfo) platform_info;
	__typeof__(&clGetDeviceIDs) get_devices;
	__typeof__(&clGetDeviceInfo) device_info;

	if (!library) {
		printf("%s\n", dlerror());
		return EXIT_FAILURE;
	}
	*(void **)&get_platforms = dlsym(library, "clGetPlatformIDs");
	*(void **)&platform_info = dlsym(library, "clGetPlatformInfo");
	*(void **)&get_devices = dlsym(library, "clGetDeviceIDs");
	*(void **)&device_info = dlsym(library, "clGetDeviceInfo");
	if (!get_platforms || !platform_info || !get_devices || !device_info) {
		printf("not an OpenCL library\n");
		return EXIT_FAILURE;
	}
	if (get_platforms(MOST, platforms, &platform_count) != CL_SUCCESS)
		platform_count = 0;
	for (cl_uint p = 0; p < platform_count && p < MOST; p++) {
		cl_device_id devices[MOST];
		cl_uint count = 0;
		char platform[256] = "";
		platform_info(platforms[p], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
		if (get_devices(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &count) !=
		    CL_SUCCESS)
			count = 0;
		for (cl_uint d = 0; d < count && d < MOST; d++) {
			char device[256] = "", driver[256] = "";
			cl_device_type type = 0;
			device_info(devices[d], CL_DEVICE_NAME, sizeof device, device, NULL);
			device_info(devices[d], CL_DRIVER_VERSION, sizeof driver, driver, NULL);
			device_info(devices[d], CL_DEVICE_TYPE, sizeof type, &type, NULL);
			printf("%s\t%s\t%s\t%s\n",
			       type & CL_DEVICE_TYPE_GPU   ? "gpu"
			       : type & CL_DEVICE_TYPE_CPU ? "cpu"
							   : "accelerator",
			       device, driver, platform);
			fflush(stdout);
		}
	}
	return EXIT_SUCCESS;
}

const struct doctor_trial gt_doctor_trial_opencl = {look_for_opencl, describe_opencl, probe_opencl};
