/* SPDX-License-Identifier: MIT */
/* A buffer's callback that throws through gputap into the callback that flushed it: prints what
 * arrived where. */
#include <gputap/tool.h>

#include <cstdio>
#include <stdexcept>

static gputap_buffer *inner, *outer;

static void throws(gputap_buffer *, const gputap_record *, size_t count, uint64_t, void *)
{
	throw std::runtime_error(std::to_string(count) + " records");
}

static void catches(gputap_buffer *, const gputap_record *, size_t, uint64_t, void *)
{
	try {
		gputap_buffer_flush(inner);
		puts("nothing");
	} catch (const std::exception &e) {
		printf("caught: %s\n", e.what());
	}
}

static gputap_buffer *make(gputap_buffer_fn fn)
{
	gputap_buffer_opts o = {};
	gputap_buffer *b = nullptr;

	o.size = sizeof o;
	o.fn = fn;
	printf("create %d\n", gputap_buffer_create(&o, &b));
	return b;
}

int main()
{
	uint64_t payload = 1;

	inner = make(throws);
	outer = make(catches);
	for (int round = 1; round <= 2; round++) {
		for (int i = 0; i < round; i++)
			gputap_buffer_write(inner, 1, &payload, sizeof payload, 0);
		gputap_buffer_write(outer, 1, &payload, sizeof payload, 0);
		printf("flush %d\n", gputap_buffer_flush(outer));
	}
	printf("destroy %d %d\n", gputap_buffer_destroy(inner), gputap_buffer_destroy(outer));
}
