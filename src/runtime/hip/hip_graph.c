/* SPDX-License-Identifier: MIT */
/* Tracks executable graphs, and maps each packet to its launch and node.
 *
 *   place   0    1    2    3   ..  count      nodes in the order in which HIP submits them, queried
 *   k    k    c    k        (none)    from the runtime when the graph was instantiated
 *                     ▲ `at`: after the previous packet's node
 *
 * Steps of a launch, all in the launching thread (see runtime/graph_nodes.h for HSA's part):
 *   1. hipGraphLaunch() is entered: gt_thread.graph points to the launch, `at` is 0.
 *   2. The thread reserves a packet's number. settle_packet() looks at the previous packet, which
 *      is written by now, and moves `at` past its node. The new packet will be the next kernel, the
 *      next copy or the next fill from `at` on: candidate[]. The packet's handler determines its
 *      kind. (HIP 7 reserves several packets at a time; each of these packets is settled once all
 *      are written.)
 *   3. hipGraphLaunch() has returned: the last packet is settled, and the order is checked. If a
 *      kernel's name differed from the name in its node, or nodes are left over, the packets of the
 *      graph's later launches have no ordinals, and an event reports this (GT_EVENT_GRAPH).
 *
 * Spans (`--mode lite`): only packets that can be the launch's first or last get a signal. On each
 * queue that the launch uses, these are the first node without a preceding activity and the last
 * node without a following activity. The graph's first launch observes all candidates to learn each
 * queue's last node. A later launch on another stream learns again. A launch that need not learn
 * costs two signals per queue, and a few comparisons per node.
 *
 * If the learning launch used a single queue, and this launch starts the same way, the packets
 * between that of the first node and that of the last node are skipped (`unobserved_left` in struct
 * gt_graph_launch). If the number of packets differs from the learned number, a gputap packet after
 * the launch marks its end.
 *
 * Writers of a graph's members (struct hip_graph; gt_core_lock() is held while graphs are created,
 * changed and destroyed; a launch takes no lock):
 *   the bucket          add_graph()               release   -> the entry; entries are never removed
 *   handle              add_graph(), destruction  release   -> the nodes; NULL: destroyed
 *   replays             a launch                  relaxed   a number for each launch
 *   wrong               the first launch whose packets arrive in another order than the nodes
 *   last, course        the launch that takes `learned` from 0 to 1
 *   learned             0 to 1 before writing both; 2: release -> `last` and `course` are valid;
 *                       0 again after a launch that differed from the learned course
 *   odd, course.count   a launch that differed; a count of 0 means that no packets are skipped */
#include <string.h>

#include "core/recording.h"
#include "runtime/hip/hip_graph.h"
#include "runtime/hip/hip_order.h"
#include "runtime/gpu_activity.h"
#include "tool/tool_activity.h"

enum {
	BUCKET_BITS = 10,
	QUEUES_MAX = 8,
	ODD_MOST = 3,
};

/* A queue that a launch uses. `last` is the place of the queue's last node without a following
 * activity. */
struct touched {
	const void *queue;
	uint32_t last;
	/* true once the queue has a node's packet; barriers may precede that packet */
	uint32_t started;
};

/* Positions of the packets that determine a launch's span, in the order in which the launch
 * reserved its packets. */
struct course {
	/* position of the first node's packet; position of the last node without a following
	 * activity */
	uint32_t first, last;
	uint32_t place; /* place of the last node without a following activity */
	/* number of all packets; in a learned course, 0 if the number is unreliable */
	uint32_t count;
};

struct hip_graph {
	/* next entry of the bucket; never removed: entries of destroyed graphs are reused for
	 * another handle */
	struct hip_graph *next;
	_Atomic(void *) handle;
	uint32_t number, name;
	struct gt_tool_object *object; /* object that tools are notified of */
	struct gt_hip_nodes nodes;
	/* copy of `nodes` for submit orders; NULL before the first use */
	struct gt_hip_shared_nodes *shared;
	/* number of nodes written in the object's records; UINT32_MAX if not even the first record
	 * was written */
	uint32_t written;
	_Atomic uint32_t replays;
	_Atomic uint32_t wrong; /* nonzero if the runtime submits in an unexpected order */
	/* 1 while `last` and `course` are being written, 2 once they are valid */
	_Atomic uint32_t learned;
	struct touched last[QUEUES_MAX];
	uint32_t last_count;
	struct course course; /* learned with `last` */
	uint32_t odd;         /* number of launches that differed from the learned course */
};

