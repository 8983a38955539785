/* SPDX-License-Identifier: MIT */
/* Loads the plug-ins in KINETO_PLUGIN_PATH, lets each work in a session, and prints the records
 * read and the counts.
 *
 *     host [list] [sessions=N] [pieces=N] [memory=N] [buffer=N] [config=TEXT] [fork] [all]
 *          [guarded] */
#include <gputap/PrivateUse1TracingApi.h>
#include <gputap/plugin.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *word(char **argv, const char *key)
{
	size_t n = strlen(key);

	for (char **at = argv + 1; *at; at++)
		if (!strncmp(*at, key, n) && (!(*at)[n] || (*at)[n] == '='))
			return (*at)[n] ? *at + n + 1 : "";
	return NULL;
}

static unsigned long number(char **argv, const char *key, unsigned long otherwise)
{
	const char *text = word(argv, key);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

static void list(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct gputap_plugin p = {.size = sizeof p};
		struct gputap_plugin_row row = {.size = sizeof row};

		if (gputap_plugins_at(i, &p))
			exit(3);
		printf("plugin %u name=%s vendor=%s version=%s abi=%u.%u devices=%u kinds=%#" PRIx64
		       " groups=%#" PRIx64 "\n",
		       i, p.name, p.vendor, p.version, p.abi >> 16, p.abi & 0xffff, p.device_count,
		       p.kinds, p.groups);
		if (!gputap_plugins_row(i, 0, 0, &row))
			printf("device 0 %s streams=%u\n", row.name, row.stream_count);
		for (int32_t s = 1; !gputap_plugins_row(i, 0, s, &row); s++)
			printf("stream %d %s handle=%#" PRIx64 "\n", s, row.name, row.handle);
	}
}

static void exercise(uint32_t count, uint32_t pieces)
{
	const struct gputap_plugin_stacks *stacks = gputap_plugins_stacks();

	for (uint32_t i = 0; i < count; i++) {
		struct gputap_plugin p = {.size = sizeof p};
		pu1Result (*run)(uint32_t);
		void *handle;

		gputap_plugins_at(i, &p);
		handle = dlopen(p.path, RTLD_NOW | RTLD_NOLOAD);
		*(void **)&run = dlsym(handle, "pu1Exercise");
		stacks[i].push(11);
		stacks[i].push(22);
		stacks[i].push_user(33);
		run(pieces);
		stacks[i].pop();
		stacks[i].pop();
		stacks[i].pop_user();
		stacks[i].pop(); /* one pop too many */
		dlclose(handle);
	}
}

static void print_records(int all)
{
	static struct gputap_plugin_record records[100];
	unsigned long kinds[PU1_KIND_COUNT] = {0}, external = 0, user = 0;
	uint64_t first = UINT64_MAX, last = 0;
	long n;

	while ((n = gputap_plugins_read(records, 100)) > 0)
		for (long i = 0; i < n; i++) {
			const struct gputap_plugin_record *r = &records[i];

			kinds[r->kind]++;
			external += r->external == 22;
			user += r->user_range == 33;
			first = r->start < first ? r->start : first;
			last = r->end > last ? r->end : last;
			if (all)
				printf("record %u %s d%d s%d c%" PRIu64 " b%" PRIu64
				       " g%u,%u,%u graph %" PRIu64 ".%u.%u %s\n",
				       r->kind, r->name, r->device, r->stream, r->correlation,
				       r->bytes, r->grid[0], r->grid[1], r->grid[2], r->graph,
				       r->replay, r->node,
				       strtok(strdup(r->metadata), "\n") ?: "-");
		}
	for (int i = 1; i < PU1_KIND_COUNT; i++)
		if (kinds[i])
			printf("kind %d %lu\n", i, kinds[i]);
	printf("external %lu user %lu\nspan %" PRIu64 " %" PRIu64 "\n", external, user, first,
	       last);
	for (uint32_t what = 0; gputap_plugins_count_name(what); what++)
		if (gputap_plugins_count(UINT32_MAX, what))
			printf("count %s: %" PRIu64 "\n", gputap_plugins_count_name(what),
			       gputap_plugins_count(UINT32_MAX, what));
}

int main(int argc, char **argv)
{
	struct gputap_plugins_session session = {
		.size = sizeof session,
		.memory_bytes = number(argv, "memory", 0),
		.buffer_bytes = (uint32_t)number(argv, "buffer", 0),
		.config = word(argv, "config"),
	};
	const struct gputap_plugins_opts opts = {
		.size = sizeof opts,
		.flags = word(argv, "guarded") ? GPUTAP_PLUGINS_GUARDED : 0,
	};
	int count = gputap_plugins_load(&opts);

	(void)argc;
	printf("loaded %d, again %d\n", count, gputap_plugins_load(NULL));
	if (word(argv, "list"))
		list((uint32_t)count);
	for (unsigned long i = 0; i < number(argv, "sessions", 1); i++) {
		printf("start %d\n", gputap_plugins_start(&session));
		exercise((uint32_t)count, (uint32_t)number(argv, "pieces", 3));
		if (word(argv, "fork") && !fork()) {
			printf("child start %d\n", gputap_plugins_start(&session));
			exercise((uint32_t)count, 3);
			printf("child stop %d\n", gputap_plugins_stop());
			print_records(0);
			fflush(stdout);
			_exit(0);
		}
		while (word(argv, "fork") && wait(NULL) > 0)
			;
		printf("stop %d\n", gputap_plugins_stop());
		for (uint32_t k = 0; k < (uint32_t)count; k++)
			if (gputap_plugins_error(k))
				printf("error %u %s\n", k, gputap_plugins_error(k));
		print_records(word(argv, "all") != NULL);
	}
	return 0;
}
