/* SPDX-License-Identifier: MIT */
/* While calls run and events occur, subscribers of PTI's callback API subscribe, change their
 * requests and unsubscribe, from outside and from inside callbacks. No subscriber is called after
 * it has unsubscribed, and every EXIT belongs to an ENTER. Also in the ThreadSanitizer build. */
#include <pthread.h>
#include <pti/pti_callback.h>
#include <pti/pti_driver_levelzero_api_ids.h>
#include <stdlib.h>

#include "core/subscriber.h"
#include "core/table.h"
#include "tool/tool.h"
#include "unit.h"

/* The shipped library: the same names with other symbols. */
uint32_t shipped_subscribe(void **handle, void (*callback)(void),
			   void *user) __asm__("ptiCallbackSubscribe");
uint32_t shipped_enable(void *handle, uint32_t domain, uint32_t enter,
			uint32_t leave) __asm__("ptiCallbackEnableDomain");

enum { CALLERS = 3, COMERS = 4, ROUNDS = 150, GET = 16, VERSION = 17, LAUNCH = 166 };

static const struct gt_operation operations[] = {
	{GT_OP(GT_DOMAIN_LEVEL_ZERO, GET, 2), 0, false, false, 0},
	{GT_OP(GT_DOMAIN_LEVEL_ZERO, VERSION, 2), 8, false, false, 0},
	{GT_OP(GT_DOMAIN_LEVEL_ZERO, LAUNCH, 6), 16, false, false, 0},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };
static struct gt_tap taps[OPERATIONS];
static struct gt_table table = {
	GT_DOMAIN_LEVEL_ZERO, 0, operations, OPERATIONS, taps, "storm", 10000, 0, NULL};

static _Atomic bool is_over;
static _Atomic uint64_t enters, events, appended;

/* A subscription. Freed after it has ended. */
struct comer {
	uint64_t magic;
	pti_callback_subscriber itself;
};
#define MAGIC UINT64_C(0x5054495354524d21)

static void on_callback(void *user, pti_callback_domain domain, pti_api_group_id group, uint32_t id,
			void *data)
{
	const pti_apicall_callback_data *d = data;
	struct comer *c = user;

	CHECK_EQ(c->magic, MAGIC);
	if (domain == PTI_DOMAIN_PTI_CRITICAL_EVENT) {
		CHECK_EQ(group, PTI_API_GROUP_RESERVED);
		atomic_fetch_add(&events, 1);
		return;
	}
	CHECK(id != 0 && d->_api_name);
	if (d->_site == PTI_SITE_ENTER) {
		CHECK_EQ(*d->_local_data, 0);
		*d->_local_data = (uintptr_t)c ^ d->_correlation_id;
		atomic_fetch_add(&enters, 1);
	} else {
		CHECK_EQ(*d->_local_data, (uintptr_t)c ^ d->_correlation_id);
	}
}

static void on_shipped(uint32_t domain, uint32_t group, uint32_t id, void *context, void *data,
		       void *user, void **instance)
{
	(void)domain, (void)group, (void)id, (void)context, (void)data, (void)instance;
	CHECK_EQ(((struct comer *)user)->magic, MAGIC);
	atomic_fetch_add(&appended, 1);
}

static void *make_calls(void *unused)
{
	(void)unused;
	for (uint32_t i = 0; !is_over; i++) {
		uint64_t args[8] = {0};
		struct gt_tool_frame frame;
		uint32_t op = i % OPERATIONS, ret = 0;

		if (gt_tap_services(&taps[op]) & GT_SERVICE_NOTIFY &&
		    gt_tool_call_enter(&frame, &table, op, args, sizeof args))
			gt_tool_call_exit(&frame, &ret, sizeof ret);
	}
	return NULL;
}

static void *make_events(void *unused)
{
	(void)unused;
	while (!is_over)
		gt_subscribers_event(GT_EVENT_LOSS, GT_DOMAIN_LEVEL_ZERO, 1, "storm");
	return NULL;
}

static void come_as_proposed(struct comer *c)
{
	CHECK_EQ(ptiCallbackSubscribe(&c->itself, on_callback, c), PTI_SUCCESS);
	CHECK_EQ(ptiCallbackEnable(1, c->itself, PTI_API_GROUP_LEVELZERO, zeDriverGet_id),
		 PTI_SUCCESS);
	CHECK_EQ(ptiCallbackEnableDomain(1, c->itself, PTI_DOMAIN_PTI_CRITICAL_EVENT), PTI_SUCCESS);
	CHECK_EQ(ptiCallbackEnableDomain(1, c->itself, PTI_DOMAIN_DRIVER_API), PTI_SUCCESS);
	CHECK_EQ(ptiCallbackEnable(0, c->itself, PTI_API_GROUP_LEVELZERO, zeDriverGet_id),
		 PTI_SUCCESS);
}

static void *come_and_go(void *which)
{
	for (int i = 0; i < ROUNDS || !enters || !events || !appended; i++) {
		struct comer *c = malloc(sizeof *c);

		*c = (struct comer){MAGIC, NULL};
		if (((uintptr_t)which + (unsigned)i) % 4) {
			come_as_proposed(c);
		} else {
			CHECK_EQ(shipped_subscribe((void **)&c->itself, (void (*)(void))on_shipped,
						   c),
				 PTI_SUCCESS);
			CHECK_EQ(shipped_enable(c->itself, 4, 1, 1), PTI_SUCCESS);
		}
		sched_yield();
		CHECK_EQ(ptiCallbackUnsubscribe(c->itself), PTI_SUCCESS);
		CHECK_EQ(ptiCallbackUnsubscribe(c->itself), PTI_ERROR_BAD_ARGUMENT);
		c->magic = 0;
		free(c);
	}
	return NULL;
}

