/* SPDX-License-Identifier: MIT */
/* A small ROCm 6: libraries that register their tables as the real libraries do. Compiled several
 * times:
 *   REGISTER librocprofiler-register.so.0: calls an exported rocprofiler_set_api_table() if there
 *     are signs of a tool
 *   HIP       libamdhip64.so.6: registers "hip" and "hip_compiler" at the first call; ENTRIES cuts
 *             or lengthens its table
 *   HSA       libhsa-runtime64.so.1: registers "hsa" in hsa_init(), and then loads HSA_TOOLS_LIB,
 *             as ROCr 6 does. With MODERN_SCRATCH each hsa_signal_load() gives a queue scratch
 *             memory and frees it, and reports both to the table for tools. Includes IMAGES image
 *             functions, a finalizer, and AMD_EXT functions of AMD's extension
 *   RCCL      librccl.so.1: registers "rccl" with NCCL functions at the first call, and
 *             "rocjpeg", which gputap does not know
 *   SDK       librocprofiler-sdk.so.1: puts a function that counts before hipMalloc
 *   else      the program */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int set_api_table_fn(const char *, uint64_t, uint64_t, void **, uint64_t);

struct registration_id {
	uint64_t handle;
};

int rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void),
					   uint32_t version, void **tables, uint64_t count,
					   struct registration_id *id);
int hipMalloc(void **out, size_t bytes);
int hipFree(void *p);
int hsa_init(void);
int hsa_shut_down(void);
int hsa_signal_load(uint64_t signal);
int hsa_ext_sampler_destroy(uint64_t agent, uint64_t sampler);
int hsa_ext_image_create_with_layout(uint64_t agent, const void *descriptor, const void *data,
				     unsigned permission, unsigned layout, size_t row_pitch,
				     size_t slice_pitch, uint64_t *image);

/* hsa_ext_control_directives_t, which is passed as a struct */
struct directives {
	uint64_t words[18];
};
int hsa_ext_program_finalize(uint64_t program, uint64_t isa, int32_t call_convention,
			     struct directives directives, const char *options, unsigned type,
			     uint64_t *code);

/* ncclUniqueId, likewise */
struct unique_id {
	char internal[128];
};
int ncclGetUniqueId(struct unique_id *out);
int ncclCommInitRankConfig(void **comm, int nranks, struct unique_id id, int rank, void *config);
int ncclAllReduce(const void *from, void *to, size_t count, unsigned type, unsigned op, void *comm,
		  void *stream);
const char *ncclGetErrorString(int code);

enum { HIP_MALLOC = 215, HIP_FREE = 90, HIP_COUNT = 463 };

#ifdef REGISTER
static int is_set(const char *name)
{
	return getenv(name) && *getenv(name);
}

static struct registration {
	const char *name;
	uint64_t version, instance;
	void *table;
} kept[32];
static _Atomic unsigned kept_count;

int rocprofiler_register_invoke_all_registrations(void);

static int find_tools(set_api_table_fn **take)
{
	const char *named = getenv("ROCPROFILER_REGISTER_LIBRARY");

	if (!is_set("ROCPROFILER_REGISTER_FORCE_LOAD") && !is_set("ROCP_TOOL_LIBRARIES") &&
	    !is_set("ROCPROFILER_REGISTER_LIBRARY") &&
	    !dlsym(RTLD_DEFAULT, "rocprofiler_configure"))
		return 0;
	*take = (set_api_table_fn *)dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
	if (!*take) {
		void *sdk =
			dlopen(named ? named : "librocprofiler-sdk.so", RTLD_GLOBAL | RTLD_LAZY);

		*take = sdk ? (set_api_table_fn *)dlsym(sdk, "rocprofiler_set_api_table") : NULL;
	}
	if (!*take)
		abort(); /* as in the real library */
	return 1;
}

int rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void),
					   uint32_t version, void **tables, uint64_t count,
					   struct registration_id *id)
{
	static _Atomic uint64_t instances[8];
	static const char *const names[] = {"hsa",   "hip",  "hip_compiler",
					    "roctx", "rccl", "rocjpeg"};
	set_api_table_fn *take;
	uint64_t instance = 0;

