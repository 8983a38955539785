/* SPDX-License-Identifier: MIT */
/* Tests PTI's callback API in its shipped form: the checks of PTI's own tests, and further checks.
 * usage: shipped CHECK [HOW]. Prints errors only. */
#define PTI_CALLBACK_SHIPPED
#include <gputap/tool.h>
#include <pthread.h>
#include <pti/pti_callback.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpu.h"

enum { ROUNDS = 25, THREADS = 4, SEEN = 1 << 14 };
#define APPENDED  PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED
#define COMPLETED PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED
#define CREATED   PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED
#define DESTROYED PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED

static _Atomic int failures;
static const char *how = "immediate";

#define CHECK(condition)                                                   \
	do {                                                               \
		if (!(condition)) {                                        \
			printf("line %d: not %s\n", __LINE__, #condition); \
			failures++;                                        \
		}                                                          \
	} while (0)
#define OK(call)  CHECK((call) == PTI_SUCCESS)
#define BAD(call) CHECK((call) == PTI_ERROR_BAD_ARGUMENT)

/* Notifications of a subscriber. */
struct seen {
	int name;
	_Atomic int enters, exits, completed, created, destroyed, internal;
	_Atomic unsigned at, done;
	uint64_t ids[SEEN], ended[SEEN]; /* ids of appended and of completed operations */
	pti_callback_subscriber_handle itself;
	/* called inside the callback, unless NULL */
	void (*also)(struct seen *s, pti_callback_domain domain, pti_callback_phase phase);
};

/* True in a callback that repeats the program's calls: run_again(). */
static _Thread_local bool is_again;

static void on_appended(struct seen *s, const pti_callback_gpu_op_data *d, uint32_t id,
			void **instance)
{
	static _Thread_local struct {
		uint32_t correlation;
		pti_gpu_operation_kind kind;
	} opened[64][2], *open;
	const pti_gpu_op_details *op = d->_operation_details;

	CHECK(d->_domain == APPENDED && d->_operation_count == 1 && op && id);
	CHECK(op->_operation_id != 0);
	open = &opened[s->name][is_again];
	if (d->_phase == PTI_CB_PHASE_API_ENTER) {
		s->enters++;
		CHECK(*instance == NULL);
		*instance = (void *)(uintptr_t)(d->_correlation_id + 1u);
		open->correlation = d->_correlation_id;
		open->kind = op->_operation_kind;
		return;
	}
	CHECK(d->_phase == PTI_CB_PHASE_API_EXIT && d->_return_code == 0);
	if (*instance) { /* ENTER was notified */
		CHECK(*instance == (void *)(uintptr_t)(d->_correlation_id + 1u));
		CHECK(open->correlation == d->_correlation_id);
		CHECK(open->kind == op->_operation_kind);
	}
	CHECK(op->_operation_kind != PTI_GPU_OPERATION_KIND_KERNEL ||
	      (op->_name && strcmp(op->_name, "scale") == 0 && op->_kernel_handle));
	CHECK(d->_device_handle != NULL);
	s->ids[s->at++ % SEEN] = op->_operation_id;
	s->exits++;
}

static void on_completed(struct seen *s, const pti_callback_gpu_op_data *d)
{
	CHECK(d->_domain == COMPLETED && d->_phase == PTI_CB_PHASE_API_EXIT);
	for (uint32_t i = 0; i < d->_operation_count; i++) {
		const pti_gpu_op_details *op = &d->_operation_details[i];

		CHECK(op->_operation_kind != PTI_GPU_OPERATION_KIND_KERNEL ||
		      (op->_name && strcmp(op->_name, "scale") == 0 && op->_kernel_handle));
		s->ended[s->done++ % SEEN] = op->_operation_id;
		s->completed++;
	}
}

static void on_kernel(struct seen *s, const pti_callback_kernel_data *d)
{
	bool exits = d->_phase == PTI_CB_PHASE_API_EXIT;

	if (d->_domain == CREATED) {
		CHECK(d->_name && strcmp(d->_name, "add") == 0 && d->_module_handle);
		CHECK(exits == (d->_device_kernel_handle != NULL));
		CHECK(exits == (d->_kernel_handle != 0));
		s->created++;
	} else {
		CHECK(d->_device_kernel_handle && d->_kernel_handle && !d->_name);
		s->destroyed++;
	}
	CHECK(d->_correlation_id && d->_device_handle && d->_return_code == 0);
}

static void on_callback(pti_callback_domain domain, pti_api_group_id group, uint32_t id,
			pti_backend_ctx_t context, void *data, void *user, void **instance)
{
	pti_callback_phase phase = PTI_CB_PHASE_INVALID;
	struct seen *s = user;

	CHECK(group == (pti_api_group_id)gpu_group && context && id);
	if (domain == APPENDED) {
		on_appended(s, data, id, instance);
		phase = ((pti_callback_gpu_op_data *)data)->_phase;
	} else if (domain == COMPLETED)
		on_completed(s, data);
	else if (domain == CREATED || domain == DESTROYED)
		on_kernel(s, data);
	if (s->also)
		s->also(s, domain, phase);
}

static struct seen *subscribe(int name)
{
	struct seen *s = calloc(1, sizeof *s);

	s->name = name;
	OK(ptiCallbackSubscribe(&s->itself, on_callback, s));
	CHECK(s->itself != NULL);
	return s;
}

static void enable(struct seen *s, uint32_t enter, uint32_t leave)
{
	OK(ptiCallbackEnableDomain(s->itself, APPENDED, enter, leave));
	OK(ptiCallbackEnableDomain(s->itself, COMPLETED, enter, leave));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Wait for activities, which complete in a thread of the driver or of gputap, and may still be in
 * progress. */
static void wait_for(_Atomic int *count, int expected)
{
	const struct timespec pause = {0, 1000000};

	for (int i = 0; i < 20000 && *count < expected; i++)
		nanosleep(&pause, NULL);
}

static void check_all(struct seen *s, int operations)
{
	wait_for(&s->completed, operations);
	CHECK(s->enters == operations);
	CHECK(s->exits == operations);
	CHECK(s->completed == operations);
	qsort(s->ids, s->at, sizeof *s->ids, compare);
	qsort(s->ended, s->done, sizeof *s->ended, compare);
	for (unsigned i = 1; i < s->at; i++)
		CHECK(s->ids[i] != s->ids[i - 1]);
	CHECK(memcmp(s->ids, s->ended, s->at * sizeof *s->ids) == 0);
	OK(ptiCallbackUnsubscribe(s->itself));
}

/* Checks of PTI's own tests --------------------------------------------------------------- */

static void basic_subscription(void)
{
	struct seen *s = subscribe(0);

	enable(s, 1, 1);
	gpu_run(ROUNDS);
	check_all(s, ROUNDS * GPU_OPERATIONS);
	gpu_run(1); /* no more notifications */
	CHECK(s->enters == ROUNDS * GPU_OPERATIONS);
}

static void subscription_with_null(void)
{
	pti_callback_subscriber_handle handle = NULL;

	BAD(ptiCallbackSubscribe(NULL, on_callback, NULL));
	BAD(ptiCallbackSubscribe(&handle, NULL, NULL));
	CHECK(handle == NULL);
}

static void domain_enable_and_disable(void)
{
	struct seen *s = subscribe(0);

	enable(s, 1, 1);
	enable(s, 1, 1); /* again */
	gpu_run(1);
	OK(ptiCallbackDisableDomain(s->itself, APPENDED));
	BAD(ptiCallbackDisableDomain(s->itself, APPENDED));
	gpu_run(1);
	CHECK(s->enters == GPU_OPERATIONS && s->exits == GPU_OPERATIONS);
	wait_for(&s->completed, 2 * GPU_OPERATIONS);
	CHECK(s->completed == 2 * GPU_OPERATIONS);
	OK(ptiCallbackDisableAllDomains(s->itself));
	OK(ptiCallbackDisableAllDomains(s->itself));
	gpu_run(1);
	CHECK(s->enters == GPU_OPERATIONS && s->completed == 2 * GPU_OPERATIONS);
	OK(ptiCallbackUnsubscribe(s->itself));
}

static void domains_not_implemented(void)
{
	static const pti_callback_domain none[] = {PTI_CB_DOMAIN_DRIVER_CONTEXT_CREATED,
						   PTI_CB_DOMAIN_DRIVER_MODULE_LOADED,
						   PTI_CB_DOMAIN_DRIVER_MODULE_UNLOADED,
						   PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_DISPATCHED,
						   PTI_CB_DOMAIN_DRIVER_HOST_SYNCHRONIZATION,
						   PTI_CB_DOMAIN_DRIVER_API,
						   PTI_CB_DOMAIN_INTERNAL_THREADS};
	struct seen *s = subscribe(0);

	for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(ptiCallbackEnableDomain(s->itself, none[i], 1, 1) ==
		      PTI_ERROR_NOT_IMPLEMENTED);
	OK(ptiCallbackUnsubscribe(s->itself));
}

static void several_subscribers(void)
{
	struct seen *s[3];

	for (int i = 0; i < 3; i++)
		enable(s[i] = subscribe(i), 1, 1);
	gpu_run(ROUNDS);
	for (int i = 0; i < 3; i++)
		check_all(s[i], ROUNDS * GPU_OPERATIONS);
	CHECK(memcmp(s[0]->ids, s[2]->ids, sizeof s[0]->ids) == 0);
}

static void unsubscribe_invalid(void)
{
	struct seen *s = subscribe(0);
	int on_stack;

	BAD(ptiCallbackUnsubscribe(NULL));
	BAD(ptiCallbackUnsubscribe((pti_callback_subscriber_handle)(void *)&on_stack));
	OK(ptiCallbackUnsubscribe(s->itself));
	BAD(ptiCallbackUnsubscribe(s->itself));
}

static void refuse(pti_callback_subscriber_handle handle)
{
	BAD(ptiCallbackEnableDomain(handle, APPENDED, 1, 1));
	BAD(ptiCallbackDisableDomain(handle, APPENDED));
	BAD(ptiCallbackDisableAllDomains(handle));
}

static void domains_of_invalid_subscribers(void)
{
	struct seen *s = subscribe(0);
	int on_stack;

	BAD(ptiCallbackEnableDomain(s->itself, PTI_CB_DOMAIN_INVALID, 1, 1));
	BAD(ptiCallbackEnableDomain(s->itself, (pti_callback_domain)77, 1, 1));
	BAD(ptiCallbackEnableDomain(s->itself, APPENDED, 0, 0));
	refuse(NULL);
	refuse((pti_callback_subscriber_handle)(void *)&on_stack);
	OK(ptiCallbackUnsubscribe(s->itself));
	refuse(s->itself);
}

#define IS_NAMED(to_string, value) CHECK(strcmp(to_string(value), #value) == 0)

static void strings(void)
{
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_INVALID);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_CONTEXT_CREATED);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_MODULE_LOADED);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_MODULE_UNLOADED);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_DISPATCHED);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_HOST_SYNCHRONIZATION);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_DRIVER_API);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_INTERNAL_THREADS);
	IS_NAMED(ptiCallbackDomainTypeToString, PTI_CB_DOMAIN_INTERNAL_EVENT);
	CHECK(!strcmp(ptiCallbackDomainTypeToString((pti_callback_domain)77), "INVALID"));
	IS_NAMED(ptiCallbackPhaseTypeToString, PTI_CB_PHASE_INVALID);
	IS_NAMED(ptiCallbackPhaseTypeToString, PTI_CB_PHASE_API_ENTER);
	IS_NAMED(ptiCallbackPhaseTypeToString, PTI_CB_PHASE_API_EXIT);
	IS_NAMED(ptiCallbackPhaseTypeToString, PTI_CB_PHASE_INTERNAL_THREAD_START);
	IS_NAMED(ptiCallbackPhaseTypeToString, PTI_CB_PHASE_INTERNAL_THREAD_END);
	IS_NAMED(ptiCallbackPhaseTypeToString, PTI_CB_PHASE_INTERNAL_EVENT);
	CHECK(!strcmp(ptiCallbackPhaseTypeToString((pti_callback_phase)77), "INVALID"));
}

