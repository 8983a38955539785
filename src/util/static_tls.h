/* SPDX-License-Identifier: MIT */
/* How much static thread-local storage a program and the libraries that it is linked with have.
 *
 * With any auditor (LD_AUDIT), glibc lays out static thread-local storage before it maps the
 * program's libraries. What they need must fit into the room that
 * GLIBC_TUNABLES=glibc.rtld.optional_static_tls=N leaves, or the program does not start. This
 * looks for the same files as the dynamic linker will, and adds up their PT_TLS segments. */
#ifndef GPUTAP_UTIL_STATIC_TLS_H
#define GPUTAP_UTIL_STATIC_TLS_H

#include <stdbool.h>
#include <stdint.h>

#define GT_STATIC_TLS_TUNABLE "glibc.rtld.optional_static_tls="

struct gt_static_tls {
	uint64_t program_bytes; /* laid out by glibc in time, auditor or not */
	uint64_t library_bytes; /* of all libraries together, with what alignment may cost */
	uint64_t program_alignment;
	/* the largest one of a library that must lie in the static block (DF_STATIC_TLS) */
	uint64_t fixed_alignment;
	uint32_t libraries; /* found */
};

enum {
	GT_STATIC_TLS_DEFAULT = 512, /* glibc's own value of the tunable */
	/* as much for all that need less: threads of 16 KiB still run, and children that are
	 * started past our wrappers mostly find enough */
	GT_STATIC_TLS_USUAL = 6144,
	GT_STATIC_TLS_SMALL = 1024, /* a program's own that does not matter beside that */
	/* that of a thread's control block: there is always as much */
	GT_STATIC_TLS_ALIGNMENT = 64,
};

/**
 * gt_static_tls_look() - what the dynamic linker will find for the program in @fd
 * @environment: that the program gets: LD_LIBRARY_PATH, LD_PRELOAD
 * @preload:     a library that it gets in LD_PRELOAD besides; NULL: none
 * Return: false: not a program with a dynamic linker of this machine, not readable, or no memory;
 * then @out is all zero.
 * Signal: safe; only system calls, also in the child of a vfork. Takes 1 KiB of stack, and gives
 * back all it maps.
 * Not looked for: glibc-hwcaps folders of LD_LIBRARY_PATH and DT_RUNPATH, what LD_AUDIT's users
 * rename, dlopen().
 */
bool gt_static_tls_look(int fd, char *const *environment, const char *preload,
			struct gt_static_tls *out);

/**
 * gt_static_tls_room() - value of the tunable that gives @t's libraries the room that they have
 * without an auditor
 * @wanted: what the user wants for libraries that are opened later; 0: as glibc has it
 */
static inline uint64_t gt_static_tls_room(const struct gt_static_tls *t, uint64_t wanted)
{
	uint64_t room = (wanted ? wanted : GT_STATIC_TLS_DEFAULT) + t->library_bytes,
		 usual = GT_STATIC_TLS_USUAL;

	if (t->program_bytes > GT_STATIC_TLS_SMALL)
		usual -= t->program_bytes < usual ? t->program_bytes : usual;
	return room < usual ? usual : room;
}

/* Can no value of the tunable help? glibc takes the block's alignment from the program alone,
 * and refuses libraries with more. */
static inline bool gt_static_tls_is_hopeless(const struct gt_static_tls *t)
{
	return t->fixed_alignment > GT_STATIC_TLS_ALIGNMENT &&
	       t->fixed_alignment > t->program_alignment;
}

/* The number behind the tunable's name in a list as GLIBC_TUNABLES has it; 0: it is not in it. */
uint64_t gt_static_tls_asked(const char *tunables);

#endif
