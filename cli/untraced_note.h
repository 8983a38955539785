/* SPDX-License-Identifier: MIT */
/* Prints which programs of the process tree could not be traced. */
#ifndef GPUTAP_CLI_UNTRACED_NOTE_H
#define GPUTAP_CLI_UNTRACED_NOTE_H

/* Print the sentence of untraced_text() for a capture file, as a note on stderr. */
void untraced_note(const char *path);

#endif
