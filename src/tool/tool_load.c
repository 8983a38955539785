/* SPDX-License-Identifier: MIT */
/* Finds, starts and finishes tools.
 *
 *   GPUTAP_TOOLS, gputap_tool_describe() ──► FOUND ── start() ──► STARTED ── finish() ──► FREE
 *   gputap_tool_add() ──────────────────────────┘
 *
 * tool_start.c decides when tools are started. A tool's functions are called without a lock, in the
 * calling thread. Each tool keeps its library mapped (a reference, released when the tool is
 * removed), so a program that closes the library does not unmap it. A fault of a tool causes an
 * event and a line on stderr; the program continues. */
#include "tool/tool_load.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/late.h"
#include "core/recording.h"
#include "core/subscriber.h"
#include "core/elf.h"
#include "record/operation.h"
#include "tool/tool_activity.h"

static_assert(GT_DOMAIN_COUNT <= 64, "loaded_tool.told");
enum { TOOLS = 32, DESCRIBERS = 256, TEXT_BYTES = 1024 };

enum { FREE = 0, FOUND, STARTING, STARTED, FINISHING };

struct loaded_tool {
	const struct gputap_tool *tool;
	const char *arguments; /* "" if the tool has no arguments */
	/* reference to the tool's library; NULL if the tool is in the program or if no reference
	 * was possible */
	void *library;
	_Atomic uint32_t state;
	bool on_first_call; /* GPUTAP_TOOL_ON_FIRST_CALL */
	bool is_late;       /* found or added while the program was running */
	uint64_t told;      /* one bit for each domain whose missed calls were reported */
	uint32_t age;
	/* stack position of the caller of start() or finish() while that function runs */
	uintptr_t frame;
	struct loaded_tool *outer; /* tool whose start() or finish() called this tool */
};

typedef const struct gputap_tool *describe_fn(uint32_t version);

/* gt_core_lock() protects `tool`, and changes of `state` from and to FREE */
static struct loaded_tool entries[TOOLS];
static uint32_t ages;
/* true once finish_all() or finish_early() has started; finish_early() finishes only tools without
 * a separate exit() handler */
static _Atomic uint32_t finishing, finishing_early;
/* true if a late tool has started, and the runtimes that the program used before are not taken over
 * for it yet */
static _Atomic bool owes_takeover;
/* The tool whose start() or finish() runs in this thread. If an exception or longjmp() left start()
 * or finish(), `frame` is deeper in the stack than the current function. */
static _Thread_local struct loaded_tool *current __attribute__((tls_model("initial-exec")));
/* arguments of the tool whose describe() runs */
static _Thread_local const char *asked __attribute__((tls_model("initial-exec")));

static const struct loaded_tool *innermost(const void *here)
{
	const struct loaded_tool *e = current;

	while (e && e->frame <= (uintptr_t)here)
		e = e->outer;
	return e;
}

const struct gputap_tool *gt_tool_current(void)
{
	const struct loaded_tool *e = innermost(__builtin_frame_address(0));

	return e ? e->tool : NULL;
}

const char *gputap_tool_arguments(void)
{
	const struct loaded_tool *e = asked ? NULL : innermost(__builtin_frame_address(0));

	return asked ? asked : e ? e->arguments : "";
}

int32_t gt_tool_priority(void)
{
	const struct gputap_tool *tool = gt_tool_current();

	return tool ? tool->priority : 0;
}

/* Reporting ------------------------------------------------------------------ */

__attribute__((format(printf, 1, 2))) static void report_fault(const char *format, ...)
{
	char text[TEXT_BYTES] = "gputap: ";
	const size_t prefix = strlen(text);
	va_list list;
	size_t bytes;

	va_start(list, format);
	vsnprintf(text + prefix, sizeof text - prefix - 1, format, list);
	va_end(list);
	gt_event_write(gt_thread_own(), GT_EVENT_TOOL, GT_DOMAIN_NONE, 0, text + prefix);
	if (getenv("GPUTAP_QUIET"))
		return;
	bytes = strlen(text);
	text[bytes++] = '\n';
	if (write(STDERR_FILENO, text, bytes) < 0)
		return; /* the text is lost if stderr cannot be written */
}

