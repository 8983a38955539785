/* SPDX-License-Identifier: MIT */
/* Registration of tables: see table.h. Runs inside a runtime's initialisation, once for each table,
 * so taking a lock is acceptable.
 *
 * gt_table_register(), for a table that a runtime offers:
 *   1. The table is entered into gt_tables (release), so that contexts that change from now on find
 *      it.
 *   2. Each tap gets the real function. For requested operations, the runtime's table gets the tap.
 *      Other threads may call the tap at once: without services it makes only the real call.
 *   3. gt_contexts_apply() gives the taps the services that started contexts request.
 *   4. Without the lock: record in the segment that the runtime was seen, and in the capture if the
 *      table is longer or shorter than described; pass the table to tools.
 * Steps 1 to 3 hold gt_core_lock(). For a table of an interposed library, gt_table_adopt(), step 2
 * was done when the table was armed (runtime/arm.h).
 *
 * gt_table_extension(), for a function that the program looks up, returns the tap of the first
 * instance whose tap has no real function yet, or has this real function. */
#include "core/table.h"

#include <errno.h>
#include <string.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/recording.h"
#include "core/subscriber.h"
#include "record/operation.h"

static bool in_table(const struct gt_operation *op, size_t bytes)
{
	return op->table_offset != UINT32_MAX && op->table_offset + sizeof(void *) <= bytes;
}

static size_t known_bytes(const struct gt_table *table)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < table->operation_count; i++)
		if (table->operations[i].table_offset != UINT32_MAX &&
		    table->operations[i].table_offset + sizeof(void *) > bytes)
			bytes = table->operations[i].table_offset + sizeof(void *);
	return bytes;
}

/* Add the table to the registered tables. Called with the lock held. */
static int enter_table(struct gt_table *table)
{
	int free = -1;

	for (int i = GT_TABLES_MAX; i-- > 0;) {
		struct gt_table *t = atomic_load_explicit(&gt_tables[i], memory_order_relaxed);

		if (t == table)
			return -EALREADY;
		if (!t)
			free = i;
	}
	if (free < 0)
		return -ENOSPC;
	atomic_store_explicit(&gt_tables[free], table, memory_order_release);
	return 0;
}

static void seen_in_segment(enum gt_domain domain)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	if (r)
		atomic_fetch_or_explicit(&r->runtimes_seen, GT_DOMAIN_BIT(domain),
					 memory_order_relaxed);
}

int gt_table_register(struct gt_table *table, const void *const *target, size_t bytes, void **out)
{
	size_t known = known_bytes(table);
	int rc;

	if (!target || !out || bytes < sizeof(void *))
		return -EINVAL;
	if ((const void *)out != (const void *)target)
		memcpy(out, target, bytes);
	gt_recording_init();
	gt_core_lock();
	rc = enter_table(table);
	if (rc == 0) {
		for (uint32_t i = 0; i < table->operation_count; i++) {
			const struct gt_operation *op = &table->operations[i];
			size_t entry = op->table_offset / sizeof(void *);

			if (!in_table(op, bytes) || !target[entry])
				continue;
			table->taps[i].real = (void *)(uintptr_t)target[entry];
			table->taps[i].left_out = !gt_contexts_ask(op);
			if (!table->taps[i].left_out) /* the program may be reading the table */
				__atomic_store_n(&out[entry], gt_table_tap(table, i),
						 __ATOMIC_RELEASE);
		}
		gt_contexts_apply(table);
	}
	gt_core_unlock();
	if (rc)
		return rc;
	seen_in_segment(table->domain);
	if (bytes > known || bytes < (table->least ? table->least : known))
		gt_event_write(gt_thread_own(), GT_EVENT_TABLE, table->domain,
			       bytes / sizeof(void *), table->name);
	gt_subscribers_call(table, out, bytes);
	return 0;
}

