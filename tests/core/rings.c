/* SPDX-License-Identifier: MIT */
/* A session folder without a collector, for tests of the injected library alone.
 *
 *   rings make DIR [key=value ..]   write DIR/session
 *   rings dump DIR                  print each segment's records and counts, a JSON object per line
 *   rings stop DIR                  end the session
 *
 * While dumping, checks that blocks belong to their chain, that records are complete, and that seen
 * = recorded + dropped (calls still open at the end are reported as "open"). Exit status 1 if the
 * memory itself is inconsistent. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/segment.h"
#include "ring/session.h"

static int bad;

static struct gt_session *map_session(const char *dir, bool make)
{
	char path[4096];
	struct gt_session *s;
	int fd;

	snprintf(path, sizeof path, "%s/session", dir);
	fd = open(path, make ? O_RDWR | O_CREAT : O_RDWR, 0600);
	if (fd < 0 || (make && ftruncate(fd, sizeof *s) != 0)) {
		perror(path);
		exit(2);
	}
	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return s;
}

static int make(const char *dir, char **options)
{
	struct gt_session *s;

	mkdir(dir, 0700);
	s = map_session(dir, true);
	*s = (struct gt_session){.magic = GT_SESSION_MAGIC,
				 .version = GT_SESSION_VERSION,
				 .bytes = sizeof *s,
				 .host_clock = GT_HOST_CLOCK_BOOTTIME,
				 .block_bytes = 64 * 1024,
				 .pool_bytes = 16 << 20,
				 .wait_ns = 1000000,
				 .slot_count = 1024,
				 .payload_cap = 256,
				 .record_args = 1,
				 .device_activity = 1,
				 .domains = 0xfffe};
	memset(s->ops, 0xff, sizeof s->ops);
	for (; *options; options++) {
		char *value = strchr(*options, '=');
		unsigned long long n;

		if (!value)
			return 2;
		*value++ = '\0';
		n = strtoull(value, NULL, 0);
		if (!strcmp(*options, "block"))
			s->block_bytes = (uint32_t)n;
		else if (!strcmp(*options, "pool"))
			s->pool_bytes = n;
		else if (!strcmp(*options, "wait"))
			s->wait_ns = n;
		else if (!strcmp(*options, "slots"))
			s->slot_count = (uint32_t)n;
		else if (!strcmp(*options, "cap"))
			s->payload_cap = (uint32_t)n;
		else if (!strcmp(*options, "args"))
			s->record_args = (uint32_t)n;
		else if (!strcmp(*options, "device"))
			s->device_activity = (uint32_t)n;
		else if (!strcmp(*options, "version"))
			s->version = (uint32_t)n;
		else if (!strcmp(*options, "clock"))
			s->host_clock = (uint32_t)n;
		else if (!strcmp(*options, "op")) {
			/* the first "op" clears the default selection */
			static bool first = true;

			if (first)
				memset(s->ops, 0, sizeof s->ops);
			first = false;
			s->ops[n >> 16][(n & 0xffff) / 64] |= UINT64_C(1) << (n % 64);
		} else if (!strcmp(*options, "noops"))
			memset(s->ops, 0, sizeof s->ops);
		else
			return 2;
	}
	return 0;
}

static void text(const char *key, const char *data, size_t bytes)
{
	printf(", \"%s\": \"", key);
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c == '"' || c == '\\' || c < 32 || c > 126)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void dump_device(const struct gt_record_device *d)
{
	printf(", \"id\": %llu, \"device\": %u, \"queue\": %llu, \"name\": %u, \"status\": %d, "
	       "\"bytes\": %llu",
	       (unsigned long long)d->id, GT_DEVICE_REF_NUMBER(d->head.op),
	       (unsigned long long)d->queue, d->name, d->status, (unsigned long long)d->bytes);
	printf(", \"call_start\": %llu, \"times\": [%llu, %llu, %llu, %llu]",
	       (unsigned long long)d->call_start, (unsigned long long)d->queued,
	       (unsigned long long)d->submitted, (unsigned long long)d->start,
	       (unsigned long long)d->end);
	printf(", \"object\": [%llu, %llu], \"global\": [%u, %u, %u], \"local\": [%u, %u, %u], "
	       "\"ordinal\": %u, \"replay\": %u",
	       (unsigned long long)d->object[0], (unsigned long long)d->object[1], d->global[0],
	       d->global[1], d->global[2], d->local[0], d->local[1], d->local[2], d->ordinal,
	       d->replay);
}

