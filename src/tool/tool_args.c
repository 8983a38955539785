/* SPDX-License-Identifier: MIT */
/* Returns the names of domains, operations and other numbered items, and the arguments of calls in
 * progress.
 *
 * A call's arguments are in one C struct. The generated tables (record/operation.h) describe the
 * position, the type and the pointers of each argument. Pointers are never dereferenced directly:
 * process_vm_readv() copies the readable part and returns its size. If a seccomp filter forbids
 * this system call, a pipe is used, because write() fails with EFAULT. */
#include "tool/tool_args.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/tap.h"
#include "gputap/tool.h"
#include "record/describe.h"
#include "record/operation.h"

/* bytes read through a pointer; size of a text buffer; maximum number of arguments */
enum { FOLLOWED = 256, TEXT = 2048, ARGUMENTS = 64 };

/* Names ---------------------------------------------------------------------- */

static const struct gt_operation_info *operation(uint32_t domain, uint32_t number)
{
	return domain < GT_DOMAIN_COUNT && number <= 0xffff ? gt_operation(GT_OP(domain, number, 0))
							    : NULL;
}

static const char *known_name(const char *name)
{
	return strcmp(name, "unknown") == 0 ? NULL : name;
}

const char *gputap_domain_name(enum gputap_domain domain)
{
	return known_name(gt_domain_name((enum gt_domain)domain));
}

const char *gputap_operation_name(enum gputap_domain domain, uint32_t number)
{
	const struct gt_operation_info *info = operation(domain, number);

	return info ? info->name : NULL;
}

const char *gputap_status_name(enum gputap_domain domain, int32_t status)
{
	return gt_status_name((enum gt_domain)domain, status);
}

const char *gputap_event_name(enum gputap_event_code code)
{
	return known_name(gt_event_code_name((enum gt_event_code)code));
}

const char *gputap_activity_name(enum gputap_activity_type type)
{
	return known_name(gt_device_op_name((enum gt_device_op)type));
}

const char *gputap_object_name(enum gputap_object_type type)
{
	switch (type) {
	case GPUTAP_OBJECT_DEVICE: return "device";
	case GPUTAP_OBJECT_QUEUE: return "queue";
	case GPUTAP_OBJECT_CONTEXT: return "context";
	case GPUTAP_OBJECT_CODE_OBJECT: return "code object";
	case GPUTAP_OBJECT_KERNEL_SYMBOL: return "kernel symbol";
	case GPUTAP_OBJECT_STREAM: return "stream";
	case GPUTAP_OBJECT_GRAPH: return "graph";
	}
	return NULL;
}

int gputap_domain_find(const char *name)
{
	enum gt_domain domain = name ? gt_domain_find(name) : GT_DOMAIN_NONE;

	return domain ? (int)domain : -ENOENT;
}

int gputap_operation_find(enum gputap_domain domain, const char *name)
{
	const struct gt_operation_info *info =
		name ? gt_operation_find((enum gt_domain)domain, name) : NULL;

	return info ? (int)GT_OP_NUMBER(info->op) : -ENOENT;
}

int gputap_domains_iterate(int (*fn)(enum gputap_domain, const char *, void *), void *user)
{
	int rc = 0;

	if (!fn)
		return -EINVAL;
	for (uint32_t d = 1; rc == 0 && d < GT_DOMAIN_COUNT; d++)
		if (gputap_domain_name(d))
			rc = fn(d, gputap_domain_name(d), user);
	return rc;
}

int gputap_operations_iterate(enum gputap_domain domain, int (*fn)(uint32_t, const char *, void *),
			      void *user)
{
	int rc = 0;

	if (!fn || !gputap_domain_name(domain))
		return -EINVAL;
	for (uint32_t n = 0; rc == 0 && n < gt_operation_count((enum gt_domain)domain); n++)
		if (gputap_operation_name(domain, n))
			rc = fn(n, gputap_operation_name(domain, n), user);
	return rc;
}

/* Mangled types -------------------------------------------------------------- */

struct mangled_domain {
	const char *texts;
	const uint16_t *at;
	size_t count;
};
#include "generated/domains_mangled.inc"

const char *gt_tool_argument_mangled(uint32_t domain, uint32_t number, unsigned argument)
{
	const struct gt_operation_info *info = operation(domain, number);
	const char *text;

	if (!info || argument >= info->nargs || number >= mangled[domain].count)
		return NULL;
	text = mangled[domain].texts + mangled[domain].at[number] - 1;
	while (argument--)
		text += strlen(text) + 1;
	return text;
}

