/* SPDX-License-Identifier: MIT */
/* Queries a graph's nodes from the runtime when the program instantiates the graph, and computes
 * the order in which HIP will submit them.
 *
 * Ordinals. A node's ordinal is its position in the order of creation (of capture, for captured
 * streams), from 0. The nodes of a child graph are counted directly after the node that contains
 * the graph. The order of creation is found as follows:
 *   until HIP 5.2   hipGraphGetNodes() returns it.
 *   later           hipGraphGetNodes() sorts. But all releases return edges in the order in which
 *                   their source nodes were created. gputap therefore clones the graph, adds a
 *                   node to the clone, and adds an edge from each node that ends a branch to the
 *                   added node. Every node is then the source of an edge.
 *
 * Order of submission. HIP gives branches separate queues, but one thread submits all of them, in
 * an order that depends on the release. All releases start with the nodes without predecessors, in
 * the order of creation, and continue with a node's successors in the order in which their edges
 * were added:
 *   until 5.6     with successors one level below the node (ihipGraph::LevelOrder); a level is
 *                 the length of the longest path
 *   5.7 to 6.2    with successors whose predecessors have all been visited (TopologicalOrder);
 *                 these successors are appended to a list
 *   6.3 to 7.1    with the same successors, but at once: each branch as far as possible
 *                 (Graph::RunOneNode). A graph with a single queue is enqueued as in 5.7 to 6.2:
 *                 a graph without branches, for which both orders are equal, or any graph if the
 *                 user's settings limit graphs to one queue
 *   7.2           as 6.3 to 7.1; in later releases, whose library contains the name of a setting,
 *                 most graphs are submitted by segments (hip_graph_segments.c)
 * Each launch checks with the kernels' names and grids that the packets arrive in that order
 * (hip_graph.c).
 *
 * The runtime calls made here leave the runtime's last error as after a successful call. This is
 * correct, because the instantiation was successful. */
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf.h"
#include "runtime/hip/hip_graph.h"

enum { NODES_MAX = 1 << 20, DEPTH_MAX = 8 };

struct kernel_params {
	uint32_t block[3];
	void **extra;
	void *function;
	uint32_t grid[3];
	void **params;
	uint32_t shared_bytes;
};

/* State for one graph, without its child graphs. All arrays are in one mapping. */
struct graph_level {
	void **nodes, **from, **to;
	size_t count, edges, bytes;
	uint32_t *index; /* hash table that maps nodes to index + 1 */
	uint32_t mask;
	/* [count + 1] into edge_to: successors in the order in which their edges were added */
	uint32_t *edge_first;
	uint32_t *edge_to;
	uint32_t *depth, *left, *queue, *ordinal, *kind;
	uint8_t *activity, *before, *behind, *pushed;
};

struct graph_walk {
	const struct gt_table *table;
	struct gt_thread *thread;
	struct gt_hip_nodes *out;
	uint32_t room, counter;
	bool before_53;  /* true for releases before HIP 5.3, which renumbered hipGraphNodeType */
	bool by_level;   /* true for releases until 5.6 */
	bool by_branch;  /* true for releases from 6.3 on */
	bool by_segment; /* true for releases later than 7.2.0 */
};

