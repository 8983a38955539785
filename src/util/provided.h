/* SPDX-License-Identifier: MIT */
/* Interfaces between folders that may not include each other, or where the lower one must call the
 * upper one. An interface is a struct of functions that one folder provides and others call.
 *
 *   a header below both     the struct; inline functions that call its members
 *         ▲        ▲
 *   provider      callers
 *
 * A provider's struct is in a section named after the interface, whose start and end the linker
 * defines (as with LTTng's tracepoints). So nothing has to be initialised first: a wrapper may run,
 * and a library may use the tool API, before libgputap.so's constructors. If an interface's
 * provider is not in the build, its section is empty. */
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

/* The providers, from the first one to the end of the section. For an interface with one provider,
 * use the first. */
#define GT_PROVIDED(interface)     (&__start_##interface[0])
#define GT_PROVIDED_END(interface) (&__stop_##interface[0])
#define GT_IS_PROVIDED(interface)  (GT_PROVIDED(interface) != GT_PROVIDED_END(interface))

#endif