static void phases_one_by_one(void)
{
	struct seen *enter = subscribe(0), *leave = subscribe(1), *done = subscribe(2);

	OK(ptiCallbackEnableDomain(enter->itself, APPENDED, 1, 0));
	OK(ptiCallbackEnableDomain(leave->itself, APPENDED, 0, 1));
	OK(ptiCallbackEnableDomain(done->itself, COMPLETED, 0, 1));
	gpu_run(ROUNDS);
	CHECK(enter->enters == ROUNDS * GPU_OPERATIONS && enter->exits == 0);
	CHECK(leave->exits == ROUNDS * GPU_OPERATIONS && leave->enters == 0);
	wait_for(&done->completed, ROUNDS * GPU_OPERATIONS);
	CHECK(done->completed == ROUNDS * GPU_OPERATIONS);
	OK(ptiCallbackUnsubscribe(enter->itself));
	OK(ptiCallbackUnsubscribe(leave->itself));
	OK(ptiCallbackUnsubscribe(done->itself));
}

static void *run_in_thread(void *rounds)
{
	gpu_run(*(int *)rounds);
	return NULL;
}

static void run_threads(int rounds)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_in_thread, &rounds);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void many_threads(void)
{
	struct seen *s = subscribe(0);

	enable(s, 1, 1);
	run_threads(ROUNDS);
	check_all(s, THREADS * ROUNDS * GPU_OPERATIONS);
}

