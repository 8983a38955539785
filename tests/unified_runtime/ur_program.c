/* SPDX-License-Identifier: MIT */
/* Uses an adapter, argv[1], as SYCL's loader does: requests all tables and calls functions.
 * argv[2]:
 * "table": through these tables; "handle": through the table that the adapter's handle points to;
 * "probes": try features that the adapter does not support. argv[3]: request version 0.11. Prints
 * errors.
 * UR_ATTACH names a library and a session, to which the program attaches in between; it then calls
 * the functions again. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 512, PROBES = 1320, SUCCESS = 0, INVALID_QUEUE = 3, UNSUPPORTED_FEATURE = 44 };

struct offset {
	uint64_t x, y, z;
};

/* Indices into the table of all functions. */
enum {
#define UR_TABLE(function, entries) entries
#define X(name)                     AT_##name,
#include "runtime/unified_runtime/ur_release.inc"
#undef UR_TABLE
#undef X
};

typedef int launch_fn(void *queue, void *kernel, uint32_t dimensions, const size_t *offset,
		      const size_t *size, const size_t *group, uint32_t count,
		      const void *arguments, const void *properties, uint32_t wait_count,
		      void *const *waits, void **event);
typedef int read_rect_fn(void *queue, void *buffer, _Bool blocking, struct offset from,
			 struct offset to, struct offset region, size_t row, size_t slice,
			 size_t host_row, size_t host_slice, void *memory, uint32_t count,
			 void *const *events, void **event);

static void *table[ENTRIES_MAX];

static int ask(void *adapter, uint32_t version)
{
	void **next = table;
	int (*fill)(uint32_t, void **);

#define X(name) +1
#define UR_TABLE(function, entries)                  \
	*(void **)&fill = dlsym(adapter, #function); \
	if (!fill || fill(version, next))            \
		return printf("no %s\n", #function); \
	next += entries;
#include "runtime/unified_runtime/ur_release.inc"
#undef UR_TABLE
#undef X
	return 0;
}

static void launch(void *const *functions, const char *name)
{
	const size_t size[] = {32, 64}, group[] = {8, 8};
	void *kernel = NULL, *event = NULL;
	int (*create)(void *program, const char *name, void **kernel);
	launch_fn *enqueue;

	*(void **)&create = functions[AT_urKernelCreate];
	*(void **)&enqueue = functions[AT_urEnqueueKernelLaunchWithArgsExp];
	if (create((void *)1, name, &kernel) ||
	    enqueue((void *)1, kernel, 2, NULL, size, group, 0, NULL, NULL, 0, NULL, &event) ||
	    event != (void *)14)
		puts("no launch");
}

static void call(void *const *functions)
{
	const struct offset from = {3, 0, 0}, to = {0, 4, 0}, region = {0, 0, 5};
	read_rect_fn *read = (read_rect_fn *)functions[AT_urEnqueueMemBufferReadRect];
	void *const wait = (void *)10;
	void *event = NULL;
	int (*finish)(void *queue);

	launch(functions, "scale");
	launch(functions, "add");
	if (read((void *)1, (void *)2, 1, from, to, region, 6, 7, 8, 9, NULL, 1, &wait, &event) !=
		    SUCCESS ||
	    event != (void *)11)
		puts("the event is not what the adapter gave");
	if (read(NULL, NULL, 0, from, to, region, 0, 0, 0, 0, NULL, 0, NULL, NULL) != INVALID_QUEUE)
		puts("no failure");
	*(void **)&finish = functions[AT_urQueueFinish];
	if (finish((void *)1) != SUCCESS)
		puts("it does not finish");
}

/* Call as SYCL does before each command. One call fails. */
static void probe(void *const *functions)
{
	const struct offset none = {0, 0, 0};
	read_rect_fn *read = (read_rect_fn *)functions[AT_urEnqueueMemBufferReadRect];
	int (*is_captured)(void *queue, _Bool *result);
	_Bool result;

	*(void **)&is_captured = functions[AT_urQueueIsGraphCaptureEnabledExp];
	for (int i = 0; i < PROBES; i++)
		if (is_captured((void *)1, &result) != UNSUPPORTED_FEATURE)
			puts("it is supported");
	read(NULL, NULL, 0, none, none, none, 0, 0, 0, 0, NULL, 0, NULL, NULL);
}

static void attach(const char *text)
{
	char library[512], session[512];
	int (*attach_to)(const char *) = NULL;
	void *handle = NULL;

	if (sscanf(text, "%511s %511s", library, session) == 2)
		handle = dlopen(library, RTLD_NOW);
	if (handle)
		*(void **)&attach_to = dlsym(handle, "gputap_attach");
	if (!attach_to || attach_to(session))
		puts("no attach");
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void ***adapter = NULL;
	uint32_t there = 0;
	int (*get)(uint32_t, void ****, uint32_t *);

	if (!library || ask(library, argc > 3 ? 11 : 12))
		return 1;
	*(void **)&get = table[AT_urAdapterGet];
	if (get(1, &adapter, &there) || !adapter || there != 1)
		return 1;
	if (!strcmp(argv[2], "probes"))
		probe(table);
	else
		call(strcmp(argv[2], "handle") ? table : *adapter);
	if (getenv("UR_ATTACH")) {
		attach(getenv("UR_ATTACH"));
		call(strcmp(argv[2], "handle") ? table : *adapter);
	}
	return 0;
}
