/* SPDX-License-Identifier: MIT */
/* A thread that does one job at a time while its owner continues, such as writing a buffer. */
#ifndef GPUTAP_EXPORT_BACKGROUND_H
#define GPUTAP_EXPORT_BACKGROUND_H

struct gt_background;

/* The job must not report causes (util/error.h), because these belong to its thread. */
typedef void gt_background_job(void *data);

/* Start the thread. Return NULL if that is not possible; the owner then does the jobs itself. */
struct gt_background *gt_background_create(void);
/* Wait for the job before, and start a job. @data: the job's until gt_background_wait() or the next
 * call returns. */
void gt_background_start(struct gt_background *b, gt_background_job *job, void *data);
/* Wait until no job is running. @b: may be NULL. */
void gt_background_wait(struct gt_background *b);
/* Wait, and end the thread. @b: may be NULL. */
void gt_background_destroy(struct gt_background *b);

#endif
