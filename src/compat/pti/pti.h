/* SPDX-License-Identifier: MIT */
/* libpti_callback inside: Intel PTI's callback API on gputap's (include/compat/pti/pti_callback.h).
 *
 *   pti_proposed.c     the functions as they were proposed, and what their callbacks get
 *   pti_shipped.c      the same as PTI 1.0 to 1.2 shipped them
 *   pti_lists.c        which append made an item of device work
 *   pti_subscriber.c   subscribers of both forms, and which of them an event is for
 *   pti_objects.c      what the program creates
 *   pti_kernels.c      kernels: which a call launches, which release is a kernel's last
 *   pti_handles.c      contexts, devices and names of the program's objects, by their handles
 *   pti_operations.c   ids and names of functions
 *
 * A subscriber has a context of gputap's for calls, and a second one once it asks for work that
 * completes. The order of callbacks, waiting for them, and what they may do are gputap's
 * (include/gputap/tool.h). */
#ifndef GPUTAP_COMPAT_PTI_H
#define GPUTAP_COMPAT_PTI_H

#include <gputap/tool.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTI_EXPORT __attribute__((visibility("default")))

/* Numbers of pti_result and pti_api_group_id: the two forms of pti_callback.h cannot both be
 * included. */
enum {
	PTI_OK = 0,
	PTI_NOT_IMPLEMENTED = 2,
	PTI_BAD_ARGUMENT = 3,
	PTI_BAD_ID = 7,
	PTI_FAILED = 200
};
enum { PTI_LEVEL_ZERO = 1, PTI_OPENCL = 2, PTI_SYCL = 3 };

/* Operations (pti_operations.c) ------------------------------------------------------------ */

enum { PTI_DOMAINS = 6 };

/* Objects that belong to a context. */
enum pti_kind {
	PTI_NONE,
	PTI_CONTEXT,
	PTI_QUEUE,
	PTI_LIST,
	PTI_MODULE,
	PTI_KERNEL,
	PTI_POOL,
	PTI_EVENT,
	PTI_FENCE,
	PTI_MEMORY,
	PTI_SAMPLER
};

/* What an operation gives a device to do: numbers of pti_gpu_operation_kind. */
enum pti_appended {
	PTI_APPENDED_NONE = 0,
	PTI_APPENDED_KERNEL = 1,
	PTI_APPENDED_MEMORY = 2,
	PTI_APPENDED_OTHER = 3
};

struct pti_operation {
	uint32_t id;      /* of PTI's; 0: there is no such operation */
	uint8_t appended; /* enum pti_appended */
	uint8_t parent;   /* enum pti_kind of the first argument */
	/* Places of arguments in call->args. The kernel that it launches, 0: none; if that is an
	 * array of kernels, how many, else 0 */
	uint8_t kernel, kernels;
	uint8_t made;   /* enum pti_kind of what it creates */
	int8_t made_at; /* place of the address for that; -1: it is returned */
	/* if that is an array: places of its length and of the address for how many came; else 0 */
	uint8_t made_room, made_came;
};

/* The domains that PTI's driver and runtime API are, of gputap's; group of each. */
extern const uint32_t pti_domains[PTI_DOMAINS];
uint32_t pti_group_of(uint32_t domain);
/* Of a call. Never NULL: all operations of those domains are known. */
const struct pti_operation *pti_operation_of(uint32_t domain, uint32_t operation);
/* As gputap_operation_name(), remembered. */
const char *pti_operation_name(uint32_t domain, uint32_t operation);
/* Finds domain and number by group and id. Return: false: the group has no such id. */
bool pti_operation_find(uint32_t group, uint32_t id, uint32_t *domain, uint32_t *operation);
/* Calls @fn for each operation, until it returns not 0. */
int pti_operations_each(int (*fn)(uint32_t domain, uint32_t number,
				  const struct pti_operation *operation, void *user),
			void *user);

/* Objects of the program (pti_handles.c) ---------------------------------------------------- */

/* Never freed; a handle that is used again is a new object at the same place. */
struct pti_handle {
	struct pti_handle *next;
	enum pti_kind kind;
	const void *handle;
	_Atomic(void *) context, device;
	_Atomic(void *) module;     /* of a kernel */
	_Atomic(const char *) name; /* of a kernel; stays */
	_Atomic uint64_t number;    /* of the object, from 1: never used again */
	_Atomic int32_t references; /* the program's, to OpenCL's kernel: pti_kernels.c */
	_Atomic bool immediate;     /* of a list */
	_Atomic(void *) commands;   /* of a list: pti_lists.c */
};

