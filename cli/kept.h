/* SPDX-License-Identifier: MIT */
/* Captures of a flight recorder, and snapshots: what info, report and run say of them. */
#ifndef GPUTAP_CLI_KEPT_H
#define GPUTAP_CLI_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

struct json;

enum { KEPT_TEXT = 512 };

/* Records of a session that are not in the capture because they were older than its window. */
uint64_t kept_missing(const struct gt_capture *c, const struct gt_capture_session *s);

/**
 * kept_text() - "the last 20.0 s of 3.03 h; 12,345 records older than that were not kept"
 * Return: false, and "": the session is no window and no snapshot.
 */
bool kept_text(const struct gt_capture *c, const struct gt_capture_session *s,
	       char text[KEPT_TEXT]);

/* Is there a session of which only some records of a time were cut out? What waited for what, and
 * why devices were idle, is not known of it. */
bool kept_is_part(const struct gt_capture *c);

/* An object of that name, null for others. */
void kept_json(const struct gt_capture *c, const struct gt_capture_session *s, struct json *j);

#endif
