/* SPDX-License-Identifier: MIT */
/* Looks up entries of the generated tables. The tables of a domain are unpacked on first use and
 * constant afterwards, so any thread may read them without a lock. Operations named in captures are
 * added under a lock, see below. */
#include "record/packed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/domains_info.inc"

static _Atomic(const struct gt_domain_description *) descriptions[GT_DOMAIN_COUNT];

static const char *const domain_names[GT_DOMAIN_COUNT] = {
#define X(number, suffix, name, text) [GT_DOMAIN_##suffix] = name,
	GT_DOMAINS(X)
#undef X
};

static __attribute__((noinline)) const struct gt_domain_description *describe(enum gt_domain domain)
{
	const struct gt_domain_description *made = packed[domain] ? gt_unpack(packed[domain])
								  : NULL,
					   *there = NULL;

	/* if two threads unpack at once, the second result is not used */
	if (made &&
	    !atomic_compare_exchange_strong_explicit(&descriptions[domain], &there, made,
						     memory_order_acq_rel, memory_order_acquire))
		return there;
	return made;
}

static inline const struct gt_domain_description *find_description(enum gt_domain domain)
{
	const struct gt_domain_description *d;

	if ((unsigned)domain >= GT_DOMAIN_COUNT)
		return NULL;
	d = atomic_load_explicit(&descriptions[domain], memory_order_acquire);
	return __builtin_expect(d != NULL, 1) ? d : describe(domain);
}

const struct gt_domain_description *gt_domain_description(enum gt_domain domain)
{
	return find_description(domain);
}

