/* SPDX-License-Identifier: MIT */
/* A tool that writes each notification as a line into the file WORK_TOOL_OUT. If preloaded, it
 * starts when it is loaded.
 *
 *   call enter 2:hipLaunchKernel correlation=7 parent=0 thread=123 now=...
 *   work enter type=1 number=3 correlation=7 data=0 ...
 *   object load type=6 number=2 ...
 *   retired correlation=7 time=...
 *
 * WORK_TOOL, words separated by commas: calls (of HIP), hsa (also its calls), opencl, work,
 * objects, retire, hip_objects (also HIP's), late (starts at the end of the third launch),
 * late_opencl (of OpenCL's), twice (two contexts), parent_first, crash (at the end of the third
 * activity's submission), exits (each third completion reported by a thread other than main() ends
 * that thread), buffer (all notifications as records), calling (HIP, and stop and start, in
 * callbacks of work), alone (without the tool's entry: with plain calls). */
#include <gputap/tool.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONTEXTS = 2, LAUNCH = 214 /* hipLaunchKernel */ };

typedef int hip_get_device(int *device);

static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gputap_context *contexts[CONTEXTS], *starter;
static struct gputap_buffer *buffer;
static _Atomic uint64_t pieces;

static int word(const char *name)
{
	const char *list = getenv("WORK_TOOL"), *at = list ? strstr(list, name) : NULL;
	size_t n = strlen(name);

	for (; at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
			return 1;
	return 0;
}

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	pthread_mutex_lock(&lock);
	vfprintf(out, format, args);
	fprintf(out, " now=%llu by=%d\n", now(), (int)gettid());
	fflush(out);
	pthread_mutex_unlock(&lock);
	va_end(args);
}

static void check(int rc, const char *what)
{
	if (rc)
		say("error %s=%d", what, rc);
}

/* "grid=4,1,1 group=2,1,1" of hipLaunchKernel(function, dim3, dim3, ...) */
static const char *shape(const struct gputap_call *call, char text[80])
{
	const unsigned *n = (const unsigned *)call->args + 2;

	if (call->domain != GPUTAP_DOMAIN_HIP || call->operation != LAUNCH)
		return "";
	snprintf(text, 80, " grid=%u,%u,%u group=%u,%u,%u", n[0] * n[3], n[1] * n[4], n[2] * n[5],
		 n[3], n[4], n[5]);
	return text;
}

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	say("call %s domain=%u operation=%u name=%s context=%d correlation=%llu parent=%llu "
	    "thread=%llu current=%llu external=%llu%s",
	    call->phase == GPUTAP_CALL_PHASE_ENTER ? "enter" : "exit", call->domain,
	    call->operation, gputap_operation_name(call->domain, call->operation),
	    (int)(intptr_t)user, (unsigned long long)call->correlation,
	    (unsigned long long)call->parent, (unsigned long long)call->thread,
	    (unsigned long long)gputap_correlation(),
	    (unsigned long long)call->external[GPUTAP_STACK_USER], shape(call, (char[80]){0}));
	*data = call->correlation;
}