	(void)import, (void)id;
	for (int i = 0; i < 6; i++)
		if (!strcmp(name, names[i]))
			instance = instances[i]++;
	if (kept_count < 32)
		kept[kept_count++] = (struct registration){name, version, instance, *tables};
	if (!find_tools(&take))
		return 1; /* no tools */
	return take(name, version, instance, tables, count) ? 6 : 0;
}

int rocprofiler_register_invoke_all_registrations(void)
{
	set_api_table_fn *take;

	for (unsigned i = 0; i < kept_count; i++)
		if (find_tools(&take) &&
		    take(kept[i].name, kept[i].version, kept[i].instance, &kept[i].table, 1))
			return 6;
	return 0;
}

#elif defined HIP
#ifndef ENTRIES
#define ENTRIES HIP_COUNT
#endif

static int real_malloc(void **out, size_t bytes)
{
	*out = malloc(bytes);
	return 0;
}

static int real_free(void *p)
{
	free(p);
	return 0;
}

static struct {
	uint64_t size;
	void *entries[ENTRIES];
} table = {sizeof table, {[HIP_MALLOC] = real_malloc, [HIP_FREE] = real_free}};

static struct {
	uint64_t size;
	void *entries[9];
} compiler = {sizeof compiler, {0}};

uint32_t rocprofiler_register_import_hip(void);
uint32_t rocprofiler_register_import_hip(void)
{
	return 60300;
}

static void offer(void)
{
	static int done;
	void *hip[] = {&table}, *hip_compiler[] = {&compiler};
	struct registration_id id;

	if (done++)
		return;
	rocprofiler_register_library_api_table("hip", rocprofiler_register_import_hip, 60300, hip,
					       1, &id);
	rocprofiler_register_library_api_table("hip_compiler", rocprofiler_register_import_hip,
					       60300, hip_compiler, 1, &id);
}

int hipMalloc(void **out, size_t bytes)
{
	offer();
	return ((int (*)(void **, size_t))table.entries[HIP_MALLOC])(out, bytes);
}

int hipFree(void *p)
{
	offer();
	return ((int (*)(void *))table.entries[HIP_FREE])(p);
}
/* interposition would look for this function */
void **__hipRegisterFatBinary(const void *data);
void **__hipRegisterFatBinary(const void *data)
{
	(void)data;
	return NULL;
}

#elif defined HSA
enum { INIT = 0, SHUT_DOWN = 1, LOAD_RELAXED = 39, CORE = 125 };
#ifndef AMD_EXT
#define AMD_EXT 74
#endif

struct version {
	uint32_t major, size, step, reserved;
};

static int real_init(void)
{
	return 0;
}

static int64_t real_load(uint64_t signal)
{
	return (int64_t)signal + 1;
}

static struct {
	struct version version;
	void *entries[CORE];
} core;
static struct {
	struct version version;
	void *entries[AMD_EXT];
} amd_ext;
/* As defined in hsa_amd_tool.h. */
struct queue {
	uint32_t type, features;
	void *base;
	uint64_t doorbell;
	uint32_t size, reserved;
	uint64_t id;
};
struct scratch_event {
	uint32_t kind;
	const struct queue *queue;
	uint32_t flags;
	uint64_t dispatch_id;
	size_t size, num_slots;
};
typedef int scratch_fn(const struct scratch_event *event);
enum { SCRATCH_EVENTS = 6 };
static struct {
	struct version version;
	scratch_fn *entries[SCRATCH_EVENTS];
} tools;
#ifndef IMAGES
#define IMAGES 13
#endif
enum { SAMPLER_DESTROY = 9, CREATE_WITH_LAYOUT = 12, FINALIZE = 5, FINALIZER = 6 };
static struct {
	struct version version;
	void *entries[IMAGES > 13 ? IMAGES : 13];
} image;
static struct {
	struct version version;
	void *entries[FINALIZER];
} finalizer;
static struct {
	struct version version;
	void *tables[6];
} root = {{3, sizeof root, 1, 0}, {&core, &amd_ext, &finalizer, &image, &tools}};

