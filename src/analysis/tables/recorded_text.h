/* SPDX-License-Identifier: MIT */
/* Describes which part of a session was recorded. */
#ifndef GPUTAP_ANALYSIS_TABLES_RECORDED_TEXT_H
#define GPUTAP_ANALYSIS_TABLES_RECORDED_TEXT_H

#include "capture/capture.h"

enum { RECORDED_TEXT = 96 };

/**
 * recorded_text() - write "5.00 s of 35.0 s, in 2 windows"
 * @session: only this session; NULL: all sessions
 * Return: true; false, and "", if recording was never paused.
 */
bool recorded_text(const struct gt_capture *c, const struct gt_capture_session *session,
		   char text[RECORDED_TEXT]);

#endif