UNIT_TEST(subscribers_come_and_go_while_calls_run_and_events_happen)
{
	pthread_t callers[CALLERS], comers[COMERS], teller;

	CHECK_OK(gt_table_adopt(&table));
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&callers[i], NULL, make_calls, NULL);
	pthread_create(&teller, NULL, make_events, NULL);
	for (uintptr_t i = 0; i < COMERS; i++)
		pthread_create(&comers[i], NULL, come_and_go, (void *)i);
	for (int i = 0; i < COMERS; i++)
		pthread_join(comers[i], NULL);
	is_over = true;
	for (int i = 0; i < CALLERS; i++)
		pthread_join(callers[i], NULL);
	pthread_join(teller, NULL);
}

/* From inside callbacks --------------------------------------------------------------------- */

/* Callback in which a client unsubscribes itself. Before that, each of its callbacks changes its
 * requests. */
enum { LEAVES_AT_ENTER, LEAVES_AT_EXIT, LEAVES_AT_EVENT, PLACES_TO_LEAVE };

struct guest {
	uint64_t magic;
	pti_callback_subscriber itself;
	int leaves_at;
	_Atomic bool is_ready, is_leaving, is_gone;
};

static _Atomic uint64_t left[PLACES_TO_LEAVE];

/* Let another subscriber subscribe and unsubscribe in each of the host's callbacks. The host itself
 * stays, because unsubscribing inside a callback does not wait for the callback. */
static void on_host(void *user, pti_callback_domain domain, pti_api_group_id group, uint32_t id,
		    void *data)
{
	struct comer c = {MAGIC, NULL};

	(void)user, (void)domain, (void)group, (void)id, (void)data;
	come_as_proposed(&c);
	CHECK_EQ(ptiCallbackUnsubscribe(c.itself), PTI_SUCCESS);
}

static void ask_for_something_else(struct guest *g)
{
	pti_result result =
		ptiCallbackEnable(1, g->itself, PTI_API_GROUP_LEVELZERO, zeDriverGetApiVersion_id);

	/* another thread may be about to unsubscribe this subscriber */
	CHECK(result == PTI_SUCCESS || (result == PTI_ERROR_BAD_ARGUMENT && g->is_leaving));
}

static void on_guest(void *user, pti_callback_domain domain, pti_api_group_id group, uint32_t id,
		     void *data)
{
	const pti_apicall_callback_data *d = data;
	struct guest *g = user;
	int at = domain == PTI_DOMAIN_PTI_CRITICAL_EVENT ? LEAVES_AT_EVENT
		 : d->_site == PTI_SITE_ENTER            ? LEAVES_AT_ENTER
							 : LEAVES_AT_EXIT;

	(void)group, (void)id;
	CHECK_EQ(g->magic, MAGIC);
	if (!g->is_ready)
		return;
	ask_for_something_else(g);
	if (at != g->leaves_at || atomic_exchange(&g->is_leaving, true))
		return;
	CHECK_EQ(ptiCallbackUnsubscribe(g->itself), PTI_SUCCESS);
	atomic_fetch_add(&left[at], 1);
	g->is_gone = true; /* freed at once */
}

static void *bring_guests(void *which)
{
	for (int i = 0; i < ROUNDS / 5; i++) {
		struct guest *g = calloc(1, sizeof *g);

		g->magic = MAGIC;
		g->leaves_at = ((int)(uintptr_t)which + i) % PLACES_TO_LEAVE;
		CHECK_EQ(ptiCallbackSubscribe(&g->itself, on_guest, g), PTI_SUCCESS);
		g->is_ready = true;
		CHECK_EQ(ptiCallbackEnableDomain(1, g->itself, PTI_DOMAIN_PTI_CRITICAL_EVENT),
			 PTI_SUCCESS);
		/* the subscriber may be gone */
		ptiCallbackEnableDomain(1, g->itself, PTI_DOMAIN_DRIVER_API);
		while (!g->is_gone)
			sched_yield();
		CHECK_EQ(ptiCallbackUnsubscribe(g->itself), PTI_ERROR_BAD_ARGUMENT);
		g->magic = 0;
		free(g);
	}
	return NULL;
}

UNIT_TEST(subscribers_leave_and_bring_others_from_inside_their_callbacks)
{
	pthread_t callers[CALLERS], bringers[COMERS], teller;
	pti_callback_subscriber host;

	CHECK_OK(gt_table_adopt(&table));
	CHECK_EQ(ptiCallbackSubscribe(&host, on_host, NULL), PTI_SUCCESS);
	CHECK_EQ(ptiCallbackEnable(1, host, PTI_API_GROUP_LEVELZERO, zeDriverGet_id), PTI_SUCCESS);
	CHECK_EQ(ptiCallbackEnableDomain(1, host, PTI_DOMAIN_PTI_CRITICAL_EVENT), PTI_SUCCESS);
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&callers[i], NULL, make_calls, NULL);
	pthread_create(&teller, NULL, make_events, NULL);
	for (uintptr_t i = 0; i < COMERS; i++)
		pthread_create(&bringers[i], NULL, bring_guests, (void *)i);
	for (int i = 0; i < COMERS; i++)
		pthread_join(bringers[i], NULL);
	is_over = true;
	for (int i = 0; i < CALLERS; i++)
		pthread_join(callers[i], NULL);
	pthread_join(teller, NULL);
	CHECK_EQ(ptiCallbackUnsubscribe(host), PTI_SUCCESS);
	for (int i = 0; i < PLACES_TO_LEAVE; i++)
		CHECK(left[i] > 0);
}
