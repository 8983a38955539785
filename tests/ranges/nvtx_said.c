/* SPDX-License-Identifier: MIT */
/* Uses all features of NVTX: domains, categories, colours, payloads, names. -DHEADERS: with
 * NVIDIA's own headers; -DLEGACY: only features of NVTX 2. Prints the results of NVTX's functions.
 *
 *   nvtx_said [one | overlap | threads | payloads | cut | itself | locks | xla | repeated] */
#ifdef HEADERS
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#ifndef LEGACY
#include <nvtx3/nvToolsExtPayload.h>
#endif
#elif defined(LEGACY)
#include <nvToolsExt.h>
#else
#include "nvtx_own.h"
#endif
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static nvtxEventAttributes_t say(const char *message)
{
	nvtxEventAttributes_t a;

	memset(&a, 0, sizeof a);
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = message;
	return a;
}

static int say_one(void)
{
	nvtxDomainHandle_t mine = nvtxDomainCreateA("mine"), wide = nvtxDomainCreateW(L"w\u00ef");
	nvtxEventAttributes_t a = say("in mine");
	nvtxRangeId_t started;

	nvtxDomainNameCategoryA(mine, 7, "loading");
	nvtxNameCategoryA(7, "of the default");
	a.category = 7;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff12ab34;
	a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	a.payload.llValue = -5;
	printf("%d", nvtxDomainRangePushEx(mine, &a));
	a.message.ascii = "in the default";
	a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	a.payload.dValue = 0.1;
	printf(" %d", nvtxRangePushEx(&a));
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(mine, "registered");
	a.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
	a.payload.fValue = 0.1f;
	printf(" %d", nvtxDomainRangePushEx(mine, &a));
	printf(" %d", nvtxDomainRangePop(mine));
	printf(" %d", nvtxRangePop());
	printf(" %d", nvtxDomainRangePop(mine));
	printf(" %s\n", nvtxDomainRangePop(mine) < 0 ? "none" : "one more");

	a = say("a mark");
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	a.payload.ullValue = UINT64_MAX;
	nvtxDomainMarkEx(wide, &a);
	a = say("started");
	a.category = 8; /* a category without a name */
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
	a.payload.uiValue = 42;
	started = nvtxDomainRangeStartEx(mine, &a);
	nvtxDomainDestroy(mine);
	nvtxDomainRangeEnd(mine, started);
	return !started;
}

/* Ranges of two domains do not nest. */
static int overlap(void)
{
	nvtxDomainHandle_t left = nvtxDomainCreateA("left"), right = nvtxDomainCreateA("right");
	nvtxEventAttributes_t a = say("a"), b = say("b"), c = say("c");

	printf("%d", nvtxDomainRangePushEx(left, &a));
	printf(" %d", nvtxDomainRangePushEx(right, &b));
	printf(" %d", nvtxDomainRangePushEx(right, &c));
	printf(" %d", nvtxDomainRangePop(left));
	printf(" %d", nvtxDomainRangePop(left) < 0);
	printf(" %d", nvtxDomainRangePop(right));
	printf(" %d\n", nvtxDomainRangePop(right));
	/* the space is reused */
	for (int i = 0; i < 1000; i++) {
		nvtxDomainRangePushEx(left, &a);
		nvtxDomainRangePushEx(right, &b);
		nvtxDomainRangePop(left);
		nvtxDomainRangePop(right);
	}
	return 0;
}

/* Make ranges as XLA does, only if creating its domain succeeded. */
static int say_xla(void)
{
	nvtxDomainHandle_t tsl = nvtxDomainCreateA("TSL"), mine = nvtxDomainCreateA("mine");
	nvtxEventAttributes_t a = say("Thunk:#hlo_op=fusion.1#");

	for (int i = 0; tsl && i < 3; i++) {
		nvtxDomainRangePushEx(tsl, &a);
		nvtxDomainRangePop(tsl);
	}
	a = say("of the program");
	nvtxDomainRangePushEx(mine, &a);
	nvtxDomainRangePop(mine);
	puts(tsl ? "a domain" : "no domain");
	return 0;
}

