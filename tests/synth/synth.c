/* SPDX-License-Identifier: MIT */
/* Writes reproducible synthetic captures of any size, for tests of readers. Uses the public writer
 * functions as the collector does: one stream per thread, GPU activities in the stream of a
 * separate thread (the runtime's), strings and objects before the records that refer to them.
 *
 * The host clock is a counter of 2.6 ticks per ns that begins at a second of BOOTTIME. Devices
 * stamp in CLOCK_MONOTONIC_RAW, 250 ms away from the host clock, unless --device-clock says
 * otherwise. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "generated/mpi_ops.h"
#include "generated/opencl_ops.h"
#include "generated/roctx_ops.h"
#include "generated/ranges_ops.h"
#include "generated/unified_runtime_ops.h"
#include "record/operation.h"
#include "synth_job.h"
#include "util/error.h"

#define TICKS_NUM    13u /* ticks per ns: 13/5 */
#define TICKS_DEN    5u
#define T0_NS        (o.start)
#define T0_TICKS     UINT64_C(777000000000)
#define RAW_AHEAD_NS UINT64_C(250000000)

enum {
	BATCH_BYTES = 256 << 10,
	ROOM_BYTES = 4096,
	KERNELS_MAX = 100000,
	GRAPH_NODES = 3,
	TEXT_ROOM = 256
};

static struct {
	uint64_t calls, flush_bytes, lose, steps, phases, gap_ns;
	unsigned threads, devices, kernels, processes, queues, distinct;
	bool tricky, overlap, nested, failed, drops, external, compress, plain, cut, events, crash,
		dense;
	bool waits, graphs, late, layered, host_states, open_calls;
	const char *out, *device_clock, *host, *boot, *kernel_name, *device_type;
	const char *text; /* replaces every text; NULL: usual texts */
	/* start: BOOTTIME; realtime_offset: CLOCK_REALTIME minus BOOTTIME */
	uint64_t start, realtime_offset;
	unsigned pid;
	int rank;
	struct synth_job job; /* size 0: not a job */
	double noise;         /* < 0: kernels take arbitrary times */
	uint64_t seed, slow_from, slow_call_from;
	double slower;
	unsigned slow_kernel, lambda, others;
	/* --extra, --pause, --slow-call, --grid, --jitter */
	const char *extra;
	uint64_t extra_every, pause_every, pause_ns;
	unsigned slow_call, grid_kernel;
	double slower_call, grid_times, jitter;
} o = {.calls = 1000,
       .threads = 1,
       .devices = 1,
       .kernels = 3,
       .processes = 1,
       .queues = 2,
       .flush_bytes = 4 << 20,
       .device_clock = "raw",
       .kernel_name = "kernel",
       .device_type = "gpu",
       .host = "synthetic-host",
       .boot = "11111111-2222-3333-4444-555555555555",
       .start = 1000000000,
       .realtime_offset = UINT64_C(1700000000000000000),
       .pid = 4000,
       .rank = -1,
       .job = {.late_rank = -1, .every = 100},
       .noise = -1,
       .slow_call = UINT32_MAX,
       .slower_call = 1,
       .grid_times = 1};

static struct gt_capture_writer *writer;
static uint64_t since_flush;

static void die(const char *what)
{
	fprintf(stderr, "synth: %s: ", what);
	gt_error_print(stderr);
	fputc('\n', stderr);
	exit(1);
}

static void check(int status, const char *what)
{
	if (status)
		die(what);
}

/* Time ---------------------------------------------------------------------- */

static uint64_t ticks_of(uint64_t ns)
{
	return T0_TICKS + (ns - T0_NS) / TICKS_DEN * TICKS_NUM +
	       (ns - T0_NS) % TICKS_DEN * TICKS_NUM / TICKS_DEN;
}

static uint64_t device_stamp(uint64_t ns)
{
	if (!strcmp(o.device_clock, "raw"))
		return ns + RAW_AHEAD_NS;
	if (!strcmp(o.device_clock, "timer")) /* 40 ppm fast, with clock readings */
		return ns * 3 + ns / 25000 * 3;
	/* a counter of 100 MHz, with clock readings; it cannot represent UINT64_MAX ns */
	if (!strcmp(o.device_clock, "slow"))
		return ns == UINT64_MAX ? ns : ns / 10;
	/* offset: an unknown clock */
	return ns / 1000000 * 1000000 + UINT64_C(88000000000000) + ns % 1000000;
}

static bool has_readings(void)
{
	return !strcmp(o.device_clock, "timer") || !strcmp(o.device_clock, "slow");
}

static void write_tuple(uint64_t ns)
{
	struct gt_clock_tuple t = {.ticks = ticks_of(ns),
				   .boottime_ns = ns,
				   .monotonic_ns = ns,
				   .raw_ns = ns + RAW_AHEAD_NS,
				   .realtime_ns = ns + o.realtime_offset,
				   .spread_ticks = 60};

	check(gt_capture_write_clock(writer, &t), "clock");
}

/* Write a load: the program kept one of two CPUs busy for a tenth of the time. */
static void write_load(void)
{
	const uint64_t second = 1000000000;
	const struct gt_machine_load load = {.processors = 2,
					     .wall_ns = second,
					     .busy_ns = second / 10 + 2 * second * o.others / 100,
					     .own_ns = second / 10};

	check(gt_capture_write_load(writer, &load), "load");
}

/* Threads ------------------------------------------------------------------- */

struct thread {
	struct gt_stream *stream;
	struct process *process;
	uint32_t ordinal;
	uint64_t now_ns, seq, random;
	uint64_t step_id, step_ns; /* id of the open step; 0: none */
	uint8_t *p, *buffer;
};

struct process {
	uint32_t index, next_string, replays;
	uint64_t latest_ns;
	struct gt_counts counts;
	struct thread *threads, device_thread;
	uint64_t *device_free_ns; /* end of the last kernel on each device */
};

static uint64_t draw(struct thread *t, uint64_t below)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random % below;
}

static void send(struct thread *t)
{
	size_t bytes = (size_t)(t->p - t->buffer);

	if (!bytes)
		return;
	check(gt_capture_write_records(t->stream, t->buffer, bytes, &t->process->counts),
	      "records");
	t->p = t->buffer;
	since_flush += bytes;
	if (since_flush >= o.flush_bytes) {
		check(gt_capture_flush(writer), "flush");
		since_flush = 0;
	}
}

static void *reserve(struct thread *t, size_t bytes)
{
	void *p;

	if (t->p + bytes > t->buffer + BATCH_BYTES)
		send(t);
	p = t->p;
	t->p += bytes;
	return p;
}

static void text_record(struct thread *t, uint8_t kind, uint8_t depth, uint32_t op,
			const uint64_t *fixed, unsigned words, const void *text, size_t bytes)
{
	size_t padded = (bytes + 7) & ~(size_t)7, total = 8 + words * 8 + 8 + padded;
	uint64_t *r = reserve(t, total);
	struct gt_record head = {(uint16_t)(total / 8), kind, depth, op};

	memset(r, 0, total);
	memcpy(r, &head, 8);
	if (words)
		memcpy(r + 1, fixed, words * 8);
	r[1 + words] = bytes;
	memcpy(r + 2 + words, text, bytes);
}

