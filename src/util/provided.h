/* SPDX-License-Identifier: MIT */
/* Interfaces between folders of which neither may use the other, or the lower one must call the
 * upper one: a struct of functions that one folder provides and others call.
 *
 *   a header below both     the struct; functions in line that call its members
 *         ▲        ▲
 *   provider      callers
 *
 * A provider's struct lies in a section of the interface's name, whose begin and end the linker
 * knows (as with LTTng's tracepoints). So nothing has to be initialised first: a wrap may run, and
 * a library may use the tool API, before libgputap.so's constructors. An interface without a
 * provider is an empty section: the folder is not in the build. */
#ifndef GPUTAP_UTIL_PROVIDED_H
#define GPUTAP_UTIL_PROVIDED_H

/* Once, behind the definition of struct @interface, whose size is a multiple of 8. */
#define GT_INTERFACE(interface)                                                   \
	extern const struct interface __start_##interface[]                       \
		__attribute__((weak, visibility("hidden"))),                      \
		__stop_##interface[] __attribute__((weak, visibility("hidden"))); \
	_Static_assert(sizeof(struct interface) % 8 == 0, "no gaps in its section")

/* The provider's: GT_PROVIDE(gt_graph_nodes) = {.assign_node = .., }; */
#define GT_PROVIDE(interface)          GT_PROVIDE_AT(interface, __LINE__)
#define GT_PROVIDE_AT(interface, line) GT_PROVIDE_NAMED(interface, line)
#define GT_PROVIDE_NAMED(interface, line)                           \
	static const struct interface provided_##interface##_##line \
		__attribute__((used, section(#interface), aligned(8)))

/* Providers, from the first one to behind the last one. Of an interface with one provider, that is
 * the first. */
#define GT_PROVIDED(interface)     (&__start_##interface[0])
#define GT_PROVIDED_END(interface) (&__stop_##interface[0])
#define GT_IS_PROVIDED(interface)  (GT_PROVIDED(interface) != GT_PROVIDED_END(interface))

#endif