/* Reading memory that may be unmapped ------------------------------------------------ */

static size_t read_by_pipe(void *to, const void *from, size_t bytes)
{
	ssize_t n = 0;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return 0;
	/* write() stops at the first unreadable byte, or fails with EFAULT */
	n = write(ends[1], from, bytes);
	n = n > 0 ? read(ends[0], to, (size_t)n) : 0;
	close(ends[0]);
	close(ends[1]);
	return n > 0 ? (size_t)n : 0;
}

/* Read up to @bytes. Return the number of bytes read. Preserves errno. */
static size_t read_memory(void *to, const void *from, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};
	size_t page_end = 4096 - (uintptr_t)from % 4096;
	int saved = errno;
	ssize_t n;

	if (!from)
		return 0;
	n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	if (n < 0 && errno == EFAULT && page_end < bytes) { /* read the part on the first page */
		local.iov_len = remote.iov_len = page_end;
		n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	}
	if (n < 0 && errno != EFAULT)
		n = (ssize_t)read_by_pipe(to, from, bytes);
	errno = saved;
	return n > 0 ? (size_t)n : 0;
}

/* Text --------------------------------------------------------------------------- */

struct view {
	const struct gt_domain_description *domain;
	const struct gt_operation_info *info;
	const uint8_t *args;
	enum gt_text_style style;
	char *buffer;
	size_t size;
};

static uint64_t load_value(const void *p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes < 8 ? bytes : 8);
	return v;
}

static const void *pointer(const void *at)
{
	return (const void *)(uintptr_t)load_value(at, sizeof(void *));
}

static size_t address(const struct view *v, const void *p)
{
	if (!p)
		return (size_t)snprintf(v->buffer, v->size, "%s",
					v->style == GT_TEXT_UPSTREAM ? "(null)" : "NULL");
	return (size_t)snprintf(v->buffer, v->size, "0x%llx", (unsigned long long)(uintptr_t)p);
}

/* Return the length of the common prefix of an enum's names, shorter than any whole name. */
static size_t common_prefix(const struct gt_type *type)
{
	size_t n = type->name_count > 1 ? strlen(type->names[0].name) : 0;

	for (size_t i = 1; i < type->name_count; i++)
		for (size_t c = 0; c < n; c++)
			if (type->names[i].name[c] != type->names[0].name[c])
				n = c;
	return n;
}

/* Format a value of one of the domain's types that lies in gputap's own memory. */
static size_t format_typed(const struct view *v, const struct gt_type *type, const uint8_t *p,
			   size_t bytes)
{
	const struct gt_value_name *name;
	size_t at = 0;

	if (v->style == GT_TEXT_OWN)
		return gt_format_value(v->buffer, v->size, v->domain, type, p, bytes);
	if (type->class == GT_TYPE_ADDRESS)
		return address(v, pointer(p));
	if ((type->class & GT_TYPE_CLASS) == GT_TYPE_ENUM) {
		name = gt_value_name(type, (int64_t)gt_value_load(type, p));
		return name ? (size_t)snprintf(v->buffer, v->size, "%s",
					       name->name + common_prefix(type))
			    : (size_t)snprintf(v->buffer, v->size, "%lld",
					       (long long)gt_value_load(type, p));
	}
	if (type->class == GT_TYPE_FLAGS)
		return (size_t)snprintf(v->buffer, v->size, "%llu",
					(unsigned long long)gt_value_load(type, p));
	if (type->class != GT_TYPE_STRUCT)
		return gt_format_value(v->buffer, v->size, v->domain, type, p, bytes);
	for (size_t i = type->field_count; i-- > 0;) { /* last member first */
		const struct gt_field *f = &type->fields[i];
		struct view rest = *v;

		if ((size_t)f->offset + v->domain->types[f->type].bytes > bytes)
			continue;
		at += (size_t)snprintf(at < v->size ? v->buffer + at : NULL,
				       at < v->size ? v->size - at : 0, "%s%s=", at ? ", " : "{",
				       f->name);
		rest.buffer = at < v->size ? v->buffer + at : NULL;
		rest.size = at < v->size ? v->size - at : 0;
		at += format_typed(&rest, &v->domain->types[f->type], p + f->offset,
				   bytes - f->offset);
	}
	return at + (size_t)snprintf(at < v->size ? v->buffer + at : NULL,
				     at < v->size ? v->size - at : 0, at ? "}" : "{}");
}

