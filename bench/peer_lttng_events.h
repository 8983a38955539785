/* SPDX-License-Identifier: MIT */
/* A traced call as two LTTng-UST events, with the contents of a gputap record. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gputap_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peer_lttng_events.h"

#if !defined(GPUTAP_BENCH_PEER_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define GPUTAP_BENCH_PEER_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	gputap_bench, call_entry,
	LTTNG_UST_TP_ARGS(uint32_t, operation, uint64_t, id, uint64_t, a, uint64_t, b, uint64_t, c,
			  uint64_t, d),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, operation,
					operation) lttng_ust_field_integer(uint64_t, id, id)
			lttng_ust_field_integer_hex(uint64_t, a, a)
				lttng_ust_field_integer_hex(uint64_t, b, b)
					lttng_ust_field_integer_hex(uint64_t, c, c)
						lttng_ust_field_integer_hex(uint64_t, d, d)))

LTTNG_UST_TRACEPOINT_EVENT(gputap_bench, call_exit, LTTNG_UST_TP_ARGS(uint64_t, id, int, status),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, id, id)
						       lttng_ust_field_integer(int, status,
									       status)))

#endif
#include <lttng/tracepoint-event.h>
