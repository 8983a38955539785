/* SPDX-License-Identifier: MIT */
/* Provides a table for subscribers of raw tables (gputap_table_subscribe()) if HIP has none, which
 * is the case before ROCm 6. HIP is then interposed.
 *
 *   program ─► front ─► table[number] ─► subscriber's function ─► tap ─► the library's function
 *
 * The table has the layout of ROCm 7.2's HipDispatchTable and HipCompilerDispatchTable, with its
 * size first, and contains the taps. Once subscribers have inserted their functions, fronts replace
 * the taps in all bindings. A front jumps to the function in its table entry. The table is never
 * freed and is read in each call, like the runtime's own table. Without a subscriber, neither table
 * nor fronts are used.
 *
 * Functions of ROCm 7.2 that the library lacks return hipErrorNotSupported. */
#include <stdbool.h>
#include <stddef.h>

#include "core/recording.h"
#include "core/subscriber.h"
#include "runtime/hip/hip_attach.h"
#include "generated/hip_compiler_taps.h"
#include "generated/hip_taps.h"
#include "runtime/interposition.h"
#include "runtime/mapped.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

#define HIP_ENTRIES      506
#define COMPILER_ENTRIES 9
enum { ERROR_NOT_SUPPORTED = 801 };

extern const struct gt_attach gputap_attach_hip, gputap_attach_hip_compiler;

/* Not static, because the assembler below uses the tables. */
HIDDEN struct {
	uint64_t size;
	void *entries[HIP_ENTRIES];
} gt_hip_front_tables[GT_INSTANCES];
HIDDEN struct {
	uint64_t size;
	void *entries[COMPILER_ENTRIES];
} gt_hip_compiler_front_tables[GT_INSTANCES];

/* Fronts: one jump for each entry of each instance's table, FRONT_BYTES apart, in the order of the
 * tables. */
extern char gt_hip_fronts[], gt_hip_compiler_fronts[];
#define TEXT_(a) #a
#define TEXT(a)  TEXT_(a)
#if defined(__x86_64__)
enum { FRONT_BYTES = 8 };
#define JUMP(table) "	jmp *" table " + at(%rip)\n	.p2align 3\n"
#elif defined(__aarch64__)
enum { FRONT_BYTES = 16 };
#define JUMP(table)                                                          \
	"	adrp x16, " table " + at\n	ldr x16, [x16, :lo12:" table \
	" + at]\n	br x16\n	.p2align 4\n"
#endif
#define FRONTS(fronts, table, entries)                                              \
	__asm__(".text\n"                                                           \
		"	.p2align 6\n"                                                     \
		"	.globl " fronts "\n"                                        \
		"	.hidden " fronts "\n" fronts ":\n"                          \
		"	.set at, 0\n"                                                     \
		"	.rept "                                                           \
		"8"                                                                 \
		"\n"                                                                \
		"	.set at, at + 8\n" /* skip the size */                      \
		"	.rept " TEXT(entries) "\n" JUMP(table) "	.set at, at + 8\n" \
							       "	.endr\n"           \
							       "	.endr\n")
static_assert(GT_INSTANCES == 8, "the assembler code above uses this number");
FRONTS("gt_hip_fronts", "gt_hip_front_tables", HIP_ENTRIES);
FRONTS("gt_hip_compiler_fronts", "gt_hip_compiler_front_tables", COMPILER_ENTRIES);

/* One of HIP's two tables. */
struct front {
	const struct gt_attach *attach;
	struct gt_table *tables;
	char *fronts, *made; /* fronts and tables of all instances, in sequence */
	uint32_t entries;
	bool done[GT_INSTANCES];
};
static struct front fronts[2] = {
	{&gputap_attach_hip,
	 gt_hip_tables,
	 gt_hip_fronts,
	 (char *)gt_hip_front_tables,
	 HIP_ENTRIES,
	 {false}},
	{&gputap_attach_hip_compiler,
	 gt_hip_compiler_tables,
	 gt_hip_compiler_fronts,
	 (char *)gt_hip_compiler_front_tables,
	 COMPILER_ENTRIES,
	 {false}},
};