static const char *get_tool_name(const struct gputap_tool *tool)
{
	return tool->name ? tool->name : "a tool without a name";
}

/* The list ------------------------------------------------------------------- */

/* Take a reference to the library that contains a description. Return NULL for the program, or if
 * no reference is possible. */
static void *keep_library(const struct gputap_tool *tool)
{
	struct link_map *map = NULL;
	Dl_info where;

	if (!dladdr1(tool, &where, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name[0])
		return NULL;
	return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

static bool starts_on_first_call(const struct gputap_tool *tool)
{
	return tool->size >= offsetof(struct gputap_tool, flags) + sizeof tool->flags &&
	       tool->flags & GPUTAP_TOOL_ON_FIRST_CALL;
}

static bool is_late(void)
{
	bool late = false;

	for (const struct gt_tool_attach *a = GT_PROVIDED(gt_tool_attach);
	     a < GT_PROVIDED_END(gt_tool_attach); a++)
		late |= a->is_late && a->is_late();
	return late;
}

/* Add an entry in @state. If the tool already has an entry in FOUND and @state is STARTING, take
 * that entry. Return 0 or the error. */
static int enter_tool(const struct gputap_tool *tool, uint32_t state, struct loaded_tool **out)
{
	struct loaded_tool *unused = NULL, *there = NULL;
	const bool late = is_late();
	uint32_t found = FOUND;
	int rc;

	gt_core_lock();
	for (int i = TOOLS; i-- > 0;) {
		struct loaded_tool *e = &entries[i];

		if (atomic_load(&e->state) == FREE)
			unused = e;
		else if (e->tool == tool)
			there = e;
	}
	rc = there ? -EALREADY : unused ? 0 : -ENOSPC;
	if (there && state == STARTING &&
	    atomic_compare_exchange_strong(&there->state, &found, STARTING)) {
		*out = there;
		rc = 0;
	} else if (rc == 0) {
		*out = unused;
		(*out)->tool = tool;
		(*out)->arguments = "";
		(*out)->library = NULL;
		(*out)->told = 0;
		(*out)->on_first_call = starts_on_first_call(tool);
		(*out)->is_late = late;
		(*out)->age = ++ages;
		atomic_store(&(*out)->state, state);
	}
	gt_core_unlock();
	return rc;
}

static void leave_tool(struct loaded_tool *e)
{
	gt_core_lock();
	e->tool = NULL;
	atomic_store(&e->state, FREE);
	gt_core_unlock();
}

/* Check a description. Report a fault and return -EINVAL if it is unusable. @from: the library or
 * entry that contains the description. */
static int check_tool(const struct gputap_tool *tool, const char *from)
{
	const size_t needed = offsetof(struct gputap_tool, flags);

	if (tool->size < needed) {
		report_fault("%s is not used: the tool's description has %zu bytes, but needs %zu",
			     from, tool->size, needed);
		return -EINVAL;
	}
	if (tool->abi != GPUTAP_TOOL_ABI) {
		report_fault("%s: %s is not used: it was built for version %u of the tool API, "
			     "this gputap has version %u",
			     from, get_tool_name(tool), tool->abi, GPUTAP_TOOL_ABI);
		return -EINVAL;
	}
	return 0;
}

/* Starting and finishing ------------------------------------------------------ */

static int call_tool(struct loaded_tool *e, int (*start)(void *), void (*finish)(void *))
{
	int rc = 0;

	e->frame = (uintptr_t)__builtin_frame_address(0);
	e->outer = current;
	current = e;
	if (start)
		rc = start(e->tool->user);
	if (finish)
		finish(e->tool->user);
	current = e->outer;
	return rc;
}

/* Remove a tool and its contexts. */
static void drop_tool(struct loaded_tool *e)
{
	gt_tool_contexts_destroy(e->tool);
	gt_subscribers_remove(e->tool);
	leave_tool(e);
}

/* Remove the tools whose functions an exception or longjmp() left. (The compiler's cleanup would
 * need libgcc_s in every program.) */
static void drop_abandoned(const void *here)
{
	while (current && current->frame <= (uintptr_t)here) {
		struct loaded_tool *e = current;

		current = e->outer;
		report_fault("%s is not used: an exception or jump left its %s",
			     get_tool_name(e->tool),
			     atomic_load(&e->state) == STARTING ? "start()" : "finish()");
		drop_tool(e);
	}
}

static void finish_all(void);

static int start_tool(struct loaded_tool *e)
{
	const struct gputap_tool *tool = e->tool;
	int rc;

	atomic_store(&e->state, STARTING);
	if (e->is_late)
		atomic_store(&owes_takeover, true);
	if (!e->library)
		e->library = keep_library(tool);
	if (e->on_first_call)
		atexit(finish_all); /* runs after the handlers that start() registers */
	rc = call_tool(e, tool->start, NULL);
	if (rc == 0) {
		atomic_store(&e->state, STARTED);
		return 0;
	}
	drop_tool(e);
	report_fault("%s is not used: its start() returned %d", get_tool_name(tool), rc);
	return rc;
}

/* Claim a tool and finish it. Return false if another thread finishes the tool, or if the tool was
 * not started. */
static bool finish_tool(struct loaded_tool *e)
{
	uint32_t started = STARTED;

	if (!atomic_compare_exchange_strong(&e->state, &started, FINISHING))
		return false;
	call_tool(e, NULL, e->tool->finish);
	return true;
}

static bool comes_before(const struct loaded_tool *a, const struct loaded_tool *b)
{
	return a->tool->priority != b->tool->priority ? a->tool->priority < b->tool->priority
						      : a->age < b->age;
}

/* Return the first or the last tool in a state, or NULL. Unless @all, ignore tools that start on
 * the first call. */
static struct loaded_tool *pick_tool(uint32_t wanted, bool last, bool all)
{
	struct loaded_tool *found = NULL;

	gt_core_lock();
	for (int i = 0; i < TOOLS; i++) {
		struct loaded_tool *e = &entries[i];

		if (atomic_load(&e->state) == wanted && (all || !e->on_first_call) &&
		    (!found || comes_before(e, found) != last))
			found = e;
	}
	gt_core_unlock();
	return found;
}

static void finish_all(void)
{
	struct loaded_tool *e;

	if (!atomic_load(&gt_recording.tools) || atomic_exchange(&finishing, 1))
		return;
	gt_tool_activity_end();
	/* Finish the last tool first. Finish all tools before stopping any, since tools may use
	 * each other */
	while ((e = pick_tool(STARTED, true, true)))
		finish_tool(e);
	gt_tool_contexts_stop_all();
}

/* Finish the tools without GPUTAP_TOOL_ON_FIRST_CALL, after notifying of completed activities.
 * These tools may still be notified of activities that complete meanwhile. Other tools continue. */
static void finish_early(void)
{
	struct loaded_tool *e;

	if (atomic_exchange(&finishing_early, 1))
		return;
	gt_tool_activity_settle();
	while ((e = pick_tool(STARTED, true, false)))
		finish_tool(e);
	for (int i = 0; i < TOOLS; i++)
		if (atomic_load(&entries[i].state) == FINISHING)
			gt_tool_contexts_stop_of(entries[i].tool);
}

static bool is_anyone_staying(void)
{
	for (int i = 0; i < TOOLS; i++) {
		uint32_t state = atomic_load(&entries[i].state);

		if (entries[i].on_first_call && (state == STARTING || state == STARTED))
			return true;
	}
	return false;
}

void gt_tools_finish(void)
{
	if (is_anyone_staying())
		finish_early();
	else
		finish_all();
}

static void at_exit(void)
{
	gt_tools_finish();
}

void gt_tools_finish_at_exit(void)
{
	enum { ENOUGH = 16 };
	static _Atomic uint32_t registered;

	/* handlers run in reverse order, so this handler runs before those of the mapped
	 * libraries */
	if (atomic_load(&gt_recording.tools) && !atomic_load(&finishing) &&
	    atomic_fetch_add(&registered, 1) < ENOUGH)
		atexit(at_exit);
}

/* Finding --------------------------------------------------------------------- */

struct describers {
	/* number of functions in all[], and how many of them have been called */
	unsigned count, asked;
	struct {
		describe_fn *fn;
		const char *arguments;
		char from[256];
	} all[DESCRIBERS];
};

static void add_describer(struct describers *d, describe_fn *fn, const char *from,
			  const char *arguments)
{
	for (unsigned i = 0; i < d->count; i++)
		if (d->all[i].fn == fn)
			return;
	if (d->count == DESCRIBERS)
		return;
	d->all[d->count].fn = fn;
	d->all[d->count].arguments = arguments;
	snprintf(d->all[d->count++].from, sizeof d->all[0].from, "%.255s",
		 from && *from ? from : "the program");
}

/* Find a function that the object itself exports. Libraries linked with the object do not count. */
static describe_fn *exported(const struct gt_elf *o)
{
	struct gt_symbols s;
	ElfW(Sym) *symbol =
		gt_symbols_of(o, &s) ? gt_symbol_find(&s, "gputap_tool_describe") : NULL;

	return symbol && (symbol->st_info & 15) == STT_FUNC
		       ? (describe_fn *)(uintptr_t)(o->base + symbol->st_value)
		       : NULL;
}

static int find_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct gt_elf o = {info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, NULL,
			   info->dlpi_name};
	describe_fn *fn;

	(void)size;
	for (unsigned i = 0; i < o.header_count; i++)
		if (o.headers[i].p_type == PT_DYNAMIC)
			o.dynamic = (const ElfW(Dyn) *)(o.base + o.headers[i].p_vaddr);
	fn = exported(&o);
	if (fn)
		add_describer(data, fn, info->dlpi_name, "");
	return 0;
}

static void find_named(struct describers *d, const char *path, const char *arguments)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL); /* stays open */
	struct link_map *map;
	struct gt_elf o;
	describe_fn *fn;

	if (!handle) {
		report_fault("GPUTAP_TOOLS: %s", dlerror());
		return;
	}
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
		return;
	o = (struct gt_elf){.base = map->l_addr, .dynamic = map->l_ld};
	fn = exported(&o);
	if (fn)
		add_describer(d, fn, path, arguments);
	else
		report_fault(
			"GPUTAP_TOOLS: %s is not a tool: it has no function gputap_tool_describe()",
			path);
}

