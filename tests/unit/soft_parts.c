/* SPDX-License-Identifier: MIT */
/* Shared parts of software accelerators: numbers with units, the programmable clock, guarded calls,
 * doorbells. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "soft/common/bell.h"
#include "soft/common/clock.h"
#include "soft/common/faults.h"
#include "soft/common/guard.h"
#include "soft/common/settings.h"
#include "unit.h"

#ifdef __SANITIZE_THREAD__
/* A guarded call leaves its signal handler with a jump, so ThreadSanitizer considers the thread
 * inside the handler forever. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "report_signal_unsafe=0";
}
#endif

/* settings ---------------------------------------------------------------------- */

UNIT_TEST(bytes_are_powers_of_1024)
{
	uint64_t n = 0;

	CHECK(soft_parse_bytes("512M", &n) && n == 512ull << 20);
	CHECK(soft_parse_bytes("16GiB", &n) && n == 16ull << 30);
	CHECK(soft_parse_bytes("4096", &n) && n == 4096);
	CHECK(soft_parse_bytes("1T", &n) && n == 1ull << 40);
	for (const char *const *bad =
		     (const char *const[]){"", "M", "-1M", "1X", "1MM", "1M ",
					   "99999999999999999999", "20000000T", NULL};
	     *bad; bad++)
		CHECK(!soft_parse_bytes(*bad, &n));
}

UNIT_TEST(times_have_units_and_signs)
{
	int64_t ns = 0;

	CHECK(soft_parse_ns("1.5ms", "us", &ns) && ns == 1500000);
	CHECK(soft_parse_ns("-20", "us", &ns) && ns == -20000);
	CHECK(soft_parse_ns("3s", "us", &ns) && ns == 3000000000);
	CHECK(soft_parse_ns("0", "s", &ns) && ns == 0);
	for (const char *const *bad =
		     (const char *const[]){"", "us", "1m", "1e30s", "nan", "inf", "1 us", NULL};
	     *bad; bad++)
		CHECK(!soft_parse_ns(*bad, "us", &ns));
}

UNIT_TEST(rates_are_parts_per_billion)
{
	int64_t ppb = 0;

	CHECK(soft_parse_ppb("50ppm", &ppb) && ppb == 50000);
	CHECK(soft_parse_ppb("-200ppb", &ppb) && ppb == -200);
	CHECK(soft_parse_ppb("0.5", &ppb) && ppb == 500);
	CHECK(!soft_parse_ppb("5%", &ppb));
}

/* clock --------------------------------------------------------------------------- */

static const struct soft_clock plain = {.hz = 100000000};

UNIT_TEST(clock_counts_from_its_epoch_at_its_rate)
{
	struct soft_clock c = plain;

	c.epoch_ns = 5000000000;
	CHECK_EQ(soft_clock_ticks(&c, 0), 500000000u);
	CHECK_EQ(soft_clock_ticks(&c, 1000), 500000100u);
	c.hz = 27000000; /* a tick is not a whole number of nanoseconds */
	CHECK_EQ(soft_clock_ticks(&c, 0), 135000000u);
	CHECK_EQ(soft_clock_ticks(&c, 86400ull * 365 * 1000000000),
		 135000000u + 86400ull * 365 * 27000000);
}

UNIT_TEST(drift_grows_from_the_anchor_on)
{
	struct soft_clock c = plain;

	c.anchor_ns = 1000000000;
	c.drift_ppb = 50000;
	CHECK_EQ(soft_clock_ticks(&c, c.anchor_ns), 100000000u);
	CHECK_EQ(soft_clock_ticks(&c, c.anchor_ns + 1000000000), 200000000u + 5000);
	c.drift_ppb = -50000;
	CHECK_EQ(soft_clock_ticks(&c, c.anchor_ns + 1000000000), 200000000u - 5000);
}

UNIT_TEST(skew_is_in_what_the_driver_pairs_only)
{
	struct soft_clock c = plain;

	c.skew_ns = 20000;
	CHECK_EQ(soft_clock_ticks(&c, 1000000), 100000u);
	CHECK_EQ(soft_clock_paired_ticks(&c, 1000000), 98000u);
}

/* faults -------------------------------------------------------------------------- */

