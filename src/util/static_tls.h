/* SPDX-License-Identifier: MIT */
/* Compute how much static thread-local storage a program and its linked libraries need.
 *
 * With any auditor (LD_AUDIT), glibc lays out static thread-local storage before mapping the
 * program's libraries. The storage of the libraries must fit into the room that
 * GLIBC_TUNABLES=glibc.rtld.optional_static_tls=N leaves, or the program does not start. These
 * functions search for the same files as the dynamic linker, and sum up their PT_TLS segments. */
#ifndef GPUTAP_UTIL_STATIC_TLS_H
#define GPUTAP_UTIL_STATIC_TLS_H

#include <stdbool.h>
#include <stdint.h>

#define GT_STATIC_TLS_TUNABLE "glibc.rtld.optional_static_tls="

struct gt_static_tls {
	/* the program's own storage, which glibc always includes in the layout */
	uint64_t program_bytes;
	uint64_t library_bytes; /* total of all libraries, including alignment */
	uint64_t program_alignment;
	/* largest alignment among the libraries that must be in the static block (DF_STATIC_TLS) */
	uint64_t fixed_alignment;
	uint32_t libraries; /* number of libraries found */
};

enum {
	GT_STATIC_TLS_DEFAULT = 512, /* glibc's default for the tunable */
	/* minimum for programs that need less. Threads with stacks of 16 KiB still run, and
	 * children that start without gputap's wrappers usually have enough */
	GT_STATIC_TLS_USUAL = 6144,
	GT_STATIC_TLS_SMALL = 1024, /* negligible storage of a program */
/* alignment of a thread's control block, which is always available */
#if defined(__x86_64__)
	GT_STATIC_TLS_ALIGNMENT = 64,
#else
	GT_STATIC_TLS_ALIGNMENT = 16,
#endif
};

/**
 * gt_static_tls_look() - find the libraries that the dynamic linker will load for a program
 * @fd:          the program file
 * @environment: environment of the program: LD_LIBRARY_PATH, LD_PRELOAD
 * @preload:     library to be added to the program's LD_PRELOAD; NULL: none
 * Return: false if the file is unreadable or not a program with a dynamic linker of this machine,
 *         or if out of memory. @out is then all zero.
 * Signal: safe; makes only system calls, also in the child of a vfork. Takes 1 KiB of stack, and
 * unmaps everything that it maps.
 * Not searched: glibc-hwcaps folders of LD_LIBRARY_PATH and DT_RUNPATH, libraries that auditors
 * rename, dlopen().
 */
bool gt_static_tls_look(int fd, char *const *environment, const char *preload,
			struct gt_static_tls *out);

/**
 * gt_static_tls_room() - compute the tunable's value for a program's libraries
 * With this value, the libraries in @t have as much room as without an auditor.
 * @wanted: room that the user wants for libraries opened later; 0: glibc's default
 */
static inline uint64_t gt_static_tls_room(const struct gt_static_tls *t, uint64_t wanted)
{
	uint64_t room = (wanted ? wanted : GT_STATIC_TLS_DEFAULT) + t->library_bytes,
		 usual = GT_STATIC_TLS_USUAL;

	if (t->program_bytes > GT_STATIC_TLS_SMALL)
		usual -= t->program_bytes < usual ? t->program_bytes : usual;
	return room < usual ? usual : room;
}

/* Return true if no value of the tunable can help: glibc takes the alignment of the block from the
 * program alone, and refuses libraries with a larger alignment. */
static inline bool gt_static_tls_is_hopeless(const struct gt_static_tls *t)
{
	return t->fixed_alignment > GT_STATIC_TLS_ALIGNMENT &&
	       t->fixed_alignment > t->program_alignment;
}

/* Return the number of the tunable in a list such as GLIBC_TUNABLES, or 0 if the list does not
 * contain it. */
uint64_t gt_static_tls_asked(const char *tunables);

#endif