/* A launch that is open in this thread. */
struct hip_launch {
	struct gt_graph_launch shared; /* shared with HSA */
	struct course course;
	/* true if `course` contains an observed node; true if packets were skipped */
	bool has_course, skips;
	bool copies; /* true if the launch made a copy without a packet */
	struct hip_graph *graph;
	struct gt_graph_span *span;
	uint32_t replay;
	uint32_t at; /* place after the last packet's node */
	/* place of the reserved packet's node, for each kind that the packet can have */
	uint32_t candidate[GT_GRAPH_PARTS];
	uint32_t unobserved, parts;
	uint32_t last_part, last_place;
	bool blind; /* true if the order is unknown, so that packets get no ordinals */
	bool wrong, learning, unobservable;
	/* true if the program has paused recording: only tools may be notified of the launch */
	bool paused;
	/* true if HIP's streams have threads (hip_order.h); true if the first packet opens the
	 * span */
	bool ordered, late_span;
	/* true if the packets of the launching thread include an unknown kernel; true if they
	 * include a copy or fill */
	bool strange, transfers;
	uint32_t kernels;  /* number of kernels that the launching thread submitted */
	const void *queue; /* queue of the reserved packet; NULL if no packet must be settled */
	uint64_t number;
	struct touched touched[QUEUES_MAX];
	uint32_t touched_count;
	/* end addresses of the last copy's destination and source */
	const void *destination, *source;
	uint64_t copied;
};

static struct hip_graph *buckets[1 << BUCKET_BITS];

static struct hip_graph **get_graph_bucket(const void *handle)
{
	return &buckets[(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BUCKET_BITS)];
}

static struct hip_graph *find_graph(void *handle)
{
	struct hip_graph *g = __atomic_load_n(get_graph_bucket(handle), __ATOMIC_ACQUIRE);

	while (g && atomic_load_explicit(&g->handle, memory_order_acquire) != handle)
		g = g->next;
	return g;
}

/* Objects ------------------------------------------------------------------------ */

static uint32_t count_kind(const struct hip_graph *g, uint8_t kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->nodes.count; i++)
		n += g->nodes.order[i].kind == kind;
	return n;
}

static bool write_head(const struct hip_graph *g, struct gt_thread *t)
{
	struct gt_text text = {0};

	gt_text_add_number(&text, "nodes", g->nodes.count);
	gt_text_add_number(&text, "kernels", count_kind(g, GT_HIP_NODE_KERNEL));
	gt_text_add_number(&text, "copies", count_kind(g, GT_HIP_NODE_COPY));
	gt_text_add_number(&text, "fills", count_kind(g, GT_HIP_NODE_FILL));
	return gt_object_write(t, GT_OBJECT_GRAPH, GT_DOMAIN_HIP, g->number,
			       (uintptr_t)atomic_load(&g->handle), 0, &text);
}

/* Write as many nodes as fit into the text of an object: "k12 k13 c f", a letter for each node,
 * followed by the string id of a kernel's name. */
static bool write_nodes(struct hip_graph *g, struct gt_thread *t)
{
	struct gt_text text = {0};
	char list[1300];
	uint32_t i = g->written;
	size_t n = 0;

	for (; i < g->nodes.count && n + 16 < sizeof list; i++) {
		const struct gt_hip_node *node = &g->nodes.order[g->nodes.place[i]];
		char digits[16];
		unsigned k = 0;

		if (n)
			list[n++] = ' ';
		list[n++] = (char)node->kind;
		for (uint32_t v = node->name; v; v /= 10)
			digits[k++] = (char)('0' + v % 10);
		while (k)
			list[n++] = digits[--k];
	}
	gt_text_add_number(&text, "first", g->written);
	gt_text_add_bytes(&text, "nodes", list, n);
	if (!gt_object_write(t, GT_OBJECT_GRAPH, GT_DOMAIN_HIP, gt_object_number(GT_OBJECT_GRAPH),
			     0, g->number, &text))
		return false;
	g->written = i;
	return true;
}