static const char *const tricky[] = {
	"plain",
	"with \"quotes\"",
	"back\\slash\\",
	"single 'quotes' & <tags>",
	"tab\tand\nnewline\r",
	"control \x01\x1f\x7f",
	"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x94\xa5",
	"invalid \xff\xfe utf-8 \xc3",
	"cut \xe2\x82",
	"overlong \xc0\xaf \xed\xa0\x80",
	"triton_poi_fused_add_0d1d2d\"]},{",
	"void f<int, float(*)[3]>(T&&)::{lambda()#1}::operator()() const",
	"%s%n%d {} $x `y`",
	"",
	" leading and trailing ",
	"</script>",
	"a,b;c\td|e",
	"=SUM(A1)",
};

static const char *text_or(const char *usual)
{
	return o.text ? o.text : usual;
}

/* Write the name of kernel k, without a terminator, as strings in records are. */
static size_t kernel_name(char *buffer, size_t size, unsigned k)
{
	size_t n = sizeof tricky / sizeof *tricky;

	if (o.text)
		return (size_t)snprintf(buffer, size, k ? "%s %u" : "%s", o.text, k);
	if (o.tricky && k < n)
		return (size_t)snprintf(buffer, size, "%s", tricky[k]);
	if (o.tricky && k == n) { /* long */
		memset(buffer, 'L', 2000);
		return 2000;
	}
	if (o.lambda)
		return (size_t)snprintf(buffer, size, "run<f()::{lambda(int)#%u}>", o.lambda + k);
	return (size_t)snprintf(buffer, size, "%s_%u", o.kernel_name, k);
}

static uint64_t put_call(struct thread *t, enum gt_domain domain, unsigned number, unsigned nargs,
			 const uint64_t *args, int64_t ret, uint64_t duration_ns, unsigned depth,
			 const void *payload, size_t payload_bytes, uint64_t id, uint64_t start_ns)
{
	size_t words = 5, padded = (payload_bytes + 7) & ~(size_t)7;
	struct gt_record_call *r;

	if (o.plain)
		nargs = 0, padded = 0;
	words += nargs + padded / 8;
	r = reserve(t, words * 8);
	r->head = (struct gt_record){(uint16_t)words, GT_RECORD_CALL, (uint8_t)depth,
				     GT_OP(domain, number, nargs)};
	r->start = ticks_of(start_ns);
	r->end = ticks_of(start_ns + duration_ns);
	r->id = id;
	r->ret = (uint64_t)ret;
	if (nargs)
		memcpy(r->args, args, nargs * 8);
	if (padded) {
		memset(r->args + nargs, 0, padded);
		memcpy(r->args + nargs, payload, payload_bytes);
	}
	t->process->counts.seen[GT_CLASS_CALL][domain]++;
	if (start_ns + duration_ns > t->process->latest_ns)
		t->process->latest_ns = start_ns + duration_ns;
	return id;
}

static uint64_t call(struct thread *t, unsigned number, unsigned nargs, const uint64_t *args,
		     int64_t ret, uint64_t duration_ns, unsigned depth, const void *payload,
		     size_t payload_bytes, uint64_t id, uint64_t start_ns)
{
	return put_call(t, GT_DOMAIN_OPENCL, number, nargs, args, ret, duration_ns, depth, payload,
			payload_bytes, id, start_ns);
}

static uint64_t next_id(struct thread *t)
{
	return GT_ID(t->ordinal, ++t->seq);
}

static double normal(uint64_t *state)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++) {
		*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
		sum += (double)(*state >> 11) / 9007199254740992.0;
	}
	return sum;
}

/* Return the duration of a call, with --jitter and --slow-call. */
static uint64_t jittered_ns(unsigned number, uint64_t duration_ns)
{
	static uint64_t state, seen;
	double times = 1;

	if (number == o.slow_call && seen++ >= o.slow_call_from)
		times = o.slower_call;

	if (o.jitter > 0) {
		if (!state)
			state = (o.seed + 7) * UINT64_C(0x9e3779b97f4a7c15);
		times *= 1 + o.jitter * normal(&state);
		times = times < 0.3 ? 0.3 : times;
	}
	return (uint64_t)((double)duration_ns * times);
}

/* Write one call at depth 0 now. With --distinct, calls have a unique address as their last
 * argument. */
static uint64_t simple(struct thread *t, unsigned number, unsigned nargs, const uint64_t *args,
		       int64_t ret, uint64_t duration_ns, const void *payload, size_t payload_bytes)
{
	uint64_t id = next_id(t), own[16];

	duration_ns = jittered_ns(number, duration_ns);
	if (o.distinct && id % 100 < o.distinct) {
		memcpy(own, args, nargs * sizeof *args);
		own[nargs - 1] = 0x7f0000000000 + ((uint64_t)t->ordinal << 36) + t->seq * 16;
		args = own;
	}
	call(t, number, nargs, args, ret, duration_ns, 0, payload, payload_bytes, id, t->now_ns);
	t->now_ns += duration_ns + 40 + draw(t, 200);
	return id;
}

/* Record a GPU activity. Return the end of the activity. */
static uint64_t gpu_activity(struct thread *t, uint64_t id, uint64_t call_ns, unsigned device,
			     unsigned queue, enum gt_device_op op, uint32_t name, uint64_t bytes,
			     uint64_t duration_ns)
{
	struct process *p = t->process;
	struct gt_record_device *r = reserve(&p->device_thread, sizeof *r);
	uint64_t queued = call_ns + 300, submitted = queued + 500,
		 start = submitted + 1500 + draw(t, 4000);

	if (!o.overlap && start < p->device_free_ns[device])
		start = p->device_free_ns[device];
	p->device_free_ns[device] = start + duration_ns;
	memset(r, 0, sizeof *r);
	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_DEVICE, (uint8_t)op,
				     GT_DEVICE_REF(GT_DOMAIN_OPENCL, device + 1)};
	r->id = id;
	r->call_start = ticks_of(call_ns);
	r->queue = 1 + device * o.queues + queue;
	r->name = name;
	r->queued = device_stamp(queued);
	r->submitted = device_stamp(submitted);
	r->start = device_stamp(start);
	r->end = device_stamp(start + duration_ns);
	r->bytes = bytes;
	r->object[0] = 0x55d0c8000000 + name * 0x60;
	if (op == GT_DEVICE_KERNEL) {
		r->global[0] = 1024 << draw(t, 6);
		if (name == o.grid_kernel + 1)
			r->global[0] = (uint32_t)(r->global[0] * o.grid_times);
		r->global[1] = r->global[2] = 1;
		r->local[0] = 64;
		r->local[1] = r->local[2] = 1;
	} else {
		r->global[0] = (uint32_t)bytes;
		r->object[1] = 0x7f1200000000 + draw(t, 64) * 4096;
	}
	p->counts.seen[GT_CLASS_DEVICE][GT_DOMAIN_OPENCL]++;
	if (start + duration_ns > p->latest_ns)
		p->latest_ns = start + duration_ns;
	return start + duration_ns;
}

static void external(struct thread *t, unsigned stack, bool push, uint64_t value)
{
	struct gt_record_external *r = reserve(t, sizeof *r);

	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_EXTERNAL, push, stack};
	r->time = ticks_of(t->now_ns);
	r->value = value;
}

static const uint64_t queue_handle = 0x55d0c7a1b2c0;

/* --host-states, --open-calls ------------------------------------------------ */

enum { FIRST_STATE_TEXT = 1u << 31, STATE_TEXTS = 3, STATE_STACK = 1 << 30 };

