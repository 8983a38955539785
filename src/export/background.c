/* SPDX-License-Identifier: MIT */
/* See background.h. */
#include "export/background.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct gt_background {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock; job: NULL if the thread is idle */
	gt_background_job *job;
	void *data;
	bool end;
};

static void *run_jobs(void *data)
{
	struct gt_background *b = data;

	pthread_mutex_lock(&b->lock);
	while (b->job || !b->end) {
		if (!b->job) {
			pthread_cond_wait(&b->changed, &b->lock);
			continue;
		}
		pthread_mutex_unlock(&b->lock);
		b->job(b->data); /* the owner changes neither until the job has ended */
		pthread_mutex_lock(&b->lock);
		b->job = NULL;
		pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

struct gt_background *gt_background_create(void)
{
	struct gt_background *b = calloc(1, sizeof *b);

	if (!b)
		return NULL;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	if (pthread_create(&b->thread, NULL, run_jobs, b) == 0)
		return b;
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	free(b);
	return NULL;
}

static void wait_until_idle(struct gt_background *b)
{
	while (b->job)
		pthread_cond_wait(&b->changed, &b->lock);
}

void gt_background_start(struct gt_background *b, gt_background_job *job, void *data)
{
	pthread_mutex_lock(&b->lock);
	wait_until_idle(b);
	b->job = job;
	b->data = data;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

void gt_background_wait(struct gt_background *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	wait_until_idle(b);
	pthread_mutex_unlock(&b->lock);
}

void gt_background_destroy(struct gt_background *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->end = true;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	free(b);
}