/* Return the graph's nodes for a launch in a submit order, or NULL if the places of the launch's
 * activities are uncertain. */
static struct gt_hip_shared_nodes *share_nodes(struct hip_graph *g)
{
	size_t bytes =
		sizeof(struct gt_hip_shared_nodes) + (g->nodes.count + 1) * sizeof *g->nodes.order;
	struct gt_hip_shared_nodes *n;

	gt_core_lock();
	n = g->shared;
	if (!n && g->nodes.count && !g->nodes.branches && (n = gt_hip_alloc(bytes)) != NULL) {
		n->users = 1;
		n->bytes = bytes;
		n->count = g->nodes.count;
		memcpy(n->order, g->nodes.order, (g->nodes.count + 1) * sizeof *g->nodes.order);
		g->shared = n;
	}
	if (n)
		atomic_fetch_add_explicit(&n->users, 1, memory_order_relaxed);
	gt_core_unlock();
	return n;
}

static void unshare_nodes(struct hip_graph *g)
{
	gt_hip_shared_nodes_put(g->shared);
	g->shared = NULL;
}

static void write_object(struct hip_graph *g, struct gt_thread *t)
{
	if (g->written == UINT32_MAX && write_head(g, t))
		g->written = 0;
	while (g->written < g->nodes.count && write_nodes(g, t))
		;
}

static void name_graph(struct hip_graph *g, struct gt_thread *t)
{
	char text[32] = "graph ", digits[16];
	unsigned n = 6, k = 0;

	g->number = (uint32_t)gt_object_number(GT_OBJECT_GRAPH);
	for (uint32_t v = g->number; v; v /= 10)
		digits[k++] = (char)('0' + v % 10);
	while (k)
		text[n++] = digits[--k];
	g->name = gt_string_id(t, text, n);
	g->written = UINT32_MAX;
	write_object(g, t);
}

/* Notify tools of a graph. The caller must hold no lock, because tools are called. */
static void notify_graph(struct hip_graph *g, bool there)
{
	const struct gputap_object o = {.domain = GPUTAP_DOMAIN_HIP,
					.type = GPUTAP_OBJECT_GRAPH,
					.number = g->number,
					.handle = (uintptr_t)atomic_load(&g->handle),
					.storage_file = -1};

	gt_tool_object_unload(g->object);
	g->object = there ? gt_tool_object_add(&o, NULL) : NULL;
	gt_tool_object_loaded(g->object);
}

/* Creation and destruction --------------------------------------------------------- */

static void add_graph(const struct gt_call *call, void *handle, void *source)
{
	struct gt_thread *t = call->thread ? call->thread : gt_thread_own();
	struct gt_hip_nodes nodes;
	struct hip_graph *g;

	if (!t || !gt_hip_nodes_ask(call->table, t, source, &nodes))
		return;
	gt_core_lock();
	for (g = *get_graph_bucket(handle);
	     g && atomic_load(&g->handle) && atomic_load(&g->handle) != handle; g = g->next)
		;
	if (!g) {
		g = gt_hip_alloc(sizeof *g);
		if (g) {
			g->next = *get_graph_bucket(handle);
			__atomic_store_n(get_graph_bucket(handle), g, __ATOMIC_RELEASE);
		}
	}
	if (g) {
		gt_hip_nodes_free(&g->nodes);
		unshare_nodes(g);
		g->nodes = nodes;
		atomic_store(&g->replays, 0);
		atomic_store(&g->wrong, 0);
		atomic_store(&g->learned, 0);
		atomic_store_explicit(&g->handle, handle, memory_order_release);
		name_graph(g, t);
	} else {
		gt_hip_nodes_free(&nodes);
	}
	gt_core_unlock();
	if (g && g->nodes.uncertain)
		gt_event_write(t, GT_EVENT_GRAPH, GT_DOMAIN_HIP, g->number,
			       "the graph's node order is unknown in this version of HIP: kernels "
			       "have no node");
	if (g)
		notify_graph(g, true);
}

