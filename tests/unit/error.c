/* SPDX-License-Identifier: MIT */
/* util/error.h: chains of causes. */
#include "util/error.h"

#include <errno.h>

#include "unit.h"

UNIT_TEST(error_chain_reads_from_the_outermost_cause_to_the_errno_text)
{
	CHECK_EQ(gt_error(-ENOENT, "open %s", "a.gputap"), -ENOENT);
	CHECK_EQ(gt_error(-ENOENT, "cannot read the capture"), -ENOENT);
	CHECK_STR(gt_error_text(),
		  "cannot read the capture: open a.gputap: No such file or directory");
}

UNIT_TEST(error_without_errno_is_einval_and_has_no_errno_text)
{
	CHECK_EQ(gt_error(0, "not a capture"), -EINVAL);
	CHECK_STR(gt_error_text(), "not a capture");
}

UNIT_TEST(error_chain_is_empty_after_clear)
{
	gt_error(-EIO, "read");
	gt_error_clear();
	CHECK_STR(gt_error_text(), "");
}

UNIT_TEST(error_chain_survives_causes_longer_than_its_buffer)
{
	char path[4096];

	memset(path, 'a', sizeof path);
	path[sizeof path - 1] = '\0';
	for (int i = 0; i < 10; i++)
		gt_error(-EIO, "open %s", path);
	CHECK_LT(strlen(gt_error_text()), sizeof path);
	CHECK_MEM(gt_error_text(), "open aaa", 8);
}

UNIT_TEST(causes_have_no_control_characters)
{
	gt_error(0, "no %s here",
		 "\033]0;x\007a\nb\x7f\xc2\x9b"
		 "c\xc3\xa9");
	CHECK_STR(gt_error_text(), "no ?]0;x?a?b???c\xc3\xa9 here");
}
