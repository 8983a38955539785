/* SPDX-License-Identifier: MIT */
/* The public functions of libgputap-plugin. Plug-ins are loaded once a process; a session is open
 * or not. In the child of a fork the plug-ins are those of the parent, and no session is open. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "plugin/plugin_parts.h"

enum { BUFFER_BYTES = 1 << 20, BUFFER_BYTES_LEAST = 4096, BUFFER_BYTES_MOST = 1 << 30 };
#define MEMORY_BYTES (UINT64_C(4) << 30)

/* recursive: a plug-in may fork() when it is enabled */
static pthread_mutex_t the_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct gt_plugin plugins[GT_PLUGINS_MOST];
static struct gputap_plugin_stacks stacks[GT_PLUGINS_MOST];
static uint32_t plugin_count;
static bool loaded, session_open;
static uint32_t session_number, reading;

/* Whether a caller's struct can be read: it may be shorter or, if the rest is zero, longer. */
static bool take_struct(void *to, size_t size, const void *from)
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

/* Fill in a caller's struct, of which it knows so many bytes. */
static bool give_struct(void *to, const void *from, size_t size)
{
	size_t theirs;

	memcpy(&theirs, to, sizeof theirs);
	if (theirs < sizeof theirs)
		return false;
	memcpy((char *)to + sizeof theirs, (const char *)from + sizeof theirs,
	       (theirs < size ? theirs : size) - sizeof theirs);
	return true;
}

/* Loading ---------------------------------------------------------------------- */

struct loading {
	struct gt_plugin_seeker seeker; /* first */
	struct gputap_plugins_opts opts;
};

