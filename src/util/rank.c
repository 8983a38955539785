/* SPDX-License-Identifier: MIT */
#include "util/ranks.h"

#include <stddef.h>
#include <string.h>

extern char **environ;

enum { RANK, SIZE, LOCAL_RANK, LOCAL_SIZE, NUMBERS };

static const struct launcher {
	const char *name, *variables[NUMBERS];
} launchers[GT_LAUNCHER_COUNT] = {{"", {"", "", "", ""}},
#define X(id, name, rank, size, local_rank, local_size) \
	{name, {rank, size, local_rank, local_size}},
				  GT_LAUNCHERS(X)
#undef X
};

/* Parse a decimal number. Return -1 if @text is missing or is not a number. */
static int32_t read_number(const char *text)
{
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

/* Return a bit for a pair of letters, with which a variable's name begins. */
static uint64_t bit_of(const char *name)
{
	return name[0] ? UINT64_C(1) << ((uint8_t)name[0] * 5 + (uint8_t)name[1]) % 64 : 0;
}

/* Look once at each variable, and only if its first letters are those of a launcher's variable,
 * because every traced process reads its environment when it starts. */
void gt_ranks_read(char *const *environment, struct gt_ranks *out)
{
	uint64_t begins = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < GT_LAUNCHER_COUNT; i++)
		for (uint32_t k = 0; k < NUMBERS; k++) {
			out->numbers[i][k] = -1;
			begins |= bit_of(launchers[i].variables[k]);
		}
	while (environment && environment[count])
		count++;
	while (count-- > 0) { /* the first of several equal names counts */
		const char *equals = bit_of(environment[count]) & begins
					     ? strchr(environment[count], '=')
					     : NULL;

		if (equals)
			gt_ranks_set(out, environment[count], equals + 1);
	}
}

int gt_ranks_set(struct gt_ranks *ranks, const char *name, const char *value)
{
	size_t n = strcspn(name, "=");

	for (uint32_t i = 1; i < GT_LAUNCHER_COUNT; i++)
		for (uint32_t k = 0; k < NUMBERS; k++)
			if (n && !strncmp(launchers[i].variables[k], name, n) &&
			    !launchers[i].variables[k][n]) {
				ranks->numbers[i][k] = read_number(value);
				return 1;
			}
	return 0;
}

int gt_ranks_choose(const struct gt_ranks *ranks, struct gt_rank *out)
{
	*out = (struct gt_rank){-1, -1, -1, -1, GT_LAUNCHER_NONE};
	for (uint32_t i = 1; i < GT_LAUNCHER_COUNT; i++) {
		const int32_t *n = ranks->numbers[i];

		if (n[RANK] < 0)
			continue;
		*out = (struct gt_rank){n[RANK], n[SIZE], n[LOCAL_RANK], n[LOCAL_SIZE], i};
		return 1;
	}
	return 0;
}

int gt_rank_read(char *const *environment, struct gt_rank *out)
{
	struct gt_ranks ranks;

	gt_ranks_read(environment, &ranks);
	return gt_ranks_choose(&ranks, out);
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