static size_t bytes_of(const struct front *f)
{
	return (1 + f->entries) * sizeof(void *);
}

static void *made_for(const struct front *f, uint32_t instance)
{
	return f->made + instance * bytes_of(f);
}

static int not_supported(void)
{
	return ERROR_NOT_SUPPORTED;
}

static void *front_of(const struct front *f, uint32_t instance, uint32_t index)
{
	uint32_t offset = f->tables[instance].operations[index].table_offset;

	if (offset == UINT32_MAX)
		return NULL;
	return f->fronts + (instance * f->entries + offset / sizeof(void *) - 1) * FRONT_BYTES;
}

static void *hip_front(uint32_t instance, uint32_t index)
{
	return front_of(&fronts[0], instance, index);
}

static void *compiler_front(uint32_t instance, uint32_t index)
{
	return front_of(&fronts[1], instance, index);
}

/* Return an operation's initial table entry. */
static void *entry_of(const struct gt_table *table, uint32_t index)
{
	/* the R0000 names were introduced with the tables; earlier releases have only the old
	 * structs of device properties */
	if (!table->taps[index].real && table->domain == GT_DOMAIN_HIP) {
		if (index == GT_HIP_INDEX_hipGetDevicePropertiesR0000)
			index = GT_HIP_INDEX_hipGetDeviceProperties;
		else if (index == GT_HIP_INDEX_hipChooseDeviceR0000)
			index = GT_HIP_INDEX_hipChooseDevice;
	}
	return table->taps[index].real ? gt_table_tap(table, index)
				       : (void *)(uintptr_t)not_supported;
}

/* Return true if the instance has any function of the table. libhiprtc's functions are not in the
 * table. */
static bool has_entries(const struct gt_table *table)
{
	for (uint32_t i = 0; i < table->operation_count; i++)
		if (table->operations[i].table_offset != UINT32_MAX && table->taps[i].real)
			return true;
	return false;
}

static void make_front(struct front *f, uint32_t instance)
{
	const struct gt_table *table = &f->tables[instance];
	char *made = made_for(f, instance);

	*(uint64_t *)(void *)made = bytes_of(f);
	for (uint32_t i = 0; i < table->operation_count; i++)
		if (table->operations[i].table_offset != UINT32_MAX)
			*(void **)(void *)(made + table->operations[i].table_offset) =
				entry_of(table, i);
}

/* Offer new interposed tables to the subscribers of raw tables. Calls tools, so the caller must not
 * hold a lock. */
static void offer_tables(void)
{
	if (!gt_subscribers_there() || atomic_load(&gt_recording.pending))
		return;
	for (unsigned d = 0; d < 2; d++)
		for (uint32_t i = 0; i < GT_INSTANCES; i++) {
			struct front *f = &fronts[d];
			const struct gt_attach_state *states =
				GT_ATTACH_AT(f->attach, f->attach->states);

			if (atomic_load(&states[i].state) != GT_ATTACH_ARMED ||
			    !atomic_load(&states[i].adopted)) {
				/* the library was closed, and possibly opened again */
				__atomic_store_n(&f->done[i], false, __ATOMIC_RELEASE);
				continue;
			}
			if (!has_entries(&f->tables[i]))
				continue;
			if (__atomic_exchange_n(&f->done[i], true, __ATOMIC_ACQ_REL))
				continue;
			make_front(f, i);
			gt_subscribers_call(&f->tables[i], made_for(f, i), bytes_of(f));
			gt_mapped_redirect(f->attach, i, d ? compiler_front : hip_front);
		}
}

__attribute__((constructor)) static void follow_mapped(void)
{
	gt_mapped_follow(offer_tables);
}

void *gt_hip_front(uint32_t instance, uint32_t index)
{
	return __atomic_load_n(&fronts[0].done[instance], __ATOMIC_ACQUIRE)
		       ? hip_front(instance, index)
		       : NULL;
}
