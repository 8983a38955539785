/* SPDX-License-Identifier: MIT */
/* A stand-in for librocprofiler-register of ROCm 7.1 and later, whose functions AMD's rocattach
 * calls in a program that it attaches to, and the program. Compiled twice:
 *   REGISTER  librocprofiler-register.so.0
 *   else      the program; each argument is an action: hip (three allocations and releases),
 *             attach:LIBRARY (what rocattach does with ptrace), detach, thread (find the thread for
 *             rocattach), lines (print "ready"; for each line of standard input: hip, and print
 *             "done") */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int set_api_table_fn(const char *, uint64_t, uint64_t, void **, uint64_t);
typedef int register_fn(const char *name, uint32_t (*import)(void), uint32_t version, void **tables,
			uint64_t count, uint64_t *id);
struct info {
	size_t size;
	const char *common_name;
	uint32_t lib_version;
	uint64_t api_table_length;
};

register_fn rocprofiler_register_library_api_table;
int rocprofiler_register_attach(const char *environment, const char *tool);
int rocprofiler_register_detach(void);
int rocprofiler_register_invoke_all_registrations(void);
int rocprofiler_register_iterate_registration_info(int (*each)(struct info *, void *), void *data);

#ifdef REGISTER
enum { SUCCESS, NO_TOOLS, ERROR = 6, NOT_AVAILABLE = 9 };

static struct {
	const char *name;
	uint32_t version;
	void *tables[4];
	uint64_t count;
} all[16];
static int known;
static int (*attach)(void), (*detach)(void);

static int add(const char *name, uint32_t (*import)(void), uint32_t version, void **tables,
	       uint64_t count, uint64_t *id)
{
	(void)import, (void)id;
	all[known].name = name;
	all[known].version = version;
	all[known].count = count;
	memcpy(all[known++].tables, tables, count * sizeof *tables);
	return SUCCESS;
}

int rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void),
					   uint32_t version, void **tables, uint64_t count,
					   uint64_t *id)
{
	if (getenv("ROCP_TOOL_ATTACH") && !strcmp(name, "hsa")) {
		int (*mark)(const char *, uint64_t, uint64_t, void **, uint64_t, register_fn *);
		void *library = dlopen("librocprofiler-sdk-attach.so", RTLD_GLOBAL | RTLD_LAZY);

		*(void **)&mark =
			library ? dlsym(library, "rocprofiler_attach_set_api_table") : NULL;
		if (!mark || mark(name, version, 0, tables, count, add))
			return ERROR;
	}
	add(name, import, version, tables, count, id);
	return NO_TOOLS;
}

static int pass_all(void)
{
	const char *named = getenv("ROCPROFILER_REGISTER_LIBRARY");
	void *sdk = dlopen(named ? named : "librocprofiler-sdk.so", RTLD_GLOBAL | RTLD_LAZY);
	set_api_table_fn *take = NULL;

	if (sdk) {
		*(void **)&take = dlsym(sdk, "rocprofiler_set_api_table");
		*(void **)&attach = dlsym(sdk, "rocprofiler_attach");
		*(void **)&detach = dlsym(sdk, "rocprofiler_detach");
	}
	if (!take)
		abort(); /* as in the real library */
	for (int i = 0; i < known; i++)
		if (take(all[i].name, all[i].version, 0, all[i].tables, all[i].count))
			return ERROR;
	return SUCCESS;
}

/* Called by libgputap, too, when it comes late. */
int rocprofiler_register_invoke_all_registrations(void)
{
	return pass_all();
}

static int is_marked(void)
{
	for (int i = 0; i < known; i++)
		if (!strcmp(all[i].name, "rocattach"))
			return 1;
	return 0;
}

int rocprofiler_register_attach(const char *environment, const char *tool)
{
	uint32_t pairs;

	if (!is_marked()) {
		if (getenv("MAY_NOT_BE_ASKED"))
			abort(); /* 0.5.0 reads a null pointer */
		return NOT_AVAILABLE;
	}
	setenv("ROCPROFILER_REGISTER_TOOL_ATTACHED", "1", 1);
	setenv("ROCP_TOOL_LIBRARIES", tool, 1);
	memcpy(&pairs, environment, sizeof pairs);
	environment += sizeof pairs;
	while (pairs--) {
		const char *value = environment + strlen(environment) + 1;

		setenv(environment, value, 1);
		environment = value + strlen(value) + 1;
	}
	if (!attach && pass_all() != SUCCESS)
		return ERROR;
	return !attach ? NO_TOOLS : attach() ? ERROR : SUCCESS;
}

int rocprofiler_register_detach(void)
{
	return !is_marked() ? NOT_AVAILABLE : detach && !detach() ? SUCCESS : NO_TOOLS;
}

int rocprofiler_register_iterate_registration_info(int (*each)(struct info *, void *), void *data)
{
	for (int i = 0; i < known; i++) {
		struct info info = {sizeof info, all[i].name, all[i].version, all[i].count};

		if (each(&info, data))
			break;
	}
	return SUCCESS;
}

#else
int hipMalloc(void **out, size_t bytes);
int hipFree(void *p);
int hsa_init(void);

static void use_hip(void)
{
	void *p;

	for (int i = 0; i < 3; i++) {
		hipMalloc(&p, 64);
		hipFree(p);
	}
}

/* Print the name of the thread in which rocattach would run the functions. */
static void find_thread(void)
{
	fflush(stdout);
	if (system("cat /proc/$PPID/task/*/comm | grep rocp-bg-attach"))
		puts("no thread");
}

static void follow_lines(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		use_hip();
		puts("done");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	static const char environment[] = "\1\0\0\0ROCPROF_KERNEL_TRACE\0001";

	hsa_init();
	for (int i = 1; i < argc; i++) {
		char *library = strchr(argv[i], ':');

		if (!strcmp(argv[i], "hip"))
			use_hip();
		else if (library)
			printf("attach %d\n",
			       rocprofiler_register_attach(environment, library + 1));
		else if (!strcmp(argv[i], "detach"))
			printf("detach %d\n", rocprofiler_register_detach());
		else if (!strcmp(argv[i], "thread"))
			find_thread();
		else if (!strcmp(argv[i], "lines"))
			follow_lines();
		fflush(stdout);
	}
	return 0;
}
#endif