static void on_activity(const struct gputap_activity *w, uint64_t *data, void *user)
{
	static const char *const phases[] = {"none", "enter", "exit", "complete"};

	say("work %s domain=%u type=%u number=%llu context=%d correlation=%llu thread=%llu "
	    "device=%llu device_handle=%llu "
	    "source_device_handle=%llu queue=%llu queue_handle=%llu kernel=%llu name=%s "
	    "grid=%u,%u,%u group=%u,%u,%u bytes=%llu "
	    "source=%llu destination=%llu graph=%llu replay=%u ordinal=%u start=%llu end=%llu "
	    "status=%d external=%llu data=%llu",
	    phases[w->phase], w->domain, w->type, (unsigned long long)w->number,
	    (int)(intptr_t)user, (unsigned long long)w->correlation, (unsigned long long)w->thread,
	    (unsigned long long)w->device, (unsigned long long)w->device_handle,
	    (unsigned long long)w->source_device_handle, (unsigned long long)w->queue,
	    (unsigned long long)w->queue_handle, (unsigned long long)w->kernel,
	    w->name ? w->name : "-", w->grid[0], w->grid[1], w->grid[2], w->group[0], w->group[1],
	    w->group[2], (unsigned long long)w->bytes, (unsigned long long)w->source,
	    (unsigned long long)w->destination, (unsigned long long)w->graph, w->replay, w->ordinal,
	    (unsigned long long)w->start, (unsigned long long)w->end, w->status,
	    (unsigned long long)w->external[GPUTAP_STACK_USER], (unsigned long long)*data);
	if (w->phase == GPUTAP_ACTIVITY_PHASE_ENTER)
		*data = ++pieces;
	if (word("exits") && w->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE && gettid() != getpid()) {
		static _Atomic unsigned told;

		if (++told % 3 == 0)
			pthread_exit(NULL);
	}
	if (word("crash") && w->phase == GPUTAP_ACTIVITY_PHASE_EXIT && w->number == 3)
		abort();
	if (word("calling")) {
		hip_get_device *get_device =
			(hip_get_device *)(intptr_t)dlsym(RTLD_DEFAULT, "hipGetDevice");
		int device;

		if (!get_device || get_device(&device) != 0)
			say("error hipGetDevice=1");
		if (w->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE && w->number == 10) {
			check(gputap_context_stop(contexts[0]), "stop");
			check(gputap_context_start(contexts[0]), "start");
		}
	}
}

static void on_object(const struct gputap_object *o, uint64_t *data, void *user)
{
	say("object %s domain=%u type=%u number=%llu context=%d parent=%llu handle=%llu "
	    "device_handle=%llu replayed=%u name=%s uri=%s "
	    "load_bytes=%llu storage_bytes=%llu sgprs=%u vgprs=%u kernarg_bytes=%u group_bytes=%u "
	    "code_address=%llu data=%llu",
	    o->phase == GPUTAP_OBJECT_PHASE_LOAD ? "load" : "unload", o->domain, o->type,
	    (unsigned long long)o->number, (int)(intptr_t)user, (unsigned long long)o->parent,
	    (unsigned long long)o->handle, (unsigned long long)o->device_handle, o->replayed,
	    o->name && o->type == GPUTAP_OBJECT_KERNEL_SYMBOL ? o->name : "-",
	    o->uri ? o->uri : "-", (unsigned long long)o->load_bytes,
	    (unsigned long long)o->storage_bytes, o->sgprs, o->vgprs, o->kernarg_bytes,
	    o->group_bytes, (unsigned long long)o->code_address, (unsigned long long)*data);
	if (o->phase == GPUTAP_OBJECT_PHASE_LOAD)
		*data = o->type * 1000 + o->number;
}

static void on_retired(uint64_t correlation, uint64_t time, void *user)
{
	say("retired correlation=%llu context=%d time=%llu", (unsigned long long)correlation,
	    (int)(intptr_t)user, (unsigned long long)time);
}

static void on_batch(struct gputap_buffer *from, const struct gputap_record *records, size_t count,
		     uint64_t lost, void *user)
{
	(void)from, (void)user;
	for (size_t i = 0; i < count; i++) {
		const struct gputap_record_call *call = records[i].payload;
		const struct gputap_record_retired *retired = records[i].payload;
		const struct gputap_activity *activity = records[i].payload;

		if (records[i].kind == GPUTAP_RECORD_CALL)
			say("record call correlation=%llu start=%llu end=%llu",
			    (unsigned long long)call->correlation, (unsigned long long)call->start,
			    (unsigned long long)call->end);
		else if (records[i].kind == GPUTAP_RECORD_ACTIVITY)
			say("record work type=%u number=%llu correlation=%llu start=%llu end=%llu",
			    activity->type, (unsigned long long)activity->number,
			    (unsigned long long)activity->correlation,
			    (unsigned long long)activity->start, (unsigned long long)activity->end);
		else
			say("record retired correlation=%llu time=%llu",
			    (unsigned long long)retired->correlation,
			    (unsigned long long)retired->time);
	}
	if (lost)
		say("error lost=%llu", (unsigned long long)lost);
}

