/* SPDX-License-Identifier: MIT */
/* hsa_queue MODE CODE_OBJECT: tests the behaviour of a software GPU for a plain HSA program. Prints
 * one line per step. */
#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hsa_program.h"

static struct hsa_program program;

static void nap_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* barriers ------------------------------------------------------------------ */

static void put_barrier(hsa_queue_t *q, hsa_packet_type_t type, const hsa_signal_t *wait,
			unsigned count, hsa_signal_t done)
{
	hsa_barrier_and_packet_t b = {.completion_signal = done};

	for (unsigned i = 0; i < count; i++)
		b.dep_signal[i] = wait[i];
	hsa_program_put(q, &b, (uint16_t)(type | BARRIER_BIT));
}

static void show(const char *what, const hsa_signal_t *signals, unsigned count)
{
	printf("%s:", what);
	for (unsigned i = 0; i < count; i++)
		printf(" %ld", (long)hsa_signal_load_scacquire(signals[i]));
	putchar('\n');
}

static void barriers(void)
{
	hsa_queue_t *q = hsa_program_queue(&program, 64, NULL, NULL);
	hsa_signal_t open[2] = {hsa_program_signal(1), hsa_program_signal(1)};
	hsa_signal_t done[3] = {hsa_program_signal(1), hsa_program_signal(1),
				hsa_program_signal(1)};
	int **arguments = hsa_program_memory(&program, 4096),
	    *out = hsa_program_memory(&program, 256 * sizeof *out);
	hsa_kernel_dispatch_packet_t d =
		hsa_program_dispatch(hsa_program_kernel(&program, "store_index"), arguments, 256,
				     64, done[2]);

	*arguments = out;
	put_barrier(q, HSA_PACKET_TYPE_BARRIER_OR, open, 2, done[0]);
	put_barrier(q, HSA_PACKET_TYPE_BARRIER_AND, open, 2, done[1]);
	hsa_program_put_dispatch(q, &d);
	nap_ms(5);
	show("closed", done, 3);
	hsa_signal_store_screlease(open[0], 0);
	hsa_program_wait(done[0]);
	nap_ms(5);
	show("one open", done, 3);
	hsa_signal_store_screlease(open[1], 0);
	hsa_program_wait(done[2]);
	show("both open", done, 3);
	printf("kernel: first %d last %d\n", out[0], out[255]);
	MUST(hsa_queue_destroy(q));
}

static void barrier_values(void)
{
	static const struct {
		hsa_signal_condition32_t condition;
		int64_t closed, opened;
	} cases[] = {
		{HSA_SIGNAL_CONDITION_EQ, 3, 7},
		{HSA_SIGNAL_CONDITION_NE, 7, 3},
		{HSA_SIGNAL_CONDITION_LT, 7, 6},
		{HSA_SIGNAL_CONDITION_GTE, 6, 7},
	};
	hsa_queue_t *q = hsa_program_queue(&program, 64, NULL, NULL);

	for (unsigned i = 0; i < 4; i++) {
		hsa_signal_t value = hsa_program_signal(cases[i].closed | 0x100),
			     done = hsa_program_signal(1);
		hsa_amd_barrier_value_packet_t b = {
			.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE,
			.signal = value,
			.value = 7,
			.mask = 0xff,
			.cond = cases[i].condition,
			.completion_signal = done,
		};
		hsa_program_put(q, &b, HSA_PACKET_TYPE_VENDOR_SPECIFIC | BARRIER_BIT);
		nap_ms(5);
		show("closed", &done, 1);
		hsa_signal_store_screlease(value, cases[i].opened);
		hsa_program_wait(done);
		show("open", &done, 1);
	}
	MUST(hsa_queue_destroy(q));
}

/* times ----------------------------------------------------------------------- */

