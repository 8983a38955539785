/* SPDX-License-Identifier: MIT */
/* A library that is not linked with libgputap and is initialised before libgputap (both are
 * preloaded). Its constructor uses the tool API, then calls a runtime. */
#include <gputap/tool.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int clGetPlatformIDs(unsigned, void *, unsigned *);

static int calls;

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	calls += call->phase == GPUTAP_CALL_PHASE_ENTER;
}

#define FIND(name) __typeof__(&name) name##_ = (__typeof__(&name))dlsym(RTLD_DEFAULT, #name)

__attribute__((constructor)) static void begin(void)
{
	FIND(gputap_context_create);
	FIND(gputap_context_calls);
	FIND(gputap_context_start);
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *context;
	unsigned count;
	int rc;

	if (!gputap_context_create_) {
		puts("early: no libgputap");
		return;
	}
	rc = gputap_context_create_(&opts, &context);
	rc = rc ? rc : gputap_context_calls_(context, GPUTAP_DOMAIN_OPENCL, NULL, 0, 0, on_call, 0);
	rc = rc ? rc : gputap_context_start_(context);
	clGetPlatformIDs(0, NULL, &count);
	printf("early: %d, %d calls\n", rc, calls);
}