static bool is_text(const struct gt_argument_info *a)
{
	return a->base == 1 && strstr(a->type, "char") != NULL;
}

static size_t string(const struct view *v, const void *from, uint32_t *followed)
{
	char text[FOLLOWED + 1];
	size_t bytes = read_memory(text, from, FOLLOWED), length = strnlen(text, bytes);

	if (!bytes)
		return address(v, from);
	(*followed)++;
	text[length] = '\0';
	if (v->style == GT_TEXT_UPSTREAM)
		return (size_t)snprintf(v->buffer, v->size, "%s", text);
	return gt_format_string(v->buffer, v->size, text, length, length == FOLLOWED);
}

/* Return the number of elements that the call has written into an array, or UINT64_MAX if
 * unknown. */
static uint64_t count_arrived(const struct view *v, const struct gt_argument_info *a,
			      uint64_t asked)
{
	const struct gt_argument_info *number =
		a->came_arg < v->info->nargs ? &v->info->args[a->came_arg] : NULL;
	uint64_t n = 0;
	size_t bytes;

	if (!number || asked == 1)
		return asked; /* the call wrote the single element, or failed */
	bytes = v->domain->types[number->base].bytes;
	if (bytes > sizeof n || read_memory(&n, pointer(v->args + number->offset), bytes) != bytes)
		return UINT64_MAX;
	return n < asked ? n : asked;
}

/* Format the elements of an array with a known number of elements, in the style of exports. Return
 * 0 if the argument is not such an array or is not readable. */
static size_t format_array(const struct view *v, unsigned argument, uint32_t *followed)
{
	const struct gt_argument_info *a = &v->info->args[argument],
				      *length = a->length_arg < v->info->nargs
							? &v->info->args[a->length_arg]
							: NULL;
	struct {
		struct gt_payload head;
		uint8_t bytes[FOLLOWED];
	} payload = {.head = {.arg = (uint16_t)argument}};
	uint64_t words[ARGUMENTS] = {0}, count = 0, each;

	if (v->info->nargs > ARGUMENTS)
		return 0;
	for (unsigned i = 0; i < v->info->nargs; i++)
		words[i] = load_value(v->args + v->info->args[i].offset, v->info->args[i].bytes);
	each = a->how == GT_HOW_BYTES ? 1 : v->domain->types[a->value_type].bytes;
	if (a->how == GT_HOW_ARRAY || a->how == GT_HOW_BYTES) {
		if (!length || length->stars || !words[a->length_arg])
			return 0;
		count = count_arrived(v, a, words[a->length_arg]);
		if (count == UINT64_MAX)
			return address(v, (const void *)(uintptr_t)words[argument]);
		*followed = !count;
		if (!count)
			return (size_t)snprintf(v->buffer, v->size, "[]");
	} else if (a->how != GT_HOW_LIST && a->how != GT_HOW_PROPERTIES) {
		return 0;
	}
	payload.head.bytes =
		(uint32_t)read_memory(payload.bytes, (const void *)(uintptr_t)words[argument],
				      count && count < FOLLOWED / each ? count * each
								       : FOLLOWED / each * each);
	if (!count) { /* the array ends with 0 */
		uint32_t step = a->how == GT_HOW_PROPERTIES ? 16 : 8, n = 0;

		while (n + 8 <= payload.head.bytes && load_value(payload.bytes + n, 8))
			n += step;
		payload.head.flags = n + 8 > payload.head.bytes ? GT_PAYLOAD_TRUNCATED : 0;
		payload.head.bytes = n + 8 > payload.head.bytes ? payload.head.bytes : n + 8;
	} else {
		payload.head.flags = count * each > payload.head.bytes ? GT_PAYLOAD_TRUNCATED : 0;
	}
	if (!payload.head.bytes)
		return 0;
	*followed = 1;
	return gt_format_arg(v->buffer, v->size,
			     GT_OP(GT_OP_DOMAIN(v->info->op), GT_OP_NUMBER(v->info->op),
				   v->info->nargs),
			     argument, words, (const uint8_t *)&payload,
			     (uint32_t)sizeof payload.head + payload.head.bytes);
}