static void put_host(struct thread *t, enum gt_host_detail detail, enum gt_host_state state,
		     uint64_t from_ns, uint64_t to_ns, const uint64_t value[8])
{
	struct gt_record_host *r = reserve(t, sizeof *r);

	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_HOST, (uint8_t)detail, state};
	r->start = ticks_of(from_ns);
	r->end = ticks_of(to_ns);
	memcpy(r->value, value, sizeof r->value);
}

/* Write what the thread did before call @i: states, a sample of its stack, its use of the processor
 * so far, and the stack of the call. */
static void host_states(struct thread *t, uint64_t i, uint64_t from_ns)
{
	enum gt_host_state state = (enum gt_host_state)(i % GT_HOST_STATE_COUNT);
	uint64_t ns = t->now_ns - from_ns, third = ns / 3,
		 use[8] =
			 {i * 1000, i, i / 3, i * 2, i / 100, 1 + i % 3, GT_ID(t->ordinal, t->seq)},
		 text = FIRST_STATE_TEXT + i % STATE_TEXTS,
		 spell[8] = {i % 400,
			     i % 5 ? text : 0,
			     i % 4 ? 0 : o.pid + t->process->index * 100 + 1,
			     i % 7 ? 0 : GT_OP(GT_DOMAIN_OPENCL, GT_OPENCL_clFinish, 0),
			     i % 6 ? 0 : third,
			     third / 2,
			     1 + i % 9,
			     i % 50},
		 sample[8] = {STATE_STACK, state, 3};

	struct gt_record_stack *r;

	put_host(t, GT_HOST_USAGE, GT_HOST_STATE_UNKNOWN, from_ns, from_ns, use);
	put_host(t, GT_HOST_STATE, state, from_ns, from_ns + third, spell);
	put_host(t, GT_HOST_SAMPLE, GT_HOST_STATE_UNKNOWN, from_ns + third, t->now_ns - third,
		 sample);
	put_host(t, GT_HOST_STATE, GT_HOST_STATE_COMPUTING, t->now_ns - third, t->now_ns,
		 (uint64_t[8]){0, 0, 0, 0, 0, third, 1});
	r = reserve(t, sizeof *r);
	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_STACK, 0,
				     GT_OP(GT_DOMAIN_OPENCL, GT_OPENCL_clFinish, 0)};
	r->id = GT_ID(t->ordinal, t->seq + 1);
	r->number = STATE_STACK;
}

/* Write the texts and the stack that the rows of host_states() refer to. */
static void host_texts(struct thread *t)
{
	static const char *const texts[STATE_TEXTS] = {"/data/batch-00017.bin",
						       "worker (thread 4002), which sleeps",
						       "pipe from loader (pid 7)"};
	uint64_t head[2] = {0}, *frames;

	for (uint32_t i = 0; i < STATE_TEXTS; i++)
		text_record(t, GT_RECORD_STRING, 0, FIRST_STATE_TEXT + i, NULL, 0,
			    text_or(texts[i]), strlen(text_or(texts[i])));
	frames = reserve(t, 4 * 8);
	head[0] = UINT64_C(4) | (uint64_t)GT_RECORD_FRAMES << 16 | (uint64_t)STATE_STACK << 32;
	head[1] = UINT64_C(2) << 32; /* two return addresses */
	memcpy(frames, head, sizeof head);
	frames[2] = 0x5510;
	frames[3] = 0x5610;
}

/* Write the calls that a look found open: first those of a look that no longer counts. */
static void open_calls(struct process *p)
{
	for (unsigned i = 0; i < o.threads; i++)
		for (uint64_t look = 0; look < 2; look++) {
			struct thread *t = &p->threads[i];
			struct gt_record_open *r = reserve(t, sizeof *r);

			*r = (struct gt_record_open){
				.head = {sizeof *r / 8, GT_RECORD_OPEN, 0,
					 i % 2 ? GT_OP(GT_DOMAIN_MPI, GT_MPI_MPI_Allreduce, 0)
					       : GT_OP(GT_DOMAIN_OPENCL, GT_OPENCL_clFinish, 0)},
				.start = ticks_of(t->now_ns),
				.seen = ticks_of(p->latest_ns + 500 + look),
				.id = next_id(t),
				.ordinal = t->ordinal,
				.communicator = i % 2 ? 0x44000000 : 0,
				.sequence = i % 2 ? 50 : 0,
				.state = GT_HOST_STATE_CONDITION | UINT64_C(203) << 8,
				.text = o.host_states ? FIRST_STATE_TEXT + 1 : 0,
			};
		}
}

static void set_arg(struct thread *t, unsigned kernel, unsigned index)
{
	uint64_t buffer = 0x55d0c9100000 + draw(t, 32) * 0x1a0;
	uint64_t args[4] = {0x55d0c8000000 + kernel * 0x60, index, index == 2 ? 4 : 8,
			    0x7ffd10203000 + index * 8};
	struct {
		struct gt_payload head;
		uint64_t data;
	} payload = {{3, 0, (uint32_t)args[2]}, index == 2 ? 1024 : buffer};

	simple(t, GT_OPENCL_clSetKernelArg, 4, args, 0, 60 + draw(t, 60), &payload, sizeof payload);
}

/* --noise: the duration of a kernel is its own duration, times the run's level (varies by 0.5 %
 * between seeds), times noise that is correlated between neighbours. Two of 1,000 launches take
 * four times as long. */
static uint64_t noisy_ns(unsigned kernel, uint64_t call)
{
	static uint64_t state;
	static double level, last;
	double times;

	if (!state) {
		state = (o.seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
		normal(&state);
		level = 1 + 0.005 * normal(&state);
	}
	last = 0.5 * last + 0.866 * normal(&state);
	times = level * (1 + o.noise * last);
	times = times < 0.2 ? 0.2 : times;
	if (state >> 11 < UINT64_C(9007199254740992) / 500)
		times *= 4;
	if (kernel == o.slow_kernel && call >= o.slow_from)
		times *= 1 + o.slower;
	return (uint64_t)((20000 + 5000 * kernel) * times);
}

static void launch(struct thread *t, unsigned kernel, unsigned device, unsigned queue,
		   uint64_t call)
{
	static uint64_t launches;
	uint64_t start = t->now_ns;
	uint64_t args[9] = {queue_handle + device * 0x1000 + queue * 0x100,
			    0x55d0c8000000 + kernel * 0x60,
			    1,
			    0,
			    0x7ffd10204000,
			    0x7ffd10204020,
			    0,
			    0,
			    0x55d0ca000000 + draw(t, 100) * 0x200};
	struct {
		struct gt_payload a;
		uint64_t global;
		struct gt_payload b;
		uint64_t local;
	} payload = {{4, 0, 8}, 1024, {5, 0, 8}, 64};
	int64_t ret = o.failed && draw(t, 10) == 0 ? -54 : 0;
	uint64_t id, ns;

	if (o.lose && ++launches % o.lose == 0) { /* the ring had no room for the record */
		id = next_id(t);
		t->now_ns += 2500;
		t->process->counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL]++;
		t->process->counts.dropped[GT_DROP_FULL][GT_CLASS_CALL][GT_DOMAIN_OPENCL]++;
	} else {
		id = simple(t, GT_OPENCL_clEnqueueNDRangeKernel, 9, args, ret, 2500 + draw(t, 1500),
			    &payload, sizeof payload);
	}
	if (ret)
		return;
	/* short enough for the device to keep pace with all threads */
	ns = o.noise < 0 ? (3000 + draw(t, 50000)) / o.threads : noisy_ns(kernel, call);
	gpu_activity(t, id, start, device, queue, GT_DEVICE_KERNEL, kernel + 1, 0, ns);
}

