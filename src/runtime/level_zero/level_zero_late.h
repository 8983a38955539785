/* SPDX-License-Identifier: MIT */
/* Objects that the program created before gputap came: before `gputap attach`, before a running
 * program loaded a tool, or while no session recorded. The functions below find an object, or query
 * the driver about it when the program first uses it. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_LATE_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_LATE_H

#include "runtime/level_zero/level_zero_objects.h"

/* Note that a driver was found after it had handed out its functions. Earlier objects are unknown
 * from now on. */
void gt_lz_come_late(void);

/* Return false after the session that has attached to this process has ended. The program then gets
 * what it requests, without gputap's additions. */
bool gt_lz_is_recording(void);

/* Each of these functions returns NULL if the object is unknown. Thread: that of a call that uses
 * the object. */

/* @earlier: what a regular list contains if this is its first use */
struct gt_lz_list *gt_lz_meet_list(const struct gt_call *call, void *handle,
				   enum gt_lz_earlier earlier);
/* Return the queue on which @lists are about to run. @regular: false if @handle is an immediate
 * list. */
struct gt_lz_queue *gt_lz_meet_queue(const struct gt_call *call, const void *handle, uint32_t count,
				     void **lists, bool regular);
struct gt_lz_event *gt_lz_meet_event(const struct gt_call *call, void *handle);
struct gt_lz_kernel *gt_lz_meet_kernel(const struct gt_call *call, void *handle);

/* Return true if an earlier allocation in the list's context, in memory of a device or shared with
 * one, contains @address. */
struct gt_lz_range {
	void *first;
	size_t bytes;
};
bool gt_lz_find_allocation(const struct gt_call *call, void *list, const void *address,
			   struct gt_lz_range *range);

/* Note that a command was appended to the list while no session records. */
void gt_lz_note_skipped(const void *list);

/* Name in the capture what is unknown of an object, once per object and session: "WHAT 0x..: WHY".
 * Does nothing in a program that was started under gputap. */
void gt_lz_name_missing(const void *handle, const char *what, const char *why);
/* Name the list, whose command's event was created earlier without times. Return false if the event
 * is not an earlier one. */
bool gt_lz_name_untimed(const struct gt_lz_list *list);
/* Return true if a run of the list contains unknown commands. Name the list in the capture. */
bool gt_lz_name_earlier(const struct gt_lz_list *list);

#endif