static const char *named_tools(void)
{
	const char *list = secure_getenv("GPUTAP_TOOLS");

	return list && list[strspn(list, ":")] ? list : NULL;
}

bool gt_tools_are_hidden(void)
{
	/* RTLD_DEFAULT would also search the scope of gputap's library */
	void *program = dlopen(NULL, RTLD_LAZY);
	bool hidden =
		!program || dlsym(program, "gputap_tool_add") != (void *)(uintptr_t)gputap_tool_add;

	if (program)
		dlclose(program);
	return hidden;
}

bool gt_tools_expected(void)
{
	return named_tools() || dlsym(RTLD_DEFAULT, "gputap_tool_describe");
}

/* Decode "%3a" and "%25". Return a permanent text. */
static const char *decoded(const char *text)
{
	char *out = strdup(text), *to = out;

	for (; to && *text; to++) {
		unsigned code;

		*to = *text++;
		if (*to == '%' && sscanf(text, "%2x", &code) == 1 &&
		    strspn(text, "0123456789abcdefABCDEF") >= 2) {
			*to = (char)code;
			text += 2;
		}
	}
	if (!to)
		return "";
	*to = '\0';
	return out;
}

/* Load one entry of GPUTAP_TOOLS. */
static void add_named_tool(struct describers *d, char *entry)
{
	char *equals = access(entry, F_OK) == 0 ? NULL : strchr(entry, '=');

	if (equals)
		*equals = '\0';
	if (*entry)
		find_named(d, entry, equals ? decoded(equals + 1) : "");
}