const struct gt_value_name *gt_value_name(const struct gt_type *type, int64_t value)
{
	const struct gt_value_name *names = type->names;
	size_t low = 0, high = type->name_count;

	/* most enums count up from their first value without gaps */
	if (high && (uint64_t)value - (uint64_t)names[0].value < high &&
	    names[(uint64_t)value - (uint64_t)names[0].value].value == value)
		return &names[(uint64_t)value - (uint64_t)names[0].value];
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (names[middle].value == value)
			return &names[middle];
		if (names[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const char *gt_domain_name(enum gt_domain domain)
{
	return (unsigned)domain < GT_DOMAIN_COUNT && domain_names[domain] ? domain_names[domain]
									  : "unknown";
}

enum gt_domain gt_domain_find(const char *name)
{
	for (unsigned i = 0; i < GT_DOMAIN_COUNT; i++)
		if (domain_names[i] && strcmp(domain_names[i], name) == 0)
			return (enum gt_domain)i;
	return GT_DOMAIN_NONE;
}

static bool is_word(const char *name, const char *word, size_t bytes)
{
	return strlen(name) == bytes && memcmp(name, word, bytes) == 0;
}

uint64_t gt_domains_find(const char *word, size_t bytes)
{
	uint64_t set = 0;

	for (unsigned i = 1; bytes && i < GT_DOMAIN_COUNT; i++)
		if (domain_names[i] && (is_word(domain_names[i], word, bytes) ||
					is_word(gt_domain_traits[i].family, word, bytes)))
			set |= GT_DOMAIN_BIT(i);
	return set;
}

size_t gt_operation_count(enum gt_domain domain)
{
	const struct gt_domain_description *d = gt_domain_description(domain);

	return d ? d->operation_count : 0;
}

static uint32_t hash_name(const char *name, size_t bytes)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/* Operations of `relayed` domains, each with the name that its calls were recorded with. Entries
 * are never removed. Readers of captures add entries under `lock`, in several threads. A lookup by
 * number takes no lock, because `infos` does not move, and `count` is stored after the new
 * entry. */
enum { NAMED_MOST = 0xffff - GT_NAMED_FROM };

static struct named_operation {
	pthread_mutex_t lock;
	/* NAMED_MOST entries, indexed by number from GT_NAMED_FROM */
	_Atomic(struct gt_operation_info **) infos;
	_Atomic uint32_t count;
	uint32_t *places; /* hash table of number + 1; 0: free */
	uint32_t room;    /* size of `places`, at least twice `count` */
} named = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct gt_operation_info *find_named(uint32_t op)
{
	uint32_t number = GT_OP_NUMBER(op) - GT_NAMED_FROM;
	struct gt_operation_info *const *infos;
	const struct gt_operation_info *info;

	if (number >= atomic_load_explicit(&named.count, memory_order_acquire))
		return NULL;
	infos = atomic_load_explicit(&named.infos, memory_order_relaxed);
	info = __atomic_load_n(&infos[number], __ATOMIC_ACQUIRE);
	return GT_OP_DOMAIN(info->op) == GT_OP_DOMAIN(op) ? info : NULL;
}

static bool grow_named(void)
{
	uint32_t room = named.room ? 2 * named.room : 256, *places;

	if (!named.infos) /* unused entries take no memory */
		named.infos = calloc(NAMED_MOST, sizeof(struct gt_operation_info *));
	places = named.infos ? calloc(room, sizeof *places) : NULL;
	if (!places)
		return false;
	for (uint32_t i = 0; i < named.room; i++) {
		const char *name = named.places[i] ? named.infos[named.places[i] - 1]->name : NULL;
		uint32_t at = name ? hash_name(name, strlen(name)) & (room - 1) : 0;

		while (name && places[at])
			at = (at + 1) & (room - 1);
		if (name)
			places[at] = named.places[i];
	}
	free(named.places);
	named.places = places;
	named.room = room;
	return true;
}

static struct gt_operation_info *make_named(const struct gt_operation_info *as, const char *name,
					    size_t bytes)
{
	struct gt_operation_info *info = malloc(sizeof *info + bytes + 1);
	char *text = (char *)(info + 1);

	if (!info)
		return NULL;
	*info = *as;
	memcpy(text, name, bytes);
	text[bytes] = '\0';
	info->name = text;
	return info;
}

/* Return true if both operations are in the same group of a domain. Calls with one name may be
 * recorded as two operations: one before gputap knows that they launch, one afterwards. */
static bool is_same_level(const struct gt_operation_info *a, const struct gt_operation_info *b)
{
	return GT_OP_DOMAIN(a->op) == GT_OP_DOMAIN(b->op) && !strcmp(a->group, b->group);
}

/* Learn the kind of a named operation from one call. The kind holds for all calls of that name. The
 * previous entry stays allocated, because readers look up entries without the lock. */
static void learn_kind(uint32_t number, const struct gt_operation_info *as)
{
	struct gt_operation_info *there = named.infos[number], *more;

	if (there->kind != GT_KIND_OTHER || as->kind == GT_KIND_OTHER)
		return;
	more = make_named(as, there->name, strlen(there->name));
	if (more)
		__atomic_store_n(&named.infos[number], more, __ATOMIC_RELEASE);
}

/* Return the number + 1 of the operation with that name, after adding the operation if necessary.
 * Return 0 if full. */
static uint32_t place_named(const struct gt_operation_info *as, const char *name, size_t bytes)
{
	uint32_t at, count = named.count;

	if (2 * count >= named.room && !grow_named())
		return 0;
	for (at = hash_name(name, bytes) & (named.room - 1); named.places[at];
	     at = (at + 1) & (named.room - 1)) {
		const struct gt_operation_info *there = named.infos[named.places[at] - 1];

		if (is_same_level(there, as) && !strncmp(there->name, name, bytes) &&
		    !there->name[bytes]) {
			learn_kind(named.places[at] - 1, as);
			return named.places[at];
		}
	}
	if (count == NAMED_MOST)
		return 0;
	named.infos[count] = make_named(as, name, bytes);
	if (!named.infos[count])
		return 0;
	named.places[at] = count + 1;
	atomic_store_explicit(&named.count, count + 1, memory_order_release);
	return count + 1;
}

uint32_t gt_operation_named(uint32_t op, const char *name, size_t bytes)
{
	const struct gt_operation_info *as = gt_operation(op);
	const uint32_t rest = op & ~UINT32_C(0xffff);
	uint32_t place;

	if (!as || !bytes)
		return op;
	pthread_mutex_lock(&named.lock);
	place = place_named(as, name, bytes);
	pthread_mutex_unlock(&named.lock);
	return place ? rest | (GT_NAMED_FROM + place - 1) : op;
}

const struct gt_operation_info *gt_operation(uint32_t op)
{
	const struct gt_domain_description *d = find_description((enum gt_domain)GT_OP_DOMAIN(op));
	uint32_t number = GT_OP_NUMBER(op);

	if (number >= GT_NAMED_FROM)
		return find_named(op);
	return d && number < d->operation_count && d->operations[number].name
		       ? &d->operations[number]
		       : NULL;
}

const struct gt_operation_info *gt_operation_find(enum gt_domain domain, const char *name)
{
	const struct gt_domain_description *d = gt_domain_description(domain);

	for (size_t i = 0; d && i < d->operation_count; i++)
		if (d->operations[i].name && strcmp(d->operations[i].name, name) == 0)
			return &d->operations[i];
	return NULL;
}

const char *gt_operation_name(uint32_t op)
{
	static _Thread_local char unknown[48];
	const struct gt_operation_info *info = gt_operation(op);

	if (info)
		return info->name;
	snprintf(unknown, sizeof unknown, "%s#%u", gt_domain_name((enum gt_domain)GT_OP_DOMAIN(op)),
		 GT_OP_NUMBER(op));
	return unknown;
}

const char *gt_operation_text(uint32_t op)
{
	const unsigned domain = GT_OP_DOMAIN(op), number = GT_OP_NUMBER(op);
	const struct gt_packed_domain *p = domain < GT_DOMAIN_COUNT ? packed[domain] : NULL;
	size_t low = 0, high = p ? p->operation_count : 0;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (GT_OP_NUMBER(p->operations[middle].op) < number)
			low = middle + 1;
		else
			high = middle;
	}
	return p && low < p->operation_count && GT_OP_NUMBER(p->operations[low].op) == number
		       ? p->texts + p->operations[low].name
		       : "";
}

bool gt_call_status(uint32_t op, uint64_t ret, const uint64_t *args, int32_t *status)
{
	const struct gt_operation_info *info = gt_operation(op);
	int arg = info ? info->status_arg : -2;

	if (arg == -2)
		return false;
	if (arg == -1) {
		*status = (int32_t)ret;
		return true;
	}
	if ((unsigned)arg < GT_OP_NARGS(op)) {
		*status = (int32_t)args[arg];
		return true;
	}
	/* the call was recorded without arguments: the status replaces the NULL that a failed call
	 * returns (record.h). */
	*status = (int64_t)ret < 0 && (int64_t)ret >= INT32_MIN ? (int32_t)ret : 0;
	return *status < 0 || ret != 0;
}

static bool has_status(const int32_t *statuses, unsigned count, int32_t status)
{
	for (unsigned i = 0; i < count; i++)
		if (statuses[i] == status)
			return true;
	return false;
}

bool gt_status_failed(enum gt_domain domain, int32_t status)
{
	const struct gt_domain_description *d = gt_domain_description(domain);

	if (!d || !d->successes)
		return status < 0;
	return !has_status(d->successes, d->success_count, status);
}

bool gt_status_refused(enum gt_domain domain, int32_t status)
{
	const struct gt_domain_description *d = gt_domain_description(domain);

	return d && has_status(d->refusals, d->refusal_count, status);
}

const char *gt_status_name(enum gt_domain domain, int32_t status)
{
	const struct gt_domain_description *d = gt_domain_description(domain);
	const struct gt_value_name *name =
		d && d->status_type ? gt_value_name(&d->types[d->status_type], status) : NULL;

	return name ? name->name : NULL;
}

#define NAME_OF(table, i) \
	((size_t)(i) < sizeof table / sizeof *table && table[i] ? table[i] : "unknown")

const char *gt_operation_kind_name(enum gt_operation_kind kind)
{
	static const char *const names[GT_KIND_COUNT] = {
		[GT_KIND_OTHER] = "other",
		[GT_KIND_LAUNCH] = "launch",
		[GT_KIND_COPY] = "memcpy",
		[GT_KIND_SET] = "memset",
		[GT_KIND_ALLOCATION] = "allocation",
		[GT_KIND_FREE] = "free",
		[GT_KIND_SYNCHRONISATION] = "synchronisation",
		[GT_KIND_MARKER] = "marker",
		[GT_KIND_RETAIN] = "retain",
	};

	return NAME_OF(names, kind);
}

const char *gt_memory_name(enum gt_memory memory)
{
	static const char *const names[] = {
		[GT_MEMORY_UNKNOWN] = "unknown", [GT_MEMORY_HOST] = "host",
		[GT_MEMORY_DEVICE] = "device",   [GT_MEMORY_SHARED] = "shared",
		[GT_MEMORY_VIRTUAL] = "virtual", [GT_MEMORY_IMAGE] = "image",
		[GT_MEMORY_POOL] = "pool",       [GT_MEMORY_REGISTERED] = "registered",
	};
	return NAME_OF(names, memory);
}

const char *gt_device_op_name(enum gt_device_op op)
{
	static const char *const names[GT_DEVICE_OP_COUNT] = {
		[GT_DEVICE_KERNEL] = "kernel",
		[GT_DEVICE_READ] = "memcpy D2H",
		[GT_DEVICE_WRITE] = "memcpy H2D",
		[GT_DEVICE_COPY] = "memcpy D2D",
		[GT_DEVICE_FILL] = "memset",
		[GT_DEVICE_MAP] = "map",
		[GT_DEVICE_UNMAP] = "unmap",
		[GT_DEVICE_MIGRATE] = "migrate",
		[GT_DEVICE_MARKER] = "marker",
		[GT_DEVICE_BARRIER] = "barrier",
		[GT_DEVICE_COMMAND_BUFFER] = "command buffer",
		[GT_DEVICE_NATIVE] = "native",
		[GT_DEVICE_OTHER] = "other",
		[GT_DEVICE_GRAPH] = "graph",
		[GT_DEVICE_SCRATCH] = "scratch",
	};

	return NAME_OF(names, op);
}

const char *gt_drop_reason_name(enum gt_drop_reason why)
{
	static const char *const names[GT_DROP_REASON_COUNT] = {
		[GT_DROP_FULL] = "ring full",
		[GT_DROP_NESTED] = "in a signal handler",
		[GT_DROP_POOL] = "too much in flight",
		[GT_DROP_RUNTIME] = "refused by the runtime",
		[GT_DROP_TOO_LONG] = "too long",
		[GT_DROP_UNFINISHED] = "unfinished",
		[GT_DROP_CORRUPT] = "corrupt",
		[GT_DROP_OUTPUT] = "output full",
		[GT_DROP_TOOL] = "wrong or dropped in the plug-in",
		[GT_DROP_SIGNAL] = "completion signal shared",
	};

	return NAME_OF(names, why);
}

const char *gt_event_code_name(enum gt_event_code code)
{
	static const char *const names[GT_EVENT_CODE_COUNT] = {
		[GT_EVENT_LOSS] = "loss",
		[GT_EVENT_UNKNOWN_ENTRY] = "unknown entry point",
		[GT_EVENT_CLOCK] = "clock",
		[GT_EVENT_NOT_TRACED] = "not traced",
		[GT_EVENT_TABLE] = "table",
		[GT_EVENT_PROFILING] = "profiling refused",
		[GT_EVENT_TOOL] = "tool failed",
		[GT_EVENT_FAULT] = "device fault",
		[GT_EVENT_GRAPH] = "graph",
		[GT_EVENT_UNLINKED] = "not linked",
		[GT_EVENT_STACKS] = "stacks",
		[GT_EVENT_OPEN_CALL] = "ended in a call",
		[GT_EVENT_STILL_RUNS] = "still runs",
		[GT_EVENT_NOT_RECORDED] = "not recorded",
		[GT_EVENT_LATE] = "attached late",
		[GT_EVENT_ATTACHED] = "attached",
		[GT_EVENT_MISSING] = "missing",
		[GT_EVENT_REPAIRED] = "repaired",
	};

	return NAME_OF(names, code);
}
