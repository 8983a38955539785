/* SPDX-License-Identifier: MIT */
/* Values of GPU activities that take a look-up: calling thread, name, device and queue. */
#ifndef GPUTAP_DATASET_ACTIVITY_VALUES_H
#define GPUTAP_DATASET_ACTIVITY_VALUES_H

#include "analysis/model/view.h"
#include "dataset/table_reader.h"

/* Numbers in the tables; -1: not known. */
struct activity_place {
	int32_t device, queue;
	int32_t source, target; /* copies between devices */
};

struct activity_values {
	struct gt_view view;
	struct idmap names; /* process << 32 | string id -> number of the text */
	uint64_t last_name; /* key of the last look-up */
	int32_t last_text;
	struct thread_number caller; /* thread of the last look-up; number -2: none */
};

int activity_values_init(struct activity_values *v, struct reader *r);
void activity_values_fini(struct activity_values *v);
/* Return the thread that launched the activity; if it is not known, the thread that wrote it. Valid
 * until the next call. @writer: thread that wrote it */
const struct thread_number *activity_caller(struct activity_values *v, struct reader *r,
					    const struct thread_number *writer,
					    const struct gt_item *activity);
/* Return the number of the activity's name in DICTIONARY_NAME; -1: none. */
int32_t activity_name(struct activity_values *v, struct reader *r, const struct gt_item *activity);
struct activity_place activity_place(struct activity_values *v, const struct reader *r,
				     const struct gt_item *activity);

#endif