static void report_sentence(struct gt_plugin_seeker *seeker, const char *format, ...)
{
	const struct gputap_plugins_opts *opts = &((struct loading *)seeker)->opts;
	char sentence[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(sentence, sizeof sentence, format, list);
	va_end(list);
	if (opts->message)
		opts->message(sentence, opts->user);
	else
		fprintf(stderr, "gputap: %s\n", sentence);
}

static bool is_there(const struct stat *st)
{
	for (uint32_t i = 0; i < plugin_count; i++)
		if (plugins[i].device == st->st_dev && plugins[i].inode == st->st_ino)
			return true;
	return false;
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

static void load_one(struct gt_plugin_seeker *seeker, const char *path)
{
	struct gt_plugin *p = &plugins[plugin_count];
	char why[900];
	struct stat st;

	if (gt_plugin_is_unsafe(path, why, sizeof why)) {
		report_sentence(seeker, "plug-in %s is not loaded: %s", path, why);
		return;
	}
	if (stat(path, &st) || is_there(&st))
		return;
	if (plugin_count == GT_PLUGINS_MOST) {
		report_sentence(seeker, "plug-in %s is not loaded: %d are there already", path,
				GT_PLUGINS_MOST);
		return;
	}
	if (!gt_plugin_open(p, path, why, sizeof why)) {
		report_sentence(seeker, "plug-in %s is not used: %s", path, why);
		free(p->path);
		*p = (struct gt_plugin){.buffers = p->buffers};
		p->buffers.last = &p->buffers.first;
		return;
	}
	p->device = st.st_dev;
	p->inode = st.st_ino;
	set_stacks(&stacks[plugin_count], &p->calls);
	plugin_count++;
}

static void before_fork(void)
{
	pthread_mutex_lock(&the_lock);
	for (uint32_t i = 0; i < plugin_count; i++)
		pthread_mutex_lock(&plugins[i].buffers.lock);
}

static void after_fork(void)
{
	for (uint32_t i = 0; i < plugin_count; i++)
		pthread_mutex_unlock(&plugins[i].buffers.lock);
	pthread_mutex_unlock(&the_lock);
}

static void in_child(void)
{
	static const pthread_mutex_t free_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	after_fork();
	the_lock = free_lock; /* it was locked by a thread of another number */
	gt_plugin_buffers_begin(0, BUFFER_BYTES, MEMORY_BYTES);
	for (uint32_t i = 0; i < plugin_count; i++)
		gt_plugin_buffers_clear(&plugins[i]);
	session_open = false;
}

int gputap_plugins_load(const struct gputap_plugins_opts *opts)
{
	struct loading loading = {.seeker = {load_one, report_sentence}};
	const char *path;
	int count;

	if (!take_struct(&loading.opts, sizeof loading.opts, opts) ||
	    loading.opts.flags & ~(uint32_t)GPUTAP_PLUGINS_NO_FOLDERS || loading.opts.reserved)
		return -EINVAL;
	pthread_mutex_lock(&the_lock);
	if (!loaded) {
		path = loading.opts.path      ? loading.opts.path
		       : getauxval(AT_SECURE) ? NULL
					      : getenv("KINETO_PLUGIN_PATH");
		gt_plugin_buffers_init(plugins, GT_PLUGINS_MOST);
		gt_plugin_find(&loading.seeker, path,
			       !(loading.opts.flags & GPUTAP_PLUGINS_NO_FOLDERS));
		if (plugin_count)
			pthread_atfork(before_fork, after_fork, in_child);
		loaded = true;
	}
	count = (int)plugin_count;
	pthread_mutex_unlock(&the_lock);
	return count;
}

int gputap_plugins_at(uint32_t index, struct gputap_plugin *plugin)
{
	struct gputap_plugin about;
	const struct gt_plugin *p;

	if (index >= plugin_count)
		return -ENOENT;
	p = &plugins[index];
	about = (struct gputap_plugin){
		.path = p->path,
		.name = p->about.name,
		.vendor = p->about.vendor,
		.version = p->about.version,
		.abi = p->abi,
		.kinds = p->about.kinds,
		.groups = p->groups,
	};
	if (p->calls.rows.device_count) {
		int32_t count = p->calls.rows.device_count();

		about.device_count = count > 0 ? (uint32_t)count : 0;
	}
	return plugin && give_struct(plugin, &about, sizeof about) ? 0 : -EINVAL;
}

static bool describe_device(const struct gt_plugin *p, struct gputap_plugin_row *out)
{
	pu1DeviceRow row = {.size = sizeof row};

	if (!p->calls.rows.device || p->calls.rows.device(out->device, &row) != PU1_SUCCESS)
		return false;
	gt_plugin_mend(out->name, sizeof out->name, row.name ? row.name : "",
		       row.name ? strnlen(row.name, sizeof out->name - 1) : 0, false);
	if (!out->name[0])
		snprintf(out->name, sizeof out->name, "%.100s %d", p->about.name, out->device);
	out->memory_bytes = row.memory_bytes;
	out->stream_count = row.stream_count;
	return true;
}

static bool describe_stream(const struct gt_plugin *p, struct gputap_plugin_row *out)
{
	pu1StreamRow row = {.size = sizeof row};

	if (!p->calls.rows.stream ||
	    p->calls.rows.stream(out->device, out->stream, &row) != PU1_SUCCESS)
		return false;
	gt_plugin_mend(out->name, sizeof out->name, row.name ? row.name : "",
		       row.name ? strnlen(row.name, sizeof out->name - 1) : 0, false);
	if (!out->name[0])
		snprintf(out->name, sizeof out->name, "stream %d", out->stream);
	out->handle = row.handle;
	out->priority = row.priority;
	return true;
}

int gputap_plugins_row(uint32_t index, int32_t device, int32_t stream,
		       struct gputap_plugin_row *row)
{
	struct gputap_plugin_row found = {.device = device, .stream = stream};

	if (!row || row->size < sizeof row->size)
		return -EINVAL;
	if (index >= plugin_count ||
	    !(stream ? describe_stream : describe_device)(&plugins[index], &found))
		return -ENOENT;
	give_struct(row, &found, sizeof found);
	return 0;
}

const struct gputap_plugin_stacks *gputap_plugins_stacks(void)
{
	return plugin_count ? stacks : NULL;
}

/* Sessions --------------------------------------------------------------------- */

static uint64_t dropped_by(const struct gt_plugin *p)
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
	case PU1_ERROR_FORKED: return "the device is the parent process's";
	default: return "unknown result";
	}
}

