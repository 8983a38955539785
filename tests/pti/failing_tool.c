/* SPDX-License-Identifier: MIT */
/* A gputap tool whose start fails. */
#include <errno.h>
#include <gputap/tool.h>

static int fail(void *user)
{
	(void)user;
	return -EIO;
}

static const struct gputap_tool tool = {.size = sizeof tool,
					.abi = GPUTAP_TOOL_ABI,
					.name = "failing",
					.start = fail};

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	(void)version;
	return &tool;
}
