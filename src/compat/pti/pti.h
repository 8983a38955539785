/* SPDX-License-Identifier: MIT */
/* Internals of libpti_callback: Intel PTI's callback API on top of the gputap API
 * (include/compat/pti/pti_callback.h).
 *
 *   pti_proposed.c     the functions in the proposed form, and the data of their callbacks
 *   pti_shipped.c      the functions in the form of PTI 1.0 to 1.2, and their callbacks' data
 *   pti_lists.c        finds the append that submitted a GPU activity
 *   pti_subscriber.c   subscribers of both forms, and the choice of subscribers for an event
 *   pti_objects.c      follows objects that the program creates
 *   pti_kernels.c      finds the kernel that a call launches, and a kernel's last release
 *   pti_handles.c      finds contexts, devices and names from handles of the program
 *   pti_operations.c   ids and names of functions
 *
 * A subscriber has a gputap context for calls, and a second context once it requests completed GPU
 * activities. The gputap API (include/gputap/tool.h) defines the order of callbacks, the ways to
 * wait for callbacks, and the actions that callbacks may take. */
#ifndef GPUTAP_COMPAT_PTI_H
#define GPUTAP_COMPAT_PTI_H

#include <gputap/tool.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTI_EXPORT __attribute__((visibility("default")))

/* Values of pti_result and pti_api_group_id, because the two forms of pti_callback.h cannot both be
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

/* Kinds of GPU activity that an operation submits, as values of pti_gpu_operation_kind. */
enum pti_appended {
	PTI_APPENDED_NONE = 0,
	PTI_APPENDED_KERNEL = 1,
	PTI_APPENDED_MEMORY = 2,
	PTI_APPENDED_OTHER = 3
};

struct pti_operation {
	uint32_t id;      /* PTI's id; 0: PTI has no such operation */
	uint8_t appended; /* enum pti_appended */
	uint8_t parent;   /* enum pti_kind of the first argument */
	/* offsets in call->args of the launched kernel (0: none), and of the count if the argument
	 * is an array of kernels (otherwise 0) */
	uint8_t kernel, kernels;
	uint8_t made; /* enum pti_kind of the created object */
	/* offset of the output address of that object; -1: the call returns the object */
	int8_t made_at;
	/* if the output is an array: offsets of its length and of the address for the returned
	 * count; otherwise 0 */
	uint8_t made_room, made_came;
};

/* The gputap domains of PTI's driver and runtime APIs. pti_group_of() returns the group of a
 * domain. */
extern const uint32_t pti_domains[PTI_DOMAINS];
uint32_t pti_group_of(uint32_t domain);
/* Return the operation of a call. Never NULL, because all operations of these domains are known. */
const struct pti_operation *pti_operation_of(uint32_t domain, uint32_t operation);
/* Return gputap_operation_name(), cached. */
const char *pti_operation_name(uint32_t domain, uint32_t operation);
/* Find the domain and the operation from the group and the id. Return false if the group has no
 * such id. */
bool pti_operation_find(uint32_t group, uint32_t id, uint32_t *domain, uint32_t *operation);
/* Call @fn for each operation, until it returns nonzero. */
int pti_operations_each(int (*fn)(uint32_t domain, uint32_t number,
				  const struct pti_operation *operation, void *user),
			void *user);

/* Objects of the program (pti_handles.c) ---------------------------------------------------- */

/* Entry of a handle that the program has used. Never freed; when the driver reuses a handle, the
 * new object takes the same entry. */
struct pti_handle {
	struct pti_handle *next;
	enum pti_kind kind;
	const void *handle;
	_Atomic(void *) context, device;
	_Atomic(void *) module;     /* module of a kernel */
	_Atomic(const char *) name; /* name of a kernel; never freed */
	_Atomic uint64_t number;    /* unique number of the object, starting at 1 */
	/* number of references to an OpenCL kernel that the program holds (pti_kernels.c) */
	_Atomic int32_t references;
	_Atomic bool immediate;   /* true if a list is immediate */
	_Atomic(void *) commands; /* entries of a command list (pti_lists.c) */
};

