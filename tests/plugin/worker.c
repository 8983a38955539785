/* SPDX-License-Identifier: MIT */
/* A program that is linked with vendors' libraries, each of which is also its own plug-in, and
 * makes each library work, in several threads.
 *
 *     worker PIECES [THREADS] [maps | ranges | _exit | kill]
 *     worker PIECES 0 obey     works once, then obeys lines: "attach LIBGPUTAP FOLDER", "work" */
#include <gputap/gputap.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* These functions exist only under `gputap run`. */
#pragma weak gputap_range_begin
#pragma weak gputap_range_push
#pragma weak gputap_range_pop
#pragma weak gputap_range_end
#pragma weak gputap_external_push
#pragma weak gputap_external_pop

#ifdef OTHER
int other_work(uint32_t pieces);
#endif
int vendor_work(uint32_t pieces);

static void *work(void *pieces)
{
	int rc = vendor_work((uint32_t)(uintptr_t)pieces);

#ifdef OTHER
	rc |= other_work((uint32_t)(uintptr_t)pieces);
#endif
	return (void *)(intptr_t)rc;
}

/* Work inside a range, in a nested range, with ids from the program, and outside of ranges. */
static void work_in_ranges(void *pieces)
{
	const struct gputap_range_opts mul = {.size = sizeof mul,
					      .kind = GPUTAP_RANGE_OPERATOR,
					      .has_sequence = 1};

	gputap_range_push("step");
	work(pieces);
	gputap_range_begin("acme::mul", 2, &mul);
	work(pieces);
	gputap_range_end(2);
	gputap_range_pop();
	gputap_external_push(GPUTAP_STACK_USER, 77);
	gputap_external_push(GPUTAP_STACK_OPERATION, 33);
	work(pieces);
	gputap_external_pop(GPUTAP_STACK_OPERATION, NULL);
	gputap_external_pop(GPUTAP_STACK_USER, NULL);
	work(pieces);
}

static void print_maps(void)
{
	char line[1024];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof line, maps))
		fputs(line, stdout);
}

static int attach(const char *path, const char *folder)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*attach_to)(const char *) = NULL;

	if (library)
		*(void **)&attach_to = dlsym(library, "gputap_attach");
	return attach_to ? attach_to(folder) : -1;
}

static void obey(void *pieces)
{
	char line[1200], path[512], folder[512];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4)) {
		if (sscanf(line, "attach %511s %511s", path, folder) == 2)
			printf("%d\n", attach(path, folder));
		else
			printf("%d\n", work(pieces) != NULL);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	void *pieces = (void *)(uintptr_t)strtoul(argv[1], NULL, 10), *rc;
	int count = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t threads[64];

	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, pieces))
			return 2;
	for (int i = 0; i < count; i++)
		if (pthread_join(threads[i], &rc) || rc)
			return 3;
	if (!count && work(pieces))
		return 4;
	if (argc > 3 && !strcmp(argv[3], "ranges"))
		work_in_ranges(pieces);
	if (argc > 3 && !strcmp(argv[3], "obey"))
		obey(pieces);
	if (argc > 3 && !strcmp(argv[3], "maps"))
		print_maps();
	if (argc > 3 && !strcmp(argv[3], "_exit"))
		_exit(0);
	if (argc > 3 && !strcmp(argv[3], "kill"))
		raise(SIGKILL);
	return 0;
}