/* NULL: not seen. Lock-free. */
struct pti_handle *pti_handle_find(enum pti_kind kind, const void *handle);
/* The same, made if it is not there; NULL: no memory. */
struct pti_handle *pti_handle_add(enum pti_kind kind, const void *handle);
/* Context that the call is made in; NULL: of none, or not known. */
void *pti_context_of(const struct pti_operation *operation, const struct gputap_call *call);
/* The same text, which stays; NULL: no memory. Each text is kept once. */
const char *pti_text_keep(const char *text);

static inline void *pti_argument(const struct gputap_call *call, unsigned at)
{
	return *(void **)(void *)((char *)call->args + at);
}

static inline uint32_t pti_argument_u32(const struct gputap_call *call, unsigned at)
{
	return *(uint32_t *)(void *)((char *)call->args + at);
}

/* Kernels (pti_kernels.c) ------------------------------------------------------------------- */

/* The one kernel that the call launches; NULL: none, several, or not known. */
struct pti_handle *pti_kernel_of(const struct pti_operation *operation,
				 const struct gputap_call *call);
/* Name of the kernel that the call launches, of several: "a, b"; NULL: none, or not known. It
 * stays. */
const char *pti_kernel_name_of(const struct pti_operation *operation,
			       const struct gputap_call *call);
/* The name that the call gives to the kernel that it creates; NULL: not known. */
const char *pti_kernel_name_of_made(const struct gputap_call *call);
/* zeKernelDestroy(), clReleaseKernel(). */
bool pti_kernel_may_be_destroyed(const struct pti_operation *operation, uint32_t domain);
/* zeKernelDestroy(), or the clReleaseKernel() that gives back the program's last reference. At
 * EXIT of a call that failed: what it would have been. */
bool pti_kernel_is_destroyed(const struct pti_operation *operation, const struct gputap_call *call);
/* Does the call change how many references there are to a kernel? */
bool pti_kernel_is_counted(const struct pti_operation *operation, uint32_t domain);
/* Such a call, at ENTER and at EXIT. */
void pti_kernel_count(const struct pti_operation *operation, const struct gputap_call *call);

/* What the program creates (pti_objects.c) --------------------------------------------------- */

/* Begins to follow it. */
int pti_objects_start(void);
/* What the call has created, which @operation says the kind of: an array of handles. @count: 0:
 * nothing. At EXIT. */
void *const *pti_made_by(const struct pti_operation *operation, const struct gputap_call *call,
			 uint32_t *count);

/* Subscribers (pti_subscriber.c) ------------------------------------------------------------- */

struct pti_subscriber;

/* What distinguishes the two forms. */
struct pti_form {
	void (*on_call)(const struct gputap_call *call, uint64_t *data, void *subscriber);
	void (*on_event)(struct pti_subscriber *s, const struct gputap_event *event);
};

enum { PTI_SHIPPED_DOMAINS = 5 };

struct pti_subscriber {
	const struct pti_form *form; /* NULL: the place is free */
	void (*callback)(void);      /* its pti_callback_function */
	void *user;
	struct gputap_context *calls, *work; /* work: NULL: not asked for */
	uint64_t generation;
	_Atomic uint64_t age;                        /* order of subscription */
	bool leaves;                                 /* its handle is refused */
	_Atomic bool events;                         /* it asked for them */
	_Atomic int32_t inside;                      /* of its callbacks of events, now */
	_Atomic uint8_t phases[PTI_SHIPPED_DOMAINS]; /* as shipped: enum in pti_shipped.c */
};

/* Return: pti_result. */
uint32_t pti_subscriber_create(void **handle, const struct pti_form *form, void (*callback)(void),
			       void *user);
uint32_t pti_subscriber_destroy(void *handle);
/* The subscriber with that handle; @form: NULL: of either form. Until pti_subscriber_put(), nothing
 * of it changes; its callbacks run meanwhile. NULL: there is none, and nothing to put. */
struct pti_subscriber *pti_subscriber_get(void *handle, const struct pti_form *form);
void pti_subscriber_put(void);
/* Switches callbacks for @operations of @domain on or off; @operations: NULL: all of the domain.
 * Return: pti_result. */
uint32_t pti_subscriber_select(struct pti_subscriber *s, uint32_t domain,
			       const uint32_t *operations, size_t count, bool selected);

/* Events ------------------------------------------------------------------------------------- */

/* The event as one line; what does not fit into @room is cut off. */
void pti_event_text(const struct gputap_event *event, char *text, size_t room);
/* The pti_result that names an event of gputap's. */
uint32_t pti_event_result(uint32_t code);

#endif
