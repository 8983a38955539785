/* SPDX-License-Identifier: MIT */
/* Dispatches a kernel: checks the packet as the packet processor does, finds the kernel, executes
 * it and measures its time.
 *
 * A kernel with a set duration ends exactly that long after its start, according to its stamps, but
 * not before its execution ended. A guarded call contains all accesses that may touch the program's
 * memory. */
#include <hsa/hsa.h>
#include <stdio.h>
#include <time.h>

#include "soft/amdgpu/queue.h"
#include "soft/common/guard.h"
#include "soft/common/pause.h"

#define MOST_WORK_ITEMS 1024u

struct dispatch_run { /* input and output of the guarded call */
	struct soft_queue *q;
	const hsa_kernel_dispatch_packet_t *packet;
	const struct soft_kernel *kernel;
	uint64_t id;
	enum soft_isa_result result;
	struct soft_isa_error error;
};

static uint64_t read_queue_clock(void *queue)
{
	return soft_gpu_ticks(((struct soft_queue *)queue)->node);
}

/* Return cycles at the clock rate that the device reports, because programs wait for a number of
 * clock64() cycles at this rate. */
static uint64_t read_cycles(void *queue)
{
	const struct soft_queue *q = queue;

	return read_queue_clock(queue) * soft_config()->type->clock_mhz /
	       (soft_config()->clock[q->node - 1].hz / 1000000);
}

static void interrupt(void *queue, uint32_t m0)
{
	(void)queue;
	soft_event_interrupt(m0);
}

/* Return the queue's interpreter. Created for the queue's first kernel, because most queues never
 * run a kernel. */
static struct soft_isa *machine(struct soft_queue *q)
{
	const struct soft_gpu_type *t = soft_config()->type;

	if (!q->isa) {
		q->gpu = (struct soft_isa_gpu){
			.gfx = t->gfx,
			.compute_units =
				t->shader_engines * t->arrays_per_engine * t->units_per_array,
			.lds_aperture = SOFT_LDS_APERTURE,
			.private_aperture = SOFT_PRIVATE_APERTURE,
			.read_clock = read_queue_clock,
			.read_cycles = read_cycles,
			.interrupt = interrupt,
			.data = q,
		};
		q->isa = soft_isa_create(&q->gpu);
	}
	return q->isa;
}

static void execute(void *run)
{
	struct dispatch_run *r = run;
	struct soft_dispatch dispatch = {
		.packet = r->packet,
		.packet_address = (uint64_t)r->packet,
		.queue_address = (uint64_t)r->q->aql,
		.dispatch_id = r->id,
		.code_base = r->kernel->code_base,
		.code_bytes = r->kernel->code_bytes,
		.stop = &r->q->bell.stop,
		.cooperative = __atomic_load_n(&r->q->cooperative, __ATOMIC_ACQUIRE),
	};
	struct soft_isa *isa;

	if (r->kernel->kind != SOFT_KERNEL_CODE) {
		soft_blit_run(r->kernel->kind, r->packet->kernarg_address);
		return;
	}
	if (!soft_config()->execute && !r->kernel->runtimes_own)
		return;
	isa = machine(r->q);
	r->result = isa ? soft_isa_run(isa, &dispatch, &r->error, NULL) : SOFT_ISA_NO_MEMORY;
}

/* Check the packet. If it is refused, mark the queue as failed and return false. */
static bool check_packet(struct soft_queue *q, const hsa_kernel_dispatch_packet_t *p, uint64_t id)
{
	uint64_t items = (uint64_t)p->workgroup_size_x * p->workgroup_size_y * p->workgroup_size_z;
	unsigned dimensions = p->setup & 3;
	unsigned long long n = id;

	if (!p->kernel_object)
		soft_queue_fail(q, SOFT_QUEUE_BAD_CODE, "packet %llu has no kernel object", n);
	else if (!dimensions || !items || !p->grid_size_x || !p->grid_size_y || !p->grid_size_z)
		soft_queue_fail(q, SOFT_QUEUE_BAD_DIMENSIONS,
				"packet %llu has invalid sizes: %u dimensions, workgroup %u x %u x "
				"%u, grid %u x %u x %u",
				n, dimensions, p->workgroup_size_x, p->workgroup_size_y,
				p->workgroup_size_z, p->grid_size_x, p->grid_size_y,
				p->grid_size_z);
	else if (items > MOST_WORK_ITEMS)
		soft_queue_fail(q, SOFT_QUEUE_GROUP_TOO_LARGE,
				"packet %llu has too large a workgroup: %llu work-items", n,
				(unsigned long long)items);
	else if (p->group_segment_size > soft_config()->type->lds_kib * 1024)
		soft_queue_fail(q, SOFT_QUEUE_BAD_GROUP_MEMORY,
				"packet %llu requests too much LDS: %u bytes", n,
				p->group_segment_size);
	else
		return true;
	return false;
}

