/* SPDX-License-Identifier: MIT */
/* The public functions of libgputap-plugin. Plug-ins are loaded once per process; at most one
 * session is open. The child of a fork has its parent's plug-ins, and no open session. */
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
#define LOAD_NS      UINT64_C(5000000000)
#define CALL_NS      UINT64_C(10000000000)

/* recursive, because a plug-in may fork() while it is being enabled */
static pthread_mutex_t the_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/* guarded: true if vendors' session functions are called in expendable threads */
static bool loaded, guarded;
static _Atomic bool session_open;
/* true while a guarded call is in progress, without the lock; the plug-in may fork() */
static bool changing;
static uint32_t session_number, reading;

/* Loading ---------------------------------------------------------------------- */

struct loading {
	struct gt_plugin_seeker seeker; /* must be the first member */
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

/* Data of a loading call, which outlives the caller if the call does not return. */
struct load_call {
	int index;
	char why[900], path[];
};

/* Make a guarded call. The caller holds the lock, which is released during the call. */
static bool guard(const char *plugin, const char *what, void (*call)(void *data), void *data,
		  uint64_t limit_ns)
{
	bool is_done;

	changing = true;
	pthread_mutex_unlock(&the_lock);
	is_done = gt_plugin_guard(plugin, what, call, data, limit_ns);
	pthread_mutex_lock(&the_lock);
	changing = false;
	return is_done;
}

static void load_now(void *data)
{
	struct load_call *c = data;

	c->index = gt_plugin_list_load(c->path, c->why, sizeof c->why);
}

/* Load a plug-in after a trial in a separate process, which shows whether the plug-in kills or
 * blocks a process. Return values are those of gt_plugin_list_load(). */
static int load_guarded(const char *path, char *why, size_t size)
{
	struct gt_plugin_trial trial;
	struct load_call *c;
	int index;

	if (gt_plugin_is_unsafe(path, why, size))
		return -EPERM;
	gt_plugin_try(path, &trial);
	c = trial.good ? calloc(1, sizeof *c + strlen(path) + 1) : NULL;
	if (!c) {
		snprintf(why, size, "%s", trial.good ? "no memory" : trial.why);
		return -ENOEXEC;
	}
	strcpy(c->path, path);
	if (!guard(path, "its registration", load_now, c, LOAD_NS)) {
		snprintf(why, size, "its registration does not return in this process");
		return -ENOEXEC;
	}
	index = c->index;
	snprintf(why, size, "%s", c->why);
	free(c);
	return index;
}

static void load_one(struct gt_plugin_seeker *seeker, const char *path)
{
	char why[900];
	int index;

	gt_plugin_prepare();
	index = guarded ? load_guarded(path, why, sizeof why)
			: gt_plugin_list_load(path, why, sizeof why);
	if (index == -EPERM)
		report_sentence(seeker, "plug-in %s is not loaded: %s", path, why);
	else if (index == -ENOEXEC)
		report_sentence(seeker, "plug-in %s is not used: %s", path, why);
}

static void before_fork(void)
{
	pthread_mutex_lock(&the_lock);
	gt_plugin_list_lock();
	for (uint32_t i = 0; i < gt_plugin_list_count(); i++)
		pthread_mutex_lock(&gt_plugin_at(i)->buffers.lock);
}

static void after_fork(void)
{
	for (uint32_t i = 0; i < gt_plugin_list_count(); i++)
		pthread_mutex_unlock(&gt_plugin_at(i)->buffers.lock);
	gt_plugin_list_unlock();
	pthread_mutex_unlock(&the_lock);
}

static void in_child(void)
{
	static const pthread_mutex_t free_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	after_fork();
	the_lock = free_lock; /* the locking thread had another id in the parent */
	gt_plugin_buffers_begin(0, BUFFER_BYTES, MEMORY_BYTES);
	for (uint32_t i = 0; i < gt_plugin_list_count(); i++) {
		struct gt_plugin *p = gt_plugin_at(i);

		atomic_store(&p->streaming, false);
		for (int who = 0; who < GT_PLUGIN_READERS; who++) {
			gt_plugin_buffers_clear(p, &p->readers[who]);
			p->readers[who].enabled = 0;
		}
	}
	session_open = changing = false;
}

static void prepare_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

void gt_plugin_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare_forks);
}

int gputap_plugins_load(const struct gputap_plugins_opts *opts)
{
	struct loading loading = {.seeker = {load_one, report_sentence}};
	const char *path;
	int count;

	if (!gt_plugin_take_struct(&loading.opts, sizeof loading.opts, opts) ||
	    loading.opts.flags & ~(uint32_t)(GPUTAP_PLUGINS_NO_FOLDERS | GPUTAP_PLUGINS_GUARDED) ||
	    loading.opts.reserved)
		return -EINVAL;
	pthread_mutex_lock(&the_lock);
	if (!loaded) {
		loaded = true;
		guarded = loading.opts.flags & GPUTAP_PLUGINS_GUARDED;
		path = loading.opts.path      ? loading.opts.path
		       : getauxval(AT_SECURE) ? NULL
					      : getenv("KINETO_PLUGIN_PATH");
		gt_plugin_find(&loading.seeker, path,
			       !(loading.opts.flags & GPUTAP_PLUGINS_NO_FOLDERS));
	}
	count = (int)gt_plugin_list_count();
	pthread_mutex_unlock(&the_lock);
	return count;
}