static void configure_buffer(struct gputap_context *context)
{
	static const uint32_t some = 0;
	const struct gputap_buffer_opts opts = {.size = sizeof opts, .fn = on_batch};

	check(gputap_buffer_create(&opts, &buffer), "buffer");
	check(gputap_context_buffer(context, GPUTAP_DOMAIN_HIP, NULL, 0, 0, 1, buffer),
	      "buffer of calls");
	check(gputap_context_buffer(context, GPUTAP_DOMAIN_HSA_CORE, &some, 1, GPUTAP_ACTIVITY_ALL,
				    1, buffer),
	      "buffer of work");
}

static void configure(int i)
{
	static const enum gputap_domain domains[] = {GPUTAP_DOMAIN_HIP, GPUTAP_DOMAIN_HSA_CORE,
						     GPUTAP_DOMAIN_HSA_AMD_EXT,
						     GPUTAP_DOMAIN_OPENCL};
	static const char *const words[] = {"calls", "hsa", "hsa", "opencl"};
	const struct gputap_context_opts opts = {.size = sizeof opts,
						 .flags = GPUTAP_CONTEXT_DENSE};
	void *user = (void *)(intptr_t)i;

	check(gputap_context_create(&opts, &contexts[i]), "create");
	for (int k = 0; k < 4; k++)
		if (word(words[k]))
			check(gputap_context_calls(contexts[i], domains[k], NULL, 0, 0, on_call,
						   user),
			      "calls");
	for (int k = 1; k < 4; k += 2) {
		if (word("work"))
			check(gputap_context_activities(contexts[i], domains[k],
							GPUTAP_ACTIVITY_ALL, on_activity, user),
			      "work");
		if (word("objects"))
			check(gputap_context_objects(contexts[i], domains[k], UINT64_MAX,
						     word("parent_first")
							     ? GPUTAP_OBJECTS_PARENT_FIRST
							     : 0,
						     on_object, user),
			      "objects");
	}
	if (word("hip_objects"))
		check(gputap_context_objects(contexts[i], GPUTAP_DOMAIN_HIP, UINT64_MAX, 0,
					     on_object, user),
		      "objects");
	if (word("buffer"))
		configure_buffer(contexts[i]);
	if (word("retire"))
		check(gputap_context_retirement(contexts[i], on_retired, user), "retirement");
}

static void start_late(const struct gputap_call *call, uint64_t *data, void *user)
{
	static _Atomic int calls;

	(void)data, (void)user;
	if (call->phase == GPUTAP_CALL_PHASE_EXIT && ++calls == 3)
		check(gputap_context_start(contexts[0]), "start");
}

static int start(void *user)
{
	(void)user;
	for (int i = 0; i < (word("twice") ? 2 : 1); i++) {
		configure(i);
		if (!word("late") && !word("late_opencl"))
			check(gputap_context_start(contexts[i]), "start");
	}
	if (word("late") || word("late_opencl")) {
		const enum gputap_domain domain =
			word("late") ? GPUTAP_DOMAIN_HIP : GPUTAP_DOMAIN_OPENCL;
		const struct gputap_context_opts opts = {.size = sizeof opts,
							 .flags = GPUTAP_CONTEXT_DENSE};
		const uint32_t operation =
			(uint32_t)gputap_operation_find(domain, word("late")
									? "hipLaunchKernel"
									: "clEnqueueNDRangeKernel");

		check(gputap_context_create(&opts, &starter), "create");
		check(gputap_context_calls(starter, domain, &operation, 1, 0, start_late, NULL),
		      "calls");
		check(gputap_context_start(starter), "start");
	}
	return 0;
}

static void finish(void *user)
{
	(void)user;
	if (buffer)
		check(gputap_buffer_flush(buffer), "flush");
	say("finish");
}

/* Take the lock around a fork, so that the child can also write: a thread that held the lock would
 * not exist in the child. */
static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

static int open_out(void)
{
	const char *path = getenv("WORK_TOOL_OUT");

	out = path ? fopen(path, "ae") : NULL;
	return out && pthread_atfork(take, give, give) == 0;
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {sizeof tool, GPUTAP_TOOL_ABI, 0,    "work_tool",
						start,       finish,          NULL, 0};

	(void)version;
	return !word("alone") && open_out() ? &tool : NULL;
}

__attribute__((constructor)) static void begin(void)
{
	if (word("alone") && open_out())
		start(NULL);
}
