/* SPDX-License-Identifier: MIT */
#include "cli/awaited.h"

struct row {
	uint64_t handle, at;
	uint64_t number; /* of the call that gave the event, or of the wait */
	uint32_t process, is_wait;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->handle != y->handle)
		return x->handle < y->handle ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->is_wait != y->is_wait)
		return x->is_wait < y->is_wait ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

void awaited_init(struct awaited *a)
{
	*a = (struct awaited){.rows = {.row_bytes = sizeof(struct row), .compare = compare_rows}};
}

void awaited_add_event(struct awaited *a, uint32_t process, uint64_t handle, uint64_t at,
		       uint64_t id)
{
	struct row row = {.handle = handle, .at = at, .number = id, .process = process};

	spill_add(&a->rows, &row);
}

void awaited_add_wait(struct awaited *a, uint32_t process, uint64_t handle, uint64_t at,
		      uint64_t wait)
{
	struct row row = {
		.handle = handle, .at = at, .number = wait, .process = process, .is_wait = true};

	a->any = true;
	spill_add(&a->rows, &row);
}

int awaited_find(struct awaited *a,
		 void (*found)(void *to, uint64_t wait, uint32_t process, uint64_t id), void *to)
{
	struct row given = {.number = 0};
	const void *next;
	int rc = 0;

	while (a->any && (rc = spill_next(&a->rows, &next)) > 0) {
		const struct row *row = next;
		bool same = row->process == given.process && row->handle == given.handle;

		if (row->is_wait)
			found(to, row->number, row->process, same ? given.number : 0);
		else
			given = *row;
	}
	return rc;
}

void awaited_fini(struct awaited *a)
{
	spill_fini(&a->rows);
}