static uint32_t hash_of(const void *p, uint32_t mask)
{
	return (uint32_t)((uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
}

static uint32_t find_node(const struct graph_level *l, const void *node)
{
	for (uint32_t h = hash_of(node, l->mask); l->index[h]; h = (h + 1) & l->mask)
		if (l->nodes[l->index[h] - 1] == node)
			return l->index[h] - 1;
	return UINT32_MAX;
}

static bool ask_sizes(const struct graph_walk *w, void *graph, struct graph_level *l)
{
	return GT_HIP(w->table, hipGraphGetNodes)(graph, NULL, &l->count) == 0 &&
	       l->count <= NODES_MAX &&
	       GT_HIP(w->table, hipGraphGetEdges)(graph, NULL, NULL, &l->edges) == 0 &&
	       l->edges <= 16 * (size_t)NODES_MAX;
}

static bool make_level(const struct graph_walk *w, void *graph, struct graph_level *l)
{
	size_t n, e;
	uint32_t *u;

	if (!ask_sizes(w, graph, l))
		return false;
	n = l->count;
	e = l->edges;
	for (l->mask = 16; l->mask < 2 * n; l->mask *= 2)
		;
	l->bytes =
		(n + 2 * e) * sizeof(void *) + (l->mask + 6 * n + 1 + e) * sizeof *u + 4 * n + 64;
	l->nodes = gt_hip_alloc(l->bytes);
	if (!l->nodes)
		return false;
	l->from = l->nodes + n;
	l->to = l->from + e;
	u = (uint32_t *)(l->to + e);
	l->index = u, u += l->mask;
	l->edge_first = u, u += n + 1;
	l->edge_to = u, u += e;
	l->depth = u, u += n;
	l->left = u, u += n;
	l->queue = u, u += n;
	l->ordinal = u, u += n;
	l->kind = u, u += n;
	l->activity = (uint8_t *)u;
	l->before = l->activity + n;
	l->behind = l->before + n;
	l->pushed = l->behind + n;
	l->mask--;
	return true;
}

/* Return the kind of a node type. From HIP 5.3 on the numbers are CUDA's. */
static uint8_t get_kind(uint32_t type, bool before_53)
{
	static const char
		old[] =
			{
				[1] = GT_HIP_NODE_KERNEL, [2] = GT_HIP_NODE_COPY,
				[3] = GT_HIP_NODE_FILL,   [4] = GT_HIP_NODE_HOST,
				[5] = GT_HIP_NODE_GRAPH,  [6] = GT_HIP_NODE_EMPTY,
				[7] = GT_HIP_NODE_EVENT,  [8] = GT_HIP_NODE_EVENT,
				[9] = GT_HIP_NODE_COPY,   [10] = GT_HIP_NODE_COPY,
				[11] = GT_HIP_NODE_COPY, /* 9 to 11: 1D, from symbols, to symbols */
			},
		since[] = {
			[0] = GT_HIP_NODE_KERNEL, [1] = GT_HIP_NODE_COPY,  [2] = GT_HIP_NODE_FILL,
			[3] = GT_HIP_NODE_HOST,   [4] = GT_HIP_NODE_GRAPH, [5] = GT_HIP_NODE_EMPTY,
			[6] = GT_HIP_NODE_EVENT,  [7] = GT_HIP_NODE_EVENT, [12] = GT_HIP_NODE_COPY,
			[13] = GT_HIP_NODE_COPY,
		};
	const char *kinds = before_53 ? old : since;
	size_t count = before_53 ? sizeof old : sizeof since;

	return type < count && kinds[type] ? (uint8_t)kinds[type] : GT_HIP_NODE_OTHER;
}

static bool ask_level(const struct graph_walk *w, void *graph, struct graph_level *l)
{
	const size_t n = l->count, e = l->edges;

	return (!n || GT_HIP(w->table, hipGraphGetNodes)(graph, l->nodes, &l->count) == 0) &&
	       l->count == n &&
	       (!e || GT_HIP(w->table, hipGraphGetEdges)(graph, l->from, l->to, &l->edges) == 0) &&
	       l->edges == e;
}

static void index_nodes(struct graph_level *l)
{
	memset(l->index, 0, (l->mask + UINT64_C(1)) * sizeof *l->index);
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t h = hash_of(l->nodes[i], l->mask);

		while (l->index[h])
			h = (h + 1) & l->mask;
		l->index[h] = i + 1;
	}
}

/* Get the order of creation from @copy, a clone of the graph: add a node to the clone, with an edge
 * from each of @ends. HIP sorts the clone's nodes like those of the graph, with the added node
 * last. @order: indices of the nodes in the order of their creation. */
static bool ask_copy(const struct graph_walk *w, void *copy, const struct graph_level *l,
		     const void **ends, size_t end_count, uint32_t *order)
{
	struct graph_level c = {0};
	void *sink = NULL;
	uint32_t last = UINT32_MAX, n = 0;
	bool good = GT_HIP(w->table, hipGraphAddEmptyNode)(&sink, copy, ends, end_count) == 0 &&
		    make_level(w, copy, &c) && c.count == l->count + 1 &&
		    c.edges == l->edges + end_count && ask_level(w, copy, &c) &&
		    c.nodes[l->count] == sink;

	if (good)
		index_nodes(&c);
	for (size_t k = 0; good && k < c.edges; k++) {
		uint32_t at = find_node(&c, c.from[k]);

		good = at < l->count && (at == last || (n < l->count && !c.pushed[at]));
		if (!good || at == last)
			continue;
		c.pushed[at] = 1;
		order[n++] = last = at;
	}
	gt_hip_free(c.nodes, c.bytes);
	return good && n == l->count;
}

/* Reorder l->nodes from HIP's sorted order to the order of creation. */
static bool order_by_creation(const struct graph_walk *w, void *graph, struct graph_level *l)
{
	const size_t n = l->count, bytes = n * (2 * sizeof(void *) + sizeof(uint32_t));
	const void **twins = gt_hip_alloc(bytes);
	void **nodes, *copy = NULL;
	size_t count = n, ends = 0;
	uint32_t *order;
	bool good;

	if (!twins)
		return false;
	nodes = (void **)(twins + n);
	order = (uint32_t *)(nodes + n);
	good = GT_HIP(w->table, hipGraphClone) && GT_HIP(w->table, hipGraphAddEmptyNode) &&
	       GT_HIP(w->table, hipGraphDestroy) &&
	       GT_HIP(w->table, hipGraphClone)(&copy, graph) == 0;
	good = good && GT_HIP(w->table, hipGraphGetNodes)(copy, (void **)twins, &count) == 0 &&
	       count == n;
	for (size_t k = 0; good && k < l->edges; k++) {
		uint32_t at = find_node(l, l->from[k]);

		good = at != UINT32_MAX;
		if (good)
			l->pushed[at] = 1;
	}
	for (size_t i = 0; good && i < n; i++)
		if (!l->pushed[i])
			twins[ends++] = twins[i];
	good = good && ask_copy(w, copy, l, twins, ends, order);
	for (size_t i = 0; good && i < n; i++)
		nodes[i] = l->nodes[order[i]];
	if (good)
		memcpy(l->nodes, nodes, n * sizeof *nodes);
	memset(l->pushed, 0, n);
	if (copy)
		GT_HIP(w->table, hipGraphDestroy)(copy);
	gt_hip_free(twins, bytes);
	return good;
}

static bool fill_level(struct graph_walk *w, void *graph, struct graph_level *l)
{
	size_t n = l->count, e = l->edges;
	bool strange = false;

	if (!ask_level(w, graph, l))
		return false;
	index_nodes(l);
	if (!w->before_53) {
		/* a graph with nodes that allocate memory must not be cloned */
		for (uint32_t i = 0; i < n && !strange; i++)
			strange = GT_HIP(w->table, hipGraphNodeGetType)(l->nodes[i],
									(void *)&l->kind[i]) != 0 ||
				  get_kind(l->kind[i], false) == GT_HIP_NODE_OTHER;
		if (n > 1 && (strange || !order_by_creation(w, graph, l)))
			w->out->uncertain = true;
		index_nodes(l);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (GT_HIP(w->table, hipGraphNodeGetType)(l->nodes[i], (void *)&l->kind[i]) != 0)
			return false;
		l->kind[i] = get_kind(l->kind[i], w->before_53);
	}
	/* counting sort: stable, so each node's edges keep their order */
	for (size_t k = 0; k < e; k++) {
		uint32_t a = find_node(l, l->from[k]), b = find_node(l, l->to[k]);

		if (a == UINT32_MAX || b == UINT32_MAX)
			return false;
		l->edge_first[a + 1]++;
		l->left[b]++;
	}
	for (size_t i = 0; i < n; i++)
		l->edge_first[i + 1] += l->edge_first[i];
	for (size_t k = 0; k < e; k++)
		l->edge_to[l->edge_first[find_node(l, l->from[k])] +
			   l->queue[find_node(l, l->from[k])]++] = find_node(l, l->to[k]);
	return true;
}

static bool makes_activity(uint32_t kind)
{
	return kind == GT_HIP_NODE_KERNEL || kind == GT_HIP_NODE_COPY || kind == GT_HIP_NODE_FILL ||
	       kind == GT_HIP_NODE_GRAPH;
}

/* Compute the level of each node, and find out which nodes have activities before and after them.
 * Return false if the graph has a cycle. */
static bool sort_level(struct graph_level *l)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < l->count; i++) {
		l->activity[i] = makes_activity(l->kind[i]);
		if (!l->left[i])
			l->queue[tail++] = i;
	}
	while (head < tail) {
		uint32_t i = l->queue[head++];

		for (uint32_t k = l->edge_first[i]; k < l->edge_first[i + 1]; k++) {
			uint32_t j = l->edge_to[k];

			if (l->depth[j] < l->depth[i] + 1)
				l->depth[j] = l->depth[i] + 1;
			l->before[j] |= l->before[i] | l->activity[i];
			if (!--l->left[j])
				l->queue[tail++] = j;
		}
	}
	if (tail != l->count)
		return false;
	for (uint32_t k = 0; k < l->edges; k++) /* restore the count */
		l->left[l->edge_to[k]]++;
	while (tail--)
		for (uint32_t k = l->edge_first[l->queue[tail]];
		     k < l->edge_first[l->queue[tail] + 1]; k++)
			l->behind[l->queue[tail]] |=
				l->behind[l->edge_to[k]] | l->activity[l->edge_to[k]];
	return true;
}