static const struct gputap_tool *ask_tool(describe_fn *fn, const char *arguments)
{
	const struct gputap_tool *tool;

	asked = arguments;
	tool = fn(GT_TOOL_VERSION);
	asked = NULL;
	return tool;
}

static struct describers describers; /* protected by `searching` */
static _Atomic uint32_t searching, begun, opened;
/* number of objects that the linker had added at the last look */
static _Atomic unsigned long long adds_known;

/* Call the describe functions that were not called before. */
static void find_tools(const char *list, bool everywhere)
{
	struct describers *d = &describers;
	char entry[2 * PATH_MAX];

	if (atomic_exchange(&searching, 1)) {
		/* another thread is searching, or a tool's describe() has opened a library; search
		 * again later */
		atomic_store(&opened, 1);
		return;
	}
	for (size_t n; list && *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ":");
		if (n >= sizeof entry)
			continue;
		memcpy(entry, list, n);
		entry[n] = '\0';
		add_named_tool(d, entry);
	}
	if (everywhere)
		dl_iterate_phdr(find_one, d);
	for (unsigned i = d->asked; i < d->count; d->asked = ++i) {
		const struct gputap_tool *tool = ask_tool(d->all[i].fn, d->all[i].arguments);
		struct loaded_tool *e;
		int rc;

		if (!tool || check_tool(tool, d->all[i].from))
			continue;
		rc = enter_tool(tool, FOUND, &e);
		if (rc == 0) {
			e->arguments = d->all[i].arguments;
			/* the program may close the library before the tool is started */
			e->library = keep_library(tool);
		}
		if (rc == -ENOSPC)
			report_fault("%s is not used: %d tools are loaded already",
				     get_tool_name(tool), TOOLS);
	}
	atomic_store(&searching, 0);
}

