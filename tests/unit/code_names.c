/* SPDX-License-Identifier: MIT */
/* Sources of frame names: symbol tables, line tables of Python, maps from JIT compilers. Other
 * programs write these files, so the parser must accept any bytes, and return either names or no
 * names. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/symbols/elf_symbols.h"
#include "analysis/symbols/jit_map.h"
#include "capture/python_lines.h"
#include "unit.h"

enum { ROUNDS = 400, LEAST = 64 };

static uint64_t seed = 1;

static uint64_t random64(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return seed >> 11;
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;

	CHECK(f);
	fseek(f, 0, SEEK_END);
	*bytes = (size_t)ftell(f);
	rewind(f);
	data = malloc(*bytes);
	CHECK(data && fread(data, 1, *bytes, f) == *bytes);
	fclose(f);
	return data;
}

static void write_file(const char *path, const void *data, size_t bytes)
{
	FILE *f = fopen(path, "wb");

	CHECK(f && fwrite(data, 1, bytes, f) == bytes);
	fclose(f);
}

/* A function with a unique name. */
__attribute__((noinline)) void unit_code_names_known(void);
void unit_code_names_known(void)
{
	__asm__ volatile("" ::: "memory");
}

UNIT_TEST(functions_of_this_program_are_found_by_name)
{
	struct gt_elf_symbols *s = gt_elf_symbols_open("/proc/self/exe", "", NULL);

	CHECK(s);
	CHECK(gt_elf_symbols_has(s, "unit_code_names_known"));
	CHECK(!gt_elf_symbols_has(s, "unit_code_names_unknown"));
	gt_elf_symbols_close(s);
}

UNIT_TEST(another_build_id_is_another_file)
{
	int other = 0;

	CHECK(!gt_elf_symbols_open("/proc/self/exe", "0123", &other));
	CHECK_EQ(other, 1);
}

UNIT_TEST(symbol_tables_of_damaged_files_are_read_within_the_file)
{
	size_t bytes;
	uint8_t *data = read_file("/proc/self/exe", &bytes), *copy = malloc(bytes);
	char path[512];

	snprintf(path, sizeof path, "%s/file", unit_folder());
	for (int round = 0; round < ROUNDS; round++) {
		size_t length = round % 4 ? bytes : LEAST + random64() % (bytes - LEAST);
		struct gt_elf_symbols *s;
		uint64_t offset;

		memcpy(copy, data, bytes);
		for (int i = 0; i < 1 + round % 8; i++) /* both ends of the file contain heads */
			copy[round % 2 ? random64() % LEAST : bytes - 1 - random64() % 4096] =
				(uint8_t)random64();
		write_file(path, copy, length);
		s = gt_elf_symbols_open(path, round % 3 ? "" : "aa", NULL);
		for (int i = 0; s && i < 100; i++) {
			const char *name =
				gt_elf_symbols_find(s, random64() % (2 * bytes), &offset);

			CHECK(!name || strlen(name) < bytes);
		}
		gt_elf_symbols_close(s);
	}
	free(copy);
	free(data);
}

UNIT_TEST(any_table_of_lines_is_read_within_its_bytes)
{
	for (int round = 0; round < 20000; round++) {
		size_t bytes = random64() % 32;
		uint8_t *table = malloc(bytes + 1);

		for (size_t i = 0; i < bytes; i++)
			table[i] = (uint8_t)random64();
		gt_python_line(table, bytes, 10, (uint32_t)(random64() % 64));
		free(table);
	}
}

static const struct gt_jit_map_time any_time = {0, UINT64_MAX};

UNIT_TEST(a_map_names_the_addresses_that_are_asked_for)
{
	static const char map[] = "1000 10 one\n1000 20 one again\n0x2000 8 two\n3000 8\nx\n"
				  "4000 ffffffffffffffff too long\n5000 8 last without an end";
	const uint64_t addresses[] = {0xfff,  0x1008, 0x1018, 0x1020,
				      0x2007, 0x3000, 0x4000, 0x5007};
	const char *want[] = {NULL,  "one again", "one again", NULL,
			      "two", NULL,        NULL,        "last without an end"};
	char *names[8] = {0}, path[512];

	snprintf(path, sizeof path, "%s/map", unit_folder());
	write_file(path, map, sizeof map - 1);
	CHECK_EQ(gt_jit_map_read(path, geteuid(), any_time, addresses, names, 8), 4u);
	for (int i = 0; i < 8; i++) {
		CHECK_STR(names[i] ? names[i] : "(none)", want[i] ? want[i] : "(none)");
		free(names[i]);
	}
	CHECK_EQ(gt_jit_map_read(path, geteuid() + 1, any_time, addresses, names, 8), 0u);
	CHECK_EQ(gt_jit_map_read("/tmp", geteuid(), any_time, addresses, names, 8), 0u);
}

UNIT_TEST(any_bytes_as_a_map_are_read_or_not)
{
	const uint64_t addresses[] = {1, 0xa, 0xff, 0x1000};
	char text[256], path[512];

	snprintf(path, sizeof path, "%s/map", unit_folder());
	for (int round = 0; round < 2000; round++) {
		char *names[4] = {0};
		size_t bytes = random64() % sizeof text;

		for (size_t i = 0; i < bytes; i++)
			text[i] = round % 2 ? (char)random64()
					    : "0123456789abcdef \n"[random64() % 18];
		write_file(path, text, bytes);
		gt_jit_map_read(path, geteuid(), any_time, addresses, names, 4);
		for (int i = 0; i < 4; i++)
			free(names[i]);
	}
}
