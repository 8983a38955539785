/* SPDX-License-Identifier: MIT */
/* The tables that the loader requests; driver_tables.inc lists them.
 *
 * A table is filled only up to the requested version, because the loader's table is no longer: more
 * entries would overwrite the loader's memory. A refused entry is a function that returns an error,
 * because a static loader calls NULL entries. */
#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

typedef void (*entry_function)(void);

struct driver_entry {
	unsigned minor;
	entry_function function;
};

struct driver_step {
	unsigned minor, entries;
};

static ze_result_t refuse(const char *name)
{
	soft_ze_say(1, "%s is not supported", name);
	return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

static ze_result_t refuse_tool(void)
{
	return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

static ze_result_t fill_table(ze_api_version_t version, entry_function *table,
			      const struct driver_entry *entries, size_t count)
{
	if (!table)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (ZE_MAJOR_VERSION(version) != 1)
		return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
	for (size_t i = 0; i < count; i++)
		if (entries[i].minor <= ZE_MINOR_VERSION(version))
			table[i] = entries[i].function;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t fill_refused(ze_api_version_t version, entry_function *table,
				const struct driver_step *steps, size_t count)
{
	unsigned entries = 0;

	if (!table)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (ZE_MAJOR_VERSION(version) != 1)
		return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
	for (size_t i = 0; i < count; i++)
		if (steps[i].minor <= ZE_MINOR_VERSION(version))
			entries = steps[i].entries;
	for (unsigned i = 0; i < entries; i++)
		table[i] = (entry_function)refuse_tool;
	return ZE_RESULT_SUCCESS;
}

/* Define a function for each refused entry, so that the trace shows its name. */
#define TABLE(export)
#define END
#define HAS(since, name)
#define NEWER(since, name)
#define REFUSED(export, ...)
#define LACKS(since, name)                     \
	static ze_result_t refuse_##name(void) \
	{                                      \
		return refuse(#name);          \
	}
#include "soft/level_zero/driver_tables.inc"
#undef TABLE
#undef END
#undef HAS
#undef NEWER
#undef LACKS
#undef REFUSED

/* Define the entries. */
#define TABLE(export) static const struct driver_entry export##_entries[] = {
#define END \
	}   \
	;
#define HAS(since, name)     {since, (entry_function)name},
#define NEWER(since, name)   {since, (entry_function)newer_##name},
#define LACKS(since, name)   {since, (entry_function)refuse_##name},
#define REFUSED(export, ...) static const struct driver_step export##_steps[] = {__VA_ARGS__};
#include "soft/level_zero/driver_tables.inc"
#undef TABLE
#undef END
#undef HAS
#undef NEWER
#undef LACKS
#undef REFUSED

/* Define the exports, which the loader looks up with dlsym(). */
#define EXPORT        __attribute__((visibility("default")))
#define COUNTED(list) list, sizeof(list) / sizeof *(list)
#define TABLE(export)                                                                \
	EXPORT ze_result_t export(ze_api_version_t version, entry_function * table); \
	ze_result_t export(ze_api_version_t version, entry_function * table)         \
	{                                                                            \
		return fill_table(version, table, COUNTED(export##_entries));        \
	}
#define REFUSED(export, ...)                                                         \
	EXPORT ze_result_t export(ze_api_version_t version, entry_function * table); \
	ze_result_t export(ze_api_version_t version, entry_function * table)         \
	{                                                                            \
		return fill_refused(version, table, COUNTED(export##_steps));        \
	}
#define END
#define HAS(since, name)
#define NEWER(since, name)
#define LACKS(since, name)
#include "soft/level_zero/driver_tables.inc"