static int read_adds(struct dl_phdr_info *info, size_t size, void *adds)
{
	(void)size;
	*(unsigned long long *)adds = info->dlpi_adds;
	return 1;
}

static unsigned long long count_adds(void)
{
	unsigned long long adds = 0;

	dl_iterate_phdr(read_adds, &adds);
	return adds;
}

bool gt_tools_find(void)
{
	const bool is_first = !atomic_exchange(&begun, 1), is_opened = atomic_exchange(&opened, 0);

	if (is_first) {
		gt_recording_init();
		atomic_store(&adds_known, count_adds());
	}
	if (is_first || is_opened)
		find_tools(is_first ? named_tools() : NULL,
			   is_opened || gt_tools_are_hidden() ||
				   dlsym(RTLD_DEFAULT, "gputap_tool_describe"));
	return pick_tool(FOUND, false, true);
}

void gt_tools_opened(void)
{
	atomic_store(&opened, 1);
	atomic_store(&gt_recording.pending, gt_tools_start);
	gt_contexts_refresh();
}

void gt_tools_look(void)
{
	static pid_t process;
	unsigned long long adds;

	/* a fork's child might wait forever for the linker's lock */
	if (!atomic_load(&begun) || (process && process != getpid()))
		return;
	process = getpid();
	adds = count_adds();
	if (atomic_exchange(&adds_known, adds) == adds)
		return;
	atomic_store(&opened, 1);
	if (gt_tools_find() && !atomic_load(&gt_recording.pending)) {
		atomic_store(&gt_recording.pending, gt_tools_start);
		gt_contexts_refresh();
	}
}

/* Runtimes -------------------------------------------------------------------- */

void gt_tools_attach(void)
{
	for (const struct gt_tool_attach *a = GT_PROVIDED(gt_tool_attach);
	     a < GT_PROVIDED_END(gt_tool_attach); a++)
		if (a->begin)
			a->begin();
}

static void look_for_runtimes(void)
{
	for (const struct gt_tool_attach *a = GT_PROVIDED(gt_tool_attach);
	     a < GT_PROVIDED_END(gt_tool_attach); a++)
		if (a->look)
			a->look();
}

