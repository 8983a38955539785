/* SPDX-License-Identifier: MIT */
/* Tests PTI's callback API in its proposed form (intel/pti-gpu issue 82), sentence by sentence.
 * usage:
 * proposed CHECK [HOW]. Prints errors only. */
#include <gputap/tool.h>
#include <pthread.h>
#include <pti/pti_callback.h>
#include <pti/pti_driver_levelzero_api_ids.h>
#include <pti/pti_driver_opencl_api_ids.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu.h"

/* The shipped form: the same names with other symbols. */
pti_result shipped_subscribe(void **handle, void (*callback)(void),
			     void *user) __asm__("ptiCallbackSubscribe");
pti_result shipped_enable(void *handle, uint32_t domain, uint32_t enter,
			  uint32_t leave) __asm__("ptiCallbackEnableDomain");
pti_result shipped_disable_all(void *handle) __asm__("ptiCallbackDisableAllDomains");

/* "Data structures": each value and each member, in this order. */
_Static_assert(PTI_DOMAIN_INVALID == 0 && PTI_DOMAIN_DRIVER_API == 1 &&
		       PTI_DOMAIN_RUNTIME_API == 2 && PTI_DOMAIN_PTI_CRITICAL_EVENT == 3,
	       "pti_callback_domain");
_Static_assert(PTI_API_GROUP_RESERVED == 0 && PTI_API_GROUP_LEVELZERO == 1 &&
		       PTI_API_GROUP_OPENCL == 2 && PTI_API_GROUP_SYCL == 3,
	       "pti_api_group_id");
_Static_assert(PTI_SITE_ENTER == 0 && PTI_SITE_EXIT == 1, "pti_callback_site");
#define IS_MEMBER(type, member, offset, of)                                                       \
	_Static_assert(offsetof(type, member) == (offset) &&                                      \
			       __builtin_types_compatible_p(__typeof__(((type *)0)->member), of), \
		       #member)
IS_MEMBER(pti_apicall_callback_data, _site, 0, pti_callback_site);
IS_MEMBER(pti_apicall_callback_data, _api_name, 8, const char *);
IS_MEMBER(pti_apicall_callback_data, _args, 16, const void *);
IS_MEMBER(pti_apicall_callback_data, _kernel_name, 24, const char *);
IS_MEMBER(pti_apicall_callback_data, _return_code, 32, const void *);
IS_MEMBER(pti_apicall_callback_data, _backend_context_handle, 40, pti_backend_ctx_t);
IS_MEMBER(pti_apicall_callback_data, _correlation_id, 48, uint32_t);
IS_MEMBER(pti_apicall_callback_data, _local_data, 56, uint64_t *);
IS_MEMBER(pti_critical_event_callback_data, _pti_event, 0, pti_result);
IS_MEMBER(pti_critical_event_callback_data, _message, 8, char *);
#define IS_FUNCTION(name, ...)                                                    \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name),            \
						    pti_result (*)(__VA_ARGS__)), \
		       #name)
IS_FUNCTION(ptiCallbackSubscribe, pti_callback_subscriber *, pti_callback_function, void *);
IS_FUNCTION(ptiCallbackUnsubscribe, pti_callback_subscriber);
IS_FUNCTION(ptiCallbackEnableDomain, uint32_t, pti_callback_subscriber, pti_callback_domain);
IS_FUNCTION(ptiCallbackEnable, uint32_t, pti_callback_subscriber, pti_api_group_id, pti_api_id);
_Static_assert(__builtin_types_compatible_p(pti_callback_function,
					    void (*)(void *, pti_callback_domain, pti_api_group_id,
						     uint32_t, void *)),
	       "pti_callback_function");

enum { THREADS = 4, ROUNDS = 25 };

static _Atomic int failures;