static uint64_t system_now(void)
{
	uint64_t now;

	MUST(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
	return now;
}

/* Run one kernel at a time. Print the differences between the kernel's stamps and those of the
 * host, in ns. */
static void times(void)
{
	hsa_queue_t *q = hsa_program_queue(&program, 64, NULL, NULL);
	hsa_signal_t done = hsa_program_signal(1);
	hsa_kernel_dispatch_packet_t d =
		hsa_program_dispatch(hsa_program_kernel(&program, "nothing"), NULL, 64, 64, done);
	unsigned before = 0, after = 0, backward = 0;
	uint64_t least = UINT64_MAX, most = 0, last = 0, raw = 0;

	MUST(hsa_amd_profiling_set_profiler_enabled(q, 1));
	for (unsigned i = 0; i < 500; i++) {
		hsa_amd_profiling_dispatch_time_t t;
		uint64_t begin, end;
		hsa_signal_store_relaxed(done, 1);
		begin = system_now();
		hsa_program_put_dispatch(q, &d);
		hsa_program_wait(done);
		end = system_now();
		MUST(hsa_amd_profiling_get_dispatch_time(program.gpu, done, &t));
		/* tolerance: a tick is 10 ns, and the conversion rounds */
		before += t.start + 100 < begin;
		after += t.end > end + 100;
		backward += t.start + 20 < last || t.end < t.start;
		last = t.end;
		least = t.end - t.start < least ? t.end - t.start : least;
		most = t.end - t.start > most ? t.end - t.start : most;
		raw = ((amd_signal_t *)done.handle)->start_ts;
	}
	printf("before %u after %u backward %u\n", before, after, backward);
	printf("least %llu most %llu\n", (unsigned long long)least, (unsigned long long)most);
	printf("raw %llu host %llu\n", (unsigned long long)raw, (unsigned long long)last);
	MUST(hsa_queue_destroy(q));
}

/* copies ---------------------------------------------------------------------- */

enum { COPY_BYTES = 5 << 20 }; /* more than one packet can copy */

static void show_copy_time(const char *what, hsa_signal_t done, uint64_t begin)
{
	hsa_amd_profiling_async_copy_time_t t;
	uint64_t end = system_now();

	MUST(hsa_amd_profiling_get_async_copy_time(done, &t));
	printf("%s: %s\n", what,
	       t.start + 100 >= begin && t.start <= t.end && t.end <= end + 100
		       ? "in its time"
		       : "out of its time");
}

/* Copy to the device once a signal allows it, then copy back. */
static void copies_there_and_back(const unsigned char *from, unsigned char *to, void *device)
{
	hsa_signal_t gate = hsa_program_signal(1), there = hsa_program_signal(1),
		     back = hsa_program_signal(1);
	uint64_t begin = system_now();

	MUST(hsa_amd_memory_async_copy(device, program.gpu, from, program.gpu, COPY_BYTES - 3, 1,
				       &gate, there));
	MUST(hsa_amd_memory_async_copy(to, program.gpu, device, program.gpu, COPY_BYTES - 3, 1,
				       &there, back));
	nap_ms(5);
	show("gate closed", (hsa_signal_t[]){there, back}, 2);
	hsa_signal_store_screlease(gate, 0);
	hsa_program_wait(back);
	show("gate open", (hsa_signal_t[]){there, back}, 2);
	printf("bytes: %s, the rest %s\n", memcmp(from, to, COPY_BYTES - 3) ? "differ" : "same",
	       to[COPY_BYTES - 3] ? "written" : "untouched");
	show_copy_time("there", there, begin);
	show_copy_time("back", back, begin);
}

/* Copy a box of 5 x 4 x 3 elements of 4 bytes from the middle of one image to the middle of
 * another. */
static void copy_box(uint32_t *from, uint32_t *to)
{
	hsa_signal_t done = hsa_program_signal(1);
	hsa_pitched_ptr_t source = {from, 16 * 4, 16 * 8 * 4}, target = {to, 32 * 4, 32 * 8 * 4};
	hsa_dim3_t source_at = {3 * 4, 2, 1}, target_at = {7 * 4, 1, 2}, range = {5 * 4, 4, 3};
	unsigned wrong = 0, copied = 0;

	for (unsigned i = 0; i < 16 * 8 * 8; i++)
		from[i] = i + 1;
	memset(to, 0, 32 * 8 * 8 * 4);
	if (hsa_amd_memory_async_copy_rect(&target, &target_at, &source, &source_at, &range,
					   program.gpu, hsaHostToDevice, 0, NULL, done)) {
		printf("box: refused\n"); /* refused by ROCr, which has no shader for it */
		return;
	}
	hsa_program_wait(done);
	for (unsigned z = 0; z < 8; z++)
		for (unsigned y = 0; y < 8; y++)
			for (unsigned x = 0; x < 32; x++) {
				bool inside =
					x >= 7 && x < 12 && y >= 1 && y < 5 && z >= 2 && z < 5;
				uint32_t wanted = inside ? (x - 7 + 3) + (y - 1 + 2) * 16 +
								   (z - 2 + 1) * 128 + 1
							 : 0;
				wrong += to[x + y * 32 + z * 256] != wanted;
				copied += inside;
			}
	printf("box: %u elements, %u wrong\n", copied, wrong);
}

static void copies(void)
{
	unsigned char *from = hsa_program_memory(&program, COPY_BYTES),
		      *to = hsa_program_memory(&program, COPY_BYTES);
	void *device;

	for (unsigned i = 0; i < COPY_BYTES; i++)
		from[i] = (unsigned char)(i * 2654435761u >> 24);
	MUST(hsa_amd_memory_pool_allocate(program.device, COPY_BYTES, 0, &device));
	MUST(hsa_amd_profiling_async_copy_enable(true));
	copies_there_and_back(from, to, device);
	MUST(hsa_amd_memory_fill(device, 0x01020304, 1000));
	MUST(hsa_memory_copy(to, device, 4004));
	printf("filled: %#x %#x, then %s\n", ((uint32_t *)to)[0], ((uint32_t *)to)[999],
	       memcmp(to + 4000, from + 4000, 4) ? "something else" : "as before");
	copy_box((uint32_t *)from, (uint32_t *)to);
}

/* errors ---------------------------------------------------------------------- */

/* Shared with ROCr's thread. Atomic, because ThreadSanitizer does not recognise the order that
 * ROCr's signals establish. */
static hsa_status_t error_status;
static uint64_t error_told; /* handle of a signal */

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)queue;
	(void)data;
	__atomic_store_n(&error_status, status, __ATOMIC_RELEASE);
	hsa_signal_store_screlease((hsa_signal_t){__atomic_load_n(&error_told, __ATOMIC_ACQUIRE)},
				   0);
}

