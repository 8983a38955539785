/* SPDX-License-Identifier: MIT */
/* Compute how much static thread-local storage a program and its linked libraries need.
 *
 * With any auditor (LD_AUDIT), glibc lays out static thread-local storage before it maps the
 * program's libraries. Their storage must fit into the room that
 * GLIBC_TUNABLES=glibc.rtld.optional_static_tls=N leaves, or the program does not start. These
 * functions look for the same files as the dynamic linker will, and add up their PT_TLS
 * segments. */
#ifndef GPUTAP_UTIL_STATIC_TLS_H
#define GPUTAP_UTIL_STATIC_TLS_H

#include <stdbool.h>
#include <stdint.h>

#define GT_STATIC_TLS_TUNABLE "glibc.rtld.optional_static_tls="

struct gt_static_tls {
	uint64_t program_bytes; /* laid out in time by glibc, with or without an auditor */
	uint64_t library_bytes; /* all libraries together, with the cost of alignment */
	uint64_t program_alignment;
	/* largest alignment of a library that must be in the static block (DF_STATIC_TLS) */
	uint64_t fixed_alignment;
	uint32_t libraries; /* found */
};

enum {
	GT_STATIC_TLS_DEFAULT = 512, /* glibc's own value of the tunable */
	/* minimum for programs that need less: threads of 16 KiB still run, and it is mostly enough
	 * for children that are started without our wrappers */
	GT_STATIC_TLS_USUAL = 6144,
	GT_STATIC_TLS_SMALL = 1024, /* negligible storage of a program */
	/* alignment of a thread's control block, which is always available */
	GT_STATIC_TLS_ALIGNMENT = 64,
};

/**
 * gt_static_tls_look() - find what the dynamic linker will find for the program in @fd
 * @environment: environment of the program: LD_LIBRARY_PATH, LD_PRELOAD
 * @preload:     a library that is added to its LD_PRELOAD; NULL: none
 * Return: false if it is not a program with a dynamic linker of this machine, is not readable, or
 * memory ran out; then @out is all zero.
 * Signal: safe; makes only system calls, also in the child of a vfork. Takes 1 KiB of stack, and
 * unmaps all that it maps.
 * Not searched: glibc-hwcaps folders of LD_LIBRARY_PATH and DT_RUNPATH, libraries that auditors
 * rename, dlopen().
 */
bool gt_static_tls_look(int fd, char *const *environment, const char *preload,
			struct gt_static_tls *out);

/**
 * gt_static_tls_room() - return the tunable's value that gives @t's libraries the room that they
 * have without an auditor
 * @wanted: room that the user wants for libraries that are opened later; 0: glibc's default
 */
static inline uint64_t gt_static_tls_room(const struct gt_static_tls *t, uint64_t wanted)
{
	uint64_t room = (wanted ? wanted : GT_STATIC_TLS_DEFAULT) + t->library_bytes,
		 usual = GT_STATIC_TLS_USUAL;

	if (t->program_bytes > GT_STATIC_TLS_SMALL)
		usual -= t->program_bytes < usual ? t->program_bytes : usual;
	return room < usual ? usual : room;
}

/* Return true if no value of the tunable can help: glibc takes the block's alignment from the
 * program alone, and refuses libraries with a larger one. */
static inline bool gt_static_tls_is_hopeless(const struct gt_static_tls *t)
{
	return t->fixed_alignment > GT_STATIC_TLS_ALIGNMENT &&
	       t->fixed_alignment > t->program_alignment;
}

/* Return the tunable's number in a list such as GLIBC_TUNABLES; 0 if it is not in the list. */
uint64_t gt_static_tls_asked(const char *tunables);

#endif
