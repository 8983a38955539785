/* SPDX-License-Identifier: MIT */
/* Determines whether the tool that has subscribed to CUPTI before gputap was attached uses CUPTI at
 * the moment. torch.profiler (Kineto) subscribes once and stays subscribed for ever, although it
 * uses CUPTI only while it profiles. CUPTI does not report the subscriber or the enabled
 * kinds, so libtorch is asked:
 *
 *   torch::autograd::profiler::isProfilerEnabledInMainThread()   from start to stop, in any thread
 *   libkineto::api() ─► ActivityProfilerProxy::isActive()        also while it prepares (`warmup`)
 *
 * The second object is private. Its mark is its table of virtual functions, and not used if
 * no word of the first object's beginning points to one. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "core/own_memory.h"
#include "runtime/cuda/cupti_client.h"

enum {
	API_WORDS = 12,
	PAGE = 4096,
	WORDS_AT_ONCE = PAGE / 8,
	LOWEST = 1 << 16,
	OBJECT_WORDS = 64,
	OBJECT_BYTES = 4096
};

static void *find(void *library, const char *symbol)
{
	return library ? dlsym(library, symbol) : NULL;
}

static bool read_words(uintptr_t from, uintptr_t *words, size_t count)
{
	return gt_own_memory_read(from, words, count * sizeof *words) ==
	       (ssize_t)(count * sizeof *words);
}

/* Return libkineto's profiler, or NULL. */
static void *find_profiler(void *library)
{
	void *(*get_api)(void) = NULL;
	const char *table = find(library, "_ZTVN9libkineto21ActivityProfilerProxyE");
	uintptr_t words[API_WORDS], first;

	*(void **)&get_api = find(library, "_ZN9libkineto3apiEv");
	if (!get_api || !table || !read_words((uintptr_t)get_api(), words, API_WORDS))
		return NULL;
	for (unsigned i = 0; i < API_WORDS; i++)
		if (words[i] % sizeof(void *) == 0 && read_words(words[i], &first, 1) &&
		    first == (uintptr_t)table + 2 * sizeof(void *))
			return (void *)words[i];
	return NULL;
}

enum gt_cupti_holder gt_cupti_client_holder(void)
{
	void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD), *profiler;
	bool (*is_enabled)(void) = NULL, (*is_active)(void *) = NULL;
	enum gt_cupti_holder holder = GT_CUPTI_HOLDER_UNKNOWN;

	*(void **)&is_enabled =
		find(library, "_ZN5torch8autograd8profiler29isProfilerEnabledInMainThreadEv");
	*(void **)&is_active = find(library, "_ZN9libkineto21ActivityProfilerProxy8isActiveEv");
	if (is_enabled) {
		profiler = is_active ? find_profiler(library) : NULL;
		holder = is_enabled() || (profiler && is_active(profiler)) ? GT_CUPTI_HOLDER_BUSY
									   : GT_CUPTI_HOLDER_IDLE;
	}
	if (library)
		dlclose(library);
	return holder;
}

/* A subscription begins with the callback's address, and its user data, which is NULL in Kineto.
 * CUPTI 13.0 holds a pointer to it in a list of one element, whose head is in a heap object:
 *
 *   libcupti's data ─► object { ... head ⇄ node { head, head, subscription } ... }
 *
 * A pointer in libcupti's data is found as well. */
struct search {
	uint64_t base;
	uintptr_t text_from, text_to; /* libtorch's code */
	uintptr_t own_from, own_to;   /* libcupti */
	uintptr_t found;
	bool is_ambiguous;
};

/* Note the word if it is a pointer to libtorch's subscription. */
static void look_at_handle(struct search *s, uintptr_t word)
{
	uintptr_t words[2];

	if (word == s->found || !read_words(word, words, 2) || words[0] < s->text_from ||
	    words[0] >= s->text_to || words[1])
		return;
	s->is_ambiguous |= s->found != 0;
	s->found = word;
}

/* Look for a list of one element in the object at @word. */
static void look_at_object(struct search *s, uintptr_t word)
{
	uintptr_t words[OBJECT_WORDS], node[3];

	for (uintptr_t at = word; at < word + OBJECT_BYTES; at += sizeof words - sizeof *words) {
		if (!read_words(at, words, OBJECT_WORDS))
			return;
		for (unsigned i = 0; i + 1 < OBJECT_WORDS; i++) {
			const uintptr_t head = at + i * sizeof *words;

			if (words[i] && words[i] == words[i + 1] && words[i] != head &&
			    read_words(words[i], node, 3) && node[0] == head && node[1] == head)
				look_at_handle(s, node[2]);
		}
	}
}

static void look_at_word(struct search *s, uintptr_t word)
{
	/* a pointer to an object of the heap */
	if (word < LOWEST || word % 16 || word >> 47 || (word >= s->own_from && word < s->own_to))
		return;
	look_at_handle(s, word);
	look_at_object(s, word);
}

static void look_at_data(struct search *s, uintptr_t from, uintptr_t to)
{
	uintptr_t words[WORDS_AT_ONCE];

	for (; from < to; from += sizeof words) /* whole pages */
		if (read_words(from, words, WORDS_AT_ONCE))
			for (unsigned i = 0; i < WORDS_AT_ONCE; i++)
				look_at_word(s, words[i]);
}

static int find_text(struct dl_phdr_info *o, size_t bytes, void *data)
{
	struct search *s = data;

	(void)bytes;
	if (!strstr(o->dlpi_name, "/libtorch_cpu.so"))
		return 0;
	for (unsigned i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD && o->dlpi_phdr[i].p_flags & PF_X) {
			s->text_from = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
			s->text_to = s->text_from + o->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static int look_at_library(struct dl_phdr_info *o, size_t bytes, void *data)
{
	struct search *s = data;

	(void)bytes;
	if (o->dlpi_addr != s->base)
		return 0;
	s->own_from = o->dlpi_addr;
	for (unsigned i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD)
			s->own_to =
				o->dlpi_addr + o->dlpi_phdr[i].p_vaddr + o->dlpi_phdr[i].p_memsz;
	for (unsigned i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD && o->dlpi_phdr[i].p_flags & PF_W) {
			const uintptr_t from = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;

			look_at_data(s, from & ~(uintptr_t)(PAGE - 1),
				     from + o->dlpi_phdr[i].p_memsz);
		}
	return 1;
}

void *gt_cupti_client_find_handle(uint64_t base)
{
	struct search s = {.base = base};

	dl_iterate_phdr(find_text, &s);
	if (s.text_from)
		dl_iterate_phdr(look_at_library, &s);
	return s.is_ambiguous ? NULL : (void *)s.found;
}