/* Return true if the graph is a single chain. */
static bool is_chain(const struct graph_level *l)
{
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < l->count; i++)
		deepest = l->depth[i] > deepest ? l->depth[i] : deepest;
	return l->count <= 1 || (deepest == l->count - 1 && l->edges == l->count - 1);
}

/* Return the string id of a function's name. @function: the host stub of a program's function, or
 * the handle of a module's function. */
uint32_t gt_hip_function_name(const struct gt_table *table, struct gt_thread *t,
			      const void *function, bool by_pointer)
{
	const char *name = NULL;

	if (!function)
		return 0;
	gt_internal_enter();
	if (by_pointer && GT_HIP(table, hipKernelNameRefByPtr))
		name = GT_HIP(table, hipKernelNameRefByPtr)(function, NULL);
	if (!name && GT_HIP(table, hipKernelNameRef))
		name = GT_HIP(table, hipKernelNameRef)((void *)(uintptr_t)function);
	gt_internal_leave();
	return name ? gt_string_id(t, name, strlen(name)) : 0;
}

uint32_t gt_hip_kernel_name(const struct gt_table *table, struct gt_thread *t, const void *kernel)
{
	return gt_hip_function_name(table, t, ((const struct kernel_params *)kernel)->function,
				    true);
}

void gt_hip_kernel_grid(const void *kernel, uint32_t grid[3])
{
	const struct kernel_params *params = kernel;

	for (int i = 0; i < 3; i++)
		grid[i] = params->grid[i] * params->block[i];
}