/* Several threads use a queue each at the same time, and later another queue each. */
static void many_queues(void)
{
	struct seen *s = subscribe(0);

	enable(s, 1, 1);
	for (int i = 0; i < 5; i++)
		run_threads(2);
	check_all(s, 5 * THREADS * 2 * GPU_OPERATIONS);
}

static void *subscribe_in_thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++) {
		struct seen *s = subscribe(0);

		enable(s, 1, 1);
		if (i % 10 == 0)
			gpu_call();
		OK(ptiCallbackDisableDomain(s->itself, APPENDED));
		OK(ptiCallbackUnsubscribe(s->itself));
		free(s);
	}
	return NULL;
}

/* While one subscriber counts, other subscribers subscribe and unsubscribe. */
static void callbacks_are_thread_safe(void)
{
	pthread_t threads[THREADS];
	struct seen *s = subscribe(60);

	enable(s, 1, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, subscribe_in_thread, NULL);
	run_threads(ROUNDS);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check_all(s, THREADS * ROUNDS * GPU_OPERATIONS);
}

static void push_external(struct seen *s, pti_callback_domain domain, pti_callback_phase phase)
{
	uint64_t id;

	(void)s;
	if (domain != APPENDED)
		return;
	if (phase == PTI_CB_PHASE_API_ENTER) {
		CHECK(gputap_external_push(GPUTAP_STACK_USER, 4711) == 0);
	} else {
		CHECK(gputap_external_pop(GPUTAP_STACK_USER, &id) == 0);
		CHECK(id == 4711);
	}
}