#define CHECK(condition)                                                   \
	do {                                                               \
		if (!(condition)) {                                        \
			printf("line %d: not %s\n", __LINE__, #condition); \
			failures++;                                        \
		}                                                          \
	} while (0)
#define OK(call)  CHECK((call) == PTI_SUCCESS)
#define BAD(call) CHECK((call) == PTI_ERROR_BAD_ARGUMENT)

/* A subscriber and its notifications. */
struct seen {
	char name;
	_Atomic int enters, exits, launches, events;
	pti_callback_subscriber itself;
	/* called inside the callback, unless NULL */
	void (*also)(struct seen *s, uint32_t id, const pti_apicall_callback_data *d);
	pti_critical_event_callback_data event; /* last event, with its text in `message` */
	char message[512];
};

static void on_event(struct seen *s, pti_api_group_id group, uint32_t id,
		     const pti_critical_event_callback_data *event)
{
	CHECK(group == PTI_API_GROUP_RESERVED && id == 0);
	s->event = *event;
	snprintf(s->message, sizeof s->message, "%s", event->_message);
	s->events++;
	if (s->also)
		s->also(s, 0, NULL);
}

static void on_callback(void *user, pti_callback_domain domain, pti_api_group_id group, uint32_t id,
			void *data)
{
	const pti_apicall_callback_data *d = data;
	struct seen *s = user;

	if (domain == PTI_DOMAIN_PTI_CRITICAL_EVENT) {
		on_event(s, group, id, data);
		return;
	}
	CHECK(domain == PTI_DOMAIN_DRIVER_API && group == (pti_api_group_id)gpu_group && id);
	CHECK(d->_api_name && d->_correlation_id && d->_local_data);
	if (d->_site == PTI_SITE_ENTER) {
		s->enters++;
		s->launches += id == gpu_launch_id;
		CHECK(*d->_local_data == 0);
		*d->_local_data = ((uint64_t)id << 32 | d->_correlation_id) + (uint64_t)s->name;
		CHECK(!d->_return_code);
	} else {
		CHECK(d->_site == PTI_SITE_EXIT);
		s->exits++;
		CHECK(*d->_local_data ==
		      ((uint64_t)id << 32 | d->_correlation_id) + (uint64_t)s->name);
		/* "will be valid only for L0 API EXIT, for others will be nullptr" */
		CHECK((gpu_group == PTI_API_GROUP_LEVELZERO) == (d->_return_code != NULL));
	}
	if (s->also)
		s->also(s, id, d);
}

static struct seen *subscribe(char name)
{
	struct seen *s = calloc(1, sizeof *s);

	s->name = name;
	OK(ptiCallbackSubscribe(&s->itself, on_callback, s));
	return s;
}

static void enable(struct seen *s, unsigned id, uint32_t on)
{
	OK(ptiCallbackEnable(on, s->itself, (pti_api_group_id)gpu_group, id));
}

static void leave(struct seen *s)
{
	OK(ptiCallbackUnsubscribe(s->itself));
	free(s);
}

/* Data of a callback ------------------------------------------------------------------------- */

static void check_launch(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	void *const *args = d->_args;

	(void)s;
	CHECK(id == gpu_launch_id);
	CHECK(strcmp(d->_api_name, gpu_group == PTI_API_GROUP_OPENCL
					   ? "clEnqueueNDRangeKernel"
					   : "zeCommandListAppendLaunchKernel") == 0);
	/* handle of the queue or list, handle of the kernel */
	CHECK(args && args[0] && args[1] == gpu_kernel());
	CHECK(d->_kernel_name && strcmp(d->_kernel_name, "scale") == 0);
	CHECK(d->_backend_context_handle == gpu_context());
	CHECK(!d->_return_code || *(const int *)d->_return_code == 0);
}

static void data_of_a_launch(void)
{
	struct seen *s = subscribe('a');

	s->also = check_launch;
	enable(s, gpu_launch_id, 1);
	gpu_run(ROUNDS);
	CHECK(s->enters == ROUNDS && s->exits == ROUNDS);
	leave(s);
}

static void check_call(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	(void)s;
	CHECK(id == gpu_call_id && !d->_kernel_name && d->_args);
}

static void only_launches_have_a_kernels_name(void)
{
	struct seen *s = subscribe('a');

	s->also = check_call;
	enable(s, gpu_call_id, 1);
	gpu_call();
	CHECK(s->enters == 1 && s->exits == 1);
	leave(s);
}

static void check_foreign(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	(void)s;
	CHECK(id == gpu_foreign_id && !d->_backend_context_handle && !d->_kernel_name);
}

static void handles_of_others_are_of_no_context(void)
{
	struct seen *s = subscribe('a');

	s->also = check_foreign;
	enable(s, gpu_foreign_id, 1);
	CHECK(s->enters == 0);
	if (gpu_call_with_foreign_handle())
		CHECK(s->enters == 1 && s->exits == 1);
	leave(s);
}

/* Launches and their activities, with their numbers in gputap's own records. */
static struct {
	_Atomic unsigned count;
	_Atomic uint64_t ids[ROUNDS];
} ours, theirs;

static void note_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data, (void)user;
	if (call->phase == GPUTAP_CALL_PHASE_ENTER && ours.count < ROUNDS &&
	    strstr(gputap_operation_name(call->domain, call->operation), "Kernel") &&
	    !strstr(gputap_operation_name(call->domain, call->operation), "Set"))
		ours.ids[ours.count++] = call->correlation;
}