static void ask_kernel(const struct graph_walk *w, struct gt_hip_node *n)
{
	struct kernel_params params = {0};

	if (GT_HIP(w->table, hipGraphKernelNodeGetParams)(n->handle, (void *)&params) != 0)
		return;
	n->name = gt_hip_kernel_name(w->table, w->thread, &params);
	gt_hip_kernel_grid(&params, n->grid);
}

static bool room_for(struct graph_walk *w, uint32_t more)
{
	struct gt_hip_nodes *o = w->out;
	uint32_t room = w->room ? w->room : 64;
	struct gt_hip_node *order;

	while (room < o->count + more + 1)
		room *= 2;
	if (room == w->room)
		return true;
	order = gt_hip_alloc(room * (sizeof *order + sizeof *o->place));
	if (!order)
		return false;
	if (o->order)
		memcpy(order, o->order, o->count * sizeof *order);
	gt_hip_free(o->order, o->bytes);
	o->order = order;
	o->bytes = room * (sizeof *order + sizeof *o->place);
	o->place = (uint32_t *)(order + room);
	w->room = room;
	return true;
}

static bool walk_graph(struct graph_walk *w, void *graph, unsigned depth, bool first, bool last,
		       uint32_t *counter);

/* Assign ordinals to a graph's nodes. Nodes of child graphs get their ordinals here, but are walked
 * when the order reaches their graph. */
static bool count_nodes(struct graph_walk *w, void *graph, unsigned depth, uint32_t *total)
{
	struct graph_level l = {0};
	bool good = depth < DEPTH_MAX && make_level(w, graph, &l) && fill_level(w, graph, &l);

	for (uint32_t i = 0; good && i < l.count; i++) {
		void *child = NULL;

		++*total;
		if (l.kind[i] == GT_HIP_NODE_GRAPH)
			good = GT_HIP(w->table, hipGraphChildGraphNodeGetGraph)(l.nodes[i],
										&child) == 0 &&
			       count_nodes(w, child, depth + 1, total);
	}
	gt_hip_free(l.nodes, l.bytes);
	return good && *total <= NODES_MAX;
}