static void copy(struct thread *t, bool read, unsigned device, unsigned queue)
{
	uint64_t start = t->now_ns, bytes = 4096 << draw(t, 8);
	uint64_t args[9] = {queue_handle + device * 0x1000 + queue * 0x100,
			    0x55d0c9100000,
			    1,
			    0,
			    bytes,
			    0x7f1200000000,
			    0,
			    0,
			    0};
	unsigned number = read ? GT_OPENCL_clEnqueueReadBuffer : GT_OPENCL_clEnqueueWriteBuffer;
	enum gt_device_op op = read ? GT_DEVICE_READ : GT_DEVICE_WRITE;

	if (o.waits) {
		uint64_t end = gpu_activity(t, GT_ID(t->ordinal, t->seq + 1), start, device, queue,
					    op, 0, bytes, 2000 + bytes / 20);

		simple(t, number, 9, args, 0, end + 4000 - start, NULL, 0);
	} else {
		uint64_t id = simple(t, number, 9, args, 0, 30000 + draw(t, 9000), NULL, 0);

		gpu_activity(t, id, start, device, queue, op, 0, bytes, 2000 + bytes / 20);
	}
}

/* --layered: the wait of a runtime contains the wait of the driver below it. */
static void finish(struct thread *t, unsigned device, const uint64_t *args)
{
	uint64_t end = t->process->device_free_ns[device];

	if (o.layered) {
		uint64_t id = next_id(t), start = t->now_ns;

		t->now_ns += 100;
		call(t, GT_OPENCL_clFinish, 1, args, 0, 50000, 1, NULL, 0, next_id(t), t->now_ns);
		t->now_ns += 50100;
		put_call(t, GT_DOMAIN_UNIFIED_RUNTIME, GT_UNIFIED_RUNTIME_urQueueFinish, 1, args, 0,
			 t->now_ns - start, 0, NULL, 0, id, start);
		t->now_ns += 100;
		return;
	}
	simple(t, GT_OPENCL_clFinish, 1, args, 0,
	       o.waits ? (end > t->now_ns ? end - t->now_ns : 0) + 2000 : 5000 + draw(t, 60000),
	       NULL, 0);
}

/* Launch a graph of three kernels in one call. Every eighth launch is one GPU activity, as in lite
 * mode. */
static void launch_graph(struct thread *t, unsigned device, unsigned queue)
{
	uint64_t start = t->now_ns, id,
		 args[4] = {queue_handle + device * 0x1000 + queue * 0x100, 0, 0, 0};
	struct process *p = t->process;
	uint32_t replay = ++p->replays, nodes = replay % 8 ? GRAPH_NODES : 1;

	id = simple(t, GT_OPENCL_clFlush, 1, args, 0, 3000, NULL, 0);
	for (uint32_t node = 0; node < nodes; node++) {
		struct gt_record_device *r;

		gpu_activity(t, id, start, device, queue,
			     nodes > 1 ? GT_DEVICE_KERNEL : GT_DEVICE_GRAPH, node % o.kernels + 1,
			     0, 4000);
		r = (struct gt_record_device *)p->device_thread.p - 1;
		r->queue |= UINT64_C(1) << 32;
		r->ordinal = node;
		r->replay = replay;
		if (o.late && replay == 2)
			r->start = r->end = device_stamp(UINT64_MAX);
	}
}

/* clBuildProgram makes a callback, which requests information: three levels. */
static void nested(struct thread *t)
{
	uint64_t outer = next_id(t), start = t->now_ns,
		 args[6] = {0x55d0c6000000, 1, 0x7ffd10205000, 0, 0x401000, 0};
	uint64_t middle = next_id(t), info[5] = {0x55d0c6000000, 0x1160, 0, 0, 17};

	call(t, GT_OPENCL_clGetProgramInfo, 5, info, 0, 100, 2, NULL, 0, next_id(t), start + 300);
	call(t, GT_OPENCL_clGetProgramInfo, 5, info, 0, 100, 2, NULL, 0, next_id(t), start + 500);
	call(t, GT_OPENCL_clGetProgramBuildInfo, 5, info, 0, 600, 1, NULL, 0, middle, start + 200);
	call(t, GT_OPENCL_clGetProgramInfo, 5, info, 0, 100, 1, NULL, 0, next_id(t), start + 900);
	call(t, GT_OPENCL_clBuildProgram, 6, args, 0, 2000, 0, NULL, 0, outer, start);
	t->now_ns += 2500;
}

/* Write calls and GPU activities of 1 to 3 ns. Each starts in the ns in which the previous one
 * ended. */
static void step_densely(struct thread *t, uint64_t i)
{
	uint64_t args[1] = {queue_handle}, id = next_id(t), start = t->now_ns,
		 duration_ns = 1 + draw(t, 3);

	call(t, GT_OPENCL_clFlush, 1, args, 0, duration_ns, 0, NULL, 0, id, start);
	t->now_ns += duration_ns;
	gpu_activity(t, id, start, (unsigned)(i % o.devices), 0, GT_DEVICE_KERNEL, 1, 0,
		     1 + draw(t, 3));
}

/* Return the padded size of one text in a call's payload, with its header. */
static size_t payload_bytes(const struct gt_payload *head)
{
	return (sizeof *head + head->bytes + 8) & ~(size_t)7;
}

/* --steps: write a complete range when it ends. */
static void end_step(struct thread *t)
{
	const char *name = text_or("step");
	uint64_t args[4] = {0x401000, (uint64_t)-1, 0, 0};
	struct {
		struct gt_payload head;
		char text[TEXT_ROOM];
	} payload = {{0, 0, (uint32_t)strlen(name)}, ""};

	memcpy(payload.text, name, strlen(name));

	if (t->step_id)
		put_call(t, GT_DOMAIN_RANGES, GT_RANGES_range_user, 4, args,
			 (int64_t)GT_ID(t->ordinal, t->seq), t->now_ns - t->step_ns, 0, &payload,
			 payload_bytes(&payload.head), t->step_id, t->step_ns);
	t->step_id = 0;
}

static void begin_step(struct thread *t)
{
	end_step(t);
	t->step_id = next_id(t);
	t->step_ns = t->now_ns;
	t->now_ns += 50;
}

/* --phases: push and pop ranges, nested half of the time. */
static void change_phase(struct thread *t, uint64_t i)
{
	uint64_t args[1] = {0x402000};
	struct {
		struct gt_payload head;
		char text[TEXT_ROOM];
	} payload = {{0, 0, 0}, ""};
	bool begins = i / o.phases % 2 == 0;
	const char *name = text_or(begins && i % (8 * o.phases) == 0 ? "eighth" : "phase");

	memcpy(payload.text, name, strlen(name));
	payload.head.bytes = (uint32_t)strlen(name);
	put_call(t, GT_DOMAIN_ROCTX, begins ? GT_ROCTX_roctxRangePushA : GT_ROCTX_roctxRangePop,
		 begins, args, 0, 100, 0, &payload, begins ? payload_bytes(&payload.head) : 0,
		 next_id(t), t->now_ns);
	t->now_ns += 150;
}