int gputap_plugins_at(uint32_t index, struct gputap_plugin *plugin)
{
	struct gputap_plugin about;
	const struct gt_plugin *p;

	if (index >= gt_plugin_list_count())
		return -ENOENT;
	p = gt_plugin_at(index);
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
	return plugin && gt_plugin_give_struct(plugin, &about, sizeof about) ? 0 : -EINVAL;
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
	if (index >= gt_plugin_list_count() ||
	    !(stream ? describe_stream : describe_device)(gt_plugin_at(index), &found))
		return -ENOENT;
	gt_plugin_give_struct(row, &found, sizeof found);
	return 0;
}

/* Sessions --------------------------------------------------------------------- */

static void learn_devices(struct gt_plugin *p, struct gt_plugin_reader *r)
{
	pu1ClockKind kind = p->calls.clock.kind ? p->calls.clock.kind() : PU1_CLOCK_REALTIME;

	if ((uint32_t)kind > PU1_CLOCK_DEVICE) {
		gt_plugin_refuse(p, r, "pu1.clock", 0, PU1_ERROR_INVALID);
		kind = PU1_CLOCK_REALTIME;
	}
	p->clock = kind;
	p->device_count = p->calls.rows.device_count ? p->calls.rows.device_count() : -1;
	r->device_count = p->device_count;
}

/* Return the kinds that the plug-in's stream has enabled, or 0. The session must not disable these
 * kinds. */
static uint64_t streamed_kinds(const struct gt_plugin *p)
{
	return atomic_load(&p->streaming) ? p->readers[GT_PLUGIN_STREAM].enabled : 0;
}

/* Start one plug-in. Return true if the plug-in records anything. */
static bool start_one(struct gt_plugin *p, uint32_t index,
		      const struct gputap_plugins_session *session)
{
	struct gt_plugin_reader *r = &p->readers[GT_PLUGIN_SESSION];
	uint64_t asked = p->about.kinds & (session->kinds ? session->kinds : UINT64_MAX),
		 streamed = streamed_kinds(p);

	memset((void *)r->counts, 0, sizeof r->counts);
	r->error[0] = '\0';
	r->begun_ns = gt_plugin_now();
	/* discard records of activities that were in flight when the last session ended */
	if (p->has_callbacks && !streamed)
		gt_plugin_refuse(p, r, "pu1FlushAll", 0, p->calls.flush());
	gt_plugin_retire(p, r);
	r->dropped_before = gt_plugin_dropped(p);
	r->enabled = 0;
	if (!asked || (!streamed && !gt_plugin_set_callbacks(p, index, r)))
		return false;
	if (session->config && p->calls.config.set)
		gt_plugin_refuse(p, r, "pu1.config", 0, p->calls.config.set(session->config));
	learn_devices(p, r);
	gt_plugin_clock_read(p, false);
	if (p->calls.window.begins)
		p->calls.window.begins(gt_plugin_now());
	r->enabled = (asked & streamed) | gt_plugin_enable(p, r, asked & ~streamed);
	return r->enabled != 0;
}

/* Wait for the devices. Activities that still run afterwards are late, which is not a failure of
 * the plug-in. */
static void wait_for_device(struct gt_plugin *p, struct gt_plugin_reader *r)
{
	pu1Result result = p->calls.synchronize.wait
				   ? p->calls.synchronize.wait(GT_PLUGIN_SYNCHRONIZE_NS)
				   : PU1_SUCCESS;

	if (result != PU1_ERROR_ORDER)
		gt_plugin_refuse(p, r, "pu1.synchronize", 0, result);
}

static void stop_one(struct gt_plugin *p)
{
	struct gt_plugin_reader *r = &p->readers[GT_PLUGIN_SESSION];

	if (!r->enabled)
		return;
	if (p->calls.window.ends && !streamed_kinds(p))
		p->calls.window.ends(gt_plugin_now());
	gt_plugin_disable(p, r, r->enabled & ~streamed_kinds(p));
	wait_for_device(p, r);
	gt_plugin_refuse(p, r, "pu1FlushAll", 0, p->calls.flush());
	gt_plugin_clock_read(p, true);
	if (!atomic_load(&p->streaming))
		gt_plugin_buffers_count_kept(p, r);
	r->counts[GPUTAP_PLUGIN_DROPPED] = gt_plugin_dropped(p) - r->dropped_before;
}

/* Data of a session's call that starts or stops one plug-in. The data outlives the caller if the
 * call does not return. */
struct session_call {
	struct gt_plugin *plugin;
	uint32_t index;
	struct gputap_plugins_session session;
	bool records;
	char config[];
};

