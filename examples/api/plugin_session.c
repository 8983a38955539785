/* SPDX-License-Identifier: MIT */
/* Sessions of plug-ins: print the activities of each vendor's plug-in in KINETO_PLUGIN_PATH.
 *
 *     cc plugin_session.c -lgputap-plugin -ldl -o plugin_session
 *     KINETO_PLUGIN_PATH=/path/of/librefdev_pu1.so ./plugin_session */
#include <dlfcn.h>
#include <gputap/plugin.h>
#include <stdio.h>

/* Submit a few activities with the plug-in's function for tests. */
static void submit(uint32_t index)
{
	struct gputap_plugin plugin = {.size = sizeof plugin};
	pu1Result (*exercise)(uint32_t);

	if (gputap_plugins_at(index, &plugin))
		return;
	*(void **)&exercise = dlsym(dlopen(plugin.path, RTLD_NOW), "pu1Exercise");
	printf("plug-in %s: %s\n", plugin.name, exercise ? "submits" : "has no exercise");
	if (exercise)
		exercise(3);
}

int main(void)
{
	struct gputap_plugin_record record;
	int count = gputap_plugins_load(NULL);

	if (gputap_plugins_start(NULL) <= 0)
		return 1;
	printf("session is open: %d\n", gputap_plugins_session_active());
	for (int i = 0; i < count; i++)
		submit((uint32_t)i);
	gputap_plugins_stop();
	while (gputap_plugins_read(&record, 1) == 1)
		if (record.kind == PU1_KIND_CONCURRENT_KERNEL)
			printf("kernel %s ran %.1f us\n", record.name,
			       (double)(record.end - record.start) / 1e3);
	printf("invalid records: %llu\n",
	       (unsigned long long)gputap_plugins_count(UINT32_MAX, GPUTAP_PLUGIN_BAD_SIZE));
	return 0;
}
