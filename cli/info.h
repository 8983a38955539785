/* SPDX-License-Identifier: MIT */
/* The data that `gputap info` collects from a capture, and its tables. */
#ifndef GPUTAP_CLI_INFO_H
#define GPUTAP_CLI_INFO_H

#include "capture/capture.h"
#include "cli/grid.h"
#include "cli/mode.h"

enum { INFO_REASONS_MOST = 8 };

/* Numbers that show whether a runtime used a device. */
struct coverage {
	uint64_t launches[GT_DOMAIN_COUNT]; /* number of calls that launched a GPU activity */
	uint64_t activity[GT_DOMAIN_COUNT];
};

struct info {
	const char *path;
	struct gt_capture *capture;
	const struct gt_session_info *session;
	struct gt_capture_health health;
	struct gt_counts counts;
	uint64_t read[GT_CLASS_COUNT], linked, call_lost, untimed, end_ns;
	uint64_t seen, recorded, dropped, evicted;
	const struct mode *mode;
	struct coverage *coverage;            /* one element per process */
	char reasons[INFO_REASONS_MOST][200]; /* reasons why the capture is not complete */
	unsigned reason_count;
};

/* Tables, in output order. */
enum info_table {
	INFO_SESSIONS,
	INFO_RUNTIMES,
	INFO_DEVICES,
	INFO_STREAMS,
	INFO_PROCESSES,
	INFO_RECORDS,
	INFO_WINDOWS,
	INFO_EVENTS,
	INFO_CODE_OBJECTS, /* rarely needed, so last */
	INFO_KERNEL_SYMBOLS,
	INFO_TABLE_COUNT
};

/* Return the number of threads of the programs, without gputap's own threads. */
uint64_t info_thread_count(const struct info *i);
void info_table(struct grid *g, enum info_table table, const struct info *i);

/* Indexed by enum gt_capture_end. */
extern const char *const info_end_names[3];

#endif