/* Replace the graph's object. The same handle now has other kernels, so later launches belong to
 * another object. */
static void replace_graph(const struct gt_call *call, struct hip_graph *g, void *source)
{
	struct gt_thread *t = call->thread ? call->thread : gt_thread_own();
	struct gt_hip_nodes nodes;

	if (!t)
		return;
	gt_core_lock();
	unshare_nodes(g);
	gt_core_unlock();
	if (source && gt_hip_nodes_ask(call->table, t, source, &nodes)) {
		gt_hip_nodes_free(&g->nodes);
		g->nodes = nodes;
		atomic_store(&g->learned, 0);
	}
	name_graph(g, t);
	notify_graph(g, true);
}

int gt_hip_wrap_hipGraphInstantiate(const struct gt_call *call, void **exec, void *graph,
				    void **error_node, char *log, size_t bytes)
{
	int ret = ((gt_hip_hipGraphInstantiate_fn *)call->tap->real)(exec, graph, error_node, log,
								     bytes);

	if (ret == 0 && exec)
		add_graph(call, *exec, graph);
	return ret;
}

int gt_hip_wrap_hipGraphInstantiateWithFlags(const struct gt_call *call, void **exec, void *graph,
					     unsigned long long flags)
{
	int ret = ((gt_hip_hipGraphInstantiateWithFlags_fn *)call->tap->real)(exec, graph, flags);

	if (ret == 0 && exec)
		add_graph(call, *exec, graph);
	return ret;
}

int gt_hip_wrap_hipGraphInstantiateWithParams(const struct gt_call *call, void **exec, void *graph,
					      void *params)
{
	int ret = ((gt_hip_hipGraphInstantiateWithParams_fn *)call->tap->real)(exec, graph, params);

	if (ret == 0 && exec)
		add_graph(call, *exec, graph);
	return ret;
}

int gt_hip_wrap_hipGraphExecDestroy(const struct gt_call *call, void *exec)
{
	struct hip_graph *g = exec ? find_graph(exec) : NULL;

	/* before the real call, because another thread may get the handle for a new graph */
	if (g) {
		notify_graph(g, false);
		gt_core_lock();
		atomic_store_explicit(&g->handle, NULL, memory_order_release);
		gt_hip_nodes_free(&g->nodes);
		unshare_nodes(g);
		gt_core_unlock();
	}
	return ((gt_hip_hipGraphExecDestroy_fn *)call->tap->real)(exec);
}

int gt_hip_wrap_hipGraphExecKernelNodeSetParams(const struct gt_call *call, void *exec, void *node,
						const void *params)
{
	int ret =
		((gt_hip_hipGraphExecKernelNodeSetParams_fn *)call->tap->real)(exec, node, params);
	struct hip_graph *g = ret == 0 ? find_graph(exec) : NULL;
	struct gt_thread *t = call->thread ? call->thread : gt_thread_own();

	for (uint32_t i = 0; g && t && i < g->nodes.count; i++) {
		struct gt_hip_node *n = &g->nodes.order[i];
		uint32_t name = n->handle == node ? gt_hip_kernel_name(call->table, t, params) : 0;

		if (n->handle == node)
			gt_hip_kernel_grid(params, n->grid);
		if (!name || name == n->name)
			continue;
		n->name = name;
		replace_graph(call, g, NULL);
		break;
	}
	return ret;
}

int gt_hip_wrap_hipGraphExecUpdate(const struct gt_call *call, void *exec, void *graph,
				   void **error_node, unsigned int *result)
{
	int ret =
		((gt_hip_hipGraphExecUpdate_fn *)call->tap->real)(exec, graph, error_node, result);
	struct hip_graph *g = ret == 0 ? find_graph(exec) : NULL;

	if (g)
		replace_graph(call, g, graph);
	return ret;
}

/* A launch ------------------------------------------------------------------------- */