static int real_sampler_destroy(uint64_t agent, uint64_t sampler)
{
	return (int)(agent + sampler);
}

static int real_create(uint64_t agent, const void *descriptor, const void *data,
		       unsigned permission, unsigned layout, size_t row_pitch, size_t slice_pitch,
		       uint64_t *out)
{
	(void)agent, (void)descriptor, (void)data, (void)permission, (void)layout;
	*out = row_pitch + slice_pitch;
	return 0;
}

static int real_finalize(uint64_t program, uint64_t isa, int32_t call_convention,
			 struct directives directives, const char *options, unsigned type,
			 uint64_t *code)
{
	*code = program + isa;
	for (int i = 0; i < 18; i++)
		*code += directives.words[i];
	return call_convention == -1 && !strcmp(options, "-fast") && type == 0 ? 0 : 0x2005;
}

static int own_scratch(const struct scratch_event *event)
{
	fprintf(stderr, "the runtime's own: kind %u\n", event->kind);
	return 0;
}

static void use_scratch(void)
{
	static const struct queue queue = {.id = 7};
	struct scratch_event event = {
		.queue = &queue, .flags = 1, .dispatch_id = 42, .size = 65536, .num_slots = 16};

	for (uint32_t i = 0; i < SCRATCH_EVENTS && getenv("MODERN_SCRATCH"); i++) {
		event.kind = i + 1;
		tools.entries[i](&event);
	}
}

static void reset(void)
{
	memset(&core, 0, sizeof core);
	memset(&amd_ext, 0, sizeof amd_ext);
	core.version = (struct version){2, sizeof core, 0, 0};
	amd_ext.version = (struct version){2, sizeof amd_ext, 7, 0};
	core.entries[INIT] = core.entries[SHUT_DOWN] = real_init;
	core.entries[LOAD_RELAXED] = real_load;
	memset(&image, 0, sizeof image);
	image.version = (struct version){1, sizeof image.version + IMAGES * sizeof(void *), 0, 0};
	image.entries[SAMPLER_DESTROY] = real_sampler_destroy;
	image.entries[CREATE_WITH_LAYOUT] = real_create;
	memset(&finalizer, 0, sizeof finalizer);
	finalizer.version = (struct version){2, sizeof finalizer, 0, 0};
	finalizer.entries[FINALIZE] = real_finalize;
	tools.version = (struct version){1, sizeof tools, 0, 0};
	for (int i = 0; i < SCRATCH_EVENTS; i++)
		tools.entries[i] = own_scratch;
}

int hsa_init(void)
{
	void *tables[] = {&root};
	struct registration_id id;
	const char *tools = getenv("HSA_TOOLS_LIB"),
		   *old = getenv("HSA_TOOLS_ROCPROFILER_V1_TOOLS");
	char text[4096];

	reset();
	if (!rocprofiler_register_library_api_table("hsa", NULL, 11600, tables, 1, &id) &&
	    !(old && atoi(old)))
		return 0;
	snprintf(text, sizeof text, "%s", tools ? tools : "");
	for (char *name = strtok(text, " "); name; name = strtok(NULL, " ")) {
		void *handle = dlopen(name, RTLD_LAZY);
		int (*load)(void *, uint64_t, uint64_t, const char *const *) =
			handle ? dlsym(handle, "OnLoad") : NULL;

		if (load)
			load(&root, 3, 0, NULL);
	}
	return 0;
}

int hsa_shut_down(void)
{
	int rc = ((int (*)(void))core.entries[SHUT_DOWN])();

	reset(); /* does not call OnUnload(), because OnLoad() was not used */
	return rc;
}

int hsa_signal_load(uint64_t signal)
{
	use_scratch();
	return (int)((int64_t(*)(uint64_t))core.entries[LOAD_RELAXED])(signal);
}

int hsa_ext_sampler_destroy(uint64_t agent, uint64_t sampler)
{
	return ((int (*)(uint64_t, uint64_t))image.entries[SAMPLER_DESTROY])(agent, sampler);
}