/* Return the entry of a handle, or NULL if the handle was never seen. Lock-free. */
struct pti_handle *pti_handle_find(enum pti_kind kind, const void *handle);
/* Find the entry of a handle, or add an entry. Return NULL if out of memory. */
struct pti_handle *pti_handle_add(enum pti_kind kind, const void *handle);
/* Return the context in which the call is made, or NULL if no context is known. */
void *pti_context_of(const struct pti_operation *operation, const struct gputap_call *call);
/* Return a permanent copy of the text, or NULL if out of memory. Equal texts share one copy. */
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

/* Return the kernel that the call launches, or NULL if the call launches no kernel or several
 * kernels, or if the kernel is unknown. */
struct pti_handle *pti_kernel_of(const struct pti_operation *operation,
				 const struct gputap_call *call);
/* Return the name of the kernel that the call launches, "a, b" for several kernels, or NULL if no
 * name is known. The name is never freed. */
const char *pti_kernel_name_of(const struct pti_operation *operation,
			       const struct gputap_call *call);
/* Return the name that the call gives to the created kernel, or NULL if unknown. */
const char *pti_kernel_name_of_made(const struct gputap_call *call);
/* Return true for zeKernelDestroy() and clReleaseKernel(). */
bool pti_kernel_may_be_destroyed(const struct pti_operation *operation, uint32_t domain);
/* Return true for zeKernelDestroy(), and for the clReleaseKernel() that releases the program's last
 * reference. At EXIT of a failed call, return true if the call would have destroyed the kernel. */
bool pti_kernel_is_destroyed(const struct pti_operation *operation, const struct gputap_call *call);
/* Return true if the call changes a kernel's reference count. */
bool pti_kernel_is_counted(const struct pti_operation *operation, uint32_t domain);
/* Count a reference that the call takes or releases. Call at ENTER and at EXIT. */
void pti_kernel_count(const struct pti_operation *operation, const struct gputap_call *call);

/* Objects that the program creates (pti_objects.c) -------------------------------------------- */

/* Start to follow object creation. */
int pti_objects_start(void);
/* Return the array of the handles that the call has created; @operation defines their kind. *count
 * is 0 if the call created no object. Call at EXIT. */
void *const *pti_made_by(const struct pti_operation *operation, const struct gputap_call *call,
			 uint32_t *count);

/* Subscribers (pti_subscriber.c) ------------------------------------------------------------- */

struct pti_subscriber;

/* Callback functions, which differ between the two forms. */
struct pti_form {
	void (*on_call)(const struct gputap_call *call, uint64_t *data, void *subscriber);
	void (*on_event)(struct pti_subscriber *s, const struct gputap_event *event);
};

enum { PTI_SHIPPED_DOMAINS = 5 };

struct pti_subscriber {
	const struct pti_form *form; /* NULL: the entry is free */
	void (*callback)(void);      /* the subscriber's pti_callback_function */
	void *user;
	/* work: NULL if the subscriber requests no GPU activities */
	struct gputap_context *calls, *activity;
	uint64_t generation;
	_Atomic uint64_t age; /* rank in the order of subscription */
	bool leaves;          /* true once the handle is refused */
	_Atomic bool events;  /* true if the subscriber requested events */
	/* number of running event callbacks of the subscriber */
	_Atomic int32_t inside;
	/* used by the shipped form; pti_shipped.c defines the indexes and the bits */
	_Atomic uint8_t phases[PTI_SHIPPED_DOMAINS];
};

/* Return: pti_result. */
uint32_t pti_subscriber_create(void **handle, const struct pti_form *form, void (*callback)(void),
			       void *user);
uint32_t pti_subscriber_destroy(void *handle);
/* Return the subscriber with that handle. @form: NULL for either form. The subscriber cannot change
 * until pti_subscriber_put(), but its callbacks may still run. Return NULL if the handle is
 * unknown; in that case do not call pti_subscriber_put(). */
struct pti_subscriber *pti_subscriber_get(void *handle, const struct pti_form *form);
void pti_subscriber_put(void);
/* Enable or disable callbacks for @operations of @domain. @operations: NULL for all operations of
 * the domain. Return: pti_result. */
uint32_t pti_subscriber_select(struct pti_subscriber *s, uint32_t domain,
			       const uint32_t *operations, size_t count, bool selected);

/* Events ------------------------------------------------------------------------------------- */

/* Format the event as one line, truncated to @room. */
void pti_event_text(const struct gputap_event *event, char *text, size_t room);
/* Return the pti_result for a gputap event. */
uint32_t pti_event_result(uint32_t code);

#endif