static void fail_dispatch(struct dispatch_run *r)
{
	static const enum soft_queue_error errors[] = {
		[SOFT_ISA_UNSUPPORTED] = SOFT_QUEUE_ILLEGAL_INSTRUCTION,
		[SOFT_ISA_ILLEGAL] = SOFT_QUEUE_ILLEGAL_INSTRUCTION,
		[SOFT_ISA_TRAP] = SOFT_QUEUE_TRAP,
		[SOFT_ISA_BAD_DESCRIPTOR] = SOFT_QUEUE_BAD_CODE,
		[SOFT_ISA_DEADLOCK] = SOFT_QUEUE_TRAP,
		[SOFT_ISA_NO_MEMORY] = SOFT_QUEUE_BAD_REGISTERS,
	};
	const struct soft_isa_error *e = &r->error;

	if (!r->q->isa && r->result == SOFT_ISA_NO_MEMORY &&
	    !soft_isa_has(soft_config()->type->gfx)) {
		soft_queue_fail(r->q, SOFT_QUEUE_ILLEGAL_INSTRUCTION,
				"kernel %s cannot run: the interpreter supports %s, not %s "
				"(SOFT_AMDGPU_EXECUTE=0 skips execution)",
				r->kernel->name, soft_isa_targets(), soft_config()->type->name);
		return;
	}
	soft_queue_fail(r->q, errors[r->result],
			"kernel %s, at %#llx of its code object, workgroup (%u, %u, %u): %s: %s "
			"[%08x %08x]",
			r->kernel->name,
			(unsigned long long)(e->pc ? e->pc - r->kernel->code_base : 0),
			e->workgroup[0], e->workgroup[1], e->workgroup[2],
			soft_isa_result_text(r->result), e->text, e->words[0], e->words[1]);
}

static void raise_fault(struct dispatch_run *r, uint64_t address)
{
	char what[300];

	snprintf(what, sizeof what, "kernel %s", r->kernel->name);
	soft_queue_memory_fault(r->q, address, what);
}

/* Wait until @ns after @host_ns, mostly asleep. */
static void stay_busy(const struct soft_queue *q, uint64_t host_ns, uint64_t ns)
{
	/* a sleep ends up to 60 us late, and a destroyed queue must not wait long */
	const uint64_t awake = 80000, nap = 20000000;
	uint64_t end = host_ns + ns, now;

	while ((now = soft_clock_host_ns()) < end && !soft_queue_stopped(q)) {
		uint64_t left = end - now;
		if (left > awake) {
			left -= awake;
			left = left < nap ? left : nap;
			nanosleep(&(struct timespec){.tv_nsec = (long)left}, NULL);
		} else {
			soft_pause_cpu();
		}
	}
}

bool soft_dispatch_run(struct soft_queue *q, const void *slot, uint64_t id, uint64_t *start,
		       uint64_t *end)
{
	const struct soft_clock *clock = &soft_config()->clock[q->node - 1];
	struct dispatch_run r = {.q = q, .packet = slot, .id = id, .result = SOFT_ISA_DONE};
	uint64_t began = soft_clock_host_ns(), ended;

	if (!check_packet(q, r.packet, id))
		return false;
	r.kernel = soft_kernel_get(&q->kernels, r.packet->kernel_object);
	if (!r.kernel) {
		soft_queue_fail(q, SOFT_QUEUE_BAD_CODE, "no memory");
		return false;
	}
	if (r.kernel->kind == SOFT_KERNEL_CODE && soft_fails(SOFT_FAIL_HANG)) {
		soft_queue_halt(q);
		return false;
	}
	if (r.kernel->kind == SOFT_KERNEL_CODE && soft_fails(SOFT_FAIL_KERNEL)) {
		soft_queue_fail(q, SOFT_QUEUE_TRAP,
				"kernel %s fails as requested (SOFT_AMDGPU_FAIL)", r.kernel->name);
		return false;
	}
	if (r.packet->private_segment_size) {
		if (!soft_scratch_need(q, r.packet->private_segment_size, id))
			return false;
		began = soft_clock_host_ns();
	}
	if (!soft_guard_call(execute, &r, &r.error.address))
		r.result = SOFT_ISA_MEMORY_FAULT;
	if (r.result == SOFT_ISA_STOPPED)
		return false;
	if (r.result == SOFT_ISA_MEMORY_FAULT) {
		raise_fault(&r, r.error.address);
		return false;
	}
	if (r.result != SOFT_ISA_DONE) {
		fail_dispatch(&r);
		return false;
	}
	ended = soft_clock_host_ns();
	if (r.kernel->duration_ns > ended - began) {
		stay_busy(q, began, r.kernel->duration_ns);
		ended = began + r.kernel->duration_ns;
	}
	*start = soft_clock_ticks(clock, began);
	*end = soft_clock_ticks(clock, ended);
	*end += *end == *start; /* a duration of 0 would look like missing stamps */
	return true;
}