int hsa_ext_image_create_with_layout(uint64_t agent, const void *descriptor, const void *data,
				     unsigned permission, unsigned layout, size_t row_pitch,
				     size_t slice_pitch, uint64_t *out)
{
	return ((int (*)(uint64_t, const void *, const void *, unsigned, unsigned, size_t, size_t,
			 uint64_t *))image.entries[CREATE_WITH_LAYOUT])(agent, descriptor, data,
									permission, layout,
									row_pitch, slice_pitch,
									out);
}

int hsa_ext_program_finalize(uint64_t program, uint64_t isa, int32_t call_convention,
			     struct directives directives, const char *options, unsigned type,
			     uint64_t *code)
{
	return ((int (*)(uint64_t, uint64_t, int32_t, struct directives, const char *, unsigned,
			 uint64_t *))finalizer.entries[FINALIZE])(program, isa, call_convention,
								  directives, options, type, code);
}

#elif defined RCCL
#ifndef NCCL
#define NCCL 37
#endif
enum { ALL_REDUCE = 1, GET_UNIQUE_ID = 16, INIT_RANK_CONFIG = 19, ERROR_STRING = 24 };

static int real_get_unique_id(struct unique_id *out)
{
	for (int i = 0; i < 128; i++)
		out->internal[i] = (char)i;
	return 0;
}

static int real_init(void **comm, int nranks, struct unique_id id, int rank, void *config)
{
	int sum = 0;

	for (int i = 0; i < 128; i++)
		sum += id.internal[i];
	*comm = (void *)(uintptr_t)(0x10000 * nranks + 0x100 * rank + (config != NULL));
	return sum == 127 * 128 / 2 ? 0 : 4;
}

static int real_all_reduce(const void *from, void *to, size_t count, unsigned type, unsigned op,
			   void *comm, void *stream)
{
	(void)comm, (void)stream, (void)op;
	memcpy(to, from, count);
	return type == 1 ? 0 : 4;
}

static const char *real_error_string(int code)
{
	return code ? "invalid argument" : "no error";
}

static struct {
	uint64_t size;
	void *entries[NCCL > 37 ? NCCL : 37];
} table = {8 + NCCL * 8,
	   {[ALL_REDUCE] = real_all_reduce,
	    [GET_UNIQUE_ID] = real_get_unique_id,
	    [INIT_RANK_CONFIG] = real_init,
	    [ERROR_STRING] = real_error_string}};
static struct {
	uint64_t size;
	void *entries[2];
} jpeg = {sizeof jpeg, {0}};

static void **offered(void)
{
	static int done;
	void *rccl[] = {&table}, *rocjpeg[] = {&jpeg};
	struct registration_id id;

	if (!done++) {
		rocprofiler_register_library_api_table("rccl", NULL, 22103, rccl, 1, &id);
		rocprofiler_register_library_api_table("rocjpeg", NULL, 600, rocjpeg, 1, &id);
	}
	return table.entries;
}

int ncclGetUniqueId(struct unique_id *out)
{
	return ((int (*)(struct unique_id *))offered()[GET_UNIQUE_ID])(out);
}

int ncclCommInitRankConfig(void **comm, int nranks, struct unique_id id, int rank, void *config)
{
	return ((int (*)(void **, int, struct unique_id, int,
			 void *))offered()[INIT_RANK_CONFIG])(comm, nranks, id, rank, config);
}

int ncclAllReduce(const void *from, void *to, size_t count, unsigned type, unsigned op, void *comm,
		  void *stream)
{
	return ((int (*)(const void *, void *, size_t, unsigned, unsigned, void *,
			 void *))offered()[ALL_REDUCE])(from, to, count, type, op, comm, stream);
}

const char *ncclGetErrorString(int code)
{
	return ((const char *(*)(int))offered()[ERROR_STRING])(code);
}

#elif defined SDK
set_api_table_fn rocprofiler_set_api_table;
static int (*next)(void **, size_t);
static unsigned count;

static int counting(void **out, size_t bytes)
{
	count++;
	return next(out, bytes);
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t n)
{
	(void)version, (void)instance, (void)n;
	if (!strcmp(name, "hip")) {
		void **entry = (void **)tables[0] + 1 + HIP_MALLOC;

		next = (int (*)(void **, size_t)) * entry;
		*entry = counting;
	}
	return 0;
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "sdk: %u\n", count);
}

