/* SPDX-License-Identifier: MIT */
/* The memory that gt_inject() maps in another process: code, a stack, and a job that the worker
 * thread reads and answers. C and assembler (inject_worker.S) share the offsets.
 *
 *   | code, r-x, 4 KiB | stack for pthread_create(), rw-, 64 KiB | job, 12 KiB | frame, 16 KiB |
 *
 * The frame (inject_frame.h) is the stopped thread's way back if gputap is killed.
 * The stack overflows into the code, which is not writable.
 *
 *   state        written by   meaning
 *   START        gputap       the stopped thread may still be on our stack: wait
 *   GO           gputap       the stopped thread runs its own code again
 *   WANTS_FILE   worker       `fd` is an empty memfd: gputap copies the library into it
 *   LOADING      worker       in dlopen()
 *   CALLING      worker       in the library's function
 *   DONE         worker       `failed`, `answer` and `error` are valid
 *   SEEN         gputap       the answer was read: unmap everything
 *
 * x86-64 stores become visible in program order, so a state is always the last store. */
#ifndef GPUTAP_COLLECTOR_INJECT_JOB_H
#define GPUTAP_COLLECTOR_INJECT_JOB_H

#define GT_JOB_START      0
#define GT_JOB_GO         1
#define GT_JOB_WANTS_FILE 2
#define GT_JOB_LOADING    3
#define GT_JOB_CALLING    4
#define GT_JOB_DONE       5
#define GT_JOB_SEEN       6

/* values of `failed` */
#define GT_JOB_NOT_LOADED  1 /* dlopen() failed: see `error` */
#define GT_JOB_NO_FUNCTION 2

/* offsets of members of struct gt_inject_job */
#define GT_JOB_AT_SELF       0
#define GT_JOB_AT_DETACH     8
#define GT_JOB_AT_DLOPEN     16
#define GT_JOB_AT_DLSYM      24
#define GT_JOB_AT_DLERROR    32
#define GT_JOB_AT_MUNMAP     40
#define GT_JOB_AT_BEGIN      48
#define GT_JOB_AT_BYTES      56
#define GT_JOB_AT_THREAD     64
#define GT_JOB_AT_PAUSE      72
#define GT_JOB_AT_SIGNALS    88
#define GT_JOB_AT_STATE      96
#define GT_JOB_AT_CREATED    100
#define GT_JOB_AT_SIGNAL     104
#define GT_JOB_AT_MXCSR      108
#define GT_JOB_AT_FAILED     112
#define GT_JOB_AT_ANSWER     116
#define GT_JOB_AT_TID        120
#define GT_JOB_AT_FD         124
#define GT_JOB_AT_NEEDS_FILE 128
#define GT_JOB_AT_NAME       132
#define GT_JOB_AT_ERROR      148
#define GT_JOB_AT_FUNCTION   404
#define GT_JOB_AT_PATH       532
#define GT_JOB_AT_ARGUMENT   4628

#define GT_JOB_NAME_BYTES     16
#define GT_JOB_ERROR_BYTES    256
#define GT_JOB_FUNCTION_BYTES 128
#define GT_JOB_PATH_BYTES     4096
/* number of pauses after which the worker stops waiting for gputap: about 20 s */
#define GT_JOB_PAUSES         100000
/* distance from the job to the frame */
#define GT_JOB_TO_FRAME       12288

#ifndef __ASSEMBLER__
#define GT_INJECT_THREAD "gputap-attach" /* name of the worker thread */

#include <stdint.h>

enum {
	GT_JOB_CODE_BYTES = 4096,
	GT_JOB_STACK_BYTES = 64 * 1024,
	GT_JOB_DATA_BYTES = 12 * 1024,
	GT_JOB_FRAME_BYTES = 16 * 1024,
	GT_JOB_REGION_BYTES =
		GT_JOB_CODE_BYTES + GT_JOB_STACK_BYTES + GT_JOB_DATA_BYTES + GT_JOB_FRAME_BYTES,
};

struct gt_inject_job {
	/* addresses of functions of libc in the process */
	uint64_t self, detach, dlopen, dlsym, dlerror, munmap;
	uint64_t begin, bytes; /* the mapping */
	uint64_t thread;       /* pthread_t, from pthread_create() */
	int64_t pause[2];      /* struct timespec: time between two looks at `state` */
	uint64_t signals;      /* the set that contains `signal` alone */
	int32_t state;
	int32_t created;    /* result of pthread_create(); -1: not known yet */
	int32_t signal;     /* notifies gputap of the end of pthread_create() */
	uint32_t mxcsr;     /* control word of the floating-point unit for the worker */
	int32_t failed;     /* 0, NOT_LOADED or NO_FUNCTION */
	int32_t answer;     /* of the library's function */
	int32_t tid;        /* of the worker, in its own pid namespace */
	int32_t fd;         /* of the memfd, or negative errno */
	int32_t needs_file; /* the library comes through a memfd */
	char name[GT_JOB_NAME_BYTES];
	char error[GT_JOB_ERROR_BYTES];
	char function[GT_JOB_FUNCTION_BYTES];
	char path[GT_JOB_PATH_BYTES]; /* of the library; until WANTS_FILE: the memfd's name */
	char argument[GT_JOB_PATH_BYTES];
};

/* The code: gt_inject_code is a thread's function, and pthread_create() returns to gt_inject_back;
 * gt_inject_restore calls rt_sigreturn().
 * Never executed in this process. */
extern const uint8_t gt_inject_code[], gt_inject_back[], gt_inject_restore[], gt_inject_code_end[];
#endif

#endif