static struct hip_launch *get_launch(struct gt_graph_launch *shared)
{
	return (struct hip_launch *)(void *)((char *)shared - offsetof(struct hip_launch, shared));
}

static struct touched *get_touched(struct hip_launch *l, const void *queue)
{
	for (uint32_t i = 0; i < l->touched_count; i++)
		if (l->touched[i].queue == queue)
			return &l->touched[i];
	if (l->touched_count == QUEUES_MAX)
		return NULL;
	l->touched[l->touched_count] = (struct touched){queue, UINT32_MAX, 0};
	return &l->touched[l->touched_count++];
}

/* Return true if the node at @place was the last activity of the learning launch in this queue, if
 * this launch is learning, or if the queue was not learned. */
static bool ends_queue(const struct hip_launch *l, const void *queue, uint32_t place)
{
	const struct hip_graph *g = l->graph;

	for (uint32_t i = 0; !l->learning && i < g->last_count; i++)
		if (g->last[i].queue == queue)
			return g->last[i].last == place;
	return true;
}

/* Return true if the kernel matches the node. */
static bool is_kernel_of(const struct gt_hip_node *n, const struct gt_kernel_info *k,
			 const uint32_t *grid)
{
	return (!k->name || !n->name || k->name == n->name) &&
	       (!n->grid[0] || !memcmp(grid, n->grid, sizeof n->grid));
}

/* Note a packet that the launching thread submits itself. Even if streams have threads, HIP 7
 * submits packets prepared at instantiation, mostly kernels, in the launching thread. */
static void note_submitted(struct hip_launch *l, uint32_t part)
{
	l->kernels += part == GT_GRAPH_KERNEL;
	l->transfers |= part != GT_GRAPH_KERNEL;
	gt_hip_order_note_submitted(l->at, part != GT_GRAPH_KERNEL);
}

/* Step 2: look at the previous packet, and move `at` past the packet's node. */
static void settle_packet(struct hip_launch *l)
{
	const struct gt_kernel_info *k;
	const uint32_t *grid;
	uint32_t part, place;

	if (!l->queue)
		return;
	k = gt_packet_kernel(l->queue, l->number, &grid);
	for (uint32_t i = 0; k && i < l->touched_count; i++)
		l->touched[i].started |= l->touched[i].queue == l->queue;
	l->queue = NULL;
	if (!k) {
		l->strange |= grid != NULL;
		return;
	}
	part = k->part;
	place = l->candidate[part];
	if (l->span && !(l->unobserved >> part & 1)) {
		gt_graph_span_add_part(l->span);
		l->parts++;
	}
	if (place >= l->graph->nodes.count) {
		l->wrong |= part == GT_GRAPH_KERNEL;
		l->strange = true;
		return;
	}
	l->wrong |=
		part == GT_GRAPH_KERNEL && !is_kernel_of(&l->graph->nodes.order[place], k, grid);
	l->at = place + 1;
	l->last_part = part;
	l->last_place = place;
	if (gt_unlikely(l->ordered))
		note_submitted(l, part);
	if (!l->has_course)
		l->course.first = l->course.count - 1;
	if (!l->has_course || l->graph->nodes.order[place].last) {
		l->course.last = l->course.count - 1;
		l->course.place = place;
	}
	l->has_course = true;
}

/* Return the place of the currently reserved packet or copy, if its kind is @part. One copy may
 * consist of several packets. A further copy packet belongs to the same node unless the next node
 * with an activity is also a copy. */
static uint32_t get_place(const struct hip_launch *l, enum gt_graph_part part, bool goes_on)
{
	const uint32_t *next = l->graph->nodes.order[l->at].next;

	if (part == GT_GRAPH_COPY && l->last_part == GT_GRAPH_COPY &&
	    (goes_on || next[GT_GRAPH_COPY] > next[GT_GRAPH_KERNEL] ||
	     next[GT_GRAPH_COPY] > next[GT_GRAPH_FILL] ||
	     next[GT_GRAPH_COPY] == l->graph->nodes.count))
		return l->last_place;
	return next[part];
}