/* Count a failure of @function; the session's first one is kept, with what the plug-in says. */
static void refuse(struct gt_plugin *p, const char *function, uint32_t kind, pu1Result result)
{
	char said[192] = "";
	const char *text;

	if (result == PU1_SUCCESS)
		return;
	gt_plugin_count(p, GPUTAP_PLUGIN_REFUSED);
	if (p->error[0])
		return;
	text = p->calls.errors.text ? p->calls.errors.text() : NULL;
	if (text)
		gt_plugin_mend(said, sizeof said, text, strnlen(text, sizeof said - 1), false);
	snprintf(p->error, sizeof p->error, "%s(%s): %s%s%s", function,
		 kind ? kind_names[kind] : "", result_name(result), said[0] ? ": " : "", said);
}

static void learn_devices(struct gt_plugin *p)
{
	pu1ClockKind kind = p->calls.clock.kind ? p->calls.clock.kind() : PU1_CLOCK_REALTIME;

	if ((uint32_t)kind > PU1_CLOCK_DEVICE) {
		refuse(p, "pu1.clock", 0, PU1_ERROR_INVALID);
		kind = PU1_CLOCK_REALTIME;
	}
	p->clock = kind;
	p->device_count = p->calls.rows.device_count ? p->calls.rows.device_count() : -1;
}

/* Return: whether it records anything. */
static bool start_one(struct gt_plugin *p, uint32_t index,
		      const struct gputap_plugins_session *session)
{
	pu1Result result;

	memset((void *)p->counts, 0, sizeof p->counts);
	p->error[0] = '\0';
	gt_plugin_buffers_clear(p);
	p->dropped_before = dropped_by(p);
	p->asked = p->about.kinds & (session->kinds ? session->kinds : UINT64_MAX);
	p->enabled = 0;
	if (!p->asked)
		return false;
	result = p->calls.callbacks(gt_plugin_request_of(index), gt_plugin_complete_of(index));
	refuse(p, "pu1TracingSetCallbacks", 0, result);
	if (result != PU1_SUCCESS)
		return false;
	if (session->config && p->calls.config.set)
		refuse(p, "pu1.config", 0, p->calls.config.set(session->config));
	learn_devices(p);
	gt_plugin_clock_read(p, false);
	if (p->calls.window.begins)
		p->calls.window.begins(gt_plugin_now());
	for (uint32_t kind = 1; kind < PU1_KIND_COUNT; kind++)
		if (p->asked >> kind & 1) {
			result = p->calls.enable((pu1ActivityKind)kind);
			refuse(p, "pu1TracingEnable", kind, result);
			if (result == PU1_SUCCESS)
				p->enabled |= 1u << kind;
		}
	return p->enabled != 0;
}

int gputap_plugins_start(const struct gputap_plugins_session *session)
{
	struct gputap_plugins_session s;
	int recording = 0;

	if (!take_struct(&s, sizeof s, session) || s.reserved ||
	    (s.buffer_bytes &&
	     (s.buffer_bytes < BUFFER_BYTES_LEAST || s.buffer_bytes > BUFFER_BYTES_MOST)))
		return -EINVAL;
	pthread_mutex_lock(&the_lock);
	if (session_open) {
		pthread_mutex_unlock(&the_lock);
		return -EBUSY;
	}
	gt_plugin_lines_clear();
	gt_plugin_buffers_give(s.take_pages, s.user);
	reading = 0;
	session_open = true;
	gt_plugin_buffers_begin(++session_number ? session_number : ++session_number,
				s.buffer_bytes ? (s.buffer_bytes + 63u) & ~63u : BUFFER_BYTES,
				s.memory_bytes ? s.memory_bytes : MEMORY_BYTES);
	for (uint32_t i = 0; i < plugin_count; i++)
		recording += start_one(&plugins[i], i, &s);
	pthread_mutex_unlock(&the_lock);
	return recording;
}

