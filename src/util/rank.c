/* SPDX-License-Identifier: MIT */
#include "util/rank.h"

#include <stddef.h>

#include "util/environment_value.h"

extern char **environ;

static const struct launcher {
	const char *name, *rank, *size, *local_rank, *local_size;
} launchers[GT_LAUNCHER_COUNT] = {{"", "", "", "", ""},
#define X(id, name, rank, size, local_rank, local_size) {name, rank, size, local_rank, local_size},
				  GT_LAUNCHERS(X)
#undef X
};

/* A number of decimal digits; -1: it is not there, or something else. */
static int32_t read_number(char *const *environment, const char *name)
{
	const char *text = *name ? gt_environment_value(environment, name) : NULL;
	int64_t value = 0;

	if (!text || !*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		value = value * 10 + (*text - '0');
		if (value > INT32_MAX)
			return -1;
	}
	return (int32_t)value;
}

int gt_rank_read(char *const *environment, struct gt_rank *out)
{
	*out = (struct gt_rank){-1, -1, -1, -1, GT_LAUNCHER_NONE};
	for (uint32_t i = 1; i < GT_LAUNCHER_COUNT; i++) {
		const struct launcher *l = &launchers[i];

		out->rank = read_number(environment, l->rank);
		if (out->rank < 0)
			continue;
		out->size = read_number(environment, l->size);
		out->local_rank = read_number(environment, l->local_rank);
		out->local_size = read_number(environment, l->local_size);
		out->launcher = i;
		return 1;
	}
	return 0;
}

int32_t gt_rank_of_environment(void)
{
	struct gt_rank rank;

	gt_rank_read(environ, &rank);
	return rank.rank;
}

const char *gt_launcher_name(uint32_t launcher)
{
	return launchers[launcher < GT_LAUNCHER_COUNT ? launcher : GT_LAUNCHER_NONE].name;
}