static bool is_observed(struct hip_launch *l, const struct touched *where, uint32_t place)
{
	const struct gt_hip_node *n = &l->graph->nodes.order[place];

	if (!where || l->blind || place >= l->graph->nodes.count)
		return true;
	return (n->first && !where->started) || (n->last && ends_queue(l, where->queue, place));
}

static void set_ordinals(struct hip_launch *l, struct gt_node_ref *s)
{
	const struct hip_graph *g = l->graph;

	s->graph = g->number;
	s->replay = l->replay;
	s->span = l->span;
	for (int p = 0; p < GT_GRAPH_PARTS; p++) {
		uint32_t place = l->candidate[p];

		s->ordinal[p] = place < g->nodes.count && !l->blind ? g->nodes.order[place].ordinal
								    : GT_GRAPH_NO_NODE;
	}
}

/* Return one bit for each kind of packet that needs no signal in this queue. */
static uint32_t unobserved_parts(struct hip_launch *l, const void *queue)
{
	struct touched *where;
	uint32_t bits = 0;

	if (l->unobservable || l->paused)
		return (1u << GT_GRAPH_PARTS) - 1;
	if (!l->span)
		return 0;
	/* this launch must learn if its queue differs from the learned queue */
	if (!l->touched_count)
		l->learning = atomic_load_explicit(&l->graph->learned, memory_order_acquire) != 2 ||
			      !l->graph->last_count || l->graph->last[0].queue != queue;
	where = get_touched(l, queue);
	for (int p = 0; p < GT_GRAPH_PARTS; p++) {
		uint32_t place = l->candidate[p];

		if (!is_observed(l, where, place))
			bits |= 1u << p;
		else if (where && place < l->graph->nodes.count &&
			 l->graph->nodes.order[place].last && l->learning)
			where->last = place;
	}
	return bits;
}

/* Skip all packets before that of the last node, if the launch has so far proceeded like the
 * learning launch and the reserved packet directly follows the first node's packet. */
static bool skip_middle(struct hip_launch *l, const void *queue)
{
	const struct course *c = &l->graph->course;

	if (!l->span || l->ordered || l->learning || !l->has_course || l->skips || !c->count ||
	    l->course.count != c->first + 2 || l->course.first != c->first ||
	    c->last < c->first + 2 || l->graph->last[0].queue != queue || l->wrong || l->blind ||
	    gt_tool_activity_asked(GT_DOMAIN_HSA_CORE))
		return false;
	l->skips = true;
	l->shared.queue = queue;
	l->shared.unobserved_left = l->shared.unobserved_all = c->last - c->first - 2;
	l->course.count = c->last;
	l->at = c->place;
	return true;
}

/* Check whether a launch that skipped packets followed the learned course. If not, mark the
 * launch's end with a gputap packet. */
static void check_course(struct hip_launch *l)
{
	struct hip_graph *g = l->graph;
	struct gt_node_ref s = {.graph = g->number, .replay = l->replay, .span = l->span};

	if (!l->wrong && !l->shared.unobserved_left && l->course.count == g->course.count &&
	    l->course.last == g->course.last)
		return;
	g->course.count = 0;
	if (g->odd++ < ODD_MOST)
		/* the next launch learns again */
		atomic_store_explicit(&g->learned, 0, memory_order_release);
	gt_graph_span_add_part(l->span);
	l->parts++;
	gt_graph_mark_end(l->shared.queue, &s);
}

static void open_span(struct hip_launch *l)
{
	const struct hip_graph *g = l->graph;
	const struct gt_thread *t = &gt_thread;

	l->late_span = false;
	l->span = gt_graph_span_open(
		&(struct gt_graph_span_head){.id = t->api_id,
					     .start = t->api_start,
					     .graph = g->number,
					     .replay = l->replay,
					     .name = g->name,
					     .nodes = g->nodes.count,
					     .handle = (uintptr_t)atomic_load(&g->handle),
					     .domain = GT_DOMAIN_HIP});
	l->unobservable = !l->span;
}

static void assign_node(struct gt_graph_launch *shared, const void *queue, uint64_t number,
			struct gt_node_ref *s)
{
	struct hip_launch *l = get_launch(shared);

