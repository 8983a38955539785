/* SPDX-License-Identifier: MIT */
/* Finds the name, kind and duration of a kernel from a packet's kernel object.
 *
 * ROCr's loader puts a code object into a separate allocation, ELF header first, including dynamic
 * symbols: the symbol with the kernel object's address is "<name>.kd". This library is not notified
 * when code is loaded, only when memory is freed. Freeing code starts a new generation: queues then
 * drop their cached kernels, so that a kernel loaded to the address of an unloaded kernel is looked
 * up again. Locking: one mutex around the table; a queue's cache belongs to its thread. The ELF
 * file is in the program's memory and may contain anything, so each offset is checked. The file
 * stays mapped while it is read, because freeing it waits for the mutex. */
#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "soft/amdgpu/queue.h"

enum { BUCKETS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_kernel *kernels[BUCKETS];
static uint64_t generation = 1; /* atomic; incremented whenever code is unloaded */

struct image { /* an allocation that contains an ELF file */
	const char *base;
	uint64_t bytes;
};

/* Return @count items of @size at @offset in the image, or NULL if the image is too short. */
static const void *find_part(const struct image *image, uint64_t offset, uint64_t count,
			     uint64_t size)
{
	if (offset > image->bytes || count > (image->bytes - offset) / size)
		return NULL;
	return image->base + offset;
}

static const Elf64_Dyn *find_dynamic(const struct image *image, uint64_t *count)
{
	const Elf64_Ehdr *header = find_part(image, 0, 1, sizeof *header);
	const Elf64_Phdr *segment;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	segment = find_part(image, header->e_phoff, header->e_phnum, sizeof *segment);
	for (unsigned i = 0; segment && i < header->e_phnum; i++)
		if (segment[i].p_type == PT_DYNAMIC) {
			*count = segment[i].p_memsz / sizeof(Elf64_Dyn);
			return find_part(image, segment[i].p_vaddr, *count, sizeof(Elf64_Dyn));
		}
	return NULL;
}

struct symbols {
	const Elf64_Sym *symbol;
	uint64_t count;
	const char *names;
	uint64_t names_bytes;
};

static bool find_symbols(const struct image *image, struct symbols *out)
{
	uint64_t count = 0, at[DT_NUM] = {0};
	const Elf64_Dyn *dynamic = find_dynamic(image, &count);
	const uint32_t *hash;

	for (uint64_t i = 0; dynamic && i < count && dynamic[i].d_tag != DT_NULL; i++)
		if (dynamic[i].d_tag > 0 && dynamic[i].d_tag < DT_NUM)
			at[dynamic[i].d_tag] = dynamic[i].d_un.d_val;
	hash = at[DT_HASH] ? find_part(image, at[DT_HASH], 2, sizeof *hash) : NULL;
	if (!hash)
		return false;
	out->count = hash[1]; /* number of hash chain entries, one per symbol */
	out->symbol = find_part(image, at[DT_SYMTAB], out->count, sizeof *out->symbol);
	out->names_bytes = at[DT_STRSZ];
	out->names = find_part(image, at[DT_STRTAB], out->names_bytes, 1);
	return out->symbol && out->names;
}

/* Return the name of the symbol at @object, or NULL. */
static const char *symbol_at(const struct image *image, uint64_t object)
{
	struct symbols s;

	if (!find_symbols(image, &s))
		return NULL;
	for (uint64_t i = 0; i < s.count; i++) {
		uint64_t name = s.symbol[i].st_name;
		if ((uint64_t)image->base + s.symbol[i].st_value == object && name &&
		    name < s.names_bytes && memchr(s.names + name, 0, s.names_bytes - name))
			return s.names + name;
	}
	return NULL;
}

static struct soft_kernel *make_kernel(uint64_t object)
{
	struct image image = {0};
	const char *name = NULL;
	struct soft_kernel *k;
	uint64_t base = 0;
	size_t length;

	if (soft_memory_find(object, &base, &image.bytes)) {
		image.base = (const char *)base;
		name = symbol_at(&image, object);
	}
	length = name ? strlen(name) : 0;
	if (length > 3 && !strcmp(name + length - 3, ".kd"))
		length -= 3;
	k = calloc(1, sizeof *k + (length ? length : 1) + 1);
	if (!k)
		return NULL;
	memcpy(k->name, name ? name : "?", length ? length : 1);
	k->object = object;
	k->code_base = base;
	k->code_bytes = image.bytes;
	k->kind = !name && base ? soft_blit_recognise(object, base, image.bytes) : SOFT_KERNEL_CODE;
	k->runtimes_own = !strncmp(k->name, "__amd_rocclr_", 13);
	if (k->kind == SOFT_KERNEL_CODE)
		k->duration_ns = soft_duration_ns(k->name);
	soft_trace(1, "kernel object %#llx is %s", (unsigned long long)object,
		   k->kind == SOFT_KERNEL_CODE ? k->name : "a ROCr shader");
	return k;
}

static void put_kernel(struct soft_kernel *k)
{
	if (__atomic_sub_fetch(&k->references, 1, __ATOMIC_ACQ_REL) == 0)
		free(k);
}

static unsigned bucket_of(uint64_t object)
{
	return (unsigned)((object >> 6) * 0x9e3779b97f4a7c15ull >> 56);
}

/* Find a kernel in the table, or add the kernel. Return the kernel with a reference. */
static struct soft_kernel *get_kernel(uint64_t object, uint64_t *now)
{
	struct soft_kernel **bucket = &kernels[bucket_of(object)], *k;

	pthread_mutex_lock(&lock);
	*now = generation;
	for (k = *bucket; k && k->object != object; k = k->next)
		;
	if (!k) {
		k = make_kernel(object);
		if (k) {
			k->references = 1; /* the reference that the table holds */
			k->next = *bucket;
			*bucket = k;
		}
	}
	if (k)
		__atomic_fetch_add(&k->references, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return k;
}

void soft_kernel_cache_clear(struct soft_kernel_cache *cache)
{
	for (unsigned i = 0; i < SOFT_KERNEL_SLOTS; i++)
		if (cache->slot[i]) {
			put_kernel(cache->slot[i]);
			cache->slot[i] = NULL;
		}
}

const struct soft_kernel *soft_kernel_get(struct soft_kernel_cache *cache, uint64_t object)
{
	struct soft_kernel **slot = &cache->slot[(object >> 6 ^ object >> 12) % SOFT_KERNEL_SLOTS];
	uint64_t now;

	if (cache->generation != __atomic_load_n(&generation, __ATOMIC_ACQUIRE))
		soft_kernel_cache_clear(cache);
	else if (*slot && (*slot)->object == object)
		return *slot;
	if (*slot)
		put_kernel(*slot);
	*slot = get_kernel(object, &now);
	cache->generation = now;
	return *slot;
}

void soft_kernel_forget(uint64_t base, uint64_t bytes)
{
	bool any = false;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct soft_kernel **at = &kernels[i]; *at;) {
			struct soft_kernel *k = *at;
			if (k->object - base >= bytes) {
				at = &k->next;
				continue;
			}
			*at = k->next;
			put_kernel(k);
			any = true;
		}
	if (any) {
		__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
		soft_isa_forget(base, bytes); /* freed data was never decoded */
	}
	pthread_mutex_unlock(&lock);
}

void soft_kernel_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	/* the code objects of these kernels are not mapped in the child */
	memset(kernels, 0, sizeof kernels);
	generation++;
	soft_isa_forked();
}