static void dump_record(const struct gt_record *h, unsigned ordinal)
{
	static const char *const kinds[] = {"pad",    "call",  "device", "string",   "object",
					    "module", "clock", "event",  "external", "lifetime",
					    "window", "stack", "frames", "code"};

	printf("{\"kind\": \"%s\", \"thread\": %u, \"depth\": %u, \"op\": %u",
	       h->kind < sizeof kinds / sizeof *kinds ? kinds[h->kind] : "?", ordinal, h->detail,
	       h->op);
	switch (h->kind) {
	case GT_RECORD_CALL: {
		const struct gt_record_call *c = (const void *)h;

		printf(", \"domain\": %u, \"number\": %u, \"start\": %llu, \"end\": %llu, \"id\": "
		       "%llu, \"ret\": %lld, \"args\": [",
		       GT_OP_DOMAIN(h->op), GT_OP_NUMBER(h->op), (unsigned long long)c->start,
		       (unsigned long long)c->end, (unsigned long long)c->id, (long long)c->ret);
		for (unsigned i = 0; i < GT_OP_NARGS(h->op); i++)
			printf("%s%llu", i ? ", " : "", (unsigned long long)c->args[i]);
		putchar(']');
		break;
	}
	case GT_RECORD_DEVICE: dump_device((const void *)h); break;
	case GT_RECORD_CLOCK: {
		const struct gt_record_clock *c = (const void *)h;

		printf(", \"before\": %llu, \"after\": %llu, \"device\": %llu",
		       (unsigned long long)c->host_before, (unsigned long long)c->host_after,
		       (unsigned long long)c->device);
		break;
	}
	case GT_RECORD_STRING:
		text("text", ((const struct gt_record_string *)h)->text,
		     ((const struct gt_record_string *)h)->bytes);
		break;
	case GT_RECORD_OBJECT:
	case GT_RECORD_MODULE:
		printf(", \"number\": %llu, \"handle\": %llu, \"parent\": %llu",
		       (unsigned long long)((const struct gt_record_object *)h)->number,
		       (unsigned long long)((const struct gt_record_object *)h)->handle,
		       (unsigned long long)((const struct gt_record_object *)h)->parent);
		text("text", ((const struct gt_record_object *)h)->text,
		     ((const struct gt_record_object *)h)->bytes);
		break;
	case GT_RECORD_EVENT:
		printf(", \"value\": %llu",
		       (unsigned long long)((const struct gt_record_event *)h)->value);
		text("text", ((const struct gt_record_event *)h)->text,
		     ((const struct gt_record_event *)h)->bytes);
		break;
	case GT_RECORD_EXTERNAL:
		printf(", \"value\": %llu",
		       (unsigned long long)((const struct gt_record_external *)h)->value);
		break;
	}
	printf("}\n");
}

static void dump_ring(const struct gt_segment *r, uint32_t index, uint64_t *recorded)
{
	const struct gt_slot *slot = gt_segment_slot(r, index);
	uint32_t walked = 0;

	for (uint32_t n = atomic_load(&slot->first); n != GT_BLOCK_NONE;) {
		struct gt_block *b = gt_segment_block(r, n);
		uint32_t committed = atomic_load(&b->committed), at = 0;

		if (n > r->block_count || ++walked > r->block_count ||
		    b->ordinal != slot->ordinal || b->slot != index ||
		    committed > r->block_bytes - GT_BLOCK_HEADER_BYTES) {
			printf("{\"kind\": \"bad\", \"what\": \"block %u\"}\n", n);
			bad = 1;
			return;
		}
		while (at < committed) {
			const struct gt_record *h = (const void *)(gt_block_data(b) + at);

			if (h->words == 0 || at + h->words * 8u > committed) {
				printf("{\"kind\": \"bad\", \"what\": \"record in block %u\"}\n",
				       n);
				bad = 1;
				return;
			}
			if (h->kind == GT_RECORD_CALL || h->kind == GT_RECORD_DEVICE)
				recorded[h->kind == GT_RECORD_CALL ? GT_CLASS_CALL
								   : GT_CLASS_DEVICE]++;
			dump_record(h, slot->ordinal);
			at += h->words * 8u;
		}
		n = atomic_load(&b->next);
	}
}