	settle_packet(l);
	l->course.count++;
	if (gt_unlikely(l->late_span))
		open_span(l);
	if (l->span && skip_middle(l, queue)) {
		set_ordinals(l, s);
		s->unobserved = (1u << GT_GRAPH_PARTS) - 1;
		return;
	}
	for (int p = 0; p < GT_GRAPH_PARTS; p++)
		l->candidate[p] = get_place(l, (enum gt_graph_part)p, false);
	set_ordinals(l, s);
	s->unobserved = l->unobserved = unobserved_parts(l, queue);
	l->queue = queue;
	l->number = number;
}

/* Return true if this copy is the next chunk of the previous copy. Large copies from or to memory
 * that is not pinned are split into chunks. */
static bool same_copy(const struct hip_launch *l, const void *destination, const void *source)
{
	return l->copied && l->copied % (1 << 20) == 0 &&
	       (destination == l->destination || source == l->source);
}

static void assign_copy(struct gt_graph_launch *shared, const void *destination, const void *source,
			uint64_t bytes, struct gt_node_ref *s)
{
	struct hip_launch *l = get_launch(shared);

	settle_packet(l);
	l->copies = true;
	if (gt_unlikely(l->ordered))
		note_submitted(l, GT_GRAPH_COPY);
	for (int p = 0; p < GT_GRAPH_PARTS; p++)
		l->candidate[p] =
			get_place(l, (enum gt_graph_part)p, same_copy(l, destination, source));
	set_ordinals(l, s);
	s->unobserved = l->unobservable || l->paused ? (1u << GT_GRAPH_PARTS) - 1 : 0;
	if (l->span) {
		gt_graph_span_add_part(l->span);
		l->parts++;
	}
	if (l->candidate[GT_GRAPH_COPY] < l->graph->nodes.count) {
		l->at = l->candidate[GT_GRAPH_COPY] + 1;
		l->last_part = GT_GRAPH_COPY;
		l->last_place = l->candidate[GT_GRAPH_COPY];
	}
	l->destination = (const char *)destination + bytes;
	l->source = (const char *)source + bytes;
	l->copied = bytes;
}

GT_PROVIDE(gt_graph_nodes) = {.assign_node = assign_node, .assign_copy = assign_copy};

/* Step 3: learn the observed order for later launches. */
static void learn_course(struct hip_launch *l, struct gt_thread *t)
{
	struct hip_graph *g = l->graph;
	uint32_t none = 0;

	if (l->skips)
		return; /* already learned from an earlier launch */
	if (l->at && !l->wrong && g->nodes.order[l->at].next[GT_GRAPH_KERNEL] != g->nodes.count)
		l->wrong = true;
	if (l->wrong && !l->blind && !atomic_exchange(&g->wrong, 1))
		gt_event_write(t, GT_EVENT_GRAPH, GT_DOMAIN_HIP, g->number,
			       "the graph's kernels arrived in another order than its nodes");
	if (l->wrong || !l->span || !l->touched_count || l->touched_count == QUEUES_MAX ||
	    !atomic_compare_exchange_strong(&g->learned, &none, 1))
		return;
	memcpy(g->last, l->touched, sizeof g->last);
	g->last_count = l->touched_count;
	g->course = l->course;
	if (l->touched_count != 1 || l->copies || !l->has_course)
		g->course.count = 0;
	atomic_store_explicit(&g->learned, 2, memory_order_release);
}

/* Return true if kernels are the graph's only activities. */
static bool only_kernels(const struct hip_graph *g)
{
	const struct gt_hip_nodes *n = &g->nodes;

	return n->count && n->order[0].next[GT_GRAPH_COPY] == n->count &&
	       n->order[0].next[GT_GRAPH_FILL] == n->count;
}