/* --job: write collective call k of the thread, alternately a barrier and an allreduce. */
static void join(struct thread *t, uint64_t k)
{
	uint64_t args[6] = {0x44000000}, start = T0_NS + synth_job_arrives_ns(&o.job, k),
		 duration_ns = T0_NS + synth_job_leaves_ns(&o.job, k) - start;

	if (start < t->now_ns)
		die("--period is too short for so many calls");
	if (k % 2)
		memcpy(args,
		       (uint64_t[6]){0x7ffd10206000, 0x7ffd10206100, 1, 0x4c000405, 0x58000003,
				     0x44000000},
		       sizeof args);
	put_call(t, GT_DOMAIN_MPI, k % 2 ? GT_MPI_MPI_Allreduce : GT_MPI_MPI_Barrier, k % 2 ? 6 : 1,
		 args, 0, duration_ns, 0, NULL, 0, next_id(t), start);
	t->now_ns = start + duration_ns + 100;
}

static void begin_job(struct thread *t)
{
	uint64_t args[2] = {0x44000000, o.job.rank};

	put_call(t, GT_DOMAIN_MPI, GT_MPI_MPI_Comm_rank, 2, args, 0, 100, 0, NULL, 0, next_id(t),
		 t->now_ns);
	t->now_ns += 200;
}

/* --extra: write the calls that only this run makes. The other calls stay the same. */
static void add_extra(struct thread *t, unsigned device, unsigned queue, uint64_t i)
{
	uint64_t args[6] = {queue_handle + device * 0x1000 + queue * 0x100}, random = t->random;

	if (!strcmp(o.extra, "finish")) {
		simple(t, GT_OPENCL_clFinish, 1, args, 0, 2000, NULL, 0);
	} else if (!strcmp(o.extra, "flush")) {
		simple(t, GT_OPENCL_clFlush, 1, args, 0, 400, NULL, 0);
	} else if (!strcmp(o.extra, "copy")) {
		copy(t, true, device, queue);
	} else if (!strcmp(o.extra, "alloc")) {
		simple(t, GT_OPENCL_clCreateBuffer, 5, args, 0x55d0c9100000, 9000, NULL, 0);
		args[0] = 0x55d0c9100000;
		simple(t, GT_OPENCL_clReleaseMemObject, 1, args, 0, 3000, NULL, 0);
	} else if (!strcmp(o.extra, "query")) {
		simple(t, GT_OPENCL_clGetEventInfo, 5, args, 0, 200, NULL, 0);
	} else if (!strcmp(o.extra, "launch")) {
		launch(t, 0, device, queue, i);
	} else if (!strcmp(o.extra, "kernel")) {
		launch(t, o.kernels, device, queue, i);
	} else {
		die("--extra");
	}
	t->random = random;
}

static void step(struct thread *t, uint64_t i)
{
	unsigned device = (unsigned)(i % o.devices), queue = (unsigned)draw(t, o.queues),
		 kernel = (unsigned)draw(t, o.kernels);
	uint64_t args[4] = {queue_handle + device * 0x1000 + queue * 0x100, 0, 0, 0};

	if (o.noise >= 0) /* the same in each run */
		kernel = (unsigned)(i / 8 % o.kernels);
	if (o.pause_every && i % o.pause_every == 4)
		t->now_ns += o.pause_ns;
	if (o.extra && i % o.extra_every == 5)
		add_extra(t, device, queue, i);
	if (o.job.size && t->ordinal == 1 && !t->process->index) {
		if (!i)
			begin_job(t);
		if (i % o.job.every == o.job.every - 1)
			join(t, i / o.job.every);
	}
	if (o.steps && i % o.steps == 0)
		begin_step(t);
	if (o.phases && i % o.phases == 0)
		change_phase(t, i);
	switch (i % 8) {
	case 0:
		if (o.external)
			external(t, (unsigned)(i / 8 % 2), true, 1000 + i);
		copy(t, false, device, queue);
		break;
	case 1:
	case 2:
	case 3: set_arg(t, kernel, (unsigned)(i % 8) - 1); break;
	case 4:
		if (o.graphs && i % 16 == 4)
			launch_graph(t, device, queue);
		else
			launch(t, kernel, device, queue, i);
		break;
	case 5: simple(t, GT_OPENCL_clFlush, 1, args, 0, 400 + draw(t, 100), NULL, 0); break;
	case 6:
		if (o.nested && i % 32 == 6)
			nested(t);
		else
			finish(t, device, args);
		break;
	default:
		copy(t, true, device, queue);
		if (o.external)
			external(t, (unsigned)(i / 8 % 2), false, 0);
	}
}

/* Processes ----------------------------------------------------------------- */

static void objects(struct process *p)
{
	struct thread *t = &p->device_thread;
	unsigned d, q, k;
	char text[2600];
	size_t n;

	if (o.extra && !strcmp(o.extra, "kernel"))
		text_record(t, GT_RECORD_STRING, 0, o.kernels + 1, NULL, 0, "added_kernel", 12);
	for (k = 0; k < o.kernels; k++) {
		n = kernel_name(text, sizeof text, k);
		text_record(t, GT_RECORD_STRING, 0, k + 1, NULL, 0, text, n);
	}
	n = (size_t)snprintf(text, sizeof text, "path=%s%cversion=%s%cdoor=layer%c",
			     text_or("/usr/lib/libOpenCL.so.1"), 0, text_or("OpenCL 3.0"), 0, 0);
	text_record(t, GT_RECORD_MODULE, GT_DOMAIN_OPENCL, GT_OBJECT_MODULE, (uint64_t[]){1, 0, 0},
		    3, text, n);
	text_record(t, GT_RECORD_OBJECT, GT_DOMAIN_OPENCL, GT_OBJECT_CONTEXT,
		    (uint64_t[]){1, 0x55d0c5000000, 0}, 3, "", 0);
	if (o.host_states)
		host_texts(t);
	if (o.graphs)
		text_record(t, GT_RECORD_OBJECT, GT_DOMAIN_OPENCL, GT_OBJECT_GRAPH,
			    (uint64_t[]){1, 0x55d0c5800000, 0}, 3, "nodes=3", 8);
	for (d = 0; d < o.devices; d++) {
		n = (size_t)snprintf(text, sizeof text,
				     "name=%s%s%cvendor=%s%cversion=OpenCL "
				     "3.0%cdriver=1.0%cuuid=%08x-0000%ctype=%s%c",
				     o.text ? "" : "Synthetic ",
				     o.tricky ? "\"Dev\\ice\" \xe2\x84\xa2" : text_or("device"), 0,
				     text_or("gputap"), 0, 0, 0, d + 0xabc, 0, o.device_type, 0);
		text_record(t, GT_RECORD_OBJECT, GT_DOMAIN_OPENCL, GT_OBJECT_DEVICE,
			    (uint64_t[]){d + 1, 0x55d0c4000000 + d * 0x100, 0}, 3, text, n);
		for (q = 0; q < o.queues; q++) {
			n = (size_t)snprintf(text, sizeof text, "properties=%s%ccontext=1%c",
					     o.overlap ? "out-of-order profiling" : "profiling", 0,
					     0);
			text_record(t, GT_RECORD_OBJECT, GT_DOMAIN_OPENCL, GT_OBJECT_QUEUE,
				    (uint64_t[]){1 + d * o.queues + q,
						 queue_handle + d * 0x1000 + q * 0x100, d + 1},
				    3, text, n);
		}
	}
	send(t);
}

