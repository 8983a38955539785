/* SPDX-License-Identifier: MIT */
/* Programs of the tree that could not be traced, in a sentence for report, run and recover. */
#ifndef GPUTAP_CLI_UNTRACED_H
#define GPUTAP_CLI_UNTRACED_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

#define UNTRACED_ALL UINT32_MAX

/**
 * untraced_text() - write "2 processes not traced: NAME (why), NAME (why)"; info names all
 * @session: index of a session in a merged capture, or UNTRACED_ALL
 * Return: the number; 0: "".
 */
uint32_t untraced_text(const struct gt_capture *c, uint32_t session, char *out, size_t room);

/* Print the same for a capture file, as a note on stderr. */
void untraced_note(const char *path);

#endif