static bool number_nodes(struct graph_walk *w, struct graph_level *l, unsigned depth,
			 uint32_t *counter)
{
	for (uint32_t i = 0; i < l->count; i++) {
		void *child = NULL;

		l->ordinal[i] = (*counter)++;
		if (l->kind[i] == GT_HIP_NODE_GRAPH &&
		    (GT_HIP(w->table, hipGraphChildGraphNodeGetGraph)(l->nodes[i], &child) != 0 ||
		     !count_nodes(w, child, depth + 1, counter)))
			return false;
	}
	return true;
}

static bool put_node(struct graph_walk *w, const struct graph_level *l, uint32_t i, unsigned depth,
		     bool first, bool last)
{
	struct gt_hip_nodes *o = w->out;
	uint32_t ordinal = l->ordinal[i] + 1;
	struct gt_hip_node *n;
	void *child = NULL;

	first &= !l->before[i];
	last &= !l->behind[i];
	if (!room_for(w, 1))
		return false;
	n = &o->order[o->count++];
	*n = (struct gt_hip_node){.handle = l->nodes[i],
				  .ordinal = l->ordinal[i],
				  .kind = (uint8_t)l->kind[i],
				  .first = first,
				  .last = last};
	if (n->kind == GT_HIP_NODE_KERNEL)
		ask_kernel(w, n);
	return n->kind != GT_HIP_NODE_GRAPH ||
	       (GT_HIP(w->table, hipGraphChildGraphNodeGetGraph)(l->nodes[i], &child) == 0 &&
		walk_graph(w, child, depth + 1, first, last, &ordinal));
}

static bool put_queued(struct graph_walk *w, struct graph_level *l, unsigned depth, bool first,
		       bool last)
{
	uint32_t head = 0, tail = 0;
	bool good = true;

	for (uint32_t i = 0; i < l->count; i++)
		if (l->depth[i] == 0)
			l->queue[tail++] = i;
	while (good && head < tail) {
		uint32_t i = l->queue[head++];

		good = put_node(w, l, i, depth, first, last);
		for (uint32_t k = l->edge_first[i]; k < l->edge_first[i + 1]; k++) {
			uint32_t j = l->edge_to[k];

			if (w->by_level ? l->pushed[j] || l->depth[j] != l->depth[i] + 1
					: --l->left[j])
				continue;
			l->pushed[j] = 1;
			l->queue[tail++] = j;
		}
	}
	return good;
}

/* Visit a node: append it to the order, and decrement the predecessor count of its successors.
 * `depth` is the position at which the walk of the node's edges continues. */
static bool visit_node(struct graph_walk *w, struct graph_level *l, uint32_t i, unsigned depth,
		       bool first, bool last)
{
	l->pushed[i] = 1;
	l->depth[i] = l->edge_first[i];
	for (uint32_t k = l->edge_first[i]; k < l->edge_first[i + 1]; k++)
		l->left[l->edge_to[k]]--;
	return put_node(w, l, i, depth, first, last);
}

static bool put_branches(struct graph_walk *w, struct graph_level *l, unsigned depth, bool first,
			 bool last)
{
	bool good = true;

	for (uint32_t root = 0; good && root < l->count; root++) {
		uint32_t top = 0;

		if (l->pushed[root] || l->left[root])
			continue;
		l->queue[top++] = root;
		good = visit_node(w, l, root, depth, first, last);
		while (good && top) {
			uint32_t i = l->queue[top - 1], j;

			if (l->depth[i] == l->edge_first[i + 1]) {
				top--;
				continue;
			}
			j = l->edge_to[l->depth[i]++];
			if (l->pushed[j] || l->left[j])
				continue;
			l->queue[top++] = j;
			good = visit_node(w, l, j, depth, first, last);
		}
	}
	return good;
}

static bool put_segments(struct graph_walk *w, struct graph_level *l, unsigned depth, bool first,
			 bool last)
{
	const struct gt_hip_shape shape = {(uint32_t)l->count, l->edge_first, l->edge_to, l->left,
					   l->kind};
	bool good = true;

	if (!gt_hip_segments_order(&shape, depth > 0, l->queue)) {
		w->by_segment = false; /* the graph's child graphs do not use segments either */
		good = (w->by_branch ? put_branches : put_queued)(w, l, depth, first, last);
		w->by_segment = true;
		return good;
	}
	for (uint32_t i = 0; good && i < l->count; i++)
		good = put_node(w, l, l->queue[i], depth, first, last);
	return good;
}