static void dump_segment(const char *path, const char *file)
{
	uint64_t seen[2] = {0}, dropped[2] = {0}, recorded[2] = {0};
	struct gt_segment *r;
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) != 0) {
		perror(path);
		exit(2);
	}
	r = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (r == MAP_FAILED || r->magic != GT_SEGMENT_MAGIC ||
	    r->segment_bytes != (uint64_t)st.st_size) {
		printf("{\"kind\": \"bad\", \"what\": \"segment\"}\n");
		bad = 1;
		return;
	}
	printf("{\"kind\": \"segment\", \"file\": \"%s\", \"pid\": %u, \"ppid\": %u, \"forks\": "
	       "%u, "
	       "\"state\": %u, \"slots\": %u, "
	       "\"blocks\": %u, \"block_count\": %u, \"children_lost\": %u, \"runtimes\": %llu",
	       file, r->pid, r->ppid, r->fork_count, atomic_load(&r->state),
	       atomic_load(&r->slots_used), atomic_load(&r->blocks_used), r->block_count,
	       atomic_load(&r->children_lost), (unsigned long long)atomic_load(&r->runtimes_seen));
	text("exe", r->exe, strlen(r->exe));
	text("argv", r->argv, r->argv_bytes);
	printf("}\n");
	for (uint32_t i = 0; i < atomic_load(&r->slots_used); i++) {
		const struct gt_slot *s = gt_segment_slot(r, i);

		for (int c = 0; c < 2; c++)
			for (int d = 0; d < GT_DOMAIN_COUNT; d++) {
				seen[c] += atomic_load(&s->domains[d].seen[c]);
				for (int w = 0; w < GT_DROP_REASON_COUNT; w++)
					dropped[c] += atomic_load(&s->dropped[w][c][d]);
			}
		if (i) {
			printf("{\"kind\": \"thread\", \"ordinal\": %u, \"tid\": %u, \"state\": %u",
			       s->ordinal, s->tid, atomic_load(&s->state));
			text("name", s->name, strnlen(s->name, sizeof s->name));
			printf("}\n");
		}
		dump_ring(r, i, recorded);
	}
	printf("{\"kind\": \"counts\", \"pid\": %u, \"forks\": %u", r->pid, r->fork_count);
	for (int c = 0; c < 2; c++)
		printf(", \"%s\": {\"seen\": %llu, \"recorded\": %llu, \"dropped\": %llu}",
		       c ? "device" : "call", (unsigned long long)seen[c],
		       (unsigned long long)recorded[c], (unsigned long long)dropped[c]);
	printf("}\n");
	munmap(r, (size_t)st.st_size);
}

static int dump(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[4096];

	if (!d) {
		perror(dir);
		return 2;
	}
	while ((e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name), suffix = strlen(GT_SEGMENT_SUFFIX);

		if (e->d_name[0] == '.' || n < suffix ||
		    strcmp(e->d_name + n - suffix, GT_SEGMENT_SUFFIX) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		dump_segment(path, e->d_name);
	}
	closedir(d);
	return bad;
}

/* End a session, and wake the threads of processes that follow it. */
static void stop_session(struct gt_session *s)
{
	atomic_store(&s->stop, 1);
	atomic_fetch_add(&s->control, 1);
	syscall(SYS_futex, &s->control, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "make"))
		return make(argv[2], argv + 3);
	if (argc == 3 && !strcmp(argv[1], "dump"))
		return dump(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "stop")) {
		stop_session(map_session(argv[2], false));
		return 0;
	}
	fprintf(stderr, "usage: rings make|dump|stop DIR [key=value ..]\n");
	return 2;
}