static void start_now(void *data)
{
	struct session_call *c = data;

	c->records = start_one(c->plugin, c->index, &c->session);
}

static void stop_now(void *data)
{
	struct session_call *c = data;

	stop_one(c->plugin);
}

static void abandon(struct gt_plugin *p, uint32_t index, const char *what)
{
	struct gt_plugin_reader *r = &p->readers[GT_PLUGIN_SESSION];

	gt_plugin_list_abandon(index);
	gt_plugin_count(r, GPUTAP_PLUGIN_REFUSED);
	snprintf(r->error, sizeof r->error,
		 "%s does not return: it is not called again, and its records are lost", what);
}

/* Start the plug-in for @session, or stop the plug-in if @session is NULL. Return true if the
 * plug-in records. */
static bool call_one(struct gt_plugin *p, uint32_t index,
		     const struct gputap_plugins_session *session)
{
	const char *what = session ? "its start" : "its stop",
		   *config = session && session->config ? session->config : NULL;
	struct session_call *c;
	bool records;

	if (atomic_load(&p->abandoned))
		return false;
	c = guarded ? calloc(1, sizeof *c + (config ? strlen(config) : 0) + 1) : NULL;
	if (!c) {
		if (!session)
			stop_one(p);
		return session && start_one(p, index, session);
	}
	c->plugin = p;
	c->index = index;
	if (session)
		c->session = *session;
	if (config)
		c->session.config = strcpy(c->config, config);
	if (!guard(p->about.name, what, session ? start_now : stop_now, c, CALL_NS)) {
		abandon(p, index, what);
		return false;
	}
	records = c->records;
	free(c);
	return records;
}

int gputap_plugins_start(const struct gputap_plugins_session *session)
{
	struct gputap_plugins_session s;
	int recording = 0;

	if (!gt_plugin_take_struct(&s, sizeof s, session) || s.reserved ||
	    (s.buffer_bytes &&
	     (s.buffer_bytes < BUFFER_BYTES_LEAST || s.buffer_bytes > BUFFER_BYTES_MOST)))
		return -EINVAL;
	pthread_mutex_lock(&the_lock);
	if (session_open || changing) {
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
	for (uint32_t i = 0; i < gt_plugin_list_count(); i++)
		recording += call_one(gt_plugin_at(i), i, &s);
	pthread_mutex_unlock(&the_lock);
	return recording;
}

int gputap_plugins_session_active(void)
{
	return (int)atomic_load_explicit(&session_open, memory_order_relaxed);
}

int gputap_plugins_stop(void)
{
	pthread_mutex_lock(&the_lock);
	if (!session_open || changing) {
		pthread_mutex_unlock(&the_lock);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < gt_plugin_list_count(); i++)
		call_one(gt_plugin_at(i), i, NULL);
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
	while (n < count && reading < gt_plugin_list_count()) {
		struct gt_plugin *p = gt_plugin_at(reading);
		struct gt_plugin_reader *r = &p->readers[GT_PLUGIN_SESSION];

		if (!atomic_load(&p->abandoned) && gt_plugin_next(p, reading, r, &records[n])) {
			gt_plugin_count(r, GPUTAP_PLUGIN_RECORDS);
			n++;
		} else {
			reading++;
		}
	}
	if (!n)
		/* the owner of the `take` function may be unloaded now */
		gt_plugin_buffers_give(NULL, NULL);
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
	[GPUTAP_PLUGIN_BAD_NAME] = "name repaired",
	[GPUTAP_PLUGIN_BAD_GRAPH] = "unknown graph",
	[GPUTAP_PLUGIN_NO_CORRELATION] = "no correlation",
	[GPUTAP_PLUGIN_OVERRUN] = "buffer overrun",
	[GPUTAP_PLUGIN_BAD_BUFFER] = "wrong buffer",
	[GPUTAP_PLUGIN_KEPT_BUFFER] = "buffer kept",
	[GPUTAP_PLUGIN_BAD_WALK] = "walk broken off",
	[GPUTAP_PLUGIN_LATE] = "of an earlier session",
	[GPUTAP_PLUGIN_BAD_BYTES] = "impossible bytes",
};

uint64_t gputap_plugins_count(uint32_t index, enum gputap_plugin_count what)
{
	uint64_t sum = 0;

	if (what >= GPUTAP_PLUGIN_COUNT_COUNT)
		return 0;
	for (uint32_t i = 0; i < gt_plugin_list_count(); i++)
		if (index == i || index == UINT32_MAX)
			sum += gt_plugin_at(i)->readers[GT_PLUGIN_SESSION].counts[what];
	return sum;
}

const char *gputap_plugins_count_name(enum gputap_plugin_count what)
{
	return what < GPUTAP_PLUGIN_COUNT_COUNT ? count_names[what] : NULL;
}

const char *gputap_plugins_error(uint32_t index)
{
	const struct gt_plugin_reader *r =
		index < gt_plugin_list_count() ? &gt_plugin_at(index)->readers[GT_PLUGIN_SESSION]
					       : NULL;

	return r && r->error[0] ? r->error : NULL;
}