void gt_table_extend(struct gt_table *table, void **out)
{
	gt_core_lock();
	for (uint32_t i = 0; i < table->operation_count; i++) {
		const struct gt_operation *op = &table->operations[i];
		void *real = table->taps[i].real;

		if (!real || !table->taps[i].left_out || !gt_contexts_ask(op))
			continue;
		/* fails if a tool has put its function there, which then stays the only one */
		if (__atomic_compare_exchange_n(&out[op->table_offset / sizeof(void *)], &real,
						gt_table_tap(table, i), false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			table->taps[i].left_out = false;
	}
	gt_contexts_apply(table);
	gt_core_unlock();
	seen_in_segment(table->domain);
}

/* Return the operation at that offset in the table, or NULL. Offsets increase with operation
 * numbers. */
static const struct gt_operation *find_at(const struct gt_table *table, size_t offset)
{
	uint32_t low = 0, high = table->operation_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (table->operations[middle].table_offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->operation_count && table->operations[low].table_offset == offset
		       ? &table->operations[low]
		       : NULL;
}

bool gt_table_has(const struct gt_table *table, uint32_t number)
{
	return find_at(table, number * sizeof(void *)) != NULL;
}

void gt_table_part(struct gt_table *table, uint32_t first, uint32_t count, void **entries, bool all)
{
	int rc;

	gt_recording_init();
	gt_core_lock();
	rc = enter_table(table);
	for (uint32_t i = 0; i < count && (rc == 0 || rc == -EALREADY); i++) {
		const struct gt_operation *op =
			entries[i] ? find_at(table, (first + i) * sizeof(void *)) : NULL;
		uint32_t index;

		if (!op)
			continue;
		index = (uint32_t)(op - table->operations);
		table->taps[index].real = entries[i];
		if (all || gt_contexts_ask(op))
			entries[i] = gt_table_tap(table, index);
	}
	if (rc == 0 || rc == -EALREADY)
		gt_contexts_apply(table);
	gt_core_unlock();
	seen_in_segment(table->domain);
}

void gt_table_set(struct gt_table *table, uint32_t index, void *real)
{
	gt_core_lock();
	table->taps[index].real = real;
	gt_contexts_apply(table);
	gt_core_unlock();
}

void gt_table_unregister(struct gt_table *table)
{
	gt_core_lock();
	for (int i = 0; i < GT_TABLES_MAX; i++)
		if (atomic_load_explicit(&gt_tables[i], memory_order_relaxed) == table)
			atomic_store_explicit(&gt_tables[i], NULL, memory_order_relaxed);
	gt_core_unlock();
}

int gt_table_adopt(struct gt_table *table)
{
	int rc;

	gt_recording_init();
	gt_core_lock();
	rc = enter_table(table);
	if (rc == -EALREADY)
		rc = 0;
	if (rc == 0)
		gt_contexts_apply(table);
	gt_core_unlock();
	if (rc == 0)
		seen_in_segment(table->domain);
	return rc;
}

static const struct gt_operation *find_operation(const struct gt_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->operation_count; i++)
		if (strcmp(gt_operation_text(table->operations[i].op), name) == 0)
			return &table->operations[i];
	return NULL;
}

void *gt_table_extension(struct gt_table *const *tables, size_t count, const char *name, void *real,
			 bool *unknown)
{
	const struct gt_operation *op = find_operation(tables[0], name);
	uint32_t index;
	void *tap = real;

	*unknown = op == NULL;
	if (!op || !real)
		return real;
	index = (uint32_t)(op - tables[0]->operations);
	gt_core_lock();
	if (gt_contexts_ask(op)) {
		for (size_t i = 0; i < count; i++) {
			void **slot = &tables[i]->taps[index].real;
			void *function = gt_table_tap(tables[i], index);

			/* a loader returned gputap's own tap, which is in a registered table */
			if (function == real)
				break;
			if (*slot && *slot != real)
				continue;
			*slot = real;
			tap = function;
			enter_table(tables[i]); /* no effect if already registered */
			gt_contexts_apply(tables[i]);
			break;
		}
	}
	gt_core_unlock();
	return tap;
}