static void one_error(const char *name, const hsa_kernel_dispatch_packet_t *d, uint16_t header)
{
	hsa_signal_t told = hsa_program_signal(1);
	hsa_queue_t *q = hsa_program_queue(&program, 64, on_error, NULL);
	const char *status;

	__atomic_store_n(&error_told, told.handle, __ATOMIC_RELEASE);
	hsa_program_put(q, d, header);
	hsa_program_wait(told);
	status = hsa_status_name(__atomic_load_n(&error_status, __ATOMIC_ACQUIRE));
	printf("%s: %.*s\n", name, (int)strcspn(status, ":"), status);
	MUST(hsa_queue_destroy(q));
	MUST(hsa_signal_destroy(told));
}

static void errors(void)
{
	hsa_kernel_dispatch_packet_t good = hsa_program_dispatch(hsa_program_kernel(&program,
										    "nothing"),
								 NULL, 64, 64, (hsa_signal_t){0}),
				     d;
	const uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | BARRIER_BIT;

	d = good, d.kernel_object = 0;
	one_error("no kernel", &d, header);
	d = good, d.workgroup_size_y = 0;
	one_error("empty group", &d, header);
	d = good, d.setup = 0;
	one_error("no dimensions", &d, header);
	d = good, d.workgroup_size_x = 1024, d.workgroup_size_y = 2, d.setup = 2;
	one_error("large group", &d, header);
	d = good, d.group_segment_size = 1 << 20;
	one_error("much LDS", &d, header);
	/* more than a wave can have, which ROCr reports, because it allocates the scratch memory */
	d = good, d.private_segment_size = 1 << 18;
	one_error("much scratch", &d, header);
	one_error("unknown packet", &good, 77);
	d = good, d.setup = 9; /* the format */
	one_error("unknown vendor packet", &d, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
}

/* Run one kernel that ends with an error. */
static void bad_kernel(const char *name)
{
	int **arguments = hsa_program_memory(&program, 4096);
	hsa_kernel_dispatch_packet_t d = hsa_program_dispatch(hsa_program_kernel(&program, name),
							      arguments, 64, 64, (hsa_signal_t){0});

	*arguments = hsa_program_memory(&program, 4096);
	one_error(name, &d, HSA_PACKET_TYPE_KERNEL_DISPATCH | BARRIER_BIT);
}

/* ends -------------------------------------------------------------------------- */

static void endless(void)
{
	int **arguments = hsa_program_memory(&program, 4096);
	hsa_kernel_dispatch_packet_t d =
		hsa_program_dispatch(hsa_program_kernel(&program, "wait_for"), arguments, 64, 64,
				     (hsa_signal_t){0});

	*arguments = hsa_program_memory(&program, 4096);
	for (int i = 0; i < 3; i++) {
		hsa_queue_t *q = hsa_program_queue(&program, 64, NULL, NULL);
		hsa_program_put_dispatch(q, &d);
		nap_ms(2);
		MUST(hsa_queue_destroy(q));
		printf("destroyed\n");
	}
}

/* Destroy a queue whose barrier never opens. */
static void closed_barrier(void)
{
	hsa_signal_t never = hsa_program_signal(1);
	hsa_queue_t *q = hsa_program_queue(&program, 64, NULL, NULL);

	put_barrier(q, HSA_PACKET_TYPE_BARRIER_AND, &never, 1, (hsa_signal_t){0});
	nap_ms(2);
	MUST(hsa_queue_destroy(q));
	printf("destroyed\n");
}

/* Threads and numbers --------------------------------------------------------- */

enum { PRODUCERS = 4, EACH = 2000 };

struct producer {
	hsa_queue_t *queue;
	hsa_kernel_dispatch_packet_t dispatch;
};

static void *produce(void *data)
{
	struct producer *p = data;

	for (int i = 0; i < EACH; i++)
		hsa_program_put_dispatch(p->queue, &p->dispatch);
	return NULL;
}

/* Four threads submit to one queue. Every packet must run once. */
static void producers(void)
{
	int **arguments = hsa_program_memory(&program, 4096),
	    *out = hsa_program_memory(&program, 4096);
	hsa_signal_t done = hsa_program_signal(PRODUCERS * EACH);
	struct producer p = {.queue = hsa_program_queue(&program, 64, NULL, NULL)};
	pthread_t threads[PRODUCERS];

	*arguments = out;
	p.dispatch =
		hsa_program_dispatch(hsa_program_kernel(&program, "count"), arguments, 1, 1, done);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, produce, &p);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	hsa_program_wait(done);
	printf("counted %d signal %ld\n", *out, (long)hsa_signal_load_relaxed(done));
	MUST(hsa_queue_destroy(p.queue));
}