static uint32_t get_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void *work(void *arg)
{
	nvtxRangePushA("of a thread");
	nvtxRangePop();
	*(uint32_t *)arg = get_tid();
	return NULL;
}

static int name_threads(void)
{
	pthread_t thread;
	uint32_t tid;

#ifndef LEGACY
	nvtxInitialize(NULL);
#endif
	nvtxNameOsThreadW(get_tid(), L"the first \u20ac");
	nvtxMarkA("of the first");
	pthread_create(&thread, NULL, work, &tid);
	pthread_join(thread, NULL);
	nvtxNameOsThreadA(tid, "a named one");
	return 0;
}

#ifndef LEGACY
struct point {
	uint8_t kind;
	int32_t x;
	double weight;
	char tag[4];
	const char *name;
	float parts[3];
	uint8_t mode;
};

static uint64_t register_point(nvtxDomainHandle_t d, uint64_t mode)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "kind", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "weight", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "tag", NULL, 4, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name", NULL, 0, 0, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "parts",
		 NULL, 3, offsetof(struct point, parts), NULL, NULL},
		{0, mode, "mode", NULL, 0, 0, NULL, NULL},
	};
	nvtxPayloadSchemaAttr_t a;

	memset(&a, 0, sizeof a);
	a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
		      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
		      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
		      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
	a.name = "a point";
	a.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	a.entries = entries;
	a.numEntries = sizeof entries / sizeof *entries;
	a.payloadStaticSize = sizeof(struct point);
	return nvtxPayloadSchemaRegister(d, &a);
}

static uint64_t register_mode(nvtxDomainHandle_t d)
{
	const nvtxPayloadEnum_t values[] = {{"fast", 1, 0}, {"exact \"64\"", 2, 0}};
	nvtxPayloadEnumAttr_t a;

	memset(&a, 0, sizeof a);
	a.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
		      NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
	a.entries = values;
	a.numEntries = 2;
	a.sizeOfEnum = 1;
	return nvtxPayloadEnumRegister(d, &a);
}

struct told {
	nvtxStringHandle_t message;
	uint64_t bytes;
};

/* Register a schema whose second entry cannot be decoded. */
static uint64_t register_half(nvtxDomainHandle_t d)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
		 NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, NULL, NULL, 0, 0, NULL,
		 NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, "half", NULL, 0, 0, NULL, NULL},
	};
	nvtxPayloadSchemaAttr_t a;

	memset(&a, 0, sizeof a);
	a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
		      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
	a.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	a.entries = entries;
	a.numEntries = 2;
	return nvtxPayloadSchemaRegister(d, &a);
}

/* @what: "cut": keep the payload of the second range as pushed */
static int say_payloads(const char *what)
{
	nvtxDomainHandle_t d = nvtxDomainCreateA("points");
	static const struct point point = {3,         -4,
					   2.5,       {'a', '"', 'c', 'd'},
					   "a\nname", {1, 2.5f, -3},
					   2};
	uint64_t schema = register_point(d, register_mode(d)), half = register_half(d);
	struct told told = {nvtxDomainRegisterStringA(d, "told by a payload"), 0x1122};
	const int32_t numbers[] = {1, -2, 3};
	const char word[] = "a word";
	nvtxPayloadData_t one = {schema, sizeof point, &point}, last = {half, sizeof told, &told};
	const nvtxPayloadData_t several[] = {
		{NVTX_PAYLOAD_ENTRY_TYPE_INT32, sizeof numbers, numbers},
		{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, word},
		{4711, 3, "\x01\x02\xff"}, /* unknown schema */
		{schema, 6, &point},       /* cut */
	};
	nvtxEventAttributes_t a = say("pushed");

	a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a.reserved0 = 1;
	a.payload.ullValue = (uint64_t)(uintptr_t)&one;
	printf("%d", nvtxDomainRangePushEx(d, &a));
	printf(" %d", nvtxRangePushPayload(d, several, 4));
	printf(" %d", nvtxRangePushPayload(d, &last, 1));
	printf(" %d", nvtxDomainRangePop(d));
	if (!strcmp(what, "cut"))
		printf(" %d", nvtxDomainRangePop(d));
	else
		printf(" %d", nvtxRangePopPayload(d, several, 1));
	printf(" %d", nvtxDomainRangePop(d));
	printf(" %d\n", nvtxDomainIsEnabled(d));
	return !schema || !half;
}
#endif

