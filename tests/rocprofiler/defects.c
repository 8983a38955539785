/* SPDX-License-Identifier: MIT */
/* A client for defects of upstream's library, one mode per run (DEFECT=...). Prints its
 * observations on stdout, at once or at exit. */
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

enum { SYMBOLS = 4096, WARM = 20000 };

static rocprofiler_context_id_t context, late;
static rocprofiler_buffer_id_t buffer;
static _Atomic uint64_t calls, received, dropped, retired;
static uint64_t heap_before, pages_before;

static bool is(const char *mode)
{
	return !strcmp(getenv("DEFECT"), mode);
}

static uint64_t pages(void)
{
	unsigned long total, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%lu %lu", &total, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident;
}

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
		    void *data)
{
	(void)user, (void)data;
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_EXIT && ++calls == WARM && is("ids")) {
		heap_before = mallinfo2().uordblks;
		pages_before = pages();
	}
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t lost)
{
	static bool waited;

	(void)c, (void)b, (void)data;
	for (size_t i = 0; i < count; i++)
		headers[i]->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT
			? retired++
			: received++;
	dropped = lost;
	/* meanwhile, the buffer fills up */
	for (int i = 0; is("discard") && !waited && calls < 700 && i < 20000; i++)
		usleep(1000);
	waited = true;
}

/* Number of loaded kernel symbols. */
static struct symbol {
	uint64_t id, object;
	const char *name;
} symbols[SYMBOLS];

static void on_object(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
		      void *data)
{
	const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *k = r.payload;
	bool load = r.phase == ROCPROFILER_CALLBACK_PHASE_LOAD;

	if (r.operation == ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER)
		return;
	if (data) {
		printf("%s: %s %s kept %lu\n", (const char *)data, load ? "load" : "unload",
		       r.operation == ROCPROFILER_CODE_OBJECT_LOAD ? "object" : k->kernel_name,
		       (unsigned long)user->value);
		user->value = 7;
	} else if (r.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER) {
		symbols[k->kernel_id % SYMBOLS] =
			load ? (struct symbol){k->kernel_id, k->kernel_object, k->kernel_name}
			     : (struct symbol){0, 0, NULL};
		for (int i = 0; load && i < SYMBOLS; i++)
			if (symbols[i].object == k->kernel_object && symbols[i].id != k->kernel_id)
				printf("two kernels at one address\n");
	}
}

static void on_dispatch(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
			void *data)
{
	const rocprofiler_callback_tracing_kernel_dispatch_data_t *d = r.payload;
	const struct symbol *s = &symbols[d->dispatch_info.kernel_id % SYMBOLS];

	(void)user, (void)data;
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
		printf("dispatch %s at %lx correlation %d\n",
		       s->id && s->id == d->dispatch_info.kernel_id ? s->name : "of what is gone",
		       (unsigned long)s->object, r.correlation_id.internal != 0);
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER && late.handle && is("late"))
		rocprofiler_start_context(late);
}

static void asks(rocprofiler_context_id_t ctx, rocprofiler_callback_tracing_kind_t kind,
		 rocprofiler_callback_tracing_cb_t fn, void *data)
{
	rocprofiler_configure_callback_tracing_service(ctx, kind, NULL, 0, fn, data);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	setvbuf(stdout, NULL, _IOLBF, 0);
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, is("discard") ? 4096 : 1 << 20,
				  is("discard") ? 1024 : 1 << 16,
				  is("discard") ? ROCPROFILER_BUFFER_POLICY_DISCARD
						: ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  on_records, NULL, &buffer);
	if (is("discard") || is("ids")) {
		asks(context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, on_call, NULL);
		rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, NULL, 0, buffer);
	}
	if (is("ids") || is("work"))
		rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0,
			buffer);
	if (is("stale") || is("late"))
		asks(context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, on_object, NULL);
	if (is("stale") || is("late") || is("work"))
		asks(context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, on_dispatch, NULL);
	if (is("work"))
		rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer);
	if (is("late")) {
		rocprofiler_create_context(&late);
		asks(late, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, on_object, "late");
	}
	if (is("lock")) {
		asks(context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, on_call, NULL);
		rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, NULL, 0, buffer);
	}
	return rocprofiler_start_context(context);
}

static void finalize(void *data)
{
	uint64_t heap = mallinfo2().uordblks, resident = pages();

	(void)data;
	rocprofiler_flush_buffer(buffer);
	if (is("ids"))
		printf("calls %lu retired %lu heap grew by %ld pages by %ld\n",
		       (unsigned long)calls, (unsigned long)retired, (long)(heap - heap_before),
		       (long)(resident - pages_before));
	else
		printf("calls %lu received %lu dropped %lu retired %lu\n", (unsigned long)calls,
		       (unsigned long)received, (unsigned long)dropped, (unsigned long)retired);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "defects";
	return &result;
}