/* Wait for more signals than the driver has events. */
static void signals(void)
{
	enum { MANY = 5000 };
	hsa_queue_t *q = hsa_program_queue(&program, 1024, NULL, NULL);
	static hsa_signal_t done[MANY];

	for (int i = 0; i < MANY; i++)
		done[i] = hsa_program_signal(1);
	for (int i = 0; i < MANY; i++)
		put_barrier(q, HSA_PACKET_TYPE_BARRIER_AND, NULL, 0, done[i]);
	for (int i = 0; i < MANY; i++) {
		hsa_program_wait(done[i]);
		MUST(hsa_signal_destroy(done[i]));
	}
	printf("waited for %d\n", MANY);
	MUST(hsa_queue_destroy(q));
}

static void many_queues(void)
{
	enum { QUEUES = 40 };
	hsa_queue_t *q[QUEUES];
	hsa_signal_t done = hsa_program_signal(QUEUES);

	for (int i = 0; i < QUEUES; i++)
		q[i] = hsa_program_queue(&program, 64, NULL, NULL);
	for (int i = 0; i < QUEUES; i++)
		put_barrier(q[i], HSA_PACKET_TYPE_BARRIER_AND, NULL, 0, done);
	hsa_program_wait(done);
	for (int i = 0; i < QUEUES; i++)
		MUST(hsa_queue_destroy(q[i]));
	printf("all done\n");
}