static _Atomic int with_external, without_external;

static void on_activity(const struct gputap_activity *activity, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (activity->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE)
		(*(activity->external[GPUTAP_STACK_USER] == 4711 ? &with_external
								 : &without_external))++;
}

static void external_correlation_in_callbacks(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;
	struct seen *s = subscribe(0);

	CHECK(gputap_context_create(&opts, &ctx) == 0);
	CHECK(gputap_context_activities(ctx,
					gpu_group == 1 ? GPUTAP_DOMAIN_LEVEL_ZERO
						       : GPUTAP_DOMAIN_OPENCL,
					GPUTAP_ACTIVITY_ALL, on_activity, NULL) == 0);
	CHECK(gputap_context_start(ctx) == 0);
	s->also = push_external;
	enable(s, 1, 1);
	gpu_run(ROUNDS);
	check_all(s, ROUNDS * GPU_OPERATIONS);
	wait_for(&with_external, ROUNDS * GPU_OPERATIONS);
	CHECK(with_external == ROUNDS * GPU_OPERATIONS && without_external == 0);
	gputap_context_destroy(ctx);
}

/* Checks that PTI's own tests lack --------------------------------------------------------- */

static _Atomic int in_callback, after_unsubscribe;
static _Atomic bool is_gone;

static void be_slow(struct seen *s, pti_callback_domain domain, pti_callback_phase phase)
{
	const struct timespec pause = {0, 200000};

	(void)s, (void)domain, (void)phase;
	in_callback++;
	nanosleep(&pause, NULL);
	after_unsubscribe += is_gone;
	in_callback--;
}