static void make_thread(struct process *p, struct thread *t, uint32_t ordinal)
{
	struct gt_thread_info info = {.process = p->index,
				      .ordinal = ordinal,
				      .tid = o.pid + p->index * 100 + ordinal,
				      .start_ticks = ticks_of(T0_NS + 1000),
				      .name = o.tricky ? "wor\"ker\\\xff" : text_or("worker")};

	*t = (struct thread){.process = p,
			     .ordinal = ordinal,
			     .now_ns = T0_NS + 100000 + p->index * 1000 + ordinal * 77,
			     .random = 88172645463325252 + ordinal * 7919 + p->index * 104729,
			     .buffer = malloc(BATCH_BYTES)};
	t->p = t->buffer;
	if (!t->buffer)
		die("no memory");
	check(gt_capture_write_thread(writer, &info), "thread");
	check(gt_capture_stream_create(writer, p->index, ordinal, &t->stream), "stream");
}

/* --text: write a program and two arguments with that text. */
static const char *command_line(void)
{
	static char line[3 * TEXT_ROOM];
	const size_t bytes = o.text ? strlen(o.text) + 1 : 0;

	if (!o.text)
		return "synthetic\0--size\00042\0";
	for (unsigned i = 0; i < 3; i++)
		memcpy(line + i * bytes, o.text, bytes);
	return line;
}

static void begin_process(struct process *p, uint32_t index)
{
	struct gt_process_info info = {.index = index,
				       .pid = o.pid + index * 100,
				       .ppid = index ? o.pid : o.pid - 1,
				       .fork_count = index ? 1 : 0,
				       .start_ticks = ticks_of(T0_NS),
				       .rank = {-1, -1, -1, -1, GT_LAUNCHER_NONE},
				       .exe = o.tricky ? "/opt/my \"app\"/b\\in"
						       : text_or("/usr/bin/synthetic"),
				       .argv = command_line()};
	unsigned i;

	p->index = index;
	check(gt_capture_write_process(writer, &info), "process");
	p->threads = calloc(o.threads, sizeof *p->threads);
	p->device_free_ns = calloc(o.devices, sizeof *p->device_free_ns);
	if (!p->threads || !p->device_free_ns)
		die("no memory");
	for (i = 0; i < o.threads; i++)
		make_thread(p, &p->threads[i], i + 1);
	make_thread(p, &p->device_thread, o.threads + 1);
	objects(p);
}

static void reading(struct thread *t, unsigned device, uint64_t ns)
{
	struct gt_record_clock *r = reserve(t, sizeof *r);

	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_CLOCK, GT_CLOCK_TIMER, device + 1};
	r->host_before = ticks_of(ns - 400);
	r->host_after = ticks_of(ns + 400);
	r->device = device_stamp(ns);
	r->runtime_host = 0;
}

static void end_process(struct process *p)
{
	struct gt_process_info info = {.index = p->index,
				       .ended = true,
				       .proper_end = !o.crash,
				       .wait_status = o.crash ? 9 : 0,
				       .runtimes = GT_DOMAIN_BIT(GT_DOMAIN_OPENCL) |
						   (o.steps ? GT_DOMAIN_BIT(GT_DOMAIN_RANGES) : 0) |
						   (o.phases ? GT_DOMAIN_BIT(GT_DOMAIN_ROCTX) : 0) |
						   (o.job.size ? GT_DOMAIN_BIT(GT_DOMAIN_MPI) : 0),
				       .end_ns = p->latest_ns + 1000};
	const char *lost = text_or("records were lost");
	const char *unknown = text_or("clNeverHeardOf\"XYZ");
	static const char outer_call[] = "clBuildProgram";
	unsigned i;

	if (o.events) {
		text_record(&p->device_thread, GT_RECORD_EVENT, GT_DOMAIN_OPENCL,
			    GT_EVENT_UNKNOWN_ENTRY, (uint64_t[]){ticks_of(T0_NS + 5000), 0}, 2,
			    unknown, strlen(unknown));
		text_record(&p->device_thread, GT_RECORD_EVENT, GT_DOMAIN_OPENCL, GT_EVENT_LOSS,
			    (uint64_t[]){ticks_of(p->latest_ns), 7}, 2, lost, strlen(lost));
	}
	if (o.drops) {
		p->counts.dropped[GT_DROP_FULL][GT_CLASS_CALL][GT_DOMAIN_OPENCL] = 7;
		p->counts.dropped[GT_DROP_UNFINISHED][GT_CLASS_CALL][GT_DOMAIN_OPENCL] = 1;
		p->counts.dropped[GT_DROP_RUNTIME][GT_CLASS_DEVICE][GT_DOMAIN_OPENCL] = 2;
		p->counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL] += 8;
		p->counts.seen[GT_CLASS_DEVICE][GT_DOMAIN_OPENCL] += 2;
	}
	/* killed inside nested calls: the children are in the capture, but not the parent */
	if (o.crash) {
		uint64_t args[5] = {0}, outer = next_id(&p->threads[0]);

		(void)outer;
		call(&p->threads[0], GT_OPENCL_clGetProgramInfo, 5, args, 0, 100, 1, NULL, 0,
		     next_id(&p->threads[0]), p->threads[0].now_ns + 50);
		p->counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL]++;
		p->counts.dropped[GT_DROP_UNFINISHED][GT_CLASS_CALL][GT_DOMAIN_OPENCL]++;
		if (o.events)
			text_record(&p->device_thread, GT_RECORD_EVENT, GT_DOMAIN_OPENCL,
				    GT_EVENT_OPEN_CALL,
				    (uint64_t[]){ticks_of(p->latest_ns), p->threads[0].ordinal}, 2,
				    outer_call, sizeof outer_call - 1);
	}
	if (o.open_calls)
		open_calls(p);
	for (unsigned d = 0; d < o.devices && !strcmp(o.device_clock, "slow"); d++)
		reading(&p->device_thread, d, p->latest_ns);
	for (i = 0; i <= o.threads; i++) {
		struct thread *t = i < o.threads ? &p->threads[i] : &p->device_thread;

		end_step(t);
		send(t);
		gt_capture_stream_destroy(t->stream);
		free(t->buffer);
	}
	check(gt_capture_write_counts(writer, p->index, &p->counts), "counts");
	check(gt_capture_write_process_end(writer, &info), "process end");
	free(p->threads);
	free(p->device_free_ns);
}

static void write_step(struct thread *t, uint64_t i)
{
	uint64_t before = t->now_ns;

	t->now_ns += o.gap_ns;
	if (o.host_states && t->now_ns > before)
		host_states(t, i, before);
	(o.dense ? step_densely : step)(t, i);
}

/* Write calls of all threads in turn, so that streams are interleaved in the file, and a clock
 * tuple for each simulated second. */
static void activity(struct process *processes)
{
	uint64_t i, k, next_tuple = T0_NS + 1000000000;
	unsigned p, t, d;

	for (i = 0; i < o.calls; i += 4096) {
		uint64_t latest = 0;

		for (p = 0; p < o.processes; p++)
			for (t = 0; t < o.threads; t++) {
				struct thread *thread = &processes[p].threads[t];

				for (k = i; k < i + 4096 && k < o.calls; k++)
					write_step(thread, k);
				latest = thread->now_ns > latest ? thread->now_ns : latest;
			}
		for (; next_tuple < latest; next_tuple += 1000000000) {
			write_tuple(next_tuple);
			for (p = 0; p < o.processes && has_readings(); p++)
				for (d = 0; d < o.devices; d++)
					reading(&processes[p].device_thread, d, next_tuple);
		}
	}
}

