/* SPDX-License-Identifier: MIT */
/* Calls of librocprofiler-sdk-rocattach.so.1 (src/rocattach) in a process that it attaches to.
 *
 *   gputap_rocattach("d")              detach
 *   gputap_rocattach("b.TEXT")         attach
 *   gputap_rocattach("b+TEXT"), ("m+TEXT") ..., ("m.TEXT")
 *                                      attach; the text comes in parts
 *
 * Text: CLIENT <1> SDK <1> TOOLS <1> NAME=VALUE <1> NAME=VALUE ..., where <1> is the character 1.
 * CLIENT is the pid of the attaching process, SDK the path of gputap's librocprofiler-sdk.so.1, and
 * TOOLS a list for ROCP_TOOL_LIBRARIES. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_ATTACH_ENTRY_H
#define GPUTAP_COMPAT_ROCPROFILER_ATTACH_ENTRY_H

#define ATTACH_ENTRY "gputap_rocattach"

enum {
	ATTACH_DETACH = 'd',
	ATTACH_BEGIN = 'b', /* a new request */
	ATTACH_MORE = 'm',  /* the request's next part */
	ATTACH_PART = '+',  /* another part follows */
	ATTACH_LAST = '.',
	ATTACH_SEPARATOR = 1,
	/* Answers: 0; negative errno: -EALREADY (another tool has been attached before), -EBUSY
	 * (another client has not detached yet), -ENOENT (the SDK cannot be loaded), -EEXIST
	 * (another SDK is loaded), -EINVAL, -ENOMEM; a rocprofiler_status_t; or a status of
	 * librocprofiler-register plus this number */
	ATTACH_REGISTER = 1000,
};

#endif