/* Calls that a tool misses ------------------------------------------------------------ */

static _Thread_local bool takes_tables __attribute__((tls_model("initial-exec")));

void gt_tools_take_tables(bool begins)
{
	takes_tables = begins;
}

void gt_tools_report_missed(enum gt_domain domain, const char *what)
{
	const struct gputap_tool *tools[TOOLS];
	int count = 0;

	gt_core_lock();
	for (struct loaded_tool *e = entries; e < entries + TOOLS; e++)
		if (atomic_load(&e->state) != FREE && !(e->told >> domain & 1)) {
			e->told |= GT_DOMAIN_BIT(domain);
			tools[count++] = e->tool;
		}
	gt_core_unlock();
	for (int i = 0; i < count; i++)
		report_fault("%s was loaded into a running program: it is not notified of %s; "
			     "preload it (LD_PRELOAD), or start the program %s",
			     get_tool_name(tools[i]), what,
			     gt_recording_is_run() ? "with 'gputap run --tool'"
						   : "under 'gputap run'");
}

/* Report what a runtime cannot give because its program was running already. */
static void report_late(enum gt_domain domain, const char *what)
{
	if (atomic_load(&gt_recording.tools))
		gt_tools_report_missed(domain, what);
}

GT_PROVIDE(gt_late_listener) = {.missing = report_late};

/* Find the missed calls. Under `gputap run`, a runtime's table has taps for the session's
 * operations. */
static void find_missed_calls(void)
{
	uint64_t domains = gt_contexts_find_missed();
	char text[128];

	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		if (domains >> d & 1) {
			snprintf(text, sizeof text, "calls of %s that were not requested before",
				 gt_domain_name((enum gt_domain)d));
			gt_tools_report_missed((enum gt_domain)d, text);
		}
}

bool gt_tools_are_bypassed(void)
{
	for (const struct gt_tool_attach *a = GT_PROVIDED(gt_tool_attach);
	     a < GT_PROVIDED_END(gt_tool_attach); a++)
		if (a->is_bypassing && a->is_bypassing())
			return true;
	return false;
}

void gt_tools_find_missed(void)
{
	const char *what;

	if (takes_tables)
		return;
	for (const struct gt_tool_attach *a = GT_PROVIDED(gt_tool_attach);
	     a < GT_PROVIDED_END(gt_tool_attach); a++) {
		what = a->missed ? a->missed() : NULL;
		if (what) {
			gt_tools_find();
			gt_tools_report_missed(a->domain, what);
		}
	}
	find_missed_calls();
}

void gt_tools_meet_runtime(bool mapped)
{
	void (*start)(void) = atomic_load(&gt_recording.pending);

	if (start)
		start();
	if (!atomic_load(&gt_recording.tools))
		return;
	if (mapped)
		look_for_runtimes();
	gt_tools_finish_at_exit();
}

/* Starting found tools ------------------------------------------------------ */

static struct {
	_Atomic uint32_t busy;
	/* nonzero if the start took too long, or if the starting thread is missing after a fork;
	 * other threads then no longer wait */
	_Atomic uint32_t hangs;
} starting;
/* Frame of the function that starts the tools in this thread. An exception or longjmp() may have
 * left that function, as in the case of `current`. */
static _Thread_local uintptr_t starts_here __attribute__((tls_model("initial-exec")));

static void stop_waiting(void)
{
	atomic_store(&gt_recording.pending, NULL);
	gt_contexts_refresh();
}

/* Wait while another thread starts the tools. Without the wait the tools would miss this call or
 * table. */
static void wait_for_start(const void *here)
{
	enum { NAP_NS = 100000, NAPS = 20000 };
	const struct timespec nap = {0, NAP_NS};
	int saved = errno, n = 0;

	if (starts_here && starts_here <= (uintptr_t)here) {
		starts_here = 0;
		stop_waiting();
		atomic_store(&starting.busy, 0);
	}
	while (!starts_here && !atomic_load(&starting.hangs) && atomic_load(&starting.busy))
		if (syscall(SYS_nanosleep, &nap, NULL) == 0 && ++n == NAPS &&
		    !atomic_exchange(&starting.hangs, 1))
			stop_waiting();
	errno = saved;
}

