/* SPDX-License-Identifier: MIT */
/* Trials of a vendor's plug-in, each in a separate child process. plugin_trials.c contains the
 * trials, plugin_host.c the host that they simulate. plugin.c starts the trials and prints the
 * report. plugin_content.c checks the contents of records. plugin_news.c reports to plugin.c.
 *
 *   gputap ── fork ──► trial: announces a call, makes it, reports errors
 *          ◄── pipe ── struct gt_trial_message, one write for each, so complete or absent
 *
 * A trial that crashes, hangs or exits breaks the rule that it was testing. */
#ifndef GPUTAP_CLI_PLUGIN_CHECK_H
#define GPUTAP_CLI_PLUGIN_CHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/plugin_parts.h"

enum gt_rule {
	GT_RULE_NONE = 0,
#define X(name, sentence) GT_RULE_##name,
#include "cli/plugin_rules.inc"
#undef X
	GT_RULE_COUNT
};

enum gt_trial_news {
	GT_TRIAL_TRIES = 1, /* a rule is tested from now on; text: the call */
	GT_TRIAL_BROKEN,    /* a rule was broken; text: how */
	GT_TRIAL_UNTRIED,   /* a rule cannot be tested; text: why */
	GT_TRIAL_ABSENT,    /* a rule is about a group that the plug-in does not have */
	GT_TRIAL_ENDED,
};

struct gt_trial_message {
	uint32_t news, rule;
	char text[248];
};

struct gt_trial_buffer {
	uint8_t *data; /* memory that ends at a page boundary, before a page that is not mapped */
	size_t bytes, valid, mapped;
	uint32_t completed; /* number of times that the plug-in completed the buffer */
};

/* A record's text that lies outside of all buffers, copied when the record was read. */
struct gt_trial_text {
	const char *at;
	char copy[128];
};

enum { GT_TRIAL_BUFFERS = 65536, GT_TRIAL_TEXTS = 1024 };

struct gt_trial {
	const char *path;     /* path of the plug-in */
	const char *exercise; /* path of another library with pu1Exercise(); NULL: none */
	int pipe;
	enum gt_rule trying;
	/* rules already reported as broken, one bit each; a rule is reported once */
	uint64_t reported;
	struct gt_plugin plugin;
	pu1Result (*activity)(uint32_t items); /* NULL: not available */
	/* State of the simulated host */
	pthread_mutex_t lock;
	struct gt_trial_buffer *buffers;
	size_t buffer_count;
	size_t buffer_bytes; /* size of requested buffers; 0: provide none */
	size_t seen;         /* number of buffers whose records were read */
	pu1ActivityRecord *records;
	size_t record_count, record_room;
	uint64_t begun_ns;
	struct gt_trial_text texts[GT_TRIAL_TEXTS];
	size_t text_count;
	_Atomic uint64_t reported_items; /* number of items reported through pu1.submits */
};

/* The trial of this process. The plug-in's callbacks take no context argument. */
extern struct gt_trial *gt_trial_now;

void gt_trial_report(struct gt_trial *t, enum gt_trial_news news, enum gt_rule rule,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Announce that the call @what, which follows, tests @rule. */
void gt_trial_try(struct gt_trial *t, enum gt_rule rule, const char *what);
/* Report the rule as broken if @good is false. */
#define GT_TRIAL_WANT(t, rule, good, ...)                                       \
	do {                                                                    \
		if (!(good))                                                    \
			gt_trial_report(t, GT_TRIAL_BROKEN, rule, __VA_ARGS__); \
	} while (0)
const char *gt_trial_result_name(pu1Result result);

/* Load and register the plug-in. On failure, report it and return false. */
bool gt_trial_open(struct gt_trial *t);
/* Set the callbacks and enable all kinds. */
void gt_trial_begin(struct gt_trial *t);
/* Disable all kinds. */
void gt_trial_end(struct gt_trial *t);
void gt_trial_flush(struct gt_trial *t);
/* Submit activities to the device, at least @items of each kind. */
void gt_trial_exercise(struct gt_trial *t, uint32_t items);
/* Read the buffers that were completed since the previous call, and store their records. Report
 * faults of buffers and records. */
void gt_trial_collect(struct gt_trial *t);
/* Return true if the plug-in has @group. Otherwise report the rule as not applicable. */
bool gt_trial_has_group(struct gt_trial *t, enum gt_rule rule, enum gputap_plugin_group group);
/* Functions of plugin_content.c */
void gt_trial_keep_text(struct gt_trial *t, const char *text);
void gt_trial_compare_texts(struct gt_trial *t);
/* Check the records of the last gt_trial_collect(). */
void gt_trial_want_once(struct gt_trial *t);
void gt_trial_check_sizes(struct gt_trial *t, const pu1ActivityRecord *r);
void gt_trial_check_rows(struct gt_trial *t);
void gt_trial_callbacks(pu1BufferRequestFn *request, pu1BufferCompleteFn *complete);

struct gt_trial_kind {
	void (*run)(struct gt_trial *t);
	bool needs_activity;  /* true if the trial needs pu1Exercise() */
	const uint8_t *rules; /* rules that the trial tests, ended by 0 */
};
extern const struct gt_trial_kind gt_trials[];
extern const size_t gt_trial_count;

#endif
