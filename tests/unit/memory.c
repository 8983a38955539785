/* SPDX-License-Identifier: MIT */
/* Memory that a process may still allocate, according to control groups, which are folders created
 * by the test; and the initial memory of processes. */
#include "collector/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

#define MIB UINT64_C(1048576)

static char root[] = "/tmp/gputap-cgroup-XXXXXX";

static void begin(void)
{
	CHECK(mkdtemp(root) != NULL);
}

static void end(void)
{
	char command[64 + sizeof root];

	snprintf(command, sizeof command, "rm -r '%s'", root);
	CHECK_EQ(system(command), 0);
}

/* Write a file in the folder @group. */
static void put(const char *group, const char *name, const char *text)
{
	char path[512], *slash = path + sizeof root;
	FILE *f;

	snprintf(path, sizeof path, "%s%s/%s", root, group, name);
	while ((slash = strchr(slash, '/'))) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash++ = '/';
	}
	f = fopen(path, "w");
	CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
}

UNIT_TEST(without_groups_there_is_no_limit)
{
	begin();
	CHECK_EQ(gt_memory_left("", root), UINT64_MAX);
	CHECK_EQ(gt_memory_left("0::/a/b\n", root), UINT64_MAX);
	end();
}

UNIT_TEST(the_nearest_limit_of_all_groups_above_holds)
{
	begin();
	put("/a/b", "memory.max", "104857600\n");
	put("/a/b", "memory.current", "20971520\n");
	put("/a", "memory.max", "83886080\n");
	put("/a", "memory.current", "52428800\n");
	put("", "memory.max", "max\n");
	CHECK_EQ(gt_memory_left("0::/a/b\n", root), 30 * MIB);
	end();
}

UNIT_TEST(memory_high_is_a_limit_too_and_page_cache_is_free)
{
	begin();
	put("/a", "memory.max", "104857600\n");
	put("/a", "memory.high", "62914560\n");
	put("/a", "memory.current", "52428800\n");
	put("/a", "memory.stat", "anon 1\ninactive_file 10485760\nactive_file 20971520\n");
	CHECK_EQ(gt_memory_left("0::/a\n", root), 40 * MIB);
	put("/a", "memory.current", "524288000\n");
	CHECK_EQ(gt_memory_left("0::/a\n", root), 0);
	end();
}

UNIT_TEST(groups_of_the_first_version_are_read)
{
	begin();
	put("/memory/a", "memory.limit_in_bytes", "157286400\n");
	put("/memory/a", "memory.usage_in_bytes", "52428800\n");
	put("/memory/a", "memory.stat",
	    "inactive_file 9\ntotal_inactive_file 1048576\ntotal_active_file 0\n");
	put("/memory", "memory.limit_in_bytes", "9223372036854771712\n");
	CHECK_EQ(gt_memory_left("9:name=systemd:/x\n4:memory:/a\n0::/\n", root), 101 * MIB);
	end();
}

UNIT_TEST(in_a_container_what_is_mounted_counts)
{
	begin();
	put("/memory", "memory.limit_in_bytes", "157286400\n");
	put("/memory", "memory.usage_in_bytes", "52428800\n");
	CHECK_EQ(gt_memory_left("4:memory:/docker/0123\n", root), 100 * MIB);
	end();
}

UNIT_TEST(processes_begin_with_all_blocks_only_where_memory_is_ample)
{
	CHECK_EQ(gt_memory_start_blocks(UINT64_MAX, 256 * MIB, 65536), 0);
	CHECK_EQ(gt_memory_start_blocks(64 * 256 * MIB, 256 * MIB, 65536), 0);
	CHECK_EQ(gt_memory_start_blocks(128 * MIB, 256 * MIB, 65536), 32);
	CHECK_EQ(gt_memory_start_blocks(0, 256 * MIB, 65536), 4);
}