UNIT_TEST(faults_hit_the_calls_that_were_named)
{
	struct soft_fault f[] = {{.name = "queue"}, {.name = "event"}, {.name = "hang"}, {0}};
	unsigned queues = 0, events = 0, hangs = 0;

	CHECK(soft_faults_parse(f, "queue:3,event:4+"));
	for (int i = 0; i < 6; i++) {
		queues = queues * 2 + soft_fault_now(&f[0]);
		events = events * 2 + soft_fault_now(&f[1]);
		hangs += soft_fault_now(&f[2]);
	}
	CHECK_EQ(queues, 0b001000u);
	CHECK_EQ(events, 0b000111u);
	CHECK_EQ(hangs, 0u);
	CHECK(soft_faults_parse(f, "hang"));
	CHECK(soft_fault_now(&f[2]) && soft_fault_now(&f[2]));
	for (const char *const *bad =
		     (const char *const[]){"", "queu", "queue:", "queue:0", "queue:x", "queue:1,",
					   "queue:1-2", NULL};
	     *bad; bad++)
		CHECK(!soft_faults_parse(f, *bad));
}

/* guard --------------------------------------------------------------------------- */

static void store_at(void *address)
{
	*(volatile int *)address = 1;
}

UNIT_TEST(fault_in_a_guarded_call_is_returned_with_its_address)
{
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t address = 0;
	int here = 0;

	soft_guard_init();
	for (int i = 0; i < 3; i++) { /* the signal is not left blocked */
		CHECK(!soft_guard_call(store_at, page + 64, &address));
		CHECK_EQ(address, (uint64_t)(page + 64));
	}
	CHECK(soft_guard_call(store_at, &here, &address));
	CHECK_EQ(here, 1);
	munmap(page, 4096);
}

static volatile sig_atomic_t program_saw;
static void *fault_page;

static void of_the_program(int number)
{
	(void)number;
	program_saw = 1;
	mprotect(fault_page, 4096, PROT_READ | PROT_WRITE);
}

UNIT_TEST(fault_elsewhere_goes_to_the_programs_handler)
{
	fault_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, of_the_program);
	soft_guard_init();
	soft_guard_init(); /* does not mistake our own handler for the program's */
	store_at(fault_page);
	CHECK(program_saw);
	munmap(fault_page, 4096);
}

/* doorbells ----------------------------------------------------------------------- */

static uint64_t cells[3], reached[3];
static struct soft_bell bells[3];

static void *activity(void *data)
{
	struct soft_bell *bell = data;
	struct soft_idle idle = {0};
	uint64_t seen = 0;

	while (!__atomic_load_n(&bell->stop, __ATOMIC_ACQUIRE)) {
		uint64_t now = __atomic_load_n(bell->cell, __ATOMIC_ACQUIRE);
		if (now == seen) {
			soft_bell_wait(bell, seen, &idle);
			continue;
		}
		seen = now;
		idle = (struct soft_idle){0};
		__atomic_store_n(&reached[bell - bells], seen, __ATOMIC_RELEASE);
		soft_value_changed();
	}
	return NULL;
}

UNIT_TEST(bells_wake_their_sleeping_workers_and_stop)
{
	pthread_t threads[3];

	soft_bell_spin_us(0);
	for (int i = 0; i < 3; i++) {
		bells[i].cell = &cells[i];
		CHECK_EQ(soft_bell_add(&bells[i]), 0);
		CHECK_EQ(soft_thread_start(&threads[i], "worker", activity, &bells[i]), 0);
	}
	for (uint64_t n = 1; n <= 200; n++) {
		struct soft_idle idle = {0};
		uint64_t which = n % 3;
		__atomic_store_n(&cells[which], n, __ATOMIC_RELEASE);
		while (__atomic_load_n(&reached[which], __ATOMIC_ACQUIRE) != n)
			soft_value_wait(&idle);
	}
	for (int i = 0; i < 3; i++) {
		soft_bell_stop(&bells[i]);
		pthread_join(threads[i], NULL);
		soft_bell_remove(&bells[i]);
	}
}

UNIT_TEST(stop_is_never_missed)
{
	for (int i = 0; i < 300; i++) {
		pthread_t thread;
		memset(&bells[0], 0, sizeof bells[0]);
		bells[0].cell = &cells[0];
		cells[0] = 0;
		CHECK_EQ(soft_bell_add(&bells[0]), 0);
		CHECK_EQ(soft_thread_start(&thread, "worker", activity, &bells[0]), 0);
		soft_bell_stop(&bells[0]);
		pthread_join(thread, NULL);
		soft_bell_remove(&bells[0]);
	}
}