/* life ------------------------------------------------------------------------ */

static void run_one(const char *file)
{
	int **arguments, *out;
	hsa_signal_t done;
	hsa_kernel_dispatch_packet_t d;
	hsa_queue_t *q;

	hsa_program_start(&program);
	hsa_program_load(&program, file);
	arguments = hsa_program_memory(&program, 4096);
	out = hsa_program_memory(&program, 4096);
	done = hsa_program_signal(1);
	*arguments = out;
	d = hsa_program_dispatch(hsa_program_kernel(&program, "store_index"), arguments, 64, 64,
				 done);
	q = hsa_program_queue(&program, 64, NULL, NULL);
	hsa_program_put_dispatch(q, &d);
	hsa_program_wait(done);
	printf("last %d\n", out[63]);
	MUST(hsa_queue_destroy(q));
	MUST(hsa_executable_destroy(program.code));
	MUST(hsa_shut_down());
}

static void in_child(void (*function)(const char *), const char *file)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		function(file);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child %s %d\n", WIFEXITED(status) ? "status" : "signal",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* Run in the child of a process that uses the GPU. */
static void use_parents(const char *file)
{
	hsa_queue_t *q;
	void *memory;
	hsa_status_t init = hsa_init(), queue, allocation;

	(void)file;
	queue = hsa_queue_create(program.gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q);
	allocation = hsa_amd_memory_pool_allocate(program.host, 8 << 20, 0, &memory);
	printf("init %s\nqueue %s\nallocation %s\n", init ? "fails" : "succeeds",
	       queue ? "fails" : "succeeds", allocation ? "fails" : "succeeds");
}

static void fork_modes(const char *mode, const char *file)
{
	if (!strcmp(mode, "fork-before")) {
		in_child(run_one, file);
		run_one(file);
	} else {
		hsa_program_start(&program);
		in_child(use_parents, file);
		MUST(hsa_shut_down());
		/* after this, the parent does not use the GPU, so the child may use it */
		in_child(run_one, file);
		run_one(file);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"barriers", barriers},
	{"barrier-values", barrier_values},
	{"times", times},
	{"copies", copies},
	{"errors", errors},
	{"endless", endless},
	{"closed-barrier", closed_barrier},
	{"producers", producers},
	{"signals", signals},
	{"many-queues", many_queues},
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (!strncmp(argv[1], "fork", 4)) {
		fork_modes(argv[1], argv[2]);
		return 0;
	}
	if (!strcmp(argv[1], "cycles")) {
		for (int i = 0; i < 10; i++)
			run_one(argv[2]);
		return 0;
	}
	hsa_program_start(&program);
	hsa_program_load(&program, argv[2]);
	if (!strcmp(argv[1], "kernel"))
		bad_kernel(argv[3]);
	for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].name, argv[1]))
			modes[i].run();
	MUST(hsa_executable_destroy(program.code));
	MUST(hsa_shut_down());
	printf("end\n");
	return 0;
}
