/* SPDX-License-Identifier: MIT */
/* Output of a thread trace decoder. Times are in ticks of the shader clock. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_TRACE_DECODER_TYPES_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_TRACE_DECODER_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef enum rocprofiler_thread_trace_decoder_info_t {
	ROCPROFILER_THREAD_TRACE_DECODER_INFO_NONE = 0,
	ROCPROFILER_THREAD_TRACE_DECODER_INFO_DATA_LOST = 1,
	ROCPROFILER_THREAD_TRACE_DECODER_INFO_STITCH_INCOMPLETE = 2,
	ROCPROFILER_THREAD_TRACE_DECODER_INFO_LAST
} rocprofiler_thread_trace_decoder_info_t;

/* @marker_id: id of a code object, and @addr is relative to the file of the code object; 0: @addr
 *             is an address in memory. */
typedef struct rocprofiler_thread_trace_decoder_pc_t {
	size_t addr;
	size_t marker_id;
} rocprofiler_thread_trace_decoder_pc_t;

typedef struct rocprofiler_thread_trace_decoder_perfevent_t {
	int64_t time;
	uint16_t events0, events1, events2, events3;
	uint8_t CU;
	uint8_t bank;
} rocprofiler_thread_trace_decoder_perfevent_t;

/* The start or end of a wave. */
typedef struct rocprofiler_thread_trace_decoder_occupancy_t {
	rocprofiler_thread_trace_decoder_pc_t pc;
	uint64_t time;
	uint8_t reserved;
	uint8_t cu, simd, slot;
	uint32_t start : 1;
	uint32_t _rsvd : 31;
} rocprofiler_thread_trace_decoder_occupancy_t;

typedef enum rocprofiler_thread_trace_decoder_wstate_type_t {
	ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_EMPTY = 0,
	ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_IDLE = 1,
	ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_EXEC = 2,
	ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_WAIT = 3,
	ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_STALL = 4,
	ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_LAST
} rocprofiler_thread_trace_decoder_wstate_type_t;

typedef struct rocprofiler_thread_trace_decoder_wave_state_t {
	int32_t type; /* rocprofiler_thread_trace_decoder_wstate_type_t */
	int32_t duration;
} rocprofiler_thread_trace_decoder_wave_state_t;

typedef enum rocprofiler_thread_trace_decoder_inst_category_t {
	ROCPROFILER_THREAD_TRACE_DECODER_INST_NONE = 0,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_SMEM = 1,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_SALU = 2,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_VMEM = 3,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_FLAT = 4,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_LDS = 5,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_VALU = 6,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_JUMP = 7,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_NEXT = 8,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_IMMED = 9,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_CONTEXT = 10,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_MESSAGE = 11,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_BVH = 12,
	ROCPROFILER_THREAD_TRACE_DECODER_INST_LAST
} rocprofiler_thread_trace_decoder_inst_category_t;

typedef struct rocprofiler_thread_trace_decoder_inst_t {
	uint32_t category : 8; /* rocprofiler_thread_trace_decoder_inst_category_t */
	uint32_t stall    : 24;
	int32_t duration;
	int64_t time;
	rocprofiler_thread_trace_decoder_pc_t pc;
} rocprofiler_thread_trace_decoder_inst_t;

typedef struct rocprofiler_thread_trace_decoder_wave_t {
	uint8_t cu, simd, wave_id, contexts;
	uint32_t _rsvd1, _rsvd2, _rsvd3;
	int64_t begin_time, end_time;
	size_t timeline_size, instructions_size;
	rocprofiler_thread_trace_decoder_wave_state_t *timeline_array;
	rocprofiler_thread_trace_decoder_inst_t *instructions_array;
} rocprofiler_thread_trace_decoder_wave_t;

/* Types of a decoder's output. An output type determines the type of `trace_events`: for GFXIP, a
 * size_t; for DEBUG, unspecified; for all others, the struct of the same name. */
typedef enum rocprofiler_thread_trace_decoder_record_type_t {
	ROCPROFILER_THREAD_TRACE_DECODER_RECORD_GFXIP = 0,
	ROCPROFILER_THREAD_TRACE_DECODER_RECORD_OCCUPANCY = 1,
	ROCPROFILER_THREAD_TRACE_DECODER_RECORD_PERFEVENT = 2,
	ROCPROFILER_THREAD_TRACE_DECODER_RECORD_WAVE = 3,
	ROCPROFILER_THREAD_TRACE_DECODER_RECORD_INFO = 4,
	ROCPROFILER_THREAD_TRACE_DECODER_RECORD_DEBUG = 5,
	ROCPROFILER_THREAD_TRACE_DECODER_RECORD_LAST
} rocprofiler_thread_trace_decoder_record_type_t;

#endif