enum {
	OPT_FLUSH = 256,
	OPT_CLOCK,
	OPT_LOSE,
	OPT_HOST,
	OPT_BOOT,
	OPT_START,
	OPT_REALTIME,
	OPT_PID,
	OPT_NOISE,
	OPT_SEED,
	OPT_SLOW,
	OPT_RANK,
	OPT_STEPS,
	OPT_PHASES,
	OPT_GAP,
	OPT_JOB,
	OPT_LATE_RANK,
	OPT_LATE_BY,
	OPT_EVERY,
	OPT_PERIOD,
	OPT_DRIFT,
	OPT_OTHERS,
	OPT_TYPE,
	OPT_KERNEL_NAME,
	OPT_TEXT,
	OPT_EXTRA,
	OPT_PAUSE,
	OPT_SLOW_CALL,
	OPT_GRID,
	OPT_JITTER,
	OPT_HOST_STATES,
	OPT_OPEN_CALLS
};

/* WORD:NUMBER */
static double read_number(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon ? strtod(colon + 1, NULL) : 0;
}

static void read_extra(const char *text)
{
	o.extra = strndup(text, strcspn(text, ":"));
	o.extra_every = (uint64_t)read_number(text);
	if (o.extra_every < 8)
		o.extra_every = 8;
}

/* NAME:PERCENT[:N], from its N-th call on */
static void read_slow_call(const char *text)
{
	char name[64];
	const struct gt_operation_info *operation;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
	operation = gt_operation_find(GT_DOMAIN_OPENCL, name);
	if (!operation)
		die(name);
	o.slow_call = GT_OP_NUMBER(operation->op);
	o.slower_call = 1 + read_number(text) / 100;
	text = strchr(text, ':');
	text = text ? strchr(text + 1, ':') : NULL;
	o.slow_call_from = text ? strtoull(text + 1, NULL, 10) : 0;
}

/* KERNEL:PERCENT[:CALL] */
static void read_slow(const char *text)
{
	char *end;

	o.slow_kernel = (unsigned)strtoul(text, &end, 10);
	o.slower = *end ? strtod(end + 1, &end) / 100 : 0;
	o.slow_from = *end ? strtoull(end + 1, NULL, 10) : 0;
}

static void print_usage(void)
{
	fprintf(stderr,
		"usage: synth [--calls N] [--threads T] [--processes P] [--devices D] "
		"[--queues Q] [--kernels K]\n"
		"             [--names tricky|lambda:N] [--overlap] [--nested] [--failed] "
		"[--drops] "
		"[--external] [--events] [--crash]\n"
		"             [--compress] [--plain] [--cut] [--dense] [--flush-bytes B] "
		"[--device-clock raw|timer|slow|offset] [--lose N]\n"
		"             [--waits] [--graphs] [--late] [--layered] [--steps N] "
		"[--phases N] "
		"[--noise PERCENT] [--seed N] [--slow KERNEL:PERCENT[:CALL]] "
		"[--gap NS]\n"
		"             [--host NAME] [--boot ID] [--start NS] [--realtime-offset "
		"NS] [--pid N] [--rank N] -o FILE\n"
		"             [--job SIZE [--late-rank N --late-by NS] [--every CALLS] "
		"[--period NS] [--drift PPM]] [--others PERCENT] "
		"[--device-type gpu|cpu] [--text TEXT]\n"
		"--calls is per thread. --cut: no end mark. --crash: killed inside a call. "
		"--plain: no arguments.\n"
		"--dense: calls and kernels of 1 to 3 ns, each begins when the one before "
		"it ended.\n"
		"--lose N: no record of every Nth kernel's call. --distinct PERCENT: calls "
		"whose arguments no other call has.\n"
		"--waits: blocking copies and finishes return when their work is done, 4 "
		"us and 2 us later.\n"
		"--graphs: every second kernel is a graph of three. --late: the second "
		"graph begins at the end of time.\n"
		"--layered: every clFinish is inside of an urQueueFinish. --gap NS: before "
		"each call.\n"
		"--steps N, --phases N: N calls in a range that is recorded whole, or that "
		"is pushed and popped.\n"
		"--job SIZE: --rank of so many, with collective calls of MPI: "
		"synth_job.h.\n"
		"--others PERCENT: of two processors' time, that other programs had.\n"
		"--text TEXT: every name, path, command line and message is that.\n"
		"--noise PERCENT: kernels take their own time, and noise of --seed. "
		"--slow: one takes longer from a call on.\n"
		"--extra finish|flush|copy|alloc|query|launch|kernel:N: one more in N calls "
		"(at least 8).\n"
		"--pause NS:N: the host computes in one of N calls. --slow-call "
		"NAME:PERCENT[:N]. --grid KERNEL:TIMES.\n"
		"--jitter PERCENT: calls take a time of --seed.\n"
		"--host-states: what threads did in the time of --gap. --open-calls: one per "
		"thread at the end.\n");
}

