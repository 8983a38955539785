/* SPDX-License-Identifier: MIT */
/* Streams of plug-ins: read the records of one plug-in while the program runs.
 *
 *     cc plugin_stream.c -lgputap-plugin -ldl -o plugin_stream
 *     ./plugin_stream /path/of/librefdev_pu1.so */
#include <dlfcn.h>
#include <gputap/plugin.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct gputap_plugin_record record;
	pu1Result (*exercise)(uint32_t);
	char why[256] = "";
	int index, kernels = 0;

	if (argc < 2)
		return 2;
	index = gputap_plugins_stream_open(argv[1], 0, why, sizeof why);
	if (index < 0) {
		fprintf(stderr, "plugin_stream: %s\n", why);
		return 1;
	}
	*(void **)&exercise = dlsym(dlopen(argv[1], RTLD_NOW), "pu1Exercise");
	if (exercise)
		exercise(3);
	gputap_plugins_stream_flush((uint32_t)index);
	while (gputap_plugins_stream_read((uint32_t)index, &record) == 1)
		kernels += record.kind == PU1_KIND_CONCURRENT_KERNEL;
	gputap_plugins_stream_close((uint32_t)index);
	printf("%d kernels\n", kernels);
	return 0;
}
