/* SPDX-License-Identifier: MIT */
/* Uses every function of the public API; tests/test_core_api.py checks the output and the
 * recording. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <gputap/gputap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void event(const struct gputap_event *e, void *user)
{
	printf("event %u %s %s\n", e->code, e->text ? e->text : "", (const char *)user);
	fflush(stdout);
}

static void call(void)
{
	clGetPlatformIDs(0, NULL, &(cl_uint){0});
}

static void contexts(void)
{
	struct gputap_context_opts opts = {.size = sizeof opts, .domain = GPUTAP_DOMAIN_OPENCL};
	struct {
		struct gputap_context_opts opts;
		int more;
	} newer = {{sizeof newer, GPUTAP_DOMAIN_OPENCL, 0, NULL, 0, 0}, 1};
	struct gputap_context *one, *two, *bad = (void *)&opts;
	uint32_t platform_ids = 0, too_high = 100000;

	opts.operations = &platform_ids;
	opts.operation_count = 1;
	printf("create %d\n", gputap_context_create(&opts, &one));
	printf("create %d\n", gputap_context_create(&opts, &two));
	opts.operations = &too_high;
	printf("number %d\n", gputap_context_create(&opts, &bad) == -EINVAL && !bad);
	printf("newer %d\n", gputap_context_create(&newer.opts, &bad) == -EINVAL);
	printf("null %d\n", gputap_context_create(NULL, &bad) == -EINVAL &&
				    gputap_context_start(NULL) == -EINVAL &&
				    gputap_context_stop(NULL) == -EINVAL);
	if (!one)
		return;
	call(); /* no context is started */
	gputap_context_start(one);
	call(); /* 1 */
	gputap_context_start(two);
	call(); /* 2 */
	gputap_context_stop(one);
	call(); /* 3: context two is still started */
	gputap_context_start(two);
	gputap_context_destroy(two);
	call(); /* no context */
	gputap_context_start(one);
	call(); /* 4 */
	gputap_context_stop(one);
	call(); /* no context */
	gputap_context_destroy(one);
	gputap_context_destroy(NULL);
}

static void pop(enum gputap_stack stack)
{
	uint64_t id = 0;
	int rc = gputap_external_pop(stack, &id);

	printf("pop %d %d\n", rc, (int)id);
}

static void externals(void)
{
	uint64_t id = 0;

	printf("push %d\n", gputap_external_push(GPUTAP_STACK_OPERATION, 11));
	printf("push %d\n", gputap_external_push(GPUTAP_STACK_USER, 22));
	call();
	printf("push %d\n", gputap_external_push(GPUTAP_STACK_USER, 33));
	call();
	pop(GPUTAP_STACK_USER);
	pop(GPUTAP_STACK_USER);
	printf("empty %d\n", gputap_external_pop(GPUTAP_STACK_USER, &id) == -ENODATA);
	printf("pop %d\n", gputap_external_pop(GPUTAP_STACK_OPERATION, NULL));
	printf("stack %d\n", gputap_external_push((enum gputap_stack)2, 1) == -EINVAL &&
				     gputap_external_pop((enum gputap_stack) - 1, &id) == -EINVAL);
	for (int i = 0; i < 250; i++)
		if (gputap_external_push(GPUTAP_STACK_USER, (uint64_t)i))
			puts("too early");
	printf("deep %d\n", gputap_external_push(GPUTAP_STACK_USER, 1) == -ENOSPC);
	if (gputap_external_push(GPUTAP_STACK_USER, 2) != -ENOSPC)
		puts("not refused");
	for (int i = 0; i < 2; i++) /* removes the id whose push was refused */
		if (gputap_external_pop(GPUTAP_STACK_USER, &id) || id)
			puts("an id of a refused push");
	for (int i = 250; i-- > 0;)
		if (gputap_external_pop(GPUTAP_STACK_USER, &id) || id != (uint64_t)i)
			puts("wrong order");
}

static void events(const char *program)
{
	printf("subscribe %d\n", gputap_event_subscribe(event, "heard"));
	printf("subscribe %d\n", gputap_event_subscribe(NULL, NULL) == -EINVAL &&
					 gputap_table_subscribe(NULL, NULL) == -EINVAL);
	fflush(stdout);
	execl(program, program, (char *)NULL);
}

int main(int argc, char **argv)
{
	if (argc < 2 || gputap_version() >> 16 != GPUTAP_VERSION_MAJOR)
		return 2;
	if (!strcmp(argv[1], "contexts"))
		contexts();
	else if (!strcmp(argv[1], "externals"))
		externals();
	else
		events(argv[2]);
	return 0;
}