#if !defined(LEGACY)
enum { REPEATED = 3000, LONG_BYTES = 900 };

struct repeated {
	nvtxStringHandle_t text;
	int32_t number;
};

/* Write payloads as XLA does: with registered strings, of which only a few are different. */
static int say_repeated(void)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "text", NULL, 0, 0, NULL,
		 NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "number", NULL, 0, 0, NULL, NULL},
	};
	nvtxDomainHandle_t d = nvtxDomainCreateA("repeated");
	nvtxEventAttributes_t a = say(NULL);
	nvtxStringHandle_t names[3], text;
	char name[LONG_BYTES + 1];
	nvtxPayloadSchemaAttr_t s;
	uint64_t schema;

	memset(&s, 0, sizeof s);
	s.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
		      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
	s.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	s.entries = entries;
	s.numEntries = 2;
	schema = nvtxPayloadSchemaRegister(d, &s);
	memset(name, 'x', LONG_BYTES);
	name[LONG_BYTES] = '\0';
	text = nvtxDomainRegisterStringA(d, name);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "Thunk:#name=fusion,hlo_op=fusion.%d,id=42949673%d#", i,
			 i);
		names[i] = nvtxDomainRegisterStringA(d, name);
	}
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a.reserved0 = 1;
	for (int i = 0; i < REPEATED; i++) {
		struct repeated payload = {text, i % 2};
		nvtxPayloadData_t data = {schema, sizeof payload, &payload};

		a.message.registered = names[i % 3];
		a.payload.ullValue = (uint64_t)(uintptr_t)&data;
		nvtxDomainRangePushEx(d, &a);
		nvtxDomainRangePop(d);
	}
	return !schema;
}

/* Register a schema whose entries use the schema itself. */
static int say_itself(void)
{
	enum { ITSELF = 1 << 24, ENTRIES = 32 };
	nvtxPayloadSchemaEntry_t entries[ENTRIES];
	nvtxDomainHandle_t d = nvtxDomainCreateA("itself");
	nvtxPayloadData_t data = {ITSELF, sizeof entries, entries};
	nvtxPayloadSchemaAttr_t a;

	memset(&a, 0, sizeof a);
	memset(entries, 0, sizeof entries);
	for (int i = 0; i < ENTRIES; i++)
		entries[i].type = ITSELF;
	a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
		      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
		      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
	a.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	a.entries = entries;
	a.numEntries = ENTRIES;
	a.schemaId = ITSELF;
	nvtxPayloadSchemaRegister(d, &a);
	nvtxRangePushPayload(d, &data, 1);
	return nvtxDomainRangePop(d);
}

static int lock(void)
{
	nvtxDomainHandle_t d = nvtxDomainCreateA("locks");
	nvtxSyncUserAttributes_t a;
	nvtxSyncUser_t s;

	memset(&a, 0, sizeof a);
	a.version = NVTX_VERSION;
	a.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = "a lock";
	s = nvtxDomainSyncUserCreate(d, &a);
	for (int i = 0; i < 3; i++) {
		nvtxDomainSyncUserAcquireStart(s);
		nvtxDomainSyncUserAcquireSuccess(s);
		nvtxDomainSyncUserReleasing(s);
	}
	nvtxDomainSyncUserDestroy(s);
	return !s;
}
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "one";

	if (!strcmp(what, "one"))
		return say_one();
	if (!strcmp(what, "overlap"))
		return overlap();
	if (!strcmp(what, "threads"))
		return name_threads();
	if (!strcmp(what, "xla"))
		return say_xla();
#ifndef LEGACY
	if (!strcmp(what, "payloads") || !strcmp(what, "cut"))
		return say_payloads(what);
	if (!strcmp(what, "itself"))
		return say_itself();
	if (!strcmp(what, "repeated"))
		return say_repeated();
	if (!strcmp(what, "locks"))
		return lock();
#endif
	return 2;
}
