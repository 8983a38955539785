/* SPDX-License-Identifier: MIT */
/* Tracks executable graphs and the number of records that each launch produces. Entries are looked
 * up by graph handle without a lock. The instantiating thread adds an entry, and entries are never
 * removed: if the driver reuses a handle, the handle's entry is rewritten. */
#define _GNU_SOURCE 1
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/cuda/cuda_parts.h"

enum { BUCKETS = 1024, NAMES = 4096, DEPTH_MAX = 16 };
enum { NODE_KERNEL = 0, NODE_COPY = 1, NODE_SET = 2, NODE_GRAPH = 4, NODE_CONDITIONAL = 13 };

static struct graph {
	struct graph *next;
	void *_Atomic exec;
	_Atomic uint32_t number, launches, records;
} * _Atomic buckets[BUCKETS];

/* Graph names, found by object number. A later graph may overwrite an earlier graph's entry. */
static struct {
	_Atomic uint32_t number, name;
} names[NAMES];

struct count {
	uint32_t nodes, kernels, copies, sets;
	bool known; /* false if the device decides how many nodes run */
};

static struct graph *_Atomic *bucket_of(const void *exec)
{
	return &buckets[((uintptr_t)exec * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

static struct graph *find_graph(const void *exec)
{
	struct graph *g = atomic_load_explicit(bucket_of(exec), memory_order_acquire);

	while (g && atomic_load_explicit(&g->exec, memory_order_relaxed) != exec)
		g = g->next;
	return g;
}

static struct graph *add_graph(void *exec)
{
	struct graph *_Atomic *bucket = bucket_of(exec);
	struct graph *g = find_graph(exec);

	if (!g)
		g = gt_arena_take(sizeof *g);
	else
		return g;
	if (!g)
		return NULL;
	atomic_init(&g->exec, exec);
	atomic_init(&g->number, 0);
	atomic_init(&g->launches, 0);
	atomic_init(&g->records, 0);
	g->next = atomic_load(bucket);
	while (!atomic_compare_exchange_weak(bucket, &g->next, g))
		;
	return g;
}

static void count_nodes(void *graph, unsigned depth, struct count *count);

static void count_node(void *node, unsigned depth, struct count *count)
{
	void *child = NULL;
	int type = -1;

	if (GT_CUDA_REAL(cuGraphNodeGetType)(node, (void *)&type)) {
		count->known = false;
		return;
	}
	count->nodes++;
	count->kernels += type == NODE_KERNEL;
	count->copies += type == NODE_COPY;
	count->sets += type == NODE_SET;
	if (type == NODE_CONDITIONAL)
		count->known = false;
	if (type != NODE_GRAPH)
		return;
	if (depth < DEPTH_MAX && GT_CUDA_REAL(cuGraphChildGraphNodeGetGraph) &&
	    !GT_CUDA_REAL(cuGraphChildGraphNodeGetGraph)(node, &child))
		count_nodes(child, depth + 1, count);
	else
		count->known = false;
}

static void count_nodes(void *graph, unsigned depth, struct count *count)
{
	size_t nodes = 0;
	void **list;

	if (!GT_CUDA_REAL(cuGraphGetNodes) || !GT_CUDA_REAL(cuGraphNodeGetType) ||
	    GT_CUDA_REAL(cuGraphGetNodes)(graph, NULL, &nodes)) {
		count->known = false;
		return;
	}
	if (!nodes)
		return;
	list = mmap(NULL, nodes * sizeof *list, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (list == MAP_FAILED || GT_CUDA_REAL(cuGraphGetNodes)(graph, list, &nodes))
		count->known = false;
	for (size_t i = 0; count->known && i < nodes; i++)
		count_node(list[i], depth, count);
	if (list != MAP_FAILED)
		munmap(list, nodes * sizeof *list);
}

static void keep_name(uint32_t number, uint32_t name)
{
	atomic_store(&names[number % NAMES].number, 0);
	atomic_store(&names[number % NAMES].name, name);
	atomic_store(&names[number % NAMES].number, number);
}

uint32_t gt_cuda_graph_name(uint32_t number)
{
	return number && atomic_load(&names[number % NAMES].number) == number
		       ? atomic_load(&names[number % NAMES].name)
		       : 0;
}

/* @c: NULL if the nodes are not known */
static void write_graph(struct gt_thread *t, uint32_t number, void *exec, const struct count *c)
{
	struct gt_text text = {0};
	char name[32];

	snprintf(name, sizeof name, "graph %u", (unsigned)number);
	keep_name(number, gt_string_id(t, name, strlen(name)));
	gt_text_add(&text, "name", name);
	if (c) {
		gt_text_add_number(&text, "nodes", c->nodes);
		gt_text_add_number(&text, "kernels", c->kernels);
		gt_text_add_number(&text, "copies", c->copies);
		gt_text_add_number(&text, "fills", c->sets);
	}
	gt_object_write(t, GT_OBJECT_GRAPH, GT_DOMAIN_CUDA_DRIVER, number, (uintptr_t)exec, 0,
			&text);
}

void gt_cuda_graph_made(void *exec, void *source)
{
	struct gt_thread *t = gt_thread_own();
	struct count count = {.known = true};
	struct graph *g = exec ? add_graph(exec) : NULL;
	uint32_t number;

	if (!g || !t)
		return;
	gt_internal_enter();
	count_nodes(source, 0, &count);
	gt_internal_leave();
	number = (uint32_t)gt_object_number(GT_OBJECT_GRAPH);
	atomic_store(&g->launches, 0);
	atomic_store(&g->records, count.known ? count.kernels + count.copies + count.sets : 0);
	atomic_store(&g->number, number);
	write_graph(t, number, exec, &count);
}

/* Describe a graph without its nodes, which the driver does not list for executable graphs. Two
 * threads may launch the graph for the first time at once. */
void gt_cuda_graph_met(void *exec)
{
	struct gt_thread *t = gt_thread_own();
	struct graph *g = exec ? add_graph(exec) : NULL;
	uint32_t none = 0, number;

	if (!g || !t || atomic_load(&g->number))
		return;
	number = (uint32_t)gt_object_number(GT_OBJECT_GRAPH);
	atomic_store(&g->launches, 0);
	atomic_store(&g->records, 0);
	if (atomic_compare_exchange_strong(&g->number, &none, number))
		write_graph(t, number, exec, NULL);
}

void gt_cuda_graphs_forget(void)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct graph *g = atomic_load_explicit(&buckets[i], memory_order_acquire); g;
		     g = g->next)
			atomic_store(&g->number, 0);
}

void gt_cuda_graph_gone(void *exec)
{
	struct graph *g = find_graph(exec);

	if (g)
		atomic_store(&g->number, 0);
}

void gt_cuda_graph_changed(void *exec)
{
	struct graph *g = find_graph(exec);

	if (g)
		atomic_store(&g->records, 0);
}

uint32_t gt_cuda_graph_launch(void *exec, uint32_t *replay, uint32_t *records)
{
	struct graph *g = find_graph(exec);
	uint32_t number = g ? atomic_load(&g->number) : 0;

	if (!number)
		return 0;
	*replay = atomic_fetch_add(&g->launches, 1) + 1;
	*records = atomic_load(&g->records);
	return number;
}