static void options(int argc, char **argv)
{
	static const struct option longs[] = {{"calls", 1, 0, 'c'},
					      {"threads", 1, 0, 't'},
					      {"devices", 1, 0, 'd'},
					      {"kernels", 1, 0, 'k'},
					      {"queues", 1, 0, 'q'},
					      {"processes", 1, 0, 'p'},
					      {"names", 1, 0, 'n'},
					      {"overlap", 0, 0, 'O'},
					      {"nested", 0, 0, 'N'},
					      {"layered", 0, 0, 'R'},
					      {"failed", 0, 0, 'F'},
					      {"drops", 0, 0, 'D'},
					      {"external", 0, 0, 'E'},
					      {"events", 0, 0, 'V'},
					      {"crash", 0, 0, 'K'},
					      {"compress", 0, 0, 'z'},
					      {"plain", 0, 0, 'P'},
					      {"cut", 0, 0, 'C'},
					      {"dense", 0, 0, 'Y'},
					      {"flush-bytes", 1, 0, OPT_FLUSH},
					      {"device-clock", 1, 0, OPT_CLOCK},
					      {"lose", 1, 0, OPT_LOSE},
					      {"distinct", 1, 0, 'T'},
					      {"waits", 0, 0, 'W'},
					      {"graphs", 0, 0, 'G'},
					      {"late", 0, 0, 'L'},
					      {"host", 1, 0, OPT_HOST},
					      {"boot", 1, 0, OPT_BOOT},
					      {"start", 1, 0, OPT_START},
					      {"realtime-offset", 1, 0, OPT_REALTIME},
					      {"pid", 1, 0, OPT_PID},
					      {"rank", 1, 0, OPT_RANK},
					      {"steps", 1, 0, OPT_STEPS},
					      {"noise", 1, 0, OPT_NOISE},
					      {"seed", 1, 0, OPT_SEED},
					      {"slow", 1, 0, OPT_SLOW},
					      {"phases", 1, 0, OPT_PHASES},
					      {"gap", 1, 0, OPT_GAP},
					      {"job", 1, 0, OPT_JOB},
					      {"late-rank", 1, 0, OPT_LATE_RANK},
					      {"late-by", 1, 0, OPT_LATE_BY},
					      {"every", 1, 0, OPT_EVERY},
					      {"period", 1, 0, OPT_PERIOD},
					      {"drift", 1, 0, OPT_DRIFT},
					      {"others", 1, 0, OPT_OTHERS},
					      {"device-type", 1, 0, OPT_TYPE},
					      {"kernel-name", 1, 0, OPT_KERNEL_NAME},
					      {"text", 1, 0, OPT_TEXT},
					      {"extra", 1, 0, OPT_EXTRA},
					      {"pause", 1, 0, OPT_PAUSE},
					      {"slow-call", 1, 0, OPT_SLOW_CALL},
					      {"grid", 1, 0, OPT_GRID},
					      {"jitter", 1, 0, OPT_JITTER},
					      {"host-states", 0, 0, OPT_HOST_STATES},
					      {"open-calls", 0, 0, OPT_OPEN_CALLS},
					      {"output", 1, 0, 'o'},
					      {0, 0, 0, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "o:", longs, NULL)) != -1)
		switch (c) {
		case 'c': o.calls = strtoull(optarg, NULL, 0); break;
		case 't': o.threads = (unsigned)atoi(optarg); break;
		case 'd': o.devices = (unsigned)atoi(optarg); break;
		case 'k': o.kernels = (unsigned)atoi(optarg); break;
		case 'q': o.queues = (unsigned)atoi(optarg); break;
		case 'p': o.processes = (unsigned)atoi(optarg); break;
		case 'T': o.distinct = (unsigned)atoi(optarg); break;
		case 'n':
			o.tricky = !strcmp(optarg, "tricky");
			sscanf(optarg, "lambda:%u", &o.lambda);
			break;
		case 'O': o.overlap = true; break;
		case 'N': o.nested = true; break;
		case 'R': o.layered = true; break;
		case 'F': o.failed = true; break;
		case 'D': o.drops = true; break;
		case 'E': o.external = true; break;
		case 'V': o.events = true; break;
		case 'K': o.crash = true; break;
		case 'z': o.compress = true; break;
		case 'P': o.plain = true; break;
		case 'C': o.cut = true; break;
		case 'Y': o.dense = true; break;
		case 'W': o.waits = true; break;
		case 'G': o.graphs = true; break;
		case 'L': o.late = true; break;
		case OPT_FLUSH: o.flush_bytes = strtoull(optarg, NULL, 0); break;
		case OPT_LOSE: o.lose = strtoull(optarg, NULL, 0); break;
		case OPT_CLOCK: o.device_clock = optarg; break;
		case OPT_HOST: o.host = optarg; break;
		case OPT_BOOT: o.boot = optarg; break;
		case OPT_START: o.start = strtoull(optarg, NULL, 0); break;
		case OPT_REALTIME: o.realtime_offset = strtoull(optarg, NULL, 0); break;
		case OPT_PID: o.pid = (unsigned)atoi(optarg); break;
		case OPT_RANK: o.rank = atoi(optarg); break;
		case OPT_NOISE: o.noise = atof(optarg) / 100; break;
		case OPT_SEED: o.seed = strtoull(optarg, NULL, 0); break;
		case OPT_SLOW: read_slow(optarg); break;
		case OPT_STEPS: o.steps = strtoull(optarg, NULL, 0); break;
		case OPT_PHASES: o.phases = strtoull(optarg, NULL, 0); break;
		case OPT_GAP: o.gap_ns = strtoull(optarg, NULL, 0); break;
		case OPT_JOB: o.job.size = (unsigned)atoi(optarg); break;
		case OPT_LATE_RANK: o.job.late_rank = atoi(optarg); break;
		case OPT_LATE_BY: o.job.late_ns = strtoull(optarg, NULL, 0); break;
		case OPT_EVERY: o.job.every = strtoull(optarg, NULL, 0); break;
		case OPT_PERIOD: o.job.period_ns = strtoull(optarg, NULL, 0); break;
		case OPT_KERNEL_NAME: o.kernel_name = optarg; break;
		case OPT_TEXT: o.text = optarg; break;
		case OPT_EXTRA: read_extra(optarg); break;
		case OPT_SLOW_CALL: read_slow_call(optarg); break;
		case OPT_HOST_STATES: o.host_states = true; break;
		case OPT_OPEN_CALLS: o.open_calls = true; break;
		case OPT_JITTER: o.jitter = atof(optarg) / 100; break;
		case OPT_PAUSE:
			o.pause_ns = strtoull(optarg, NULL, 0);
			o.pause_every = (uint64_t)read_number(optarg);
			break;
		case OPT_GRID:
			o.grid_kernel = (unsigned)atoi(optarg);
			o.grid_times = read_number(optarg);
			break;
		case OPT_TYPE: o.device_type = optarg; break;
		case OPT_OTHERS: o.others = (unsigned)atoi(optarg); break;
		case OPT_DRIFT: o.job.drift_ppm = atoi(optarg); break;
		case 'o': o.out = optarg; break;
		default: exit(2);
		}
	o.job.rank = o.rank < 0 ? 0 : (unsigned)o.rank;
	if (!o.job.every)
		o.job.every = 1;
	if (!o.job.period_ns) /* because a call takes up to 40 us */
		o.job.period_ns = (o.job.every + 1) * (60000 + o.gap_ns) + o.job.late_ns + 100000;
	if (!o.out || !o.threads || !o.devices || !o.kernels || o.kernels > KERNELS_MAX ||
	    !o.queues || !o.processes || (o.text && strlen(o.text) >= TEXT_ROOM - 8)) {
		print_usage();
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct gt_session_info session = {.gputap_version = "0.1.0",
					  .host_clock = GT_HOST_CLOCK_COUNTER};
	struct gt_capture_options capture = {0};
	struct process *processes;
	uint64_t latest;
	unsigned p;

	options(argc, argv);
	session.kernel = text_or("6.1.0");
	session.cpu = text_or("Synthetic CPU");
	session.command = command_line();
	session.options = text_or("synth");
	session.directory = text_or("/tmp");
	session.hostname = text_or(o.host);
	session.boot_id = o.boot;
	session.start_ns = latest = T0_NS;
	session.start_realtime_ns = T0_NS + o.realtime_offset;
	session.rank = o.rank;
	capture.compress = o.compress;
	check(gt_capture_writer_create(o.out, true, &capture, &session, &writer), "create");
	write_tuple(T0_NS);
	processes = calloc(o.processes, sizeof *processes);
	if (!processes)
		die("no memory");
	for (p = 0; p < o.processes; p++)
		begin_process(&processes[p], p);
	if (has_readings())
		for (p = 0; p < o.processes; p++)
			for (unsigned d = 0; d < o.devices; d++)
				reading(&processes[p].device_thread, d, T0_NS + 50000);
	activity(processes);
	for (p = 0; p < o.processes; p++) {
		end_process(&processes[p]);
		latest = processes[p].latest_ns > latest ? processes[p].latest_ns : latest;
	}
	write_tuple(latest + 2000000);
	if (o.cut) {
		check(gt_capture_flush(writer), "flush");
		gt_capture_writer_destroy(writer);
	} else {
		if (o.others)
			write_load();
		check(gt_capture_writer_finish(writer, !o.crash), "finish");
	}
	free(processes);
	return 0;
}
