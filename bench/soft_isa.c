/* SPDX-License-Identifier: MIT */
/* soft_isa CODE_OBJECT [ROUNDS]: measures the speed of the software GPU's interpreter in CPU time
 * of its single thread, so that other load matters little. Needs no runtime: it loads the code
 * object of soft_isa_kernels.hip into memory as ROCr's loader would, and passes a dispatch of each
 * kernel to soft_isa_run(). Prints the best of some rounds. */
#include <elf.h>
#include <fcntl.h>
#include <hsa/hsa.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure.h"
#include "soft/amdgpu/isa/isa.h"

enum { ITEMS = 65536, GROUP = 256, BYTES = ITEMS * 16 };

static uint8_t *image;
static size_t image_bytes;

static void fail(const char *what)
{
	fprintf(stderr, "soft_isa: %s\n", what);
	exit(1);
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const uint8_t *file;
	const Elf64_Ehdr *head;
	const Elf64_Phdr *part;

	if (fd < 0 || fstat(fd, &st))
		fail(path);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED || memcmp(file, ELFMAG, SELFMAG))
		fail("no code object");
	head = (const void *)file;
	part = (const void *)(file + head->e_phoff);
	for (int i = 0; i < head->e_phnum; i++)
		if (part[i].p_type == PT_LOAD && part[i].p_vaddr + part[i].p_memsz > image_bytes)
			image_bytes = part[i].p_vaddr + part[i].p_memsz;
	image = mmap(NULL, image_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image == MAP_FAILED)
		fail("no memory");
	for (int i = 0; i < head->e_phnum; i++)
		if (part[i].p_type == PT_LOAD)
			memcpy(image + part[i].p_vaddr, file + part[i].p_offset, part[i].p_filesz);
}

/* Return the descriptor of @name, found through the dynamic symbols in the image. */
static uint64_t kernel_object(const char *name)
{
	const Elf64_Ehdr *head = (const void *)image;
	const Elf64_Phdr *part = (const void *)(image + head->e_phoff);
	const Elf64_Dyn *d = NULL;
	const Elf64_Sym *symbols = NULL;
	const char *names = NULL;
	const uint32_t *hash = NULL;
	char wanted[64];

	snprintf(wanted, sizeof wanted, "%s.kd", name);
	for (int i = 0; i < head->e_phnum; i++)
		if (part[i].p_type == PT_DYNAMIC)
			d = (const void *)(image + part[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		const uint8_t *at = image + d->d_un.d_ptr;

		if (d->d_tag == DT_SYMTAB)
			symbols = (const void *)at;
		else if (d->d_tag == DT_STRTAB)
			names = (const void *)at;
		else if (d->d_tag == DT_HASH)
			hash = (const void *)at;
	}
	for (uint32_t i = 0; symbols && names && hash && i < hash[1]; i++)
		if (!strcmp(names + symbols[i].st_name, wanted))
			return (uint64_t)(image + symbols[i].st_value);
	fail(wanted);
	return 0;
}

static double thread_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t no_clock(void *data)
{
	(void)data;
	return 0;
}

static void no_interrupt(void *data, uint32_t m0)
{
	(void)data, (void)m0;
}

/* Run one kernel: a warm-up round and @rounds measured rounds. Return the instructions per second
 * of the fastest round. */
static double measure(struct soft_isa *isa, const char *name, int rounds, size_t copied)
{
	static uint8_t in[2][BYTES] __attribute__((aligned(64))),
		out[BYTES] __attribute__((aligned(64)));
	struct {
		const void *a, *b;
		void *c;
		int n;
		uint64_t hidden[8];
	} arguments = {in[0], in[1], out, ITEMS, {0}};
	hsa_kernel_dispatch_packet_t packet = {
		.setup = 1,
		.workgroup_size_x = GROUP,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = ITEMS,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.kernel_object = kernel_object(name),
		.kernarg_address = &arguments,
	};
	struct soft_dispatch dispatch = {
		.packet = &packet,
		.packet_address = (uint64_t)&packet,
		.code_base = (uint64_t)image,
		.code_bytes = image_bytes,
	};
	struct soft_isa_error error;
	double best = 1e9;
	uint64_t instructions = 0;
	char key[64];

	for (int i = 0; i <= rounds; i++) {
		struct soft_isa_stats before, after;
		double start;

		if (soft_isa_run(isa, &dispatch, &error, &before) != SOFT_ISA_DONE)
			fail(error.text);
		start = thread_seconds();
		if (soft_isa_run(isa, &dispatch, &error, &after) != SOFT_ISA_DONE)
			fail(error.text);
		start = thread_seconds() - start;
		best = i && start < best ? start : best;
		instructions = after.instructions - before.instructions;
	}
	snprintf(key, sizeof key, "isa_%s", name);
	bench_print(key, (double)instructions / best / 1e6, "M/s");
	if (copied) {
		snprintf(key, sizeof key, "isa_%s_bytes", name);
		bench_print(key, (double)copied / best / 1e9, "GB/s");
	}
	return (double)instructions / best;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		size_t copied;
	} kernels[] = {
		{"add", 0},
		{"polynomial", 0},
		{"hash", 0},
		{"reduce", 0},
		{"matmul", 0},
		{"copy_words", 4 * ITEMS},
		{"copy_bytes", ITEMS},
		{"copy_quads", 16 * ITEMS},
	};
	const int count = sizeof kernels / sizeof *kernels;
	struct soft_isa_gpu gpu = {
		.gfx = 0x906,
		.compute_units = 60,
		.lds_aperture = 1ull << 48,
		.private_aperture = 2ull << 48,
		.read_clock = no_clock,
		.read_cycles = no_clock,
		.interrupt = no_interrupt,
	};
	struct soft_isa *isa = soft_isa_create(&gpu);
	double seconds = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: soft_isa CODE_OBJECT [ROUNDS]\n");
		return 2;
	}
	if (!isa)
		fail("no interpreter");
	load(argv[1]);
	for (int i = 0; i < count; i++)
		seconds += 1 / measure(isa, kernels[i].name, argc > 2 ? atoi(argv[2]) : 10,
				       kernels[i].copied);
	/* the overall rate if each kind had the same number of instructions */
	bench_print("isa", count / seconds / 1e6, "M/s");
	soft_isa_destroy(isa);
	return 0;
}
