/* SPDX-License-Identifier: MIT */
/* Reads the details of a node of the driver's topology: memory banks, caches, and links to other
 * nodes. Their source is the driver's files,
 *     mem_banks/0/properties    "heap_type 1\nsize_in_bytes 8589934592\n.."
 * or the driver's library. The node's properties contain the numbers of banks, caches and links.
 * The allocated memory is never freed, like that of the agents. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk.h"

enum { MOST = 1024 };

static void *allocate_array(uint32_t *count, size_t bytes)
{
	void *all;

	if (*count > MOST)
		*count = MOST;
	all = *count ? calloc(*count, bytes) : NULL;
	if (!all)
		*count = 0;
	return all;
}

/* Files ------------------------------------------------------------------------------ */

struct node_property {
	const char *name;
	uint32_t offset, bytes;
};
#define BANK(text, member)                                                \
	{                                                                 \
		text, offsetof(rocprofiler_agent_mem_bank_t, member),     \
			sizeof((rocprofiler_agent_mem_bank_t *)0)->member \
	}
#define CACHE(text, member)                                            \
	{                                                              \
		text, offsetof(rocprofiler_agent_cache_t, member),     \
			sizeof((rocprofiler_agent_cache_t *)0)->member \
	}
#define LINK(text, member)                                               \
	{                                                                \
		text, offsetof(rocprofiler_agent_io_link_t, member),     \
			sizeof((rocprofiler_agent_io_link_t *)0)->member \
	}

static const struct node_property of_bank[] = {
	BANK("heap_type", heap_type), BANK("size_in_bytes", size_in_bytes), BANK("flags", flags),
	BANK("width", width),         BANK("mem_clk_max", mem_clk_max),     {NULL, 0, 0}};
static const struct node_property of_cache[] = {CACHE("processor_id_low", processor_id_low),
						CACHE("level", level),
						CACHE("size", size),
						CACHE("cache_line_size", cache_line_size),
						CACHE("cache_lines_per_tag", cache_lines_per_tag),
						CACHE("association", association),
						CACHE("latency", latency),
						CACHE("type", type),
						{NULL, 0, 0}};
static const struct node_property of_link[] = {LINK("type", type),
					       LINK("version_major", version_major),
					       LINK("version_minor", version_minor),
					       LINK("node_from", node_from),
					       LINK("node_to", node_to),
					       LINK("weight", weight),
					       LINK("min_latency", min_latency),
					       LINK("max_latency", max_latency),
					       LINK("min_bandwidth", min_bandwidth),
					       LINK("max_bandwidth", max_bandwidth),
					       LINK("recommended_transfer_size",
						    recommended_transfer_size),
					       LINK("flags", flags),
					       {NULL, 0, 0}};

static void read_properties(const char *path, const struct node_property *properties, char *to)
{
	FILE *f = fopen(path, "re");
	unsigned long long value;
	char name[64];

	while (f && fscanf(f, "%63s %llu", name, &value) == 2)
		for (const struct node_property *p = properties; p->name; p++) {
			const uint32_t word = (uint32_t)value;

			if (!strcmp(name, p->name))
				memcpy(to + p->offset,
				       p->bytes == 8 ? (const void *)&value : (const void *)&word,
				       p->bytes);
		}
	if (f)
		fclose(f);
}

static void *read_all(const char *node, const char *what, uint32_t *count,
		      const struct node_property *properties, size_t bytes)
{
	char path[512], *all = allocate_array(count, bytes);

	for (uint32_t i = 0; i < *count; i++) {
		snprintf(path, sizeof path, "%s/%s/%u/properties", node, what, i);
		read_properties(path, properties, all + i * bytes);
	}
	return all;
}

static const char *read_line(const char *node, const char *what)
{
	char path[512], text[128] = "";
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", node, what);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof text, f))
		text[0] = '\0';
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return strdup(text);
}