#else
static void hip(const char *library)
{
	void *handle = library ? dlopen(library, RTLD_LAZY | RTLD_LOCAL) : NULL, *p;
	int (*get)(void **, size_t) =
		handle ? (int (*)(void **, size_t))dlsym(handle, "hipMalloc") : hipMalloc;
	int (*give)(void *) = handle ? (int (*)(void *))dlsym(handle, "hipFree") : hipFree;

	for (int i = 0; i < 3; i++) {
		if (get(&p, 64 + (size_t)i))
			exit(1);
		give(p);
	}
}

static pthread_barrier_t barrier;

static void *hip_at_once(void *library)
{
	pthread_barrier_wait(&barrier);
	hip(library);
	return NULL;
}

/* Use all libraries for the first time at the same moment, each in its own thread. */
static int together(char **libraries, int count)
{
	pthread_t threads[8];

	pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++)
		if (!dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL) ||
		    pthread_create(&threads[i], NULL, hip_at_once, libraries[i]))
			return 1;
	pthread_barrier_wait(&barrier);
	hsa_init();
	hsa_signal_load(41);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Images and a finalizer: the results are correct only if all arguments were passed on. */
static int extensions(void)
{
	struct directives d = {{0}};
	uint64_t made = 0, code = 0;
	int sum, created, finalized;

	for (uint64_t i = 0; i < 18; i++)
		d.words[i] = i << 8;
	hsa_init();
	sum = hsa_ext_sampler_destroy(0x1000, 2);
	created = hsa_ext_image_create_with_layout(1, NULL, NULL, 1, 1, 256, 8192, &made);
	finalized = hsa_ext_program_finalize(3, 4, -1, d, "-fast", 0, &code);
	printf("%d %d %lu %d %lu\n", sum, created, made, finalized, code);
	return hsa_shut_down();
}

/* RCCL, likewise. */
static int collectives(void)
{
	char from[8] = "texels", to[8] = "";
	struct unique_id id;
	void *comm = NULL;
	int made = ncclGetUniqueId(&id), begun = ncclCommInitRankConfig(&comm, 8, id, 3, &id);
	int reduced = ncclAllReduce(from, to, sizeof from, 1, 2, comm, NULL),
	    refused = ncclAllReduce(from, to, 0, 9, 0, comm, NULL);

	printf("%d %d %p %d %s %d %s\n", made, begun, comm, reduced, to, refused,
	       ncclGetErrorString(refused));
	return 0;
}

/* Use the libraries before they are traced. For each line of stdin, attach to the session in that
 * folder, use the libraries, and print a line. */
static int attach_late(const char *library)
{
	int (*attach)(const char *);
	char folder[4096];
	struct unique_id id;

	hip(NULL);
	hsa_init();
	ncclGetUniqueId(&id);
	puts("ready");
	fflush(stdout);
	while (fgets(folder, sizeof folder, stdin)) {
		folder[strcspn(folder, "\n")] = '\0';
		*(void **)&attach = dlsym(dlopen(library, RTLD_NOW), "gputap_attach");
		printf("attach %d", attach(folder));
		hip(NULL);
		hsa_signal_load(41);
		ncclGetUniqueId(&id);
		printf(", %s\n", getenv("ROCPROFILER_REGISTER_LIBRARY") ? "variables" : "done");
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "late"))
		return attach_late(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "collectives"))
		return collectives();
	if (argc > 1 && !strcmp(argv[1], "extensions"))
		return extensions();
	if (argc > 1 && !strcmp(argv[1], "together"))
		return together(argv + 2, argc - 2);
	for (int i = 1; i < argc; i++) { /* more copies of the HIP library */
		hip(argv[i]);
		printf("copy %d\n", i);
	}
	hip(NULL);
	for (int round = 0; round < 2; round++) {
		hsa_init();
		printf("%d\n", hsa_signal_load(41));
		hsa_shut_down();
	}
	return 0;
}
#endif
