/* SPDX-License-Identifier: MIT */
/* Keeps the list of the plug-ins that this process has loaded. A file is loaded once. The entry of
 * a file is complete when the count includes it, and is never removed.
 *
 *   1. The thread that loads a file notes the file's inode, with the lock held.
 *   2. The thread loads and registers the plug-in without the lock, because this step runs the
 *      vendor's code.
 *   3. The thread adds the entry, with the lock held, and increments the count (release).
 * Another thread that requests the same file during these steps is refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin/plugin_parts.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gt_plugin plugins[GT_PLUGINS_MOST];
static struct gputap_plugin_stacks stacks[GT_PLUGINS_MOST];
static _Atomic uint32_t plugin_count;
static struct file_claim {
	dev_t device;
	ino_t inode;
} claims[GT_PLUGINS_MOST]; /* files being loaded; inode 0: free */

uint32_t gt_plugin_list_count(void)
{
	return atomic_load_explicit(&plugin_count, memory_order_acquire);
}

struct gt_plugin *gt_plugin_at(uint32_t index)
{
	return &plugins[index];
}

void gt_plugin_list_lock(void)
{
	pthread_mutex_lock(&lock);
}

void gt_plugin_list_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

const struct gputap_plugin_stacks *gputap_plugins_stacks(void)
{
	return gt_plugin_list_count() ? stacks : NULL;
}

static int ignore_id(uint64_t id)
{
	(void)id;
	return 0;
}

static int no_pop(void)
{
	return 0;
}

static void set_stacks(struct gputap_plugin_stacks *s, const struct gt_plugin_calls *calls)
{
	s->push = (int (*)(uint64_t))calls->push;
	s->pop = (int (*)(void))calls->pop;
	s->push_user = calls->user.push ? (int (*)(uint64_t))calls->user.push : ignore_id;
	s->pop_user = calls->user.push && calls->user.pop ? (int (*)(void))calls->user.pop : no_pop;
}

void gt_plugin_list_abandon(uint32_t index)
{
	atomic_store(&plugins[index].abandoned, true);
	stacks[index] = (struct gputap_plugin_stacks){ignore_id, no_pop, ignore_id, no_pop};
}

static void init_buffers(void)
{
	gt_plugin_buffers_init(plugins, GT_PLUGINS_MOST);
}

/* Return the index of the file's plug-in; -EBUSY if another thread is loading it; -ENOENT if this
 * thread must load it now; -EPERM if the list is full. */
static int claim_file(const struct stat *st, struct file_claim **claim)
{
	uint32_t count = gt_plugin_list_count(), claimed = 0;

	for (uint32_t i = 0; i < count; i++)
		if (plugins[i].device == st->st_dev && plugins[i].inode == st->st_ino)
			return (int)i;
	*claim = NULL;
	for (uint32_t i = 0; i < GT_PLUGINS_MOST; i++) {
		struct file_claim *c = &claims[i];

		if (c->inode == st->st_ino && c->device == st->st_dev)
			return -EBUSY;
		claimed += c->inode != 0;
		if (!c->inode)
			*claim = c;
	}
	if (!*claim || count + claimed >= GT_PLUGINS_MOST)
		return -EPERM;
	**claim = (struct file_claim){st->st_dev, st->st_ino};
	return -ENOENT;
}

/* Add an entry. The caller holds the lock. */
static int add_entry(const struct gt_plugin *made, const struct stat *st)
{
	uint32_t index = gt_plugin_list_count();
	struct gt_plugin *p = &plugins[index];

	p->handle = made->handle;
	p->path = made->path;
	p->device = st->st_dev;
	p->inode = st->st_ino;
	p->about = made->about;
	p->abi = made->abi;
	p->groups = made->groups;
	p->calls = made->calls;
	p->loaded_real_ns = made->loaded_real_ns;
	p->loaded_boot_ns = made->loaded_boot_ns;
	set_stacks(&stacks[index], &p->calls);
	atomic_store_explicit(&plugin_count, index + 1, memory_order_release);
	return (int)index;
}

static int open_claimed(struct file_claim *claim, const char *path, const struct stat *st,
			char *why, size_t size)
{
	struct gt_plugin *made = calloc(1, sizeof *made);
	bool good = made && gt_plugin_open(made, path, why, size);
	int index = -ENOEXEC;

	if (!made)
		snprintf(why, size, "no memory");
	gt_plugin_list_lock();
	claim->inode = 0;
	if (good)
		index = add_entry(made, st);
	gt_plugin_list_unlock();
	if (made && !good)
		free(made->path);
	free(made);
	return index;
}

