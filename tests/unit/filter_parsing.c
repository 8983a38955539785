/* SPDX-License-Identifier: MIT */
/* analysis/query/filter.h: parsing releases everything, also if memory runs out. The address
 * sanitizer finds leaks. tests/test_cli_selection.py checks what expressions select. */
#include "analysis/query/filter.h"

#include "failing_memory.h"

struct parsing {
	const char *expression;
	struct filter *filter;
	struct filter_error error;
};

static int parse(void *data)
{
	struct parsing *p = data;

	p->filter = filter_create(p->expression, NULL, NULL, &p->error);
	return 0;
}

static void release(void *data)
{
	struct parsing *p = data;

	filter_destroy(p->filter);
	p->filter = NULL;
}

UNIT_TEST(each_allocation_may_fail)
{
	struct parsing p = {.expression =
				    "not (name ~ '^gemm' or kind=memcpy and duration > 10us) and "
				    "range=step#3..5 or at=step#3..step#4 or failed"};

	CHECK_GT(fail_each_allocation(parse, release, &p), 10);
	parse(&p);
	CHECK_NOT_NULL(p.filter);
	CHECK_EQ(filter_occurrence_count(p.filter), 3);
	release(&p);
}

UNIT_TEST(wrong_expressions_are_released)
{
	static const char *const wrong[] = {
		"",
		"name",
		"name=a or",
		"name=a and (name=b or name=c",
		"not (name=a or name ~ '(')",
		"name=a or kind=nothing",
		"range=step#5..3 or name=a",
		"at=x",
		"name=a name=b",
	};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct parsing p = {.expression = wrong[i]};

		fail_each_allocation(parse, release, &p);
		CHECK_NULL(p.filter);
		CHECK(*p.error.text);
	}
}