static size_t follow(const struct view *v, unsigned argument, uint32_t dereference,
		     uint32_t *followed)
{
	const struct gt_argument_info *a = &v->info->args[argument];
	const void *p = pointer(v->args + a->offset), *next;
	const struct gt_type *type = &v->domain->types[a->base];
	uint8_t memory[FOLLOWED];
	unsigned stars = a->stars;
	size_t n;

	if (p && dereference && stars == 1 && (n = format_array(v, argument, followed)) != 0)
		return n;
	for (; p && stars > 1 && dereference > *followed; stars--, p = next, (*followed)++)
		if (read_memory(&next, p, sizeof next) != sizeof next)
			return address(v, p);
	if (p && stars == 1 && is_text(a) &&
	    (dereference > *followed || (v->style == GT_TEXT_UPSTREAM && a->how == GT_HOW_STRING)))
		return string(v, p, followed);
	if (!p || stars > 1 || a->base <= 1 || dereference <= *followed ||
	    type->bytes > sizeof memory || read_memory(memory, p, type->bytes) != type->bytes)
		return address(v, p);
	(*followed)++;
	return format_typed(v, type, memory, type->bytes);
}

const void *gt_tool_argument_value(uint32_t domain, uint32_t number, unsigned argument,
				   const void *args, uint32_t *bytes)
{
	const struct gt_operation_info *info = operation(domain, number);

	if (!info || argument >= info->nargs)
		return NULL;
	*bytes = info->args[argument].bytes;
	return (const uint8_t *)args + info->args[argument].offset;
}

size_t gt_tool_argument_text(uint32_t domain, uint32_t number, unsigned argument, const void *args,
			     uint32_t dereference, enum gt_text_style style, char *buffer,
			     size_t size, uint32_t *dereferenced)
{
	const struct gt_operation_info *info = operation(domain, number);
	const struct gt_argument_info *a =
		info && argument < info->nargs ? &info->args[argument] : NULL;
	struct view v = {a ? gt_domain_description((enum gt_domain)domain) : NULL,
			 info,
			 args,
			 style,
			 buffer,
			 size};

	*dereferenced = 0;
	if (!a)
		return address(&v, NULL);
	if (a->stars)
		return follow(&v, argument, dereference, dereferenced);
	return format_typed(&v, &v.domain->types[a->value_type], v.args + a->offset, a->bytes);
}

/* Calls in progress ----------------------------------------------------------------------- */

int gputap_call_arguments(const struct gputap_call *call, uint32_t dereference,
			  int (*fn)(const struct gputap_argument *argument, void *user), void *user)
{
	const struct gt_operation_info *info =
		call ? operation(call->domain, call->operation) : NULL;
	char text[TEXT];
	bool written; /* true if the outputs are written */
	int32_t status;
	int rc = 0;

	if (!info || !fn || (info->nargs && !call->args))
		return -EINVAL;
	written = call->phase == GPUTAP_CALL_PHASE_EXIT && dereference &&
		  gputap_call_has_failed(call, &status) != 1;
	for (unsigned i = 0; rc == 0 && i < info->nargs; i++) {
		const struct gt_argument_info *a = &info->args[i];
		struct gputap_argument out = {.size = sizeof out,
					      .number = i,
					      .indirection = a->stars,
					      .bytes = a->bytes,
					      .value = (const uint8_t *)call->args + a->offset,
					      .type = a->type,
					      .name = a->name,
					      .text = text};

		gt_tool_argument_text(call->domain, call->operation, i, call->args,
				      !a->out || written ||
						      (call->phase == GPUTAP_CALL_PHASE_EXIT &&
						       info->status_arg == (int)i)
					      ? dereference
					      : 0,
				      GT_TEXT_OWN, text, sizeof text, &out.dereferenced);
		rc = fn(&out, user);
	}
	return rc;
}

int gputap_call_has_failed(const struct gputap_call *call, int32_t *status)
{
	const struct gt_operation_info *info =
		call ? operation(call->domain, call->operation) : NULL;
	const int32_t *given;

	if (!info || !status)
		return -EINVAL;
	if (call->phase != GPUTAP_CALL_PHASE_EXIT || info->status_arg == -2)
		return -ENODATA;
	if (info->status_arg == -1) {
		if (!call->ret || call->ret_bytes < sizeof *status)
			return -ENODATA;
		memcpy(status, call->ret, sizeof *status);
		return gt_status_failed((enum gt_domain)call->domain, *status);
	}
	given = pointer((const uint8_t *)call->args + info->args[info->status_arg].offset);
	if (read_memory(status, given, sizeof *status) == sizeof *status)
		return gt_status_failed((enum gt_domain)call->domain, *status);
	/* The program passed no pointer for the status. The status is known only if the call
	 * returned a value. */
	*status = 0;
	return call->ret && call->ret_bytes >= sizeof(void *) && pointer(call->ret) ? 0 : -ENODATA;
}