static void note_id(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	(void)s, (void)id;
	if (d->_site == PTI_SITE_ENTER)
		theirs.ids[theirs.count++] = d->_correlation_id;
}

static void the_correlation_is_that_of_records(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;
	struct seen *s = subscribe('a');

	CHECK(gputap_context_create(&opts, &ctx) == 0);
	CHECK(gputap_context_calls(ctx,
				   gpu_group == PTI_API_GROUP_OPENCL ? GPUTAP_DOMAIN_OPENCL
								     : GPUTAP_DOMAIN_LEVEL_ZERO,
				   NULL, 0, 0, note_call, NULL) == 0);
	CHECK(gputap_context_start(ctx) == 0);
	s->also = note_id;
	enable(s, gpu_launch_id, 1);
	gpu_run(ROUNDS);
	gputap_context_destroy(ctx);
	CHECK(ours.count == ROUNDS && theirs.count == ROUNDS);
	for (unsigned i = 0; i < ROUNDS; i++)
		CHECK((uint32_t)ours.ids[i] == theirs.ids[i]);
	leave(s);
}

/* Enabling ----------------------------------------------------------------------------------- */

static void functions_and_domains(void)
{
	struct seen *s = subscribe('a');
	int before;

	gpu_call();
	CHECK(s->enters == 0); /* nothing is enabled at first */
	OK(ptiCallbackEnableDomain(1, s->itself, PTI_DOMAIN_DRIVER_API));
	gpu_run(1);
	gpu_call();
	CHECK(s->launches == 1 && s->enters > 4 && s->enters == s->exits);
	enable(s, gpu_launch_id, 0); /* all functions except the launch */
	before = s->enters;
	gpu_run(1);
	CHECK(s->launches == 1 && s->enters > before);
	OK(ptiCallbackEnableDomain(0, s->itself, PTI_DOMAIN_DRIVER_API));
	before = s->enters;
	gpu_run(1);
	CHECK(s->enters == before);
	enable(s, gpu_call_id, 1); /* one function */
	gpu_call();
	gpu_run(1);
	CHECK(s->enters == before + 1);
	/* enables the launch as well */
	OK(ptiCallbackEnableDomain(0, s->itself, PTI_DOMAIN_DRIVER_API));
	gpu_call();
	CHECK(s->enters == before + 1);
	leave(s);
}

static void groups_are_told_apart(void)
{
	struct seen *s = subscribe('a');
	bool is_opencl = gpu_group == PTI_API_GROUP_OPENCL;

	/* functions of the other group */
	for (uint32_t id = 1; id < 60; id++)
		OK(ptiCallbackEnable(1, s->itself,
				     is_opencl ? PTI_API_GROUP_LEVELZERO : PTI_API_GROUP_OPENCL,
				     id));
	gpu_run(1);
	gpu_call();
	CHECK(s->enters == 0);
	leave(s);
}

/* Another subscriber. A callback of the first subscriber enables or disables it. */
static struct seen *other;
static uint32_t other_is_on;

static void switch_other(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	(void)s;
	if (d->_site == PTI_SITE_ENTER)
		enable(other, id, other_is_on);
}

static void switched_in_the_middle_of_a_call(void)
{
	struct seen *s;

	other = subscribe('b');
	s = subscribe('a'); /* the second subscriber to be called at ENTER */
	s->also = switch_other;
	enable(s, gpu_call_id, 1);
	other_is_on = 1;
	gpu_call();
	CHECK(other->enters == 0 && other->exits == 0); /* takes effect from the next call on */
	other_is_on = 0;
	gpu_call();
	CHECK(other->enters == 1 && other->exits == 1); /* a subscriber that got ENTER gets EXIT */
	gpu_call();
	CHECK(other->enters == 1 && other->exits == 1);
	leave(s);
	leave(other);
}

/* Callbacks ---------------------------------------------------------------------------------- */

static char order[64];