static void stop_one(struct gt_plugin *p)
{
	if (!p->enabled)
		return;
	if (p->calls.window.ends)
		p->calls.window.ends(gt_plugin_now());
	for (uint32_t kind = 1; kind < PU1_KIND_COUNT; kind++)
		if (p->enabled >> kind & 1)
			refuse(p, "pu1TracingDisable", kind,
			       p->calls.disable((pu1ActivityKind)kind));
	refuse(p, "pu1FlushAll", 0, p->calls.flush());
	gt_plugin_clock_read(p, true);
	gt_plugin_buffers_end(p);
	p->counts[GPUTAP_PLUGIN_DROPPED] = dropped_by(p) - p->dropped_before;
}

int gputap_plugins_stop(void)
{
	pthread_mutex_lock(&the_lock);
	if (!session_open) {
		pthread_mutex_unlock(&the_lock);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < plugin_count; i++)
		stop_one(&plugins[i]);
	gt_plugin_buffers_begin(0, BUFFER_BYTES, MEMORY_BYTES);
	session_open = false;
	pthread_mutex_unlock(&the_lock);
	return 0;
}

long gputap_plugins_read(struct gputap_plugin_record *records, size_t count)
{
	size_t n = 0;

	if (session_open)
		return -EBUSY;
	while (n < count && reading < plugin_count) {
		if (gt_plugin_next(&plugins[reading], reading, &records[n])) {
			plugins[reading].counts[GPUTAP_PLUGIN_RECORDS]++;
			n++;
		} else {
			reading++;
		}
	}
	if (!n)
		gt_plugin_buffers_give(NULL, NULL); /* who was to take them may go */
	return (long)n;
}

/* Counts ----------------------------------------------------------------------- */

static const char *const count_names[GPUTAP_PLUGIN_COUNT_COUNT] = {
	[GPUTAP_PLUGIN_RECORDS] = "records",
	[GPUTAP_PLUGIN_DROPPED] = "dropped by the plug-in",
	[GPUTAP_PLUGIN_NO_BUFFER] = "no buffer",
	[GPUTAP_PLUGIN_REFUSED] = "refused by the plug-in",
	[GPUTAP_PLUGIN_BAD_SIZE] = "wrong size",
	[GPUTAP_PLUGIN_BAD_PLACE] = "wrong place",
	[GPUTAP_PLUGIN_BAD_KIND] = "unknown kind",
	[GPUTAP_PLUGIN_BAD_TIME] = "wrong times",
	[GPUTAP_PLUGIN_BAD_DEVICE] = "unknown device",
	[GPUTAP_PLUGIN_BAD_STREAM] = "unknown stream",
	[GPUTAP_PLUGIN_BAD_COUNTER] = "unknown counter",
	[GPUTAP_PLUGIN_NO_NAME] = "no name",
	[GPUTAP_PLUGIN_BAD_NAME] = "name mended",
	[GPUTAP_PLUGIN_BAD_GRAPH] = "unknown graph",
	[GPUTAP_PLUGIN_NO_CORRELATION] = "no correlation",
	[GPUTAP_PLUGIN_OVERRUN] = "buffer overrun",
	[GPUTAP_PLUGIN_BAD_BUFFER] = "wrong buffer",
	[GPUTAP_PLUGIN_KEPT_BUFFER] = "buffer kept",
	[GPUTAP_PLUGIN_BAD_WALK] = "walk broken off",
};

uint64_t gputap_plugins_count(uint32_t index, uint32_t what)
{
	uint64_t sum = 0;

	if (what >= GPUTAP_PLUGIN_COUNT_COUNT)
		return 0;
	for (uint32_t i = 0; i < plugin_count; i++)
		if (index == i || index == UINT32_MAX)
			sum += plugins[i].counts[what];
	return sum;
}

const char *gputap_plugins_count_name(uint32_t what)
{
	return what < GPUTAP_PLUGIN_COUNT_COUNT ? count_names[what] : NULL;
}

const char *gputap_plugins_error(uint32_t index)
{
	return index < plugin_count && plugins[index].error[0] ? plugins[index].error : NULL;
}
