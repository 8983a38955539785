/* SPDX-License-Identifier: MIT */
/* A tool that lets Intel's PTI record kernels, memcpys and memsets at the same time as gputap. It
 * is preloaded, enables PTI's views before the program starts, and writes a line for each record
 * when the program ends:
 *
 *   PTI_VIEWS_LIBRARY   libpti_view.so.1 of the package intel-pti
 *   PTI_VIEWS_OUT       the file: "kernel START END NAME", "copy", "fill", and "odd NAME" for a
 *                       kernel whose times do not satisfy append <= submit <= start < end
 *   PTI_VIEWS_CALLS=1   also "call ID" for each call of SYCL's runtime API
 *   PTI_VIEWS_TEXT=0    only the lines "failed ..." at exit, for measurements
 *
 * The declarations below match PTI 1.2. The library is opened with dlopen(), so it is not needed at
 * build time. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIEW_KERNEL = 1, VIEW_CALL = 6, VIEW_COPY = 8, VIEW_FILL = 9, BUFFER_BYTES = 1 << 20 };

struct kernel_record {
	uint32_t kind;
	void *queue, *context;
	const char *name, *file;
	uint64_t line, id;
	uint32_t correlation, thread;
	char pci[16];
	uint8_t uuid[16];
	uint64_t append, start, end, submit;
	/* SYCL's data follows */
};

struct call_record {
	uint32_t kind;
	uint64_t start, end;
	uint32_t group, id;
};

static int (*next_record)(uint8_t *buffer, size_t used, void **record);
static int (*flush_views)(void);
static FILE *out;
static bool has_text;

static void give_buffer(unsigned char **buffer, size_t *bytes)
{
	*bytes = BUFFER_BYTES;
	*buffer = malloc(BUFFER_BYTES);
}

static void write_kernel(const struct kernel_record *r)
{
	const char *name = r->name ? r->name : "";

	fprintf(out, "kernel %llu %llu %s\n", (unsigned long long)r->start,
		(unsigned long long)r->end, name);
	if (r->append > r->submit || r->submit > r->start || r->start >= r->end)
		fprintf(out, "odd %s\n", name);
}

static void take_buffer(unsigned char *buffer, size_t bytes, size_t used)
{
	void *record = NULL;

	(void)bytes;
	while (has_text && used && !next_record(buffer, used, &record))
		switch (*(uint32_t *)record) {
		case VIEW_KERNEL: write_kernel(record); break;
		case VIEW_CALL:
			fprintf(out, "call %u\n", ((const struct call_record *)record)->id);
			break;
		case VIEW_COPY: fprintf(out, "copy\n"); break;
		case VIEW_FILL: fprintf(out, "fill\n"); break;
		}
	free(buffer);
}

static void end_views(void)
{
	int status = flush_views();

	if (status)
		fprintf(out, "failed: flush: %d\n", status);
	fclose(out);
}

static void start_views(void *library)
{
	int (*set_callbacks)(void (*)(unsigned char **, size_t *),
			     void (*)(unsigned char *, size_t, size_t)) =
		dlsym(library, "ptiViewSetCallbacks");
	int (*enable)(int) = dlsym(library, "ptiViewEnable");
	int status;

	next_record = dlsym(library, "ptiViewGetNextRecord");
	flush_views = dlsym(library, "ptiFlushAllViews");
	status = set_callbacks(give_buffer, take_buffer);
	if (status)
		fprintf(out, "failed: callbacks: %d\n", status);
	for (int kind = VIEW_KERNEL; kind <= VIEW_FILL; kind++)
		if (kind == VIEW_KERNEL || kind == VIEW_COPY || kind == VIEW_FILL ||
		    (kind == VIEW_CALL && getenv("PTI_VIEWS_CALLS"))) {
			status = enable(kind);
			if (status)
				fprintf(out, "failed: view %d: %d\n", kind, status);
		}
	atexit(end_views);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("PTI_VIEWS_OUT"), *name = getenv("PTI_VIEWS_LIBRARY");
	void *library;

	if (!path || !name)
		return;
	has_text = !getenv("PTI_VIEWS_TEXT") || strcmp(getenv("PTI_VIEWS_TEXT"), "0");
	out = fopen(path, "w");
	if (!out)
		abort();
	unsetenv("PTI_VIEWS_OUT"); /* not in child processes */
	library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	if (library)
		start_views(library);
	else
		fprintf(out, "failed: %s\n", dlerror());
}