static void note_order(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	size_t n = strlen(order);

	(void)id;
	if (n + 2 < sizeof order)
		order[n] = (char)(d && d->_site == PTI_SITE_EXIT ? s->name - 'a' + 'A' : s->name);
}

static void order_in_and_out(void)
{
	struct seen *s[3];

	for (int i = 0; i < 3; i++) {
		s[i] = subscribe((char)('a' + i));
		s[i]->also = note_order;
	}
	for (int i = 2; i >= 0; i--)
		enable(s[i], gpu_call_id, 1);
	gpu_call();
	gpu_call();
	CHECK(strcmp(order, "abcCBAabcCBA") == 0);
	for (int i = 0; i < 3; i++)
		leave(s[i]);
}

static _Thread_local int depth;

/* A nested call has its own data, which on_callback() checks. */
static void call_again(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	uint64_t mine = *d->_local_data;

	(void)s, (void)id;
	if (depth++ < 3)
		gpu_call();
	depth--;
	CHECK(*d->_local_data == mine);
}

static void *call_many(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		gpu_call();
	return NULL;
}

static void local_data_of_each_call_subscriber_and_thread(void)
{
	struct seen *s[2] = {subscribe('a'), subscribe('b')};
	pthread_t threads[THREADS];

	for (int i = 0; i < 2; i++) {
		s[i]->also = i ? NULL : call_again;
		enable(s[i], gpu_call_id, 1);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_many, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(s[0]->enters == s[0]->exits && s[0]->enters > THREADS * ROUNDS);
	CHECK(s[1]->enters == s[0]->enters && s[1]->exits == s[0]->exits);
	leave(s[0]);
	leave(s[1]);
}

static void do_everything(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	struct seen *made;

	(void)d;
	if (depth++) {
		depth--;
		return;
	}
	made = subscribe('c');
	enable(made, id, 1);
	OK(ptiCallbackEnableDomain(1, made->itself, PTI_DOMAIN_PTI_CRITICAL_EVENT));
	gpu_call(); /* the driver */
	CHECK(made->enters == 1 && made->exits == 1);
	OK(ptiCallbackEnableDomain(0, s->itself, PTI_DOMAIN_DRIVER_API)); /* itself */
	enable(s, id, 1);
	BAD(ptiCallbackEnable(1, s->itself, PTI_API_GROUP_RESERVED, id));
	leave(made); /* another subscriber */
	depth--;
}

static void everything_from_inside(void)
{
	struct seen *s = subscribe('a');

	s->also = do_everything;
	enable(s, gpu_call_id, 1);
	for (int i = 0; i < ROUNDS; i++)
		gpu_call();
	CHECK(s->enters == s->exits && s->enters >= ROUNDS);
	leave(s);
}

static void leave_from_inside(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	(void)id;
	if (!d || d->_site == (s->name == 'e' ? PTI_SITE_ENTER : PTI_SITE_EXIT))
		OK(ptiCallbackUnsubscribe(s->itself));
}

/* Unsubscribe another subscriber that has received ENTER and waits for EXIT. */
static void send_other_away(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	(void)s, (void)id;
	if (other && d->_site == PTI_SITE_ENTER) {
		OK(ptiCallbackUnsubscribe(other->itself));
		CHECK(other->enters == 1 && other->exits == 0);
		other = NULL;
	}
}

static void unsubscribed_from_inside(void)
{
	struct seen *at_enter = subscribe('e'), *at_exit = subscribe('x'), *first, *s;

	at_enter->also = at_exit->also = leave_from_inside;
	enable(at_enter, gpu_call_id, 1);
	enable(at_exit, gpu_call_id, 1);
	gpu_call();
	gpu_call();
	CHECK(at_enter->enters == 1 && at_enter->exits == 0);
	CHECK(at_exit->enters == 1 && at_exit->exits == 1);
	BAD(ptiCallbackUnsubscribe(at_enter->itself));
	BAD(ptiCallbackUnsubscribe(at_exit->itself));
	free(at_enter);
	free(at_exit);

	first = other = subscribe('b');
	s = subscribe('a');
	s->also = send_other_away;
	enable(first, gpu_call_id, 1);
	enable(s, gpu_call_id, 1);
	gpu_call();
	gpu_call();
	CHECK(first->enters == 1 && first->exits == 0 && s->exits == 2);
	free(first);
	leave(s);
}

static _Atomic int in_callback, after_unsubscribe;
static _Atomic bool is_gone, is_over;

static void be_slow(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	const struct timespec pause = {0, 200000};

	(void)s, (void)id, (void)d;
	in_callback++;
	nanosleep(&pause, NULL);
	after_unsubscribe += is_gone;
	in_callback--;
}

static void *call_on(void *unused)
{
	(void)unused;
	while (!is_over)
		gpu_call();
	return NULL;
}

static void unsubscribe_waits(void)
{
	pthread_t threads[THREADS];
	struct seen *s;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_on, NULL);
	for (int i = 0; i < 5; i++) {
		s = subscribe('a');
		s->also = be_slow;
		is_gone = false;
		enable(s, gpu_call_id, 1);
		while (!in_callback)
			sched_yield();
		OK(ptiCallbackUnsubscribe(s->itself));
		is_gone = true;
		CHECK(in_callback == 0);
		sched_yield();
		CHECK(after_unsubscribe == 0);
		free(s);
	}
	is_over = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(after_unsubscribe == 0);
}