/* Unsubscribing waits for callbacks in other threads. Afterwards, no callback starts. */
static void unsubscribe_during_callbacks(void)
{
	int rounds = 200;
	pthread_t thread;
	struct seen *s;

	for (int i = 0; i < 3; i++) {
		s = subscribe(0);
		s->also = be_slow;
		is_gone = false;
		enable(s, 1, 1);
		pthread_create(&thread, NULL, run_in_thread, &rounds);
		while (!in_callback)
			sched_yield();
		OK(ptiCallbackUnsubscribe(s->itself));
		is_gone = true;
		CHECK(in_callback == 0);
		pthread_join(thread, NULL);
		CHECK(after_unsubscribe == 0);
		free(s);
	}
}

static char order[64];

static void note_order(struct seen *s, pti_callback_domain domain, pti_callback_phase phase)
{
	size_t n = strlen(order);

	if (domain == APPENDED && n + 2 < sizeof order) {
		order[n] = (char)((phase == PTI_CB_PHASE_API_ENTER ? 'a' : 'A') + s->name);
		order[n + 1] = '\0';
	}
}

static void order_in_and_out(void)
{
	struct seen *s[3];

	for (int i = 0; i < 3; i++) {
		s[i] = subscribe(i);
		s[i]->also = note_order;
	}
	for (int i = 2; i >= 0; i--) /* the order of subscriptions matters */
		OK(ptiCallbackEnableDomain(s[i]->itself, APPENDED, 1, 1));
	gpu_run(1);
	CHECK(strncmp(order, "abcCBAabcCBA", 12) == 0);
	for (int i = 0; i < 3; i++)
		OK(ptiCallbackUnsubscribe(s[i]->itself));
}

static _Thread_local int nested;

static void use_everything(struct seen *s, pti_callback_domain domain, pti_callback_phase phase)
{
	struct seen *other;

	if (domain != APPENDED || phase != PTI_CB_PHASE_API_ENTER || nested++)
		return;
	other = subscribe(1);
	enable(other, 1, 1);
	gpu_call(); /* the driver */
	OK(ptiCallbackDisableDomain(other->itself, APPENDED));
	OK(ptiCallbackEnableDomain(s->itself, APPENDED, 1, 1)); /* itself */
	OK(ptiCallbackUnsubscribe(other->itself));
	free(other);
	nested--;
}

static void leave_from_inside(struct seen *s, pti_callback_domain domain, pti_callback_phase phase)
{
	if (domain == APPENDED && phase == PTI_CB_PHASE_API_ENTER)
		OK(ptiCallbackUnsubscribe(s->itself));
}

static void everything_from_inside(void)
{
	struct seen *s = subscribe(0), *leaves;

	s->also = use_everything;
	enable(s, 1, 1);
	gpu_run(ROUNDS);
	check_all(s, ROUNDS * GPU_OPERATIONS);
	leaves = subscribe(0);
	leaves->also = leave_from_inside;
	OK(ptiCallbackEnableDomain(leaves->itself, APPENDED, 1, 1));
	gpu_run(1);
	CHECK(leaves->enters == 1 && leaves->exits == 0);
	BAD(ptiCallbackUnsubscribe(leaves->itself));
}

/* instance_user_data belongs to the call and the subscriber. on_appended() checks this. */
static void data_of_each_call(void)
{
	struct seen *s[2] = {subscribe(0), subscribe(1)};

	enable(s[0], 1, 1);
	enable(s[1], 1, 1);
	run_threads(4 * ROUNDS);
	check_all(s[0], THREADS * 4 * ROUNDS * GPU_OPERATIONS);
	check_all(s[1], THREADS * 4 * ROUNDS * GPU_OPERATIONS);
}

static void run_again(struct seen *s, pti_callback_domain domain, pti_callback_phase phase)
{
	(void)s;
	if (domain != APPENDED || phase != PTI_CB_PHASE_API_ENTER || is_again)
		return;
	is_again = true;
	gpu_run(1);
	is_again = false;
}