static bool walk_graph(struct graph_walk *w, void *graph, unsigned depth, bool first, bool last,
		       uint32_t *counter)
{
	struct graph_level l = {0};
	bool good = depth < DEPTH_MAX && make_level(w, graph, &l) && fill_level(w, graph, &l) &&
		    number_nodes(w, &l, depth, counter);

	if (good) {
		memset(l.queue, 0, l.count * sizeof *l.queue);
		good = sort_level(&l);
	}
	w->out->branches |= depth > 0 || !is_chain(&l);
	good = good && (w->by_segment  ? put_segments
			: w->by_branch ? put_branches
				       : put_queued)(w, &l, depth, first, last);
	gt_hip_free(l.nodes, l.bytes);
	return good;
}

static int find_setting(struct dl_phdr_info *info, size_t size, void *data)
{
	static const char name[] = "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING";
	const struct gt_elf o = {info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, NULL,
				 info->dlpi_name};

	(void)size;
	if (!gt_elf_segment(&o, *(const void **)data))
		return 0;
	return gt_elf_contains(&o, name, sizeof name) ? 2 : 1;
}

/* Return true if the library contains the name of the setting for segments. Each library is
 * searched only once. */
static bool has_segments(const struct gt_table *table)
{
	static _Atomic uint8_t known[GT_INSTANCES];
	const void *function = (const void *)(uintptr_t)GT_HIP(table, hipGraphGetNodes);

	if (!atomic_load_explicit(&known[table->instance], memory_order_relaxed))
		atomic_store_explicit(&known[table->instance],
				      1 + (dl_iterate_phdr(find_setting, &function) == 2),
				      memory_order_relaxed);
	return atomic_load_explicit(&known[table->instance], memory_order_relaxed) == 2;
}

/* Return true if HIP's setting for the number of a graph's queues is 1. */
static bool has_one_queue(void)
{
	const char *queues = getenv("DEBUG_HIP_FORCE_GRAPH_QUEUES");

	return queues && atoi(queues) == 1;
}

/* Compute, for each place, the place of the next node of each kind; and, for each ordinal, the
 * node's place. */
static void link_nodes(struct gt_hip_nodes *o)
{
	uint32_t next[GT_GRAPH_PARTS] = {o->count, o->count, o->count};

	for (uint32_t i = o->count + 1; i-- > 0;) {
		struct gt_hip_node *n = &o->order[i];

		if (i < o->count) {
			if (n->kind == GT_HIP_NODE_KERNEL)
				next[GT_GRAPH_KERNEL] = i;
			else if (n->kind == GT_HIP_NODE_COPY)
				next[GT_GRAPH_COPY] = i;
			else if (n->kind == GT_HIP_NODE_FILL)
				next[GT_GRAPH_FILL] = i;
			o->place[n->ordinal] = i;
		}
		memcpy(n->next, next, sizeof next);
	}
}

bool gt_hip_nodes_ask(const struct gt_table *table, struct gt_thread *t, void *graph,
		      struct gt_hip_nodes *nodes)
{
	struct graph_walk w = {.table = table, .thread = t, .out = nodes};
	int version = 0;
	bool known, good;

	memset(nodes, 0, sizeof *nodes);
	if (!GT_HIP(table, hipGraphGetNodes) || !GT_HIP(table, hipGraphGetEdges) ||
	    !GT_HIP(table, hipGraphNodeGetType) || !GT_HIP(table, hipGraphKernelNodeGetParams) ||
	    !GT_HIP(table, hipGraphChildGraphNodeGetGraph))
		return false;
	gt_internal_enter();
	known = GT_HIP(table, hipRuntimeGetVersion) &&
		GT_HIP(table, hipRuntimeGetVersion)(&version) == 0;
	w.before_53 = known && version < 50300000;
	w.by_level = known && version < 50700000;
	w.by_segment = version >= 70200000 && has_segments(table);
	w.by_branch = version >= 60300000 && (w.by_segment || !has_one_queue());
	good = room_for(&w, 0) && walk_graph(&w, graph, 0, true, true, &w.counter) &&
	       w.counter == nodes->count;
	gt_internal_leave();
	nodes->uncertain |= nodes->branches && !known;
	nodes->apart = !known || version >= 60000000;
	if (good)
		link_nodes(nodes);
	else
		gt_hip_nodes_free(nodes);
	return good;
}

void gt_hip_nodes_free(struct gt_hip_nodes *nodes)
{
	gt_hip_free(nodes->order, nodes->bytes);
	memset(nodes, 0, sizeof *nodes);
}