int gt_plugin_list_load(const char *path, char *why, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct file_claim *claim = NULL;
	struct stat st;
	int index;

	pthread_once(&once, init_buffers);
	if (gt_plugin_is_unsafe(path, why, size))
		return -EPERM;
	if (stat(path, &st))
		return -ENOENT;
	gt_plugin_list_lock();
	index = claim_file(&st, &claim);
	gt_plugin_list_unlock();
	if (index == -EPERM)
		snprintf(why, size, "%d plug-ins are loaded already", GT_PLUGINS_MOST);
	return index == -ENOENT ? open_claimed(claim, path, &st, why, size) : index;
}

/* Failures and kinds of a plug-in ------------------------------------------------------ */

uint64_t gt_plugin_dropped(const struct gt_plugin *p)
{
	uint64_t sum = 0;

	for (int kind = 1; p->calls.drops.dropped && kind < PU1_KIND_COUNT; kind++)
		sum += p->calls.drops.dropped((pu1ActivityKind)kind);
	return sum;
}

static const char *const kind_names[PU1_KIND_COUNT] = {[PU1_KIND_CONCURRENT_KERNEL] = "kernel",
						       [PU1_KIND_GPU_MEMCPY] = "memcpy",
						       [PU1_KIND_GPU_MEMSET] = "memset",
						       [PU1_KIND_PRIVATEUSE1_RUNTIME] = "runtime",
						       [PU1_KIND_PRIVATEUSE1_DRIVER] = "driver",
						       [PU1_KIND_SYNCHRONIZATION] =
							       "synchronization",
						       [PU1_KIND_COUNTER] = "counter"};

static const char *result_name(pu1Result result)
{
	switch (result) {
	case PU1_ERROR_INVALID: return "invalid";
	case PU1_ERROR_NOT_SUPPORTED: return "not supported";
	case PU1_ERROR_ORDER: return "wrong order";
	case PU1_ERROR_NO_MEMORY: return "no memory";
	case PU1_ERROR_DEVICE: return "the device failed";
	case PU1_ERROR_FORKED: return "the device belongs to the parent process";
	default: return "unknown result";
	}
}

void gt_plugin_refuse(struct gt_plugin *p, struct gt_plugin_reader *r, const char *function,
		      uint32_t kind, pu1Result result)
{
	char said[192] = "";
	const char *text;

	if (result == PU1_SUCCESS)
		return;
	gt_plugin_count(r, GPUTAP_PLUGIN_REFUSED);
	if (r->error[0])
		return;
	text = p->calls.errors.text ? p->calls.errors.text() : NULL;
	if (text)
		gt_plugin_mend(said, sizeof said, text, strnlen(text, sizeof said - 1), false);
	snprintf(r->error, sizeof r->error, "%s(%s): %s%s%s", function,
		 kind ? kind_names[kind] : "", result_name(result), said[0] ? ": " : "", said);
}

bool gt_plugin_set_callbacks(struct gt_plugin *p, uint32_t index, struct gt_plugin_reader *r)
{
	pu1Result result =
		p->calls.callbacks(gt_plugin_request_of(index), gt_plugin_complete_of(index));

	gt_plugin_refuse(p, r, "pu1TracingSetCallbacks", 0, result);
	p->has_callbacks |= result == PU1_SUCCESS;
	return result == PU1_SUCCESS;
}

uint64_t gt_plugin_enable(struct gt_plugin *p, struct gt_plugin_reader *r, uint64_t kinds)
{
	uint64_t enabled = 0;
	pu1Result result;

	for (uint32_t kind = 1; kind < PU1_KIND_COUNT; kind++) {
		if (!(kinds >> kind & 1))
			continue;
		result = p->calls.enable((pu1ActivityKind)kind);
		gt_plugin_refuse(p, r, "pu1TracingEnable", kind, result);
		if (result == PU1_SUCCESS)
			enabled |= UINT64_C(1) << kind;
	}
	return enabled;
}

void gt_plugin_disable(struct gt_plugin *p, struct gt_plugin_reader *r, uint64_t kinds)
{
	for (uint32_t kind = 1; kind < PU1_KIND_COUNT; kind++)
		if (kinds >> kind & 1)
			gt_plugin_refuse(p, r, "pu1TracingDisable", kind,
					 p->calls.disable((pu1ActivityKind)kind));
}

/* Structs of callers ------------------------------------------------------------------- */

bool gt_plugin_take_struct(void *to, size_t size, const void *from)
{
	size_t theirs;

	memset(to, 0, size);
	if (!from)
		return true;
	memcpy(&theirs, from, sizeof theirs);
	if (theirs < sizeof theirs)
		return false;
	for (size_t i = size; i < theirs; i++)
		if (((const char *)from)[i])
			return false;
	memcpy(to, from, theirs < size ? theirs : size);
	return true;
}

bool gt_plugin_give_struct(void *to, const void *from, size_t size)
{
	size_t theirs;

	memcpy(&theirs, to, sizeof theirs);
	if (theirs < sizeof theirs)
		return false;
	memcpy((char *)to + sizeof theirs, (const char *)from + sizeof theirs,
	       (theirs < size ? theirs : size) - sizeof theirs);
	return true;
}