/* Take over the runtimes that a running program has used before. A runtime that is passing its
 * tables cannot be called; the next call does it then. */
static void take_over(void)
{
	if (takes_tables && atomic_load(&owes_takeover))
		atomic_store(&gt_recording.pending, gt_tools_start);
	if (takes_tables || !atomic_exchange(&owes_takeover, false))
		return;
	for (const struct gt_tool_attach *a = GT_PROVIDED(gt_tool_attach);
	     a < GT_PROVIDED_END(gt_tool_attach); a++)
		if (a->take_over)
			a->take_over();
}

static void start_found(bool all)
{
	struct loaded_tool *e;
	bool started = false;

	if (atomic_load(&finishing))
		return;
	if (atomic_exchange(&starting.busy, 1)) {
		wait_for_start(__builtin_frame_address(0));
		return;
	}
	if (!atomic_load(&gt_recording.pending)) {
		atomic_store(&starting.busy, 0);
		return;
	}
	starts_here = (uintptr_t)__builtin_frame_address(0);
	gt_tools_find();
	if (pick_tool(FOUND, false, all))
		gt_tools_needed();
	for (; (e = pick_tool(FOUND, false, all)) != NULL; started = true)
		start_tool(e);
	atomic_store(&gt_recording.pending, pick_tool(FOUND, false, true) ? gt_tools_start : NULL);
	if (atomic_load(&opened)) /* a tool was opened meanwhile */
		atomic_store(&gt_recording.pending, gt_tools_start);
	gt_contexts_refresh();
	if (atomic_load(&gt_recording.tools))
		look_for_runtimes();
	take_over();
	gt_contexts_refresh();
	if (started)
		gt_tools_find_missed();
	starts_here = 0;
	atomic_store(&starting.busy, 0);
}

void gt_tools_begin(void)
{
	start_found(false);
}

void gt_tools_start(void)
{
	start_found(true);
}

void gt_tools_needed(void)
{
	int saved = errno;

	if (atomic_load_explicit(&gt_recording.tools, memory_order_acquire))
		return;
	gt_recording_join();
	gt_tools_attach();
	gt_tools_finish_at_exit();
	at_quick_exit(finish_all);
	errno = saved;
}

/* Start at a call -------------------------------------------------------------------- */

int gputap_tool_add(const struct gputap_tool *tool)
{
	struct loaded_tool *e;
	int rc;

	if (!tool)
		return -EINVAL;
	drop_abandoned(__builtin_frame_address(0));
	if (atomic_load(&finishing))
		return -ESHUTDOWN;
	rc = check_tool(tool, "gputap_tool_add()");
	rc = rc ? rc : enter_tool(tool, STARTING, &e);
	if (rc)
		return rc;
	gt_tools_needed();
	rc = start_tool(e);
	look_for_runtimes();
	take_over();
	gt_contexts_refresh();
	gt_tools_find_missed();
	return rc;
}

int gputap_tool_remove(const struct gputap_tool *tool)
{
	const void *caller = __builtin_return_address(0);
	struct loaded_tool *found = NULL;
	Dl_info its, callers;
	void *library;

	drop_abandoned(__builtin_frame_address(0));
	gt_core_lock();
	for (int i = 0; i < TOOLS; i++)
		if (tool && entries[i].tool == tool)
			found = &entries[i];
	gt_core_unlock();
	if (!found || !finish_tool(found))
		return -ENOENT;
	library = found->library;
	drop_tool(found);
	/* without the reference, the code that this function returns to may be unmapped */
	if (library && dladdr(tool, &its) && dladdr(caller, &callers) &&
	    its.dli_fbase != callers.dli_fbase)
		dlclose(library);
	return 0;
}
