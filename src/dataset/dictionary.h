/* SPDX-License-Identifier: MIT */
/* Distinct texts of a column, numbered from 0, and the Arrow arrays made from them. Equal texts
 * have one number. Texts are valid UTF-8: other bytes become U+FFFD. Batches share an array as long
 * as the dictionary does not grow. */
#ifndef GPUTAP_DATASET_DICTIONARY_H
#define GPUTAP_DATASET_DICTIONARY_H

#include "analysis/base/lookup.h"
#include "gputap/capture.h"

struct dictionary_array; /* reference-counted buffers of one state of the dictionary */

/* Empty if zero-initialised. If memory runs out, memory_ran_out(). */
struct dictionary {
	struct texts texts;
	struct dictionary_array *array; /* of the first array_count texts; NULL: none */
	uint32_t array_count;
};

/* Return the number of a text. */
int32_t dictionary_put(struct dictionary *d, const char *text);
int32_t dictionary_put_bytes(struct dictionary *d, const char *text, size_t bytes);
static inline const char *dictionary_get(const struct dictionary *d, int32_t number)
{
	return texts_get(&d->texts, (uint32_t)number);
}
/* Fill @out with an array of all texts. The caller releases it. */
void dictionary_export(struct dictionary *d, struct ArrowArray *out);
void dictionary_fini(struct dictionary *d);

#endif
