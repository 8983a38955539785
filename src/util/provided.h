/* SPDX-License-Identifier: MIT */
/* Interfaces between folders that may not include each other's headers, or of which the lower
 * folder must call the upper folder. An interface is a struct of functions that one folder provides
 * and others call.
 *
 *   a header below both     the struct; inline functions that call its members
 *         ▲        ▲
 *   provider      callers
 *
 * A provider's struct is stored in a section named after the interface. The linker defines the
 * start and end of the section (as with LTTng's tracepoints), so no initialisation is needed: a
 * wrapper may run, and a library may use the tool API, before the constructors of libgputap.so. If
 * the build does not contain a provider, the section is empty. */
#ifndef GPUTAP_UTIL_PROVIDED_H
#define GPUTAP_UTIL_PROVIDED_H

/* Declare an interface. Use once, after the definition of struct @interface, whose size must be a
 * multiple of 8. */
#define GT_INTERFACE(interface)                                                   \
	extern const struct interface __start_##interface[]                       \
		__attribute__((weak, visibility("hidden"))),                      \
		__stop_##interface[] __attribute__((weak, visibility("hidden"))); \
	_Static_assert(sizeof(struct interface) % 8 == 0, "no gaps in its section")

/* Provide an interface: GT_PROVIDE(gt_graph_nodes) = {.assign_node = f}; */
#define GT_PROVIDE(interface)          GT_PROVIDE_AT(interface, __LINE__)
#define GT_PROVIDE_AT(interface, line) GT_PROVIDE_NAMED(interface, line)
#define GT_PROVIDE_NAMED(interface, line)                           \
	static const struct interface provided_##interface##_##line \
		__attribute__((used, section(#interface), aligned(8)))

/* The providers, from the first one to the end of the section. If an interface has a single
 * provider, use the first one. */
#define GT_PROVIDED(interface)     (&__start_##interface[0])
#define GT_PROVIDED_END(interface) (&__stop_##interface[0])
#define GT_IS_PROVIDED(interface)  (GT_PROVIDED(interface) != GT_PROVIDED_END(interface))

#endif