static void run_lists_again(const struct gputap_call *call, uint64_t *data, void *user)
{
	const char *name = gputap_operation_name(call->domain, call->operation);

	(void)data, (void)user;
	if (call->phase != GPUTAP_CALL_PHASE_ENTER || is_again ||
	    !strstr(name, "ExecuteCommandLists"))
		return;
	is_again = true;
	gpu_run(2);
	is_again = false;
}

/* Operations that a callback appends and runs are distinguished from the operations that the
 * callback is called for. check_all() and on_completed() check this. */
static void calls_inside_of_calls(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	const int rounds = 3, again = rounds * GPU_OPERATIONS;
	bool has_lists = gpu_group == 1 && strcmp(how, "regular") == 0;
	struct seen *s = subscribe(0), *inner;
	struct gputap_context *ctx;

	enable(s, 1, 1);
	inner = subscribe(1); /* receives ENTER last */
	inner->also = run_again;
	OK(ptiCallbackEnableDomain(inner->itself, APPENDED, 1, 1));
	gpu_run(rounds);
	OK(ptiCallbackUnsubscribe(inner->itself));
	check_all(s, (rounds + again) * GPU_OPERATIONS);

	s = subscribe(0);
	enable(s, 1, 1);
	CHECK(gputap_context_create(&opts, &ctx) == 0);
	if (gpu_group == 1)
		CHECK(gputap_context_calls(ctx, GPUTAP_DOMAIN_LEVEL_ZERO, NULL, 0, 0,
					   run_lists_again, NULL) == 0);
	CHECK(gputap_context_start(ctx) == 0);
	gpu_run(rounds);
	gputap_context_destroy(ctx);
	check_all(s, (rounds + (has_lists ? 2 : 0)) * GPU_OPERATIONS);
}

static void kernels_come_and_go(void)
{
	struct seen *s = subscribe(0);

	OK(ptiCallbackEnableDomain(s->itself, CREATED, 1, 1));
	OK(ptiCallbackEnableDomain(s->itself, DESTROYED, 1, 1));
	for (int i = 0; i < 5; i++)
		gpu_make_kernel();
	CHECK(s->created == 10 && s->destroyed == 10);
	OK(ptiCallbackEnableDomain(s->itself, CREATED, 0, 1));
	OK(ptiCallbackDisableDomain(s->itself, DESTROYED));
	gpu_make_kernel();
	CHECK(s->created == 11 && s->destroyed == 10);
	OK(ptiCallbackUnsubscribe(s->itself));
}

static const struct {
	const char *name;
	void (*run)(void);
} checks[] = {
	{"basic_subscription", basic_subscription},
	{"subscription_with_null", subscription_with_null},
	{"domain_enable_and_disable", domain_enable_and_disable},
	{"domains_not_implemented", domains_not_implemented},
	{"several_subscribers", several_subscribers},
	{"unsubscribe_invalid", unsubscribe_invalid},
	{"domains_of_invalid_subscribers", domains_of_invalid_subscribers},
	{"strings", strings},
	{"phases_one_by_one", phases_one_by_one},
	{"many_threads", many_threads},
	{"many_queues", many_queues},
	{"callbacks_are_thread_safe", callbacks_are_thread_safe},
	{"external_correlation_in_callbacks", external_correlation_in_callbacks},
	{"unsubscribe_during_callbacks", unsubscribe_during_callbacks},
	{"order_in_and_out", order_in_and_out},
	{"everything_from_inside", everything_from_inside},
	{"data_of_each_call", data_of_each_call},
	{"calls_inside_of_calls", calls_inside_of_calls},
	{"kernels_come_and_go", kernels_come_and_go},
};

int main(int argc, char **argv)
{
	how = argc > 2 ? argv[2] : how;
	gpu_open(how);
	for (unsigned i = 0; i < sizeof checks / sizeof *checks; i++)
		if (argc < 2 || strcmp(argv[1], checks[i].name) == 0 || !strcmp(argv[1], "all")) {
			int before = failures;

			checks[i].run();
			if (failures != before)
				printf("^ %s\n", checks[i].name);
		}
	gpu_close();
	return failures != 0;
}