static void enter_order(struct hip_launch *l, struct gt_thread *t, const struct gt_call *call,
			void *stream, bool own)
{
	struct hip_graph *g = l->graph;
	bool only = only_kernels(g);

	gt_hip_order_add_launch(t, call->table,
				&(struct gt_hip_ordered_launch){.stream = stream,
								.own = own,
								.apart = g->nodes.apart && !only,
								.graph = g->number,
								.replay = l->replay,
								.name = g->name,
								.handle = (uintptr_t)atomic_load(
									&g->handle),
								.nodes = share_nodes(g)});
	l->ordered = true;
	l->late_span = only && !l->paused && gt_recording.session->mode == GT_MODE_LITE;
}

/* End a launch in a submit order. If the launching thread has submitted some but not all of the
 * launch's kernels, it is unknown which kernels the stream's thread submits. */
static void leave_order(struct hip_launch *l, struct gt_thread *t, int ret)
{
	uint32_t kernels = count_kind(l->graph, GT_HIP_NODE_KERNEL);
	bool all = kernels && l->kernels == kernels && !l->strange,
	     none = !l->kernels && !l->strange;

	l->late_span = false;
	l->strange = !all;
	if (l->span && !all) {
		gt_graph_span_add_part(l->span);
		gt_graph_span_lose_part(l->span, t);
	}
	gt_hip_order_end_launch(all, all && only_kernels(l->graph), !all && !none);
	gt_submit_order_end_call(t, (uint64_t)ret);
}

static int launch_graph(const struct gt_call *call, void *exec, void *stream, bool own)
{
	gt_hip_hipGraphLaunch_fn *real = (gt_hip_hipGraphLaunch_fn *)call->tap->real;
	struct gt_thread *t = call->thread ? call->thread : gt_thread_own();
	struct hip_graph *g = t && exec && !t->graph && !t->internal ? find_graph(exec) : NULL;
	uint64_t api_id, api_start;
	struct hip_launch l;
	int ret;

	if (!g)
		return real(exec, stream);
	if (gt_unlikely(g->written != g->nodes.count))
		write_object(g, t);
	api_id = t->api_id;
	api_start = t->api_start;
	if (!api_id) { /* the call is not recorded, but the launch needs an id */
		t->api_id = __atomic_fetch_add(&t->next_id, 1, __ATOMIC_RELAXED);
		t->api_start = call->start ? call->start : gt_ticks();
	}
	memset(&l, 0, offsetof(struct hip_launch, touched));
	l.touched_count = 0;
	l.copied = 0;
	l.graph = g;
	l.replay = atomic_fetch_add_explicit(&g->replays, 1, memory_order_relaxed) + 1;
	l.blind = g->nodes.uncertain || atomic_load_explicit(&g->wrong, memory_order_relaxed);
	l.paused = !gt_launches_are_recorded(GT_DOMAIN_HSA_CORE);
	l.last_part = GT_GRAPH_PARTS;
	if (gt_unlikely(gt_tap_options
				.submit_orders)) /* HIP's threads submit all or part of a launch */
		enter_order(&l, t, call, stream, own);
	else if (gt_recording.session->mode == GT_MODE_LITE && !l.paused)
		open_span(&l);
	t->graph = &l.shared;
	ret = real(exec, stream);
	if (gt_unlikely(l.shared.deferred_in != NULL))
		gt_graph_assign_deferred(&l.shared, true);
	if (l.skips)
		gt_graph_flush_held(&l.shared);
	t->graph = NULL;
	settle_packet(&l);
	if (gt_unlikely(l.ordered))
		leave_order(&l, t, ret);
	if (l.skips)
		check_course(&l);
	if (l.unobservable) {
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
	} else if (l.span) {
		if (l.parts)
			gt_device_seen(t, GT_DOMAIN_HSA_CORE);
		gt_graph_span_close(l.span, t);
	}
	if (ret == 0 && !(l.ordered && l.strange))
		learn_course(&l, t);
	t->api_id = api_id;
	t->api_start = api_start;
	return ret;
}

int gt_hip_wrap_hipGraphLaunch(const struct gt_call *call, void *exec, void *stream)
{
	return launch_graph(call, exec, stream, false);
}

int gt_hip_wrap_hipGraphLaunch_spt(const struct gt_call *call, void *exec, void *stream)
{
	return launch_graph(call, exec, stream, true);
}
