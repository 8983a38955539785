/* SPDX-License-Identifier: MIT */
/* Collects data before a client's context is started: the host functions that represent kernels,
 * and the existing streams.
 *
 *   a separate gputap context, started once a client requests host functions or streams
 *     ├─► host functions, by kernel name
 *     └─► numbers of streams
 *
 * HIP registers functions in constructors of programs and libraries, before any code object is
 * loaded. The address of a stream is reused for other streams (sdk_stream.c). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sdk.h"

enum { BUCKETS = 256 };

struct host_function {
	struct host_function *next;
	/* lacks the members that the code object adds */
	rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t data;
	char name[]; /* mangled name of the kernel */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct host_function *functions[BUCKETS];
static uint64_t function_count;

static unsigned bucket_of_name(const char *name, size_t bytes)
{
	unsigned hash = 5381;

	while (bytes--)
		hash = hash * 33 + (unsigned char)*name++;
	return hash % BUCKETS;
}

/* Functions ----------------------------------------------------------------------- */

/* Arguments of __hipRegisterFunction(). */
struct registration {
	uint64_t modules, host_function;
	const char *device_function, *device_name;
	uint32_t thread_limit;
	const uint32_t *thread_id, *block_id, *block_dim, *grid_dim; /* three values each */
	const int *workgroup_size;
};

static rocprofiler_dim3_t dim3_of(const uint32_t *of)
{
	return of ? (rocprofiler_dim3_t){of[0], of[1], of[2]} : (rocprofiler_dim3_t){0, 0, 0};
}

/* Add a function. If two functions have the same name, keep the first, because the module of a code
 * object is unknown. */
static void add_function(const struct registration *r)
{
	size_t bytes = strlen(r->device_function);
	unsigned bucket = bucket_of_name(r->device_function, bytes);
	struct host_function *f = malloc(sizeof *f + bytes + 1);

	if (!f)
		return;
	memset(f, 0, sizeof *f);
	memcpy(f->name, r->device_function, bytes + 1);
	f->data.size = sizeof f->data;
	f->data.host_function.value = r->host_function;
	f->data.modules.value = r->modules;
	f->data.device_function = f->name;
	f->data.thread_limit = r->thread_limit;
	f->data.thread_ids = dim3_of(r->thread_id);
	f->data.block_ids = dim3_of(r->block_id);
	f->data.block_dims = dim3_of(r->block_dim);
	f->data.grid_dims = dim3_of(r->grid_dim);
	f->data.workgroup_size = r->workgroup_size ? (uint64_t)*r->workgroup_size : 0;
	pthread_mutex_lock(&mutex);
	for (const struct host_function *other = functions[bucket]; other; other = other->next)
		if (!strcmp(other->name, f->name)) {
			pthread_mutex_unlock(&mutex);
			free(f);
			return;
		}
	f->data.host_function_id = ++function_count;
	f->next = functions[bucket];
	functions[bucket] = f;
	pthread_mutex_unlock(&mutex);
}

bool sdk_host_function(
	const char *symbol,
	rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t *out)
{
	size_t bytes = strlen(symbol);
	const struct host_function *f;

	if (bytes > 3 && !strcmp(symbol + bytes - 3, ".kd"))
		bytes -= 3;
	pthread_mutex_lock(&mutex);
	f = functions[bucket_of_name(symbol, bytes)];
	while (f && (strncmp(f->name, symbol, bytes) || f->name[bytes]))
		f = f->next;
	if (f)
		*out = f->data;
	pthread_mutex_unlock(&mutex);
	return f != NULL;
}

/* Watching ----------------------------------------------------------------------------- */

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	int32_t status;

	(void)user;
	if (call->domain == GPUTAP_DOMAIN_HIP_COMPILER) {
		const struct registration *r = call->args;

		if (call->phase == GPUTAP_CALL_PHASE_ENTER && r && call->args_bytes >= sizeof *r &&
		    r->device_function)
			add_function(r);
		return;
	}
	switch (sdk_stream_operation(call->operation)) {
	case ROCPROFILER_HIP_STREAM_CREATE: /* the destruction of an earlier stream at this address
	 * may have been missed */
		if (call->phase == GPUTAP_CALL_PHASE_EXIT && sdk_stream_created(call))
			sdk_stream_id(sdk_stream_created(call));
		break;
	/* read the argument before the call, because another thread may get the address at once */
	case ROCPROFILER_HIP_STREAM_DESTROY:
		if (call->phase == GPUTAP_CALL_PHASE_ENTER)
			*data = sdk_stream_argument(call);
		else if (gputap_call_has_failed(call, &status) == 0 && sdk_stream_id(*data))
			sdk_forget_stream(*data);
		break;
	default: break;
	}
}

static int watch_streams(struct gputap_context *ctx)
{
	uint32_t operations[ROCPROFILER_HIP_RUNTIME_API_ID_LAST], count = 0;
	int rc;

	for (uint32_t op = 0; op < ROCPROFILER_HIP_RUNTIME_API_ID_LAST; op++)
		if (sdk_stream_operation(op) == ROCPROFILER_HIP_STREAM_CREATE ||
		    sdk_stream_operation(op) == ROCPROFILER_HIP_STREAM_DESTROY)
			operations[count++] = op;
	rc = gputap_context_calls(ctx, GPUTAP_DOMAIN_HIP, operations, count, 0, on_call, NULL);
	return rc ? rc : gputap_context_uncorrelated(ctx, GPUTAP_DOMAIN_HIP, operations, count, 0);
}

static int watch_functions(struct gputap_context *ctx)
{
	const uint32_t operation = ROCPROFILER_HIP_COMPILER_API_ID___hipRegisterFunction;
	int rc = gputap_context_calls(ctx, GPUTAP_DOMAIN_HIP_COMPILER, &operation, 1, 0, on_call,
				      NULL);

	return rc ? rc
		  : gputap_context_uncorrelated(ctx, GPUTAP_DOMAIN_HIP_COMPILER, &operation, 1, 0);
}

static void start_watch(bool wanted, bool *watched, int (*watch)(struct gputap_context *ctx))
{
	const struct gputap_context_opts opts = {.size = sizeof opts,
						 .flags = GPUTAP_CONTEXT_FINISH_CALLS};
	struct gputap_context *ctx;

	if (!wanted || *watched)
		return;
	*watched = true;
	if (gputap_context_create(&opts, &ctx) == 0 && watch(ctx) == 0)
		gputap_context_start(ctx);
}

void sdk_watch_for(const struct sdk_context *c)
{
	static bool streams_watched, functions_watched;

	start_watch(c->called[ROCPROFILER_CALLBACK_TRACING_HIP_STREAM].ops.configured,
		    &streams_watched, watch_streams);
	start_watch(sdk_asks(&c->called[ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT].ops,
			     ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER),
		    &functions_watched, watch_functions);
}
