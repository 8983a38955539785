/* SPDX-License-Identifier: MIT */
/* C unit tests. A program tests/unit/<name>.c contains several tests, each named as a sentence:
 *
 * 	UNIT_TEST(ring_drops_and_counts_when_full)
 * 	{
 * 		CHECK_EQ(dropped, 3);
 * 	}
 *
 * and is listed in tests/unit/meson.build. The runner (unit.c) has main(). Each test runs in a
 * separate process with a time-out and must leave no descriptor and no child.
 *
 * 	build/tests/unit/ring --list
 * 	build/tests/unit/ring ring_drops_and_counts_when_full
 * 	gdb --args build/tests/unit/ring --no-fork ring_drops_and_counts_when_full
 *
 * A failed CHECK prints both values and ends the test. In a child process or another thread of the
 * test it ends the process, so the test also fails if it waits for that process. */
#ifndef GPUTAP_UNIT_H
#define GPUTAP_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct unit_test {
	const char *name;
	void (*run)(void);
	unsigned seconds;
	struct unit_test *next;
};

void unit_register(struct unit_test *test);
void unit_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
/* End the test, because it is not possible here. @reason is printed and must be in
 * tests/skips.txt. */
void unit_skip(const char *reason) __attribute__((noreturn));
/* Skip the test under an emulator with fewer features than the kernel: qemu 7.2 wipes no page in a
 * fork child (MADV_WIPEONFORK), and its process_vm_readv() reads only memory that is mapped for
 * qemu itself. */
void unit_need_the_kernel(void);
/* Return a folder for this test, which is removed after the test. */
const char *unit_folder(void);

#define UNIT_TEST_SECONDS(test_name, limit)                                                       \
	static void unit_run_##test_name(void);                                                   \
	static struct unit_test unit_test_##test_name = {#test_name, unit_run_##test_name, limit, \
							 0};                                      \
	__attribute__((constructor)) static void unit_add_##test_name(void)                       \
	{                                                                                         \
		unit_register(&unit_test_##test_name);                                            \
	}                                                                                         \
	static void unit_run_##test_name(void)
/* The limit ends hanging tests. It is far above the time that a test takes on a busy machine. */
#define UNIT_TEST(test_name) UNIT_TEST_SECONDS(test_name, 600)

/* Return a value of any scalar type as text, in one of a few static buffers. */
const char *unit_show_signed(long long value);
const char *unit_show_unsigned(unsigned long long value);
const char *unit_show_double(double value);
const char *unit_show_string(const char *value);
const char *unit_show_pointer(const void *value);

/* clang-format off */
#define UNIT_SHOW(v) \
	_Generic((v), char: unit_show_signed, signed char: unit_show_signed, \
		short: unit_show_signed, int: unit_show_signed, long: unit_show_signed, \
		long long: unit_show_signed, bool: unit_show_unsigned, \
		unsigned char: unit_show_unsigned, unsigned short: unit_show_unsigned, \
		unsigned: unit_show_unsigned, unsigned long: unit_show_unsigned, \
		unsigned long long: unit_show_unsigned, float: unit_show_double, \
		double: unit_show_double, char *: unit_show_string, \
		const char *: unit_show_string, default: unit_show_pointer)(v)
/* clang-format on */

#define UNIT_COMPARE(a, op, b)                                                                \
	do {                                                                                  \
		__auto_type unit_a = (a);                                                     \
		__auto_type unit_b = (b);                                                     \
		_Pragma("GCC diagnostic push")                                                \
			_Pragma("GCC diagnostic ignored \"-Wsign-compare\"") bool unit_good = \
				unit_a op unit_b;                                             \
		_Pragma("GCC diagnostic pop") if (!unit_good)                                 \
			unit_fail(__FILE__, __LINE__, "%s " #op " %s: %s and %s", #a, #b,     \
				  UNIT_SHOW(unit_a), UNIT_SHOW(unit_b));                      \
	} while (0)

#define CHECK_EQ(a, b)    UNIT_COMPARE(a, ==, b)
#define CHECK_NE(a, b)    UNIT_COMPARE(a, !=, b)
#define CHECK_LT(a, b)    UNIT_COMPARE(a, <, b)
#define CHECK_LE(a, b)    UNIT_COMPARE(a, <=, b)
#define CHECK_GT(a, b)    UNIT_COMPARE(a, >, b)
#define CHECK_GE(a, b)    UNIT_COMPARE(a, >=, b)
#define CHECK_NULL(a)     UNIT_COMPARE((const void *)(a), ==, (const void *)0)
#define CHECK_NOT_NULL(a) UNIT_COMPARE((const void *)(a), !=, (const void *)0)

/* Check for 0. A negative errno is printed with its name. */
#define CHECK_OK(call)                                                                   \
	do {                                                                             \
		int unit_status = (call);                                                \
		if (unit_status < 0)                                                     \
			unit_fail(__FILE__, __LINE__, "%s: %d (%s)", #call, unit_status, \
				  strerror(-unit_status));                               \
	} while (0)

#define CHECK(condition)                                                           \
	do {                                                                       \
		if (!(condition))                                                  \
			unit_fail(__FILE__, __LINE__, "%s is not so", #condition); \
	} while (0)

void unit_check_string(const char *file, int line, const char *a_text, const char *b_text,
		       const char *a, const char *b);
void unit_check_memory(const char *file, int line, const char *a_text, const char *b_text,
		       const void *a, const void *b, size_t bytes);
#define CHECK_STR(a, b)        unit_check_string(__FILE__, __LINE__, #a, #b, a, b)
#define CHECK_MEM(a, b, bytes) unit_check_memory(__FILE__, __LINE__, #a, #b, a, b, bytes)

#endif
