/* SPDX-License-Identifier: MIT */
/* Opens one plug-in: loads its library, looks up its functions, and copies its groups into structs
 * of this gputap's size. Later steps therefore need not handle older or newer forms. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "plugin/plugin_parts.h"

typedef pu1Result (*register_fn)(const pu1Host *host, pu1Plugin *plugin);

enum { GROUP_BYTES_MOST = 4096 };

static bool find_functions(struct gt_plugin *p, register_fn *enter, char *why, size_t size)
{
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{"kineto_register_privateuse1_plugin", enter},
		{"pu1GetVersion", &p->calls.version},
		{"pu1TracingSetCallbacks", &p->calls.callbacks},
		{"pu1TracingEnable", &p->calls.enable},
		{"pu1TracingDisable", &p->calls.disable},
		{"pu1PushExternalCorrelationId", &p->calls.push},
		{"pu1PopExternalCorrelationId", &p->calls.pop},
		{"pu1FlushAll", &p->calls.flush},
		{"pu1GetNextRecord", &p->calls.next},
	};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *function = dlsym(p->handle, wanted[i].name);

		if (!function) {
			snprintf(why, size, "it does not export %s()", wanted[i].name);
			return false;
		}
		memcpy(wanted[i].to, &function, sizeof function);
	}
	return true;
}

static bool is_known_version(struct gt_plugin *p, char *why, size_t size)
{
	uint32_t major;

	p->abi = p->calls.version();
	major = p->abi >> 16;
	if (major == PU1_VERSION_MAJOR)
		return true;
	snprintf(why, size,
		 "it was built with version %u.%u of PrivateUse1TracingApi.h; this gputap supports "
		 "%u.%u: %s",
		 major, p->abi & 0xffff, PU1_VERSION_MAJOR, PU1_VERSION_MINOR,
		 major > PU1_VERSION_MAJOR ? "use a newer gputap" : "rebuild it");
	return false;
}

static void find_groups(struct gt_plugin *p)
{
	const struct {
		const char *name;
		void *to;
		size_t bytes;
	} groups[GPUTAP_PLUGIN_GROUP_COUNT] = {
		[GPUTAP_PLUGIN_USER] = {PU1_GROUP_USER, &p->calls.user, sizeof p->calls.user},
		[GPUTAP_PLUGIN_DROPS] = {PU1_GROUP_DROPS, &p->calls.drops, sizeof p->calls.drops},
		[GPUTAP_PLUGIN_CLOCK] = {PU1_GROUP_CLOCK, &p->calls.clock, sizeof p->calls.clock},
		[GPUTAP_PLUGIN_ROWS] = {PU1_GROUP_ROWS, &p->calls.rows, sizeof p->calls.rows},
		[GPUTAP_PLUGIN_ERRORS] = {PU1_GROUP_ERRORS, &p->calls.errors,
					  sizeof p->calls.errors},
		[GPUTAP_PLUGIN_CONFIG] = {PU1_GROUP_CONFIG, &p->calls.config,
					  sizeof p->calls.config},
		[GPUTAP_PLUGIN_WINDOW] = {PU1_GROUP_WINDOW, &p->calls.window,
					  sizeof p->calls.window},
		[GPUTAP_PLUGIN_COUNTERS] = {PU1_GROUP_COUNTERS, &p->calls.counters,
					    sizeof p->calls.counters},
		[GPUTAP_PLUGIN_GRAPHS] = {PU1_GROUP_GRAPHS, &p->calls.graphs,
					  sizeof p->calls.graphs},
		[GPUTAP_PLUGIN_SYNCHRONIZE] = {PU1_GROUP_SYNCHRONIZE, &p->calls.synchronize,
					       sizeof p->calls.synchronize},
		[GPUTAP_PLUGIN_SUBMITS] = {PU1_GROUP_SUBMITS, &p->calls.submits,
					   sizeof p->calls.submits},
	};

	if (!p->about.find_group)
		return;
	for (uint32_t i = 0; i < GPUTAP_PLUGIN_GROUP_COUNT; i++) {
		const size_t *theirs = p->about.find_group(groups[i].name);

		if (!theirs || *theirs < 2 * sizeof(size_t) || *theirs > GROUP_BYTES_MOST)
			continue;
		memcpy(groups[i].to, theirs, *theirs < groups[i].bytes ? *theirs : groups[i].bytes);
		p->groups |= 1u << i;
	}
}

static const char *own_text(const char *text)
{
	char out[256];

	gt_plugin_mend(out, sizeof out, text ? text : "", text ? strnlen(text, sizeof out) : 0,
		       false);
	return strdup(out);
}

/* Query a plug-in's description. If the plug-in reports a wrong size, nothing past the struct is
 * read. */
static bool ask_about(struct gt_plugin *p, register_fn enter, char *why, size_t size)
{
	static const pu1Host host = {sizeof host, PU1_VERSION, 0, "gputap " GPUTAP_VERSION};
	const char *slash = strrchr(p->path, '/');
	pu1Result result;

	p->about = (pu1Plugin){.size = sizeof p->about};
	result = enter(&host, &p->about);
	if (result != PU1_SUCCESS) {
		snprintf(why, size, "its registration failed with %d", result);
		return false;
	}
	p->about.kinds &= (1u << PU1_KIND_COUNT) - 2;
	if (!p->about.kinds) {
		snprintf(why, size, "it declares that it records nothing (pu1Plugin.kinds)");
		return false;
	}
	p->about.name = own_text(p->about.name && *p->about.name ? p->about.name
				 : slash                         ? slash + 1
								 : p->path);
	p->about.vendor = own_text(p->about.vendor);
	p->about.version = own_text(p->about.version);
	return p->about.name && p->about.vendor && p->about.version;
}

bool gt_plugin_open(struct gt_plugin *p, const char *path, char *why, size_t size)
{
	register_fn enter;
	const char *error;

	if (gt_plugin_is_no_library(path, why, size))
		return false;
	gt_plugin_life_begin(p);
	snprintf(why, size, "no memory");
	p->path = strdup(path);
	if (!p->path)
		return false;
	p->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!p->handle) {
		error = dlerror();
		snprintf(why, size, "%s", error ? error : "the dynamic linker gives no reason");
		return false;
	}
	if (!find_functions(p, &enter, why, size) || !is_known_version(p, why, size) ||
	    !ask_about(p, enter, why, size))
		return false;
	find_groups(p);
	return true;
}