/* Two threads, each in a callback of its own subscriber, unsubscribe each other's subscriber. */
static pthread_barrier_t both_inside;
static _Thread_local struct seen *of_this_thread, *of_the_other;

static void send_partner_away(struct seen *s, uint32_t id, const pti_apicall_callback_data *d)
{
	struct seen *partner = of_the_other;

	(void)id, (void)d;
	if (s != of_this_thread || !partner)
		return;
	of_the_other = NULL;
	pthread_barrier_wait(&both_inside);
	OK(ptiCallbackUnsubscribe(partner->itself));
}

struct partner {
	struct seen *itself, *other;
	bool at_event;
};

static void *be_called_back(void *partner)
{
	static _Atomic int names;
	const struct partner *p = partner;
	char name[32];

	of_this_thread = p->itself;
	of_the_other = p->other;
	if (p->at_event) { /* each name causes an event only once */
		snprintf(name, sizeof name, "zexOfTomorrow%d", names++);
		gpu_get_unknown(name);
	} else {
		gpu_call();
	}
	CHECK(!of_the_other);
	return NULL;
}

/* Return true if unsubscribing took less than its maximum waiting time of five seconds. */
static bool send_each_other_away(bool one_at_event, bool other_at_event)
{
	struct seen *one = subscribe('a'), *other_one = subscribe('b');
	struct partner p[2] = {{one, other_one, one_at_event}, {other_one, one, other_at_event}};
	struct timespec begin, end;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		p[i].itself->also = send_partner_away;
		if (p[i].at_event)
			OK(ptiCallbackEnableDomain(1, p[i].itself->itself,
						   PTI_DOMAIN_PTI_CRITICAL_EVENT));
		else
			enable(p[i].itself, gpu_call_id, 1);
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, be_called_back, &p[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	BAD(ptiCallbackUnsubscribe(one->itself));
	BAD(ptiCallbackUnsubscribe(other_one->itself));
	free(one);
	free(other_one);
	return end.tv_sec - begin.tv_sec < 4;
}

static void two_callbacks_unsubscribe_each_other(void)
{
	bool has_events = gpu_get_unknown("zexOfTomorrow");

	pthread_barrier_init(&both_inside, NULL, 2);
	for (int which = 0; which < (has_events ? 4 : 1); which++) {
		bool waited = true;

		/* a busy machine may also take five seconds */
		for (int i = 0; i < 5 && waited; i++)
			waited = !send_each_other_away(which & 1, which & 2);
		CHECK(!waited);
	}
	pthread_barrier_destroy(&both_inside);
}

/* Critical events ---------------------------------------------------------------------------- */

static void critical_events(void)
{
	struct seen *s[2] = {subscribe('a'), subscribe('b')};

	if (!gpu_get_unknown("zexOfTomorrow1")) { /* no function was looked up */
		leave(s[0]);
		leave(s[1]);
		return;
	}
	for (int i = 0; i < 2; i++) {
		s[i]->also = note_order;
		OK(ptiCallbackEnableDomain(1, s[i]->itself, PTI_DOMAIN_PTI_CRITICAL_EVENT));
	}
	gpu_get_unknown("zexOfTomorrow2");
	for (int i = 0; i < 2; i++) {
		CHECK(s[i]->events == 1 && s[i]->enters == 0);
		CHECK(s[i]->event._pti_event == PTI_ERROR_BAD_API_ID);
		CHECK(strstr(s[i]->message, "zexOfTomorrow2") != NULL);
	}
	CHECK(strcmp(order, "ab") == 0);
	OK(ptiCallbackEnableDomain(0, s[0]->itself, PTI_DOMAIN_PTI_CRITICAL_EVENT));
	s[1]->also = leave_from_inside;
	gpu_get_unknown("zexOfTomorrow3");
	CHECK(s[0]->events == 1 && s[1]->events == 2);
	gpu_get_unknown("zexOfTomorrow4");
	CHECK(s[0]->events == 1 && s[1]->events == 2);
	BAD(ptiCallbackUnsubscribe(s[1]->itself));
	free(s[1]);
	leave(s[0]);
}

/* Bad input ---------------------------------------------------------------------------------- */

static void on_shipped(void)
{
}

/* A subscriber of one form is invalid in the other form, except that either form can unsubscribe
 * it. */
static void forms_are_told_apart(void)
{
	struct seen *s = subscribe('a');
	void *shipped;

	OK(shipped_subscribe(&shipped, on_shipped, NULL));
	BAD(shipped_enable(s->itself, 4, 1, 1));
	BAD(shipped_disable_all(s->itself));
	BAD(ptiCallbackEnableDomain(1, shipped, PTI_DOMAIN_DRIVER_API));
	BAD(ptiCallbackEnable(1, shipped, (pti_api_group_id)gpu_group, gpu_call_id));
	gpu_call();
	CHECK(s->enters == 0);
	OK(ptiCallbackUnsubscribe(shipped));
	leave(s);
}

/* A refused call must not change the enabled functions. */
static void nothing_is_half_done(void)
{
	struct seen *s = subscribe('a');
	pti_callback_subscriber untouched = (pti_callback_subscriber)(void *)s;
	const pti_api_group_id group = (pti_api_group_id)gpu_group;

	enable(s, gpu_call_id, 1);
	BAD(ptiCallbackSubscribe(&untouched, NULL, s));
	CHECK(untouched == (pti_callback_subscriber)(void *)s);
	BAD(ptiCallbackEnableDomain(1, s->itself, (pti_callback_domain)4));
	BAD(ptiCallbackEnableDomain(0, s->itself, PTI_DOMAIN_INVALID));
	BAD(ptiCallbackEnable(1, s->itself, PTI_API_GROUP_ALL, gpu_launch_id));
	CHECK(ptiCallbackEnable(0, s->itself, group, 0) == PTI_ERROR_BAD_API_ID);
	CHECK(ptiCallbackEnable(1, s->itself, group, UINT32_MAX) == PTI_ERROR_BAD_API_ID);
	gpu_run(1);
	gpu_call();
	CHECK(s->launches == 0 && s->enters >= 1 && s->enters == s->exits);
	leave(s);
}

static const struct {
	const char *name;
	void (*run)(void);
} checks[] = {
	{"data_of_a_launch", data_of_a_launch},
	{"only_launches_have_a_kernels_name", only_launches_have_a_kernels_name},
	{"handles_of_others_are_of_no_context", handles_of_others_are_of_no_context},
	{"the_correlation_is_that_of_records", the_correlation_is_that_of_records},
	{"functions_and_domains", functions_and_domains},
	{"groups_are_told_apart", groups_are_told_apart},
	{"switched_in_the_middle_of_a_call", switched_in_the_middle_of_a_call},
	{"order_in_and_out", order_in_and_out},
	{"local_data_of_each_call_subscriber_and_thread",
	 local_data_of_each_call_subscriber_and_thread},
	{"everything_from_inside", everything_from_inside},
	{"unsubscribed_from_inside", unsubscribed_from_inside},
	{"unsubscribe_waits", unsubscribe_waits},
	{"two_callbacks_unsubscribe_each_other", two_callbacks_unsubscribe_each_other},
	{"critical_events", critical_events},
	{"forms_are_told_apart", forms_are_told_apart},
	{"nothing_is_half_done", nothing_is_half_done},
};

int main(int argc, char **argv)
{
	int before = 0;

	gpu_open(argc > 2 ? argv[2] : "immediate");
	for (unsigned i = 0; i < sizeof checks / sizeof *checks; i++)
		if (argc > 1 && strcmp(argv[1], checks[i].name) == 0) {
			checks[i].run();
			before = 1;
		}
	CHECK(before);
	gpu_close();
	return failures != 0;
}
