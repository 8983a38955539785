/* SPDX-License-Identifier: MIT */
/* A tool for tests of Level Zero: counts calls per function, and GPU activities. At exit it writes
 * "name count" for each function, and "work N timed N", to the file that LZ_TOOL names. If
 * preloaded, it is a tool from the start; otherwise, from the call to lz_tool_add() on. Compile
 * with -DBY_CALL for the latter. It counts "not traced" events as "not_traced N". LZ_FORBID=1 makes
 * the kernel refuse process_vm_readv(), as containers may; LZ_FORBID=2 also pread(). */
#include <gputap/tool.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { OPERATIONS = 1024, DOMAINS = 32 };

static struct gputap_context *context;
static _Atomic long calls[DOMAINS][OPERATIONS];
static _Atomic long work, timed, linked, not_traced;

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (call->phase == GPUTAP_CALL_PHASE_ENTER)
		atomic_fetch_add(&calls[call->domain][call->operation], 1);
}

static void on_activity(const struct gputap_activity *item, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (item->phase != GPUTAP_ACTIVITY_PHASE_COMPLETE)
		return;
	atomic_fetch_add(&work, 1);
	atomic_fetch_add(&timed, item->status == 0);
	atomic_fetch_add(&linked, item->correlation != 0);
}

static int start(void *user)
{
	static const enum gputap_domain domains[] = {GPUTAP_DOMAIN_LEVEL_ZERO,
						     GPUTAP_DOMAIN_LEVEL_ZERO_TOOLS,
						     GPUTAP_DOMAIN_LEVEL_ZERO_SYSMAN,
						     GPUTAP_DOMAIN_LEVEL_ZERO_RUNTIME};
	struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = gputap_context_create(&opts, &context);

	(void)user;
	for (unsigned i = 0; i < 4 && rc == 0; i++)
		rc = gputap_context_calls(context, domains[i], NULL, 0, 0, on_call, NULL);
	if (rc == 0)
		rc = gputap_context_activities(context, GPUTAP_DOMAIN_LEVEL_ZERO,
					       GPUTAP_ACTIVITY_ALL, on_activity, NULL);
	return rc ? rc : gputap_context_start(context);
}

static void finish(void *user)
{
	FILE *out = fopen(getenv("LZ_TOOL"), "w");

	(void)user;
	if (!out)
		return;
	for (uint32_t d = 0; d < DOMAINS; d++)
		for (uint32_t i = 0; i < OPERATIONS; i++)
			if (calls[d][i])
				fprintf(out, "%s %ld\n", gputap_operation_name(d, i), calls[d][i]);
	if (not_traced)
		fprintf(out, "not_traced %ld\n", not_traced);
	fprintf(out, "work %ld\ntimed %ld\nlinked %ld\n", work, timed, linked);
	fclose(out);
}

static struct gputap_tool tool = {sizeof tool, GPUTAP_TOOL_ABI, 0,    "lz_tool",
				  start,       finish,          NULL, 0};

#ifdef BY_CALL
static int forbid(int level)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, level > 1 ? SYS_pread64 : -1u, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof code / sizeof *code, code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void on_event(const struct gputap_event *event, void *user)
{
	(void)user;
	atomic_fetch_add(&not_traced, event->code == GPUTAP_EVENT_NOT_TRACED);
}

int lz_tool_add(void)
{
	int rc = gputap_event_subscribe(on_event, NULL);

	if (rc == 0 && getenv("LZ_FORBID"))
		rc = forbid(atoi(getenv("LZ_FORBID")));
	return rc ? rc : gputap_tool_add(&tool);
}
#else
const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	(void)version;
	return &tool;
}
#endif
