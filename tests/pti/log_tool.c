/* SPDX-License-Identifier: MIT */
/* A test tool for PTI's callback API in its proposed form: prints its notifications to stderr.
 * PTI_WORDS selects its actions, words separated by commas:
 *
 *   GROUP:ID        ptiCallbackEnable() for that function
 *   driver, runtime ptiCallbackEnableDomain() for all functions
 *   critical        ptiCallbackEnableDomain() for critical events
 *   events          gputap_event_subscribe()
 *   two             a second subscriber, "b", makes the same requests */
#include <gputap/tool.h>
#include <pti/pti_callback.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic int log_tool_critical; /* number of events so far */

static void print_call(const char *who, pti_callback_domain domain, pti_api_group_id group,
		       uint32_t id, const pti_apicall_callback_data *d)
{
	fprintf(stderr, "%s %s domain=%d group=%d id=%u %s", who,
		d->_site == PTI_SITE_ENTER ? "ENTER" : "EXIT", (int)domain, (int)group, id,
		d->_api_name);
	if (d->_return_code)
		fprintf(stderr, " status=%x", *(const unsigned *)d->_return_code);
	fprintf(stderr, " args=%d kernel=%s context=%d correlation=%u data=%llu\n",
		d->_args != NULL, d->_kernel_name ? d->_kernel_name : "-",
		d->_backend_context_handle != NULL, d->_correlation_id,
		(unsigned long long)*d->_local_data);
	if (d->_site == PTI_SITE_ENTER)
		*d->_local_data = d->_correlation_id + 1000ull;
}

static void on_callback(void *user, pti_callback_domain domain, pti_api_group_id group, uint32_t id,
			void *data)
{
	const pti_critical_event_callback_data *event = data;

	if (domain != PTI_DOMAIN_PTI_CRITICAL_EVENT) {
		print_call(user, domain, group, id, data);
		return;
	}
	fprintf(stderr, "%s critical %d %s\n", (const char *)user, (int)event->_pti_event,
		event->_message);
	log_tool_critical++;
}

static void on_event(const struct gputap_event *event, void *user)
{
	(void)user;
	fprintf(stderr, "event %s %s\n", gputap_event_name(event->code),
		event->text ? event->text : "-");
}

static void check(pti_result result, const char *what)
{
	if (result != PTI_SUCCESS)
		fprintf(stderr, "%s: %d\n", what, (int)result);
}

static void enable(pti_callback_subscriber s, const char *word)
{
	unsigned group, id;

	if (sscanf(word, "%u:%u", &group, &id) == 2)
		check(ptiCallbackEnable(1, s, (pti_api_group_id)group, id), word);
	else if (strcmp(word, "driver") == 0)
		check(ptiCallbackEnableDomain(1, s, PTI_DOMAIN_DRIVER_API), word);
	else if (strcmp(word, "runtime") == 0)
		check(ptiCallbackEnableDomain(1, s, PTI_DOMAIN_RUNTIME_API), word);
	else if (strcmp(word, "critical") == 0)
		check(ptiCallbackEnableDomain(1, s, PTI_DOMAIN_PTI_CRITICAL_EVENT), word);
}

__attribute__((constructor)) static void begin(void)
{
	static char a[] = "a", b[] = "b";
	const char *words = getenv("PTI_WORDS") ? getenv("PTI_WORDS") : "";
	pti_callback_subscriber s[2] = {NULL, NULL};
	int count = strstr(words, "two") ? 2 : 1;
	char *list = strdup(words);

	if (strstr(words, "events"))
		gputap_event_subscribe(on_event, NULL);
	for (int i = 0; i < count; i++)
		check(ptiCallbackSubscribe(&s[i], on_callback, i ? b : a), "subscribe");
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ","))
		for (int i = 0; i < count; i++)
			enable(s[i], word);
	free(list);
}