void sdk_node_files(const char *node, rocprofiler_agent_v0_t *i)
{
	const char *id = read_line(node, "gpu_id"), *model = read_line(node, "name");

	i->gpu_id = id ? strtoull(id, NULL, 10) : 0;
	free((void *)(uintptr_t)id);
	if (model)
		i->model_name = model;
	i->mem_banks =
		read_all(node, "mem_banks", &i->mem_banks_count, of_bank, sizeof *i->mem_banks);
	i->caches = read_all(node, "caches", &i->caches_count, of_cache, sizeof *i->caches);
	i->io_links = read_all(node, "io_links", &i->io_links_count, of_link, sizeof *i->io_links);
}

/* The driver's library ------------------------------------------------------------------ */

/* The library's ABI; members are aligned to 4. */
struct __attribute__((packed, aligned(4))) thunk_bank {
	uint32_t heap_type;
	uint64_t bytes;
	uint32_t flags, width, clock;
	uint64_t base;
};
struct thunk_cache {
	uint32_t processor, level, size, line, lines_per_tag, associativity, latency, type;
	uint32_t siblings[256];
};
struct thunk_link {
	uint32_t type, major, minor, from, to, weight, min_latency, max_latency, min_bandwidth,
		max_bandwidth, transfer, flags;
};
_Static_assert(sizeof(struct thunk_bank) == 32 && sizeof(struct thunk_cache) == 1056 &&
		       sizeof(struct thunk_link) == 48,
	       "its ABI");

static void take_banks(void *library, uint32_t node, rocprofiler_agent_v0_t *i)
{
	int (*get)(uint32_t, uint32_t, struct thunk_bank *);
	struct thunk_bank *from = allocate_array(&i->mem_banks_count, sizeof *from);
	rocprofiler_agent_mem_bank_t *to = allocate_array(&i->mem_banks_count, sizeof *to);

	*(void **)&get = dlsym(library, "hsaKmtGetNodeMemoryProperties");
	if (!get || !from || !to || get(node, i->mem_banks_count, from) != 0)
		i->mem_banks_count = 0;
	for (uint32_t k = 0; k < i->mem_banks_count; k++) {
		memcpy(&to[k].heap_type, &from[k].heap_type, sizeof from[k].heap_type);
		memcpy(&to[k].flags, &from[k].flags, sizeof from[k].flags);
		to[k].width = from[k].width;
		to[k].mem_clk_max = from[k].clock;
		to[k].size_in_bytes = from[k].bytes;
	}
	free(from);
	i->mem_banks = to;
}

static void take_caches(void *library, uint32_t node, uint32_t processor, rocprofiler_agent_v0_t *i)
{
	int (*get)(uint32_t, uint32_t, uint32_t, struct thunk_cache *);
	struct thunk_cache *from = allocate_array(&i->caches_count, sizeof *from);
	rocprofiler_agent_cache_t *to = allocate_array(&i->caches_count, sizeof *to);

	*(void **)&get = dlsym(library, "hsaKmtGetNodeCacheProperties");
	if (!get || !from || !to || get(node, processor, i->caches_count, from) != 0)
		i->caches_count = 0;
	for (uint32_t k = 0; k < i->caches_count; k++) {
		to[k].processor_id_low = from[k].processor;
		to[k].size = from[k].size;
		to[k].level = from[k].level;
		to[k].cache_line_size = from[k].line;
		to[k].cache_lines_per_tag = from[k].lines_per_tag;
		to[k].association = from[k].associativity;
		to[k].latency = from[k].latency;
		memcpy(&to[k].type, &from[k].type, sizeof from[k].type);
	}
	free(from);
	i->caches = to;
}

static void take_links(void *library, uint32_t node, rocprofiler_agent_v0_t *i)
{
	int (*get)(uint32_t, uint32_t, struct thunk_link *);
	rocprofiler_agent_io_link_t *to = allocate_array(&i->io_links_count, sizeof *to);

	_Static_assert(sizeof *to == sizeof(struct thunk_link),
		       "both structs have the same layout");
	*(void **)&get = dlsym(library, "hsaKmtGetNodeIoLinkProperties");
	if (!get || !to || get(node, i->io_links_count, (struct thunk_link *)(void *)to) != 0)
		i->io_links_count = 0;
	i->io_links = to;
}

void sdk_node_thunk(void *library, uint32_t node, uint32_t processor, rocprofiler_agent_v0_t *i)
{
	take_banks(library, node, i);
	take_caches(library, node, processor, i);
	take_links(library, node, i);
}
